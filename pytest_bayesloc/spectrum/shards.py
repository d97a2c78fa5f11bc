"""Writes the record of a run to a file, and merges such files: parts of a suite that is split."""

from __future__ import annotations

import json
import zlib
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypedDict

from msgspec import MsgspecError, convert

from pytest_bayesloc.domain.errors import ShardError
from pytest_bayesloc.domain.failure import Frame, Raised
from pytest_bayesloc.spectrum.failures import RawFailure, files_of
from pytest_bayesloc.spectrum.run_record import Footprint, Payload, RunRecord, Window
from pytest_bayesloc.spectrum.validity import environment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pytest_bayesloc.spectrum.sources import SourceFilter

SCHEMA = "bayesloc-shard/1"
MAX_CHARACTERS = 256 << 20  # of a record that is read: a longer one is no JSON then

_UNFIT = (
    ValueError, LookupError, TypeError, AttributeError, RecursionError, OverflowError, zlib.error,
    MsgspecError,
)  # fmt: skip
MAX_SHOWN = 300  # characters of what is wrong
END = 1 << 31  # of numbers


class CodeState(TypedDict):
    """The code that tests ran on.

    Attributes:
        revision: Of git; empty if unknown.
        digests: Of files, relative to rootdir.
    """

    revision: str
    digests: dict[str, str]


class Shard(CodeState):
    """A run as JSON values; paths are relative to rootdir."""

    schema: Literal["bayesloc-shard/1"]
    environment: str
    verdicts: dict[str, bool]
    failures: dict[str, RawFailure]
    remembered: list[str]
    excused: dict[str, str]
    payload: Payload


def dump(
    recorded: RunRecord,
    files: SourceFilter,
    revision: str,
    digests: Mapping[str, str],
    clean: Callable[[str], str] = str,
) -> str:
    """Write one run as text; paths, of the ``digests`` too, are relative to rootdir.

    The record holds the rows of tests that were not traced, too. Messages lose their secrets by
    ``clean``; names of tests stay, since tests are run again by them.
    """
    payload = recorded.payload(digests)
    payload["failures"] = _cleaned(payload["failures"], clean)
    payload["footprints"] = [
        footprint._replace(filename=files.relative(footprint.filename))
        for footprint in recorded.footprints
    ]
    for window in payload["windows"]:
        window.pop("cached_name", None)  # it has its rows; there may be no cache where it is read
    record: Shard = {
        "schema": "bayesloc-shard/1",
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


def _cleaned(
    failures: Mapping[str, RawFailure], clean: Callable[[str], str]
) -> dict[str, RawFailure]:
    return {n: {**raw, "message": clean(raw["message"])} for n, raw in failures.items()}


def parse(text: str, source: Path, files: SourceFilter) -> Shard:
    """Return the record that ``text`` holds, once it is known that it can be merged.

    Raises:
        ShardError: If ``dump`` did not make the text.
    """
    try:
        record: Shard = json.loads(text)
        # It may hold less than is needed, or more than can be used here.
        convert(record, Shard)
        payload = record["payload"]
        convert(payload["windows"], list[Window])
        for raw in (*record["failures"].values(), *payload["failures"].values()):
            convert([raw["frames"], *raw["cause_frames"]], list[list[Frame]])
            convert(raw["phase"], Literal["setup", "call", "teardown", "collect"])
            Raised(raw["error"])
        if not all([payload["windows"], *payload["windows_of"].values()]):
            raise ValueError("it lacks windows")
        if any("cached_name" in window for window in payload["windows"]):
            raise ValueError("it refers to a cache that is not here")
        if not all(0 <= number < END for number in _numbers(record)):
            raise ValueError("it holds a number out of range")
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


def _numbers(value: object) -> Iterator[int]:
    if isinstance(value, int):
        yield value
    elif isinstance(value, (list, dict)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _numbers(part)


def _files(record: Shard) -> Iterator[str]:
    """Yield the files whose text may be shown."""
    payload = record["payload"]
    yield from (*record["digests"], *payload["files"])
    yield from (file for file, *_ in payload["footprints"])
    for raw in (*record["failures"].values(), *payload["failures"].values()):
        yield from (*files_of(raw), *(file for file, *_ in raw["test_code"]))


def _leads_out(file: str, files: SourceFilter) -> bool:
    path = Path(files.absolute(file))
    return not any(path.is_relative_to(folder) for folder in (files.rootdir, *files.directories))


def load(recorded: RunRecord, record: Shard, files: SourceFilter) -> None:
    """Merge one run. A test that several ran has failed if it failed in any of them."""
    verdicts, known = record["verdicts"], set(recorded.verdicts)
    failed = {n for n, passed in recorded.verdicts.items() if not passed}
    newly_failed = {n for n, passed in verdicts.items() if not passed} - failed
    taken = (verdicts.keys() - known) | newly_failed
    payload = record["payload"]
    tests = taken | set(record["remembered"]) - known
    recorded.merge(
        {
            **payload,
            "windows_of": {
                n: windows for n, windows in payload["windows_of"].items() if n in tests
            },
            "failures": {n: raw for n, raw in payload["failures"].items() if n in tests},
            "files": [files.absolute(file) for file in payload["files"]],
            "footprints": [
                Footprint(files.absolute(file), first_line, name, lines)
                for file, first_line, name, lines in payload["footprints"]
            ],
        }
    )
    recorded.verdicts.update((n, verdicts[n]) for n in verdicts if n in taken)
    recorded.failures.update((n, raw) for n, raw in record["failures"].items() if n in taken)
    recorded.excused.update(record["excused"])
    machine = str(record["environment"])
    recorded.environments.update((n, machine) for n in taken if not verdicts[n])
    remembered = {*recorded.remembered, *record["remembered"]}
    recorded.remembered = sorted(remembered - recorded.verdicts.keys())


def _unfit(source: Path, why: str) -> ShardError:
    return ShardError(
        f"{source} is no record of a run ({why[:MAX_SHOWN]}): expected what "
        "--bayesloc-report=record:PATH writes.",
        slug="unreadable-record",
    )
