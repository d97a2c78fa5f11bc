"""What the memory is worth, as lines and as JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict

from pytest_bayesloc.memory.statistics import KNOWN, Estimate, Row

Column = Callable[[Row], str]

SCHEMA = "bayesloc-stats/1"


def stats_lines(rows: Sequence[Row]) -> list[str]:
    """Three tables: what became of the bugs, what the advice was worth, and what is known."""
    if not rows:
        return ["no bugs are remembered yet"]
    known = [(row.name, *(str(row.known[kind]) for kind in KNOWN)) for row in rows if row.known]
    return [
        *_table([("", *BUGS), *_cells(rows, BUGS)]),
        "",
        *_table([("", *WORTH), *_cells(rows, WORTH)]),
        "",
        *_table([("known", *KNOWN), *known]),
    ]


def stats_json(rows: Sequence[Row]) -> dict[str, object]:
    """The same as a document; shares in [0, 1]."""
    return {"schema": SCHEMA, "rows": [asdict(row) for row in rows]}


def _cells(rows: Sequence[Row], columns: Mapping[str, Column]) -> list[tuple[str, ...]]:
    return [(row.name, *(shown(row) for shown in columns.values())) for row in rows]


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join((row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:]))) for row in rows
    ]


def _percent(found: Estimate | None) -> str:
    if found is None:
        return "-"
    return f"{found.value:.0%} ({found.low:.0%} to {found.high:.0%})"


def _number(found: Estimate | None) -> str:
    if found is None:
        return "-"
    return f"{found.value:.3g} ({found.low:.3g} to {found.high:.3g})"


BUGS: Mapping[str, Column] = {
    "bugs": lambda row: str(row.n_bugs),
    "mended": lambda row: _percent(row.mended),
    "failed trials": lambda row: _number(row.trials),
    "edit runs": lambda row: _number(row.edit_runs),
    "hours": lambda row: _number(row.hours),
}
WORTH: Mapping[str, Column] = {
    "same error": lambda row: str(row.n_repeats),
    "loops": lambda row: str(row.n_loops),
    "caught": lambda row: _percent(row.caught),
    "after errors": lambda row: _number(row.caught_after),
    "advice helped": lambda row: _percent(row.helped),
}
