"""A memory that a team shares: connections that are cut, and older programs."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from uuid import uuid4

import pytest

from pytest_bayesloc.memory.schema import LEAST, VERSION
from pytest_bayesloc.memory.store import BugStore
from tests.e2e import places
from tests.e2e.places import UnderWay, answer_of
from tests.e2e.proxy import Proxy, running_proxy
from tests.integration import test_memory_runs as runs

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.integration.conftest import Project, Projects

pytest.importorskip("psycopg", reason="pip install 'psycopg[binary]'")


@pytest.fixture
def project(projects: Projects) -> Project:
    """A project with a name of its own, so that it has a memory of its own."""
    name = f'[project]\nname = "p{uuid4().hex[:8]}"\n[tool.pytest.ini_options]\n'
    return projects.make({**runs.FILES, "pyproject.toml": name})


@pytest.fixture
def store(postgresql: str) -> Iterator[BugStore]:
    with closing(BugStore(postgresql, pytest.fail)) as made:
        with made.transaction():
            """Its tables are there."""
        yield made


@pytest.fixture
def proxy(postgresql: str) -> Iterator[Proxy]:
    with running_proxy(urlsplit(postgresql).port or 0) as made:
        yield made


def red(project: Project, memory: str) -> str:
    """What a run of two failing tests prints."""
    run = project.run("-q", "--tb=no", f"--bayesloc-memory={memory}")
    assert run.ret == 1
    assert "Traceback" not in run.output
    return run.stdout


def count(store: BugStore, table: str, project: Project) -> int:
    """Rows of a project."""
    name = project.read("pyproject.toml").split('"')[1]
    joined = "sighting JOIN bug ON bug.seq = sighting.bug" if table == "sighting" else table
    with store.transaction(write=False) as connection:
        asked = f"SELECT count(*) FROM {joined} WHERE project = ?"
        return int(connection.value(asked, name))


@pytest.mark.parametrize(
    ("before", "behind"),
    [(b"INSERT INTO bug", b""), (b"INSERT INTO sighting", b""), (b"", b"COMMIT")],
)
def test_run_whose_connection_is_cut_is_sent_by_the_next_and_counted_once(
    store: BugStore, proxy: Proxy, postgresql: str, project: Project, before: bytes, behind: bytes
) -> None:
    through = postgresql.replace(f":{urlsplit(postgresql).port}/", f":{proxy.port}/")
    proxy.cut_before, proxy.cut_behind = before, behind
    said = red(project, through)
    assert proxy.n_cuts
    assert "(memory-unusable)" in said
    assert "is kept in .bayesloc/outbox-" in said

    proxy.cut_before = proxy.cut_behind = b""
    red(project, through)

    assert [count(store, table, project) for table in ("run", "bug", "sighting")] == [2, 1, 2]
    red(project, through)
    assert [count(store, table, project) for table in ("run", "bug", "sighting")] == [3, 1, 3]


def test_connection_that_is_cut_once_is_made_again(
    store: BugStore, proxy: Proxy, postgresql: str, project: Project
) -> None:
    proxy.cut_before, proxy.at_most = b"INSERT INTO bug", 1
    port = urlsplit(postgresql).port

    assert "(memory-" not in red(project, postgresql.replace(f":{port}/", f":{proxy.port}/"))
    assert proxy.n_cuts == 1
    assert [count(store, table, project) for table in ("run", "bug")] == [1, 1]


def test_answer_is_the_same_where_the_memory_is_cut(
    proxy: Proxy, postgresql: str, tmp_path: Path
) -> None:
    project = places.demo(tmp_path / "project")
    _, local = UnderWay(project, "--bayesloc").result()
    proxy.cut_before = b"INSERT INTO bug"
    through = postgresql.replace(f":{urlsplit(postgresql).port}/", f":{proxy.port}/")
    output, document = UnderWay(project, "--bayesloc", f"--bayesloc-memory={through}").result()

    assert proxy.n_cuts, output
    assert "(memory-offline)" in output
    assert answer_of(document) == answer_of(local)


@pytest.mark.parametrize(("least", "may_go_on"), [(LEAST, True), (VERSION + 1, False)])
def test_older_program_goes_on_where_newer_tables_allow_it(
    store: BugStore, postgresql: str, project: Project, least: int, may_go_on: bool
) -> None:
    def tell(version: int, needed: int) -> None:
        with store.transaction() as connection:
            for name, value in (("version", version), ("least", needed)):
                connection.change("UPDATE meta SET value = ? WHERE name = ?", str(value), name)

    tell(VERSION + 1, least)
    try:
        said = red(project, postgresql)
    finally:
        tell(VERSION, LEAST)

    assert ("(memory-newer)" in said) is not may_go_on
    assert count(store, "run", project) == int(may_go_on)
    red(project, postgresql)
    assert count(store, "run", project) == 2
