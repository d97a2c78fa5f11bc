"""Which window each test runs in: the plugin that is there while tests are traced."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import pytest

from pytest_bayesloc.spectrum.recorded import START_UP

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping

    from pytest_bayesloc.spectrum.explanations import Explanations
    from pytest_bayesloc.spectrum.recorded import Recorded


class Recording(Protocol):
    """What windows need of the recorder.

    Attributes:
        recorded: What was seen.
        labels: Per window of a test, its node id.
        explanations: Are muted while tests run.
        current: The window that is being recorded.
    """

    recorded: Recorded
    labels: dict[int, str]
    explanations: Explanations
    current: int | None

    @property
    def is_recording(self) -> bool:
        """Whether a collector is at work."""

    def open(self) -> int:
        """The number of a new window."""

    def switch(self, window: int | None) -> None:
        """What is executed from now on belongs to ``window``; None: to nothing."""

    def rest(self) -> None:
        """Nothing that is executed is of interest until the next ``switch``."""


class Windows:
    """Opens and closes windows.

    Args:
        recorder: Records what is executed in them.
        known: The tests that need not be traced, and what they are known as.
    """

    def __init__(self, recorder: Recording, known: Mapping[str, str]) -> None:
        self._recorder = recorder
        self._known = known
        self._shared: dict[pytest.FixtureDef[Any], int] = {}
        self._own: list[int] = []  # of the running test

    def open(self, item: pytest.Item) -> int:
        """A window for ``item``; a rerun gets one of its own, for the last counts."""
        recorded = self._recorder.recorded
        window = self._recorder.open()
        self._own = [window, START_UP]
        module = item.getparent(pytest.Module)
        if module is not None and module.nodeid in recorded.imported:
            self._own.append(recorded.imported[module.nodeid])
        is_known = item.nodeid in self._known
        if is_known or self._recorder.is_recording:
            recorded.windows_of[item.nodeid] = self._own
        if is_known:
            recorded.cached[window] = self._known[item.nodeid]
        return window

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Begin the item's window."""
        self._recorder.explanations.mute()
        window = self.open(item)
        self._recorder.labels[window] = item.nodeid
        if item.nodeid in self._known:
            self._recorder.rest()
        else:
            self._recorder.switch(window)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[Any]
    ) -> Generator[None, object, object]:
        """What sets up a shared fixture, or a class, belongs to all tests that use it."""
        if fixturedef.scope == "function":
            return (yield)
        recorder = self._recorder
        around = recorder.current
        window = recorder.open()
        if around is not None:
            recorder.labels[window] = recorder.labels.get(around, "")
        self._shared[fixturedef] = window
        self._own.append(window)
        recorder.switch(window)
        try:
            return (yield)
        finally:
            recorder.switch(around)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> None:
        """Teardown belongs to the item, too, after a report was made in between."""
        shared = {self._shared[used] for used in _fixtures(item) if used in self._shared}
        self._own.extend(sorted(shared.difference(self._own)))
        if item.nodeid not in self._known:
            self._recorder.switch(self._own[0])


def _fixtures(item: pytest.Item) -> Iterator[pytest.FixtureDef[Any]]:
    """The fixtures that ``item`` names, and those that it asked for; no public way leads there."""
    info, request = getattr(item, "_fixtureinfo", None), getattr(item, "_request", None)
    for definitions in getattr(info, "name2fixturedefs", {}).values():
        yield from definitions[-1:]
    yield from getattr(request, "_fixture_defs", {}).values()
