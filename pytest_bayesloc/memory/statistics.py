"""Statistics of the memory: the bugs, the effect of advice, and the knowledge gained."""

from __future__ import annotations

import hashlib
import operator
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from itertools import accumulate
from math import sqrt
from statistics import median
from typing import Any, TypeAlias

from pytest_bayesloc.domain.advice import Estimate, StatisticsRow
from pytest_bayesloc.domain.bug import BugState, TrialOutcome
from pytest_bayesloc.memory.ledger import Ledger
from pytest_bayesloc.memory.schema import IS_FLAKY, tables

Cell: TypeAlias = Callable[[StatisticsRow], str]
Record: TypeAlias = dict[str, Any]  # a row of the database

SCHEMA = "bayesloc-stats/1"
Z = 1.96  # of a 95 % interval
ONE_TAIL_IN = 40
MIN_N = 5  # bugs, below which a share or a median says nothing
A_LOOP = 3  # runs in a row with the same error after an edit, whatever the user calls a loop
#: The parts of the world model.
KNOWN = ("insights", "constraints", "patterns", "observations")


def arm_of(workspace: str, at: datetime) -> str:
    """Draw the arm of an experiment, ``on`` or ``off``, by the checkout and the day.

    Not by the run: a bug that is worked on in both arms says nothing about either.
    """
    drawn = hashlib.sha256(f"{workspace} {at:%Y-%m-%d}".encode()).digest()[0]
    return "off" if drawn % 2 else "on"


@dataclass(frozen=True, slots=True, kw_only=True)
class BugCounts:
    """The counts of one bug.

    Attributes:
        month: In which it began, as ``2026-11``.
        arm: Whether advice was shown in that run: ``on`` or ``off``.
        n_trials: Failed ones.
        n_edits: Runs before which code that its tests execute was edited.
        hours: Until it was fixed; None if it was not.
        n_repeats: Runs with an edit that showed the same error as the run before.
        n_same: Runs of one checkout with one error in a row at most, the first and those after an
            edit.
        warned_at: Of the rows that became a loop, how many runs had shown the error when the user
            was first warned; None if that never was.
        helped: Whether the fix followed the advice; None if nobody can tell.
    """

    month: str
    arm: str
    state: BugState
    n_trials: int
    n_edits: int
    hours: float | None
    n_repeats: int
    n_same: int
    warned_at: int | None
    helped: bool | None


def rows_of(
    bugs: Sequence[BugCounts], gained: Mapping[str, Mapping[str, int]]
) -> list[StatisticsRow]:
    """Sum up bugs by month, by arm where there are two, and in all.

    Per month, ``gained`` has how much was learned of each of ``KNOWN``.
    """
    months = sorted({bug.month for bug in bugs} | gained.keys())
    totals = accumulate((Counter(gained.get(month, {})) for month in months), operator.add)
    known = dict(zip(months, totals, strict=True))
    of_month, of_arm = defaultdict(list), defaultdict(list)
    for bug in bugs:
        of_month[bug.month].append(bug)
        of_arm[bug.arm].append(bug)
    rows = [_row(month, of_month[month], known[month]) for month in months]
    if len(of_arm) > 1:
        rows += [_row(f"advice {arm}", of_arm[arm]) for arm in sorted(of_arm, reverse=True)]
    return [*rows, _row("all", bugs, known[months[-1]])] if months else []


def _row(
    name: str, bugs: Sequence[BugCounts], known: Mapping[str, int] | None = None
) -> StatisticsRow:
    fixed = [bug for bug in bugs if bug.state is BugState.RESOLVED]
    looped = [bug for bug in bugs if bug.n_same >= A_LOOP]
    warned_at = [bug.warned_at for bug in looped if bug.warned_at is not None]
    judged = [bug.helped for bug in fixed if bug.helped is not None]
    return StatisticsRow(
        name=name,
        n_bugs=len(bugs),
        fixed=share(len(fixed), len(bugs)),
        trials=middle(bug.n_trials for bug in fixed),
        hours=middle(bug.hours for bug in fixed if bug.hours is not None),
        edit_runs=middle(bug.n_edits for bug in fixed),
        n_repeats=sum(bug.n_repeats for bug in bugs),
        n_loops=len(looped),
        caught=share(len(warned_at), len(looped)),
        caught_after=middle(warned_at),
        helped=share(sum(judged), len(judged)),
        known={} if known is None else {kind: known.get(kind, 0) for kind in KNOWN},
    )


