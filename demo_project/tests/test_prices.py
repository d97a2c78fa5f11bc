import pytest

from cutshop.prices import (
    combined_rate,
    coupon_rate,
    cut_price,
    express_fee,
    loyalty_rate,
    setup_price,
    to_cents,
    vat,
    volume_rate,
)


@pytest.mark.parametrize(("amount", "cents"), [(0.0, 0), (1.49, 1), (2.5, 3), (3.5, 4)])
def test_to_cents_rounds_half_up(amount, cents):
    assert to_cents(amount) == cents


def test_cut_price_grows_with_length():
    assert cut_price(500.0, "acrylic") == 90
    assert cut_price(1500.0, "acrylic") == 270


def test_cut_price_of_unknown_material_is_refused():
    with pytest.raises(ValueError, match="no price for 'marble'"):
        cut_price(100.0, "marble")


def test_setup_of_steel_costs_more():
    assert setup_price("steel") > setup_price("plywood")


@pytest.mark.parametrize(
    ("quantity", "rate"),
    [(1, 0.0), (9, 0.0), (10, 0.05), (49, 0.05), (50, 0.10), (200, 0.15), (500, 0.25)],
)
def test_volume_rate(quantity, rate):
    assert volume_rate(quantity) == rate


@pytest.mark.parametrize(("years", "rate"), [(0, 0.0), (1, 0.02), (5, 0.10), (12, 0.10)])
def test_loyalty_rate_ends_after_five_years(years, rate):
    assert loyalty_rate(years) == pytest.approx(rate)


@pytest.mark.parametrize(
    ("code", "rate"),
    [
        ("WELCOME5", 0.05),
        ("SPRING10", 0.10),
        ("FRIENDS20", 0.20),
        ("spring10", 0.10),
        (" Friends20 ", 0.20),
    ],
)
def test_coupon_rate(code, rate):
    assert coupon_rate(code) == rate


def test_coupon_rate_of_unknown_code_is_refused():
    with pytest.raises(ValueError, match="unknown coupon 'SPRING11'"):
        coupon_rate("SPRING11")


def test_combined_rate_of_a_new_customer_is_zero():
    assert combined_rate(1, 0) == 0.0


def test_combined_rate_applies_each_discount_to_the_rest():
    assert combined_rate(50, 5) == pytest.approx(0.19)


@pytest.mark.parametrize(("quantity", "years"), [(500, 4), (500, 5), (2000, 9)])
def test_combined_rate_stays_within_the_limit(quantity, years):
    assert combined_rate(quantity, years) == pytest.approx(0.30)


def test_combined_rate_takes_the_coupon_off_the_rest():
    assert combined_rate(10, 0, "SPRING10") == pytest.approx(0.145)


def test_combined_rate_with_coupon_stays_within_the_limit():
    assert combined_rate(500, 2, "FRIENDS20") == pytest.approx(0.30)


@pytest.mark.parametrize(("days", "fee"), [(1, 400), (4, 100), (5, 0), (9, 0)])
def test_express_fee_is_for_each_day_saved(days, fee):
    assert express_fee(1000, days) == fee


def test_express_fee_needs_a_day():
    with pytest.raises(ValueError, match="0 days"):
        express_fee(1000, 0)


@pytest.mark.parametrize(("country", "tax"), [("DE", 190), ("AT", 200), ("CH", 81), ("US", 0)])
def test_vat(country, tax):
    assert vat(1000, country) == tax
