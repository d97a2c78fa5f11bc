"""Each fault as a user would run it, while the tree and the home folder are watched."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from benchmarks.faults.building import remade
from benchmarks.faults.collecting import COLLECTED
from benchmarks.suites.measuring import install_plugin, measure
from benchmarks.suites.subjects import KNOWN
from benchmarks.suites.workspace import prepare, write_json

SHOWN = Path(__file__).resolve().parent / "data" / "shown"
LIMIT_S = 600.0
#: What is kept of a run.
KEPT = ("fault", "kind", "refusal", "troubles", "n_refused", "plain_cpu_s", "cpu_s")


def watch(name: str, *, work: Path, python: Path, plugin: Path, most: int) -> str:
    """Run the plugin on up to ``most`` faults a kind of one package; what came of it, in words.

    What an earlier run with the same plugin left is not redone.
    """
    workspace = prepare(KNOWN[name], work=work, python=python)
    kept = workspace.root / "shown" / install_plugin(workspace, plugin)
    kept.mkdir(parents=True, exist_ok=True)
    counts = {kind: min(n, most) for kind, n in COLLECTED.items()}
    shown = []
    try:
        for fault in remade(workspace, counts, work=work):
            path = kept / f"{fault.digest}.json"
            if not path.is_file():
                row = measure(workspace, fault, options=("-q",), limit_s=LIMIT_S)
                write_json(path, asdict(row))
            shown.append(json.loads(path.read_text("utf-8")))
    finally:
        workspace.restore()
    SHOWN.mkdir(parents=True, exist_ok=True)
    brief = [{k: row[k] for k in KEPT} | {"place": row["places"]["posterior"]} for row in shown]
    write_json(SHOWN / f"{name}.json", brief)
    troubles = [f"{row['where']}: {trouble}" for row in shown for trouble in row["troubles"]]
    n_refused = sum(row["n_refused"] for row in shown)
    return f"{len(shown)} runs, {n_refused} re-runs refused, troubles: {troubles}"
