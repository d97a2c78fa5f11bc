"""What the rooms ask of each other without knowing who answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_bayesloc.domain.inspection import InspectionPatch, Rerun
    from pytest_bayesloc.domain.location import Location
    from pytest_bayesloc.domain.recording import Recording


class Clock(Protocol):
    """Monotonic seconds."""

    def __call__(self) -> float:
        """Seconds since some fixed point."""


class Runner(Protocol):
    """Re-runs tests, patched or not, without touching a file."""

    def rerun(
        self, patch: InspectionPatch | None, tests: Sequence[str], *, limit_s: float
    ) -> Rerun:
        """Run ``tests`` under ``patch`` (None: as they are), for ``limit_s`` wall seconds at most.

        Raises:
            ExecutionError: If the place where re-runs happen is lost.
        """

    def record(
        self,
        tests: Sequence[str],
        targets: Sequence[Location],
        *,
        limit_s: float,
        sample: bool = False,
    ) -> Recording:
        """Run ``tests`` as they are and note the calls of ``targets``.

        Args:
            tests: Node ids.
            targets: Functions; what else is among them is passed over.
            limit_s: Wall seconds at most.
            sample: Whether some calls of each function are enough.

        Raises:
            ExecutionError: If the place where re-runs happen is lost.
        """

    def close(self) -> None:
        """End what was started. May be called twice."""
