"""A value or a variable that several users share, where each was meant to have its own."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pytest_bayesloc.domain.fixing import Level
from pytest_bayesloc.domain.source import FunctionNode
from pytest_bayesloc.fixes.calls import called, is_placed, methods
from pytest_bayesloc.fixes.imports import with_import
from pytest_bayesloc.fixes.library import package_tool
from pytest_bayesloc.fixes.project import Project, Proposal, Task, proposal
from pytest_bayesloc.fixes.syntax import (
    Text,
    TextEdit,
    bound_in,
    brief,
    first_statement,
    functions_in,
    nodes_of,
    own_nodes,
    parameters,
)
from pytest_bayesloc.fixes.tools.mutable_default import is_mutable

_FIELD = re.compile(r"mutable default <class '[\w.]+'> for field (\w+) is not allowed")
_CHANGES = frozenset(
    {"append", "extend", "insert", "add", "update", "remove", "discard", "clear", "sort", "reverse",
     "pop", "popitem", "popleft", "appendleft", "setdefault"}
)  # fmt: skip
_LOOPS = (ast.For, ast.AsyncFor, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@package_tool(
    "A list, dict or set in a class, a dataclass default, a repeated list, or the variable of a"
    " loop in a closure is shared, so that one user sees what another left. Gives each its own.",
    error_pattern=r"^(\w*(Error|Exception)|Failed)\b",
    level=Level.SAFE,
    priority="medium",
)
def shared_value(task: Task, _project: Project) -> Iterator[Proposal]:
    """The file with each value that is shared made anew, first those of executed functions."""
    text = task.text
    found = _FIELD.search(task.message)
    if found is not None:
        yield from _fields(task, found.group(1))
        return
    lines = task.executed
    every = functions_in(task.tree)
    executed = {line for line in lines if line}
    functions = [f for f in every if _is_executed(f, executed)]
    yield from _of_classes(task, functions)
    for function in functions:
        yield from _of_closures(text, function)
        yield from _of_repeated(text, function)
        yield from _of_arguments(text, function)
    for function in functions:
        yield from _of_flat_copies(task, function)


def _is_executed(function: FunctionNode, lines: set[int]) -> bool:
    body = range(function.body[0].lineno, (function.end_lineno or 0) + 1)
    return any(line in body for line in lines)


# -- dataclasses


def _fields(task: Task, name: str) -> Iterator[Proposal]:
    """Every mutable default of the class, made by a factory for each instance."""
    for owner in nodes_of(task.tree, ast.ClassDef):
        fields = [s for s in owner.body if isinstance(s, ast.AnnAssign) and s.value is not None]
        if name not in {ast.unparse(field.target) for field in fields}:
            continue
        whole = any(
            isinstance(n, ast.Import) and any(a.name == "dataclasses" for a in n.names)
            for n in task.tree.body
        )
        maker = "dataclasses.field" if whole else "field"
        edits = [edit for field in fields for edit in _by_factory(task.text, field, name, maker)]
        code = task.text.edited(*edits)
        if maker == "field" and re.search(r"import .*\bfield\b", task.code) is None:
            code = with_import(code, "from dataclasses import field") or code
        yield Proposal(code=code, message=f"`{name}` is made anew for each `{owner.name}`")


def _by_factory(text: Text, field: ast.AnnAssign, name: str, maker: str) -> Iterator[TextEdit]:
    value = field.value
    if isinstance(value, ast.Call) and called(value) == "field":
        for keyword in value.keywords:
            if keyword.arg == "default" and is_mutable(keyword.value):
                factory = f"default_factory={_factory(text, keyword.value)}"
                yield text.cut(text.start(keyword), text.end(keyword), factory)
    elif value is not None and (is_mutable(value) or ast.unparse(field.target) == name):
        yield text.replace(value, f"{maker}(default_factory={_factory(text, value)})")


def _factory(text: Text, value: ast.expr) -> str:
    empty = {"[]": "list", "{}": "dict", "()": "tuple"}.get(ast.unparse(value))
    if empty:
        return empty
    if isinstance(value, ast.Call) and not value.args and not value.keywords:
        return text.of(value.func)
    return f"lambda: {text.of(value)}"


# -- attributes of classes


def _of_classes(task: Task, executed: Sequence[FunctionNode]) -> Iterator[Proposal]:
    owners = dict.fromkeys(owner for method, owner in methods(task.tree) if method in executed)
    families = [base for owner in owners for base in (owner, *_bases(task.tree, owner))]
    for owner in dict.fromkeys(families):
        for statement, name, value in _shared_in(owner):
            yield _own(task, owner, (statement, name, value))


def _bases(tree: ast.Module, owner: ast.ClassDef) -> list[ast.ClassDef]:
    names = {ast.unparse(base) for base in owner.bases}
    return [n for n in tree.body if isinstance(n, ast.ClassDef) and n.name in names]


def _shared_in(owner: ast.ClassDef) -> Iterator[tuple[ast.stmt, str, ast.expr]]:
    """The attributes of a class that its methods change in place, and none sets."""
    changed = {name for node in ast.walk(owner) for name in _changed_by(node)}
    is_set = {
        node.attr
        for node in nodes_of(owner, ast.Attribute)
        if isinstance(node.ctx, ast.Store)
        and ast.unparse(node.value) in {"self", "cls", owner.name}
    }
    for statement in owner.body:
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        if isinstance(statement, ast.AnnAssign):
            targets = [statement.target]
        value = statement.value if isinstance(statement, (ast.Assign, ast.AnnAssign)) else None
        if len(targets) != 1 or value is None or not is_mutable(value):
            continue
        name = ast.unparse(targets[0])
        if name in changed and name not in is_set:
            yield statement, name, value


def _changed_by(node: ast.AST) -> list[str]:
    """Returns the attributes of ``self`` that a node changes in place."""
    owner: ast.AST | None = None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        owner = node.func.value if node.func.attr in _CHANGES else None
    elif isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
        owner = node.value
    elif isinstance(node, ast.AugAssign):
        owner = node.target
    is_own = isinstance(owner, ast.Attribute) and ast.unparse(owner.value) == "self"
    return [owner.attr] if is_own and isinstance(owner, ast.Attribute) else []


def _own(task: Task, owner: ast.ClassDef, shared: tuple[ast.stmt, str, ast.expr]) -> Proposal:
    text = task.text
    statement, name, value = shared
    words = f"`{name}` belongs to each `{owner.name}`, not to the class"
    made = f"self.{name} = {text.of(value)}"
    end = text.at((statement.end_lineno or statement.lineno) + 1)
    edits = [text.cut(text.line_start(statement), end, words=words)]
    known = [m for m in owner.body if isinstance(m, FunctionNode)]
    start = next((m for m in known if m.name == "__init__"), None)
    if start is not None:
        edits.append(_at_start(text, start, made))
    else:
        first = known[0]
        at = min([first.lineno, *(d.lineno for d in first.decorator_list)])
        indent = " " * first.col_offset
        head = f"{indent}def __init__(self"
        above = f"{indent}{indent}super().__init__(*args, **kwargs)\n" if owner.bases else ""
        head += ", *args, **kwargs):\n" if owner.bases else "):\n"
        edits.append(text.insert(text.at(at), f"{head}{above}{indent}{indent}{made}\n\n"))
        for other in task.tree.body:  # which don't ask the class to set itself up
            if isinstance(other, ast.ClassDef) and owner in _bases(task.tree, other):
                own = [m for m in other.body if isinstance(m, FunctionNode)]
                start = next((m for m in own if m.name == "__init__"), None)
                if start is not None and "super()" not in text.of(start):
                    edits.append(_at_start(text, start, "super().__init__()"))
    return proposal(text, *edits)


def _at_start(text: Text, function: FunctionNode, said: str) -> TextEdit:
    first = first_statement(function)
    lead = text.lead(first)
    apart = "; " if lead.strip() else f"\n{lead}"
    return text.insert(text.start(first), f"{said}{apart}")


# -- closures


def _of_closures(text: Text, function: FunctionNode) -> Iterator[Proposal]:
    """Functions that are made in a loop, with the loop's variables as they are then."""
    for loop in own_nodes(function):
        if not isinstance(loop, _LOOPS):
            continue
        bound = _bound_by(loop)
        for node in ast.walk(loop):
            if not isinstance(node, (ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef)):
                continue
            taken = set(parameters(node.args))
            body = node.body if isinstance(node.body, list) else [node.body]
            inner = [n for part in body for n in nodes_of(part, ast.Name)]
            taken |= {n.id for n in inner if not isinstance(n.ctx, ast.Load)}
            names = [n for n in bound if n not in taken and n in {m.id for m in inner}]
            if names and (isinstance(loop, ast.stmt) or is_placed(text, loop)):
                yield _bound_now(text, node, names)


