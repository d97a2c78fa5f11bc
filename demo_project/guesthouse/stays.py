"""Stays, from the day of arrival to the day of departure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta

FRIDAY, SATURDAY = 4, 5


@dataclass(frozen=True)
class Stay:
    """The nights between two days."""

    arrival: date
    departure: date

    def __post_init__(self) -> None:
        if self.departure <= self.arrival:
            raise ValueError(f"departure {self.departure} is not after arrival {self.arrival}")

    @property
    def n_nights(self) -> int:
        """Number of nights."""
        return (self.departure - self.arrival).days

    def nights(self) -> Iterator[date]:
        """The day before each night."""
        for n in range(self.n_nights):
            yield self.arrival + timedelta(days=n)

    def overlaps(self, other: Stay) -> bool:
        """Whether both need the room in one night: on the day of departure it is free again."""
        return self.arrival <= other.departure and other.arrival < self.departure


def is_weekend(night: date) -> bool:
    """Whether a night is from Friday to Saturday or from Saturday to Sunday."""
    return night.weekday() in (FRIDAY, SATURDAY)


def nights_from(arrival: date, n_nights: int) -> Stay:
    """The stay of so many nights."""
    return Stay(arrival, arrival + timedelta(days=n_nights))
