from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.domain.inspection import InspectionPatch, Rejected, Rerun, Verdict
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.spectrum import Spectrum
from pytest_bayesloc.inspection.strategy import Budget
from tests.fakes.case import case_of
from tests.fakes.runner import FAILED, PASSED, FakeRunner, as_port

if TYPE_CHECKING:
    from pytest_bayesloc.domain.inspection import TestRun

TARGET = Location(file="m.py", start_line=1, end_line=9, qualname="f")
PATCH = InspectionPatch(target=TARGET, kind="k", original="old\n", patched="new\n")
ERRORS = {"f0": "E: 1", "f1": "E: 2"}
SEEN = replace(FAILED, error="E: 1", covered=True)
OTHERWISE = replace(FAILED, error="other")


def tried(f0: TestRun = SEEN, f1: TestRun = OTHERWISE, **rest: object) -> dict[str, str]:
    rejected = Rejected()
    rerun = Rerun(tests={"f0": f0, "f1": f1}, n_swapped=1, how="fresh")
    rejected.add(PATCH, ("f0", "f1"), ERRORS, replace(rerun, **rest))  # type: ignore[arg-type]
    return rejected.new


def test_what_was_tried_in_vain_comes_out_as_it_did() -> None:
    again = Rejected("state", tried())

    rerun = again.find(PATCH, ("f0", "f1"), ERRORS)

    assert rerun is not None
    assert (rerun.how, rerun.n_swapped, again.n_spared) == ("fresh", 1, 1)
    assert rerun.tests["f0"] == SEEN
    assert rerun.tests["f1"].verdict is Verdict.FAIL
    assert rerun.tests["f1"].error not in {"", ERRORS["f1"]}
    assert again.new == {}


@pytest.mark.parametrize(
    "found",
    [
        tried(f0=PASSED),
        tried(f0=replace(FAILED, verdict=Verdict.TIMEOUT)),
        tried(f0=replace(FAILED, violations=(0,))),
        tried(n_swapped=0),
        tried(tests={"f0": SEEN}),
    ],
    ids=["passes", "does not end", "breaks a check", "not in place", "not all ran"],
)
def test_what_told_something_is_tried_again(found: dict[str, str]) -> None:
    assert found == {}


@pytest.mark.parametrize(
    ("patch", "tests", "errors"),
    [
        (replace(PATCH, patched="else\n"), ("f0", "f1"), ERRORS),
        (replace(PATCH, fresh=True), ("f0", "f1"), ERRORS),
        (replace(PATCH, companions=(PATCH,)), ("f0", "f1"), ERRORS),
        (PATCH, ("f1", "f0"), ERRORS),
        (PATCH, ("f0",), ERRORS),
        (PATCH, ("f0", "f1"), ERRORS | {"f0": "E: 3"}),
    ],
)
def test_anything_else_is_tried(
    patch: InspectionPatch, tests: tuple[str, ...], errors: dict[str, str]
) -> None:
    assert Rejected("state", tried()).find(patch, tests, errors) is None


def test_bench_runs_a_rejected_patch_once() -> None:
    runner = FakeRunner(answer=lambda *_: FAILED)
    spectrum = Spectrum(tests=("f0",), failing=1, passing=0, lines={TARGET: {1: 1}})
    case = case_of(spectrum, {TARGET: 1.0})
    case.errors = {"f0": FAILED.error}
    first = Budget(as_port(runner), lambda: 0.0, 60.0, case).rerun(PATCH, ("f0",))
    case.rejected = Rejected("state", case.rejected.new)

    second = Budget(as_port(runner), lambda: 0.0, 60.0, case).rerun(PATCH, ("f0",))

    assert len(runner.asked) == 1
    assert second.tests == first.tests
