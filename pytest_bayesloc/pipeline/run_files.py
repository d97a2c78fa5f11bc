"""Runs in files: the last failed one, for questions about it, and records for other machines."""

from __future__ import annotations

import os
from datetime import datetime, timezone
from itertools import chain, islice
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Literal

import msgspec
import pytest

from pytest_bayesloc.domain.errors import ShardError, StoreError
from pytest_bayesloc.domain.spectrum import bits
from pytest_bayesloc.domain.texts import digest_of, file_of_test, storable, with_texts
from pytest_bayesloc.history.changes import name_of
from pytest_bayesloc.history.git import head
from pytest_bayesloc.pipeline.context import FOLDER, own_folder, replace_text
from pytest_bayesloc.report.document import ResultDocument  # noqa: TC001 - msgspec reads it from the annotations
from pytest_bayesloc.report.text import clip
from pytest_bayesloc.rerun.command import (
    NEUTRAL,
    Command,
    carried,
    command_for,
    server_environment,
    strange_part,
)
from pytest_bayesloc.spectrum.shards import MAX_CHARACTERS, SCHEMA, dump, load, parse
from pytest_bayesloc.spectrum.validity import environment

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_bayesloc.pipeline.context import Context
    from pytest_bayesloc.ranking.case import Case
    from pytest_bayesloc.spectrum.recorder import Recorder
    from pytest_bayesloc.spectrum.shards import CodeState, Shard

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
    document: ResultDocument
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
        groups = [fault.failing_tests for fault in self.document.faults]
        paths = ((n, PurePath(file_of_test(n))) for n in chain(*groups, *self.passing.values()))
        outside = (n for n, path in paths if path.is_absolute() or ".." in path.parts)
        if strange := strange_part(command) or next(outside, ""):
            raise StoreError(
                f"The last failed run is not run again: {clip(strange, MAX_SHOWN)!r} in "
                f"{FOLDER}/{FILE} leads out of the project and of this Python. Run the failing "
                "tests once; ask with the PYTHONPATH that they were run with.",
                slug="last-run",
            )
        return command


def keep_last(context: Context, document: ResultDocument, cases: Sequence[Case]) -> None:
    """Keep this run for questions about it.

    Raises:
        OSError: If it can't be written.
    """
    made_at = datetime.now(timezone.utc).isoformat(timespec="seconds")
    run = run_of(context, document, cases, made_at=made_at)
    text = msgspec.json.encode(with_texts(msgspec.to_builtins(run), storable)).decode("utf-8")
    replace_text(own_folder(context.rootdir) / FILE, text)


