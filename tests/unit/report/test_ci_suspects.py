"""Who is named to CI services, by what line and under which fingerprint."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.report.ci import suspects
from tests.unit.report.surfaces import HERE

if TYPE_CHECKING:
    from pytest_bayesloc.report.document import ResultDocument


def keys(document: ResultDocument) -> list[str]:
    return [suspect.key for suspect in suspects(document, HERE)]


def test_first_suspect_is_named_however_unlikely(document: ResultDocument) -> None:
    for row in document.faults[0].ranking:
        row.posterior = 0.01

    assert [s.order for s in suspects(document, HERE) if s.number == 1] == [1]


def test_fault_without_a_ranking_names_nobody(document: ResultDocument) -> None:
    document.faults[0].ranking = []

    assert [s.number for s in suspects(document, HERE)] == [2, 2]


def test_fingerprint_outlives_moved_lines_and_changed_values(document: ResultDocument) -> None:
    moved = deepcopy(document)
    for fault in moved.faults:
        fault.error.line = (fault.error.line or 0) + 7
        fault.error.message = "assert -4 == 3"
        for row in fault.ranking:
            row.start_line += 7
            row.end_line += 7
            row.posterior *= 0.9

    assert keys(moved) == keys(document)


@pytest.mark.parametrize(
    ("place", "name"), [("ranking", "file"), ("ranking", "qualname"), ("failures", "masked")]
)
def test_fingerprint_is_that_of_place_and_error(
    document: ResultDocument, place: str, name: str
) -> None:
    other = deepcopy(document)
    (first, *_) = getattr(other.faults[0], place)
    setattr(first, name, getattr(first, name) + "x")

    assert keys(other)[0] != keys(document)[0]
    assert keys(other)[1:] == keys(document)[1:]


def test_no_fingerprint_comes_twice(document: ResultDocument) -> None:
    document.faults = [document.faults[0]] * 3

    found = keys(document)

    assert found == [found[0], f"{found[0]}-2", f"{found[0]}-3"]
