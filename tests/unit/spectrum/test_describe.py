"""Exceptions whose own code does what it should not."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_bayesloc.spectrum.failures import describe
from pytest_bayesloc.spectrum.sources import SourceFilter


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

    raw = describe(error, SourceFilter(Path("/project")), node_id="t.py::t", phase="call")

    assert raw["exc_type"] == kind.__name__
    assert len(raw["cause_frames"]) == 1
