"""The three stages of a bug in a language model's words, on top of those by rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from pytest_bayesloc.domain.bug import (
    HYPOTHESIS_LENGTH,
    LESSON_LENGTH,
    STRATEGY_LENGTH,
    WHY_LENGTH,
    BugRecord,
    Edit,
    Setback,
    Success,
    Symptom,
    clipped,
)
from pytest_bayesloc.domain.ports import Summarizer
from pytest_bayesloc.llm.answers import Answers, Prompt
from pytest_bayesloc.llm.prompts import render
from pytest_bayesloc.llm.schemas import Answer, Beginning, Failed, Mended

T = TypeVar("T", bound=Answer)

MARK = "LLM: "  # before what a language model said, wherever it is kept
_LONG, _SHORT = 4_000, 1_000


class LlmSummarizer:
    """Asks a language model; where there is no answer, the rules have the word.

    Args:
        answers: Who is asked.
        model: Its name.
        rules: What is said without it.
        count: Told of each answer that was of use.
        shows: Whether the text of a file may be sent.
    """

    def __init__(
        self,
        answers: Answers,
        model: str,
        rules: Summarizer,
        count: Callable[[str], None],
        shows: Callable[[str], bool],
    ) -> None:
        self._answers = answers
        self._model = model
        self._rules = rules
        self._count = count
        self._shows = shows

    def begun(self, symptom: Symptom, *, raised_at: str, p: float) -> str:
        """A hypothesis; the likeliest place, which rules know, stands before it."""
        said = self._rules.begun(symptom, raised_at=raised_at, p=p)
        answer = self._asked(
            "begun",
            Beginning,
            error=symptom.error[:_LONG],
            code=symptom.code[:_LONG] if self._may_show(symptom) else "(not shown)",
            rules=said,
        )
        if answer is None:
            return said
        place = said.partition("; ")[0]
        return clipped(f"{place}; {MARK}{answer.hypothesis}", HYPOTHESIS_LENGTH)

    def failed(self, record: BugRecord, edit: Edit, now: Symptom) -> Setback:
        """What is learned from a trial that failed."""
        said = self._rules.failed(record, edit, now)
        own = {"plan": edit.plan[:_SHORT], "now": now.error[:_SHORT]}
        answer = self._asked("failed", Failed, **self._trial(record, edit), **own)
        if answer is None:
            return said
        return replace(
            said,
            why=marked(answer.why_failed, WHY_LENGTH) or said.why,
            strategy=said.strategy or marked(answer.failed_strategy_summary, STRATEGY_LENGTH),
            # What rules say is proven: it stands first.
            constraint=_joined(said.constraint, answer.learned_constraint, LESSON_LENGTH),
        )

    def succeeded(self, record: BugRecord, edit: Edit) -> Success:
        """What is learned from the trial that mended it."""
        said = self._rules.succeeded(record, edit)
        answer = self._asked("succeeded", Mended, **self._trial(record, edit))
        if answer is None:
            return said
        return replace(
            said,
            why=marked(answer.why_worked, WHY_LENGTH) or said.why,
            insight=marked(answer.key_insight, LESSON_LENGTH) or said.insight,
            cause=marked(answer.final_root_cause, WHY_LENGTH),
        )

    def _asked(self, template: str, shape: type[T], **values: object) -> T | None:
        """An answer to the prompt ``template``, counted."""
        prompt = Prompt(
            use="summary",
            system=render("system"),
            user=render(template, **values),
            max_tokens=500,
        )
        answer = self._answers.ask(prompt, shape, self._model)
        if answer is not None:
            self._count("summary")
        return answer

    def _trial(self, record: BugRecord, edit: Edit) -> dict[str, object]:
        """What is told of every trial."""
        return {
            "error": record.symptom.error[:_LONG],
            "diff": self._diff(edit),
            "tried": [*record.failed_strategies[-5:]] or ["nothing"],
        }

    def _may_show(self, symptom: Symptom) -> bool:
        """Whether all the code around the failure may be sent."""
        files = {node_id.partition("::")[0] for node_id in symptom.tests}
        files |= {suspect.partition(" ")[0] for suspect in symptom.suspects}
        return all(self._shows(file) for file in files)

    def _diff(self, edit: Edit) -> str:
        """The change; without its text where a file of it is not to be sent."""
        files = {function.partition(" ")[0] for function in edit.functions}
        if all(self._shows(file) for file in files):
            return edit.diff[:_LONG] or ", ".join(edit.functions) or "(not known)"
        return ", ".join(edit.functions)


def _joined(said: str, more: str, length: int) -> str:
    """What rules say, then what a model says."""
    parts = (said, marked(more, length))
    return clipped("; ".join(part for part in parts if part), length)


def marked(text: str, length: int) -> str:
    """``text`` with the mark of its origin, cut; nothing if it says nothing."""
    return clipped(f"{MARK}{text}", length) if text.strip() else ""
