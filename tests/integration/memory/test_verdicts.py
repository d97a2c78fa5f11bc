"""A model's verdicts are kept until the fix tells whether they were right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_bayesloc.domain.evidence import Judgement
from pytest_bayesloc.memory.feedback import add_verdicts, verdict_counts
from pytest_bayesloc.memory.sightings import PassingSighting
from tests.integration.memory.conftest import edit, red

if TYPE_CHECKING:
    from tests.integration.memory.conftest import Story

FIRST, OVER = Judgement.LLM_FIRST, Judgement.LLM_PASSED_OVER
VERDICTS = [("ranking", "knots.py check", FIRST), ("ranking", "curve.py insert", OVER)]
FIXED = PassingSighting(passed=frozenset({"t.py::test_a"}), edit=edit("knots.py check"))


def test_fix_tells_what_was_right(story: Story) -> None:
    (event,) = story.run(red())
    add_verdicts(story.ledger, event.bug, "gpt", VERDICTS)
    assert verdict_counts(story.ledger.db, "gpt") == {}

    story.run(passing={event.bug: FIXED})

    assert verdict_counts(story.ledger.db, "gpt") == {
        ("ranking", FIRST, True): 1,
        ("ranking", OVER, False): 1,
    }
    assert verdict_counts(story.ledger.db, "another") == {}


def test_last_word_on_a_bug_counts_and_counts_once(story: Story) -> None:
    (event,) = story.run(red())
    for _ in range(3):
        add_verdicts(story.ledger, event.bug, "gpt", VERDICTS)
    add_verdicts(story.ledger, event.bug, "gpt", [("ranking", "curve.py insert", FIRST)])

    story.run(passing={event.bug: FIXED})

    assert verdict_counts(story.ledger.db, "gpt") == {("ranking", FIRST, False): 1}
