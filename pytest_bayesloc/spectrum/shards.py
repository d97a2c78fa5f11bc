"""What a run saw, as a file that another machine can read: one part of a suite that is split."""

from __future__ import annotations

import json
import platform
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_bayesloc.domain.errors import ShardError
from pytest_bayesloc.spectrum.collectors.base import Footprint
from pytest_bayesloc.spectrum.xdist import encode, merge

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from pytest_bayesloc.spectrum.recorded import Recorded
    from pytest_bayesloc.spectrum.source_filter import SourceFilter

SCHEMA = "bayesloc-shard/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """Of the code that a run was about.

    Attributes:
        revision: Of git; empty if unknown.
        digests: Of the project's files that were imported, relative to rootdir.
    """

    revision: str
    digests: Mapping[str, str]


def environment() -> str:
    """What runs the tests of this process, as far as a test may end otherwise elsewhere."""
    version = ".".join(map(str, sys.version_info[:2]))
    return f"{platform.python_implementation()} {version} on {sys.platform}"


def dump(recorded: Recorded, files: SourceFilter, imported: Iterable[str], state: State) -> str:
    """One run as text; paths are relative to rootdir.

    Args:
        recorded: What the run saw, with all that is known of tests that were not traced.
        files: Of the project.
        imported: Files of the project that were imported, absolute.
        state: Of the code.
    """
    seen = json.loads(encode(recorded, map(files.relative, imported)))
    for footprint in seen["footprints"]:
        footprint[0] = files.relative(footprint[0])
    seen["cached"] = []  # what is known of them stands in the rows
    told = {
        "schema": SCHEMA,
        "environment": environment(),
        "revision": state.revision,
        "digests": dict(state.digests),
        "verdicts": recorded.verdicts,
        "failures": recorded.failures,
        "remembered": recorded.remembered,
        "excused": recorded.excused,
        "seen": seen,
    }
    return json.dumps(told, ensure_ascii=True)


def state_of(text: str, source: Path) -> State:
    """Of the code that a record is about.

    Args:
        text: Made by ``dump``.
        source: Where it was read, for messages.

    Raises:
        ShardError: If the text is nothing that ``dump`` made.
    """
    try:
        told = json.loads(text)
        return State(revision=str(told["revision"]), digests=dict(told["digests"]))
    except (ValueError, KeyError, TypeError) as error:
        raise _unfit(source, f"{type(error).__name__}: {error}") from error


def load(recorded: Recorded, text: str, source: Path, files: SourceFilter) -> None:
    """Add one run. A test that several ran has failed if it failed in any of them.

    Args:
        recorded: What is known so far; changed.
        text: Made by ``dump``.
        source: Where it was read, for messages.
        files: Of the project.

    Raises:
        ShardError: If the text is nothing that ``dump`` made.
    """
    try:
        told: dict[str, Any] = json.loads(text)
        if told["schema"] != SCHEMA:
            raise _unfit(source, f"its schema is {told['schema']!r}")
        known = set(recorded.verdicts)
        failed = {n for n, passed in recorded.verdicts.items() if not passed}
        better = {n for n, passed in told["verdicts"].items() if not passed} - failed
        taken = (told["verdicts"].keys() - known) | better
        _add_seen(recorded, told["seen"], taken | set(told["remembered"]) - known, files)
        recorded.verdicts.update((n, told["verdicts"][n]) for n in told["verdicts"] if n in taken)
        recorded.failures.update((n, raw) for n, raw in told["failures"].items() if n in taken)
        recorded.excused.update(told["excused"])
        environments = {n: str(told["environment"]) for n in taken if not told["verdicts"][n]}
        recorded.environments.update(environments)
        remembered = [n for n in told["remembered"] if n not in recorded.verdicts]
        recorded.remembered = sorted({*recorded.remembered, *remembered} - recorded.verdicts.keys())
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _unfit(source, f"{type(error).__name__}: {error}") from error


def _add_seen(
    recorded: Recorded, seen: dict[str, Any], tests: set[str], files: SourceFilter
) -> None:
    seen["windows_of"] = {n: windows for n, windows in seen["windows_of"].items() if n in tests}
    seen["failures"] = {n: raw for n, raw in seen["failures"].items() if n in tests}
    seen["files"] = [files.absolute(file) for file in seen["files"]]
    seen["footprints"] = [
        Footprint(files.absolute(file), first_line, name, lines)
        for file, first_line, name, lines in seen["footprints"]
    ]
    merge(recorded, json.dumps(seen))


def _unfit(source: Path, why: str) -> ShardError:
    return ShardError(
        f"{source} is no record of a run ({why}): expected what "
        "--bayesloc-report=record:PATH writes.",
        slug="unreadable-record",
    )
