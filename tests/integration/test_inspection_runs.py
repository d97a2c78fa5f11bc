"""Re-runs that hang, crash, do not compile, or come out otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.integration.conftest import asserting

if TYPE_CHECKING:
    from tests.integration.conftest import Project, Projects, Run

pytestmark = pytest.mark.traced

FORGETFUL = True


INSPECTED = ("--bayesloc", "--bayesloc-threshold=0.999")
# Proposes patches for two functions, and none for others.
PROPOSER = """
from pytest_bayesloc.domain.inspection import InspectionPatch

CHANGES = {
    "crash": "import os; os._exit(3)",
    "syntax": "return ((",
    "harmless": "a + 0",
}


def pytest_bayesloc_propose_patches(config, location, source):
    if location.qualname not in ("add", "half"):
        return []
    lines = source.splitlines(keepends=True)
    header = location.start_line
    return [
        InspectionPatch(
            target=location,
            kind=kind,
            original=source,
            patched="".join([*lines[:header], f"    {change}\\n", *lines[header:]]),
        )
        for kind, change in CHANGES.items()
    ]
"""


@pytest.fixture(scope="module")
def proposed(projects: Projects) -> Run:
    tests = "from calc import half\n\n\ndef test_half():\n    assert half(3) == 1\n"
    project = projects.buggy({"test_half.py": tests, "conftest.py": PROPOSER})
    return project.localize(*INSPECTED)


def _of_kind(run: Run, kind: str) -> list[dict[str, Any]]:
    return [i for i in run.inspections if i["kind"] == kind and i["target"]["qualname"] == "add"]


def test_patches_without_a_verdict_are_inconclusive_and_a_harmless_one_leaves_the_failures(
    proposed: Run,
) -> None:
    (crash,), (syntax,), (harmless,) = (
        _of_kind(proposed, kind) for kind in ("crash", "syntax", "harmless")
    )

    for inspection in (crash, syntax):
        assert inspection["outcome"] == "INCONCLUSIVE"
        assert inspection["belief_after"] == inspection["belief_before"]
    assert crash["tests"][0]["verdict"] == "crash"
    assert {test["verdict"] for test in syntax["tests"]} == {"not-run"}
    assert "SyntaxError" in syntax["log"]
    assert {test["verdict"] for test in harmless["tests"]} == {"fail"}


@pytest.mark.thorough
def test_patch_that_hangs_times_out(projects: Projects) -> None:
    proposer = PROPOSER.replace("import os; os._exit(3)", "while True: pass")
    project = projects.buggy({"conftest.py": proposer.replace('"half"', '"no"')})

    run = project.localize(*INSPECTED, "--bayesloc-budget=3", "--bayesloc-without=mutants")

    (inspection,) = _of_kind(run, "crash")
    assert inspection["tests"][0]["verdict"] == "timeout"
    assert inspection["outcome"] == "INCONCLUSIVE"
    assert run.names()[0] == "calc.py add"
    assert run.ret == 1


@pytest.mark.thorough
def test_patch_of_a_module_body_is_run_behind_the_overlay(projects: Projects) -> None:
    files = {
        "table.py": "RATES = {'a': 1, 'b': 3}\n\n\ndef rate(name):\n    return RATES[name]\n",
        "test_table.py": asserting(
            "from table import rate", a='rate("a") == 1', b='rate("b") == 2'
        ),
        "conftest.py": """
            from pytest_bayesloc.domain.inspection import InspectionPatch


            def pytest_bayesloc_propose_patches(config, location, source):
                if location.qualname != "<module>":
                    return []
                patched = source.replace("'b': 3", "'b': 2")
                return [
                    InspectionPatch(
                        target=location, kind="repair", original=source, patched=patched
                    )
                ]
            """,
    }
    project = projects.make(files)

    run = project.localize(*INSPECTED)

    (inspection,) = (i for i in run.inspections if i["kind"] == "repair")
    verdicts = {test["node_id"]: test["verdict"] for test in inspection["tests"]}
    assert verdicts["test_table.py::test_b"] == "pass"
    assert inspection["log"].startswith("fresh: code replaced in 1 place(s)")
    assert "'b': 3" in (project.root / "table.py").read_text(encoding="utf-8")


FAILS_ONCE = """
    import pathlib

    from calc import add, half

    STATE = pathlib.Path(__file__).with_name("state")


    def test_flaky():
        first = not STATE.exists()
        STATE.touch()
        assert {}
        assert not first
    """


@pytest.mark.thorough
def test_test_that_fails_once_is_reported_as_flaky(projects: Projects) -> None:
    project = projects.buggy({"test_flaky.py": FAILS_ONCE.format("half(4) == 2")})

    page = project.root / "page.html"
    run = project.localize(*INSPECTED, f"--bayesloc-report=html:{page}")

    (flaky,) = (fault for fault in run.faults if fault["flaky"])
    assert flaky["flaky"] == ["test_flaky.py::test_flaky"]
    assert "is flaky: 1 test failed" in run.stdout
    assert (flaky["ranking"], flaky["history"], flaky["test_share"]) == ([], [], 0)
    assert "calc.py half" not in run.names()[:1]
    assert "so no suspect is named" in run.stdout
    assert "so no suspect is named" in page.read_text("utf-8")


@pytest.mark.thorough
def test_fault_beside_a_flaky_test_is_still_found(projects: Projects) -> None:
    project = projects.buggy({"test_flaky.py": FAILS_ONCE.format("add(3, 0) == 3")})

    run = project.localize(*INSPECTED)

    assert "calc.py add" in run.names()[:2]


@pytest.mark.thorough
def test_two_mistakes_that_share_code_are_two_faults_with_an_edit_each(
    projects: Projects,
) -> None:
    """All failing tests execute ``numbers``, so they are one group until they are inspected."""
    files = {
        "shapes.py": """
            def numbers(text):
                return [int(part) for part in text.split("x")]


            def border(text):
                width, height = numbers(text)
                return 2 * (width - height)


            def volume(text):
                width, height, depth = numbers(text)
                return width * height / depth


            def name(n):
                return {1: "line", 2: "area"}[n]
            """,
        "test_shapes.py": asserting(
            "from shapes import border, name, numbers, volume",
            border='border("2x3") == 10',
            border_of_square='border("4x4") == 16',
            volume='volume("2x3x4") == 24',
            volume_of_cube='volume("3x3x3") == 27',
            numbers='numbers("1x2") == [1, 2]',
            name='name(2) == "area"',
        ),
    }
    project = projects.make(files)

    plain, inspected = project.localize(), project.localize("--bayesloc")

    assert len(plain.faults) == 1
    found = [(run["failing_tests"], run["ranking"][0]["qualname"]) for run in inspected.faults]
    assert found == [
        (["test_shapes.py::test_border", "test_shapes.py::test_border_of_square"], "border"),
        (["test_shapes.py::test_volume", "test_shapes.py::test_volume_of_cube"], "volume"),
    ]
    assert all(fault["ranking"][0]["posterior"] > 0.9 for fault in inspected.faults)


def test_output_of_a_failing_test_stands_in_the_inspection(buggy_project: Project) -> None:
    tests = buggy_project.read("test_calc.py").replace(
        "test_add():", "test_add():\n    print('x=1')"
    )
    buggy_project.write({"test_calc.py": tests})

    run = buggy_project.localize(*INSPECTED, "--bayesloc-without=mutants")

    outputs = {test["node_id"]: test["output"] for test in run.inspections[0]["tests"]}
    assert "x=1" in outputs["test_calc.py::test_add"]


def test_budget_of_time_ends_the_loop(projects: Projects) -> None:
    project = projects.buggy({"conftest.py": PROPOSER})

    run = project.localize(*INSPECTED, "--bayesloc-budget=0.2")

    assert run.faults[0]["stop_reason"].startswith("the budget of 0.2 s is spent")


KINDS_OF_ADD = {
    "as it is": ("", (), True),
    "file is removed": ("os.remove(__file__ + '.none') if a is None else 0", (), True),
    "written to a descriptor": ("os.write(a, b'') if a is None else 0", (), False),
    "named by the user": ("abs(a)", ("--bayesloc-never-edit=abs",), False),
    "no mutants": ("", ("--bayesloc-without=mutants",), False),
}


@pytest.mark.thorough
@pytest.mark.parametrize(("line", "options", "edited"), KINDS_OF_ADD.values(), ids=KINDS_OF_ADD)
def test_function_that_no_fence_holds_is_not_edited(
    projects: Projects, line: str, options: tuple[str, ...], edited: bool
) -> None:
    code = f"import os\n\n\ndef add(a, b):\n    {line or 'pass'}\n    return a - b\n"
    rest = "\n\ndef half(a):\n    return a / 2\n\n\ndef mul(a, b):\n    return a * b\n"
    total = "\n\ndef total(prices):\n    return add(*prices) if prices else 0\n"
    project = projects.buggy({"calc.py": code + rest + total})

    run = project.localize(*INSPECTED, *options)

    kinds = {i["kind"] for i in run.inspections if i["target"]["qualname"] == "add"}
    assert ("mutants" in kinds) == edited
    assert run.names()[0] == "calc.py add"


def test_run_without_a_language_model_speaks_of_none(projects: Projects) -> None:
    project = projects.buggy()
    path = project.root / "page.html"

    run = project.localize(
        *("--bayesloc", "--bayesloc-model=independent", "--bayesloc-threshold=0.9999", "-vvv"),
        *("--bayesloc-without=mutants", f"--bayesloc-report=html:{path}"),
    )

    assert "COLLATERAL_FAILURE_LLM_INNOCENT" in {step["outcome"] for step in run.inspections}
    assert "LLM" not in run.stdout
    page = path.read_text(encoding="utf-8")
    assert "judged innocent" in page
    assert "LLM innocent" not in page
