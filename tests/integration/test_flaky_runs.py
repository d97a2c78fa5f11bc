"""A suite with flaky tests, run several times: what is remembered of them, and told."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tests.integration.conftest import asserting
from tests.integration.test_merge_runs import MERGE
from tests.integration.test_outcome_runs import RERUNS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.integration.conftest import Project, Projects, Run

pytestmark = pytest.mark.one_python

ONLY = "bayesloc: the only failure is of a test known to be flaky"
#: The machine decides whether ``test_price`` passes.
FLAKY = {
    "shop.py": """
        import os


        def price(n):
            return n + ("LATE" in os.environ)


        def other(n):
            return n
        """,
    "test_shop.py": asserting(
        "from shop import other, price", price="price(3) == 3", other="other(2) == 2"
    ),
}
RED, GREEN = {"LATE": "1"}, dict[str, str]()
POLLUTED = {
    "cart.py": """
        ITEMS = []


        def add(item):
            ITEMS.append(item)
            return len(ITEMS)
        """,
    "test_cart.py": asserting(
        "from cart import add", first='add("pen") == 1', second='add("ink") == 1'
    ),
}


def stories(project: Project, *environments: Mapping[str, str]) -> None:
    """Run the suite once in each environment."""
    for environment in environments:
        project.run("-q", env=environment)


def first_line(run: Run) -> str:
    return run.section[0]


@pytest.fixture
def flaky(projects: Projects) -> Project:
    """A project whose flaky test failed and passed."""
    project = projects.make(FLAKY)
    stories(project, RED, GREEN)
    return project


def test_red_run_of_known_flaky_tests_alone_says_so_first_and_stays_red(flaky: Project) -> None:
    stories(flaky, GREEN)

    run = flaky.run("-q", env=RED)

    assert first_line(run) == ONLY
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    said = " ".join(line.strip() for line in run.section)
    rate = "(likely 15 to 85 % of the time)"
    assert f"test_price is known to be flaky: failed 2 of 4 times on this code {rate}" in said


def test_first_failure_and_one_that_is_not_flaky_are_not_called_that(projects: Projects) -> None:
    project = projects.make(FLAKY)
    first = project.run("-q", env=RED)
    stories(project, GREEN)
    project.write({"test_more.py": "def test_more():\n    assert 1 == 2\n"})
    mixed = project.run("-q", env=RED)

    assert "known to be flaky" not in "\n".join(first.section)
    assert "known to be flaky" not in first_line(mixed)
    assert "test_price is known to be flaky" in "\n".join(mixed.section)


def test_edit_of_the_executed_code_is_told(flaky: Project) -> None:
    flaky.write({"shop.py": FLAKY["shop.py"].replace("n + (", "1 * n + (")})

    run = flaky.run("-q", env=RED)

    assert first_line(run) == f"{ONLY}, but its code has changed since then"


def test_result_has_the_rate_with_its_interval(flaky: Project) -> None:
    memory = flaky.localize(env=RED).document["memory"]

    (entry,) = memory["flaky"]
    assert (entry["fault"], entry["test"]) == (1, "test_shop.py::test_price")
    assert (entry["n_failed"], entry["n_outcomes"]) == (2, 3)
    assert 0 < entry["low"] < 2 / 3 < entry["high"] < 1


def test_test_that_another_plugin_reruns_is_flaky(projects: Projects) -> None:
    project = projects.make(
        {**RERUNS, "test_shaky.py": RERUNS["test_shaky.py"].replace("== 2", "== int(GOOD)", 1)}
    )
    shaky = project.read("test_shaky.py").replace("ATTEMPTS = []", "import os\n\nATTEMPTS = []")
    shaky = shaky.replace("int(GOOD)", 'int(os.environ["GOOD"])').partition("def test_wrong")[0]
    project.write({"test_shaky.py": shaky})
    green = project.run("-q", env={"GOOD": "2"})

    run = project.localize(env={"GOOD": "7"})

    assert green.ret == 0
    (entry,) = run.document["memory"]["flaky"]
    assert (entry["n_failed"], entry["n_outcomes"]) == (3, 4)


def test_green_run_without_known_flaky_tests_leaves_the_memory_alone(projects: Projects) -> None:
    project = projects.make(FLAKY)
    stories(project, RED)
    project.write({"shop.py": FLAKY["shop.py"].replace('"LATE" in os.environ', "0")})
    stories(project, RED)  # fixed
    kept = (project.root / ".bayesloc/memory.sqlite").read_bytes()
    stories(project, GREEN)

    assert (project.root / ".bayesloc/memory.sqlite").read_bytes() == kept
    with closing(sqlite3.connect(project.root / ".bayesloc/memory.sqlite")) as db:
        assert db.execute("SELECT count(*) FROM outcome").fetchone() == (0,)


def test_forgotten_bug_is_no_longer_known_to_be_flaky(flaky: Project) -> None:
    (advice,) = flaky.localize(env=RED).document["memory"]["advice"]
    flaky.run(f"--bug-memory=forget:{advice['bug']}")

    assert flaky.localize(env=RED).document["memory"]["flaky"] == []


def test_passes_are_counted_on_changed_code_as_well(flaky: Project) -> None:
    flaky.write({"shop.py": FLAKY["shop.py"].replace("n + (", "1 * n + (")})
    stories(flaky, GREEN, GREEN)

    (entry,) = flaky.localize(env=RED).document["memory"]["flaky"]

    assert (entry["n_failed"], entry["n_outcomes"], entry["is_same_code"]) == (1, 3, True)


def test_green_run_of_other_tests_counts_nothing(flaky: Project) -> None:
    flaky.run("-q", "test_shop.py::test_other", env=GREEN)

    (entry,) = flaky.localize(env=RED).document["memory"]["flaky"]

    assert (entry["n_failed"], entry["n_outcomes"]) == (2, 3)


# -- causes


@pytest.fixture
def polluted(projects: Projects) -> Project:
    """A project of which an inspected run found that one test spoils another."""
    project = projects.make(POLLUTED)
    (fault,) = project.localize("--bayesloc").faults
    assert fault["cause"]["kind"] == "polluted"
    return project


def test_cause_is_told_again_in_a_plain_run_as_remembered(polluted: Project) -> None:
    run = polluted.localize()

    (told,) = run.document["memory"]["causes"]
    assert run.faults[0]["cause"] is None
    assert told["cause"]["kind"] == "polluted"
    assert told["cause"]["after"] == ["test_cart.py::test_first"]
    said = " ".join(line.strip() for line in run.section)
    assert f"Cause found on {told['found_at'][:10]}: test_second fails after test_first" in said


def test_cause_is_part_of_the_advice(polluted: Project) -> None:
    advice = polluted.run("-q", "--bug-advice").stdout
    last = polluted.run("--bug-advice-last").stdout

    for said in (advice, last):
        assert "Cause found on" in said
        assert "reproduce it: pytest test_cart.py::test_first test_cart.py::test_second" in said


def test_cause_is_not_told_once_the_code_changed(polluted: Project) -> None:
    polluted.write({"cart.py": POLLUTED["cart.py"].replace("len(ITEMS)", "0 + len(ITEMS)")})

    assert polluted.localize().document["memory"]["causes"] == []


# -- other surfaces


def test_page_of_a_matrix_has_the_known_flaky_tests(flaky: Project) -> None:
    for name in ("one", "two"):
        flaky.run("-q", f"--bayesloc-report=json:{name}.json", env=RED)

    flaky.run("one.json", "two.json", "--report=json:all.json", python=MERGE, lean=False)

    (entry,) = flaky.result(flaky.root / "all.json")["memory"]["flaky"]
    assert (entry["fault"], entry["test"]) == (1, "test_shop.py::test_price")


def test_reports_carry_it(flaky: Project) -> None:
    said = "test_price is known to be flaky: failed 2 of 3 times on this code"
    run = flaky.run(
        "-q",
        "--bayesloc-report=html:page.html",
        "--bayesloc-report=sarif:log.sarif",
        "--bayesloc-report=gitlab:quality.json",
        "--bayesloc-report=github:summary.md",
        "--junit-xml=junit.xml",
        "--bayesloc-report=junit",
        env=RED,
    )

    page, summary, xml = (flaky.read(name) for name in ("page.html", "summary.md", "junit.xml"))
    told = page.partition('<pre id="prompt-text"')
    assert all(f"{said} (likely 21 to 94 % of the time)." in part for part in told[::2])
    assert "The only failure is of a test known to be flaky" in page
    assert "**The only failure is of a test known to be flaky.**" in summary
    assert said.replace("_", r"\_") in summary
    assert 'name="bayesloc.known_flaky"' in xml
    assert f'name="bayesloc.fault.1.known.1" value="{said} (likely 21 to 94 % of the time)"' in xml
    assert said in flaky.read("log.sarif")
    assert said in json.loads(flaky.read("quality.json"))[0]["description"]
    assert f"::notice title=bayesloc::{ONLY.removeprefix('bayesloc: ')}" in run.stdout
    (mark,) = (line for line in run.stdout.splitlines() if line.startswith("::error"))
    assert said in mark
