"""The test code that may be at fault, and what speaks for or against it before any re-run.

Test support may lie among the code under test: a ``testing.py``, a package ``_testing``. It is
traced and ranked like all code there, since it can be at fault. But it mostly says that some other
code is, as helpers of test files do: an exception that it raises is a test's own.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain
from pathlib import PurePosixPath

from pytest_bayesloc.domain.evidence import Evidence, StaticOutcome
from pytest_bayesloc.domain.failure import Failure, Frame, Role
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.source import ReadMap, ScopeNode, Unit, unit_of_frame
from pytest_bayesloc.domain.spectrum import Spectrum, bits
from pytest_bayesloc.ranking.likelihoods import weigh
from pytest_bayesloc.syntax.nodes import RECEIVERS, names_in, stored_names, walk

WHY = "test support by the name of its file: it mostly reports faults of other code"
_NAME = re.compile(r"_?(testing|test_?(utils?|helpers?|support|case|cases|client))", re.IGNORECASE)


def is_support(file: str) -> bool:
    """Return whether ``file``, relative to rootdir, is called like test support."""
    return _root(file) is not None


def _root(file: str) -> tuple[str, ...] | None:
    """Return the parts of the path up to the name that says so, the suffix left out."""
    parts = PurePosixPath(file).with_suffix("").parts
    ends = (n for n, part in enumerate(parts, 1) if _NAME.fullmatch(part))
    return next((parts[:n] for n in ends), None)


def supports(file: str, node_id: str) -> bool:
    """Return whether ``file`` is test support, and the test ``node_id`` is not about that.

    A test is about support that it lies in, or is called after.
    """
    root = _root(file)
    if root is None:
        return False
    test_file, _, name = node_id.partition("::")
    parts = PurePosixPath(test_file).with_suffix("").parts
    stem, name = parts[-1].lower(), name.lower()
    called_after = {stem.removeprefix("test_").removesuffix("_test"), name.removeprefix("test_")}
    return parts[: len(root)] != root and root[-1].strip("_").lower() not in called_after


def with_support(failures: Sequence[Failure], executed: Collection[Location]) -> list[Failure]:
    """Return ``failures`` in which frames of test support count as frames of test code.

    They don't in tests that are about the support itself, nor where they execute no other code.
    """
    if all(is_support(where.file) for where in executed):
        return list(failures)

    def marked(frames: Sequence[Frame], node_id: str) -> tuple[Frame, ...]:
        return tuple(replace(f, is_test=True) if supports(f.file, node_id) else f for f in frames)

    return [
        replace(
            failure,
            frames=marked(failure.frames, failure.node_id),
            cause_frames=tuple(marked(f, failure.node_id) for f in failure.cause_frames),
        )
        for failure in failures
    ]


def support_evidence(
    failures: Sequence[Failure], candidates: Mapping[Location, float], *, model: str
) -> list[Evidence]:
    """Weigh against code that it is test support, unless the failing tests are about it.

    Where the failing tests run nothing else, it is what is under test.
    """
    code = [where for where in candidates if not where.is_test]
    support = [where for where in code if is_support(where.file)]
    tests = [failure.node_id for failure in failures]
    told = [w for w in support if 2 * sum(supports(w.file, t) for t in tests) > len(tests)]
    if len(told) == len(code):
        return []
    return [
        weigh(model, StaticOutcome.TEST_SUPPORT, where, source="support", why=WHY)
        for where in sorted(told)
    ]


Locate = Callable[[Frame], Location | None]

MAX_TESTS = 40  # failing tests that are looked at
MAX_HOPS = 2
SET_UP = frozenset(
    {"setUp", "setUpClass", "tearDown", "setup", "setup_class", "setup_method", "asyncSetUp"}
)


def suspected_tests(failures: Sequence[Failure], read: ReadMap) -> dict[Location, Role]:
    """Return the test code that failing tests stand on, in the order of the failures."""
    used = cache(lambda where: tuple(_used(where, read)))

    def roles(failure: Failure) -> Iterator[tuple[Location, Role]]:
        for n, where in enumerate(failure.test_locations):
            yield where, Role.FIXTURE if n else Role.TEST
        for frame in failure.every_frame:
            unit = unit_of_frame(frame, read) if frame.in_app and frame.is_test else None
            if unit is not None and unit.location.is_test:  # code may support tests as well
                yield unit.location, Role.HELPER
        for test in failure.test_locations:
            yield from used(test)

    of_each = [_firsts(roles(failure)) for failure in failures]
    found = _firsts(chain.from_iterable(own.items() for own in of_each))
    return {
        where: role if all(where in own for own in of_each) else Role.PART
        for where, role in found.items()
    }


def _firsts(roles: Iterable[tuple[Location, Role]]) -> dict[Location, Role]:
    """Return for each location the first role that it has."""
    found: dict[Location, Role] = {}
    for where, role in roles:
        found.setdefault(where, role)
    return found


def _used(test: Location, read: ReadMap) -> Iterator[tuple[Location, Role]]:
    """Yield what ``test`` uses of its file: helpers, those of helpers, and data of the module."""
    source = read(test.file)
    unit = None if source is None else source.unit(test)
    if source is None or unit is None:
        return
    by_name = {u.location.qualname: u for u in source.units if u.is_function}
    statements = (
        s for s in getattr(source.module.node, "body", ()) if not isinstance(s, ScopeNode)
    )
    data = {name for statement in statements for name in stored_names(statement)}
    owner = unit.location.qualname.rpartition(".")[0]
    set_ups = (f"{owner}.{name}" for name in sorted(SET_UP) if owner)
    seen = {unit.location}
    pending = [(unit, 0), *((by_name[name], 1) for name in set_ups if name in by_name)]
    while pending:
        current, hops = pending.pop(0)
        if current.location not in seen:
            seen.add(current.location)
            yield current.location, Role.HELPER
        if not data.isdisjoint(names_in(current.node)):
            yield source.module.location, Role.DATA
        if hops < MAX_HOPS:
            called = (by_name.get(name) for name in _callees(current))
            pending += [(u, hops + 1) for u in called if u is not None and u.location not in seen]


def _callees(unit: Unit) -> list[str]:
    """Return the functions of its own file, and methods of its class, that it may call."""
    owner = unit.location.qualname.rpartition(".")[0]
    found: dict[str, None] = {}
    for node in walk(unit.node):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.value.id in RECEIVERS:
                found.setdefault(f"{owner}.{node.attr}")
        elif isinstance(node, ast.Name):
            found.setdefault(node.id)
    return list(found)


# -- evidence on it


def code_raised(failures: Sequence[Failure]) -> bool:
    """Say whether most exceptions came out of the code under test, not of a test's statement."""
    frames = (failure.raise_frame for failure in failures[:MAX_TESTS])
    return is_most(frame is not None and not frame.is_test for frame in frames)


