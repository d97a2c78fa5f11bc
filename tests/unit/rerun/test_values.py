"""Where another value of a variable, or of a default, stands then."""

from __future__ import annotations

import os
import sys
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from pytest_bayesloc.rerun.values import put_value

if TYPE_CHECKING:
    from collections.abc import Iterator

PATH = os.path.realpath("/srv/shop/rates.py")
RATES = """\
from enum import Enum, IntEnum

VAT = 0.02
LONG = "a text that is no small one"
TABLE = {"a": 1}
ITEMS = [1, 2]


class Till:
    limit = 10

    class Drawer:
        limit = 20


class Kind(Enum):
    A = "a"


class Size(IntEnum):
    SMALL = 1


def text(n, width=27, *, fill="-"):
    return fill * width


def doubled(n):
    return 2 * VAT * n
"""
CART = """\
from shop_rates import LONG, TABLE
import shop_rates as rates


def tax():
    return rates.VAT
"""


@pytest.fixture
def rates() -> Iterator[Any]:
    """A module and one that imports it."""
    made = {}
    for name, text, path in (("shop_rates", RATES, PATH), ("shop_cart", CART, "/srv/shop/cart.py")):
        module = sys.modules[name] = made[name] = ModuleType(name)
        module.__file__ = path
        exec(compile(text, path, "exec"), vars(module))
    yield made["shop_rates"]
    for name in made:
        del sys.modules[name]


def put(rates: Any, name: str, text: str, owner: str = "", first_line: int = 0) -> int:  # noqa: ANN401 - a module
    functions = [f for f in vars(rates).values() if isinstance(f, FunctionType)]
    wanted = {"filename": PATH, "owner": owner, "name": name, "text": text}
    return put_value({**wanted, "first_line": first_line}, {PATH: functions})


def test_variable_of_a_module_has_it_wherever_it_was_imported(rates: Any) -> None:  # noqa: ANN401 - a module
    assert put(rates, "LONG", "'other'") == 2
    assert (rates.LONG, sys.modules["shop_cart"].LONG) == ("other", "other")
    assert put(rates, "VAT", "VAT * 10") == 1
    assert (rates.doubled(1), sys.modules["shop_cart"].tax()) == (0.4, 0.2)


def test_container_is_changed_as_it_stands(rates: Any) -> None:  # noqa: ANN401 - a module
    table, items = rates.TABLE, rates.ITEMS

    assert put(rates, "TABLE", "{'b': 2}") == put(rates, "ITEMS", "[3]") == 1
    assert (table, items) == ({"b": 2}, [3])
    assert sys.modules["shop_cart"].TABLE is table


def test_attribute_of_a_class_and_member_of_an_enumeration_have_it(rates: Any) -> None:  # noqa: ANN401 - a module
    assert put(rates, "limit", "11", "Till") == 1
    assert put(rates, "limit", "21", "Till.Drawer") == 1
    assert put(rates, "A", "'b'", "Kind") == 1
    assert (rates.Till().limit, rates.Till.Drawer.limit, rates.Kind.A.value) == (11, 21, "b")


def test_default_is_given_to_the_function_that_has_it(rates: Any) -> None:  # noqa: ANN401 - a module
    line = rates.text.__code__.co_firstlineno

    assert put(rates, "width", "3", "text", line) == put(rates, "fill", "'+'", "text", line) == 1
    assert rates.text(1) == "+++"
    assert put(rates, "width", "3", "text", line + 1) == 0


@pytest.mark.parametrize(
    ("name", "owner", "line"),
    [("NONE", "", 0), ("limit", "Nobody", 0), ("SMALL", "Size", 0), ("n", "text", 24)],
)
def test_what_can_t_be_put_in_place_changes_nothing(
    rates: Any,  # noqa: ANN401 - a module
    name: str,
    owner: str,
    line: int,
) -> None:
    line = rates.text.__code__.co_firstlineno if line else 0

    assert put(rates, name, "7", owner, line) == 0
    assert rates.Size.SMALL == 1
    assert rates.text(1) == "-" * 27
