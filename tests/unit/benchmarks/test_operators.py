from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import pytest

from benchmarks.suites import faulty_tests, import_faults, single_edits
from benchmarks.suites.bodies import Body, bodies
from benchmarks.suites.edits import Operator, Site, changes_of
from benchmarks.suites.functions import Function, SourceFile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from _pytest.mark.structures import ParameterSet

SiteT = TypeVar("SiteT", bound=Site)


def made(
    operator: Operator[SiteT], sites: Callable[[SourceFile], Iterable[SiteT]], text: str
) -> list[str]:
    """The texts that an operator makes of a text."""
    sources = sites(SourceFile("m.py", text))
    return [c.texts["m.py"] for site in sources for c in changes_of("any", operator, site)]


def examples(operators: Sequence[Operator[SiteT]]) -> list[ParameterSet]:
    return [
        pytest.param(operator, before, after, id=f"{operator.how}-{i}")
        for operator in operators
        for i, (before, after) in enumerate(operator.examples)
    ]


@pytest.mark.parametrize(("operator", "before", "after"), examples(single_edits.OPERATORS))
def test_operator_of_single_edits_makes_its_examples(
    operator: Operator[Function], before: str, after: str
) -> None:
    assert after in made(operator, lambda file: file.functions, before)


@pytest.mark.parametrize(("operator", "before", "after"), examples(import_faults.OPERATORS))
def test_operator_of_import_faults_makes_its_examples(
    operator: Operator[Body], before: str, after: str
) -> None:
    assert after in made(operator, bodies, before)


@pytest.mark.parametrize(("operator", "before", "after"), examples(faulty_tests.OPERATORS))
def test_operator_of_faulty_tests_makes_its_examples(
    operator: Operator[Site], before: str, after: str
) -> None:
    assert after in made(operator, faulty_tests.sites, before)


@pytest.mark.parametrize(
    "operators",
    [
        single_edits.OPERATORS,
        import_faults.OPERATORS,
        faulty_tests.OPERATORS,
    ],
)
def test_operators_of_a_kind_have_examples_and_different_names(
    operators: Sequence[Operator[Site]],
) -> None:
    assert len({operator.how for operator in operators}) == len(operators)
    assert all(operator.examples for operator in operators)
