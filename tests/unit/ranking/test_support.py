"""Which code is test support, and for which tests."""

from __future__ import annotations

import pytest

from pytest_bayesloc.domain.failure import Failure, Frame
from pytest_bayesloc.ranking.evidence.test_code import is_support, support_evidence, with_support
from tests.fakes.case import location


def failure(node_id: str, *files: str) -> Failure:
    frames = tuple(Frame(file=f, line=2, name="f", first_line=1, in_app=True) for f in files)
    return Failure(node_id=node_id, phase="call", exc_type="E", message="", frames=frames)


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("click/testing.py", True),
        ("pandas/_testing/asserters.py", True),
        ("pkg/testutils.py", True),
        ("src/pkg/test_support.py", True),
        ("pkg/contest.py", False),
        ("pkg/backtesting.py", False),
    ],
)
def test_support_is_known_by_its_name(file: str, expected: bool) -> None:
    assert is_support(file) is expected


@pytest.mark.parametrize(
    ("node_id", "is_behind"),
    [
        ("tests/test_core.py::test_it", True),
        ("tests/test_testing.py::test_it", False),
        ("pkg/testing/tests/test_utils.py::test_it", False),
    ],
)
def test_support_is_behind_other_code_but_in_tests_about_it(node_id: str, is_behind: bool) -> None:
    failed = [failure(node_id, "pkg/core.py", "pkg/testing/utils.py")]
    candidates = {location("f", "pkg/core.py"): 0.5, location("f", "pkg/testing/utils.py"): 0.5}

    (seen,) = with_support(failed, candidates)
    told = support_evidence(failed, candidates, model="single-fault")

    assert [frame.is_test for frame in seen.frames] == [False, is_behind]
    assert [item.location.file for item in told] == ["pkg/testing/utils.py"] * is_behind


def test_support_that_is_all_there_is_to_blame_is_code_like_any_other() -> None:
    failed = [failure("tests/test_core.py::test_it", "pkg/testing.py")]

    candidates = {location("f", "pkg/testing.py"): 1.0}

    assert with_support(failed, candidates) == failed
    assert not support_evidence(failed, candidates, model="single-fault")
