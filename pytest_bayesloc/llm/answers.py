"""The answers that a language model may give, bounded so that a server can hold it to that.

Strings are cut rather than refused where only their length is wrong: a model can't count
characters.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, create_model

from pytest_bayesloc.domain.bug import (
    HYPOTHESIS_LENGTH,
    LESSON_LENGTH,
    STRATEGY_LENGTH,
    WHY_LENGTH,
    clipped,
)

N_CANDIDATES = 15
N_SUSPECTS = 5
N_APPROACHES = 3
REASON_LENGTH = 200
MIN_CODE, MAX_CODE = 800, 8_000


def _cut(length: int) -> BeforeValidator:
    """Put a string on one line of at most ``length`` characters."""
    return BeforeValidator(lambda text: clipped(text, length) if isinstance(text, str) else text)


Reason = Annotated[str, _cut(REASON_LENGTH), Field(max_length=REASON_LENGTH)]
Why = Annotated[str, _cut(WHY_LENGTH), Field(max_length=WHY_LENGTH)]
Strategy = Annotated[str, _cut(STRATEGY_LENGTH), Field(max_length=STRATEGY_LENGTH)]
Lesson = Annotated[str, _cut(LESSON_LENGTH), Field(max_length=LESSON_LENGTH)]
Hypothesis = Annotated[str, _cut(HYPOTHESIS_LENGTH), Field(max_length=HYPOTHESIS_LENGTH)]


class ModelAnswer(BaseModel):
    """The base of all answers."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class SuspectAnswer(ModelAnswer):
    """One candidate."""

    reason: Reason
    candidate: int = Field(ge=1, le=N_CANDIDATES)


class RankingAnswer(ModelAnswer):
    """Candidates, most suspect first."""

    suspects: list[SuspectAnswer] = Field(min_length=1, max_length=N_SUSPECTS)


class NavigationAnswer(ModelAnswer):
    """Functions or tests that hold the fault, most suspect first, and why."""

    explanation: Why
    suspects: list[Reason] = Field(min_length=1, max_length=N_SUSPECTS)


class CodeAnswer(ModelAnswer):
    """A function with assertions added."""

    why: Reason
    code: str = Field(min_length=1, max_length=MAX_CODE)


def code_answer(text: str) -> type[CodeAnswer]:
    """Return the shape of a rewritten ``text``, which may be some assertions longer."""
    length = min(MAX_CODE, MIN_CODE + 2 * len(text))
    bounded = Field(min_length=1, max_length=length)
    return create_model("CodeAnswer", __base__=CodeAnswer, code=(str, bounded))


class VerdictAnswer(ModelAnswer):
    """The meaning of an inspection for its target."""

    reason: Reason
    decision: Literal["CONFIRMED_BUGGY", "CONFIRMED_NOT_BUGGY", "NEUTRAL"]


class HypothesisAnswer(ModelAnswer):
    """The first stage of a bug."""

    hypothesis: Hypothesis


class SetbackAnswer(ModelAnswer):
    """Lessons of a trial that failed."""

    why_failed: Why
    failed_strategy_summary: Strategy
    learned_constraint: Lesson


class SuccessAnswer(ModelAnswer):
    """Lessons of the trial that fixed a bug."""

    why_worked: Why
    successful_strategy_summary: Strategy
    key_insight: Lesson
    final_root_cause: Why


class ApproachesAnswer(ModelAnswer):
    """Different things to try."""

    approaches: list[Strategy] = Field(min_length=N_APPROACHES, max_length=N_APPROACHES)


class Applicability(ModelAnswer):
    """Whether a fix is for an error."""

    applicable: bool
    confidence: float = Field(ge=0.0, le=1.0)
    reasoning: Reason


def json_schema(shape: type[ModelAnswer]) -> dict[str, Any]:
    """Return the JSON schema of ``shape`` as endpoints want it: strict, all inline, no titles."""
    schema = shape.model_json_schema()
    made: dict[str, Any] = _strict(schema, schema.get("$defs", {}))
    return made


def _strict(node: Any, parts: dict[str, Any]) -> Any:  # noqa: ANN401 - JSON
    if isinstance(node, list):
        return [_strict(item, parts) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return _strict(parts[node["$ref"].rpartition("/")[2]], parts)
    kept = {k: _strict(v, parts) for k, v in node.items() if k not in _DROPPED}
    if "properties" in node:  # what a property is called is no keyword
        kept["properties"] = {k: _strict(v, parts) for k, v in node["properties"].items()}
        kept["required"] = list(node["properties"])
        kept["additionalProperties"] = False
    return kept


_DROPPED = frozenset({"$defs", "title", "description", "properties"})
