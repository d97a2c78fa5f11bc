"""A memory as lines of JSON, and such lines taken into another memory.

The first line names the format. Each other one holds a run, a bug with all that hangs on it, or
something that is known beyond bugs. Nothing is taken in twice: what is there already, by the ids
of bugs and runs, is passed over.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, insert, select, update

from pytest_bayesloc.domain.bug import State, TestFailure
from pytest_bayesloc.domain.errors import StoreError
from pytest_bayesloc.memory.ledger import Ledger
from pytest_bayesloc.memory.rows import chunks, key_of
from pytest_bayesloc.memory.schema import (
    ADVICE,
    BUG,
    FAILURE,
    HABIT,
    JUDGED,
    NOTE,
    OBSERVATION,
    RULE,
    RUN,
    SIGHTING,
    TEST,
    TOOL_USE,
    TRIAL,
)
from pytest_bayesloc.memory.store import dumps, safe

if TYPE_CHECKING:
    from sqlalchemy import Column, Connection, Table

    Row = dict[str, Any]

FORMAT = "bayesloc-memory/1"
#: What hangs on a bug, and by what a row of it is known.
CHILDREN: Mapping[Table, tuple[str, ...]] = {
    FAILURE: ("fingerprint",),
    TEST: ("node_id",),
    TRIAL: ("run",),
    SIGHTING: ("run",),
    NOTE: ("text", "made_at"),
    ADVICE: ("run",),
    JUDGED: ("guide", "use", "location"),
    TOOL_USE: ("tool",),
}
OWN_NUMBERS = frozenset({"seq", "bug"})
LISTS = frozenset({"tags", "suspects", "executed", "functions", "edited", "suggested", "loops"})
AT_ONCE = 200  # bugs that are read at once


# -- out


def export(connection: Connection, project: str | None = None) -> Iterator[str]:
    """The lines of a memory.

    Args:
        connection: Of the store, in a transaction.
        project: Whose; None for all.
    """
    yield json.dumps({"format": FORMAT})
    own = (lambda table: table.c.project == project) if project is not None else _all
    runs = select(RUN).where(own(RUN)).order_by(RUN.c.made_at, RUN.c.id)
    for row in connection.execute(runs).mappings():
        yield _line("run", dict(row))
    numbers = connection.execute(select(BUG.c.seq).where(own(BUG)).order_by(BUG.c.seq))
    all_numbers = list(numbers.scalars())
    for start in range(0, len(all_numbers), AT_ONCE):
        yield from _bugs(connection, all_numbers[start : start + AT_ONCE])
    for table in (OBSERVATION, RULE, HABIT):
        for row in connection.execute(select(table).where(own(table))).mappings():
            yield _line(table.name, dict(row))
    loose = select(NOTE).where(own(NOTE), NOTE.c.bug.is_(None)).order_by(NOTE.c.seq)
    for row in connection.execute(loose).mappings():
        yield _line("note", _without_numbers(row))


def _all(table: Table) -> Any:  # noqa: ANN401 - a condition
    return table.c.project.is_not(None)


def _bugs(connection: Connection, numbers: list[int]) -> Iterator[str]:
    rows = connection.execute(select(BUG).where(BUG.c.seq.in_(numbers))).mappings().all()
    children: dict[int, dict[str, list[Row]]] = {number: {} for number in numbers}
    for table in CHILDREN:
        asked = select(table).where(table.c.bug.in_(numbers)).order_by(*table.primary_key)
        found = connection.execute(asked).mappings().all()
        for bug, own in groupby(sorted(found, key=lambda row: row["bug"]), lambda row: row["bug"]):
            children[bug][table.name] = [_without_numbers(row) for row in own]
    for row in sorted(rows, key=lambda row: row["seq"]):
        yield _line("bug", _without_numbers(row) | {"children": children[row["seq"]]})


def _without_numbers(row: Any) -> Row:  # noqa: ANN401 - a row of SQLAlchemy's
    return {name: value for name, value in row.items() if name not in OWN_NUMBERS}


def _line(kind: str, row: Row) -> str:
    return json.dumps({kind: _safe(row)}, ensure_ascii=True, separators=(",", ":"))


def _safe(row: Row) -> Row:
    """``row`` without secrets, also such as were written before their shape was known."""
    return {
        name: {table: [_safe(child) for child in rows] for table, rows in value.items()}
        if name == "children"
        else dumps(json.loads(value))
        if name in LISTS
        else safe(value)
        if isinstance(value, str)
        else value
        for name, value in row.items()
    }


# -- in


class Intake:
    """Takes lines into a store.

    Args:
        connection: Of the store, in a transaction that writes.

    Attributes:
        counts: Per kind of line, how many were new.
    """

    def __init__(self, connection: Connection) -> None:
        self._db = connection
        self.counts: Counter[str] = Counter()

    def take(self, lines: Iterable[str]) -> None:
        """Take all of ``lines`` in.

        Raises:
            StoreError: If one of them is nothing that ``export`` made; its number is named.
        """
        number = 0
        try:
            for number, line in enumerate(lines, 1):
                self._take(number, json.loads(line))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise StoreError(
                f"Line {number} is none of a memory ({type(error).__name__}: {error}): nothing "
                "was taken in. Give a file that --bug-memory=export:FILE wrote.",
                slug="memory-import",
            ) from error
        if not number:
            raise StoreError(
                "The file is empty: nothing was taken in. Give one that "
                "--bug-memory=export:FILE wrote.",
                slug="memory-import",
            )

    def _take(self, number: int, told: Row) -> None:
        if number == 1:
            if told["format"] != FORMAT:
                raise ValueError(f"the format is {told['format']!r}, expected {FORMAT!r}")
            return
        ((kind, row),) = told.items()
        take = {
            "run": self._run,
            "bug": self._bug,
            "note": self._note,
            "observation": self._observation,
            "rule": self._rule,
            "habit": self._habit,
        }[kind]
        self.counts[kind] += take(_safe(row))

    def _run(self, row: Row) -> bool:
        if self._is_there(RUN, {"id": row["id"]}):
            return False
        number = Ledger(self._db, row["project"]).next_number()
        self._insert(RUN, [row | {"number": number}])
        return True

    def _bug(self, row: Row) -> bool:
        children = row.pop("children")
        found = self._same(row, children.get("failure", []))
        if found is None:
            made = self._db.execute(insert(BUG).values(**_values(BUG, row))).inserted_primary_key
            found = key_of(made)
            is_new = True
        else:
            self._bring_up_to_date(found, row)
            is_new = False
        for table, key in CHILDREN.items():
            self._add_children(table, key, found, children.get(table.name, []))
        return is_new

    def _same(self, row: Row, failures: list[Row]) -> int | None:
        """The record of this bug: by its id, or an open one that fails in the same way."""
        found = self._db.execute(select(BUG.c.seq).where(BUG.c.id == row["id"])).scalar()
        if found is not None or row["state"] != State.OPEN.value:
            return found
        fingerprints = [failure["fingerprint"] for failure in failures]
        for chunk in chunks(fingerprints):
            asked = (
                select(BUG.c.seq)
                .join_from(BUG, FAILURE, FAILURE.c.bug == BUG.c.seq)
                .where(BUG.c.project == row["project"], BUG.c.state == State.OPEN.value)
                .where(FAILURE.c.fingerprint.in_(chunk))
                .order_by(BUG.c.seq)
                .limit(1)
            )
            found = self._db.execute(asked).scalar()
            if found is not None:
                return int(found)
        return None

    def _bring_up_to_date(self, bug: int, row: Row) -> None:
        """What was learned of a bug that is known: that it was seen later, that it has ended."""
        here = self._db.execute(select(BUG).where(BUG.c.seq == bug)).mappings().one()
        values = {}
        if row["seen_at"] > here["seen_at"]:
            values = {name: row[name] for name in ("seen_at", "executed")}
        if here["state"] == State.OPEN.value != row["state"]:
            values |= {name: row[name] for name in ("state", "root_cause", "completed_at")}
        if values:
            self._db.execute(update(BUG).where(BUG.c.seq == bug).values(**values))

    def _add_children(self, table: Table, key: tuple[str, ...], bug: int, rows: list[Row]) -> None:
        columns = [table.c[name] for name in key]
        asked = select(*columns).where(table.c.bug == bug)
        known = {tuple(found) for found in self._db.execute(asked)}
        new = [row for row in rows if tuple(row[name] for name in key) not in known]
        if table is TRIAL:
            newest = select(func.max(TRIAL.c.number)).where(TRIAL.c.bug == bug)
            start = int(self._db.execute(newest).scalar() or 0)
            new = [row | {"number": n} for n, row in enumerate(new, start + 1)]
        if table is FAILURE:
            self._add_failures(bug, new)
        else:
            self._insert(table, [row | {"bug": bug} for row in new])

    def _add_failures(self, bug: int, rows: list[Row]) -> None:
        of_bug = select(BUG.c.project, BUG.c.tags).where(BUG.c.seq == bug)
        project, tags = self._db.execute(of_bug).one()
        for row in rows:
            values = _values(FAILURE, row | {"bug": bug})
            fingerprint, signature = values["fingerprint"], values["signature"]
            failure = TestFailure(node_id="", fingerprint=fingerprint, signature=signature)
            Ledger(self._db, project).add_failure(bug, failure, json.loads(tags))

    def _note(self, row: Row) -> bool:
        key = {name: row[name] for name in ("project", "text", "made_at")}
        return self._add_once(NOTE, key, row | {"bug": None})

    def _rule(self, row: Row) -> bool:
        key = {name: row[name] for name in ("project", "fingerprint")}
        return self._add_once(RULE, key, row)

    def _habit(self, row: Row) -> bool:
        key = {name: row[name] for name in ("project", "pattern", "bug")}
        return self._add_once(HABIT, key, row)

    def _observation(self, row: Row) -> bool:
        """Counts of one origin are the same count, seen at two times; others add up."""
        key = {name: row[name] for name in ("project", "kind", "text")}
        table = OBSERVATION.c
        where = [table[name] == value for name, value in key.items()]
        here = self._db.execute(select(OBSERVATION).where(*where)).mappings().first()
        if here is None:
            return self._add_once(OBSERVATION, key, row)
        is_same = here["first_at"] == row["first_at"]
        values = {
            "n": max(here["n"], row["n"]) if is_same else here["n"] + row["n"],
            "first_at": min(here["first_at"], row["first_at"]),
            "last_at": max(here["last_at"], row["last_at"]),
        }
        self._db.execute(update(OBSERVATION).where(*where).values(**values))
        return False

    def _add_once(self, table: Table, key: Row, row: Row) -> bool:
        if self._is_there(table, key):
            return False
        self._insert(table, [row])
        return True

    def _is_there(self, table: Table, key: Row) -> bool:
        where = [table.c[name] == value for name, value in key.items()]
        return bool(
            self._db.execute(select(func.count()).select_from(table).where(*where)).scalar()
        )

    def _insert(self, table: Table, rows: list[Row]) -> None:
        if rows:
            self._db.execute(insert(table), [_values(table, row) for row in rows])


def _values(table: Table, row: Row) -> Row:
    """What is written of ``row``: every column but a number that the store gives."""
    return {
        column.name: _value(column, row[column.name])
        for column in table.columns
        if column.name != "seq"
    }


def _value(column: Column[Any], value: Any) -> Any:  # noqa: ANN401 - of any column
    """``value`` if the column takes it.

    Raises:
        TypeError: If it does not.
    """
    wanted: Any = column.type.python_type
    if value is None and column.nullable:
        return None
    if wanted is float and isinstance(value, int):
        value = float(value)
    if not isinstance(value, wanted) or (wanted is int and isinstance(value, bool)):
        raise TypeError(f"{column.name} is {value!r}, expected {wanted.__name__}")
    length = getattr(column.type, "length", None)
    return value[:length] if isinstance(value, str) and length else value
