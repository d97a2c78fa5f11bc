"""The result of a run: every report is drawn from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.advice import Remembered
from pytest_bayesloc.domain.dialogue import Usage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_bayesloc.domain.evidence import Evidence
    from pytest_bayesloc.domain.failure import ErrorKind, Failure, Origin
    from pytest_bayesloc.domain.fixing import Fix
    from pytest_bayesloc.domain.inspection import Inspection
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
        location: What is ranked.
        counts: Tests that executed it; None for a test or a file that never ran.
        suspiciousness: Raw score of the formula, in [0, 1].
        prior: P(faulty) before evidence.
        posterior: P(faulty) after it.
        lines: Its executed lines, ascending.
        evidence: What moved it, strongest first.
        values: Parameter or ``return`` to what was seen in passing and in failing calls.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A group of failing tests that is localized by itself.

    Attributes:
        failures: Its failing tests, in the order they ran.
        origin: Where the error stands.
        kind: What sort of error it is.
        ranking: Best first.
        stop_reason: Why the loop ended, in words.
        history: The likeliest locations and their probabilities: the prior, then after each
            step.
        inspections: Those made for this fault.
        flaky: Node ids of its tests that did not fail again when re-run as they were.
        n_candidates: Locations that were ranked; ``ranking`` may hold fewer.
        reached: Per failing test, of the first of them, which of the first rows of ``ranking`` it
            executed, by their index.
    """

    failures: tuple[Failure, ...]
    origin: Origin
    kind: ErrorKind
    ranking: tuple[Ranked, ...]
    stop_reason: str
    history: tuple[tuple[tuple[Location, float], ...], ...] = ()
    inspections: tuple[Inspection, ...] = ()
    flaky: tuple[str, ...] = ()
    n_candidates: int = 0
    reached: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The outcome of one session.

    Attributes:
        pytest_version: Of pytest.
        python_version: Of Python.
        n_passed: Tests that passed.
        n_remembered: Tests that did not run, and are known to pass on this code.
        n_traced: Tests of which this run found out what they execute; of the others it was known.
        n_failed: Failing tests and files that could not be collected.
        collector: Name of the collector used.
        executor: Where tests were run again.
        formula: Name of the prior's formula.
        model: Name of the belief model.
        threshold: Belief at which the loop stops.
        seconds: Wall seconds by stage.
        ranking: All faults' rankings in one.
        faults: One a group of failing tests, most failing tests first.
        edges: Caller, callee, calls: the call graph of the failing tests.
        partial: What is missing, and why.
        memory: What is remembered of the failures.
        llm: What asking a language model took.
        fixes: What was found by searching; None if fixes were not searched.
    """

    pytest_version: str
    python_version: str
    n_passed: int
    n_remembered: int
    n_traced: int
    n_failed: int
    collector: str
    executor: str
    formula: str
    model: str
    threshold: float
    seconds: Mapping[str, float]
    ranking: tuple[Ranked, ...]
    faults: tuple[Fault, ...]
    edges: tuple[tuple[Location, Location, int], ...] = ()
    partial: tuple[str, ...] = ()
    memory: Remembered = field(default_factory=Remembered)
    llm: Usage = field(default_factory=Usage)
    fixes: tuple[Fix, ...] | None = None
