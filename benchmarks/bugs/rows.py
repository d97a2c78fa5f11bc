"""The rows of real bugs as they are kept: facts and figures of texts, and no text."""

from __future__ import annotations

import json
from functools import cache
from subprocess import CalledProcessError
from typing import TYPE_CHECKING, Any

from benchmarks.bugs.checkout import Checkout
from benchmarks.bugs.collecting import FOLDERS, places
from benchmarks.bugs.mining import DATA, clone_of, read_bugs
from benchmarks.bugs.repositories import NAMES, part_of_repository
from benchmarks.faults.storage import read_packed, write_packed
from benchmarks.faults.texts import add_terms
from pytest_bayesloc.domain.source import SourceMap

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

ROWS = DATA / "rows"


def pack(name: str, *, clones: Path, work: Path) -> str:
    """Keep the collected rows of a repository, with the figures of their texts."""
    folder = work / name.replace("/", "+")
    checkout = Checkout(clone_of(name, clones), folder, folder)
    rows = []
    for bug in read_bugs(name):
        stems = (folder / FOLDERS[inspected] / bug["commit"][:12] for inspected in (True, False))
        path = next((p for p in stems if p.with_suffix(".json").is_file()), None)
        if path is not None:
            row = json.loads(path.with_suffix(".json").read_text("utf-8"))
            row["places"] = [[*place, ""] for place in places(bug)]
            texts = path.with_suffix(".texts")
            said = json.loads(texts.read_text("utf-8")) if texts.is_file() else []

            @cache
            def read(file: str, bug: Mapping[str, Any] = bug) -> SourceMap:
                commit = bug["parent" if file in bug["sources"] else "commit"]
                try:
                    return SourceMap(checkout.text(commit, file), file)
                except CalledProcessError:  # git lacks what a build makes
                    return SourceMap("", file)

            for group, told in zip(row["groups"], said, strict=True):
                add_terms(row, group, told, read)
                _trim(group)
            rows.append(row)
    if rows:
        write_packed(ROWS / f"{name.replace('/', '+')}.jsonl.xz", rows)
    return f"{len(rows)} rows"


def _trim(group: dict[str, Any]) -> None:
    """Leave out what no figure needs, and words of changes, which quote code and values."""
    for entry in group["locations"]:
        del entry["static"], entry["prior"], entry["posterior"]
    for heavy in ("recorded", "edges"):
        group[heavy] = []
    for *_, trials in group["inspections"]:
        for trial in trials:
            trial[1] = ""


def rows(part: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The rows of one part, each with its repository."""
    for name in NAMES:
        path = ROWS / f"{name.replace('/', '+')}.jsonl.xz"
        if part_of_repository(name) == part and path.is_file():
            yield from ((name, row) for row in read_packed(path))
