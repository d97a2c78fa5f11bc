"""Single edits: the mistakes that bug fixes of one statement take back, as often as they do.

The weights are thousands of fixes in TSSB-3M, per pattern; the names say what the *fix* does, the
operators do the reverse. Fixes of one statement that fit no pattern and change more than a token
(1,150 thousand) are left to regressions, which are real changes.

Reference:
    Richter, Wehrheim: TSSB-3M: Mining single statement bugs at massive scale. MSR 2022.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING

from benchmarks.suites.edits import Edit, Operator, drawn, operator
from benchmarks.suites.literals import constant_edits, entry_edits
from benchmarks.suites.operators_flow import loop_control, missing_clause
from benchmarks.suites.operators_names import (
    bound_names,
    lost_argument,
    lost_keyword,
    similar_function,
    wrong_attribute,
    wrong_name,
)
from benchmarks.suites.operators_values import (
    assigned_not_added,
    changed_text,
    lost_conversion,
    operand,
    wrong_exception,
)
from benchmarks.suites.spans import called, dotted, exchanged, instead, nearest, own

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterable, Iterator

    from benchmarks.suites.change import Change
    from benchmarks.suites.functions import Function

KIND = "edit"
N_CONFUSED = 2
OTHER_COMPARISONS = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
}
OTHER_ARITHMETIC = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "//"),
    ast.FloorDiv: ("//", "/"),
    ast.Mod: ("%", "//"),
    ast.BitOr: ("|", "&"),
    ast.BitAnd: ("&", "|"),
}


@operator(
    "change binary operand",
    ("def f(a, b):\n    return a + 1\n", "def f(a, b):\n    return b + 1\n"),
    ("def f(a, b):\n    return a < 1\n", "def f(a, b):\n    return a < 2\n"),
)
def other_operand(function: Function) -> Iterator[Edit]:
    """Another variable or number on one side of an operator."""
    bound = bound_names(function)
    for node in function.own_nodes():
        for side in _operands(node):
            if isinstance(side, ast.Constant) and not isinstance(side.value, (str, bytes)):
                yield from constant_edits(function.file, side)
            elif isinstance(side, ast.Name):
                others = {n: [at] for n, at in bound.items() if n != side.id and at < side.lineno}
                for other in nearest(others, side.lineno, N_CONFUSED):
                    yield instead(function.file, side, other)


@operator(
    "same function more args",
    ("def f(a):\n    g(a, b=1)\n", "def f(a):\n    g(a)\n"),
    ("def f(a):\n    return a.get(1, [])\n", "def f(a):\n    return a.get(1)\n"),
)
def fewer_arguments(function: Function) -> Iterator[Edit]:
    """An argument that has a default is forgotten."""
    yield from lost_keyword.edits(function)
    yield from lost_argument.edits(function)


@operator(
    "wrong function name",
    ("def f(a):\n    g(a.strip())\n", "def f(a):\n    g(a.rstrip())\n"),
    (
        "def f(a):\n    return g(a)\n\n\ndef g(a):\n    pass\n\n\ndef h(a):\n    pass\n",
        "def f(a):\n    return h(a)\n\n\ndef g(a):\n    pass\n\n\ndef h(a):\n    pass\n",
    ),
)
def wrong_function(function: Function) -> Iterator[Edit]:
    """A method or builtin that does something alike, or another function of the file."""
    yield from similar_function.edits(function)
    defined = {
        each.qualname: [each.start_line]
        for each in function.file.functions
        if "." not in each.qualname
    }
    for node in own(function, ast.Call):
        if isinstance(node.func, ast.Name) and node.func.id in defined:
            others = {n: lines for n, lines in defined.items() if n != node.func.id}
            for other in nearest(others, defined[node.func.id][0], N_CONFUSED):
                yield instead(function.file, node.func, other)


@operator(
    "add function around expression",
    ("def f(a):\n    g(list(a))\n", "def f(a):\n    g(a)\n"),
    ("def f(a):\n    b = c(a)\n", "def f(a):\n    b = a\n"),
)
def lost_call(function: Function) -> Iterator[Edit]:
    """A value is used as it comes."""
    yield from lost_conversion.edits(function)
    alone = {id(node.value) for node in own(function, ast.Expr)}
    for node in own(function, ast.Call):
        if id(node) in alone or node.keywords or len(node.args) != 1:
            continue
        if isinstance(node.func, ast.Name) and not isinstance(node.args[0], ast.Starred):
            yield instead(function.file, node, operand(function, node.args[0]))


@operator(
    "change numeric literal", ("def f(a):\n    return a[1]\n", "def f(a):\n    return a[2]\n")
)
def other_number(function: Function) -> Iterator[Edit]:
    """Another number."""
    for node in own(function, ast.Constant):
        if isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
            yield from constant_edits(function.file, node)


@operator("more specific if", ("def f(a, b):\n    g(a and b)\n", "def f(a, b):\n    g(a)\n"))
def missing_and(function: Function) -> Iterator[Edit]:
    """A part of a conjunction, or the filter of a comprehension, is forgotten."""
    yield from _clauses(function, lambda node: not isinstance(node, ast.Or))


@operator("less specific if", ("def f(a, b):\n    g(a or b)\n", "def f(a, b):\n    g(a)\n"))
def missing_or(function: Function) -> Iterator[Edit]:
    """A part of a disjunction is forgotten."""
    yield from _clauses(function, lambda node: isinstance(node, ast.Or))


@operator("add method call", ("def f(a):\n    g(a.b())\n", "def f(a):\n    g(a)\n"))
def lost_method(function: Function) -> Iterator[Edit]:
    """A method without arguments is not called."""
    alone = {id(node.value) for node in own(function, ast.Expr)}
    for node in own(function, ast.Call):
        method = node.func
        if not isinstance(method, ast.Attribute) or node.args or node.keywords:
            continue
        if id(node) not in alone and dotted(method.value) not in {"", "self"}:
            yield instead(function.file, node, function.file.segment(method.value))


@operator(
    "add elements to iterable",
    ("def f(a):\n    return a in ('b', 'c')\n", "def f(a):\n    return a in ('b')\n"),
)
def lost_element(function: Function) -> Iterator[Edit]:
    """An element of a list, tuple, set or dict is forgotten."""
    for node in function.own_nodes():
        yield from entry_edits(function.file, node)


@operator(
    "same function less args",
    ("def f(a):\n    g(a)\n    g(a, b=1)\n", "def f(a):\n    g(a, b=1)\n    g(a, b=1)\n"),
)
def more_arguments(function: Function) -> Iterator[Edit]:
    """A keyword argument that another call of the same function in the file has."""
    given = _keywords(function)
    for node in own(function, ast.Call):
        own_keywords = {keyword.arg for keyword in node.keywords}
        end = function.file.span(node)[1] - 1
        gap = ", " if node.args or node.keywords else ""
        if function.file.data[:end].rstrip().endswith(b","):
            continue
        for name, value in given[called(node)].items():
            if name not in own_keywords:
                yield Edit(start=end, end=end, text=f"{gap}{name}={value}")


@operator(
    "change boolean literal", ("def f(a):\n    return True\n", "def f(a):\n    return False\n")
)
def other_boolean(function: Function) -> Iterator[Edit]:
    """True for False, or False for True."""
    for node in own(function, ast.Constant):
        if isinstance(node.value, bool):
            yield instead(function.file, node, str(not node.value))


@operator("add attribute access", ("def f(a):\n    g(a.b)\n", "def f(a):\n    g(a)\n"))
def lost_attribute(function: Function) -> Iterator[Edit]:
    """An object is used instead of one of its attributes."""
    functions = {id(node.func) for node in own(function, ast.Call)}
    for node in own(function, ast.Attribute):
        is_read = isinstance(node.ctx, ast.Load) and id(node) not in functions
        if is_read and dotted(node.value) not in {"", "self", "cls"}:
            yield instead(function.file, node, function.file.segment(node.value))


@operator(
    "change binary operator",
    ("def f(a, b):\n    return a < b\n", "def f(a, b):\n    return a <= b\n"),
    ("def f(a, b):\n    return a and b\n", "def f(a, b):\n    return a or b\n"),
    ("def f(a, b):\n    return a + b\n", "def f(a, b):\n    return a - b\n"),
)
def other_operator(function: Function) -> Iterator[Edit]:
    """Another operator between the same operands."""
    for node in function.own_nodes():
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            for (left, right), op in zip(pairwise(sides), node.ops, strict=True):
                yield from _between(function, left, right, OTHER_COMPARISONS.get(type(op)))
        elif isinstance(node, ast.BinOp):
            yield from _between(
                function, node.left, node.right, OTHER_ARITHMETIC.get(type(node.op))
            )
        elif isinstance(node, ast.BoolOp):
            pair = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
            for left, right in pairwise(node.values):
                yield from _between(function, left, right, pair)


@operator(
    "same function wrong caller",
    ("def f(a, b):\n    a.c()\n    b.c()\n", "def f(a, b):\n    b.c()\n    b.c()\n"),
)
def wrong_caller(function: Function) -> Iterator[Edit]:
    """The method of another object."""
    bound = bound_names(function)
    for node in own(function, ast.Call):
        function_of = node.func
        if isinstance(function_of, ast.Attribute) and isinstance(function_of.value, ast.Name):
            name = function_of.value
            others = {n: [at] for n, at in bound.items() if n != name.id and at < name.lineno}
            for other in nearest(others, name.lineno, N_CONFUSED) if name.id in bound else ():
                yield instead(function.file, name, other)


@operator(
    "change keyword argument used",
    ("def f(a):\n    g(b=a)\n    g(c=1)\n", "def f(a):\n    g(c=a)\n    g(c=1)\n"),
)
def other_keyword(function: Function) -> Iterator[Edit]:
    """The value goes to another keyword, which another call in the file uses."""
    given = _keywords(function)
    for node in own(function, ast.Call):
        used = {keyword.arg for keyword in node.keywords}
        for keyword in node.keywords:
            start = function.file.span(keyword)[0]
            for other in given[called(node)]:
                if keyword.arg is not None and other not in used:
                    end = start + len(keyword.arg.encode())
                    yield Edit(start=start, end=end, text=other)


@operator(
    "change unary operator",
    ("def f(a):\n    return not a\n", "def f(a):\n    return a\n"),
    ("def f(a):\n    if a:\n        g()\n", "def f(a):\n    if not (a):\n        g()\n"),
)
def other_sign(function: Function) -> Iterator[Edit]:
    """A ``not`` or minus is lost, or a condition is the other way round."""
    for node in function.own_nodes():
        if isinstance(node, ast.UnaryOp):
            yield instead(function.file, node, operand(function, node.operand))
        elif isinstance(node, (ast.If, ast.While, ast.IfExp)):
            test = node.test
            if not isinstance(test, ast.UnaryOp):
                yield instead(function.file, test, f"not ({function.file.segment(test)})")


@operator("same function swap args", ("def f(a, b):\n    g(a, b)\n", "def f(a, b):\n    g(b, a)\n"))
def swapped_arguments(function: Function) -> Iterator[Edit]:
    """Two arguments in each other's place."""
    for node in own(function, ast.Call):
        for first, second in pairwise(node.args):
            if not (isinstance(first, ast.Starred) or isinstance(second, ast.Starred)):
                yield exchanged(function.file, first, second)


