"""Edits of patterns are judged by another process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_bayesloc.fixes.matching import PatternCase, fitting, judged

if TYPE_CHECKING:
    import pytest


def test_other_process_gives_the_same_edits() -> None:
    case = PatternCase(
        text="[a-z]+", flags=0, failing=(("match", ("a-ß\ud800",)),), passing=(("match", ("a b",)),)
    )

    (made,) = judged([case], ["a-ß"], 5.0)

    assert made == fitting(case, ["a-ß"], 5.0) != []


def test_search_that_does_not_end_in_time_gives_no_edits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pytest_bayesloc.fixes.matching.ANSWER_S", -1.0)
    case = PatternCase(text="a", flags=0, failing=(("match", ("b",)),), passing=())

    assert judged([case, case], [], 1.0) == [[], []]
