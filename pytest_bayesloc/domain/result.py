"""The result of localizing one group of failing tests: its ranking, and how it came about."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_bayesloc.domain.evidence import Evidence
    from pytest_bayesloc.domain.failure import Cause, ErrorKind, Failure, Origin
    from pytest_bayesloc.domain.inspection import Finding
    from pytest_bayesloc.domain.location import Location
    from pytest_bayesloc.domain.spectrum import Counts


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedLine:
    """One executed line of a ranked location; ``suspiciousness`` in [0, 1]."""

    line: int
    ef: int
    ep: int
    suspiciousness: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """One row of a ranking.

    Attributes:
        rank: From 1; locations that tie in probability share the smallest rank.
        tied: How many locations share the rank, itself included.
        counts: Tests that executed it; None for a test or a file that never ran.
        suspiciousness: Raw score of the formula, in [0, 1].
        prior: P(faulty) before evidence.
        posterior: P(faulty) after it.
        lines: Its executed lines, ascending.
        evidence: What moved it, strongest first.
        values: Parameter or ``return`` to what was seen in passing and in failing calls.
        call_path: The shortest recorded calls from a failing test to it, both included; empty
            where none are known.
    """

    rank: int
    tied: int
    location: Location
    counts: Counts | None
    suspiciousness: float
    prior: float
    posterior: float
    lines: tuple[RankedLine, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    values: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    call_path: tuple[Location, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NearestCall:
    """A call in a failing test beside the passing call whose arguments differ least.

    Attributes:
        failing_test: Node id of the test of the one call.
        passing_test: Node id of the test of the other.
        values: Path below a parameter or ``return`` to what stood there in the passing and in the
            failing call; empty where nothing did. Of a value that differs, the parts that do.
        n_more: Parts that differ as well.
    """

    location: Location
    failing_test: str
    passing_test: str
    values: Mapping[str, tuple[str, str]]
    n_more: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SpoiledTest:
    """A test that passes alone, and fails after others.

    Attributes:
        after: Node ids of the tests that spoil it together, in the order they ran.
        n_earlier: Tests that ran before it in the same process.
        is_smallest: Whether no part of them was found to be enough; else time was up before.
        command: Reproduces the failure.
        state: The variables that they leave changed, most likely first: by their dotted names,
            from the module on, the functions that those tests execute and that change them, test
            code first, each with the line.
        n_changed: Variables that differ; ``state`` may hold fewer.
    """

    test: str
    after: tuple[str, ...]
    n_earlier: int
    is_smallest: bool
    command: str
    state: Mapping[str, tuple[tuple[Location, int], ...]] = field(default_factory=dict)
    n_changed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakingChange:
    """A part of what changed since the tests passed, without which some failing tests pass.

    Attributes:
        location: The function, body or data file that it is in: of several, the first one's.
        first_line: Its first line as it is; where lines are gone, the one that follows.
        last_line: Its last line, likewise.
        diff: The change that puts it back, as a unified diff.
        tests: Node ids of failing tests that pass then; empty where that could not be tried.
        n_tried: Failing tests that were run with it.
        n_changes: Separate blocks of lines, or entries, that it holds; all are needed together.
        is_smallest: Whether no part of it was found to be enough; else time was up before.
        undone: Per file, its text without the change.
    """

    location: Location
    first_line: int
    last_line: int
    diff: str
    tests: tuple[str, ...] = ()
    n_tried: int = 0
    n_changes: int = 1
    is_smallest: bool = True
    undone: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A group of failing tests that is localized by itself.

    Attributes:
        failures: Its failing tests, in the order they ran.
        origin: Where the error stands.
        kind: What sort of error it is.
        ranking: Best first; empty if it is flaky, since nothing then speaks of the code.
        stop_reason: Why the loop ended, in words.
        history: The likeliest locations and their probabilities: the prior, then after each
            step.
        flaky: Node ids of its tests that did not fail again when re-run as they were.
        n_candidates: Locations that were ranked; ``ranking`` may hold fewer.
        test_share: P(it is a mistake of the tests) that is in no row: nothing of their own speaks
            for it.
        reached: Per failing test, of the first of them, which of the first rows of ``ranking`` it
            executed, by their index.
        changed_data: Files that are no code and changed since the tests passed.
        breaking: The changes since then that make its tests fail.
        spoiled: Those of ``flaky`` that fail after certain other tests.
        nearest_call: Of the first suspect; None if no passing call is known.
        cause: Why its tests fail, where that is no mistake in a function.
    """

    failures: tuple[Failure, ...]
    origin: Origin
    kind: ErrorKind
    ranking: tuple[Ranked, ...]
    stop_reason: str
    history: tuple[tuple[tuple[Location, float], ...], ...] = ()
    inspections: tuple[Finding, ...] = ()
    flaky: tuple[str, ...] = ()
    n_candidates: int = 0
    test_share: float = 0.0
    reached: tuple[tuple[int, ...], ...] = ()
    changed_data: tuple[str, ...] = ()
    breaking: tuple[BreakingChange, ...] = ()
    spoiled: tuple[SpoiledTest, ...] = ()
    nearest_call: NearestCall | None = None
    cause: Cause | None = None

    @property
    def is_flaky(self) -> bool:
        """Whether no failing test fails again as the code is, and none is spoiled by others."""
        return len(self.flaky) == len(self.failures) and not self.spoiled
