"""Failing tests that probably share a fault, with what is known of it, and the tests to re-run."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice

from pytest_bayesloc.domain.evidence import (
    Evidence,
    InspectionOutcome,
    Judgement,
    Outcome,
    StaticOutcome,
)
from pytest_bayesloc.domain.failure import Cause, Failure, Role, Situation
from pytest_bayesloc.domain.inspection import Finding, Rejected, Rerun, TestRun, Verdict
from pytest_bayesloc.domain.location import DATA, Location
from pytest_bayesloc.domain.recording import Recording
from pytest_bayesloc.domain.result import BreakingChange, NearestCall, SpoiledTest
from pytest_bayesloc.domain.spectrum import Spectrum, tally
from pytest_bayesloc.history.changes import Changes
from pytest_bayesloc.ranking.belief import MODELS, Belief, ModelChoice
from pytest_bayesloc.ranking.evidence.failures import guard_evidence
from pytest_bayesloc.ranking.evidence.guards import Guard
from pytest_bayesloc.ranking.evidence.invariants import Invariant
from pytest_bayesloc.ranking.evidence.swallowed import without_absence
from pytest_bayesloc.ranking.fitted import LOG_RATIOS
from pytest_bayesloc.ranking.formulas import scorer
from pytest_bayesloc.ranking.likelihoods import (
    REFERENCE_MODEL,
    Likelihood,
    likelihood,
    repair_likelihood,
)

N_TARGETS = 25
N_MINED, MAX_MINED = 8, 60  # passing tests that invariants are mined from: a target, in all
N_RECORDED = 300
N_HISTORY = 8
LEAST_EXPLAINED = 2  # tests of one edit: what repairs a single one may do so by chance
#: P(faulty) of what no failing test was seen to execute: a process of its own may have.
UNSEEN = 0.01
NOT_INSPECTED = "not inspected: run pytest --bayesloc"
_RAISED = frozenset({StaticOutcome.RAISE_FRAME, StaticOutcome.GUARD_REFUSED})
#: Weighed as if what raised, or wrapped it, had failed itself.
_RAISED_ITSELF = frozenset({StaticOutcome.CODE_RAISED, StaticOutcome.RAISE_FRAME})


class Neighbourhood:
    """Finds tests to re-run: passing tests by their nearness to the failing ones of ``spectrum``.

    Two tests are near if they execute the same locations (Jaccard).
    """

    def __init__(self, spectrum: Spectrum) -> None:
        self._spectrum = spectrum

    @cached_property
    def _by_nearness(self) -> list[int]:
        """Return the passing tests, the nearest to the failing ones first."""
        failing, passing = self._spectrum.failing, self._spectrum.passing
        executed = self._spectrum.executed.values()
        covered = [tests & passing for tests in executed if tests & failing]
        shared, own = tally(covered), tally(tests & passing for tests in executed)

        def nearness(test: int) -> float:
            n_shared = shared.get(test, 0)
            return n_shared / (len(covered) + own[test] - n_shared or 1)

        return sorted(own, key=lambda test: (-nearness(test), test))

    def is_reached(self, location: Location) -> bool:
        """Say whether a patch in memory of ``location`` may matter to the failing tests."""
        return location.inspectable and location not in self._spectrum.remote

    def nearest(self, location: Location, n: int, *, line: int = 0) -> tuple[str, ...]:
        """Return the ``n`` nearest passing tests that execute ``location``, or its ``line``."""
        executed = self._spectrum.executed.get(location, 0) & self._spectrum.passing
        executed &= self._spectrum.lines.get(location, {}).get(line, executed)
        found = (test for test in self._by_nearness if executed >> test & 1)
        return tuple(self._spectrum.tests[test] for test in islice(found, n))

    def failing(self, location: Location, n: int) -> tuple[str, ...]:
        """Return the first ``n`` failing tests that execute ``location``; if none does, of all."""
        executed = self._spectrum.executed.get(location, 0) & self._spectrum.failing
        return self._spectrum.node_ids(executed or self._spectrum.failing)[:n]

    def union(
        self, locations: Sequence[Location], *, each: int, at_most: int | None = None
    ) -> tuple[str, ...]:
        """Return the passing tests nearest to each location, in the order of locations."""
        near = (node_id for where in locations for node_id in self.nearest(where, each))
        return tuple(dict.fromkeys(near))[:at_most]

    def suspiciousness(self, location: Location) -> dict[int, float]:
        """Return per executed line of ``location`` its Ochiai score."""
        score = scorer(self._spectrum, "ochiai")
        rows = self._spectrum.lines.get(location, {})
        return {line: score(executed) for line, executed in rows.items()}


@dataclass(kw_only=True)
class Case:
    """Mutable localization state: failing tests that probably share a fault, and what is known.

    Attributes:
        failures: Its failing tests, in the order they ran.
        spectrum: With these tests as its failing ones.
        choice: How beliefs are formed.
        prior: P(faulty) of each candidate before any evidence.
        evidence: What needed no inspection: of failures, names, changes, recorded calls and a
            language model.
        guard: The check that refused the tests' data, if that is what happened.
        own_errors: Evidence that the tests' own text is wrong.
        roles: The test code that may be at fault, and what it is to the tests.
        changes: What changed since the tests passed; empty if that is not known.
        situation: What is known of the age of its tests.
        failing: Node ids of those of the tests that fail each time.
        near: The tests to run again.
        belief: After all evidence so far.
        stop: Why the loop ended.
        culprits: The changes that have to be taken back together for the failing tests to pass, as
            far as that was tried.
        cause: Why its tests fail, where that is no mistake in a function.
        breaking: The same to the line, each with the tests that it breaks.
        history: The likeliest locations: at first, then after each step.
        inspections: Those made.
        flaky: Tests that did not fail again.
        spoiled: Those of them that fail after certain other tests.
        again: How its failing tests ended when they were run again as they are, if that was done
            before inspections.
        errors: Per failing test, the first line of its error when it was run again as it is.
        sides: Per failing test, the plain sides of the comparison that failed then, as literals.
        printed: Per failing test, what it wrote and logged then.
        values: Per function, what passing and failing calls had.
        nearest_call: Of the first suspect: a failing call beside a passing one.
        recording: The calls of the failing tests and their neighbours.
        invariants: Per function, what held in all passing calls.
        innocent: Functions that the golden rule of callees excuses; None until that is asked.
        rejected: Attempts that failed on the same code.
        tried: Per edit that was tried (``InspectionPatch.key``), how tests went under it.
        judged: Per way of asking and location, the verdict of a language model: kept until it is
            known whether it was right.
        guide: Name of that model.
    """

    failures: tuple[Failure, ...]
    spectrum: Spectrum
    choice: ModelChoice
    prior: Mapping[Location, float]
    evidence: tuple[Evidence, ...] = ()
    guard: Guard | None = None
    own_errors: tuple[Evidence, ...] = ()
    roles: Mapping[Location, Role] = field(default_factory=dict)
    changes: Changes = field(default_factory=Changes)
    situation: Situation = Situation.NEW_TEST
    failing: tuple[str, ...] = field(init=False)
    near: Neighbourhood = field(init=False)
    belief: Belief = field(init=False)
    stop: str = NOT_INSPECTED
    culprits: tuple[Location, ...] = ()
    cause: Cause | None = field(init=False)
    breaking: tuple[BreakingChange, ...] = ()
    history: list[tuple[tuple[Location, float], ...]] = field(default_factory=list)
    inspections: list[Finding] = field(default_factory=list)
    flaky: tuple[str, ...] = ()
    spoiled: tuple[SpoiledTest, ...] = ()
    again: Rerun | None = None
    errors: Mapping[str, str] = field(default_factory=dict)
    sides: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    printed: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[Location, Mapping[str, tuple[str, str]]] = field(default_factory=dict)
    nearest_call: NearestCall | None = None
    recording: Recording = field(default_factory=Recording)
    invariants: Mapping[Location, Sequence[Invariant]] = field(default_factory=dict)
    innocent: frozenset[Location] | None = None
    rejected: Rejected = field(default_factory=Rejected)
    tried: dict[str, dict[str, TestRun]] = field(default_factory=dict)
    judged: dict[tuple[str, Location], Outcome] = field(default_factory=dict)
    guide: str = ""
    _shares: Mapping[Location, float] | None = field(default=None, init=False)
    _repaired: set[Location] = field(default_factory=set)  # kept: asked of each candidate, often

    def __post_init__(self) -> None:
        self.failing = tuple(failure.node_id for failure in self.failures)
        self.cause = self.failures[0].cause if self.failures else None
        self.near = Neighbourhood(self.spectrum)
        self._weigh_anew()

    def _weigh_anew(self) -> None:
        """Form the belief from the prior and the evidence on its locations."""
        prior = MODELS[self.model](self.prior)
        self.belief = prior.update_all(e for e in self.evidence if e.location in self.prior)
        self._shares = None

    @property
    def shares(self) -> Mapping[Location, float]:
        """Beliefs by spectrum, traceback, test code and words alone, as shares of the highest."""
        if self._shares is None:  # inspections alone ask for them
            told = (e for e in self.evidence if e.outcome in LOG_RATIOS or e.source == "names")
            static = MODELS[self.model](self.prior).update_all(told).probabilities
            highest = max(static.values(), default=1.0)
            self._shares = {where: p / highest for where, p in static.items()}
        return self._shares

    @property
    def model(self) -> str:
        """The name of the belief model."""
        return self.choice.belief

    def likelihood(self, outcome: Outcome, target: Location) -> Likelihood:
        """Return how strongly ``outcome`` of an inspection of ``target`` speaks.

        The first edit that repairs a location counts for more where the belief in it was low.
        """
        is_edit = outcome is InspectionOutcome.EDIT_REPAIRS and self.model != REFERENCE_MODEL
        is_first = is_edit and target not in self._repaired
        share = self.shares.get(target, 0.0) if is_first else 0.0
        return repair_likelihood(share) if share else likelihood(self.model, outcome)

    def is_raising(self, location: Location) -> bool:
        """Say whether the traceback shows that the exception was raised in ``location``."""
        return any(e.location == location and e.outcome in _RAISED for e in self.evidence)

    def targets(self) -> list[Location]:
        """Return the likeliest locations that are code, best first; no files of data.

        Test support is left out, as tests are: an edit of an assertion makes any test pass.
        """
        support = StaticOutcome.TEST_SUPPORT
        spared = {e.location for e in self.evidence if e.outcome is support}
        top = self.belief.top(N_RECORDED)
        code = (where for where, _ in top if not where.is_test and where.qualname != DATA)
        return [where for where in code if where not in spared]

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

    def explained(self) -> tuple[frozenset[str], ...]:
        """Return sets of failing tests that fail for other reasons than the rest.

        Those that each change since the tests passed breaks; else those that an edit of code
        repairs that the others don't execute. Empty where no inspection shows that.
        """
        parts = [
            part for b in self.breaking if (part := frozenset(self.failing).intersection(b.tests))
        ]
        if parts and parts != [frozenset(self.failing)]:
            return tuple(parts)
        for finding in self.inspections if not parts else ():
            if finding.evidence.outcome is InspectionOutcome.EDIT_REPAIRS and not finding.doubt:
                own = frozenset(self.failing_of(finding.target, len(self.failing)))
                passed = {n for n, run in finding.tests.items() if run.verdict is Verdict.PASS}
                is_part = not passed.issuperset(self.failing)
                if is_part and own <= passed and LEAST_EXPLAINED <= len(own) < len(self.failing):
                    return (own,)
        return ()

    def inherit(self, whole: Case) -> None:
        """Take what a model said of the case that its tests were part of, and what they showed."""
        self.rejected, self.tried = whole.rejected.again(), whole.tried
        self.guide, self.judged = whole.guide, dict(whole.judged)
        self.learn(e for e in whole.evidence if isinstance(e.outcome, Judgement))
        n = len(self.failing)
        own = (b for b in whole.breaking if not set(self.failing).isdisjoint(b.tests))
        self.breaking = tuple(replace(b, n_tried=min(b.n_tried, n)) for b in own)
        self.culprits = tuple(dict.fromkeys(b.location for b in self.breaking))
        for finding in whole.inspections:
            tests, _ = whole.divide(finding.tests)
            is_own = bool(tests) and tests.keys() <= set(self.failing)
            if is_own and self.breaking:
                self.admit(finding.target)
            if is_own and finding.target in self.belief.probabilities:
                self.take(finding)

    def learn(self, evidence: Iterable[Evidence]) -> None:
        """Weigh evidence that needed no inspection."""
        known = self._admissible(evidence, self.belief.probabilities)
        self.evidence += known
        self.belief = self.belief.update_all(known)

    def _admissible(
        self, evidence: Iterable[Evidence], candidates: Collection[Location]
    ) -> tuple[Evidence, ...]:
        without = self.choice.without
        return tuple(e for e in evidence if e.location in candidates and e.source not in without)

    def answer_for(self, guard: Guard) -> None:
        """Take ``guard`` as the check that refused the data of the failing tests.

        Raising then does not incriminate the check, and does not excuse its tests.
        """
        self.guard = guard
        others = (e for e in self.evidence if e.source != "guard")
        kept = (e for e in others if e.outcome not in _RAISED_ITSELF)
        told = guard_evidence(guard, model=self.model)
        self._begin_with((*self._admissible(told, self.prior), *kept))

    def retell(self, source: str, evidence: Iterable[Evidence]) -> None:
        """Put ``evidence`` in the place of what ``source`` said before it knew more."""
        told = (e for e in self._admissible(evidence, self.prior) if e.log_ratio)
        others = (e for e in self.evidence if e.source != source)
        self._begin_with(without_absence((*told, *others)))

    def _begin_with(self, evidence: Iterable[Evidence]) -> None:
        """Weigh ``evidence`` instead of what needed no inspection so far, then the inspections."""
        self.evidence = tuple(evidence)
        self._weigh_anew()
        for inspection in self.inspections:
            self.admit(inspection.target)
            self.belief = self.belief.update(inspection.evidence)
        self.history.append(self.belief.top(N_HISTORY))

    def judge(self, guide: str, use: str, verdicts: Mapping[Location, Outcome]) -> None:
        """Keep what the model ``guide`` says when it is asked in the way ``use``."""
        self.guide = guide
        self.judged |= {(use, where): verdict for where, verdict in verdicts.items()}

    def admit(self, location: Location) -> None:
        """Make ``location`` a candidate, if it is none."""
        if location not in self.belief.probabilities:
            self.belief = self.belief.joined(location, UNSEEN)

    def correct(self, evidence: Evidence) -> None:
        """Put ``evidence`` in the place of an inspection's that is of the same kind and place."""
        n = self._inspected(evidence)
        if n is not None:
            old = self.inspections[n].evidence
            weighed = replace(
                evidence,
                p_if_faulty=evidence.p_if_faulty * old.p_if_clean,
                p_if_clean=evidence.p_if_clean * old.p_if_faulty,
            )
            self.belief = self.belief.update(weighed)
            self.inspections[n] = replace(self.inspections[n], evidence=evidence)

    def _inspected(self, evidence: Evidence) -> int | None:
        """Return which inspection is of the kind and place of ``evidence``; None if none is."""
        own = evidence.location, evidence.source
        made = ((f.evidence.location, f.evidence.source) for f in self.inspections)
        return next((n for n, one in enumerate(made) if one == own), None)

    def divide(self, runs: Mapping[str, TestRun]) -> tuple[dict[str, TestRun], dict[str, TestRun]]:
        """Divide ``runs`` into those of failing and those of passing tests."""
        failing = {node_id: run for node_id, run in runs.items() if node_id in self.failing}
        passing = {node_id: run for node_id, run in runs.items() if node_id not in failing}
        return failing, passing

    def take(self, finding: Finding) -> None:
        """Condition the belief on what an inspection found, and keep it.

        An edit is weighed by where it was made only now, since others may have come first. One
        that has a weight of its own, such as a language model's, keeps it.
        """
        evidence, target = finding.evidence, finding.target
        if evidence.outcome is InspectionOutcome.EDIT_REPAIRS:
            usual, here = (
                likelihood(self.model, evidence.outcome),
                self.likelihood(evidence.outcome, target),
            )
            self._repaired.add(target)
            if (evidence.p_if_faulty, evidence.p_if_clean) == usual:
                evidence = replace(evidence, p_if_faulty=here[0], p_if_clean=here[1])
        before = self.belief.p(target)
        self.belief = self.belief.update(evidence)
        self.history.append(self.belief.top(N_HISTORY))
        taken = replace(
            finding,
            evidence=evidence,
            step=len(self.inspections) + 1,
            belief_before=before,
            belief_after=self.belief.p(target),
        )
        self.inspections.append(taken)
