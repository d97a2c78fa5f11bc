"""Over random stories, no advice teaches what the posterior or a mend contradicts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_bayesloc.domain.advice import Advice, Remembered
from pytest_bayesloc.domain.bug import (
    LLM_MARK,
    BugRecord,
    Category,
    CodeEdit,
    DebugTrial,
    Run,
    Symptom,
)
from pytest_bayesloc.memory import episodes
from pytest_bayesloc.memory.advice import Adviser
from pytest_bayesloc.memory.episodes import Episodes, failed_trial
from pytest_bayesloc.memory.ledger import Ledger
from pytest_bayesloc.memory.sightings import PassingSighting
from pytest_bayesloc.memory.symptoms import without_contradicted
from pytest_bayesloc.report.memory import advice_lines, memory_entry
from tests.fakes.memory import fresh_memory

pytestmark = pytest.mark.one_python

START = datetime(2026, 11, 22, tzinfo=timezone.utc)
FUNCTIONS = ("a.py check", "a.py Cart.add", "b.py load")
NAMES = st.sampled_from(FUNCTIONS)
TAGS = frozenset(f"api:{name.partition(' ')[2]}" for name in FUNCTIONS)
TAUGHT = ("learned: ", "constraint: ", "avoid")


def says(function: str) -> str:
    """What a model says of it."""
    return f"leave {function.partition(' ')[2]} alone"


@dataclass(frozen=True)
class Step:
    """One run of a story, after an edit."""

    test: str
    edited: str
    demand: str
    model_says: str
    suspects: tuple[str, ...]
    p_first: float
    error: int
    passes: bool


STEPS = st.builds(
    Step,
    test=st.sampled_from(["t.py::test_a", "t.py::test_b"]),
    edited=NAMES,
    demand=st.one_of(st.just(""), NAMES.map(lambda f: f"{f.partition(' ')[2]} needs n > 0")),
    model_says=st.one_of(st.just(""), NAMES.map(says)),
    suspects=st.permutations(FUNCTIONS).map(tuple),
    p_first=st.floats(0, 1),
    error=st.integers(0, 1),
    passes=st.booleans(),
)


def failed_as_a_model_says(
    step: Step, run: Run, record: BugRecord, edit: CodeEdit, now: Symptom, metric: float
) -> DebugTrial:
    """A failed trial with what a language model says of it, whatever is true."""
    said = failed_trial(run, record, edit, now, metric)
    model = f"{LLM_MARK}{step.model_says}" if step.model_says else ""
    return replace(said, lesson="; ".join(filter(None, (said.lesson, model))))


def symptom_of(step: Step) -> Symptom:
    signature = f"ValueError: wrong {step.error}"
    return without_contradicted(
        Symptom(
            failing={step.test: f"1:{step.error}"},
            signatures={f"1:{step.error}": signature},
            errors=frozenset({signature}),
            signature=signature,
            category=Category.VALUE_ERROR,
            hypothesis="",
            tags=TAGS,
            error=signature,
            code="",
            constraint=step.demand,
            suspects=step.suspects,
            p_first=step.p_first,
        )
    )


def edit_of(step: Step) -> CodeEdit:
    return CodeEdit(functions=(step.edited,), diff="-a\n+b\n", n_added=1, n_removed=1)


@given(steps=st.lists(STEPS, min_size=1, max_size=8))
def test_nothing_is_taught_that_the_posterior_or_a_mend_contradicts(steps: list[Step]) -> None:
    mended: set[str] = set()
    with fresh_memory() as connection:
        ledger = Ledger(connection, "shop")
        for number, step in enumerate(steps):
            if step.demand and step.edited == owner(step.demand):
                step = replace(step, demand="")  # noqa: PLW2901 - who edits a guard states none
            taught = lines_of(ledger, step, number)
            if taught is None:
                mended.add(step.edited)
                continue
            # A demand was read from the code as it is now, and the model has seen it like that.
            mended -= {owner(step.demand), *(f for f in FUNCTIONS if step.model_says == says(f))}
            wrong = {*mended, *symptom_of(step).believed}
            names = [name.partition(" ")[2] for name in wrong]
            assert not [text for text in taught for name in names if name in text]


def owner(demand: str) -> str:
    """The function that demands it."""
    return next((f for f in FUNCTIONS if demand.startswith(f"{f.partition(' ')[2]} ")), "")


def lines_of(ledger: Ledger, step: Step, number: int) -> list[str] | None:
    """What a run teaches; None if it mends a bug."""
    run = Run(
        id=f"run{number}",
        workspace="w",
        made_at=START + timedelta(hours=number),
        revision="r",
        n_passed=9,
        n_failed=1,
    )
    ledger.add_run(run)
    bugs = {bug: record.symptom.tests for bug, record in ledger.open_bugs().items()}
    own = [bug for bug, tests in bugs.items() if step.test in tests]
    if step.passes and own:
        passed = PassingSighting(passed=frozenset({step.test}), edit=edit_of(step))
        events = Episodes(ledger, run).advance([], {own[0]: passed})
        return None if any(event.kind == "resolved" for event in events) else []
    symptom = replace(
        symptom_of(step),
        executed=frozenset(FUNCTIONS),
        edit=edit_of(step),
        code_state=str(number),
        test_state="t",
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(episodes, "failed_trial", partial(failed_as_a_model_says, step))
        (event, *_) = Episodes(ledger, run).advance([symptom], {})
    adviser = Adviser(ledger, "w")
    advice = adviser.advise(replace(event, message=""), symptom, "in the code")
    remembered = Remembered(advice=(advice,), world=adviser.world([symptom]))
    lines = [line.text.strip() for line in advice_lines(memory_entry(remembered), in_full=True)]
    check_opinion(lines, advice, symptom)
    return [text.partition(": ")[2] for text in lines if text.startswith(TAUGHT)]


def check_opinion(lines: list[str], advice: Advice, symptom: Symptom) -> None:
    """No second opinion speaks against the likeliest place or a mend, or leads away from it."""
    mended = {like.record.root_cause for like in advice.similar} - {""}
    against = [text.partition(": ")[0] for text in lines if "speaks against" in text]
    assert not [text for text in against for name in (*mended, *symptom.believed) if name in text]
    led = [text for text in lines if text.startswith("experiment")]
    astray = [name for name in FUNCTIONS if symptom.believed and name not in symptom.believed]
    assert not [text for text in led for name in astray if name in text]
    n_opinion = sum(text.startswith(("experiment", "all ", "the evidence sp")) for text in lines)
    assert n_opinion - sum(text.startswith("all these") for text in lines) <= 4
    assert not led or len(advice.record.trials) >= 2
