"""Test support among the code under test: it mostly reports what other code does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.integration.conftest import asserting

if TYPE_CHECKING:
    from tests.integration.conftest import Projects

pytestmark = pytest.mark.one_python

FORGETFUL = True

FRAMES = {
    "pytest.ini": "[pytest]\npythonpath = .\n",
    "frames/__init__.py": "",
    "frames/core.py": "def double(xs):\n    return [x + 1 for x in xs]\n",
    "tests/test_core.py": """
        from frames.core import double
        from frames.testing import assert_same


        def test_double():
            assert_same(double([3]), [6])


        def test_double_of_one():
            assert_same(double([1]), [2])
        """,
}
TESTING = """
    def assert_same(left, right):
        if not equal(left, right):
            raise AssertionError(f"{left} != {right}")


    def equal(left, right):
        return len(left) == len(right) and all(a == b for a, b in zip(left, right))
    """


@pytest.mark.parametrize("name", ["frames/testing.py", "frames/_testing/__init__.py"])
def test_support_that_reports_a_fault_is_behind_it(projects: Projects, name: str) -> None:
    text = FRAMES["tests/test_core.py"]
    module = name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    text = text.replace("frames.testing", module)

    run = projects.make({**FRAMES, name: TESTING, "tests/test_core.py": text}).localize(
        "--bayesloc"
    )

    assert run.names()[0] == "frames/core.py double"
    # An edit of an assertion would make any test pass.
    assert {step["target"]["qualname"] for step in run.inspections} == {"double"}
    outcomes = {seen["outcome"] for seen in run.row("assert_same")["evidence"]}
    assert "TEST_SUPPORT" in outcomes
    assert "RAISE_FRAME" not in outcomes


def test_support_is_named_by_tests_that_are_about_it(projects: Projects) -> None:
    files = {
        **FRAMES,
        "frames/testing.py": TESTING.replace("all(", "any("),
        "frames/core.py": "def double(xs):\n    return [2 * x for x in xs]\n",
        "tests/test_testing.py": asserting(
            "from frames.core import double\nfrom frames.testing import equal",
            equal_lists="equal(double([1]), [2])",
            different_lists="not equal([1, 3], [1, 5])",
        ),
    }

    run = projects.make(files).localize()

    code = [row for row in run.document["ranking"] if not row["is_test"]]
    assert code[0]["qualname"] == "equal"
    assert "TEST_SUPPORT" not in {seen["outcome"] for seen in code[0]["evidence"]}