def share(n: int, of: int) -> Estimate | None:
    """Return a share in [0, 1] with its interval; None of nothing.

    Reference:
        Wilson: Probable inference, the law of succession, and statistical inference. JASA 1927.
    """
    if not of:
        return None
    p, z2 = n / of, Z * Z
    center = (p + z2 / (2 * of)) / (1 + z2 / of)
    half = Z * sqrt(p * (1 - p) / of + z2 / (4 * of * of)) / (1 + z2 / of)
    return Estimate(value=p, low=max(0.0, center - half), high=min(1.0, center + half), n=of)


def middle(values: Iterable[float]) -> Estimate | None:
    """Return the median with its interval from the order of the values.

    It holds for any distribution. Of fewer than six values, it is from the least to the greatest,
    which is less than 95 %.

    Reference:
        Conover: Practical Nonparametric Statistics. Wiley 1999, section 3.2.
    """
    found = sorted(values)
    n = len(found)
    if not n:
        return None
    below, ways, skipped = 1, 1, 0  # of 2**n ways, those with so few values below the median
    while below * ONE_TAIL_IN <= 2**n:
        ways = ways * (n - skipped) // (skipped + 1)
        below, skipped = below + ways, skipped + 1
    first = max(0, skipped - 1)
    return Estimate(value=median(found), low=found[first], high=found[n - 1 - first], n=n)


# -- counted in the database


def bug_counts(ledger: Ledger) -> list[BugCounts]:
    """Count each bug's trials, runs and loops, oldest first."""
    trials = _rows_by_bug(ledger, "trial", "outcome")
    seen = _rows_by_bug(ledger, "sighting", "run", "workspace", "error", "edited")
    advised = _rows_by_bug(ledger, "advice", "run", "loops", "helped", "was_shown")
    asked = """SELECT bug.seq, bug.state, bug.created_at, bug.completed_at, run.arm
        FROM bug LEFT JOIN run ON run.id = bug.run WHERE bug.project = ? ORDER BY bug.seq"""
    found = []
    for bug in ledger.db.records(asked, ledger.project):
        outcomes = [trial["outcome"] for trial in trials[bug["seq"]]]
        began = datetime.fromisoformat(bug["created_at"])
        ended = datetime.fromisoformat(bug["completed_at"]) if bug["completed_at"] else None
        is_fixed = bug["state"] == BugState.RESOLVED.value
        told = advised[bug["seq"]]
        judged = [item["helped"] for item in told if item["helped"] is not None]
        warned = {item["run"] for item in told if item["was_shown"] and item["loops"] != "[]"}
        rows = _error_rows(seen[bug["seq"]])
        looped = [row for row in rows if len(row) >= A_LOOP]
        warned_at = [n for row in looped for n, run in enumerate(row, 1) if run in warned]
        n_edited = sum(item["edited"] != "[]" for item in seen[bug["seq"]])
        found.append(
            BugCounts(
                month=f"{began:%Y-%m}",
                arm=bug["arm"] or "on",
                state=BugState(bug["state"]),
                n_trials=outcomes.count(TrialOutcome.FAILED.value),
                n_edits=n_edited + outcomes.count(TrialOutcome.PASSED.value),
                hours=(ended - began).total_seconds() / 3600 if ended and is_fixed else None,
                n_repeats=sum(len(row) - 1 for row in rows),
                n_same=max(map(len, rows), default=0),
                warned_at=min(warned_at, default=None),
                helped=any(judged) if judged else None,
            )
        )
    return found


