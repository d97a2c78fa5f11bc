"""Figures of what failing tests and candidates say; the texts themselves are not kept."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from benchmarks.faults.building import remade
from benchmarks.faults.collecting import COLLECTED
from benchmarks.faults.replay import Problem
from benchmarks.faults.storage import read_rows, write_rows
from benchmarks.suites.subjects import KNOWN
from benchmarks.suites.workspace import sources_alone
from pytest_bayesloc.domain.source import SourceMap
from pytest_bayesloc.ranking.evidence.text import Said, text_terms

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from benchmarks.suites.planting import PlantedFault
    from benchmarks.suites.workspace import Workspace
    from pytest_bayesloc.domain.location import Location

DIGITS = 3


def add_terms(
    row: Mapping[str, Any],
    group: Mapping[str, Any],
    told: Mapping[str, Any],
    read: Callable[[str], SourceMap],
) -> None:
    """Give each location of a group its figures; they are worked out over all of them.

    Args:
        row: The fault's row.
        group: One of its groups.
        told: Texts and messages of its failing tests, as the probe writes them.
        read: Gives a file of the faulty tree.
    """
    problem = Problem(row, group)
    tests = [
        Said(node_id=node_id, text="".join(told["tests"][node_id][:1]), message=" ".join(message))
        for node_id, message in told["messages"].items()
    ]

    def text(where: Location) -> str:
        return read(where.file).own_text(where)

    code = [where for where in problem.locations if not where.is_test]
    terms = text_terms(tests, code, text)
    for entry, where in zip(group["locations"], problem.locations, strict=True):
        known = terms.get(where, {})
        entry["text"] = {name: round(value, DIGITS) for name, value in known.items() if value}


def add_texts(name: str, *, work: Path, python: Path) -> str:
    """Give the rows of one package what code shares with the failing tests; nothing is run.

    The errors' messages are not known, only the tests' own lines.
    """
    workspace = sources_alone(KNOWN[name], work=work, python=python)
    rows = {row["digest"]: row for row in read_rows(name)}
    n_told = 0
    for fault in remade(workspace, COLLECTED, work=work):
        if fault.digest in rows:
            row, read = rows[fault.digest], _reader(workspace, fault)
            for group in row["groups"]:
                told = {node_id: [_test_text(node_id, read)] for node_id in group["failing"]}
                add_terms(row, group, {"tests": told, "messages": dict.fromkeys(told, ())}, read)
            n_told += 1
    write_rows(name, rows.values())
    return f"{n_told} of {len(rows)} rows"


def _reader(workspace: Workspace, fault: PlantedFault) -> Callable[[str], SourceMap]:
    """Gives the files of the tree with ``fault``."""

    @cache
    def read(file: str) -> SourceMap:
        try:
            text = fault.texts.get(file) or (workspace.tree / file).read_text("utf-8", "replace")
        except OSError:
            text = ""
        return SourceMap(text, file)

    return read


def _test_text(node_id: str, read: Callable[[str], SourceMap]) -> str:
    """The lines of a test's function; empty if its file lacks it."""
    file, *names = node_id.partition("[")[0].split("::")
    source = read(file)
    places = [unit.location for unit in source.units]
    same = (w for w in places if w.qualname == ".".join(names))
    inherited = (w for w in places if names and w.qualname.endswith(f".{names[-1]}"))
    where = next(same, None) or next(inherited, None)
    return source.text_of(where) if where else ""
