"""Evidence from exceptions that code caught, and went on, in failing tests and in no passing one.

The lines of a handler that a test executes say that it caught something, without any re-run. A
re-run says what, and sees what ``contextlib.suppress`` or a ``return`` in ``finally`` drops, too.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from pytest_bayesloc.domain.evidence import Evidence, StaticOutcome
from pytest_bayesloc.domain.failure import Failure, Frame
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.recording import HandledError
from pytest_bayesloc.domain.source import ReadMap, unit_of_frame
from pytest_bayesloc.domain.spectrum import Spectrum
from pytest_bayesloc.ranking.likelihoods import weigh
from pytest_bayesloc.syntax.nodes import nodes_inside

SOURCE = "swallowed"
EVERY = frozenset({"Exception", "BaseException"})
#: Thrown into a generator that is closed: no mistake.
CLOSING = frozenset({"GeneratorExit"})
NO_PASSING = "no passing test does that"


def without_absence(evidence: Iterable[Evidence]) -> tuple[Evidence, ...]:
    """Return ``evidence`` but for the absence of swallowers from the traceback.

    It clears no function that kept an exception out of it.
    """
    every = tuple(evidence)
    swallowing = {e.location for e in every if e.source == SOURCE}
    absent = StaticOutcome.NOT_IN_TRACEBACK
    return tuple(e for e in every if e.outcome is not absent or e.location not in swallowing)


# -- by the lines that tests execute


def executed_handlers(
    spectrum: Spectrum,
    failures: Sequence[Failure],
    read: ReadMap,
    locate: Callable[[Frame], Location | None],
    *,
    model: str,
) -> list[Evidence]:
    """Weigh the handlers that failing tests execute to their end, and no passing test enters.

    Bodies of modules and classes are left out: they run at import, and not because of a test.
    """
    if not spectrum.passing:
        return []
    left_at = _left_at(spectrum, failures, locate)
    found: dict[Location, str] = {}
    for where, rows in spectrum.lines.items():
        is_telling = any(t & spectrum.failing and not t & spectrum.passing for t in rows.values())
        if where.is_test or not is_telling:
            continue
        source = read(where.file)
        unit = None if source is None else source.unit(where)
        for handler in _handlers(unit.node) if unit is not None and unit.is_function else ():
            raising = {node.lineno for node in nodes_inside(handler) if isinstance(node, ast.Raise)}
            tests = _entered(handler, rows) & ~_union(rows, raising)
            for test, line in left_at.get(where, ()):
                if handler.lineno <= line <= (handler.end_lineno or line):
                    tests &= ~test
            if tests & spectrum.failing and not _entered(handler, rows) & spectrum.passing:
                caught = " or ".join(_names(handler)) or "an exception"
                why = f"caught {caught} in line {handler.lineno} and went on; {NO_PASSING}"
                found.setdefault(where, why)
    outcome = StaticOutcome.SWALLOWED_HERE
    return [weigh(model, outcome, w, source=SOURCE, why=why) for w, why in sorted(found.items())]


def _left_at(
    spectrum: Spectrum, failures: Sequence[Failure], locate: Callable[[Frame], Location | None]
) -> dict[Location, set[tuple[int, int]]]:
    """Return per location the bits of tests with the lines at which their tracebacks leave it."""
    index = {node_id: i for i, node_id in enumerate(spectrum.tests)}
    left: dict[Location, set[tuple[int, int]]] = {}
    for failure in failures:
        bit = 1 << index[failure.node_id] if failure.node_id in index else 0
        for frame in failure.every_frame:
            where = locate(frame) if frame.in_app and not frame.is_test else None
            if where is not None:
                left.setdefault(where, set()).add((bit, frame.line))
    return left


def _handlers(function: ast.AST) -> Iterator[ast.ExceptHandler]:
    """Yield the handlers of ``function`` itself whose lines tell that they caught something.

    One on a single line is executed as well where its type does not match, unless it takes all.
    """
    for node in nodes_inside(function):
        if isinstance(node, ast.ExceptHandler):
            names = _names(node)
            is_apart = node.body[0].lineno > node.lineno
            if (is_apart or not names) and not (names and CLOSING.issuperset(names)):
                yield node


def _names(handler: ast.ExceptHandler) -> list[str]:
    """Return the types that ``handler`` catches; no names if it catches every exception."""
    if handler.type is None:
        return []
    types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    names = [ast.unparse(each) for each in types]
    return [] if EVERY.intersection(names) else names


def _entered(handler: ast.ExceptHandler, rows: Mapping[int, int]) -> int:
    """Return the tests that execute a line of the body."""
    last = handler.end_lineno or handler.lineno
    return _union(rows, range(handler.body[0].lineno, last + 1))


def _union(rows: Mapping[int, int], lines: Iterable[int]) -> int:
    tests = 0
    for line in lines:
        tests |= rows.get(line, 0)
    return tests


# -- by re-runs that note what is caught

#: Per node id of a test that was run again, what code caught in it.
Handled: TypeAlias = Mapping[str, Sequence[HandledError]]


class Catch(NamedTuple):
    """A place in a function that catches, and the type of what it catches."""

    location: Location
    line: int
    kind: str


def catches(errors: Iterable[HandledError], read: ReadMap) -> Iterator[tuple[Catch, HandledError]]:
    """Yield where functions of the code under test caught ``errors``; tests may catch anything."""
    for error in errors:
        unit = unit_of_frame(error.handler, read)
        if unit is not None and unit.is_function and not unit.location.is_test:
            yield Catch(unit.location, error.handler.line, error.kind), error


def noted_handlers(
    handled: Handled,
    failing: Collection[str],
    at_hand: Iterable[Evidence],
    spectrum: Spectrum,
    read: ReadMap,
    *,
    model: str,
) -> list[Evidence]:
    """Weigh what failing tests caught in a re-run, and no passing test did in the same line.

    Of functions that caught nothing in the re-run, evidence ``at_hand`` stays. What test code or
    a test double raises is meant to be caught.
    """
    seen = {node_id: list(catches(own, read)) for node_id, own in handled.items()}
    passing = handled.keys() - set(failing)
    ordinary = {catch for node_id in passing for catch, _ in seen[node_id]}
    compared = sum(1 << i for i, node_id in enumerate(spectrum.tests) if node_id in passing)
    caught: dict[Location, str] = {}
    raised: dict[Location, str] = {}
    looked_at: set[Location] = set()
    for catch, error in (pair for node_id in failing for pair in seen.get(node_id, ())):
        looked_at.add(catch.location)
        origin = unit_of_frame(error.raised, read) if error.raised.file else None
        is_of_test = origin is None or origin.location.is_test
        if is_of_test or catch in ordinary or not _is_compared(catch, spectrum, compared):
            continue
        caught.setdefault(catch.location, caught_words(error))
        if origin is not None and origin.is_function:
            raised.setdefault(origin.location, raised_words(error, catch.location))
    told = [
        *((w, StaticOutcome.SWALLOWED_HERE, why) for w, why in caught.items()),
        *((w, StaticOutcome.RAISED_AND_SWALLOWED, y) for w, y in raised.items() if w not in caught),
    ]
    kept = (e for e in at_hand if e.location not in looked_at)
    new = (weigh(model, outcome, w, source=SOURCE, why=why) for w, outcome, why in sorted(told))
    return [*kept, *new]


def _is_compared(catch: Catch, spectrum: Spectrum, compared: int) -> bool:
    """Say whether it is known of passing tests that they catch nothing like it there."""
    lines = spectrum.lines.get(catch.location, {})
    if not lines.get(catch.line, 0) & spectrum.passing:
        return bool(spectrum.passing)
    return bool(spectrum.executed.get(catch.location, 0) & compared)


def caught_words(error: HandledError) -> str:
    """Return what a function caught, and where."""
    times = f", {error.n} times" if error.n > 1 else ""
    return f"caught {_told(error)} in line {error.handler.line} and went on{times}; {NO_PASSING}"


def raised_words(error: HandledError, handler: Location) -> str:
    """Return what a function raised, and who caught it."""
    line = error.raised.line
    return f"raised {_told(error)} in line {line}, which {handler.qualname} caught; {NO_PASSING}"


def _told(error: HandledError) -> str:
    return f"{error.kind}: {error.text}" if error.text else error.kind
