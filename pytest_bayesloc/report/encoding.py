"""Encode a run's result as the JSON document of ``document``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from math import isfinite
from typing import Any, TypeVar

from msgspec import Struct

from pytest_bayesloc.domain.advice import Advice, Remembered, SimilarBug
from pytest_bayesloc.domain.bug import BugRecord, DebugTrial
from pytest_bayesloc.domain.evidence import ChangeOutcome, InspectionOutcome
from pytest_bayesloc.domain.failure import Failure, Frame
from pytest_bayesloc.domain.fixing import TAKE_BACK, Fix, Level
from pytest_bayesloc.domain.inspection import Effect, Inspection
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.masking import masked
from pytest_bayesloc.domain.result import Fault, Ranked, RankedLine, Result
from pytest_bayesloc.report import document as doc
from pytest_bayesloc.report.text import MAX_TEXT, clip

T = TypeVar("T", bound=Struct)

MAX_BLOCK = 20_000
MAX_DIFF = 4_000  # of an attempt to fix a bug
PHASES = frozenset({"setup", "call", "teardown", "collect"})
REPAIRS = frozenset({InspectionOutcome.MUTANT_REPAIRS, ChangeOutcome.REVERT_REPAIRS})
_ATOMS = frozenset({int, float, bool, type(None)})
#: Characters that texts under these keys may have; all others have ``MAX_TEXT``.
_LIMITS = {"patch": MAX_BLOCK, "diff": MAX_BLOCK, "log": MAX_BLOCK}


def encode(result: Result) -> dict[str, Any]:
    """Return the document: JSON values only, all numbers finite.

    Long lists and texts are cut; ``partial`` names the lists that were.
    """
    faults = result.faults[: doc.MAX_FAULTS]
    document = doc.ResultDocument(
        schema="bayesloc/1",
        session=_entry(
            doc.SessionEntry,
            result,
            threshold=unit(result.threshold),
            seconds={stage: positive(seconds) for stage, seconds in result.seconds.items()},
        ),
        ranking=[_row(row) for row in result.ranking[: doc.MAX_ROWS]],
        faults=[_fault(fault) for fault in faults],
        inspections=[
            _inspection(number, inspection)
            for number, fault in enumerate(faults, 1)
            for inspection in fault.inspections[: doc.MAX_STEPS]
        ],
        call_graph=doc.CallGraphEntry(
            edges=[
                doc.CallEntry(caller=_location(caller), callee=_location(callee), calls=calls)
                for caller, callee, calls in result.edges[: doc.MAX_EDGES]
            ]
        ),
        memory=_memory(result.memory),
        fixes=_fixes(result, faults),
        llm=_entry(
            doc.UsageEntry,
            result.llm,
            cost=None if result.llm.cost is None else positive(result.llm.cost),
            uses=dict(result.llm.uses),
        ),
        partial=[*result.partial, *_cuts(result), *_not_finite(result)],
    )
    plain: dict[str, Any] = _plain(document)
    return plain


def dumps(document: object) -> str:
    """Return ASCII JSON text, which holds whatever a message holds (lone surrogates)."""
    return json.dumps(document, ensure_ascii=True, allow_nan=False, indent=1) + "\n"


def unit(value: float) -> float:
    """Return ``value`` within [0, 1]; 0 where it is no number."""
    return min(1.0, max(0.0, float(value))) if isfinite(value) else 0.0


def positive(value: float) -> float:
    """Return ``value`` to the microsecond, 0 where it is negative or no number."""
    return round(max(0.0, float(value)), 6) if isfinite(value) else 0.0


def _entry(kind: type[T], source: object, /, **given: object) -> T:
    """Return an entry of what is ``given``, and for the rest of attributes of ``source``."""
    names = kind.__struct_fields__
    return kind(**{name: given[name] if name in given else getattr(source, name) for name in names})


def _plain(value: Any, limit: int = MAX_TEXT) -> Any:  # noqa: ANN401 - any JSON value
    """Return ``value`` as JSON holds it, its texts cut.

    A large run has a million values: the commonest types come first, and are compared exactly.
    """
    kind = type(value)
    if kind is str:
        return value if len(value) <= limit else clip(value, limit)
    if kind in _ATOMS:
        return value
    if kind is list or kind is tuple:
        return [_plain(item) for item in value]
    if kind is dict:
        return {clip(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Struct):
        names = value.__struct_fields__
        return {name: _plain(getattr(value, name), _LIMITS.get(name, MAX_TEXT)) for name in names}
    # Else a text of a class of its own.
    return value.value if isinstance(value, Enum) else clip(str(value), limit)


def _location(location: Location) -> doc.LocationEntry:
    return _entry(doc.LocationEntry, location)


def _row(row: Ranked) -> doc.RowEntry:
    return _entry(
        doc.RowEntry,
        row.location,
        rank=row.rank,
        tied=row.tied,
        counts=None if row.counts is None else _entry(doc.CountsEntry, row.counts),
        suspiciousness=unit(row.suspiciousness),
        prior=unit(row.prior),
        posterior=unit(row.posterior),
        lines=_hottest(row.lines),
        values={
            name: doc.ValuesEntry(passing=passing, failing=failing)
            for name, (passing, failing) in row.values.items()
        },
        evidence=[
            _entry(
                doc.EvidenceEntry,
                evidence,
                p_if_faulty=unit(evidence.p_if_faulty),
                p_if_clean=unit(evidence.p_if_clean),
            )
            for evidence in row.evidence
        ],
    )


def _hottest(lines: Sequence[RankedLine]) -> list[doc.LineEntry]:
    """Return the most suspicious lines, ascending."""
    by_heat = sorted(lines, key=lambda line: (-unit(line.suspiciousness), line.line))
    return [
        _entry(doc.LineEntry, line, suspiciousness=unit(line.suspiciousness))
        for line in sorted(by_heat[: doc.MAX_LINES], key=lambda line: line.line)
    ]


def _fault(fault: Fault) -> doc.FaultEntry:
    return _entry(
        doc.FaultEntry,
        fault,
        failing_tests=[failure.node_id for failure in fault.failures],
        failures=_failures(fault),
        error=_error(fault),
        n_candidates=max(fault.n_candidates, len(fault.ranking)),
        ranking=[_row(row) for row in fault.ranking[: doc.MAX_ROWS]],
        history=[
            [_entry(doc.BeliefEntry, location, posterior=unit(p)) for location, p in step]
            for step in fault.history[: doc.MAX_STEPS + 1]
        ],
    )


def _error(fault: Fault) -> doc.ErrorEntry:
    """Return the first failure: a syntax error where it is, else the project's innermost frame."""
    failure = fault.failures[0]
    frame = failure.raise_frame
    file, line = failure.syntax_error or ((frame.file, frame.line) if frame else (None, None))
    return doc.ErrorEntry(
        type=failure.exc_type,
        message=failure.message,
        file=file,
        line=line,
        origin=fault.origin,
        kind=fault.kind,
    )


