from datetime import date

import pytest

from guesthouse.stays import Stay, is_weekend, nights_from

WEEK = nights_from(date(2026, 5, 4), 7)


def test_number_of_nights():
    assert Stay(date(2026, 2, 27), date(2026, 3, 2)).n_nights == 3


def test_nights_end_before_the_departure():
    assert [night.day for night in nights_from(date(2026, 5, 4), 2).nights()] == [4, 5]


@pytest.mark.parametrize("day", [3, 4])
def test_departure_is_after_the_arrival(day):
    with pytest.raises(ValueError, match="is not after"):
        Stay(date(2026, 5, 4), date(2026, 5, day))


@pytest.mark.parametrize(("day", "expected"), [(7, False), (8, True), (9, True), (10, False)])
def test_nights_of_a_weekend(day, expected):
    assert is_weekend(date(2026, 5, day)) is expected


def test_stay_overlaps_itself():
    assert WEEK.overlaps(WEEK)


def test_stay_overlaps_one_within():
    within = nights_from(date(2026, 5, 6), 1)

    assert WEEK.overlaps(within)
    assert within.overlaps(WEEK)


def test_stays_overlap_in_one_night():
    later = nights_from(date(2026, 5, 10), 3)

    assert WEEK.overlaps(later)
    assert later.overlaps(WEEK)


def test_stays_of_different_months():
    assert not WEEK.overlaps(nights_from(date(2026, 6, 4), 7))
