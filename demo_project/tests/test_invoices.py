from datetime import date

import pytest

from guesthouse import settings
from guesthouse.bookings import Booking
from guesthouse.invoices import invoice, money, tax, total
from guesthouse.rooms import room_called
from guesthouse.stays import nights_from


@pytest.fixture
def booking():
    return Booking("Ada", 2, room_called("garden"), nights_from(date(2026, 5, 4), 3))


def test_money_has_two_decimals():
    assert money(1205) == "12.05 EUR"


def test_tax_is_rounded():
    assert tax(1_050) == 74


def test_total_has_tax(booking):
    assert total(booking) == 24_000 + 1_680


def test_invoice(booking):
    assert invoice(booking) == [
        "Ada: garden, 3 nights",
        "Net: 240.00 EUR",
        "Tax: 16.80 EUR",
        "Total: 256.80 EUR",
    ]


def test_unknown_country():
    with pytest.raises(ValueError, match="no house in 'FR'"):
        settings.use_country("FR")


def test_invoice_of_the_house_in_switzerland(booking):
    settings.use_country("CH")

    assert invoice(booking)[-1] == "Total: 249.12 CHF"
