"""A value or a variable that several users share, where each was meant to have its own."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from pytest_bayesloc.domain.fixing import Level
from pytest_bayesloc.domain.source import FunctionNode, first_line
from pytest_bayesloc.fixes.calls import is_placed, methods
from pytest_bayesloc.fixes.library import package_tool
from pytest_bayesloc.fixes.project import Made, Project, Proposal, Task, proposal
from pytest_bayesloc.syntax.expressions import CHANGING
from pytest_bayesloc.syntax.imports import with_import
from pytest_bayesloc.syntax.nodes import (
    base_texts,
    bound_in,
    called_name,
    defaults,
    every_parameter,
    first_statement,
    functions_in,
    nodes_of,
    own_nodes,
    parameters,
    walk,
)
from pytest_bayesloc.syntax.text import Text, TextEdit, brief

_MAKERS = frozenset({"list", "dict", "set", "defaultdict", "deque", "Counter", "OrderedDict"})
_DISPLAYS = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
#: Methods that only look.
_LOOKS = frozenset({"get", "items", "keys", "values", "index", "count", "copy", "union"})
#: Functions that only look, or copy.
_READERS = frozenset(
    {"len", "sum", "sorted", "list", "tuple", "set", "frozenset", "dict", "any", "all", "max",
     "min", "str", "repr", "print", "bool", "isinstance", "type", "enumerate", "range"}
)  # fmt: skip
_FIELD = re.compile(r"mutable default <class '[\w.]+'> for field (\w+) is not allowed")
_LOOPS = (ast.For, ast.AsyncFor, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def _is_mutable(value: ast.expr) -> bool:
    """Whether a value is a list, a dict, a set or the like, made where it is written."""
    if isinstance(value, ast.Call):
        return called_name(value) in _MAKERS
    return isinstance(value, _DISPLAYS)


def _executed(task: Task) -> list[FunctionNode]:
    """The functions whose bodies were executed, in the order of the lines that were.

    The line of ``def`` is executed when the file is imported.
    """
    found = []
    for function in functions_in(task.tree):
        body = range(function.body[0].lineno, (function.end_lineno or 0) + 1)
        own = [rank for rank, line in enumerate(task.executed) if line in body]
        found += [(rank, function) for rank in own[:1]]
    return [function for _, function in sorted(found, key=lambda pair: pair[0])]


# -- defaults


@package_tool(
    "A default value is a list, dict or set that all calls share, so that one call sees what "
    "another left. Makes it anew in each call.",
    error_pattern=r"^(\w*(Error|Exception)|Failed)\b",
    level=Level.SAFE,
    priority="medium",
)
def mutable_default(task: Task, _project: Project) -> Iterator[Made]:
    """The file with each mutable default of what was executed made in the function."""
    for function in _executed(task):
        for parameter, default in defaults(function.args):
            if not _is_mutable(default):
                continue
            # It matters where the body may change the value, or gives it to somebody who may.
            looked_at = {id(part) for node in walk(function) for part in _looked_at(node)}
            uses = (n for n in nodes_of(function, ast.Name) if n.id == parameter.arg)
            if any(isinstance(use.ctx, ast.Load) and id(use) not in looked_at for use in uses):
                yield _made_anew(task, function, parameter, default)


def _looked_at(node: ast.AST) -> Sequence[ast.expr]:
    """The parts that ``node`` only reads, or makes something new of."""
    parts: Sequence[ast.expr] = ()
    match node:
        case (
            ast.Subscript(value=part, ctx=ast.Load())
            | (ast.For(iter=part) | ast.comprehension(iter=part))
            | (ast.If(test=part) | ast.While(test=part) | ast.IfExp(test=part))
            | (ast.UnaryOp(operand=part) | ast.Starred(value=part) | ast.FormattedValue(value=part))
        ):
            parts = [part]
        case ast.Attribute(value=part, attr=name) if name in _LOOKS:
            parts = [part]
        case ast.Compare(left=left, comparators=others):
            parts = [left, *others]
        case ast.BinOp(left=left, right=right):
            parts = [left, right]
        case ast.Call(func=function, args=given) if ast.unparse(function) in _READERS:
            parts = given
        case ast.Dict(keys=keys, values=values):  # two stars have no key
            parts = [v for k, v in zip(keys, values, strict=True) if k is None]
    return parts


def _made_anew(task: Task, function: FunctionNode, parameter: ast.arg, default: ast.expr) -> Made:
    text, name, kind = task.text, parameter.arg, parameter.annotation
    words = f"`{name}` of `{function.name}` is made anew in each call"
    first = first_statement(function)
    start = text.start(first)
    if decorators := getattr(first, "decorator_list", []):  # the sign is before the expression
        start = text.between(0, text.start(decorators[0])).encode().rindex(b"@")
    indent = text.lead(first)
    if indent.strip():  # behind the colon
        lead = f"{name} = {text.of(default)} if {name} is None else {name}; "
    else:
        step = "\t" if indent.startswith("\t") else "    "
        lead = f"if {name} is None:\n{indent}{step}{name} = {text.of(default)}\n{indent}"
    edits = [text.replace(default, "None", words), text.insert(start, lead, words)]
    froms = (n for n in task.tree.body if isinstance(n, ast.ImportFrom))
    is_late = any(n.module == "__future__" and n.names[0].name == "annotations" for n in froms)

    if kind is not None and is_late and not re.search(r"None|Optional|Any\b", text.of(kind)):
        edits.append(text.replace(kind, f"{text.of(kind)} | None", words))
    return edits


@package_tool(
    "A list, dict or set in a class, a dataclass default, a repeated list, or the variable of a"
    " loop in a closure is shared, so that one user sees what another left. Gives each its own.",
    error_pattern=r"^(\w*(Error|Exception)|Failed)\b",
    level=Level.SAFE,
    priority="medium",
)
def shared_value(task: Task, _project: Project) -> Iterator[Made]:
    """The file with each value that is shared made anew, first those of executed functions."""
    if found := _FIELD.search(task.message):
        yield from _fields(task, found[1])
        return

    executed = _executed(task)
    functions = [f for f in functions_in(task.tree) if f in executed]
    yield from _of_classes(task, functions)
    for function in functions:
        yield from _of_closures(task.text, function)
        yield from _of_repeated(task.text, function)
        yield from _of_arguments(task.text, function)
    for function in functions:
        yield from _of_flat_copies(task, function)


# -- dataclasses


def _fields(task: Task, name: str) -> Iterator[Made]:
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
    if isinstance(value, ast.Call) and called_name(value) == "field":
        for keyword in value.keywords:
            if keyword.arg == "default" and _is_mutable(keyword.value):
                factory = f"default_factory={_factory(text, keyword.value)}"
                yield text.cut(text.start(keyword), text.end(keyword), factory)
    elif value is not None and (_is_mutable(value) or ast.unparse(field.target) == name):
        yield text.replace(value, f"{maker}(default_factory={_factory(text, value)})")


def _factory(text: Text, value: ast.expr) -> str:
    if isinstance(value, ast.Call) and not value.args and not value.keywords:
        return text.of(value.func)
    makers = {"[]": "list", "{}": "dict", "()": "tuple"}
    return makers.get(ast.unparse(value), f"lambda: {text.of(value)}")


# -- attributes of classes


def _of_classes(task: Task, executed: Sequence[FunctionNode]) -> Iterator[Made]:
    """The attributes of classes that their methods change in place, and none sets."""
    owners = [owner for method, owner in methods(task.tree) if method in executed]
    families = (base for owner in owners for base in (owner, *_bases(task.tree, owner)))
    for owner in dict.fromkeys(families):
        changed = {name for node in walk(owner) for name in _changed_by(node)}
        is_set = {
            node.attr
            for node in nodes_of(owner, ast.Attribute)
            if isinstance(node.ctx, ast.Store)
            and ast.unparse(node.value) in {"self", "cls", owner.name}
        }
        for statement in owner.body:
            if not isinstance(statement, (ast.Assign, ast.AnnAssign)) or statement.value is None:
                continue
            given = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            name, is_one = ast.unparse(given[0]), len(given) == 1
            if is_one and _is_mutable(statement.value) and name in changed and name not in is_set:
                yield _own(task, owner, statement, f"{name} = {task.text.of(statement.value)}")


def _bases(tree: ast.Module, owner: ast.ClassDef) -> list[ast.ClassDef]:
    names = set(base_texts(owner))
    return [n for n in tree.body if isinstance(n, ast.ClassDef) and n.name in names]


def _changed_by(node: ast.AST) -> list[str]:
    """Returns the attributes of ``self`` that a node changes in place."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Attribute() as owner, attr=name)):
            is_changed = name in CHANGING
        case ast.Subscript(value=ast.Attribute() as owner, ctx=context):
            is_changed = not isinstance(context, ast.Load)
        case ast.AugAssign(target=ast.Attribute() as owner):
            is_changed = True
        case _:
            return []
    return [owner.attr] if is_changed and ast.unparse(owner.value) == "self" else []


