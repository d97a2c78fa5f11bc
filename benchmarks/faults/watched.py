"""Each fault as a user would run it, while the tree and the home folder are watched.

The figures of texts that these runs show go into the collected rows.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.faults.building import remade
from benchmarks.faults.collecting import COLLECTED, PROBE
from benchmarks.faults.storage import read_rows, write_rows
from benchmarks.faults.texts import add_terms
from benchmarks.suites.measuring import install_plugin, measure
from benchmarks.suites.subjects import KNOWN
from benchmarks.suites.workspace import prepare, write_json
from pytest_bayesloc.domain.source import SourceMap
from pytest_bayesloc.inspection.loop import N_ALWAYS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.suites.planting import PlantedFault
    from benchmarks.suites.workspace import Workspace

SHOWN = Path(__file__).resolve().parent / "data" / "shown"
LIMIT_S = 600.0


def watch(name: str, *, work: Path, python: Path, plugin: Path) -> str:
    """Run the plugin on one package's faults; what came of it, in words.

    What an earlier run with the same plugin left is not redone.
    """
    workspace = prepare(KNOWN[name], work=work, python=python)
    kept = workspace.root / "shown" / install_plugin(workspace, plugin)
    kept.mkdir(parents=True, exist_ok=True)
    rows = {row["digest"]: row for row in read_rows(name)}
    shown = []
    try:
        for fault in remade(workspace, COLLECTED, work=work):
            path = kept / f"{fault.digest}.json"
            if not path.is_file():
                _run(workspace, fault, path)
            shown.append(json.loads(path.read_text("utf-8")))
            if fault.digest in rows:
                _add_texts(workspace, fault, rows[fault.digest], path.with_suffix(".texts"))
    finally:
        workspace.restore()
    write_rows(name, rows.values())
    SHOWN.mkdir(parents=True, exist_ok=True)
    write_json(SHOWN / f"{name}.json", shown)
    troubles = [f"{row['where']}: {trouble}" for row in shown for trouble in row["troubles"]]
    n_refused = sum(row["n_refused"] for row in shown)
    return f"{len(shown)} runs, {n_refused} re-runs refused, troubles: {troubles}"


def _run(workspace: Workspace, fault: PlantedFault, path: Path) -> None:
    rows, texts = workspace.root / "groups.json", path.with_suffix(".texts")
    environment = {
        "PYTHONPATH": str(PROBE),
        "BAYESLOC_ROWS": str(rows),
        "BAYESLOC_TEXTS": str(texts),
        "BAYESLOC_N_INSPECTED": str(N_ALWAYS),
    }
    options = ("-q", "-p", "bayesloc_rows")
    row = measure(workspace, fault, options=options, limit_s=LIMIT_S, environment=environment)
    write_json(path, asdict(row))


def _add_texts(
    workspace: Workspace, fault: PlantedFault, row: Mapping[str, Any], path: Path
) -> None:
    """Give each group of a collected row what the texts of its failing tests share with code."""
    told = json.loads(path.read_text("utf-8")) if path.is_file() else []

    @cache
    def read(file: str) -> SourceMap:
        try:
            text = fault.texts.get(file) or (workspace.tree / file).read_text("utf-8", "replace")
        except OSError:
            text = ""
        return SourceMap(text, file)

    for group in row["groups"]:
        failing = set(group["failing"])
        own = {
            part: {n: said for one in told for n, said in one[part].items() if n in failing}
            for part in ("tests", "messages")
        }
        if own["messages"]:
            add_terms(row, group, own, read)