def _bound_by(loop: ast.AST) -> list[str]:
    """Returns the names that change from one turn of a loop to the next."""
    if isinstance(loop, (ast.For, ast.AsyncFor)):
        found = nodes_of(loop.target, ast.Name)
        return [*dict.fromkeys((*(n.id for n in found), *bound_in(loop)))]
    parts = [n for c in getattr(loop, "generators", []) for n in ast.walk(c.target)]
    return [*dict.fromkeys(n.id for n in parts if isinstance(n, ast.Name))]


def _bound_now(
    text: Text, node: ast.Lambda | ast.FunctionDef | ast.AsyncFunctionDef, names: Sequence[str]
) -> Proposal:
    said = ", ".join(f"{name}={name}" for name in names)
    words = f"the function keeps `{', '.join(names)}` as it is when it is made"
    given = node.args
    if given.kwarg is not None:
        at = text.start(given.kwarg) - 2
        return proposal(text, text.insert(at, f"{said}, ", words))
    every: list[ast.arg | ast.expr] = [*given.posonlyargs, *given.args, *given.defaults]
    every += [*given.kwonlyargs, *(value for value in given.kw_defaults if value is not None)]
    every += [given.vararg] if given.vararg is not None else []
    if every:
        noted = [part.annotation or part if isinstance(part, ast.arg) else part for part in every]
        at = max(map(text.end, noted))
        return proposal(text, text.insert(at, f", {said}", words))
    if isinstance(node, ast.Lambda):
        at = text.start(node) + len("lambda")
        return proposal(text, text.insert(at, f" {said}", words))
    head = text.between(text.start(node), text.start(node.body[0]))
    at = text.start(node) + len(head[: head.index("(") + 1].encode())
    return proposal(text, text.insert(at, said, words))


