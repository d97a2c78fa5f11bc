"""An advisor that answers what a test told it to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_bayesloc.domain.ports import ProposedCode, TargetContext
    from pytest_bayesloc.inspection.strategies.generated import Reflection

T = TypeVar("T")


@dataclass
class FakeAdvisor:
    """Notes what it is shown.

    Attributes:
        proposed: What it proposes, by the qualified name of the target.
        reflection: What it makes of an inspection.
        shown: The targets that it was shown.
        seen: What inspections showed it.
    """

    proposed: dict[str, ProposedCode] = field(default_factory=dict)
    reflection: Reflection | None = None
    shown: list[TargetContext] = field(default_factory=list)
    seen: list[TargetContext] = field(default_factory=list)

    def propose(self, context: TargetContext) -> ProposedCode | None:
        self.shown.append(context)
        return self.proposed.get(context.target.location.qualname)

    def reflect(self, context: TargetContext) -> Reflection | None:
        self.seen.append(context)
        return self.reflection


@dataclass
class Answered:
    """A call that ended at once, or never does."""

    value: object
    is_late: bool = False

    def is_done(self) -> bool:
        return not self.is_late

    def result(self, seconds: float) -> object:
        if self.is_late:
            raise TimeoutError(f"no answer within {seconds:g} s")
        return self.value


def at_once(call: Callable[[], T]) -> Answered:
    return Answered(call())


def never(call: Callable[[], T]) -> Answered:
    del call
    return Answered(None, is_late=True)
