"""Mutants: one small change in one function, by operators of the benchmark's own.

They share nothing with the changes that the plugin itself tries, so that neither is tuned to the
other.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from benchmarks.suites.functions import parsed
from benchmarks.suites.transplants import Candidate

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterable, Iterator

    from benchmarks.suites.functions import Function

NodeT = TypeVar("NodeT", bound=ast.AST)

BOUNDARIES: dict[type[ast.AST], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
}
ARITHMETIC: dict[type[ast.AST], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "+"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "//"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
    ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """Text to put from byte ``start`` to before ``end``; ``line`` is where, None for a default."""

    start: int
    end: int
    text: str
    line: int | None


def comparison_boundary(function: Function) -> Iterator[Edit]:
    for node in _own(function, ast.Compare):
        operands = [node.left, *node.comparators]
        for left, operator, right in zip(operands, node.ops, operands[1:], strict=False):
            yield from _operator(function, left, right, BOUNDARIES.get(type(operator)))


def arithmetic_operator(function: Function) -> Iterator[Edit]:
    for node in _own(function, ast.BinOp):
        if not _is_text(node.left):  # '...' % values only crashes
            yield from _operator(function, node.left, node.right, ARITHMETIC.get(type(node.op)))
    for changed in _own(function, ast.AugAssign):
        yield from _operator(
            function, changed.target, changed.value, ARITHMETIC.get(type(changed.op))
        )


def constant_off_by_one(function: Function) -> Iterator[Edit]:
    for node in _own(function, ast.Constant):
        if type(node.value) is int:
            start, end = function.file.span(node)
            yield Edit(start=start, end=end, text=str(node.value + 1), line=node.lineno)
            if node.value > 0:
                yield Edit(start=start, end=end, text=str(node.value - 1), line=node.lineno)


def negated_condition(function: Function) -> Iterator[Edit]:
    for node in function.own_nodes():
        tests = node.ifs if isinstance(node, ast.comprehension) else []
        if isinstance(node, (ast.If, ast.While, ast.IfExp)):
            tests = [node.test]
        for test in tests:
            start, end = function.file.span(test)
            text = f"(not ({function.file.between(start, end)}))"
            yield Edit(start=start, end=end, text=text, line=test.lineno)


def removed_statement(function: Function) -> Iterator[Edit]:
    for node in function.own_nodes():
        if isinstance(node, (ast.Raise, ast.AugAssign)) or _is_effect(node):
            start, end = function.file.span(node)
            lines = function.file.between(start, end).count("\n")
            text = "pass" + "\n" * lines  # what follows keeps its line numbers
            yield Edit(start=start, end=end, text=text, line=getattr(node, "lineno", None))


def swapped_arguments(function: Function) -> Iterator[Edit]:
    for node in _own(function, ast.Call):
        for left, right in zip(node.args, node.args[1:], strict=False):
            if isinstance(left, ast.Starred) or isinstance(right, ast.Starred):
                continue
            texts = function.file.segment(left), function.file.segment(right)
            (start, left_end), (right_start, end) = map(function.file.span, (left, right))
            if texts[0] != texts[1] and not isinstance(right, ast.GeneratorExp):
                between = function.file.between(left_end, right_start)
                text = f"{texts[1]}{between}{texts[0]}"
                yield Edit(start=start, end=end, text=text, line=node.lineno)


def changed_default(function: Function) -> Iterator[Edit]:
    args = function.node.args
    for node in (*args.defaults, *args.kw_defaults):
        if isinstance(node, ast.Constant) and (other := _other_constant(node.value)):
            start, end = function.file.span(node)
            yield Edit(start=start, end=end, text=other, line=None)


def wrong_return(function: Function) -> Iterator[Edit]:
    for node in _own(function, ast.Return):
        value = node.value
        if value is None or (isinstance(value, ast.Constant) and value.value is None):
            continue
        start, end = function.file.span(value)
        for text in _wrong_values(value, function.file.segment(value)):
            yield Edit(start=start, end=end, text=text, line=node.lineno)


OPERATORS: dict[str, Callable[[Function], Iterator[Edit]]] = {
    "comparison boundary": comparison_boundary,
    "arithmetic operator": arithmetic_operator,
    "constant off by one": constant_off_by_one,
    "negated condition": negated_condition,
    "removed statement": removed_statement,
    "swapped arguments": swapped_arguments,
    "changed default": changed_default,
    "wrong return": wrong_return,
}


def mutants(functions: Iterable[Function], dice: random.Random) -> Iterator[Candidate]:
    """Mutants in the order that ``dice`` gives: first the operator, then the function and place."""
    listed = [function for function in functions if function.stands_alone]
    sites: dict[str, dict[int, list[Edit]]] = {}
    for how, operator in OPERATORS.items():
        found = {i: list(operator(function)) for i, function in enumerate(listed)}
        sites[how] = {i: edits for i, edits in found.items() if edits}
    while names := [how for how in OPERATORS if sites[how]]:
        how = dice.choice(names)
        i = dice.choice(list(sites[how]))
        edits = sites[how][i]
        edit = edits.pop(dice.randrange(len(edits)))
        if not edits:
            del sites[how][i]
        candidate = _made(listed[i], how, edit)
        if candidate is not None:
            yield candidate


def _made(function: Function, how: str, edit: Edit) -> Candidate | None:
    """The candidate of ``edit``; None if its file does not parse or means the same."""
    text = function.file.replaced(edit.start, edit.end, edit.text)
    try:
        same = ast.dump(parsed(text)) == ast.dump(function.file.syntax)
    except SyntaxError:
        return None
    first = edit.line or function.body[0].lineno
    last = edit.line or function.body[-1].end_lineno or first
    lines = range(first, last + 1)
    return None if same else Candidate(function=function, how=how, text=text, lines=lines)


def _operator(
    function: Function, left: ast.expr, right: ast.expr, change: tuple[str, str] | None
) -> Iterator[Edit]:
    """Change the operator that stands between two operands, whatever brackets are there too."""
    if change is None:
        return
    (_, start), (end, _) = map(function.file.span, (left, right))
    between = function.file.between(start, end)
    found = re.search(rf"(?<![<>=!*/]){re.escape(change[0])}", between)
    if found and "#" not in between:
        text = between[: found.start()] + change[1] + between[found.end() :]
        yield Edit(start=start, end=end, text=text, line=right.lineno)


def _own(function: Function, kind: type[NodeT]) -> Iterator[NodeT]:
    return (node for node in function.own_nodes() if isinstance(node, kind))


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes))
    )


def _is_effect(node: ast.AST) -> bool:
    """A statement that is there for what it changes, and without which the names still exist."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, (ast.Call, ast.Await))
    if isinstance(node, ast.Assign):
        return all(isinstance(target, (ast.Attribute, ast.Subscript)) for target in node.targets)
    return False


def _other_constant(value: object) -> str:
    """Another constant of the same type as source text; empty if there is none."""
    if isinstance(value, bool):
        return str(not value)
    if isinstance(value, int):
        return str(value + 1)
    if isinstance(value, str):
        return repr("" if value else " ")
    return ""


def _wrong_values(value: ast.expr, text: str) -> Iterator[str]:
    if isinstance(value, ast.Constant):
        other = _other_constant(value.value)
        yield other or "None"
    elif isinstance(value, (ast.Compare, ast.BoolOp)) or (
        isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.Not)
    ):
        yield f"not ({text})"
    elif isinstance(value, ast.Tuple) and len(value.elts) > 1:
        yield ", ".join(ast.unparse(element) for element in reversed(value.elts))
    else:
        yield "None"
