"""What failing tests have in common that speaks for or against them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.domain.evidence import StaticOutcome
from pytest_bayesloc.domain.spectrum import Spectrum
from pytest_bayesloc.ranking.evidence.test_code import (
    code_raised,
    in_traceback,
    side_evidence,
    twin_passes,
)
from tests.fakes.case import frame_in, location
from tests.fakes.sources import failure_at

if TYPE_CHECKING:
    from pytest_bayesloc.domain.failure import Failure

TEST, HELPER = (location(name, "test_a.py", is_test=True) for name in ("test_a", "helper"))
CODE = location("f")
BY_NAME = {where.qualname: where for where in (TEST, HELPER, CODE)}
NOTHING = Spectrum(tests=("test_a", "p0", "p1"), failing=1, passing=0b110, lines={})


failure = partial(failure_at, kind="AssertionError", message="")
FOREIGN = frame_in(location("x", "/lib/x.py"), in_app=False)
IN_CODE = failure(frame_in(TEST), frame_in(CODE))
IN_TEST = failure(frame_in(TEST))


@pytest.mark.parametrize(
    ("failures", "came_out_of_the_code"),
    [
        ((failure(frame_in(TEST), FOREIGN),), False),
        ((failure(frame_in(TEST), frame_in(CODE), FOREIGN),), True),
        ((IN_CODE, IN_TEST), True),
        ((IN_CODE, IN_TEST, IN_TEST), False),
        ((failure(),), False),
    ],
)
def test_exception_came_out_of_the_code_in_most_tests_or_not(
    failures: tuple[Failure, ...], came_out_of_the_code: bool
) -> None:
    assert code_raised(failures) is came_out_of_the_code


@pytest.mark.parametrize(
    ("lines", "has_twin"),
    [
        pytest.param({1: 0b011, 2: 0b111}, True, id="p0 runs both lines too"),
        pytest.param({1: 0b011, 2: 0b101}, False, id="none runs both"),
        pytest.param({1: 0b011, 2: 0b100}, True, id="a line that it does not run is no matter"),
        pytest.param({1: 0b001}, False, id="a line that only it runs"),
    ],
)
def test_twin_is_a_passing_test_that_runs_all_that_it_runs(
    lines: dict[int, int], has_twin: bool
) -> None:
    spectrum = Spectrum(
        tests=NOTHING.tests, failing=1, passing=NOTHING.passing, lines={CODE: lines}
    )

    assert twin_passes(spectrum) is has_twin


def test_each_sign_is_evidence_about_test_code_alone() -> None:
    failures = [failure(frame_in(TEST), frame_in(CODE))]

    found = side_evidence(
        [HELPER, TEST],
        raised=code_raised(failures),
        has_twin=twin_passes(NOTHING),
        seen=in_traceback(failures, lambda frame: BY_NAME.get(frame.name)),
        model="single-fault",
    )

    assert {(item.location, item.outcome) for item in found} == {
        (TEST, StaticOutcome.CODE_RAISED),
        (TEST, StaticOutcome.TEST_IN_TRACEBACK),
        (TEST, StaticOutcome.TWIN_PASSES),
        (HELPER, StaticOutcome.CODE_RAISED),
        (HELPER, StaticOutcome.TWIN_PASSES),
    }
