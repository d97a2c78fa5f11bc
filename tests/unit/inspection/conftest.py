"""Runs a patched file, and asks what its checks found."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pytest_bayesloc.domain.spectrum import Spectrum
from pytest_bayesloc.rerun.swap import compile_patched

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_bayesloc.domain.inspection import InspectionPatch
    from pytest_bayesloc.domain.location import Location
    from pytest_bayesloc.rerun.child import Probe


def spectrum_of(failing: Sequence[str], passing: Sequence[str], *places: Location) -> Spectrum:
    """Tests that all execute the first line of each of the places."""
    of_failing = (1 << len(failing)) - 1
    of_all = (1 << len(failing) + len(passing)) - 1
    return Spectrum(
        tests=(*failing, *passing),
        failing=of_failing,
        passing=of_all - of_failing,
        lines={where: {where.start_line: of_all} for where in places},
    )


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
