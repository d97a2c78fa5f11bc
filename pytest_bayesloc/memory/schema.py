"""The tables of the memory, the same on SQLite and PostgreSQL.

Times are ISO 8601 texts in UTC, which sort as times do on both. Lists are JSON texts. What is free
text has been through ``redacted``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from contextlib import closing
from datetime import datetime
from enum import Enum
from functools import cache
from json import dumps
from sqlite3 import dbapi2  # tests may replace ``sqlite3.connect``
from typing import Any, NamedTuple

from pytest_bayesloc.domain.redaction import redacted
from pytest_bayesloc.domain.texts import storable

VERSION = 2
#: The oldest version whose programs may read and write tables of ``VERSION``: older ones are left
#: out of a memory that a newer program has brought up to date, the others go on.
LEAST = 1
#: The columns that hold lists of texts, as JSON.
LISTS = frozenset(
    {
        "tags",
        "suspects",
        "executed",
        "functions",
        "edited",
        "untested",
        "suggested",
        "loops",
        "after",
    }
)
#: The words on which the dialects differ. SQLite numbers rows by a key of this very type alone.
SQLITE = {"serial": "INTEGER PRIMARY KEY", "bytes": "BLOB", "by_key": "WITHOUT ROWID"}
POSTGRESQL = {"serial": "BIGSERIAL PRIMARY KEY", "bytes": "BYTEA", "by_key": ""}

SCHEMA = """
-- The version of these tables, and the least one that may use them.
CREATE TABLE meta (
    name VARCHAR(40) NOT NULL PRIMARY KEY,  -- version, least
    value TEXT NOT NULL
);

-- A run in which a test failed, or an open bug was seen.
CREATE TABLE run (
    id VARCHAR(12) NOT NULL PRIMARY KEY,
    project VARCHAR(200) NOT NULL,
    number INTEGER NOT NULL,  -- in its project, from 1
    workspace VARCHAR(12) NOT NULL,  -- a checkout on a machine
    made_at VARCHAR(32) NOT NULL,
    revision VARCHAR(64) NOT NULL,  -- of git; empty if unknown
    n_passed INTEGER NOT NULL,
    n_failed INTEGER NOT NULL,
    kind VARCHAR(20) NOT NULL,  -- normal, infrastructure
    arm VARCHAR(10) NOT NULL  -- on, off: whether advice was shown
);
CREATE INDEX run_by_number ON run (project, number);

-- An episode.
CREATE TABLE bug (
    seq {serial},
    id VARCHAR(12) NOT NULL UNIQUE,
    project VARCHAR(200) NOT NULL,
    state VARCHAR(12) NOT NULL,
    signature VARCHAR(200) NOT NULL,
    category VARCHAR(20) NOT NULL,
    hypothesis VARCHAR(300) NOT NULL,
    tags TEXT NOT NULL,
    error TEXT NOT NULL,
    code TEXT NOT NULL,
    demand VARCHAR(200) NOT NULL,  -- the constraint that the failure itself names
    suspects TEXT NOT NULL,
    in_test BOOLEAN NOT NULL,
    executed TEXT NOT NULL,  -- by its failing tests, as "file qualname"
    run VARCHAR(12) NOT NULL,  -- in which it was first seen
    step INTEGER NOT NULL,
    plan TEXT NOT NULL,
    root_cause TEXT NOT NULL,
    created_at VARCHAR(32) NOT NULL,
    seen_at VARCHAR(32) NOT NULL,
    completed_at VARCHAR(32)
);
CREATE INDEX bug_by_run ON bug (run);
CREATE INDEX bug_by_state ON bug (state, project);
CREATE INDEX bug_by_pattern ON bug (project, category, signature);

-- The ways in which a bug shows: these are searched.
CREATE TABLE failure (
    seq {serial},
    bug BIGINT NOT NULL REFERENCES bug (seq) ON DELETE CASCADE,
    fingerprint VARCHAR(40) NOT NULL,
    signature VARCHAR(200) NOT NULL,
    UNIQUE (bug, fingerprint)
);
CREATE INDEX failure_by_fingerprint ON failure (fingerprint);

