"""Keeps the last failed run: its result, and what it takes to re-run its tests."""

from __future__ import annotations

import os
from datetime import datetime, timezone
from itertools import chain, islice
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from pytest_bayesloc.domain.errors import StoreError
from pytest_bayesloc.domain.spectrum import bits
from pytest_bayesloc.domain.texts import storable, with_texts
from pytest_bayesloc.history.changes import name_of
from pytest_bayesloc.pipeline.context import FOLDER, own_folder, replace_text
from pytest_bayesloc.report.document import ResultDocument
from pytest_bayesloc.report.text import clip
from pytest_bayesloc.rerun.command import (
    NEUTRAL,
    Command,
    carried,
    command_for,
    server_environment,
    strange_part,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_bayesloc.pipeline.context import Context
    from pytest_bayesloc.ranking.case import Case

FILE = "last-run.json"
MAX_BYTES = 64 << 20
MAX_SHOWN = 200  # characters of what is refused
N_PLACES = 500  # whose passing tests are kept
N_PASSING = 50  # of each


class LastRun(msgspec.Struct, kw_only=True):
    """The last run in which tests failed.

    Attributes:
        made_at: ISO 8601, in UTC.
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
        """The command of a server that collects the same tests; the environment is ours.

        Raises:
            StoreError: If no run of this project has such a command here: a file that came with the
                project may hold anything.
        """
        rootdir, cwd = Path(self.rootdir), Path(self.cwd)
        is_near = cwd.is_relative_to(rootdir) or rootdir.is_relative_to(cwd)
        command = Command(
            flags=tuple(self.flags),
            path=tuple(self.path),
            arguments=tuple(self.arguments),
            rootdir=rootdir,
            cwd=cwd if is_near else rootdir,
            environment=server_environment(os.environ),
            options={**carried(self.options), **NEUTRAL},
        )
        if strange := strange_part(command) or self._test_outside():
            raise StoreError(
                f"The last failed run is not run again: {clip(strange, MAX_SHOWN)!r} in "
                f"{FOLDER}/{FILE} leads out of the project and of this Python. Run the failing "
                "tests once; ask with the PYTHONPATH that they were run with.",
                slug="last-run",
            )
        return command

    def _test_outside(self) -> str:
        """Return a test that lies outside of the project; empty if none does."""
        groups: list[list[str]] = [fault["failing_tests"] for fault in self.document["faults"]]
        for node_id in chain(*groups, *self.passing.values()):
            path = PurePath(node_id.partition("::")[0])
            if path.is_absolute() or ".." in path.parts:
                return node_id
        return ""


def keep_last(context: Context, document: Mapping[str, Any], cases: Sequence[Case]) -> None:
    """Keep this run for questions about it.

    Raises:
        OSError: If it can't be written.
    """
    made_at = datetime.now(timezone.utc).isoformat(timespec="seconds")
    run = run_of(context, document, cases, made_at=made_at)
    text = msgspec.json.encode(with_texts(msgspec.to_builtins(run), storable)).decode("utf-8")
    replace_text(own_folder(context.rootdir) / FILE, text)


def run_of(
    context: Context, document: Mapping[str, Any], cases: Sequence[Case], *, made_at: str = "now"
) -> LastRun:
    """Return this run as questions are answered from it."""
    command = command_for(context.config, context.launch.path, {})
    return LastRun(
        schema="bayesloc-last/1",
        made_at=made_at,
        rootdir=str(context.rootdir),
        document=dict(document),
        flags=list(command.flags),
        path=list(command.path),
        arguments=list(command.arguments),
        cwd=str(command.cwd),
        options=dict(command.options),
        passing=_passing(cases),
    )


def read_last(rootdir: Path) -> LastRun:
    """Return the last failed run of a project.

    Raises:
        StoreError: If none was kept, or it can't be read.
    """
    path = rootdir / FOLDER / FILE
    try:
        run, why = _read(path), ""
    except FileNotFoundError:
        run, why = None, "it does not exist"
    except (OSError, ValueError, RecursionError, msgspec.MsgspecError) as error:
        run, why = None, clip(str(error), MAX_SHOWN)
    if run is not None and Path(run.rootdir).resolve() != rootdir.resolve():
        why = f"it was made in {run.rootdir}"
    if run is None or why:
        raise StoreError(
            f"The last failed run can't be read from {path} ({why}): run the failing tests once, "
            "with the memory on.",
            slug="last-run",
        )
    return run


def _read(path: Path) -> LastRun:
    """Return what a file holds, whose result is as the schema says.

    Raises:
        OSError: If it can't be read.
        ValueError: If it holds something else.
    """
    if path.stat().st_size > MAX_BYTES:
        raise ValueError(f"it is larger than {MAX_BYTES >> 20} MiB")
    run = msgspec.json.decode(path.read_bytes(), type=LastRun)
    msgspec.convert(run.document, type=ResultDocument)
    return run


def _passing(cases: Sequence[Case]) -> dict[str, list[str]]:
    """Return passing tests by the functions that they execute, those of suspects alone."""
    found: dict[str, list[str]] = {}
    for case in cases:
        spectrum = case.spectrum
        for where in islice(case.belief.probabilities, N_PLACES):
            executed = spectrum.executed.get(where, 0) & spectrum.passing
            tests = [spectrum.tests[i] for i in islice(bits(executed), N_PASSING)]
            if tests:
                found.setdefault(storable(name_of(where)), tests)
    return found
