"""A function that computes something and does not return it, or takes a result that is None."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator

from pytest_bayesloc.domain.fixing import Level
from pytest_bayesloc.domain.source import FunctionNode, ScopeNode
from pytest_bayesloc.fixes.calls import methods
from pytest_bayesloc.fixes.library import package_tool
from pytest_bayesloc.fixes.project import Project, Proposal, Task, proposal
from pytest_bayesloc.fixes.syntax import Text, brief, own_nodes, targets

#: Methods and functions that are called for what they do.
EFFECTS = frozenset(
    {"append", "extend", "insert", "add", "update", "remove", "discard", "clear", "sort", "reverse",
     "print", "write", "close", "setdefault", "setattr", "warn", "info", "debug", "error"}
)  # fmt: skip
#: Methods that change their object and give None.
_IN_PLACE = frozenset(
    {"append", "extend", "insert", "add", "update", "remove", "discard", "clear", "sort", "reverse"}
)
#: Methods whose result nobody takes.
_SILENT = frozenset(
    {"__init__", "__post_init__", "__init_subclass__", "__set__", "__setattr__", "__setitem__",
     "__delattr__", "__delitem__", "__del__", "__exit__", "__aexit__", "setUp", "tearDown",
     "setup_method", "teardown_method"}
)  # fmt: skip


@package_tool(
    "A function gives None because it does not return what it computes, returns within its loop,"
    " or takes the result of what works in place. Adds or moves the return, or takes none.",
    error_pattern=r"NoneType|\bNone\b|^AssertionError: assert|: can only join an iterable",
    level=Level.UNSAFE,
    priority="medium",
)
def missing_return(task: Task, _project: Project) -> Iterator[Proposal]:
    """The functions that were executed, with what they compute returned."""
    text = task.text
    for function in task.functions:
        yield from _in_place(text, function)
        if not _is_for_effect(function):
            if "None" in task.message:
                yield from _at_end(text, function, function.body)
                if _is_of_builder(task.tree, function, task.message):
                    yield _after(text, function.body[-1], "self")
            if task.error_type == "AssertionError":
                for block in _blocks(function):
                    yield from _too_soon(text, block[-1])


def _in_place(text: Text, function: FunctionNode) -> Iterator[Proposal]:
    """A call that works in place and gives None, by itself, before its object is used."""
    for node in own_nodes(function):
        if not isinstance(node, (ast.Assign, ast.Return)):
            continue
        call = node.value
        if isinstance(node, ast.Assign) and isinstance(call, ast.IfExp):
            yield from _in_one_case(text, node, call)
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            continue
        name = call.func.attr
        if name in _IN_PLACE or (name == "shuffle" and len(call.args) == 1):
            words = f"`{name}` works in place and gives None"
            made = _by_itself(text, node, call, call.func)
            if made and not (made.count("\n") and text.lead(node).strip()):
                yield proposal(text, text.replace(node, made, words))


def _in_one_case(text: Text, node: ast.Assign, choice: ast.IfExp) -> Iterator[Proposal]:
    """``x = x.add(y) if z else x`` as an ``if``."""
    call, indent = choice.body, text.lead(node)
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return
    owner = text.of(call.func.value)
    is_same = owner == text.of(choice.orelse) == text.of(node.targets[0])
    if is_same and call.func.attr in _IN_PLACE and not indent.strip():
        made = f"if {text.of(choice.test)}:\n{indent}    {text.of(call)}"
        words = f"`{call.func.attr}` works in place and gives None"
        yield proposal(text, text.replace(node, made, words))


def _by_itself(
    text: Text, node: ast.Assign | ast.Return, call: ast.Call, method: ast.Attribute
) -> str:
    """The statements for one that takes the result of a call that works in place."""
    function, name = text.of(method), method.attr
    changed = call.args[0] if name == "shuffle" else method.value
    said, owner, indent = text.of(call), text.of(changed), text.lead(node)
    if isinstance(node, ast.Return):
        more = "".join(f", {text.of(keyword)}" for keyword in call.keywords)
        is_sort = name == "sort"
        return f"return sorted({owner}{more})" if is_sort else f"{said}\n{indent}return {owner}"
    target = text.of(node.targets[0])
    if target == owner:
        return said
    if name == "shuffle":
        return f"{target} = {owner}\n{indent}{function}({target})"
    return f"{target} = {owner}.copy()\n{indent}{target}{said[len(owner) :]}"


def _is_for_effect(function: FunctionNode) -> bool:
    """Whether nobody expects anything of it: a test, a generator, a setter."""
    is_setter = any(
        ast.unparse(d).endswith((".setter", ".deleter")) for d in function.decorator_list
    )
    if function.name in _SILENT or function.name.startswith("test") or is_setter:
        return True
    if any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in own_nodes(function)):
        return True
    return function.returns is not None and ast.unparse(function.returns) == "None"


def _is_of_builder(tree: ast.Module, function: FunctionNode, message: str) -> bool:
    """Whether other methods of the class return ``self``, or one is missed in the result."""
    owners = [owner for method, owner in methods(tree) if method is function]
    parts = [node for owner in owners for node in ast.walk(owner)]
    values = [node.value for node in parts if isinstance(node, ast.Return)]
    missed = message.rpartition("has no attribute ")[2].strip("'")
    return any(value is not None and ast.unparse(value) == "self" for value in values) or any(
        isinstance(node, FunctionNode) and node.name == missed for node in parts
    )


def _at_end(text: Text, function: FunctionNode, block: list[ast.stmt]) -> Iterator[Proposal]:
    """Return what the last statement of a block computes."""
    last = block[-1]
    if isinstance(last, ast.Return) and last.value is None and len(block) > 1:
        for name in _changed(block[-2]):
            yield proposal(text, text.replace(last, f"return {name}", f"`{name}` is returned"))
    if isinstance(last, ast.Expr) and not _is_effect(last.value):
        words = f"`{brief(text.of(last))}` is returned"
        yield proposal(text, text.replace(last, f"return {text.of(last)}", words))
    names = [*_changed(last), *_common(last)]
    if isinstance(last, (ast.For, ast.While, ast.With, ast.AsyncFor, ast.AsyncWith)):
        names += _gathered(function, last)
    yield from (_after(text, last, name) for name in names)
    inner = [b for b in _branches(last) if b] if not isinstance(last, (ast.For, ast.While)) else []
    for branch in inner:
        yield from _at_end(text, function, branch)
    if isinstance(last, ast.If):
        loops = [s for s in function.body if isinstance(s, (ast.For, ast.While))]
        for loop in reversed(loops):
            yield from (_after(text, last, name) for name in _gathered(function, loop))


def _branches(statement: ast.stmt) -> list[list[ast.stmt]]:
    """The blocks of a statement, one of which is left at its end."""
    parts: list[list[ast.stmt]] = [getattr(statement, "body", [])]
    if isinstance(statement, ast.Try):
        parts = [statement.orelse or statement.body, *(h.body for h in statement.handlers)]
    elif isinstance(statement, ast.If):
        parts.append(statement.orelse)
    elif isinstance(statement, ast.Match):
        parts = [case.body for case in statement.cases]
    return [] if isinstance(statement, ScopeNode) else parts


def _changed(last: ast.stmt) -> list[str]:
    """The name that a statement assigns, or calls a method of."""
    if isinstance(last, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
        target = last.targets[0] if isinstance(last, ast.Assign) else last.target
        if isinstance(target, ast.Tuple) and all(isinstance(e, ast.Name) for e in target.elts):
            return [ast.unparse(target).strip("()")]
        is_item = isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name)
        target = target.value if is_item and isinstance(target, ast.Subscript) else target
        return [target.id] if isinstance(target, ast.Name) else []
    called = last.value if isinstance(last, ast.Expr) else None
    owner = ast.unparse(called.func).partition(".")[0] if isinstance(called, ast.Call) else ""
    is_method = isinstance(called, ast.Call) and isinstance(called.func, ast.Attribute)
    return [owner] if is_method and owner.isidentifier() and owner not in {"self", "cls"} else []


def _common(last: ast.stmt) -> list[str]:
    """The names that each branch assigns which does not leave."""
    branches = _branches(last)
    if len(branches) < 2 or not all(branches):
        return []
    is_open = [b for b in branches if not isinstance(b[-1], (ast.Return, ast.Raise, ast.Continue))]
    sets = [_assigned(branch) for branch in is_open]
    return sorted(set.intersection(*sets)) if sets else []


def _assigned(block: list[ast.stmt]) -> set[str]:
    own = {target.id for statement in block for target in targets(statement)}
    return own | set(_common(block[-1]))


def _gathered(function: FunctionNode, loop: ast.stmt) -> list[str]:
    """Names that are set before the loop and changed in it."""
    before = {t.id for s in function.body if s.lineno < loop.lineno for t in targets(s)}
    changed = []
    for node in ast.walk(loop):
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            changed.append(node.target.id)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            changed.append(ast.unparse(node.func.value))
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            changed.append(ast.unparse(node.value))
        elif isinstance(node, ast.Assign):
            changed += [target.id for target in targets(node)]
    return [name for name in dict.fromkeys(changed) if name in before]


def _blocks(function: FunctionNode) -> Iterator[list[ast.stmt]]:
    """The blocks of a function, the outermost first; none of those in it."""
    for node in (function, *own_nodes(function)):
        if node is function or not isinstance(node, ScopeNode):
            for name in ("body", "orelse", "finalbody"):
                block = getattr(node, name, None)
                if isinstance(block, list) and block:
                    yield block


def _too_soon(text: Text, loop: ast.stmt) -> Iterator[Proposal]:
    """A ``return`` at the end of a loop's body, or in its last ``else``, behind the loop."""
    if not isinstance(loop, (ast.For, ast.While)) or loop.orelse:
        return
    last = loop.body[-1]
    if isinstance(last, ast.Return) and len(loop.body) > 1 and not text.lead(last).strip():
        yield _moved(text, loop, last, text.line_start(last))
    if not isinstance(last, ast.If) or len(last.orelse) != 1:
        return
    other = last.orelse[0]
    if isinstance(other, ast.Return):
        end = text.end(last.body[-1])
        between = text.between(end, text.start(other))
        cut = between.find("\n")
        if cut >= 0 and "#" not in between and "else" in between:
            yield _moved(text, loop, other, end + cut + 1)


def _moved(text: Text, loop: ast.stmt, last: ast.Return, start: int) -> Proposal:
    words = f"`{brief(text.of(last))}` behind the loop"
    moved = f"{text.lead(loop)}{text.of(last)}"
    return proposal(text, text.cut(start, text.end(last), moved, words))


def _after(text: Text, statement: ast.stmt, name: str) -> Proposal:
    end = text.end(statement)
    indent = text.lead(statement)
    words = f"`{name}` is returned"
    if indent.strip():  # behind a colon or a semicolon
        return proposal(text, text.insert(end, f"; return {name}", words))
    rest = text.between(end, sys.maxsize).partition("\n")[0]  # a comment stays on its line
    at = end + len(rest.encode())
    return proposal(text, text.insert(at, f"\n{indent}return {name}", words))


def _is_effect(value: ast.expr) -> bool:
    if isinstance(value, ast.Await):
        return _is_effect(value.value)
    if isinstance(value, ast.Call):
        return ast.unparse(value.func).rpartition(".")[2] in EFFECTS
    return isinstance(value, (ast.Constant, ast.Yield, ast.YieldFrom))
