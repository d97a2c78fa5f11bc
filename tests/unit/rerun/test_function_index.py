from __future__ import annotations

import asyncio
import re
from itertools import count
from types import ModuleType
from typing import Any

import pytest

from pytest_bayesloc.rerun.swap import FunctionIndex, compile_patched, functions_by_file, swap_code

Key = tuple[int, str]
NUMBERS = count()


def module_of(text: str) -> ModuleType:
    module = ModuleType(f"cart{next(NUMBERS)}")
    module.__file__ = f"/nowhere/{module.__name__}.py"
    exec(compile(text, module.__file__, "exec", dont_inherit=True), module.__dict__)
    return module


def put(index: FunctionIndex, module: ModuleType, text: str, patched: str, *keys: Key) -> int:
    file = module.__file__ or ""
    return swap_code(index.get(file, ()), compile_patched(text, patched, file), keys)


def swap(text: str, patched: str, *keys: Key) -> tuple[ModuleType, int]:
    """A module of ``text`` whose functions ``keys`` got the code of ``patched``."""
    module = module_of(text)
    return module, put(functions_by_file(), module, text, patched, *keys)


PATCH = re.compile("(return|yield) 1")

# 1 becomes 2 in the function ``f``, which stands in a line and is called in some way.
REACHED: dict[str, tuple[str, int, str]] = {
    "function": ("def f():\n    return 1\n", 1, "f()"),
    "one line": ("def f(): return 1\n", 1, "f()"),
    "method": ("class C:\n    def f(self):\n        return 1\n", 2, "C().f()"),
    "static method": ("class C:\n    @staticmethod\n    def f():\n        return 1\n", 2, "C.f()"),
    "property": ("class C:\n    @property\n    def f(self):\n        return 1\n", 2, "C().f"),
    "cached": ("import functools\n@functools.lru_cache(None)\ndef f():\n    return 1\n", 2, "f()"),
    "decorated": (
        "import functools\ndef d(g):\n    @functools.wraps(g)\n    def w(): return g()\n"
        "    return w\n@d\ndef f():\n    return 1\n",
        6,
        "f()",
    ),
    "nested": (
        "def outer(n):\n    def f():\n        return 1 + n\n    return f\nf = outer(0)\n",
        2,
        "f()",
    ),
    "super": (
        "class C:\n    def f(self):\n        super().__init__()\n        return 1\n",
        2,
        "C().f()",
    ),
    "registered": ("R = {}\ndef f():\n    return 1\nR['f'] = f\ndel f\n", 2, "R['f']()"),
    "generator": ("def f():\n    yield 1\n", 1, "next(f())"),
    "asynchronous": ("async def f():\n    return 1\n", 1, "run(f())"),
}


@pytest.mark.parametrize(("text", "line", "call"), REACHED.values(), ids=REACHED.keys())
def test_function_runs_the_patched_code(text: str, line: int, call: str) -> None:
    module, n_swapped = swap(text, PATCH.sub(r"\1 2", text, count=1), (line, "f"))

    assert n_swapped == 1
    assert eval(call, {"run": asyncio.run}, vars(module)) == 2


def test_functions_with_other_keys_keep_their_code() -> None:
    text = "def f(): return 1\ndef g(): return 1\n"

    module, n_swapped = swap(text, text.replace("1", "2"), (1, "f"))

    assert (n_swapped, module.f(), module.g()) == (1, 2, 1)


def test_every_closure_of_a_function_is_reached_and_so_are_later_ones() -> None:
    text = "def make(n):\n  def f():\n    return n + 1\n  return f\na, b = make(10), make(20)\n"

    module, n_swapped = swap(text, text.replace("n + 1", "n + 2"), (1, "make"), (2, "f"))

    assert n_swapped == 3
    assert (module.a(), module.b(), module.make(30)()) == (12, 22, 32)


def test_functions_of_other_files_are_left_alone() -> None:
    other = module_of("def f(): return 1\n")

    _, n_swapped = swap("x = 1\n", "def f(): return 2\n", (1, "f"))

    assert (n_swapped, other.f()) == (0, 1)


def test_getter_and_setter_of_one_name_are_told_apart() -> None:
    text = """\
class C:
    @property
    def f(self):
        return 1
    @f.setter
    def f(self, value):
        self.seen = 1
"""
    module, n_swapped = swap(text, text.replace("seen = 1", "seen = 2"), (5, "f"))
    thing: Any = module.C()
    thing.f = 0

    assert (n_swapped, thing.seen, thing.f) == (1, 2, 1)


def test_change_of_free_variables_is_refused() -> None:
    text = "def outer(n):\n    def f():\n        return 1\n    return f\nf = outer(0)\n"

    with pytest.raises(ValueError, match="free var"):
        swap(text, text.replace("return 1", "return n"), (2, "f"))


def test_function_made_after_the_scan_is_not_reached() -> None:
    text = "def f(): return 1\n"
    index = functions_by_file()
    module = module_of(text)

    n_swapped = put(index, module, text, "def f(): return 2\n", (1, "f"))

    assert (n_swapped, module.f()) == (0, 1)
