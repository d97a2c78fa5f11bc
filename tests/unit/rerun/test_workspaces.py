from __future__ import annotations

import pytest

from pytest_bayesloc.rerun.link import Workspaces

BOTH = Workspaces("/home/me/shop", "/app")


@pytest.mark.parametrize(
    ("here", "there"),
    [
        ("/home/me/shop", "/app"),
        ("/home/me/shop/tests/test_a.py:3: in test_a", "/app/tests/test_a.py:3: in test_a"),
        ("--confcutdir=/home/me/shop/tests", "--confcutdir=/app/tests"),
        ('File "/home/me/shop/a.py", line 1', 'File "/app/a.py", line 1'),
    ],
)
def test_path_in_the_folder_is_mapped_both_ways(here: str, there: str) -> None:
    assert BOTH.there(here) == there
    assert BOTH.here(there) == here


@pytest.mark.parametrize("text", ["/home/me/shop2/a.py", "/srv/home/me/shop", "home/me/shop"])
def test_path_that_only_looks_alike_stays(text: str) -> None:
    assert BOTH.there(text) == text


@pytest.mark.parametrize("text", ["/apple/a.py", "/srv/app/a.py", "an /app-like thing"])
def test_text_that_only_looks_like_a_path_there_stays(text: str) -> None:
    assert BOTH.here(text) == text
