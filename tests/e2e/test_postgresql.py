"""The memory in a real PostgreSQL: what holds for SQLite holds there."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing, suppress
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from pytest_bayesloc.memory.ledger import Ledger
from pytest_bayesloc.memory.schema import VERSION
from pytest_bayesloc.memory.store import BugStore
from tests.integration import test_memory_runs as memory_runs
from tests.integration.memory.conftest import Story
from tests.integration.memory.test_bug_counts import (
    test_bug_is_counted_from_its_first_run_to_its_last,  # noqa: F401
    test_what_was_learned_is_counted_in_the_month_it_came,  # noqa: F401
)
from tests.integration.memory.test_episodes import *  # noqa: F403 - the same laws, on a server
from tests.integration.memory.test_flaky_tests import (
    Runs,
    test_cause_has_its_place_as_that_is_now,  # noqa: F401
    test_known_flaky_test_is_counted_anew_on_changed_code,  # noqa: F401
    test_test_that_passed_and_failed_on_the_same_code_has_a_rate_with_an_interval,  # noqa: F401
    test_test_that_passes_long_enough_on_changed_code_is_no_longer_flaky,  # noqa: F401
)
from tests.integration.memory.test_lookup import (
    test_candidates_are_the_older_failures_that_share_the_rarest_words,  # noqa: F401
)
from tests.integration.test_flaky_runs import FLAKY, GREEN, ONLY, RED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.integration.conftest import Projects

N_WRITERS, N_EACH = 8, 40
WRITER = """
import sys
from contextlib import closing, suppress
from benchmarks.memory.load import write
write(sys.argv[1], int(sys.argv[2]))
"""


class Undone(Exception):  # noqa: N818 - no error
    """Ends a transaction of which nothing is to stay."""


@pytest.fixture
def store(postgresql: str) -> Iterator[BugStore]:
    with closing(BugStore(postgresql, pytest.fail)) as made:
        yield made


@pytest.fixture
def story(store: BugStore) -> Iterator[Story]:
    """A project of its own, whose runs are forgotten afterwards."""
    with suppress(Undone), store.transaction() as connection:
        yield Story(Ledger(connection, uuid4().hex))
        raise Undone


@pytest.fixture
def runs(store: BugStore) -> Iterator[Runs]:
    """Runs of a project of its own, likewise."""
    with suppress(Undone), store.transaction() as connection:
        yield Runs(Ledger(connection, uuid4().hex))
        raise Undone


def test_flaky_test_is_known_from_a_server(projects: Projects, postgresql: str) -> None:
    project = projects.make(FLAKY)
    memory = f"--bayesloc-memory={postgresql}"
    for environment in (RED, GREEN, GREEN):
        project.run("-q", memory, env=environment)

    run = project.localize(memory, env=RED)

    (entry,) = run.document["memory"]["flaky"]
    assert run.section[0] == ONLY
    assert (entry["n_failed"], entry["n_outcomes"]) == (2, 4)


def test_tables_of_version_1_are_brought_up_to_date(store: BugStore, postgresql: str) -> None:
    at = "2026-11-22T10:00:00.000000+00:00"
    with store.transaction() as connection:
        connection.change("DROP TABLE outcome")
        connection.change("UPDATE meta SET value = '1' WHERE name = 'version'")
        connection.change(
            "INSERT INTO observation VALUES (?, 'flaky', 't.py::test_a', 2, ?, ?)", "old", at, at
        )

    with closing(BugStore(postgresql, pytest.fail)) as newer, newer.transaction() as connection:
        asked = "SELECT node_id, n_failed, n_again, first_at FROM outcome WHERE project = 'old'"
        found = connection.rows(asked)
        version = connection.value("SELECT value FROM meta WHERE name = 'version'")

    assert found == [("t.py::test_a", 2, 2, at)]
    assert version == str(VERSION)


def test_episode_is_told_from_a_server(projects: Projects, postgresql: str) -> None:
    project = projects.make(memory_runs.FILES)
    memory = f"--bayesloc-memory={postgresql}"
    memory_runs.section(project, memory)
    memory_runs.edit(project, "test_curve.py", "[0, 0, 0, 1, 1, 1]", "[0, 0, 0, 0, 1, 1, 1, 1]")
    mended = memory_runs.section(project, memory)
    memory_runs.edit(project, "test_curve.py", "curve([0, 0, 1, 1], 1)", "curve([0, 1, 1], 1)")

    assert "is fixed: test_curve.py test_cubic" in mended
    assert "score 1.00: the same failure" in memory_runs.section(project, memory, "--bug-advice")
    assert not (project.root / ".bayesloc" / "memory.sqlite").exists()


def test_nothing_is_lost_where_many_write_at_once(store: BugStore, postgresql: str) -> None:
    asked = "SELECT count(*) FROM bug"
    with store.transaction(write=False) as connection:
        before = connection.value(asked)
    command = [sys.executable, "-c", WRITER, postgresql, str(N_EACH)]
    writers = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(N_WRITERS)]

    codes = [writer.wait(timeout=120) for writer in writers]

    with store.transaction(write=False) as connection:
        after = connection.value(asked)
    assert codes == [0] * N_WRITERS
    assert after - before == N_WRITERS * N_EACH


def test_server_that_does_not_answer_costs_one_line(projects: Projects) -> None:
    project = projects.make(memory_runs.FILES)

    run = project.run("-q", "--tb=no", "--bayesloc-memory=postgresql://ann:s3cret@127.0.0.1:9/x")

    assert run.ret == 1
    assert run.stdout.count("(memory-unusable)") == 1
    assert "s3cret" not in run.output
    assert "test_cubic (test_curve.py:9)" in run.stdout
