"""Failures of tests as plain values, and their causes beside mistakes in functions.

Such a cause is in the world around, in other tests, or it is chance.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.texts import TextEnum

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_bayesloc.domain.location import Location


class CauseKind(TextEnum):
    """The sorts of causes; the values are those of the JSON result."""

    PACKAGE = "package"
    PROGRAM = "program"
    VARIABLE = "variable"
    SERVICE = "service"
    FILE = "file"
    VERSION = "version"
    WORKING_DIRECTORY = "working-directory"
    MOCK = "mock"
    NEVER_AWAITED = "never-awaited"
    POLLUTED = "polluted"
    LEFT_BEHIND = "left-behind"
    NEEDS_ANOTHER_TEST = "needs-another-test"
    HASH_ORDER = "hash-order"
    LISTING_ORDER = "listing-order"
    RANDOM = "random"
    CLOCK = "clock"
    TIME_ZONE = "time-zone"
    LOCALE = "locale"
    SLOWNESS = "slowness"
    RACE = "race"
    CHANCE = "chance"


#: Causes outside the code, the tests and their order. A name that this Python does not have is one
#: of the code that asks for it.
ENVIRONMENT = frozenset(
    {
        CauseKind.PACKAGE,
        CauseKind.PROGRAM,
        CauseKind.VARIABLE,
        CauseKind.SERVICE,
        CauseKind.FILE,
        CauseKind.WORKING_DIRECTORY,
    }
)

_LACKED = frozenset({CauseKind.PACKAGE, CauseKind.PROGRAM, CauseKind.VARIABLE})

#: At the end of the name of a value that calls share: a mistake in the code of its function.
DEFAULTS = ("__defaults__", "__kwdefaults__")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """The cause of failing tests where no function is at fault.

    Attributes:
        text: The cause in a sentence without a full stop.
        advice: What to do about it, as words that follow "Next,"; empty if nothing is known.
        location: The function, test or body that reads or makes what matters; None if unknown.
        line: Its line there; 0 if unknown.
        after: Node ids of the tests that have to run before, in this order.
        state: The variable, fixture or file that they leave changed; empty if unknown.
        command: Reproduces the failure, or shows that it goes away; empty if the plain run does.
    """

    kind: CauseKind
    text: str
    advice: str = ""
    location: Location | None = None
    line: int = 0
    after: tuple[str, ...] = ()
    state: str = ""
    command: str = ""

    @property
    def is_repairable(self) -> bool:
        """Whether an edit of the code that the tests execute may remove it."""
        in_code = self.kind in {CauseKind.NEVER_AWAITED, CauseKind.VERSION}
        return in_code or self.state.endswith(DEFAULTS)

    @property
    def key(self) -> tuple[object, ...]:
        """The same for failures with one cause; what a machine lacks has no place."""
        is_lacked = bool(self.state) and self.kind in _LACKED
        where = None if is_lacked else self.location
        return (self.kind, where, self.state or self.text, self.after)


class Origin(TextEnum):
    """The side on which the likely cause is, as far as rules can tell."""

    CODE = "code"
    TEST = "test"
    FIXTURE = "fixture"
    DATA = "data"
    FILE = "file"
    COLLECTION = "collection"


class ErrorKind(TextEnum):
    """The sort of an error: a guard that refused, a crash, a wrong result, or no end in time."""

    VALIDATION = "validation"
    RUNTIME = "runtime"
    LOGIC = "logic"
    TIMEOUT = "timeout"


class Raised(TextEnum):
    """The sort of an exception, by its type.

    ``SYSTEM`` are those of what lies outside the code: files, connections, installed packages.
    """

    ASSERTION = "assertion"
    TIMEOUT = "timeout"
    SYSTEM = "system"
    OTHER = ""


class Role(TextEnum):
    """The part that test code plays for the failing tests of a group.

    Only some of them use a ``PART``: it can't have made the others fail.
    """

    TEST = "test"
    FIXTURE = "fixture"
    HELPER = "helper"
    DATA = "data"
    PART = "part"


class Situation(TextEnum):
    """The age of failing tests, as far as it is known: each situation has numbers of its own.

    In a ``REGRESSION`` the tests are known to be as they were before the last changes. Else they
    may be new, and state what the code never did.
    """

    NEW_TEST = "new test"
    REGRESSION = "regression"


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One frame of a traceback, outermost first in a ``Failure``.

    Attributes:
        file: Path relative to rootdir; absolute where it lies outside.
        line: 1-based line that was executing.
        name: ``co_qualname``, or ``co_name`` before Python 3.11.
        first_line: ``co_firstlineno`` of the code: the first decorator's line, if any.
        in_app: Whether the file belongs to the source under test or to its tests.
        is_test: Whether the file is a test file or a conftest.
        span: Of the expression that was executing, in UTF-8 bytes of its line: where it begins, its
            last line, and where it ends there. None before Python 3.11, of other people's code and
            of tests.
    """

    file: str
    line: int
    name: str
    first_line: int
    in_app: bool
    is_test: bool = False
    span: tuple[int, int, int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A failing test, or a file that could not be collected.

    Attributes:
        node_id: Node id of the test or of the file.
        phase: ``setup``, ``call``, ``teardown`` or ``collect``.
        frames: The traceback, outermost first; of a chain, the last exception's.
        cause_frames: The tracebacks of the exceptions it was raised from, nearest cause first.
        test_locations: The test function and the fixtures that it used, test first.
        syntax_error: ``(file, line)`` of a syntax error, else None.
        cause: What it fails from that is no mistake in a function, where the failure tells that.
    """

    node_id: str
    phase: str
    exc_type: str
    message: str
    frames: tuple[Frame, ...] = ()
    cause_frames: tuple[tuple[Frame, ...], ...] = ()
    test_locations: tuple[Location, ...] = ()
    syntax_error: tuple[str, int] | None = None
    raised: Raised = Raised.OTHER
    cause: Cause | None = None

    @property
    def every_frame(self) -> Iterator[Frame]:
        """The frames of its own traceback, then those of the exceptions that caused it."""
        return chain(self.frames, *self.cause_frames)

    @property
    def raise_frame(self) -> Frame | None:
        """The innermost frame in the project: where the exception was raised, or left it."""
        return next((frame for frame in reversed(self.frames) if frame.in_app), None)
