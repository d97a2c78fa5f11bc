"""A coroutine that was made and not awaited, ``async`` left out, or a wrong ``await``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from pytest_bayesloc.domain.fixing import Level
from pytest_bayesloc.domain.source import ScopeNode
from pytest_bayesloc.fixes.calls import called, trees
from pytest_bayesloc.fixes.library import package_tool
from pytest_bayesloc.fixes.project import Project, Proposal, Task, proposal
from pytest_bayesloc.fixes.syntax import BUILT_IN, Text, brief, function_at, nodes_at, nodes_of

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
def missing_await(task: Task, project: Project) -> Iterator[Proposal]:
    """The line with ``await`` before a call that gives a coroutine, or without one too many."""
    if _NOT_AWAITABLE.search(task.message):
        yield from _not_awaited(task)
        return
    if _PLAIN.search(task.message):
        yield from _asynchronous_blocks(task)
    yield from _dropped(task, project)
    yield from _used(task, project)


def _not_awaited(task: Task) -> Iterator[Proposal]:
    text = task.text
    for node in task.nodes:
        if isinstance(node, ast.Await):
            said = text.of(node).removeprefix("await").strip()
            words = f"`{brief(text.of(node.value))}` is not awaited"
            yield proposal(text, text.replace(node, said, words))


def _used(task: Task, project: Project) -> Iterator[Proposal]:
    """The calls awaited whose coroutine is used as if it were its result."""
    named = {found.group(1).rpartition(".")[2] for found in _NAMED.finditer(task.message)}
    is_used = _USED.search(task.message) is not None
    if not named and not is_used:
        return
    if "with future" in task.message:
        named = {"gather", "wait_for", "shield"}
    lines = [task.line, *(_made_at(task.tree, task.line) if is_used else ()), *task.lines]
    calls = [pair for line in dict.fromkeys(lines) for pair in _plain_calls(task.tree, line)]
    known = named or _asynchronous(task.tree, {called(call) for call, _ in calls}, project)
    yield from (_awaited(task.text, *pair) for pair in calls if called(pair[0]) in known)
    if is_used:  # what is imported, or a method of another file: the calls that made the value
        near = {task.line, *_made_at(task.tree, task.line)}
        own = {n.name for n in ast.walk(task.tree) if isinstance(n, ScopeNode)}
        for call, above in calls:
            is_built_in = isinstance(call.func, ast.Name) and call.func.id in BUILT_IN
            if call.lineno in near and called(call) not in own and not is_built_in:
                yield _awaited(task.text, call, above)


def _asynchronous_blocks(task: Task) -> Iterator[Proposal]:
    """The loop, the comprehension or the block at the line with ``async`` before it."""
    text = task.text
    if not isinstance(task.function, ast.AsyncFunctionDef):
        return
    for node in task.nodes:
        if isinstance(node, (ast.For, ast.With)):
            word = "for" if isinstance(node, ast.For) else "with"
            yield proposal(text, text.insert(text.start(node), "async ", f"`async {word}`"))
        elif isinstance(node, ast.comprehension) and not node.is_async:
            before = text.between(0, text.start(node.target))
            at = len(before[: before.rindex("for")].encode())
            yield proposal(text, text.insert(at, "async ", "`async for`"))


def _dropped(task: Task, project: Project) -> Iterator[Proposal]:
    """Calls on executed lines whose coroutine nobody takes, awaited."""
    for line in task.executed:
        calls = [pair for pair in _plain_calls(task.tree, line) if isinstance(pair[1], _DROPS)]
        known = (
            _asynchronous(task.tree, {called(call) for call, _ in calls}, project) if calls else ()
        )
        for call, above in calls:
            is_wait = ast.unparse(call.func) in _WAITS and isinstance(above, ast.Expr)
            if called(call) in known or is_wait:
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
    found = []
    for node in ast.walk(function) if function is not None else ():
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and node.lineno < line:
            names = {n.id for t in node.targets for n in nodes_of(t, ast.Name)}
            found += [node.lineno] if names & used else []
    return sorted(found, reverse=True)


def _plain_calls(tree: ast.Module, line: int) -> list[tuple[ast.Call, ast.AST | None]]:
    """The calls at ``line`` that may be awaited and are not, each with what it is part of."""
    if not isinstance(function_at(tree, line), ast.AsyncFunctionDef):
        return []
    nodes = list(nodes_at(tree, line))
    around = {id(part): node for node in nodes for part in ast.iter_child_nodes(node)}
    taken = {
        id(part)
        for node in nodes
        if isinstance(node, ast.Lambda)
        or (isinstance(node, ast.Call) and called(node) in TAKERS)
        or isinstance(node, ScopeNode)
        for inner in ast.iter_child_nodes(node)
        for part in ast.walk(inner)
    }
    calls = [node for node in nodes if isinstance(node, ast.Call) and id(node) not in taken]
    pairs = [(call, around.get(id(call))) for call in calls]
    return [(call, above) for call, above in pairs if not isinstance(above, ast.Await)]


def _awaited(text: Text, call: ast.Call, above: ast.AST | None) -> Proposal:
    """The call awaited, in brackets where something is taken from its result."""
    is_owner = isinstance(above, ast.Attribute) or (
        isinstance(above, (ast.Subscript, ast.Call))
        and call in (getattr(above, "value", None), getattr(above, "func", None))
    )
    said = f"await {text.of(call)}"
    words = f"`{called(call)}()` is awaited"
    return proposal(text, text.replace(call, f"({said})" if is_owner else said, words))
