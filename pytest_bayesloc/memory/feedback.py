"""Books on what helped: advice, verdicts of language models, patches, fix tools, and fixes by hand.

Each function works on a ledger in a transaction.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, delete, func, insert, select, update

from pytest_bayesloc.domain.bug import Run
from pytest_bayesloc.domain.evidence import OUTCOMES, Outcome
from pytest_bayesloc.domain.fixing import FixPattern, ToolRecord
from pytest_bayesloc.memory.ledger import Ledger
from pytest_bayesloc.memory.schema import ADVICE, BUG, FIX_PATTERN, JUDGED, REJECTED, TEST, TOOL_USE
from pytest_bayesloc.memory.store import row, written

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
    ledger.put(ADVICE, suggested=suggested, loops=loops, **own)


def judge_advice(ledger: Ledger, bug: int, fixed: Collection[str]) -> None:
    """Mark the advice on a bug that named one of the ``fixed`` functions."""
    asked = select(ADVICE.c.run, ADVICE.c.suggested).where(ADVICE.c.bug == bug)
    for run, listed in ledger.db.execute(asked).all():
        suggested = json.loads(listed)
        if suggested:
            where = (ADVICE.c.bug == bug) & (ADVICE.c.run == run)
            helped = not set(suggested).isdisjoint(fixed)
            ledger.db.execute(update(ADVICE).where(where).values(helped=helped))


# -- verdicts of language models


def add_verdicts(
    ledger: Ledger, bug: int, guide: str, verdicts: Iterable[tuple[str, str, Outcome]]
) -> None:
    """Keep this run's verdicts of the model ``guide`` in place of earlier ones on the bug.

    Each is its use, the location as ``file qualname``, and the verdict.
    """
    rows = {(use, where): verdict for use, where, verdict in verdicts}
    own = (JUDGED.c.bug == bug) & (JUDGED.c.guide == written(JUDGED.c.guide, guide))
    for use in {use for use, _ in rows}:
        ledger.db.execute(delete(JUDGED).where(own & (JUDGED.c.use == use)))
    for (use, where), verdict in rows.items():
        ledger.put(JUDGED, bug=bug, guide=guide, use=use, location=where, verdict=verdict)


def judge_verdicts(ledger: Ledger, bug: int, fixed: Collection[str]) -> None:
    """Mark which of the judged locations had to be ``fixed``."""
    is_hit = JUDGED.c.location.in_([written(JUDGED.c.location, name) for name in fixed])
    ledger.db.execute(update(JUDGED).where(JUDGED.c.bug == bug).values(was_faulty=is_hit))


def verdict_counts(connection: Connection, guide: str) -> dict[tuple[str, Outcome, bool], int]:
    """Count a model's verdicts on faulty and on clean locations, by use; of all projects."""
    is_own = JUDGED.c.guide == written(JUDGED.c.guide, guide)
    asked = (
        select(JUDGED.c.use, JUDGED.c.verdict, JUDGED.c.was_faulty, func.count())
        .where(is_own & JUDGED.c.was_faulty.is_not(None))
        .group_by(JUDGED.c.use, JUDGED.c.verdict, JUDGED.c.was_faulty)
    )
    return {
        (use, OUTCOMES[verdict], bool(was_faulty)): n
        for use, verdict, was_faulty, n in connection.execute(asked)
        if verdict in OUTCOMES
    }


# -- rejected patches


def rejections(ledger: Ledger, state: str) -> dict[str, str]:
    """Return per patch that failed on ``state`` of the code its outcome."""
    asked = (
        select(REJECTED.c.patch, REJECTED.c.outcome)
        .join_from(REJECTED, BUG, BUG.c.seq == REJECTED.c.bug)
        .where(REJECTED.c.state == state, BUG.c.project == ledger.project)
    )
    return {str(patch): str(outcome) for patch, outcome in ledger.db.execute(asked)}


def add_rejections(ledger: Ledger, bug: int, state: str, new: Mapping[str, str]) -> None:
    """Keep the patches that failed on ``state``; those of other states are deleted."""
    of_bug = REJECTED.c.bug == bug
    ledger.db.execute(delete(REJECTED).where(of_bug, REJECTED.c.state != state))
    known = set(ledger.db.execute(select(REJECTED.c.patch).where(of_bug)).scalars())
    rows = [
        {"bug": bug, "patch": patch, "state": state, "outcome": outcome}
        for patch, outcome in new.items()
        if patch not in known
    ]
    if rows:
        ledger.db.execute(insert(REJECTED), rows)


