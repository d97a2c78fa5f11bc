"""The stages of a bug put in other words, after they were kept in those of rules.

A language model takes long: nobody waits for it while the memory is held, and where it does not
answer, or the run is killed, the words of the rules stand.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from pytest_bayesloc.llm.endpoint import Later

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pytest_bayesloc.domain.advice import Advice
    from pytest_bayesloc.domain.bug import BugRecord, Edit, Setback, Success, Symptom
    from pytest_bayesloc.domain.ports import Summarizer
    from pytest_bayesloc.memory.episodes import Event
    from pytest_bayesloc.memory.ledger import Ledger
    from pytest_bayesloc.memory.store import BugStore
    from pytest_bayesloc.pipeline.guide import Guiding

TRY = "to try, by the language model: "


@dataclass(kw_only=True)
class Noting:
    """Lets rules word the stages, and notes what was worded.

    Attributes:
        rules: Who words them.
        begun_with: What was asked for each group of failing tests.
        failed_with: What was asked for each failed trial, with the id of its bug.
        succeeded_with: Likewise for each trial that mended one.
    """

    rules: Summarizer
    begun_with: list[tuple[Symptom, str, float, str]] = field(default_factory=list)
    failed_with: list[tuple[BugRecord, Edit, Symptom, Setback]] = field(default_factory=list)
    succeeded_with: list[tuple[BugRecord, Edit, Success]] = field(default_factory=list)

    def begun(self, symptom: Symptom, *, raised_at: str, p: float) -> str:
        """The hypothesis of the rules."""
        said = self.rules.begun(symptom, raised_at=raised_at, p=p)
        self.begun_with.append((symptom, raised_at, p, said))
        return said

    def failed(self, record: BugRecord, edit: Edit, now: Symptom) -> Setback:
        """What rules learn from a trial that failed."""
        said = self.rules.failed(record, edit, now)
        self.failed_with.append((record, edit, now, said))
        return said

    def succeeded(self, record: BugRecord, edit: Edit) -> Success:
        """What rules learn from the trial that mended a bug."""
        said = self.rules.succeeded(record, edit)
        self.succeeded_with.append((record, edit, said))
        return said


@dataclass(frozen=True, kw_only=True)
class Reword:
    """What there is to put in other words after a run.

    Attributes:
        noting: What was worded by rules.
        events: What became of each bug.
        project: Whose bugs they are.
    """

    noting: Noting
    events: tuple[Event, ...] = ()
    project: str = ""

    def __call__(
        self, store: BugStore, guiding: Guiding, advice: Sequence[Advice]
    ) -> Sequence[Advice]:
        """The same advice, and what is kept of the run, in a language model's words.

        Raises:
            StoreError: If the store can't be used.
        """
        from pytest_bayesloc.memory.ledger import Ledger

        with store.transaction(write=False) as connection:
            touched = Ledger(connection, self.project).bugs([event.bug for event in self.events])
        ids = {record.id: bug for bug, record in touched.items()}
        changes = self._changes(ids, guiding)
        found = list(advice)
        if changes:
            with store.transaction() as connection:
                ledger = Ledger(connection, self.project)
                for change in changes:
                    change(ledger)
                now = ledger.bugs([ids[item.record.id] for item in found])
            found = [replace(item, record=now[ids[item.record.id]]) for item in found]
        return with_approaches(found, guiding)

    def _changes(self, ids: Mapping[str, int], guiding: Guiding) -> list[Callable[[Ledger], None]]:
        """What to change in the memory: all is asked at once, and waited for in turn."""
        other, noting = guiding.summarizer(self.noting.rules), self.noting
        asked: list[_Asked] = []
        for event in self.events:
            if event.what == "begun":
                symptom, raised_at, p, said = noting.begun_with[event.red]
                ask = partial(other.begun, symptom, raised_at=raised_at, p=p)
                asked.append(_Asked(bug=event.bug, said=said, later=Later(ask)))
        for record, edit, now, setback in noting.failed_with:
            failed = Later(partial(other.failed, record, edit, now))
            asked.append(_of_trial(record, ids, setback, failed))
        for record, edit, success in noting.succeeded_with:
            mended = Later(partial(other.succeeded, record, edit))
            asked.append(_of_trial(record, ids, success, mended))
        return [change for item in asked if (change := item.change(guiding.left_s())) is not None]


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """One wording that was asked for: of a bug, or of a trial."""

    bug: int
    said: str | Setback | Success
    later: Later[Any]
    trial: int = 0

    def change(self, seconds: float) -> Callable[[Ledger], None] | None:
        """What to change; None if nothing else was said in time."""
        try:
            said = self.later.result(seconds)
        except TimeoutError:
            return None
        if said == self.said:
            return None
        if isinstance(said, str):
            return lambda ledger: ledger.reword(self.bug, said)
        return lambda ledger: ledger.reword_trial(self.bug, self.trial, said)


def _of_trial(
    record: BugRecord, ids: Mapping[str, int], said: Setback | Success, later: Later[Any]
) -> _Asked:
    return _Asked(bug=ids[record.id], said=said, later=later, trial=len(record.trials) + 1)


def with_approaches(advice: Iterable[Advice], guiding: Guiding) -> list[Advice]:
    """Advice whose warnings of loops name three different things to try."""
    listed = list(advice)
    asked = {
        i: Later(
            partial(
                guiding.advisor.approaches,
                error=item.record.symptom.error[:4_000],
                code="",
                tried=item.record.failed_strategies,
                known=item.record.learned_constraints,
            )
        )
        for i, item in enumerate(listed)
        if item.loops
    }
    for i, later in asked.items():
        try:
            named = later.result(guiding.left_s())
        except TimeoutError:
            continue
        first, *rest = listed[i].loops
        more = tuple(f"{TRY}{approach}" for approach in named)
        listed[i] = replace(listed[i], loops=(replace(first, said=first.said + more), *rest))
    return listed
