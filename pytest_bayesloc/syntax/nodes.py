"""Walks over syntax trees: statements, functions, and the names that they bind and use."""

from __future__ import annotations

import ast
import builtins
import difflib
import sys
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from copy import copy
from functools import lru_cache
from typing import Any, TypeVar

from pytest_bayesloc.domain.source import (
    FILLED,
    FORMATTED,
    FunctionNode,
    ScopeNode,
    first_line,
    parse,
)
from pytest_bayesloc.domain.texts import common_ends

NodeT = TypeVar("NodeT", bound=ast.AST)
BLOCKS = (ast.ExceptHandler, ast.match_case)  # which hold statements, and are none
_BLOCKS = ("body", "orelse", "finalbody")  # fields of statements, with statements
_SAYS_NOTHING = frozenset({"ctx", "kind", "returns", "type_comment", "type_ignores"})
LOOPS = (ast.For, ast.AsyncFor, ast.While)
BUILT_IN = frozenset(dir(builtins))
RECEIVERS = frozenset({"self", "cls"})
N_SIMILAR = 3
SIMILAR = 0.6  # of difflib: one letter in three, two in six


def syntax_error(code: str) -> SyntaxError | None:
    """The error that a file does not parse with; None if it parses, or fails otherwise."""
    try:
        parse(code)
    except SyntaxError as error:
        return error
    except (ValueError, RecursionError):
        pass
    return None


#: Fields of nodes that hold no nodes, and how a name is used, which the node itself says.
_PLAIN_FIELDS = frozenset(
    {"asname", "attr", "conversion", "ctx", "id", "is_async", "kind", "level", "module", "simple"}
)


_fields: dict[type, list[str]] = {}  # per type of node, its other fields


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes right inside ``node``, in the order of the text, but for its ``ctx``."""
    found: list[ast.AST] = []
    _add_inner([node], found)
    return found


def walk(tree: ast.AST) -> list[ast.AST]:
    """All nodes of ``tree``, outer ones first; ``ast.walk`` takes three times as long."""
    found = [tree]
    _add_inner(found, found)
    return found


def _add_inner(nodes: list[ast.AST], found: list[ast.AST]) -> None:
    """Append the nodes right inside each of ``nodes``, which may be ``found`` itself."""
    for node in nodes:
        kind = type(node)
        if kind not in _fields:
            _fields[kind] = [name for name in node._fields if name not in _PLAIN_FIELDS]
        for name in _fields[kind]:
            value = getattr(node, name, None)
            if type(value) is list:
                for part in value:  # a comprehension takes longer
                    if isinstance(part, ast.AST):
                        found.append(part)  # noqa: PERF401 - as said
            elif isinstance(value, ast.AST):
                found.append(value)


@lru_cache(maxsize=64)
def every_node(tree: ast.AST) -> tuple[ast.AST, ...]:
    """All nodes of a file, outer ones first; walking over it takes six times as long."""
    return tuple(walk(tree))


def nodes_of(tree: ast.AST, kind: type[NodeT] | tuple[type[NodeT], ...]) -> list[NodeT]:
    """The nodes of one kind, or of several, in ``tree``, outer ones first."""
    if isinstance(tree, ast.Module):
        return list(_of_file(tree, kind))  # type: ignore[arg-type]  # classes can be hashed
    return [node for node in walk(tree) if isinstance(node, kind)]


@lru_cache(maxsize=256)  # what makes edits asks a file for the same kinds hundreds of times
def _of_file(tree: ast.Module, kind: Hashable) -> tuple[Any, ...]:
    return tuple(node for node in every_node(tree) if isinstance(node, kind))  # type: ignore[arg-type]


def statements_in(tree: ast.AST) -> Iterator[ast.stmt]:
    """Yield the statements in ``tree``, in no order; it takes half of a walk over all nodes."""
    pending = [tree]
    while pending:
        for node in children(pending.pop()):
            if isinstance(node, ast.stmt):
                yield node
                pending.append(node)
            elif isinstance(node, BLOCKS):
                pending.append(node)


def nodes_inside(scope: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of ``scope``, in no order, without those of functions and classes in it."""
    pending = children(scope)
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, (ScopeNode, ast.Lambda)):
            pending += children(node)


