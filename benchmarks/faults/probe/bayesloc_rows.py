"""A pytest plugin of the benchmark: writes all that the plugin under test saw, as JSON.

With it, every likely location is inspected in every way, whatever the belief: what would have been
inspected, and when it would have ended, is worked out afterwards from the same rows.
"""

from __future__ import annotations

import ast
import json
import os
import re
from collections import defaultdict
from difflib import SequenceMatcher
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_bayesloc.domain.source import SourceMap
from pytest_bayesloc.domain.spectrum import bits
from pytest_bayesloc.inspection import loop
from pytest_bayesloc.inspection.reflection import innocents
from pytest_bayesloc.ranking import faults
from pytest_bayesloc.ranking.evidence.invariants import broken
from pytest_bayesloc.ranking.faults import fault_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pytest

    from pytest_bayesloc.domain.failure import Failure, Frame
    from pytest_bayesloc.domain.location import Location
    from pytest_bayesloc.domain.recording import Call
    from pytest_bayesloc.domain.result import Fault
    from pytest_bayesloc.ranking.case import Case

ROWS_TO = "BAYESLOC_ROWS"
#: Where the texts of failing tests go, if anywhere: they are others', and nobody keeps them.
TEXTS_TO = "BAYESLOC_TEXTS"
N_INSPECTED = int(os.environ.get("BAYESLOC_N_INSPECTED", "15"))
MAX_EDGES = 2000
MAX_LOCATIONS = 400
MAX_FAILURES = 40
TEXT_LIMIT = 400

loop.LEAST_GAIN, loop.N_MOST = 0.0, N_INSPECTED
CASES: list[Case] = []


def _noted(case: Case) -> Fault:
    """Keep the case of each fault: the hook is given no more than results."""
    CASES.append(case)
    return fault_of(case)


faults.fault_of = _noted


def pytest_bayesloc_localized(config: pytest.Config) -> None:
    texts = _Texts(config.rootpath)
    rows = [_Row(case, texts).made() for case in CASES]
    Path(os.environ[ROWS_TO]).write_text(json.dumps(rows), encoding="utf-8")
    if TEXTS_TO in os.environ:
        said = [_Row(case, texts).texts() for case in CASES]
        Path(os.environ[TEXTS_TO]).write_text(json.dumps(said), encoding="utf-8")


