"""Answers questions about a syntax tree: scopes, names, statements."""

from __future__ import annotations

import ast
import builtins
import difflib
import json
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from pytest_bayesloc.domain.source import FunctionNode, ScopeNode, parse

N_SIMILAR = 3
SIMILAR = 0.6  # of difflib: one letter in three, two in six
BUILT_IN = frozenset(dir(builtins))


@lru_cache(maxsize=16)  # each candidate asks for the same file
def tree_of(code: str) -> ast.Module | None:
    """The syntax tree of a file, or None if it does not parse; nobody changes it."""
    try:
        return parse(code)
    except (SyntaxError, ValueError, RecursionError):
        return None


def function_at(tree: ast.Module, line: int) -> FunctionNode | None:
    """The innermost function whose lines hold ``line``."""
    around = [n for n in ast.walk(tree) if isinstance(n, FunctionNode) and holds(n, line)]
    return max(around, key=lambda node: node.lineno, default=None)


def class_at(tree: ast.Module, line: int) -> ast.ClassDef | None:
    """The innermost class whose lines hold ``line``."""
    around = [n for n in ast.walk(tree) if isinstance(n, ast.ClassDef) and holds(n, line)]
    return max(around, key=lambda node: node.lineno, default=None)


def statement_at(tree: ast.Module, line: int) -> ast.stmt | None:
    """The innermost statement whose lines hold ``line``; of a block, its head alone."""
    around = [n for n in ast.walk(tree) if isinstance(n, ast.stmt) and holds(n, line)]
    return max(around, key=lambda node: (node.lineno, -(node.end_lineno or 0)), default=None)


def nodes_at(tree: ast.Module, line: int) -> Iterator[ast.AST]:
    """Yields the nodes of the statement at ``line``, but for the bodies of blocks."""
    statement = statement_at(tree, line)
    pending: list[ast.AST] = [] if statement is None else [statement]
    while pending:
        node = pending.pop()
        yield node
        children = list(ast.iter_child_nodes(node))
        if node is statement:
            children = [c for c in children if not isinstance(c, (ast.stmt, ast.ExceptHandler))]
        pending.extend(reversed(children))


def visible(tree: ast.Module, line: int) -> list[str]:
    """The names that code at ``line`` may use, the innermost scope's first, built-ins not."""
    around = [n for n in ast.walk(tree) if isinstance(n, FunctionNode) and holds(n, line)]
    scopes: list[ast.AST] = [*sorted(around, key=lambda n: n.lineno, reverse=True), tree]
    return list(dict.fromkeys(name for scope in scopes for name in bound_in(scope)))


def bound_in(scope: ast.AST) -> Iterator[str]:
    """The names that ``scope`` binds: parameters, then what its body assigns, imports, defines."""
    if isinstance(scope, FunctionNode):
        yield from parameters(scope)
    pending: list[ast.AST] = list(reversed(getattr(scope, "body", [])))
    while pending:
        node = pending.pop()
        if isinstance(node, ScopeNode):
            yield node.name
            continue
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from map(bound_name, node.names)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.ExceptHandler) and node.name:
            yield node.name
        pending.extend(reversed(list(ast.iter_child_nodes(node))))


def parameters(function: FunctionNode) -> list[str]:
    """Names of all parameters, in the order in which they are written."""
    given = function.args
    starred = [given.vararg] if given.vararg else []
    double = [given.kwarg] if given.kwarg else []
    every = (*given.posonlyargs, *given.args, *starred, *given.kwonlyargs, *double)
    return [arg.arg for arg in every]


def definitions(tree: ast.Module, name: str) -> list[FunctionNode]:
    """The functions and methods called ``name``."""
    return [n for n in ast.walk(tree) if isinstance(n, FunctionNode) and n.name == name]


def bound_name(alias: ast.alias) -> str:
    """The name that an import binds."""
    return alias.asname or alias.name.partition(".")[0]


def import_of(statement: ast.Import | ast.ImportFrom, names: Sequence[ast.alias]) -> str:
    """The text of an import with these names instead of its own."""
    said = ", ".join(a.name + (f" as {a.asname}" if a.asname else "") for a in names)
    if isinstance(statement, ast.Import):
        return f"import {said}"
    return f"from {'.' * statement.level}{statement.module or ''} import {said}"


def targets(statement: ast.stmt) -> list[ast.Name]:
    """The names that an assignment sets."""
    found = statement.targets if isinstance(statement, ast.Assign) else []
    if isinstance(statement, ast.AnnAssign):
        found = [statement.target]
    return [target for target in found if isinstance(target, ast.Name)]


def dotted(node: ast.AST) -> str:
    """``a.b.c`` of such a use; empty if it is one of something else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join((node.id, *reversed(parts))) if isinstance(node, ast.Name) else ""


def is_docstring(statement: ast.stmt) -> bool:
    """Whether a statement is a constant by itself, as a docstring is."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def is_literal(value: str | ast.expr) -> bool:
    """Whether an expression is made of literals alone."""
    try:
        ast.literal_eval(value)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return False
    return True


def is_json(text: str) -> bool:
    """Whether a text is JSON."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def similar(name: str, known: Iterable[str]) -> list[str]:
    """The names of ``known`` that ``name`` may be a misspelling of, the likest first."""
    others = [other for other in dict.fromkeys(known) if other != name]
    plain = {other: _plain(other) for other in others}
    own = _plain(name)
    same = [other for other in others if plain[other] == own]
    close = difflib.get_close_matches(name, others, n=N_SIMILAR, cutoff=SIMILAR)
    folded = difflib.get_close_matches(own, list(plain.values()), n=N_SIMILAR, cutoff=SIMILAR)
    more = [other for text in folded for other in others if plain[other] == text]
    return list(dict.fromkeys((*same, *close, *more)))[:N_SIMILAR]


def brief(text: str, width: int = 40) -> str:
    """The first line of ``text``, shortened to ``width`` characters for a message."""
    line = text.partition("\n")[0].strip()
    return line if len(line) <= width else f"{line[: width - 3]}..."


def indent_of(line: str) -> str:
    """The blanks that a line starts with."""
    return line[: len(line) - len(line.lstrip(" \t\f"))]


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def holds(node: ast.stmt, line: int) -> bool:
    """Whether ``line`` is one of those of ``node`` and its decorators."""
    decorators = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
    return bool(first <= line <= (node.end_lineno or node.lineno))
