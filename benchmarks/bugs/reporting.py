"""The tables of real bugs: how often they are found, and what each kind of evidence brings."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from benchmarks.bugs import fixed
from benchmarks.bugs.rows import rows
from benchmarks.bugs.shown import table
from benchmarks.faults.replay import Setting
from benchmarks.faults.reporting import SOURCES, claims, orderings
from benchmarks.faults.scoring import PRIOR, interval, judge, summary, top

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmarks.faults.scoring import Judged


@cache
def judged_part(part: str, setting: Setting) -> Sequence[Judged]:
    """Every bug of one part, judged under ``setting``."""
    return [judge(name, row, setting) for name, row in rows(part)]


def report(part: str, *, ablation: bool = False) -> None:
    """Print everything about one part."""
    judged = judged_part(part, Setting())
    print(f"{part}: {len(judged)} bugs of {len({item.package for item in judged})} repositories\n")
    print("\n".join(orderings(judged)))
    print("\n### As a user runs them\n")
    print("\n".join(table(part)))
    print("\n### Fixes\n")
    print("\n".join(fixed.table(part)))
    print("\n### Claims\n")
    print("\n".join(claims(judged, {"all": judged})))
    if ablation:
        print("\n### Before inspections, without one kind of evidence\n")
        print("\n".join(_ablation(part)))


def _ablation(part: str) -> Iterator[str]:
    yield "| without | Top-1 | Top-3 | Top-5 | Top-10 |"
    yield "|---|---|---|---|---|"
    for without in ("", *SOURCES[:7]):
        judged = judged_part(part, Setting(without=frozenset({without} - {""})))
        shares = " | ".join(f"{share:.1f}" for share in summary(judged, PRIOR)[:4])
        first = interval(judged, top(PRIOR, 1))
        yield f"| {without or 'nothing'} | {shares} | {first} |"
