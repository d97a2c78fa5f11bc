"""Mutation operators: what a small mistake might have been, undone.

Each takes a function's syntax and its file's text and gives edits. ``OPERATORS`` orders them by how
often their kind of mistake is met; each has examples there, which the tests run.

Reference:
    Papadakis, Le Traon: Metallaxis-FL. STVR 2015; Zhang, Gupta, Gupta: Locating faults through
    automated predicate switching. ICSE 2006.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pytest_bayesloc.domain.edits import Edit, Text, own, own_nodes
from pytest_bayesloc.domain.source import FunctionNode

Operate = Callable[[ast.AST, Text], Iterator[Edit]]

MAX_BITS = 64  # of a constant that is changed: longer ones are no counts, and slow to write

_COMPARISONS: dict[type[ast.AST], tuple[str, tuple[str, ...]]] = {
    ast.Lt: ("<", ("<=", ">")),
    ast.LtE: ("<=", ("<", ">=")),
    ast.Gt: (">", (">=", "<")),
    ast.GtE: (">=", (">", "<=")),
    ast.Eq: ("==", ("!=",)),
    ast.NotEq: ("!=", ("==",)),
    ast.Is: ("is", ("is not",)),
    ast.IsNot: ("is not", ("is",)),
    ast.In: ("in", ("not in",)),
    ast.NotIn: ("not in", ("in",)),
}
_ARITHMETIC: dict[type[ast.AST], tuple[str, tuple[str, ...]]] = {
    ast.Add: ("+", ("-",)),
    ast.Sub: ("-", ("+",)),
    ast.Mult: ("*", ("/", "+")),
    ast.Div: ("/", ("*", "//")),
    ast.FloorDiv: ("//", ("/",)),
    ast.Mod: ("%", ("//",)),
    ast.BitAnd: ("&", ("|",)),
    ast.BitOr: ("|", ("&",)),
    ast.LShift: ("<<", (">>",)),
    ast.RShift: (">>", ("<<",)),
}


def _conditions(function: ast.AST) -> Iterator[ast.expr]:
    """What the branches of a function are decided by."""
    for node in own_nodes(function):
        if isinstance(node, (ast.If, ast.While, ast.IfExp)):
            yield node.test
        elif isinstance(node, ast.comprehension):
            yield from node.ifs


def _negate_condition(function: ast.AST, text: Text) -> Iterator[Edit]:
    for test in _conditions(function):
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            yield text.replace(test, _whole(text.of(test.operand)), "condition no longer negated")
        else:
            yield text.replace(test, f"(not ({text.of(test)}))", "condition negated")


def _relax_condition(function: ast.AST, text: Text) -> Iterator[Edit]:
    """Make a condition always true or always false, or drop one of its clauses."""
    loops = {id(node.test) for node in own(function, ast.While)}
    for test in _conditions(function):
        if isinstance(test, ast.Constant) or _binds(test):
            continue
        if id(test) not in loops:
            yield text.replace(test, "True", "condition always true")
        yield text.replace(test, "False", "condition always false")
    for node in own(function, ast.BoolOp):
        for i, clause in enumerate(node.values):
            rest = [text.of(value) for n, value in enumerate(node.values) if n != i]
            word = " and " if isinstance(node.op, ast.And) else " or "
            what = f"clause `{text.of(clause)}` dropped"
            yield text.replace(node, f"({word.join(f'({part})' for part in rest)})", what)


def _change_comparison(function: ast.AST, text: Text) -> Iterator[Edit]:
    for node in own(function, ast.Compare):
        operands = [node.left, *node.comparators]
        for left, operator, right in zip(operands, node.ops, operands[1:], strict=False):
            yield from _operator(text, left, right, _COMPARISONS.get(type(operator)))


def _change_arithmetic(function: ast.AST, text: Text) -> Iterator[Edit]:
    for node in own(function, ast.BinOp):
        if not _is_text(node.left):  # a template on the left of % is no number
            yield from _operator(text, node.left, node.right, _ARITHMETIC.get(type(node.op)))
    for change in own(function, ast.AugAssign):
        yield from _operator(text, change.target, change.value, _ARITHMETIC.get(type(change.op)))


def _change_boolean(function: ast.AST, text: Text) -> Iterator[Edit]:
    for node in own(function, ast.BoolOp):
        word, other = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:], strict=False):
            yield from _operator(text, left, right, (word, (other,)))


def _change_constant(function: ast.AST, text: Text) -> Iterator[Edit]:
    for node in own(function, ast.Constant):
        value = node.value
        if isinstance(value, bool):
            yield text.replace(node, str(not value), f"{value} to {not value}")
        elif isinstance(value, int) and value.bit_length() <= MAX_BITS:
            for other in (value + 1, value - 1):
                written = str(other) if other >= 0 else f"({other})"
                yield text.replace(node, written, f"{value} to {other}")


def _swap_arguments(function: ast.AST, text: Text) -> Iterator[Edit]:
    for node in own(function, ast.Call):
        for left, right in zip(node.args, node.args[1:], strict=False):
            if isinstance(left, ast.Starred) or isinstance(right, ast.Starred):
                continue
            first, second = text.of(left), text.of(right)
            if first != second and not isinstance(right, ast.GeneratorExp):
                start, end = text.start(left), text.end(right)
                between = text.between(text.end(left), text.start(right))
                yield _edit(left, start, end, f"{second}{between}{first}", "arguments swapped")


def _drop_statement(function: ast.AST, text: Text) -> Iterator[Edit]:
    for node in own_nodes(function):
        if isinstance(node, ast.stmt) and _is_effect(node):
            yield text.replace(node, "pass", f"`{_head(text.of(node))}` dropped")


def _change_return(function: ast.AST, text: Text) -> Iterator[Edit]:
    """Return something else: what stands in another ``return``, a parameter, or a plain value."""
    returns = [node for node in own(function, ast.Return) if node.value is not None]
    others = [_whole(text.of(node.value)) for node in returns if node.value is not None]
    for node in returns:
        value = node.value
        assert value is not None  # noqa: S101 - chosen above
        for other in dict.fromkeys((*_plain_values(value), *others, *_parameters(function))):
            if other != _whole(text.of(value)):
                yield text.replace(value, other, f"returns `{_head(other)}`")


def _edit(node: ast.expr, start: int, end: int, changed: str, words: str) -> Edit:
    return Edit(start=start, end=end, text=changed, line=node.lineno, words=words)


def _operator(
    text: Text, left: ast.expr, right: ast.expr, change: tuple[str, tuple[str, ...]] | None
) -> Iterator[Edit]:
    """Put other operators between two operands, whatever brackets are there too."""
    if change is None:
        return
    old, others = change
    start, end = text.end(left), text.start(right)
    between = text.between(start, end)
    if "#" in between or start > end:
        return
    written = r"\s+".join(map(re.escape, old.split()))
    found = re.search(written if old[0].isalpha() else rf"(?<![<>=!*/]){written}", between)
    if found is None:
        return
    for other in others:
        changed = between[: found.start()] + other + between[found.end() :]
        yield _edit(right, start, end, changed, f"`{old}` to `{other}`")


def _binds(test: ast.expr) -> bool:
    return any(isinstance(node, ast.NamedExpr) for node in ast.walk(test))


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes))
    )


def _is_effect(node: ast.stmt) -> bool:
    """A statement that is there for what it does, and without which the names still exist."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, (ast.Call, ast.Await))
    if isinstance(node, ast.Assign):
        return all(isinstance(target, (ast.Attribute, ast.Subscript)) for target in node.targets)
    if isinstance(node, ast.If):
        last = node.body[-1]
        return not node.orelse and isinstance(last, (ast.Return, ast.Raise, ast.Continue))
    return isinstance(node, (ast.AugAssign, ast.Raise, ast.Delete, ast.Break))


