"""Evidence from tracebacks and names of failing tests, before anything is run again."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from pytest_bayesloc.domain.evidence import Evidence, StaticOutcome
from pytest_bayesloc.domain.failure import ErrorKind, Failure, Frame, Origin, Raised
from pytest_bayesloc.domain.location import MODULE, Location
from pytest_bayesloc.ranking.evidence.guards import Guard
from pytest_bayesloc.ranking.likelihoods import OF_FIXTURE, weigh

Locate = Callable[[Frame], Location | None]

# Raised by the test's own text, whatever the code under test does.
TEST_ERRORS = frozenset({"NameError", "UnboundLocalError", "FixtureLookupError", "SyntaxError"})
# Raised in a test if the code under test lacks what the test asks for, though none of it has run.
LACKS = frozenset({"AttributeError", "ImportError", "ModuleNotFoundError", "TypeError"})
ASSERTIONS = frozenset({"AssertionError", "Failed", "XPASS", "ExceptionGroup"})


def raising(
    failure: Failure, locate: Locate, raises_alone: Callable[[Frame], bool] = lambda _: False
) -> list[tuple[Location, Frame]]:
    """Find the places at which the exception, and its causes, left the code under test.

    A file that does not parse has no frame: it stands for itself. Passed over are frames of code
    that does nothing but raise (``raises_alone``): of 185 crashes by planted faults, 16 ended in
    such a function, and none of these was at fault.
    """
    if failure.syntax_error is not None:
        file, line = failure.syntax_error
        frame = Frame(file=file, line=line, name=MODULE, first_line=1, in_app=True)
        where = locate(frame)
        return [] if where is None or where.is_test else [(where, frame)]
    found = []
    for frames in (failure.frames, *failure.cause_frames):
        own = (frame for frame in reversed(frames) if frame.in_app and not raises_alone(frame))
        inner = next(own, None)
        if inner is not None and not inner.is_test and (where := locate(inner)) is not None:
            found.append((where, inner))
    return found


def traceback_evidence(
    failures: Sequence[Failure],
    candidates: Mapping[Location, float],
    locate: Locate,
    *,
    model: str,
    spared: frozenset[Location] = frozenset(),
    raises_alone: Callable[[Frame], bool] = lambda _: False,
) -> list[Evidence]:
    """Weigh the tracebacks of a group as evidence on ``candidates``.

    Guards that refused a caller's data (``spared``) are not incriminated by raising.
    """
    raised: dict[Location, Frame] = {}
    for failure in failures:
        for where, frame in raising(failure, locate, raises_alone):
            raised.setdefault(where, frame)
    passed = {locate(f) for failure in failures for f in failure.every_frame if f.in_app}
    if not raised:
        return []
    is_late = all(failure.raised is Raised.TIMEOUT for failure in failures)
    happened = "the time ran out at" if is_late else "the exception came from"
    refusing = set(map(refused_call, failures)) - {""}
    found: dict[Location, tuple[StaticOutcome, str]] = {}
    for where in sorted(candidates.keys() - (spared & raised.keys())):
        if where in raised:
            why = f"{happened} {raised[where].file}:{raised[where].line}"
            found[where] = StaticOutcome.RAISE_FRAME, why
        elif where.qualname in refusing:
            found[where] = StaticOutcome.RAISE_FRAME, "does not take the arguments of the call"
        elif where not in passed and not where.is_test:
            found[where] = StaticOutcome.NOT_IN_TRACEBACK, "not in the traceback"
    return [
        weigh(model, outcome, where, source="traceback", why=why)
        for where, (outcome, why) in found.items()
    ]


def guard_evidence(guard: Guard, *, model: str) -> list[Evidence]:
    """Weigh a refusal: the owner of the refused value is suspect, the guard is not."""
    names_test = guard.owner.is_test
    outcome = StaticOutcome.GUARD_NAMES_OWNER if names_test else StaticOutcome.GUARD_NAMES_CALLER
    return [
        weigh(
            model,
            outcome,
            guard.owner,
            source="guard",
            why=f"passed {guard.value}, which the check `{guard.condition}` in "
            f"{guard.function.qualname} rejected ({guard.owner.file}:{guard.line})",
            learned=OF_FIXTURE if guard.in_fixture else None,
        ),
        weigh(
            model,
            StaticOutcome.GUARD_REFUSED,
            guard.function,
            source="guard",
            why=f"raised to reject its caller's data: `{guard.condition}`",
        ),
    ]


def own_error_evidence(
    failures: Sequence[Failure], locate: Locate, *, model: str, ran_code: bool
) -> list[Evidence]:
    """Weigh errors in the tests' own text, and those that their fixtures and helpers raised.

    ``ran_code`` says whether they executed any function of the code under test.
    """
    found: dict[Location, tuple[StaticOutcome, str]] = {}
    for failure in failures:
        where = _own_error(failure, locate, ran_code=ran_code)
        if where is not None:
            why = f"the test's own code raised {failure.exc_type}"
            found.setdefault(where, (StaticOutcome.ORIGIN_IN_TEST, why))
        helper = _helper_error(failure, locate)
        if helper is not None:
            why = f"{failure.exc_type} was raised here, not in the code under test"
            found.setdefault(helper, (StaticOutcome.HELPER_RAISED, why))
    return [
        weigh(model, outcome, where, source="origin", why=why)
        for where, (outcome, why) in found.items()
    ]


def _own_error(failure: Failure, locate: Locate, *, ran_code: bool) -> Location | None:
    """Return the test code whose own text is wrong, if it is."""
    if failure.syntax_error is not None:
        file, _ = failure.syntax_error
        return next((where for where in failure.test_locations if where.file == file), None)
    is_early = failure.phase == "setup" or not ran_code
    is_system = is_early and failure.raised is Raised.SYSTEM  # a file or a package is missing
    if is_system or (not ran_code and failure.exc_type not in LACKS):
        helper = _helper_error(failure, locate)
        if helper is not None:
            return helper
    if failure.exc_type not in TEST_ERRORS:
        return None
    own, frames = failure.test_locations, failure.frames
    if not frames or (own and failure.exc_type == "FixtureLookupError"):
        return next(iter(own), None)
    return locate(frames[-1]) if frames[-1].is_test else None


def _helper_error(failure: Failure, locate: Locate) -> Location | None:
    """Return the fixture or helper of the tests that raised, if it was one, and no assertion.

    The test function itself is none: what it does with a result of the code may well fail.
    """
    inner = failure.raise_frame
    if inner is None or not inner.is_test or failure.phase == "collect":
        return None
    if _is_assertion(failure) or failure.raised is Raised.TIMEOUT:
        return None
    where = locate(inner)
    is_helper = where is not None and where.is_test and where not in failure.test_locations[:1]
    return where if is_helper else None


def origin_of(failures: Sequence[Failure], guard: Guard | None, own: Sequence[Evidence]) -> Origin:
    """Return the origin of a group's error."""
    if any(failure.phase == "collect" for failure in failures):
        return Origin.COLLECTION
    if guard is not None and guard.owner.is_test:
        return Origin.FIXTURE if guard.in_fixture else Origin.DATA
    if own:
        return Origin.FIXTURE if failures[0].phase != "call" else Origin.TEST
    return Origin.CODE


