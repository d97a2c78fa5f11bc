"""A function that is called as soon as a module is imported."""

from __future__ import annotations

import importlib
import sys
from importlib.machinery import ModuleSpec
from typing import TYPE_CHECKING

from pytest_bayesloc.rerun.swap import Overlay, WhenImported

if TYPE_CHECKING:
    from types import ModuleType

    import pytest


class Modules:
    """Finds and loads two modules that hold a value."""

    def find_spec(self, fullname: str, *_: object) -> ModuleSpec | None:
        return ModuleSpec(fullname, self) if fullname in {"waited_for", "other_one"} else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> None:
        pass

    def exec_module(self, module: ModuleType) -> None:
        vars(module)["value"] = 1


def test_the_function_is_called_when_the_module_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    values, modules = list[int](), Modules()
    finder = WhenImported("waited_for", lambda: values.append(sys.modules["waited_for"].value))
    overlay = Overlay("nowhere.py", "", "")  # it asks the other finders, too
    monkeypatch.setattr(sys, "meta_path", [overlay, finder, modules, *sys.meta_path])
    for name in ("waited_for", "other_one"):  # they go when the test is over
        monkeypatch.setitem(sys.modules, name, sys)
        monkeypatch.delitem(sys.modules, name)
    importlib.import_module("other_one")
    assert not values

    module = importlib.import_module("waited_for")

    assert values == [1]
    assert {vars(module)["__loader__"], vars(module)["__spec__"].loader} == {modules}
    importlib.reload(module)
    assert values == [1, 1]
