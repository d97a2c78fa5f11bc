"""The kind of mistake that a fix shows, and checks that an edit took out of tests."""

from __future__ import annotations

import ast
import difflib
from typing import TYPE_CHECKING, TypeAlias

from pytest_bayesloc.domain.bug import clipped
from pytest_bayesloc.domain.source import ScopeNode, negated
from pytest_bayesloc.history.changes import name_of, named, shape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pytest_bayesloc.history.changes import Changes


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
    kinds: dict[str, str] = {}
    for n_pairs, pair in enumerate(_pairs(changes), 1):
        kind = _kind(pair)
        if not kind or n_pairs > MAX_PAIRS:
            return ""
        kinds.setdefault(kind, _words(pair))
    if len(kinds) != 1:
        return ""
    ((kind, words),) = kinds.items()
    return f"{kind}: {words}"


def _pairs(changes: Changes) -> Iterator[Pair]:
    """Yield the smallest pieces that differ, location by location, tests last."""
    for change in changes.files.values():
        then = named(change.before)
        now = named(change.now)
        for name, unit in now.items():
            if unit.location not in change.changed:
                continue
            old = then.get(name)
            if old is None:
                yield None, unit.node
            else:
                yield from _differences(old.node, unit.node, is_top=True)


def _differences(old: ast.AST, new: ast.AST, *, is_top: bool = False) -> Iterator[Pair]:
    """Yield the smallest pairs that hold all that differs between two trees."""
    if shape(old) == shape(new) or (isinstance(old, ScopeNode) and not is_top):
        return
    if type(old) is not type(new) or _is_whole(old, new):
        yield old, new
        return
    inner: list[Pair] = []
    for (_, before), (_, after) in _fields(old, new):
        found = _in_field(before, after)
        if found is None:
            yield old, new
            return
        inner += found
    yield from inner


def _in_field(before: object, after: object) -> list[Pair] | None:
    """Return what differs in one field of two nodes; None if only the nodes can tell it."""
    if isinstance(before, list) and isinstance(after, list):
        if _is_block(before, after):
            return list(_in_block(before, after))
        if len(before) != len(after):
            return None
        fields = [_in_field(a, b) for a, b in zip(before, after, strict=True)]
        return None if None in fields else [pair for field in fields for pair in field or ()]
    if isinstance(before, ast.AST) and isinstance(after, ast.AST):
        return list(_differences(before, after))
    return [] if before == after else None


def _is_whole(old: ast.AST, new: ast.AST) -> bool:
    """Whether a change in it is told as a change of all of it, since a part alone says less."""
    if isinstance(old, (ast.Constant, ast.Name)) or _is_permuted(old, new) or _keys(old, new):
        return True
    is_same = [_dump(a) == _dump(b) for (_, a), (_, b) in _fields(old, new)]
    return isinstance(old, (ast.Compare, ast.BinOp, ast.BoolOp)) and (
        sum(is_same) == len(is_same) - 1 and type(_op(old)) is not type(_op(new))
    )


def _fields(old: ast.AST, new: ast.AST) -> Iterator[tuple[tuple[str, object], tuple[str, object]]]:
    return zip(ast.iter_fields(old), ast.iter_fields(new), strict=True)


def _dump(part: object) -> str:
    if isinstance(part, list):
        return "".join(map(_dump, part))
    return ast.dump(part) if isinstance(part, ast.AST) else repr(part)


def _op(node: ast.AST) -> ast.AST | None:
    """Return the operator of an expression that has a single one."""
    ops: list[ast.AST] = getattr(node, "ops", [])
    found: ast.AST | None = getattr(node, "op", None)
    return ops[0] if len(ops) == 1 else found


def _keys(old: ast.AST, new: ast.AST) -> bool:
    """Whether both look up another key in the same thing."""
    pairs = (_looked_up(old), _looked_up(new))
    return all(pairs) and pairs[0][0] == pairs[1][0] and pairs[0][1] != pairs[1][1]  # type: ignore[index]


def _looked_up(node: ast.AST) -> tuple[str, object] | None:
    """Return what a key is looked up in, and the key, if that is a text."""
    if isinstance(node, ast.Subscript):
        where, key = node.value, node.slice
    elif isinstance(node, ast.Call) and node.args and _is_get(node.func):
        where, key = node.func, node.args[0]
    else:
        return None
    is_text = isinstance(key, ast.Constant) and isinstance(key.value, str)
    return (ast.dump(where), key.value) if is_text else None  # type: ignore[attr-defined]


def _is_get(function: ast.expr) -> bool:
    return isinstance(function, ast.Attribute) and function.attr in {"get", "pop", "setdefault"}


def _is_permuted(old: ast.AST, new: ast.AST) -> bool:
    """Whether both are calls with the same arguments in another order."""
    if not (isinstance(old, ast.Call) and isinstance(new, ast.Call)):
        return False
    before, after = list(map(ast.dump, old.args)), list(map(ast.dump, new.args))
    return before != after and sorted(before) == sorted(after)


def _is_block(before: list[object], after: list[object]) -> bool:
    both = [*before, *after]
    return bool(both) and all(isinstance(item, ast.stmt) for item in both)


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


# -- kinds


def _kind(pair: Pair) -> str:
    old, new = pair
    if new is None or old is None:
        return _of_one(new) if new is not None else ""
    return next(filter(None, (rule(old, new) for rule in _RULES)), "")


