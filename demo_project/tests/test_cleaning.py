from datetime import date

import pytest

from guesthouse.bookings import Book
from guesthouse.cleaning import changeovers, departures
from guesthouse.stays import nights_from

FRIDAY, SUNDAY, TUESDAY = date(2026, 5, 8), date(2026, 5, 10), date(2026, 5, 12)


@pytest.fixture
def book():
    """Two families and two singles, one after the other."""
    book = Book()
    book.book("Ada", 4, nights_from(FRIDAY, 2))
    book.book("Bob", 4, nights_from(SUNDAY, 2))
    book.book("Eve", 1, nights_from(FRIDAY, 4))
    book.book("Kim", 1, nights_from(TUESDAY, 1))
    return book


def test_room_is_cleaned_between_two_parties(book):
    assert changeovers(book) == {SUNDAY: ["family"], TUESDAY: ["attic"]}


def test_two_rooms_are_cleaned_on_one_day(book):
    book.book("Zoe", 4, nights_from(TUESDAY, 1))

    assert changeovers(book).get(TUESDAY) == ["attic", "family"]


@pytest.mark.parametrize("n_nights", [1, 3])
def test_nothing_is_urgent_if_a_room_is_empty_for_a_night(n_nights):
    book = Book()
    book.book("Ada", 4, nights_from(FRIDAY, 1))
    book.book("Bob", 4, nights_from(SUNDAY, n_nights))

    assert changeovers(book) == {}


def test_departures_of_a_day():
    book = Book()
    book.book("Ada", 2, nights_from(FRIDAY, 2))
    book.book("Bob", 1, nights_from(FRIDAY, 2))

    assert departures(book, SUNDAY) == ["attic", "garden"]
    assert departures(book, FRIDAY) == []
