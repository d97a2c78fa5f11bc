"""Tests that a re-run can't show as they are, because of its own bounds, are left out."""

from __future__ import annotations

import pytest

from pytest_bayesloc.rerun.aside import Aside
from pytest_bayesloc.rerun.effects import COLLECTION, MAX_TRIES, Effects
from pytest_bayesloc.rerun.fence import WRITE

TEST = "test_shop.py::test_price"
OTHER = "test_shop.py::test_name"


def failed(error: str) -> dict[str, object]:
    return {"end": TEST, "verdict": "fail", "error": error, "frames": [("/shop/test_shop.py", 7)]}


@pytest.mark.parametrize(
    ("error", "before", "n_left_out"),
    [
        ("OSError: [Errno 27] File too large", "assert 1 == 2", 1),
        ("PermissionError: [Errno 13] Permission denied: '/shop/a'", "assert 1 == 2", 1),
        ("sqlite3.OperationalError: unable to open database: /shop/a", "assert 1 == 2", 1),
        ("MemoryError", "assert 1 == 2", 1),
        ("MemoryError", "MemoryError", 0),
        ("OSError: [Errno 27] File too large", "[Errno 27] File too large: 'b'", 0),
        ("assert 1 == 2", "assert 1 == 2", 0),
        ("KeyError: 3", "assert 1 == 2", 0),
    ],
)
def test_test_that_fails_by_the_bounds_of_its_re_run_is_left_out(
    error: str, before: str, n_left_out: int
) -> None:
    notes: list[str] = []
    effects = Effects(note=notes.append, ended=lambda _: (7, before))

    effects.take([failed(error)], [TEST, OTHER])

    assert effects.usable([TEST, OTHER]) == [TEST, OTHER][n_left_out:]
    assert [error in note for note in notes] == [True] * n_left_out


@pytest.mark.parametrize(("by", "runnable"), [(TEST, [OTHER]), (OTHER, [TEST]), (COLLECTION, [])])
def test_nothing_more_is_learned_of_a_test_that_changes_file_after_file(
    by: str, runnable: list[str]
) -> None:
    notes: list[str] = []
    effects = Effects(Aside(lambda: pytest.fail("nothing is kept")), notes.append)

    for number in range(MAX_TRIES):
        assert effects.learnable([TEST, OTHER]) == [TEST, OTHER]
        effects.take([{"refused": [WRITE, f"/shop/{number}"], "by": by}], [TEST, OTHER])

    assert effects.learnable([TEST, OTHER]) == effects.usable([TEST, OTHER]) == runnable
    assert ["more than 60 files" in note for note in notes] == [True]
