"""How the house did, and what it offers."""

from __future__ import annotations

from calendar import monthrange

from guesthouse.bookings import Book
from guesthouse.invoices import money
from guesthouse.prices import stay_price
from guesthouse.rooms import ROOMS


def price_list() -> list[str]:
    """The rooms with the price of a night."""
    return [f"{room.name}: {money(room.price)}" for room in ROOMS]


def revenue(book: Book, year: int, month: int) -> int:
    """What the parties that arrive in a month pay, before tax."""
    arrived = [booking for booking in book.bookings if booking.arrives_in(year, month)]
    return sum(stay_price(booking.room, booking.stay) for booking in arrived)


def occupancy(book: Book, year: int, month: int) -> float:
    """The share of the nights of a month for which rooms are booked."""
    n_possible = len(ROOMS) * monthrange(year, month)[1]
    nights = [night for booking in book.bookings for night in booking.stay.nights()]
    return sum((night.year, night.month) == (year, month) for night in nights) / n_possible


def best_guest(book: Book) -> str | None:
    """The guest with the most nights; None without bookings."""
    nights: dict[str, int] = {}
    for booking in book.bookings:
        nights[booking.guest] = nights.get(booking.guest, 0) + booking.stay.n_nights
    return max(nights, key=nights.__getitem__, default=None)
