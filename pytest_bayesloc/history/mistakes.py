"""The kind of an edit: the mistake that it fixes, or only other names or prints."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Callable, Iterator, Sequence
from itertools import islice, zip_longest
from typing import TypeAlias

from pytest_bayesloc.domain.bug import clipped
from pytest_bayesloc.domain.source import ScopeNode, SourceMap, parse
from pytest_bayesloc.history.changes import Changes
from pytest_bayesloc.syntax.expressions import negated
from pytest_bayesloc.syntax.nodes import argument_names, flat, functions_in, nodes_of, shape, walk

#: A piece of code before and after; None: it was not there, or is there no more.
Pair: TypeAlias = "tuple[ast.AST | None, ast.AST | None]"

MAX_PAIRS = 3  # of one fix: more is a rewriting, which no word describes
_LENGTH = 60
_BOUNDS = (frozenset({ast.Lt, ast.LtE}), frozenset({ast.Gt, ast.GtE}))
_TURNED = frozenset({ast.Lt, ast.LtE, ast.Gt, ast.GtE})


def mistake_of(changes: Changes) -> str:
    """Return the kind of mistake, with the code: ``condition inverted: `a` had to be `b```.

    Empty if several kinds changed, or one that has no name.
    """
    pairs = list(islice(_pairs(changes), MAX_PAIRS + 1))
    kinds = {_kind(*pair) for pair in pairs}
    if len(kinds) != 1 or "" in kinds or len(pairs) > MAX_PAIRS:
        return ""
    before, after = (
        None if node is None else clipped(ast.unparse(node).partition("\n")[0], _LENGTH)
        for node in pairs[0]
    )
    words = f"`{after}` was missing" if before is None else f"`{before}` had to be `{after}`"
    return f"{kinds.pop()}: {words}"


def _pairs(changes: Changes) -> Iterator[Pair]:
    """Yield the smallest pieces that differ, location by location, tests last."""
    for change in changes.files.values():
        for old, unit in change.units:
            if old is None:
                yield None, unit.node
            else:
                yield from _differences(old.node, unit.node, is_top=True)


def _differences(old: ast.AST, new: ast.AST, *, is_top: bool = False) -> Iterator[Pair]:
    """Yield the smallest pairs that hold all that differs between two trees."""
    if shape(old) == shape(new) or (isinstance(old, ScopeNode) and not is_top):
        return
    inner = None
    if type(old) is type(new) and not _is_whole(old, new):
        inner = _in_parts(_fields(old), _fields(new))
    yield from [(old, new)] if inner is None else inner


def _fields(node: ast.AST) -> list[object]:
    return [value for _, value in ast.iter_fields(node)]


def _in_parts(before: Sequence[object], after: Sequence[object]) -> list[Pair] | None:
    """Return what differs in as many fields or items; None if only the whole can tell it."""
    found: list[Pair] = []
    for one, other in zip(before, after, strict=True):
        own: list[Pair] | None = None
        if isinstance(one, list) and isinstance(other, list):
            if all(isinstance(item, ast.stmt) for item in (*one, *other)):
                own = list(_in_block(one, other))
            elif len(one) == len(other):
                own = _in_parts(one, other)
        elif isinstance(one, ast.AST) and isinstance(other, ast.AST):
            own = list(_differences(one, other))
        elif one == other:
            own = []
        if own is None:
            return None
        found += own
    return found


def _in_block(before: Sequence[ast.AST], after: Sequence[ast.AST]) -> Iterator[Pair]:
    """Yield what differs between two lists of statements: those that came, went or changed."""
    a, b = list(map(ast.dump, before)), list(map(ast.dump, after))
    for tag, i, j, k, n in difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        old, new = before[i:j], after[k:n]
        if len(old) == len(new):
            for one, other in zip(old, new, strict=True):
                yield from _differences(one, other)
        elif len(new) == len(old) + 1 and isinstance(new[0], ast.If):
            yield None, new[0]
            yield from _in_block(old, new[1:])
        else:
            yield from ((node, None) for node in old)
            yield from ((None, node) for node in new)


def _is_whole(old: ast.AST, new: ast.AST) -> bool:
    """Whether a change in it is told as a change of all of it, since a part alone says less."""
    if isinstance(old, (ast.Constant, ast.Name)) or _is_permuted(old, new) or _keys(old, new):
        return True
    n_changed = sum(shape(a) != shape(b) for a, b in zip(_fields(old), _fields(new), strict=True))
    is_operation = isinstance(old, (ast.Compare, ast.BinOp, ast.BoolOp))
    return is_operation and n_changed == 1 and type(_op(old)) is not type(_op(new))


def _op(node: ast.AST) -> ast.AST | None:
    """Return the operator of an expression that has a single one."""
    ops: list[ast.AST] = getattr(node, "ops", [])
    found: ast.AST | None = getattr(node, "op", None)
    return ops[0] if len(ops) == 1 else found


def _keys(old: ast.AST, new: ast.AST) -> bool:
    """Whether both look up another key in the same thing."""
    one, other = _looked_up(old), _looked_up(new)
    return one[0] == other[0] and one[1] != other[1]


def _looked_up(node: ast.AST) -> tuple[str, str]:
    """Return what a key is looked up in, and the key, if that is a text; else nothing twice."""
    match node:
        case ast.Subscript(value=where, slice=ast.Constant(value=str(key))):
            return ast.dump(where), key
        case ast.Call(
            func=ast.Attribute(attr="get" | "pop" | "setdefault") as where,
            args=[ast.Constant(value=str(key)), *_],
        ):
            return ast.dump(where), key
    return "", ""


def _is_permuted(old: ast.AST, new: ast.AST) -> bool:
    """Whether both are calls with the same arguments in another order."""
    if not (isinstance(old, ast.Call) and isinstance(new, ast.Call)):
        return False
    before, after = list(map(ast.dump, old.args)), list(map(ast.dump, new.args))
    return before != after and sorted(before) == sorted(after)


# -- kinds


def _kind(old: ast.AST | None, new: ast.AST | None) -> str:
    if old is not None and new is not None:
        return next(filter(None, (rule(old, new) for rule in _RULES)), "")
    match new:  # a statement that was missing, or None
        case ast.If(test=test) if _asks_for_none(test):
            return "missing check for None"
        case ast.If(body=body):
            leaves = any(isinstance(s, (ast.Return, ast.Raise, ast.Continue)) for s in body)
            return "missing check" if leaves else ""
        case ast.Import() | ast.ImportFrom():
            return "missing import"
        case ast.Return():
            return "missing return"
    return ""


def _asks_for_none(node: ast.AST) -> bool:
    for part in walk(node):
        match part:
            case ast.Compare(
                ops=[ast.Is() | ast.IsNot(), *_], comparators=[ast.Constant(value=None), *_]
            ):
                return True
    return False


def _condition(old: ast.AST, new: ast.AST) -> str:
    if not (isinstance(old, ast.expr) and isinstance(new, ast.expr)):
        return ""
    opposites = {ast.dump(negated(old)), ast.dump(ast.UnaryOp(ast.Not(), old))}
    is_inverted = ast.dump(new) in opposites or ast.dump(negated(new)) == ast.dump(old)
    return "condition inverted" if is_inverted else ""


def _operator(old: ast.AST, new: ast.AST) -> str:
    types = frozenset({type(_op(old)), type(_op(new))})
    if type(old) is not type(new) or len(types) != 2:
        return ""
    if isinstance(old, ast.Compare):
        return (
            "off by one" if types in _BOUNDS
            else "comparison the wrong way round" if types <= _TURNED
            else "wrong comparison"
        )  # fmt: skip
    return "`and` and `or` mixed up" if isinstance(old, ast.BoolOp) else "wrong operator"


def _added_condition(old: ast.AST, new: ast.AST) -> str:
    before = ast.dump(old)
    match new:
        case ast.IfExp(test=test) if before in {ast.dump(new.body), ast.dump(new.orelse)}:
            added: ast.AST = test
        case ast.If(test=test) if not isinstance(old, ast.If):
            added = test
        case ast.BoolOp(values=values) if before in map(ast.dump, values):
            added = new
        case _:
            return ""
    return "missing check for None" if _asks_for_none(added) else "missing condition"


def _arguments(old: ast.AST, new: ast.AST) -> str:
    if isinstance(old, ast.Call) and isinstance(new, ast.Call):
        if _is_permuted(old, new):
            return "arguments in the wrong order"
        return "missing argument" if len(new.args) + len(new.keywords) > len(old.args) else ""
    if isinstance(old, ast.keyword) and isinstance(new, ast.keyword):
        return "wrong keyword"
    if isinstance(old, ast.Expr) and isinstance(new, ast.Return):
        return "missing return"
    return "missing await" if isinstance(new, ast.Await) else ""


def _number(old: ast.AST, new: ast.AST) -> str:
    """Return the kind where a value is one more or less, in a number or by an addition."""
    match old, new:
        case ast.Constant(value=int(before)), ast.Constant(value=int(after)):
            is_number = not (isinstance(before, bool) or isinstance(after, bool))
            return "off by one" if is_number and abs(before - after) == 1 else ""
    for one, other in ((old, new), (new, old)):
        match other:
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=ast.Constant(value=1)):
                if ast.dump(left) == ast.dump(one):
                    return "off by one"
    return ""


def _name(old: ast.AST, new: ast.AST) -> str:
    if _keys(old, new):
        return "wrong key"
    if isinstance(old, ast.Constant) and isinstance(new, ast.Constant):
        return "wrong value"
    if isinstance(old, (ast.Name, ast.Attribute)) and isinstance(new, type(old)):
        return "wrong name"
    return ""


_RULES: tuple[Callable[[ast.AST, ast.AST], str], ...] = (
    _condition,
    _operator,
    _added_condition,
    _arguments,
    _number,
    _name,
)


# -- edits that repair nothing

#: Fields of syntax nodes that hold a name.
NAMES = frozenset({"id", "attr", "name", "arg", "asname", "rest", "module"})
SAYS_NOTHING = frozenset({"ctx", "kind", "type_comment"})
# Modules and functions that show values.
LOOKING = frozenset(
    {"print", "pprint", "pp", "breakpoint", "pdb", "ic", "log", "logger", "logging"}
)


def is_renaming(changes: Changes) -> bool:
    """Whether the files differ only in some of their names.

    Each old name has to be bound in them, or to be that of a module whose file was moved; to be
    gone, and to have become one new name everywhere. Other files may still use the old one: the
    caller should know that the tests fail as they did.
    """
    names: dict[str, str] = {}
    bound = {name for text in changes.moved for name in (text, f"from {text}")}
    left: set[str] = set()
    for change in changes.files.values():
        if change.before.is_broken or change.now.is_broken:
            return False
        both = (_tokens(change.before.module.node), _tokens(change.now.module.node))
        for old, new in zip_longest(*both):
            if isinstance(old, str) and isinstance(new, str):
                left.add(new)
                if names.setdefault(old, new) != new:
                    return False
            elif old != new:
                return False
        bound |= _bound(change.before.module.node)
    renamed = {old for old, new in names.items() if old != new}
    return (
        bool(renamed)
        and renamed <= bound
        and renamed.isdisjoint(left)
        and len(set(names.values())) == len(names)
    )


def is_looking(changes: Changes) -> bool:
    """Return whether prints, log messages and break points came or went, and nothing else did."""
    return bool(changes.files) and all(
        not change.before.is_broken
        and not change.now.is_broken
        and _without_looks(change.before) == _without_looks(change.now)
        for change in changes.files.values()
    )


def _without_looks(source: SourceMap) -> str:
    tree = parse(source.text)
    for node in walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                setattr(node, name, [part for part in block if not _is_look(part)])
    return ast.dump(tree)


def _is_look(node: ast.stmt) -> bool:
    """Whether a statement only shows something, or makes that possible."""
    match node:
        case ast.Import(names=names):
            return all(alias.name in LOOKING for alias in names)
        case ast.Expr(value=ast.Call(func=called)):
            while isinstance(called, (ast.Attribute, ast.Call)):
                called = called.value if isinstance(called, ast.Attribute) else called.func
            return isinstance(called, ast.Name) and called.id in LOOKING
    return False


def _tokens(tree: ast.AST) -> Iterator[object]:
    """Yield a program flat: its names as texts, and the rest as types and values."""

    def parts(node: ast.AST) -> list[object]:
        found: list[object] = []
        for field, value in ast.iter_fields(node):
            if field in SAYS_NOTHING:
                continue
            if field in NAMES and isinstance(value, str):
                # The name of an imported module is not that of a variable.
                found.append(f"from {value}" if field == "module" else value)
            elif isinstance(value, (ast.AST, list)):
                found.append(value)
            else:
                found.append((type(value), value))  # 1, 1.0 and True are equal
        return found

    return flat(tree, parts)


def _bound(tree: ast.AST) -> set[str]:
    """Return the names that ``tree`` defines."""
    found = {node.name for node in (*functions_in(tree), *nodes_of(tree, ast.ClassDef))}
    found |= argument_names(tree)
    attributes = nodes_of(tree, ast.Attribute)
    found |= {node.attr for node in attributes if isinstance(node.ctx, ast.Store)}
    names = nodes_of(tree, ast.Name)
    return found | {node.id for node in names if isinstance(node.ctx, ast.Store)}
