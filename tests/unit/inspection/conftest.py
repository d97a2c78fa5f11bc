"""Runs a patched file, and asks what its checks found."""

from __future__ import annotations

import builtins
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from pytest_bayesloc.rerun.child import NAME, Probe
from pytest_bayesloc.rerun.swap import compile_patched

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_bayesloc.domain.inspection import InspectionPatch


@pytest.fixture
def probe(monkeypatch: pytest.MonkeyPatch) -> Probe:
    """What patches speak to."""
    probe = Probe(lambda: None)
    monkeypatch.setattr(builtins, NAME, probe, raising=False)
    return probe


def run(patch: InspectionPatch) -> dict[str, Any]:
    """The names of the patched module."""
    space: dict[str, Any] = {"__name__": "patched"}
    exec(compile_patched(patch.original, patch.patched, patch.target.file), space)
    return space


def violations(probe: Probe, function: Callable[[], object]) -> list[int]:
    """The numbers of the checks that fail when ``function`` is called."""
    probe.reset()
    with suppress(AssertionError):
        function()
    return probe.violations
