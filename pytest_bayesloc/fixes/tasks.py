"""Tasks and candidates for a group of failing tests, and the tests that a change may break."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice, zip_longest
from pathlib import Path

from pytest_bayesloc.domain.failure import Failure
from pytest_bayesloc.domain.fixing import TAKE_BACK, Level
from pytest_bayesloc.domain.location import MODULE, Location
from pytest_bayesloc.domain.source import FunctionNode, SourceMap, Unit, lines_of
from pytest_bayesloc.domain.spectrum import bitset_of
from pytest_bayesloc.fixes.check import CHANGE, EDIT, OTHER_CONSTANT, Candidate, Checked
from pytest_bayesloc.fixes.mutations import mutants, repairs
from pytest_bayesloc.fixes.mutations.constants import (
    Sides,
    constant_edits,
    imported_by,
    sides_of,
    used_by,
    values_of,
)
from pytest_bayesloc.fixes.project import Task
from pytest_bayesloc.fixes.side_effects import reaches_out
from pytest_bayesloc.fixes.syntax import COMPARED, Text, is_json
from pytest_bayesloc.ranking.case import Case
from pytest_bayesloc.ranking.groups import FailingGroup
from pytest_bayesloc.spectrum.sources import FileKind, Sources

MAX_FAILURES = 3  # of a group whose errors differ
MAX_PLACES = 8
N_NEXT = 3  # places of the error that a change leaves
N_SUSPECTS = 5
N_OF_CONSTANTS = 2  # suspects: most of their constants take a process of its own
N_EDITS = 400  # of one function
MAX_FILES = 2_000
MAX_DATA = 1 << 20
_UNITTEST = re.compile(r"(?:AssertionError: )?(.+) != (.+)")  # of ``assertEqual``
_CALLED = re.compile(r"(\w+)\(")


def tasks_of(case: Case, sources: Sources) -> list[Task]:
    """Return the tasks for tools, the likeliest place of the fix first.

    The frames of the traceback come first, the innermost before its callers, then the hottest
    lines of the likeliest suspects.
    """
    found: dict[tuple[str, str, int], Task] = {}
    for failure in _unlike(case.group.failures):
        for file, line in _likely_of(failure, case):
            source = sources.map(file)
            if source is not None:
                task = _task(failure, source, line, case, sources)
                found.setdefault((task.error, file, line), task)
    return [*_data_tasks(case.group.failures, sources), *found.values()]


def tasks_after(checked: Checked, case: Case, sources: Sources) -> list[Task]:
    """Return the tasks that a test sets which still fails with a change, the innermost place first.

    Args:
        checked: The change, and how the test ends with it.
        case: The group of failing tests.
        sources: The project's files as they are.
    """
    if checked.still is None:
        return []
    name = checked.test.partition("::")[0]
    failures = [f for f in case.group.failures if f.node_id in (checked.test, name)]
    error = checked.why if ":" in checked.why else f"AssertionError: {checked.why}"
    found: dict[tuple[str, int], Task] = {}
    for path, line in reversed(checked.still.frames):
        file = sources.files.relative(path)
        text = checked.candidate.texts.get(file) or sources.read(file)
        if sources.files.kind(path) is FileKind.CODE and text is not None:
            found[file, line] = Task(
                code=text,
                filename=file,
                error=error,
                line=line,
                lines=(line,),
                test=next((test_text(failure, sources) for failure in failures), ""),
                test_file=name,
            )
    return list(found.values())[:N_NEXT]


def test_text(failure: Failure, sources: Sources) -> str:
    """Text of a failing test; empty if it can't be had."""
    for where in failure.test_locations[:1]:
        source = sources.map(where.file)
        if source is not None:
            return source.text_of(where)
    return ""


def texts_of_tests(failures: Sequence[Failure], sources: Sources) -> Iterator[str]:
    """Failing tests and their fixtures with decorators, and the values of their modules."""
    for where in dict.fromkeys(where for f in failures for where in f.test_locations):
        source = sources.map(where.file)
        unit = None if source is None else source.unit(where)
        if source is None or unit is None:
            continue
        body = getattr(source.module.node, "body", ())
        values = [node for node in body if isinstance(node, (ast.Assign, ast.AnnAssign))]
        yield from map(ast.unparse, (unit.node, *values))


