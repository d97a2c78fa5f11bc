"""The JSON result, ``bayesloc/1``: the contract that every other surface is drawn from."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite

from pytest_bayesloc.domain.evidence import Evidence, Outcome
from pytest_bayesloc.domain.failure import Failure
from pytest_bayesloc.domain.fixing import TAKE_BACK, Fix, Level
from pytest_bayesloc.domain.guiding import Usage
from pytest_bayesloc.domain.inspection import Effect, Inspection, TestRun
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.result import Fault, Ranked, RankedLine, Result
from pytest_bayesloc.domain.spectrum import Counts
from pytest_bayesloc.report.failures import MAX_FAILURES, failures_to_json
from pytest_bayesloc.report.memory import memory_to_json
from pytest_bayesloc.report.text import clip

SCHEMA = "bayesloc/1"
MAX_ROWS = 200
MAX_LINES = 200
MAX_FAULTS = 50
MAX_STEPS = 200
MAX_TESTS = 100
MAX_EDGES = 1000
MAX_TRIALS = 100
MAX_BLOCK = 20_000


def to_json(result: Result, *, pytest_version: str, python_version: str) -> dict[str, object]:
    """The document of ``docs/bayesloc-1.schema.json``: JSON values only, all numbers finite.

    Long lists and texts are cut; ``partial`` names the lists that were.
    """
    faults = result.faults[:MAX_FAULTS]
    return {
        "schema": SCHEMA,
        "session": _session(result, pytest_version, python_version),
        "ranking": [_row(row) for row in result.ranking[:MAX_ROWS]],
        "faults": [_fault(fault) for fault in faults],
        "inspections": [
            _inspection(number, inspection)
            for number, fault in enumerate(faults, 1)
            for inspection in fault.inspections[:MAX_STEPS]
        ],
        "call_graph": {
            "edges": [
                {"caller": _location(caller), "callee": _location(callee), "calls": calls}
                for caller, callee, calls in result.edges[:MAX_EDGES]
            ]
        },
        "memory": memory_to_json(result.memory),
        "fixes": _fixes(result, faults),
        "llm": _llm(result.llm),
        "partial": [*map(clip, result.partial), *_cuts(result), *_not_finite(result)],
    }


def dumps(document: Mapping[str, object]) -> str:
    """``document`` as ASCII JSON text, which holds whatever a message holds (lone surrogates)."""
    return json.dumps(document, ensure_ascii=True, allow_nan=False, indent=1) + "\n"


def unit(value: float) -> float:
    """``value`` within [0, 1]; 0 where it is no number."""
    return min(1.0, max(0.0, float(value))) if isfinite(value) else 0.0


def positive(value: float) -> float:
    """``value`` to the microsecond, 0 where it is negative or no number."""
    return round(max(0.0, float(value)), 6) if isfinite(value) else 0.0


def _session(result: Result, pytest_version: str, python_version: str) -> dict[str, object]:
    return {
        "pytest_version": pytest_version,
        "python_version": python_version,
        "n_passed": result.n_passed,
        "n_remembered": result.n_remembered,
        "n_traced": result.n_traced,
        "n_failed": result.n_failed,
        "collector": result.collector,
        "executor": clip(result.executor),
        "formula": result.formula,
        "model": result.model,
        "threshold": unit(result.threshold),
        "seconds": {stage: positive(seconds) for stage, seconds in result.seconds.items()},
    }


def _location(location: Location) -> dict[str, object]:
    return {
        "file": clip(location.file),
        "qualname": clip(location.qualname),
        "start_line": location.start_line,
        "end_line": location.end_line,
        "is_test": location.is_test,
    }


def _row(row: Ranked) -> dict[str, object]:
    counts = row.counts
    return {
        "rank": row.rank,
        "tied": row.tied,
        **_location(row.location),
        "counts": None if counts is None else _counts(counts),
        "suspiciousness": unit(row.suspiciousness),
        "prior": unit(row.prior),
        "posterior": unit(row.posterior),
        "lines": [_line(line) for line in _hottest(row.lines)],
        "values": {
            clip(name): {"passing": clip(passing), "failing": clip(failing)}
            for name, (passing, failing) in row.values.items()
        },
        "evidence": [_evidence(evidence) for evidence in row.evidence],
    }


def _counts(counts: Counts) -> dict[str, object]:
    return {"ef": counts.ef, "ep": counts.ep, "nf": counts.nf, "np": counts.np}


def _hottest(lines: tuple[RankedLine, ...]) -> list[RankedLine]:
    """The most suspicious lines, ascending."""
    by_heat = sorted(lines, key=lambda line: (-unit(line.suspiciousness), line.line))
    return sorted(by_heat[:MAX_LINES], key=lambda line: line.line)


def _line(line: RankedLine) -> dict[str, object]:
    heat = unit(line.suspiciousness)
    return {"line": line.line, "ef": line.ef, "ep": line.ep, "suspiciousness": heat}


def _evidence(evidence: Evidence) -> dict[str, object]:
    return {
        "source": evidence.source,
        "outcome": evidence.outcome.value,
        "p_if_faulty": unit(evidence.p_if_faulty),
        "p_if_clean": unit(evidence.p_if_clean),
        "why": clip(evidence.why),
    }


def _fault(fault: Fault) -> dict[str, object]:
    return {
        "failing_tests": [clip(failure.node_id) for failure in fault.failures],
        "failures": failures_to_json(fault),
        "error": _error(fault),
        "stop_reason": clip(fault.stop_reason),
        "n_candidates": max(fault.n_candidates, len(fault.ranking)),
        "ranking": [_row(row) for row in fault.ranking[:MAX_ROWS]],
        "history": [
            [{**_location(location), "posterior": unit(p)} for location, p in step]
            for step in fault.history[: MAX_STEPS + 1]
        ],
        "flaky": [clip(node_id) for node_id in fault.flaky],
    }


def _error(fault: Fault) -> dict[str, object]:
    failure = fault.failures[0]
    file, line = _place(failure)
    return {
        "type": clip(failure.exc_type),
        "message": clip(failure.message),
        "file": file if file is None else clip(file),
        "line": line,
        "origin": fault.origin.value,
        "kind": fault.kind.value,
    }


def _place(failure: Failure) -> tuple[str, int] | tuple[None, None]:
    """Where a syntax error stands, else the innermost frame in the project."""
    if failure.syntax_error is not None:
        return failure.syntax_error
    frame = failure.raise_frame
    return (frame.file, frame.line) if frame else (None, None)


def _inspection(fault: int, inspection: Inspection) -> dict[str, object]:
    signals, evidence = inspection.signals, inspection.evidence
    return {
        "fault": fault,
        "step": inspection.step,
        "target": _location(inspection.target),
        "kind": inspection.kind,
        "patch": clip(inspection.diff, MAX_BLOCK),
        "tests": [_test(*item) for item in list(inspection.tests.items())[:MAX_TESTS]],
        "outcome": evidence.outcome.value,
        "signals": {
            "is_covered": signals.is_covered,
            "has_target_assertion": signals.has_target_assertion,
            "is_failure": signals.is_failure,
        },
        "decision": inspection.decision.value,
        "likelihoods": {
            "p_if_faulty": unit(evidence.p_if_faulty),
            "p_if_clean": unit(evidence.p_if_clean),
        },
        "why": clip(evidence.why),
        "belief_before": unit(inspection.belief_before),
        "belief_after": unit(inspection.belief_after),
        "seconds": positive(inspection.seconds),
        "cpu_s": positive(inspection.cpu_s),
        "log": clip(inspection.log, MAX_BLOCK),
        "trials": [
            {
                "line": trial.line,
                "words": clip(trial.words),
                "effect": trial.effect.value,
                "n_passed": trial.n_passed,
            }
            for trial in inspection.trials[:MAX_TRIALS]
        ],
    }


def _fixes(result: Result, faults: Sequence[Fault]) -> list[dict[str, object]]:
    """What was searched for; where nothing was, what inspections came across."""
    if result.fixes is not None:
        return [_fix(fix) for fix in result.fixes if fix.fault <= len(faults)]
    seen = {
        (number, inspection.diff): _come_across(number, inspection)
        for number, fault in enumerate(faults, 1)
        for inspection in fault.inspections
        if inspection.evidence.outcome in {Outcome.MUTANT_REPAIRS, Outcome.REVERT_REPAIRS}
    }
    return list(seen.values())


def _fix(fix: Fix) -> dict[str, object]:
    return {
        "fault": fix.fault,
        "step": None,
        "tool": clip(fix.tool),
        "stage": fix.stage,
        "level": fix.level.value,
        "target": _location(fix.target),
        "words": clip(fix.words),
        "diff": clip(fix.diff, MAX_BLOCK),
        "verified": fix.is_verified,
        "n_failing": len(fix.failing),
        "n_passing": len(fix.passing),
        "checked": [clip(node_id) for node_id in (*fix.failing, *fix.passing)[:MAX_TESTS]],
        "seconds": positive(fix.seconds),
        "worth": unit(fix.worth),
        "patch_file": fix.patch_file or None,
        "applied": fix.is_applied,
    }


def _come_across(fault: int, inspection: Inspection) -> dict[str, object]:
    """What turned the failing tests green: an edit that broke no test, or older code."""
    words = next((t.words for t in inspection.trials if t.effect is Effect.REPAIRS), "")
    return {
        "fault": fault,
        "step": inspection.step,
        "tool": clip(words.partition(",")[0] or TAKE_BACK),
        "stage": "inspection",
        "level": Level.UNSAFE.value,
        "target": _location(inspection.target),
        "words": clip(words or "take back what changed"),
        "diff": clip(inspection.diff, MAX_BLOCK),
        "verified": False,
        "n_failing": 0,
        "n_passing": 0,
        "checked": [clip(node_id) for node_id in list(inspection.tests)[:MAX_TESTS]],
        "seconds": positive(inspection.seconds),
        "worth": 0.5,
        "patch_file": None,
        "applied": False,
    }


def _llm(usage: Usage) -> dict[str, object]:
    return {
        "model": clip(usage.model),
        "endpoint": clip(usage.endpoint),
        "calls": usage.calls,
        "replayed": usage.replayed,
        "tokens": usage.tokens,
        "cost": None if usage.cost is None else positive(usage.cost),
        "uses": dict(usage.uses),
    }


def _test(node_id: str, run: TestRun) -> dict[str, object]:
    return {
        "node_id": clip(node_id),
        "verdict": run.verdict.value,
        "covered": run.covered,
        "violations": list(run.violations),
        "error": clip(run.error),
        "output": clip(run.output),
    }


def _cuts(result: Result) -> Iterator[str]:
    """One sentence for each list that is longer than what is given of it."""
    faults = result.faults[:MAX_FAULTS]
    rankings = [result.ranking, *(fault.ranking for fault in faults)]
    steps = [inspection for fault in faults for inspection in fault.inspections]
    lengths = (
        ("rows in a ranking", MAX_ROWS, max(map(len, rankings))),
        ("lines of a location", MAX_LINES, max((len(r.lines) for r in result.ranking), default=0)),
        (
            "failing tests of a fault in detail",
            MAX_FAILURES,
            max((len(fault.failures) for fault in faults), default=0),
        ),
        ("faults", MAX_FAULTS, len(result.faults)),
        ("inspections of a fault", MAX_STEPS, max((len(f.inspections) for f in faults), default=0)),
        ("tests of an inspection", MAX_TESTS, max((len(i.tests) for i in steps), default=0)),
        ("calls in the call graph", MAX_EDGES, len(result.edges)),
    )
    for what, limit, length in lengths:
        if length > limit:
            yield f"Of {length} {what}, {limit} are given."


def _not_finite(result: Result) -> Iterator[str]:
    """A sentence if a probability was no number: the ranking is then not to be trusted."""
    rows = [*result.ranking, *(row for fault in result.faults for row in fault.ranking)]
    if not all(isfinite(p) for row in rows for p in (row.suspiciousness, row.prior, row.posterior)):
        yield "A probability was not a finite number and is given as 0."
