"""What a run leaves with each bug: what was advised, tried in vain, and said by a guide."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_bayesloc.domain.advice import Advice
    from pytest_bayesloc.memory.episodes import Event
    from pytest_bayesloc.memory.ledger import Ledger
    from pytest_bayesloc.memory.sightings import Run
    from pytest_bayesloc.ranking.case import Case
    from pytest_bayesloc.rerun.rejected import Rejected


def keep_said(ledger: Ledger, advice: Sequence[Advice], events: Sequence[Event], run: Run) -> None:
    """Note per bug what was advised, so that the fix can tell whether it was right."""
    from pytest_bayesloc.memory.worth import Worth

    worth = Worth(ledger)
    bugs = [event.bug for event in events if event.red >= 0]
    for bug in dict.fromkeys(bugs):
        own = [item for item, other in zip(advice, bugs, strict=True) if other == bug]
        causes = (like.record.root_cause.split(", ") for item in own for like in item.similar)
        suggested = sorted({name for names in causes for name in names if name})
        kinds = sorted({loop.kind for item in own for loop in item.loops})
        worth.add_advice(bug, run.id, suggested, kinds, shown=run.arm == "on")


def keep_rejected(ledger: Ledger, events: Sequence[Event], rejected: Sequence[Rejected]) -> None:
    """Keep with each bug what was tried for it in vain, if anything was tried in this run."""
    from pytest_bayesloc.memory.rejections import add_rejections

    of_bug: dict[int, dict[str, str]] = {}
    for event in events if rejected else ():
        if event.red >= 0 and rejected[event.red].state:
            of_bug.setdefault(event.bug, {}).update(rejected[event.red].new)
    for bug, new in of_bug.items():
        add_rejections(ledger, bug, rejected[0].state, new)


def keep_judged(ledger: Ledger, events: Sequence[Event], cases: Sequence[Case]) -> None:
    """Keep with each bug what a guide said, until it is known whether it was right."""
    from pytest_bayesloc.history.edits import name_of
    from pytest_bayesloc.memory.judgements import Judgements

    for event in events if cases else ():
        if event.red >= 0 and cases[event.red].judged:
            judged = cases[event.red].judged
            said = [(item.use, name_of(item.location), item.said) for item in judged]
            Judgements(ledger).add(event.bug, judged[0].guide, said)
