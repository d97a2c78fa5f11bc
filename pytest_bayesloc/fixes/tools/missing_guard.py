"""Empty or None where something is needed: the function leaves early, or a default stands in."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from pytest_bayesloc.domain.fixing import Level
from pytest_bayesloc.domain.source import FunctionNode, ScopeNode, tree_of
from pytest_bayesloc.fixes.calls import adding, is_placed, picked
from pytest_bayesloc.fixes.library import package_tool
from pytest_bayesloc.fixes.project import Made, Project, Task
from pytest_bayesloc.syntax.expressions import PLAIN_VALUES
from pytest_bayesloc.syntax.nodes import (
    LOOPS,
    bound_name,
    called_name,
    holds,
    nodes_inside,
    nodes_of,
    own_nodes,
    statement_at,
    walk,
)
from pytest_bayesloc.syntax.text import Text, brief

MAX_VALUES = 5
_WITH_NONE = re.compile(r"'(?:(\w+)' and 'NoneType|NoneType' and '(\w+))'")
_PLAIN = {"int": "0", "float": "0", "str": "''", "list": "[]", "dict": "{}", "bool": "False"}
_SIZES = frozenset({"len", "sum", "sorted", "list", "tuple", "set", "iter", "max", "min", "abs"})
_EXTREMES = re.compile(r"arg is an empty sequence|iterable argument is empty")


@package_tool(
    "Something is None or empty where a value is needed. Returns early in that case, or gives"
    " a default.",
    error_pattern=r"NoneType|out of range|empty|^ZeroDivisionError"
    r"|data point|, got 0\)|^KeyError: |^StopIteration",
    level=Level.UNSAFE,
    priority="low",
)
def missing_guard(task: Task, _project: Project) -> Iterator[Made]:
    """The function with a guard before the line, for each thing that may be missing there."""
    text = task.text
    if task.filename == task.test_file:
        return  # a test is never to leave early
    function, statement = task.function, _statement(task.tree, task.line)
    if function is None or statement is None or isinstance(statement, ScopeNode):
        return
    yield from _with_default(task)
    yield from _started(task)
    parts = [part for node in task.nodes for part in _needed(node, task) if is_placed(text, part)]
    # What only the line itself binds, and modules: no guard can ask for them.
    targets = (n.target for n in task.nodes if isinstance(n, ast.comprehension))
    bound = {n.id for target in targets for n in nodes_of(target, ast.Name)}
    bound |= {a.arg for n in task.nodes if isinstance(n, ast.Lambda) for a in n.args.args}
    bound |= {bound_name(a) for n in nodes_of(task.tree, ast.Import) for a in n.names}
    names = [ast.unparse(_inside(part)) for part in parts if _is_plain(part)]
    is_none = "NoneType" in task.message
    yield from _asked_first(task, dict.fromkeys(names), is_none=is_none)
    names = [n for n in dict.fromkeys(names) if n.partition(".")[0] not in bound]
    loops = (n for n in own_nodes(function) if isinstance(n, LOOPS))
    on = ["continue"] if any(holds(n, task.line) for loop in loops for n in loop.body) else []
    guards = [
        (i + j, i, name, left)
        for i, name in enumerate(name for name in names if name not in {"self", "cls"})
        for j, left in enumerate((*on, *_returns(function, task.test, name)))
    ]
    for _, _, name, left in sorted(guards, key=lambda guard: guard[:2]):
        test = f"{name} is None" if is_none else f"not {name}"
        if edit := text.guard(statement, test, left, f"`{left}` if `{test}`"):
            yield edit


#: Statements without which all names are still bound.
_EFFECTS = (ast.Expr, ast.AugAssign, ast.Delete, ast.For)


def _asked_first(task: Task, names: Iterable[str], *, is_none: bool) -> Iterator[Made]:
    """A clause or a statement that is reached only if what it needs is there."""
    text, statement = task.text, statement_at(task.tree, task.line)
    if statement is None:
        return
    for name in (name for name in names if name not in {"self", "cls"}):
        test = f"{name} is not None" if is_none else name
        for condition in _conditions(statement):
            clauses = condition.values if isinstance(condition, ast.BoolOp) else [condition]
            uses = (
                c for c in clauses if any(ast.unparse(n) == name for n in nodes_of(c, ast.expr))
            )
            for clause in islice(uses, 1):  # what follows it is asked later
                is_loose = isinstance(clause, (ast.BoolOp, ast.IfExp, ast.Lambda, ast.NamedExpr))
                said = f"({text.of(clause)})" if is_loose else text.of(clause)
                made = f"{test} and {said}"
                is_or = isinstance(getattr(condition, "op", None), ast.Or)
                yield text.replace(clause, f"({made})" if is_or else made, f"`{test} and`")
        if isinstance(statement, _EFFECTS):
            edit = text.below(statement, f"if {test}:", f"only `if {test}`")
            yield from [edit] if edit else []


def _conditions(statement: ast.stmt) -> Iterator[ast.expr]:
    """The conditions that a statement asks, without those of statements in it."""
    if isinstance(statement, (ast.If, ast.While)):
        yield statement.test
        return
    if isinstance(statement, ast.Return) and isinstance(statement.value, (ast.BoolOp, ast.Compare)):
        yield statement.value
    for part in nodes_inside(statement) if not hasattr(statement, "body") else ():
        yield from [part.test] if isinstance(part, ast.IfExp) else getattr(part, "ifs", ())


def _statement(tree: ast.Module, line: int) -> ast.stmt | None:
    """The statement before which a guard goes: of an ``elif``, the ``if`` that it belongs to."""
    statement = statement_at(tree, line)
    chained = {
        id(node.orelse[0]): node
        for node in nodes_of(tree, ast.If)
        if len(node.orelse) == 1
        and isinstance(node.orelse[0], ast.If)
        and node.orelse[0].col_offset == node.col_offset
    }
    while statement is not None and id(statement) in chained:
        statement = chained[id(statement)]
    return statement


def _needed(node: ast.AST, task: Task) -> Sequence[ast.expr]:
    """Returns the operands of ``node`` that the error may be about."""
    said = f"{task.error_type}: {task.message}"
    owner = _ATTRIBUTE.search(said)
    if owner is not None:
        if isinstance(node, ast.Attribute) and node.attr == owner.group(1):
            return [node.value]
        return []
    return picked(node, next((roles for pattern, roles in _ROLES if re.search(pattern, said)), ""))


_ATTRIBUTE = re.compile(r"'NoneType' object has no attribute '(\w+)'")
#: The roles of what the error may be about.
_ROLES = (
    (r"^ZeroDivisionError: ", "divisor"),
    (r"^IndexError: ", "taken from|indexed"),
    (r"^TypeError: .*'?NoneType.*(subscriptable|item assignment|item deletion)", "indexed"),
    (r"^TypeError: 'NoneType' object is not callable", "function"),
    (r"^TypeError: (argument of type 'NoneType'|.*'NoneType'.* not a container)", "more"),
    (r"^TypeError: .*NoneType.*(not iterable|unpack)|NoneType is not iterable", "looped|given"),
    (r"^TypeError: cannot unpack non-iterable NoneType", "looped|given"),
    (
        r"^TypeError: .*(operand type|not supported between|concatenate).*NoneType",
        "sides|given",
    ),
    (r"^TypeError: .*NoneType", "given"),
    (r"^ValueError: not enough values to unpack \(expected .*, got 0\)", "looped|given"),
    (r"^\w+Error: .*(arg is an empty|argument is empty|data point|for empty)", "given"),
)


def _inside(node: ast.expr) -> ast.expr:
    """``x`` of ``len(x)`` and ``sum(x)``: what is empty where that is 0."""
    while isinstance(node, ast.Call) and ast.unparse(node.func) in _SIZES and node.args:
        node = node.args[0]
    return node


def _is_plain(node: ast.expr) -> bool:
    node = _inside(node)
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _returns(function: FunctionNode, test: str, name: str) -> list[str]:
    """Returns the statements that may end the function instead, the likeliest first."""
    nodes = list(own_nodes(function))
    if any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in nodes):
        return ["return"]
    kept_values = [n.value for n in nodes if isinstance(n, ast.Return) and n.value is not None]
    simple = (ast.Constant, ast.List, ast.Dict)
    constants = [ast.unparse(v) for v in kept_values if isinstance(v, simple)]
    kinds: list[str] = []
    if function.returns is not None:
        said = ast.unparse(function.returns)
        kinds.append("None" if re.search("None|Optional", said) else said.partition("[")[0])
    for kept in kept_values:
        if isinstance(kept, ast.Call) and ast.unparse(kept.func) in _PLAIN:
            kinds.append(ast.unparse(kept.func))
        kinds += [name for shapes, name in _SHAPES if isinstance(kept, shapes)]
    last = ["None", "0", "[]", "''", name] if kept_values else [""]
    expected = _expected(function.name, test) if kept_values else []
    values = dict.fromkeys(
        (*expected, *constants, *(_PLAIN.get(kind, "None") for kind in kinds), *last)
    )
    return [f"return {value}".rstrip() for value in values][:MAX_VALUES]


def _expected(name: str, test: str) -> list[str]:
    """The plain values that a test compares its calls with, of empty arguments first."""
    found = []
    tree = tree_of(textwrap.dedent(test))
    for node in walk(tree) if tree is not None else ():
        if not isinstance(node, ast.Compare) or not isinstance(node.ops[0], (ast.Eq, ast.Is)):
            continue
        for call, value in ((node.left, node.comparators[0]), (node.comparators[0], node.left)):
            text = ast.unparse(value)
            if isinstance(call, ast.Call) and called_name(call) == name and text in PLAIN:
                is_empty = any(ast.unparse(part) in _NOTHING for part in call.args)
                found.append((not is_empty, text))
    return [value for _, value in sorted(found, key=lambda pair: pair[0])][:2]


PLAIN = PLAIN_VALUES | {"0.0", "b''", "set()"}
_NOTHING = PLAIN - {"True", "False"} | {"iter([])"}


_SHAPES = (
    ((ast.BinOp, ast.UnaryOp), "int"),
    ((ast.ListComp, ast.List), "list"),
    ((ast.JoinedStr,), "str"),
    ((ast.Compare, ast.BoolOp), "bool"),
)


def _with_default(task: Task) -> Iterator[Made]:
    """A default in the expression itself: ``.get``, ``or ()``, ``default=``."""
    text, is_loop = task.text, "'NoneType' object is not iterable" in task.message
    for node in (n for n in task.nodes if not isinstance(n, ast.expr) or is_placed(text, n)):
        if task.error_type == "KeyError":
            yield from _got(text, node, task.message)
        elif is_loop and isinstance(node, (ast.For, ast.comprehension)) and _is_plain(node.iter):
            yield _replaced(text, node.iter, f"{text.of(node.iter)} or ()")
        elif isinstance(node, ast.Call) and _EXTREMES.search(task.message):
            yield from _extreme(text, node, {"max", "min"}, ("default=0", "default=None"))
        elif isinstance(node, ast.Call) and task.error_type == "StopIteration":
            yield from _extreme(text, node, {"next"}, ("None", "0", "''"))


def _started(task: Task) -> Iterator[Made]:
    """A default for what is None, or what ``get`` does not find, of the type that it meets."""
    other = _WITH_NONE.search(task.message)
    for side in (part for node in task.nodes for part in picked(node, "sides|given")):
        value = _PLAIN.get(other[1] or other[2], "0") if other is not None else ""
        if value and isinstance(side, ast.Call) and called_name(side) == "get":
            yield from _extreme(task.text, side, {ast.unparse(side.func)}, (value,))
        elif value and isinstance(side, (ast.Name, ast.Attribute)):
            yield _replaced(task.text, side, f"({task.text.of(side)} or {value})")


def _got(text: Text, node: ast.AST, missing: str) -> Iterator[Made]:
    part = node.target if isinstance(node, ast.AugAssign) else node
    if not isinstance(part, ast.Subscript) or isinstance(part.slice, ast.Slice):
        return
    if isinstance(part.slice, ast.Constant) and repr(part.slice.value) != missing:
        return
    base, said = text.of(part.value), text.of(part.slice)
    first = part.slice.elts[:1] if isinstance(part.slice, ast.Tuple) else []
    is_open = any(text.start(item) == text.start(part.slice) for item in first)
    key = f"({said})" if is_open else said
    if isinstance(node, ast.AugAssign):
        between = text.between(text.end(part), text.start(node.value))
        sign = between.strip().removesuffix("=").strip()
        for start in ("0", "''", "[]"):
            value = f"{base}[{said}] = {base}.get({key}, {start}) {sign} {text.of(node.value)}"
            words = f"`{base}[{said}]` starts as {start}"
            yield text.replace(node, value, words)
    elif isinstance(part.ctx, ast.Load):
        for more in ("", ", 0", ", ''"):
            yield _replaced(text, part, f"{base}.get({key}{more})")


def _extreme(
    text: Text, node: ast.Call, names: set[str], defaults: tuple[str, ...]
) -> Iterator[Made]:
    """A call with a default for what is empty."""
    is_one = len(node.args) == 1 and not isinstance(node.args[0], ast.Starred)
    has_default = any(keyword.arg in {"default", None} for keyword in node.keywords)
    if ast.unparse(node.func) in names and is_one and not has_default:
        for default in defaults:
            words = f"`{default}` for `{brief(text.of(node))}` if there is nothing"
            yield adding(text, node, default, words)


def _replaced(text: Text, node: ast.expr, made: str) -> Made:
    words = f"`{brief(text.of(node))}` becomes `{brief(made)}`"
    return text.replace(node, made, words)
