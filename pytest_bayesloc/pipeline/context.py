"""One session: what all its stages share, and how it tells the user what went wrong."""

from __future__ import annotations

import os
import warnings
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.domain.standard_library import monotonic
from pytest_bayesloc.spectrum.sources import Sources

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pytest_bayesloc.domain.redaction import Redaction
    from pytest_bayesloc.options import Launch, Settings
    from pytest_bayesloc.pipeline.execute import RerunTransports
    from pytest_bayesloc.spectrum.recorder import Recorder


class BayeslocWarning(pytest.PytestWarning):
    """A fault of the plugin's own; the tests and pytest's exit status are as they would be."""


@dataclass(kw_only=True)
class Context:
    """The session that the stages work for.

    Attributes:
        config: pytest's.
        settings: Everything that the user set.
        launch: What the process was started with.
        recorder: Of the run.
        notes: What went wrong, for the user.
        seconds: Wall seconds by stage.
    """

    config: pytest.Config
    settings: Settings
    launch: Launch
    recorder: Recorder
    notes: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    _transports: RerunTransports | None = field(default=None, init=False)

    @property
    def rootdir(self) -> Path:
        """The project's folder."""
        return self.config.rootpath

    @cached_property
    def sources(self) -> Sources:
        """The project's files."""
        return Sources(self.recorder.files)

    @cached_property
    def redaction(self) -> Redaction | None:
        """Takes secrets out of what is published; None if the user wants them."""
        if "redaction" in self.settings.without:
            return None
        from pytest_bayesloc.domain.redaction import Redaction  # its patterns take a while

        # Tests may have changed a variable: what the process was given is the real secret.
        return Redaction({**os.environ, **self.launch.environment})

    def clean(self, text: str) -> str:
        """Return ``text`` as it is published."""
        return text if self.redaction is None else self.redaction.clean(text)

    @property
    def transports(self) -> RerunTransports:
        """The places where tests are run again, opened when they are first used."""
        if self._transports is None:
            from pytest_bayesloc.pipeline.execute import RerunTransports

            self._transports = RerunTransports(
                self.config,
                self.settings.executors,
                self.settings.workspace,
                self.launch,
                lambda: [*self.recorder.files_in_use()],
                self.note,
            )
        return self._transports

    @property
    def executor(self) -> str:
        """The places where tests were run again, for a person; ``local`` if they were not."""
        return "local" if self._transports is None else self._transports.words

    def close(self) -> None:
        """End what runs tests again."""
        if self._transports is not None:
            self._transports.close()

    def note(self, text: str) -> None:
        """Tell the user once, however often it happens."""
        if text not in self.notes:
            self.notes.append(text)

    def announce(self, text: str) -> None:
        """Tell the user right now; at the end where there is no terminal reporter."""
        reporter = self.config.pluginmanager.get_plugin("terminalreporter")
        if reporter is None:
            self.note(text)
            return
        reporter.write_line("")  # the dots of the tests may have no end yet
        reporter.write_line(f"bayesloc: {text}", yellow=True)

    def warn(self, error: Exception) -> None:
        """Tell the user of a fault of ours, which has no consequence for the tests."""
        text = (
            f"pytest-bayesloc failed ({type(error).__name__}: {error}): the tests and the exit "
            "status are not affected. Please report it, or run with --no-bayesloc. (own-fault)"
        )
        if text in self.notes:
            return
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            with suppress(BayeslocWarning):  # where warnings are errors, the note has to do
                self.config.issue_config_time_warning(BayeslocWarning(text), stacklevel=2)
        self.notes.append(text)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Measure the wall seconds of a stage."""
        started = monotonic()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + monotonic() - started

    def spent_s(self, *stages: str) -> float:
        """Return the wall seconds that ``stages`` took."""
        return sum(self.seconds.get(name, 0.0) for name in stages)

    def call_others(self, hook: str, call: Callable[[], object], *, effect: str, slug: str) -> None:
        """Call a hook of other plugins; one that breaks costs a note."""
        try:
            call()
        except Exception as error:  # noqa: BLE001 - it is not ours, and may raise anything
            self.note(
                f"A plugin's {hook} failed ({type(error).__name__}: {error}): {effect}. ({slug})"
            )
