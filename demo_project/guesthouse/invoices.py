"""What a guest has to pay."""

from __future__ import annotations

from guesthouse import settings
from guesthouse.bookings import Booking
from guesthouse.prices import stay_price, to_cents


def money(cents: int) -> str:
    """``cents`` as it stands on an invoice."""
    return f"{cents // 100}.{cents % 100:02d} {settings.currency()}"


def tax(net: int) -> int:
    """The tax on a price."""
    return to_cents(net * settings.tax_rate())


def total(booking: Booking) -> int:
    """The price of a booking with tax."""
    net = stay_price(booking.room, booking.stay)
    return net + tax(net)


def invoice(booking: Booking) -> list[str]:
    """The lines of an invoice."""
    net = stay_price(booking.room, booking.stay)
    return [
        f"{booking.guest}: {booking.room.name}, {booking.stay.n_nights} nights",
        f"Net: {money(net)}",
        f"Tax: {money(tax(net))}",
        f"Total: {money(total(booking))}",
    ]
