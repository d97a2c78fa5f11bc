"""A change of a text becomes one of bytes, with all else as it was."""

from __future__ import annotations

import io

import pytest

from pytest_bayesloc.domain.errors import FixError
from pytest_bayesloc.fixes.apply import changed_bytes

FILES = {
    "no end": b"a = 1\nb = 2",
    "crlf": b"a = 1\r\nb = 2\r\nc = 3\r\n",
    "mixed ends": b"a = 1\r\nb = 2\nc = 3\r\n",
    "bom": b"\xef\xbb\xbfa = 1\nb = 2\n",
    "latin-1": b"# coding: latin-1\n# \xfc\nb = 2\n",
    "form feed": b"a = 1\n\x0c\nb = 2\n",
    "one line": b"b = 2",
}


def as_read(data: bytes) -> str:
    encoding = "latin-1" if b"latin-1" in data else "utf-8-sig"
    return io.TextIOWrapper(io.BytesIO(data), encoding=encoding).read()


@pytest.mark.parametrize("name", FILES)
def test_only_the_changed_line_differs(name: str) -> None:
    data = FILES[name]
    text = as_read(data)

    assert changed_bytes(data, text, text.replace("b = 2", "b = 22"), "a.py") == data.replace(
        b"b = 2", b"b = 22"
    )


@pytest.mark.parametrize("name", FILES)
def test_an_added_line_ends_as_the_others_do(name: str) -> None:
    data = FILES[name]
    text = as_read(data)

    added = changed_bytes(data, text, text.replace("b = 2", "x = 0\nb = 2"), "a.py")

    end = b"\r\n" if b"1\r\n" in data else b"\n"
    # The line that takes the place of another ends as that did.
    assert added.replace(b"\r\n", b"\n") == data.replace(b"\r\n", b"\n").replace(
        b"b = 2", b"x = 0\nb = 2"
    )
    assert name == "mixed ends" or b"x = 0" + end in added


def test_a_file_that_says_something_else_is_left_alone() -> None:
    with pytest.raises(FixError, match=r"a\.py is not applied: it changed since the tests ran"):
        changed_bytes(b"a = 3\n", "a = 1\n", "a = 2\n", "a.py")


def test_what_its_encoding_can_not_say_is_said() -> None:
    data = b"# coding: latin-1\na = 1\n"

    with pytest.raises(FixError, match="its encoding, iso-8859-1, has no '\u20ac'"):
        changed_bytes(data, data.decode(), data.decode().replace("1\n", "'\u20ac'\n"), "a.py")


def test_bytes_that_are_not_of_the_encoding_are_left_alone() -> None:
    with pytest.raises(FixError, match="invalid or missing encoding"):
        changed_bytes(b"a = '\xff'\n", "a = '\ufffd'\n", "a = 2\n", "a.py")
    with pytest.raises(FixError, match="it is not all utf-8"):
        changed_bytes(b"a\nb\nc = '\xff'\n", "a\nb\nc = '\ufffd'\n", "a = 2\n", "a.py")


@pytest.mark.parametrize("name", ["ä", "a"])
def test_a_fix_that_takes_the_declared_encoding_away_is_left_to_people(name: str) -> None:
    data = f"# coding: latin-1\nname = '{name}'\n".encode("latin-1")
    before = data.decode("latin-1")

    with pytest.raises(FixError, match="encoding"):
        changed_bytes(data, before, before.partition("\n")[2], "a.py")
