"""Each bug as a user would run it: what the answer says first, and what it costs."""

from __future__ import annotations

import json
import time
from functools import partial
from posixpath import normpath
from statistics import quantiles
from typing import TYPE_CHECKING, Any

from benchmarks.bugs.checkout import Checkout
from benchmarks.bugs.collecting import lay_out, places, run_tests_of
from benchmarks.bugs.mining import DATA, clone_of, data_file, made_once, read_bugs, read_part
from benchmarks.suites.measuring import COLD
from benchmarks.suites.scores import TOP, Standing, standing
from benchmarks.suites.workspace import write_json
from pytest_bayesloc.domain.evidence import InspectionOutcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

SHOWN = DATA / "shown"
SURE = 0.9


def show(name: str, *, clones: Path, work: Path, python: Path) -> str:
    """Run the plugin on each bug of a repository, as it comes; what came of it, in words.

    What an earlier run left is kept.
    """
    folder = work / name.replace("/", "+")
    checkout = Checkout(clone_of(name, clones), folder, python)
    kept = folder / "shown"
    kept.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    found = []
    for bug in read_bugs(name):
        path = kept / f"{bug['commit'][:12]}.json"
        found.append(made_once(path, partial(_shown, checkout, bug)))
    SHOWN.mkdir(parents=True, exist_ok=True)
    if found:
        write_json(data_file(SHOWN, name), found)
    return f"{len(found)} bugs, {time.monotonic() - began:.0f} s"


def _shown(checkout: Checkout, bug: Mapping[str, Any]) -> dict[str, Any]:
    """Where the first place at fault stands, what is claimed, and what the runs cost."""
    lay_out(checkout, bug)
    plain, _ = run_tests_of(checkout, bug, ("-p", "no:bayesloc"), plain=True)
    ran, result = run_tests_of(checkout, bug, ("--bayesloc", COLD))
    guilty = set(places(bug))
    ranking = result.get("ranking", [])
    scores = [row["posterior"] for row in ranking]
    right = [(normpath(row["file"]), row["qualname"]) in guilty for row in ranking]
    stands = (standing(scores, n) for n, is_right in enumerate(right) if is_right)
    best = min(stands, key=lambda one: one.rank, default=None)
    return {
        "commit": bug["commit"],
        "first": best and best.first,
        "last": best and best.last,
        "n_places": len(ranking),
        "claim": scores[0] if scores else 0.0,
        "right": bool(right and right[0]),
        "n_inspections": len(result.get("inspections", ())),
        "inspected": [
            [normpath(row["file"]), row["qualname"], item["outcome"]]
            for row in ranking
            for item in row["evidence"]
            if item["outcome"] in InspectionOutcome.__members__
        ],
        "plain_cpu_s": round(plain.cpu_s, 2),
        "cpu_s": round(ran.cpu_s, 2),
        "seconds": round(ran.seconds - plain.seconds, 2),
    }


def inspected(name: str) -> dict[str, dict[tuple[str, str], list[str]]]:
    """Per bug of a repository that was run, the outcomes of inspections at each place."""
    path = data_file(SHOWN, name)
    found: dict[str, dict[tuple[str, str], list[str]]] = {}
    for row in json.loads(path.read_text("utf-8")) if path.is_file() else ():
        own = found.setdefault(row["commit"], {}) if "inspected" in row else {}
        for file, name_, outcome in row.get("inspected", ()):
            own.setdefault((file, name_), []).append(outcome)
    return found


def table(part: str) -> Iterator[str]:
    """What the kept runs of one part say."""
    found = read_part(SHOWN, part)
    if len(found) < 2:
        yield "none was run: `python -m benchmarks.bugs show`"
        return
    stands = [
        Standing(first=one["first"], last=one["last"], n_rows=one["n_places"])
        for one in found
        if one["first"]
    ]
    shares = [100 * sum(s.p_within(k) for s in stands) / len(found) for k in TOP]
    sure = [one["right"] for one in found if one["claim"] >= SURE]
    cost = sorted(one["cpu_s"] - one["plain_cpu_s"] for one in found)
    tenths = quantiles(cost, n=10, method="inclusive")
    yield f"{len(found)} bugs, as shown: " + " / ".join(f"{share:.1f}" for share in shares)
    yield f"{SURE} or more is claimed for {len(sure)}, and right for {sum(sure)}"
    yield f"CPU s above the plain run: median {tenths[4]:.1f}, 90th percentile {tenths[8]:.1f}"
