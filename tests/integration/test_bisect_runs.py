"""``--bayesloc-green=auto`` searches all commits for the one that broke the tests."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tests.integration.test_regression_runs import git, outcomes

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.integration.conftest import Project, Projects, Run

pytestmark = pytest.mark.one_python

SEARCH = ("--bayesloc", "--bayesloc-green=auto", "--bayesloc-inspections=2")
TEST = "import prices\n\n\ndef test_net():\n    assert prices.net(4) == 2\n"
IGNORED = {".gitignore": "__pycache__/\n.bayesloc/\n"}


def prices(n: int, bad: int) -> str:
    """The module after commit ``n``, if commit ``bad`` broke ``net``; ``gross`` changes later."""
    net = "price - 1" if n >= bad else "price / 2"
    factor = "4" if n < bad + 2 else "2 * 2"
    return (
        f"VERSION = {n}\n\n\ndef net(price):\n    return {net}\n\n\n"
        f"def gross(price):\n    return net(price) * {factor}\n\n\nGROSS = gross(4)\n"
    )


def commit(project: Project, words: str) -> str:
    git(project.root, "add", "-A")
    git(project.root, "commit", "-q", "--allow-empty", "-m", words)
    return git(project.root, "rev-parse", "--short", "HEAD").strip()


def history(
    project: Project, n_commits: int, write: Callable[[int], dict[str, str]]
) -> dict[int, str]:
    """Commit what ``write`` gives, from 1 on; the names of the commits."""
    git(project.root, "init", "-q")
    return {n: commit(project.write(write(n)), f"change {n}") for n in range(1, n_commits + 1)}


@pytest.fixture
def project(projects: Projects) -> Project:
    return projects.make(IGNORED)


def note(run: Run) -> str:
    """The only line about the search."""
    (line,) = (line for line in run.document["partial"] if line.endswith("(bisect)"))
    return str(line)


def verdicts(path: Path) -> list[tuple[str, ...]]:
    with closing(sqlite3.connect(path)) as db:
        return db.execute("SELECT id, revision, verdict FROM tried ORDER BY id").fetchall()


def state(root: Path) -> dict[str, str | bytes]:
    asked = {"refs": ("for-each-ref",), "status": ("status", "--porcelain")}
    files = {str(path): path.read_bytes() for path in root.rglob("*.py")}
    kept = {"index": (root / ".git" / "index").read_bytes()}
    made = {"git": " ".join(sorted(path.name for path in (root / ".git").iterdir()))}
    return {**files, **kept, **made, **{key: git(root, *what) for key, what in asked.items()}}


@pytest.mark.thorough
def test_commit_that_broke_a_test_is_found_far_back_and_its_changes_are_ranked(
    project: Project, tmp_path: Path
) -> None:
    names = history(project, 40, lambda n: {"prices.py": prices(n, 12), "test_shop.py": TEST})
    before = state(project.root)

    run = project.localize(*SEARCH, env={"TMPDIR": str(tmp_path)})

    assert re.match(rf"{names[12]} \(change 12, \d{{4}}-\d\d-\d\d\) broke .*test_net", note(run))
    assert f"which passed at {names[11]}: its changes are ranked (10 of 40 commits" in note(run)
    assert run.names()[0] == "prices.py net"
    assert outcomes(run, "net") >= {"CHANGED_SINCE_GREEN", "REVERT_REPAIRS"}
    assert "UNCHANGED_SINCE_GREEN" in outcomes(run, "gross")
    assert state(project.root) == before
    assert not list(tmp_path.iterdir())


def test_edit_that_is_not_committed_is_told_from_commits(project: Project) -> None:
    names = history(project, 3, lambda n: {"prices.py": prices(n, 9), "test_shop.py": TEST})
    project.write({"prices.py": prices(9, 9)})

    run = project.localize(*SEARCH)

    assert f"passed at {names[3]}, the last commit (" in note(run)
    assert "(1 of 3 commits tried)" in note(run)
    assert run.names()[0] == "prices.py net"


@pytest.mark.thorough
def test_commit_that_changed_data_alone_blames_no_code_that_came_later(project: Project) -> None:
    test = "import pathlib\n" + TEST.replace("4)", 'int(pathlib.Path("price.txt").read_text()))')
    code = {"prices.py": prices(1, 9), "test_shop.py": test}
    history(project, 4, lambda n: {**code, "price.txt": "4\n" if n < 3 else "5\n"})
    project.write({"prices.py": prices(1, 9).replace("price / 2", "price * 0.5")})
    commit(project, "change 5")

    run = project.localize(*SEARCH)

    assert "(change 3," in note(run)
    assert "No Python code changed that is still there: price.txt. (bisect)" in note(run)
    assert "changed" not in {item["source"] for item in run.row("net")["evidence"]}


@pytest.mark.thorough
def test_commits_before_the_test_was_written_are_skipped(project: Project) -> None:
    """The steps back go from commit 9 beyond commit 6, with which the test came."""
    names = history(
        project,
        16,
        lambda n: {"prices.py": prices(n, 8), **({"test_shop.py": TEST} if n >= 6 else {})},
    )

    assert note(project.localize(*SEARCH)).startswith(f"{names[8]} (change 8,")


@pytest.mark.thorough
def test_test_that_came_after_the_fault_passes_nowhere(project: Project) -> None:
    history(
        project,
        6,
        lambda n: {"prices.py": prices(n, 1), **({"test_shop.py": TEST} if n >= 5 else {})},
    )

    run = project.localize(*SEARCH)

    assert note(run).startswith("No commit was found on which test_shop.py::test_net passed")
    assert "(5 of 6 commits tried, 3 of them could not run the tests)" in note(run)
    assert "CHANGED_SINCE_GREEN" not in outcomes(run, "net")


@pytest.mark.thorough
def test_commits_that_can_not_run_the_test_leave_a_range(project: Project) -> None:
    """Commit 3 can't be imported, and 4 misses a fixture: either may have broken the test."""
    broken = {
        3: {"prices.py": "def net(price:\n"},
        4: {"test_shop.py": TEST.replace("test_net()", "test_net(shop)")},
    }
    names = history(
        project,
        6,
        lambda n: {"prices.py": prices(n, 3), "test_shop.py": TEST, **broken.get(n, {})},
    )

    run = project.localize(*SEARCH)

    words = rf"test_shop.py::test_net passed at {names[2]}, and broke between {names[3]} .* and "
    assert re.match(f"{words}{names[5]} ", note(run))
    assert outcomes(run, "net") >= {"CHANGED_SINCE_GREEN", "REVERT_REPAIRS"}


