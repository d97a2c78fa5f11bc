"""Tasks for a group of failing tests, and the tests that a change may break."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import reduce
from itertools import chain, islice
from operator import or_
from pathlib import Path

from pytest_bayesloc.domain.failure import Failure
from pytest_bayesloc.domain.location import MODULE, Location
from pytest_bayesloc.domain.source import FunctionNode, tree_of
from pytest_bayesloc.domain.spectrum import bitset_of
from pytest_bayesloc.domain.texts import file_of_test
from pytest_bayesloc.fixes.candidate import Candidate, function_of
from pytest_bayesloc.fixes.check import Checked
from pytest_bayesloc.fixes.project import Task
from pytest_bayesloc.ranking.case import Case
from pytest_bayesloc.spectrum.sources import FileKind, Sources
from pytest_bayesloc.syntax.expressions import is_json
from pytest_bayesloc.syntax.nodes import (
    holds,
    lines_at_change,
    nodes_of,
    spans,
    statement_at,
    stored_names,
)
from pytest_bayesloc.syntax.text import differing_lines

MAX_FAILURES = 3  # of a group whose errors differ
MAX_PLACES = 8
N_NEXT = 3  # places of the error that a change leaves
N_SUSPECTS = 5
MAX_FILES = 2_000
MAX_DATA = 1 << 20
NEGATED = "negate-condition"  # the mutation
_OF_TESTS = re.compile(r"(?:unit|integration)?_?tests?(?:data|_data)?$|fixtures$")


def tasks_of(case: Case, sources: Sources) -> list[Task]:
    """Return the tasks for tools, the likeliest place of the fix first.

    The frames of the traceback come first, the innermost before its callers, then the hottest
    lines of the likeliest suspects.
    """
    found: dict[tuple[str, str, int], Task] = {}
    for failure in _unlike(case.failures):
        for file, line in _likely_of(failure, case):
            source = sources.map(file)
            if source is None:
                continue
            where = source.owner(line).location
            heat = case.near.suspiciousness(where)
            lines = sorted((n for n in heat if heat[n] > 0), key=lambda n: (-heat[n], n))
            kind = sources.files.kind(sources.files.absolute(source.file))
            test_file = source.file if kind is FileKind.TEST else file_of_test(failure.node_id)
            task = Task(
                code=source.text,
                filename=source.file,
                error=f"{failure.exc_type}: {failure.message}",
                line=line,
                lines=tuple(lines) or ((line,) if line else ()),
                values=case.values.get(where, {}),
                test=test_text(failure, sources),
                test_file=test_file,
            )
            found.setdefault((task.error, file, line), task)
    return [*_data_tasks(case.failures, sources), *found.values()]


def tasks_after(checked: Checked, case: Case, sources: Sources) -> list[Task]:
    """Return the tasks that a test sets which still fails with a change, the innermost place first.

    Args:
        checked: The change, and how the test ends with it.
        case: The group of failing tests.
        sources: The project's files as they are.
    """
    if checked.still is None:
        return []
    name = file_of_test(checked.test)
    failures = [f for f in case.failures if f.node_id in (checked.test, name)]
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


def covering(case: Case, target: Location, sources: Sources) -> tuple[str, ...]:
    """The passing tests that a change of ``target`` may break.

    Of what is executed at an import, all tests that execute anything in the file, and those of
    test files that name it: they may use a value of it without executing a line.
    """
    spectrum, name = case.spectrum, target.qualname
    found = 0
    if name == MODULE:
        path = Path(target.file)
        own = path.parent.name if path.stem == "__init__" else path.stem
        found = _naming(case, [own], sources)
    for where, executed in spectrum.executed.items():
        if _is_inside(where, target):
            found |= executed
    return spectrum.node_ids(found & spectrum.passing)


def _naming(case: Case, names: Iterable[str], sources: Sources) -> int:
    """The tests of the files that have one of ``names`` in their text, as bits."""
    word = re.compile(rf"\b(?:{'|'.join(map(re.escape, names))})\b")
    tests = case.spectrum.tests
    naming = {file for file in test_files(tests) if word.search(sources.read(file) or "")}
    return bitset_of(i for i, n in enumerate(tests) if file_of_test(n) in naming)


def users(case: Case, candidate: Candidate, sources: Sources) -> tuple[str, ...] | None:
    """The passing tests that use variables of a module or class, where a change is of their values.

    Those of files that name them are among these. None where more changes, or where it is not known
    who uses them.
    """
    source = sources.map(candidate.file)
    before, after = (tree_of(text) for text in (candidate.before, candidate.after))
    if source is None or before is None or after is None or candidate.companions:
        return None
    found = 0
    for start, end, _ in differing_lines(candidate.before, candidate.after):
        # What is only added continues the line before it.
        line = min(start + 1, end) or 1
        statement, unit = statement_at(before, line), source.owner(line)
        rows = case.spectrum.lines.get(unit.location, {})
        if not isinstance(statement, (ast.Assign, ast.AnnAssign)) or not holds(statement, end):
            return None
        if unit.is_function or line not in rows:
            return None
        found |= rows[line] | _naming(case, stored_names(statement), sources)
    is_same = stored_names(before) == stored_names(after)
    return case.spectrum.node_ids(found & case.spectrum.passing) if is_same and found else None


def unconcerned(case: Case, candidate: Candidate, sources: Sources) -> tuple[str, ...]:
    """The passing tests that execute the function that is changed, but never come to the change."""
    changed, spectrum = candidate.changed, case.spectrum
    is_one = len(changed) == 1 and not candidate.companions
    found = sources.unit(changed[0]) if is_one else None
    after = function_of(tree_of(candidate.parts()[1]))
    if found is None or after is None or not isinstance(found[1].node, FunctionNode):
        return ()
    lines = lines_at_change(found[1].node, after) or ()
    inside = [rows for where, rows in spectrum.lines.items() if _is_inside(where, changed[0])]
    executed = reduce(or_, (tests for rows in inside for tests in rows.values()), 0)
    reached = reduce(or_, (rows.get(line, 0) for rows in inside for line in lines), 0)
    # Lines that failing tests don't come to either are executed unseen, as a docstring is.
    is_known = bool(reached & spectrum.failing)
    return spectrum.node_ids(executed & spectrum.passing & ~reached if is_known else 0)


def n_turned(case: Case, candidate: Candidate, sources: Sources) -> int:
    """The number of passing tests that come to the ``if`` or ``while`` which is turned round."""
    target = candidate.target
    found = None if target is None or candidate.name != NEGATED else sources.unit(target)
    nodes = [] if found is None else nodes_of(found[1].node, ast.stmt)
    heads = [node.test for node in nodes if isinstance(node, (ast.If, ast.While))]
    if target is None or not any(spans(head, candidate.line) for head in heads):
        return 0
    rows = case.spectrum.lines.get(target, {})
    return (rows.get(candidate.line, 0) & case.spectrum.passing).bit_count()


def _is_inside(where: Location, target: Location) -> bool:
    """Whether a place is ``target`` or nested in it; all of a file is in its module."""
    name = target.qualname
    is_nested = where.qualname == name or where.qualname.startswith(f"{name}.")
    return where.file == target.file and (name == MODULE or is_nested)


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
        # What lies among tests may be wrong on purpose.
        is_of_tests = any(_OF_TESTS.match(part) for part in Path(file).parts[:-1])
        if text is not None and not is_json(text):
            yield Task(
                code=text,
                filename=file,
                error=f"{failure.exc_type}: {failure.message}",
                test_file=file if is_of_tests else "",
            )


def likely_places(case: Case) -> Iterator[tuple[str, int]]:
    """Files and lines where a fix of the group is likely; places of tests, too."""
    return chain.from_iterable(_likely_of(f, case) for f in _unlike(case.failures))


def _likely_of(failure: Failure, case: Case) -> list[tuple[str, int]]:
    """The places of the error, then the most suspicious line of each of the likeliest suspects."""
    found = [] if failure.syntax_error is None else [failure.syntax_error]
    for frames in (failure.frames, *failure.cause_frames):
        found += [(frame.file, frame.line) for frame in reversed(frames) if frame.in_app]
    for where in case.targets()[:N_SUSPECTS]:
        heat = case.near.suspiciousness(where)
        line = max(heat, key=lambda line: (heat[line], -line), default=where.start_line)
        found.append((where.file, line))
    return [*dict.fromkeys(found)][:MAX_PLACES]


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
