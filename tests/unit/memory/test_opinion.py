"""The second opinion says no more than the tries and the evidence of now do."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from pytest_bayesloc.domain.bug import (
    BugRecord,
    BugState,
    Category,
    CodeEdit,
    DebugTrial,
    Symptom,
    TrialOutcome,
)
from pytest_bayesloc.memory.advice import kind_of, second_opinion

AT = datetime(2026, 11, 24, tzinfo=timezone.utc)


def symptom(p_first: float = 0.95, *suspects: str) -> Symptom:
    return Symptom(
        failing={"t.py::test_a": "f"}, signatures={"f": "E"}, signature="E",
        category=Category.VALUE_ERROR, hypothesis="", tags=frozenset(), error="E", code="",
        suspects=suspects or ("a.py f", "b.py g"), p_first=p_first,
    )  # fmt: skip


def tried(*functions: str) -> BugRecord:
    trials = tuple(
        DebugTrial(
            number=number,
            made_at=AT,
            edit=CodeEdit(functions=(name,), diff=f"-    return x\n+    return {number}\n"),
            outcome=TrialOutcome.FAILED,
            why="",
            strategy="",
        )
        for number, name in enumerate(functions, 1)
    )
    return BugRecord(
        id="1", symptom=symptom(), state=BugState.OPEN, created_at=AT, seen_at=AT, trials=trials
    )


def test_wrong_edits_of_the_likeliest_place_refute_nothing() -> None:
    said = second_opinion(tried("a.py f", "a.py f"), symptom(), 2)

    assert said == [
        "both attempts edit a.py f and change returned values only",
        "experiment 1: have edits tried in memory, of a.py f first: pytest --bayesloc t.py::test_a",
        "experiment 2: search for an edit that fixes: pytest --bayesloc-fix=suggest t.py::test_a",
    ]


@pytest.mark.parametrize(
    ("now", "fixed"), [(symptom(0.8), ()), (symptom(), ("b.py g",))], ids=["unsure", "fixed"]
)
def test_nothing_is_spoken_against_without_evidence(now: Symptom, fixed: tuple[str, ...]) -> None:
    said = second_opinion(tried("b.py g", "b.py g"), now, 2, fixed=fixed)

    assert not [text for text in said if "against" in text]


def test_edit_that_is_known_to_help_comes_first() -> None:
    said = second_opinion(tried("a.py f", "b.py g"), symptom(), 2, found=["a.py f: `1` -> `2`"])

    assert said[0] == "both attempts change returned values only"
    assert said[1] == "experiment 1: make the edit with which the tests pass: a.py f: `1` -> `2`"


def test_one_try_is_too_early() -> None:
    assert not second_opinion(tried("a.py f"), symptom(), 1)


@pytest.mark.parametrize(
    ("diff", "kind"),
    [
        ("--- a\n+++ b\n-if x < 1:\n+if x < 2:\n", "conditions"),
        ("-x = 1\n+x += 1\n", "assignments"),
        ("-import a\n+return 1\n", ""),
        ("", ""),
    ],
)
def test_kind_of_an_edit_is_that_of_all_its_lines(diff: str, kind: str) -> None:
    assert kind_of(diff) == kind
