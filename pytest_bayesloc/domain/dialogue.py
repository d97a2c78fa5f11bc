"""The dialogue with a language model: what it is shown of a fault, and what it may answer.

It sees what statistics can't: what a function is meant to do. All texts in these values may leave
the machine: who makes them leaves out what must not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_bayesloc.domain.evidence import Decision
    from pytest_bayesloc.domain.location import Location


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """A location with its source.

    Attributes:
        location: Where it stands.
        text: Its lines; empty where they are not shown.
        facts: What the run knows of it: who executed it, and what changed in it.
    """

    location: Location
    text: str = ""
    facts: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """``calc.py:3 add``: its name in the dialogue."""
        return str(self.location)


@dataclass(frozen=True, slots=True, kw_only=True)
class FailingTest:
    """A test of the group.

    Attributes:
        node_id: Its name.
        error: Type and message.
        code: The test function.
        trace: The frames in the project, outermost first, a line each with its source.
    """

    node_id: str
    error: str
    code: Code | None = None
    trace: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultContext:
    """A group of failing tests with the likeliest candidates, best first.

    Attributes:
        tests: A few failing tests.
        candidates: Code alone.
        known: What is remembered of it: attempts that failed, what was learned.
    """

    tests: tuple[FailingTest, ...]
    candidates: tuple[Code, ...]
    known: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetContext:
    """One candidate from near.

    Attributes:
        target: The candidate.
        test: A failing test that executes it.
        callers: Who calls it in failing tests.
        callees: What it calls there.
        values: Of parameters and results: name, in passing and in failing calls.
        invariants: What held in all passing calls.
        tried: What inspections of it showed, and what is remembered.
    """

    target: Code
    test: FailingTest
    callers: tuple[Code, ...] = ()
    callees: tuple[Code, ...] = ()
    values: tuple[tuple[str, str, str], ...] = ()
    invariants: tuple[str, ...] = ()
    tried: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """The result of an inspection.

    Attributes:
        diff: The patch.
        runs: A line a test: how it went under the patch.
        callee_values: What the callees of the target returned: name, passing, failing.
    """

    diff: str
    runs: tuple[str, ...]
    callee_values: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedCode:
    """A function with assertions added, as the model wrote it: to be checked before it is run."""

    text: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionCall:
    """A question that the model asks by calling a function; nothing of it is checked yet.

    Attributes:
        name: Of the function.
        arguments: By name, any JSON values.
    """

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """The model's part of a conversation: it calls functions, or it ends.

    Attributes:
        calls: Functions, in this order; none if the conversation is over.
        suspects: Names of functions and tests that hold the fault, most suspect first.
        why: The reason, which came before.
    """

    calls: tuple[FunctionCall, ...] = ()
    suspects: tuple[str, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reflection:
    """The model's verdict on an inspected target."""

    decision: Decision
    reason: str
