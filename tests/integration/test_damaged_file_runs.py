"""Files in ``.bayesloc/`` that are damaged: one run says so, the next one is as if nothing was."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.integration.conftest import Project, Projects

pytestmark = pytest.mark.one_python


@pytest.fixture(scope="module")
def used(projects: Projects) -> Project:
    """It passed once, and failed then: all is there."""
    project = projects.buggy()
    wrong = project.read("calc.py")
    project.write({"calc.py": wrong.replace("a - b", "a + b + 0")})
    assert project.run("-q").ret == 0
    project.write({"calc.py": wrong})
    assert project.run("-q", "--tb=no").ret == 1
    project.write({".bayesloc/llm/told.txt": "http://x\n", ".bayesloc/fixes/1.patch": "--- a\n"})
    return project


def files(folder: Path) -> list[Path]:
    """Our own, but for reports, which are written anew by each run."""
    found = [path for path in folder.rglob("*") if path.is_file()]
    return [path for path in found if not path.name.startswith((".git", "bayesloc-report"))]


def schema_of_another(path: Path) -> None:
    """Tables with our names, and other columns; what is no database becomes that of another."""
    if path.suffix != ".sqlite":
        path.write_text('{"made_at": 3}', encoding="utf-8")
        return
    with closing(sqlite3.connect(path)) as db, db:
        tables = db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        for (name,) in tables:
            if not name.startswith("sqlite_"):
                db.execute(f'DROP TABLE "{name}"')
        for name in ("meta", "bug", "text", "test", "passed", "footprint"):
            db.execute(f"CREATE TABLE {name} (other TEXT)")


def damage(path: Path, how: str) -> None:
    if how == "cut":
        path.write_bytes(path.read_bytes()[: max(1, path.stat().st_size // 2)])
    elif how == "garbage":
        path.write_bytes(bytes(range(256)) * 40)
    elif how == "schema":
        schema_of_another(path)
    else:
        path.unlink()
        path.mkdir()
        (path / "of-somebody").touch()


@pytest.mark.thorough
@pytest.mark.parametrize("how", ["cut", "garbage", "schema", "folder"])
def test_second_run_after_any_damage_is_as_ever(
    projects: Projects, used: Project, how: str
) -> None:
    project = projects.copy_of(used)
    folder = project.root / ".bayesloc"
    before = files(folder)
    assert {path.suffix for path in before} >= {".sqlite", ".json", ".patch", ""}
    for path in before:
        damage(path, how)

    first, second = (project.run("-q", "--tb=no", "--bug-advice") for _ in range(2))
    wrong = project.read("calc.py")
    project.write({"calc.py": wrong.replace("a - b", "a + b + 0")})
    assert project.run("-q").ret == 0
    project.write({"calc.py": wrong})
    third = project.localize("--bug-advice")

    assert first.ret == second.ret == third.ret == 1
    assert "(damaged-file)" in first.stdout
    assert "set aside as green.sqlite.damaged-" in first.stdout
    for run in (first, second, third):
        assert "(own-fault)" not in run.output
        assert "Traceback" not in run.output
    assert "damaged" not in second.stdout + third.stdout
    assert "advice on fault 1" in second.stdout
    why = [entry["outcome"] for entry in third.row("add")["evidence"]]
    assert "CHANGED_SINCE_GREEN" in why
    assert all((folder / name).is_file() for name in ("workspace", "last-run.json"))
    if how == "folder":
        assert len([*folder.rglob("of-somebody")]) == len(before)


@pytest.mark.parametrize("is_file", [True, False])
def test_folder_that_is_a_file_is_told_once(projects: Projects, is_file: bool) -> None:
    project = projects.buggy({".bayesloc": "mine\n"})
    if not is_file:
        (project.root / ".bayesloc").unlink()

    run = project.run("-q", "--tb=no", "--bayesloc", "--bayesloc-inspections=0")

    problems = [line for line in run.section if line.endswith("-memory)") or "-unusable" in line]
    assert problems == []
    assert run.stdout.count("(no-folder)") == is_file
    assert not is_file or project.read(".bayesloc") == "mine\n"
