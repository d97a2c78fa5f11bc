"""What the memory is worth, as lines and as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from pytest_bayesloc.memory.statistics import KNOWN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_bayesloc.memory.statistics import Estimate, Row

SCHEMA = "bayesloc-stats/1"


def stats_lines(rows: Sequence[Row]) -> list[str]:
    """Three tables: what became of the bugs, what the advice was worth, and what is known."""
    if not rows:
        return ["no bugs are remembered yet"]
    return [*_bugs(rows), "", *_worth(rows), "", *_known(rows)]


def stats_json(rows: Sequence[Row]) -> dict[str, object]:
    """The same as a document; shares in [0, 1]."""
    return {"schema": SCHEMA, "rows": [asdict(row) for row in rows]}


def _bugs(rows: Sequence[Row]) -> list[str]:
    head = ("", "bugs", "mended", "failed trials", "edit runs", "hours")
    body = [
        (
            row.name,
            str(row.n_bugs),
            _percent(row.mended),
            _number(row.trials),
            _number(row.edit_runs),
            _number(row.hours),
        )
        for row in rows
    ]
    return _table([head, *body])


def _worth(rows: Sequence[Row]) -> list[str]:
    head = ("", "same error", "loops", "caught", "after errors", "advice helped")
    body = [
        (
            row.name,
            str(row.n_repeats),
            str(row.n_loops),
            _percent(row.caught),
            _number(row.caught_after),
            _percent(row.helped),
        )
        for row in rows
    ]
    return _table([head, *body])


def _known(rows: Sequence[Row]) -> list[str]:
    body = [(row.name, *(str(row.known[kind]) for kind in KNOWN)) for row in rows if row.known]
    return _table([("known", *KNOWN), *body])


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            (row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])),
        )
        for row in rows
    ]


def _percent(found: Estimate | None) -> str:
    if found is None:
        return "-"
    return f"{found.value:.0%} ({found.low:.0%} to {found.high:.0%})"


def _number(found: Estimate | None) -> str:
    if found is None:
        return "-"
    return f"{found.value:.3g} ({found.low:.3g} to {found.high:.3g})"