def gained(ledger: Ledger) -> dict[str, dict[str, int]]:
    """Count per month what was learned, by the kinds of ``KNOWN``."""
    lessons = """SELECT lesson, min(made_at) FROM trial JOIN bug ON bug.seq = trial.bug
        WHERE bug.project = ? AND lesson <> '' AND outcome = ? GROUP BY lesson"""
    demands = """SELECT demand, min(created_at) FROM bug
        WHERE project = ? AND demand <> '' GROUP BY demand"""
    # A pattern is known since the second of the bugs that failed alike.
    patterns = """SELECT seq, created_at FROM (
            SELECT seq, created_at,
                row_number() OVER (PARTITION BY category, signature ORDER BY seq) AS n
            FROM bug WHERE project = ?) AS alike
        WHERE n = 2"""
    seen = "SELECT text, first_at FROM observation WHERE project = ?"
    flaky = f"""SELECT node_id, min(first_at) FROM outcome WHERE project = ? AND {IS_FLAKY}
        GROUP BY node_id"""
    notes = "SELECT text, min(made_at) FROM note WHERE project = ? GROUP BY text"
    rows, own = ledger.db.rows, ledger.project
    first: dict[str, list[tuple[object, str]]] = {
        "insights": rows(lessons, own, TrialOutcome.PASSED.value),
        "constraints": rows(lessons, own, TrialOutcome.FAILED.value) + rows(demands, own),
        "patterns": rows(patterns, own),
        "observations": rows(seen, own) + rows(flaky, own) + rows(notes, own),
    }
    found: dict[str, dict[str, int]] = {}
    for kind, times in first.items():
        for month, n in Counter(time[:7] for time in dict(times).values()).items():
            found.setdefault(month, {})[kind] = n
    return found


def _rows_by_bug(ledger: Ledger, table: str, *names: str) -> dict[int, list[Record]]:
    """Return columns of ``table`` by the project's bugs, in the order of the rows."""
    found: dict[int, list[Record]] = defaultdict(list)
    keys = [name for name, column in tables()[table].items() if column.is_key]
    asked = f"""SELECT bug, {", ".join(names)} FROM {table}
        WHERE bug IN (SELECT seq FROM bug WHERE project = ?) ORDER BY {", ".join(keys)}"""
    for row in ledger.db.records(asked, ledger.project):
        found[row["bug"]].append(row)
    return found


def _error_rows(seen: Sequence[Record]) -> list[list[str]]:
    """Group consecutive runs of a checkout with one error: the first, and those after an edit."""
    found: list[list[str]] = []
    last: dict[str, tuple[str, list[str]]] = {}
    for item in seen:
        error, row = last.get(item["workspace"], ("", []))
        if row and item["edited"] == "[]":
            continue
        if item["error"] != error or not row:
            row = []
            found.append(row)
        row.append(str(item["run"]))
        last[item["workspace"]] = (item["error"], row)
    return found


def statistics_of(ledger: Ledger) -> list[StatisticsRow]:
    """Sum up a project's bugs by month, by arm where there are two, and in all."""
    return rows_of(bug_counts(ledger), gained(ledger))


# -- as text


def stats_lines(rows: Sequence[StatisticsRow]) -> list[str]:
    """Return three tables: the bugs, the effect of the advice, and the knowledge."""
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


def stats_json(rows: Sequence[StatisticsRow]) -> dict[str, object]:
    """Return the same as a document; shares in [0, 1]."""
    return {"schema": SCHEMA, "rows": [asdict(row) for row in rows]}


def _cells(rows: Sequence[StatisticsRow], columns: Mapping[str, Cell]) -> list[tuple[str, ...]]:
    return [(row.name, *(shown(row) for shown in columns.values())) for row in rows]


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join((row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:]))) for row in rows
    ]


def _shown(found: Estimate | None, form: str = ".2g") -> str:
    if found is None:
        return "-"
    if found.n < MIN_N:
        return f"too early ({found.n})"
    return f"{found.value:{form}} ({found.low:{form}} to {found.high:{form}})"


BUGS: Mapping[str, Cell] = {
    "bugs": lambda row: str(row.n_bugs),
    "fixed": lambda row: _shown(row.fixed, ".0%"),
    "failed trials": lambda row: _shown(row.trials),
    "edit runs": lambda row: _shown(row.edit_runs),
    "hours": lambda row: _shown(row.hours),
}
WORTH: Mapping[str, Cell] = {
    "same error": lambda row: str(row.n_repeats),
    "loops": lambda row: str(row.n_loops),
    "caught": lambda row: _shown(row.caught, ".0%"),
    "after errors": lambda row: _shown(row.caught_after),
    "advice helped": lambda row: _shown(row.helped, ".0%"),
}
