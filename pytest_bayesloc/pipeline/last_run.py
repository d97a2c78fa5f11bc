"""Keeps the last failed run: its result, and what it takes to re-run its tests."""

from __future__ import annotations

import os
from datetime import datetime, timezone
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from pytest_bayesloc.domain.errors import StoreError
from pytest_bayesloc.domain.spectrum import bits
from pytest_bayesloc.domain.texts import storable, with_texts
from pytest_bayesloc.history.changes import name_of
from pytest_bayesloc.pipeline.place import FOLDER, own_folder, replace_text
from pytest_bayesloc.rerun.command import Command, command_for, server_environment

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_bayesloc.pipeline.context import Context
    from pytest_bayesloc.ranking.case import Case

FILE = "last-run.json"
N_PLACES = 500  # whose passing tests are kept
N_PASSING = 50  # of each


class LastRun(msgspec.Struct, kw_only=True):
    """The last run in which tests failed.

    Attributes:
        made_at: ISO 8601, in UTC.
        rootdir: Of the project.
        document: The JSON result, without secrets.
        flags: Of the interpreter.
        path: Its ``sys.path``.
        arguments: pytest's, for a server of re-runs.
        cwd: The folder that the run was started in.
        options: Option values for such a server.
        passing: Passing tests that execute a function, by ``file qualname``.
    """

    schema: Literal["bayesloc-last/1"]
    made_at: str
    rootdir: str
    document: dict[str, Any]
    flags: list[str]
    path: list[str]
    arguments: list[str]
    cwd: str
    options: dict[str, Any]
    passing: dict[str, list[str]]

    @property
    def command(self) -> Command:
        """The command of a server that collects the same tests; the environment is ours."""
        return Command(
            flags=tuple(self.flags),
            path=tuple(self.path),
            arguments=tuple(self.arguments),
            rootdir=Path(self.rootdir),
            cwd=Path(self.cwd),
            environment=server_environment(os.environ),
            options=self.options,
        )


def keep_last(context: Context, document: Mapping[str, Any], cases: Sequence[Case]) -> None:
    """Keep this run for questions about it.

    Raises:
        OSError: If it can't be written.
    """
    command = command_for(context.config, context.launch.path, {})
    run = LastRun(
        schema="bayesloc-last/1",
        made_at=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        rootdir=str(context.rootdir),
        document=dict(document),
        flags=list(command.flags),
        path=list(command.path),
        arguments=list(command.arguments),
        cwd=str(command.cwd),
        options=dict(command.options),
        passing=_passing(cases),
    )
    text = msgspec.json.encode(with_texts(msgspec.to_builtins(run), storable)).decode("utf-8")
    replace_text(own_folder(context.rootdir) / FILE, text)


def read_last(rootdir: Path) -> LastRun:
    """Return the last failed run of a project.

    Raises:
        StoreError: If none was kept, or it can't be read.
    """
    path = rootdir / FOLDER / FILE
    try:
        run, why = msgspec.json.decode(path.read_bytes(), type=LastRun), ""
    except FileNotFoundError:
        run, why = None, "it does not exist"
    except (OSError, ValueError, RecursionError) as error:
        run, why = None, str(error)
    if run is not None and Path(run.rootdir).resolve() != rootdir.resolve():
        why = f"it was made in {run.rootdir}"
    if run is None or why:
        raise StoreError(
            f"The last failed run can't be read from {path} ({why}): run the failing tests once, "
            "with the memory on.",
            slug="last-run",
        )
    return run


def _passing(cases: Sequence[Case]) -> dict[str, list[str]]:
    """Return passing tests by the functions that they execute, those of suspects alone."""
    found: dict[str, list[str]] = {}
    for case in cases:
        spectrum = case.group.spectrum
        for where in islice(case.belief.probabilities, N_PLACES):
            executed = spectrum.executed.get(where, 0) & spectrum.passing
            tests = [spectrum.tests[i] for i in islice(bits(executed), N_PASSING)]
            if tests:
                found.setdefault(storable(name_of(where)), tests)
    return found
