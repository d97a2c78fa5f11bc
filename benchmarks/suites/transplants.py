"""Regressions: a function body of an older release in the newer one."""

from __future__ import annotations

import ast
import builtins
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.suites.functions import DEFS, parsed, source_files

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from benchmarks.suites.functions import Function, SourceFile


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A change that may become a planted fault.

    Attributes:
        function: What it changes.
        how: What it does, in words.
        text: The file with the change.
        lines: Lines of the original that it touches.
    """

    function: Function
    how: str
    text: str
    lines: range


def transplants(newer: Path, older: Path, *, root: Path, release: str) -> Iterator[Candidate]:
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


def _between(
    file: SourceFile, old_file: SourceFile, known: set[str], release: str
) -> Iterator[Candidate]:
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
            yield Candidate(
                function=function,
                how=f"body of {release}",
                text=text,
                lines=range(first, last + 1),
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
