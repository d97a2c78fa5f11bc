"""One request, carried out in a process that ends right after."""

from __future__ import annotations

import builtins
import os
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from pytest_bayesloc.execution.calls import CallTracer
from pytest_bayesloc.execution.compiled import compile_patched
from pytest_bayesloc.execution.overlay import Overlay
from pytest_bayesloc.execution.probe import NAME, Probe

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_bayesloc.execution.swap import FunctionIndex
    from pytest_bayesloc.execution.wire import Message

OUTPUT_LIMIT = 4000
ERROR_LIMIT = 500


class Child:
    """Runs tests, patched or recorded, and sends what it sees as it goes.

    Args:
        items: The collected tests by node id.
        collection_errors: Files that could not be collected, with the error.
        send: Takes one message.
        functions: What a swap can reach; None: the overlay is in place already.
    """

    def __init__(
        self,
        items: Mapping[str, pytest.Item],
        collection_errors: Mapping[str, str],
        send: Callable[[Message], None],
        functions: FunctionIndex | None,
    ) -> None:
        self._items = items
        self._collection_errors = collection_errors
        self._send = send
        self._functions = functions
        self._current = ""
        self._probe = Probe(lambda: send({"covered": self._current}))
        self._tracer: CallTracer | None = None
        self._reports: list[pytest.TestReport] = []

    def run(self, request: Message, overlay: Overlay | None = None) -> None:
        """Carry ``request`` out."""
        setattr(builtins, NAME, self._probe)
        patch = request.get("patch")
        if patch and self._functions is not None and not self._swap(patch):
            return
        if overlay is not None:
            self._send({"swapped": overlay.n_loaded})
        if request.get("targets") is not None:
            self._tracer = CallTracer(_numbered(request["targets"]), sample=request["sample"])
        self._run_tests(request["tests"])
        if self._tracer is not None:
            self._send({"edges": [[*edge, n] for edge, n in self._tracer.edges.items()]})

    def _swap(self, patch: Message) -> bool:
        assert self._functions is not None  # noqa: S101 - for the type checker
        filename = patch["filename"]
        try:
            original, patched = patch["excerpt"] or (patch["original"], patch["patched"])
            code = compile_patched(original, patched, patch["code_filename"])
            keys = [(line, name) for line, name in patch["keys"]]
            n_swapped = self._functions.swap(filename, code, keys)
        except (SyntaxError, ValueError) as error:
            self._send({"unusable": f"{type(error).__name__}: {error}"})
            return False
        if not n_swapped:
            Overlay(filename, patch["original"], patch["patched"]).install()
        self._send({"swapped": n_swapped})
        return True

    def _run_tests(self, tests: Sequence[str]) -> None:
        runnable = [self._items[node_id] for node_id in tests if node_id in self._items]
        following = dict(pairwise(runnable))
        for item in runnable[:1]:
            item.config.pluginmanager.register(self, "bayesloc-child")
        for node_id in tests:
            if node_id in self._items:
                item = self._items[node_id]
                self._run_test(item, following.get(item))
            elif node_id in self._collection_errors:
                error = self._collection_errors[node_id]
                self._send({"start": node_id})
                self._end(node_id, "fail", error.strip().rpartition("\n")[2], error)

    def _run_test(self, item: pytest.Item, following: pytest.Item | None) -> None:
        self._current = item.nodeid
        self._probe.reset()
        self._reports = []
        self._send({"start": item.nodeid})
        if self._tracer is not None:
            self._tracer.start()
        try:
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        finally:
            calls = self._tracer.stop() if self._tracer is not None else None
        if calls is not None:
            self._send({"calls": calls, "of": item.nodeid})
        failed = [report for report in self._reports if report.failed]
        skipped = not self._reports or any(report.skipped for report in self._reports)
        verdict = "fail" if failed else "not-run" if skipped else "pass"
        self._end(item.nodeid, verdict, _error(failed), _output(failed))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the reports of the running test; of reruns, the last one's."""
        if str(report.outcome) == "rerun":
            self._reports.clear()
        else:
            self._reports.append(report)

    def _end(self, node_id: str, verdict: str, error: str, output: str) -> None:
        self._send(
            {
                "end": node_id,
                "verdict": verdict,
                "error": error[:ERROR_LIMIT],
                "output": output[-OUTPUT_LIMIT:],
                "covered": self._probe.covered,
                "violations": self._probe.violations,
            }
        )


def _numbered(targets: Sequence[Sequence[Any]]) -> dict[str, dict[tuple[int, str], int]]:
    numbered: dict[str, dict[tuple[int, str], int]] = {}
    for number, (filename, first_line, name) in enumerate(targets):
        numbered.setdefault(os.path.realpath(filename), {})[first_line, name] = number
    return numbered


def _error(failed: Sequence[pytest.TestReport]) -> str:
    if not failed:
        return ""
    crash = getattr(failed[0].longrepr, "reprcrash", None)
    return str(getattr(crash, "message", failed[0].longrepr)).partition("\n")[0]


def _output(failed: Sequence[pytest.TestReport]) -> str:
    if not failed:
        return ""
    sections = "".join(f"\n-- {name} --\n{text}" for name, text in failed[0].sections)
    return f"{failed[0].longreprtext}{sections}"
