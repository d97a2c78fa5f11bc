"""Edits of patterns are tried in memory where a suspect uses them, the likeliest first."""

from __future__ import annotations

import re
from textwrap import dedent
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.domain.recording import AskedPattern
from pytest_bayesloc.domain.source import SourceMap
from pytest_bayesloc.domain.spectrum import Spectrum
from pytest_bayesloc.fixes import pattern_candidates
from pytest_bayesloc.fixes.matching import fitting
from pytest_bayesloc.fixes.pattern_candidates import ENOUGH, PatternSearch, uses_patterns
from pytest_bayesloc.spectrum.sources import FileKind
from tests.fakes.case import case_of
from tests.fakes.runner import FAILED, PASSED, FakeRunner
from tests.fakes.sources import TextSources

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_bayesloc.domain.inspection import InspectionPatch, TestRun
    from pytest_bayesloc.fixes.candidate import Candidate

CODE = dedent(r'''
    """[a-z]+"""
    import re

    WORD = re.compile("[a-z]+")


    def words(text):
        return WORD.findall(text)


    def number(text):
        return re.match(r"\d+", text)
''')
MODULE, WORDS, NUMBER = (unit.location for unit in SourceMap(CODE, "words.py").units)
FAILS, PASSES = "test_words.py::fails", "test_words.py::passes"
ASKED = {
    FAILS: (
        AskedPattern(text="[a-z]+", flags=32, calls=(("findall", ("a-b",)),)),
        AskedPattern(text=r"\d+", flags=32, calls=(("match", ("x",)),)),
    ),
    PASSES: (AskedPattern(text="[a-z]+", flags=32, calls=(("findall", ("a b",)),)),),
}


class OneFile(TextSources):
    """``words.py`` without a disk."""

    def __init__(self, text: str = CODE) -> None:
        super().__init__({"words.py": text})
        self.files = SimpleNamespace(absolute=str, kind=lambda _: FileKind.CODE)  # type: ignore[assignment]


CASE = case_of(
    Spectrum(
        tests=(FAILS, PASSES),
        failing=1,
        passing=2,
        lines={MODULE: {5: 3}, WORDS: {9: 3}, NUMBER: {13: 1}},
    ),
    {MODULE: 0.1, WORDS: 0.7, NUMBER: 0.2},
)


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Judge edits in this process."""

    def judged(cases, expected, limit_s):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
        return [fitting(case, expected, limit_s) for case in cases]

    monkeypatch.setattr(pattern_candidates, "judged", judged)


def matching(pattern: str, text: str) -> Callable[[InspectionPatch | None, str], TestRun]:
    """Answer that the failing test passes once a pattern finds ``text`` in itself."""

    def answer(patch: InspectionPatch | None, test: str) -> TestRun:
        if test == PASSES:
            return PASSED
        others = dict(patch.patterns) if patch is not None else {}
        return PASSED if re.findall(others.get(pattern, pattern), text) == [text] else FAILED

    return answer


def found(runner: FakeRunner, ends: float = 100.0) -> list[Candidate]:
    search = PatternSearch(
        case=CASE,
        sources=OneFile(),
        failing=(FAILS,),
        passing=(PASSES,),
        runner=runner,
        clock=lambda: 0.0,
        ends=ends,
    )
    return list(search.candidates())


def test_edit_with_which_the_failing_test_passes_is_a_candidate() -> None:
    made = found(FakeRunner(answer=matching("[a-z]+", "a-b"), patterns=ASKED))

    assert made[0].tools == ("pattern-class",)
    assert made[0].after == CODE.replace('compile("[a-z]+")', r'compile("[a-z\\-]+")')
    assert (made[0].line, made[0].target) == (5, None)


def test_pattern_in_a_function_is_a_change_of_that_function() -> None:
    made = found(FakeRunner(answer=matching(r"\d+", "x"), patterns=ASKED))

    assert made
    assert {candidate.target for candidate in made} == {NUMBER}


def test_search_ends_with_some_that_pass() -> None:
    def answer(patch: InspectionPatch | None, test: str) -> TestRun:
        return FAILED if patch is None and test == FAILS else PASSED

    assert len(found(FakeRunner(answer=answer, patterns=ASKED))) == ENOUGH


def test_edit_that_breaks_a_passing_test_is_none() -> None:
    def answer(patch: InspectionPatch | None, test: str) -> TestRun:
        return FAILED if (patch is None) == (test == FAILS) else PASSED

    assert found(FakeRunner(answer=answer, patterns=ASKED)) == []


def test_nothing_is_edited_if_the_failing_test_passes_where_patterns_are_watched() -> None:
    assert found(FakeRunner(answer=lambda *_: PASSED, patterns=ASKED)) == []


def test_nothing_is_a_candidate_where_no_pattern_was_exchanged_or_no_time_is_left() -> None:
    passing = matching("[a-z]+", "a-b")

    assert found(FakeRunner(answer=passing, patterns=ASKED, n_swapped=0)) == []
    assert found(FakeRunner(answer=passing, patterns=ASKED), ends=0.0) == []
    assert found(FakeRunner(answer=passing)) == []


def test_what_passing_tests_ask_as_well_is_no_reason_to_edit() -> None:
    asked = {FAILS: ASKED[PASSES], PASSES: ASKED[PASSES]}

    assert found(FakeRunner(answer=matching("[a-z]+", "a-b"), patterns=asked)) == []


def test_files_of_suspects_that_import_re_are_looked_at() -> None:
    assert uses_patterns(CASE, OneFile())

    without = OneFile("def f():\n    return recall\n")
    assert not uses_patterns(CASE, without)
