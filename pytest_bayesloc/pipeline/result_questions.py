"""Answers questions about the last failed run from what was kept of it; no test is run."""

from __future__ import annotations

import difflib
import os
from abc import ABC, abstractmethod
from collections import Counter
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import to_builtins

from pytest_bayesloc.domain.errors import BayeslocError
from pytest_bayesloc.domain.location import N_DIGITS, Location
from pytest_bayesloc.domain.own_files import identity
from pytest_bayesloc.domain.redaction import Redaction
from pytest_bayesloc.domain.source import SourceMap, lines_of
from pytest_bayesloc.domain.texts import with_texts
from pytest_bayesloc.history.snapshots import SnapshotStore
from pytest_bayesloc.pipeline.context import FOLDER
from pytest_bayesloc.pipeline.run_files import FILE, LastRun, read_last
from pytest_bayesloc.ranking.evidence.invariants import seen_values
from pytest_bayesloc.ranking.faults import nearest_call
from pytest_bayesloc.report.text import clip, one_line, percent, ratio
from pytest_bayesloc.report.view import LIKELY, faults_of, hot_line
from pytest_bayesloc.report.words import ARROW, belief_words, way_of
from pytest_bayesloc.spectrum.validity import written_ns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from pytest_bayesloc.domain.recording import Recording
    from pytest_bayesloc.domain.spectrum import Counts
    from pytest_bayesloc.report.document import FaultEntry, RowEntry

#: What JSON can hold.
Answer: TypeAlias = "dict[str, Any]"

N_ITEMS = 20  # of a list
N_LINES = 200  # of source
N_WAYS = 3  # from failing tests to a function
MAX_TEXT = 4_000  # characters of one text


