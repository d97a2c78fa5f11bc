"""Planting the faults of one package, and the list of them that is kept with the project."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.suites.change import Place
from benchmarks.suites.drawing import draw_again
from benchmarks.suites.planting import PlantedFault, Planting, plant, planting_file
from benchmarks.suites.subjects import KNOWN
from benchmarks.suites.workspace import prepare, write_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from benchmarks.suites.workspace import Workspace

SEED = 3
#: A package, as far as it has them.
GOALS = {"regression": 13, "edit": 9, "import": 3, "test": 4}
LISTED = Path(__file__).resolve().parent / "data" / "faults"


def build(name: str, *, work: Path, python: Path) -> str:
    """Plant the faults of one package; what came of it, in words.

    Kinds that its list has already stay as they are.
    """
    workspace = prepare(KNOWN[name], work=work, python=python)
    path = LISTED / f"{name}.json"
    known = json.loads(path.read_text("utf-8")) if path.is_file() else {"n_drawn": {}, "faults": []}
    goals = {kind: n for kind, n in GOALS.items() if kind not in known["n_drawn"]}
    taken = {(file, name) for fault in known["faults"] for file, name, _ in fault["places"]}
    faults = plant(workspace, goals, seed=SEED, work=work, taken=taken)
    planting = Planting.load(planting_file(workspace, SEED))
    write_json(
        path,
        {
            "subject": str(workspace.subject),
            "older": list(workspace.subject.older),
            "seed": SEED,
            "n_tests": len(workspace.known.passing),
            "harmless": planting.harmless,
            **known,
            "n_drawn": {**known["n_drawn"], **planting.n_tried},
            "faults": [*known["faults"], *(listed(fault) for fault in faults)],
        },
    )
    counts = {kind: sum(fault.kind == kind for fault in faults) for kind in goals}
    tried = sum(planting.n_tried.values())
    return f"{len(faults)} faults {counts} of {tried} changes; dropped {dict(planting.dropped)}"


def listed(fault: PlantedFault) -> dict[str, object]:
    """What is kept of ``fault`` with the project: all that is needed to make it again."""
    return {
        "kind": fault.kind,
        "how": fault.how,
        "digest": fault.digest,
        "places": [[place.file, place.qualname, place.start_line] for place in fault.places],
        "failing": list(fault.failing),
        "n_passing": fault.n_passing,
    }


def faults_of(name: str) -> dict[str, Any]:
    """The list of one package, as ``build`` wrote it.

    Raises:
        SystemExit: If there is none.
    """
    path = LISTED / f"{name}.json"
    if not path.is_file():
        raise SystemExit(f"{name} has no list of faults: `python -m benchmarks.faults build` one")
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


def remade(
    workspace: Workspace, counts: Mapping[str, int], *, work: Path
) -> Iterator[PlantedFault]:
    """The first listed faults of each kind, with their texts, from the pins alone."""
    listed = faults_of(workspace.subject.name)
    for kind, n in counts.items():
        workspace.restore()  # what is drawn is drawn from the published tree
        chosen = [fault for fault in listed["faults"] if fault["kind"] == kind][:n]
        digests = [fault["digest"] for fault in chosen]
        n_drawn, seed = listed["n_drawn"].get(kind, 0), listed["seed"]
        changes = draw_again(workspace, kind, digests, n_drawn=n_drawn, seed=seed, work=work)
        for fault in chosen:
            change = changes.get(fault["digest"])
            if change is None:
                print(f"NOT MADE AGAIN: {kind} {fault['digest']} of {workspace.subject}")
                continue
            yield PlantedFault(
                subject=listed["subject"],
                kind=kind,
                how=fault["how"],
                places=tuple(
                    Place(file=file, qualname=name, start_line=line)
                    for file, name, line in fault["places"]
                ),
                texts=change.texts,
                diff=change.diff,
                digest=change.digest,
                failing=tuple(fault["failing"]),
                n_passing=fault["n_passing"],
            )
