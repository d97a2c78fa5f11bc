"""A list, dict or set as a default, which all calls share: made anew in each call instead."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from pytest_bayesloc.domain.fixing import Level
from pytest_bayesloc.domain.source import FunctionNode
from pytest_bayesloc.fixes.library import package_tool
from pytest_bayesloc.fixes.project import Project, Proposal, Task, proposal
from pytest_bayesloc.fixes.syntax import Text, first_statement, functions_in, nodes_of

MAKERS = frozenset({"list", "dict", "set", "defaultdict", "deque", "Counter", "OrderedDict"})
#: Methods that only look.
LOOKS = frozenset({"get", "items", "keys", "values", "index", "count", "copy", "union"})
#: Functions that only look, or copy.
READERS = frozenset(
    {"len", "sum", "sorted", "list", "tuple", "set", "frozenset", "dict", "any", "all", "max",
     "min", "str", "repr", "print", "bool", "isinstance", "type", "enumerate", "range"}
)  # fmt: skip
_LATE = "annotations"
_DISPLAYS = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)


@package_tool(
    "A default value is a list, dict or set that all calls share, so that one call sees what "
    "another left. Makes it anew in each call.",
    error_pattern=r"^(\w*(Error|Exception)|Failed)\b",
    level=Level.SAFE,
    priority="medium",
)
def mutable_default(task: Task, _project: Project) -> Iterator[Proposal]:
    """The file with each mutable default of what was executed made in the function."""
    lines = task.executed
    functions = functions_in(task.tree)
    is_late = any(
        isinstance(n, ast.ImportFrom) and n.module == "__future__" and n.names[0].name == _LATE
        for n in task.tree.body
    )
    # The body alone: the line of ``def`` is executed when the file is imported.
    ranks = [(_rank(function, lines), function) for function in functions]
    executed = [pair for pair in ranks if pair[0] < len(lines)]
    for _, function in sorted(executed, key=lambda pair: pair[0]):
        for parameter, default in _defaults(function):
            if is_mutable(default) and _is_shared(function, parameter.arg):
                yield _made_anew(task.text, function, (parameter, default), is_late=is_late)


def _rank(function: FunctionNode, lines: list[int]) -> int:
    """Returns the rank of a function: the place of its first executed line."""
    body = range(function.body[0].lineno, (function.end_lineno or 0) + 1)
    return next((rank for rank, line in enumerate(lines) if line in body), len(lines))


def _defaults(function: FunctionNode) -> list[tuple[ast.arg, ast.expr]]:
    given = function.args
    by_place = [*given.posonlyargs, *given.args]
    pairs = list(zip(reversed(by_place), reversed(given.defaults), strict=False))
    named = zip(given.kwonlyargs, given.kw_defaults, strict=True)
    return [*reversed(pairs), *((arg, value) for arg, value in named if value is not None)]


def is_mutable(default: ast.expr) -> bool:
    """Whether a default is a list, a dict, a set or the like, made where it is written."""
    if isinstance(default, ast.Call):
        return ast.unparse(default.func).rpartition(".")[2] in MAKERS
    return isinstance(default, _DISPLAYS)


def _is_shared(function: FunctionNode, name: str) -> bool:
    """Whether the body may change the value, or give it to somebody who may."""
    looked_at = {id(part) for node in ast.walk(function) for part in _looked_at(node)}
    uses = (n for n in nodes_of(function, ast.Name) if n.id == name)
    return any(isinstance(use.ctx, ast.Load) and id(use) not in looked_at for use in uses)


def _looked_at(node: ast.AST) -> list[ast.expr]:
    """Returns the parts that ``node`` only reads, or makes something new of."""
    if isinstance(node, ast.Attribute):
        return [node.value] if node.attr in LOOKS else []
    if isinstance(node, ast.Subscript):
        return [node.value] if isinstance(node.ctx, ast.Load) else []
    if isinstance(node, (ast.For, ast.comprehension)):
        return [node.iter]
    if isinstance(node, ast.Compare):
        return [node.left, *node.comparators]
    if isinstance(node, ast.Call) and ast.unparse(node.func) in READERS:
        return list(node.args)
    return _copied(node)


def _copied(node: ast.AST) -> list[ast.expr]:
    """Returns the parts that a test, a sum of lists, a star or an f-string takes."""
    if isinstance(node, (ast.If, ast.While, ast.IfExp)):
        return [node.test]
    if isinstance(node, ast.UnaryOp):
        return [node.operand]
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, (ast.Starred, ast.FormattedValue)):
        return [node.value]
    if isinstance(node, ast.Dict):  # two stars have no key
        return [v for k, v in zip(node.keys, node.values, strict=True) if k is None]
    return []


def _made_anew(
    text: Text, function: FunctionNode, pair: tuple[ast.arg, ast.expr], *, is_late: bool
) -> Proposal:
    parameter, default = pair
    name = parameter.arg
    words = f"`{name}` of `{function.name}` is made anew in each call"
    first = first_statement(function)
    decorators = getattr(first, "decorator_list", [])
    start = text.start(first)
    if decorators:  # the sign before the first is in front of its expression
        start = text.between(0, text.start(decorators[0])).encode().rindex(b"@")
    indent = text.lead(first)
    if indent.strip():  # behind the colon
        lead = f"{name} = {text.of(default)} if {name} is None else {name}; "
    else:
        step = "\t" if indent.startswith("\t") else "    "
        lead = f"if {name} is None:\n{indent}{step}{name} = {text.of(default)}\n{indent}"
    made = text.insert(start, lead, words)
    edits = [text.replace(default, "None", words), made]
    kind = parameter.annotation
    if kind is not None and is_late and not re.search(r"None|Optional|Any\b", text.of(kind)):
        edits.append(text.replace(kind, f"{text.of(kind)} | None", words))
    return proposal(text, *edits)