class QuestionError(BayeslocError):
    """A question that can't be answered; what it quotes of the question is cut."""

    def __init__(self, text: str) -> None:
        super().__init__(clip(one_line(text), MAX_TEXT // 4), slug="question")


class ResultQuestions(ABC):
    """Answers from a result of a project; no test is run.

    Every answer is bounded: lists have at most 20 items, texts 4,000 characters. Secrets are taken
    out. No question changes a file.

    Args:
        rootdir: Of the project.
        may_show: Whether anything of a file may be told.
    """

    def __init__(self, rootdir: Path, may_show: Callable[[str], bool] = lambda _file: True) -> None:
        self._rootdir = rootdir
        self._may_show = may_show
        self._redaction = Redaction(os.environ)
        self._kept: tuple[tuple[int, ...], LastRun] | None = None

    def ranking(self) -> Answer:
        """Name the functions that are most likely at fault, and the errors of the failing tests.

        Where something else than a function is the cause, that and what to do come first.
        """
        faults = []
        document = self._last.document
        for view in faults_of(document, lambda _file: None)[:N_ITEMS]:
            fault = view.entry
            error = fault.error
            where = f"{error.file}:{error.line}" if error.file else ""
            # The cause beside the functions, and flaky tests: told as far as any is known.
            known: dict[str, object] = {
                "likely_cause": view.cause.removeprefix(LIKELY),
                "what_to_do": view.advice,
                "reproduced_by": fault.cause.command if fault.cause else "",
                "known_flaky": view.known,
            }
            faults.append(
                {
                    "fault": view.number,
                    **{name: text for name, text in known.items() if text},
                    "error": f"{error.type}: {error.message}",
                    "raised_at": where,
                    "failing_tests": fault.failing_tests[:N_ITEMS],
                    "test_itself_is_wrong": percent(fault.test_share),
                    "flaky": fault.flaky[:N_ITEMS],
                    "suspects": [self._suspect(row, fault) for row in fault.ranking[:10]],
                }
            )
        return self._clean({"run_of": self._last.made_at, "faults": faults})

    def why(self, place: str) -> Answer:
        """Tell what speaks for and against a suspect, and what was tried on it.

        Args:
            place: FILE:LINE, or a qualified name.
        """
        fault, row = self._row(place)
        key = (row.file, row.qualname)
        tried = [
            {
                "what": step.why,
                "belief": belief_words(step),
                "edits": [f"{trial.words}: {trial.effect}" for trial in step.trials][:10],
            }
            for step in self._last.document.inspections
            if (step.target.file, step.target.qualname) == key
        ]
        reasons = [
            {"likelihood_ratio": ratio(e.p_if_faulty, e.p_if_clean), "what": e.why}
            for e in row.evidence
        ]
        said = {
            "place": _name(row),
            "fault": fault,
            "probability": percent(row.posterior),
            "before_evidence": percent(row.prior),
            "executed_by": _executed_by(row.counts),
            "reached_by": way_of(row),
            "evidence": reasons[:N_ITEMS],
            "inspections": tried[:N_ITEMS],
        }
        return self._clean(said)

    def source(self, place: str) -> Answer:
        """Show the code of a place, with the number of failing and passing tests of each line.

        Args:
            place: FILE:LINE, or a qualified name.
        """
        where, row = self._location(place)
        counts = {line.line: line for line in row.lines} if row is not None else {}
        lines = []
        for n, text in enumerate(lines_of(self._text(where.file)), 1):
            if where.start_line <= n <= where.end_line:
                of = counts.get(n)
                mark = f"{of.ef} failing, {of.ep} passing" if of is not None else ""
                lines.append(f"{n:5} {text.rstrip():80} {mark}".rstrip())
        cut = lines[:N_LINES]
        more = len(lines) - len(cut)
        return self._clean({"place": str(where), "lines": cut, "n_more": more})

    def failure(self, test: str = "") -> Answer:
        """Show a failing test: its message, its traceback, the suspects that it executed.

        Args:
            test: Its node id, or a part of it; the first failing test if nothing is said.
        """
        for fault in self._last.document.faults:
            for failure in fault.failures:
                if test in failure.node_id:
                    own = (frame for frame in failure.frames if frame.in_app)
                    frames = [f"{f.file}:{f.line} {f.name}" for f in own]
                    reached = [_name(fault.ranking[i]) for i in failure.executed]
                    said = {
                        "test": failure.node_id,
                        "phase": failure.phase,
                        "error": f"{failure.type}: {failure.message}",
                        "traceback": frames[-N_ITEMS:],
                        "executed": reached,
                    }
                    return self._clean(said)
        raise self._no_test(test)

    def values(self, place: str) -> Answer:
        """Show arguments and results of a function in failing and in passing calls.

        A failing call stands beside the passing one whose arguments differ least.

        Args:
            place: FILE:LINE, or a qualified name.
        """
        where, _ = self._location(place)
        recording, failing, passing = self._calls_of(where)
        seen = seen_values(recording, failing, passing).get(where, {})
        sides = {name: {"failing": bad, "passing": good} for name, (good, bad) in seen.items()}
        said: Answer = {"place": str(where), "values": sides}
        nearest = nearest_call(recording, where, failing, passing)
        if nearest is not None:
            said["nearest_call"] = {
                "failing": nearest.failing_test,
                "passing": nearest.passing_test,
                "values": {
                    path: {
                        "failing": self._redaction.clean(bad, path),
                        "passing": self._redaction.clean(good, path),
                        "differs": good != bad,
                    }
                    for path, (good, bad) in nearest.values.items()
                },
            }
        return self._clean(said)

    def calls(self, place: str) -> Answer:
        """Name the callers and callees of a function, and the ways to it, in the failing tests.

        Args:
            place: FILE:LINE, or a qualified name.
        """
        from pytest_bayesloc.ranking import graph

        where, _ = self._location(place)
        recording, name = self._calls_in_failing(where), str(where)
        # How often each function was called by another, or by a test itself.
        counts = Counter({(str(a), str(b)): n for (a, b), n in recording.edges.items()})
        for test, made in recording.calls.items():
            counts.update((test, str(call.location)) for call in made if call.caller < 0)
        called = graph.call_graph(counts)
        callers, callees = graph.callers(called, name), graph.callees(called, name)
        further = graph.below(called, name).difference({name}, dict(callees))
        ways = [graph.simple_paths(called, test, name, N_WAYS) for test in recording.calls]
        shortest = sorted((way for own in ways for way in own), key=len)
        said = {
            "place": name,
            "callers": [f"{caller}, {n} calls" for caller, n in callers[:N_ITEMS]],
            "callees": [f"{callee}, {n} calls" for callee, n in callees[:N_ITEMS]],
            "further_callees": sorted(further)[:N_ITEMS],
            "recursive_with": sorted(graph.circle_of(called, name))[:N_ITEMS],
            "reached_by": [ARROW.join(way) for way in shortest[:N_WAYS]],
            "always_through": graph.always_passed(called, recording.calls, name)[:N_ITEMS],
        }
        return self._clean(said)

    def changes(self) -> Answer:
        """Show what changed since the failing tests last passed."""
        found, notes = [], list[str]()
        store = SnapshotStore(self._rootdir / FOLDER / "green.sqlite", notes.append)
        for fault in self._last.document.faults[:N_ITEMS]:
            green = store.last_passed([fault.failing_tests])[0]
            changed = []
            for file in filter(self._may_show, sorted(green or ())):
                then = (green or {})[file]
                now = self._text(file) if (self._rootdir / file).is_file() else ""
                if now != then:
                    sides = lines_of(then), lines_of(now)
                    diff = "".join(difflib.unified_diff(*sides, f"a/{file}", f"b/{file}"))
                    changed += [clip(diff, MAX_TEXT)] if diff else []
            said = {
                "failing_tests": fault.failing_tests[:3],
                "is_known": green is not None,
                "diffs": changed[:5],
                "n_more": max(0, len(changed) - 5),
                "data_files": fault.changed_data[:N_ITEMS],
            }
            found.append(said)
        return self._clean({"faults": found, **({"notes": notes} if notes else {})})

    def similar(self) -> Answer:
        """Show similar past bugs, what was tried, and whether the attempts go in circles."""
        memory = self._last.document.memory
        advice = [
            {
                "fault": item.fault,
                "bug": item.bug,
                "said": item.said,
                "similar": item.similar[:5],
                "failed_attempts": item.failed_strategies[-5:],
                "learned": item.constraints[-5:],
                "notes": item.notes[-5:],
            }
            for item in memory.advice[:N_ITEMS]
        ]
        return self._clean({"advice": advice, "loops": memory.loops[:N_ITEMS]})

    def fixes(self) -> Answer:
        """Show the changes with which the failing tests pass, as far as the run found some."""
        names = ("fault", "tool", "words", "diff", "verified", "doubt", "n_failing", "n_passing")
        found = [{n: getattr(fix, n) for n in names} for fix in self._last.document.fixes[:10]]
        return self._clean({"fixes": found})

    # -- what answers are made from

    @abstractmethod
    def _calls_of(self, where: Location) -> tuple[Recording, Sequence[str], Sequence[str]]:
        """Return the calls of a function, and the failing and passing tests that made them."""

    @abstractmethod
    def _calls_in_failing(self, _where: Location) -> Recording:
        """Return the calls in failing tests."""

    def _edited(self, file: str, old: str, new: str) -> tuple[str, str, int]:
        """Return the text of a file, the text after an edit, and the line of the edit."""
        text = self._text(file)
        n = text.count(old) if old else 0
        if n != 1:
            raise QuestionError(
                f"The text to replace stands {n} times in {file}: give a text that stands there "
                "once."
            )
        return text, text.replace(old, new), text.count("\n", 0, text.index(old)) + 1

    @property
    def _last(self) -> LastRun:
        """The last run; read again when another one was kept."""
        path = self._rootdir / FOLDER / FILE
        stamp = (*identity(path), written_ns(path))
        if self._kept is None or stamp != self._kept[0]:
            self._kept = stamp, read_last(self._rootdir)
        return self._kept[1]

    @property
    def _failing(self) -> tuple[str, ...]:
        faults = self._last.document.faults
        return tuple(test for fault in faults for test in fault.failing_tests)

    def _no_test(self, test: str) -> QuestionError:
        return QuestionError(
            f"No failing test of the last run has {test!r} in its node id: give one that the "
            "ranking names."
        )

    def _fault_at(self, where: Location) -> tuple[int, tuple[str, ...]]:
        """Return the fault that a place is most suspected of, and its failing tests.

        The first fault, where none suspects the place or its file.
        """
        by_weight = [
            (row.qualname == where.qualname, row.posterior, -number)
            for number, row in self._rows()
            if row.file == where.file
        ]
        number = -max(by_weight)[2] if by_weight else 1
        return number, tuple(self._last.document.faults[number - 1].failing_tests)

    def _text(self, file: str) -> str:
        why = "it lies outside the project"
        try:
            path = (self._rootdir / file).resolve()
            if path.is_relative_to(self._rootdir.resolve()):
                return path.read_text(encoding="utf-8")
        except (OSError, ValueError, RuntimeError) as error:  # no text, no path, a loop of links
            why = str(error)
        raise QuestionError(
            f"{file} can't be read ({why}): give a file of the project, relative to "
            f"{self._rootdir}."
        )

    def _rows(self) -> Iterator[tuple[int, RowEntry]]:
        for number, fault in enumerate(self._last.document.faults, 1):
            yield from ((number, row) for row in fault.ranking)

    def _row(self, place: str) -> tuple[int, RowEntry]:
        """Return the suspect that is meant, with its fault."""
        found = [(n, row) for n, row in self._rows() if location_of(row).is_meant(place)]
        named = {_name(row) for _, row in found}
        if len(named) != 1:
            known = ", ".join(sorted(named)[:5] or [_name(row) for _, row in self._rows()][:5])
            n_named = f"{len(named)} suspects" if named else "no suspect"
            raise QuestionError(
                f"{place!r} names {n_named}: give one as FILE:LINE or by its qualified "
                f"name, for example of {known or 'a run with suspects'}."
            )
        return found[0]

    def _location(self, place: str) -> tuple[Location, RowEntry | None]:
        """Return the function or class that is meant; its row if it is a suspect."""
        file, _, line = place.partition(" ")[0].rpartition(":")
        if file and line.isdecimal() and len(line) < N_DIGITS:
            where = SourceMap(self._text(file), file).owner(int(line)).location
            key = (where.file, where.qualname)
            rows = (row for _, row in self._rows() if (row.file, row.qualname) == key)
            return where, next(rows, None)
        _, row = self._row(place)
        return location_of(row), row

    def _suspect(self, row: RowEntry, fault: FaultEntry) -> Answer:
        reasons = (e for e in row.evidence if e.p_if_faulty > e.p_if_clean)
        return {
            "place": _name(row),
            "probability": percent(row.posterior),
            "line": hot_line(row, fault)[0],
            "reasons": [e.why for e in reasons][:3],
        }

    def _clean(self, answer: Answer) -> Answer:
        """Return an answer without secrets, its texts cut."""
        cleaned: Answer = with_texts(
            to_builtins(answer), lambda text: clip(self._redaction.clean(text), MAX_TEXT)
        )
        return cleaned


def _name(row: RowEntry) -> str:
    return str(location_of(row))


def _executed_by(counts: Counts | None) -> str:
    if counts is None:
        return "not known"
    failing, passing = counts.ef + counts.nf, counts.ep + counts.np
    return f"{counts.ef} of {failing} failing and {counts.ep} of {passing} passing tests"


def location_of(row: RowEntry) -> Location:
    """Return the location of a row of a result."""
    return Location(
        file=row.file,
        qualname=row.qualname,
        start_line=row.start_line,
        end_line=row.end_line,
        is_test=row.is_test,
    )


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
