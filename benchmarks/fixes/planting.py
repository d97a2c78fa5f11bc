"""Keeping, of the mistakes drawn, those that the suite notices."""

from __future__ import annotations

import json
import random
from dataclasses import asdict
from typing import TYPE_CHECKING

from benchmarks.fixes.mistakes import KINDS, mistakes
from benchmarks.suites.change import Place
from benchmarks.suites.drawing import is_executed
from benchmarks.suites.functions import source_files
from benchmarks.suites.planting import PlantedFault
from benchmarks.suites.workspace import write_json

if TYPE_CHECKING:
    from benchmarks.suites.change import Change
    from benchmarks.suites.workspace import Workspace

SEED = 7
TRIES = 8
MOST_FAILING = 0.5  # of the tests that still run


def plant_mistakes(workspace: Workspace, n_each: int) -> list[PlantedFault]:
    """So many mistakes of each kind, as far as there are any; kept on disk."""
    saved = workspace.root / f"mistakes-{SEED}-{n_each}.json"
    if not saved.is_file():
        found = [fault for kind in KINDS for fault in _of_kind(workspace, kind, n_each)]
        write_json(saved, [asdict(fault) for fault in found])
        workspace.restore()
    return [
        PlantedFault(
            **{
                **kept,
                "places": tuple(Place(**place) for place in kept["places"]),
                "failing": tuple(kept["failing"]),
            }
        )
        for kept in json.loads(saved.read_text("utf-8"))
    ]


def _of_kind(workspace: Workspace, kind: str, n_wanted: int) -> list[PlantedFault]:
    workspace.restore()
    dice = random.Random(f"{SEED} {kind} {workspace.subject}")
    files = list(source_files(workspace.tree / workspace.source, workspace.tree))
    kept: list[PlantedFault] = []
    ways: set[str] = set()
    n_tried = 0
    for change in mistakes(files, kind, dice):
        # Each way has its turn, as far as that goes.
        if len(kept) >= n_wanted or n_tried >= TRIES * n_wanted:
            break
        if change.how in ways and n_tried < TRIES * n_wanted // 2:
            continue
        if not is_executed(workspace, change) and change.places[0].qualname != "<module>":
            continue
        n_tried += 1
        fault = _noticed(workspace, change)
        if fault is not None:
            kept.append(fault)
            ways.add(change.how)
    return kept


def _noticed(workspace: Workspace, change: Change) -> PlantedFault | None:
    """The change as a fault, if tests fail or can't be collected, the same ones in two runs."""
    workspace.plant(change.texts)
    limit_s = 10 * workspace.known.seconds + 30
    first, second = (workspace.outcomes(limit_s=limit_s) for _ in range(2))
    known = set(workspace.known.passing)
    failing = sorted(first.failed & known)
    if first.finished.timed_out or sorted(second.failed & known) != failing:
        return None
    files = tuple(name for name in first.uncollected if name.endswith(".py"))
    if (not failing and not files) or len(failing) > MOST_FAILING * len(known):
        return None
    return PlantedFault(
        subject=str(workspace.subject),
        kind=change.kind,
        how=change.how,
        places=change.places,
        texts=change.texts,
        diff=change.diff,
        digest=change.digest,
        failing=tuple(failing) or files,
        n_passing=len(first.passed & known),
    )
