"""Views of a fault for a language model: only files that may be sent are shown."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice

from pytest_bayesloc.domain.failure import Failure
from pytest_bayesloc.domain.inspection import InspectionPatch, Rerun
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.ports import Code, FailingTest, FaultContext, TargetContext
from pytest_bayesloc.domain.source import SourceMap, lines_of
from pytest_bayesloc.ranking.case import Case
from pytest_bayesloc.syntax.text import indent_of

N_CANDIDATES = 15
N_TESTS = 2
N_AROUND = 3
N_TRIED = 8
N_INVARIANTS = 12
MAX_FACT = 600  # characters
HIDDEN = "(not shown)"


class Views:
    """Shows a language model what ``read`` finds: the locations of a file; None of a hidden one."""

    def __init__(self, read: Callable[[str], SourceMap | None]) -> None:
        self._read = read

    def fault(self, case: Case, known: Sequence[str] = ()) -> FaultContext:
        """Show a group of failing tests and its likeliest candidates."""
        tests = [f for f in case.failures if f.node_id in case.failing]
        return FaultContext(
            tests=tuple(self._test(failure) for failure in tests[:N_TESTS]),
            candidates=tuple(self._suspect(case, where) for where in candidates(case)),
            known=tuple(known),
        )

    def target(self, case: Case, target: Location, known: Sequence[str] = ()) -> TargetContext:
        """Show one candidate from near, as far as is known by now."""
        from pytest_bayesloc.ranking import graph

        failing = case.failing_of(target, 1) or case.failing[:1]
        failure = next(f for f in case.failures if f.node_id == failing[0])
        tried = (
            f"{made.evidence.source}: {made.evidence.why}"
            for made in case.inspections
            if made.target == target
        )
        callers = graph.callers(graph.call_graph(case.recording.edges), target)
        return TargetContext(
            target=self._suspect(case, target),
            test=self._test(failure),
            callers=tuple(self._code(caller) for caller, _ in callers[:N_AROUND]),
            callees=tuple(map(self._code, _callees(case, target))),
            values=self._values(case, target),
            invariants=tuple(
                f"{'result' if i.at_exit else 'input'}: {i.words} (in {i.support} calls)"
                for i in case.invariants.get(target, ())[:N_INVARIANTS]
            ),
            tried=tuple(islice((*known, *tried), N_TRIED)),
        )

    def inspected(
        self, shown: TargetContext, case: Case, patch: InspectionPatch, rerun: Rerun
    ) -> TargetContext:
        """Return what is ``shown`` of a candidate with the result of an inspection of it."""
        texts = {check.number: check.text for check in patch.checks}
        runs = []
        for node_id, run in rerun.tests.items():
            broken = ", ".join(f"`{texts[n]}`" for n in run.violations if n in texts)
            said = [run.verdict.value, "target executed" if run.covered else "target not executed"]
            said += [f"assertions broken: {broken}"] if broken else []
            said += [steady(run.error)] if run.error else []
            was = "failing" if node_id in case.failing else "passing"
            runs.append(f"{node_id} ({was} before): {'; '.join(said)}")
        callees = [row for c in _callees(case, patch.target) for row in self._values(case, c)]
        diff = patch.diff if self._read(patch.target.file) is not None else HIDDEN
        return replace(shown, diff=diff, runs=tuple(runs), callee_values=tuple(callees))

    def _code(self, location: Location) -> Code:
        source = self._read(location.file)
        unit = None if source is None else source.unit(location)
        text = "" if source is None else source.text_of(location)
        if source is not None and unit is not None and not unit.is_function:
            kept: list[str] = []  # of a module or class, the lines outside its functions
            for number, line in enumerate(text.splitlines(keepends=True), location.start_line):
                owner = source.owner(number)
                if owner.location == location or not owner.is_function:
                    kept.append(line)
                elif not kept or kept[-1].strip() != "...":
                    kept.append(f"{indent_of(line)}...\n")
            text = "".join(kept)
        return Code(location=location, text=text)

    def _suspect(self, case: Case, where: Location) -> Code:
        """Show a location with the tests that executed it and its change since they passed."""
        spectrum, shown = case.spectrum, self._code(where)
        counts = spectrum.counts(where)
        facts = []
        if not where.is_test:
            facts = [
                f"executed by {counts.ef} of {counts.ef + counts.nf} failing tests and by "
                f"{counts.ep} of {counts.ep + counts.np} passing tests"
            ]
        if shown.text and where in case.changes.code:
            change = case.changes.files[where.file]
            before = change.reverted([where]) or change.now.text
            diff = difflib.unified_diff(lines_of(before), lines_of(change.now.text), n=1)
            facts.append("changed since the tests passed:\n" + "".join(list(diff)[2:]))
        return replace(shown, facts=tuple(fact[:MAX_FACT] for fact in facts))

    def _values(self, case: Case, location: Location) -> tuple[tuple[str, str, str], ...]:
        if self._read(location.file) is None:
            return ()
        return tuple(
            (f"{location.qualname}: {name}", passing, failing)
            for name, (passing, failing) in case.values.get(location, {}).items()
        )

    def _test(self, failure: Failure) -> FailingTest:
        trace = []
        for frame in (frame for frame in failure.frames if frame.in_app):
            source = self._read(frame.file)
            lines = lines_of(source.text) if source is not None else []
            text = lines[frame.line - 1].strip() if 0 < frame.line <= len(lines) else HIDDEN
            trace.append(f"{frame.file}:{frame.line} in {frame.name}: {text}")
        code = next(map(self._code, failure.test_locations), None)
        error = steady(f"{failure.exc_type}: {failure.message}")
        return FailingTest(node_id=failure.node_id, error=error, code=code, trace=tuple(trace))


def steady(text: str) -> str:
    """Strip from ``text`` what differs in each run, so that it can be recognised."""
    return _RUN.sub("pytest-N", _ADDRESS.sub("0x...", text))


_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}\b")
_RUN = re.compile(r"\bpytest-\d+\b")


def candidates(case: Case) -> list[Location]:
    """Return the locations that a language model is asked about, the likeliest first."""
    return [where for where, p in case.belief.top(N_CANDIDATES) if p > 0]


def _callees(case: Case, target: Location) -> list[Location]:
    """Return functions that ``target`` calls in the failing tests, the busiest first."""
    from pytest_bayesloc.ranking import graph

    found = graph.callees(graph.call_graph(case.recording.edges), target)
    return [callee for callee, _ in found[:N_AROUND]]
