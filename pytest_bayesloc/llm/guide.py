"""A language model as a guide: what it is shown, and what its answers may mean."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from pytest_bayesloc.domain.evidence import Decision
from pytest_bayesloc.domain.guiding import (
    Applicability,
    Code,
    FailingTest,
    FaultView,
    Observation,
    ProposedCode,
    Reflection,
    Suspicion,
    TargetView,
)
from pytest_bayesloc.llm.answers import Answers, Prompt
from pytest_bayesloc.llm.prompts import render
from pytest_bayesloc.llm.schemas import (
    N_CANDIDATES,
    Applicable,
    Approaches,
    Suspects,
    Verdict,
    inspection_of,
)

MAX_PROMPT = 24_000  # characters of one prompt, if nothing else is said
_FRAME = 2_500  # of that, what is no code
_SHORTEST = 200
_CODE_OF_FIX = 500  # characters of code that a fix is judged on


class LlmGuide:
    """Asks a language model; where there is no answer, it says None.

    Args:
        answers: Who is asked.
        model: For ranking, inspections and reflections.
        fast_model: For what is less hard.
        max_prompt: Characters of one prompt.
    """

    def __init__(
        self, answers: Answers, model: str, fast_model: str = "", max_prompt: int = MAX_PROMPT
    ) -> None:
        self._answers = answers
        self._fast = fast_model or model
        self._max_prompt = max_prompt
        self.name = model
        self.uses: Counter[str] = Counter()
        self._lock = threading.Lock()

    def count(self, use: str) -> None:
        """Count an answer that was of use; may be called from several threads."""
        with self._lock:
            self.uses[use] += 1

    def suspect(self, view: FaultView) -> Sequence[Suspicion] | None:
        """The candidates that it suspects, most suspect first."""
        pieces = sorted(view.candidates[:N_CANDIDATES], key=lambda code: code.location)
        if not pieces:
            return None
        tests = [self._test(test, 4 * len(view.tests)) for test in view.tests]
        room = (self._max_prompt - _FRAME) * 3 // (4 * len(pieces))
        shown = replace(
            view, tests=tuple(tests), candidates=tuple(_cut(code, room) for code in pieces)
        )
        prompt = self._prompt("ranking", "ranking", 600, view=shown)
        answer = self._answers.ask(prompt, Suspects, self.name)
        if answer is None:
            return None
        reasons: dict[int, str] = {}
        for suspect in answer.suspects:
            if suspect.candidate <= len(pieces):
                reasons.setdefault(suspect.candidate, suspect.reason)
        self.count("ranking")
        return [
            Suspicion(location=pieces[number - 1].location, reason=reason)
            for number, reason in reasons.items()
        ]

    def propose(self, view: TargetView) -> ProposedCode | None:
        """The target with assertions about what it should do."""
        view = self._fitted(view)
        shape = inspection_of(view.target.text)
        prompt = self._prompt("inspection", "inspection", 2_000, view=view)
        answer = self._answers.ask(prompt, shape, self.name)
        if answer is None:
            return None
        self.count("inspection")
        return ProposedCode(text=answer.code, why=answer.why)

    def reflect(self, view: TargetView, seen: Observation) -> Reflection | None:
        """What an inspection of the target means."""
        prompt = self._prompt("reflection", "reflection", 300, view=self._fitted(view), seen=seen)
        answer = self._answers.ask(prompt, Verdict, self.name)
        if answer is None:
            return None
        self.count("reflection")
        return Reflection(decision=Decision(answer.decision), reason=answer.reason)

    def mend(self, view: TargetView) -> ProposedCode | None:
        """The target, mended."""
        view = self._fitted(view)
        prompt = self._prompt("fix", "mend", 2_000, view=view)
        answer = self._answers.ask(prompt, inspection_of(view.target.text), self.name)
        if answer is None:
            return None
        self.count("mend")
        return ProposedCode(text=answer.code, why=answer.why)

    def approaches(
        self, *, error: str, code: str, tried: Iterable[str], known: Iterable[str]
    ) -> tuple[str, ...]:
        """Three different things to try; nothing if there is no answer."""
        told = {"tried": list(tried) or ["nothing"], "known": list(known)}
        prompt = self._prompt("approaches", "approaches", 300, error=error, code=code, **told)
        answer = self._answers.ask(prompt, Approaches, self._fast)
        if answer is None:
            return ()
        self.count("approaches")
        return tuple(answer.approaches)

    def is_applicable(self, error: str, code: str, fix: str) -> Applicability | None:
        """Whether a fix, given in words, is for an error."""
        prompt = self._prompt(
            "judgement of a fix", "applicable", 200, error=error, code=code[:_CODE_OF_FIX], fix=fix
        )
        answer = self._answers.ask(replace(prompt, temperature=0.1), Applicable, self._fast)
        if answer is None:
            return None
        self.count("fix")
        return Applicability(
            applicable=answer.applicable, confidence=answer.confidence, reasoning=answer.reasoning
        )

    def _prompt(self, use: str, template: str, max_tokens: int, **values: object) -> Prompt:
        return Prompt(
            use=use, system=render("system"), user=render(template, **values), max_tokens=max_tokens
        )

    def _fitted(self, view: TargetView) -> TargetView:
        """``view`` cut such that the prompt is not too long; the target comes first."""
        room = self._max_prompt - _FRAME
        target = _cut(view.target, room // 2)
        others = len(view.callers) + len(view.callees)
        each = room // (4 * max(1, others))
        return replace(
            view,
            target=target,
            test=self._test(view.test, 4),
            callers=tuple(_cut(code, each) for code in view.callers),
            callees=tuple(_cut(code, each) for code in view.callees),
        )

    def _test(self, test: FailingTest, share: int) -> FailingTest:
        """``test`` in one part of ``share`` of the prompt."""
        room = max(_SHORTEST, (self._max_prompt - _FRAME) // (3 * share))
        return replace(
            test,
            error=_clip(test.error, room),
            code=test.code and _cut(test.code, room),
            trace=tuple(_clip("\n".join(test.trace[-12:]), room).splitlines()),
        )


def _cut(code: Code, room: int) -> Code:
    return replace(code, text=_clip(code.text, max(_SHORTEST, room)))


def _clip(text: str, length: int) -> str:
    """``text`` without its middle, if it is too long: both ends tell more."""
    if len(text) <= length:
        return text
    half = (length - 40) // 2
    return f"{text[:half]}\n... ({len(text) - 2 * half} characters left out)\n{text[-half:]}"
