"""The way of a wrong value back to where it was made, as one re-run of a failing test shows it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_bayesloc.domain.failure import Frame


@dataclass(frozen=True, slots=True, kw_only=True)
class Maker:
    """A call that made a value, or changed what it holds.

    Attributes:
        frame: Of its function; ``line`` is where it handed the value over, or ended.
        key: The parameter, attribute, index or key that had the value first; ``return`` for a
            result.
        is_held: Whether that was in a container or an attribute.
        arguments: Per parameter of the function, who made what it was given; of a call that pytest
            made, nobody.
    """

    frame: Frame
    key: str
    is_held: bool = False
    arguments: Mapping[str, tuple[Maker, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongValue:
    """A value that was wrong.

    Attributes:
        label: Its name in the source.
        makers: Who made it, or changed what it holds.
        giver: The function nearest to the check that had it from none of its own arguments; None if
            pytest called that one.
        is_part: Whether it is a part of what the check speaks of, and not named by it.
    """

    label: str
    makers: tuple[Maker, ...] = ()
    giver: Frame | None = None
    is_part: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueFlow:
    """The makers of a wrong value, in one failing test.

    Attributes:
        node_id: The test.
        error: First line of the error that the test ended with.
        user: The function of the project that found it wrong, and its line.
        condition: The check, or the call, that refused it; empty if there is none.
        values: What was wrong.
    """

    node_id: str
    error: str
    user: Frame
    condition: str = ""
    values: tuple[WrongValue, ...] = ()
