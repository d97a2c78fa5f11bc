from __future__ import annotations

import asyncio
import builtins
import sys
from textwrap import dedent
from typing import Any

import pytest

from pytest_bayesloc.rerun.readers import Readers
from pytest_bayesloc.rerun.tasks import NAME, install

FILE = "/p/till.py"
CODE = dedent("""
    import asyncio

    total = 0

    async def pause():
        await asyncio.sleep(0)

    async def add(n):
        global total
        before = total
        await pause()
        total = before + n

    async def add_at_once(n):
        global total
        total += n
        await pause()

    async def nested(n):
        await add(n)

    async def add_all(add, *amounts):
        await asyncio.gather(*map(add, amounts))
        return total
    """)
ADD, AT_ONCE, NESTED = (FILE, (9, "add")), (FILE, (15, "add_at_once")), (FILE, (20, "nested"))


@pytest.fixture
def till(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setattr(builtins, NAME, None, raising=False)
    space: dict[str, Any] = {"__name__": "till"}
    exec(compile(CODE, FILE, "exec", dont_inherit=True), space)
    return space


def put(till: dict[str, Any], slow: list[Any], in_turn: list[Any]) -> None:
    functions = [value for value in till.values() if hasattr(value, "__code__")]
    install({FILE: functions}, {FILE: CODE}, slow, in_turn)


def total(till: dict[str, Any], name: str) -> int:
    found: int = asyncio.run(till["add_all"](till[name], 1, 2, 3))
    return found


def test_update_is_lost_unless_tasks_take_turns(till: dict[str, Any]) -> None:
    assert total(till, "add") == 3

    till["total"] = 0
    put(till, [], [ADD])
    assert total(till, "add") == 6


def test_task_is_let_in_again(till: dict[str, Any]) -> None:
    put(till, [], [ADD, NESTED])

    assert total(till, "nested") == 6


def test_turns_hold_in_each_loop(till: dict[str, Any]) -> None:
    put(till, [], [ADD])

    assert [total(till, "add"), total(till, "add")] == [6, 12]


def test_function_that_waits_longer_does_the_same(till: dict[str, Any]) -> None:
    put(till, [AT_ONCE], [])

    assert total(till, "add_at_once") == 6
    assert "slowly" in till["add_at_once"].__code__.co_names
    assert "slowly" not in till["add"].__code__.co_names


def test_coroutines_are_noted_where_there_are_several_tasks(till: dict[str, Any]) -> None:
    readers = Readers(lambda file: "till.py" if file == FILE else "")
    before = sys.getprofile()

    readers.start()
    asyncio.run(till["nested"](1))
    alone = readers.stop()
    readers.start()
    total(till, "add")
    found = readers.stop()

    assert sys.getprofile() is before
    assert "in-tasks" not in alone
    names = [name for _, _, _, name in found["in-tasks"]]
    assert names == ["add_all", "add", "pause"]
