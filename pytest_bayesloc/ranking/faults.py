"""The result of localizing each group: the rows that a person reads, never ordered by chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, islice, product
from math import fsum
from types import MappingProxyType
from typing import TypeAlias

from pytest_bayesloc.domain.evidence import (
    ChangeOutcome,
    Evidence,
    Judgement,
    Outcome,
    StaticOutcome,
)
from pytest_bayesloc.domain.failure import Origin, Role
from pytest_bayesloc.domain.inspection import InspectionPatch
from pytest_bayesloc.domain.location import DATA, Location
from pytest_bayesloc.domain.recording import Call, Recording, Value
from pytest_bayesloc.domain.result import BreakingChange, Fault, NearestCall, Ranked, RankedLine
from pytest_bayesloc.history.hunks import hunks_of, put_back
from pytest_bayesloc.ranking.belief import TIE, formula_of
from pytest_bayesloc.ranking.case import Case
from pytest_bayesloc.ranking.evidence.failures import kind_of, origin_of
from pytest_bayesloc.ranking.formulas import function_scores, scorer

N_ROWS = 300
N_REACHED_ROWS = 10  # rows for which the failing tests that executed them are listed
N_REACHED_TESTS = 50  # failing tests that are listed there
N_CALL_SUSPECTS = 5  # of each fault, whose calls are shown
N_HOPS = 2  # calls, up or down, within which others are shown
#: A test that holds so much of the belief is said to be at fault.
LIKELY = 0.5
_ORIGINS = {
    Role.TEST: Origin.TEST,
    Role.HELPER: Origin.TEST,
    Role.FIXTURE: Origin.FIXTURE,
    Role.DATA: Origin.DATA,
    Role.PART: Origin.TEST,
}
#: What a piece of test code is in the list for; else only its share is told.
OF_ITS_OWN: frozenset[Outcome] = frozenset(
    {
        StaticOutcome.GUARD_NAMES_OWNER,
        StaticOutcome.ORIGIN_IN_TEST,
        ChangeOutcome.CHANGED_SINCE_GREEN,
        ChangeOutcome.REVERT_REPAIRS,
        Judgement.LLM_FIRST,
        Judgement.LLM_SUSPECTED,
    }
)
_NONE: Mapping[str, tuple[str, str]] = MappingProxyType({})


def fault_of(case: Case) -> Fault:
    """Return what is known of a group of failing tests by now."""
    shown, test_share = listed(case)
    ranking = _with_call_paths(case, rank(case, shown))
    # Which of the first rows each of the first failing tests executed.
    spectrum = case.spectrum
    position = {node_id: i for i, node_id in enumerate(spectrum.tests)}
    executed = [spectrum.executed.get(row.location, 0) for row in ranking[:N_REACHED_ROWS]]
    asked = [position.get(failure.node_id) for failure in case.failures[:N_REACHED_TESTS]]
    fault = Fault(
        failures=case.failures,
        origin=_origin(case, ranking),
        kind=kind_of(case.failures, case.guard),
        ranking=ranking,
        stop_reason=case.stop,
        history=tuple(case.history),
        inspections=tuple(case.inspections),
        flaky=case.flaky,
        spoiled=case.spoiled,
        nearest_call=case.nearest_call,
        cause=case.cause,
        changed_data=tuple(change.file for change in case.changes.data),
        breaking=case.breaking or tuple(_not_tried(case, ranking)),
        n_candidates=len(case.belief.probabilities),
        test_share=test_share,
        reached=tuple(
            () if bit is None else tuple(i for i, tests in enumerate(executed) if tests >> bit & 1)
            for bit in asked
        ),
    )
    if fault.is_flaky:
        # Both models take it that the code decides whether a test fails: here, it does not.
        return replace(fault, ranking=(), history=(), n_candidates=0, test_share=0.0, reached=())
    return fault


def _not_tried(case: Case, ranking: Sequence[Ranked]) -> Iterator[BreakingChange]:
    """Yield the first change in the first suspect, if nobody saw what it breaks."""
    if not ranking:
        return
    where = ranking[0].location
    data, code = case.changes.data_change(where), case.changes.files.get(where.file)
    # Inspections put code back, but can't tell what comes of it for data that no Python code opens.
    if data is not None and data.before is not None:
        then, now = data.before, data.now
    elif data is None and code is not None and where in code.changed and not case.inspections:
        then, now = code.before.text, code.now.text
    else:
        return
    lines = range(where.start_line, where.end_line + 1)
    hunks = [hunk for hunk in hunks_of(where.file, now, then) if hunk.lines_in(where)[0] in lines]
    for hunk in hunks[:1]:
        first, last = hunk.lines_in(where)
        patched = put_back(now, [hunk])
        patch = InspectionPatch(target=where, kind="", original=now, patched=patched)
        yield BreakingChange(
            location=where,
            first_line=first,
            last_line=last,
            diff=patch.diff,
            n_changes=len(hunks),
            is_smallest=len(hunks) == 1,
        )


def _origin(case: Case, ranking: Sequence[Ranked]) -> Origin:
    """Take the origin from what the failure says, unless the first place is on the other side.

    Where data changed since the tests passed, and no code did, no place of the code is.
    """
    is_data = bool(ranking) and ranking[0].location.qualname == DATA
    if is_data or (case.changes.data and not case.changes.every):
        return Origin.FILE
    origin = origin_of(case.failures, case.guard, case.own_errors)
    if not ranking or origin is Origin.COLLECTION:
        return origin
    first = ranking[0]
    if not first.location.is_test:
        return Origin.CODE
    if origin is Origin.CODE and first.posterior >= LIKELY:
        return _ORIGINS[case.roles.get(first.location, Role.HELPER)]
    return origin


def listed(case: Case) -> tuple[dict[Location, float], float]:
    """Return the locations to list, and the share of the tests that are not.

    Nearly every failing test holds some belief, since it may be wrong itself. Where nothing of its
    own speaks for that, and it holds less than half, it hides the code that is looked for.
    """
    believed = case.belief.probabilities
    own = {e.location for e in _evidence(case) if e.outcome in OF_ITS_OWN}
    hidden = {w for w, p in believed.items() if w.is_test and p < LIKELY and w not in own}
    if len(hidden) == len(believed):
        return dict(believed), 0.0
    shown = {where: p for where, p in believed.items() if where not in hidden}
    return shown, fsum(believed[where] for where in hidden)


def _evidence(case: Case) -> Iterator[Evidence]:
    yield from case.evidence
    yield from (inspection.evidence for inspection in case.inspections)


def rank(
    case: Case, posterior: Mapping[Location, float], limit: int = N_ROWS
) -> tuple[Ranked, ...]:
    """Return the locations of ``posterior``, best first, with what is known of them.

    Order: posterior, then suspiciousness, both falling, then location. Posteriors that are equal
    to 1e-12 share a rank. There are ``limit`` rows at most; ``rank`` and ``tied`` speak of all
    locations even so. Tests, and what the spectrum does not know, get neither counts nor lines.
    """
    spectrum = case.spectrum
    suspiciousness = function_scores(spectrum, formula_of(case.choice.formula))
    score = scorer(spectrum, "ochiai")
    evidence: dict[Location, list[Evidence]] = {}
    for item in sorted(_evidence(case), key=lambda e: -abs(e.log_ratio)):
        evidence.setdefault(item.location, []).append(item)
    rows: list[Ranked] = []
    n_before = 0
    for tied in _ties(posterior, suspiciousness):
        for where in tied[: max(0, limit - n_before)]:
            is_known = not where.is_test and where in spectrum.executed
            counted = sorted(spectrum.lines[where].items()) if is_known else ()
            rows.append(
                Ranked(
                    rank=n_before + 1,
                    tied=len(tied),
                    location=where,
                    counts=spectrum.counts(where) if is_known else None,
                    suspiciousness=suspiciousness.get(where, 0.0),
                    prior=case.prior.get(where, 0.0),
                    posterior=posterior[where],
                    lines=tuple(
                        RankedLine(line=line, ef=n.ef, ep=n.ep, suspiciousness=score(executed))
                        for line, executed in counted
                        for n in (spectrum.count(executed),)
                    ),
                    evidence=tuple(evidence.get(where, ())),
                    values=case.values.get(where, _NONE),
                )
            )
        n_before += len(tied)
    return tuple(rows)


def _ties(
    posterior: Mapping[Location, float], suspiciousness: Mapping[Location, float]
) -> list[list[Location]]:
    """Return the locations by falling posterior, with those of a tie together."""
    ties: list[list[Location]] = []
    for where in sorted(posterior, key=lambda where: (-posterior[where], where)):
        if ties and posterior[ties[-1][0]] - posterior[where] <= TIE:
            ties[-1].append(where)
        else:
            ties.append([where])
    for tied in ties:
        tied.sort(key=lambda where: (-suspiciousness.get(where, 0.0), where))
    return ties


def combine(faults: Sequence[Fault]) -> tuple[Ranked, ...]:
    """Return all faults' rankings in one: each location with its highest posterior."""
    best: dict[Location, Ranked] = {}
    for fault in faults:
        for row in fault.ranking:
            if row.location not in best or row.posterior > best[row.location].posterior:
                best[row.location] = row
    posterior = {where: row.posterior for where, row in best.items()}
    ties = _ties(posterior, {where: row.suspiciousness for where, row in best.items()})
    starts = accumulate((len(tied) for tied in ties), initial=1)
    return tuple(
        replace(best[where], rank=start, tied=len(tied))
        for start, tied in zip(starts, ties, strict=False)
        for where in tied
    )