-- The tests of a bug.
CREATE TABLE test (
    bug BIGINT NOT NULL REFERENCES bug (seq) ON DELETE CASCADE,
    node_id VARCHAR(1000) NOT NULL,
    fingerprint VARCHAR(40) NOT NULL,  -- when it last failed
    fate VARCHAR(12) NOT NULL,  -- failing, passing, gone, weakened
    PRIMARY KEY (bug, node_id)
);
CREATE INDEX test_by_node ON test (node_id);

-- An edit, and its result.
CREATE TABLE trial (
    bug BIGINT NOT NULL REFERENCES bug (seq) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    run VARCHAR(12) NOT NULL,
    made_at VARCHAR(32) NOT NULL,
    outcome VARCHAR(12) NOT NULL,
    error VARCHAR(200) NOT NULL,
    metric FLOAT NOT NULL,
    functions TEXT NOT NULL,
    diff TEXT NOT NULL,
    n_added INTEGER NOT NULL,
    n_removed INTEGER NOT NULL,
    plan TEXT NOT NULL,
    in_tests BOOLEAN NOT NULL,
    why VARCHAR(250) NOT NULL,
    strategy VARCHAR(150) NOT NULL,
    lesson VARCHAR(200) NOT NULL,  -- the constraint of a failed trial, else the insight
    cause VARCHAR(250) NOT NULL DEFAULT '',  -- of the bug, in words
    PRIMARY KEY (bug, number)
);

-- A bug in a run: loops are found in these.
CREATE TABLE sighting (
    seq {serial},
    bug BIGINT NOT NULL REFERENCES bug (seq) ON DELETE CASCADE,
    run VARCHAR(12) NOT NULL,
    workspace VARCHAR(12) NOT NULL,
    revision VARCHAR(64) NOT NULL,
    seen_at VARCHAR(32) NOT NULL,
    error VARCHAR(16) NOT NULL,  -- digest of messages and functions
    tests VARCHAR(16) NOT NULL,  -- digest of which tests fail
    n_failing INTEGER NOT NULL,  -- of its tests
    code_state VARCHAR(16) NOT NULL,  -- digest of the code that they executed
    test_state VARCHAR(16) NOT NULL,  -- digest of the tests
    command VARCHAR(16) NOT NULL,  -- digest of pytest's arguments
    edited TEXT NOT NULL,  -- since the run before, as "file qualname"
    untested TEXT NOT NULL,  -- files that no test of the run imports
    is_aimed BOOLEAN NOT NULL  -- whether an edit hit a top suspect
);
CREATE INDEX sighting_of_bug ON sighting (bug, seq);

-- A note that a person wrote.
CREATE TABLE note (
    seq {serial},
    project VARCHAR(200) NOT NULL,
    bug BIGINT REFERENCES bug (seq) ON DELETE CASCADE,
    text TEXT NOT NULL,
    made_at VARCHAR(32) NOT NULL
);

-- An observation of the world: infrastructure days.
CREATE TABLE observation (
    project VARCHAR(200) NOT NULL,
    kind VARCHAR(20) NOT NULL,
    text VARCHAR(1000) NOT NULL,
    n INTEGER NOT NULL,
    first_at VARCHAR(32) NOT NULL,
    last_at VARCHAR(32) NOT NULL,
    PRIMARY KEY (project, kind, text)
);

-- Which failures hold a word: narrows a search by its rarest words.
CREATE TABLE posting (
    word BIGINT NOT NULL,
    failure BIGINT NOT NULL REFERENCES failure (seq) ON DELETE CASCADE,
    PRIMARY KEY (word, failure)
) {by_key};

-- Vectors of errors, where the user named a model.
CREATE TABLE embedding (
    seq {serial},
    model VARCHAR(100) NOT NULL,
    text VARCHAR(32) NOT NULL,  -- digest
    vector {bytes} NOT NULL,  -- 32-bit floats, of length 1
    UNIQUE (model, text)
);

