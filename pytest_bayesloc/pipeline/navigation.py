"""Answers a language model's questions about a group of failing tests while it is inspected."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from pytest_bayesloc.domain.errors import BayeslocError
from pytest_bayesloc.domain.source import SourceMap
from pytest_bayesloc.inspection.edits import edited_unit
from pytest_bayesloc.inspection.views import steady
from pytest_bayesloc.pipeline.questions import lines_of_answer
from pytest_bayesloc.pipeline.result_questions import Answer, QuestionError, ResultQuestions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_bayesloc.domain.inspection import InspectionPatch
    from pytest_bayesloc.domain.location import Location
    from pytest_bayesloc.domain.recording import Recording
    from pytest_bayesloc.inspection.strategies.llm import Attempt
    from pytest_bayesloc.pipeline.context import Context
    from pytest_bayesloc.pipeline.run_files import LastRun
    from pytest_bayesloc.ranking.case import Case

    MakePatch = Callable[[Case, Location, str, str], InspectionPatch]

WORDS = 200  # characters that say what an edit does


class CaseQuestions(ResultQuestions):
    """Answers from what is known of a case when this is made: the same again in a replay.

    Args:
        context: The session.
        case: The group of failing tests.
        run: The result so far, of this group.
        known: What is remembered of it.
        may_send: Whether anything of a file may be told.
        patch: Makes a patch of a place, the text of its file with an edit, and words on it; or
            raises a ``PatchError``.
    """

    def __init__(
        self,
        context: Context,
        case: Case,
        run: LastRun,
        known: Sequence[str],
        may_send: Callable[[str], bool],
        patch: MakePatch,
    ) -> None:
        super().__init__(context.rootdir, may_send)
        self._context = context
        self._case = case
        self._remembered = list(known)
        self._patch = patch
        self._run = run

    def similar(self) -> Answer:
        """Tell what is remembered of this failure: attempts that failed, what was learned."""
        return self._clean({"remembered": self._remembered})

    def failure(self, test: str = "") -> Answer:
        """Show a failing test: message, traceback, the suspects that it executed, what it printed.

        Args:
            test: Its node id, or a part of it; the first failing test if nothing is said.
        """
        said = super().failure(test)
        printed = self._case.printed.get(said["test"], "")
        return {**said, **self._clean({"printed": printed})}

    def try_edit(self, attempt: Attempt, file: str, old: str, new: str) -> Answer:
        """Try an edit of one function, class body or module body: tell what becomes of the tests.

        Args:
            attempt: Runs the tests.
            file: Path relative to rootdir.
            old: Text that stands there once.
            new: What to put in its place.
        """
        text, after, _ = self._edited(file, old, new)
        unit = edited_unit(SourceMap(text, file), after)
        target = self._known(unit.location)
        if target is None or target.is_test:
            raise QuestionError(
                f"{unit.location.qualname} in {file} is not edited: give an edit of code that the "
                "failing tests execute, other than a test."
            )
        words = " ".join(f"`{old}` becomes `{new}`".split())[:WORDS]
        patch = self._patch(self._case, target, after, words)
        return self._clean(dict(attempt(patch)))

    def answer(self, name: str, arguments: Mapping[str, Any], attempt: Attempt) -> str:
        """Return the answer to a call, or what is wrong with it. It never raises."""
        question = FUNCTIONS.get(name)
        if question is None:
            return f"There is no such function: call one of {', '.join(FUNCTIONS)}."
        given = {"attempt": attempt} if name == TRY else {}
        try:
            inspect.signature(question).bind(self, **arguments, **given)
            if not all(isinstance(value, str) for value in arguments.values()):
                return "The arguments don't fit: each is a text."
        except TypeError as error:
            return f"The arguments don't fit: {error}."
        try:
            return steady("\n".join(lines_of_answer(question(self, **arguments, **given))))
        except BayeslocError as error:
            return str(error)
        except Exception as error:  # noqa: BLE001 - it costs an answer, and never the run
            return f"That can't be answered ({type(error).__name__})."

    # -- what answers are made from

    @property
    def _last(self) -> LastRun:
        return self._run

    def _calls_of(
        self,
        where: Location,  # noqa: ARG002 - the calls of all suspects are recorded
    ) -> tuple[Recording, Sequence[str], Sequence[str]]:
        recording, failing = self._case.recording, self._case.failing
        return recording, failing, [test for test in recording.calls if test not in failing]

    def _edges_at(self, _where: Location) -> Mapping[tuple[Location, Location], int]:
        return self._case.recording.edges

    def _location(self, place: str) -> tuple[Location, Any]:
        where, row = super()._location(place)
        self._text(where.file)  # of a file that is not sent, nothing is told
        return self._known(where) or where, row

    def _known(self, where: Location) -> Location | None:
        """Return the candidate at a place; None if it is none."""
        known = self._case.belief.probabilities
        name = (where.file, where.qualname)
        return next((other for other in known if (other.file, other.qualname) == name), None)

    def _row(self, place: str) -> tuple[int, Any]:
        number, row = super()._row(place)
        self._text(row["file"])
        return number, row

    def _suspect(self, row: Any) -> Answer:  # noqa: ANN401 - a row of a result
        said = super()._suspect(row)
        return said if self._may_show(row["file"]) else {**said, "reasons": []}

    def _text(self, file: str) -> str:
        text = self._context.sources.read(file) if self._may_show(file) else None
        if text is None:
            raise QuestionError(f"{file} is not shown: give another file of the project.")
        return text


TRY = "try_edit"
#: What a model may call, by name.
FUNCTIONS: Mapping[str, Callable[..., Answer]] = {
    "ranking": CaseQuestions.ranking,
    "why": CaseQuestions.why,
    "source": CaseQuestions.source,
    "values": CaseQuestions.values,
    "calls": CaseQuestions.calls,
    "failure": CaseQuestions.failure,
    "changes": CaseQuestions.changes,
    "similar": CaseQuestions.similar,
    TRY: CaseQuestions.try_edit,
}


def function_schemas() -> list[dict[str, Any]]:
    """Return what a model may call, as the API wants it: from signatures and docstrings."""
    return [
        {"type": "function", "function": {"name": name, **_schema(question)}}
        for name, question in FUNCTIONS.items()
    ]


def _schema(question: Callable[..., Answer]) -> dict[str, Any]:
    text, _, arguments = (inspect.getdoc(question) or "").partition("\n\nArgs:\n")
    told = dict(line.strip().split(": ", 1) for line in arguments.splitlines() if ": " in line)
    parameters = inspect.signature(question).parameters.items()
    asked = {name: p for name, p in parameters if name not in {"self", "attempt"}}
    return {
        "description": " ".join(text.split()),
        "parameters": {
            "type": "object",
            "properties": {n: {"type": "string", "description": told[n]} for n in asked},
            "required": [n for n, p in asked.items() if p.default is p.empty],
            "additionalProperties": False,
        },
    }
