"""Plant faults in published packages and see whether the plugin finds them.

    python benchmarks/real_suites.py [NAME==VERSION ...] [--faults N] [--seed S] ...

``benchmarks/README.md`` says what is done and what the figures mean.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NoReturn

CHECKOUT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(CHECKOUT))

from benchmarks.suites.extremes import Kill, kill_test, overhead  # noqa: E402 - found by the line above
from benchmarks.suites.measuring import RANKINGS, Row, Rows, install_plugin, measure  # noqa: E402
from benchmarks.suites.planting import PlantedFault, plant  # noqa: E402
from benchmarks.suites.scores import TOP, score  # noqa: E402
from benchmarks.suites.subjects import KNOWN, Subject, subject_of  # noqa: E402
from benchmarks.suites.workspace import Workspace, prepare, write_json  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Sequence

HEAD = f"{'rank':>6} {'of':>4} {'tied':>4} {'insp':>4} {'sec':>6} {'ratio':>6}  fault"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; 0 if nothing happened that must not, 1 if it did, 130 on Ctrl-C."""
    given = _arguments().parse_args(argv)
    if given.work.resolve().is_relative_to(CHECKOUT):
        raise SystemExit(f"--work={given.work} is inside the checkout: give a folder outside it.")
    signal.signal(signal.SIGTERM, _interrupt)
    rows: list[Row] = []
    kills: list[Kill] = []
    try:
        for subject in _subjects(given):
            _one_subject(subject, given, rows, kills)
    except KeyboardInterrupt:
        print("\nInterrupted. The same command goes on from here.")
        return 130
    finally:
        if rows:
            _print_summary(rows)
            _write(rows, given.json)
    return int(any(row.troubles for row in rows) or not all(kill.is_clean for kill in kills))


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    add("releases", nargs="*", metavar="NAME==VERSION", help=f"known: {', '.join(KNOWN)}")
    add("--older", nargs="+", default=(), metavar="NAME==VERSION", help="take old bodies from it")
    add("--faults", type=int, default=5, metavar="N", help="planted in each package (5)")
    add("--seed", type=int, default=1, metavar="S", help="decides which faults are drawn (1)")
    add("--work", type=Path, default=cache / "bayesloc-real-suites", metavar="DIR")
    add("--python", type=Path, default=Path(sys.executable), metavar="PY")
    add("--plugin", type=Path, default=CHECKOUT, metavar="DIR", help="checkout that is measured")
    add("--json", type=Path, metavar="OUT", help="write all rows and the scores there")
    add("--option", action="append", default=[], help="given to pytest with --bayesloc; repeatable")
    add("--limit", type=float, default=600.0, metavar="SECONDS", help="for one run (600)")
    add("--fresh", action="store_true", help="measure again what was measured")
    add("--plant-only", action="store_true", help="don't run the plugin")
    add("--kill-test", action="store_true", help="kill runs in the middle of the inspections")
    add("--overhead", type=int, default=0, metavar="N", help="CPU of collecting, N paired runs")
    return parser


def _subjects(given: argparse.Namespace) -> list[Subject]:
    return [subject_of(release, tuple(given.older)) for release in given.releases or KNOWN]


def _one_subject(
    subject: Subject, given: argparse.Namespace, rows: list[Row], kills: list[Kill]
) -> None:
    """Do all that was asked for with one subject; what was found is added to the lists."""
    work = given.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    # No resolve(): the interpreter of an environment is a link, and means it only by that name.
    workspace = prepare(subject, work=work, python=given.python.absolute())
    baseline = workspace.known
    print(
        f"\n{subject}: {len(baseline.passing)} tests pass in {baseline.seconds:.1f} s, "
        f"{len(baseline.deselected)} left out",
        flush=True,
    )
    faults = _planted(workspace, given.faults, given.seed, work)
    print(f"  {len(faults)} faults planted", flush=True)
    if given.plant_only:
        return
    fingerprint = install_plugin(workspace, given.plugin.resolve())
    if given.overhead:
        print(f"  {overhead(workspace, given.overhead)}", flush=True)
    known = Rows(workspace.root / "rows.json", " ".join([fingerprint, *given.option]))
    n_before = len(rows)
    _measure_all(workspace, faults, known, given, rows)
    measured = rows[n_before:]
    if given.kill_test and measured:
        longest = max(measured, key=lambda row: len(row.inspections_cpu_s))
        fault = faults[measured.index(longest)]
        for kill in kill_test(workspace, fault, given.option, given.limit):
            kills.append(kill)
            print(f"  {kill.text}", flush=True)


