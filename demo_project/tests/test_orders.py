import pytest

from cutshop.curve import Spline, segment
from cutshop.orders import Item, Order, money


@pytest.fixture
def bar():
    return segment((0.0, 0.0), (1000.0, 0.0))


@pytest.fixture
def order():
    return Order("DE")


def test_piece_price_follows_the_outline(bar):
    assert Item("bar", bar, "plywood").piece_price() == 120


def test_curved_piece_costs_more_than_a_straight_one(bar):
    bow = Spline.through_ends([(0.0, 0.0), (300.0, 400.0), (700.0, 400.0), (1000.0, 0.0)])

    assert Item("bow", bow, "plywood").price() > Item("bar", bar, "plywood").price()


def test_item_needs_a_piece(bar):
    with pytest.raises(ValueError, match="bar: quantity 0"):
        Item("bar", bar, "plywood", quantity=0)


def test_same_pieces_are_counted_together(order, bar):
    order.add(Item("bar", bar, "plywood", 2))
    order.add(Item("bar", bar, "plywood", 3))
    order.add(Item("bar", bar, "steel"))

    assert len(order.items) == 2
    assert order.n_pieces() == 6


def test_goods_include_one_setup_for_each_material(order, bar):
    order.add(Item("bar", bar, "plywood", 2))
    order.add(Item("rod", bar, "plywood", 1))
    order.add(Item("bar", bar, "steel", 1))

    assert order.goods() == 3 * 120 + 450 + 250 + 900


def test_small_order_has_no_discount(bar):
    order = Order("DE", years=5, coupon="FRIENDS20")
    order.add(Item("bar", bar, "plywood", 10))

    assert order.discount() == 0


def test_discount_of_a_large_order(bar):
    order = Order("DE", years=1)
    order.add(Item("bar", bar, "plywood", 200))

    assert order.discount() == round((200 * 120 + 250) * (1 - 0.85 * 0.98))


def test_discount_with_coupon(bar):
    order = Order("DE", coupon="welcome5")
    order.add(Item("bar", bar, "acrylic", 100))

    assert order.discount() == round((100 * 180 + 250) * 0.145)


def test_discount_is_limited(bar):
    order = Order("AT", years=5, coupon="FRIENDS20")
    order.add(Item("bar", bar, "acrylic", 200))

    assert order.discount() == round((200 * 180 + 250) * 0.30)


@pytest.mark.parametrize(("country", "cents"), [("DE", 690), ("AT", 1490)])
def test_shipping_of_a_small_order(bar, country, cents):
    order = Order(country)
    order.add(Item("bar", bar, "plywood"))

    assert order.shipping() == cents


def test_shipping_of_a_large_order_is_free(order, bar):
    order.add(Item("bar", bar, "steel", 30))

    assert order.shipping() == 0


def test_total_of_a_small_order(order, bar):
    order.add(Item("bar", bar, "plywood", 5))

    assert order.net() == 5 * 120 + 250 + 690
    assert order.total() == 1540 + 293


def test_express_is_paid_on_the_goods(bar):
    order = Order("US", days=3)
    order.add(Item("bar", bar, "plywood", 5))

    assert order.total() == 850 + 170 + 1490


def test_invoice_of_a_small_order(order, bar):
    order.add(Item("bar", bar, "plywood", 5))

    assert order.invoice() == ["5 x bar: 6.00 EUR", "Total: 18.33 EUR"]


def test_invoice_of_a_large_order(bar):
    order = Order("US", years=4, coupon="FRIENDS20")
    order.add(Item("bar", bar, "steel", 500))

    assert order.invoice() == [
        "500 x bar: 2250.00 EUR",
        "Discount: -677.70 EUR",
        "Total: 1581.30 EUR",
    ]


def test_money_has_two_decimals():
    assert money(1205) == "12.05 EUR"