-- Patches that failed on the last state of the project.
CREATE TABLE rejected (
    bug BIGINT NOT NULL REFERENCES bug (seq) ON DELETE CASCADE,
    patch VARCHAR(32) NOT NULL,
    state VARCHAR(32) NOT NULL,
    outcome VARCHAR(1000) NOT NULL,
    PRIMARY KEY (bug, patch)
);
CREATE INDEX rejected_by_state ON rejected (state);

-- A person's decision about a fingerprint.
CREATE TABLE rule (
    project VARCHAR(200) NOT NULL,
    fingerprint VARCHAR(40) NOT NULL,
    bug VARCHAR(12) NOT NULL,  -- that it belongs to; empty: forget it
    PRIMARY KEY (project, fingerprint)
);

-- Advice on a bug in a run, and whether the fix followed it.
CREATE TABLE advice (
    bug BIGINT NOT NULL REFERENCES bug (seq) ON DELETE CASCADE,
    run VARCHAR(12) NOT NULL,
    was_shown BOOLEAN NOT NULL,
    suggested TEXT NOT NULL,
    loops TEXT NOT NULL,
    helped BOOLEAN,
    PRIMARY KEY (bug, run)
);

-- A language model's verdict on a location, and whether it was at fault.
CREATE TABLE judged (
    bug BIGINT NOT NULL REFERENCES bug (seq) ON DELETE CASCADE,
    guide VARCHAR(200) NOT NULL,
    use VARCHAR(20) NOT NULL,
    location VARCHAR(500) NOT NULL,
    verdict VARCHAR(60) NOT NULL,
    was_faulty BOOLEAN,
    PRIMARY KEY (bug, guide, use, location)
);

-- A fix tool that was tried for a bug, and the fate of its fix.
CREATE TABLE tool_use (
    bug BIGINT NOT NULL REFERENCES bug (seq) ON DELETE CASCADE,
    tool VARCHAR(200) NOT NULL,
    run INTEGER NOT NULL,  -- number in its project
    n_tried INTEGER NOT NULL,
    n_verified INTEGER NOT NULL,
    fate VARCHAR(12) NOT NULL,  -- empty, applied, undone, broken
    functions TEXT NOT NULL,  -- that it changed, as "file qualname"
    made_at VARCHAR(32) NOT NULL,
    PRIMARY KEY (bug, tool)
);

-- A fix by a person, as a pattern.
CREATE TABLE fix_pattern (
    project VARCHAR(200) NOT NULL,
    pattern VARCHAR(600) NOT NULL,  -- before and after, as JSON
    bug VARCHAR(12) NOT NULL,
    error VARCHAR(80) NOT NULL,  -- type of the exception
    before TEXT NOT NULL,  -- the function, then and now
    after TEXT NOT NULL,
    made_at VARCHAR(32) NOT NULL,
    PRIMARY KEY (project, pattern, bug)
);
"""

OUTCOME = """
-- How a test that has failed ended on one state of its code, and why, if that was found.
CREATE TABLE outcome (
    project VARCHAR(200) NOT NULL,
    node_id VARCHAR(1000) NOT NULL,
    state VARCHAR(32) NOT NULL,  -- digest of its file and of what it executed; empty if unknown
    environment VARCHAR(100) NOT NULL,  -- the Python and the platform
    executed TEXT NOT NULL,  -- beside its own file, as "file qualname"
    texts VARCHAR(32) NOT NULL,  -- digest of all these files as they last were
    n_failed INTEGER NOT NULL,  -- runs of the suite, and reruns in them
    n_passed INTEGER NOT NULL,
    n_again INTEGER NOT NULL,  -- runs in which it failed, and passed when we ran it again
    first_at VARCHAR(32) NOT NULL,
    last_at VARCHAR(32) NOT NULL,
    fingerprint VARCHAR(40) NOT NULL,  -- of the failure that has this cause
    kind VARCHAR(30) NOT NULL,  -- of the cause; empty: none was found, likewise below
    cause VARCHAR(1000) NOT NULL,
    remedy VARCHAR(1000) NOT NULL,
    place VARCHAR(500) NOT NULL,  -- as "file qualname"
    line INTEGER NOT NULL,
    after TEXT NOT NULL,  -- the tests that have to run before
    variable VARCHAR(300) NOT NULL,
    command VARCHAR(4000) NOT NULL,
    found_at VARCHAR(32) NOT NULL,
    PRIMARY KEY (project, node_id, state, environment)
);
"""
SCHEMA += OUTCOME
#: Whether a test passed and failed on one state of its code.
IS_FLAKY = "(n_again > 0 OR (n_failed > 0 AND n_passed > 0))"
#: Takes over the flaky tests of version 1, which knew no more than how often they were.
FLAKY_OF_VERSION_1 = """
INSERT INTO outcome
    SELECT project, text, '', '', '[]', '', n, 0, n, first_at, last_at,
        '', '', '', '', '', 0, '[]', '', '', ''
    FROM observation WHERE kind = 'flaky';
