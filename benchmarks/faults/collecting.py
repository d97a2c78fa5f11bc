"""Running the plugin on each planted fault, with every likely location inspected in every way."""

from __future__ import annotations

import difflib
import json
from functools import partial
from typing import TYPE_CHECKING, Any

from benchmarks.faults.building import listed, remade
from benchmarks.faults.storage import write_rows
from benchmarks.suites.measuring import COLD, install_plugin
from benchmarks.suites.process import run
from benchmarks.suites.subjects import KNOWN
from benchmarks.suites.workspace import CHECKOUT, prepare, write_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from benchmarks.suites.planting import PlantedFault
    from benchmarks.suites.workspace import Workspace

PROBE = CHECKOUT / "benchmarks" / "faults" / "probe"
BUDGET_S = 120
#: The first of each package's list: each takes about half a minute.
COLLECTED = {"regression": 13, "edit": 9, "import": 3, "test": 4}
EVERYTHING = (
    "--bayesloc",
    COLD,
    "--bayesloc-threshold=0.999999999",
    "--bayesloc-inspections=10000",
    f"--bayesloc-budget={BUDGET_S}",
)


def collect(name: str, *, work: Path, python: Path, plugin: Path) -> str:
    """Collect the rows of one package's faults; what came of it, in words."""
    workspace = prepare(KNOWN[name], work=work, python=python)
    faults = remade(workspace, COLLECTED, work=work)
    fingerprint = install_plugin(workspace, plugin)
    kept = workspace.root / "rows" / fingerprint
    kept.mkdir(parents=True, exist_ok=True)
    try:
        rows = resumed(faults, kept, partial(collected, workspace))
    finally:
        workspace.restore()
    write_rows(name, rows)
    n_without = sum(not row["groups"] for row in rows)
    return f"{len(rows)} rows, {n_without} of them without a ranking"


def resumed(
    faults: Iterable[PlantedFault],
    kept: Path,
    measure: Callable[[PlantedFault], dict[str, Any]],
) -> list[dict[str, Any]]:
    """What ``measure`` says of each fault; what an earlier run left in ``kept`` is not redone."""
    rows = []
    for fault in faults:
        saved = kept / f"{fault.digest}.json"
        if not saved.is_file():
            write_json(saved, measure(fault))
            print(f"  {fault.subject}: {fault.kind} {fault}", flush=True)
        rows.append(json.loads(saved.read_text("utf-8")))
    return rows


def collected(workspace: Workspace, fault: PlantedFault) -> dict[str, Any]:
    """What the plugin saw on the tree with ``fault``."""
    workspace.plant(fault.texts)
    to = workspace.root / "groups.json"
    to.unlink(missing_ok=True)
    report = f"--bayesloc-report=json:{workspace.root / 'report.json'}"
    ran = run(
        workspace.pytest("-q", "-p", "bayesloc_rows", *EVERYTHING, report),
        cwd=workspace.tree,
        limit_s=20 * workspace.known.seconds + 10 * BUDGET_S,
        log=workspace.root / "rows.log",
        env={"PYTHONPATH": str(PROBE), "BAYESLOC_ROWS": str(to)},
    )
    groups = json.loads(to.read_text("utf-8")) if to.is_file() else []
    return {
        "subject": fault.subject,
        **listed(fault),
        "changed": {file: _changed(workspace, file, text) for file, text in fault.texts.items()},
        "n_tests": len(workspace.known.passing),
        "cpu_s": round(ran.cpu_s, 2),
        "plain_cpu_s": round(workspace.known.cpu_s, 2),
        "groups": groups,
    }


def _changed(workspace: Workspace, file: str, text: str) -> list[int]:
    """Lines of the new text that the change wrote, or between which it took some out."""
    before = workspace.git("show", f"HEAD~1:{file}").splitlines()
    found = set[int]()
    matcher = difflib.SequenceMatcher(None, before, text.splitlines(), autojunk=False)
    for tag, _i1, _i2, j1, j2 in matcher.get_opcodes():
        if tag == "delete":
            found.update((j1, j1 + 1))
        elif tag != "equal":
            found.update(range(j1 + 1, j2 + 1))
    return sorted(line for line in found if line > 0)
