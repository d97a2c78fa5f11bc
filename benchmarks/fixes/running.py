"""The plugin searches a fix for each fault; what it shows is then held against all tests."""

from __future__ import annotations

import hashlib
import json
import random
import subprocess
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from benchmarks.faults.building import faults_of, remade
from benchmarks.faults.green_runs import N_OTHERS, harmless, merged, remembered, remind
from benchmarks.fixes.planting import plant_mistakes
from benchmarks.suites.measuring import COLD, install_plugin
from benchmarks.suites.process import run
from benchmarks.suites.subjects import KNOWN
from benchmarks.suites.workspace import PROBE, prepare, write_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from benchmarks.suites.change import Change
    from benchmarks.suites.planting import PlantedFault
    from benchmarks.suites.process import Finished
    from benchmarks.suites.workspace import Workspace

ONE_IN = 10  # tests that the search does not see
N_JUDGED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What the plugin has to go by beside the failing tests.

    Attributes:
        memory: What it kept of a run in which all tests passed; None: it knows of none.
        others: What else changed since, and no test notices.
    """

    memory: Path | None = None
    others: Sequence[Change] = ()

    def options(self) -> tuple[str, ...]:
        """What the plugin is told."""
        return () if self.memory is not None else ("--bayesloc-memory=off", COLD)

    def plant(
        self, workspace: Workspace, fault: PlantedFault, n_others: int
    ) -> tuple[dict[str, str], int]:
        """Plant a fault; the texts of its files without it, and how many changes are beside it."""
        others = random.Random(fault.digest).sample(self.others, k=len(self.others))
        mended, _ = merged(workspace, replace(fault, texts={}), others, n_others)
        texts, n_merged = merged(workspace, fault, others, n_others)
        workspace.plant(texts)
        if self.memory is not None:
            remind(workspace, self.memory)
        return {**_originals(workspace, fault), **mended}, n_merged


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is searched.

    Attributes:
        counts: How many faults of a kind: ``regression``, ``edit``, and ``each`` of the shelf's.
        budget_s: Of a run.
        knows: Whether a run is remembered in which all tests passed, and more changed since.
    """

    counts: Mapping[str, int]
    budget_s: float
    knows: bool = False

    def folder(self, work: Path) -> Path:
        """Where what came of it is kept."""
        folder = work / ("fixes-knowing" if self.knows else "fixes")
        folder.mkdir(parents=True, exist_ok=True)
        return folder


def search_package(name: str, *, work: Path, python: Path, plugin: Path, plan: Plan) -> str:
    """Search fixes for the faults of one package; what came of it, in words.

    Args:
        name: The subject's.
        work: Where packages and results are kept; what is there is not done again.
        python: Interpreter of the runs.
        plugin: Checkout that is measured.
        plan: What is searched.
    """
    workspace = prepare(KNOWN[name], work=work, python=python)
    fingerprint = install_plugin(workspace, plugin)
    kept = workspace.root / "fixes" / fingerprint / ("knowing" if plan.knows else "")
    kept.mkdir(parents=True, exist_ok=True)
    rows = []
    try:
        known = Known()
        if plan.knows:
            others = harmless(workspace, faults_of(name), work)
            known = Known(memory=remembered(workspace, kept), others=others)
        for fault in _faults(workspace, plan.counts, work):
            path = kept / f"{fault.digest}-{plan.budget_s:g}.json"
            if not path.is_file():
                write_json(path, _searched(workspace, fault, plan.budget_s, known))
            rows.append(json.loads(path.read_text("utf-8")))
    finally:
        workspace.restore()
    write_json(plan.folder(work) / f"{name}.json", rows)
    found = sum(bool(row["fixes"]) for row in rows)
    right = sum(bool(row["fixes"]) and row["fixes"][0]["all_pass"] for row in rows)
    return f"{len(rows)} faults, a fix for {found}, the first right for {right}"


def _faults(workspace: Workspace, counts: Mapping[str, int], work: Path) -> Iterator[PlantedFault]:
    if counts["each"]:
        yield from plant_mistakes(workspace, counts["each"])
    older = {kind: counts[kind] for kind in ("edit", "regression") if counts[kind]}
    workspace.restore()
    if older:
        yield from remade(workspace, older, work=work)


