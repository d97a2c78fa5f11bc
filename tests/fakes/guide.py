"""A guide that answers what a test told it to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_bayesloc.domain.guiding import (
        FaultView,
        Observation,
        ProposedCode,
        Reflection,
        Suspicion,
        TargetView,
    )
    from pytest_bayesloc.domain.ports import Guide

T = TypeVar("T")


@dataclass
class FakeGuide:
    """Notes what it is shown.

    Attributes:
        name: What its record is kept under.
        suspicions: What it suspects.
        proposed: What it proposes, by the qualified name of the target.
        reflection: What it makes of an inspection.
        shown: The targets that it was shown.
        seen: What inspections showed it.
    """

    name: str = "fake"
    suspicions: Sequence[Suspicion] | None = None
    proposed: dict[str, ProposedCode] = field(default_factory=dict)
    reflection: Reflection | None = None
    shown: list[TargetView] = field(default_factory=list)
    seen: list[Observation] = field(default_factory=list)

    def suspect(self, view: FaultView) -> Sequence[Suspicion] | None:
        del view
        return self.suspicions

    def propose(self, view: TargetView) -> ProposedCode | None:
        self.shown.append(view)
        return self.proposed.get(view.target.location.qualname)

    def reflect(self, view: TargetView, seen: Observation) -> Reflection | None:
        del view
        self.seen.append(seen)
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


def as_port(guide: FakeGuide) -> Guide:
    """``guide`` as what it stands for: the type checker holds it to the port."""
    return guide
