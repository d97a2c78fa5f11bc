"""Groups of failing tests that probably share one fault, each with its prior and first evidence.

Reference:
    docs/model.md, section "Grouping".
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from heapq import nlargest
from typing import NamedTuple

from pytest_bayesloc.domain.evidence import ChangeOutcome, Evidence, StaticOutcome
from pytest_bayesloc.domain.failure import Failure, Role, Situation
from pytest_bayesloc.domain.location import MODULE, Location
from pytest_bayesloc.domain.source import ReadMap
from pytest_bayesloc.domain.spectrum import Spectrum, bits
from pytest_bayesloc.history.changes import Changes
from pytest_bayesloc.ranking.belief import MODELS, ModelChoice, is_candidate, joint_prior
from pytest_bayesloc.ranking.case import Case
from pytest_bayesloc.ranking.evidence.failures import (
    executed_lines,
    guard_evidence,
    own_error_evidence,
    raising,
    refused_call,
    traceback_evidence,
)
from pytest_bayesloc.ranking.evidence.guards import Guard, raises_alone, refusals
from pytest_bayesloc.ranking.evidence.provenance import unset_attributes
from pytest_bayesloc.ranking.evidence.swallowed import executed_handlers, without_absence
from pytest_bayesloc.ranking.evidence.test_code import (
    code_raised,
    in_traceback,
    side_evidence,
    support_evidence,
    suspected_tests,
    twin_passes,
    with_support,
)
from pytest_bayesloc.ranking.evidence.text import Said, Terms, text_evidence, text_terms
from pytest_bayesloc.ranking.likelihoods import weigh
from pytest_bayesloc.spectrum.sources import Sources

#: The likeliest candidates by their prior, whose texts are read.
N_READ = 400
#: P(faulty) of a data file that changed while no code did: less than of code that no failing test
#: was seen to execute, since nothing says that a test reads it. A choice.
DATA_PRIOR = 0.002


class _Past(NamedTuple):
    """The time before some tests failed, as far as it is known."""

    changes: Changes
    situation: Situation


def open_groups(
    spectrum: Spectrum,
    failures: Sequence[Failure],
    sources: Sources,
    model: ModelChoice,
    changes: Callable[[Sequence[Sequence[str]]], Sequence[Changes]] | None = None,
    newest: Callable[[], Changes] = Changes,
) -> list[Case]:
    """Group the failing tests of ``spectrum``, the largest group first.

    Args:
        spectrum: Which test executed which line, and how each ended.
        failures: How its failing tests failed.
        sources: The project's files.
        model: How a belief is formed.
        changes: Returns what changed since each of several groups of tests passed; None: unknown.
        newest: Returns the newest changes, asked where nobody knows when the tests passed.
    """
    newest = cache(newest)
    failures = with_support(failures, spectrum.reached())
    by_id = {failure.node_id: failure for failure in failures}
    spectrum = _with_tracebacks(spectrum, failures, sources)
    guards = refusals(failures, sources.map)
    owners: dict[tuple[Location, str], set[Location]] = {}
    for guard in guards.values():
        owners.setdefault((guard.function, guard.condition), set()).add(guard.owner)
    # Where a guard refuses several owners' data it is more likely to be wrong itself.
    plain = {n: g for n, g in guards.items() if len(owners[g.function, g.condition]) == 1}
    keys = {f.node_id: _key(f, plain.get(f.node_id), sources) for f in failures}
    found = []
    for bitset in split_failures(spectrum, keys, _is_body(sources)):
        members = [by_id[n] for n in spectrum.node_ids(bitset) if n in by_id]
        if members:
            found.append((replace(spectrum, failing=bitset), members))
    names = [[failure.node_id for failure in members] for _, members in found]
    since = changes(names) if changes is not None else [Changes() for _ in names]
    pasts = [
        _Past(own, situation_of(members, own if own.known else newest()))
        for (_, members), own in zip(found, since, strict=True)
    ]
    return [
        _group(own, members, plain.get(members[0].node_id), past, sources, model)
        for (own, members), past in zip(found, pasts, strict=True)
    ]


def divided(case: Case, sources: Sources) -> list[Case]:
    """Return the tests that each change or edit explains and the others as cases of their own.

    Args:
        case: Tests that fail for several reasons.
        sources: The project's files.
    """
    parts = []
    keys = {test: n for n, own in enumerate(case.explained()) for test in own}
    for bitset in split_failures(case.spectrum, keys, _is_body(sources)):
        own = replace(case.spectrum, failing=bitset)
        tests = frozenset(own.node_ids(bitset))
        if members := [failure for failure in case.failures if failure.node_id in tests]:
            past = _Past(case.changes, case.situation)
            parts.append(_group(own, members, case.guard, past, sources, case.choice))
            parts[-1].inherit(case)
    return parts


def _key(failure: Failure, guard: Guard | None, sources: Sources) -> Hashable | None:
    """Return a key that names the fault of ``failure`` outright, if anything does."""
    if failure.cause is not None:
        return failure.cause.key
    if guard is not None:
        return ("guard", guard.function, guard.owner)
    if failure.phase == "collect":
        if failure.syntax_error is not None:
            return ("syntax", failure.syntax_error[0])
        raised = raising(failure, sources.locate_frame)
        return ("collect", raised[0][0] if raised else failure.node_id)
    return None


def _with_tracebacks(spectrum: Spectrum, failures: Sequence[Failure], sources: Sources) -> Spectrum:
    """Return ``spectrum`` with the lines that tracebacks and messages prove to be involved."""
    index = {node_id: i for i, node_id in enumerate(spectrum.tests)}
    lines = {where: dict(rows) for where, rows in spectrum.lines.items()}
    called = cache(partial(_functions, spectrum=spectrum, sources=sources))
    remote = set(spectrum.remote)
    for failure in failures:
        bit = 1 << index[failure.node_id] if failure.node_id in index else 0
        proven = list(executed_lines(failure, sources.locate_frame, sources.module))
        if failure.syntax_error is not None:
            source = sources.map(failure.syntax_error[0])
            if source is not None and not source.is_test:
                proven.append((source.module.location, failure.syntax_error[1]))
        # Beside other calls this one is no line of its own, which failing tests alone execute.
        named = called(refused_call(failure))
        # Of some places only a traceback in a message tells: another process was there.
        told = (f for frames in failure.cause_frames for f in frames if f.first_line == f.line)
        located = (sources.locate_frame(f) for f in told if f.in_app)
        remote |= {where for where in located if where is not None} - spectrum.lines.keys()
        proven += [(w, min(lines.get(w, [w.start_line]))) for w in named]
        for where, line in proven:
            rows = lines.setdefault(where, {})
            rows[line] = rows.get(line, 0) | bit
    return replace(spectrum, lines=lines, remote=frozenset(remote))


def _group(
    spectrum: Spectrum,
    failures: Sequence[Failure],
    guard: Guard | None,
    past: _Past,
    sources: Sources,
    model: ModelChoice,
) -> Case:
    changes, situation = past
    tests = suspected_tests(failures, sources.map)
    if guard is not None and guard.owner.is_test:
        tests.setdefault(guard.owner, Role.FIXTURE)
    # A test that runs may use code unseen, in a process of its own, but an import can't: for a file
    # that failed before it imported any code, none can be at fault.
    may_be_code = spectrum.reached() or any(failure.phase != "collect" for failure in failures)
    ranked = spectrum if may_be_code else replace(spectrum, lines={})
    belief = joint_prior(ranked, model.formula, tests, model=model.belief, situation=situation)
    code = {where: p for where, p in belief.items() if not where.is_test}
    ran_code = _runs_functions(spectrum, sources.map)
    own = own_error_evidence(failures, sources.locate_frame, model=model.belief, ran_code=ran_code)
    origins = tuple(e for e in own if e.outcome is StaticOutcome.ORIGIN_IN_TEST)
    raised = _raised_evidence(spectrum, failures, guard, code, sources, model.belief)
    if not changes.every:  # else the code is likelier, as long as nobody has looked
        belief = _with_data(belief, changes.data_suspects, model.belief)
    recent = change_evidence(changes, belief, model=model.belief)
    # A test is called after what it tests, not after what it gets wrong itself.
    said = _said(failures, code, sources) if not origins else {}
    called = text_evidence(said, model=model.belief, situation=situation)
    told = side_evidence(
        tests,
        # Of a guard, the code raised for the data that the test gave it.
        raised=guard is None and code_raised(failures),
        has_twin=twin_passes(spectrum),
        seen=in_traceback(failures, sources.locate_frame),
        model=model.belief,
    )
    support = support_evidence(failures, code, model=model.belief)
    caught = executed_handlers(
        spectrum, failures, sources.map, sources.locate_frame, model=model.belief
    )
    every = (*raised, *own, *caught, *told, *called, *recent, *support)
    known = (e for e in every if e.location in belief and e.source not in model.without)
    return Case(
        failures=tuple(failures),
        spectrum=spectrum,
        prior=belief,
        evidence=tuple(e for e in without_absence(known) if e.log_ratio),
        guard=guard,
        own_errors=origins,
        roles=tests,
        changes=changes,
        situation=situation,
        choice=model,
    )


def situation_of(failures: Sequence[Failure], changes: Changes) -> Situation:
    """Return a regression where all failing tests are known to be as before ``changes``."""
    tests = [where for failure in failures for where in failure.test_locations[:1]]
    changed = set(changes.tests)
    is_older = bool(tests) and all(w.file in changes.known and w not in changed for w in tests)
    return Situation.REGRESSION if is_older else Situation.NEW_TEST


def _with_data(
    belief: dict[Location, float], data: Sequence[Location], model: str
) -> dict[Location, float]:
    """Return ``belief`` with each of ``data`` as a candidate; nobody saw a test read it."""
    joined = MODELS[model](belief)
    for where in data if belief else ():
        joined = joined.joined(where, DATA_PRIOR)
    return dict(joined.probabilities)


def _said(
    failures: Sequence[Failure], code: Mapping[Location, float], sources: Sources
) -> dict[Location, Terms]:
    """Return how far each of the likeliest candidates says what the failing tests say."""
    likeliest = nlargest(N_READ, code, key=lambda where: (code[where], where))
    tests = [
        Said(
            node_id=failure.node_id,
            text="".join(map(sources.own_text, failure.test_locations[:1])),
            message=f"{failure.exc_type} {failure.message}",
        )
        for failure in failures
    ]
    return text_terms(tests, likeliest, sources.own_text)


def _raised_evidence(
    spectrum: Spectrum,
    failures: Sequence[Failure],
    guard: Guard | None,
    code: Mapping[Location, float],
    sources: Sources,
    model: str,
) -> list[Evidence]:
    """Return what speaks of where the exceptions came from, and of whose values were refused."""
    named = guard_evidence(guard, model=model) if guard is not None else []
    unset = unset_attributes(failures, frozenset(spectrum.reached()), sources.map)
    missing = (missed_in for missed_in, _ in unset.values())
    spared = frozenset({guard.function} if guard is not None else missing)
    traced = traceback_evidence(
        failures,
        code,
        sources.locate_frame,
        model=model,
        spared=spared,
        raises_alone=partial(raises_alone, read=sources.map),
    )
    outcome = StaticOutcome.ATTRIBUTE_UNSET
    misses = [weigh(model, outcome, w, source="origin", why=why) for w, (_, why) in unset.items()]
    return [*named, *misses, *traced]


def change_evidence(
    changes: Changes, candidates: Iterable[Location], *, model: str
) -> list[Evidence]:
    """Weigh what changed since the tests passed; nothing if no candidate did."""
    data = set(changes.data_suspects)
    known = sorted(w for w in candidates if w.file in changes.known or w in data)
    changed = {suspect_of(where, known) for where in changes.every} | data
    if changed.isdisjoint(known):
        return []
    edited, kept = f"changed since {changes.since}", f"did not change since {changes.since}"
    return [
        weigh(model, ChangeOutcome.CHANGED_SINCE_GREEN, where, source="changed", why=edited)
        if where in changed
        else weigh(model, ChangeOutcome.UNCHANGED_SINCE_GREEN, where, source="changed", why=kept)
        for where in known
    ]


def suspect_of(changed: Location, candidates: Collection[Location]) -> Location:
    """Return ``changed``, or of code inside a test the innermost candidate that encloses it."""
    if not changed.is_test or changed in candidates:
        return changed
    around = [
        where
        for where in candidates
        if where.file == changed.file and changed.qualname.startswith(f"{where.qualname}.<locals>.")
    ]
    return max(around, key=lambda where: len(where.qualname), default=changed)


def _runs_functions(spectrum: Spectrum, read: ReadMap) -> bool:
    """Say whether the failing tests execute a function, beside what runs while it is imported."""
    found = ((read(where.file), where) for where in spectrum.reached())
    units = (source.unit(where) for source, where in found if source is not None)
    return any(unit is not None and unit.is_function for unit in units)


def _functions(qualname: str, spectrum: Spectrum, sources: Sources) -> list[Location]:
    """Return the functions of that name in files of which anything was executed."""
    if not qualname:
        return []
    files = sorted({where.file for where in spectrum.executed if not where.is_test})
    known = filter(None, map(sources.map, files))
    units = (unit for source in known for unit in source.units if unit.is_function)
    return [unit.location for unit in units if unit.location.qualname == qualname]


# -- which failing tests go together


class _Row(NamedTuple):
    """The best line among those that the same failing tests execute; the smallest sorts first.

    Attributes:
        ep: Passing tests that execute it.
        minus_ef: Failing tests that execute it, earlier groups included, times -1.
        failing: Those failing tests.
    """

    ep: int
    minus_ef: int
    location: Location
    failing: int


def _is_body(sources: Sources) -> Callable[[Location], bool]:
    """Return what says whether a location is the body of a module or a class."""

    def is_body(where: Location) -> bool:
        found = sources.unit(where)
        return where.qualname == MODULE or (found is not None and not found[1].is_function)

    return is_body


def split_failures(
    spectrum: Spectrum,
    keys: Mapping[str, Hashable | None],
    is_body: Callable[[Location], bool] = lambda where: where.qualname == MODULE,
) -> tuple[int, ...]:
    """Split the failing tests of ``spectrum`` into bitsets: largest first, then by first test.

    Args:
        spectrum: Which test executed which line.
        keys: Per node id of a failing test, what names its fault outright (the owner of a value
            that a guard refused, the place of a collection error); None or missing where nothing
            does. Tests with equal keys go together, tests without one by what they execute.
        is_body: Says whether a location is the body of a module or a class.
    """
    keyed: dict[Hashable, int] = {}
    rest = spectrum.failing
    for i in bits(spectrum.failing):
        key = keys.get(spectrum.tests[i])
        if key is not None:
            keyed[key] = keyed.get(key, 0) | 1 << i
            rest ^= 1 << i
    found = [*keyed.values(), *_by_execution(spectrum, rest, is_body)]
    return tuple(sorted(found, key=lambda group: (-group.bit_count(), group & -group)))


def _by_execution(spectrum: Spectrum, rest: int, is_body: Callable[[Location], bool]) -> list[int]:
    """Split ``rest`` by the code that its tests execute; tests of no code are one group."""
    reached = (where for where, executed in spectrum.executed.items() if executed & rest)
    code = {where: is_body(where) for where in reached if is_candidate(where)}
    found: list[int] = []
    # What ran at import is credited to every test of a test module, so it would tie them together:
    # it decides only for tests that execute nothing else.
    for at_import in (False, True):
        chosen = [where for where, is_imported in code.items() if is_imported is at_import]
        # Of one set of failing tests, no line can rank above that with the fewest passing ones.
        rows: dict[int, _Row] = {}
        for where in chosen:
            for executed in spectrum.lines[where].values():
                if failing := executed & rest:
                    ep = (executed & spectrum.passing).bit_count()
                    row = _Row(ep, -failing.bit_count(), where, failing)
                    rows[failing] = min(row, rows.get(failing, row))
        covered = _cover(rows, rest, spectrum.passing.bit_count())
        found += covered
        for group in covered:
            rest &= ~group
    return [*found, rest] if rest else found


def _cover(rows: Mapping[int, _Row], rest: int, n_passing: int) -> list[int]:
    """Cover ``rest`` greedily: the most suspicious line, and what shares a telling line with it.

    The ``rows`` are by the tests of ``rest`` alone that execute them.

    Tests whose most suspicious line an earlier group executes as well join that group: nothing
    that is their own explains them.
    """
    found: list[int] = []
    while rows:
        core = min(rows, key=lambda failing: _order(failing, rows[failing]))
        # A line tells something if at most half of the passing tests execute it. The group is the
        # largest that one telling line explains: otherwise a branch that one failing test takes
        # alone would outrank the fault that all of them share, and split it.
        telling = [f for f, row in rows.items() if f & core == core and 2 * row.ep <= n_passing]
        group = min(telling, key=lambda f: (-f.bit_count(), rows[f]), default=core)
        shared = (i for i, earlier in enumerate(found) if earlier & rows[core].failing)
        if (home := next(shared, None)) is None:
            found.append(group)
        else:
            found[home] |= group
        rest &= ~group
        restricted: dict[int, _Row] = {}
        for failing, row in rows.items():
            if left := failing & rest:
                restricted[left] = min(row, restricted.get(left, row))
        rows = restricted
    return found


def _order(failing: int, row: _Row) -> tuple[float, int, _Row]:
    """Order by falling Ochiai (its square without the constant F), falling ``ef``, location."""
    ef = failing.bit_count()
    return -(ef * ef) / (ef + row.ep), -ef, row
