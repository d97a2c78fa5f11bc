"""Data beside the code that changed since the tests passed is named."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.integration.conftest import Project, Projects

pytestmark = pytest.mark.one_python

FILES = {
    "pytest.ini": "[pytest]\npythonpath = .\n",
    "shop/__init__.py": "",
    "shop/data/rates.json": '{"apple": 2}\n',
    "shop/data/names.csv": "apple,pear\n",
    "shop/other.toml": "a = 1\n",
    "shop/rates.py": """
        import json
        from pathlib import Path


        def rate(name):
            text = Path(__file__).parent.joinpath("data", "rates.json").read_text()
            return json.loads(text)[name]
        """,
    "tests/test_rates.py": """
        from pathlib import Path

        from shop.rates import rate


        def test_rate():
            assert rate("apple") == 2


        def test_that_writes():
            out = Path(__file__).parent.parent / "shop" / "out.json"
            out.write_text(str(out.stat().st_mtime_ns) if out.exists() else "new")
        """,
}
CHANGED = {"shop/data/rates.json": '{"apple": 3}\n', "shop/other.toml": "a = 2\n"}


@pytest.fixture(scope="module")
def passed(projects: Projects) -> Project:
    """The project after a green run."""
    project = projects.make(FILES)
    assert project.run("-q").ret == 0
    return project


def test_data_that_changed_since_green_is_named_that_the_code_names_first(
    projects: Projects, passed: Project
) -> None:
    run = projects.copy_of(passed).write(CHANGED).localize()

    assert run.faults[0]["changed_data"] == ["shop/data/rates.json", "shop/other.toml"]
    assert [line.strip() for line in run.section[1:3]] == [
        "likely cause: a data file, not the code",
        "data changed since the tests passed: shop/data/rates.json, shop/other.toml",
    ]


def test_data_that_changed_beside_code_is_no_likely_cause(
    projects: Projects, passed: Project
) -> None:
    code = {"shop/rates.py": FILES["shop/rates.py"].replace("[name]", "[name] + 1")}

    run = projects.copy_of(passed).write({**CHANGED, **code}).localize()

    assert run.faults[0]["changed_data"] == ["shop/data/rates.json", "shop/other.toml"]
    assert "likely cause" not in run.stdout


def test_data_that_changed_with_a_parameter_of_the_test_is_named(projects: Projects) -> None:
    cases = """
        import pytest

        from shop.rates import rate


        @pytest.mark.parametrize(("name", "expected"), [("apple", 2), ("pear", 4)])
        def test_rate(name, expected):
            assert rate(name) == expected
        """
    rates = {"shop/data/rates.json": '{"apple": 2, "pear": 4}\n'}
    project = projects.make({**FILES, **rates, "tests/test_rates.py": cases})
    assert project.run("-q").ret == 0

    now = {
        "shop/data/rates.json": '{"apple": 2, "pear": 5}\n',
        "tests/test_rates.py": cases.replace('("pear", 4)', '("pear", 6)'),
    }
    run = project.write(now).localize()

    assert run.failing == {"tests/test_rates.py::test_rate[pear-6]"}
    assert run.faults[0]["changed_data"] == ["shop/data/rates.json"]


def test_data_that_is_gone_has_changed(projects: Projects, passed: Project) -> None:
    project = projects.copy_of(passed)
    (project.root / "shop/data/rates.json").unlink()

    assert project.localize().faults[0]["changed_data"] == ["shop/data/rates.json"]


def test_data_as_it_was_is_not_named(projects: Projects, passed: Project) -> None:
    code = {"shop/rates.py": FILES["shop/rates.py"].replace("[name]", "[name] + 1")}

    run = projects.copy_of(passed).write(code).localize()

    assert run.faults[0]["changed_data"] == []
    assert run.names()[0] == "shop/rates.py rate"
    assert "data changed" not in run.stdout


def test_data_of_a_git_revision_is_compared_where_it_is_named(projects: Projects) -> None:
    project = projects.make(FILES)
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "green"]):
        named = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        subprocess.run(["git", *named, *command], cwd=project.root, check=True)

    run = project.write(CHANGED).localize("--bayesloc-green=HEAD")

    assert run.faults[0]["changed_data"] == ["shop/data/rates.json", "shop/other.toml"]


def test_fix_in_data_alone_is_no_flaky_test(projects: Projects, passed: Project) -> None:
    project = projects.copy_of(passed).write(CHANGED)
    project.run("-q")

    fixed = project.write({"shop/data/rates.json": FILES["shop/data/rates.json"]}).run("-q")

    assert "is fixed: shop/data/rates.json" in fixed.stdout
    assert "flaky" not in fixed.stdout
