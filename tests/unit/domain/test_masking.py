from __future__ import annotations

import pytest

from pytest_bayesloc.domain.texts import masked


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\x1b[31mred\x1b[0m alert", "red alert"),
        ("id 6f1c2b9e-0d7a-4c1e-9a57-3f0c8f6f2b11 is gone", "id <uuid> is gone"),
        ("<shop.Cart object at 0x7f3a2b>", "<shop.Cart>"),
        ("<function f.<locals>.g at 0x7f3a2b>", "<function f.<locals>.g>"),
        ("at 0xdeadbeef", "at <address>"),
        ("/tmp/pytest-of-ann/pytest-12/test_a0/x.txt is missing", "<tmp>/x.txt is missing"),
        ("worker gw3 crashed", "worker <worker> crashed"),
        ("GET https://a.example/b?c=1 failed", "GET <url> failed"),
        ("no user ann@example.org", "no user <email>"),
        ("refused by 127.0.0.1:8080", "refused by <ip>"),
        ("made on 2026-11-22T10:00:00Z", "made on <date>"),
        ("datetime.datetime(2026, 11, 22, 1, 2)", "<date>"),
        ("took 3.25 s", "took <duration>"),
        ("commit 9fceb02d0ae598e95dc970b74767f19372d61af8", "commit <hex>"),
        ("0.30000000000000004 != -1e-05", "<float> != <float>"),
        ("needs 8 knots, got 1_000", "needs <int> knots, got <int>"),
    ],
)
def test_what_varies_is_masked(text: str, expected: str) -> None:
    assert masked(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "KeyError: 'user_17'",
        '"3 apples"',
        "{404: 'gone'}",
        "HTTP 503",
        "status_code=404",
        "404 Not Found",
        "py3 v2a x1",
        "ZeroDivisionError: division by zero",
    ],
)
def test_what_tells_errors_apart_is_kept(text: str) -> None:
    assert masked(text) == text


def test_apostrophes_quote_nothing() -> None:
    assert masked("can't find 3 of Ann's 4") == "can't find <int> of Ann's <int>"


def test_root_of_the_project_has_one_name_on_all_machines() -> None:
    assert masked("no /home/ann/shop/data.json", "/home/ann/shop") == "no <root>/data.json"
