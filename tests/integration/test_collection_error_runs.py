"""A file that can't be imported is a failure like any other: it gets a ranked answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.integration.conftest import asserting

if TYPE_CHECKING:
    from tests.integration.conftest import Projects

UNPARSED = {
    "cart.py": "def total(prices:\n    return sum(prices)\n",
    "test_cart.py": "from cart import total\n\n\ndef test_total():\n    assert total([3]) == 3\n",
}

pytestmark = pytest.mark.traced

FORGETFUL = True


GOOD = {
    "good.py": """
        def good():
            return 1
        """,
    "test_good.py": asserting("from good import good", good="good() == 1"),
}
CIRCULAR = {
    "one.py": """
        from two import second


        def first():
            return second()
        """,
    "two.py": """
        from one import first


        def second():
            return first
        """,
    "test_one.py": asserting("from one import first", first="first()"),
}
MISSPELT = {
    "shapes.py": """
        from good import goood


        def area():
            return goood()
        """,
    "test_shapes.py": asserting("from shapes import area", area="area() == 1"),
}
NAME_ERROR = {
    "shapes.py": """
        SIDES = 4
        CORNERS = SIDESS


        def area():
            return SIDES
        """,
    "test_shapes.py": MISSPELT["test_shapes.py"],
}
INDENTATION = {
    "shapes.py": """
        def area():
            side = 2
              return side * side
        """,
    "test_shapes.py": MISSPELT["test_shapes.py"],
}
INDENTATION_IN_TEST = {
    "shapes.py": """
        def area():
            return 1
        """,
    "test_shapes.py": """
        from shapes import area


        def test_area():
            side = area()
              assert side == 1
        """,
}
MISSPELT_IN_TEST = {
    "shapes.py": INDENTATION_IN_TEST["shapes.py"],
    "test_shapes.py": asserting("from shapes import aera", area="aera() == 1"),
}
CASES = {
    "circular import": (CIRCULAR, {"one.py", "two.py"}),
    "misspelt name in an import": (MISSPELT, {"shapes.py"}),
    "undefined name": (NAME_ERROR, {"shapes.py"}),
    "bad indentation": (INDENTATION, {"shapes.py"}),
    "bad indentation in a test": (INDENTATION_IN_TEST, {"test_shapes.py"}),
    "misspelt name in an import of a test": (MISSPELT_IN_TEST, {"test_shapes.py", "shapes.py"}),
}


@pytest.mark.parametrize("options", [(), ("--bayesloc",)], ids=["plain", "inspected"])
@pytest.mark.parametrize(("files", "expected"), CASES.values(), ids=CASES)
def test_file_at_fault_for_a_collection_error_is_first_and_the_exit_code_stays(
    projects: Projects, files: dict[str, str], expected: set[str], options: tuple[str, ...]
) -> None:
    run = projects.make({**GOOD, **files}).localize(*options)

    (fault,) = run.faults
    assert run.document["ranking"][0]["file"] in expected
    assert fault["error"]["origin"] == "collection"
    assert not fault["flaky"]
    assert run.ret == 2
    assert "own-fault" not in run.output
    assert "Traceback" not in run.output


def test_conftest_that_fails_ends_as_it_does_without_us(projects: Projects) -> None:
    project = projects.make({**GOOD, "conftest.py": "import missing_module_xyz\n"})

    with_us, without = project.run("-q", "--bayesloc"), project.run("-q", "--no-bayesloc")

    assert (with_us.ret, with_us.stdout, with_us.stderr) == (4, without.stdout, without.stderr)


def test_tests_still_run_beside_a_file_that_does_not_import(projects: Projects) -> None:
    project = projects.make({**GOOD, **NAME_ERROR})
    project.write({"test_good.py": GOOD["test_good.py"].replace("== 1", "== 2")})

    run = project.localize("--bayesloc", "--continue-on-collection-errors")

    assert run.failing == {"test_shapes.py", "test_good.py::test_good"}
    assert {fault["ranking"][0]["file"] for fault in run.faults} == {"shapes.py", "good.py"}


def test_two_test_files_that_fail_by_one_module_are_one_fault(projects: Projects) -> None:
    project = projects.make({**GOOD, **NAME_ERROR})
    project.write({"test_more.py": NAME_ERROR["test_shapes.py"]})

    run = project.localize()

    assert len(run.faults) == 1
    assert run.failing == {"test_shapes.py", "test_more.py"}


def test_line_of_a_syntax_error_is_told(projects: Projects) -> None:
    run = projects.make({**GOOD, **INDENTATION}).localize()

    error = run.faults[0]["error"]
    assert (error["type"], error["file"], error["line"]) == ("IndentationError", "shapes.py", 3)


def test_code_that_does_not_parse_is_a_suspect_and_the_tests_are_not_the_only_ones(
    projects: Projects,
) -> None:
    run = projects.make(UNPARSED).localize()

    assert run.names()[0] == "cart.py <module>"
    assert "only the tests themselves are suspects" not in run.output
