"""Encode a run's result as the JSON document of ``document``."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cache, partial
from inspect import get_annotations
from math import isfinite
from typing import Any, TypeVar

from msgspec import Struct, to_builtins

from pytest_bayesloc.domain.evidence import ChangeOutcome, InspectionOutcome
from pytest_bayesloc.domain.failure import Failure, Frame
from pytest_bayesloc.domain.fixing import MUTANTS, TAKE_BACK, UNDO, Level
from pytest_bayesloc.domain.inspection import Effect, Finding
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.redaction import Redaction, redacted
from pytest_bayesloc.domain.result import BreakingChange, Fault, Ranked, SpoiledTest
from pytest_bayesloc.domain.texts import masked
from pytest_bayesloc.report import document as doc
from pytest_bayesloc.report.text import MAX_TEXT, clip

T = TypeVar("T", bound=Struct)

MAX_BLOCK = 20_000
PHASES = frozenset({"setup", "call", "teardown", "collect"})
REPAIRS = frozenset({InspectionOutcome.EDIT_REPAIRS, ChangeOutcome.REVERT_REPAIRS})
_ATOMS = frozenset({int, float, bool, type(None)})
#: Characters that texts under these keys may have; all others have ``MAX_TEXT``.
_LIMITS = {"patch": MAX_BLOCK, "diff": MAX_BLOCK, "log": MAX_BLOCK}


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The outcome of one session.

    Attributes:
        session: The run and its settings.
        memory: What is remembered of the failures.
        ranking: All faults' rankings in one.
        faults: One a group of failing tests, most failing tests first.
        edges: Caller, callee, calls: the call graph of the failing tests.
        partial: What is missing, and why.
        llm: What asking a language model took.
        fixes: What was found by searching.
    """

    session: doc.SessionEntry
    memory: doc.MemoryEntry
    ranking: tuple[Ranked, ...]
    faults: tuple[Fault, ...]
    edges: tuple[tuple[Location, Location, int], ...] = ()
    partial: tuple[str, ...] = ()
    llm: doc.UsageEntry = field(default_factory=doc.UsageEntry)
    fixes: tuple[doc.FixEntry, ...] = ()


def encode(result: Result, redaction: Redaction | None = None) -> doc.ResultDocument:
    """Return the document, all numbers finite.

    Secrets are taken out of texts by ``redaction``, if there is one. Then long lists and texts are
    cut; ``partial`` names the lists that were.
    """
    faults = result.faults[: doc.MAX_FAULTS]
    seconds = {stage: positive(spent) for stage, spent in result.session.seconds.items()}
    cost = result.llm.cost
    document = doc.ResultDocument(
        schema="bayesloc/1",
        session=entry_of(doc.SessionEntry, result.session, seconds=seconds),
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
        memory=result.memory,
        fixes=_fixes(result, faults),
        llm=entry_of(doc.UsageEntry, result.llm, cost=None if cost is None else positive(cost)),
        partial=[*result.partial, *_cuts(result), *_not_finite(result)],
    )
    clean = (lambda text, **_: text) if redaction is None else redaction.clean

    def cleaned_and_cut(text: str, limit: int, **name: str) -> str:
        return clip(clean(text, **name), limit)

    cut: doc.ResultDocument = _changed(document, cleaned_and_cut)
    return cut


def without_secrets(document: doc.ResultDocument, redaction: Redaction) -> doc.ResultDocument:
    """Return a result without secrets, which may come from a run that kept them."""
    cleaned: doc.ResultDocument = _changed(
        document, lambda text, _limit, **name: redaction.clean(text, **name)
    )
    return cleaned


def dumps(document: object) -> str:
    """Return ASCII JSON text, which holds whatever a message holds (lone surrogates)."""
    text = json.dumps(document, ensure_ascii=True, allow_nan=False, indent=1, default=to_builtins)
    return text + "\n"


def verdict_line(document: doc.ResultDocument, *, is_watched: bool) -> str:
    """Return the verdict on the loops of a result, if these are watched, as JSON on one line."""
    memory = document.memory
    # Without advice on a failure, nobody looked: the memory is off, lost, or learns nothing now.
    is_known = (is_watched and bool(memory.advice)) or not document.session.n_failed
    verdict = doc.LoopVerdict(
        schema="bayesloc-loop/1",
        verdict="loop" if memory.loops else "none" if is_known else "unknown",
        loops=memory.loops,
        said=[*memory.said, *(entry.said for entry in memory.advice if entry.said)],
    )
    return json.dumps(to_builtins(verdict), ensure_ascii=True)


def unit(value: float) -> float:
    """Return ``value`` within [0, 1]; 0 where it is no number."""
    return min(1.0, max(0.0, float(value))) if isfinite(value) else 0.0


