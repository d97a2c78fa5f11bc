"""A model that looks around: its edits are tried, and its word is weighed at the end."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from pytest_bayesloc.domain.evidence import InspectionOutcome, Judgement
from pytest_bayesloc.domain.inspection import InspectionPatch
from pytest_bayesloc.domain.ports import ProposedCode, Turn
from pytest_bayesloc.domain.source import SourceMap
from pytest_bayesloc.domain.spectrum import Spectrum
from pytest_bayesloc.inspection.strategies.navigation import (
    MAX_SAMPLES,
    MAX_TRIES,
    NAME,
    Navigation,
    ProposedFixes,
)
from pytest_bayesloc.inspection.strategy import Budget
from pytest_bayesloc.ranking.evidence.guards import Guard
from pytest_bayesloc.ranking.evidence.judgements import RANKING, Judged
from tests.fakes.advisor import at_once, never
from tests.fakes.case import case_of
from tests.fakes.runner import FAILED, PASSED, FakeRunner
from tests.fakes.runner import as_port as runner_port

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_bayesloc.domain.inspection import Finding, TestRun
    from pytest_bayesloc.domain.location import Location
    from pytest_bayesloc.domain.ports import Converse
    from pytest_bayesloc.inspection.strategies.navigation import Attempt
    from pytest_bayesloc.ranking.case import Case


TEXT = """\
def add(a, b):
    return a - b


def half(a):
    return a / 2


def mul(a, b):
    return a * b
