from __future__ import annotations

import logging
import os
import sys
from functools import lru_cache
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from pytest_bayesloc.rerun.shared import KeptState, changed_state, shared_state
from tests.fakes.hostile import Hostile

if TYPE_CHECKING:
    from collections.abc import Callable

NAME = "shop_kept.py::shop_kept"


class Pool:
    __module__ = "shop_kept"
    size = 3

    def __init__(self) -> None:
        self.open = [1]

    def seen(self, names: list[str] = []) -> list[str]:  # noqa: B006 - what is watched
        return names


@lru_cache
def rate(name: str) -> str:
    return name


def default(seen: list[int] = []) -> list[int]:  # noqa: B006 - what is watched
    return seen


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    made = ModuleType("shop_kept")
    made.__file__ = "/p/shop_kept.py"
    vars(made).update(
        SETTINGS={"currency": "EUR", "rates": [1, 2]}, NAMES={"a"}, COUNT=1, pool=Pool(), Pool=Pool,
        rate=rate, default=default,
    )  # fmt: skip
    monkeypatch.setitem(sys.modules, "shop_kept", made)
    return made


def changed(before: dict[str, str]) -> list[str]:
    """What differs now; files may be written by anyone."""
    now = shared_state(name_of)
    return [name for name in changed_state(before, now) if name != "::files"]


def name_of(filename: str) -> str:
    return {"/p/shop_kept.py": "shop_kept.py"}.get(filename, "")


def _set(name: str, value: object) -> Callable[[Any], object]:
    return lambda module: setattr(module, name, value)


CHANGES: dict[str, tuple[Callable[[Any], object], str, tuple[str, str, str]]] = {
    "element": (
        lambda m: m.SETTINGS.update(currency="USD"),
        f"{NAME}.SETTINGS",
        ('["currency"]', "'EUR'", "'USD'"),
    ),
    "inner list":
        (lambda m: m.SETTINGS["rates"].append(3), f"{NAME}.SETTINGS", ('["rates"][2]', "", "3")),
    "set": (lambda m: m.NAMES.add("b"), f"{NAME}.NAMES", ("", "{'a'}", "{'a', 'b'}")),
    "plain value": (_set("COUNT", 2), f"{NAME}.COUNT", ("", "1", "2")),
    "attribute": (lambda m: m.pool.open.append(2), f"{NAME}.pool", (".open[1]", "", "2")),
    "class": (lambda m: setattr(m.Pool, "size", 9), f"{NAME}.Pool.size", ("", "3", "9")),
    "cache": (lambda m: m.rate("a"), f"{NAME}.rate", ("", "0 cached results", "1 cached results")),
    "default":
        (lambda m: m.default().append(1), f"{NAME}.default.__defaults__", ("[0][0]", "", "1")),
    "default of a method": (
        lambda m: m.pool.seen().append("a"),
        f"{NAME}.Pool.seen.__defaults__",
        ("[0][0]", "", "'a'"),
    ),
    "new variable": (_set("OTHER", 1), f"{NAME}.OTHER", ("", "", "1")),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_changed_variable_is_told_and_put_back(module: ModuleType, change: str) -> None:
    act, name, part = CHANGES[change]
    before = shared_state(name_of)
    kept = KeptState([name], name_of)

    act(module)

    assert name in changed(before)
    assert [(path.replace("'", '"'), *texts) for path, *texts in kept.changes()[name]] == [part]
    kept.restore()
    assert name not in changed(before)


PROCESS: dict[str, tuple[Callable[[], object], str]] = {
    "variable": (lambda: os.environ.update(SHOP_STAGE="test"), "::os.environ['SHOP_STAGE']"),
    "path": (lambda: sys.path.append("/nowhere"), "::sys.path"),
    "logging": (lambda: logging.getLogger("shop").setLevel(40), "::the settings of logging"),
    "recursion": (lambda: sys.setrecursionlimit(5_000), "::the recursion limit"),
}


@pytest.mark.parametrize("change", PROCESS)
def test_state_of_the_process_is_put_back(change: str) -> None:
    act, name = PROCESS[change]
    logging.getLogger("shop")
    before = shared_state(name_of)
    kept = KeptState([name], name_of)

    act()
    try:
        assert changed(before) == [name]
    finally:
        kept.restore()

    assert changed(before) == []


def test_function_of_another_module_that_is_replaced_differs_and_is_put_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name = "::textwrap.dedent"
    before = shared_state(name_of)
    kept = KeptState([name], name_of)

    monkeypatch.setattr("textwrap.dedent", len)

    assert name in changed(before)
    kept.restore()
    assert changed(before) == []


def hostile() -> Hostile:
    made = Hostile()
    object.__setattr__(made, "held", [])
    return made


def loop() -> list[Any]:
    value: list[Any] = [1]
    value.append(value)
    return value


IN_PLACE: dict[str, tuple[Any, Callable[[Any], object]]] = {
    "beyond the cap": (dict.fromkeys(range(500)), lambda value: value.pop(499)),
    "attribute": (hostile(), lambda value: object.__getattribute__(value, "held").append(1)),
    "value that holds itself": (loop(), lambda value: value.append(2)),
}


@pytest.mark.parametrize("name", IN_PLACE)
def test_variable_that_is_changed_in_place_differs(module: ModuleType, name: str) -> None:
    value, change = IN_PLACE[name]
    vars(module)["STATE"] = value
    before = shared_state(name_of)

    assert changed(before) == []
    change(value)
    assert changed(before) == [f"{NAME}.STATE"]


def test_function_that_is_replaced_differs(module: ModuleType) -> None:
    before = shared_state(name_of)

    vars(module)["default"] = lambda: 1

    assert f"{NAME}.default" in changed(before)


def test_attribute_of_a_foreign_class_is_left_out(module: ModuleType) -> None:
    foreign = type("Foreign", (), {"__module__": "elsewhere", "open": []})
    vars(module)["Foreign"] = foreign
    before = shared_state(name_of)

    foreign.open.append(1)  # type: ignore[attr-defined]

    assert changed(before) == []


def test_variables_of_foreign_modules_are_left_out(module: ModuleType) -> None:
    del module.__file__

    assert not any("SETTINGS" in name for name in shared_state(name_of))


def test_what_unittest_notes_for_itself_is_no_state(
    module: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = shared_state(name_of)

    monkeypatch.setattr(Pool, "tearDown_exceptions", [], raising=False)
    vars(module)["pytestmark"] = 1

    assert changed(before) == []
