"""What a server's messages amount to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_bayesloc.domain.inspection import Rerun, TestRun, Verdict
from pytest_bayesloc.domain.recording import Call, Recording, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_bayesloc.domain.location import Location
    from pytest_bayesloc.rerun.process import Reply
    from pytest_bayesloc.rerun.wire import Message


class Answer:
    """What came back for one request.

    Args:
        reply: Of the server.
        here: Gives the paths of this machine to a text.
    """

    def __init__(self, reply: Reply, here: Callable[[str], str]) -> None:
        self._here = here
        self._tests: dict[str, TestRun] = {}
        self._covered: set[str] = set()
        self._running = ""
        self._calls: dict[str, list[list[Any]]] = {}
        self._edges: list[list[int]] = []
        self._timed_out = reply.timed_out
        self.n_swapped = 0
        self.unusable = ""
        self.traced = ""
        self.seconds = reply.seconds
        self.cpu_s = 0.0
        for message in reply.messages:
            self._take(message)

    def _take(self, message: Message) -> None:
        if "start" in message:
            self._running = message["start"]
        elif "end" in message:
            self._tests[message["end"]] = self._test_run(message)
            self._running = ""
        elif "calls" in message:
            self._calls[message["of"]] = message["calls"]
        elif "covered" in message:
            self._covered.add(message["covered"])
        elif "done" in message:
            self._timed_out = message["done"] == "timeout"
            self.seconds, self.cpu_s = message["seconds"], message["cpu_s"]
        else:
            self.n_swapped = message.get("swapped", self.n_swapped)
            self.unusable = message.get("unusable", self.unusable)
            self._edges = message.get("edges", self._edges)
            self.traced = message.get("traced", self.traced)

    def _test_run(self, message: Message) -> TestRun:
        return TestRun(
            verdict=Verdict(message["verdict"]),
            error=self._here(message["error"]),
            covered=message["covered"],
            violations=tuple(message["violations"]),
            output=self._here(message["output"]),
        )

    def _run_of(self, node_id: str) -> TestRun:
        """How ``node_id`` went; what was running when the process ended timed out or crashed."""
        done = self._tests.get(node_id)
        if done is not None:
            return done
        verdict = Verdict.NOT_RUN
        if node_id == self._running:
            verdict = Verdict.TIMEOUT if self._timed_out else Verdict.CRASH
        return TestRun(verdict=verdict, covered=node_id in self._covered)

    def rerun(self, tests: Sequence[str], how: str) -> Rerun:
        """How each of ``tests`` went."""
        return Rerun(
            tests={node_id: self._run_of(node_id) for node_id in tests},
            n_swapped=self.n_swapped,
            seconds=self.seconds,
            cpu_s=self.cpu_s,
            log=self.unusable,
            how=how,
        )

    def recording(self, targets: Sequence[Location]) -> Recording:
        """The calls of ``targets``, by their numbers in the request."""
        edges = {(targets[a], targets[b]): n for a, b, n in self._edges}
        calls = {
            node_id: tuple(_call(raw, targets) for raw in raws)
            for node_id, raws in self._calls.items()
        }
        return Recording(calls=calls, edges=edges)


def _call(raw: list[Any], targets: Sequence[Location]) -> Call:
    target, caller, entered, left, args, result, raised = raw
    return Call(
        location=targets[target],
        caller=caller,
        entered=entered,
        left=left,
        args={name: _value(value) for name, value in args.items()},
        result=None if result is None else _value(result),
        raised=raised,
    )


def _value(raw: list[Any]) -> Value:
    type_name, number, length, is_sorted, text, identity = raw
    return Value(
        type_name=type_name,
        number=number,
        length=length,
        is_sorted=is_sorted,
        text=text,
        identity=identity,
    )
