"""Answers questions about the last failed run, and about a case while it is inspected.

People ask by ``python -m pytest_bayesloc ask``, coding agents by the Model Context Protocol: tests
are re-run only where a question asks for it. A language model asks about the case.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence  # noqa: TC003 - the server reads it from the annotations
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any

from pytest_bayesloc.domain.errors import BayeslocError
from pytest_bayesloc.domain.fixing import Level
from pytest_bayesloc.domain.inspection import InspectionPatch, Verdict
from pytest_bayesloc.domain.source import SourceMap, lines_of
from pytest_bayesloc.domain.standard_library import monotonic
from pytest_bayesloc.domain.texts import text_digest
from pytest_bayesloc.fixes.candidate import Candidate
from pytest_bayesloc.fixes.check import Checker, Status
from pytest_bayesloc.fixes.tasks import walked
from pytest_bayesloc.history.changes import name_of
from pytest_bayesloc.inspection.edits import edited_unit
from pytest_bayesloc.inspection.views import steady
from pytest_bayesloc.pipeline.context import effects_in
from pytest_bayesloc.pipeline.result_questions import (
    N_ITEMS,
    Answer,
    QuestionError,
    ResultQuestions,
    lines_of_answer,
    location_of,
)
from pytest_bayesloc.rerun.runner import ServerRunner
from pytest_bayesloc.rerun.transports.local import local_transport
from pytest_bayesloc.spectrum.validity import written_ns
from pytest_bayesloc.syntax.expressions import on_one_line
from pytest_bayesloc.syntax.text import indent_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pytest_bayesloc.domain.location import Location
    from pytest_bayesloc.domain.recording import Recording
    from pytest_bayesloc.inspection.strategies.llm import Attempt
    from pytest_bayesloc.pipeline.context import Context
    from pytest_bayesloc.pipeline.run_files import LastRun
    from pytest_bayesloc.ranking.case import Case
    from pytest_bayesloc.report.document import FaultEntry, RowEntry

    MakePatch = Callable[[Case, Location, str, str], InspectionPatch]

MAX_TESTS = 200  # that are re-run for one question
MAX_FILES = 20_000
MAX_TARGETS = 50
N_RECORDED = 5  # failing tests, and passing ones, whose calls are recorded
LIMIT_S = 120.0  # of one question
MARK = "bayesloc-value:"
#: Questions that a result answers.
ABOUT_RESULT = ("ranking", "why", "source", "values", "calls", "failure", "changes", "similar")
WORDS = 200  # characters that say what an edit does


class Questions(ResultQuestions):
    """Answers from the last result of a project, and from re-runs of its tests.

    A warm process re-runs tests, and is started anew when a file of the project changed.
    """

    def __init__(self, rootdir: Path) -> None:
        super().__init__(rootdir)
        self._lock = RLock()  # servers of re-runs have one question at a time
        self._runner: ServerRunner | None = None
        self._texts: dict[str, str] = {}  # of files whose calls the server records
        self._state = ""

    def close(self) -> None:
        """End the processes that re-run tests. May be called twice."""
        with self._lock:
            if self._runner is not None:
                self._runner.close()
                self._runner.transport.close()
                self._runner = None

    def run(self, tests: Sequence[str] = ()) -> Answer:
        """Re-run tests as the files are now.

        Args:
            tests: Node ids; the failing tests of the last run if there are none.
        """
        chosen = list(tests or self._failing)[:MAX_TESTS]
        with self._server() as runner:
            rerun = runner.rerun(None, chosen, limit_s=LIMIT_S)
        ends = [
            {"test": node_id, "ends": run.verdict.value, "error": run.error, "output": run.output}
            for node_id, run in rerun.tests.items()
        ]
        ends.sort(key=lambda end: end["ends"] == Verdict.PASS.value)
        n_passed = sum(run.verdict is Verdict.PASS for run in rerun.tests.values())
        return self._clean({"n_passed": n_passed, "n": len(ends), "tests": ends[:N_ITEMS]})

    def _calls_of(self, where: Location) -> tuple[Recording, Sequence[str], Sequence[str]]:
        failing = self._fault_at(where)[1][:N_RECORDED]
        passing = self._last.passing.get(name_of(where), [])[:N_RECORDED]
        return self._recorded(where, (*failing, *passing), detailed=where), failing, passing

    def _calls_in_failing(self, _where: Location) -> Recording:
        return self._recorded(_where, self._fault_at(_where)[1][:N_RECORDED])

    def _recorded(
        self, where: Location, tests: Sequence[str], detailed: Location | None = None
    ) -> Recording:
        """Re-run tests, and record the calls of a place and of the suspects."""
        suspects = [location_of(row) for _, row in self._rows()][:MAX_TARGETS]
        targets = list(dict.fromkeys((where, *suspects)))
        with self._server() as runner:
            for target in targets:
                self._texts[target.file] = self._text(target.file)
            return runner.record(tests, targets, limit_s=LIMIT_S, detailed=detailed)

    def attempt(self, file: str, old: str, new: str) -> Answer:
        """Try an edit in memory: tell how many failing tests pass with it, and what it breaks.

        The tests are those of the fault that the edited function is most suspected of.

        Args:
            file: Path relative to rootdir.
            old: Text that stands there once.
            new: What to put in its place.
        """
        text, after, line = self._edited(file, old, new)
        candidate = Candidate(
            tools=("question",),
            stage="tool",
            level=Level.UNSAFE,
            file=file,
            before=text,
            after=after,
            message="an edit that was asked about",
            line=line,
        )
        number, failing = self._fault_at(SourceMap(text, file).owner(candidate.line).location)
        with self._server() as runner:
            checker = Checker(
                runner=runner,
                clock=monotonic,
                deadline=monotonic() + LIMIT_S,
                failing=failing[:MAX_TESTS],
                covering=lambda where: self._last.passing.get(name_of(where), ()),
            )
            if not checker.fails_again():
                raise QuestionError(
                    "The failing tests of the last run pass as the files are now: run the tests "
                    "again."
                )
            checked = checker.check(candidate)
        said = {
            "fault": number,
            "verified": checked.status is Status.VERIFIED,
            "status": checked.status.value,
            "why": checked.why,
            "n_failing_tests": len(checker.failing),
            "n_that_pass_with_it": checked.n_green,
            "first_that_fails": checked.test,
            "n_passing_tests_checked": len(checked.passing),
        }
        return self._clean(said)

    def evaluate(self, file: str, line: int, expression: str, test: str = "") -> Answer:
        """Evaluate an expression before a line, the first time that a failing test gets there.

        Args:
            file: Path relative to rootdir.
            line: Its number, of a statement in a function.
            expression: In Python, with the names that the line sees.
            test: A failing test; the first one if nothing is said.
        """
        text = self._text(file)
        lines = lines_of(text)
        try:
            asked_for = on_one_line(expression)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise QuestionError(
                f"{expression!r} is no expression ({error}): give one, as in `len(items)`."
            ) from error
        source = SourceMap(text, file)
        owner = source.owner(line)
        if not 0 < line <= len(lines) or not owner.is_function:
            raise QuestionError(
                f"{file}:{line} is no line in a function: give one that the source shows."
            )
        indent = indent_of(lines[line - 1])
        probe = f"{indent}raise AssertionError({MARK!r} + repr(({asked_for})))\n"
        patch = InspectionPatch(
            target=owner.location,
            kind="question",
            original=text,
            patched="".join([*lines[: line - 1], probe, *lines[line - 1 :]]),
            line=line,
            words="a look",
        )
        failing = (*self._fault_at(owner.location)[1], *self._failing)
        asked = next((name for name in failing if test in name), "")
        if not asked:
            raise self._no_test(test)
        with self._server() as runner:
            run = runner.rerun(patch, [asked], limit_s=LIMIT_S).tests[asked]
        _, seen, value = run.error.partition(MARK)
        said = {
            "test": asked,
            "expression": expression,
            "value": value if seen else None,
            "why_not": "" if seen else f"the line was not reached ({run.error or 'it passes'})",
        }
        return self._clean(said)

    @contextmanager
    def _server(self) -> Iterator[ServerRunner]:
        """A server that has the files as they are now; started where there is none."""
        with self._lock:
            last = self._last
            files = islice(walked([str(self._rootdir)]), MAX_FILES)
            stamps = (f"{file} {written_ns(Path(file))}" for file in files)
            state = text_digest("\n".join((last.made_at, *stamps)))
            if self._runner is None or state != self._state:
                self.close()
                self._texts.clear()
                tests = dict.fromkeys(chain(self._failing, *last.passing.values()))
                place = local_transport(last.command, effects_in(self._rootdir))
                self._runner = ServerRunner(place, tuple(tests), self._texts)
                self._state = state
            yield self._runner


#: The questions by the names that people and agents use.
QUESTIONS: Mapping[str, Callable[..., Answer]] = {
    **{name: getattr(Questions, name) for name in (*ABOUT_RESULT, "fixes", "run")},
    "try": Questions.attempt,
    "evaluate": Questions.evaluate,
}


# -- while a case is inspected


class CaseQuestions(ResultQuestions):
    """Answers from what is known of a case when this is made: the same again in a replay.

    Args:
        run: The result so far, of this case.
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

    def _calls_in_failing(self, _where: Location) -> Recording:
        recording, failing = self._case.recording, self._case.failing
        calls = {test: made for test, made in recording.calls.items() if test in failing}
        return replace(recording, calls=calls)

    def _location(self, place: str) -> tuple[Location, Any]:
        where, row = super()._location(place)
        self._text(where.file)  # of a file that is not sent, nothing is told
        return self._known(where) or where, row

    def _known(self, where: Location) -> Location | None:
        """Return the candidate at a place; None if it is none."""
        known = self._case.belief.probabilities
        name = (where.file, where.qualname)
        return next((other for other in known if (other.file, other.qualname) == name), None)

    def _row(self, place: str) -> tuple[int, RowEntry]:
        number, row = super()._row(place)
        self._text(row.file)
        return number, row

    def _suspect(self, row: RowEntry, fault: FaultEntry) -> Answer:
        said = super()._suspect(row, fault)
        return said if self._may_show(row.file) else {**said, "reasons": []}

    def _text(self, file: str) -> str:
        text = self._context.sources.read(file) if self._may_show(file) else None
        if text is None:
            raise QuestionError(f"{file} is not shown: give another file of the project.")
        return text


TRY = "try_edit"
#: What a model may call, by name.
FUNCTIONS: Mapping[str, Callable[..., Answer]] = {
    **{name: getattr(CaseQuestions, name) for name in ABOUT_RESULT},
    TRY: CaseQuestions.try_edit,
}


def function_schemas() -> list[dict[str, Any]]:
    """Return what a model may call, as the API wants it: from signatures and docstrings."""
    schemas = []
    for name, question in FUNCTIONS.items():
        text, _, arguments = (inspect.getdoc(question) or "").partition("\n\nArgs:\n")
        told = dict(line.strip().split(": ", 1) for line in arguments.splitlines() if ": " in line)
        parameters = inspect.signature(question).parameters.items()
        asked = {n: p for n, p in parameters if n not in {"self", "attempt"}}
        schema = {
            "name": name,
            "description": " ".join(text.split()),
            "parameters": {
                "type": "object",
                "properties": {n: {"type": "string", "description": told[n]} for n in asked},
                "required": [n for n, p in asked.items() if p.default is p.empty],
                "additionalProperties": False,
            },
        }
        schemas.append({"type": "function", "function": schema})
    return schemas
