from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.suites import faulty_tests, import_faults, single_edits
from benchmarks.suites.bodies import bodies
from benchmarks.suites.edits import Operator, changes_of
from benchmarks.suites.functions import SourceFile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


#: Of each kind of faults, its operators and where they are applied.
KINDS: tuple[tuple[Sequence[Operator[Any]], Callable[[SourceFile], Iterable[Any]]], ...] = (
    (single_edits.OPERATORS, lambda file: file.functions),
    (import_faults.OPERATORS, bodies),
    (faulty_tests.OPERATORS, faulty_tests.sites),
)


@pytest.mark.parametrize(
    ("operator", "sites", "before", "after"),
    [
        pytest.param(operator, sites, before, after, id=f"{operator.how}-{i}")
        for operators, sites in KINDS
        for operator in operators
        for i, (before, after) in enumerate(operator.examples)
    ],
)
def test_operator_makes_its_examples(
    operator: Operator[Any], sites: Callable[[SourceFile], Iterable[Any]], before: str, after: str
) -> None:
    changes = (changes_of("any", operator, site) for site in sites(SourceFile("m.py", before)))

    assert after in [change.texts["m.py"] for made in changes for change in made]


@pytest.mark.parametrize("operators", [operators for operators, _ in KINDS])
def test_operators_of_a_kind_have_examples_and_different_names(
    operators: Sequence[Operator[Any]],
) -> None:
    assert len({operator.how for operator in operators}) == len(operators)
    assert all(operator.examples for operator in operators)