def test_files(node_ids: Iterable[str]) -> frozenset[str]:
    """The files that tests were collected from, but for those of doctests, which hold the code."""
    found = set()
    for node_id in node_ids:
        file, _, name = node_id.partition("::")
        if name and "." not in name.partition("[")[0]:
            found.add(file)
    return frozenset(found)


def covering(group: FailingGroup, target: Location, sources: Sources) -> tuple[str, ...]:
    """The passing tests that a change of ``target`` may break.

    Of what is executed at an import, all tests that execute anything in the file, and those of
    test files that name it: they may use a value of it without executing a line.
    """
    spectrum, name = group.spectrum, target.qualname
    found = 0
    if name == MODULE:
        path = Path(target.file)
        own = path.parent.name if path.stem == "__init__" else path.stem
        stem = re.compile(rf"\b{re.escape(own)}\b")
        files = test_files(spectrum.tests)
        naming = {file for file in files if stem.search(sources.read(file) or "")}
        found = bitset_of(i for i, n in enumerate(spectrum.tests) if n.partition("::")[0] in naming)
    for where, executed in spectrum.executed.items():
        is_inside = where.qualname == name or where.qualname.startswith(f"{name}.")
        if where.file == target.file and (name == MODULE or is_inside):
            found |= executed
    return spectrum.node_ids(found & spectrum.passing)


def taken_back(case: Case) -> Iterator[Candidate]:
    """Yields earlier versions of what changed since the tests passed, the likeliest first."""
    changes = case.changes
    known = [where for where in changes.code if where in case.belief.probabilities]
    likeliest = sorted(known, key=lambda where: (-case.belief.p(where), where))[:N_SUSPECTS]
    tries = [case.cause] if len({where.file for where in case.cause}) == 1 else []
    for chosen in (*tries, *((where,) for where in likeliest)):
        first = chosen[0]
        text = changes.files[first.file].reverted(chosen)
        if text is not None:
            names = " and ".join(where.qualname for where in chosen)
            yield Candidate(
                tools=(TAKE_BACK,),
                stage=CHANGE,
                level=Level.UNSAFE,
                file=first.file,
                before=changes.files[first.file].now.text,
                after=text,
                message=f"take back what changed in {names} since {changes.since}",
                line=first.start_line,
            )


def mutated(case: Case, sources: Sources, never_edited: Collection[str]) -> Iterator[Candidate]:
    """Mutations of the likeliest suspects; first those that inspections saw repair."""
    effects = {
        (inspection.target, trial.words): trial.effect.rank
        for inspection in case.inspections
        for trial in inspection.finding.trials
    }
    for target in case.targets()[:N_SUSPECTS]:
        found = sources.unit(target)
        if found is None or reaches_out(*found, never_edited):
            continue
        yield from _mutations(*found, case.near.suspiciousness(target), effects)


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
    for target in case.targets()[:N_OF_CONSTANTS]:
        found = sources.unit(target)
        if found is not None and not reaches_out(*found, never_edited):
            yield from _other_constants(*found, case, sources, last)


def _other_constants(
    source: SourceMap, unit: Unit, case: Case, sources: Sources, last: Callable[[], Checked | None]
) -> Iterator[Candidate]:
    """Other values of the constants that a suspect uses."""
    if not isinstance(unit.node, FunctionNode) or source.is_broken:
        return
    failures = [f for f in case.group.failures if f.node_id in case.failing][:MAX_FAILURES]
    tests = {failure.node_id: test_text(failure, sources) for failure in failures}
    sides = [pair for f in failures for pair in _sides(f.message, tests[f.node_id])]
    made: list[Candidate] = []

    def seen() -> Sequence[Sides]:
        checked = last()
        if checked is None or checked.candidate is not made[-1]:
            return ()
        return _sides(checked.why, tests.get(checked.test, ""))

    files = _files_of_constants(source, unit.node, case, sources)
    places = [(Text(text), used) for _, text, used in files]
    for i, edit in constant_edits(places, sides, "\n".join(tests.values()), seen):
        file, text, _ = files[i]
        where = unit.location
        is_inside = i == 0 and unit.body_line <= edit.line <= where.end_line
        candidate = Candidate(
            tools=(OTHER_CONSTANT,),
            stage=EDIT,
            level=Level.UNSAFE,
            file=file,
            before=text,
            after=places[i][0].edited(edit),
            message=f"line {edit.line}: {edit.words}",
            line=edit.line,
            target=where if is_inside else None,
        )
        made.append(candidate)
        yield candidate


