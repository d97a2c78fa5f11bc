"""A suite that remembers: episodes, advice and loops, as a user meets them."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import subprocess
from contextlib import closing
from datetime import datetime, timezone
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.memory.statistics import arm_of
from tests.integration.conftest import asserting

if TYPE_CHECKING:
    from pathlib import Path

    from tests.integration.conftest import Project, Projects

pytestmark = pytest.mark.one_python

INSPECTED = ("--bayesloc", "--bayesloc-threshold=0.999")
FILES = {
    "knots.py": """
        def check(knots, degree):
            if len(knots) < 2 * degree + 2:
                raise ValueError(f"degree {degree} needs {2 * degree + 2} knots, got {len(knots)}")


        def spread(n):
            return [0] * n
        """,
    "curve.py": """
        from knots import check


        def curve(knots, degree):
            check(knots, degree)
            return knots
        """,
    "test_curve.py": asserting(
        "from curve import curve\nfrom knots import spread",
        line="curve([0, 0, 1, 1], 1)",
        cubic="curve([0, 0, 0, 1, 1, 1], 3)",
        spread="spread(2) == [0, 0]",
    ),
}
FLAKY = {"test_a.py": "import os\n\n\ndef test_a():\n    assert os.environ.get('GOOD')\n"}
USES_SHOP = "import shop\n\n\ndef test_total():\n    assert shop.total() == 3\n"
REACHED_BY_MUTANTS = {
    "helpers.py": """
        def high(n):
            return 0
        """,
    "shop.py": """
        from helpers import high


        def price(n):
            if n > 10:
                return high(n)
            return n - 1
        """,
    "test_shop.py": asserting(
        "from shop import price", low="price(3) == 2", limit="price(10) == 10"
    ),
}
STORE = ".bayesloc/memory.sqlite"


@pytest.fixture
def project(projects: Projects) -> Project:
    return projects.make(FILES)


def edit(project: Project, name: str, old: str, new: str) -> None:
    """Put ``new`` in the place of ``old``."""
    text = project.read(name)
    assert text.count(old) == 1
    project.write({name: text.replace(old, new)})


def count(project: Project, asked: str) -> int:
    with closing(sqlite3.connect(project.root / STORE)) as db:
        n: int = db.execute(asked).fetchone()[0]
        return n


def section(project: Project, *args: str) -> str:
    return "\n".join(project.run("-q", "--tb=no", *args).section)


def test_episode_is_told_from_its_beginning_to_its_lesson(project: Project) -> None:
    begun = section(project, "--bug-advice")
    again = section(project, "--bug-advice")
    edit(project, "knots.py", "2 * degree + 2:", "2 * degree + 2 and degree:")
    first = section(project, "--bug-advice")
    edit(project, "knots.py", "and degree:", "and degree > 0:")
    second = section(project, "--bug-advice")
    edit(project, "test_curve.py", "[0, 0, 0, 1, 1, 1]", "[0, 0, 0, 0, 1, 1, 1, 1]")
    mended = section(project)
    edit(project, "test_curve.py", "curve([0, 0, 1, 1], 1)", "curve([0, 1, 1], 1)")
    elsewhere = section(project, "--bug-advice")

    assert "begins" in begun
    assert "likely cause: the test's data" in begun
    assert "learned: check needs len(knots) >= 2 * degree + 2" in begun
    assert "begins" not in again
    assert "trial 1 failed" in first
    assert "failed before: knots.py check (+1 -1)" in first
    words = "step back: 2 edits of the code, but the likely cause is the test or its data"
    assert words in second
    assert "all these edits were in: knots.py check" in second
    assert "never edited: test_curve.py test_cubic" in second
    assert "is fixed after 2 failed trials: test_curve.py test_cubic" in mended
    assert "fixed by test_curve.py test_cubic" in elsewhere
    assert "score 1.00: the same failure" in elsewhere


def test_guard_far_below_is_offered_where_the_value_comes_in(project: Project) -> None:
    project.write(
        {"pen.py": "from curve import curve\n\n\ndef draw(*of):\n    return curve(*of)\n"}
    )
    edit(project, "test_curve.py", "from curve import curve", "from pen import draw as curve")

    told = section(project, "--bug-advice")

    needs = "check needs len(knots) >= 2 * degree + 2"
    assert f"{needs}: check it first at pen.py:5 in draw" in told


def test_advice_of_the_last_run_is_read_without_running_a_test(project: Project) -> None:
    told = section(project, "--bug-advice")
    (project.root / "test_curve.py").unlink()

    run = project.run("--bug-advice-last")

    assert run.ret == 0
    advice = run.stdout.splitlines()[1:]
    assert advice
    assert all(line in told for line in advice)


def test_result_and_page_hold_the_advice(project: Project) -> None:
    run = project.localize("--bayesloc-report=html:page.html")

    (advice,) = run.document["memory"]["advice"]
    (record,) = run.document["memory"]["records"]
    assert advice["bug"] == record["id"]
    assert record["category"] == "DATA_ERROR"
    assert record["signature"] == "ValueError: degree <int> needs <int> knots, got <int>"
    assert record["tests"] == ["test_curve.py::test_cubic"]
    page = project.read("page.html")
    assert "What is remembered" in page
    assert "learned: check needs len(knots) &gt;= 2 * degree + 2" in page


def test_loops_can_be_switched_off(project: Project) -> None:
    section(project)
    edit(project, "knots.py", "2 * degree + 2:", "2 * degree + 2 and degree:")
    section(project)
    edit(project, "knots.py", "and degree:", "and degree > 0:")

    assert "step back" not in section(project, "--bayesloc-without=loops")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "def test_cubic",
            "import pytest\n\n\n@pytest.mark.skip\ndef test_cubic",
            "is skipped now",
        ),
        (
            "def test_cubic",
            "import pytest\n\n\n@pytest.mark.xfail\ndef test_cubic",
            "is xfailed now",
        ),
        ("def test_cubic", "def cubic", "its tests were deleted, which is no fix"),
    ],
    ids=["skip", "xfail", "delete"],
)
def test_test_that_was_taken_out_of_the_way_is_not_mended(
    project: Project, old: str, new: str, said: str
) -> None:
    project.run("-q")
    edit(project, "test_curve.py", old, new)

    assert said in section(project)
    assert not count(project, "SELECT count(*) FROM bug WHERE state = 'resolved'")


def test_pass_without_an_edit_is_said_to_be_flaky(projects: Projects) -> None:
    project = projects.make(FLAKY)
    project.run("-q")

    assert "flaky" in "\n".join(project.run("-q", env={"GOOD": "1"}).section)


@pytest.mark.parametrize("args", [(), ("-k", "spread")], ids=["red", "green"])
def test_memory_that_is_off_keeps_nothing(project: Project, args: tuple[str, ...]) -> None:
    run = project.run("-q", "--bayesloc-memory=off", *args)

    assert "bug" not in "\n".join(run.section)
    assert not (project.root / ".bayesloc").exists()


def test_memory_lies_where_it_is_told_to(project: Project, tmp_path: Path) -> None:
    kept = tmp_path / "elsewhere" / "bugs.sqlite"

    project.run("-q", f"--bayesloc-memory={kept}")

    assert kept.is_file()
    assert not (project.root / STORE).exists()


def test_day_on_which_nearly_all_fails_teaches_nothing(projects: Projects) -> None:
    tests = "\n\n".join(f"def test_{n}():\n    assert not BROKEN" for n in range(6))
    project = projects.make({"test_all.py": f"BROKEN = True\n\n\n{tests}\n"})

    assert "nothing is learned" in section(project, "--bug-advice")
    assert count(project, "SELECT count(*) FROM bug") == 0


def test_note_is_kept_with_the_open_bug(project: Project) -> None:
    told = section(project, "--bug-note=cubics want eight")

    assert re.search(r"note kept with bug [0-9a-f]{12}: cubics want eight", told)
    assert "note: cubics want eight" in project.run("--bug-advice-last").stdout
    assert "note: cubics want eight" in section(project, "--bug-advice")


def test_note_of_a_green_run_is_told_with_every_failure(project: Project) -> None:
    told = section(project, "--bug-note=knots come from the office", "-k", "spread")
    assert "note kept for every failure" in told

    said = "observation: knots come from the office"
    assert said in section(project, "--bug-advice")
    assert said not in section(project, "--bug-advice", "--bayesloc-without=world-model")


def test_forgotten_bug_is_not_taken_in_again(project: Project) -> None:
    bug = project.localize().document["memory"]["records"][0]["id"]

    assert "is forgotten" in project.run(f"--bug-memory=forget:{bug}").stdout
    assert project.localize().document["memory"]["records"] == []


def test_unknown_bug_is_named_and_nothing_is_changed(project: Project) -> None:
    project.run("-q")

    run = project.run("--bug-memory=forget:nope")

    assert run.ret == 4
    assert "'nope'" in run.stderr
    assert count(project, "SELECT count(*) FROM bug") == 1


def test_merged_bugs_are_one(project: Project) -> None:
    edit(project, "knots.py", "[0] * n", "[1] * n")
    ids = [record["id"] for record in project.localize().document["memory"]["records"]]

    project.run(f"--bug-memory=merge:{ids[0]},{ids[1]}")
    records = project.localize().document["memory"]["records"]

    assert {record["id"] for record in records} == {ids[0]}


def test_statistics_count_what_was_mended(project: Project) -> None:
    project.run("-q")
    edit(project, "test_curve.py", "[0, 0, 0, 1, 1, 1]", "[0, 0, 0, 0, 1, 1, 1, 1]")
    project.run("-q")

    lines = project.run("--bug-memory=stats").stdout.splitlines()
    stats = json.loads(project.run("--bug-memory=stats-json").stdout)

    assert next(line.split()[:4] for line in lines if line.startswith("all")) == [
        *("all", "1", "too", "early"),
    ]
    assert stats["rows"][-1]["fixed"] == pytest.approx(
        {"value": 1.0, "low": 0.207, "high": 1.0, "n": 1}, abs=1e-3
    )


@pytest.mark.parametrize("arm", ["on", "off"])
def test_experiment_shows_advice_in_one_arm_only(project: Project, arm: str) -> None:
    today = datetime.now(timezone.utc)
    workspace = next(str(i) for i in range(99) if arm_of(str(i), today) == arm)
    (project.root / ".bayesloc").mkdir()
    (project.root / ".bayesloc" / "workspace").write_text(workspace)

    run = project.localize("--bug-advice", env={"BAYESLOC_EXPERIMENT": "ab"})

    assert ("advice on fault 1" in run.stdout) == (arm == "on")
    memory = run.document["memory"]
    assert bool(memory["advice"]) == any(memory["world_model"].values()) == (arm == "on")
    assert len(memory["records"]) == 1
    assert count(project, f"SELECT count(*) FROM run WHERE arm = '{arm}'") == 1


@pytest.mark.thorough
def test_workers_of_xdist_begin_one_record(project: Project) -> None:
    pytest.importorskip("xdist", reason="pip install pytest-xdist")

    project.run("-q", "-n2", lean=False)

    assert count(project, "SELECT count(*) FROM bug") == 1


@pytest.mark.parametrize("how", ["damaged", "newer", "folder"])
def test_memory_that_cannot_be_used_costs_one_line(project: Project, how: str) -> None:
    store = project.root / STORE
    project.run("-q")
    if how == "damaged":
        store.write_bytes(b"This is no database at all. " * 200)
    elif how == "newer":
        with closing(sqlite3.connect(store)) as db, db:
            db.execute("UPDATE meta SET value = '99'")
    else:
        store.unlink()
        store.mkdir()

    run = project.run("-q", "--tb=no")

    slug = {"damaged": "damaged-file", "newer": "memory-newer", "folder": "damaged-file"}[how]
    assert run.ret == 1
    assert run.stdout.count(f"({slug})") == 1
    assert "test_cubic (test_curve.py:9)" in run.stdout
    assert "own-fault" not in run.output
    if how != "newer":
        assert list(store.parent.glob("memory.sqlite.damaged-*"))
        assert count(project, "SELECT count(*) FROM bug") == 1


@pytest.mark.thorough
def test_disk_that_is_full_costs_one_line_and_no_record(project: Project) -> None:
    project.run("-q")
    full = "resource.setrlimit(resource.RLIMIT_FSIZE, (16_384, 16_384))"
    code = f"import resource, sys, pytest; {full}; sys.exit(pytest.main(sys.argv[1:]))"
    edit(project, "knots.py", "[0] * n", "[1] * n")

    run = project.run("-q", "--tb=no", python=("-c", code))

    assert run.outcomes == {"failed": 2, "passed": 1}
    assert run.stdout.count("(memory-unusable)") == 1
    assert "own-fault" not in run.output
    assert count(project, "SELECT count(*) FROM bug") == 1
    assert "begins" in section(project, "--bug-advice")


def test_green_run_does_not_open_the_memory_when_no_bug_is_open(project: Project) -> None:
    edit(project, "test_curve.py", "[0, 0, 0, 1, 1, 1]", "[0, 0, 0, 0, 1, 1, 1, 1]")
    project.run("-q")
    printed = "'pytest_bayesloc.memory.store' in sys.modules"
    code = f"import sys, pytest; pytest.main(['-q']); print({printed})"

    run = project.run(python=("-c", code))

    assert run.stdout.splitlines()[-1] == "False"


def test_root_cause_is_what_the_tests_need_of_an_edit(project: Project) -> None:
    edit(project, "knots.py", "2 * degree + 2:", "2 * degree + 3:")
    project.run("-q", "--deselect=test_curve.py::test_cubic")
    edit(project, "knots.py", "2 * degree + 3:", "2 * degree + 2:")
    edit(project, "curve.py", "return knots", "return list(knots)")

    mended = section(project, "--bayesloc", "--deselect=test_curve.py::test_cubic")

    assert "is fixed: knots.py check" in mended
    assert "curve.py" not in mended


def test_test_whose_file_was_renamed_is_the_same(project: Project) -> None:
    project.run("-q")
    (project.root / "test_curve.py").rename(project.root / "test_curves.py")
    red = section(project, "--bug-advice")
    edit(project, "test_curves.py", "[0, 0, 0, 1, 1, 1]", "[0, 0, 0, 0, 1, 1, 1, 1]")
    green = section(project)

    assert "begins" not in red
    assert "is fixed: test_curves.py test_cubic" in green
    assert not count(project, "SELECT count(*) FROM bug WHERE state <> 'resolved'")


def git(project: Project, *args: str) -> None:
    name = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run(["git", *name, *args], cwd=project.root, check=True, capture_output=True)


def seen_elsewhere(projects: Projects, files: dict[str, str], memory: str) -> Project:
    """A repository whose one commit was run on a machine that is gone, with its memory."""
    project = projects.make(files)
    git(project, "init", "-q")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "First")
    project.run("-q", memory)
    shutil.rmtree(project.root / ".bayesloc", ignore_errors=True)
    return project


def test_source_file_that_was_moved_is_the_same(project: Project) -> None:
    section(project)
    (project.root / "knots.py").rename(project.root / "nodes.py")
    edit(project, "curve.py", "from knots", "from nodes")
    edit(project, "test_curve.py", "from knots", "from nodes")
    moved = section(project, "--bug-advice")
    edit(project, "nodes.py", "2 * degree + 2:", "2 * degree + 2 and degree:")

    edited = section(project, "--bug-advice")

    assert "begins" not in moved
    assert "trial" not in moved
    assert "trial 1 failed" in edited
    assert "failed before: nodes.py check (+1 -1)" in edited


def test_machine_that_saw_no_run_before_finds_the_edit_in_git(
    projects: Projects, tmp_path: Path
) -> None:
    memory = f"--bayesloc-memory={tmp_path / 'shared.sqlite'}"
    project = seen_elsewhere(projects, FILES, memory)
    edit(project, "test_curve.py", "[0, 0, 0, 1, 1, 1]", "[0, 0, 0, 0, 1, 1, 1, 1]")
    git(project, "commit", "-qam", "Give cubics eight knots")

    assert "is fixed: test_curve.py test_cubic" in section(project, memory)


def test_machine_that_saw_no_run_before_knows_flaky_from_mended(
    projects: Projects, tmp_path: Path
) -> None:
    memory = f"--bayesloc-memory={tmp_path / 'shared.sqlite'}"
    project = seen_elsewhere(projects, FLAKY, memory)

    assert "flaky" in "\n".join(project.run("-q", memory, env={"GOOD": "1"}).section)


@pytest.mark.thorough
def test_patches_that_failed_are_not_tried_again_on_the_same_code(project: Project) -> None:
    edit(project, "knots.py", "[0] * n", "[0] * n + [n]")
    before = project.localize(*INSPECTED)
    project.run("-q")  # inspects nothing, and forgets nothing

    again = project.localize(*INSPECTED)

    words = "that failed on this very code"
    assert words not in before.stdout
    assert words in again.stdout
    assert again.document["ranking"] == before.document["ranking"]
    assert [step["trials"] for step in again.inspections] == [
        step["trials"] for step in before.inspections
    ]
    edit(project, "knots.py", "[0] * n + [n]", "[0] * n + [n, n]")
    assert words not in project.localize(*INSPECTED).stdout


FIXES = {
    "definition renamed": (
        {"shop.py": "def totl():\n    return 3\n", "test_shop.py": USES_SHOP},
        ("shop.py", "def totl", "def total"),
    ),
    "another fixture": (
        {
            "test_shop.py": """
                import pytest


                @pytest.fixture
                def empty():
                    return []


                @pytest.fixture
                def full():
                    return [1]


                def test_full(empty):
                    assert empty
                """
        },
        (
            "test_shop.py",
            "def test_full(empty):\n    assert empty",
            "def test_full(full):\n    assert full",
        ),
    ),
}


@pytest.mark.parametrize(("files", "fix"), FIXES.values(), ids=FIXES)
def test_renaming_that_mends_is_a_fix(
    projects: Projects, files: dict[str, str], fix: tuple[str, str, str]
) -> None:
    project = projects.make(files)
    section(project)
    edit(project, *fix)

    mended = section(project)

    assert "is fixed" in mended
    assert "flaky" not in mended


@pytest.mark.parametrize("how", ["made", "removed"])
def test_file_that_was_made_or_removed_is_a_fix(projects: Projects, how: str) -> None:
    imported = "try:\n    from rates import RATE\nexcept ImportError:\n    RATE = 2\n"
    test = f"{imported}\n\ndef test_rate():\n    assert RATE == {2 if how == 'removed' else 3}\n"
    project = projects.make({"test_rate.py": test})
    if how == "removed":
        project.write({"rates.py": "RATE = 3\n"})
    section(project)
    if how == "removed":
        (project.root / "rates.py").unlink()
    else:
        project.write({"rates.py": "RATE = 3\n"})

    mended = section(project)

    assert "is fixed: rates.py <module>" in mended


def test_edits_of_a_file_that_does_not_parse_are_trials(project: Project) -> None:
    edit(project, "knots.py", "def check(knots, degree):", "def check(knots, degree:")
    section(project)
    edit(project, "knots.py", "if len(knots) <", "if len(knots) < 1 +")
    first = section(project, "--bug-advice")
    edit(project, "knots.py", "< 1 +", "< 2 +")

    second = section(project, "--bug-advice")

    assert "trial 1 failed" in first
    assert "step back: the same error over 3 states of the code" in second


def test_guard_of_a_library_is_offered_to_its_caller(project: Project) -> None:
    edit(project, "curve.py", "return knots", "return quantiles(knots, n=degree - 1)")
    edit(project, "curve.py", "from knots", "from statistics import quantiles\n\nfrom knots")

    told = section(project, "--bug-advice")

    assert "quantiles needs n >= 1: check it first at curve.py:8 in curve" in told


@pytest.mark.thorough
def test_patch_is_tried_again_if_any_file_of_the_project_was_edited(projects: Projects) -> None:
    project = projects.make(REACHED_BY_MUTANTS)
    project.localize("--bayesloc")
    edit(project, "helpers.py", "return 0", "return n")

    again = project.localize("--bayesloc")

    assert "not tried again" not in again.stdout
    assert again.names()[0] == "shop.py price"


def test_statistics_of_no_memory_are_an_empty_document(project: Project) -> None:
    for memory in ("on", "off"):
        run = project.run("--bug-memory=stats-json", f"--bayesloc-memory={memory}")

        assert (run.ret, json.loads(run.stdout)) == (0, {"schema": "bayesloc-stats/1", "rows": []})
        assert "memory" in run.stderr