def _own(task: Task, owner: ast.ClassDef, statement: ast.stmt, said: str) -> Made:
    """The statement of the class, ``name = value``, in its ``__init__``."""
    text, made = task.text, f"self.{said}"
    words = f"`{said.partition(' ')[0]}` belongs to each `{owner.name}`, not to the class"
    end = text.at((statement.end_lineno or statement.lineno) + 1)
    edits = [text.cut(text.line_start(statement), end, words=words)]
    start = _init(owner)
    if start is not None:
        edits.append(_at_start(text, start, made))
    else:
        first = next(m for m in owner.body if isinstance(m, FunctionNode))
        at, indent = first_line(first), " " * first.col_offset
        more = ", *args, **kwargs" if owner.bases else ""
        head = f"{indent}def __init__(self{more}):\n"
        above = f"{indent}{indent}super().__init__({more[2:]})\n" if more else ""
        edits.append(text.insert(text.at(at), f"{head}{above}{indent}{indent}{made}\n\n"))
        for other in task.tree.body:  # which don't ask the class to set itself up
            if isinstance(other, ast.ClassDef) and owner in _bases(task.tree, other):
                start = _init(other)
                if start is not None and "super()" not in text.of(start):
                    edits.append(_at_start(text, start, "super().__init__()"))
    return edits