def own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """The nodes in the body of ``function``, but in no function or class nested there.

    Assertions are left out, since a check that is silenced fixes nothing; and what stands in an
    f-string before Python 3.12, where its positions are wrong.
    """
    pending: list[ast.AST] = list(reversed(getattr(function, "body", [])))
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Assert):
            continue
        yield node
        if isinstance(node, FORMATTED):
            filled = [part.value for part in node.values if isinstance(part, FILLED)]
            pending.extend(reversed(filled) if sys.version_info >= (3, 12) else ())
        elif isinstance(node, ast.Lambda):  # its body alone: parameters are no values
            pending.append(node.body)
        elif not isinstance(node, ScopeNode):
            pending.extend(reversed(children(node)))


def functions_in(tree: ast.AST) -> list[FunctionNode]:
    """The functions in ``tree``, outer ones first."""
    return nodes_of(tree, (ast.FunctionDef, ast.AsyncFunctionDef))


def function_at(tree: ast.Module, line: int) -> FunctionNode | None:
    """The innermost function whose lines hold ``line``."""
    return next(iter(_functions_at(tree, line)), None)


def _functions_at(tree: ast.AST, line: int) -> list[FunctionNode]:
    """The functions whose lines hold ``line``, the innermost first."""
    around = [function for function in functions_in(tree) if holds(function, line)]
    return sorted(around, key=lambda node: node.lineno, reverse=True)


def statement_at(tree: ast.Module, line: int) -> ast.stmt | None:
    """The innermost statement whose lines hold ``line``; of a block, its head alone."""
    around = [n for n in every_node(tree) if isinstance(n, ast.stmt) and holds(n, line)]
    return max(around, key=lambda node: (node.lineno, -(node.end_lineno or 0)), default=None)


def nodes_at(tree: ast.Module, line: int) -> Iterator[ast.AST]:
    """Yields the nodes of the statement at ``line``, but for the bodies of blocks."""
    statement = statement_at(tree, line)
    pending: list[ast.AST] = [] if statement is None else [statement]
    while pending:
        node = pending.pop()
        yield node
        inside = children(node)
        if node is statement:
            inside = [c for c in inside if not isinstance(c, (ast.stmt, ast.ExceptHandler))]
        pending.extend(reversed(inside))


def first_statement(function: FunctionNode) -> ast.stmt:
    """The first statement of a body behind its docstring; that where nothing follows it."""
    first, *rest = function.body
    return rest[0] if is_docstring(first) and rest else first


def is_docstring(statement: ast.stmt) -> bool:
    """Whether a statement is a constant by itself, as a docstring is."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def holds(node: ast.stmt, line: int) -> bool:
    """Whether ``line`` is one of those of ``node`` and its decorators."""
    return first_line(node) <= line <= (node.end_lineno or node.lineno)


def spans(node: ast.stmt | ast.expr, line: int) -> bool:
    """Whether ``line`` is one of the lines of ``node``."""
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def lines_of_texts(tree: ast.AST) -> set[int]:
    """The lines of texts that go over several of them, docstrings too."""
    return {
        line
        for node in nodes_of(tree, (ast.Constant, *FORMATTED))
        if node.end_lineno != node.lineno
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }


def names_in(*trees: ast.AST) -> set[str]:
    """The names that ``trees`` read or bind as variables."""
    return {node.id for tree in trees for node in nodes_of(tree, ast.Name)}


def stored_names(tree: ast.AST) -> set[str]:
    """The names that ``tree`` binds as variables by assignments, loops and the like."""
    return {node.id for node in nodes_of(tree, ast.Name) if not isinstance(node.ctx, ast.Load)}


def attributes_in(*trees: ast.AST) -> set[str]:
    """The names of attributes that ``trees`` read or set."""
    return {node.attr for tree in trees for node in nodes_of(tree, ast.Attribute)}


def decorator_names(node: ast.AST) -> list[str]:
    """The last parts of the names of what decorates ``node``, whether it is called or not."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return [last_name(d.func if isinstance(d, ast.Call) else d) for d in decorators]


def base_texts(node: ast.AST) -> list[str]:
    """The bases of a class as they are written; no items of another node."""
    return [ast.unparse(base) for base in node.bases] if isinstance(node, ast.ClassDef) else []


def argument_names(tree: ast.AST) -> set[str]:
    """The names of the parameters of all functions in ``tree``."""
    return {node.arg for node in nodes_of(tree, ast.arg)}