DELETE FROM observation WHERE kind = 'flaky';
"""
#: The i-th one holds the statements that bring tables of version ``i + 1`` to version ``i + 2``,
#: with the words of ``SCHEMA`` in braces.
MIGRATIONS = [OUTCOME + FLAKY_OF_VERSION_1]

_TYPES = {"INTEGER": int, "BIGINT": int, "FLOAT": float, "BOOLEAN": bool, "BLOB": bytes}


class Column(NamedTuple):
    """A column: the type of its values in Python, the length of its texts, and its role."""

    type: type
    length: int | None
    is_nullable: bool
    is_key: bool


@cache
def tables() -> Mapping[str, Mapping[str, Column]]:
    """Return the columns of each table, by their names, as SQLite reads them off the schema."""
    with closing(dbapi2.connect(":memory:")) as db:
        db.executescript(SCHEMA.format(**SQLITE))
        names = db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        found = {name: db.execute(f"PRAGMA table_info({name})").fetchall() for (name,) in names}
    return {
        table: {
            name: Column(
                type=_TYPES.get(declared, str),
                length=int(length[0]) if (length := re.search(r"\d+", declared)) else None,
                is_nullable=not (not_null or key),
                is_key=bool(key),
            )
            for _, name, declared, not_null, _, key in columns
        }
        for table, columns in found.items()
    }


def statements(text: str, words: Mapping[str, str]) -> list[str]:
    """Return the single statements of ``text`` in the dialect of ``words``."""
    bare = re.sub(r"--.*", "", text.format(**words))
    return [statement.strip() for statement in bare.split(";") if statement.strip()]


# -- values as columns hold them


def row(table: str, *sources: object, **values: object) -> dict[str, Any]:
    """Return values as the columns of ``table`` hold them.

    Args:
        table: The table.
        sources: Objects whose attributes are named as columns.
        values: By column; they come before attributes.
    """
    for source in sources:
        names = [name for name in tables()[table] if hasattr(source, name)]
        values = {name: getattr(source, name) for name in names} | values
    return {name: written(f"{table}.{name}", value) for name, value in values.items()}


def written(column: str, value: object) -> Any:  # noqa: ANN401 - of any column
    """Return ``value`` as ``column`` holds it, given as ``table.name``.

    Texts are without secrets and cut to the column's length, lists are JSON, and times are texts
    that sort as times do.
    """
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, datetime):
        return value.isoformat(timespec="microseconds")
    if isinstance(value, str):
        table, _, name = column.partition(".")
        return safe(value)[: tables()[table][name].length]
    if isinstance(value, Collection) and not isinstance(value, bytes):
        return listed(sorted(value) if isinstance(value, (set, frozenset)) else value)
    return value


def listed(texts: Collection[str]) -> str:
    """Return texts as a JSON list, without secrets."""
    return dumps([safe(item) for item in texts], separators=(",", ":"))


def safe(value: str) -> str:
    """Return a text without secrets, and without characters that no database takes."""
    return redacted(storable(value.replace("\0", "\ufffd")))
