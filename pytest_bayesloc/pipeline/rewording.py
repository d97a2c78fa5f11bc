"""Hypotheses and lessons in a language model's words, after they were kept in those of rules.

A language model takes long: nobody waits for it while the memory is held, and where it does not
answer, or the run is killed, the words of the rules stand.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pytest_bayesloc.domain.advice import Advice
    from pytest_bayesloc.domain.bug import TrialSummary
    from pytest_bayesloc.memory.episodes import Event
    from pytest_bayesloc.memory.store import BugStore
    from pytest_bayesloc.memory.summaries import Ask, RuleSummarizer
    from pytest_bayesloc.pipeline.guide import LlmStage

TRY = "to try, by the language model: "


def reworded(
    store: BugStore,
    project: str,
    llm: LlmStage,
    advice: Sequence[Advice],
    kept: tuple[Sequence[Event], RuleSummarizer],
) -> list[Advice]:
    """Reword what the run added to the memory, and return the advice in the new words.

    What became of each bug is ``kept``, with the texts by rules.

    Raises:
        StoreError: If the store can't be used.
    """
    from pytest_bayesloc.memory.ledger import Ledger

    events, rules = kept
    with store.transaction(write=False) as connection:
        touched = Ledger(connection, project).bugs([event.bug for event in events])
    bugs = {record.id: bug for bug, record in touched.items()}
    changes = list(_changes(events, rules, bugs, llm))
    found = list(advice)
    if changes:
        with store.transaction() as connection:
            ledger = Ledger(connection, project)
            for bug, number, said in changes:
                ledger.reword(bug, number, said)
            now = ledger.bugs([bugs[item.record.id] for item in found])
        found = [replace(item, record=now[bugs[item.record.id]]) for item in found]
    return _with_approaches(found, llm)


def _changes(
    events: Iterable[Event], rules: RuleSummarizer, bugs: Mapping[str, int], llm: LlmStage
) -> Iterator[tuple[int, int, str | TrialSummary]]:
    """Yield the texts that differ.

    Each comes behind the number of its bug, and that of its trial (0: the bug's hypothesis).
    """
    requests: list[tuple[int, int, str | TrialSummary, Ask]] = [
        (event.bug, 0, *rules.hypotheses[event.group]) for event in events if event.kind == "begun"
    ]
    requests += [
        (bugs[record.id], len(record.trials) + 1, summary, ask)
        for record, summary, ask in rules.trials
    ]
    asked = (((bug, n, said), partial(ask, llm.summarizer)) for bug, n, said, ask in requests)
    for (bug, number, before), text in llm.answers(asked):
        if text != before:
            yield bug, number, text


def _with_approaches(advice: Sequence[Advice], llm: LlmStage) -> list[Advice]:
    """Add three different things to try to warnings of loops."""
    listed = list(advice)
    asked = (
        (
            i,
            partial(
                llm.advisor.approaches,
                error=item.record.symptom.error[:4_000],
                tried=item.record.failed_strategies,
                known=item.record.learned_constraints,
            ),
        )
        for i, item in enumerate(advice)
        if item.loop is not None
    )
    for i, named in llm.answers(asked):
        if (loop := listed[i].loop) is not None:
            more = (f"{TRY}{approach}" for approach in named)
            listed[i] = replace(listed[i], loop=replace(loop, messages=(*loop.messages, *more)))
    return listed