def _plain_values(value: ast.expr) -> list[str]:
    if isinstance(value, (ast.Compare, ast.BoolOp)):
        return ["True", "False"]
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.Not):
        return ["True", "False"]
    if isinstance(value, ast.Constant):
        return {"True": ["False"], "False": ["True"]}.get(repr(value.value), ["None"])
    return ["None"]


def _parameters(function: ast.AST) -> list[str]:
    if not isinstance(function, FunctionNode):
        return []
    names = [arg.arg for arg in (*function.args.posonlyargs, *function.args.args)]
    return [name for name in names if name != "cls"][:3]


def _whole(text: str) -> str:
    """``text`` that may stand where no brackets are around it."""
    return f"({text})" if "\n" in text or "\r" in text else text


def _head(text: str) -> str:
    """The first line of ``text``, shortened."""
    line = text.partition("\n")[0].strip()
    return line if len(line) <= 50 else f"{line[:47]}..."


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """One way to change a function.

    Attributes:
        name: What it is called.
        operate: Gives its edits.
        examples: Text before and after, for each thing that it does.
    """

    name: str
    operate: Operate
    examples: tuple[tuple[str, str], ...]


OPERATORS: tuple[Operator, ...] = (
    Operator(
        name="negate condition",
        operate=_negate_condition,
        examples=(
            ("if a: b()", "if (not (a)): b()"),
            ("if not a: b()", "if a: b()"),
            ("x = [i for i in y if i]", "x = [i for i in y if (not (i))]"),
        ),
    ),
    Operator(
        name="relax condition",
        operate=_relax_condition,
        examples=(
            ("if a: b()", "if True: b()"),
            ("while a: b()", "while False: b()"),
            ("x = a and b or c", "x = ((c))"),
        ),
    ),
    Operator(
        name="change comparison",
        operate=_change_comparison,
        examples=(
            ("x = a < b <= c", "x = a <= b <= c"),
            ("x = (a) is  not b", "x = (a) is b"),
            ("x = a not in b", "x = a in b"),
        ),
    ),
    Operator(
        name="change boolean",
        operate=_change_boolean,
        examples=(("x = a and b", "x = a or b"), ("x = a or (b)", "x = a and (b)")),
    ),
    Operator(
        name="change constant",
        operate=_change_constant,
        examples=(("x = 2", "x = 3"), ("x = 0", "x = (-1)"), ("f(y=True)", "f(y=False)")),
    ),
    Operator(
        name="change return",
        operate=_change_return,
        examples=(
            ("return a < b", "return True"),
            ("return True", "return False"),
            ("return a", "return None"),
            ("if a:\n        return b\n    return c", "if a:\n        return c\n    return c"),
        ),
    ),
    Operator(
        name="drop statement",
        operate=_drop_statement,
        examples=(
            ("f()", "pass"),
            ("a.b = c", "pass"),
            ("if a:\n        raise B\n    c()", "pass\n    c()"),
        ),
    ),
    Operator(
        name="change arithmetic",
        operate=_change_arithmetic,
        examples=(("x = a - 1", "x = a + 1"), ("x //= y", "x /= y"), ("x = a % b", "x = a // b")),
    ),
    Operator(
        name="swap arguments",
        operate=_swap_arguments,
        examples=(("f(a, b, c)", "f(a, c, b)"), ("f(a,  (b))", "f(b,  (a))")),
    ),
)
