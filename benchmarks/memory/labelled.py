"""A labelled set of failures: which of them are of the same bug.

Each bug is a fault of ``benchmarks/faults``. Its failing tests are run as they are, with all lines
shifted, in a copy of the tree elsewhere, and by workers of xdist. Where they show in several ways,
one test of each is also run alone: what is asked of the memory must not know what only the other
tests could tell.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.faults.building import GOALS, SEED
from benchmarks.suites.measuring import install_plugin
from benchmarks.suites.planting import plant
from benchmarks.suites.process import run
from benchmarks.suites.subjects import KNOWN
from benchmarks.suites.workspace import install, prepare, write_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.suites.planting import PlantedFault
    from benchmarks.suites.workspace import Workspace

PROBE = Path(__file__).resolve().parent / "probe"
N_BUGS = 4  # of a package, drawn by their digests
MAX_TESTS = 8  # of a bug
LIMIT_S = 120.0
ALONE = "alone"
SHIFT = "# One line,\n# another line,\n\n\n# and one more.\n"


def collect(name: str, *, work: Path, python: Path, plugin: Path) -> str:
    """Collect the failures of one package's bugs; what came of it, in words.

    Args:
        name: The subject's.
        work: Where packages and runs are kept.
        python: Interpreter of the runs.
        plugin: Checkout that is measured.
    """
    workspace = prepare(KNOWN[name], work=work, python=python)
    planted = plant(workspace, GOALS, seed=SEED, work=work)
    install_plugin(workspace, plugin)
    install(workspace.python, "pytest-xdist")
    chosen = sorted(planted, key=lambda fault: fault.digest)[:N_BUGS]
    rows = []
    try:
        for fault in chosen:
            rows += _failures(workspace, fault)
    finally:
        workspace.restore()
    write_json(kept(work, name), rows)
    return f"{len(rows)} failures of {len(chosen)} bugs"


def kept(work: Path, name: str) -> Path:
    """Where the failures of one package lie: texts of others, so not in the checkout."""
    folder = work / "memory"
    folder.mkdir(exist_ok=True)
    return folder / f"{name}.json"


def _failures(workspace: Workspace, fault: PlantedFault) -> list[dict[str, Any]]:
    tests = sorted(fault.failing)[:MAX_TESTS]
    found: list[dict[str, Any]] = []
    workspace.plant(fault.texts)
    found += _ran(workspace, fault, tests, "as it is")
    ways = {row["fingerprint"]: row["test"] for row in found}
    for test in sorted(ways.values()) if len(ways) > 1 else ():
        found += _ran(workspace, fault, [test], ALONE)
    found += _ran(workspace, fault, tests, "xdist", "-n2")
    elsewhere = workspace.root / "elsewhere" / "a" / "copy"
    shutil.rmtree(elsewhere, ignore_errors=True)
    shutil.copytree(workspace.tree, elsewhere, ignore=shutil.ignore_patterns(".git"))
    found += _ran(workspace, fault, tests, "elsewhere", tree=elsewhere)
    shutil.rmtree(workspace.root / "elsewhere")
    _shift(workspace.tree)
    found += _ran(workspace, fault, tests, "shifted")
    return found


def _ran(
    workspace: Workspace,
    fault: PlantedFault,
    tests: list[str],
    variant: str,
    *options: str,
    tree: Path | None = None,
) -> list[dict[str, Any]]:
    to = workspace.root / "failures.json"
    to.unlink(missing_ok=True)
    command = workspace.pytest("-q", "-p", "bayesloc_failures", *options, tests=tests)
    environment = {"BAYESLOC_FAILURES": str(to), "PYTHONPATH": str(PROBE)}
    if tree is not None:
        command = [str(tree) if arg == str(workspace.tree) else arg for arg in command]
        command = [
            arg.replace(f"--rootdir={workspace.tree}", f"--rootdir={tree}") for arg in command
        ]
        package = (tree / workspace.source).parent
        environment["PYTHONPATH"] = f"{PROBE}:{package}"
    run(
        [*command, "--bayesloc-memory=off"],
        cwd=tree or workspace.tree,
        limit_s=LIMIT_S,
        log=workspace.root / "failures.log",
        env=environment,
    )
    rows = json.loads(to.read_text("utf-8")) if to.is_file() else []
    return [{"bug": fault.key, "variant": variant, **row} for row in rows if row["test"] in tests]


def _shift(tree: Path) -> None:
    """Put lines in front of every file that allows it."""
    for path in tree.rglob("*.py"):
        data = path.read_bytes()
        head = b"\n".join(data.split(b"\n")[:2])
        if b"coding" not in head and not head.startswith((b"#!", b"\xef\xbb\xbf")):
            path.write_bytes(SHIFT.encode() + data)


def read(work: Path) -> list[Mapping[str, Any]]:
    """All failures that were collected."""
    files = sorted((work / "memory").glob("*.json"))
    return [row for file in files for row in json.loads(file.read_text("utf-8"))]