def calls_around(
    faults: Sequence[Fault], cases: Sequence[Case]
) -> tuple[tuple[Location, Location, int], ...]:
    """Return the recorded calls near the top suspects: caller, callee, number of calls.

    The calls by which failing tests reached them are among these, however far they lead.
    """
    calls = {edge: n for case in cases for edge, n in _call_counts(case).items()}
    rows = [row for fault in faults for row in fault.ranking]
    suspects = {row.location for fault in faults for row in fault.ranking[:N_CALL_SUSPECTS]}
    ways = {where for row in rows if row.location in suspects for where in row.call_path}
    return calls_near(calls, suspects, ways) if calls else ()


def _call_counts(case: Case) -> Mapping[tuple[Location, Location], int]:
    """Return the recorded calls, those that failing tests make themselves included."""
    calls = Counter(case.recording.edges)
    for node_id, test in _test_locations(case).items():
        made = case.recording.calls.get(node_id, ())
        calls.update((test, call.location) for call in made if call.caller < 0)
    return calls


def _test_locations(case: Case) -> dict[str, Location]:
    """Map the failing tests to their functions, as far as these are known."""
    known = {(w.file, w.qualname): w for w in case.belief.probabilities if w.is_test}
    tests = {}
    for node_id in case.failing:
        file, *names = node_id.partition("[")[0].split("::")
        if (file, ".".join(names)) in known:
            tests[node_id] = known[file, ".".join(names)]
    return tests


