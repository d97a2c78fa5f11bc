"""What is remembered of a bug: its symptom, what was tried, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

SIGNATURE_LENGTH = 200
HYPOTHESIS_LENGTH = 300
WHY_LENGTH = 250
STRATEGY_LENGTH = 150
LESSON_LENGTH = 200
ERROR_LENGTH = 4_000
CODE_LENGTH = 8_000
DIFF_LENGTH = 20_000


class Category(str, Enum):
    """What sort of mistake an error points at, by rules."""

    API_MISUSE = "API_MISUSE"
    TYPE_ERROR = "TYPE_ERROR"
    VALUE_ERROR = "VALUE_ERROR"
    ATTRIBUTE_ERROR = "ATTRIBUTE_ERROR"
    IMPORT_ERROR = "IMPORT_ERROR"
    LOGIC_ERROR = "LOGIC_ERROR"
    DATA_ERROR = "DATA_ERROR"
    OTHER = "OTHER"


class Outcome(str, Enum):
    """How a trial ended."""

    FAILED = "failed"
    PASSED = "passed"


class State(str, Enum):
    """How an episode stands: open, or why it ended.

    ``FLAKY`` passed without an edit; of ``GONE`` all tests were deleted, and ``UNSEEN`` was not
    run for long.
    """

    OPEN = "open"
    RESOLVED = "resolved"
    FLAKY = "flaky"
    GONE = "gone"
    UNSEEN = "unseen"


@dataclass(frozen=True, slots=True, kw_only=True)
class TestFailure:
    """How one test failed.

    Attributes:
        node_id: Of the test, or of a file that could not be collected.
        fingerprint: What tells its failure from others.
        signature: Type of the exception and its message, masked.
    """

    __test__ = False  # not a test for pytest

    node_id: str
    fingerprint: str
    signature: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Symptom:
    """How a group of failing tests shows its bug.

    Attributes:
        failures: One a test of the group.
        signature: That of most of them.
        category: By rules.
        hypothesis: The located cause, in words.
        tags: What the failure speaks of: types, functions, modules.
        error: The message as it was, with where it came from.
        code: Text of the function that raised or, where none is known, of the test.
        constraint: What the code demands, by the guard or the message; empty if nothing does.
        suspects: The likeliest locations, best first, as ``file qualname``.
        in_test: Whether the error stands in the tests or their data.
        first_check: Where the constraint could be checked first, if it was broken far below.
    """

    failures: tuple[TestFailure, ...]
    signature: str
    category: Category
    hypothesis: str
    tags: frozenset[str]
    error: str
    code: str
    constraint: str = ""
    suspects: tuple[str, ...] = ()
    in_test: bool = False
    first_check: str = ""

    @property
    def tests(self) -> tuple[str, ...]:
        """Node ids of the group."""
        return tuple(failure.node_id for failure in self.failures)

    @property
    def fingerprints(self) -> frozenset[str]:
        """Those of the group."""
        return frozenset(failure.fingerprint for failure in self.failures)


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """What was edited between two runs, as far as it is known.

    Attributes:
        functions: What differs, as ``file qualname``.
        diff: The change, as a unified diff; empty if the older text is not known.
        n_added: Lines.
        n_removed: Lines.
        plan: What the person, or the commit, says about it.
        in_tests: Whether all of it is test code.
    """

    functions: tuple[str, ...] = ()
    diff: str = ""
    n_added: int = 0
    n_removed: int = 0
    plan: str = ""
    in_tests: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Setback:
    """What is learned from a trial that failed.

    Attributes:
        why: Why it failed, at most ``WHY_LENGTH`` characters.
        strategy: What was tried, at most ``STRATEGY_LENGTH``.
        constraint: What the code demands, at most ``LESSON_LENGTH``; empty if nothing new.
    """

    why: str
    strategy: str
    constraint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Success:
    """What is learned from the trial that mended a bug; lengths as of ``Setback``.

    Attributes:
        why: Why it worked.
        strategy: What was done.
        insight: What holds beyond this bug.
        cause: What the root cause was, in words, at most ``WHY_LENGTH``; empty if nobody said.
    """

    why: str
    strategy: str
    insight: str
    cause: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DebugTrial:
    """One attempt to mend a bug: what was changed, and what came out.

    Attributes:
        number: From 1, in its record.
        made_at: When the run that tried it ended.
        edit: What was changed.
        outcome: Whether the bug's tests pass.
        error: Signature of what they failed with; empty if they pass.
        metric: Share of the bug's tests that pass, in [0, 1].
        setback: What is learned, if it failed.
        success: What is learned, if it mended the bug.
    """

    number: int
    made_at: datetime
    edit: Edit
    outcome: Outcome
    error: str = ""
    metric: float = 0.0
    setback: Setback | None = None
    success: Success | None = None

    @property
    def learned(self) -> tuple[str, str, str]:
        """Why it came out so, what was done, and the lesson; empty where nothing is said."""
        if self.setback is not None:
            return self.setback.why, self.setback.strategy, self.setback.constraint
        if self.success is not None:
            return self.success.why, self.success.strategy, self.success.insight
        return "", "", ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BugRecord:
    """The episode of one bug.

    Attributes:
        id: 12 hexadecimal digits.
        symptom: As it was first seen.
        state: Whether it is open, or how it ended.
        created_at: In UTC, likewise ``seen_at`` and ``completed_at``.
        seen_at: When one of its tests was last run.
        completed_at: None while it is open.
        session: Id of the run in which it was first seen.
        step: Number of that run in its project.
        plan: What was being done: the commit's subject, or a person's note.
        trials: In their order.
        root_cause: What the change that mended it changed; empty while it is open.
        notes: What persons noted.
    """

    id: str
    symptom: Symptom
    state: State
    created_at: datetime
    seen_at: datetime
    completed_at: datetime | None = None
    session: str = ""
    step: int = 0
    plan: str = ""
    trials: tuple[DebugTrial, ...] = ()
    root_cause: str = ""
    notes: tuple[str, ...] = field(default=())

    @property
    def failed_strategies(self) -> tuple[str, ...]:
        """What was tried in vain, oldest first, each once."""
        return _distinct(trial.setback.strategy for trial in self.trials if trial.setback)

    @property
    def learned_constraints(self) -> tuple[str, ...]:
        """What was learned, oldest first, each once."""
        learned = (trial.setback.constraint for trial in self.trials if trial.setback)
        return _distinct((self.symptom.constraint, *learned))

    @property
    def success(self) -> Success | None:
        """What mended it; None while it is open."""
        return next((trial.success for trial in reversed(self.trials) if trial.success), None)


def clipped(text: str, length: int) -> str:
    """``text`` on one line, of at most ``length`` characters; what is cut ends in dots."""
    line = " ".join(text.split())
    return line if len(line) <= length else f"{line[: length - 3].rstrip()}..."


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for text in texts if text))
