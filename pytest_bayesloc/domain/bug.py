"""Bug records: the symptom of a bug, the attempts to fix it, and the runs that showed it."""

from __future__ import annotations

import re
from collections.abc import Mapping  # noqa: TC003 - records are converted by their annotations
from dataclasses import dataclass
from datetime import datetime  # noqa: TC003 - records are converted by their annotations
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.texts import TextEnum

if TYPE_CHECKING:
    from collections.abc import Iterable

SIGNATURE_LENGTH = 200
HYPOTHESIS_LENGTH = 300
WHY_LENGTH = 250
STRATEGY_LENGTH = 150
LESSON_LENGTH = 200
ERROR_LENGTH = 4_000
CODE_LENGTH = 8_000
DIFF_LENGTH = 20_000
LIKELY = 0.5  # a suspect's probability from which on nothing is learned about it that spares it


#: Stands before what a language model said, wherever it is kept.
LLM_MARK = "LLM: "
#: The function, class or module at the beginning of a constraint.
_ABOUT = re.compile(
    r"^(?:class |there is no (?=module))?(?P<module>module )?(?P<name>'[\w.]+'|[\w.<>]+)"
)
_WORD = re.compile(r"\w+")


class Category(TextEnum):
    """The sort of mistake that an error suggests, by rules."""

    API_MISUSE = "API_MISUSE"
    TYPE_ERROR = "TYPE_ERROR"
    VALUE_ERROR = "VALUE_ERROR"
    ATTRIBUTE_ERROR = "ATTRIBUTE_ERROR"
    IMPORT_ERROR = "IMPORT_ERROR"
    LOGIC_ERROR = "LOGIC_ERROR"
    DATA_ERROR = "DATA_ERROR"
    OTHER = "OTHER"


class TrialOutcome(TextEnum):
    """The result of a trial."""

    FAILED = "failed"
    PASSED = "passed"


class BugState(TextEnum):
    """The state of an episode: open, or the reason why it ended.

    A ``FLAKY`` bug passed without an edit; all tests of a ``GONE`` one were deleted; an ``UNSEEN``
    one was not run for long.
    """

    OPEN = "open"
    RESOLVED = "resolved"
    FLAKY = "flaky"
    GONE = "gone"
    UNSEEN = "unseen"


