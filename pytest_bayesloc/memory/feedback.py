"""Books on what helped: advice, verdicts of language models, patches, fix tools, and fixes by hand.

Each function works on a ledger in a transaction.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime

from pytest_bayesloc.domain.bug import Run
from pytest_bayesloc.domain.evidence import OUTCOMES, Outcome
from pytest_bayesloc.domain.fixing import FixPattern, ToolRecord
from pytest_bayesloc.memory.ledger import Ledger
from pytest_bayesloc.memory.schema import row, written
from pytest_bayesloc.memory.store import Connection

APPLIED, UNDONE, BROKEN = "applied", "undone", "broken"
BROKEN_WITHIN = 10  # runs after a fix was applied
MAX_EXAMPLE = 4_000

# -- advice


def add_advice(
    ledger: Ledger,
    bug: int,
    run: str,
    suggested: Sequence[str],
    loops: Sequence[str],
    *,
    shown: bool,
) -> None:
    """Keep the advice on a bug: the functions that fixed similar bugs, and the kinds of loops."""
    own = {"bug": bug, "run": run, "was_shown": shown, "helped": None}
    ledger.put("advice", suggested=suggested, loops=loops, **own)


def judge_advice(ledger: Ledger, bug: int, fixed: Collection[str]) -> None:
    """Mark the advice on a bug that named one of the ``fixed`` functions."""
    for run, listed in ledger.db.rows("SELECT run, suggested FROM advice WHERE bug = ?", bug):
        suggested = json.loads(listed)
        if suggested:
            helped = not set(suggested).isdisjoint(fixed)
            ledger.db.update("advice", {"helped": helped}, bug=bug, run=run)


# -- verdicts of language models


def add_verdicts(
    ledger: Ledger, bug: int, guide: str, verdicts: Iterable[tuple[str, str, Outcome]]
) -> None:
    """Keep this run's verdicts of the model ``guide`` in place of earlier ones on the bug.

    Each is its use, the location as ``file qualname``, and the verdict.
    """
    rows = {(use, where): verdict for use, where, verdict in verdicts}
    name = written("judged.guide", guide)
    for use in {use for use, _ in rows}:
        change = "DELETE FROM judged WHERE bug = ? AND guide = ? AND use = ?"
        ledger.db.change(change, bug, name, use)
    for (use, where), verdict in rows.items():
        ledger.put("judged", bug=bug, guide=guide, use=use, location=where, verdict=verdict)


def judge_verdicts(ledger: Ledger, bug: int, fixed: Collection[str]) -> None:
    """Mark which of the judged locations had to be ``fixed``."""
    names = [written("judged.location", name) for name in fixed]
    change = "UPDATE judged SET was_faulty = (location IN ?) WHERE bug = ?"
    ledger.db.change(change, names, bug)


def verdict_counts(connection: Connection, guide: str) -> dict[tuple[str, Outcome, bool], int]:
    """Count a model's verdicts on faulty and on clean locations, by use; of all projects."""
    asked = """SELECT use, verdict, was_faulty, count(*) FROM judged
        WHERE guide = ? AND was_faulty IS NOT NULL GROUP BY use, verdict, was_faulty"""
    return {
        (use, OUTCOMES[verdict], bool(was_faulty)): n
        for use, verdict, was_faulty, n in connection.rows(asked, written("judged.guide", guide))
        if verdict in OUTCOMES
    }


# -- rejected patches


def rejections(ledger: Ledger, state: str) -> dict[str, str]:
    """Return per patch that failed on ``state`` of the code its outcome."""
    asked = """SELECT patch, outcome FROM rejected JOIN bug ON bug.seq = rejected.bug
        WHERE rejected.state = ? AND bug.project = ?"""
    return dict(ledger.db.rows(asked, state, ledger.project))


def add_rejections(ledger: Ledger, bug: int, state: str, new: Mapping[str, str]) -> None:
    """Keep the patches that failed on ``state``; those of other states are deleted."""
    ledger.db.change("DELETE FROM rejected WHERE bug = ? AND state <> ?", bug, state)
    known = set(ledger.db.column("SELECT patch FROM rejected WHERE bug = ?", bug))
    rows = [
        {"bug": bug, "patch": patch, "state": state, "outcome": outcome}
        for patch, outcome in new.items()
        if patch not in known
    ]
    ledger.db.insert_each("rejected", rows)


