"""Failures whose cause is no mistake of a function, in projects of the benchmark."""

from __future__ import annotations

import sqlite3
import subprocess
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.flaky.running import FlakyProject
from benchmarks.flaky.running import projects as flaky_projects
from tests.integration.conftest import asserting

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.integration.conftest import Projects, Run

pytestmark = [pytest.mark.traced, pytest.mark.thorough]

PROJECTS = {project.name: project for project in flaky_projects()}


def run_of(
    projects: Projects,
    flaky: FlakyProject,
    *options: str,
    variables: Mapping[str, str] | None = None,
) -> Run:
    return projects.make(dict(flaky.files)).localize("--bayesloc", *options, env=variables)


def cause_of(run: Run) -> dict[str, Any]:
    (fault,) = run.faults
    cause: dict[str, Any] = fault["cause"]
    return cause


@pytest.mark.parametrize(
    ("name", "options", "variables"),
    [
        ("shrinking-catalogue", (), {}),
        ("dollars-at-the-till", (), {}),
        ("a-receiver-that-is-none", (), {}),
        ("exported-elsewhere", (), {}),
        ("a-table-made-earlier", ("tests/test_ledger.py::test_balance",), {}),
        ("coupon-of-last-spring", (), {}),
        ("opening-hours", (), {"TZ": "Pacific/Auckland"}),
        ("tags-on-a-card", (), {"PYTHONHASHSEED": "1"}),
        ("money-of-the-house", (), {"TILL_CURRENCY": "SEK"}),
        ("a-picture-of-a-graph", (), {}),
        ("weather-at-the-door", (), {}),
        ("points-of-a-player", (), {}),
        ("age-at-the-counter", (), {}),
        ("debug-from-the-admin-tests", (), {}),
    ],
)
def test_cause_and_place_are_those_of_the_project(
    projects: Projects, name: str, options: tuple[str, ...], variables: dict[str, str]
) -> None:
    flaky = PROJECTS[name]

    cause = cause_of(run_of(projects, flaky, *options, variables=variables))

    where = cause["location"]
    assert cause["kind"] == flaky.truth["kind"]
    assert f"{where['file']}::{where['qualname']}" in flaky.places
    assert set(cause["after"]) >= set(flaky.truth.get("after", "").split())


def test_file_of_an_earlier_run_is_told_and_stays_as_it_is(projects: Projects) -> None:
    flaky = PROJECTS["members-of-a-club"]
    project = projects.make(dict(flaky.files))
    for words in ("init -q", "add -A", "-c user.name=a -c user.email=a@b commit -qm first"):
        subprocess.run(("git", *words.split()), cwd=project.root, check=True)
    assert project.run().outcomes == {"passed": 3}
    path = project.root / "club.sqlite3"

    def rows() -> list[Any]:
        with closing(sqlite3.connect(path)) as database:
            return database.execute("SELECT * FROM members").fetchall()

    cause = cause_of(project.localize("--bayesloc"))

    assert (cause["kind"], cause["state"]) == ("left-behind", "club.sqlite3")
    assert rows() == [("Ada",), ("Bo",)] * 2  # of the two runs, and no re-run


def test_file_that_no_test_makes_is_none_that_a_run_left_behind(projects: Projects) -> None:
    files = {
        "app.py": "def load():\n    with open('local.cfg') as file:\n        return file.read()\n",
        "test_app.py": "from app import load\n\ndef test_one():\n    try:\n"
        "        text = load()\n    except FileNotFoundError:\n        text = ''\n"
        "    assert text == ''\n",
    }
    project = projects.make(files)
    for words in ("init -q", "add -A", "-c user.name=a -c user.email=a@b commit -qm first"):
        subprocess.run(("git", *words.split()), cwd=project.root, check=True)
    (project.root / "local.cfg").write_text("by hand", encoding="utf-8")

    (fault,) = project.localize("--bayesloc").faults

    assert fault["cause"] is None


def test_file_that_a_test_of_the_same_run_left_is_told_with_that_test(projects: Projects) -> None:
    flaky = PROJECTS["scores-of-a-quiz"]

    cause = cause_of(run_of(projects, flaky))

    assert (cause["kind"], cause["state"]) == ("polluted", "scores.json")
    assert cause["after"] == [flaky.truth["after"]]


def test_package_that_changed_since_the_last_green_run_is_told(projects: Projects) -> None:
    files = {
        "till.py": """
            import rounding


            def total(prices):
                return rounding.rounded(sum(prices))
            """,
        "test_till.py": asserting("from till import total", total="total([0.25, 0.1]) == 0.3"),
    }
    for version, body in (("1.2", "int(value * 10) / 10"), ("2.0", "round(value + 0.01, 1)")):
        files[f"site-{version}/rounding.py"] = f"def rounded(value):\n    return {body}\n"
        files[f"site-{version}/rounding-{version}.dist-info/METADATA"] = ""
    project = projects.make(files)
    tests = ("test_till.py", "--bayesloc-source=till.py")
    green = project.run("--bayesloc", *tests, env={"PYTHONPATH": str(project.root / "site-1.2")})
    assert green.outcomes == {"passed": 1}

    other = {"PYTHONPATH": str(project.root / "site-2.0")}
    cause = cause_of(project.localize("--bayesloc", *tests, env=other))

    assert cause["kind"] == "version"
    assert cause["text"].startswith("rounding changed from 1.2 to 2.0 since the tests last passed")

    project.write({"till.py": files["till.py"].replace("sum(prices)", "sum(prices) + 0.0")})
    changed = project.localize("--bayesloc", *tests, env=other)
    assert changed.faults[0]["cause"] is None