@dataclass(frozen=True, slots=True, kw_only=True)
class Symptom:
    """A group of failing tests in a run.

    A bug record keeps what comes before ``first_check``, the rest is of the run alone.

    Attributes:
        failing: Per node id, of a test or of a file that could not be collected, the fingerprint of
            its failure, which tells it from others.
        signatures: Per fingerprint, the type of the exception and its message, masked.
        signature: That of most tests.
        category: By rules.
        tags: Types, functions and modules that the failure names.
        error: The message as it was, with where it came from.
        code: Text of the function that raised or, where none is known, of the test.
        constraint: What the code demands, by the guard or the message; empty if nothing does.
        suspects: The likeliest locations, best first, as ``file qualname``.
        in_test: Whether the tests or their data cause the error.
        executed: What the tests executed, tests included, as ``file qualname``.
        first_check: Where the constraint could be checked first, if it was broken far below.
        p_first: Probability of the first suspect, 0 if there is none.
        edit: The edit since they ran before; None if nobody knows.
        is_since_seen: Whether that is since the bug was last seen, wherever; else it is since the
            tests last ran in this checkout.
        is_idle: Whether no file that the run imports was edited since they ran before.
        untested: Files that were edited and that no test of the run imports, if nothing else was.
        code_state: Digest of the code that they executed.
        test_state: Digest of the tests.
        errors: Signatures, each with the function that the exception was raised in or left last.
    """

    failing: Mapping[str, str]
    signatures: Mapping[str, str]
    signature: str
    category: Category
    hypothesis: str
    tags: frozenset[str]
    error: str
    code: str
    constraint: str = ""
    suspects: tuple[str, ...] = ()
    in_test: bool = False
    executed: frozenset[str] = frozenset()
    first_check: str = ""
    p_first: float = 0.0
    edit: CodeEdit | None = None
    is_since_seen: bool = False
    is_idle: bool = False
    untested: tuple[str, ...] = ()
    code_state: str = ""
    test_state: str = ""
    errors: frozenset[str] = frozenset()

    @property
    def believed(self) -> tuple[str, ...]:
        """The first suspect if it is likelier than all others together, else none."""
        return self.suspects[:1] if self.p_first > LIKELY else ()

    @property
    def tests(self) -> tuple[str, ...]:
        """Node ids of the group."""
        return tuple(self.failing)

    @property
    def fingerprints(self) -> frozenset[str]:
        """Fingerprints of the group."""
        return frozenset(self.failing.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeEdit:
    """The edit between two runs, as far as it is known.

    Attributes:
        functions: The changed functions, as ``file qualname``.
        diff: The change, as a unified diff; empty if the older text is not known.
        plan: What the person, or the commit, says about it.
        in_tests: Whether all of it is test code.
        mistake: The kind of mistake that it fixes, if it is the fix; empty if that has no name.
    """

    functions: tuple[str, ...] = ()
    diff: str = ""
    n_added: int = 0
    n_removed: int = 0
    plan: str = ""
    in_tests: bool = False
    mistake: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DebugTrial:
    """One attempt to fix a bug, and its result.

    Attributes:
        number: From 1, in its record.
        made_at: When the run that tried it ended.
        edit: The change that was tried.
        why: Why it failed or worked, at most ``WHY_LENGTH`` characters.
        strategy: What was changed, at most ``STRATEGY_LENGTH``.
        lesson: Of a failed trial, what the code demands, empty if nothing new; of one that fixed
            the bug, what holds beyond this bug. At most ``LESSON_LENGTH``.
        cause: The root cause that the fix shows, at most ``WHY_LENGTH``; empty if nobody named it.
        error: Signature of what they failed with; empty if they pass.
        metric: Share of the bug's tests that pass, in [0, 1].
    """

    number: int
    made_at: datetime
    edit: CodeEdit
    outcome: TrialOutcome
    why: str
    strategy: str
    lesson: str = ""
    cause: str = ""
    error: str = ""
    metric: float = 0.0


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
        plan: The work that was under way: the commit's subject, or a person's note.
        trials: In their order.
        root_cause: The functions that the fix changed; empty while it is open.
        notes: By persons.
        project: Whose bug it is; empty until it is kept.
    """

    id: str
    symptom: Symptom
    state: BugState
    created_at: datetime
    seen_at: datetime
    completed_at: datetime | None = None
    session: str = ""
    step: int = 0
    plan: str = ""
    trials: tuple[DebugTrial, ...] = ()
    root_cause: str = ""
    notes: tuple[str, ...] = ()
    project: str = ""

    @property
    def failed_strategies(self) -> tuple[str, ...]:
        """Strategies of the failed trials, oldest first, each once."""
        return _distinct(trial.strategy for trial in self._failed)

    @property
    def learned_constraints(self) -> tuple[str, ...]:
        """Constraints that the symptom and the failed trials show, oldest first, each once."""
        return _distinct((self.symptom.constraint, *(trial.lesson for trial in self._failed)))

    @property
    def fix(self) -> DebugTrial | None:
        """The trial that fixed it; None if none did."""
        passed = (trial for trial in reversed(self.trials) if trial.outcome is TrialOutcome.PASSED)
        return next(passed, None)

    @property
    def fixed(self) -> tuple[str, ...]:
        """The functions that the fix changed, as ``file qualname``."""
        return tuple(filter(None, self.root_cause.split(", ")))

    @property
    def _failed(self) -> list[DebugTrial]:
        return [trial for trial in self.trials if trial.outcome is TrialOutcome.FAILED]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run of the suite, as the memory keeps it.

    Attributes:
        id: 12 hexadecimal digits.
        workspace: The checkout that it was made in.
        made_at: In UTC.
        revision: Of git, empty if unknown.
        kind: ``normal`` or ``infrastructure``.
        arm: ``on`` or ``off``: whether advice is shown.
        number: In its project, from 1; 0 until it is written.
        plan: The work under way, in the words of the person or the commit.
        command: Digest of pytest's arguments.
    """

    id: str
    workspace: str
    made_at: datetime
    revision: str
    n_passed: int
    n_failed: int
    kind: str = "normal"
    arm: str = "on"
    number: int = 0
    plan: str = ""
    command: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """A bug in a run.

    Attributes:
        seen_at: In UTC.
        error: Digest of its errors: masked exceptions and messages, and the functions they came
            from. The statement is no part of it: editing that one makes no new error.
        tests: Digest of which of its tests fail, the last time that each was run.
        n_failing: How many of its tests fail, the last time that each was run.
        command: Digest of pytest's arguments; empty if anything was edited since the run before.
        code_state: Digest of the code that they executed.
        test_state: Digest of the tests and what they use of their files.
        edited: Functions that were edited since the run before, as ``file qualname``; none if its
            tests execute none of them.
        untested: Files that were edited and that no test of the run imports, if nothing else was.
        is_aimed: Whether an edit hit one of the top suspects, or there are none.
    """

    seen_at: datetime
    error: str
    tests: str
    code_state: str
    test_state: str
    edited: tuple[str, ...] = ()
    is_aimed: bool = False
    n_failing: int = 0
    command: str = ""
    untested: tuple[str, ...] = ()

    @property
    def state(self) -> tuple[str, str]:
        """State of code and tests together."""
        return self.code_state, self.test_state


def clipped(text: str, length: int) -> str:
    """Return ``text`` on one line, cut to ``length`` characters; a cut ends in dots."""
    line = " ".join(text.split())
    return line if len(line) <= length else f"{line[: length - 3].rstrip()}..."


def is_contradicted(constraint: str, functions: Iterable[str]) -> bool:
    """Whether a constraint is about one of ``functions``, which are at fault or were fixed.

    ``check needs n > 0`` is no condition of the domain if ``check`` itself is wrong. As the rules
    word it, a constraint begins with what it is about: the function, what holds it, or its module.
    A language model words it in its own way: it is about each function that it names.

    Args:
        constraint: In words.
        functions: As ``file qualname``.
    """
    by_rules, _, by_model = constraint.partition(LLM_MARK)
    named = set(_WORD.findall(by_model))
    about = _ABOUT.search(by_rules)
    name = about["name"].strip("'") if about else ""
    for function in functions:
        file, _, qualname = function.partition(" ")
        module = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        if (
            qualname.rpartition(".")[2] in named
            or (name and f"{qualname}.".startswith(f"{name}."))
            or (about and about["module"] and f".{module}".endswith(f".{name}"))
        ):
            return True
    return False


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for text in texts if text))
