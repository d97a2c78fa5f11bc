"""Assertions that a language model writes, and what it makes of what they show."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol, TypeVar

from pytest_bayesloc.domain.dialogue import ProposedCode, Reflection, TargetContext
from pytest_bayesloc.domain.errors import PatchError
from pytest_bayesloc.domain.evidence import Decision
from pytest_bayesloc.domain.failure import Failure
from pytest_bayesloc.domain.inspection import InspectionPatch
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.ports import Advisor
from pytest_bayesloc.domain.source import SourceMap, Unit
from pytest_bayesloc.inspection.proposals import assertions, generated
from pytest_bayesloc.inspection.proposals.generated import KIND
from pytest_bayesloc.inspection.strategy import Bench, Kind
from pytest_bayesloc.inspection.views import Views
from pytest_bayesloc.inspection.watching import Watched, watch
from pytest_bayesloc.ranking.case import Case
from pytest_bayesloc.ranking.evidence.judgement import INSPECTION, Judged
from pytest_bayesloc.ranking.finding import NO_SIGNALS, Finding
from pytest_bayesloc.ranking.outcomes import classify
from pytest_bayesloc.ranking.track_record import TrackRecord

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")


class Pending(Protocol[T_co]):
    """A call under way."""

    def is_done(self) -> bool:
        """Whether its result is there."""

    def result(self, seconds: float) -> T_co:
        """What came of it.

        Raises:
            TimeoutError: If it takes longer than ``seconds``.
        """


class Starter(Protocol):
    """Starts a call that takes long elsewhere."""

    def __call__(self, call: Callable[[], T]) -> Pending[T]:
        """The call, under way."""


@dataclass(kw_only=True)
class _Work:
    """One target on its way: proposed, run, reflected on."""

    target: Location
    proposal: Pending[ProposedCode | None]
    patch: InspectionPatch | None = None
    seen: Watched | None = None
    reflection: Pending[Reflection | None] | None = None


@dataclass(kw_only=True)
class Generated(Kind):
    """Asks a language model about the likeliest candidates while others are inspected.

    Attributes:
        advisor: Who is asked.
        start: Starts a call elsewhere.
        views: Puts together what it is shown.
        failures: By node id.
        unit: The code of a location.
        record: How often it was right.
        known: Of a group, by its first failing test, what is remembered.
        refused: Told why a patch of its is not run.
        n_targets: Candidates of a group that it is asked about.
    """

    advisor: Advisor
    start: Starter
    views: Views
    failures: Mapping[str, Failure]
    unit: Callable[[Location], tuple[SourceMap, Unit] | None]
    record: TrackRecord
    known: Mapping[str, tuple[str, ...]]
    refused: Callable[[str], None]
    n_targets: int = 3
    name: str = KIND
    _work: list[_Work] = field(default_factory=list)

    def prepare(self, case: Case, bench: Bench) -> None:
        """Ask for assertions in the likeliest functions."""
        del bench
        self._work.clear()
        for target in case.targets():
            if len(self._work) == self.n_targets:
                break
            found = self.unit(target)
            if found is None or not found[1].is_function or not case.near.is_reached(target):
                continue
            asked = self.start(partial(self.advisor.propose, self._view(case, target)))
            self._work.append(_Work(target=target, proposal=asked))

    def harvest(
        self, case: Case, bench: Bench, *, wait_s: float
    ) -> Iterable[tuple[Location, Finding]]:
        """Run what was proposed, ask what that means, and give what was answered."""
        until = bench.clock() + wait_s
        for work in self._work:
            if work.seen is None and bench.left_s():
                self._run(work, case, bench, until)
        for work in tuple(self._work):
            if work.reflection is None:
                continue
            if work.reflection.is_done() or until > bench.clock():
                reflection = _result(work.reflection, until - bench.clock())
                self._work.remove(work)
                if reflection is not None or (work.patch is not None and work.patch.checks):
                    yield work.target, self._finding(work, reflection, case)

    def _view(self, case: Case, target: Location) -> TargetContext:
        known = self.known.get(case.failing[0], ())
        return self.views.target(case, target, self.failures, known)

    def _run(self, work: _Work, case: Case, bench: Bench, until: float) -> None:
        """Run the tests under what was proposed, if it is there; then ask what it means."""
        if not work.proposal.is_done() and until <= bench.clock():
            return
        proposed = _result(work.proposal, until - bench.clock())
        patch = work.patch = self._patch(work.target, proposed)
        if patch is None:
            return
        seen = work.seen = watch(case, patch, bench)
        view = self._view(case, work.target)
        observed = self.views.observation(case, patch, seen)
        work.reflection = self.start(partial(self.advisor.reflect, view, observed))

    def _patch(self, target: Location, proposed: ProposedCode | None) -> InspectionPatch | None:
        """What was proposed, if it may be run; else the heartbeat alone."""
        found = self.unit(target)
        if found is None:
            return None
        try:
            if proposed is not None:
                return generated.propose(*found, proposed)
        except PatchError as error:
            self.refused(
                f"The language model's inspection of {target.qualname} is not run: {error}"
            )
        try:
            return assertions.propose(*found, ())
        except PatchError:
            return None

    def _finding(self, work: _Work, reflection: Reflection | None, case: Case) -> Finding:
        assert work.patch is not None  # noqa: S101 - it was run
        assert work.seen is not None  # noqa: S101 - likewise
        decision = Decision.NEUTRAL if reflection is None else reflection.decision
        outcome = classify(work.seen.signals, decision)
        learned = self.record.likelihood(outcome)
        if learned is not None:
            case.judged.append(
                Judged(guide=self.advisor.name, use=INSPECTION, location=work.target, said=outcome)
            )
        return Finding(
            kind=KIND,
            outcome=outcome,
            why=_why(work, reflection),
            diff=work.patch.diff,
            tests=work.seen.tests,
            signals=work.seen.signals or NO_SIGNALS,
            decision=decision,
            seconds=work.seen.seconds,
            cpu_s=work.seen.cpu_s,
            log=work.seen.log,
            likelihood=learned,
        )


def _result(pending: Pending[T | None], seconds: float) -> T | None:
    try:
        return pending.result(max(0.0, seconds))
    except TimeoutError:
        return None


def _why(work: _Work, reflection: Reflection | None) -> str:
    assert work.patch is not None  # noqa: S101 - see above
    assert work.seen is not None  # noqa: S101 - see above
    texts = [check.text for check in work.patch.checks if check.number in work.seen.fired]
    n = len(work.patch.checks)
    if texts:
        said = f"broken in failing tests alone: {', '.join(texts[:3])}"
    elif n:
        said = f"none of {n} assertions of the language model failed"
    else:
        said = "executed"
    if reflection is None:
        return said
    word = reflection.decision.value.lower().replace("_", " ")
    return f"{said}; the language model: {word}, {reflection.reason}"
