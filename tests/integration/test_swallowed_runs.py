"""Exceptions that code catches in a failing test, and that nobody hears of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.integration.conftest import asserting

if TYPE_CHECKING:
    from tests.integration.conftest import Projects

FORGETFUL = True

CONF = """
    import json
    from contextlib import suppress


    def load(text):
        try:
            data = json.loads(text)
            return {"host": "localhost", "port": int(data["port"]), **data}
        except Exception:
            pass


    def address(text):
        conf = load(text)
        return f"{conf['host']}:{conf['port']}"
    """
PROJECT = {
    "pytest.ini": "[pytest]\npythonpath = .\n",
    "app/__init__.py": "",
    "app/conf.py": CONF,
    "tests/test_conf.py": asserting(
        "from app.conf import address, load",
        port='load(\'{"port": "80"}\')["host"] == "localhost"',
        address='address(\'{"host": "db", "port": 5432}\') == "db:5432"',
        default_port='address(\'{"host": "db"}\') == "db:8000"',
    ),
}


def test_function_that_swallows_an_error_is_first_and_says_so(projects: Projects) -> None:
    run = projects.make(PROJECT).localize("--bayesloc")

    assert run.names()[0] == "app/conf.py load"
    said = "  * caught KeyError: 'port' in line 9 and went on; no passing test does that"
    assert said in run.section


def test_its_lines_tell_without_a_rerun(projects: Projects) -> None:
    project = projects.make(PROJECT)

    run = project.localize()

    assert run.names()[0] == "app/conf.py load"
    assert "caught an exception in line 9 and went on; no passing test does that" in [
        seen["why"] for seen in run.row("load")["evidence"]
    ]
    without = project.localize("--bayesloc-without=swallowed")
    assert "swallowed" not in {seen["source"] for seen in without.row("load")["evidence"]}


def test_suppressed_error_is_seen_by_a_recording(projects: Projects) -> None:
    text = CONF.replace("    try:\n", "    with suppress(Exception):\n")
    text = text.replace("        except Exception:\n            pass\n", "")
    project = projects.make({**PROJECT, "app/conf.py": text})

    run = project.localize("--bayesloc")

    assert "caught KeyError: 'port' in line 6 and went on; no passing test does that" in [
        seen["why"] for seen in run.row("load")["evidence"]
    ]
