"""The formal reflection: what an inspection's outcome means, without an LLM."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pytest_bayesloc.domain.evidence import Decision
from pytest_bayesloc.domain.inspection import Check, InspectionPatch
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.recording import Recording
from pytest_bayesloc.ranking.callgraph import golden_rule
from pytest_bayesloc.ranking.evidence.invariants import Invariant, broken


def innocents(
    recording: Recording,
    failing: Iterable[str],
    invariants: Mapping[Location, Sequence[Invariant]],
) -> frozenset[Location]:
    """Locations that the golden rule of callees excuses in every failing test that calls them."""
    excused: set[Location] = set()
    accused: set[Location] = set()
    for node_id in failing:
        calls = recording.calls.get(node_id, ())
        violating = {
            i
            for i, call in enumerate(calls)
            if broken(invariants.get(call.location, ()), call, at_exit=True)
        }
        innocent = golden_rule(calls, violating)
        excused |= innocent
        accused |= {calls[i].location for i in violating} - innocent
    return frozenset(excused - accused)


def reflect(
    patch: InspectionPatch, fired: Sequence[int], innocent: frozenset[Location]
) -> tuple[Decision, str]:
    """The decision on the target of ``patch``, and why.

    A target that a callee excuses is not buggy; nor is one of which only the input was off: the
    wrong value was made before it.
    """
    target = patch.target
    if target in innocent:
        return (
            Decision.CONFIRMED_NOT_BUGGY,
            "something it called returned an unusual value first (golden rule of callees)",
        )
    known = _fired(patch, fired)
    if known and not any(check.at_exit for check in known):
        return Decision.CONFIRMED_NOT_BUGGY, "what it was given was unusual already"
    return Decision.NEUTRAL, ""


def describe(patch: InspectionPatch, fired: Sequence[int], reason: str) -> str:
    """One line on what an inspection found."""
    if not fired:
        n = len(patch.checks)
        return f"none of {n} assertion{'' if n == 1 else 's'} failed" if n else "heartbeat only"
    text = f"{_held(_fired(patch, fired))}broken in the failing test"
    return f"{text}; {reason}" if reason else text


def _held(known: Sequence[Check]) -> str:
    """The best of the checks that fired, and in how many calls it was seen to hold."""
    if not known:
        return "an assertion of the patch: "
    best = max(known, key=lambda c: (c.at_exit, c.support))
    support = f"held in all {best.support} passing calls, " if best.support else ""
    return f"{best.text}: {support}"


def _fired(patch: InspectionPatch, fired: Sequence[int]) -> list[Check]:
    """The checks that fired; of another plugin's patch, those that it lists."""
    return [check for check in patch.checks if check.number in fired]