@pytest.mark.thorough
def test_import_that_a_commit_broke_is_no_lack_of_what_came_later(project: Project) -> None:
    test = "def test_net():\n    from prices import net\n\n    assert net(4) == 2\n"
    code = {3: "def netto(price):\n    return price / 2\n"}
    names = history(
        project,
        3,
        lambda n: {"prices.py": code.get(n, prices(n, 9)), "test_shop.py": test},
    )

    assert note(project.localize(*SEARCH)).startswith(names[3])


@pytest.mark.thorough
def test_shallow_clone_says_how_to_get_more(projects: Projects, project: Project) -> None:
    history(project, 6, lambda n: {"prices.py": prices(n, 2), "test_shop.py": TEST})
    clone = projects.make({})
    for path in clone.root.iterdir():
        path.unlink()
    git(clone.root, "clone", "-q", "--depth=3", f"file://{project.root}", ".")

    run = clone.localize(*SEARCH)

    assert "No commit was found on which" in note(run)
    assert "(3 of 3 commits tried). The clone is shallow: `git fetch --unshallow`" in note(run)


@pytest.mark.thorough
def test_search_that_was_cut_goes_on_in_the_next_run(project: Project) -> None:
    slow = TEST.replace("    assert", "    import time\n\n    time.sleep(0.4)\n    assert")
    names = history(project, 10, lambda n: {"prices.py": prices(n, 6), "test_shop.py": slow})
    tried = re.compile(r"\((\d+) of 10 commits tried")
    store = project.root / ".bayesloc" / "green.sqlite"

    first = note(project.localize(*SEARCH, "--bayesloc-budget=6"))
    kept = verdicts(store)
    second = note(project.localize(*SEARCH, "--bayesloc-budget=100"))

    assert "The time for that was up: run again to go on" in first
    assert 0 < int(tried.findall(first)[0]) < int(tried.findall(second)[0])
    assert second.startswith(f"{names[6]} (change 6,")
    assert kept == verdicts(store)[: len(kept)]  # none of them was tried again


FINDER = """
    import os
    import sys
    from importlib.util import spec_from_file_location


    class Finder:
        @staticmethod
        def find_spec(name, path=None, target=None):
            if name == "prices":
                return spec_from_file_location(name, os.environ["PRICES"])
            return None


    sys.meta_path.append(Finder)
    """


@pytest.mark.thorough
def test_editable_install_that_leads_to_the_repository_is_not_followed(
    projects: Projects,
) -> None:
    project = projects.make({**IGNORED, "tests/test_shop.py": TEST})
    installed = projects.make({"sitecustomize.py": FINDER})
    names = history(project, 3, lambda n: {"code/prices.py": prices(n, 3)})
    where = str(project.root / "code" / "prices.py")

    run = project.localize(*SEARCH, env={"PYTHONPATH": str(installed.root), "PRICES": where})

    assert note(run).startswith(names[3])


@pytest.mark.thorough
def test_project_in_a_folder_of_its_repository_sees_the_copy_of_all_of_it(
    projects: Projects,
) -> None:
    """The code lies beside it."""
    project = projects.make({**IGNORED, "test_shop.py": TEST})
    top = project.root.parent
    (top / "lib").mkdir()
    git(top, "init", "-q")
    for n in range(1, 4):
        (top / "lib" / "prices.py").write_text(prices(n, 3), encoding="utf-8")
        git(top, "add", "-A")
        git(top, "commit", "-q", "-m", f"change {n}")

    run = project.localize(*SEARCH, env={"PYTHONPATH": str(top / "lib")})

    assert "(change 3," in note(run)


def test_folder_without_git_costs_one_line(projects: Projects) -> None:
    project = projects.make({"prices.py": prices(2, 1), "test_shop.py": TEST})
    project.write({"pytest.ini": "[pytest]\nbayesloc_green = auto\n"})

    run = project.localize("--bayesloc", env={"GIT_CEILING_DIRECTORIES": str(project.root.parent)})

    assert note(run).startswith("git knows no commits here")
