"""Causes of failures beside mistakes in functions: the world around, other tests, chance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.texts import TextEnum

if TYPE_CHECKING:
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
