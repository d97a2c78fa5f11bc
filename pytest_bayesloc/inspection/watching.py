"""Re-running tests under a patch that only looks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pytest_bayesloc.domain.inspection import InspectionPatch, Rerun, Signals, TestRun, Verdict
from pytest_bayesloc.inspection.strategy import Bench
from pytest_bayesloc.ranking.case import Case
from pytest_bayesloc.ranking.outcomes import fired_checks, signals_of

MAX_FAILING = 3
MAX_PASSING = 6
LEAST_S = 2.0  # a patch that only looks takes hardly longer than the tests as they are


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """What was seen under a patch.

    Attributes:
        tests: Per node id, how it went.
        signals: What that amounts to; None if it is inconclusive.
        fired: Numbers of the checks that failed in failing tests alone.
        seconds: Wall seconds.
        cpu_s: CPU seconds of the re-run.
        log: Heartbeats and notes.
    """

    tests: Mapping[str, TestRun]
    signals: Signals | None
    fired: tuple[int, ...]
    seconds: float
    cpu_s: float
    log: str


def watch(case: Case, patch: InspectionPatch, bench: Bench) -> Watched:
    """Run failing tests under ``patch``, and passing ones if it made a difference.

    Raises:
        ExecutionError: If the place where re-runs happen is lost.
    """
    started = bench.clock()
    at_most_s = bench.patience_s(LEAST_S)
    rerun = bench.rerun(patch, case.failing_of(patch.target, MAX_FAILING), at_most_s=at_most_s)
    failing, passing = rerun.tests, _control(case, patch, rerun, bench)
    placed = rerun.n_swapped or any(run.covered for run in failing.values())
    return Watched(
        tests={**failing, **passing},
        signals=signals_of(failing, passing, n_swapped=int(placed)),
        fired=fired_checks(failing, passing),
        seconds=bench.clock() - started,
        cpu_s=rerun.cpu_s,
        log=_log(patch, rerun),
    )


def _control(
    case: Case, patch: InspectionPatch, rerun: Rerun, bench: Bench
) -> Mapping[str, TestRun]:
    """Passing tests under a patch that made a difference: what they break too is void."""
    changed = any(run.violations or run.verdict is Verdict.PASS for run in rerun.tests.values())
    passing = case.near.nearest(patch.target, MAX_PASSING) if changed else ()
    return bench.rerun(patch, passing).tests if passing else {}


def _log(patch: InspectionPatch, rerun: Rerun) -> str:
    beats = [
        f"--- INSPECTION_START: {patch.target.fqn} --- ({node_id})"
        for node_id, run in rerun.tests.items()
        if run.covered
    ]
    notes = [f"{rerun.how}: code replaced in {rerun.n_swapped} place(s)", rerun.log]
    return "\n".join(line for line in (*notes, *beats) if line)
