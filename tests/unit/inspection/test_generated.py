"""Inspections that a language model writes: asked for early, run behind the gate, reflected on."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.domain.evidence import Decision, InspectionOutcome
from pytest_bayesloc.domain.inspection import TestRun, Verdict
from pytest_bayesloc.domain.ports import ProposedCode
from pytest_bayesloc.domain.source import SourceMap
from pytest_bayesloc.inspection.strategies.llm import Generated
from pytest_bayesloc.inspection.strategy import Budget
from pytest_bayesloc.ranking.belief import MODELS
from pytest_bayesloc.ranking.evidence.judgements import INSPECTION
from tests.fakes.advisor import FakeGuide
from tests.fakes.case import case_of
from tests.fakes.runner import FAILED, FakeRunner
from tests.fakes.runner import as_port as runner_port
from tests.unit.inspection.conftest import spectrum_of

if TYPE_CHECKING:
    from pytest_bayesloc.domain.inspection import Finding
    from pytest_bayesloc.domain.location import Location

SOURCE = SourceMap(
    "def add(a, b):\n    return a - b\n\n\ndef half(a):\n    return a / 2\n\n\nX = 1\n", "m.py"
)
MODULE, ADD, HALF = (unit.location for unit in SOURCE.units)
NODE = "t.py::test_add"
GOOD = ProposedCode(
    text="def add(a, b):\n    r = a - b\n    assert r == a + b\n    return r\n", why="it adds"
)
BAD = ProposedCode(text="import os\n", why="")
BUGGY = (Decision.CONFIRMED_BUGGY, "it subtracts")
BROKEN = TestRun(verdict=Verdict.FAIL, covered=True, violations=(0,))


@dataclass
class Scene:
    """A kind with all that it needs."""

    guide: FakeGuide = field(default_factory=partial(FakeGuide, source=SOURCE))
    runner: FakeRunner = field(default_factory=FakeRunner)
    suspects: tuple[Location, ...] = (ADD, HALF, MODULE)

    def __post_init__(self) -> None:
        n = len(self.suspects)
        prior = {where: (n - i) / 10 for i, where in enumerate(self.suspects)}
        self.case = case_of(spectrum_of((NODE,), (), *self.suspects), prior)
        self.case.belief = MODELS["independent"](prior)
        self.budget = Budget(runner_port(self.runner), lambda: 0.0, 100.0, self.case)
        self.kind = Generated(self.guide)

    def found(self) -> list[Finding]:
        self.kind.prepare(self.case, self.budget)
        return list(self.kind.harvest(self.case, self.budget, wait_s=1.0))


def test_likeliest_functions_are_asked_about_and_nothing_else() -> None:
    scene = Scene()

    scene.kind.prepare(scene.case, scene.budget)

    assert scene.guide.asserted == [ADD, HALF]


def test_assertion_that_fails_is_told_with_what_the_advisor_makes_of_it() -> None:
    scene = Scene(
        guide=FakeGuide(source=SOURCE, proposed={"add": GOOD}, reflection=BUGGY),
        runner=FakeRunner(answer=lambda patch, _: BROKEN if patch and patch.checks else FAILED),
        suspects=(ADD,),
    )

    (finding,) = scene.found()

    assert finding.evidence.location == ADD
    assert finding.evidence.outcome is InspectionOutcome.TARGET_ASSERTION_FAILED
    assert finding.decision is Decision.CONFIRMED_BUGGY
    assert "assert _bayesloc_result == a + b" in finding.diff
    assert finding.evidence.why == (
        "fails in failing tests only: r == a + b; the language model: confirmed buggy, it subtracts"
    )
    assert scene.guide.seen[0].runs == (
        f"{NODE} (failing before): fail; target executed; assertions broken: `r == a + b`",
    )
    assert scene.case.judged == {(INSPECTION, ADD): finding.evidence.outcome}
    assert scene.case.guide == "fake"


def test_without_a_broken_assertion_the_decision_names_the_outcome() -> None:
    reflection = (Decision.CONFIRMED_NOT_BUGGY, "")
    scene = Scene(guide=FakeGuide(source=SOURCE, reflection=reflection), suspects=(ADD,))

    (finding,) = scene.found()

    assert finding.evidence.outcome is InspectionOutcome.COLLATERAL_FAILURE_LLM_INNOCENT
    assert finding.evidence.log_ratio == pytest.approx(0.0)  # nothing is known of this advisor


def test_what_the_gate_refuses_is_not_run_and_said() -> None:
    scene = Scene(
        guide=FakeGuide(source=SOURCE, proposed={"add": BAD}, reflection=BUGGY), suspects=(ADD,)
    )

    (finding,) = scene.found()

    assert "heartbeat" in finding.diff
    assert "assert" not in finding.diff
    assert scene.guide.notes == [
        "The language model's inspection of add is not run: it is not the one function that was "
        "asked for, but Import (llm-gate)"
    ]


def test_advisor_that_says_nothing_is_no_evidence() -> None:
    scene = Scene(suspects=(ADD,))

    assert scene.found() == []
    assert scene.case.judged == {}
