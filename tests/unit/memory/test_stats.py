from __future__ import annotations

from dataclasses import replace
from typing import Any

from pytest_bayesloc.domain.advice import Estimate, StatisticsRow
from pytest_bayesloc.memory.statistics import stats_json, stats_lines

HALF = Estimate(value=0.5, low=0.25, high=0.75, n=12)
TWO = Estimate(value=2, low=1, high=4.25, n=6)
KNOWN = {"insights": 3, "constraints": 12, "patterns": 0, "observations": 1}
ROW = StatisticsRow(
    name="2026-10", n_bugs=12, fixed=HALF, trials=TWO,
    hours=Estimate(value=0.123456, low=0.1, high=30, n=6), edit_runs=TWO, n_repeats=7, n_loops=0,
    caught=None, caught_after=None, helped=HALF, known=KNOWN,
)  # fmt: skip
ARM = StatisticsRow(
    name="advice on", n_bugs=1, fixed=None, trials=None, hours=None, edit_runs=None, n_repeats=0,
    n_loops=0, caught=None, caught_after=None, helped=None,
)  # fmt: skip


def test_lines_are_three_tables_whose_columns_stand_below_each_other() -> None:
    assert stats_lines([ROW, ARM]) == [
        "           bugs             fixed  failed trials     edit runs             hours",
        "2026-10      12  50% (25% to 75%)   2 (1 to 4.2)  2 (1 to 4.2)  0.12 (0.1 to 30)",
        "advice on     1                 -              -             -                 -",
        "",
        "           same error  loops  caught  after errors     advice helped",
        "2026-10             7      0       -             -  50% (25% to 75%)",
        "advice on           0      0       -             -                 -",
        "",
        "known    insights  constraints  patterns  observations",
        "2026-10         3           12         0             1",
    ]


def test_figures_of_a_few_bugs_are_too_early() -> None:
    row = replace(ROW, fixed=replace(HALF, n=2), hours=Estimate(value=0.005, low=0, high=1, n=4))

    line = stats_lines([row])[1]

    assert "50%" not in line
    assert "too early (2)" in line
    assert line.endswith("too early (4)")


def test_document_holds_the_same() -> None:
    document: dict[str, Any] = stats_json([ROW])

    assert document["schema"] == "bayesloc-stats/1"
    (row,) = document["rows"]
    assert row["fixed"] == {"value": 0.5, "low": 0.25, "high": 0.75, "n": 12}
    assert (row["caught"], row["known"]) == (None, KNOWN)


def test_memory_without_bugs_says_so() -> None:
    assert stats_lines([]) == ["no bugs are remembered yet"]
