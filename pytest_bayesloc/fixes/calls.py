"""What tools ask of calls: what is called, where it is defined, which texts could be passed."""

from __future__ import annotations

import ast
import inspect
import sys
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.source import FunctionNode
from pytest_bayesloc.fixes.syntax import nodes_at, parameters, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_bayesloc.domain.edits import Edit, Text


def calls_at(tree: ast.Module, line: int, name: str) -> list[ast.Call]:
    """The calls in the statement at ``line`` of what is called ``name``, or of its class."""
    calls = [node for node in nodes_at(tree, line) if isinstance(node, ast.Call)]
    own, _, method = name.rpartition(".")
    wanted = {method, own.rpartition(".")[2]} if method == "__init__" else {method}
    named = [call for call in calls if called(call) in wanted]
    return named or (calls if len(calls) == 1 else [])


def called(call: ast.Call) -> str:
    """The last part of the name of what is called; empty where it has none."""
    return ast.unparse(call.func).rpartition(".")[2]


def heads(tree: ast.Module, name: str) -> list[FunctionNode]:
    """The functions that a call of ``name`` may run, ``C`` and ``C.__init__`` meaning the same."""
    method = name.rpartition(".")[2]
    found = [n for n in ast.walk(tree) if isinstance(n, FunctionNode) and n.name == method]
    if method == "__init__":
        owner = name.rpartition(".")[0].rpartition(".")[2]
        classes = [n for n in ast.walk(tree) if isinstance(n, ast.ClassDef) and n.name == owner]
        own = [f for c in classes for f in c.body if isinstance(f, FunctionNode)]
        found = [f for f in own if f.name == method] or found
    return found


def accepted(tree: ast.Module, call: ast.Call, name: str) -> list[str]:
    """The keywords that what is called takes: of this file, or of a module that is loaded."""
    found = [p for head in heads(tree, name) for p in parameters(head)]
    return found or _of_installed(tree, call)


def in_scope(tree: ast.Module, call: ast.Call) -> list[str]:
    """Names and attributes of ``self`` that could be passed, the innermost scope's first."""
    names = visible(tree, call.lineno)
    own = (n for n in ast.walk(tree) if isinstance(n, ast.Attribute))
    attributes = [f"self.{n.attr}" for n in own if ast.unparse(n.value) == "self"]
    return [*names, *dict.fromkeys(attributes if "self" in names else ())]


def without(text: Text, parts: Sequence[ast.expr | ast.keyword], index: int, words: str) -> Edit:
    """The call without one of its arguments, and without the comma that goes with it."""
    from pytest_bayesloc.domain.edits import Edit

    starts = [_start(text, part) for part in parts]
    ends = [_end(text, part) for part in parts]
    if index:
        start, end = ends[index - 1], ends[index]
    elif len(parts) > 1:
        start, end = starts[0], starts[1]
    else:
        start, end = starts[0], ends[0]
    return Edit(start=start, end=end, text="", line=parts[index].lineno, words=words)


def arguments(call: ast.Call) -> list[ast.expr | ast.keyword]:
    """All arguments in the order in which they are written."""
    every: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
    return sorted(every, key=lambda part: (part.lineno, part.col_offset))


def adding(text: Text, call: ast.Call, written: str, words: str) -> Edit:
    """The call with one argument more, at its end."""
    from pytest_bayesloc.domain.edits import Edit

    at = text.end(call) - 1
    given = arguments(call)
    lead = ", " if given else ""
    if given:
        last = _end(text, given[-1])
        tail = text.between(last, at)
        if tail.strip().startswith(",") or "\n" in tail:
            return Edit(start=last, end=last, text=f", {written}", line=call.lineno, words=words)
    return Edit(start=at, end=at, text=f"{lead}{written}", line=call.lineno, words=words)


def _start(text: Text, part: ast.expr | ast.keyword) -> int:
    return text.start(part)  # type: ignore[arg-type]  # a keyword has a place as well


def _end(text: Text, part: ast.expr | ast.keyword) -> int:
    return text.end(part)  # type: ignore[arg-type]  # likewise


def _of_installed(tree: ast.Module, call: ast.Call) -> list[str]:
    """The parameters of a function of a module that something has imported already."""
    root, _, rest = ast.unparse(call.func).partition(".")
    for node in ast.walk(tree):
        if not isinstance(node, (ast.Import, ast.ImportFrom)):
            continue
        for alias in node.names:
            if (alias.asname or alias.name.partition(".")[0]) != root:
                continue
            if isinstance(node, ast.ImportFrom):
                path = [*(node.module or "").split("."), alias.name, *rest.split(".")]
            else:
                path = [*(alias.name if alias.asname else root).split("."), *rest.split(".")]
            return _signature([part for part in path if part])
    return []


def _signature(path: Sequence[str]) -> list[str]:
    for n in range(len(path) - 1, 0, -1):
        value: object = sys.modules.get(".".join(path[:n]))
        if value is None:
            continue
        try:
            for part in path[n:]:
                value = inspect.getattr_static(value, part)
            return list(inspect.signature(value).parameters)  # type: ignore[arg-type]  # or raises
        except Exception:  # noqa: BLE001 - it is anybody's object
            return []
    return []
