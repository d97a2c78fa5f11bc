"""Types of expressions, and the conditions under which code refuses to go on."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from pytest_bayesloc.domain.source import FunctionNode
from pytest_bayesloc.syntax.nodes import names_in, nodes_of, spans, walk

#: Values that code gives for what is missing, whatever it is about.
PLAIN_VALUES = frozenset({"None", "True", "False", "0", "''", "[]", "()", "{}"})
LEAST_ENTRIES = 2  # of a table, for one more to be of their kind
TABLES = (ast.List, ast.Tuple, ast.Set, ast.Dict)
KINDS = frozenset({"bool", "bytes", "dict", "float", "int", "list", "set", "str", "tuple"})
_RESULTS = {
    **dict.fromkeys(("isinstance", "issubclass", "hasattr", "callable", "any", "all"), "bool"),
    **dict.fromkeys((".startswith", ".endswith", ".isdigit", ".isalpha", ".isspace"), "bool"),
    "sorted": "list",
    "len": "int",
    "repr": "str",
}
_DISPLAYS: Mapping[type[ast.AST], str] = {
    ast.List: "list",
    ast.ListComp: "list",
    ast.Dict: "dict",
    ast.DictComp: "dict",
    ast.Set: "set",
    ast.SetComp: "set",
    ast.Tuple: "tuple",
    ast.JoinedStr: "str",
    ast.Compare: "bool",
}
_GIVES = (ast.Return, ast.Yield, ast.YieldFrom)
_INVERSE: dict[type[ast.cmpop], ast.cmpop] = {
    ast.Lt: ast.GtE(),
    ast.LtE: ast.Gt(),
    ast.Gt: ast.LtE(),
    ast.GtE: ast.Lt(),
    ast.Eq: ast.NotEq(),
    ast.NotEq: ast.Eq(),
    ast.Is: ast.IsNot(),
    ast.IsNot: ast.Is(),
    ast.In: ast.NotIn(),
    ast.NotIn: ast.In(),
}


#: Methods of built-in containers after which they have another number of items.
RESIZING = frozenset(
    {"add", "append", "appendleft", "clear", "discard", "extend", "extendleft", "insert", "pop",
     "popitem", "popleft", "remove"}
)  # fmt: skip
#: Methods of built-in containers that change them.
CHANGING = RESIZING | {"reverse", "setdefault", "sort", "update"}

#: Expressions that need no brackets around them.
PARTS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant)


def is_literal(value: str | ast.expr) -> bool:
    """Whether an expression is made of literals alone."""
    try:
        ast.literal_eval(value)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return False
    return True


def on_one_line(expression: str) -> str:
    """The text of an expression on one line.

    Raises:
        SyntaxError: If it is none.
        ValueError: If it holds null bytes.
    """
    return ast.unparse(ast.parse(expression.strip(), mode="eval"))


def names_of(expression: str) -> set[str]:
    """The names that the text of an expression reads."""
    return names_in(ast.parse(expression, mode="eval"))


def entries_of(table: ast.expr) -> list[ast.Constant]:
    """The entries of a list, tuple or set of constants; no items of another.

    Of a dictionary its keys, if it repeats one value, or each key.
    """
    entries: Sequence[ast.expr | None] = ()
    match table:
        case ast.List(elts=elements) | ast.Tuple(elts=elements) | ast.Set(elts=elements):
            entries = elements
        case ast.Dict(keys=keys, values=values):
            said = list(map(ast.dump, values))
            is_repeated = len(set(said)) == 1 or said == [ast.dump(k) for k in keys if k]
            entries = keys if is_repeated else ()
    plain = [entry for entry in entries if isinstance(entry, ast.Constant)]
    return plain if len(plain) == len(entries) else []


def kind_of(node: ast.expr, names: Mapping[str, str] = MappingProxyType({})) -> str:
    """The name of the built-in type that an expression surely has; empty if it may have others.

    Args:
        node: The expression.
        names: Types of variables, as far as they are known.
    """
    match node:
        case ast.Constant(value=value):
            kind = type(value).__name__
        case ast.Name(id=name):
            kind = names.get(name, "")
        case ast.BoolOp(values=parts):
            kind = _common_kind([kind_of(part, names) for part in parts])
        case ast.IfExp(body=body, orelse=other):
            kind = _common_kind([kind_of(body, names), kind_of(other, names)])
        case ast.UnaryOp(op=ast.Not()):
            kind = "bool"
        case ast.Call(func=ast.Name(id=name)):
            kind = name if name in KINDS else _RESULTS.get(name, "")
        case ast.Call(func=ast.Attribute(attr=name)):
            kind = _RESULTS.get(f".{name}", "")
        case _:
            kind = _DISPLAYS.get(type(node), "")
    return kind


def _common_kind(kinds: Sequence[str]) -> str:
    return kinds[0] if len(set(kinds)) == 1 else ""


def extremes(function: ast.AST) -> Iterator[tuple[ast.Assign, ast.For | ast.While]]:
    """Yield where the search for a largest or smallest item begins with a number, and its loop."""
    starts = {
        target.id: node
        for node in nodes_of(function, ast.Assign)
        for target in node.targets[:1]
        if isinstance(target, ast.Name) and kind_of(node.value) in {"int", "float"}
    }
    loops: list[ast.For | ast.While] = []
    if starts:
        loops += [*nodes_of(function, ast.For), *nodes_of(function, ast.While)]
    for loop in loops:
        for asked in nodes_of(loop, ast.If):
            compared = names_in(asked.test) if isinstance(asked.test, ast.Compare) else frozenset()
            for node in nodes_of(asked, ast.Assign):
                kept = node.targets[0]
                if isinstance(kept, ast.Name) and kept.id in compared and kept.id in starts:
                    yield starts[kept.id], loop


def is_json(text: str) -> bool:
    """Whether a text is JSON."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def guarding(
    function: ast.AST, line: int, *, refusing: tuple[type[ast.stmt], ...] = (ast.Raise,)
) -> list[ast.expr]:
    """The condition of the ``if`` right around the ``raise`` at ``line``, or of the ``assert``.

    Behind it those of the statements around it; empty if nothing guards the line directly.
    ``refusing`` are the statements that count as a ``raise``.
    """
    around: list[ast.expr] = []
    found: list[ast.expr] = []
    for node in walk(function):  # outer statements come before inner ones
        if isinstance(node, ast.If) and spans(node, line):
            around.insert(0, node.test)
            inside = (*node.body, *node.orelse)
            if any(isinstance(s, refusing) and spans(s, line) for s in inside):
                found = around
        elif isinstance(node, ast.While) and spans(node, line):
            around.insert(0, node.test)
        elif isinstance(node, ast.Assert) and spans(node, line):
            found = [node.test, *around]
    return found


