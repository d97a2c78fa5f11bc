"""What a part of the plugin costs: whole red runs with it and without it, in turn.

    python -m benchmarks.parts {causes,fence} [NAME ...] [--rounds N] [--python PY] [--work DIR]

``benchmarks/README.md`` says what is done and what the figures mean.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from benchmarks.faults.building import GOALS, remade
from benchmarks.suites.measuring import COLD, install_plugin
from benchmarks.suites.process import run
from benchmarks.suites.subjects import subject_of
from benchmarks.suites.workspace import CHECKOUT, Workspace, prepare

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.suites.planting import PlantedFault

SUITES = ("boltons", "click", "funcy", "jinja2", "sqlparse", "structlog", "wtforms")
#: What makes a part do nothing, by the module to whose end it is written.
PARTS = {
    "causes": {
        "pipeline/inspect.py": "explain_missing = explain_import = explain_condition = "
        "lambda *_, **__: False",
        "pipeline/causes.py": "with_causes = lambda _, __, failures: failures",
    },
    "fence": {
        "rerun/fence.py": "Fence.install = Fence.prepare = Fence.open = lambda _: None\n"
        "Fence.close = lambda *_, **__: None",
    },
}
#: Of a fault: where hundreds of tests fail, a run ends with its budget, with the part or without.
MAX_FAILING = 5
LIMIT_S = 600.0


def main(argv: Sequence[str] | None = None) -> int:
    """Print one row a package, and the median of their ratios."""
    given = _arguments().parse_args(argv)
    work = given.work.resolve()
    print("| suite | fault | failing | without, s | with / without | least / least |")
    print("|---|---|---|---|---|---|")
    ratios = []
    for name in given.names or SUITES:
        workspace = prepare(subject_of(name), work=work, python=given.python)
        install_plugin(workspace, CHECKOUT)
        try:
            fault = _fault(workspace, work)
            workspace.plant(fault.texts)
            whole, without = _copies(workspace, PARTS[given.part])
            cpu_s = _in_turn(workspace, (whole, without), given.rounds)
        finally:
            workspace.restore()
        ratios.append(median(a / b for a, b in zip(*cpu_s, strict=True)))
        least = min(cpu_s[0]) / min(cpu_s[1])
        print(
            f"| {workspace.subject} | {fault} | {len(fault.failing)} | {median(cpu_s[1]):.2f} "
            f"| {ratios[-1]:.3f} | {least:.3f} |",
            flush=True,
        )
    print(f"median of {len(ratios)}: {median(ratios):.3f}")
    return 0


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    add = parser.add_argument
    add("part", choices=PARTS)
    add("names", nargs="*", metavar="NAME", help=f"packages ({', '.join(SUITES)})")
    add("--python", type=Path, default=Path(sys.executable), metavar="PY")
    add("--rounds", type=int, default=8, metavar="N", help="of both ways in turn (8)")
    add("--work", type=Path, default=cache / "bayesloc-real-suites", metavar="DIR")
    return parser


def _fault(workspace: Workspace, work: Path) -> PlantedFault:
    """The listed fault with the first digest of those that fail few tests."""
    faults = remade(workspace, GOALS, work=work)
    few = [fault for fault in faults if 1 <= len(fault.failing) <= MAX_FAILING]
    return min(few, key=lambda fault: fault.digest)


def _copies(workspace: Workspace, changes: Mapping[str, str]) -> tuple[Path, Path]:
    """Two compiled copies of the plugin: as it is, and without the part."""
    copies = workspace.root / "with", workspace.root / "without"
    for copy in copies:
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(CHECKOUT / "pytest_bayesloc", copy / "pytest_bayesloc")
    for module, change in changes.items():
        with (copies[1] / "pytest_bayesloc" / module).open("a", encoding="utf-8") as file:
            file.write(f"\n{change}\n")
    for copy in copies:
        subprocess.run([workspace.python, "-m", "compileall", "-qq", copy], check=True)
    return copies


def _in_turn(
    workspace: Workspace, copies: tuple[Path, Path], n_rounds: int
) -> tuple[list[float], list[float]]:
    """CPU seconds of runs with each of ``copies``: round by round, the other one first."""
    cpu_s: tuple[list[float], list[float]] = [], []
    for copy in copies:
        _once(workspace, copy)  # so that all else is compiled, too
    for i in range(n_rounds):
        for j in (0, 1) if i % 2 else (1, 0):
            cpu_s[j].append(_once(workspace, copies[j]))
    return cpu_s


def _once(workspace: Workspace, copy: Path) -> float:
    shutil.rmtree(workspace.tree / ".bayesloc", ignore_errors=True)
    ran = run(
        workspace.pytest("-q", "-p", "no:cacheprovider", "--bayesloc", COLD),
        cwd=workspace.tree,
        limit_s=LIMIT_S,
        log=workspace.root / "parts.log",
        env={
            "PYTHONPATH": str(copy),
            "PYTHONHASHSEED": "0",
            "HOME": str(workspace.home),
            "PYTHONDONTWRITEBYTECODE": "",
        },
    )
    if ran.exit_code != 1:
        raise RuntimeError(f"{workspace.subject}: exit code {ran.exit_code}, 1 expected")
    return ran.cpu_s


if __name__ == "__main__":
    sys.exit(main())
