"""The rooms of the house."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Room:
    """A room; ``price`` is that of a night, in cents."""

    name: str
    beds: int
    price: int
    has_balcony: bool = False

    def fits(self, n_guests: int) -> bool:
        """Whether each guest has a bed."""
        return n_guests <= self.beds


ROOMS = (
    Room("attic", 1, 5_500),
    Room("garden", 2, 8_000),
    Room("balcony", 2, 9_500, has_balcony=True),
    Room("family", 4, 13_000, has_balcony=True),
)


def room_called(name: str) -> Room:
    """The room of that name."""
    for room in ROOMS:
        if room.name == name:
            return room
    raise KeyError(name)


def rooms_for(n_guests: int) -> list[Room]:
    """The rooms with enough beds, the smallest and cheapest first."""
    if n_guests < 1:
        raise ValueError(f"{n_guests} guests need no room")
    fitting = [room for room in ROOMS if room.fits(n_guests)]
    return sorted(fitting, key=lambda room: (room.beds, room.price))