def _planted(workspace: Workspace, n_faults: int, seed: int, work: Path) -> list[PlantedFault]:
    """Half regressions, as far as there are any, the rest single edits."""
    regressions = plant(workspace, {"regression": (n_faults + 1) // 2}, seed=seed, work=work)
    n_left = n_faults - len(regressions)
    return [*regressions, *plant(workspace, {"edit": n_left}, seed=seed, work=work)]


def _measure_all(
    workspace: Workspace,
    faults: Sequence[PlantedFault],
    known: Rows,
    given: argparse.Namespace,
    rows: list[Row],
) -> None:
    print(HEAD)
    try:
        for fault in faults:
            row = None if given.fresh else known.find(fault)
            if row is None:
                row = measure(workspace, fault, options=given.option, limit_s=given.limit)
                known.add(fault, row)
            rows.append(row)
            _print_row(row)
    finally:
        workspace.restore()


def _print_row(row: Row) -> None:
    where = row.places["posterior"]
    rank, of, tied = ("-", "-", "-")
    if where is not None:
        rank, of, tied = f"{where.rank:g}", str(where.n_rows), str(where.last - where.first + 1)
    print(
        f"{rank:>6} {of:>4} {tied:>4} {len(row.inspections_cpu_s):>4} {row.seconds:>6.1f} "
        f"{row.ratio:>6.1f}  {row.where} ({row.kind}: {row.how}; {row.n_failing} failing)",
        flush=True,
    )
    if row.refusal:
        print(f"{'':8}REFUSED: {row.refusal}")
    for trouble in row.troubles:
        print(f"{'':8}TROUBLE: {trouble}")


def _print_summary(rows: Sequence[Row]) -> None:
    kinds = sorted({row.kind for row in rows})
    for name in ("all", *kinds) if len(kinds) > 1 else ("all",):
        chosen = [row for row in rows if name in {"all", row.kind}]
        print(f"\n{name}: {len(chosen)} faults, ties by expectation, % of faults")
        tops = " ".join(f"{f'Top-{k}':>7}" for k in TOP)
        print(f"  {'ordered by':<16} {tops} {'mean rank':>10} {'MRR':>6} {'missing':>8}")
        for ranking in RANKINGS:
            got = score([row.places[ranking] for row in chosen])
            shares = " ".join(f"{100 * share:>7.1f}" for share in got.top)
            last = f"{got.mean_rank:>10.2f} {got.mrr:>6.3f} {got.n_missing:>8}"
            print(f"  {ranking:<16} {shares} {last}")
    cpu_ms = [1000 * cpu_s for row in rows for cpu_s in row.inspections_cpu_s]
    fresh = [
        row.fresh_cpu_s / row.inspections_cpu_s[0]
        for row in rows
        if row.fresh_cpu_s and row.inspections_cpu_s[0]
    ]
    print(
        f"\nmedians: {median(len(row.inspections_cpu_s) for row in rows):g} inspections a fault, "
        f"{median(cpu_ms or [0]):.1f} CPU ms an inspection (a fresh pytest of the same tests takes "
        f"{median(fresh or [0]):.0f} times that), "
        f"{median(row.seconds for row in rows):.1f} s, "
        f"{median(row.ratio for row in rows):.1f} times the plain run"
    )
    n_refused = sum(bool(row.refusal) for row in rows)
    n_troubled = sum(bool(row.troubles) for row in rows)
    print(f"{n_refused} refused, {n_troubled} with trouble")


def _write(rows: Sequence[Row], to: Path | None) -> None:
    if to is not None:
        scores = {name: asdict(score([row.places[name] for row in rows])) for name in RANKINGS}
        write_json(to, {"scores": scores, "rows": [asdict(row) for row in rows]})


def _interrupt(*_: object) -> NoReturn:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
