"""Drawing faults, and keeping those that a suite notices without falling over."""

from __future__ import annotations

import difflib
import hashlib
import json
import random
from collections import Counter
from dataclasses import asdict, dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from benchmarks.suites.functions import source_files
from benchmarks.suites.mutants import mutants
from benchmarks.suites.transplants import transplants
from benchmarks.suites.workspace import package_folder, unpacked, write_json

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchmarks.suites.transplants import Candidate
    from benchmarks.suites.workspace import Workspace

MOST_FAILING = 0.20
TRIES_PER_FAULT = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class PlantedFault:
    """A change that makes some tests of a subject fail, each time the same.

    Attributes:
        subject: The release, ``name==version``.
        kind: ``regression`` or ``mutant``.
        how: What was done.
        file: The changed file, relative to the tree.
        qualname: The changed function.
        start_line: Line of its ``def``.
        diff: The change as a unified diff.
        text: The file with the change.
        failing: Tests that fail because of it.
        n_passing: Tests that pass all the same.
    """

    subject: str
    kind: str
    how: str
    file: str
    qualname: str
    start_line: int
    diff: str
    text: str
    failing: tuple[str, ...]
    n_passing: int

    @property
    def key(self) -> str:
        """What it is called in files of results: the same for the same change."""
        digest = hashlib.sha256(f"{self.file}\n{self.diff}".encode()).hexdigest()
        return f"{self.subject}:{digest[:12]}"

    def __str__(self) -> str:
        return f"{self.file}:{self.start_line} {self.qualname}"


@dataclass(slots=True, kw_only=True)
class Planting:
    """How far the drawing for one subject has come; saved after each try.

    Attributes:
        path: Where it is saved.
        kept: The faults so far.
        n_tried: Per kind, how many candidates were run.
        dropped: How many were dropped, by reason.
    """

    path: Path
    kept: list[PlantedFault]
    n_tried: dict[str, int]
    dropped: Counter[str]

    @classmethod
    def load(cls, path: Path) -> Planting:
        """What is saved at ``path``, or nothing yet."""
        found: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.is_file() else {}
        kept = [
            PlantedFault(**{**fault, "failing": tuple(fault["failing"])})
            for fault in found.get("kept", ())
        ]
        tried = found.get("n_tried", {})
        return cls(path=path, kept=kept, n_tried=tried, dropped=Counter(found.get("dropped", {})))

    def save(self) -> None:
        """Write it to its path."""
        kept = [asdict(fault) for fault in self.kept]
        write_json(self.path, {"kept": kept, "n_tried": self.n_tried, "dropped": self.dropped})

    def n_kept(self, kind: str) -> int:
        """How many faults of ``kind`` there are."""
        return sum(fault.kind == kind for fault in self.kept)


