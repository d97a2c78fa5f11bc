"""Export of a memory as lines of JSON, import of such lines, and delivery to a shared memory.

The first line names the format. Each other one holds a run, a bug with all that belongs to it, or
knowledge beyond single bugs. Nothing is imported twice: bugs and runs are known by their ids.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import Any, TypeAlias

from sqlalchemy import Column, Connection, Table, delete, func, insert, select, true, update

from pytest_bayesloc.domain.advice import Remembered
from pytest_bayesloc.domain.bug import BugState
from pytest_bayesloc.domain.errors import StoreError
from pytest_bayesloc.domain.texts import text_digest
from pytest_bayesloc.memory.ledger import Ledger, key_of
from pytest_bayesloc.memory.schema import (
    ADVICE,
    BUG,
    FAILURE,
    FIX_PATTERN,
    JUDGED,
    LISTS,
    NOTE,
    OBSERVATION,
    RULE,
    RUN,
    SIGHTING,
    TEST,
    TOOL_USE,
    TRIAL,
)
from pytest_bayesloc.memory.store import BugStore, chunks, dumps, safe

Row: TypeAlias = dict[str, Any]

FORMAT = "bayesloc-memory/1"
#: The tables whose rows belong to a bug, and the columns that identify a row.
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
#: Knowledge beyond single bugs, and the columns that identify a row.
ONCE: Mapping[str, tuple[Table, tuple[str, ...]]] = {
    "note": (NOTE, ("project", "text", "made_at")),
    "rule": (RULE, ("project", "fingerprint")),
    "fix_pattern": (FIX_PATTERN, ("project", "pattern", "bug")),
}
OWN_NUMBERS = frozenset({"seq", "bug"})


def export(connection: Connection, project: str | None = None) -> Iterator[str]:
    """Yield the lines of a memory, of one project or of all."""
    yield json.dumps({"format": FORMAT})

    def own(table: Table) -> Any:  # noqa: ANN401 - a condition
        return true() if project is None else table.c.project == project

    runs = select(RUN).where(own(RUN)).order_by(RUN.c.made_at, RUN.c.id)
    yield from (_line("run", dict(row)) for row in connection.execute(runs).mappings())
    bugs = select(BUG.c.seq).where(own(BUG)).order_by(BUG.c.seq)
    numbers = list(connection.execute(bugs).scalars())
    for chunk in chunks(numbers):
        yield from _bugs(connection, chunk)
    for table in (OBSERVATION, RULE, FIX_PATTERN):
        for row in connection.execute(select(table).where(own(table))).mappings():
            yield _line(table.name, dict(row))
    loose = select(NOTE).where(own(NOTE), NOTE.c.bug.is_(None)).order_by(NOTE.c.seq)
    notes = connection.execute(loose).mappings()
    yield from (_line("note", _without_numbers(row)) for row in notes)


def _bugs(connection: Connection, numbers: Sequence[int]) -> Iterator[str]:
    rows = connection.execute(select(BUG).where(BUG.c.seq.in_(numbers))).mappings().all()
    children: dict[int, dict[str, list[Row]]] = {number: {} for number in numbers}
    for table in CHILDREN:
        asked = select(table).where(table.c.bug.in_(numbers)).order_by(*table.primary_key)
        for row in connection.execute(asked).mappings():
            children[row["bug"]].setdefault(table.name, []).append(_without_numbers(row))
    for row in sorted(rows, key=lambda row: row["seq"]):
        yield _line("bug", _without_numbers(row) | {"children": children[row["seq"]]})


def _without_numbers(row: Any) -> Row:  # noqa: ANN401 - a row of SQLAlchemy's
    return {name: value for name, value in row.items() if name not in OWN_NUMBERS}


def _line(kind: str, row: Row) -> str:
    return json.dumps({kind: _safe(row)}, ensure_ascii=True, separators=(",", ":"))


def _safe(row: Row) -> Row:
    """Return ``row`` without secrets, also such as were written before their shape was known."""
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
    add = {"run": _run, "bug": _bug, "observation": _observation}.get(kind)
    return _add_once(db, *ONCE[kind], row) if add is None else add(db, row)


def _run(db: Connection, row: Row) -> bool:
    number = Ledger(db, row["project"]).next_number()
    return _add_once(db, RUN, ("id",), row | {"number": number})


def _bug(db: Connection, row: Row) -> bool:
    children = row.pop("children")
    bug = known = _same(db, row, children.get("failure", []))
    if bug is None:
        bug = key_of(db.execute(insert(BUG).values(**_values(BUG, row))).inserted_primary_key)
    else:
        _bring_up_to_date(db, bug, row)
    for table in CHILDREN:
        _add_children(db, table, bug, children.get(table.name, []))
    return known is None


def _same(db: Connection, row: Row, failures: list[Row]) -> int | None:
    """Find the record of this bug: by its id, or an open one that fails in the same way."""
    found = db.execute(select(BUG.c.seq).where(BUG.c.id == row["id"])).scalar()
    if found is not None or row["state"] != BugState.OPEN.value:
        return found
    alike = (
        select(BUG.c.seq)
        .join_from(BUG, FAILURE, FAILURE.c.bug == BUG.c.seq)
        .where(BUG.c.project == row["project"], BUG.c.state == BugState.OPEN.value)
        .order_by(BUG.c.seq)
    )
    for chunk in chunks([failure["fingerprint"] for failure in failures]):
        asked = alike.where(FAILURE.c.fingerprint.in_(chunk))
        if (found := db.execute(asked).scalar()) is not None:
            return int(found)
    return None


def _bring_up_to_date(db: Connection, bug: int, row: Row) -> None:
    """Update a known bug that was seen later, or has ended."""
    here = db.execute(select(BUG).where(BUG.c.seq == bug)).mappings().one()
    names = ["seen_at", "executed"] if row["seen_at"] > here["seen_at"] else []
    if here["state"] == BugState.OPEN.value != row["state"]:
        names += ["state", "root_cause", "completed_at"]
    if names:
        values = {name: row[name] for name in names}
        db.execute(update(BUG).where(BUG.c.seq == bug).values(**values))


def _add_children(db: Connection, table: Table, bug: int, rows: list[Row]) -> None:
    key = CHILDREN[table]
    asked = select(*(table.c[name] for name in key)).where(table.c.bug == bug)
    known = {tuple(found) for found in db.execute(asked)}
    new = [row for row in rows if tuple(row[name] for name in key) not in known]
    if table is TRIAL:
        newest = select(func.max(TRIAL.c.number)).where(TRIAL.c.bug == bug)
        start = int(db.execute(newest).scalar() or 0)
        new = [row | {"number": n} for n, row in enumerate(new, start + 1)]
    new = [row | {"bug": bug} for row in new]
    if table is not FAILURE:
        _insert(db, table, new)
        return
    project, tags = db.execute(select(BUG.c.project, BUG.c.tags).where(BUG.c.seq == bug)).one()
    for row in new:
        Ledger(db, project).add_failure(**_values(FAILURE, row), tags=json.loads(tags))


def _observation(db: Connection, row: Row) -> bool:
    """Merge counts: those of one origin are one count at two times, others add up."""
    key = ("project", "kind", "text")
    where = [OBSERVATION.c[name] == row[name] for name in key]
    here = db.execute(select(OBSERVATION).where(*where)).mappings().first()
    if here is None:
        return _add_once(db, OBSERVATION, key, row)
    is_same = here["first_at"] == row["first_at"]
    values = {
        "n": max(here["n"], row["n"]) if is_same else here["n"] + row["n"],
        "first_at": min(here["first_at"], row["first_at"]),
        "last_at": max(here["last_at"], row["last_at"]),
    }
    db.execute(update(OBSERVATION).where(*where).values(**values))
    return False


def _add_once(db: Connection, table: Table, key: tuple[str, ...], row: Row) -> bool:
    where = [table.c[name] == row[name] for name in key]
    known = db.execute(select(func.count()).select_from(table).where(*where)).scalar()
    if not known:
        _insert(db, table, [row | {"bug": None} if table is NOTE else row])
    return not known


def _insert(db: Connection, table: Table, rows: list[Row]) -> None:
    if rows:
        db.execute(insert(table), [_values(table, row) for row in rows])


def _values(table: Table, row: Row) -> Row:
    """Return the columns of ``row``, but for the number that the store gives."""
    return {
        column.name: _value(column, row[column.name])
        for column in table.columns
        if column.name != "seq"
    }


def _value(column: Column[Any], value: Any) -> Any:  # noqa: ANN401 - of any column
    """Return ``value`` if the column takes it.

    Raises:
        TypeError: If it does not.
    """
    wanted = column.type.python_type
    if value is None and column.nullable:
        return None
    if wanted is float and isinstance(value, int):
        value = float(value)
    if not isinstance(value, wanted) or (wanted is int and isinstance(value, bool)):
        raise TypeError(f"{column.name} is {value!r}, expected {wanted.__name__}")
    length = getattr(column.type, "length", None)
    return value[:length] if isinstance(value, str) and length else value


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
            _delete_sent(connection, lines)


def _delete_sent(connection: Connection, lines: Sequence[str]) -> None:
    """Delete what ``lines`` hold, but for what has changed since."""
    for line in lines[1:]:
        ((kind, row),) = json.loads(line).items()
        if kind == "run":
            connection.execute(delete(RUN).where(RUN.c.id == row["id"]))
        elif kind == "bug":
            where = (BUG.c.id == row["id"]) & (BUG.c.seen_at == row["seen_at"])
            for bug in connection.execute(select(BUG.c.seq).where(where)).scalars().all():
                Ledger(connection, row["project"]).delete(int(bug))
        else:
            table = {item.name: item for item in (NOTE, OBSERVATION, RULE, FIX_PATTERN)}[kind]
            same = [table.c[name] == value for name, value in row.items()]
            connection.execute(delete(table).where(*same))
