"""A test whose node id is another one in each run has the name of the cache."""

from __future__ import annotations

import pytest

from pytest_bayesloc.spectrum.validity import match_tests


@pytest.mark.parametrize(
    ("now", "before"),
    [
        ("t.py::test[19:37:20 2026-11-22]", "t.py::test[07:01:59 2026-11-21]"),
        ("t.py::test[1795376240.25]", "t.py::test[1795376111.5]"),
        ("t.py::test[<C object at 0x7f3a>-a]", "t.py::test[<C object at 0x7e11>-a]"),
        ("t.py::test[3f2b9c1d8e]", "t.py::test[00aa11bb22]"),
    ],
)
def test_moments_addresses_and_random_names_don_t_matter(now: str, before: str) -> None:
    assert match_tests([now], {before}) == {now: before}


@pytest.mark.parametrize(
    ("now", "before"),
    [
        ("t.py::test[1]", "t.py::test[2]"),
        ("t.py::test[a]", "t.py::test[b]"),
        ("t.py::test_2026", "t.py::test_2025"),
        ("t.py::test[20261122]", "u.py::test[20261121]"),
    ],
)
def test_anything_else_does(now: str, before: str) -> None:
    assert match_tests([now], {before}) == {}


def test_each_is_known_as_one_that_did_not_run() -> None:
    known = {"t.py::test[1000]", "t.py::test[2000]", "t.py::test[3000]"}

    found = match_tests(["t.py::test[1000]", "t.py::test[4000]", "t.py::test[5000]"], known)

    assert found.pop("t.py::test[1000]") == "t.py::test[1000]"
    assert set(found) == {"t.py::test[4000]", "t.py::test[5000]"}
    assert set(found.values()) == {"t.py::test[2000]", "t.py::test[3000]"}
    assert match_tests(["t.py::test[4000]"], ()) == {}
