from __future__ import annotations

import sys
from functools import lru_cache
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from pytest_bayesloc.rerun.shared import changed_state, shared_state
from tests.fakes.hostile import Hostile

if TYPE_CHECKING:
    from collections.abc import Callable


def hostile() -> Hostile:
    made = Hostile()
    object.__setattr__(made, "held", [])
    return made


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    made = ModuleType("shop_state")
    made.__file__ = "/p/shop_state.py"
    monkeypatch.setitem(sys.modules, "shop_state", made)
    return made


def state() -> dict[str, str]:
    known = {"/p/shop_state.py": "shop_state.py"}
    return shared_state(lambda filename: known.get(filename, ""))


def changed(change: Callable[[], object]) -> list[str]:
    before = state()
    change()
    after = state()
    return [name for name in changed_state(before, after) if name != "::files"]  # anyone's


CHANGES: dict[str, tuple[Callable[[], Any], Callable[[Any], object]]] = {
    "list": (lambda: [1], lambda value: value.append(1)),
    "deep": (lambda: {"a": [{"b": 1}]}, lambda value: value["a"][0].update(b=2)),
    "beyond the cap": (lambda: dict.fromkeys(range(500)), lambda value: value.pop(499)),
    "set": (lambda: {1, 2}, lambda value: value.add(3)),
    "attribute": (hostile, lambda value: object.__getattribute__(value, "held").append(1)),
    "cached function": (lambda: lru_cache(len), lambda value: value("a")),
}


@pytest.mark.parametrize("name", CHANGES)
def test_variable_that_is_changed_in_place_differs(module: ModuleType, name: str) -> None:
    make, change = CHANGES[name]
    value = make()
    vars(module)["STATE"] = value

    assert changed(lambda: change(value)) == ["shop_state.py::shop_state.STATE"]
    assert changed(lambda: None) == []


def test_function_that_is_replaced_differs(module: ModuleType) -> None:
    vars(module)["fetch"] = lambda: 1

    assert changed(lambda: setattr(module, "fetch", lambda: 1)) == [
        "shop_state.py::shop_state.fetch"
    ]


def test_attribute_of_a_class_is_named_by_its_own_class(module: ModuleType) -> None:
    pool = type("Pool", (), {"__module__": "shop_state", "open": []})
    foreign = type("Foreign", (), {"__module__": "elsewhere", "open": []})
    vars(module).update(Pool=pool, Foreign=foreign)

    assert changed(lambda: (pool.open.append(1), foreign.open.append(1))) == [  # type: ignore[attr-defined]
        "shop_state.py::shop_state.Pool.open"
    ]


def test_value_that_holds_itself_is_told_apart(module: ModuleType) -> None:
    value: list[Any] = [1]
    value.append(value)
    vars(module)["STATE"] = value

    assert changed(lambda: value.append(2)) == ["shop_state.py::shop_state.STATE"]


def test_variables_of_foreign_modules_are_left_out(module: ModuleType) -> None:
    del module.__file__
    vars(module)["STATE"] = []

    assert not any("shop_state" in name for name in state())


def test_environment_is_shared_state(monkeypatch: pytest.MonkeyPatch) -> None:
    assert changed(lambda: monkeypatch.setenv("SHOP_CURRENCY", "USD")) == [
        "::os.environ['SHOP_CURRENCY']"
    ]


def test_what_unittest_notes_for_itself_is_no_state(module: ModuleType) -> None:
    class Case:
        __module__ = "shop_state"

    vars(module)["Case"] = Case

    def noted() -> None:
        Case.tearDown_exceptions = []  # type: ignore[attr-defined]
        vars(module)["pytestmark"] = 1

    assert changed(noted) == []
