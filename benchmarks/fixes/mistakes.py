"""Mistakes of the kinds that the shelf's tools are for, made at random places of a package.

They are made as a person would make them, not as the tools look for them: a wrong letter anywhere
in a name, a conversion forgotten, an import that is gone.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from benchmarks.suites.change import Change, Place

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator, Sequence

    from benchmarks.suites.functions import Function, SourceFile

    Edit = tuple[int, int, str]
    Find = Callable[[SourceFile, random.Random], Iterator[tuple[str, str, Edit]]]

MODULE = "<module>"
CONVERSIONS = frozenset({"str", "int", "float", "list", "tuple", "bytes", "sorted", "dict", "set"})
CODINGS = frozenset({"encode", "decode"})


def mistakes(files: Sequence[SourceFile], kind: str, dice: random.Random) -> Iterator[Change]:
    """Changes of one kind, in an order that ``dice`` decides.

    Args:
        files: Of the package.
        kind: One of ``KINDS``.
        dice: Decides everything.
    """
    found = [(file, *made) for file in files for made in KINDS[kind](file, dice)]
    dice.shuffle(found)
    for file, how, qualname, (start, end, text) in found:
        changed = file.replaced(start, end, text)
        if changed != file.text:
            lines = file.touched(start, max(end, start + 1))
            yield Change(
                kind=kind,
                how=how,
                places=(Place(file=file.name, qualname=qualname, start_line=lines.start),),
                texts={file.name: changed},
                originals={file.name: file.text},
                lines={file.name: lines},
            )


def _misspelt(name: str, dice: random.Random) -> str:
    """The name with two letters exchanged, one left out, or one twice."""
    at = dice.randrange(max(1, len(name) - 1))
    way = dice.randrange(3)
    if way == 0 and len(name) > 2:
        swapped = name[:at] + name[at + 1 : at + 2] + name[at] + name[at + 2 :]
        if swapped != name:
            return swapped
    if way == 1 and len(name) > 3:
        return name[:at] + name[at + 1 :]
    return name[:at] + name[at] + name[at:]


def _imports(file: SourceFile, dice: random.Random) -> Iterator[tuple[str, str, Edit]]:
    yield from _of_imports(file, dice)
    for function in file.functions:
        for inner in function.own_nodes():
            if isinstance(inner, ast.ImportFrom) and inner.level:  # of itself: may be a circle
                start, end = file.span(inner)
                text = " ".join(file.between(start, end).split())
                yield "import hoisted", MODULE, _hoisted(file, start, end, text)


def _of_imports(file: SourceFile, dice: random.Random) -> Iterator[tuple[str, str, Edit]]:
    names = {n.id for n in ast.walk(file.syntax) if isinstance(n, ast.Name)}
    for node in file.syntax.body:
        if not isinstance(node, (ast.Import, ast.ImportFrom)):
            continue
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            continue
        start, end = file.span(node)
        bound = {a.asname or a.name.partition(".")[0] for a in node.names}
        if len(node.names) == 1 and bound & names:
            yield "import left out", MODULE, (start, end + 1, "")
        text = file.between(start, end)
        for alias in node.names:
            wrong = re.sub(
                rf"\b{re.escape(alias.name)}\b", _misspelt(alias.name, dice), text, count=1
            )
            if "." not in alias.name and alias.name != "*":
                yield "imported name misspelt", MODULE, (start, end, wrong)


def _hoisted(file: SourceFile, start: int, end: int, text: str) -> Edit:
    """One edit that spans from the first import of the file to the one in a function."""
    first = next((n for n in file.syntax.body if isinstance(n, (ast.Import, ast.ImportFrom))), None)
    if first is None or (isinstance(first, ast.ImportFrom) and first.module == "__future__"):
        later = [n for n in file.syntax.body[1:] if not isinstance(n, ast.Expr)]
        first = later[0] if later else None  # type: ignore[assignment]  # any statement will do
    if first is None:
        return (0, 0, "")
    at = file.span(first)[0]
    return (at, end, f"{text}\n{file.between(at, start)}pass")


def _names(file: SourceFile, dice: random.Random) -> Iterator[tuple[str, str, Edit]]:
    for function in file.functions:
        for node in function.own_nodes():
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and len(node.id) > 2:
                start, end = file.span(node)
                yield "name misspelt", function.qualname, (start, end, _misspelt(node.id, dice))
            elif isinstance(node, ast.Attribute) and len(node.attr) > 2:
                _, end = file.span(node)
                start = end - len(node.attr.encode())
                if isinstance(node.ctx, ast.Load) and file.between(start, end) == node.attr:
                    wrong = _misspelt(node.attr, dice)
                    yield "attribute misspelt", function.qualname, (start, end, wrong)


def _arguments(file: SourceFile, dice: random.Random) -> Iterator[tuple[str, str, Edit]]:
    defined = {function.node.name for function in file.functions}
    for function in file.functions:
        for node in function.own_nodes():
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func).rpartition(".")[2]
                yield from _of_call(file, function, node, dice, is_own=called in defined)
        yield from _of_head(file, function)


def _of_call(
    file: SourceFile, function: Function, node: ast.Call, dice: random.Random, *, is_own: bool
) -> Iterator[tuple[str, str, Edit]]:
    for keyword in node.keywords:
        if keyword.arg is not None and len(keyword.arg) > 2:
            start = file.offset(keyword.lineno, keyword.col_offset)
            end = start + len(keyword.arg.encode())
            yield "keyword misspelt", function.qualname, (start, end, _misspelt(keyword.arg, dice))
    if is_own and node.args and not isinstance(node.args[-1], (ast.Starred, ast.GeneratorExp)):
        last = node.args[-1]
        start, end = file.span(last)
        before = file.span(node.args[-2])[1] if len(node.args) > 1 else start
        if isinstance(last, (ast.Name, ast.Attribute)):
            yield "argument left out", function.qualname, (before, end, "")
            yield "argument twice", function.qualname, (end, end, f", {file.segment(last)}")


def _of_head(file: SourceFile, function: Function) -> Iterator[tuple[str, str, Edit]]:
    given = function.node.args.args
    if given and given[0].arg == "self" and "<locals>" not in function.qualname:
        start, end = file.span(given[0])
        rest = re.match(rb"\s*,\s*", file.data[end:])
        yield "self left out", function.qualname, (start, end + (rest.end() if rest else 0), "")


def _types(file: SourceFile, dice: random.Random) -> Iterator[tuple[str, str, Edit]]:
    del dice
    for function in file.functions:
        for node in function.own_nodes():
            if not isinstance(node, ast.Call):
                continue
            start, end = file.span(node)
            name = node.func.id if isinstance(node.func, ast.Name) else ""
            if name in CONVERSIONS and len(node.args) == 1 and not node.keywords:
                inner = file.segment(node.args[0])
                yield "conversion left out", function.qualname, (start, end, f"({inner})")
            elif isinstance(node.func, ast.Attribute) and node.func.attr in CODINGS:
                inner = file.segment(node.func.value)
                yield "coding left out", function.qualname, (start, end, f"({inner})")


def _indentation(file: SourceFile, dice: random.Random) -> Iterator[tuple[str, str, Edit]]:
    for function in file.functions:
        for statement in function.body:
            start = file.offset(statement.lineno, 0)
            first = file.offset(statement.lineno, statement.col_offset)
            if file.between(start, first).strip() or statement.col_offset < 4:
                continue
            way = dice.choice(("one more", "one less", "tab", "none"))
            blanks = {
                "one more": " " * (statement.col_offset + 1),
                "one less": " " * (statement.col_offset - 1),
                "tab": "\t" * (statement.col_offset // 4),
                "none": "",
            }[way]
            yield f"indentation: {way}", MODULE, (start, first, blanks)


KINDS: dict[str, Find] = {
    "imports": _imports,
    "names": _names,
    "arguments": _arguments,
    "types": _types,
    "indentation": _indentation,
}
