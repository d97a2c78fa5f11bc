"""The tables of the memory, the same on SQLite and PostgreSQL.

Times are ISO 8601 texts in UTC, which sort as times do on both. Lists are JSON texts. What is free
text has been through ``redacted``.
"""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.types import BigInteger

VERSION = 1
#: The oldest version whose programs may read and write tables of ``VERSION``: older ones are left
#: out of a memory that a newer program has brought up to date, the others go on.
LEAST = 1
#: The columns that hold lists of texts, as JSON.
LISTS = frozenset(
    {"tags", "suspects", "executed", "functions", "edited", "untested", "suggested", "loops"}
)

METADATA = MetaData()
_Key = BigInteger().with_variant(Integer, "sqlite")  # SQLite numbers rows by an INTEGER key alone


def _number() -> Column[int]:
    return Column("seq", _Key, primary_key=True, autoincrement=True)


def _of_bug(*, key: bool = False) -> Column[int]:
    return Column(
        "bug", _Key, ForeignKey("bug.seq", ondelete="CASCADE"), primary_key=key, nullable=False
    )


META = Table(  # ``version`` of these tables, and the ``least`` one that may use them
    "meta",
    METADATA,
    Column("name", String(40), primary_key=True),
    Column("value", Text, nullable=False),
)

RUN = Table(  # a run in which a test failed, or an open bug was seen
    "run",
    METADATA,
    Column("id", String(12), primary_key=True),
    Column("project", String(200), nullable=False),
    Column("number", Integer, nullable=False),  # in its project, from 1
    Column("workspace", String(12), nullable=False),  # a checkout on a machine
    Column("made_at", String(32), nullable=False),
    Column("revision", String(64), nullable=False),  # of git; empty if unknown
    Column("n_passed", Integer, nullable=False),
    Column("n_failed", Integer, nullable=False),
    Column("kind", String(20), nullable=False),  # normal, infrastructure
    Column("arm", String(10), nullable=False),  # on, off: whether advice was shown
    Index("run_by_number", "project", "number"),
)

BUG = Table(  # an episode
    "bug",
    METADATA,
    _number(),
    Column("id", String(12), nullable=False, unique=True),
    Column("project", String(200), nullable=False),
    Column("state", String(12), nullable=False),
    Column("signature", String(200), nullable=False),
    Column("category", String(20), nullable=False),
    Column("hypothesis", String(300), nullable=False),
    Column("tags", Text, nullable=False),
    Column("error", Text, nullable=False),
    Column("code", Text, nullable=False),
    Column("demand", String(200), nullable=False),  # the constraint that the failure itself names
    Column("suspects", Text, nullable=False),
    Column("in_test", Boolean, nullable=False),
    Column("executed", Text, nullable=False),  # by its failing tests, as ``file qualname``
    Column("run", String(12), nullable=False),  # in which it was first seen
    Column("step", Integer, nullable=False),
    Column("plan", Text, nullable=False),
    Column("root_cause", Text, nullable=False),
    Column("created_at", String(32), nullable=False),
    Column("seen_at", String(32), nullable=False),
    Column("completed_at", String(32), nullable=True),
    Index("bug_by_run", "run"),
    Index("bug_by_state", "state", "project"),
    Index("bug_by_pattern", "project", "category", "signature"),
)

FAILURE = Table(  # the ways in which a bug shows: what is searched
    "failure",
    METADATA,
    _number(),
    _of_bug(),
    Column("fingerprint", String(40), nullable=False),
    Column("signature", String(200), nullable=False),
    UniqueConstraint("bug", "fingerprint"),
    Index("failure_by_fingerprint", "fingerprint"),
)

TEST = Table(  # the tests of a bug
    "test",
    METADATA,
    _of_bug(key=True),
    Column("node_id", String(1000), primary_key=True),
    Column("fingerprint", String(40), nullable=False),  # when it last failed
    Column("fate", String(12), nullable=False),  # failing, passing, gone
    Index("test_by_node", "node_id"),
)

TRIAL = Table(  # an edit, and what came of it
    "trial",
    METADATA,
    _of_bug(key=True),
    Column("number", Integer, primary_key=True),
    Column("run", String(12), nullable=False),
    Column("made_at", String(32), nullable=False),
    Column("outcome", String(12), nullable=False),
    Column("error", String(200), nullable=False),
    Column("metric", Float, nullable=False),
    Column("functions", Text, nullable=False),
    Column("diff", Text, nullable=False),
    Column("n_added", Integer, nullable=False),
    Column("n_removed", Integer, nullable=False),
    Column("plan", Text, nullable=False),
    Column("in_tests", Boolean, nullable=False),
    Column("why", String(250), nullable=False),
    Column("strategy", String(150), nullable=False),
    Column("lesson", String(200), nullable=False),  # constraint of a failed trial, insight else
    Column("cause", String(250), nullable=False, server_default=""),  # of the bug, in words
)

