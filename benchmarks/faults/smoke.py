"""A few of the planted faults, made again from the list and run as a user would: for CI."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from statistics import mean
from typing import TYPE_CHECKING

from benchmarks.faults.building import remade
from benchmarks.faults.pool import follow_parent
from benchmarks.suites.measuring import install_plugin, measure
from benchmarks.suites.scores import score
from benchmarks.suites.subjects import KNOWN
from benchmarks.suites.workspace import CHECKOUT, prepare

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.suites.measuring import Row

#: Small suites, none of a package that is judged on; of each, so many faults of a kind.
PACKAGES = ("h11", "toolz")
COUNTS = {"regression": 2, "edit": 1, "import": 1, "test": 1}
LIMIT_S = 120.0
#: Far below what is reached: this run looks for what is broken, not for what got worse.
LEAST_TOP_5 = 0.5


def smoke(*, work: Path, python: Path, jobs: int) -> int:
    """Run them; 0 if all could be made again and the plugin behaved, else 1."""
    rows: list[Row] = []
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=follow_parent) as pool:
        for measured in pool.map(partial(_measured, work=work, python=python), PACKAGES):
            for row in measured:
                _print(row)
            rows += measured
    n_wrong = sum(bool(row.troubles) for row in rows)
    n_wanted = len(PACKAGES) * sum(COUNTS.values())
    code = [row.places["posterior"] for row in rows if row.kind in {"regression", "edit"}]
    top = score(code).top
    print(
        f"{len(rows)} of {n_wanted} faults made again, {n_wrong} with trouble; "
        f"regressions and edits: Top-1 {top[0]:.0%}, Top-5 {top[2]:.0%}; "
        f"{mean(row.ratio for row in rows):.1f} times the plain run; "
        f"{sum(row.n_refused for row in rows)} re-runs refused"
    )
    return int(n_wrong > 0 or len(rows) < n_wanted or top[2] < LEAST_TOP_5)


def _measured(name: str, *, work: Path, python: Path) -> list[Row]:
    """What came of the faults of one package."""
    workspace = prepare(KNOWN[name], work=work, python=python)
    install_plugin(workspace, CHECKOUT)
    try:
        return [
            measure(workspace, fault, options=(), limit_s=LIMIT_S)
            for fault in remade(workspace, COUNTS, work=work)
        ]
    finally:
        workspace.restore()


def _print(row: Row) -> None:
    where = row.places["posterior"]
    rank = "-" if where is None else f"{where.rank:g}"
    print(f"{rank:>6}  {row.subject} {row.kind} {row.where} ({row.seconds:.1f} s)", flush=True)
    for trouble in row.troubles:
        print(f"        TROUBLE: {trouble}")
