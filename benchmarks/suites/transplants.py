"""Regressions: a function body of an older release in the newer one, or a few of them."""

from __future__ import annotations

import ast
import builtins
import re
from collections import Counter
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

from benchmarks.suites.change import Change
from benchmarks.suites.edits import place_of
from benchmarks.suites.functions import DEFS, parsed, source_files
from pytest_bayesloc.domain.texts import common_ends

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from benchmarks.suites.functions import Function, SourceFile

KIND = "regression"
N_JOINED = (2, 3)


def transplants(newer: Path, older: Path, *, root: Path, release: str) -> Iterator[Change]:
    """Every transplant from the package folder ``older`` into ``newer``.

    Args:
        newer: Folder of the package that is changed.
        older: The same folder of the older release.
        root: What file names are relative to.
        release: The older release, as text.
    """
    files = list(source_files(newer, root))
    known = set(dir(builtins)).union(*(identifiers(file.syntax) for file in files))
    old_files = {file.name: file for file in source_files(older, older)}
    prefix = newer.relative_to(root).as_posix()
    for file in files:
        old_file = old_files.get(file.name.removeprefix(f"{prefix}/"))
        if old_file is not None:
            yield from _between(file, old_file, known, release)


def joint(changes: Sequence[Change], dice: random.Random) -> Iterator[Change]:
    """Two or three transplants of one release in one change, as a larger commit would be.

    They lie near each other: in the same file, or one speaks of the other's name.

    Args:
        changes: Transplants of single functions.
        dice: Decides which come together; each change once starts a pair or a triple.
    """
    seen = set[str]()
    for first in dice.sample(changes, len(changes)):
        near = [each for each in changes if each is not first and _are_near(first, each)]
        others = dice.sample(near, min(len(near), dice.choice(N_JOINED) - 1))
        joined = _joined([first, *others]) if others else None
        if joined is not None and joined.digest not in seen:
            seen.add(joined.digest)
            yield joined


def _are_near(one: Change, other: Change) -> bool:
    if one.how != other.how or one.places == other.places:
        return False
    if one.places[0].file == other.places[0].file:
        return True
    return _speaks_of(one, other) or _speaks_of(other, one)


def _speaks_of(one: Change, other: Change) -> bool:
    """Whether the old or new function of ``one`` mentions the name of that of ``other``."""
    name = other.places[0].qualname.rpartition(".")[2]
    if name.startswith("__") or not _imports(one, other):
        return False
    file, lines = one.places[0].file, one.lines[one.places[0].file]
    published = one.originals[file].split("\n")[lines.start - 1 : lines.stop - 1]
    spoken = "\n".join((*published, *_replacement(one)[1]))
    return re.search(rf"\b{name}\b", spoken) is not None


def _imports(one: Change, other: Change) -> bool:
    """Whether the file of ``one`` imports the module of ``other``, or something from it."""
    module = _file(other).removesuffix(".py").removesuffix("/__init__").rpartition("/")[2]
    line = rf"^\s*(from|import)\b.*\b{re.escape(module)}\b"
    return re.search(line, one.originals[_file(one)], re.MULTILINE) is not None


def _joined(changes: Sequence[Change]) -> Change | None:
    """All of them in one; None if they overlap or don't parse together."""
    largest = sorted(changes, key=lambda each: (-_size(each), str(each.places[0])))
    texts, originals, lines = dict[str, str](), dict[str, str](), dict[str, range]()
    for file, alike in groupby(sorted(largest, key=_file), key=_file):
        here = list(alike)
        text = _combined(here[0].originals[file], [_replacement(each) for each in here])
        if text is None:
            return None
        texts[file], originals[file] = text, here[0].originals[file]
        touched = [each.lines[file] for each in here]
        lines[file] = range(min(r.start for r in touched), max(r.stop for r in touched))
    return Change(
        kind=KIND,
        how=changes[0].how.replace("body", "bodies", 1),
        places=tuple(each.places[0] for each in largest),
        texts=texts,
        originals=originals,
        lines=lines,
        parts=tuple(largest),
    )


def _file(change: Change) -> str:
    return change.places[0].file


def _size(change: Change) -> int:
    """How many lines it takes out and puts in."""
    old, new = _replacement(change)
    return len(old) + len(new)


def _replacement(change: Change) -> tuple[range, list[str]]:
    """Which published lines, counted from 0, it replaces by which others: all between its ends."""
    file = _file(change)
    old, new = change.originals[file].split("\n"), change.texts[file].split("\n")
    start, n_tail = common_ends(old, new)
    return range(start, len(old) - n_tail), new[start : len(new) - n_tail]


