"""The memory finds older failures by their words."""

from __future__ import annotations

from pytest_bayesloc.memory.retrieval import candidates
from tests.integration.memory.conftest import Story, red, symptom


def test_candidates_are_the_older_failures_that_share_the_rarest_words(story: Story) -> None:
    for n in range(3):
        story.run(red(symptom(f"ValueError: common{n}", (f"t::{n}",), fingerprint=f"1:{n}")))
    rare = symptom("ValueError: zebra", ("t::z",), fingerprint="1:z")
    (event,) = story.run(red(rare))
    (last,) = story.run(red(symptom("ValueError: zebra too", ("t::y",), fingerprint="1:y")))

    found = candidates(story.ledger, ("ValueError: zebra too", rare.tags), before=last.bug)

    assert event.bug in {bug for bug, _ in found}
    assert last.bug not in {bug for bug, _ in found}