def _failures(fault: Fault) -> list[doc.FailureEntry]:
    """Return the first failing tests of ``fault``, each with the suspects that it executed."""
    reached = (*fault.reached, *((),) * len(fault.failures))
    return [
        _failure(failure, rows)
        for failure, rows in zip(fault.failures[: doc.MAX_FAILURES], reached, strict=False)
    ]


def _failure(failure: Failure, rows: Sequence[int]) -> doc.FailureEntry:
    return _entry(
        doc.FailureEntry,
        failure,
        # What a crashed worker left behind has no phase.
        phase=failure.phase if failure.phase in PHASES else "call",
        type=failure.exc_type,
        masked=masked(failure.message),
        frames=_frames(failure.frames),
        causes=[_frames(frames) for frames in failure.cause_frames[: doc.MAX_CAUSES]],
        executed=list(rows),
    )


def _frames(frames: Sequence[Frame]) -> list[doc.FrameEntry]:
    half = doc.MAX_FRAMES // 2
    shown = frames if len(frames) <= doc.MAX_FRAMES else (*frames[:half], *frames[-half:])
    return [_entry(doc.FrameEntry, frame) for frame in shown]


def _inspection(fault: int, inspection: Inspection) -> doc.InspectionEntry:
    finding = inspection.finding
    evidence = finding.evidence
    return _entry(
        doc.InspectionEntry,
        finding,
        fault=fault,
        step=inspection.step,
        kind=evidence.source,
        target=_location(inspection.target),
        patch=finding.diff,
        tests=[
            _entry(doc.TestEntry, run, node_id=node_id)
            for node_id, run in list(finding.tests.items())[: doc.MAX_TESTS]
        ],
        outcome=evidence.outcome,
        signals=_entry(doc.SignalsEntry, finding.signals),
        likelihoods=doc.LikelihoodsEntry(
            p_if_faulty=unit(evidence.p_if_faulty), p_if_clean=unit(evidence.p_if_clean)
        ),
        why=evidence.why,
        belief_before=unit(inspection.belief_before),
        belief_after=unit(inspection.belief_after),
        seconds=positive(finding.seconds),
        cpu_s=positive(finding.cpu_s),
        trials=[_entry(doc.TrialEntry, trial) for trial in finding.trials[: doc.MAX_TRIALS]],
    )


