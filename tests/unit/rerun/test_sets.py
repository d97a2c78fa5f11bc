from __future__ import annotations

import builtins
from textwrap import dedent
from typing import Any

import pytest

from pytest_bayesloc.rerun.sets import NAME, Shuffle, changed_code, code_files
from pytest_bayesloc.rerun.swap import codes_in

FILE = "/p/shop.py"
CODE = dedent("""
    TAGS = {"a", "b", "c", "d"}

    def of_literal():
        return list({"a", "b", "c", "d"})

    def of_call():
        return [tag for tag in set("abcd")]

    def of_union():
        return "".join({"a", "b"} | set("cd"))

    def of_frozen():
        return tuple(frozenset("abcd"))

    def of_pop():
        left = set("abcd")
        return [left.pop() for _ in range(4)]

    def of_sorted():
        return sorted({"b", "a"})
    """)
ORDERS = ["of_literal", "of_call", "of_union", "of_frozen", "of_pop"]


@pytest.fixture
def shop(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setattr(builtins, NAME, None, raising=False)
    space: dict[str, Any] = {"__name__": "shop"}
    exec(compile(CODE, FILE, "exec", dont_inherit=True), space)
    return space


def shuffled(
    shop: dict[str, Any], name: str, seed: int, only: tuple[str, int] | None = None
) -> tuple[str, Shuffle]:
    functions = [value for value in shop.values() if hasattr(value, "__code__")]
    shuffle = Shuffle(seed, lambda file: "shop.py" if file == FILE else "", only)
    shuffle.install({FILE: functions}, {FILE: CODE})
    shuffle.start()
    return "".join(shop[name]()), shuffle


@pytest.mark.parametrize("name", ORDERS)
def test_order_of_a_set_is_that_of_the_seed(shop: dict[str, Any], name: str) -> None:
    orders = [shuffled(shop, name, seed)[0] for seed in range(6)]

    assert len(set(orders)) > 1
    assert {"".join(sorted(order)) for order in orders} == {"abcd"}
    assert shuffled(shop, name, 3)[0] == orders[3]


@pytest.mark.parametrize("name", ["of_literal", "of_call"])
def test_who_reads_the_order_is_noted(shop: dict[str, Any], name: str) -> None:
    _, shuffle = shuffled(shop, name, 1)

    line = CODE.splitlines().index(f"def {name}():") + 2
    assert [(file, at, code) for file, at, _, code in shuffle.stop()] == [("shop.py", line, name)]


def test_only_one_place_gets_the_order_where_that_is_asked(shop: dict[str, Any]) -> None:
    line = CODE.splitlines().index("def of_literal():") + 2
    plain = {shuffled(shop, "of_call", seed, ("shop.py", line))[0] for seed in range(6)}
    other = {shuffled(shop, "of_literal", seed, ("shop.py", line))[0] for seed in range(6)}

    assert len(plain) == 1
    assert len(other) > 1


def test_code_that_sorts_gets_the_same() -> None:
    space: dict[str, Any] = {}
    exec(compile(CODE, FILE, "exec", dont_inherit=True), space)

    assert {shuffled(space, "of_sorted", seed)[0] for seed in range(6)} == {"ab"}


METHODS = dedent("""
    from __future__ import annotations

    class Base:
        def tags(self):
            return "abcd"

    class Shop(Base):
        __times = 2

        def name(self):
            return "shop"

        def tags(self) -> Unknown:
            return self.__times * "".join(set(super().tags()))
    """)


def test_method_has_its_class_though_what_makes_no_sets_is_left_out() -> None:
    space: dict[str, Any] = {}
    exec(compile(METHODS, FILE, "exec", dont_inherit=True), space)
    kind, orders = space["Shop"], set()
    for seed in range(6):
        shuffle = Shuffle(seed, lambda _: "shop.py", None)
        shuffle.install({FILE: [kind.name, kind.tags]}, {FILE: METHODS})
        orders.add(kind().tags())

    assert len(orders) > 1
    assert {"".join(sorted(order)) for order in orders} == {"aabbccdd"}
    code = changed_code(FILE, METHODS)
    assert code is not None
    names = {inner.co_name for inner in codes_in(code)}
    assert "tags" in names
    assert "name" not in names


def test_test_files_keep_their_rewritten_assertions() -> None:
    assert code_files(["/p/a.py", "/p/test_a.py", "/p/conftest.py"]) == ["/p/a.py"]


@pytest.mark.parametrize("text", ["def f(): return [1, 2]\n", "def f(:\n"])
def test_file_that_makes_no_sets_is_not_compiled(text: str) -> None:
    assert changed_code("a.py", text) is None
