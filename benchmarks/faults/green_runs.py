"""The same faults where older code is known, and more changed since than the fault.

A suite goes green under the plugin. Then the fault is planted, together with a few changes that no
test notices, as an afternoon's work is; and the plugin is run as a user would run it. Or the plugin
remembers no run at all, and all that it has is git, with those changes as the last commit.
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from posixpath import normpath
from statistics import mean
from typing import TYPE_CHECKING, Any

from benchmarks.faults.building import GOALS, faults_of, remade
from benchmarks.faults.collecting import resumed
from benchmarks.suites.drawing import draw_again
from benchmarks.suites.measuring import install_plugin
from benchmarks.suites.process import run
from benchmarks.suites.scores import standing
from benchmarks.suites.subjects import KNOWN
from benchmarks.suites.workspace import prepare, write_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from benchmarks.suites.change import Change
    from benchmarks.suites.planting import PlantedFault
    from benchmarks.suites.process import Finished
    from benchmarks.suites.workspace import Workspace

KINDS = ("regression", "edit", "test")
#: Changes beside the fault, at most.
N_OTHERS = 6
RUNS = Path(__file__).resolve().parent / "data" / "green"
MEMORY = Path(".bayesloc", "green.sqlite")


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What the plugin has to go by.

    Attributes:
        git_alone: Whether it remembers no run.
        without: Kinds of evidence that are left out.
    """

    git_alone: bool = False
    without: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What runs are filed under; empty for the plugin as it comes."""
        left_out = f"without {' and '.join(self.without)}" if self.without else ""
        return f"{'by git' if self.git_alone else ''} {left_out}".strip()

    def options(self) -> list[str]:
        """What the plugin is told."""
        memory = ["--bayesloc-memory=off"] if self.git_alone else []
        return [*memory, *(f"--bayesloc-without={kind}" for kind in self.without)]


def collect_green(name: str, *, work: Path, python: Path, plugin: Path, given: Given) -> str:
    """Run the plugin on one package's faults after a green run; what came of it, in words.

    Args:
        name: The subject's.
        work: Where packages and runs are kept.
        python: Interpreter of the runs.
        plugin: Checkout that is measured.
        given: What the plugin has to go by.
    """
    workspace = prepare(KNOWN[name], work=work, python=python)
    faults = list(remade(workspace, {kind: GOALS[kind] for kind in KINDS}, work=work))
    root = workspace.root / "green" / install_plugin(workspace, plugin)
    kept = root / given.name
    kept.mkdir(parents=True, exist_ok=True)
    try:
        memory = None if given.git_alone else remembered(workspace, root)
        others = harmless(workspace, faults_of(name), work)
        options = given.options()
        measure = partial(_measured, workspace, memory=memory, others=others, options=options)
        rows = resumed(faults, kept, measure)
    finally:
        workspace.restore()
    path = RUNS / given.name / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, rows)
    return f"{len(rows)} runs, {mean(row['right'] for row in rows):.0%} right first"


def read_runs(name: str, variant: str = "") -> list[dict[str, Any]]:
    """The runs of one package; none if they were not collected."""
    path = RUNS / variant / f"{name}.json"
    found: list[dict[str, Any]] = json.loads(path.read_text("utf-8")) if path.is_file() else []
    return found


def variants() -> list[str]:
    """What there are runs of: the plugin as it comes first."""
    return ["", *sorted(path.name for path in RUNS.iterdir() if path.is_dir())]


def remembered(workspace: Workspace, kept: Path) -> Path:
    """What the plugin kept of a green run, as a file beside the tree."""
    memory = kept / "green.sqlite"
    if not memory.is_file():
        workspace.restore()
        ran = _run(workspace)
        made = workspace.tree / MEMORY
        if not made.is_file():
            raise SystemExit(f"{workspace.subject}: nothing remembered:\n{ran.output[-1500:]}")
        shutil.copyfile(made, memory)
    return memory


def remind(workspace: Workspace, memory: Path) -> None:
    """Let the plugin remember that run."""
    (workspace.tree / MEMORY).parent.mkdir()
    shutil.copyfile(memory, workspace.tree / MEMORY)


def _run(workspace: Workspace, *options: str) -> Finished:
    limit_s = 20 * workspace.known.seconds + 300
    command = workspace.pytest("-q", *options)
    return run(command, cwd=workspace.tree, limit_s=limit_s, log=workspace.root / "green.log")


def harmless(workspace: Workspace, listed: Mapping[str, Any], work: Path) -> list[Change]:
    """The changes of a package that no test notices, as they are listed with its faults."""
    workspace.restore()
    drawn = draw_again(
        workspace,
        "regression",
        listed["harmless"],
        n_drawn=listed["n_drawn"].get("regression", 0),
        seed=listed["seed"],
        work=work,
    )
    return [drawn[digest] for digest in listed["harmless"] if digest in drawn]


def _measured(
    workspace: Workspace,
    fault: PlantedFault,
    *,
    memory: Path | None,
    others: Sequence[Change],
    options: Sequence[str],
) -> dict[str, Any]:
    """Where the fault stands; with fewer changes beside it if together they fail other tests."""
    shuffled = random.Random(fault.digest).sample(others, k=len(others))
    n_others = N_OTHERS
    while True:
        texts, n_merged = merged(workspace, fault, shuffled, n_others)
        workspace.plant(texts)
        if memory is not None:
            remind(workspace, memory)
        report = workspace.root / "green.json"
        report.unlink(missing_ok=True)
        ran = _run(workspace, "--bayesloc", f"--bayesloc-report=json:{report}", *options)
        result = json.loads(report.read_text("utf-8")) if report.is_file() else {}
        n_failed = result.get("session", {}).get("n_failed")
        if n_failed == len(fault.failing) or not n_merged:
            break
        n_others = n_merged // 2
    return {
        "digest": fault.digest,
        "kind": fault.kind,
        "n_others": n_merged,
        "n_failed": n_failed,
        "seconds": round(ran.seconds, 2),
        "cpu_s": round(ran.cpu_s, 2),
        "plain_cpu_s": round(workspace.known.cpu_s, 2),
        **_found(result.get("ranking", ()), fault),
    }


def merged(
    workspace: Workspace, fault: PlantedFault, others: Iterable[Change], n: int
) -> tuple[dict[str, str], int]:
    """The fault's texts with up to ``n`` other changes in them, and how many there are."""
    texts = dict(fault.texts)
    places = {(place.file, place.qualname) for place in fault.places}
    n_merged = 0
    workspace.restore()
    for change in others:
        own = {(place.file, place.qualname) for place in change.places}
        if n_merged >= n or own & places:
            continue
        merged = {file: _merge(workspace, texts, change, file) for file in change.texts}
        if all(text is not None for text in merged.values()):
            texts.update((file, text) for file, text in merged.items() if text is not None)
            places |= own
            n_merged += 1
    return texts, n_merged


