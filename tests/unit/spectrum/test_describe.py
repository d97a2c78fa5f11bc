"""Exceptions whose own code does what it should not."""

from __future__ import annotations

import sys
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_bayesloc.spectrum.failures import describe
from pytest_bayesloc.spectrum.sources import SourceFilter

if TYPE_CHECKING:
    from types import TracebackType

FILES = SourceFilter(Path("/project"))


class AttributeRaisesError(Exception):
    def __getattr__(self, name: str) -> object:
        raise RuntimeError(name)


class EqualityRaisesError(Exception):
    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        raise RuntimeError


class TextEndsError(Exception):
    def __str__(self) -> str:
        raise SystemExit


@pytest.mark.parametrize("kind", [AttributeRaisesError, EqualityRaisesError, TextEndsError])
def test_exception_is_described_whatever_its_own_code_raises(kind: type[Exception]) -> None:
    error = kind("outer")
    error.__context__ = kind("inner")

    raw = describe(error, FILES, node_id="t.py::t", phase="call")

    assert raw["exc_type"] == kind.__name__
    assert len(raw["cause_frames"]) == 1


class FailTest(AssertionError):  # noqa: N818 - as twisted calls its own
    """Of another test framework."""


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (FailTest(), "assertion"),
        (pytest.fail.Exception("no"), "assertion"),
        (FileNotFoundError(), "system"),
        (ModuleNotFoundError(), "system"),
        (ValueError(), ""),
    ],
)
def test_error_is_of_a_kind_by_its_type(error: BaseException, kind: str) -> None:
    assert describe(error, FILES, node_id="t.py::t", phase="call")["error"] == kind


def caught() -> tuple[BaseException, TracebackType | None]:
    with pytest.raises(ValueError, match="no") as excinfo:
        int("no")
    return excinfo.value, excinfo.tb


def test_frames_are_those_that_pytest_caught_where_the_exception_has_none() -> None:
    error, trace = caught()
    error.__traceback__ = None

    raw = describe(error, FILES, node_id="t.py::t", phase="call", trace=trace)

    assert [frame["name"] for frame in raw["frames"]] == ["caught"]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.11 and newer know columns")
def test_frame_has_the_expression_that_raised() -> None:
    code = "def f():\n    return 1 + len('é' + g(\n        2\n    ))\ndef g(a):\n    return a.x\n"
    names: dict[str, Any] = {}
    exec(compile(code, "/project/shop.py", "exec"), names)
    with pytest.raises(AttributeError) as excinfo:
        names["f"]()

    raw = describe(excinfo.value, FILES, node_id="t.py::t", phase="call")

    found = [(frame["line"], frame["span"]) for frame in raw["frames"] if "span" in frame]
    assert found == [(2, (26, 4, 5)), (6, (11, 6, 14))]


CHILD = """Traceback (most recent call last):
  File "<string>", line 1, in <module>
    import shop; shop.main()
  File "/project/shop.py", line 10, in main
    print(total())
  File "/project/shop.py", line 6, in total
    return 1 / 0
           ~~^~~
"""
ENDED = f"{CHILD}ZeroDivisionError: division by zero\n"


@pytest.mark.parametrize(
    ("text", "n"),
    [
        (ENDED, 3),
        (f"exit status 1\n{ENDED}assert 1 == 0", 3),
        (ENDED.replace("\n", "\n  "), 3),  # as the message of an assertion
        (f"assert {ENDED!r} == ''", 3),
        ("".join(f"+ {line}" for line in ENDED.splitlines(keepends=True)), 3),
        (f"{ENDED}assert Done(text='{CHILD[:60]}...')", 3),
        (CHILD, 0),  # cut before its exception
        (ENDED.replace("/project", "/usr/lib"), 0),
        (ENDED.replace("shop.py", "test_shop.py"), 0),
    ],
)
def test_traceback_that_the_message_shows_is_a_cause(text: str, n: int) -> None:
    raw = describe(AssertionError(text), FILES, node_id="t.py::t", phase="call")

    places = [(f["file"], f["line"], f["name"]) for f in chain(*raw["cause_frames"]) if f["in_app"]]
    assert len(list(chain(*raw["cause_frames"]))) == n
    assert places == ([("shop.py", 10, "main"), ("shop.py", 6, "total")] if n else [])


def test_traceback_of_a_worker_process_stands_for_its_exception() -> None:
    error = ValueError("no")
    error.__cause__ = RuntimeError(ENDED)

    (frames,) = describe(error, FILES, node_id="t.py::t", phase="call")["cause_frames"]

    assert frames[-1]["name"] == "total"
