"""Mutations that compute in another order: brackets that are missing, or end too late.

Reference:
    MITRE: CWE-783, operator precedence logic error.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from pytest_bayesloc.fixes.mutations.operators import ARITHMETIC
from pytest_bayesloc.fixes.site import Site
from pytest_bayesloc.syntax.expressions import PARTS
from pytest_bayesloc.syntax.nodes import children
from pytest_bayesloc.syntax.text import TextEdit, brief

#: Pairs of operators between three operands that give the same from the left and from the right.
_SAME = {
    (ast.Add, ast.Add),
    (ast.Add, ast.Sub),
    (ast.Mult, ast.Mult),
    (ast.Mult, ast.Div),
}
_SIGNS = {kind: sign for kind, (sign, _) in ARITHMETIC.items()} | {ast.And: "and", ast.Or: "or"}
#: Functions of one number or text whose argument may end too late or too early.
_CONVERSIONS = frozenset({"int", "float", "round", "str", "len", "abs", "Decimal", "list", "set"})
#: Expressions whose parts need brackets if they are computed later.
_BINDING = (ast.BinOp, ast.BoolOp, ast.UnaryOp, ast.Compare, ast.Attribute, ast.Starred, ast.Await,
            ast.IfExp)  # fmt: skip
_ALONE = (*PARTS, ast.List, ast.Dict)


def other_grouping(site: Site) -> Iterator[TextEdit]:
    """Compute first what is computed later: other brackets around the same operands."""
    parents = (node for node in site.nodes if isinstance(node, _BINDING))
    bound = {id(part) for parent in parents for part in children(parent)}
    for node in site.own(ast.expr):
        around = site.between(site.start(node) - 1, site.end(node) + 1)
        is_apart = id(node) not in bound or around[:1] + around[-1:] == "()"
        for made in _regrouped(site, node):
            yield site.replace(node, made if is_apart else f"({made})", f"`{brief(made)}`")


def _regrouped(site: Site, node: ast.expr) -> Iterator[str]:
    match node:
        case ast.BinOp():
            yield from _operands(site, node)
            yield from _calls(site, node)
        case ast.BoolOp(op=operator, values=[first, *rest]):
            yield from _clauses(site, _SIGNS[type(operator)], first, rest)
        case ast.IfExp(test=test, body=body, orelse=other):
            yield from _either(site, test, body, other)
        case ast.UnaryOp(op=ast.USub(), operand=ast.BinOp(left=left, op=ast.Pow(), right=right)):
            yield f"(-{_part(site, left)}) ** {_part(site, right)}"
        case ast.Call(func=ast.Name(id=name), args=[ast.BinOp() as whole], keywords=[]):
            yield from _ended_earlier(site, name, whole)
        case ast.Tuple(
            elts=[ast.BinOp(left=ast.Constant(value=str()), op=ast.Mod()) as first, *others]
        ) if others:
            yield _filled(site, first, others)
        case ast.Call(
            args=[ast.BinOp(left=ast.Constant(value=str()), op=ast.Mod()) as first, *others]
        ) if others and not node.keywords:
            yield f"{site.of(node.func)}({_filled(site, first, others)})"


def _operands(site: Site, node: ast.BinOp) -> Iterator[str]:
    """Three operands, of which the other two come first."""
    outer = _SIGNS.get(type(node.op))
    match node:
        case ast.BinOp(left=ast.BinOp(left=a, op=inner, right=b), right=c):
            kinds = type(inner), type(node.op)
            if outer and kinds[0] in _SIGNS and kinds not in _SAME:
                a_text, b_text, c_text = (_part(site, part) for part in (a, b, c))
                yield f"{a_text} {_SIGNS[kinds[0]]} ({b_text} {outer} {c_text})"
    match node:
        case ast.BinOp(left=a, right=ast.BinOp(left=b, op=inner, right=c)):
            kinds = type(node.op), type(inner)
            if outer and kinds[1] in _SIGNS and kinds not in _SAME:
                a_text, b_text, c_text = (_part(site, part) for part in (a, b, c))
                yield f"({a_text} {outer} {b_text}) {_SIGNS[kinds[1]]} {c_text}"


def _calls(site: Site, node: ast.BinOp) -> Iterator[str]:
    """A call or a method of one operand for both; the other way round, see ``other_grouping``."""
    sign = _SIGNS.get(type(node.op))
    match node:
        case ast.BinOp(left=ast.Call(func=ast.Name(id=name), args=[inner], keywords=[])):
            if sign and name in _CONVERSIONS:
                yield f"{name}({_part(site, inner)} {sign} {_part(site, node.right)})"
    match node:
        case ast.BinOp(
            left=left, op=ast.Add(), right=ast.Call(func=ast.Attribute(value=owner)) as call
        ):
            behind = site.between(site.end(owner), site.end(call))
            yield f"({_part(site, left)} + {_part(site, owner)}){behind}"


def _ended_earlier(site: Site, name: str, whole: ast.expr) -> Iterator[str]:
    """A call of fewer operands: ``f(a * b) + c`` and ``f(a) * b + c`` for ``f(a * b + c)``."""
    behind = ""
    while name in _CONVERSIONS and isinstance(whole, ast.BinOp) and type(whole.op) in _SIGNS:
        behind = f" {_SIGNS[type(whole.op)]} {_part(site, whole.right)}{behind}"
        if site.start(whole) < site.start(whole.left):  # in brackets, which stay
            yield f"{name}{site.between(site.start(whole), site.end(whole.left) + 1)}{behind}"
            return
        yield f"{name}({site.of(whole.left)}){behind}"
        whole = whole.left


def _clauses(site: Site, word: str, first: ast.expr, rest: list[ast.expr]) -> Iterator[str]:
    """A condition of several clauses, the first or the last of which is taken apart."""
    match first:
        case ast.BoolOp(op=operator, values=[*heads, tail]) if len(rest) == 1:
            other = _SIGNS[type(operator)]
            yield f"{_joined(site, other, heads)} {other} ({_joined(site, word, [tail, *rest])})"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield f"not ({_joined(site, word, [operand, *rest])})"
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _SIGNS:
            behind = _joined(site, word, [right, *rest])
            yield f"{_part(site, left)} {_SIGNS[type(op)]} ({behind})"
    before = [first, *rest[:-1]]
    match rest[-1]:
        case ast.BoolOp(op=operator, values=[head, *tails]) if len(rest) == 1:
            other = _SIGNS[type(operator)]
            yield f"({_joined(site, word, [*before, head])}) {other} {_joined(site, other, tails)}"
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _SIGNS:
            ahead = _joined(site, word, [*before, left])
            yield f"({ahead}) {_SIGNS[type(op)]} {_part(site, right)}"


def _either(site: Site, test: ast.expr, body: ast.expr, other: ast.expr) -> Iterator[str]:
    """One of two values, of which a part belongs to both."""
    asked = site.of(test)
    match body:
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _SIGNS:
            chosen = f"{_part(site, right)} if {asked} else {_part(site, other)}"
            yield f"{_part(site, left)} {_SIGNS[type(op)]} ({chosen})"
    match other:
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _SIGNS:
            chosen = f"{_part(site, body)} if {asked} else {_part(site, left)}"
            yield f"({chosen}) {_SIGNS[type(op)]} {_part(site, right)}"


def _filled(site: Site, first: ast.BinOp, parts: list[ast.expr]) -> str:
    """A template that is filled with all values behind it."""
    values = ", ".join(site.of(part) for part in (first.right, *parts))
    return f"{site.of(first.left)} % ({values})"


def _joined(site: Site, word: str, parts: list[ast.expr]) -> str:
    return f" {word} ".join(_part(site, part) for part in parts)


def _part(site: Site, node: ast.expr) -> str:
    text = site.of(node)
    return text if isinstance(node, _ALONE) else f"({text})"