@operator(
    "change constant type",
    ("def f(a):\n    return 0\n", "def f(a):\n    return '0'\n"),
    ("def f(a):\n    return None\n", "def f(a):\n    return ''\n"),
)
def other_type(function: Function) -> Iterator[Edit]:
    """A constant of another type."""
    for node in own(function, ast.Constant):
        if node.value is None:
            yield instead(function.file, node, "''")
        elif isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
            yield instead(function.file, node, repr(function.file.segment(node)))


@operator(
    "other token",
    ("def f(a):\n    g(a['key'])\n", "def f(a):\n    g(a['ke'])\n"),
    ("def f(a):\n    a += 1\n", "def f(a):\n    a = 1\n"),
)
def other_token(function: Function) -> Iterator[Edit]:
    """Another text, exception, assignment operator, or ``break`` for ``continue``."""
    for each in (changed_text, wrong_exception, assigned_not_added, loop_control):
        yield from each.edits(function)


#: Operators with the thousands of fixes in TSSB-3M that take such a mistake back.
WEIGHTED: tuple[tuple[int, Operator[Function]], ...] = (
    (237, wrong_name),
    (174, other_operand),
    (150, fewer_arguments),
    (134, wrong_function),
    (117, lost_call),
    (104, wrong_attribute),
    (97, other_number),
    (68, missing_and),
    (60, lost_method),
    (57, lost_element),
    (50, more_arguments),
    (37, other_boolean),
    (32, lost_attribute),
    (29, other_operator),
    (25, wrong_caller),
    (22, missing_or),
    (20, other_keyword),
    (15, other_sign),
    (8, swapped_arguments),
    (6, other_type),
    (740, other_token),
)
OPERATORS = tuple(each for _, each in WEIGHTED)


