"""A group of failing tests while it is worked on, and the tests to re-run for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from pytest_bayesloc.domain.evidence import Evidence, StaticOutcome
from pytest_bayesloc.domain.inspection import Finding, Inspection, TestRun
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.recording import Recording
from pytest_bayesloc.domain.result import NearestCall, SpoiledTest
from pytest_bayesloc.domain.spectrum import Spectrum, bits
from pytest_bayesloc.history.changes import Changes
from pytest_bayesloc.history.rejected import Rejected
from pytest_bayesloc.ranking.belief import MODELS, Belief
from pytest_bayesloc.ranking.evidence.guards import Guard
from pytest_bayesloc.ranking.evidence.invariants import Invariant
from pytest_bayesloc.ranking.evidence.judgements import Judged
from pytest_bayesloc.ranking.evidence.tracebacks import guard_evidence
from pytest_bayesloc.ranking.formulas import scorer
from pytest_bayesloc.ranking.groups import FailingGroup

N_TARGETS = 25
N_MINED, MAX_MINED = 8, 60  # passing tests that invariants are mined from: a target, in all
N_RECORDED = 300
N_HISTORY = 8
#: P(faulty) of what no failing test was seen to execute: a process of its own may have.
UNSEEN = 0.01
NOT_INSPECTED = "not inspected: run pytest --bayesloc"
_RAISED = frozenset({StaticOutcome.RAISE_FRAME, StaticOutcome.GUARD_REFUSED})


class Neighbourhood:
    """Finds tests to re-run: passing tests by their nearness to the failing ones of a group.

    Two tests are near if they execute the same locations (Jaccard).

    Args:
        spectrum: With the group's tests as its failing ones.
    """

    def __init__(self, spectrum: Spectrum) -> None:
        self._spectrum = spectrum

    @cached_property
    def _distances(self) -> dict[int, float]:
        """Return per passing test its distance from the failing ones, in [0, 1]."""
        failing, passing = self._spectrum.failing, self._spectrum.passing
        shared: dict[int, int] = {}
        own: dict[int, int] = {}
        n_covered = 0
        for executed in self._spectrum.executed.values():
            covered = bool(executed & failing)
            n_covered += covered
            for test in bits(executed & passing):
                own[test] = own.get(test, 0) + 1
                shared[test] = shared.get(test, 0) + covered
        return {
            test: 1 - shared[test] / (n_covered + own[test] - shared[test] or 1) for test in own
        }

    def is_reached(self, location: Location) -> bool:
        """Say whether a patch in memory of ``location`` may matter to the failing tests."""
        return location.inspectable and location not in self._spectrum.remote

    def nearest(self, location: Location, n: int, *, line: int = 0) -> tuple[str, ...]:
        """Return the ``n`` nearest passing tests that execute ``location``, or its ``line``."""
        executed = self._spectrum.executed.get(location, 0) & self._spectrum.passing
        executed &= self._spectrum.lines.get(location, {}).get(line, executed)
        chosen = sorted(bits(executed), key=lambda test: (self._distances.get(test, 1.0), test))[:n]
        return tuple(self._spectrum.tests[test] for test in chosen)

    def failing(self, location: Location, n: int) -> tuple[str, ...]:
        """Return the first ``n`` failing tests that execute ``location``; if none does, of all."""
        executed = self._spectrum.executed.get(location, 0) & self._spectrum.failing
        chosen = list(bits(executed or self._spectrum.failing))[:n]
        return tuple(self._spectrum.tests[test] for test in chosen)

    def union(self, locations: Sequence[Location], *, each: int, at_most: int) -> tuple[str, ...]:
        """Return the passing tests nearest to each location, in the order of locations."""
        near = (node_id for where in locations for node_id in self.nearest(where, each))
        return tuple(dict.fromkeys(near))[:at_most]

    def suspiciousness(self, location: Location) -> dict[int, float]:
        """Return per executed line of ``location`` its Ochiai score."""
        score = scorer(self._spectrum, "ochiai")
        rows = self._spectrum.lines.get(location, {})
        return {line: score(executed) for line, executed in rows.items()}


def _is_about_raising(evidence: Evidence) -> bool:
    """Say whether it was weighed as if what raised, or wrapped it, had failed itself."""
    outcomes = (StaticOutcome.CODE_RAISED, StaticOutcome.RAISE_FRAME)
    return evidence.source == "guard" or evidence.outcome in outcomes


@dataclass(kw_only=True)
class Case:
    """The state of one group's localization; the belief and the lists grow as it goes.

    Attributes:
        group: The failing tests, with what is known without a re-run.
        stop: Why the loop ended.
        failing: Node ids of the group's tests that fail each time.
        near: The tests to run again.
        belief: After all evidence so far.
        changes: What changed since the tests passed; empty if that is not known.
        cause: The changes that have to be taken back together for the failing tests to pass, as
            far as that was tried.
        history: The likeliest locations: at first, then after each step.
        inspections: Those made.
        evidence: What the recorded calls and a language model say.
        flaky: Tests that did not fail again.
        spoiled: Those of them that fail after certain other tests.
        errors: Per failing test, the first line of its error when it was run again as it is.
        sides: Per failing test, the plain sides of the comparison that failed then, as literals.
        printed: Per failing test, what it wrote and logged then.
        values: Per function, what passing and failing calls had.
        nearest_call: Of the first suspect: a failing call beside a passing one.
        recording: The calls of the failing tests and their neighbours.
        invariants: Per function, what held in all passing calls.
        innocent: Functions that the golden rule of callees excuses.
        rejected: Attempts that failed on the same code.
        judged: Verdicts of a language model on locations.
    """

    group: FailingGroup
    stop: str = NOT_INSPECTED
    failing: tuple[str, ...] = field(init=False)
    near: Neighbourhood = field(init=False)
    belief: Belief = field(init=False)
    changes: Changes = field(init=False)
    cause: tuple[Location, ...] = ()
    history: list[tuple[tuple[Location, float], ...]] = field(default_factory=list)
    inspections: list[Inspection] = field(default_factory=list)
    evidence: list[Evidence] = field(default_factory=list)
    flaky: tuple[str, ...] = ()
    spoiled: tuple[SpoiledTest, ...] = ()
    errors: Mapping[str, str] = field(default_factory=dict)
    sides: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    printed: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[Location, Mapping[str, tuple[str, str]]] = field(default_factory=dict)
    nearest_call: NearestCall | None = None
    recording: Recording = field(default_factory=Recording)
    invariants: Mapping[Location, Sequence[Invariant]] = field(default_factory=dict)
    innocent: frozenset[Location] = frozenset()
    rejected: Rejected = field(default_factory=Rejected)
    judged: list[Judged] = field(default_factory=list)

    def __post_init__(self) -> None:
        group = self.group
        self.failing = tuple(failure.node_id for failure in group.failures)
        self.near = Neighbourhood(group.spectrum)
        self.belief = MODELS[self.model](group.prior).update_all(group.evidence)
        self.changes = group.changes

    @property
    def model(self) -> str:
        """The name of the belief model."""
        return self.group.model.belief

    def is_raising(self, location: Location) -> bool:
        """Say whether the traceback shows that the exception was raised in ``location``."""
        return any(e.location == location and e.outcome in _RAISED for e in self.group.evidence)

    def targets(self) -> list[Location]:
        """Return the likeliest locations that are code, best first.

        Test support is left out, as tests are: an edit of an assertion makes any test pass.
        """
        told = self.group.evidence
        spared = {e.location for e in told if e.outcome is StaticOutcome.TEST_SUPPORT}
        top = self.belief.top(N_RECORDED)
        return [where for where, _ in top if not where.is_test and where not in spared]

    def neighbours(self) -> tuple[str, ...]:
        """Return the passing tests that calls are recorded of, for comparison."""
        return self.near.union(self.targets()[:N_TARGETS], each=N_MINED, at_most=MAX_MINED)

    def tests(self) -> tuple[str, ...]:
        """Return every test that the loop may run again."""
        return (*self.failing, *self.neighbours())

    def failing_of(self, target: Location, n: int) -> tuple[str, ...]:
        """Return the first ``n`` failing tests that execute ``target``; if none does, of all."""
        near = self.near.failing(target, n)
        return tuple(node_id for node_id in near if node_id in self.failing) or self.failing[:n]

    def learn(self, evidence: Iterable[Evidence]) -> None:
        """Weigh evidence that needed no inspection."""
        covered = self.belief.probabilities
        known = [
            e
            for e in evidence
            if e.location in covered and e.source not in self.group.model.without
        ]
        self.evidence += known
        self.belief = self.belief.update_all(known)

    def answer_for(self, guard: Guard) -> None:
        """Take ``guard`` as the check that refused the data of the failing tests.

        That the check raised then speaks not against it, nor for its tests.
        """
        group = self.group
        kept = [e for e in group.evidence if not _is_about_raising(e)]
        told = [e for e in guard_evidence(guard, model=self.model) if e.location in group.prior]
        known = [e for e in told if e.source not in group.model.without]
        self.group = replace(group, guard=guard, evidence=(*known, *kept))
        belief = MODELS[self.model](group.prior).update_all(self.group.evidence)
        self.belief = belief.update_all(e for e in self.evidence if e.location in group.prior)
        for inspection in self.inspections:
            self.admit(inspection.target)
            self.belief = self.belief.update(inspection.finding.evidence)
        self.history.append(self.belief.top(N_HISTORY))

    def admit(self, location: Location) -> None:
        """Make ``location`` a candidate, if it is none."""
        if location not in self.belief.probabilities:
            self.belief = self.belief.joined(location, UNSEEN)

    def correct(self, evidence: Evidence) -> None:
        """Put ``evidence`` in the place of an inspection's that is of the same kind and place."""
        for n, inspection in enumerate(self.inspections):
            old = inspection.finding.evidence
            if (old.location, old.source) == (evidence.location, evidence.source):
                p_if_faulty = evidence.p_if_faulty * old.p_if_clean
                p_if_clean = evidence.p_if_clean * old.p_if_faulty
                weighed = replace(evidence, p_if_faulty=p_if_faulty, p_if_clean=p_if_clean)
                self.belief = self.belief.update(weighed)
                finding = replace(inspection.finding, evidence=evidence)
                self.inspections[n] = replace(inspection, finding=finding)
                return

    def divide(self, runs: Mapping[str, TestRun]) -> tuple[dict[str, TestRun], dict[str, TestRun]]:
        """Divide ``runs`` into those of failing and those of passing tests."""
        failing = {node_id: run for node_id, run in runs.items() if node_id in self.failing}
        passing = {node_id: run for node_id, run in runs.items() if node_id not in failing}
        return failing, passing

    def take(self, finding: Finding) -> None:
        """Condition the belief on what an inspection found, and keep it."""
        target = finding.evidence.location
        before = self.belief.p(target)
        self.belief = self.belief.update(finding.evidence)
        self.history.append(self.belief.top(N_HISTORY))
        self.inspections.append(
            Inspection(
                step=len(self.inspections) + 1,
                finding=finding,
                belief_before=before,
                belief_after=self.belief.p(target),
            )
        )