def _sides(message: str, test: str) -> Sequence[Sides]:
    said = COMPARED.search(message) or _UNITTEST.match(message)
    return () if said is None else sides_of(said[1], said[2], test)


def _files_of_constants(
    source: SourceMap, function: FunctionNode, case: Case, sources: Sources
) -> list[tuple[str, str, list[ast.AST]]]:
    """Return files, their texts, and the code in them whose constants a function uses."""
    tree = source.module.node
    found = [(source.file, source.text, used_by(tree, function))]
    modules = imported_by(tree, function)
    known = {where.file: where.module for where in case.group.spectrum.executed}
    for file, module in known.items():
        names = modules.get(module.rpartition(".")[2], set())
        other = sources.map(file) if names and file != source.file else None
        if other is not None and (values := values_of(other.module.node, names)):
            found.append((file, other.text, values))
    return found


def edits_after(
    checked: Checked, case: Case, sources: Sources, never_edited: Collection[str]
) -> Iterator[Candidate]:
    """Yields mutations, on top of a change, of what the line calls that now fails in the test.

    The failing run never came to that line, so its functions may be no suspects.
    """
    file = checked.test.partition("::")[0]
    frames = checked.still.frames if checked.still is not None else ()
    line = next((n for path, n in frames if sources.files.relative(path) == file), 0)
    lines = lines_of(sources.read(file) or "")
    called = set(_CALLED.findall(lines[line - 1])) if 0 < line <= len(lines) else set()
    known = dict.fromkeys(where.file for where in case.group.spectrum.executed if called)
    for name in known:
        if sources.files.kind(sources.files.absolute(name)) is not FileKind.CODE:
            continue
        text = checked.candidate.texts.get(name) or sources.read(name) or ""
        source = SourceMap(text, name)
        for unit in source.units:
            is_called = unit.location.qualname.rpartition(".")[2] in called
            if is_called and unit.is_function and not reaches_out(source, unit, never_edited):
                where = unit.location
                heat = dict.fromkeys(range(where.start_line, where.end_line + 1), 1.0)
                yield from _mutations(source, unit, heat, {})


def _mutations(
    source: SourceMap,
    unit: Unit,
    heat: Mapping[int, float],
    effects: Mapping[tuple[Location, str], int],
) -> Iterator[Candidate]:
    target = unit.location
    patches = list(mutants(source, unit, heat))
    patches.sort(key=lambda patch: -effects.get((target, patch.words), -1))
    inspected = [(p.words.partition(",")[0], p.line, p.words, p.patched) for p in patches]
    others = (
        (name, edit.line, f"line {edit.line}: {edit.words}", text)
        for name, edit, text in repairs(source, unit, heat)
    )
    # Both go from the hottest line to the coolest: neither waits for the other's end.
    turns = chain.from_iterable(zip_longest(inspected, others))
    made = (mutation for mutation in turns if mutation is not None)
    for name, line, words, text in islice(made, N_EDITS):
        yield Candidate(
            tools=(name.replace(" ", "-"),),
            stage=EDIT,
            level=Level.UNSAFE,
            file=target.file,
            before=source.text,
            after=text,
            message=words,
            line=line,
            target=target,
        )


