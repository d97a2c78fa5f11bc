"""Answers questions about the last failed run; tests are re-run only where a question asks for it.

People ask by ``python -m pytest_bayesloc ask``, coding agents by the Model Context Protocol.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence  # noqa: TC003 - the server reads it from the annotations
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any

from pytest_bayesloc.domain.fixing import Level
from pytest_bayesloc.domain.inspection import InspectionPatch, Verdict
from pytest_bayesloc.domain.source import SourceMap, lines_of
from pytest_bayesloc.domain.standard_library import monotonic
from pytest_bayesloc.domain.texts import text_digest
from pytest_bayesloc.fixes.check import Candidate, Checker, Status
from pytest_bayesloc.fixes.tasks import walked
from pytest_bayesloc.history.changes import name_of
from pytest_bayesloc.pipeline.result_questions import (
    N_ITEMS,
    Answer,
    QuestionError,
    ResultQuestions,
    location_of,
)
from pytest_bayesloc.rerun.runner import ServerRunner
from pytest_bayesloc.rerun.transports.local import local_transport
from pytest_bayesloc.spectrum.validity import written_ns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pytest_bayesloc.domain.location import Location
    from pytest_bayesloc.domain.recording import Recording
    from pytest_bayesloc.pipeline.run_files import LastRun

MAX_TESTS = 200  # that are re-run for one question
MAX_FILES = 20_000
MAX_TARGETS = 50
N_RECORDED = 5  # failing tests, and passing ones, whose calls are recorded
LIMIT_S = 120.0  # of one question
MARK = "bayesloc-value:"


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

    def _edges_at(self, _where: Location) -> Mapping[tuple[Location, Location], int]:
        return self._recorded(_where, self._fault_at(_where)[1][:N_RECORDED]).edges

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
            "n_that_pass_with_it": len(checked.failing) or checked.n_green,
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
            asked_for = ast.unparse(ast.parse(expression.strip(), mode="eval"))
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
        own = lines[line - 1]
        indent = own[: len(own) - len(own.lstrip())]
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
            state = self._state_of(last)
            if self._runner is None or state != self._state:
                self.close()
                self._texts.clear()
                tests = dict.fromkeys(chain(self._failing, *last.passing.values()))
                self._runner = ServerRunner(
                    local_transport(last.command), tuple(tests), self._texts
                )
                self._state = state
            yield self._runner

    def _state_of(self, last: LastRun) -> str:
        """A digest of what a server was started with."""
        files = islice(walked([str(self._rootdir)]), MAX_FILES)
        stamps = (f"{file} {written_ns(Path(file))}" for file in files)
        return text_digest("\n".join((last.made_at, *stamps)))


def lines_of_answer(answer: Answer, indent: str = "") -> Iterator[str]:
    """Yield an answer as lines for a person."""
    for name, value in answer.items():
        yield from _lines(f"{indent}{name.replace('_', ' ')}:", value, indent)


def _lines(head: str, value: Any, indent: str) -> Iterator[str]:  # noqa: ANN401 - any JSON value
    if isinstance(value, dict):
        yield head
        yield from lines_of_answer(value, f"{indent}  ")
    elif isinstance(value, list):
        yield head if value else f"{head} none"
        for item in value:
            if isinstance(item, dict):
                first, *rest = lines_of_answer(item, f"{indent}    ")
                yield f"{indent}  - {first.strip()}"
                yield from rest
            else:
                yield from (f"{indent}  {line}" for line in str(item).splitlines())
    elif isinstance(value, str) and "\n" in value:
        yield head
        yield from (f"{indent}  {line}" for line in value.splitlines())
    elif value not in (None, ""):
        yield f"{head} {value}"


#: The questions by the names that people and agents use.
QUESTIONS: Mapping[str, Callable[..., Answer]] = {
    "ranking": Questions.ranking,
    "why": Questions.why,
    "source": Questions.source,
    "values": Questions.values,
    "calls": Questions.calls,
    "failure": Questions.failure,
    "changes": Questions.changes,
    "similar": Questions.similar,
    "fixes": Questions.fixes,
    "run": Questions.run,
    "try": Questions.attempt,
    "evaluate": Questions.evaluate,
}
