"""Brings the records of pytest-xdist's workers together in the controller.

A record travels as JSON text: a path object or a lone surrogate in ``workeroutput`` would silently
lose all that a worker reports.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pytest_bayesloc.spectrum.run_record import list_tests

if TYPE_CHECKING:
    from pytest_bayesloc.spectrum.recorder import Recorder

KEY = "bayesloc"


def is_worker(config: pytest.Config) -> bool:
    """Whether this process is a worker."""
    return hasattr(config, "workerinput")


def is_controller(config: pytest.Config) -> bool:
    """Whether this process hands its tests to workers."""
    distributes = getattr(config.option, "dist", "no") != "no"
    return distributes and bool(getattr(config.option, "tx", None)) and not is_worker(config)


class Worker:
    """Sends the record at the end of a worker's session."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtestloop(self) -> Any:  # noqa: ANN401 - a generator hook
        """Stop recording before outer plugins stop measuring."""
        try:
            return (yield)
        finally:
            self._recorder.stop()

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Send the record."""
        self._recorder.stop()
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            files = map(str, self._recorder.files_in_use().values())
            output[KEY] = json.dumps(self._recorder.payload(files))


class Controller:
    """Merges the records that the workers send to the controller."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._has_lost = False

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:  # noqa: ANN401 - xdist's
        """Merge the record of a worker that ended, or say that it is missing."""
        text = (getattr(node, "workeroutput", None) or {}).get(KEY)
        recorded = self._recorder.recorded
        if text is not None:
            recorded.merge(json.loads(text))
            return
        name = getattr(getattr(node, "gateway", None), "id", "?")
        reason = f": {error}" if error else ""
        recorded.partial.append(f"Worker {name} sent no coverage{reason}")
        self._has_lost = True

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Bring the verdicts into an order that does not depend on who was faster."""
        recorded = self._recorder.recorded
        missing = sorted(recorded.verdicts.keys() - recorded.windows_of.keys())
        if self._has_lost and missing:
            recorded.partial.append(f"What {list_tests(missing)} executed was lost with it")
        recorded.verdicts = dict(sorted(recorded.verdicts.items()))
        recorded.failures = dict(sorted(recorded.failures.items()))
