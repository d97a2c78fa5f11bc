"""A model that looks around: its edits are tried, and its word is weighed at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_bayesloc.domain.evidence import InspectionOutcome, Judgement
from pytest_bayesloc.domain.ports import ProposedCode, Turn
from pytest_bayesloc.domain.source import SourceMap
from pytest_bayesloc.inspection.strategies.llm import (
    FIXES,
    MAX_SAMPLES,
    MAX_TRIES,
    Navigation,
    ProposedFixes,
)
from pytest_bayesloc.inspection.strategy import Budget
from pytest_bayesloc.ranking.evidence.guards import Guard
from pytest_bayesloc.ranking.evidence.judgements import RANKING
from tests.fakes.advisor import FakeGuide
from tests.fakes.case import case_of
from tests.fakes.runner import FAILED, PASSED, FakeRunner
from tests.fakes.runner import as_port as runner_port
from tests.unit.inspection.conftest import spectrum_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pytest_bayesloc.domain.inspection import Finding, TestRun
    from pytest_bayesloc.domain.location import Location

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
    """Tests answer as told; ``guide`` notes what the model was asked."""

    def __init__(self, answer: Callable[[str], TestRun], guide: FakeGuide | None = None) -> None:
        suspects = (ADD, HALF, MUL)
        prior = {where: (3 - i) / 10 for i, where in enumerate(suspects)}
        self.case = case_of(spectrum_of((RED,), (GREEN,), *suspects), prior)
        self.guide = guide or FakeGuide(source=SOURCE)
        self.guide.fix = ProposedCode(text="", why="it adds")
        self.runner = FakeRunner(answer=lambda _, test: answer(test))
        self.budget = Budget(runner_port(self.runner), lambda: 0.0, 100.0, self.case)
        self.kind = ProposedFixes(self.guide)

    def found(self) -> list[Finding]:
        self.kind.prepare(self.case, self.budget)
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


def test_first_suspect_of_the_model_is_tried_before_the_likeliest() -> None:
    scene = Fixes(lambda _: FAILED)
    scene.case.judge("m", RANKING, {MUL: Judgement.LLM_FIRST})

    assert scene.found() == []  # no edit changes anything
    assert scene.guide.fixed == [MUL, ADD]


@pytest.mark.parametrize("wait_s", [0.0, 0.01])
def test_answer_that_does_not_come_runs_nothing(wait_s: float) -> None:
    scene = Fixes(lambda _: PASSED, FakeGuide(source=SOURCE, is_silent=True))
    scene.kind.prepare(scene.case, scene.budget)

    assert list(scene.kind.harvest(scene.case, scene.budget, wait_s=wait_s)) == []
    assert scene.runner.asked == []


TRY: tuple[str, dict[str, Any]] = ("try", {})
LOOK: tuple[str, dict[str, Any]] = ("look", {})
END = Turn(suspects=("m.py:9", "add", "nobody"), why="it multiplies")


class Scene(Fixes):
    """The model says its ``turns``."""

    def __init__(
        self,
        *turns: Turn | None,
        answer: Callable[[str], TestRun] = lambda _: FAILED,
        n_samples: int = 1,
        suspicions: Mapping[Location, str] | None = None,
        is_silent: bool = False,
    ) -> None:
        guide = FakeGuide(source=SOURCE, turns=turns, n_samples=n_samples, is_silent=is_silent)
        guide.suspicions = suspicions
        super().__init__(answer, guide)
        self.navigation = Navigation(self.guide, self.kind)

    def found(self) -> list[Finding]:
        self.navigation.prepare(self.case, self.budget)
        return list(self.navigation.harvest(self.case, self.budget, wait_s=1.0))

    def words(self) -> dict[Location, object]:
        return {where: said for (_, where), said in self.case.judged.items()}


def test_outcome_of_a_try_comes_back_and_a_repair_is_evidence_once() -> None:
    scene = Scene(Turn(calls=(LOOK, TRY)), Turn(calls=(TRY,)), END, answer=lambda _: PASSED)

    found = scene.found()

    assert [f.evidence.outcome for f in found] == [InspectionOutcome.EDIT_REPAIRS]
    assert scene.guide.heard[0] == "here"
    assert "nothing else breaks" in scene.guide.heard[1]
    assert f"{RED}: passes" in scene.guide.heard[1]


def test_edit_that_does_not_help_says_nothing_but_to_the_model() -> None:
    scene = Scene(Turn(calls=(TRY,)), END)

    assert scene.found() == []
    assert "the same error" in scene.guide.heard[0]


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

    assert scene.guide.n_begun == 3
    assert scene.words()[ADD] is Judgement.LLM_FIRST


def test_no_more_samples_are_taken_than_are_worth_it() -> None:
    scene = Scene(*[END] * (MAX_SAMPLES + 1), n_samples=100)

    scene.found()

    assert scene.guide.n_begun == MAX_SAMPLES


def test_one_conversation_tries_so_many_edits() -> None:
    scene = Scene(*[Turn(calls=(TRY,))] * (MAX_TRIES + 1), END)

    scene.found()

    assert "refused" in scene.guide.heard[-1]
    assert "refused" not in scene.guide.heard[-2]


def test_model_that_calls_no_functions_is_asked_by_prompts() -> None:
    scene = Scene(None, answer=lambda _: PASSED, suspicions={MUL: "it multiplies"})

    found = scene.found()

    assert scene.words()[MUL] is Judgement.LLM_FIRST
    assert scene.guide.fixed[0] == MUL
    assert {f.evidence.source for f in found} == {FIXES}
    scene.navigation.prepare(scene.case, scene.budget)
    assert scene.guide.n_begun == 1


@pytest.mark.parametrize("wait_s", [0.0, 0.01])
def test_model_that_is_too_slow_is_not_waited_for(wait_s: float) -> None:
    scene = Scene(is_silent=True)
    scene.navigation.prepare(scene.case, scene.budget)

    assert list(scene.navigation.harvest(scene.case, scene.budget, wait_s=wait_s)) == []
    assert len(scene.guide.notes) == (wait_s > 0)
