"""Beside plugins that keep what a test expects in files: who is asked to store it anew, and how."""

from __future__ import annotations

import re
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.company.test_plugins import ALONE as BARE
from tests.company.test_plugins import OURS

if TYPE_CHECKING:
    from tests.integration.conftest import Project, Projects


#: Where tox has put these plugins: two of them share an option, and pytest loads all that it finds.
FOLDER = Path(sys.prefix) / "snapshots"
ALONE = {**BARE, "PYTHONPATH": str(FOLDER)}


@dataclass(frozen=True, kw_only=True)
class Row:
    """One companion: what is loaded, the test, and how its values are stored at first."""

    plugins: tuple[str, ...]
    test: str
    store: str


ROWS = {
    "syrupy": Row(
        plugins=("syrupy",),
        test="def test_page(snapshot):\n    assert page() == snapshot\n",
        store="--snapshot-update",
    ),
    "pytest-snapshot": Row(
        plugins=("pytest_snapshot.plugin",),
        test="def test_page(snapshot):\n    snapshot.assert_match(page(), 'page.txt')\n",
        store="--snapshot-update",
    ),
    "pytest-regressions": Row(
        plugins=("pytest_datadir.plugin", "pytest_regressions.plugin"),
        test="def test_page(file_regression):\n    file_regression.check(page())\n",
        store="--force-regen",
    ),
    "inline-snapshot": Row(
        plugins=("inline_snapshot.pytest_plugin",),
        test=(
            "from inline_snapshot import snapshot\n\n\n"
            "def test_page():\n    assert page() == snapshot()\n"
        ),
        store="--inline-snapshot=create",
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_who_has_changed_a_page_is_told_how_to_store_it(
    name: str,
    projects: Projects,
) -> None:
    row = ROWS[name]
    if not FOLDER.exists():
        pytest.skip("tox -e company installs these plugins")
    project = projects.make(
        {
            "pages.py": "def page():\n    return 'Once upon a time'\n",
            "test_pages.py": f"from pages import page\n{row.test}",
        }
    )
    loaded = (*OURS, *(arg for plugin in row.plugins for arg in ("-p", plugin)))
    project.run("-q", *loaded, row.store, env=ALONE)
    project.write(
        {"pages.py": "def page():\n    return 'There was a king who had three daughters'\n"}
    )
    stored = _texts(project)

    run = project.localize(*loaded, "--bayesloc-fix=suggest", env=ALONE)

    assert run.document is not None
    assert _texts(project) == stored
    hint = next(fix for fix in run.document["fixes"] if fix["tool"] == "stale-snapshot")
    assert hint["target"]["qualname"] == "test_page"
    assert not hint["diff"]
    said = re.search(r"`pytest (.*)`", hint["words"])
    assert said is not None, hint
    assert hint["words"] in " ".join(run.stdout.split())
    project.run("-q", *loaded, *shlex.split(said.group(1)), env=ALONE)
    assert project.run("-q", *loaded, env=ALONE).ret == 0


def _texts(project: Project) -> dict[str, bytes]:
    """What lies in the project, but for what Python and pytest keep there."""
    return {
        str(path): path.read_bytes()
        for path in project.root.rglob("*.*")
        if path.is_file() and not {".bayesloc", ".pytest_cache", "__pycache__"} & {*path.parts}
    }
