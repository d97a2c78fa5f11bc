"""Export of a memory as lines of JSON, import of such lines, and delivery to a shared memory.

The first line names the format. Each other one holds a run, a bug with all that belongs to it, or
knowledge beyond single bugs. Nothing is imported twice: bugs and runs are known by their ids.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import Any, TypeAlias

from pytest_bayesloc.domain.advice import Remembered
from pytest_bayesloc.domain.bug import BugState
from pytest_bayesloc.domain.errors import StoreError
from pytest_bayesloc.domain.texts import text_digest
from pytest_bayesloc.memory.ledger import Ledger
from pytest_bayesloc.memory.schema import LISTS, Column, listed, safe, tables
from pytest_bayesloc.memory.store import BugStore, Connection, chunks

Row: TypeAlias = dict[str, Any]

FORMAT = "bayesloc-memory/1"
#: The tables whose rows belong to a bug, and the columns that identify a row.
CHILDREN: Mapping[str, tuple[str, ...]] = {
    "failure": ("fingerprint",),
    "test": ("node_id",),
    "trial": ("run",),
    "sighting": ("run",),
    "note": ("text", "made_at"),
    "advice": ("run",),
    "judged": ("guide", "use", "location"),
    "tool_use": ("tool",),
}
#: Knowledge beyond single bugs, and the columns that identify a row.
ONCE: Mapping[str, tuple[str, ...]] = {
    "note": ("project", "text", "made_at"),
    "rule": ("project", "fingerprint"),
    "fix_pattern": ("project", "pattern", "bug"),
}
#: The same of what is counted, with the columns of its counts.
COUNTED: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "observation": (("project", "kind", "text"), ("n",)),
    "outcome": (
        ("project", "node_id", "state", "environment"),
        ("n_failed", "n_passed", "n_again"),
    ),
}
OWN_NUMBERS = frozenset({"seq", "bug"})


def export(connection: Connection, project: str | None = None) -> Iterator[str]:
    """Yield the lines of a memory, of one project or of all."""
    yield json.dumps({"format": FORMAT})

    own, key = ("1 = 1", ()) if project is None else ("project = ?", (project,))
    runs = f"SELECT * FROM run WHERE {own} ORDER BY made_at, id"
    yield from (_line("run", row) for row in connection.records(runs, *key))
    bugs = f"SELECT seq FROM bug WHERE {own} ORDER BY seq"
    for chunk in chunks(connection.column(bugs, *key)):
        found = connection.records("SELECT * FROM bug WHERE seq IN ? ORDER BY seq", chunk)
        children: dict[int, dict[str, list[Row]]] = {number: {} for number in chunk}
        for child in CHILDREN:
            keys = ", ".join(name for name, column in tables()[child].items() if column.is_key)
            asked = f"SELECT * FROM {child} WHERE bug IN ? ORDER BY {keys}"
            for row in connection.records(asked, chunk):
                children[row["bug"]].setdefault(child, []).append(_without_numbers(row))
        for row in found:
            yield _line("bug", _without_numbers(row) | {"children": children[row["seq"]]})
    for table in (*COUNTED, "rule", "fix_pattern"):
        rows = connection.records(f"SELECT * FROM {table} WHERE {own}", *key)
        yield from (_line(table, row) for row in rows)
    loose = f"SELECT * FROM note WHERE {own} AND bug IS NULL ORDER BY seq"
    yield from (_line("note", _without_numbers(row)) for row in connection.records(loose, *key))


def _without_numbers(row: Row) -> Row:
    return {name: value for name, value in row.items() if name not in OWN_NUMBERS}


def _line(kind: str, row: Row) -> str:
    return json.dumps({kind: _safe(row)}, ensure_ascii=True, separators=(",", ":"))


def _safe(row: Row) -> Row:
    """Return ``row`` without secrets, also such as were written before their shape was known."""
    return {
        name: {table: [_safe(child) for child in rows] for table, rows in value.items()}
        if name == "children"
        else listed(json.loads(value))
        if name in LISTS
        else safe(value)
        if isinstance(value, str)
        else value
        for name, value in row.items()
    }


def import_lines(connection: Connection, lines: Iterable[str]) -> Counter[str]:
    """Import ``lines`` as ``export`` yields them, and count per kind how many were new.

    Raises:
        StoreError: If one of them was not made by ``export``; the message has its number.
    """
    counts: Counter[str] = Counter()
    number, told = 1, iter(lines)
    try:
        _check_format(json.loads(next(told, "{}")).get("format"))
        for number, line in enumerate(told, 2):  # noqa: B007 - the message has it
            ((kind, row),) = json.loads(line).items()
            counts[kind] += _add(connection, kind, _safe(row))
    except (
        ValueError, LookupError, TypeError, AttributeError, RecursionError, OverflowError,
    ) as error:  # fmt: skip
        raise StoreError(
            f"Line {number} is none of a memory ({type(error).__name__}: {str(error)[:300]}): "
            "nothing was taken in. Give a file that --bug-memory=export:FILE wrote.",
            slug="memory-import",
        ) from error
    return counts


def _check_format(given: object) -> None:
    if given != FORMAT:
        raise ValueError(f"the format is {given!r}, expected {FORMAT!r}")


def _add(db: Connection, kind: str, row: Row) -> bool:
    """Import a row, and return whether it was new."""
    if kind == "observation" and row["kind"] == "flaky":  # as version 1 exported it
        columns = tables()["outcome"].items()
        empty: Row = {name: 0 if column.type is int else "" for name, column in columns}
        known = {name: row[name] for name in ("project", "first_at", "last_at")}
        counts = {"node_id": row["text"], "n_failed": row["n"], "n_again": row["n"]}
        lists = dict.fromkeys(("executed", "after"), "[]")
        return _add_counts(db, "outcome", empty | lists | known | counts)
    if kind in COUNTED:
        return _add_counts(db, kind, row)
    if kind == "bug":
        return _add_bug(db, row)
    if kind == "run":
        number = Ledger(db, row["project"]).next_number()
        return _add_once(db, "run", ("id",), row | {"number": number})
    return _add_once(db, kind, ONCE[kind], row)


def _add_bug(db: Connection, row: Row) -> bool:
    children = row.pop("children")
    # Known by its id, or an open one that fails in the same way.
    found = db.value("SELECT seq FROM bug WHERE id = ?", row["id"])
    if found is None and row["state"] == BugState.OPEN.value:
        alike = """SELECT bug.seq FROM bug JOIN failure ON failure.bug = bug.seq
            WHERE bug.project = ? AND bug.state = ? AND failure.fingerprint IN ?
            ORDER BY bug.seq LIMIT 1"""
        for chunk in chunks([failure["fingerprint"] for failure in children.get("failure", [])]):
            found = found or db.value(alike, row["project"], row["state"], chunk)
    bug = known = None if found is None else int(found)
    if bug is None:
        bug = db.insert("bug", _values("bug", row))
    else:
        (here,) = db.records("SELECT * FROM bug WHERE seq = ?", bug)
        names = ["seen_at", "executed"] if row["seen_at"] > here["seen_at"] else []
        if here["state"] == BugState.OPEN.value != row["state"]:
            names += ["state", "root_cause", "completed_at"]
        if names:
            values = {name: _value(name, tables()["bug"][name], row[name]) for name in names}
            db.update("bug", values, seq=bug)
    for table in CHILDREN:
        _add_children(db, table, bug, children.get(table, []))
    return known is None


def _add_children(db: Connection, table: str, bug: int, rows: list[Row]) -> None:
    key = CHILDREN[table]
    known = set(db.rows(f"SELECT {', '.join(key)} FROM {table} WHERE bug = ?", bug))
    new = [row for row in rows if tuple(row[name] for name in key) not in known]
    if table == "trial":
        start = int(db.value("SELECT max(number) FROM trial WHERE bug = ?", bug) or 0)
        new = [row | {"number": n} for n, row in enumerate(new, start + 1)]
    made = [_values(table, row | {"bug": bug}) for row in new]
    if table != "failure":
        db.insert_each(table, made)
        return
    ((project, tags),) = db.rows("SELECT project, tags FROM bug WHERE seq = ?", bug)
    for row in made:
        Ledger(db, project).add_failure(**row, tags=json.loads(tags))


def _add_counts(db: Connection, table: str, row: Row) -> bool:
    """Merge counts: those of one origin are one count at two times, others add up."""
    key, counts = COUNTED[table]
    names = {name: row[name] for name in key}
    is_it = " AND ".join(f"{name} = ?" for name in key)
    known = db.records(f"SELECT * FROM {table} WHERE {is_it}", *names.values())
    if not known:
        return _add_once(db, table, key, row)
    (here,) = known
    is_same = here["first_at"] == row["first_at"]
    values = {n: max(here[n], row[n]) if is_same else here[n] + row[n] for n in counts}
    values["first_at"] = min(here["first_at"], row["first_at"])
    values["last_at"] = max(here["last_at"], row["last_at"])
    db.update(table, values, **names)
    return False


def _add_once(db: Connection, table: str, key: tuple[str, ...], row: Row) -> bool:
    is_it = " AND ".join(f"{name} = ?" for name in key)
    asked = f"SELECT count(*) FROM {table} WHERE {is_it}"
    known = db.value(asked, *(row[name] for name in key))
    if not known:
        db.insert(table, _values(table, row | {"bug": None} if table == "note" else row))
    return not known


def _values(table: str, row: Row) -> Row:
    """Return the columns of ``row``, but for the number that the store gives."""
    return {
        name: _value(name, column, row[name])
        for name, column in tables()[table].items()
        if name != "seq"
    }


def _value(name: str, column: Column, value: Any) -> Any:  # noqa: ANN401 - of any column
    """Return ``value`` if the column takes it.

    Raises:
        TypeError: If it does not.
    """
    wanted = column.type
    if value is None and column.is_nullable:
        return None
    if wanted is float and isinstance(value, int):
        value = float(value)
    if not isinstance(value, wanted) or (wanted is int and isinstance(value, bool)):
        raise TypeError(f"{name} is {value!r}, expected {wanted.__name__}")
    return value[: column.length] if isinstance(value, str) else value


# -- a shared memory that can't be reached at once


def deliver(
    url: str,
    folder: Path,
    opened: Callable[[Path | str], AbstractContextManager[BugStore]],
    tell: Callable[[BugStore], Remembered],
    note: Callable[[str], None],
    *,
    is_red: bool = True,
) -> Remembered:
    """Tell a shared memory of a run, or its outbox if it can't be reached.

    Args:
        url: Of the memory.
        folder: For the outbox, in the project.
        opened: Opens a store; one that was lost is not asked again.
        tell: Adds the run to a store, in one transaction, and returns the answer.
        note: Tells the user, once.
        is_red: Whether a test failed; else there may be nothing to keep.

    Raises:
        StoreError: If the outbox can't be written either.
    """
    outbox = outbox_of(folder, url)
    try:
        with opened(url) as store:
            send(outbox, store, note)
            try:
                return tell(store)
            except StoreError:  # a connection that was cut kept nothing: once more over a new one
                store.close()
                return tell(store)
    except StoreError as error:
        if error.slug not in {"memory-unusable", "memory-newer"}:
            raise
        note(str(error))
    if not is_red and not outbox.is_file():
        return Remembered()
    with opened(outbox) as store:
        kept = tell(store)
    note(
        f"What this run showed is kept in {folder.name}/{outbox.name}, and sent by the next red "
        "run that reaches the memory. (memory-offline)"
    )
    return kept


def outbox_of(folder: Path, url: str) -> Path:
    """Return the file that keeps runs until ``url`` can be reached."""
    return folder / f"outbox-{text_digest(url, 8)}.sqlite"


def send(path: Path, to: BugStore, warn: Callable[[str], None]) -> None:
    """Send the content of the outbox ``path``, and delete from it what was sent.

    A kill at any point sends it again: the other side knows runs and bugs by their ids.

    Raises:
        StoreError: If it can't be sent; it waits for the next time then.
    """
    if not path.is_file():
        return
    with closing(BugStore(path, warn)) as waiting:
        with waiting.transaction(write=False) as connection:
            lines = list(export(connection))
        if len(lines) == 1:
            return
        with to.transaction() as connection:
            import_lines(connection, lines)
        with waiting.transaction() as connection:
            for line in lines[1:]:
                ((kind, row),) = json.loads(line).items()
                if kind == "run":
                    connection.change("DELETE FROM run WHERE id = ?", row["id"])
                elif kind == "bug":
                    asked = "SELECT seq FROM bug WHERE id = ? AND seen_at = ?"
                    for bug in connection.column(asked, row["id"], row["seen_at"]):
                        Ledger(connection, row["project"]).delete(bug)
                else:
                    is_it = " AND ".join(f"{name} = ?" for name in row)
                    connection.change(f"DELETE FROM {kind} WHERE {is_it}", *row.values())