def every_bound(tree: ast.AST) -> set[str]:
    """The names that ``tree`` binds in whatever scope; ``*`` for what an import makes of it."""
    found = stored_names(tree) | argument_names(tree)
    found |= {node.name for node in functions_in(tree)}
    found |= {node.name for node in nodes_of(tree, ast.ClassDef)}
    return found | {bound_name(alias) for alias in nodes_of(tree, ast.alias)}


def visible(tree: ast.AST, line: int) -> list[str]:
    """The names that code at ``line`` may use, the innermost scope's first, built-ins not."""
    scopes = (*_functions_at(tree, line), tree)
    return list(dict.fromkeys(name for scope in scopes for name in bound_in(scope)))


def bound_in(scope: ast.AST) -> Iterator[str]:
    """The names that ``scope`` binds: parameters, then what its body assigns, imports, defines."""
    if isinstance(scope, FunctionNode):
        yield from parameters(scope.args)
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
        pending.extend(reversed(children(node)))


def lines_at_change(before: FunctionNode, after: FunctionNode) -> range | None:
    """Return lines of a function of which each run executes one that comes to a change of its body.

    None if the change may matter to every run: of names that are local, or of what makes the
    function a generator.
    """
    kinds = (ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal)
    made, known = (
        (
            set(bound_in(function)),
            {type(node) for node in nodes_inside(function)}.intersection(kinds),
        )
        for function in (after, before)
    )
    return None if made != known else _lines_at_change(before.body, after.body)


def _lines_at_change(before: Sequence[ast.stmt], after: Sequence[ast.stmt]) -> range:
    at, n_after = common_ends([*map(ast.dump, before)], [*map(ast.dump, after)])
    gone, come = before[at : len(before) - n_after], after[at : len(after) - n_after]
    if len(gone) == len(come) == 1 and head_of(gone[0]) == head_of(come[0]):
        blocks = [[getattr(node, name, []) for node in (gone[0], come[0])] for name in _BLOCKS]
        differ = [pair for pair in blocks if len({str([*map(ast.dump, own)]) for own in pair}) > 1]
        if len(differ) == 1 and all(differ[0]):
            return _lines_at_change(*differ[0])
    # What is added runs after the statement before it, or first of all in a block.
    reached = gone[0] if gone else before[max(0, at - 1)]
    return range(first_line(reached), (reached.end_lineno or reached.lineno) + 1)


def header(node: ast.AST) -> list[object]:
    """Return the ``shape`` of what runs when a function is defined.

    That is its decorators, parameters and defaults; no items of other nodes.
    """
    return shape([*node.decorator_list, node.args]) if isinstance(node, FunctionNode) else []


def shape(top: object) -> list[object]:
    """Return syntax as a flat list, without places, annotations, docstrings and nested bodies.

    Of scopes that are nested in a location, only the header counts.
    """

    def parts(node: ast.AST) -> list[object]:
        fields = {name: part for name, part in ast.iter_fields(node) if name not in _SAYS_NOTHING}
        if isinstance(node, ast.arg):
            del fields["annotation"]
        if isinstance(node, (ScopeNode, ast.Module)):
            has_docstring = bool(node.body) and is_docstring(node.body[0])
            fields["body"] = node.body[has_docstring:] if node is top else []
        return list(fields.values())

    return list(flat(top, parts))


def flat(top: object, parts: Callable[[ast.AST], list[object]]) -> Iterator[object]:
    """Yield syntax as types and values, of each node its ``parts``.

    Not by recursion: a sum of a thousand terms is a thousand levels deep.
    """
    pending: list[object] = [top]
    while pending:
        part = pending.pop()
        yield type(part)
        if isinstance(part, ast.AST):
            pending.extend(reversed(parts(part)))
        elif isinstance(part, list):
            yield len(part)
            pending.extend(reversed(part))
        else:
            yield part


def head_of(statement: ast.stmt) -> str:
    """Return a statement without the blocks of statements in it, as text to compare."""
    bare = copy(statement)
    for name in _BLOCKS:
        if hasattr(bare, name):
            setattr(bare, name, [])
    return ast.dump(bare)


