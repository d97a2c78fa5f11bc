"""A change as a person would write it: without what an edit leaves behind that means nothing."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from pytest_bayesloc.domain.source import lines_of, tree_of
from pytest_bayesloc.domain.texts import common_ends
from pytest_bayesloc.syntax.expressions import PARTS, kind_of, negated
from pytest_bayesloc.syntax.nodes import every_node, function_at, nodes_of
from pytest_bayesloc.syntax.text import Placed, Text, TextEdit, differing_lines, indent_of

MAX_STEPS = 12  # of simplification: each takes one thing out
_SIGNS: dict[type[ast.operator], int] = {ast.Add: 1, ast.Sub: -1}
_BLOCKS = (ast.If, ast.For, ast.While, ast.With, ast.FunctionDef, ast.AsyncFunctionDef)


def simpler(before: str, after: str) -> str:
    """Return ``after`` with what differs from ``before`` in plainer words.

    Sums with 0, whole slices, clauses that decide nothing, two negations, brackets around nothing,
    conversions to what is there. All else stays as it is written. Whether it does the same is for
    the tests to say.
    """
    tree = tree_of(before)
    known = frozenset(map(ast.dump, nodes_of(tree, ast.expr) if tree is not None else ()))
    for _ in range(MAX_STEPS):
        edit = next(_edits(before, after, known), None)
        made = after if edit is None else Text(after).edited(edit)
        if edit is None or tree_of(made) is None:
            break
        after = made
    return after


def likewise(before: str, after: str) -> str:
    """Return ``after`` with its change made wherever the same line stands with other names.

    A mistake that was copied is in all copies: lines of the same function must be alike but for
    ``NAMES`` names, none of which the change replaces, and long enough for that to be no chance.
    """
    tree, spans = tree_of(before), differing_lines(before, after)
    if tree is None or len(spans) != 1 or spans[0][0] == spans[0][1]:
        return after
    (start, end, new), lines = spans[0], lines_of(before)
    around = function_at(tree, start + 1)
    if around is None:
        return after
    old, made = "".join(lines[start:end]), "".join(new)
    found = [(start, end, made)]
    replaced = {*_TOKEN.findall(old)}.difference(_TOKEN.findall(made))
    for first in range(around.lineno, (around.end_lineno or 0) - (end - start) + 1):
        last = first + end - start
        other = "".join(lines[first:last])
        names = _renamed(old, other) if last <= start or first >= end else None
        if names is None or not replaced.isdisjoint(names):
            continue
        if len(_TOKEN.findall(old)) >= (SHORT if names else LONG):
            found.append((first, last, _moved(made, names, old, other)))
    for first, last, text in sorted(found, reverse=True):
        lines[first:last] = [text]
    return "".join(lines)


NAMES = 2  # that may be others in a copied line
SHORT, LONG = 4, 6  # tokens of a line that stands twice by no chance: with other names, with none
_TOKEN = re.compile(r"\w+|[^\w\s]")


def _renamed(one: str, other: str) -> dict[str, str] | None:
    """Return the names that differ between two texts; None if more differs than a few names."""
    ours, others = _TOKEN.findall(one), _TOKEN.findall(other)
    pairs = list(zip(ours, others, strict=False))
    names = {a: b for a, b in pairs if a != b}
    is_same = len(ours) == len(others) and all(names.get(a, a) == b for a, b in pairs)
    are_names = all(a.isidentifier() and b.isidentifier() for a, b in names.items())
    return names if is_same and are_names and len(names) <= NAMES else None


def _moved(text: str, names: Mapping[str, str], old: str, other: str) -> str:
    """Return ``text`` with other ``names``, indented as ``other`` and no longer as ``old``."""
    named = re.sub(r"\w+", lambda found: names.get(found[0], found[0]), text)
    here, there = indent_of(old), indent_of(other)
    return "".join(there + line.removeprefix(here) for line in lines_of(named))


def _edits(before: str, after: str, known: frozenset[str]) -> Iterator[TextEdit]:
    """Each thing that may be taken out, where the texts differ."""
    tree, text = tree_of(after), Text(after)
    if tree is None:
        return
    head, tail = common_ends(before, after)
    first, last = (len(after[:n].encode()) for n in (head, len(after) - tail))
    span = range(first, last + 1)
    for node in every_node(tree):
        if not isinstance(node, (ast.expr, ast.stmt)) or not _overlaps(text, node, span):
            continue
        if isinstance(node, ast.stmt):
            yield from _plain_block(text, node, span)
        elif ast.dump(node) not in known:
            plain = _plain(text, node)
            if plain is not None:
                yield text.replace(node, plain)
        if isinstance(node, ast.expr):
            yield from _without_brackets(text, after, node, span)


def _overlaps(text: Text, node: Placed, span: range) -> bool:
    return text.start(node) <= span[-1] and text.end(node) >= span[0]


def _plain(text: Text, node: ast.expr) -> str | None:
    """Returns what may be written for an expression; None: the expression as it is."""
    if isinstance(node, ast.BinOp):
        return _plain_sum(text, node)
    if isinstance(node, ast.BoolOp):  # without the clauses that decide nothing
        is_all = isinstance(node.op, ast.And)
        kept = [v for v in node.values if not (isinstance(v, ast.Constant) and v.value is is_all)]
        is_plainer = 0 < len(kept) < len(node.values)
        return f" {'and' if is_all else 'or'} ".join(map(text.of, kept)) if is_plainer else None
    if isinstance(node, ast.Subscript):
        return _plain_slice(text, node)
    match node:
        case ast.UnaryOp(op=ast.Not(), operand=ast.UnaryOp(op=ast.Not(), operand=value)):
            made = text.of(value)
        case ast.UnaryOp(op=ast.Not(), operand=ast.Compare(ops=[_]) as test):
            made = ast.unparse(negated(test))
        case ast.IfExp(test=ast.Constant(value=value), body=body, orelse=other):
            made = text.of(body if value else other)
        case ast.Call(func=called, args=[value], keywords=[]):
            made = _plain_call(text, called, value)
        case _:
            made = ""
    return made or None


def _plain_call(text: Text, called: ast.expr, value: ast.expr) -> str:
    """A value that is converted to what it is; the last item, which is taken out by itself."""
    is_last = ast.unparse(value) == "-1"
    match called:
        case ast.Name(id=name) if kind_of(value) == name:
            return text.of(value)
        case ast.Attribute(attr="pop") if is_last:
            return f"{text.of(called)}()"
    return ""


def _plain_sum(text: Text, node: ast.BinOp) -> str | None:
    """A sum without its 0, or with one number for two; a product or quotient without its 1."""
    sign = _SIGNS.get(type(node.op), 0)
    left = text.of(node.left)
    match node.right:
        case ast.Constant(value=1) if isinstance(node.op, (ast.Mult, ast.FloorDiv)):
            return left
        case ast.Constant(value=int(number)) if sign:
            number *= sign
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(number))) if sign:
            return _with_number(left, -number * sign)
        case _:
            is_zero = isinstance(node.left, ast.Constant) and node.left.value == 0 and sign == 1
            return text.of(node.right) if is_zero else None
    match node.left:
        case ast.BinOp(left=first, op=inner, right=ast.Constant(value=int(other))):
            own = _SIGNS.get(type(inner), 0)
            return _with_number(text.of(first), number + own * other) if own else None
        case ast.Constant(value=int(other)):
            return str(other + number)
    return left if number == 0 else None


def _with_number(said: str, number: int) -> str:
    return f"{said} {'-' if number < 0 else '+'} {abs(number)}" if number else said


def _plain_slice(text: Text, node: ast.Subscript) -> str | None:
    """The whole, where the slice is of all of it; one that begins with 0 without that."""
    match node.slice:
        case ast.Slice(lower=None, upper=None, step=None):
            return text.of(node.value)
        case ast.Slice(lower=ast.Constant(value=0) as lower):
            return f"{text.of(node.value)}[{text.between(text.end(lower), text.end(node))}"
    return None


def _without_brackets(text: Text, after: str, node: ast.expr, span: range) -> Iterator[TextEdit]:
    """An expression without brackets that were put around it, if it means the same.

    Nor does what is left of a sum keep those that the sum had.
    """
    start, end = text.start(node), text.end(node)
    sides = (start - 1 in span, end in span)
    is_new = any(sides) if isinstance(node, PARTS) else all(sides)
    if is_new and text.between(start - 1, start) == "(" and text.between(end, end + 1) == ")":
        said = text.of(node)
        lead = " " if text.between(start - 2, start - 1).isalnum() else ""
        edit = text.cut(start - 1, end + 1, lead + said)
        old, new = tree_of(after), tree_of(text.edited(edit))
        if "\n" not in said and old and new and ast.dump(old) == ast.dump(new):
            yield edit


def _plain_block(text: Text, node: ast.stmt, span: range) -> Iterator[TextEdit]:
    """A block that is always entered, without its head; one with more in it without ``pass``."""
    match node:
        case ast.If(test=ast.Constant(value=True) as test, body=[first, *_], orelse=[]):
            lines = text.between(text.line_start(first), text.end(node))
            shift = first.col_offset - node.col_offset
            is_plain = shift > 0 and '"""' not in lines and "'''" not in lines
            if is_plain and _overlaps(text, test, span) and not text.lead(node).strip():
                moved = "\n".join(line[shift:] for line in lines.split("\n"))
                yield text.cut(text.line_start(node), text.end(node), moved)
    if isinstance(node, _BLOCKS):
        for inner in node.body if len(node.body) > 1 else ():
            end = text.end(inner)
            is_alone = not text.lead(inner).strip() and text.between(end, end + 1) == "\n"
            if isinstance(inner, ast.Pass) and is_alone and _overlaps(text, inner, span):
                yield text.cut(text.line_start(inner), end + 1)