# -- fix tools


def tool_records(connection: Connection) -> dict[str, ToolRecord]:
    """Return the record of each tool that was ever tried, over all projects."""
    n_with = "sum(CASE WHEN {} THEN 1 ELSE 0 END)"
    columns = {
        "n_bugs": "count(*)",
        "n_verified": n_with.format("n_verified > 0"),
        "n_applied": n_with.format(f"fate = '{APPLIED}'"),
        "n_undone": n_with.format(f"fate = '{UNDONE}'"),
        "n_broken": n_with.format(f"fate = '{BROKEN}'"),
        "last_used": "substr(max(made_at), 1, 10)",
    }
    rows = connection.rows(
        f"SELECT tool, {', '.join(columns.values())} FROM tool_use GROUP BY tool"
    )
    return {tool: ToolRecord(**dict(zip(columns, values, strict=True))) for tool, *values in rows}


def add_tries(
    ledger: Ledger,
    bug: int,
    run: Run,
    tried: Mapping[str, tuple[int, int]],
    functions: Mapping[str, Sequence[str]],
) -> None:
    """Keep the results of tools for a bug in this run.

    Per tool, ``tried`` has the candidates that were run, and those that were verified; with a
    verified fix, ``functions`` has those that it changes.
    """
    for tool, (n, n_verified) in tried.items():
        values = row(
            "tool_use",
            bug=bug,
            tool=tool,
            run=run.number,
            n_tried=n,
            n_verified=n_verified,
            functions=tuple(functions.get(tool, ())),
            made_at=run.made_at,
        )
        own = {name: values.pop(name) for name in ("bug", "tool")}
        if not ledger.db.update("tool_use", values, **own):
            ledger.db.insert("tool_use", {**own, **values, "fate": ""})


def note_fate(ledger: Ledger, tool: str, functions: Collection[str], fate: str) -> None:
    """Mark the last fix of ``tool`` for one of ``functions`` as applied or undone."""
    name = written("tool_use.tool", tool)
    asked = """SELECT bug, functions FROM tool_use
        WHERE tool = ? AND n_verified > 0 ORDER BY made_at DESC"""
    for bug, changed in ledger.db.rows(asked, name):
        if not set(functions).isdisjoint(json.loads(changed)):
            ledger.db.update("tool_use", {"fate": fate}, bug=bug, tool=name)
            return


def note_broken(
    ledger: Ledger, run: int, tests: Collection[str], suspects: Collection[str]
) -> list[str]:
    """Mark applied fixes after which their test fails again in what they changed.

    The run is by its number, the ``suspects`` are as ``file qualname``.

    Returns:
        The tools that made them.
    """
    asked = "SELECT bug, tool, functions FROM tool_use WHERE fate = ? AND run < ? AND run >= ?"
    found = []
    for bug, tool, functions in ledger.db.rows(asked, APPLIED, run, run - BROKEN_WITHIN):
        known = ledger.db.column("SELECT node_id FROM test WHERE bug = ?", bug)
        is_same_test = not set(tests).isdisjoint(known)
        if is_same_test and not set(suspects).isdisjoint(json.loads(functions)):
            ledger.db.update("tool_use", {"fate": BROKEN}, bug=bug, tool=tool)
            found.append(str(tool))
    return found


# -- fixes by hand


def add_fix_pattern(ledger: Ledger, fix: FixPattern, at: datetime) -> list[FixPattern]:
    """Keep how a bug was fixed.

    Returns:
        All bugs that were fixed so; empty if this one was known, or is the first of its kind.
    """
    values = row("fix_pattern", fix, project=ledger.project, made_at=at)
    values |= {name: values[name][:MAX_EXAMPLE] for name in ("before", "after")}
    asked = """SELECT pattern, bug, error, before, after FROM fix_pattern
        WHERE project = ? AND pattern = ?"""
    known = ledger.db.records(asked, ledger.project, values["pattern"])
    is_cut = len(fix.pattern) > len(values["pattern"])
    if is_cut or fix.bug in {line["bug"] for line in known}:
        return []
    ledger.db.insert("fix_pattern", values)
    earlier = [FixPattern(**line) for line in known]
    return [*earlier, fix] if earlier else []