def kind_of(failures: Sequence[Failure], guard: Guard | None) -> ErrorKind:
    """Return the kind of error: refused by a guard, a crash, a wrong result, or no end in time."""
    if guard is not None:
        return ErrorKind.VALIDATION
    if all(failure.raised is Raised.TIMEOUT for failure in failures):
        return ErrorKind.TIMEOUT
    if all(_is_assertion(failure) for failure in failures):
        return ErrorKind.LOGIC
    return ErrorKind.RUNTIME


def _is_assertion(failure: Failure) -> bool:
    return failure.raised is Raised.ASSERTION or failure.exc_type in ASSERTIONS


_CALLED = re.compile(r"^([\w.<>]+)\(\) (?:takes|missing|got an unexpected|got multiple|got some)\b")


def refused_call(failure: Failure) -> str:
    """Return the qualified name of the function that does not take the arguments it was given.

    The call ended before its first line, so it has no frame. Empty if the failure is another.
    """
    found = _CALLED.match(failure.message) if failure.exc_type == "TypeError" else None
    return found[1] if found else ""


_NAMED_MODULE = re.compile(r"from (?:partially initialized module )?'([\w.]+)'")


def executed_lines(
    failure: Failure, locate: Locate, by_module: Callable[[str], Location | None]
) -> Iterator[tuple[Location, int]]:
    """Yield lines of code that the traceback proves to be executed by the failing test.

    An import that fails names the module that lacks the name, which is no frame any more.
    """
    for frame in failure.every_frame:
        where = locate(frame) if frame.in_app and not frame.is_test else None
        if where is not None:
            yield where, frame.line
    named = _NAMED_MODULE.search(failure.message) if failure.exc_type == "ImportError" else None
    module = by_module(named.group(1)) if named else None
    if module is not None and not module.is_test:
        yield module, module.start_line
