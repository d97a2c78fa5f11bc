"""The small project of most stories, right as it is; each story puts its own mistake in."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

SHOP: Mapping[str, str] = {
    "prices.py": """
        RATES = {"de": 19, "fr": 20, "jp": 10}


        def rate(country):
            return RATES[country]


        def taxed(net, country):
            return net + net * rate(country) // 100


        def shown(amount):
            return f"{amount} EUR"
        """,
    "cart.py": """
        from prices import shown, taxed


        def amounts(items):
            return [n * price for n, price in items]


        def total(items, country):
            net = 0
            for amount in amounts(items):
                net = net + amount
            return taxed(net, country)


        def count(items):
            return sum(n for n, _ in items)


        def receipt(items, country):
            return f"{count(items)} items: {shown(total(items, country))}"
        """,
    "stock.py": """
        def left(stock, sold):
            return stock - sold


        def is_empty(stock):
            return stock <= 0
        """,
    "test_cart.py": """
        from cart import amounts, count, receipt, total

        ITEMS = [(2, 100), (1, 300)]


        def test_amounts():
            assert amounts(ITEMS) == [200, 300]


        def test_count():
            assert count(ITEMS) == 3


        def test_total():
            assert total(ITEMS, "de") == 595


        def test_receipt():
            assert receipt(ITEMS, "jp") == "3 items: 550 EUR"
        """,
    "test_stock.py": """
        from stock import is_empty, left


        def test_left():
            assert left(5, 2) == 3


        def test_is_empty():
            assert is_empty(0)
        """,
}


def shop(*edits: tuple[str, str], **files: str) -> dict[str, str]:
    """Return the shop with texts replaced, and with more files, whose names lack ``.py``."""
    found = dict(SHOP)
    for old, new in edits:
        (name,) = (name for name, text in found.items() if text.count(old) == 1)
        found[name] = found[name].replace(old, new)
    return {**found, **{f"{name}.py": text for name, text in files.items()}}
