"""When rooms are cleaned."""

from __future__ import annotations

from datetime import date

from guesthouse.bookings import Book
from guesthouse.rooms import ROOMS


def changeovers(book: Book) -> dict[date, list[str]]:
    """The rooms that one party leaves and another enters on the same day, by day."""
    found: dict[date, list[str]] = {}
    for room in ROOMS:
        stays = [booking.stay for booking in book.bookings if booking.room == room]
        arrivals = {stay.arrival for stay in stays}
        for day in sorted(stay.departure for stay in stays if stay.departure in arrivals):
            found.setdefault(day, []).append(room.name)
    return found


def departures(book: Book, day: date) -> list[str]:
    """The rooms that are left on a day."""
    return sorted(b.room.name for b in book.bookings if b.stay.departure == day)