def plant(workspace: Workspace, *, n_faults: int, seed: int, work: Path) -> list[PlantedFault]:
    """The faults of one subject: half of them regressions, as far as there are any.

    Drawn in an order that the seed alone decides, so that more faults are the same and some more.
    """
    planting = Planting.load(workspace.root / f"faults-{seed}.json")
    drawn = {
        "regression": _regressions(workspace, seed=seed, work=work),
        "mutant": _mutants(workspace, seed=seed),
    }
    goals = {"regression": (n_faults + 1) // 2, "mutant": n_faults}
    try:
        for kind, candidates in drawn.items():
            _plant_kind(workspace, planting, kind=kind, candidates=candidates, n_wanted=goals[kind])
            goals["mutant"] = n_faults - planting.n_kept("regression")
    finally:
        workspace.restore()
    regressions = [fault for fault in planting.kept if fault.kind == "regression"]
    others = [fault for fault in planting.kept if fault.kind == "mutant"]
    kept = regressions[: goals["regression"]]
    return kept + others[: n_faults - len(kept)]


def _plant_kind(
    workspace: Workspace,
    planting: Planting,
    *,
    kind: str,
    candidates: Iterator[Candidate],
    n_wanted: int,
) -> None:
    done = planting.n_tried.get(kind, 0)
    most = TRIES_PER_FAULT * n_wanted
    for candidate in islice(candidates, done, None):
        if planting.n_kept(kind) >= n_wanted or planting.n_tried.get(kind, 0) >= most:
            return
        where = (candidate.function.file.name, candidate.function.qualname)
        if where in {(fault.file, fault.qualname) for fault in planting.kept}:
            reason = "same function again"
        else:
            reason = _try(workspace, planting, kind=kind, candidate=candidate)
        planting.n_tried[kind] = planting.n_tried.get(kind, 0) + 1
        planting.dropped.update([reason] if reason else [])
        planting.save()


def _try(workspace: Workspace, planting: Planting, *, kind: str, candidate: Candidate) -> str:
    """Run the suite on the changed tree; keep the fault, or return why not."""
    name = candidate.function.file.name
    workspace.restore()
    workspace.write(name, candidate.text)
    failing, reason = _noticed(workspace)
    if reason:
        return reason
    again, reason = _noticed(workspace)
    if reason or again != failing:
        return reason or "not the same tests twice"
    fault = PlantedFault(
        subject=str(workspace.subject),
        kind=kind,
        how=candidate.how,
        file=name,
        qualname=candidate.function.qualname,
        start_line=candidate.function.start_line,
        diff=_diff(name, candidate.function.file.text, candidate.text),
        text=candidate.text,
        failing=tuple(sorted(failing)),
        n_passing=len(workspace.known.passing) - len(failing),
    )
    planting.kept.append(fault)
    print(f"  planted {kind} ({fault.how}) in {fault}: {len(failing)} tests fail", flush=True)
    return ""


def _noticed(workspace: Workspace) -> tuple[frozenset[str], str]:
    """The failing tests, and why the fault can't be kept, if so."""
    baseline = workspace.known
    most = int(MOST_FAILING * len(baseline.passing))
    limit_s = 5 * baseline.seconds + 10
    ran = workspace.outcomes(f"--maxfail={most + 1}", "--tb=no", limit_s=limit_s)
    reason = ""
    if ran.finished.timed_out:
        reason = "hangs"
    elif ran.uncollected or ran.finished.exit_code not in {0, 1, 2}:
        reason = "breaks collection"
    elif not ran.failed:
        reason = "no test fails"
    elif len(ran.failed) > most:
        reason = "too many tests fail"
    elif not ran.failed <= set(baseline.passing) or ran.finished.exit_code != 1:
        reason = "other tests than before"
    return ran.failed, reason


def _regressions(workspace: Workspace, *, seed: int, work: Path) -> Iterator[Candidate]:
    """Transplants from all older releases, shuffled; each body once."""
    subject = workspace.subject
    found: dict[tuple[str, str], Candidate] = {}
    for version in subject.older:
        top = unpacked(subject.name, version, work=work, python=workspace.python)
        older = package_folder(top, subject.import_name)
        newer = workspace.tree / workspace.source
        for candidate in transplants(newer, older, root=workspace.tree, release=version):
            if _is_executed(workspace, candidate):
                found.setdefault((candidate.function.file.name, candidate.text), candidate)
    listed = list(found.values())
    random.Random(f"{seed} regression {subject}").shuffle(listed)
    return iter(listed)


def _mutants(workspace: Workspace, *, seed: int) -> Iterator[Candidate]:
    """Mutants of what some test executes."""
    files = source_files(workspace.tree / workspace.source, workspace.tree)
    functions = [function for file in files for function in file.functions]
    dice = random.Random(f"{seed} mutant {workspace.subject}")
    return (found for found in mutants(functions, dice) if _is_executed(workspace, found))


def _is_executed(workspace: Workspace, candidate: Candidate) -> bool:
    """Whether some test executes a changed line; yes if that was not measured."""
    executed = workspace.known.executed
    if not executed:
        return True
    return not set(candidate.lines).isdisjoint(executed.get(candidate.function.file.name, ()))


def _diff(name: str, old: str, new: str) -> str:
    lines = difflib.unified_diff(
        old.splitlines(keepends=True), new.splitlines(keepends=True), f"a/{name}", f"b/{name}"
    )
    return "".join(lines)