def _merge(workspace: Workspace, texts: Mapping[str, str], change: Change, file: str) -> str | None:
    """A file with both changes; None where they touch."""
    if file not in texts:
        return change.texts[file]
    three = (texts[file], change.originals[file], change.texts[file])
    with tempfile.TemporaryDirectory(dir=workspace.root) as folder:
        paths = [Path(folder, name) for name in ("ours", "base", "theirs")]
        for path, text in zip(paths, three, strict=True):
            path.write_bytes(text.encode("utf-8"))
        command = ["git", "merge-file", "-p", "-q", *map(str, paths)]
        done = subprocess.run(command, check=False, capture_output=True)
    return done.stdout.decode("utf-8") if done.returncode == 0 else None


def _found(ranking: Iterable[Mapping[str, Any]], fault: PlantedFault) -> dict[str, Any]:
    rows = list(ranking)
    named = {(place.file, place.qualname.partition(".<locals>")[0]) for place in fault.places}
    named |= {(place.file, place.qualname) for place in fault.places}
    guilty = [i for i, row in enumerate(rows) if (normpath(row["file"]), row["qualname"]) in named]
    scores = [float(row["posterior"]) for row in rows]
    places = [standing(scores, i) for i in guilty]
    best = min(places, key=lambda place: place.rank, default=None)
    claim = max(scores, default=0.0)
    first = [i for i, p in enumerate(scores) if p >= claim - 1e-12]
    return {
        "standing": [best.first, best.last, best.n_rows] if best else None,
        "claim": claim,
        "right": mean(i in guilty for i in first) if first else 0.0,
        "on_test": any(rows[i].get("is_test") for i in first),
    }