def run_of(
    context: Context, document: ResultDocument, cases: Sequence[Case], *, made_at: str = "now"
) -> LastRun:
    """Return this run as questions are answered from it."""
    command = command_for(context.config, context.launch.path, {})
    passing: dict[str, list[str]] = {}
    for case in cases:
        spectrum = case.spectrum
        for where in islice(case.belief.probabilities, N_PLACES):
            executed = spectrum.executed.get(where, 0) & spectrum.passing
            tests = [spectrum.tests[i] for i in islice(bits(executed), N_PASSING)]
            if tests:
                passing.setdefault(storable(name_of(where)), tests)
    return LastRun(
        schema="bayesloc-last/1",
        made_at=made_at,
        rootdir=str(context.rootdir),
        document=document,
        flags=list(command.flags),
        path=list(command.path),
        arguments=list(command.arguments),
        cwd=str(command.cwd),
        options=dict(command.options),
        passing=passing,
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
    return msgspec.json.decode(path.read_bytes(), type=LastRun)


# -- records: merged into one run, where several machines ran the tests


class RecordMerger:
    """Reads records instead of running tests.

    Args:
        recorder: Of this run, which records nothing itself.
        paths: Files that ``--bayesloc-report=record:PATH`` wrote, or folders of them.
        note: Tells the user.
    """

    def __init__(
        self, recorder: Recorder, paths: Sequence[Path], note: Callable[[str], None]
    ) -> None:
        self._recorder = recorder
        self._paths = paths
        self._note = note

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Merge the records, and run nothing."""
        recorded = self._recorder.recorded
        recorded.verdicts.clear()
        records = dict(filter(None, map(self._read, record_files(self._paths, self._note))))
        # Inspections would be about the same files as they are here.
        files = dict.fromkeys(file for record in records.values() for file in record["digests"])
        here = {file: digest_of(Path(self._recorder.files.absolute(file))) for file in files}
        state: CodeState = {
            "revision": "",
            "digests": {file: digest for file, digest in here.items() if digest},
        }
        refuse_other_code({**records, Path("this checkout"): state})
        for record in records.values():
            load(recorded, record, self._recorder.files)
        order = {item.nodeid: number for number, item in enumerate(session.items)}
        known = sorted(recorded.verdicts, key=lambda node_id: order.get(node_id, len(order)))
        recorded.verdicts = {node_id: recorded.verdicts[node_id] for node_id in known}
        session.testsfailed = sum(not passed for passed in recorded.verdicts.values())
        return True

    def _read(self, path: Path) -> tuple[Path, Shard] | None:
        """Read a record; note if it can't be used."""
        try:
            with path.open(encoding="utf-8") as stream:
                text = stream.read(MAX_CHARACTERS)
            return path, parse(text, path, self._recorder.files)
        except (OSError, UnicodeError, ShardError) as error:
            self._note(str(error))
            self._recorder.recorded.partial.append(f"What {path.name} holds is missing")
            return None


def refuse_other_code(records: Mapping[Path, CodeState]) -> None:
    """End the run if records are not all about the same code.

    Args:
        records: Each with its ``revision``, empty if unknown, and the ``digests`` of files.

    Raises:
        pytest.UsageError: If two differ; the text names them, and a file.
    """
    first: dict[str, Path] = {}  # per file, the first record that names it
    known = [(path, record["revision"]) for path, record in records.items() if record["revision"]]
    for path, revision in known[1:]:
        if revision != known[0][1]:
            raise pytest.UsageError(
                f"{path} is of commit {revision[:12]}, and {known[0][0]} of {known[0][1][:12]}: "
                "what tests execute at two commits is not merged. Give records of one commit. "
                "(other-code)"
            )
    for path, record in records.items():
        for file, digest in record["digests"].items():
            other = first.setdefault(file, path)
            if records[other]["digests"][file] != digest:
                raise pytest.UsageError(
                    f"{file} was another one for {path} than for {other}: what tests execute in "
                    "two versions of the code is not merged. Give records of one version. "
                    "(other-code)"
                )


def foreign_environment(tests: Sequence[str], environments: Mapping[str, str]) -> str:
    """Name the environment where ``tests`` failed; empty if any failed in one like this."""
    met = {environments[test] for test in tests if test in environments}
    return "" if not met or environment() in met else min(met)


def record_files(paths: Sequence[Path], note: Callable[[str], None]) -> list[Path]:
    """List the record files among ``paths``; of folders, those in them at any depth."""
    files: dict[Path, None] = {}
    for path in paths:
        inside = sorted(filter(_is_record, path.rglob("*.json"))) if path.is_dir() else [path]
        if not inside:
            note(
                f"{path} holds no record of a run: expected what --bayesloc-report=record:PATH "
                "writes. (unreadable-record)"
            )
        files.update(dict.fromkeys(inside))
    return list(files)


def _is_record(path: Path) -> bool:
    try:
        with path.open(encoding="utf-8") as stream:
            return SCHEMA in stream.read(100)
    except (OSError, UnicodeError):
        return False


def keep_record(context: Context, path: Path) -> None:
    """Write the record of this run, with all that is known of tests that were not traced."""
    recorder = context.recorder
    digests = {file: digest_of(where) for file, where in recorder.files_in_use().items()}
    revision, _ = head(context.rootdir)
    text = dump(recorder.recorded, recorder.files, revision, digests, context.clean)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_text(path, text)
    except OSError as error:
        context.note(
            f"The record of this run can't be written to {path}: {error}. Give a path that can, "
            "as --bayesloc-report=record:PATH. (report-not-written)"
        )