def _combined(text: str, replacements: list[tuple[range, list[str]]]) -> str | None:
    """``text`` after all of them; None if two overlap or the result does not parse."""
    lines = text.split("\n")
    ordered = sorted(replacements, key=lambda each: each[0].start)
    if any(one.stop > other.start for (one, _), (other, _) in pairwise(ordered)):
        return None
    for old, new in reversed(ordered):
        lines[old.start : old.stop] = new
    combined = "\n".join(lines)
    try:
        parsed(combined)
    except SyntaxError:
        return None
    return combined


def _between(
    file: SourceFile, old_file: SourceFile, known: set[str], release: str
) -> Iterator[Change]:
    old = unique(old_file.functions)
    for qualname, function in unique(file.functions).items():
        source = old.get(qualname)
        if source is None or not _fits(function, source) or not _changes(function, source):
            continue
        if not identifiers(*source.body) - _given(source) <= known:
            continue  # it speaks of what is gone: a NameError is no regression that ships
        text = _graft(function, source)
        if text is not None:
            first, last = function.body[0].lineno, function.body[-1].end_lineno or 0
            yield Change(
                kind=KIND,
                how=f"body of {release}",
                places=(place_of(function),),
                texts={file.name: text},
                originals={file.name: file.text},
                lines={file.name: range(first, last + 1)},
            )


def unique(functions: Iterable[Function]) -> dict[str, Function]:
    """By qualified name, those whose name stands once in the file."""
    listed = list(functions)
    count = Counter(function.qualname for function in listed)
    return {f.qualname: f for f in listed if count[f.qualname] == 1}


def identifiers(*nodes: ast.AST) -> set[str]:
    """Every name that code under ``nodes`` uses or makes: variables, attributes, keywords."""
    found = set[str]()
    for top in nodes:
        for node in ast.walk(top):
            for field in ("id", "attr", "arg", "name", "asname"):
                value = getattr(node, field, None)
                if isinstance(value, str):
                    found.update(value.split("."))
    return found


def _given(function: Function) -> set[str]:
    """What the body names by itself: its parameters and what it assigns."""
    names = {node.arg for node in ast.walk(function.node.args) if isinstance(node, ast.arg)}
    for top in function.body:
        for node in ast.walk(top):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names.add(node.id)
            elif isinstance(node, ast.ExceptHandler) and node.name:
                names.add(node.name)
    return names


def _fits(function: Function, source: Function) -> bool:
    """Same kind, same parameters, same indentation, bodies on lines of their own."""
    if type(function.node) is not type(source.node):
        return False
    if not (function.stands_alone and source.stands_alone):
        return False
    same_column = function.body[0].col_offset == source.body[0].col_offset
    return same_column and _parameters(function) == _parameters(source)


def _parameters(function: Function) -> tuple[object, ...]:
    args = function.node.args
    groups = (args.posonlyargs, args.args, args.kwonlyargs)
    names = tuple(tuple(arg.arg for arg in group) for group in groups)
    rest = tuple(arg.arg if arg else None for arg in (args.vararg, args.kwarg))
    return names, rest, len(args.defaults), tuple(bool(value) for value in args.kw_defaults)


def _changes(function: Function, source: Function) -> bool:
    """Whether the bodies differ, and in no function nested there: that one is the fault then."""
    if _nested(function) != _nested(source):
        return False
    return [_shape(node) for node in function.body] != [_shape(node) for node in source.body]


def _nested(function: Function) -> list[str]:
    found = (node for top in function.body for node in ast.walk(top))
    return [_shape(node) for node in found if isinstance(node, (*DEFS, ast.Lambda))]


def _shape(node: ast.AST) -> str:
    """The syntax without annotations of variables, which do nothing when they run."""

    class Plain(ast.NodeTransformer):
        def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
            if node.value is None:
                return ast.Pass()
            return ast.Assign(targets=[node.target], value=node.value)

    return ast.dump(Plain().visit(parsed(ast.unparse(node))))


def _graft(function: Function, source: Function) -> str | None:
    """The file of ``function`` with the body of ``source`` in it; None if it does not parse."""
    start, end = _body_span(function)
    text = function.file.replaced(start, end, source.file.between(*_body_span(source)))
    try:
        parsed(text)
    except SyntaxError:
        return None
    return text


def _body_span(function: Function) -> tuple[int, int]:
    first, last = function.body[0], function.body[-1]
    line = min([first.lineno, *(node.lineno for node in getattr(first, "decorator_list", []))])
    return function.file.offset(line, first.col_offset), function.file.span(last)[1]