class _Texts:
    """The files' syntax, read once."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._maps: dict[str, SourceMap] = {}

    def map(self, file: str) -> SourceMap:
        if file not in self._maps:
            try:
                text = (self._root / file).read_text("utf-8", "replace")
            except OSError:
                text = ""
            self._maps[file] = SourceMap(text, file)
        return self._maps[file]

    def node(self, where: Location) -> ast.AST | None:
        units = self.map(where.file).units
        same = (u.node for u in units if u.location.start_line == where.start_line)
        named = (u.node for u in units if u.location.qualname == where.qualname)
        return next(named, None) if where.qualname == "<module>" else next(same, None)


class _Row:
    """One group of failing tests, as JSON values."""

    def __init__(self, case: Case, texts: _Texts) -> None:
        self._case, self._texts = case, texts
        self._spectrum = case.spectrum
        ranked = [where for where, _ in case.belief.top(MAX_LOCATIONS)]
        self._where = {where: n for n, where in enumerate(ranked)}
        self._failing = list(bits(self._spectrum.failing))

    def made(self) -> dict[str, Any]:
        case = self._case
        shown = case.failures[:MAX_FAILURES]
        return {
            "failing": [self._spectrum.tests[i] for i in self._failing],
            "n_passing": self._spectrum.passing.bit_count(),
            "failures": [self._failure(failure) for failure in shown],
            "nearness": [self._nearness(i) for i in self._failing[:MAX_FAILURES]],
            "locations": [self._location(where) for where in self._where],
            "evidence": [
                [self._where[e.location], e.source, e.outcome.value]
                for e in case.evidence
                if e.location in self._where
            ],
            "inspections": list(self._inspections()),
            "recorded": list(self._recorded()),
            "edges": list(islice(self._edges(), MAX_EDGES)),
            "stop": case.stop,
            "flaky": list(case.flaky),
        }

    def texts(self) -> dict[str, Any]:
        """What the failing tests say."""
        shown = self._case.failures[:MAX_FAILURES]
        return {
            "tests": {f.node_id: [self._text(w) for w in f.test_locations] for f in shown},
            "messages": {f.node_id: [f.exc_type, f.message[: 10 * TEXT_LIMIT]] for f in shown},
        }

    def _text(self, where: Location) -> str:
        return self._texts.map(where.file).text_of(where)

    def _location(self, where: Location) -> dict[str, Any]:
        return {
            "file": where.file,
            "name": where.qualname,
            "span": [where.start_line, where.end_line],
            "is_test": where.is_test,
            "prior": self._case.prior.get(where, 0.0),
            "posterior": self._case.belief.p(where),
            "executed": self._counted(self._spectrum.executed.get(where, 0)),
            "lines": self._lines(where),
            "static": self._static(where),
        }

    def _lines(self, where: Location) -> list[Any]:
        """Lines that the same failing and equally many passing tests execute, together."""
        together: dict[tuple[str, int], list[int]] = defaultdict(list)
        for line, executed in sorted(self._spectrum.lines.get(where, {}).items()):
            together[self._counted(executed)].append(line)
        return [[*counted, lines] for counted, lines in together.items()]

    def _counted(self, executed: int) -> tuple[str, int]:
        """Which failing tests are in the bitset, by their place among them, and how many passed."""
        failing = sum(1 << n for n, i in enumerate(self._failing) if executed >> i & 1)
        return f"{failing:x}", (executed & self._spectrum.passing).bit_count()

    def _static(self, where: Location) -> dict[str, int]:
        node = self._texts.node(where)
        if node is None:
            return {}
        nodes = list(ast.walk(node))
        branches = (ast.If, ast.For, ast.While, ast.Try, ast.IfExp, ast.BoolOp, ast.comprehension)
        return {
            "nodes": len(nodes),
            "statements": sum(isinstance(n, ast.stmt) for n in nodes),
            "branches": sum(isinstance(n, branches) for n in nodes),
            "calls": sum(isinstance(n, ast.Call) for n in nodes),
            "returns": sum(isinstance(n, ast.Return) for n in nodes),
            "raises": sum(isinstance(n, ast.Raise) for n in nodes),
            "constants": sum(isinstance(n, ast.Constant) for n in nodes),
            "decorators": len(getattr(node, "decorator_list", ())),
        }

    def _failure(self, failure: Failure) -> dict[str, Any]:
        return {
            "node_id": failure.node_id,
            "phase": failure.phase,
            "type": failure.exc_type,
            "frames": self._frames(failure.frames),
            "causes": [self._frames(frames) for frames in failure.cause_frames],
            "left": bool(failure.frames) and not failure.frames[-1].in_app,
            "tests": [self._where.get(where, -1) for where in failure.test_locations],
            "likeness": _likeness(failure.message),
            "length": len(failure.message),
        }

    def _frames(self, frames: Sequence[Frame]) -> list[list[Any]]:
        """Those in the project: its location's number (-1: not ranked), line, whether a test."""
        return [[self._number(f), f.line, f.is_test] for f in frames if f.in_app]

    def _number(self, frame: Frame) -> int:
        unit = self._texts.map(frame.file).unit_of_code(frame.first_line, frame.name)
        same = (
            n
            for known, n in self._where.items()
            if known.file == frame.file
            and known.start_line == unit.location.start_line
            and known.qualname == unit.location.qualname
        )
        return next(same, -1)

    def _nearness(self, failing: int) -> dict[str, Any]:
        """How a failing test's lines compare with those of the passing tests."""
        own = 1 << failing
        shared: dict[int, int] = defaultdict(int)
        n_lines = n_unique = 0
        n_of: dict[int, int] = defaultdict(int)
        for where, rows in self._spectrum.lines.items():
            if where.is_test:
                continue
            for executed in rows.values():
                covers = bool(executed & own)
                n_lines += covers
                n_unique += covers and not executed & self._spectrum.passing
                for test in bits(executed & self._spectrum.passing):
                    n_of[test] += 1
                    shared[test] += covers
        best = max((shared[t] / (n_lines + n_of[t] - shared[t]) for t in n_of), default=0.0)
        return {
            "lines": n_lines,
            "unique": n_unique,
            "supersets": sum(shared[t] == n_lines for t in n_of),
            "equal": sum(shared[t] == n_lines == n_of[t] for t in n_of),
            "jaccard": round(best, 4),
        }

    def _inspections(self) -> Iterator[list[Any]]:
        for made in self._case.inspections:
            trials = [
                [trial.line, trial.words, trial.effect.name, trial.n_passed]
                for trial in made.trials
            ]
            outcome = made.evidence.outcome.value
            where = self._where.get(made.target, -1)
            seconds = [round(made.seconds, 4), round(made.cpu_s, 4)]
            yield [where, made.evidence.source, outcome, *seconds, len(made.tests), trials]

    def _edges(self) -> Iterator[list[int]]:
        """Which ranked location called which, and how often, in the recorded failing tests."""
        for (caller, callee), n in self._case.recording.edges.items():
            if caller in self._where and callee in self._where:
                yield [self._where[caller], self._where[callee], n]

    def _recorded(self) -> Iterator[list[Any]]:
        """Per location in the recorded failing tests: how it was called, and what was unusual."""
        recording, invariants = self._case.recording, self._case.invariants
        innocent = innocents(recording, self._case.failing, invariants)
        for node_id in self._case.failing:
            calls = recording.calls.get(node_id, ())
            by_where: dict[Location, list[Call]] = defaultdict(list)
            for call in calls:
                by_where[call.location].append(call)
            end = max((max(call.entered, call.left) for call in calls), default=0)
            depth = _depths(calls)
            for where, seen in by_where.items():
                if where not in self._where:
                    continue
                known = invariants.get(where, ())
                yield [
                    node_id,
                    self._where[where],
                    len(seen),
                    min(call.entered for call in seen),
                    max(call.left for call in seen),
                    end,
                    min(depth[id(call)] for call in seen),
                    sum(call.raised for call in seen),
                    len(known),
                    sum(bool(broken(known, call, at_exit=False)) for call in seen),
                    sum(bool(broken(known, call, at_exit=True)) for call in seen),
                    int(where in innocent),
                ]


def _depths(calls: Sequence[Call]) -> dict[int, int]:
    """Per call, by its ``id``, how many recorded calls are around it."""
    depth: dict[int, int] = {}
    for call in calls:
        around = calls[call.caller] if 0 <= call.caller < len(calls) else None
        depth[id(call)] = depth.get(id(around), 0) + 1 if around is not None else 0
    return depth


def _likeness(message: str) -> float:
    """How alike the two sides of a failed comparison are, in [0, 1]; -1 if it is none."""
    first = message[: 4 * TEXT_LIMIT].rsplit("\nassert", maxsplit=1)[-1].partition("\n")[0]
    sides = re.split(r" (?:==|!=) ", first.removeprefix("assert ").strip(), maxsplit=1)
    if len(sides) != 2:
        return -1.0
    return round(SequenceMatcher(None, sides[0][:TEXT_LIMIT], sides[1][:TEXT_LIMIT]).ratio(), 3)
