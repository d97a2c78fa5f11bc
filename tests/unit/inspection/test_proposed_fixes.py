"""Edits that a language model proposes: what passes is evidence, its word alone is none."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.domain.evidence import InspectionOutcome, Judgement
from pytest_bayesloc.domain.inspection import InspectionPatch
from pytest_bayesloc.domain.ports import ProposedCode
from pytest_bayesloc.domain.source import SourceMap
from pytest_bayesloc.domain.spectrum import Spectrum
from pytest_bayesloc.inspection.strategies.proposed_fixes import ProposedFixes
from pytest_bayesloc.inspection.strategy import Budget
from pytest_bayesloc.ranking.evidence.judgements import RANKING, Judged
from tests.fakes.advisor import at_once, never
from tests.fakes.case import case_of
from tests.fakes.runner import FAILED, PASSED, FakeRunner
from tests.fakes.runner import as_port as runner_port

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_bayesloc.domain.inspection import Finding, TestRun
    from pytest_bayesloc.domain.location import Location
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


class Scene:
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
        self.kind.prepare(self.case, self.budget)
        return list(self.kind.harvest(self.case, self.budget, wait_s=1.0))


def test_edit_that_passes_counts_as_a_repair() -> None:
    found = Scene(lambda _: PASSED).found()

    assert {f.evidence.outcome for f in found} == {InspectionOutcome.EDIT_REPAIRS}
    assert found[0].evidence.p_if_faulty > 2 * found[0].evidence.p_if_clean
    assert found[0].evidence.why.endswith("and nothing else breaks (it adds)")


def test_edit_that_breaks_others_is_told_as_such() -> None:
    found = Scene(lambda test: PASSED if test == RED else FAILED).found()

    assert {f.evidence.outcome for f in found} == {InspectionOutcome.EDIT_BREAKS_OTHERS}


def test_edit_that_changes_nothing_says_nothing() -> None:
    assert Scene(lambda _: FAILED).found() == []


def test_first_suspect_of_the_model_is_tried_before_the_likeliest() -> None:
    scene = Scene(lambda _: FAILED)
    scene.case.judged.append(Judged(guide="m", use=RANKING, location=MUL, said=Judgement.LLM_FIRST))

    scene.found()

    assert scene.asked == [MUL, ADD]


@pytest.mark.parametrize("wait_s", [0.0, 1.0])
def test_answer_that_does_not_come_runs_nothing(wait_s: float) -> None:
    scene = Scene(lambda _: PASSED, start=never)
    scene.kind.prepare(scene.case, scene.budget)

    assert list(scene.kind.harvest(scene.case, scene.budget, wait_s=wait_s)) == []
    assert scene.runner.asked == []