def calls_near(
    calls: Mapping[tuple[Location, Location], int],
    centres: Iterable[Location],
    others: Iterable[Location] = (),
) -> tuple[tuple[Location, Location, int], ...]:
    """Return the calls among ``others`` and what is within ``N_HOPS`` calls of ``centres``."""
    from pytest_bayesloc.ranking import graph

    shown = graph.near(graph.call_graph(calls), centres, N_HOPS).union(others)
    return tuple((a, b, n) for (a, b), n in sorted(calls.items()) if a in shown and b in shown)


def _with_call_paths(case: Case, ranking: tuple[Ranked, ...]) -> tuple[Ranked, ...]:
    """Return ``ranking`` with the shortest calls from a failing test to each of the first rows."""
    calls = _call_counts(case)
    if not calls:
        return ranking
    from pytest_bayesloc.ranking import graph

    called, tests = graph.call_graph(calls), list(_test_locations(case).values())
    first = [
        replace(row, call_path=graph.shortest_path(called, tests, row.location))
        for row in ranking[:N_REACHED_ROWS]
        if not row.location.is_test
    ]
    ways = {row.location: row for row in first}
    return tuple(ways.get(row.location, row) for row in ranking)


MAX_CALLS = 100  # of each side
MAX_VALUES = 20
LEAST_DISTANCE = 0.5  # of two numbers that differ; 1 of all else that does