# -- lists of one list


def _of_repeated(text: Text, function: FunctionNode) -> Iterator[Proposal]:
    """A list of one mutable value many times, and a dict of one for all keys."""
    for node in own_nodes(function):
        if not isinstance(node, ast.expr) or not is_placed(text, node):
            continue
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            left, right = node.left, node.right
            items, n = (left, right) if isinstance(left, ast.List) else (right, left)
            if isinstance(items, ast.List) and len(items.elts) == 1 and _is_fresh(items.elts[0]):
                made = f"[{text.of(items.elts[0])} for _ in range({text.of(n)})]"
                yield proposal(text, text.replace(node, made, f"`{brief(made)}`: each its own"))
        elif _is_from_keys(node) and isinstance(node, ast.Call):
            keys, value = map(text.of, node.args)
            made = f"{{key: {value} for key in {keys}}}"
            yield proposal(text, text.replace(node, made, f"`{brief(made)}`: each its own"))


def _is_from_keys(node: ast.expr) -> bool:
    is_call = isinstance(node, ast.Call) and ast.unparse(node.func) == "dict.fromkeys"
    if not is_call or not isinstance(node, ast.Call):
        return False
    return len(node.args) == 2 and _is_fresh(node.args[1])


def _is_fresh(value: ast.expr) -> bool:
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult):
        return any(isinstance(side, ast.List) for side in (value.left, value.right))
    return is_mutable(value)


# -- arguments and copies


def _of_arguments(text: Text, function: FunctionNode) -> Iterator[Proposal]:
    """A parameter that is sorted or turned round in place, in a copy."""
    given = set(parameters(function.args))
    for node in own_nodes(function):
        call = node.value if isinstance(node, ast.Expr) else None
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            continue
        owner = ast.unparse(call.func.value)
        if owner in given and call.func.attr in {"sort", "reverse"}:
            more = "".join(f", {text.of(k)}" for k in call.keywords)
            is_sort = call.func.attr == "sort"
            made = f"sorted({owner}{more})" if is_sort else f"list(reversed({owner}))"
            words = f"`{owner}` of the caller stays as it is"
            made_own = proposal(text, text.replace(call, f"{owner} = {made}", words))
            yield replace(made_own, is_guess=True)  # a caller may rely on the side effect


def _of_flat_copies(task: Task, function: FunctionNode) -> Iterator[Proposal]:
    """A copy of a value of the module, with copies of what is in it."""
    text = task.text
    known = set(bound_in(task.tree))
    for node in own_nodes(function):
        if not isinstance(node, ast.Call) or not is_placed(text, node):
            continue
        source = ""
        if isinstance(node.func, ast.Attribute) and node.func.attr == "copy" and not node.args:
            source = ast.unparse(node.func.value)
        elif called(node) in {"dict", "list", "copy"} and len(node.args) == 1:
            source = ast.unparse(node.args[0])
        if source not in known or source == "copy":
            continue
        words = f"what is in `{source}` is copied as well"
        if re.search(r"^import copy$", task.code, re.MULTILINE):
            yield proposal(text, text.replace(node, f"copy.deepcopy({source})", words))
            continue
        code = text.edited(text.replace(node, f"deepcopy({source})"))
        code = with_import(code, "from copy import deepcopy") or code
        yield Proposal(code=code, message=words)
