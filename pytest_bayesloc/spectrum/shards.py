"""Writes the record of a run to a file, and merges such files: parts of a suite that is split."""

from __future__ import annotations

import json
import platform
import sys
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.errors import ShardError
from pytest_bayesloc.spectrum.run_record import RunRecord

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from pytest_bayesloc.spectrum.run_record import Payload
    from pytest_bayesloc.spectrum.sources import SourceFilter

SCHEMA = "bayesloc-shard/1"


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

    Args:
        text: Made by ``dump``.
        source: Where it was read, for messages.
        files: Of the project.

    Raises:
        ShardError: If ``dump`` did not make the text.
    """
    try:
        record: Payload = json.loads(text)
        if record["schema"] != SCHEMA:
            raise _unfit(source, f"its schema is {record['schema']!r}")
        record["revision"], record["digests"] = str(record["revision"]), dict(record["digests"])
        load(RunRecord(), record, files)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _unfit(source, f"{type(error).__name__}: {error}") from error
    return record


def load(recorded: RunRecord, record: Payload, files: SourceFilter) -> None:
    """Merge one run. A test that several ran has failed if it failed in any of them.

    Args:
        recorded: The runs so far; changed.
        record: Of the run.
        files: Of the project.
    """
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
        f"{source} is no record of a run ({why}): expected what "
        "--bayesloc-report=record:PATH writes.",
        slug="unreadable-record",
    )