def twin_passes(spectrum: Spectrum) -> bool:
    """Say whether for most failing tests a passing one executes every line of code that they do."""
    failing = list(bits(spectrum.failing))[:MAX_TESTS]
    looked_at = sum(1 << i for i in failing)
    like = dict.fromkeys(failing, spectrum.passing)
    for rows in spectrum.lines.values():
        for executed in rows.values():
            for i in bits(executed & looked_at):
                like[i] &= executed
    return is_most(bool(tests) for tests in like.values())


def in_traceback(failures: Sequence[Failure], locate: Locate) -> frozenset[Location]:
    """Return the test code that stands in a traceback."""
    frames = [f for failure in failures[:MAX_TESTS] for f in failure.frames]
    located = (locate(f) for f in dict.fromkeys(frames) if f.in_app and f.is_test)
    return frozenset(where for where in located if where is not None)


def is_most(each: Iterable[bool]) -> bool:
    """Say whether at least half of ``each`` holds, and any does."""
    listed = list(each)
    return any(listed) and 2 * sum(listed) >= len(listed)


def side_evidence(
    tests: Collection[Location],
    *,
    raised: bool,
    has_twin: bool,
    seen: Collection[Location],
    model: str,
) -> list[Evidence]:
    """Weigh what failing tests have in common as evidence on the test code ``tests``.

    The facts are what ``code_raised``, ``twin_passes`` and ``in_traceback`` say.
    """
    return [
        weigh(model, outcome, where, source="tests", why=why)
        for where in sorted(tests)
        for holds, outcome, why in (
            (raised, StaticOutcome.CODE_RAISED, RAISED),
            (has_twin, StaticOutcome.TWIN_PASSES, TWIN),
            (where in seen, StaticOutcome.TEST_IN_TRACEBACK, SEEN),
        )
        if holds
    ]


RAISED = "the exception came from the code, not from the test's own statement"
TWIN = "a passing test runs every line that it runs"
SEEN = "in the traceback"
