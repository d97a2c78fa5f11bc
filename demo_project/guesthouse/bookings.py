"""The book in which all bookings stand."""

from __future__ import annotations

from dataclasses import dataclass

from guesthouse.rooms import Room, rooms_for
from guesthouse.stays import Stay


@dataclass(frozen=True)
class Booking:
    """A room for a party and a stay."""

    guest: str
    n_guests: int
    room: Room
    stay: Stay

    def arrives_in(self, year: int, month: int) -> bool:
        """Whether the party arrives in a month."""
        day = self.stay.arrival
        return (day.year, day.month) == (year, month)


class Book:
    """All bookings of the house."""

    def __init__(self) -> None:
        self.bookings: list[Booking] = []

    def is_free(self, room: Room, stay: Stay) -> bool:
        """Whether nobody else has the room in any of the nights."""
        others = (booking.stay for booking in self.bookings if booking.room == room)
        return not any(stay.overlaps(other) for other in others)

    def free_rooms(self, n_guests: int, stay: Stay) -> list[Room]:
        """The rooms that such a party can have, the smallest and cheapest first."""
        return [room for room in rooms_for(n_guests) if self.is_free(room, stay)]

    def book(self, guest: str, n_guests: int, stay: Stay) -> Booking | None:
        """Give a party the first room that is free; None if there is none."""
        free = self.free_rooms(n_guests, stay)
        if not free:
            return None
        booking = Booking(guest, n_guests, free[0], stay)
        self.bookings.append(booking)
        return booking

    def cancel(self, guest: str) -> int:
        """Take out all bookings of a guest; how many there were."""
        kept = [booking for booking in self.bookings if booking.guest != guest]
        n_cancelled = len(self.bookings) - len(kept)
        self.bookings = kept
        return n_cancelled
