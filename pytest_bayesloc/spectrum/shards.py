"""Writes the record of a run to a file, and merges such files: parts of a suite that is split."""

from __future__ import annotations

import json
import platform
import sys
import zlib
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta, MsgspecError, Struct, convert

from pytest_bayesloc.domain.errors import ShardError
from pytest_bayesloc.domain.failure import Raised  # noqa: TC001 - msgspec reads it
from pytest_bayesloc.spectrum.failures import files_of
from pytest_bayesloc.spectrum.run_record import RunRecord

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pytest_bayesloc.spectrum.run_record import Payload
    from pytest_bayesloc.spectrum.sources import SourceFilter

SCHEMA = "bayesloc-shard/1"
MAX_CHARACTERS = 256 << 20  # of a record that is read: a longer one is no JSON then

_UNFIT = (
    ValueError, LookupError, TypeError, AttributeError, RecursionError, OverflowError, zlib.error,
    MsgspecError,
)  # fmt: skip
MAX_SHOWN = 300  # characters of what is wrong
Number = Annotated[int, Meta(ge=0, lt=1 << 31)]


class _Frame(Struct, forbid_unknown_fields=True):
    file: str
    line: Number
    name: str
    first_line: Number
    in_app: bool
    is_test: bool = False


class _FailureRow(Struct):
    node_id: str
    phase: Literal["setup", "call", "teardown", "collect"]
    exc_type: str
    error: Raised
    message: str
    frames: list[_Frame]
    cause_frames: list[list[_Frame]]
    syntax_error: tuple[str, int] | None
    test_code: list[tuple[str, Number, str]]


class _Window(Struct, forbid_unknown_fields=True):
    lengths: list[Number]
    node_id: str = ""
    is_import: bool = False
    is_ordered: bool = False
    is_spoilt: bool = False


class _Recording(Struct):
    windows: Annotated[list[_Window], Meta(min_length=1)]
    windows_of: dict[str, Annotated[list[Number], Meta(min_length=1)]]
    rows: str
    footprints: list[tuple[str, Number, str, list[Number]]]
    imported: dict[str, Number]
    failures: dict[str, _FailureRow]
    is_broken: bool
    collector: str
    partial: list[str]
    files: list[str]


class _Record(Struct):
    schema: Literal["bayesloc-shard/1"]
    environment: str
    revision: str
    digests: dict[str, str]
    verdicts: dict[str, bool]
    failures: dict[str, _FailureRow]
    remembered: list[str]
    excused: dict[str, str]
    payload: _Recording


def environment() -> str:
    """Name the interpreter and the platform, since tests may end otherwise elsewhere."""
    version = ".".join(map(str, sys.version_info[:2]))
    return f"{platform.python_implementation()} {version} on {sys.platform}"


def dump(
    recorded: RunRecord,
    files: SourceFilter,
    revision: str,
    digests: Mapping[str, str],
    clean: Callable[[str], str] = str,
) -> str:
    """Write one run as text; paths are relative to rootdir.

    Args:
        recorded: Of the run, with the rows of tests that were not traced.
        files: Of the project.
        revision: Of git; empty if unknown.
        digests: Of the project's files that were imported, relative to rootdir.
        clean: Takes secrets out of messages; names of tests stay, by which they are run again.
    """
    payload = recorded.payload(digests)
    payload["failures"] = _cleaned(payload["failures"], clean)
    payload["footprints"] = [
        footprint._replace(filename=files.relative(footprint.filename))
        for footprint in recorded.footprints
    ]
    for window in payload["windows"]:
        window.pop("cached_name", None)  # it has its rows; there may be no cache where it is read
    record = {
        "schema": SCHEMA,
        "environment": environment(),
        "revision": revision,
        "digests": dict(digests),
        "verdicts": recorded.verdicts,
        "failures": _cleaned(recorded.failures, clean),
        "remembered": recorded.remembered,
        "excused": recorded.excused,
        "payload": payload,
    }
    return json.dumps(record, ensure_ascii=True)


def _cleaned(failures: Mapping[str, Payload], clean: Callable[[str], str]) -> Payload:
    return {n: {**raw, "message": clean(raw["message"])} for n, raw in failures.items()}


def parse(text: str, source: Path, files: SourceFilter) -> Payload:
    """Return the record that ``text`` holds, once it is known that it can be merged.

    Raises:
        ShardError: If ``dump`` did not make the text.
    """
    try:
        record: Payload = json.loads(text)
        convert(record, _Record)
        outside = next((file for file in _files(record) if _leads_out(file, files)), None)
        if outside is not None:
            raise _unfit(source, f"it names {outside!r}, which lies outside of the project")
        whole = RunRecord()
        load(whole, record, files)
        numbers = chain(*whole.windows_of.values(), whole.imported.values())
        if max(numbers, default=0) >= len(whole.windows):
            raise _unfit(source, "it names windows that it does not hold")
    except _UNFIT as error:
        raise _unfit(source, f"{type(error).__name__}: {error}") from error
    return record


def _files(record: Payload) -> Iterator[str]:
    """Yield the files whose text may be shown."""
    payload = record["payload"]
    yield from (*record["digests"], *payload["files"])
    yield from (file for file, *_ in payload["footprints"])
    for raw in (*record["failures"].values(), *payload["failures"].values()):
        yield from (*files_of(raw), *(file for file, *_ in raw["test_code"]))


def _leads_out(file: str, files: SourceFilter) -> bool:
    path = Path(files.absolute(file))
    return not any(path.is_relative_to(folder) for folder in (files.rootdir, *files.directories))


def load(recorded: RunRecord, record: Payload, files: SourceFilter) -> None:
    """Merge one run. A test that several ran has failed if it failed in any of them."""
    verdicts, known = record["verdicts"], set(recorded.verdicts)
    failed = {n for n, passed in recorded.verdicts.items() if not passed}
    newly_failed = {n for n, passed in verdicts.items() if not passed} - failed
    taken = (verdicts.keys() - known) | newly_failed
    recorded.merge(_here(record["payload"], taken | set(record["remembered"]) - known, files))
    recorded.verdicts.update((n, verdicts[n]) for n in verdicts if n in taken)
    recorded.failures.update((n, raw) for n, raw in record["failures"].items() if n in taken)
    recorded.excused.update(record["excused"])
    machine = str(record["environment"])
    recorded.environments.update((n, machine) for n in taken if not verdicts[n])
    remembered = {*recorded.remembered, *record["remembered"]}
    recorded.remembered = sorted(remembered - recorded.verdicts.keys())


def _here(payload: Payload, tests: set[str], files: SourceFilter) -> Payload:
    """``payload`` with the paths of this machine, of ``tests`` alone."""
    return {
        **payload,
        "windows_of": {n: windows for n, windows in payload["windows_of"].items() if n in tests},
        "failures": {n: raw for n, raw in payload["failures"].items() if n in tests},
        "files": [files.absolute(file) for file in payload["files"]],
        "footprints": [
            (files.absolute(file), first_line, name, lines)
            for file, first_line, name, lines in payload["footprints"]
        ],
    }


def _unfit(source: Path, why: str) -> ShardError:
    return ShardError(
        f"{source} is no record of a run ({why[:MAX_SHOWN]}): expected what "
        "--bayesloc-report=record:PATH writes.",
        slug="unreadable-record",
    )
