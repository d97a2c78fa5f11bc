"""Changes of which a test says no more than it is about, and texts before and after one."""

from __future__ import annotations

from pytest_bayesloc.domain.fixing import Level
from pytest_bayesloc.fixes.candidate import EDIT, Candidate, patch_of
from pytest_bayesloc.fixes.check import Checked, Status


def candidate(before: str, after: str, **more: object) -> Candidate:
    """A change of one file, an unsafe edit unless ``more`` says otherwise."""
    given = {
        "tools": ("tool",),
        "stage": EDIT,
        "level": Level.UNSAFE,
        "file": "a.py",
        "message": "",
        **more,
    }
    return Candidate(before=before, after=after, **given)  # type: ignore[arg-type]


def tried(change: Candidate, status: Status = Status.STILL_FAILS, **more: object) -> Checked:
    """What came of a change."""
    return Checked(candidate=change, patch=patch_of(change), status=status, **more)  # type: ignore[arg-type]


def f(given: str, before: str, after: str) -> tuple[str, str]:
    """The function ``f(given)`` with one body and with another."""
    return f"def f({given}):\n    {before}\n", f"def f({given}):\n    {after}\n"