"""
SOURCE = SourceMap(TEXT, "m.py")
_, ADD, HALF, MUL = (unit.location for unit in SOURCE.units)
RED, GREEN = "t.py::test_add", "t.py::test_half"


class Fixes:
    """Tests answer as told; ``asked`` are the functions that the model was to fix."""

    def __init__(
        self, answer: Callable[[str], TestRun], start: Callable[..., object] = at_once
    ) -> None:
        suspects = (ADD, HALF, MUL)
        self.case = case_of(
            Spectrum(
                tests=(RED, GREEN),
                failing=0b01,
                passing=0b10,
                lines={where: {where.start_line + 1: 0b11} for where in suspects},
            ),
            {where: (3 - i) / 10 for i, where in enumerate(suspects)},
        )
        self.asked: list[Location] = []
        self.runner = FakeRunner(answer=lambda _, test: answer(test))
        self.budget = Budget(runner_port(self.runner), lambda: 0.0, 100.0, self.case)
        self.kind = ProposedFixes(ask=self.ask, start=start, patch=self.patch)  # type: ignore[arg-type]  # answers of any type

    def ask(self, _: Case, target: Location) -> Callable[[], ProposedCode]:
        self.asked.append(target)
        return partial(ProposedCode, text="", why="it adds")

    @staticmethod
    def patch(_: Case, target: Location, answer: ProposedCode) -> InspectionPatch:
        return InspectionPatch(
            target=target,
            kind=ProposedFixes.name,
            original=TEXT,
            patched=TEXT.replace("a - b", "a + b"),
            line=2,
            words=answer.why,
        )

    def found(self) -> list[Finding]:
        self.kind.prepare(self.case)
        return list(self.kind.harvest(self.case, self.budget, wait_s=1.0))


def test_edit_that_passes_counts_as_a_repair() -> None:
    found = Fixes(lambda _: PASSED).found()

    assert {f.evidence.outcome for f in found} == {InspectionOutcome.EDIT_REPAIRS}
    assert found[0].evidence.p_if_faulty > 2 * found[0].evidence.p_if_clean
    assert found[0].evidence.why.endswith("and nothing else breaks (it adds)")


def test_edit_that_breaks_others_is_told_as_such() -> None:
    found = Fixes(lambda test: PASSED if test == RED else FAILED).found()

    assert {f.evidence.outcome for f in found} == {InspectionOutcome.EDIT_BREAKS_OTHERS}


def test_edit_that_drops_the_check_the_tests_fail_at_is_not_tried() -> None:
    fixes = Fixes(lambda _: PASSED)
    assert {f.evidence.location for f in fixes.found()} == {ADD, HALF}
    guard = Guard(function=ADD, condition="a - b", owner=MUL, line=10, value="`a`")
    fixes.case.guard = guard

    assert {f.evidence.location for f in fixes.found()} == {HALF}


def test_edit_that_changes_nothing_says_nothing() -> None:
    assert Fixes(lambda _: FAILED).found() == []


def test_first_suspect_of_the_model_is_tried_before_the_likeliest() -> None:
    scene = Fixes(lambda _: FAILED)
    scene.case.judged.append(Judged(guide="m", use=RANKING, location=MUL, said=Judgement.LLM_FIRST))

    scene.found()

    assert scene.asked == [MUL, ADD]


@pytest.mark.parametrize("wait_s", [0.0, 1.0])
def test_answer_that_does_not_come_runs_nothing(wait_s: float) -> None:
    scene = Fixes(lambda _: PASSED, start=never)
    scene.kind.prepare(scene.case)

    assert list(scene.kind.harvest(scene.case, scene.budget, wait_s=wait_s)) == []
    assert scene.runner.asked == []


TRY: tuple[str, dict[str, Any]] = ("try", {})
LOOK: tuple[str, dict[str, Any]] = ("look", {})
END = Turn(suspects=("m.py:9", "add", "nobody"), why="it multiplies")


class Scene(Fixes):
    """The model says its ``turns``; ``said`` are the answers that it got."""

    def __init__(
        self,
        *turns: Turn | None,
        answer: Callable[[str], TestRun] = lambda _: FAILED,
        n_samples: int = 1,
        start: Callable[..., Any] = at_once,
        suspicions: Mapping[Location, str] | None = None,
    ) -> None:
        super().__init__(answer)
        self.turns, self.said = list(turns), list[str]()
        self.n_begun = 0
        self.notes: list[str] = []
        self.navigation = Navigation(
            functions=lambda _: self.answer,
            begin=self.begin,
            may_go_on=lambda: self.n_begun < n_samples,
            suspect=lambda _: suspicions,
            fallback=self.kind,
            start=start,
            note=self.notes.append,
            guide="m",
            counts={},
        )

    def begin(self, _: Case, sample: int) -> Converse:
        assert sample == self.n_begun
        self.n_begun += 1
        return self.next

    def next(self, answers: Sequence[str]) -> Turn | None:
        self.said += answers
        return self.turns.pop(0)

    def answer(self, name: str, _: Mapping[str, Any], attempt: Attempt) -> str:
        if name == "look":
            return "here"
        patch = InspectionPatch(
            target=ADD,
            kind=NAME,
            original=TEXT,
            patched=TEXT.replace("a - b", "a + b"),
            line=2,
            words="+",
        )
        return str(dict(attempt(patch)))

    def found(self) -> list[Finding]:
        self.navigation.prepare(self.case)
        return list(self.navigation.harvest(self.case, self.budget, wait_s=1.0))

    def words(self) -> dict[Location, object]:
        return {judged.location: judged.said for judged in self.case.judged}


def test_outcome_of_a_try_comes_back_and_a_repair_is_evidence_once() -> None:
    scene = Scene(Turn(calls=(LOOK, TRY)), Turn(calls=(TRY,)), END, answer=lambda _: PASSED)

    found = scene.found()

    assert [f.evidence.outcome for f in found] == [InspectionOutcome.EDIT_REPAIRS]
    assert scene.said[0] == "here"
    assert "nothing else breaks" in scene.said[1]
    assert f"{RED}: passes" in scene.said[1]


def test_edit_that_does_not_help_says_nothing_but_to_the_model() -> None:
    scene = Scene(Turn(calls=(TRY,)), END)

    assert scene.found() == []
    assert "the same error" in scene.said[0]


def test_word_at_the_end_is_weighed_and_bounded() -> None:
    scene = Scene(Turn(calls=(LOOK,)), END)
    before = scene.case.belief.probabilities

    scene.found()

    assert scene.words() == {
        MUL: Judgement.LLM_FIRST,
        ADD: Judgement.LLM_SUSPECTED,
        HALF: Judgement.LLM_PASSED_OVER,
    }
    (first,) = (e for e in scene.case.evidence if e.location == MUL)
    assert first.why == "the language model suspects it first: it multiplies"
    assert before[MUL] < scene.case.belief.p(MUL) < 1.25 * before[MUL]
    assert scene.case.belief.top(1)[0][0] == ADD


def test_samples_are_combined_as_far_as_the_limits_allow() -> None:
    other = Turn(suspects=("add",), why="it subtracts")
    scene = Scene(Turn(calls=(LOOK,)), END, other, other, n_samples=3)

    scene.found()

    assert scene.n_begun == 3
    assert scene.words()[ADD] is Judgement.LLM_FIRST


def test_no_more_samples_are_taken_than_are_worth_it() -> None:
    scene = Scene(*[END] * (MAX_SAMPLES + 1), n_samples=100)

    scene.found()

    assert scene.n_begun == MAX_SAMPLES


def test_one_conversation_tries_so_many_edits() -> None:
    scene = Scene(*[Turn(calls=(TRY,))] * (MAX_TRIES + 1), END)

    scene.found()

    assert "refused" in scene.said[-1]
    assert "refused" not in scene.said[-2]


def test_model_that_calls_no_functions_is_asked_by_prompts() -> None:
    scene = Scene(None, answer=lambda _: PASSED, suspicions={MUL: "it multiplies"})

    found = scene.found()

    assert scene.words()[MUL] is Judgement.LLM_FIRST
    assert scene.asked[0] == MUL
    assert {f.evidence.source for f in found} == {ProposedFixes.name}
    scene.navigation.prepare(scene.case)
    assert scene.n_begun == 1


@pytest.mark.parametrize("wait_s", [0.0, 1.0])
def test_model_that_is_too_slow_is_not_waited_for(wait_s: float) -> None:
    scene = Scene(start=never)
    scene.navigation.prepare(scene.case)

    assert list(scene.navigation.harvest(scene.case, scene.budget, wait_s=wait_s)) == []
    assert len(scene.notes) == (wait_s > 0)