# -- fix tools


def tool_records(connection: Connection) -> dict[str, ToolRecord]:
    """Return the record of each tool that was ever tried, over all projects."""
    use, n = TOOL_USE.c, func.count()
    columns: dict[str, ColumnElement[Any]] = {
        "n_bugs": n,
        "n_verified": n.filter(use.n_verified > 0),
        "n_applied": n.filter(use.fate == APPLIED),
        "n_undone": n.filter(use.fate == UNDONE),
        "n_broken": n.filter(use.fate == BROKEN),
        "last_used": func.substr(func.max(use.made_at), 1, 10),
    }
    rows = connection.execute(select(use.tool, *columns.values()).group_by(use.tool))
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
        name = written(TOOL_USE.c.tool, tool)
        values = row(
            TOOL_USE,
            run=run.number,
            n_tried=n,
            n_verified=n_verified,
            functions=tuple(functions.get(tool, ())),
            made_at=run.made_at,
        )
        own = (TOOL_USE.c.bug == bug) & (TOOL_USE.c.tool == name)
        if not ledger.db.execute(update(TOOL_USE).where(own).values(**values)).rowcount:
            ledger.db.execute(insert(TOOL_USE).values(bug=bug, tool=name, fate="", **values))


def note_fate(ledger: Ledger, tool: str, functions: Collection[str], fate: str) -> None:
    """Mark the last fix of ``tool`` for one of ``functions`` as applied or undone."""
    name = written(TOOL_USE.c.tool, tool)
    asked = (
        select(TOOL_USE.c.bug, TOOL_USE.c.functions)
        .where(TOOL_USE.c.tool == name, TOOL_USE.c.n_verified > 0)
        .order_by(TOOL_USE.c.made_at.desc())
    )
    for bug, changed in ledger.db.execute(asked).all():
        if not set(functions).isdisjoint(json.loads(changed)):
            own = (TOOL_USE.c.bug == bug) & (TOOL_USE.c.tool == name)
            ledger.db.execute(update(TOOL_USE).where(own).values(fate=fate))
            return


def note_broken(
    ledger: Ledger, run: int, tests: Collection[str], suspects: Collection[str]
) -> list[str]:
    """Mark applied fixes after which their test fails again in what they changed.

    The run is by its number, the ``suspects`` are as ``file qualname``.

    Returns:
        The tools that made them.
    """
    asked = select(TOOL_USE.c.bug, TOOL_USE.c.tool, TOOL_USE.c.functions).where(
        TOOL_USE.c.fate == APPLIED, TOOL_USE.c.run < run, TOOL_USE.c.run >= run - BROKEN_WITHIN
    )
    found = []
    for bug, tool, functions in ledger.db.execute(asked).all():
        known = ledger.db.execute(select(TEST.c.node_id).where(TEST.c.bug == bug)).scalars()
        is_same_test = not set(tests).isdisjoint(known)
        if is_same_test and not set(suspects).isdisjoint(json.loads(functions)):
            own = (TOOL_USE.c.bug == bug) & (TOOL_USE.c.tool == tool)
            ledger.db.execute(update(TOOL_USE).where(own).values(fate=BROKEN))
            found.append(str(tool))
    return found


# -- fixes by hand


def add_fix_pattern(ledger: Ledger, fix: FixPattern, at: datetime) -> list[FixPattern]:
    """Keep how a bug was fixed.

    Returns:
        All bugs that were fixed so; empty if this one was known, or is the first of its kind.
    """
    values = row(FIX_PATTERN, fix, project=ledger.project, made_at=at)
    values |= {name: values[name][:MAX_EXAMPLE] for name in ("before", "after")}
    same = FIX_PATTERN.c.pattern == values["pattern"]
    own = (FIX_PATTERN.c.project == ledger.project) & same
    known = ledger.db.execute(select(FIX_PATTERN).where(own)).mappings().all()
    is_cut = len(fix.pattern) > len(values["pattern"])
    if is_cut or fix.bug in {line["bug"] for line in known}:
        return []
    ledger.db.execute(insert(FIX_PATTERN).values(**values))
    names = ("pattern", "bug", "error", "before", "after")
    earlier = [FixPattern(**{name: str(line[name]) for name in names}) for line in known]
    return [*earlier, fix] if earlier else []
