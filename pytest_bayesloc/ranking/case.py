"""One group of failing tests while it is worked on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pytest_bayesloc.domain.evidence import Evidence
from pytest_bayesloc.domain.inspection import Finding, Inspection, TestRun
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.recording import Recording
from pytest_bayesloc.history.changes import Changes
from pytest_bayesloc.ranking.belief import Belief
from pytest_bayesloc.ranking.evidence.invariants import Invariant
from pytest_bayesloc.ranking.evidence.judgement import Judged
from pytest_bayesloc.ranking.neighbours import Neighbourhood
from pytest_bayesloc.rerun.rejected import Rejected

N_TARGETS = 25
N_MINED, MAX_MINED = 8, 60  # passing tests that invariants are mined from: a target, in all
N_RECORDED = 300
N_HISTORY = 8
#: P(faulty) of what no failing test was seen to execute: a process of its own may have.
UNSEEN = 0.01


@dataclass(kw_only=True)
class Case:
    """What the loop works on; ``belief`` and the lists grow as it goes.

    Attributes:
        failing: Node ids of the group.
        near: Which tests to run again.
        belief: After the evidence that needs no re-run.
        model: Name of the belief model.
        raising: Where the traceback says that the exception was raised.
        changes: What changed since the tests passed; empty if that is not known.
        cause: The changes that have to be taken back together for the failing tests to pass, as
            far as that was tried.
        without: Kinds of evidence that are left out.
        stop: Why the loop ended.
        history: The likeliest locations: at first, then after each step.
        inspections: Those made.
        evidence: What the recorded calls say.
        flaky: Tests that did not fail again.
        errors: Per failing test, the first line of its error when it was run again as it is.
        values: Per function, what passing and failing calls had.
        recording: The calls of the failing tests and their neighbours.
        invariants: Per function, what held in all passing calls.
        innocent: Functions that the golden rule of callees excuses.
        rejected: What was tried in vain on the same code.
        judged: What a guide said of locations.
    """

    failing: tuple[str, ...]
    near: Neighbourhood
    belief: Belief
    model: str
    raising: frozenset[Location] = frozenset()
    changes: Changes = field(default_factory=Changes)
    cause: tuple[Location, ...] = ()
    without: frozenset[str] = frozenset()
    stop: str = ""
    history: list[tuple[tuple[Location, float], ...]] = field(default_factory=list)
    inspections: list[Inspection] = field(default_factory=list)
    evidence: list[Evidence] = field(default_factory=list)
    flaky: tuple[str, ...] = ()
    errors: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[Location, Mapping[str, tuple[str, str]]] = field(default_factory=dict)
    recording: Recording = field(default_factory=Recording)
    invariants: Mapping[Location, Sequence[Invariant]] = field(default_factory=dict)
    innocent: frozenset[Location] = frozenset()
    rejected: Rejected = field(default_factory=Rejected)
    judged: list[Judged] = field(default_factory=list)

    def targets(self) -> list[Location]:
        """The likeliest locations that are code, best first."""
        top = self.belief.top(N_RECORDED)
        return [where for where, _ in top if not where.is_test]

    def neighbours(self) -> tuple[str, ...]:
        """The passing tests that calls are recorded of, for comparison."""
        return self.near.union(self.targets()[:N_TARGETS], each=N_MINED, at_most=MAX_MINED)

    def tests(self) -> tuple[str, ...]:
        """Every test that the loop may run again."""
        return (*self.failing, *self.neighbours())

    def failing_of(self, target: Location, n: int) -> tuple[str, ...]:
        """The first ``n`` failing tests that execute ``target``; if none does, of all."""
        near = self.near.failing(target, n)
        return tuple(node_id for node_id in near if node_id in self.failing) or self.failing[:n]

    def learn(self, evidence: Iterable[Evidence]) -> None:
        """Weigh what needed no inspection."""
        covered = self.belief.probabilities
        known = [e for e in evidence if e.location in covered and e.source not in self.without]
        self.evidence += known
        self.belief = self.belief.update_all(known)

    def admit(self, location: Location) -> None:
        """Make ``location`` a candidate, if it is none."""
        if location not in self.belief.probabilities:
            self.belief = self.belief.joined(location, UNSEEN)

    def divided(self, runs: Mapping[str, TestRun]) -> tuple[dict[str, TestRun], dict[str, TestRun]]:
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