def _of_one(new: ast.AST) -> str:
    """Return the kind of a statement that was missing."""
    if isinstance(new, ast.If) and _asks_for_none(new.test):
        return "missing check for None"
    if isinstance(new, ast.If) and any(
        isinstance(s, (ast.Return, ast.Raise, ast.Continue)) for s in new.body
    ):
        return "missing check"
    if isinstance(new, (ast.Import, ast.ImportFrom)):
        return "missing import"
    return "missing return" if isinstance(new, ast.Return) else ""


def _asks_for_none(node: ast.AST) -> bool:
    return any(
        isinstance(part, ast.Compare)
        and isinstance(part.ops[0], (ast.Is, ast.IsNot))
        and isinstance(part.comparators[0], ast.Constant)
        and part.comparators[0].value is None
        for part in ast.walk(node)
    )


def _condition(old: ast.AST, new: ast.AST) -> str:
    if not (isinstance(old, ast.expr) and isinstance(new, ast.expr)):
        return ""
    if ast.dump(new) in {ast.dump(negated(old)), ast.dump(ast.UnaryOp(ast.Not(), old))}:
        return "condition inverted"
    return "condition inverted" if ast.dump(negated(new)) == ast.dump(old) else ""


def _operator(old: ast.AST, new: ast.AST) -> str:
    types = frozenset({type(_op(old)), type(_op(new))})
    if type(old) is not type(new) or len(types) != 2:
        return ""
    if isinstance(old, ast.Compare):
        is_turned = all(type_ in _TURNED for type_ in types)
        return (
            "off by one" if types in _BOUNDS
            else "comparison the wrong way round" if is_turned
            else "wrong comparison"
        )  # fmt: skip
    return "`and` and `or` mixed up" if isinstance(old, ast.BoolOp) else "wrong operator"


def _checks_for_none(old: ast.AST, new: ast.AST) -> str:
    if isinstance(new, ast.IfExp) and ast.dump(old) in {ast.dump(new.body), ast.dump(new.orelse)}:
        return "missing check for None" if _asks_for_none(new.test) else "missing condition"
    if isinstance(new, ast.If) and not isinstance(old, ast.If):
        return "missing check for None" if _asks_for_none(new.test) else "missing condition"
    is_more = isinstance(new, ast.BoolOp) and any(ast.dump(old) == ast.dump(v) for v in new.values)
    if is_more:
        return "missing check for None" if _asks_for_none(new) else "missing condition"
    return ""


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
    if isinstance(old, ast.Constant) and isinstance(new, ast.Constant):
        values = old.value, new.value
        numbers = all(isinstance(v, int) and not isinstance(v, bool) for v in values)
        return "off by one" if numbers and abs(values[0] - values[1]) == 1 else ""  # type: ignore[operator]
    for one, other in ((old, new), (new, old)):
        if (
            isinstance(other, ast.BinOp)
            and isinstance(other.op, (ast.Add, ast.Sub))
            and isinstance(other.right, ast.Constant)
            and other.right.value == 1
            and ast.dump(other.left) == ast.dump(one)
        ):
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
    _checks_for_none,
    _arguments,
    _number,
    _name,
)


def _words(pair: Pair) -> str:
    before, after = (None if node is None else f"`{_text(node)}`" for node in pair)
    return f"{before} had to be {after}" if before and after else f"{after} was missing"


def _text(node: ast.AST) -> str:
    return clipped(ast.unparse(node).partition("\n")[0], _LENGTH)


# How much is checked: the exact value, a relation, or that something is there.
EXACT, RELATION, TRUTH = 3, 2, 1
ANY_ERROR = frozenset({"Exception", "BaseException"})


def weakened(changes: Changes) -> frozenset[str]:
    """Return the tests, as ``file qualname``, that check less than they did."""
    found = set()
    for change in changes.files.values():
        before = named(change.before)
        for name, unit in named(change.now).items():
            old = before.get(name)
            is_changed = unit.location in change.changed and unit.location.is_test
            if old is not None and is_changed and _total(unit.node) < _total(old.node):
                found.add(name_of(unit.location))
    return frozenset(found)


def _total(function: ast.AST) -> int:
    return sum(map(_strength, ast.walk(function)))


def _strength(node: ast.AST) -> int:
    """Return how much one statement or call of a test checks; 0 if it checks nothing."""
    if isinstance(node, ast.Assert):
        return _of_condition(node.test)
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return 0
    name = node.func.attr
    if name == "raises":
        is_any = any(isinstance(arg, ast.Name) and arg.id in ANY_ERROR for arg in node.args)
        return TRUTH if is_any else RELATION
    if name.startswith("assert"):
        return {"assertEqual": EXACT, "assertTrue": TRUTH}.get(name, RELATION)
    return 0


def _of_condition(test: ast.expr) -> int:
    if isinstance(test, ast.Constant):
        return 0
    if isinstance(test, ast.BoolOp):
        parts = [_of_condition(value) for value in test.values]
        return sum(parts) if isinstance(test.op, ast.And) else min(parts)
    if not isinstance(test, ast.Compare) or isinstance(test.ops[0], ast.IsNot):
        return TRUTH
    return EXACT if isinstance(test.ops[0], (ast.Eq, ast.Is)) else RELATION
