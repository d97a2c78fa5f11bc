"""What a kill in the middle leaves, and what collecting costs."""

from __future__ import annotations

import contextlib
import subprocess
import time
import uuid
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from benchmarks.suites.process import end_marked, marked, run, spawn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.suites.planting import PlantedFault
    from benchmarks.suites.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Kill:
    """One killed run.

    Attributes:
        text: What was seen, in words.
        is_clean: Whether the tree and the list of processes are as before.
    """

    text: str
    is_clean: bool


PARTS = (0.1, 0.3, 0.5, 0.7, 0.9)
GRACE_S = 3.0


def kill_test(
    workspace: Workspace, fault: PlantedFault, options: Sequence[str], limit_s: float
) -> list[Kill]:
    """Kill runs in the middle of the inspections; what each left.

    Two whole runs come first: the kills fall where the quicker one is past the time of the suite
    alone.
    """
    log = workspace.root / "killed.log"
    report = f"--bayesloc-report=json:{workspace.root / 'killed.json'}"
    argv = workspace.pytest("--bayesloc", report, *options)
    said = []
    try:
        workspace.plant(fault.texts)
        whole_s = min(
            run(argv, cwd=workspace.tree, limit_s=limit_s, log=log).seconds for _ in range(2)
        )
        alone_s = workspace.known.seconds
        for part in PARTS:
            workspace.plant(fault.texts)
            after_s = alone_s + part * max(whole_s - alone_s, 0.0)
            what = f"kill -9 after {after_s:.1f} s of {whole_s:.1f} s"
            text, is_clean = _killed(workspace, argv, after_s)
            said.append(Kill(text=f"{what}: {text}", is_clean=is_clean))
    finally:
        workspace.restore()
    return said


def _killed(workspace: Workspace, argv: Sequence[str], after_s: float) -> tuple[str, bool]:
    mark = uuid.uuid4().hex
    with (workspace.root / "killed.log").open("wb") as sink:
        child = spawn(argv, cwd=workspace.tree, sink=sink.fileno(), mark=mark)
    try:
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(after_s)
            return "the run had ended by itself", True
        n_before = len(marked(mark))
        child.kill()  # it alone, as the system would: what it started must see to itself
        child.wait()
        changes = workspace.changes()
        time.sleep(GRACE_S)
        survivors = len(marked(mark))
    finally:
        end_marked(mark)
        child.wait()
    tree = "tree clean" if not changes else f"TREE CHANGED: {'; '.join(changes.splitlines())}"
    left = "no orphan" if not survivors else f"{survivors} ORPHANS after {GRACE_S:.0f} s"
    return f"{n_before} processes then; {tree}; {left}", not changes and not survivors


def overhead(workspace: Workspace, n: int) -> str:
    """CPU of collecting, as medians of ``n`` runs each that alternate on the tree as published."""
    ways = {
        "plain": ("-p", "no:bayesloc"),
        "plugin": (),
        "pytest-cov": (
            "-p",
            "no:bayesloc",
            f"--cov={workspace.tree / workspace.source}",
            "--cov-context=test",
            "--cov-report=",
        ),
    }
    cpu_s: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(n):
        for name, options in ways.items():
            workspace.restore()
            ran = run(
                workspace.pytest("-q", *options),
                cwd=workspace.tree,
                limit_s=20 * workspace.known.seconds + 60,
                log=workspace.root / "overhead.log",
                env={"COVERAGE_FILE": str(workspace.root / "coverage.data")},
            )
            if ran.exit_code:
                return f"the {name} run ended with {ran.exit_code}: no figure"
            cpu_s[name].append(ran.cpu_s)
    base = median(cpu_s["plain"])
    ratios = ", ".join(f"{name} {median(cpu_s[name]) / base:.2f}" for name in list(ways)[1:])
    spread = f"{min(cpu_s['plain']):.2f} to {max(cpu_s['plain']):.2f}"
    return f"CPU of plain runs {base:.2f} s ({spread}); ratio to them: {ratios}"
