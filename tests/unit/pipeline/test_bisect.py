"""The meaning of what tests do on an older commit."""

from __future__ import annotations

import pytest

from pytest_bayesloc.domain.inspection import TestRun, Verdict
from pytest_bayesloc.pipeline.bisect import ends_of, passes

NOW = "AssertionError: assert 1 == 2"
PASSED = TestRun(verdict=Verdict.PASS)
FAILED = TestRun(verdict=Verdict.FAIL, error="AssertionError: assert 3 == 2")
ABSENT = TestRun(verdict=Verdict.NOT_RUN)
MISSES = TestRun(verdict=Verdict.FAIL, error="ImportError: cannot import name 'rate'")
HANGS = TestRun(verdict=Verdict.TIMEOUT)


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        ([PASSED, PASSED], True),
        ([PASSED, ABSENT], True),
        ([PASSED, FAILED], False),
        ([MISSES, FAILED], False),
        ([ABSENT, ABSENT], None),
        ([MISSES, ABSENT], None),
        ([PASSED, HANGS], None),
        ([FAILED, HANGS], False),
    ],
)
def test_commit_passes_if_the_tests_that_it_has_pass(
    runs: list[TestRun], expected: bool | None
) -> None:
    named = {str(number): run for number, run in enumerate(runs)}

    assert passes(ends_of(named, dict.fromkeys(named, NOW))) is expected


def test_error_that_is_that_of_now_is_a_failure() -> None:
    assert passes(ends_of({"a": MISSES}, {"a": MISSES.error})) is False
