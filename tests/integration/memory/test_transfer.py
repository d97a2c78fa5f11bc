"""A memory as lines, and such lines taken into another one: all of it, and nothing twice."""

from __future__ import annotations

import json
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.domain.advice import Remembered
from pytest_bayesloc.domain.errors import StoreError
from pytest_bayesloc.memory.advice import Adviser
from pytest_bayesloc.memory.ledger import Ledger
from pytest_bayesloc.memory.sightings import PassingSighting
from pytest_bayesloc.memory.store import BugStore
from pytest_bayesloc.memory.transfer import deliver, export, import_lines
from tests.fakes.memory import fresh_memory
from tests.integration.memory.conftest import START, Story, edit, red, symptom

if TYPE_CHECKING:
    from collections.abc import Iterator


URL = "postgresql://server/bugs"


@pytest.fixture
def other() -> Iterator[Story]:
    """Another memory of the same project."""
    with fresh_memory() as connection:
        yield Story(Ledger(connection, "shop"))


def lines(story: Story) -> list[str]:
    return list(export(story.ledger.db, "shop"))


def take(story: Story, told: list[str]) -> dict[str, int]:
    return dict(import_lines(story.ledger.db, told))


def counted(story: Story) -> list[int]:
    tables = ("bug", "trial", "sighting")
    return [story.ledger.db.value(f"SELECT count(*) FROM {table}") for table in tables]


def tell(story: Story, *, fixed: bool = True) -> Story:
    """A bug with a failed trial; then it is fixed."""
    story.run(red())
    story.run(red(edit=edit(), state="s1"))
    if fixed:
        bug = next(iter(story.ledger.open_bugs()))
        story.run(
            passing={bug: PassingSighting(edit=edit(new="c"), passed=frozenset({"t.py::test_a"}))}
        )
    story.ledger.add_note(None, "mind the knots", START)
    story.ledger.observe("infrastructure", "2026-11-22: 9 of 10 tests failed", START)
    return story


def test_what_was_exported_is_there_after_the_import(story: Story, other: Story) -> None:
    told = lines(tell(story))

    assert take(other, told)["bug"] == 1
    assert lines(other) == told


def test_what_was_imported_advises_as_if_it_had_been_met_there(story: Story, other: Story) -> None:
    take(other, lines(tell(story)))
    adviser = Adviser(other.ledger, "w")

    (like,) = adviser.similar(symptom())
    assert like.score == 1.0
    assert [trial.outcome.value for trial in like.record.trials] == ["failed", "passed"]
    assert adviser.similar(symptom("ValueError: too few!", fingerprint="1:zz"))


def test_nothing_is_taken_in_twice(story: Story, other: Story) -> None:
    told = lines(tell(story))
    take(other, told)
    before = lines(other)

    assert sum(take(other, told).values()) == 0
    assert lines(other) == before


def test_open_bug_that_fails_alike_is_the_same_bug(story: Story, other: Story) -> None:
    tell(story, fixed=False)
    other.run(red())
    told = [line.replace("run1", "their1").replace("run2", "their2") for line in lines(story)]

    assert take(other, told)["bug"] == 0
    assert counted(other) == [1, 1, 3]
    (record,) = other.ledger.open_bugs().values()
    assert [trial.number for trial in record.trials] == [1]


def test_end_of_a_bug_that_is_known_is_taken_in(story: Story, other: Story) -> None:
    tell(story, fixed=False)
    take(other, lines(story))
    bug = next(iter(story.ledger.open_bugs()))
    story.run(
        passing={bug: PassingSighting(edit=edit(new="c"), passed=frozenset({"t.py::test_a"}))}
    )
    take(other, lines(story))

    assert other.ledger.open_bugs() == {}
    assert counted(other) == counted(story)


def test_counts_of_one_origin_are_not_added_up(story: Story, other: Story) -> None:
    story.ledger.observe("infrastructure", "t", START)
    take(other, lines(story))
    story.ledger.observe("infrastructure", "t", START)
    take(other, lines(story))

    assert [json.loads(line)["observation"]["n"] for line in lines(other)[1:]] == [2]


def test_secret_that_was_written_before_its_shape_was_known_is_left_out(story: Story) -> None:
    story.run(red())
    secret = "gh" + "p_" + "a1" * 12
    story.ledger.db.change("UPDATE bug SET error = ?", f"401 for {secret}")

    exported = list(lines(story))

    assert exported
    assert not any(secret in line for line in exported)


@pytest.mark.parametrize(
    ("number", "line", "why"),
    [
        (1, '{"format": "bayesloc-memory/9"}', "the format is 'bayesloc-memory/9'"),
        (2, "no json", "JSONDecodeError"),
        (2, '{"table": {}}', "KeyError: 'table'"),
        (2, '{"run": {"id": 3}}', "Line 2"),
        (2, '{"note": {"project": "shop", "text": "a", "made_at": 5}}', "made_at is 5"),
    ],
)
def test_line_that_is_none_is_named(other: Story, number: int, line: str, why: str) -> None:
    told = [json.dumps({"format": "bayesloc-memory/1"})][: number - 1]

    with pytest.raises(StoreError, match=f"Line {number} is none of a memory.*{why}|{why}"):
        take(other, [*told, line])


def test_empty_file_is_no_memory(other: Story) -> None:
    with pytest.raises(StoreError, match="Line 1 is none of a memory"):
        take(other, [])


class Server:
    """A shared memory in a file, which can be out of reach."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "server.sqlite"
        self.is_down = False

    @contextmanager
    def opened(self, where: Path | str) -> Iterator[BugStore]:
        if where == URL and self.is_down:
            raise StoreError("down", slug="memory-unusable")
        path = self.path if where == URL else Path(where)
        with closing(BugStore(path, pytest.fail)) as store:
            yield store

    def deliver(self, folder: Path, run: str) -> list[str]:
        """Deliver a run that sees one bug; the notes."""
        notes: list[str] = []

        def tell(store: BugStore) -> Remembered:
            with store.transaction() as connection:
                story = Story(Ledger(connection, "shop"))
                story.n_runs = int(run)
                story.run(red())
            return Remembered()

        deliver(URL, folder, self.opened, tell, notes.append)
        return notes

    def n(self, table: str) -> int:
        with self.opened(self.path) as store, store.transaction(write=False) as connection:
            return int(connection.value(f"SELECT count(*) FROM {table}"))


def test_run_that_could_not_be_sent_is_sent_by_the_next_one(tmp_path: Path) -> None:
    server = Server(tmp_path)
    server.deliver(tmp_path, "0")
    server.is_down = True

    first, second = server.deliver(tmp_path, "1")
    assert first == "down (memory-unusable)"
    assert second.startswith(f"What this run showed is kept in {tmp_path.name}/outbox-")
    assert [server.n(table) for table in ("run", "bug", "sighting")] == [1, 1, 1]

    server.is_down = False
    assert server.deliver(tmp_path, "2") == []
    assert [server.n(table) for table in ("run", "bug", "sighting")] == [3, 1, 3]


def test_passing_run_leaves_nothing_for_a_server_that_is_down(tmp_path: Path) -> None:
    server = Server(tmp_path)
    server.is_down = True

    def tell(_: BugStore) -> Remembered:
        pytest.fail("nothing is to be told")

    deliver(URL, tmp_path, server.opened, tell, lambda _: None, is_red=False)

    assert list(tmp_path.iterdir()) == []