def python_files(sources: Sources) -> list[str]:
    """The project's Python files, code before tests, relative to rootdir."""
    found: dict[str, FileKind] = {}
    roots = dict.fromkeys((*sources.files.directories, sources.files.rootdir))
    for path in islice(walked(roots), MAX_FILES):
        kind = sources.files.kind(path)
        if kind is not FileKind.FOREIGN:
            found.setdefault(sources.files.relative(path), kind)
    return sorted(found, key=lambda file: (found[file] is FileKind.TEST, file))


def _unlike(failures: Sequence[Failure]) -> list[Failure]:
    """A few failures, each of another error or raised elsewhere."""
    found: dict[tuple[str, str, object], Failure] = {}
    for failure in failures:
        said = failure.message.partition("\n")[0]
        found.setdefault((failure.exc_type, said, failure.raise_frame), failure)
    return list(found.values())[:MAX_FAILURES]


def _places(failure: Failure) -> Iterator[tuple[str, int]]:
    if failure.syntax_error is not None:
        yield failure.syntax_error
    for frames in (failure.frames, *failure.cause_frames):
        yield from ((frame.file, frame.line) for frame in reversed(frames) if frame.in_app)


def _data_tasks(failures: Sequence[Failure], sources: Sources) -> Iterator[Task]:
    """The JSON files of the project that don't parse, where that is what failed."""
    failure = next((f for f in failures if f.exc_type.endswith("JSONDecodeError")), None)
    if failure is None:
        return
    for path in islice(walked([sources.files.rootdir], ".json"), MAX_FILES):
        if Path(path).stat().st_size > MAX_DATA:
            continue
        file = sources.files.relative(path)
        text = sources.read(file)
        if text is not None and not is_json(text):
            yield Task(
                code=text,
                filename=file,
                error=f"{failure.exc_type}: {failure.message}",
                test_file=file if _is_of_tests(file) else "",
            )


def _is_of_tests(file: str) -> bool:
    """Whether a data file lies among tests: what stands there may be wrong on purpose."""
    return any(
        re.match(r"(?:unit|integration)?_?tests?(?:data|_data)?$|fixtures$", part)
        for part in Path(file).parts[:-1]
    )


def likely_places(case: Case) -> Iterator[tuple[str, int]]:
    """Files and lines where a fix of the group is likely; places of tests, too."""
    return chain.from_iterable(_likely_of(f, case) for f in _unlike(case.group.failures))


def _likely_of(failure: Failure, case: Case) -> list[tuple[str, int]]:
    return [*dict.fromkeys((*_places(failure), *_hottest(case)))][:MAX_PLACES]


def _hottest(case: Case) -> Iterator[tuple[str, int]]:
    """The most suspicious line of each of the likeliest suspects."""
    for where in case.targets()[:N_SUSPECTS]:
        heat = case.near.suspiciousness(where)
        line = max(heat, key=lambda line: (heat[line], -line), default=where.start_line)
        yield where.file, line


def _task(failure: Failure, source: SourceMap, line: int, case: Case, sources: Sources) -> Task:
    where = source.owner(line).location
    heat = case.near.suspiciousness(where)
    lines = sorted((n for n in heat if heat[n] > 0), key=lambda n: (-heat[n], n))
    is_test_file = sources.files.kind(sources.files.absolute(source.file)) is FileKind.TEST
    return Task(
        code=source.text,
        filename=source.file,
        error=f"{failure.exc_type}: {failure.message}",
        line=line,
        lines=tuple(lines) or ((line,) if line else ()),
        values=case.values.get(where, {}),
        test=test_text(failure, sources),
        test_file=source.file if is_test_file else failure.node_id.partition("::")[0],
    )


def walked(roots: Collection[str], suffix: str = ".py") -> Iterator[str]:
    """Yields the files below folders, but for those of virtual environments and hidden folders."""
    for root in roots:
        for folder, folders, files in os.walk(root):
            folders[:] = sorted(
                name
                for name in folders
                if not name.startswith(".")
                and name not in {"node_modules", "__pycache__", "site-packages"}
                and not Path(folder, name, "pyvenv.cfg").exists()
            )
            chosen = (name for name in sorted(files) if name.endswith(suffix))
            yield from (os.path.join(folder, name) for name in chosen)  # noqa: PTH118 - of many