def single_edits(functions: Iterable[Function], dice: random.Random) -> Iterator[Change]:
    """Single edits in the order that ``dice`` gives, frequent patterns more often."""
    listed = [function for function in functions if function.stands_alone]
    weights = [weight for weight, _ in WEIGHTED]
    return drawn(KIND, OPERATORS, listed, dice, weights=weights)


def _operands(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.Compare):
        return [node.left, *node.comparators]
    return node.values if isinstance(node, ast.BoolOp) else []


def _clauses(function: Function, is_wanted: Callable[[ast.boolop | None], bool]) -> Iterator[Edit]:
    """The edits of ``missing_clause`` within conditions of one kind."""
    spans = [(function.file.span(node), node.op) for node in own(function, ast.BoolOp)]
    for edit in missing_clause.edits(function):
        around = [(end - start, op) for (start, end), op in spans if start <= edit.start < end]
        op = min(around, key=lambda each: each[0])[1] if around else None
        if is_wanted(op):
            yield edit


def _between(
    function: Function, left: ast.expr, right: ast.expr, pair: tuple[str, str] | None
) -> Iterator[Edit]:
    """The operator between two operands written in another way."""
    if pair is None:
        return
    start, end = function.file.span(left)[1], function.file.span(right)[0]
    text = function.file.between(start, end)
    if pair[0] in text:
        yield Edit(start=start, end=end, text=text.replace(pair[0], pair[1], 1))


def _keywords(function: Function) -> dict[str, dict[str, str]]:
    """Per called name, the keywords with a value that calls in the file give."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for each in function.file.functions:
        for node in own(each, ast.Call):
            for keyword in node.keywords:
                if keyword.arg is not None:
                    value = function.file.segment(keyword.value)
                    found[called(node)].setdefault(keyword.arg, value)
    return found
