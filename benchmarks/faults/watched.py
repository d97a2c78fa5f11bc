"""Each fault as a user would run it, while the tree and the home folder are watched."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.faults.building import remade
from benchmarks.faults.collecting import COLLECTED, resumed
from benchmarks.suites.measuring import install_plugin, measure
from benchmarks.suites.subjects import KNOWN
from benchmarks.suites.workspace import prepare, write_json

if TYPE_CHECKING:
    from benchmarks.suites.planting import PlantedFault

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

    def measured(fault: PlantedFault) -> dict[str, Any]:
        return asdict(measure(workspace, fault, options=("-q",), limit_s=LIMIT_S))

    try:
        shown = resumed(remade(workspace, counts, work=work), kept, measured)
    finally:
        workspace.restore()
    SHOWN.mkdir(parents=True, exist_ok=True)
    brief = [{k: row[k] for k in KEPT} | {"place": row["places"]["posterior"]} for row in shown]
    write_json(SHOWN / f"{name}.json", brief)
    troubles = [f"{row['where']}: {trouble}" for row in shown for trouble in row["troubles"]]
    n_refused = sum(row["n_refused"] for row in shown)
    return f"{len(shown)} runs, {n_refused} re-runs refused, troubles: {troubles}"