def demanded(function: ast.AST, line: int) -> str:
    """Returns what must hold for the ``raise`` or ``assert`` at ``line`` not to fire, if anything.

    ``if n < 2 * k: raise ...`` demands ``n >= 2 * k``.
    """
    conditions = guarding(function, line)
    if not conditions:
        return ""
    for node in walk(function):
        if isinstance(node, ast.Assert) and spans(node, line):
            return ast.unparse(conditions[0])
        if isinstance(node, ast.If) and node.test is conditions[0]:
            refuses = any(spans(statement, line) for statement in node.body)
            return ast.unparse(conditions[0] if not refuses else negated(conditions[0]))
    return ""


def only_raises(function: ast.AST) -> bool:
    """Whether ``function`` never returns: it ends in a ``raise``, and returns and yields nothing.

    An abstract method, say, or a helper that makes the exception. Who calls it decides to raise.
    """
    if not isinstance(function, FunctionNode) or not isinstance(function.body[-1], ast.Raise):
        return False
    return not any(isinstance(node, _GIVES) for node in walk(function))


def negated(condition: ast.expr) -> ast.expr:
    """The opposite of ``condition``, without a ``not`` where there is a plainer way."""
    if isinstance(condition, ast.UnaryOp) and isinstance(condition.op, ast.Not):
        return condition.operand
    if isinstance(condition, ast.Compare) and len(condition.ops) == 1:
        inverse = _INVERSE[type(condition.ops[0])]
        return ast.Compare(condition.left, [inverse], condition.comparators)
    if isinstance(condition, ast.BoolOp):
        other = ast.And() if isinstance(condition.op, ast.Or) else ast.Or()
        return ast.BoolOp(other, [negated(value) for value in condition.values])
    return ast.UnaryOp(ast.Not(), condition)


# How much is checked: the exact value, a relation, or that something is there.
EXACT, RELATION, TRUTH = 3, 2, 1
ANY_ERROR = frozenset({"Exception", "BaseException"})


def strength(function: ast.AST) -> int:
    """Return how much the statements and calls of a test check together."""
    total = 0
    for node in walk(function):
        match node:
            case ast.Assert(test=test):
                total += _of_condition(test)
            case ast.Call(func=ast.Attribute(attr="raises"), args=args):
                is_any = any(isinstance(arg, ast.Name) and arg.id in ANY_ERROR for arg in args)
                total += TRUTH if is_any else RELATION
            case ast.Call(func=ast.Attribute(attr=name)) if name.startswith("assert"):
                total += {"assertEqual": EXACT, "assertTrue": TRUTH}.get(name, RELATION)
    return total


def _of_condition(test: ast.expr) -> int:
    match test:
        case ast.Constant():
            return 0
        case ast.BoolOp(op=ast.And(), values=values):
            return sum(map(_of_condition, values))
        case ast.BoolOp(values=values):
            return min(map(_of_condition, values))
        case ast.Compare(ops=[ast.Eq() | ast.Is(), *_]):
            return EXACT
        case ast.Compare(ops=[first, *_]) if not isinstance(first, ast.IsNot):
            return RELATION
    return TRUTH
