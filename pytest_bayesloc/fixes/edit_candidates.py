"""Candidates that no tool makes: mutations and constants of the suspects, and what changed."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from heapq import merge
from itertools import chain, count, islice, zip_longest

from pytest_bayesloc.domain.failure import Failure
from pytest_bayesloc.domain.fixing import MUTANTS, TAKE_BACK
from pytest_bayesloc.domain.inspection import Finding
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.ports import Runner
from pytest_bayesloc.domain.recording import Sample
from pytest_bayesloc.domain.source import FunctionNode, SourceMap, Unit, lines_of, map_of
from pytest_bayesloc.domain.texts import file_of_test
from pytest_bayesloc.fixes.candidate import (
    CHANGE,
    EDIT,
    GENERATED,
    MODEL,
    OTHER_CONSTANT,
    Candidate,
    unlikelihood,
)
from pytest_bayesloc.fixes.check import Checked
from pytest_bayesloc.fixes.mutations import FIRST, FURTHER, edits, words_of
from pytest_bayesloc.fixes.mutations.constants import (
    Sides,
    constant_edits,
    differences,
    imported_by,
    other_value,
    sides_of,
    used_by,
    values_of,
)
from pytest_bayesloc.fixes.mutations.predicates import points_of
from pytest_bayesloc.fixes.plausibility import by_chance, most_chance
from pytest_bayesloc.fixes.side_effects import reaches_out
from pytest_bayesloc.fixes.site import COMPARED, Hints
from pytest_bayesloc.fixes.tasks import MAX_FAILURES, N_SUSPECTS, test_text
from pytest_bayesloc.ranking.case import Case
from pytest_bayesloc.spectrum.sources import FileKind, Sources
from pytest_bayesloc.syntax.text import Text

N_OF_CONSTANTS = 3  # suspects
N_EDITS = 400  # of one function
N_SAMPLED = 40  # passing tests whose values at points are noted
#: P(the first edit of a constant repairs, if its user seems faulty), that of the n-th is an n-th of
#: it: of 45 tries of small projects 6 did, of 176 of real bugs one. Were it more, edits that are as
#: likely to be meant would be no rivals of one that does.
FITTING = 1 / 30
_UNITTEST = re.compile(r"(?:AssertionError: )?(.+) != (.+)")  # of ``assertEqual``
_CALLED = re.compile(r"(\w+)\(")
_NOT_RAISED = re.compile("DID NOT RAISE|not raised")  # of pytest, of unittest


def taken_back(case: Case) -> Iterator[Candidate]:
    """Yields earlier versions of what changed since the tests passed, the likeliest first.

    Lines that were seen to break the tests come before all that changed with them.
    """
    changes = case.changes
    for lines in case.breaking:
        for file, without in lines.undone.items() if len(lines.undone) == 1 else ():
            if file in changes.files:
                yield Candidate(
                    tools=(TAKE_BACK,),
                    stage=CHANGE,
                    file=file,
                    before=changes.files[file].now.text,
                    after=without,
                    message=f"take back the change of line {lines.first_line} "
                    f"since {changes.since}",
                    line=lines.first_line,
                )
    known = [where for where in changes.code if where in case.belief.probabilities]
    likeliest = sorted(known, key=lambda where: (-case.belief.p(where), where))[:N_SUSPECTS]
    cause = tuple(where for where in case.culprits if where.file in changes.files)  # no data
    tries = [cause] if len({where.file for where in cause}) == 1 else []
    for chosen in (*tries, *((where,) for where in likeliest)):
        first = chosen[0]
        text = changes.files[first.file].reverted(chosen)
        if text is not None:
            names = " and ".join(where.qualname for where in chosen)
            yield Candidate(
                tools=(TAKE_BACK,),
                stage=CHANGE,
                file=first.file,
                before=changes.files[first.file].now.text,
                after=text,
                message=f"take back what changed in {names} since {changes.since}",
                line=first.start_line,
            )


def inspected(case: Case) -> Iterator[Candidate]:
    """Yields the edits with which inspections saw the failing tests pass, the last found first.

    None of those that a search found: it finds them again, as what they are.
    """
    for finding in reversed(case.inspections):
        if finding.evidence.source != MUTANTS:
            yield from inspected_by(finding)


def inspected_by(finding: Finding) -> Iterator[Candidate]:
    """Yields the edit with which an inspection saw them pass, if it did and knows it."""
    patch = finding.repair
    if patch is not None and not patch.companions:
        is_edit = patch.kind == MUTANTS
        name = patch.words.partition(", line")[0].replace(" ", "-")
        is_function = patch.value is None and not patch.fresh and not patch.others
        yield Candidate(
            tools=(name if is_edit else MODEL,),
            stage=EDIT if is_edit else GENERATED,
            file=patch.target.file,
            before=patch.original,
            after=patch.patched,
            message=patch.words,
            line=patch.line,
            target=patch.target if is_function else None,
        )


def mutated(
    case: Case, sources: Sources, never_edited: Collection[str], runner: Runner, limit_s: float
) -> Iterator[Candidate]:
    """Yields mutations of the likeliest suspects, with their chances, the likeliest first.

    Those of a suspect are made when its turn comes: that takes longer than to try many of them.

    Args:
        case: The group of failing tests.
        sources: The project's files.
        never_edited: Calls of functions that are left alone.
        runner: Runs tests once more, to note the values at points of the suspects.
        limit_s: Wall seconds for that.
    """
    differ: list[tuple[object, object]] = []
    for failure, test in _first_failures(case, sources):
        both = _both_sides(failure.message, case.sides.get(failure.node_id, ()))
        differ += () if both is None else differences(*both, test)
    targets = case.targets()[:N_SUSPECTS]
    known = {target: sources.unit(target) for target in targets}
    found = {
        target: unit
        for target, unit in known.items()
        if unit is not None and not reaches_out(*unit, never_edited)
    }
    sampled = _sampled(case, [unit for _, unit in found.values()], runner, limit_s)
    waiting: list[Candidate] = []
    most_of = {w: most_chance(unit.node, case.belief.p(w)) for w, (_, unit) in found.items()}
    for target, most in sorted(most_of.items(), key=lambda pair: -pair[1]):
        unit = found[target]
        n_before = sum(edit.chance >= most for edit in waiting)
        yield from waiting[:n_before]
        failing, passing = ([s for s in own if s.location == target] for own in sampled)
        if not passing:
            failing, passing = _last_ones(failing)
        hints = replace(_hints(case, target, differ), failing=failing, passing=passing)
        made = _mutations(*unit, case.near.suspiciousness(target), hints)
        own = by_chance(made, case.belief.p(target))
        waiting = [*merge(waiting[n_before:], own, key=unlikelihood)]
    yield from waiting


def _last_ones(samples: Iterable[Sample]) -> tuple[list[Sample], list[Sample]]:
    """Divide the samples of failing tests: the last one of each point saw it fail, if none else.

    A test that fails at its fourth comparison passes three.
    """
    by_point: dict[tuple[int, int], list[Sample]] = {}
    for sample in samples:
        by_point.setdefault(sample.point, []).append(sample)
    last = [own[-1] for own in by_point.values()]
    return last, [sample for own in by_point.values() for sample in own[:-1]]


def _sampled(
    case: Case, units: Sequence[Unit], runner: Runner, limit_s: float
) -> tuple[Sequence[Sample], Sequence[Sample]]:
    """Return the values at points of functions in failing tests, and in passing ones near them."""
    points = [(u, points_of(u.node)) for u in units if isinstance(u.node, FunctionNode)]
    near = case.near.union([u.location for u, _ in points], each=N_SAMPLED, at_most=N_SAMPLED)
    failing = runner.samples(case.failing[:MAX_FAILURES], points, limit_s=limit_s / 2)
    passing = runner.samples(near, points, limit_s=limit_s / 2) if any(failing.values()) else {}
    return [*chain.from_iterable(failing.values())], [*chain.from_iterable(passing.values())]


def _hints(case: Case, target: Location, differ: Sequence[tuple[object, object]]) -> Hints:
    """Return what the failing tests say of ``target``."""
    lines = range(target.start_line, target.end_line + 1)
    is_lenient = any(_NOT_RAISED.search(failure.message) for failure in case.failures)
    for failure in case.failures:
        passed = [f for f in failure.frames if f.file == target.file and f.line in lines]
        if passed and failure.node_id in case.failing:
            return Hints(
                error=failure.exc_type.rpartition(".")[2],
                line=passed[-1].line,
                span=passed[-1].span,
                sides=differ,
                is_lenient=is_lenient,
            )
    return Hints(sides=differ, is_lenient=is_lenient)


def edits_after(
    checked: Checked, case: Case, sources: Sources, never_edited: Collection[str]
) -> Iterator[Candidate]:
    """Yields mutations, on top of a change, of what the line calls that now fails in the test.

    The failing run never came to that line, so its functions may be no suspects.
    """
    file = file_of_test(checked.test)
    frames = checked.still.frames if checked.still is not None else ()
    line = next((n for path, n in frames if sources.files.relative(path) == file), 0)
    lines = lines_of(sources.read(file) or "")
    called = set(_CALLED.findall(lines[line - 1])) if 0 < line <= len(lines) else set()
    known = dict.fromkeys(where.file for where in case.spectrum.executed if called)
    code = [n for n in known if sources.files.kind(sources.files.absolute(n)) is FileKind.CODE]
    texts = checked.candidate.texts
    read = (map_of(texts[n], n) if n in texts else sources.map(n) for n in code)
    found = [
        (source, unit)
        for source in read
        for unit in (source.units if source is not None else ())
        if source is not None and unit.is_function
        if unit.location.qualname.rpartition(".")[2] in called
        if not reaches_out(source, unit, never_edited)
    ]
    for source, unit in found:
        where = unit.location
        heat = dict.fromkeys(range(where.start_line, where.end_line + 1), 1.0)
        yield from by_chance(_mutations(source, unit, heat), 1 / len(found))


def _mutations(
    source: SourceMap, unit: Unit, heat: Mapping[int, float], hints: Hints | None = None
) -> Iterator[Candidate]:
    target = unit.location
    likely, further = (edits(kinds, source, unit, heat, hints) for kinds in (FIRST, FURTHER))
    # Both go from the hottest line to the coolest: neither waits for the other's end.
    turns = chain.from_iterable(zip_longest(likely, further))
    made = (mutation for mutation in turns if mutation is not None)
    for name, edit, text in islice(made, N_EDITS):
        yield Candidate(
            tools=(name,),
            weight=edit.weight,
            stage=EDIT,
            file=target.file,
            before=source.text,
            after=text,
            message=words_of(name, edit),
            line=edit.line,
            target=target,
        )


def other_constants(
    case: Case,
    sources: Sources,
    never_edited: Collection[str],
    last: Callable[[], Checked | None],
) -> Iterator[Candidate]:
    """Yields other values of constants that the likeliest suspects use, also of other modules.

    Args:
        case: The group of failing tests.
        sources: The project's files.
        never_edited: Calls of functions that are left alone.
        last: Returns what came of the candidate before.
    """
    guard = case.guard
    if guard is not None and guard.owner.is_test:
        return  # another limit would let the wrong data of the test pass
    found = ((target, sources.unit(target)) for target in case.targets()[:N_OF_CONSTANTS])
    made = [
        _other_constants(*unit, case, sources, last)
        for _, unit in found
        if unit is not None and not reaches_out(*unit, never_edited)
    ]
    yield from merge(*made, key=unlikelihood)


def _first_failures(case: Case, sources: Sources) -> list[tuple[Failure, str]]:
    """The first tests that fail each time, each with its text."""
    steady = [failure for failure in case.failures if failure.node_id in case.failing]
    return [(failure, test_text(failure, sources)) for failure in steady[:MAX_FAILURES]]


def _other_constants(
    source: SourceMap, unit: Unit, case: Case, sources: Sources, last: Callable[[], Checked | None]
) -> Iterator[Candidate]:
    """Other values of the constants that a suspect uses, the likeliest first."""
    failures = _first_failures(case, sources)
    test = "\n".join(text for _, text in failures)
    sides = [
        pair
        for failure, _ in failures
        for pair in _sides_of(failure.message, test, case.sides.get(failure.node_id, ()))
    ]
    candidate: Candidate | None = None

    def seen() -> Sequence[Sides]:
        checked = last()
        if checked is None or checked.still is None or checked.candidate is not candidate:
            return ()
        return _sides_of(checked.still.error, test, checked.still.sides)

    where = unit.location
    places = _places_of_constants(source, unit, case, sources)
    texts = [(Text(place.text), used) for place, used in places]
    n = count(1)
    # First those that are tried in memory.
    for is_swapped in (True, False):
        for i, edit in constant_edits(texts, sides, test, seen):
            place, after = places[i][0], texts[i][0].edited(edit)
            is_inside = i == 0 and unit.body_line <= edit.line <= where.end_line
            made = Candidate(
                tools=(OTHER_CONSTANT,),
                stage=EDIT,
                file=place.file,
                before=place.text,
                after=after,
                message=f"line {edit.line}: {edit.words}",
                line=edit.line,
                target=where if is_inside else None,
                held=None if is_inside else other_value(place, after, edit.line),
            )
            if made.is_swapped is is_swapped:
                candidate = replace(made, chance=FITTING * case.belief.p(where) / next(n))
                yield candidate


def _sides_of(message: str, test: str, sides: Sequence[str]) -> Sequence[Sides]:
    """Return in what the sides of a comparison differ."""
    both = _both_sides(message, sides)
    return () if both is None else sides_of(*both, test)


def _both_sides(message: str, sides: Sequence[str]) -> tuple[str, str] | None:
    """Return both sides of a comparison as literals: as they are, or as a message shows them."""
    if len(sides) == 2 and all(sides):
        return sides[0], sides[1]
    said = COMPARED.search(message) or _UNITTEST.match(message)
    return None if said is None else (said[1], said[2])


def _places_of_constants(
    source: SourceMap, unit: Unit, case: Case, sources: Sources
) -> list[tuple[SourceMap, list[ast.AST]]]:
    """Return files, and the code in them whose constants a function uses; its own file is first."""
    if not isinstance(unit.node, FunctionNode) or source.is_broken:
        return []
    tree = source.module.node
    found = [(source, used_by(tree, unit.node))]
    modules = imported_by(tree, unit.node)
    known = {where.file: where.module for where in case.spectrum.executed}
    for file, module in known.items():
        names = modules.get(module.rpartition(".")[2], set())
        other = sources.map(file) if names and file != source.file else None
        if other is not None and (values := values_of(other.module.node, names)):
            found.append((other, values))
    return found
