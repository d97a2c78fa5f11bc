"""Reads off code what it asks the machine for: packages, programs, variables, the clock."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pytest_bayesloc.domain.source import FunctionNode
from pytest_bayesloc.syntax.nodes import (
    attributes_in,
    called_name,
    names_in,
    nodes_inside,
    spans,
    statements_in,
    stored_names,
    walk,
)

_IMPORT_ERRORS = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})
_READS = frozenset({"os.environ.get", "os.getenv", "environ.get", "getenv"})
_ENVIRONS = frozenset({"os.environ", "environ"})
_INNER_IMPORT = re.compile(
    r"(?:^[ \t]+|try:[ \t]*)(?:import|from)[ \t]|\bimport_module\(", re.MULTILINE
)


class Optional(NamedTuple):
    """A package that code can do without.

    Attributes:
        line: Where it is asked for.
        names: Those that say whether it is there, and those of what it would have given.
    """

    package: str
    line: int
    names: frozenset[str]


def optional_packages(scope: ast.AST, text: str) -> Iterator[Optional]:
    """Yield the packages that ``scope`` imports in a ``try``, or looks for by ``find_spec``.

    ``text`` is that of its file.
    """
    is_looked_for = "find_spec" in text
    is_tried = "try:" in text and _INNER_IMPORT.search(text) is not None
    for node in statements_in(scope) if is_looked_for or is_tried else ():
        if isinstance(node, ast.Try) and any(
            handler.type is None or _IMPORT_ERRORS & names_in(handler.type)
            for handler in node.handlers
        ):
            handled = [n for handler in node.handlers for n in handler.body]
            made = {n.name for n in handled if isinstance(n, (FunctionNode, ast.ClassDef))}
            set_names = made | _assigned([*node.body, *node.orelse, *handled])
            for statement in node.body:
                for package, bound in _imports(statement):
                    yield Optional(package, statement.lineno, frozenset({*bound, *set_names}))
        elif is_looked_for and isinstance(node, (ast.Assign, ast.If, ast.Return)):
            value = node.test if isinstance(node, ast.If) else node.value
            names = frozenset(_assigned([node]) if isinstance(node, ast.Assign) else ())
            for call in walk(value) if value is not None else ():
                if package := _looked_for(call):
                    yield Optional(package.partition(".")[0], node.lineno, names)


def _imports(statement: ast.stmt) -> Iterator[tuple[str, list[str]]]:
    """Yield the top-level packages that ``statement`` imports, each with the names it binds."""
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            package = alias.name.partition(".")[0]
            yield package, [alias.asname or package]
    elif isinstance(statement, ast.ImportFrom) and statement.module and not statement.level:
        bound = [alias.asname or alias.name for alias in statement.names]
        yield statement.module.partition(".")[0], bound
    elif isinstance(statement, ast.Assign):
        for call in walk(statement.value):
            if package := _looked_for(call, "import_module"):
                yield package.partition(".")[0], [*_assigned([statement])]


def _looked_for(node: ast.AST, *also: str) -> str:
    """Return the text that ``find_spec`` or one of ``also`` is called with; empty if none."""
    if not isinstance(node, ast.Call) or not node.args:
        return ""
    return _text_of(node.args[0], {}) if called_name(node) in {"find_spec", *also} else ""


def _assigned(statements: Sequence[ast.AST]) -> set[str]:
    """Return the names that ``statements`` bind, and of what they put elements into."""
    found = {name for statement in statements for name in stored_names(statement)}
    for node in (n for statement in statements for n in walk(statement)):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            found |= names_in(node.value)
    return found


def programs(scope: ast.AST, texts: Mapping[str, str]) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield each program that ``scope`` looks for on PATH, with the names that hold the answer.

    ``texts`` are constants by name.
    """
    for node in walk(scope):
        value = getattr(node, "value", None) if isinstance(node, ast.Assign) else None
        held = frozenset(_assigned([node]) if isinstance(node, ast.Assign) else ())
        for call in walk(value) if value is not None else (node,):
            if not isinstance(call, ast.Call) or not call.args:
                continue
            if called_name(call) == "which" and (program := _text_of(call.args[0], texts)):
                yield program, held