def positive(value: float) -> float:
    """Return ``value`` to the microsecond, 0 where it is negative or no number."""
    return round(max(0.0, float(value)), 6) if isfinite(value) else 0.0


def entry_of(entry: type[T], /, *sources: object, **given: object) -> T:
    """Return an entry of what is ``given``, and for the rest of attributes of ``sources``.

    An attribute is taken from the first of them that has it, and made what its field wants.
    """
    for name, clean in _fields(entry):
        if name not in given:
            source = sources[0]
            if len(sources) > 1:
                source = next(source for source in sources if hasattr(source, name))
            value = getattr(source, name)
            given[name] = value if clean is None else clean(value)
    return entry(**given)


@cache
def _fields(entry: type) -> list[tuple[str, Callable[[Any], object] | None]]:
    """Return the fields of ``entry``, each with what cleans its value."""
    annotations = [item for base in entry.__mro__ for item in get_annotations(base).items()]
    return [(name, _CLEANED.get(wanted)) for name, wanted in annotations]


def _location(location: Location) -> doc.LocationEntry:
    return entry_of(doc.LocationEntry, location)


def _frames(frames: Sequence[Frame]) -> list[doc.FrameEntry]:
    half = doc.MAX_FRAMES // 2
    shown = frames if len(frames) <= doc.MAX_FRAMES else (*frames[:half], *frames[-half:])
    return [entry_of(doc.FrameEntry, frame) for frame in shown]


#: By the annotation of a field: what its value is made.
_CLEANED: Mapping[str, Callable[[Any], object]] = {
    "Unit": unit,
    "Likelihood": unit,
    "Amount": positive,
    "LocationEntry": _location,
    "LocationEntry | None": lambda where: where and _location(where),
    "Frames": _frames,
}


def _changed(value: Any, change: Callable[..., str], limit: int = MAX_TEXT) -> Any:  # noqa: ANN401 - any part of a document
    """Return ``value`` with each text in it changed; members of enumerations stay.

    ``change`` is given the text, the characters that it may have, and the name of its variable, if
    it is the value of one. A large run has a million values: the commonest types come first, and
    are compared exactly.
    """
    kind = type(value)
    if kind is str:
        return change(value, limit)
    if kind in _ATOMS:
        return value
    if kind is list or kind is tuple:
        return [_changed(item, change) for item in value]
    if kind is dict:  # the values of what its keys name
        return {
            change(key, MAX_TEXT): _changed(item, partial(change, name=key))
            for key, item in value.items()
        }
    if isinstance(value, str):  # of a class of its own
        return value if isinstance(value, Enum) else change(str(value), limit)
    names = value.__struct_fields__ if isinstance(value, Struct) else value.__slots__
    return kind(
        **{
            name: _changed(getattr(value, name), change, _LIMITS.get(name, MAX_TEXT))
            for name in names
        }
    )


def _row(row: Ranked) -> doc.RowEntry:
    by_heat = sorted(row.lines, key=lambda line: (-unit(line.suspiciousness), line.line))
    hottest = sorted(by_heat[: doc.MAX_LINES], key=lambda line: line.line)
    return entry_of(
        doc.RowEntry,
        row,
        row.location,
        lines=[entry_of(doc.LineEntry, line) for line in hottest],
        values=_values(row.values),
        evidence=[entry_of(doc.EvidenceEntry, evidence) for evidence in row.evidence],
        call_path=list(map(_location, row.call_path)),
    )


def _values(values: Mapping[str, tuple[str, str]]) -> dict[str, doc.ValuesEntry]:
    return {
        name: doc.ValuesEntry(passing=passing, failing=failing)
        for name, (passing, failing) in values.items()
    }


def _fault(fault: Fault) -> doc.FaultEntry:
    reached = (*fault.reached, *((),) * len(fault.failures))
    near = fault.nearest_call
    first = fault.failures[0]
    frame = first.raise_frame
    # A syntax error lies where it is, another error in the project's innermost frame.
    file, line = first.syntax_error or ((frame.file, frame.line) if frame else (None, None))
    return entry_of(
        doc.FaultEntry,
        fault,
        failing_tests=[failure.node_id for failure in fault.failures],
        failures=[
            _failure(failure, rows)
            for failure, rows in zip(fault.failures[: doc.MAX_FAILURES], reached, strict=False)
        ],
        error=entry_of(doc.ErrorEntry, fault, first, type=first.exc_type, file=file, line=line),
        n_candidates=max(fault.n_candidates, len(fault.ranking)),
        test_share=unit(fault.test_share),
        spoiled=[_spoiled(spoiled) for spoiled in fault.spoiled],
        breaking_changes=[entry_of(doc.BreakingChangeEntry, change) for change in fault.breaking],
        cause=fault.cause and entry_of(doc.CauseEntry, fault.cause),
        nearest_call=near and entry_of(doc.NearestCallEntry, near, values=_values(near.values)),
        ranking=[_row(row) for row in fault.ranking[: doc.MAX_ROWS]],
        history=[
            [entry_of(doc.BeliefEntry, location, posterior=unit(p)) for location, p in step]
            for step in fault.history[: doc.MAX_STEPS + 1]
        ],
    )