def evaluated(node: ast.expr) -> Iterator[ast.expr]:
    """Yield the parts of an expression that are evaluated whatever the others are, itself first.

    What is gone over, or is given a value, is no part of it.
    """
    if not isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del)):
        yield node
    match node:
        case ast.Lambda():
            parts: Iterable[ast.AST] = ()
        case ast.IfExp(test=first) | ast.BoolOp(values=[first, *_]):
            parts = [first]
        case ast.Compare(left=left, comparators=[first, *_]):
            parts = [left, first]
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            parts = children(node.generators[0].iter)
        case _:
            parts = children(node)
    for part in parts:
        inner = part.value if isinstance(part, ast.keyword) else part
        if isinstance(inner, ast.expr):
            yield from evaluated(inner)


def parameters(given: ast.arguments) -> list[str]:
    """Names of all parameters, in the order in which they are written."""
    return [arg.arg for arg in every_parameter(given)]


def every_parameter(given: ast.arguments) -> list[ast.arg]:
    """All parameters, in the order in which they are written."""
    every = (*given.posonlyargs, *given.args, given.vararg, *given.kwonlyargs, given.kwarg)
    return [arg for arg in every if arg is not None]


def defaults(given: ast.arguments) -> list[tuple[ast.arg, ast.expr]]:
    """The parameters that have a default, each with it."""
    plain = [*given.posonlyargs, *given.args]
    own = zip(plain[len(plain) - len(given.defaults) :], given.defaults, strict=True)
    named = zip(given.kwonlyargs, given.kw_defaults, strict=True)
    return [*own, *((arg, value) for arg, value in named if value is not None)]


def bound_name(alias: ast.alias) -> str:
    """The name that an import binds."""
    return alias.asname or alias.name.partition(".")[0]


def targets(statement: ast.stmt) -> list[ast.Name]:
    """The names that an assignment sets."""
    found = statement.targets if isinstance(statement, ast.Assign) else []
    if isinstance(statement, ast.AnnAssign):
        found = [statement.target]
    return [target for target in found if isinstance(target, ast.Name)]


def last_name(node: ast.AST) -> str:
    """``c`` of a use of ``c`` or ``a.b.c``; empty for another expression."""
    return node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")


def dotted(node: ast.AST, unknown: str = "") -> str:
    """``a.b.c`` of such a use; of something else that has no name, ``unknown.b.c`` or nothing."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    first = node.id if isinstance(node, ast.Name) else unknown
    return ".".join((first, *reversed(parts))) if first else ""


def called_name(call: ast.Call) -> str:
    """Return the name by which ``call`` calls, without what stands before it; empty if none."""
    return last_name(call.func)


def imported_from(statement: ast.ImportFrom, package: str) -> str:
    """The dotted name of the module that a statement imports from.

    Args:
        statement: One that may be relative.
        package: That it starts from then.
    """
    parts = package.split(".") if package else []
    kept = parts[: len(parts) + 1 - statement.level] if statement.level else []
    return ".".join((*kept, *([statement.module] if statement.module else [])))


def names_from(tree: ast.AST, package: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield each module that ``tree`` imports names from, with what they are called then.

    Relative imports start from ``package``.
    """
    for node in statements_in(tree):
        if isinstance(node, ast.ImportFrom):
            yield imported_from(node, package), {a.name: a.asname or a.name for a in node.names}


def imported_packages(*trees: ast.AST) -> set[str]:
    """The top-level packages that ``trees`` import, by imports that are not relative."""
    names = [a.name for tree in trees for node in nodes_of(tree, ast.Import) for a in node.names]
    for node in (node for tree in trees for node in nodes_of(tree, ast.ImportFrom)):
        names += [node.module] if node.module and not node.level else []
    return {name.partition(".")[0] for name in names}


def raising_lines(node: ast.AST) -> frozenset[int]:
    """The lines of the blocks in ``node`` that end by raising something.

    Of its own body, the last statement alone: the rest leads elsewhere, too.
    """
    found: set[int] = set()
    for inner in walk(node):
        for block in (getattr(inner, name, None) for name in ("body", "orelse")):
            if isinstance(block, list) and block and isinstance(block[-1], ast.Raise):
                first, last = block[-1 if inner is node else 0], block[-1]
                found.update(range(first.lineno, (last.end_lineno or last.lineno) + 1))
    return frozenset(found)


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


def _plain(name: str) -> str:
    return name.replace("_", "").lower()
