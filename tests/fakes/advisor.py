"""A language model's part in inspections that answers what a test told it to."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Event
from typing import TYPE_CHECKING, Any

from pytest_bayesloc.domain.inspection import InspectionPatch
from pytest_bayesloc.inspection.strategies.llm import FIXES
from pytest_bayesloc.inspection.views import Views

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_bayesloc.domain.inspection import Rerun
    from pytest_bayesloc.domain.location import Location
    from pytest_bayesloc.domain.ports import ProposedCode, TargetContext, Turn
    from pytest_bayesloc.domain.source import SourceMap, Unit
    from pytest_bayesloc.inspection.strategies.llm import Answer, Attempt, Reflection, Suspicions
    from pytest_bayesloc.ranking.case import Case
    from pytest_bayesloc.ranking.evidence.judgements import VerdictCounts


@dataclass(kw_only=True)
class FakeGuide:
    """Notes what it is asked; its answers come at once, or never.

    Attributes:
        source: The only file; ``old`` becomes ``new`` in what it fixes.
        proposed: The assertions that it writes, by the qualified name of the target.
        reflection: What it makes of an inspection.
        fix: Its fix of each function.
        suspicions: Its answer to one prompt.
        turns: What it says in conversations.
        n_samples: Conversations that the limits leave room for.
        is_silent: Whether no answer ever comes.
        asserted: The targets of which it was asked for assertions.
        seen: What inspections showed it.
        fixed: The functions that it was to fix.
        heard: The answers to its calls.
        notes: What the user is told.
    """

    source: SourceMap
    old: str = "a - b"
    new: str = "a + b"
    proposed: Mapping[str, ProposedCode] = field(default_factory=dict)
    reflection: Reflection | None = None
    fix: ProposedCode | None = None
    suspicions: Suspicions | None = None
    turns: Sequence[Turn | None] = ()
    n_samples: int = 1
    is_silent: bool = False
    asserted: list[Location] = field(default_factory=list)
    seen: list[TargetContext] = field(default_factory=list)
    fixed: list[Location] = field(default_factory=list)
    heard: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    name: str = "fake"
    counts: VerdictCounts = field(default_factory=dict)
    n_begun: int = 0

    def __post_init__(self) -> None:
        self._left = iter(self.turns)
        self._views = Views(lambda _: self.source)

    def _silence(self) -> None:
        if self.is_silent:
            Event().wait()

    def unit(self, location: Location) -> tuple[SourceMap, Unit] | None:
        unit = self.source.unit(location)
        return None if unit is None else (self.source, unit)

    def note(self, text: str) -> None:
        self.notes.append(text)

    def ask_assertions(self, _: Case, target: Location) -> Callable[[], ProposedCode | None]:
        self.asserted.append(target)

        def call() -> ProposedCode | None:
            self._silence()
            return self.proposed.get(target.qualname)

        return call

    def ask_meaning(
        self, case: Case, patch: InspectionPatch, rerun: Rerun
    ) -> Callable[[], Reflection | None]:
        shown = self._views.target(case, patch.target)
        self.seen.append(self._views.inspected(shown, case, patch, rerun))
        return lambda: self.reflection

    def ask_fix(self, _: Case, target: Location) -> Callable[[], ProposedCode | None]:
        self.fixed.append(target)

        def call() -> ProposedCode | None:
            self._silence()
            return self.fix

        return call

    def patch_of(self, _: Case, target: Location, answer: ProposedCode) -> InspectionPatch:
        return self._edit(target, answer.why)

    def _edit(self, target: Location, words: str) -> InspectionPatch:
        return InspectionPatch(
            target=target,
            kind=FIXES,
            original=self.source.text,
            patched=self.source.text.replace(self.old, self.new),
            line=2,
            words=words,
        )

    def suspect(self, _: Case) -> Suspicions | None:
        self._silence()
        return self.suspicions

    def questions(self, _: Case) -> Answer:
        return self._answer

    def _answer(self, name: str, _: Mapping[str, Any], attempt: Attempt) -> str:
        """Try an edit of the first function, or look at something."""
        if name == "look":
            return "here"
        return str(dict(attempt(self._edit(self.source.units[1].location, "+"))))

    def conversation(self, _: Case, sample: int) -> Callable[[Sequence[str]], Turn | None]:
        assert sample == self.n_begun
        self.n_begun += 1
        return self._next

    def _next(self, answers: Sequence[str]) -> Turn | None:
        self._silence()
        self.heard += answers
        return next(self._left)

    def may_converse(self) -> bool:
        return self.n_begun < self.n_samples