def _spoiled(spoiled: SpoiledTest) -> doc.SpoiledTestEntry:
    state = [
        doc.ChangedStateEntry(
            name=name,
            writers=[entry_of(doc.WriterEntry, where, line=line) for where, line in writers],
        )
        for name, writers in spoiled.state.items()
    ]
    return entry_of(doc.SpoiledTestEntry, spoiled, state=state)


def _failure(failure: Failure, rows: Sequence[int]) -> doc.FailureEntry:
    return entry_of(
        doc.FailureEntry,
        failure,
        # What a crashed worker left behind has no phase.
        phase=failure.phase if failure.phase in PHASES else "call",
        type=failure.exc_type,
        masked=masked(redacted(failure.message)),
        causes=[_frames(frames) for frames in failure.cause_frames[: doc.MAX_CAUSES]],
        executed=list(rows),
    )


def _inspection(fault: int, finding: Finding) -> doc.InspectionEntry:
    evidence = finding.evidence
    return entry_of(
        doc.InspectionEntry,
        finding,
        evidence,
        fault=fault,
        kind=evidence.source,
        patch=finding.diff,
        tests=[
            entry_of(doc.TestEntry, run, node_id=node_id)
            for node_id, run in list(finding.tests.items())[: doc.MAX_TESTS]
        ],
        likelihoods=entry_of(doc.LikelihoodsEntry, evidence),
        trials=finding.trials[: doc.MAX_TRIALS],
    )


def _fixes(result: Result, faults: Sequence[Fault]) -> list[doc.FixEntry]:
    """Return what was searched for; where that verified nothing, what inspections came across."""
    searched = [fix for fix in result.fixes if fix.fault <= len(faults)]
    fixed = {fix.fault for fix in searched if fix.verified}
    repairs: dict[tuple[int, str], doc.FixEntry] = {}
    for number, fault in enumerate(faults, 1):
        for inspection in fault.inspections if number not in fixed else ():
            # An edit may come to what was undone before.
            key = number, inspection.diff
            is_fix = inspection.evidence.outcome in REPAIRS and not inspection.doubt
            if is_fix and key not in repairs:
                repairs[key] = _repair(number, inspection, fault)
    # What was seen to work stands before changes of tests, which nobody checks.
    return sorted([*repairs.values(), *searched], key=lambda fix: fix.fault)


def _repair(number: int, finding: Finding, fault: Fault) -> doc.FixEntry:
    """Return an inspection that made the failing tests pass: an edit, or older code.

    An edit of the likeliest fixes was checked as one that is searched for.
    """
    words = next((t.words for t in finding.trials if t.effect is Effect.REPAIRS), "")
    change = next((c for c in fault.breaking if not words and c.diff == finding.diff), None)
    failing = {failure.node_id for failure in fault.failures}.difference(fault.flaky)
    n_failing = len(failing.intersection(finding.tests))
    is_verified = finding.evidence.source == MUTANTS and n_failing == len(failing)
    return entry_of(
        doc.FixEntry,
        finding,
        fault=number,
        tool=words.partition(",")[0] or TAKE_BACK,
        stage="inspection",
        level=Level.UNSAFE,
        words=words or (undo_words(change) if change else "take back what changed"),
        verified=is_verified,
        doubt=finding.doubt or None,
        n_failing=n_failing if is_verified else change.n_tried if change else 0,
        n_passing=len(finding.tests) - n_failing if is_verified else 0,
        checked=list(change.tests if change else finding.tests)[: doc.MAX_TESTS],
        worth=0.5,
        patch_file=None,
        applied=False,
    )


def undo_words(change: BreakingChange) -> str:
    """Return what is undone, in words that are followed by what the tests do then."""
    if change.n_changes == 1:
        return f"{UNDO} just this change"
    if change.is_smallest:
        return f"{UNDO} just these {change.n_changes} changes together"
    return f"{UNDO} these {change.n_changes} changes (time was up before fewer were tried)"


def _cuts(result: Result) -> Iterator[str]:
    """Yield one sentence for each list that is longer than what is given of it.

    Not for rankings: what is left out of one is less likely than all of it, and counted beside it.
    """
    faults = result.faults[: doc.MAX_FAULTS]
    findings = [finding for fault in faults for finding in fault.inspections]
    lists: tuple[tuple[str, int, Sequence[Sequence[object] | Mapping[str, object]]], ...] = (
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
