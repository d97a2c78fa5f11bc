"""What a guide said is kept until it is known whether it was right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_bayesloc.domain.evidence import Judgement
from pytest_bayesloc.memory.episodes import Green
from pytest_bayesloc.memory.judgements import Judgements, counted
from tests.integration.memory.conftest import edit, red

if TYPE_CHECKING:
    from tests.integration.memory.conftest import Story

FIRST, OVER = Judgement.LLM_FIRST, Judgement.LLM_PASSED_OVER
SAID = [("ranking", "knots.py check", FIRST), ("ranking", "curve.py insert", OVER)]
MENDED = Green(passed=frozenset({"t.py::test_a"}), edit=edit("knots.py check"))


def test_fix_tells_what_was_right(story: Story) -> None:
    (event,) = story.run(red())
    Judgements(story.ledger).add(event.bug, "gpt", SAID)
    assert counted(story.ledger.db, "gpt") == {}

    story.run(greens={event.bug: MENDED})

    assert counted(story.ledger.db, "gpt") == {
        ("ranking", FIRST, True): 1,
        ("ranking", OVER, False): 1,
    }
    assert counted(story.ledger.db, "another") == {}


def test_last_word_on_a_bug_counts_and_counts_once(story: Story) -> None:
    (event,) = story.run(red())
    judgements = Judgements(story.ledger)
    for _ in range(3):
        judgements.add(event.bug, "gpt", SAID)
    judgements.add(event.bug, "gpt", [("ranking", "curve.py insert", FIRST)])

    story.run(greens={event.bug: MENDED})

    assert counted(story.ledger.db, "gpt") == {("ranking", FIRST, False): 1}
