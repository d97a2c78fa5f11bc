"""A wrong constant is mended where it is set, not where it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.integration.conftest import Projects, Run

pytestmark = pytest.mark.traced

CART = """
    from rates import RATES, VAT


    class Cart:
        max_items = {limit}

        def __init__(self):
            self.prices = []

        def add(self, price):
            if len(self.prices) == self.max_items:
                raise OverflowError(price)
            self.prices.append(price)

        def tax(self):
            return round(sum(self.prices) * VAT, 2)


    def shipping(kind, surcharge={surcharge}):
        return RATES[kind] + surcharge
"""
RATES = """
    VAT = {vat}
    RATES = {{"land": {land}, "air": 20}}
"""
TESTS = {
    "test_cart.py": """
        import pytest

        from cart import Cart, shipping


        def filled(*prices):
            cart = Cart()
            for price in prices:
                cart.add(price)
            return cart


        def test_tax():
            assert filled(100).tax() == 20


        def test_tax_of_two():
            assert filled(10, 40).tax() == 10


        def test_no_tax():
            assert filled().tax() == 0


        def test_full_cart():
            assert len(filled(*range(12)).prices) == 12


        def test_too_full_cart():
            with pytest.raises(OverflowError):
                filled(*range(13))


        def test_shipping():
            assert shipping("air") == 21


        @pytest.mark.parametrize("surcharge", range(5))
        def test_surcharge(surcharge):
            assert shipping("air", surcharge) == 20 + surcharge


        def test_shipping_by_land():
            assert shipping("land") == 8
    """
}
RIGHT = {"limit": 12, "surcharge": 1, "vat": 0.2, "land": 7}


@pytest.mark.parametrize(
    ("wrong", "place"),
    [
        ({"vat": 0.3}, "rates.py <module>"),
        pytest.param({"land": 70}, "rates.py <module>", marks=pytest.mark.thorough),
        pytest.param({"land": 31}, "rates.py <module>", marks=pytest.mark.thorough),
        pytest.param({"limit": 11}, "cart.py Cart", marks=pytest.mark.thorough),
        pytest.param({"surcharge": 10}, "cart.py shipping", marks=pytest.mark.thorough),
    ],
    ids=str,
)
def test_wrong_constant_is_mended_in_the_place_that_sets_it(
    projects: Projects, wrong: dict[str, float], place: str
) -> None:
    values = {**RIGHT, **wrong}
    files = {"cart.py": CART.format(**values), "rates.py": RATES.format(**values), **TESTS}

    run: Run = projects.make(files).localize("--bayesloc")

    target = run.inspections[0]["target"]
    assert run.inspections[0]["outcome"] == "EDIT_REPAIRS"
    assert f"{target['file']} {target['qualname']}" == place
    assert place in run.names()[:2]