#: A call and its test.
_Made: TypeAlias = tuple[str, Call]
#: Per path, as ``order.items[2]``, the text of what stands there.
_Parts: TypeAlias = Mapping[str, str]


def nearest_call(
    recording: Recording, where: Location, failing: Iterable[str], passing: Iterable[str]
) -> NearestCall | None:
    """Return the call of ``where`` in a failing test beside the nearest one in a passing test.

    Of several failing calls it is the one that raised, else the one that is least like any passing
    call; the last one where that is a tie. None if there is no call on either side.
    """
    bad, good = list(_calls(recording, where, failing)), list(_calls(recording, where, passing))
    bad = [made for made in bad if made[1].raised] or bad
    if not bad or not good:
        return None
    texts = {
        id(call): {path: t for name, v in call.args.items() for path, t in _parts(name, v).items()}
        for _, call in (*bad, *good)
    }

    def distance(pair: tuple[_Made, _Made]) -> float:
        ours, theirs = (texts[id(call)] for _, call in pair)
        return sum(_difference(ours.get(p), theirs.get(p)) for p in ours.keys() | theirs.keys())

    pairs = [min(product([made], good), key=distance) for made in reversed(bad)]
    (failing_test, ours), (passing_test, theirs) = max(pairs, key=distance)
    rows = list(_rows(theirs, ours))
    return NearestCall(
        location=where,
        failing_test=failing_test,
        passing_test=passing_test,
        values=dict(rows[:MAX_VALUES]),
        n_more=max(0, len(rows) - MAX_VALUES),
    )


def _calls(recording: Recording, where: Location, tests: Iterable[str]) -> Iterator[_Made]:
    """Yield the first and the last calls: the last ones are nearest to a failure."""
    calls = ((test, call) for test in tests for call in recording.calls.get(test, ()))
    made = [(test, call) for test, call in calls if call.location == where]
    half = MAX_CALLS // 2
    yield from made[:half]
    yield from made[half:][-half:]


def _parts(name: str, value: Value) -> _Parts:
    parts = value.parts or (("", value.text or value.type_name),)
    return {f"{name}{path}": text for path, text in parts}


def _difference(ours: str | None, theirs: str | None) -> float:
    """Return how much two texts differ: numbers less, the closer they are."""
    if ours == theirs:
        return 0.0
    try:
        a, b = float(ours or ""), float(theirs or "")
    except ValueError:
        return 1.0
    return LEAST_DISTANCE * (1 + min(1.0, abs(a - b) / (abs(a) + abs(b) or 1.0)))


def _rows(passing: Call, failing: Call) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield per path the texts of the passing and of the failing call.

    Of a value that is the same in both one row is yielded, of others the parts that differ.
    """
    for name in failing.args:
        if name in passing.args:
            yield from _sides(name, passing.args[name], failing.args[name])
    if passing.result is not None and failing.result is not None:
        yield from _sides("return", passing.result, failing.result)
    elif passing.raised or failing.raised:
        texts = []
        for call in (passing, failing):
            whole = "" if call.result is None else next(iter(_parts("", call.result).values()))
            texts.append("an exception" if call.raised else whole)
        yield "return", (texts[0], texts[1])


def _sides(name: str, passing: Value, failing: Value) -> Iterator[tuple[str, tuple[str, str]]]:
    good, bad = _parts(name, passing), _parts(name, failing)
    paths = [path for path in dict.fromkeys([*bad, *good]) if bad.get(path) != good.get(path)]
    if paths:
        yield from ((path, (good.get(path, ""), bad.get(path, ""))) for path in paths)
    elif name not in ("self", "cls"):
        path, text = next(islice(bad.items(), 1))
        yield path, (text, text)
