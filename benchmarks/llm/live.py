"""What a real endpoint adds: planted faults, run as a user would, with every use of the model.

The runs keep no memory, so that the model has no record in them. Its weight is put in afterwards,
use by use, by a record that grows fault by fault: one run gives the figures with and without each
use, and a replay gives the same again.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import dataclass
from posixpath import normpath
from statistics import mean
from typing import TYPE_CHECKING, Any

from benchmarks.faults.building import remade
from benchmarks.faults.scoring import N_RESAMPLED
from benchmarks.suites.measuring import install_plugin, measure
from benchmarks.suites.scores import Standing, score, standing
from benchmarks.suites.subjects import KNOWN
from benchmarks.suites.workspace import CHECKOUT, install, prepare
from pytest_bayesloc.domain.evidence import OUTCOMES
from pytest_bayesloc.inspection.strategies.llm import FIXES
from pytest_bayesloc.ranking.evidence.judgements import INSPECTION, RANKING, learned_likelihood

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from benchmarks.suites.planting import PlantedFault
    from pytest_bayesloc.domain.evidence import Outcome

    Json = Mapping[str, Any]

#: Sources of evidence in the JSON result, and the use that they come from.
USES = {"llm": RANKING, "generated": INSPECTION}
VARIANTS: Mapping[str, Collection[str]] = {
    "no model": (),
    "words": ("llm",),
    "edits": (FIXES,),
    "inspections with reflection": ("generated",),
    "all": ("llm", FIXES, "generated"),
}
LIMIT_S = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is measured.

    Attributes:
        packages: Names from the table.
        counts: Faults of each kind, a package.
        options: For the run with the plugin.
        folder: Where requests and answers are kept.
        mode: ``live``, ``replay`` or ``record``.
    """

    packages: Sequence[str]
    counts: Mapping[str, int]
    options: Sequence[str]
    folder: Path
    mode: str


def live(asked: Asked, *, work: Path, python: Path) -> Iterator[str]:
    """The table, after all faults were run."""
    found: list[tuple[str, PlantedFault, Json]] = []
    for name in asked.packages:
        workspace = prepare(KNOWN[name], work=work, python=python)
        install_plugin(workspace, CHECKOUT)
        install(workspace.python, "openai")
        options = (
            "--bayesloc-llm",
            "--bayesloc-memory=off",
            f"--bayesloc-llm-mode={asked.mode}",
            *asked.options,
        )
        try:
            for fault in remade(workspace, asked.counts, work=work):
                _keep_exchanges(workspace.tree, asked.folder / name)
                row = measure(workspace, fault, options=options, limit_s=LIMIT_S)
                report = workspace.root / "report.json"
                result = json.loads(report.read_text("utf-8")) if report.is_file() else {}
                found.append((name, fault, {**result, "seconds": row.seconds}))
                used = result.get("llm", {})
                yield f"{name} {fault}: {row.seconds:.1f} s, {used}"
                yield from (f"    TROUBLE: {trouble}" for trouble in row.troubles)
        finally:
            workspace.restore()
    yield from table(found)


def _keep_exchanges(tree: Path, folder: Path) -> None:
    """Have what is kept of requests lie in ``folder``, which outlives the tree."""
    folder.mkdir(parents=True, exist_ok=True)
    link = tree / ".bayesloc" / "llm"
    link.parent.mkdir(exist_ok=True)
    if not link.exists():
        link.symlink_to(folder.resolve(), target_is_directory=True)


def table(found: Sequence[tuple[str, PlantedFault, Json]]) -> Iterator[str]:
    """Top-1/3/5 with and without each use, and what it took."""
    yield "| with | Top-1 | Top-3 | Top-5 |"
    yield "|---|---|---|---|"
    for name, sources in VARIANTS.items():
        counts: Counter[tuple[str, Outcome, bool]] = Counter()
        places = []
        for package, fault, result in found:
            places.append((package, _place(result, fault, sources, counts)))
            counts.update(_said(result, fault))
        cells = " | ".join(_interval(places, k) for k in range(3))
        yield f"| {name} | {cells} |"
    used = [result.get("llm", {}) for _, _, result in found]
    costs = [item["cost"] for item in used if item.get("cost") is not None]
    yield (
        f"a fault: {mean(item.get('calls', 0) for item in used):.1f} calls, "
        f"{mean(item.get('tokens', 0) for item in used):.0f} tokens, "
        f"cost {f'{mean(costs):.4f}' if costs else 'unknown'}, "
        f"{mean(result['seconds'] for _, _, result in found):.1f} s"
    )


def _place(
    result: Json,
    fault: PlantedFault,
    sources: Collection[str],
    counts: Mapping[tuple[str, Outcome, bool], int],
) -> Standing | None:
    """Where the fault stands if evidence of ``sources`` has the weight that it has earned."""
    best: dict[tuple[str, str], float] = {}
    for group in result.get("faults", ()):
        weights = {}
        for row in group["ranking"]:
            p = row["posterior"]
            for item in row["evidence"]:
                if item["source"] in USES:
                    said, use = OUTCOMES[item["outcome"]], USES[item["source"]]
                    pair = learned_likelihood(said, use, counts)
                    worth = pair[0] / pair[1] if pair is not None else 1.0
                elif item["source"] == FIXES:
                    worth = item["p_if_faulty"] / item["p_if_clean"]
                else:
                    continue
                # In the run it had the weight of a model without a record.
                p *= item["p_if_clean"] / item["p_if_faulty"]
                p *= worth if item["source"] in sources else 1.0
            weights[row["file"], row["qualname"]] = p
        total = sum(weights.values()) or 1.0
        for where, p in weights.items():
            best[where] = max(best.get(where, 0.0), p / total)
    listed = list(best)
    scores = [best[where] for where in listed]
    found = [standing(scores, n) for n, where in enumerate(listed) if _is_at(where, fault)]
    return min(found, key=lambda place: place.rank, default=None)


def _said(result: Json, fault: PlantedFault) -> Iterator[tuple[str, Outcome, bool]]:
    """What the model said of locations, and whether they were at fault."""
    for group in result.get("faults", ()):
        for row in group["ranking"]:
            was_faulty = _is_at((row["file"], row["qualname"]), fault)
            for item in row["evidence"]:
                if item["source"] in USES:
                    yield USES[item["source"]], OUTCOMES[item["outcome"]], was_faulty


def _is_at(where: tuple[str, str], fault: PlantedFault) -> bool:
    file, name = where
    return any(normpath(file) == place.file and name == place.qualname for place in fault.places)


def _interval(places: Sequence[tuple[str, Standing | None]], k: int) -> str:
    """A Top-k with its 95 % interval, from resampled packages."""
    by_package: dict[str, list[Standing | None]] = {}
    for package, place in places:
        by_package.setdefault(package, []).append(place)
    dice, names = random.Random(0), sorted(by_package)
    drawn = sorted(
        score([p for name in dice.choices(names, k=len(names)) for p in by_package[name]]).top[k]
        for _ in range(N_RESAMPLED)
    )
    low, high = drawn[int(0.025 * N_RESAMPLED)], drawn[int(0.975 * N_RESAMPLED) - 1]
    value = score([place for _, place in places]).top[k]
    return f"{value:.0%} ({low:.0%} to {high:.0%})"
