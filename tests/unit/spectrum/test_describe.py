"""Exceptions whose own code does what it should not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

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
