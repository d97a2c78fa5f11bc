"""The protocols by which parts of the package use each other, and calls that others answer later.

A language model sees what statistics can't: what a function is meant to do. All texts in the values
of that dialogue may leave the machine: who makes them leaves out what must not.
"""

from __future__ import annotations

from concurrent.futures import Future, wait
from dataclasses import dataclass
from threading import Thread
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_bayesloc.domain.inspection import Change, InspectionPatch, Reader, Rerun, TestRun
    from pytest_bayesloc.domain.location import Location
    from pytest_bayesloc.domain.recording import (
        AskedPattern,
        HandledError,
        Recording,
        Sample,
        ValueFlow,
    )
    from pytest_bayesloc.domain.source import Unit

T = TypeVar("T")


class Later(Future[T]):
    """A call under way in a thread of its own.

    A client's own time-out is one of each read: a server that sends a byte now and then outlives
    it. The thread that is left behind ends with the process.
    """

    def __init__(self, call: Callable[[], T]) -> None:
        super().__init__()
        Thread(target=self._run, args=(call,), name="bayesloc-endpoint", daemon=True).start()

    def _run(self, call: Callable[[], T]) -> None:
        try:
            self.set_result(call())
        except BaseException as error:  # noqa: BLE001 - raised again by whoever waits
            self.set_exception(error)

    def result(self, timeout: float | None = None) -> T:
        """Return or raise what it does, in ``timeout`` seconds at most.

        Raises:
            TimeoutError: If it takes longer.
        """
        wait([self], timeout)
        if not self.done():
            raise TimeoutError(f"no answer within {timeout:g} s")
        return super().result()


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
        error: Type and message.
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
        diff: The patch of the inspection that is to be judged; this and the rest are empty before.
        runs: How each test went under it, a line a test.
        callee_values: Of what the callees returned under it: name, in passing and failing calls.
    """

    target: Code
    test: FailingTest
    callers: tuple[Code, ...] = ()
    callees: tuple[Code, ...] = ()
    values: tuple[tuple[str, str, str], ...] = ()
    invariants: tuple[str, ...] = ()
    tried: tuple[str, ...] = ()
    diff: str = ""
    runs: tuple[str, ...] = ()
    callee_values: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedCode:
    """A function with assertions added, as the model wrote it: to be checked before it is run."""

    text: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """The model's part of a conversation: it calls functions, or it ends.

    Attributes:
        calls: Functions by name, in this order, with the JSON values of their arguments: nothing of
            it is checked yet. None if the conversation is over.
        suspects: Names of functions and tests that hold the fault, most suspect first.
        why: The reason, which came before.
    """

    calls: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    suspects: tuple[str, ...] = ()
    why: str = ""


#: Takes one answer for each call of the last turn (none at first), and returns the model's next
#: turn; None if it calls no functions, or can't be asked. It never raises.
Converse: TypeAlias = "Callable[[Sequence[str]], Turn | None]"
#: Monotonic seconds since some fixed point.
Clock: TypeAlias = "Callable[[], float]"


class Runner(Protocol):
    """Re-runs tests, patched or not, without touching a file.

    What runs tests raises an ``ExecutionError`` if no transport is left.
    """

    def rerun(
        self, patch: InspectionPatch | None, tests: Sequence[str], *, limit_s: float
    ) -> Rerun:
        """Run ``tests`` under ``patch`` (None: as they are), for ``limit_s`` seconds at most."""

    def record(
        self,
        tests: Sequence[str],
        targets: Sequence[Location],
        *,
        limit_s: float,
        sample: bool = False,
        detailed: Location | None = None,
    ) -> Recording:
        """Run ``tests`` as they are and note the calls of ``targets`` that are functions.

        With ``sample``, some calls of each are enough. Of ``detailed``, values are noted with their
        parts.
        """

    def follow(self, tests: Sequence[str], *, limit_s: float) -> Sequence[ValueFlow]:
        """Run failing ``tests`` as they are and follow the value that is wrong in each of them."""

    def caught(
        self, tests: Sequence[str], *, limit_s: float
    ) -> Mapping[str, tuple[HandledError, ...]]:
        """Run ``tests`` as they are; return what code caught in each that ended, and kept in."""

    def patterns_asked(
        self, tests: Sequence[str], *, limit_s: float
    ) -> tuple[Rerun, Mapping[str, tuple[AskedPattern, ...]]]:
        """Run ``tests`` with stand-ins for regular expressions of the project.

        Returns:
            How they ended; what was asked in each that ended.
        """

    def samples(
        self,
        tests: Sequence[str],
        points: Sequence[tuple[Unit, Sequence[tuple[int, int]]]],
        *,
        limit_s: float,
        patch: InspectionPatch | None = None,
        is_valued: bool = True,
    ) -> Mapping[str, Sequence[Sample]]:
        """Run ``tests`` and note the values at points of functions.

        Args:
            tests: Node ids.
            points: Functions, each with first and last lines of statements or conditions.
            limit_s: Wall seconds.
            patch: What they run under; lines are those without it.
            is_valued: Whether values are noted, which takes its time; else the points alone.

        Returns:
            Per test that ended, those that no test before it gave, capped.
        """

    def changed_state(self, tests: Sequence[str], *, limit_s: float) -> Sequence[str]:
        """Run ``tests`` in this order; name the shared variables that differ before the last one.

        Returns:
            ``file::module.variable``, ``file::fixture NAME``, ``::os.environ['NAME']``, or
            ``::the working directory`` and the like; empty if that is not known.
        """

    def under(
        self, condition: tuple[str, object], tests: Sequence[str], *, limit_s: float
    ) -> tuple[Rerun, Sequence[Reader]] | None:
        """Run ``tests`` under a condition: its name and value, as ``rerun.conditions`` has them.

        Returns:
            How they went, and who read the order of sets where that is the condition; None where
            it can't be put in place.
        """

    def readers(self, test: str, *, limit_s: float) -> Mapping[str, Sequence[Reader]]:
        """Run ``test`` as it is; return by condition the code that asks for what it changes."""

    def restored(
        self, tests: Sequence[str], names: Sequence[str], *, limit_s: float
    ) -> tuple[TestRun, Mapping[str, Sequence[Change]]]:
        """Run ``tests``, the last one with shared variables as they were before the first.

        Returns:
            How the last one went, and what had changed of the variables.
        """

    def cancel(self) -> None:
        """End what is under way, from another thread; nothing is run until ``resume``."""

    def resume(self) -> None:
        """Run what is asked for again."""

    def close(self) -> None:
        """End what was started. May be called twice."""


class Embedder(Protocol):
    """Turns texts into vectors that are near each other where their meanings are."""

    @property
    def model(self) -> str:
        """Its name: vectors of one are not compared with those of another."""

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector a text, all of one length.

        Raises:
            EndpointError: If they can't be had.
        """
