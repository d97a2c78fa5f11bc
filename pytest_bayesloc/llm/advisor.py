"""A language model as an advisor on faults, and as a writer of summaries.

In a conversation it looks around by calling functions. Prompts are filled from templates; what
comes from elsewhere stands between marks in them.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, TypeVar

from pytest_bayesloc.domain.bug import (
    HYPOTHESIS_LENGTH,
    LESSON_LENGTH,
    LLM_MARK,
    STRATEGY_LENGTH,
    WHY_LENGTH,
    BugRecord,
    CodeEdit,
    DebugTrial,
    Symptom,
    clipped,
)
from pytest_bayesloc.domain.evidence import Decision
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.ports import (
    Code,
    FailingTest,
    FaultContext,
    ProposedCode,
    TargetContext,
    Turn,
)
from pytest_bayesloc.domain.texts import file_of_test, storable, text_digest
from pytest_bayesloc.llm.agent import SEED, TEMPERATURE, LlmAgent, Prompt, parsed, why
from pytest_bayesloc.llm.answers import (
    N_CANDIDATES,
    Applicability,
    ApproachesAnswer,
    HypothesisAnswer,
    ModelAnswer,
    NavigationAnswer,
    RankingAnswer,
    SetbackAnswer,
    SuccessAnswer,
    VerdictAnswer,
    code_answer,
    json_schema,
)
from pytest_bayesloc.llm.endpoint import ChatReply, ToolCall

if TYPE_CHECKING:
    from jinja2 import Environment

N_SUMMARY = 4  # calls that a summary takes at most
#: What the smaller model does.
FAST = frozenset({"approaches", "judgement of a fix", "summary"})
T = TypeVar("T", bound=ModelAnswer)

JUDGING = 0.1  # temperature of a judgement
_LONG, _SHORT = 4_000, 1_000  # characters in the prompt of a summary
_FRAME = 2_500  # of that, what is no code
_SHORTEST = 200
_CODE_OF_FIX = 500  # characters of code that a fix is judged on


class LlmAdvisor:
    """Asks a language model about faults; where there is no answer, it returns None.

    What is less hard is asked of ``fast_model``, if there is one. A prompt has ``max_prompt``
    characters at most, an answer ``max_answer`` tokens, those in which a model thinks included.
    """

    def __init__(
        self, agent: LlmAgent, model: str, fast_model: str, *, max_prompt: int, max_answer: int
    ) -> None:
        self._agent = agent
        self._fast = fast_model or model
        self._max_prompt = max_prompt
        self._max_answer = max_answer
        self.name = model
        self.uses: Counter[str] = Counter()
        self._lock = threading.Lock()

    def ask(self, use: str, template: str, shape: type[T], **values: object) -> T | None:
        """Return an answer to the prompt ``template``, filled with ``values``.

        It counts as one of ``use``. May be called from several threads.
        """
        prompt = Prompt(
            use=use,
            system=render("system", may_call=False),
            user=render(template, **values),
            max_tokens=self._max_answer,
            temperature=JUDGING if shape is Applicability else TEMPERATURE,
        )
        answer = self._agent.ask(prompt, shape, self._fast if use in FAST else self.name)
        if answer is not None:
            self._count(use)
        return answer

    def _count(self, use: str) -> None:
        with self._lock:
            self.uses[use] += 1

    def converse(
        self, context: FaultContext, functions: Sequence[dict[str, Any]], sample: int
    ) -> FunctionConversation:
        """Return conversation ``sample`` on what may be at fault: each has answers of its own."""
        shown = self._shown(context, sorted(context.candidates, key=lambda code: code.location))
        prompt = Prompt(
            use="ranking",
            system=render("system", may_call=True),
            user=render("ranking", view=shown, may_call=True),
            max_tokens=self._max_answer,
            seed=SEED + sample,
        )
        count = partial(self._count, "ranking")
        return FunctionConversation(
            self._agent, self.name, prompt, functions, self._max_prompt, count
        )

    def may_converse(self) -> bool:
        """Return whether the limits leave room for another conversation, and for a summary."""
        return self._agent.budget.has_left(MAX_TURNS + N_SUMMARY, MAX_TURNS * self._max_answer // 2)

    def suspect(self, context: FaultContext) -> dict[Location, str] | None:
        """Return the candidates that it suspects, most suspect first, each with its reason."""
        pieces = sorted(context.candidates[:N_CANDIDATES], key=lambda code: code.location)
        if not pieces:
            return None
        shown = self._shown(context, pieces)
        answer = self.ask("ranking", "ranking", RankingAnswer, view=shown, may_call=False)
        if answer is None:
            return None
        reasons: dict[Location, str] = {}
        for suspect in answer.suspects:
            if suspect.candidate <= len(pieces):
                reasons.setdefault(pieces[suspect.candidate - 1].location, suspect.reason)
        return reasons

    def _shown(self, context: FaultContext, pieces: Sequence[Code]) -> FaultContext:
        """Return ``context`` with these candidates, cut such that the prompt is not too long."""
        tests = [self._test(test, 4 * len(context.tests)) for test in context.tests]
        n_facts = sum(len(fact) for code in pieces for fact in code.facts)
        room = (self._max_prompt - _FRAME - n_facts) * 3 // (4 * max(1, len(pieces)))
        cut = tuple(_cut(code, room) for code in pieces)
        return replace(context, tests=tuple(tests), candidates=cut)

    def propose(self, context: TargetContext) -> ProposedCode | None:
        """Return the target with assertions about what it should do."""
        return self._proposed("inspection", context)

    def reflect(self, context: TargetContext) -> tuple[Decision, str] | None:
        """Return what an inspection of the target means, and the reason."""
        view = self._fitted(context)
        answer = self.ask("reflection", "reflection", VerdictAnswer, view=view)
        return (Decision(answer.decision), answer.reason) if answer else None

    def fix(self, context: TargetContext) -> ProposedCode | None:
        """Return the target, fixed."""
        return self._proposed("fix", context)

    def _proposed(self, use: str, context: TargetContext) -> ProposedCode | None:
        context = self._fitted(context)
        answer = self.ask(use, use, code_answer(context.target.text), view=context)
        return ProposedCode(text=answer.code, why=answer.why) if answer else None

    def approaches(
        self, *, error: str, tried: Iterable[str], known: Iterable[str]
    ) -> tuple[str, ...]:
        """Return three different things to try; nothing if there is no answer."""
        told = {"tried": list(tried) or ["nothing"], "known": list(known)}
        answer = self.ask("approaches", "approaches", ApproachesAnswer, error=error, **told)
        return tuple(answer.approaches) if answer else ()

    def is_applicable(self, error: str, code: str, fix: str) -> Applicability | None:
        """Return whether a fix, given in words, is for an error."""
        shown = {"error": error, "code": code[:_CODE_OF_FIX], "fix": fix}
        return self.ask("judgement of a fix", "applicable", Applicability, **shown)

    def _fitted(self, context: TargetContext) -> TargetContext:
        """Return ``context`` cut such that the prompt is not too long; the target comes first."""
        room = self._max_prompt - _FRAME
        target = _cut(context.target, room // 2)
        others = len(context.callers) + len(context.callees)
        each = room // (4 * max(1, others))
        return replace(
            context,
            target=target,
            test=self._test(context.test, 4),
            callers=tuple(_cut(code, each) for code in context.callers),
            callees=tuple(_cut(code, each) for code in context.callees),
        )

    def _test(self, test: FailingTest, share: int) -> FailingTest:
        """Return ``test`` in one part of ``share`` of the prompt."""
        room = max(_SHORTEST, (self._max_prompt - _FRAME) // (3 * share))
        return replace(
            test,
            error=_clip(test.error, room),
            code=test.code and _cut(test.code, room),
            trace=tuple(_clip("\n".join(test.trace[-12:]), room).splitlines()),
        )


class LlmSummarizer:
    """Words the stages of a bug by a language model; ``said`` is what rules say of each.

    Where it does not answer, that stands. Only files that it ``shows`` may be sent.
    """

    def __init__(self, advisor: LlmAdvisor, shows: Callable[[str], bool]) -> None:
        self._advisor = advisor
        self._shows = shows

    def begun(self, symptom: Symptom, said: str) -> str:
        """Return a hypothesis; the likeliest place, which rules know, stands before it."""
        files = {file_of_test(node_id) for node_id in symptom.tests}
        files |= {suspect.partition(" ")[0] for suspect in symptom.suspects}
        answer = self._advisor.ask(
            "summary",
            "begun",
            HypothesisAnswer,
            error=symptom.error[:_LONG],
            code=symptom.code[:_LONG] if all(map(self._shows, files)) else "(not shown)",
            rules=said,
        )
        if answer is None:
            return said
        place = said.partition("; ")[0]
        return clipped(f"{place}; {LLM_MARK}{answer.hypothesis}", HYPOTHESIS_LENGTH)

    def failed(self, record: BugRecord, now: Symptom, said: DebugTrial) -> DebugTrial:
        """Return the lessons of a trial that failed."""
        own = {"now": now.error[:_SHORT], **self._trial(record, said.edit)}
        answer = self._advisor.ask("summary", "failed", SetbackAnswer, **own)
        if answer is None:
            return said
        lessons = (said.lesson, marked(answer.learned_constraint, LESSON_LENGTH))
        return replace(
            said,
            why=marked(answer.why_failed, WHY_LENGTH) or said.why,
            strategy=said.strategy or marked(answer.failed_strategy_summary, STRATEGY_LENGTH),
            # What rules say is proven: it stands first.
            lesson=clipped("; ".join(lesson for lesson in lessons if lesson), LESSON_LENGTH),
        )

    def succeeded(self, record: BugRecord, said: DebugTrial) -> DebugTrial:
        """Return the lessons of the trial that fixed it."""
        own = self._trial(record, said.edit)
        answer = self._advisor.ask("summary", "succeeded", SuccessAnswer, **own)
        if answer is None:
            return said
        return replace(
            said,
            why=marked(answer.why_worked, WHY_LENGTH) or said.why,
            lesson=marked(answer.key_insight, LESSON_LENGTH) or said.lesson,
            cause=marked(answer.final_root_cause, WHY_LENGTH),
        )

    def _trial(self, record: BugRecord, edit: CodeEdit) -> dict[str, object]:
        """Return the values that every trial is described by."""
        files = {function.partition(" ")[0] for function in edit.functions}
        diff = names = ", ".join(edit.functions)
        if all(map(self._shows, files)):
            diff = edit.diff[:_LONG] or names or "(not known)"
        return {
            "error": record.symptom.error[:_LONG],
            "diff": diff,
            "tried": [*record.failed_strategies[-5:]] or ["nothing"],
        }


def marked(text: str, length: int) -> str:
    """Return ``text`` with the mark of its origin, cut; empty if it is blank."""
    return clipped(f"{LLM_MARK}{text}", length) if text.strip() else ""


def _cut(code: Code, room: int) -> Code:
    return replace(code, text=_clip(code.text, max(_SHORTEST, room)))


def _clip(text: str, length: int) -> str:
    """Return ``text`` without its middle, if it is too long: both ends tell more."""
    if len(text) <= length:
        return text
    half = (length - 40) // 2
    return f"{text[:half]}\n... ({len(text) - 2 * half} characters left out)\n{text[-half:]}"


# -- a conversation

MAX_TURNS = 12
LAST_WORD = "name_suspects"  # the function by which a conversation ends
_SHARE = 8  # of the length of a prompt, for one answer
_LENGTHS = 4  # of a prompt, for a conversation
_NUDGE = f"Call a function. When you know enough, call {LAST_WORD}."
_LAST = f"There is no more time: call {LAST_WORD} now."
_WORD: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": LAST_WORD,
        "description": "End the search: explain the fault, then name the functions or tests that "
        "hold it, most suspect first, as FILE:LINE or by qualified name.",
        "parameters": json_schema(NavigationAnswer),
    },
}


class FunctionConversation:
    """One conversation; it ends when suspects are named, or at a limit.

    A prompt has ``max_prompt`` characters at most, a conversation four times as many. ``ended`` is
    called when suspects are named.
    """

    def __init__(
        self,
        agent: LlmAgent,
        model: str,
        prompt: Prompt,
        functions: Sequence[dict[str, Any]],
        max_prompt: int,
        ended: Callable[[], None],
    ) -> None:
        self._agent = agent
        self._model = model
        self._prompt = prompt
        self._functions = functions
        self._max_prompt = max_prompt
        self._ended = ended
        self._messages: list[dict[str, Any]] = [
            {"role": "system", "content": prompt.system},
            {"role": "user", "content": prompt.user},
        ]
        self._asked: Sequence[ToolCall] = ()
        self._n_turns = 0

    def next(self, answers: Sequence[str]) -> Turn | None:
        """Return the model's next turn; None if it calls no functions, or can't be asked."""
        for call, answer in zip(self._asked, answers, strict=True):
            self._answer(call, answer)
        while self._n_turns < MAX_TURNS:
            reply = self._say()
            if reply is None or (self._n_turns == 1 and not reply.calls):
                return None
            if reply.calls and reply.calls[0].name != LAST_WORD and self._n_turns < MAX_TURNS:
                self._asked = reply.calls
                return Turn(calls=tuple((call.name, _arguments(call)) for call in reply.calls))
            try:
                named = parsed(reply, NavigationAnswer)
            except ValueError as error:
                self._correct(reply, why(error))
            else:
                self._ended()
                return Turn(suspects=tuple(named.suspects), why=named.explanation)
        return Turn()

    def _say(self) -> ChatReply | None:
        """Have the model say something, and keep it."""
        self._n_turns += 1
        length = sum(len(message["content"]) for message in self._messages)
        is_last = self._n_turns == MAX_TURNS or length > _LENGTHS * self._max_prompt
        if is_last:
            self._n_turns = MAX_TURNS
            self._messages.append({"role": "user", "content": _LAST})
        functions = [_WORD] if is_last else [*self._functions, _WORD]
        reply = self._agent.turn(self._prompt, self._model, self._messages, functions)
        if reply is not None:
            # The name of no function that is offered may be repeated to a server.
            known = {function["function"]["name"] for function in functions}
            calls = [replace(c, name=c.name if c.name in known else "unknown") for c in reply.calls]
            calls.sort(key=lambda call: call.name != LAST_WORD)
            reply = replace(reply, calls=tuple(calls))
            message: dict[str, Any] = {"role": "assistant", "content": reply.text}
            if calls:
                message["tool_calls"] = [
                    {
                        "id": call.id,
                        "type": "function",
                        "function": {"name": call.name, "arguments": json.dumps(_arguments(call))},
                    }
                    for call in calls
                ]
            self._messages.append(message)
        return reply

    def _correct(self, reply: ChatReply, problem: str) -> None:
        for call in reply.calls:
            self._answer(call, f"That does not fit: {problem}.")
        if not reply.calls:
            self._messages.append({"role": "user", "content": _NUDGE})

    def _answer(self, call: ToolCall, text: str) -> None:
        room = self._max_prompt // _SHARE
        cut = text if len(text) <= room else f"{text[:room]}... (the rest is left out)"
        content = data(cut, call.name)
        self._messages.append({"role": "tool", "tool_call_id": call.id, "content": content})


def _arguments(call: ToolCall) -> Mapping[str, Any]:
    """Return the arguments by name; none where they are no JSON object."""
    with suppress(ValueError, RecursionError):
        given = json.loads(call.arguments)
        if isinstance(given, dict):
            return given
    return {}


# -- prompts

MARK_LENGTH = 12


def render(name: str, **values: Any) -> str:  # noqa: ANN401 - whatever the template shows
    """Return the text of the prompt ``name``, filled with ``values``."""
    return _environment().get_template(f"{name}.j2").render(**values).strip()


@lru_cache(maxsize=1)
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("pytest_bayesloc.llm", "templates"),
        undefined=StrictUndefined,
        autoescape=False,  # noqa: S701 - the result is text for a model, no page
        keep_trailing_newline=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["data"] = data
    environment.filters["line"] = line
    return environment


def data(text: str, what: str) -> str:
    """Return ``text`` between marks that it can't hold: they are named by a digest of it."""
    text = storable(str(text)).strip("\n")
    mark = text_digest(f"{what}:{text}", MARK_LENGTH)
    return f'<data "{what}" {mark}>\n{text}\n</data {mark}>'


def line(text: str) -> str:
    """Return ``text`` on one line, short enough to be a name."""
    return " ".join(storable(str(text)).split())[:300]