def held_back(fault: PlantedFault, passing: tuple[str, ...]) -> list[str]:
    """A tenth of the tests, by the hash of their names; one that fails stays."""
    held = [n for n in passing if int(hashlib.sha256(n.encode()).hexdigest(), 16) % ONE_IN == 0]
    failing = set(fault.failing)
    if failing and failing <= set(held):
        held.remove(min(failing))
    return held


def _searched(
    workspace: Workspace, fault: PlantedFault, budget_s: float, known: Known
) -> dict[str, Any]:
    held = held_back(fault, workspace.known.passing)
    names = workspace.root / "held.txt"
    names.write_text("\n".join(held), encoding="utf-8")
    n_others = N_OTHERS
    while True:
        mended, n_others = known.plant(workspace, fault, n_others)
        ran, result = _run(workspace, names, budget_s, known)
        n_failed = result.get("session", {}).get("n_failed")
        if not n_others or n_failed == len(set(fault.failing) - set(held)):
            break
        n_others //= 2  # together they fail other tests
    shown = [fix for fix in result.get("fixes", ()) if fix["verified"]]
    seconds = result.get("session", {}).get("seconds", {})
    judged = [_judged(workspace, mended, fix, held) for fix in shown[:N_JUDGED]]
    workspace.restore()  # the next faults are made of the tree as it was published
    return {
        "fault": fault.digest,
        "package": str(workspace.subject),
        "kind": fault.kind,
        "how": fault.how,
        "where": str(fault),
        "n_others": n_others,
        "n_failing": len(fault.failing),
        "n_groups": len(result.get("faults", ())),
        "fix_s": seconds.get("fix", 0.0),
        "inspect_s": seconds.get("inspect", 0.0),
        "seconds": round(ran.seconds, 2),
        "plain_s": round(workspace.known.seconds, 2),
        "notes": [str(text)[:300] for text in result.get("partial", ())],
        "trouble": "" if result else ran.output[-500:],
        "fixes": judged,
    }


def _run(
    workspace: Workspace, names: Path, budget_s: float, known: Known
) -> tuple[Finished, dict[str, Any]]:
    """A run that searches fixes, and its JSON result; empty if there is none."""
    report = workspace.root / "fixes.json"
    report.unlink(missing_ok=True)
    options = (
        "-q",
        *("-p", "held_back"),
        "--bayesloc",
        *known.options(),
        "--bayesloc-fix=suggest",
        f"--bayesloc-budget={budget_s:g}",
        f"--bayesloc-report=json:{report}",
    )
    ran = run(
        workspace.pytest(*options),
        cwd=workspace.tree,
        limit_s=20 * workspace.known.seconds + 3 * budget_s + 120,
        log=workspace.root / "fixes.log",
        env={"PYTHONPATH": str(PROBE), "REAL_SUITES_HELD_BACK": str(names)},
    )
    result: dict[str, Any] = json.loads(report.read_text("utf-8")) if report.is_file() else {}
    return ran, result


def _judged(
    workspace: Workspace, mended: Mapping[str, str], fix: Mapping[str, Any], held: list[str]
) -> dict[str, Any]:
    """What all tests say of a fix, those that were held back among them."""
    patch = (workspace.tree / str(fix["patch_file"])).read_bytes()
    to = workspace.root / "shown.patch"
    to.write_bytes(patch)
    applied = subprocess.run(
        ["git", "apply", str(to)], cwd=workspace.tree, check=False, capture_output=True
    )
    ran = workspace.outcomes(limit_s=10 * workspace.known.seconds + 60)
    known = set(workspace.known.passing)
    bad = known - ran.passed
    texts = {file: (workspace.tree / file).read_bytes().decode() for file in mended}
    workspace.git("checkout", "-q", "-f", ".")
    return {
        "tool": fix["tool"],
        "stage": fix["stage"],
        "level": fix["level"],
        "words": fix["words"],
        "where": f"{fix['target']['file']} {fix['target']['qualname']}",
        "n_passing": fix["n_passing"],
        "seconds": fix["seconds"],
        "git_applied": applied.returncode == 0,
        "held_pass": not bad & set(held),
        "all_pass": not bad,
        "n_bad": len(bad),
        "is_original": texts == mended,
    }


def _originals(workspace: Workspace, fault: PlantedFault) -> dict[str, str]:
    base = "real-suites-base"
    return {file: workspace.git("show", f"{base}:{file}") for file in fault.texts}
