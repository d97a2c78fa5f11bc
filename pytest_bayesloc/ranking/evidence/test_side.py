"""What speaks for or against the tests themselves, as a whole, before anything is run again."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from pytest_bayesloc.domain.evidence import Evidence, StaticOutcome
from pytest_bayesloc.domain.failure import Failure, Frame
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.spectrum import Spectrum, bits
from pytest_bayesloc.ranking.likelihoods import weigh

Locate = Callable[[Frame], Location | None]

SOURCE = "tests"
MAX_TESTS = 40  # failing tests that are looked at


@dataclass(frozen=True, slots=True, kw_only=True)
class Signs:
    """What most failing tests of a group have in common.

    Attributes:
        code_raised: The exception came out of the code under test, not out of a test's statement.
        twin_passes: A passing test executes every line of code that the failing one does.
        in_traceback: The test code that stands in a traceback.
    """

    code_raised: bool
    twin_passes: bool
    in_traceback: frozenset[Location]


def signs(failures: Sequence[Failure], spectrum: Spectrum, locate: Locate) -> Signs:
    """Those of one group."""
    seen = failures[:MAX_TESTS]
    frames = [f for failure in seen for f in failure.frames if f.in_app and f.is_test]
    located = (locate(frame) for frame in dict.fromkeys(frames))
    return Signs(
        code_raised=is_most(map(_left_code, seen)),
        twin_passes=is_most(_twins(spectrum)),
        in_traceback=frozenset(where for where in located if where is not None),
    )


def is_most(each: Iterable[bool]) -> bool:
    """Whether at least half of ``each`` holds, and any does."""
    listed = list(each)
    return any(listed) and 2 * sum(listed) >= len(listed)


def _left_code(failure: Failure) -> bool:
    inner = next((frame for frame in reversed(failure.frames) if frame.in_app), None)
    return inner is not None and not inner.is_test


def _twins(spectrum: Spectrum) -> list[bool]:
    """Per failing test, whether some passing test executes all that it does."""
    failing = list(bits(spectrum.failing))[:MAX_TESTS]
    looked_at = sum(1 << i for i in failing)
    like = dict.fromkeys(failing, spectrum.passing)
    for rows in spectrum.lines.values():
        for executed in rows.values():
            for i in bits(executed & looked_at):
                like[i] &= executed
    return [bool(tests) for tests in like.values()]


def test_side_evidence(signs: Signs, tests: Collection[Location], *, model: str) -> list[Evidence]:
    """What ``signs`` say about the test code ``tests``."""
    found: list[Evidence] = []
    for where in sorted(tests):
        facts = (
            (signs.code_raised, StaticOutcome.CODE_RAISED, RAISED),
            (signs.twin_passes, StaticOutcome.TWIN_PASSES, TWIN),
            (where in signs.in_traceback, StaticOutcome.TEST_IN_TRACEBACK, SEEN),
        )
        for holds, outcome, why in facts:
            if holds:
                found.append(weigh(model, outcome, where, source=SOURCE, why=why))
    return found


test_side_evidence.__test__ = False  # type: ignore[attr-defined]  # not a test for pytest

RAISED = "the exception came out of the code, not out of the test's own statement"
TWIN = "a test that passes runs every line of code that it runs"
SEEN = "in the traceback"
