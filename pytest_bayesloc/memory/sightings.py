"""A run of the suite, and a bug in it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run of the suite, as the memory knows it.

    Attributes:
        id: 12 hexadecimal digits.
        workspace: The checkout that it was made in.
        made_at: In UTC.
        revision: Of git, empty if unknown.
        n_passed: Tests.
        n_failed: Tests.
        kind: ``normal`` or ``infrastructure``.
        arm: ``on`` or ``off``: whether advice is shown.
        number: In its project, from 1; 0 until it is written.
    """

    id: str
    workspace: str
    made_at: datetime
    revision: str
    n_passed: int
    n_failed: int
    kind: str = "normal"
    arm: str = "on"
    number: int = 0


def arm_of(workspace: str, at: datetime) -> str:
    """The arm of an experiment: ``on`` or ``off``, by the checkout and the day.

    Not by the run: a bug that is worked on in both arms says nothing about either.
    """
    drawn = hashlib.sha256(f"{workspace} {at:%Y-%m-%d}".encode()).digest()[0]
    return "off" if drawn % 2 else "on"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """A bug in a run.

    Attributes:
        run: Id of the run.
        workspace: Of the run.
        revision: Of the run.
        seen_at: In UTC.
        error: The fingerprints of its failing tests, sorted, in one text.
        tests: Digest of which tests failed.
        code_state: Digest of the code that they executed.
        test_state: Digest of the tests and what they use of their files.
        edited: What was edited since the run before, as ``file qualname``.
        is_aimed: Whether an edit hit one of the top suspects.
    """

    run: str
    workspace: str
    revision: str
    seen_at: datetime
    error: str
    tests: str
    code_state: str
    test_state: str
    edited: tuple[str, ...] = ()
    is_aimed: bool = False

    @property
    def state(self) -> tuple[str, str]:
        """Of code and tests together."""
        return self.code_state, self.test_state
