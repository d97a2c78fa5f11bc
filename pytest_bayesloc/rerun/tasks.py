"""Has tasks of asyncio execute functions one after the other, or more slowly, in a forked child."""

from __future__ import annotations

import ast
import asyncio
import builtins
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar

from pytest_bayesloc.domain.source import compile_tree, first_line, parse
from pytest_bayesloc.rerun.swap import swap_each
from pytest_bayesloc.syntax.nodes import nodes_inside

if TYPE_CHECKING:
    from collections.abc import Awaitable, Collection, Mapping

    from pytest_bayesloc.rerun.swap import CodeKey, FunctionIndex

NAME = "__bayesloc_turns__"  # of ``builtins``, by which changed code reaches ``Turns``
SLOW_S = 0.005  # behind each await

T = TypeVar("T")


class Turns:
    """Lets one task at a time into the functions that it guards, and in again what is inside."""

    def __init__(self) -> None:
        self._locks: dict[Any, asyncio.Lock] = {}  # by the loop: a test may run several
        self._depth: ContextVar[int] = ContextVar("depth", default=0)  # tasks inherit it

    async def __aenter__(self) -> None:
        if not self._depth.get():
            await self._lock().acquire()
        self._depth.set(self._depth.get() + 1)

    async def __aexit__(self, *_: object) -> None:
        self._depth.set(self._depth.get() - 1)
        if not self._depth.get():
            self._lock().release()

    def _lock(self) -> asyncio.Lock:
        return self._locks.setdefault(asyncio.get_running_loop(), asyncio.Lock())

    async def slowly(self, awaited: Awaitable[T]) -> T:
        """Await something, and let other tasks go on before the result is used."""
        result = await awaited
        await asyncio.sleep(SLOW_S)
        return result


def install(
    functions: FunctionIndex,
    texts: Mapping[str, str],
    slow: Collection[tuple[str, CodeKey]],
    in_turn: Collection[tuple[str, CodeKey]],
) -> None:
    """Change the code of coroutine functions, each given by its file and key.

    Args:
        functions: By the real paths of their files.
        texts: Of these files, by the same paths.
        slow: Functions that wait a while behind each of their awaits.
        in_turn: Functions of which only one is executed at a time.
    """
    setattr(builtins, NAME, Turns())
    for path, text in texts.items():
        tree = parse(text, path)
        for node in [n for n in ast.walk(tree) if isinstance(n, ast.AsyncFunctionDef)]:
            key = path, (first_line(node), node.name)
            if key in slow:
                _slow_down(node)
            if key in in_turn:
                around = ast.parse(f"async def f():\n async with {NAME}: pass").body[0].body[0]  # type: ignore[attr-defined]
                around.body = node.body
                node.body = [ast.copy_location(around, node.body[0])]
        code = compile_tree(ast.fix_missing_locations(tree), path)
        swap_each(functions.get(path, ()), code)


def _slow_down(function: ast.AsyncFunctionDef) -> None:
    for node in [n for n in nodes_inside(function) if isinstance(n, ast.Await)]:
        call = ast.parse(f"{NAME}.{Turns.slowly.__name__}(0)", mode="eval").body
        call.args = [node.value]  # type: ignore[attr-defined]
        node.value = ast.copy_location(call, node.value)