def _fixes(result: Result, faults: Sequence[Fault]) -> list[doc.FixEntry]:
    """Return what was searched for; where nothing was, what inspections came across."""
    if result.fixes is not None:
        return [_fix(fix) for fix in result.fixes if fix.fault <= len(faults)]
    repairs = {
        (number, inspection.finding.diff): _repair(number, inspection)
        for number, fault in enumerate(faults, 1)
        for inspection in fault.inspections
        if inspection.finding.evidence.outcome in REPAIRS
    }
    return list(repairs.values())


def _fix(fix: Fix) -> doc.FixEntry:
    return _entry(
        doc.FixEntry,
        fix,
        step=None,
        target=_location(fix.target),
        verified=fix.is_verified,
        n_failing=len(fix.failing),
        n_passing=len(fix.passing),
        checked=(*fix.failing, *fix.passing)[: doc.MAX_TESTS],
        seconds=positive(fix.seconds),
        worth=unit(fix.worth),
        patch_file=fix.patch_file or None,
        applied=fix.is_applied,
    )


def _repair(fault: int, inspection: Inspection) -> doc.FixEntry:
    """Return an inspection that made the failing tests pass: an edit, or older code."""
    finding = inspection.finding
    words = next((t.words for t in finding.trials if t.effect is Effect.REPAIRS), "")
    return _entry(
        doc.FixEntry,
        finding,
        fault=fault,
        step=inspection.step,
        tool=words.partition(",")[0] or TAKE_BACK,
        stage="inspection",
        level=Level.UNSAFE,
        target=_location(inspection.target),
        words=words or "take back what changed",
        verified=False,
        n_failing=0,
        n_passing=0,
        checked=list(finding.tests)[: doc.MAX_TESTS],
        seconds=positive(finding.seconds),
        worth=0.5,
        patch_file=None,
        applied=False,
    )


def _memory(remembered: Remembered) -> doc.MemoryEntry:
    shown = remembered.advice if remembered.is_shown else ()
    return doc.MemoryEntry(
        said=list(remembered.messages),
        records=[_record(item.record) for item in remembered.advice],
        advice=[_advice(item) for item in shown],
        loops=[
            _entry(doc.LoopEntry, loop, fault=item.fault + 1, said=loop.messages)
            for item in shown
            for loop in item.loops
        ],
        months=[
            _entry(doc.MonthEntry, month, month=month.name, mended=month.fixed)
            for month in remembered.months
        ],
        world_model={
            kind: list(texts) if remembered.is_shown else []
            for kind, texts in remembered.world.items()
        },
    )


