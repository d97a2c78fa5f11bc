"""What the comparison with FauxPy prints."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from benchmarks.faults.fauxpy_runs import NOT_INSTALLED, TECHNIQUES, VERSION
from benchmarks.suites.scores import TOP, score

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.faults.fauxpy_runs import Measured
    from benchmarks.faults.side_by_side import Compared
    from benchmarks.suites.scores import Standing

OURS, BEST = "bayesloc", "FauxPy's best"


def print_head(family: str) -> None:
    """The columns of a family's rows."""
    ranks = "".join(f"{name:>12}" for name in (OURS, *TECHNIQUES[family]))
    print(
        f"\n{family} of FauxPy {VERSION}, by function: rank | CPU s | wall s of plain, ours, FauxPy"
    )
    print(f"{ranks} |{'plain':>8}{'ours':>8}{'FauxPy':>9} |{'plain':>8}{'ours':>8}{'FauxPy':>9}")


def print_row(row: Compared) -> None:
    """One fault, and what went wrong with it."""
    places = places_of(row)
    ranks = "".join(f"{_rank(places[name]):>12}" for name in (OURS, *TECHNIQUES[row.family]))
    runs = (row.plain, row.ours, row.theirs)
    cpu, wall = (
        f"{a:>8.1f}{b:>8.1f}{c:>9.1f}"
        for a, b, c in ([ran.cpu_s for ran in runs], [ran.seconds for ran in runs])
    )
    what = f"{row.subject} {row.where} ({row.kind}: {row.how}; {row.n_failing} failing)"
    print(f"{ranks} |{cpu} |{wall}  {what}", flush=True)
    if row.family == "mbfl":
        print(f"{'':14}{_patches(row.ours)} by us, {_patches(row.theirs)} by FauxPy")
    for name, ran in ((OURS, row.ours), ("FauxPy", row.theirs)):
        if ran.trouble:
            print(f"{'':14}{name}: {ran.trouble}")


def places_of(row: Compared) -> dict[str, Standing | None]:
    """Per ranking, where the faulty function stands; FauxPy's best is the best of this fault."""
    found = [where for where in row.theirs.places.values() if where is not None]
    best = min(found, key=lambda where: where.rank, default=None)
    (ours,) = row.ours.places.values()
    return {OURS: ours, **row.theirs.places, BEST: best}


def print_summary(rows: Sequence[Compared], family: str) -> None:
    """Scores, costs and, where FauxPy tries patches too, patches a second."""
    absent = [row for row in rows if row.theirs.trouble.startswith(NOT_INSTALLED)]
    rows = [row for row in rows if row not in absent]
    if absent:
        print(f"\n{family}: {len(absent)} faults left out, FauxPy can't be installed beside them")
    if not rows:
        return
    print(f"\n{family}: {len(rows)} faults, ties by expectation, % of faults")
    _print_scores([places_of(row) for row in rows])
    ranked = [row for row in rows if any(row.theirs.places.values())]
    if 0 < len(ranked) < len(rows):
        print(f"the {len(ranked)} of them that FauxPy ranked:")
        _print_scores([places_of(row) for row in ranked])
    for name, runs in (
        ("plain", [row.plain for row in rows]),
        (OURS, [row.ours for row in rows]),
        ("FauxPy", [row.theirs for row in rows]),
    ):
        times = [ran.cpu_s / row.plain.cpu_s for ran, row in zip(runs, rows, strict=True)]
        print(
            f"  {name:<9} CPU {sum(ran.cpu_s for ran in runs):9.1f} s in all, "
            f"median {median(ran.cpu_s for ran in runs):8.1f} s, {median(times):6.1f} times plain; "
            f"wall median {median(ran.seconds for ran in runs):8.1f} s"
        )
    if family == "mbfl":
        for line in rates(rows):
            print(f"  {line}")


def rates(rows: Sequence[Compared]) -> list[str]:
    """Patches tried per CPU second, over all faults, with what is divided by what."""
    n_ours = sum(row.ours.n_patches for row in rows)
    n_theirs = sum(row.theirs.n_patches for row in rows)
    alone = sum(row.ours.patches_cpu_s for row in rows)
    added = sum(row.ours.cpu_s - row.plain.cpu_s for row in rows)
    theirs = sum(row.theirs.cpu_s - row.plain.cpu_s for row in rows)
    return [
        _rate("bayesloc, CPU of its inspections:", n_ours, alone),
        _rate("bayesloc, CPU of the run less the plain run:", n_ours, added),
        _rate("FauxPy, CPU of the run less the plain run:", n_theirs, theirs),
    ]


def _rate(what: str, n: int, cpu_s: float) -> str:
    rate = f"{n / cpu_s:8.2f}" if cpu_s > 0 else f"{'-':>8}"
    return f"{what:<46} {n:6} patches / {cpu_s:9.2f} s = {rate} a CPU second"


def _print_scores(places: Sequence[Mapping[str, Standing | None]]) -> None:
    tops = " ".join(f"{f'Top-{k}':>7}" for k in TOP)
    print(f"  {'':<14} {tops} {'mean rank':>10} {'MRR':>6} {'missing':>8}")
    for name in places[0] if places else ():
        got = score([each[name] for each in places])
        shares = " ".join(f"{100 * share:>7.1f}" for share in got.top)
        print(f"  {name:<14} {shares} {got.mean_rank:>10.2f} {got.mrr:>6.3f} {got.n_missing:>8}")


def _patches(ran: Measured) -> str:
    return f"{ran.n_patches} patches ({ran.n_lost} told nothing)"


def _rank(where: Standing | None) -> str:
    return "-" if where is None else f"{where.rank:g}/{where.n_rows}"