def variables(scope: ast.AST, texts: Mapping[str, str]) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield each variable of the environment that ``scope`` reads.

    With it come the names that hold it, None where it is not set. ``texts`` are constants by name.
    """
    holders = [n for n in walk(scope) if isinstance(n, (ast.Assign, ast.NamedExpr))]
    held = {id(n.value): frozenset(_assigned([n])) for n in holders}
    for node in walk(scope):
        asked: ast.expr | None = None
        names = held.get(id(node), frozenset())
        if isinstance(node, ast.Call) and node.args and ast.unparse(node.func) in _READS:
            asked, names = node.args[0], names if len(node.args) == 1 else frozenset()
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            asked = node.slice if ast.unparse(node.value) in _ENVIRONS else None
        if asked is not None and (name := _text_of(asked, texts)):
            yield name, names


def constants(module: ast.AST) -> dict[str, str]:
    """Return the texts that names are bound to in the body of a module."""
    return {
        target.id: node.value.value
        for node in getattr(module, "body", ())
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _text_of(node: ast.expr, texts: Mapping[str, str]) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return texts.get(node.id, "") if isinstance(node, ast.Name) else ""


def names_deciding(function: ast.AST, line: int) -> set[str]:
    """Return the names in the statement at ``line``, and in the conditions around it."""
    found: list[ast.AST] = []
    for node in walk(function):
        if isinstance(node, (ast.If, ast.While)) and spans(node, line):
            found.append(node.test)
        elif isinstance(node, ast.stmt) and spans(node, line) and not getattr(node, "body", ()):
            found.append(node)  # it holds no other statements
    return {name for node in found for name in names_in(node)}


_MAY_MAKE_SETS = re.compile(r"\b(?:frozen)?set\b|\{")


def makes_sets(scope: ast.AST, text: str) -> bool:
    """Return whether ``scope``, written as ``text``, makes sets.

    Their order may differ from run to run.
    """
    return _MAY_MAKE_SETS.search(text) is not None and any(
        isinstance(node, (ast.Set, ast.SetComp))
        or (isinstance(node, ast.Name) and node.id in {"set", "frozenset"})
        for node in walk(scope)
    )


def keeps_hash(method: ast.AST, line: str) -> bool:
    """Return whether ``line`` keeps a hash in an attribute that ``method``, a ``__hash__``, reads.

    An attribute is set by its name, or by ``__setattr__``.
    """
    kept = (rf"""\b{name}\b(?:['"],| *=) *hash\(""" for name in attributes_in(method))
    return any(re.search(pattern, line) for pattern in kept)


_SEEN, _SHARED = (ast.Attribute, ast.Subscript), (ast.Global, ast.Nonlocal)


def stores(function: ast.AST) -> bool:
    """Return whether ``function`` sets what others may see: attributes, elements, globals."""
    nodes = list(nodes_inside(function))
    is_stored = any(isinstance(n, _SEEN) and isinstance(n.ctx, ast.Store) for n in nodes)
    return is_stored or any(isinstance(n, _SHARED) for n in nodes)


def rewrites(function: ast.AST) -> bool:
    """Return whether ``function`` reads and sets the same of what others may see.

    In between, others may set it.
    """
    nodes = list(nodes_inside(function))
    shared = {name for node in nodes if isinstance(node, _SHARED) for name in node.names}
    read, stored = set[str](), set[str]()
    for node in nodes:
        if isinstance(node, _SEEN) or (isinstance(node, ast.Name) and node.id in shared):
            (read if isinstance(node.ctx, ast.Load) else stored).add(ast.unparse(node))
        elif isinstance(node, ast.AugAssign):
            read.add(ast.unparse(node.target))
    return not read.isdisjoint(stored)


_NOW = frozenset({"now", "today", "utcnow"})
_NOW_IF_BARE = frozenset({"time", "time_ns", "localtime", "gmtime"})
#: A text without this reads no clock.
READS_CLOCK = re.compile(rf"\b(?:{'|'.join(sorted(_NOW | _NOW_IF_BARE))})\(")


def clock_at_import(body: Iterable[ast.stmt]) -> Iterator[tuple[int, set[str]]]:
    """Yield each line of a module's ``body`` that reads the clock as the module is imported.

    With it come the names that hold what was read: variables, or a function by its defaults.
    """
    for statement in body:
        inner = statement.args if isinstance(statement, FunctionNode) else statement
        calls = [n for n in (inner, *nodes_inside(inner)) if isinstance(n, ast.Call)]
        if isinstance(statement, ast.ClassDef):
            yield from ((line, {statement.name}) for line, _ in clock_at_import(statement.body))
        elif any(
            (name := called_name(call)) in _NOW or (name in _NOW_IF_BARE and not call.args)
            for call in calls
        ):
            own = {statement.name} if isinstance(statement, FunctionNode) else set()
            yield statement.lineno, own or _assigned([statement])