def _init(owner: ast.ClassDef) -> FunctionNode | None:
    methods_of = (m for m in owner.body if isinstance(m, FunctionNode))
    return next((m for m in methods_of if m.name == "__init__"), None)


def _at_start(text: Text, function: FunctionNode, said: str) -> TextEdit:
    first = first_statement(function)
    apart = "; " if text.lead(first).strip() else f"\n{text.lead(first)}"
    return text.insert(text.start(first), f"{said}{apart}")


# -- closures


def _of_closures(text: Text, function: FunctionNode) -> Iterator[Made]:
    """Functions that are made in a loop, with the loop's variables as they are then."""
    for loop in own_nodes(function):
        if not isinstance(loop, _LOOPS):
            continue
        # The names that change from one turn of the loop to the next.
        is_statement = isinstance(loop, ast.stmt)
        parts = [loop] if is_statement else getattr(loop, "generators", [])
        targets = (getattr(part, "target", part) for part in parts)
        changing = [n.id for target in targets for n in nodes_of(target, ast.Name)]
        bound = dict.fromkeys((*changing, *(bound_in(loop) if is_statement else ())))
        for node in walk(loop):
            if not isinstance(node, (ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef)):
                continue
            body = node.body if isinstance(node.body, list) else [node.body]
            inner = [n for part in body for n in nodes_of(part, ast.Name)]
            stored = {n.id for n in inner if not isinstance(n.ctx, ast.Load)}
            own = {*parameters(node.args), *stored}
            names = [n for n in bound if n not in own and n in {m.id for m in inner}]
            if names and (isinstance(loop, ast.stmt) or is_placed(text, loop)):
                yield _bound_now(text, node, names)


