import pytest

from guesthouse.rooms import ROOMS, room_called, rooms_for


def test_room_by_name():
    assert room_called("garden").beds == 2


def test_unknown_room():
    with pytest.raises(KeyError, match="cellar"):
        room_called("cellar")


def test_rooms_are_the_smallest_first():
    assert [room.name for room in rooms_for(2)] == ["garden", "balcony", "family"]


def test_party_may_be_too_large():
    assert rooms_for(5) == []


def test_names_are_unique():
    assert len({room.name for room in ROOMS}) == len(ROOMS)
