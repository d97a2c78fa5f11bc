from datetime import date

import pytest

from guesthouse.bookings import Book
from guesthouse.stays import nights_from

MAY = nights_from(date(2026, 5, 4), 3)


@pytest.fixture
def book():
    return Book()


def test_party_gets_the_smallest_room(book):
    assert book.book("Ada", 1, MAY).room.name == "attic"


def test_cheaper_room_of_the_same_size_comes_first(book):
    assert book.book("Ada", 2, MAY).room.name == "garden"


def test_next_party_gets_the_next_room(book):
    book.book("Ada", 2, MAY)

    assert book.book("Bob", 2, MAY).room.name == "balcony"


def test_no_room_is_left_for_the_second_family(book):
    book.book("Ada", 4, MAY)

    assert book.book("Bob", 3, nights_from(date(2026, 5, 6), 7)) is None


def test_room_is_taken_by_a_stay_around_it(book):
    book.book("Ada", 4, nights_from(date(2026, 5, 1), 20))

    assert book.free_rooms(4, MAY) == []


def test_room_is_free_in_another_week(book):
    book.book("Ada", 4, MAY)

    assert [room.name for room in book.free_rooms(4, nights_from(date(2026, 5, 11), 2))] == ["family"]


def test_room_is_free_before_the_first_party(book):
    book.book("Ada", 4, MAY)

    assert book.book("Bob", 4, nights_from(date(2026, 5, 1), 3)).room.name == "family"


def test_room_is_free_on_the_day_of_departure(book):
    book.book("Ada", 4, MAY)

    assert [room.name for room in book.free_rooms(4, nights_from(MAY.departure, 2))] == ["family"]


def test_cancelled_room_is_free_again(book):
    book.book("Ada", 4, MAY)

    assert book.cancel("Ada") == 1
    assert book.book("Bob", 4, MAY).room.name == "family"


def test_nothing_to_cancel(book):
    book.book("Ada", 1, MAY)

    assert book.cancel("Bob") == 0
    assert len(book.bookings) == 1


def test_party_needs_a_guest(book):
    with pytest.raises(ValueError, match="0 guests"):
        book.book("Ada", 0, MAY)