def _bound_now(
    text: Text, node: ast.Lambda | ast.FunctionDef | ast.AsyncFunctionDef, names: Sequence[str]
) -> Made:
    said = ", ".join(f"{name}={name}" for name in names)
    words = f"the function keeps `{', '.join(names)}` as it is when it is made"
    given = node.args
    if given.kwarg is not None:
        at = text.start(given.kwarg) - 2
        return text.insert(at, f"{said}, ", words)
    ends = [text.end(arg.annotation or arg) for arg in every_parameter(given)]
    ends += [text.end(value) for _, value in defaults(given)]
    if ends:
        return text.insert(max(ends), f", {said}", words)
    if isinstance(node, ast.Lambda):
        at = text.start(node) + len("lambda")
        return text.insert(at, f" {said}", words)
    head = text.between(text.start(node), text.start(node.body[0]))
    at = text.start(node) + len(head[: head.index("(") + 1].encode())
    return text.insert(at, said, words)


# -- lists of one list


def _of_repeated(text: Text, function: FunctionNode) -> Iterator[Made]:
    """A list of one mutable value many times, and a dict of one for all keys."""
    for node in own_nodes(function):
        if not isinstance(node, ast.expr) or not is_placed(text, node):
            continue
        match node:
            case (
                ast.BinOp(left=ast.List(elts=[item]), op=ast.Mult(), right=n)
                | ast.BinOp(left=n, op=ast.Mult(), right=ast.List(elts=[item]))
            ) if _is_fresh(item):
                made = f"[{text.of(item)} for _ in range({text.of(n)})]"
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="dict"), attr="fromkeys"), args=[keys, value]
            ) if _is_fresh(value):
                made = f"{{key: {text.of(value)} for key in {text.of(keys)}}}"
            case _:
                continue
        yield text.replace(node, made, f"`{brief(made)}`: each its own")


def _is_fresh(value: ast.expr) -> bool:
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult):
        return any(isinstance(side, ast.List) for side in (value.left, value.right))
    return _is_mutable(value)


# -- arguments and copies


def _of_arguments(text: Text, function: FunctionNode) -> Iterator[Made]:
    """A parameter that is changed in place, in a copy: sorted, turned round, or in another way."""
    given, changed = parameters(function.args), list[str]()
    for node in own_nodes(function):
        match node:
            case ast.Expr(
                value=ast.Call(
                    func=ast.Attribute(value=ast.Name(id=owner), attr="sort" | "reverse" as how)
                ) as call
            ) if owner in given:
                more = "".join(f", {text.of(k)}" for k in call.keywords)
                made = f"sorted({owner}{more})" if how == "sort" else f"list(reversed({owner}))"
                words = f"`{owner}` of the caller stays as it is"
                edit = text.replace(call, f"{owner} = {made}", words)
                yield proposal(text, edit, is_guess=True)  # a caller may rely on the side effect
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=how)) if how in CHANGING:
                changed.append(name)
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()):
                changed.append(name)
    first = first_statement(function)
    for name in dict.fromkeys(filter(given.__contains__, changed)):
        words = f"a copy of `{name}` is changed"
        if copied := text.before(first, f"{name} = {name}.copy()", words):
            yield proposal(text, copied, is_guess=True)


def _of_flat_copies(task: Task, function: FunctionNode) -> Iterator[Made]:
    """A copy of a value of the module, with copies of what is in it."""
    text = task.text
    known = set(bound_in(task.tree)) - {"copy"}
    for node in own_nodes(function):
        match node:
            case ast.Call(func=ast.Attribute(value=copied, attr="copy"), args=[]):
                source = ast.unparse(copied)
            case ast.Call(args=[copied]) as call if called_name(call) in {"dict", "list", "copy"}:
                source = ast.unparse(copied)
            case _:
                continue
        if source not in known or not is_placed(text, node):
            continue
        words = f"what is in `{source}` is copied as well"
        if re.search(r"^import copy$", task.code, re.MULTILINE):
            yield text.replace(node, f"copy.deepcopy({source})", words)
            continue
        code = text.edited(text.replace(node, f"deepcopy({source})"))
        code = with_import(code, "from copy import deepcopy") or code
        yield Proposal(code=code, message=words)