SIGHTING = Table(  # a bug in a run: what loops are found in
    "sighting",
    METADATA,
    _number(),
    _of_bug(),
    Column("run", String(12), nullable=False),
    Column("workspace", String(12), nullable=False),
    Column("revision", String(64), nullable=False),
    Column("seen_at", String(32), nullable=False),
    Column("error", String(16), nullable=False),  # digest of messages and functions
    Column("tests", String(16), nullable=False),  # digest of which tests fail
    Column("n_failing", Integer, nullable=False),  # of its tests
    Column("code_state", String(16), nullable=False),  # digest of the code that they executed
    Column("test_state", String(16), nullable=False),  # digest of the tests
    Column("command", String(16), nullable=False),  # digest of pytest's arguments
    Column("edited", Text, nullable=False),  # since the run before, as ``file qualname``
    Column("untested", Text, nullable=False),  # files that no test of the run imports
    Column("is_aimed", Boolean, nullable=False),  # whether an edit hit a top suspect
    Index("sighting_of_bug", "bug", "seq"),
)

NOTE = Table(  # what a person wrote
    "note",
    METADATA,
    _number(),
    Column("project", String(200), nullable=False),
    Column("bug", _Key, ForeignKey("bug.seq", ondelete="CASCADE"), nullable=True),
    Column("text", Text, nullable=False),
    Column("made_at", String(32), nullable=False),
)

OBSERVATION = Table(  # of the world: environments, flaky tests, infrastructure days
    "observation",
    METADATA,
    Column("project", String(200), primary_key=True),
    Column("kind", String(20), primary_key=True),
    Column("text", String(1000), primary_key=True),
    Column("n", Integer, nullable=False),
    Column("first_at", String(32), nullable=False),
    Column("last_at", String(32), nullable=False),
)

POSTING = Table(  # which failures hold a word: narrows a search by its rarest words
    "posting",
    METADATA,
    Column("word", BigInteger, primary_key=True, autoincrement=False),
    Column("failure", _Key, ForeignKey("failure.seq", ondelete="CASCADE"), primary_key=True),
    sqlite_with_rowid=False,
)

EMBEDDING = Table(  # vectors of errors, where the user named a model
    "embedding",
    METADATA,
    _number(),
    Column("model", String(100), nullable=False),
    Column("text", String(32), nullable=False),  # digest
    Column("vector", LargeBinary, nullable=False),  # 32-bit floats, of length 1
    UniqueConstraint("model", "text"),
)

REJECTED = Table(  # patches that failed on the last state of the project
    "rejected",
    METADATA,
    _of_bug(key=True),
    Column("patch", String(32), primary_key=True),
    Column("state", String(32), nullable=False),
    Column("outcome", String(1000), nullable=False),
    Index("rejected_by_state", "state"),
)

RULE = Table(  # what a person decided about fingerprints
    "rule",
    METADATA,
    Column("project", String(200), primary_key=True),
    Column("fingerprint", String(40), primary_key=True),
    Column("bug", String(12), nullable=False),  # that it belongs to; empty: forget it
)

ADVICE = Table(  # advice on a bug in a run, and whether the fix followed it
    "advice",
    METADATA,
    _of_bug(key=True),
    Column("run", String(12), primary_key=True),
    Column("was_shown", Boolean, nullable=False),
    Column("suggested", Text, nullable=False),
    Column("loops", Text, nullable=False),
    Column("helped", Boolean, nullable=True),
)

JUDGED = Table(  # a language model's verdict on a location, and whether it was at fault
    "judged",
    METADATA,
    _of_bug(key=True),
    Column("guide", String(200), primary_key=True),
    Column("use", String(20), primary_key=True),
    Column("location", String(500), primary_key=True),
    Column("verdict", String(60), nullable=False),
    Column("was_faulty", Boolean, nullable=True),
)

TOOL_USE = Table(  # a fix tool that was tried for a bug, and what became of its fix
    "tool_use",
    METADATA,
    _of_bug(key=True),
    Column("tool", String(200), primary_key=True),
    Column("run", Integer, nullable=False),  # number in its project
    Column("n_tried", Integer, nullable=False),
    Column("n_verified", Integer, nullable=False),
    Column("fate", String(12), nullable=False),  # empty, applied, undone, broken
    Column("functions", Text, nullable=False),  # that it changed, as ``file qualname``
    Column("made_at", String(32), nullable=False),
)

FIX_PATTERN = Table(  # a fix by a person, as a pattern
    "fix_pattern",
    METADATA,
    Column("project", String(200), primary_key=True),
    Column("pattern", String(600), primary_key=True),  # before and after, as JSON
    Column("bug", String(12), primary_key=True),
    Column("error", String(80), nullable=False),  # type of the exception
    Column("before", Text, nullable=False),  # the function, then and now
    Column("after", Text, nullable=False),
    Column("made_at", String(32), nullable=False),
)
