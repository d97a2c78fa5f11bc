"""Tools for a result that never comes: it is not returned, it is None, or nobody awaits it."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from textwrap import dedent

from pytest_bayesloc.domain.fixing import Level
from pytest_bayesloc.domain.source import FunctionNode, ScopeNode, tree_of
from pytest_bayesloc.fixes.calls import methods, trees
from pytest_bayesloc.fixes.library import package_tool
from pytest_bayesloc.fixes.project import Made, Project, Task
from pytest_bayesloc.syntax.expressions import CHANGING
from pytest_bayesloc.syntax.nodes import (
    BUILT_IN,
    called_name,
    children,
    function_at,
    last_name,
    names_in,
    nodes_at,
    nodes_of,
    own_nodes,
    targets,
    walk,
)
from pytest_bayesloc.syntax.text import Text, brief

#: Methods that change their object and give None.
_IN_PLACE = CHANGING - {"pop", "popitem", "popleft", "setdefault"}
#: Methods and functions that are called for what they do.
EFFECTS = _IN_PLACE | frozenset(
    {"print", "write", "close", "setdefault", "setattr", "warn", "info", "debug", "error"}
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
def missing_return(task: Task, _project: Project) -> Iterator[Made]:
    """The functions that were executed, with what they compute returned."""
    text = task.text
    for function in task.functions:
        yield from _in_place(text, function)
        if not _is_for_effect(function, task.test):
            if "None" in task.message:
                yield from _at_end(text, function, function.body)
                if _is_of_builder(task.tree, function, task.message):
                    yield _after(text, function.body[-1], "self")
            if task.error_type == "AssertionError":
                yield from _too_soon(text, function)


def _in_place(text: Text, function: FunctionNode) -> Iterator[Made]:
    """A call that works in place and gives None, by itself, before its object is used."""
    for node in own_nodes(function):
        made = ""
        if not isinstance(node, (ast.Assign, ast.Return)):
            continue
        match node.value:
            case ast.Call(func=ast.Attribute() as method) as call:
                if method.attr in _IN_PLACE or (method.attr == "shuffle" and len(call.args) == 1):
                    made = _by_itself(text, node, call, method)
            case ast.IfExp(body=ast.Call(func=ast.Attribute() as method)) as choice if isinstance(
                node, ast.Assign
            ):  # ``x = x.add(y) if z else x``
                owner = text.of(method.value)
                is_same = owner == text.of(choice.orelse) == text.of(node.targets[0])
                if is_same and method.attr in _IN_PLACE:
                    lead = f"if {text.of(choice.test)}:\n{text.lead(node)}    "
                    made = f"{lead}{text.of(choice.body)}"
        if made and not ("\n" in made and text.lead(node).strip()):
            words = f"`{method.attr}` works in place and gives None"
            yield text.replace(node, made, words)


def _by_itself(
    text: Text, node: ast.Assign | ast.Return, call: ast.Call, method: ast.Attribute
) -> str:
    """The statements for one that takes the result of a call that works in place."""
    name, said, indent = method.attr, text.of(call), text.lead(node)
    owner = text.of(call.args[0] if name == "shuffle" else method.value)
    if isinstance(node, ast.Return):
        more = "".join(f", {text.of(keyword)}" for keyword in call.keywords)
        is_sort = name == "sort"
        return f"return sorted({owner}{more})" if is_sort else f"{said}\n{indent}return {owner}"
    target = text.of(node.targets[0])
    if target == owner:
        return said
    if name == "shuffle":
        return f"{target} = {owner}\n{indent}{text.of(method)}({target})"
    return f"{target} = {owner}.copy()\n{indent}{target}{said[len(owner) :]}"


def _is_for_effect(function: FunctionNode, test: str) -> bool:
    """Whether nobody expects anything of it: a test, a generator, a setter.

    What says that it returns None is none of these if the failing test takes its result.
    """
    decorators = (ast.unparse(decorator) for decorator in function.decorator_list)
    if (
        function.name in _SILENT
        or function.name.startswith("test")
        or any(said.endswith((".setter", ".deleter")) for said in decorators)
        or any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in own_nodes(function))
    ):
        return True
    if function.returns is None or ast.unparse(function.returns) != "None":
        return False
    tree = tree_of(dedent(test)) or ast.Module([], [])
    dropped = {node.value for node in nodes_of(tree, ast.Expr)}
    calls = (node for node in nodes_of(tree, ast.Call) if last_name(node.func) == function.name)
    return all(call in dropped for call in calls)


def _is_of_builder(tree: ast.Module, function: FunctionNode, message: str) -> bool:
    """Whether other methods of the class return ``self``, or one is missed in the result."""
    owners = [owner for method, owner in methods(tree) if method is function]
    missed = message.rpartition("has no attribute ")[2].strip("'")
    return any(
        (isinstance(node, FunctionNode) and node.name == missed)
        or (isinstance(node, ast.Return) and node.value and ast.unparse(node.value) == "self")
        for owner in owners
        for node in walk(owner)
    )


def _at_end(text: Text, function: FunctionNode, block: list[ast.stmt]) -> Iterator[Made]:
    """Return what the last statement of a block computes."""
    last = block[-1]
    if isinstance(last, ast.Return) and last.value is None and len(block) > 1:
        for name in _changed(block[-2]):
            yield text.replace(last, f"return {name}", f"`{name}` is returned")
    if isinstance(last, ast.Expr) and not _is_effect(last.value):
        words = f"`{brief(text.of(last))}` is returned"
        yield text.replace(last, f"return {text.of(last)}", words)
    names = [*_changed(last), *sorted(_common(last))]
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
    match statement:
        case ast.Try(body=body, orelse=orelse, handlers=handlers):
            return [orelse or body, *(handler.body for handler in handlers)]
        case ast.If(body=body, orelse=orelse):
            return [body, orelse]
        case ast.Match(cases=cases):
            return [case.body for case in cases]
    return [] if isinstance(statement, ScopeNode) else [getattr(statement, "body", [])]


def _changed(last: ast.stmt) -> list[str]:
    """The name that a statement assigns, or calls a method of."""
    match last:
        case (
            ast.Assign(targets=[target, *_])
            | ast.AugAssign(target=target)
            | ast.AnnAssign(target=target)
        ):
            if isinstance(target, ast.Tuple) and all(isinstance(e, ast.Name) for e in target.elts):
                return [ast.unparse(target).strip("()")]
            name = target.value if isinstance(target, ast.Subscript) else target
            return [name.id] if isinstance(name, ast.Name) else []
        case ast.Expr(value=ast.Call(func=ast.Attribute() as method)):
            owner = ast.unparse(method).partition(".")[0]
            return [owner] if owner.isidentifier() and owner not in {"self", "cls"} else []
    return []


def _common(last: ast.stmt) -> set[str]:
    """The names that each branch assigns which does not leave."""
    branches = _branches(last)
    if len(branches) < 2 or not all(branches):
        return set()
    sets = [
        {target.id for statement in branch for target in targets(statement)} | _common(branch[-1])
        for branch in branches
        if not isinstance(branch[-1], (ast.Return, ast.Raise, ast.Continue))
    ]
    return set.intersection(*sets) if sets else set()


def _gathered(function: FunctionNode, loop: ast.stmt) -> list[str]:
    """Names that are set before the loop and changed in it."""
    before = {t.id for s in function.body if s.lineno < loop.lineno for t in targets(s)}
    changed = []
    for node in walk(loop):
        match node:
            case ast.AugAssign(target=ast.Name(id=name)):
                changed.append(name)
            case (
                ast.Call(func=ast.Attribute(value=owner))
                | ast.Subscript(value=owner, ctx=ast.Store())
            ):
                changed.append(ast.unparse(owner))
            case ast.Assign():
                changed += [target.id for target in targets(node)]
    return [name for name in dict.fromkeys(changed) if name in before]


def _too_soon(text: Text, function: FunctionNode) -> Iterator[Made]:
    """A ``return`` at the end of a loop's body, or in its last ``else``, behind the loop.

    The loop ends a block, the outermost first; none of a function or class in this one.
    """
    blocks = (
        getattr(node, name, None)
        for node in (function, *own_nodes(function))
        if node is function or not isinstance(node, ScopeNode)
        for name in ("body", "orelse", "finalbody")
    )
    for loop in (block[-1] for block in blocks if isinstance(block, list) and block):
        if not isinstance(loop, (ast.For, ast.While)) or loop.orelse:
            continue
        last = loop.body[-1]
        if isinstance(last, ast.Return) and len(loop.body) > 1 and not text.lead(last).strip():
            yield _moved(text, loop, last, text.line_start(last))
        if isinstance(last, ast.If) and len(last.orelse) == 1:
            (other,) = last.orelse
            end = text.end(last.body[-1])
            between = text.between(end, text.start(other))
            cut = between.find("\n")
            is_plain = cut >= 0 and "#" not in between and "else" in between
            if isinstance(other, ast.Return) and is_plain:
                yield _moved(text, loop, other, end + cut + 1)


def _moved(text: Text, loop: ast.stmt, last: ast.Return, start: int) -> Made:
    words = f"`{brief(text.of(last))}` behind the loop"
    moved = f"{text.lead(loop)}{text.of(last)}"
    return text.cut(start, text.end(last), moved, words)


def _after(text: Text, statement: ast.stmt, name: str) -> Made:
    end, apart = text.end(statement), f"\n{text.lead(statement)}"
    if apart.strip():  # behind a colon or a semicolon
        apart = "; "
    else:  # a comment stays on its line
        end += len(text.between(end, sys.maxsize).partition("\n")[0].encode())
    return text.insert(end, f"{apart}return {name}", f"`{name}` is returned")


def _is_effect(value: ast.expr) -> bool:
    if isinstance(value, ast.Await):
        return _is_effect(value.value)
    if isinstance(value, ast.Call):
        return called_name(value) in EFFECTS
    return isinstance(value, (ast.Constant, ast.Yield, ast.YieldFrom))


# -- coroutines

_NAMED = re.compile(r"coroutine (?:object |method )?'?([\w.<>]+)'?(?: at 0x| was never|')")
_NOT_AWAITABLE = re.compile(
    r"can't be used in 'await' expression|object is not awaitable|object can't be awaited"
)
#: A loop or a block over what is asynchronous.
_PLAIN = re.compile(
    r"'async_generator' object is not iterable|'[\w.]+' object is not iterable"
    r"|object does not support the context manager protocol"
    r"|object (?:is not a context manager|has no attribute '__enter__')"
)
_USED = re.compile(
    r"await wasn't used with future|'coroutine' object|of 'coroutine'|instances of .*'coroutine'"
    r"|(?:: |and )'coroutine'"
)
#: What makes no use of a coroutine: nothing takes it, or only its truth.
_DROPS = (ast.Expr, ast.If, ast.While, ast.IfExp, ast.BoolOp, ast.UnaryOp, ast.Compare)
_WAITS = ("asyncio.gather", "asyncio.sleep", "asyncio.wait", "asyncio.wait_for")
#: What takes coroutines, and awaits them itself.
TAKERS = frozenset(
    {"create_task", "ensure_future", "gather", "wait", "wait_for", "shield", "as_completed", "run",
     "run_until_complete", "run_coroutine_threadsafe", "start_soon", "iscoroutine", "timeout"}
)  # fmt: skip


@package_tool(
    "A coroutine was never awaited, or async is left out before for or with. Awaits it, adds async,"
    " or does not await what is no coroutine.",
    error_pattern=r"coroutine|'await' expression|not awaitable|^(\w*(Error|Exception)|Failed)\b",
    level=Level.SAFE,
)
def missing_await(task: Task, project: Project) -> Iterator[Made]:
    """The line with ``await`` before a call that gives a coroutine, or without one too many."""
    if _NOT_AWAITABLE.search(task.message):
        for awaited in (n for n in task.nodes if isinstance(n, ast.Await)):
            said = task.text.of(awaited).removeprefix("await").strip()
            words = f"`{brief(task.text.of(awaited.value))}` is not awaited"
            yield task.text.replace(awaited, said, words)
        return
    if _PLAIN.search(task.message) and isinstance(task.function, ast.AsyncFunctionDef):
        text = task.text
        for node in task.nodes:
            if isinstance(node, (ast.For, ast.With)):
                word = "for" if isinstance(node, ast.For) else "with"
                yield text.insert(text.start(node), "async ", f"`async {word}`")
            elif isinstance(node, ast.comprehension) and not node.is_async:
                before = text.between(0, text.start(node.target))
                at = len(before[: before.rindex("for")].encode())
                yield text.insert(at, "async ", "`async for`")
    yield from _dropped(task, project)
    yield from _used(task, project)


def _used(task: Task, project: Project) -> Iterator[Made]:
    """The calls awaited whose coroutine is used as if it were its result."""
    named = {found.group(1).rpartition(".")[2] for found in _NAMED.finditer(task.message)}
    is_used = _USED.search(task.message) is not None
    if not named and not is_used:
        return
    if "with future" in task.message:
        named = {"gather", "wait_for", "shield"}
    lines = [task.line, *(_made_at(task.tree, task.line) if is_used else ()), *task.lines]
    calls = [pair for line in dict.fromkeys(lines) for pair in _plain_calls(task.tree, line)]
    known = named or _asynchronous(task.tree, {called_name(call) for call, _ in calls}, project)
    yield from (_awaited(task.text, *pair) for pair in calls if called_name(pair[0]) in known)
    if is_used:  # what is imported, or a method of another file: the calls that made the value
        near = {task.line, *_made_at(task.tree, task.line)}
        own = {n.name for n in walk(task.tree) if isinstance(n, ScopeNode)}
        for call, above in calls:
            is_built_in = isinstance(call.func, ast.Name) and call.func.id in BUILT_IN
            if call.lineno in near and called_name(call) not in own and not is_built_in:
                yield _awaited(task.text, call, above)


def _dropped(task: Task, project: Project) -> Iterator[Made]:
    """Calls on executed lines whose coroutine nobody takes, awaited."""
    for line in task.executed:
        calls = [pair for pair in _plain_calls(task.tree, line) if isinstance(pair[1], _DROPS)]
        names = {called_name(call) for call, _ in calls}
        known = _asynchronous(task.tree, names, project) if names else set()
        for call, above in calls:
            is_wait = ast.unparse(call.func) in _WAITS and isinstance(above, ast.Expr)
            if called_name(call) in known or is_wait:
                yield _awaited(task.text, call, above)


def _asynchronous(tree: ast.Module, names: set[str], project: Project) -> set[str]:
    """Those of ``names`` that the file, or the module that defines them, has as ``async def``."""
    found = {n.name for n in nodes_of(tree, ast.AsyncFunctionDef)}
    for name in sorted(names - found):
        for other in trees(tree, name, project):
            found |= {n.name for n in other.body if isinstance(n, ast.AsyncFunctionDef)}
    return found


def _made_at(tree: ast.Module, line: int) -> list[int]:
    """The lines of the function that assign what is used at ``line``, the nearest first."""
    used = {n.id for n in nodes_at(tree, line) if isinstance(n, ast.Name)}
    function = function_at(tree, line)
    assigned = nodes_of(function, ast.Assign) if function is not None else []
    made = (n for n in assigned if isinstance(n.value, ast.Call) and n.lineno < line)
    near = (n.lineno for n in made if any(used & names_in(target) for target in n.targets))
    return sorted(near, reverse=True)


def _plain_calls(tree: ast.Module, line: int) -> list[tuple[ast.Call, ast.AST | None]]:
    """The calls at ``line`` that may be awaited and are not, each with what it is part of."""
    if not isinstance(function_at(tree, line), ast.AsyncFunctionDef):
        return []
    nodes = list(nodes_at(tree, line))
    around = {id(part): node for node in nodes for part in children(node)}
    taken = {
        id(part)
        for node in nodes
        if isinstance(node, ScopeNode | ast.Lambda)
        or (isinstance(node, ast.Call) and called_name(node) in TAKERS)
        for inner in children(node)
        for part in walk(inner)
    }
    calls = [node for node in nodes if isinstance(node, ast.Call) and id(node) not in taken]
    pairs = [(call, around.get(id(call))) for call in calls]
    return [(call, above) for call, above in pairs if not isinstance(above, ast.Await)]


def _awaited(text: Text, call: ast.Call, above: ast.AST | None) -> Made:
    """The call awaited, in brackets where something is taken from its result."""
    parts = (getattr(above, "value", None), getattr(above, "func", None))
    is_owner = isinstance(above, (ast.Attribute, ast.Subscript, ast.Call)) and call in parts
    said = f"(await {text.of(call)})" if is_owner else f"await {text.of(call)}"
    return text.replace(call, said, f"`{called_name(call)}()` is awaited")
