"""Keeping, of the changes drawn, those that a suite notices without falling over."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

from benchmarks.suites.affected import affected
from benchmarks.suites.change import Place
from benchmarks.suites.drawing import draw, is_executed
from benchmarks.suites.resolved import speaks_of_what_is_gone
from benchmarks.suites.workspace import write_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from benchmarks.suites.change import Change
    from benchmarks.suites.workspace import Workspace

MOST_FAILING = 0.20
TRIES_PER_FAULT = 12
N_HARMLESS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class PlantedFault:
    """A change that makes some tests of a subject fail, each time the same.

    Attributes:
        subject: The release, ``name==version``.
        kind: One of ``drawing.KINDS``.
        how: What was done.
        places: What is at fault.
        texts: The changed files, with the change.
        diff: The change as a unified diff.
        digest: Of the change.
        failing: Tests that fail because of it.
        n_passing: Tests that pass all the same.
    """

    subject: str
    kind: str
    how: str
    places: tuple[Place, ...]
    texts: Mapping[str, str]
    diff: str
    digest: str
    failing: tuple[str, ...]
    n_passing: int

    @property
    def key(self) -> str:
        """What it is called in files of results: the same for the same change."""
        return f"{self.subject}:{self.digest}"

    def __str__(self) -> str:
        return " + ".join(map(str, self.places))


@dataclass(slots=True, kw_only=True)
class Planting:
    """How far the drawing for one subject has come; saved after each try.

    Attributes:
        path: Where it is saved.
        kept: The faults so far.
        harmless: Digests of regressions that no test noticed.
        n_tried: Per kind, how many changes were looked at.
        dropped: How many were dropped, by reason.
        taken: Files and qualified names where another fault is known already.
    """

    path: Path
    kept: list[PlantedFault]
    harmless: list[str]
    n_tried: dict[str, int]
    dropped: Counter[str]
    taken: set[tuple[str, str]] = field(default_factory=set)

    @classmethod
    def load(cls, path: Path) -> Planting:
        """What is saved at ``path``, or nothing yet."""
        found: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.is_file() else {}
        return cls(
            path=path,
            kept=[_loaded(fault) for fault in found.get("kept", ())],
            harmless=found.get("harmless", []),
            n_tried=found.get("n_tried", {}),
            dropped=Counter(found.get("dropped", {})),
        )

    def save(self) -> None:
        """Write it to its path."""
        kept = [asdict(fault) for fault in self.kept]
        rest = {"harmless": self.harmless, "n_tried": self.n_tried, "dropped": self.dropped}
        write_json(self.path, {"kept": kept, **rest})

    def of_kind(self, kind: str) -> list[PlantedFault]:
        """The faults of ``kind``, in the order they were drawn."""
        return [fault for fault in self.kept if fault.kind == kind]


def plant(
    workspace: Workspace,
    goals: Mapping[str, int],
    *,
    seed: int,
    work: Path,
    taken: Iterable[tuple[str, str]] = (),
) -> list[PlantedFault]:
    """The faults of one subject, as many of each kind as ``goals`` says, as far as there are any.

    Drawn in an order that the seed alone decides, so that more faults are the same and some more;
    none at a place, file and qualified name, that is ``taken``.
    """
    planting = Planting.load(planting_file(workspace, seed))
    planting.taken.update(taken)
    try:
        for kind, n_wanted in goals.items():
            _plant_kind(workspace, planting, kind, n_wanted, seed=seed, work=work)
    finally:
        workspace.restore()
    return [fault for kind, n in goals.items() for fault in planting.of_kind(kind)[:n]]


def planting_file(workspace: Workspace, seed: int) -> Path:
    """Where the drawing for one subject is saved."""
    return workspace.root / f"planted-{seed}.json"


def _plant_kind(
    workspace: Workspace, planting: Planting, kind: str, n_wanted: int, *, seed: int, work: Path
) -> None:
    workspace.restore()  # what is drawn is drawn from the published tree
    done = planting.n_tried.get(kind, 0)
    n_runs = 0
    for change in islice(draw(workspace, kind, seed=seed, work=work), done, None):
        if len(planting.of_kind(kind)) >= n_wanted or n_runs >= TRIES_PER_FAULT * n_wanted:
            return
        reason = _refusal(workspace, planting, change)
        if not reason:
            n_runs += 1
            reason = _try(workspace, planting, change)
        planting.n_tried[kind] = planting.n_tried.get(kind, 0) + 1
        planting.dropped.update([reason] if reason else [])
        planting.save()


def _refusal(workspace: Workspace, planting: Planting, change: Change) -> str:
    """Why it is not even tried."""
    taken = {(place.file, place.qualname) for fault in planting.kept for place in fault.places}
    taken |= planting.taken
    if any((place.file, place.qualname) in taken for place in change.places):
        return "same place again"
    if change.kind == "regression" and speaks_of_what_is_gone(change):
        return "speaks of what is gone"
    return "" if is_executed(workspace, change) else "not executed"


def _try(workspace: Workspace, planting: Planting, change: Change) -> str:
    """Run the suite on the changed tree; keep the fault, or return why not."""
    workspace.restore()
    for file, text in change.texts.items():
        workspace.write(file, text)
    failing, reason = _noticed(workspace, affected(workspace, change))
    if reason == UNNOTICED and change.kind == "regression":
        planting.harmless = [*planting.harmless, change.digest][:N_HARMLESS]
    if reason:
        return reason
    again, reason = _noticed(workspace, None)
    if reason or again != failing:
        return reason or "not the same tests twice"
    fault = PlantedFault(
        subject=str(workspace.subject),
        kind=change.kind,
        how=change.how,
        places=_guilty(workspace, change),
        texts=change.texts,
        diff=change.diff,
        digest=change.digest,
        failing=tuple(sorted(failing)),
        n_passing=len(workspace.known.passing) - len(failing),
    )
    planting.kept.append(fault)
    said = f"{fault.kind} ({fault.how}) in {fault}: {len(failing)} tests fail"
    print(f"  {workspace.subject.name}: planted {said}", flush=True)
    return ""


def _guilty(workspace: Workspace, change: Change) -> tuple[Place, ...]:
    """Of several places, those that make a test fail alone; all of them if none does."""
    found: list[Place] = []
    for part in change.parts:
        workspace.restore()
        for file, text in part.texts.items():
            workspace.write(file, text)
        failing, _ = _noticed(workspace, affected(workspace, part))
        if failing:
            found += part.places
    return tuple(found) or change.places


UNNOTICED = "no test fails"


def _noticed(workspace: Workspace, tests: Sequence[str] | None) -> tuple[frozenset[str], str]:
    """The failing tests of some or all, and why the fault can't be kept, if so."""
    baseline = workspace.known
    most = int(MOST_FAILING * len(baseline.passing))
    limit_s = 5 * baseline.seconds + 10
    if tests is not None and not tests:
        return frozenset(), UNNOTICED
    ran = workspace.outcomes(f"--maxfail={most + 1}", "--tb=no", limit_s=limit_s, tests=tests)
    reason = ""
    if ran.finished.timed_out:
        reason = "hangs"
    elif ran.uncollected or ran.finished.exit_code not in {0, 1, 2}:
        reason = "breaks collection"
    elif not ran.failed:
        reason = UNNOTICED
    elif len(ran.failed) > most:
        reason = "too many tests fail"
    elif not ran.failed <= set(baseline.passing) or ran.finished.exit_code != 1:
        reason = "other tests than before"
    return ran.failed, reason


def _loaded(found: Mapping[str, Any]) -> PlantedFault:
    places = tuple(Place(**place) for place in found["places"])
    return PlantedFault(**{**found, "places": places, "failing": tuple(found["failing"])})
