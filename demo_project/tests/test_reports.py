from datetime import date

import pytest

from guesthouse.bookings import Book
from guesthouse.reports import best_guest, occupancy, price_list, revenue
from guesthouse.stays import nights_from


@pytest.fixture
def book():
    book = Book()
    book.book("Ada", 2, nights_from(date(2026, 4, 6), 3))
    book.book("Bob", 4, nights_from(date(2026, 4, 13), 6))
    book.book("Ada", 1, nights_from(date(2026, 4, 28), 5))
    return book


def test_best_guest_has_the_most_nights(book):
    assert best_guest(book) == "Ada"


def test_empty_book_has_no_best_guest():
    assert best_guest(Book()) is None


def test_occupancy_counts_the_nights_of_the_month(book):
    assert occupancy(book, 2026, 4) == (3 + 6 + 3) / 120


def test_occupancy_of_a_month_without_guests(book):
    assert occupancy(book, 2026, 2) == 0.0


def test_revenue_of_the_month(book):
    assert revenue(book, 2026, 4) == 24_000 + 80_000 + 29_500


def test_price_list():
    assert price_list() == [
        "attic: 55.00 EUR",
        "garden: 80.00 EUR",
        "balcony: 95.00 EUR",
        "family: 130.00 EUR",
    ]
