from __future__ import annotations

import ast
from textwrap import dedent, indent

import pytest

from pytest_bayesloc.causes.awaits import stale_read


def read_in(body: str) -> tuple[str, int, int] | None:
    function = "async def f(self, key, n):\n" + indent(dedent(body).strip("\n"), "    ")
    return stale_read(ast.parse(function).body[0])


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ("left = self.left\nawait log()\nself.left = left - n", "self.left"),
        ("self.left = self.left - await price(n)", "self.left"),
        ("self.left -= await price(n)", "self.left"),
        ("global total\nold = total\nnew = old + await price(n)\ntotal = new", "total"),
        ("old = await store.get(key)\nawait store.put(key, old + n)", "store"),
        ("old = await get(store, key)\nawait put(store, key, old + n)", "store"),
        ("old = await self.load()\nif old:\n    await self.save(old - n)", "self"),
        ("if key in self.known:\n    return\nvalue = await ask(key)\nself.known[key] = value",
         "self.known"),
        ("if not self.pool:\n    self.pool = await connect()", "self.pool"),
    ],
)  # fmt: skip
def test_what_is_written_by_an_old_value_or_condition_is_told(body: str, name: str) -> None:
    found = read_in(body)

    assert found is not None
    assert found[0] == name


@pytest.mark.parametrize(
    "body",
    [
        "await log()\nself.left = self.left - n",
        "left = self.left\nself.left = left - n\nawait log()",
        "self.left -= n\nawait log()\nself.left += n",
        "self.data = await self.load()",
        "left = self.left\nawait log(left)\nself.logged = n",
        "if not self.closed:\n    await run()\nawait self.log(n)",
    ],
)
def test_fresh_value_is_not_told(body: str) -> None:
    assert read_in(body) is None
