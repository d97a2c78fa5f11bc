"""The faults of a JSON result in words, and the lines of source to look at.

All is drawn from the document and the source files alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from textwrap import dedent
from typing import TypeAlias

from pytest_bayesloc.domain.failure import ENVIRONMENT
from pytest_bayesloc.domain.fixing import FIX
from pytest_bayesloc.domain.texts import all_of, count, listed
from pytest_bayesloc.report.document import (
    BreakingChangeEntry,
    FaultEntry,
    FixEntry,
    InspectionEntry,
    LineEntry,
    NearestCallEntry,
    ReadSource,
    ResultDocument,
    RowEntry,
)
from pytest_bayesloc.report.memory import brief_lines
from pytest_bayesloc.report.text import one_line, percent, tests_to_run
from pytest_bayesloc.report.words import (
    flaky_words,
    headline,
    key_of,
    next_step,
    place_of,
    remembered_cause_words,
    said_of,
    spoiled_words,
    telling,
)

#: One line of source: its number, its text, its anchor (``file:line``, empty where an earlier
#: listing has it), and its entry in the result; None for a line that no test executed.
SourceLine: TypeAlias = tuple[int, str, str, "LineEntry | None"]
#: A suspect with its lines, None if they could not be read.
Source: TypeAlias = tuple[RowEntry, "tuple[SourceLine, ...] | None"]

N_SOURCES = 5
N_LISTED = 10
N_TO_RUN = 3  # tests in a command to copy
N_REASONS = 3
N_FLAKY = 3
N_AROUND = 3  # lines before and after the one to look at
MAX_SHOWN = 80  # lines of source
LEAST_FACTOR = 1.5  # of a likelihood ratio, for a reason to be shown with the answer
ENOUGH = 0.8  # of the belief, for a list of suspects to be worth naming
LEAST_SHARE = 0.01  # of the tests, to be told
ORIGINS = {
    "code": "likely cause: the code under test",
    "test": "likely cause: the test itself",
    "fixture": "likely cause: a fixture of the test",
    "data": "likely cause: the test's data",
    "file": "likely cause: a data file, not the code",
    "collection": "the file could not be collected",
}
LIKELY = "Likely cause: "
FLAKY = " passed when run again, so no suspect is named"
KINDS = {
    "validation": "a check rejected a value",
    "runtime": "the code crashed",
    "logic": "a result was wrong",
    "timeout": "the test did not end in time",
}
_HUNK = re.compile(r"@@ -(\d+)")


@dataclass(frozen=True, kw_only=True)
class FaultView:
    """The fault of that ``number`` in a document: its ``entry`` there, and what is said of it."""

    number: int
    entry: FaultEntry
    document: ResultDocument
    read_source: ReadSource

    @property
    def rows(self) -> Sequence[RowEntry]:
        """Its ranking."""
        return self.entry.ranking

    @cached_property
    def steps(self) -> list[InspectionEntry]:
        """Its inspections."""
        return [step for step in self.document.inspections if step.fault == self.number]

    @cached_property
    def fixes(self) -> list[FixEntry]:
        """The candidate changes for it."""
        return [fix for fix in self.document.fixes if fix.fault == self.number]

    @cached_property
    def best_fix(self) -> FixEntry | None:
        """The change to show first; of what was come across, but not verified, one of the leader.

        Others of those may only hide the error.
        """
        first = [key_of(row) for row in self.rows[:1]]
        fixes = (
            fix
            for fix in self.fixes
            if fix.verified or fix.stage != "inspection" or key_of(fix.target) in first
        )
        return min(fixes, key=lambda fix: (not fix.verified, bool(fix.doubt)), default=None)

    @property
    def hint(self) -> FixEntry | None:
        """A command for a test that may expect something else now, beside another fix."""
        hints = (fix for fix in self.fixes if not fix.diff and fix is not self.best_fix)
        return next(hints, None)

    @property
    def n_tests(self) -> str:
        """The number of its tests, with the noun."""
        return count(len(self.entry.failing_tests), "test")

    @property
    def headline(self) -> str:
        """The type and the first line of its error."""
        return headline(self.entry.error)

    @property
    def is_flaky(self) -> bool:
        """Whether every test passes when run again, and none is spoiled by others."""
        fault = self.entry
        return len(fault.flaky) == len(fault.failing_tests) and not fault.spoiled

    @property
    def cause(self) -> str:
        """The cause of its failing tests that is no mistake in a function; empty if not known."""
        cause = self.entry.cause
        if not cause:
            return ""
        kind = "the environment: " if cause.kind in ENVIRONMENT else ""
        return f"{LIKELY}{kind}{one_line(cause.text)}"

    @property
    def advice(self) -> str:
        """Words on what to do about the cause, as they follow "Next,"; empty if there are none."""
        cause = self.entry.cause
        return one_line(cause.advice) if cause else ""

    @property
    def known(self) -> list[str]:
        """The tests that are known to be flaky, and the cause that an earlier run alone found."""
        memory = self.document.memory
        flaky = [entry for entry in memory.flaky if entry.fault == self.number]
        causes = [entry for entry in memory.causes if entry.fault == self.number]
        found = [] if self.entry.cause else causes[:1]
        return [*map(flaky_words, flaky[:N_FLAKY]), *map(remembered_cause_words, found)]

    @property
    def is_elsewhere(self) -> bool:
        """Whether the likely cause is not the code under test."""
        return self.origin != ORIGINS["code"]

    @property
    def origin(self) -> str:
        """The side on which the likely cause lies."""
        if self.is_flaky:
            return all_of(len(self.entry.failing_tests), "failing test") + FLAKY
        return ORIGINS[self.entry.error.origin]

    @property
    def kind(self) -> str:
        """The sort of its error."""
        return KINDS[self.entry.error.kind]

    @property
    def raised_at(self) -> str:
        """The innermost place in the project; empty if there is none."""
        error = self.entry.error
        return one_line(f"{error.file}:{error.line}") if error.file else ""

    @property
    def or_test(self) -> str:
        """The share of the failing tests themselves; empty if it is small."""
        share = self.entry.test_share
        is_one = len(self.entry.failing_tests) == 1
        tests = "the test itself" if is_one else "the tests themselves"
        return f"{tests} may be wrong: {percent(share)}" if share >= LEAST_SHARE else ""

    @property
    def changed_data(self) -> str:
        """The first data files that changed, on one line, and how many more there are."""
        return listed([*map(one_line, self.entry.changed_data)])

    @property
    def spoiled(self) -> list[tuple[str, str]]:
        """Tests that fail after others: in words, and the command that reproduces it."""
        return [(spoiled_words(s), one_line(s.command)) for s in self.entry.spoiled]

    @property
    def confidence(self) -> str:
        """The certainty of the ranking; empty where its numbers are not shares of one belief."""
        session, posteriors = self.document.session, [row.posterior for row in self.rows]
        if not posteriors or session.model == "independent":
            return ""
        if posteriors[0] >= session.threshold:
            return f"sure: {percent(posteriors[0])}"
        sums = list(accumulate(posteriors[:N_LISTED]))
        n = next((n for n, total in enumerate(sums, 1) if total >= ENOUGH), len(sums))
        held = percent(min(1.0, sums[n - 1]))
        if n == 1:
            return f"likely: {held}"
        only = "" if sums[n - 1] >= ENOUGH else "only "
        return f"uncertain: top {n} total {only}{held}"

    @property
    def reasons(self) -> list[str]:
        """Reasons for the first suspect, strongest first, without the change that is shown."""
        fix = self.best_fix
        shown = {one_line(s.why) for s in self.steps if fix and s.step == fix.step}
        strong = (
            said_of(e)
            for e in (telling(self.rows[0]) if self.rows else ())
            if e.p_if_faulty / e.p_if_clean >= LEAST_FACTOR and one_line(e.source) != FIX
        )
        return [text for text in strong if text not in shown][:N_REASONS]

    @property
    def nearest_call(self) -> NearestCallEntry | None:
        """Two calls of the first suspect side by side; None if they are not known."""
        nearest = self.entry.nearest_call
        if not nearest or not nearest.values:
            return None
        # Another suspect may have come to the top later.
        first = [key_of(row) for row in self.rows[:1]]
        return nearest if key_of(nearest.location) in first else None

    @property
    def loop(self) -> list[str]:
        """The words to those who go in circles over it, without the error, which they know."""
        loops = (e.said for e in self.document.memory.loops if e.fault == self.number)
        return [text for text in next(loops, []) if not text.startswith(("error: ", "raised "))]

    @cached_property
    def remembered(self) -> list[str]:
        """The few lines on what is remembered."""
        return list(brief_lines(self.document.memory, self.number))

    @cached_property
    def snippet(self) -> tuple[int, str, str] | None:
        """The line to look at first, as number, text, and why that one; None if unreadable.

        It is the line that broke the tests, or that a fix would change, else the hot one.
        """
        if not self.rows:
            return None
        lines = _source_text(self.rows[0], self.read_source)
        number, label = hot_line(self.rows[0], self.entry)
        if self.breaking is None and self._changed_line not in {0, number}:
            number, label = self._changed_line, "the line that the fix changes"
        if not 1 <= number <= len(lines):
            return None
        return number, lines[number - 1].strip(), label

    @property
    def breaking(self) -> BreakingChangeEntry | None:
        """The change of the first suspect that breaks its tests; None if none is known."""
        return breaking_of(self.rows[0], self.entry) if self.rows else None

    @property
    def excerpt(self) -> list[tuple[int, str]]:
        """The numbered lines around the ``snippet``, below the first one, less indented."""
        if self.snippet is None:
            return []
        row, number = self.rows[0], self.snippet[0]
        start, end = row.start_line, row.end_line
        around = range(max(start, number - N_AROUND), min(end, number + N_AROUND) + 1)
        numbers = dict.fromkeys([start, *around])
        lines = _source_text(row, self.read_source)
        texts = [lines[n - 1].rstrip() if n <= len(lines) else "" for n in numbers]
        return list(zip(numbers, dedent("\n".join(texts)).split("\n"), strict=True))

    @cached_property
    def _changed_line(self) -> int:
        """The first line that a fix without doubt takes away from the first suspect; 0 if none."""
        fix = self.best_fix
        if fix is None or fix.doubt or not self.rows or fix.target.file != self.rows[0].file:
            return 0
        row, number = self.rows[0], 0
        for text in fix.diff.splitlines():
            if hunk := _HUNK.match(text):
                number = int(hunk[1])
            elif number and text.startswith("-"):
                return number if row.start_line <= number <= row.end_line else 0
            elif not text.startswith("+"):
                number += bool(number)
        return 0

    @property
    def next_steps(self) -> Iterator[tuple[str, str]]:
        """Things to do now, the most promising first: in words, and the command if there is one."""
        fault, fix, session = self.entry, self.best_fix, self.document.session
        if fix and fix.verified and not fix.doubt and (command := next_step(fix)):
            yield "apply this fix", command
        cause = self.entry.cause
        if self.advice:
            yield self.advice, ""
        if cause and cause.command:
            yield "reproduce it", one_line(cause.command)
        for _, command in self.spoiled if not cause else ():
            yield "reproduce it", command
        if self.rows:
            first, *rest = self.rows
            changed = 0 if self.breaking else self._changed_line
            line = changed or hot_line(first, fault)[0]
            is_sure = first.posterior >= session.threshold
            where = one_line(f"{first.file}:{line}")
            yield f"{'read' if is_sure else 'begin at'} {where}", ""
            if not is_sure and rest:
                yield f"then {place_of(rest[0])}", ""
            is_fixed = fix is not None and not fix.doubt
            if not (is_fixed or cause or first.is_test or "fix" in session.seconds):
                yield "search for a fix", "pytest --lf --bayesloc-fix=suggest"
        words = "run it again" if self.is_flaky else "test your change"
        yield words, tests_to_run(fault.failing_tests[:N_TO_RUN])


def faults_of(document: ResultDocument, read_source: ReadSource) -> list[FaultView]:
    """Return the faults of ``document``."""
    return [
        FaultView(number=number, entry=fault, document=document, read_source=read_source)
        for number, fault in enumerate(document.faults, 1)
    ]


def answers(faults: Sequence[FaultView]) -> list[list[FaultView]]:
    """Return the faults; those with the same first suspect stand together.

    Not those that different changes of it make.
    """
    groups: dict[str, list[FaultView]] = {}
    for fault in faults:
        key = place_of(fault.rows[0]) if fault.rows else str(fault.number)
        key += f" {fault.breaking.diff}" if fault.breaking else ""
        groups.setdefault(key, []).append(fault)
    return list(groups.values())


# -- lines of source


def breaking_of(row: RowEntry, fault: FaultEntry) -> BreakingChangeEntry | None:
    """Return the change in ``row`` that breaks tests; None if none is known."""
    return next((c for c in fault.breaking_changes if key_of(c.location) == key_of(row)), None)


def hot_line(row: RowEntry, fault: FaultEntry) -> tuple[int, str]:
    """Return the line that a mark goes to, and why that one.

    It is the one that broke the tests or changed since they passed, else the one that raised, else
    the most suspicious; of a test, which has none, the one in the traceback; else the first.
    """
    if change := breaking_of(row, fault):
        is_proven = bool(change.tests)
        label = "the breaking change" if is_proven else "changed since the tests passed"
        return change.first_line, label
    first, last, error = row.start_line, row.end_line, fault.error
    if error.line and error.file == row.file and first <= error.line <= last:
        return error.line, "the failing line"
    lines = [line for line in row.lines if first <= line.line <= last]
    heats = [line.suspiciousness for line in lines]
    if heats:
        n = heats.count(max(heats))
        label = (
            f"the first of {n} equally suspicious lines" if n > 1 else "its most suspicious line"
        )
        return _hottest(lines, first), label
    for frame in reversed([frame for f in fault.failures[:1] for frame in f.frames]):
        if row.is_test and frame.file == row.file and first <= frame.line <= last:
            return frame.line, "its line in the traceback"
    return first, "its first line"


def _hottest(lines: Sequence[LineEntry], default: int) -> int:
    best = max(lines, key=lambda line: (line.suspiciousness, -line.line), default=None)
    return best.line if best else default


def _source_text(row: RowEntry, read_source: ReadSource) -> list[str]:
    """Return the lines of the row's file; none where it can't be read."""
    text = read_source(row.file) or ""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n") if text else []


def sources_of(faults: Sequence[FaultEntry], read_source: ReadSource) -> Iterator[Source]:
    """Yield the best of each fault, then the second of each; each place and line once."""
    depths = range(N_SOURCES)
    best = [f.ranking[i] for i in depths for f in faults if i < len(f.ranking)]
    rows = {key_of(row): row for row in reversed(best)}
    ordered = sorted(rows.values(), key=best.index)[: max(N_SOURCES, len(faults))]
    anchored: set[str] = set()
    for row in ordered:
        first, last = row.start_line, row.end_line
        if last - first >= MAX_SHOWN:  # then what stands around the hottest line
            middle = _hottest(row.lines, first)
            first = max(first, min(middle - MAX_SHOWN // 2, last - MAX_SHOWN + 1))
            last = first + MAX_SHOWN - 1
        executed = {line.line: line for line in row.lines}
        lines: list[SourceLine] = []
        for number, line in enumerate(_source_text(row, read_source)[first - 1 : last], first):
            anchor = one_line(f"{row.file}:{number}")
            lines.append((number, line, "" if anchor in anchored else anchor, executed.get(number)))
            anchored.add(anchor)
        yield row, tuple(lines) or None