def _record(record: BugRecord) -> doc.RecordEntry:
    symptom = record.symptom
    return _entry(
        doc.RecordEntry,
        record,
        tests=symptom.tests[: doc.MAX_TESTS],
        signature=symptom.signature,
        category=symptom.category,
        hypothesis=symptom.hypothesis,
        created_at=record.created_at.isoformat(),
        completed_at=record.completed_at.isoformat() if record.completed_at else None,
        trials=[_trial(trial) for trial in record.trials[-doc.MAX_BUG_TRIALS :]],
    )


def _trial(trial: DebugTrial) -> doc.BugTrialEntry:
    summary = trial.summary
    return _entry(
        doc.BugTrialEntry,
        trial,
        made_at=trial.made_at.isoformat(),
        plan=trial.edit.plan,
        functions=trial.edit.functions,
        diff=clip(trial.edit.diff, MAX_DIFF),
        why=summary.why,
        strategy=summary.strategy,
        lesson=summary.lesson,
        cause=summary.cause,
    )


def _advice(advice: Advice) -> doc.AdviceEntry:
    record = advice.record
    return _entry(
        doc.AdviceEntry,
        advice,
        fault=advice.fault + 1,
        bug=record.id,
        said=advice.message,
        lies=advice.origin,
        guard=advice.first_check,
        similar=[_similar(item) for item in advice.similar],
        failed_strategies=record.failed_strategies,
        constraints=record.learned_constraints,
        notes=record.notes,
    )


def _similar(similar: SimilarBug) -> doc.SimilarEntry:
    record, fix = similar.record, similar.record.fix
    return _entry(
        doc.SimilarEntry,
        record,
        bug=record.id,
        score=round(similar.score, 3),
        why=similar.why,
        seen_at=record.seen_at.isoformat(),
        signature=record.symptom.signature,
        strategy=fix.strategy if fix else "",
        insight=fix.lesson if fix else "",
        failed=record.failed_strategies[:2] if not fix else [],
    )


def _cuts(result: Result) -> Iterator[str]:
    """Yield one sentence for each list that is longer than what is given of it."""
    faults = result.faults[: doc.MAX_FAULTS]
    rankings = [result.ranking, *(fault.ranking for fault in faults)]
    findings = [i.finding for fault in faults for i in fault.inspections]
    lists: tuple[tuple[str, int, Sequence[Sequence[object] | Mapping[str, object]]], ...] = (
        ("rows in a ranking", doc.MAX_ROWS, rankings),
        ("lines of a location", doc.MAX_LINES, [row.lines for row in result.ranking]),
        (
            "failing tests of a fault in detail",
            doc.MAX_FAILURES,
            [fault.failures for fault in faults],
        ),
        ("faults", doc.MAX_FAULTS, [result.faults]),
        ("inspections of a fault", doc.MAX_STEPS, [fault.inspections for fault in faults]),
        ("tests of an inspection", doc.MAX_TESTS, [step.tests for step in findings]),
        ("calls in the call graph", doc.MAX_EDGES, [result.edges]),
    )
    for what, limit, found in lists:
        length = max(map(len, found), default=0)
        if length > limit:
            yield f"Of {length} {what}, {limit} are given."


def _not_finite(result: Result) -> Iterator[str]:
    """Yield a sentence if a probability was no number: the ranking is then not to be trusted."""
    rows = [*result.ranking, *(row for fault in result.faults for row in fault.ranking)]
    if not all(isfinite(p) for row in rows for p in (row.suspiciousness, row.prior, row.posterior)):
        yield "A probability was not a finite number and is given as 0."
