"""What became of fix tools' work, and how people mend bugs by hand."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import and_, insert, select, update

from pytest_bayesloc.domain.fixing import ToolRecord
from pytest_bayesloc.memory.ledger import Ledger
from pytest_bayesloc.memory.schema import HABIT, TEST, TOOL_USE
from pytest_bayesloc.memory.sightings import Run
from pytest_bayesloc.memory.store import dumps, safe

if TYPE_CHECKING:
    from sqlalchemy import Connection

APPLIED, UNDONE, BROKEN = "applied", "undone", "broken"
BROKEN_WITHIN = 10  # runs after a fix was applied
MAX_PATTERN = 600
MAX_EXAMPLE = 4_000


def records(connection: Connection) -> dict[str, ToolRecord]:
    """The record of each tool that was ever tried, over all projects."""
    rows = connection.execute(
        select(TOOL_USE.c.tool, TOOL_USE.c.n_verified, TOOL_USE.c.fate, TOOL_USE.c.made_at)
    ).all()
    counts: dict[str, Counter[str]] = {}
    last: dict[str, str] = {}
    for tool, n_verified, fate, made_at in rows:
        counted = counts.setdefault(tool, Counter())
        counted.update(("bugs", str(fate)))
        counted["verified"] += n_verified > 0
        last[tool] = max(last.get(tool, ""), str(made_at)[:10])
    return {
        tool: ToolRecord(
            n_bugs=counted["bugs"],
            n_verified=counted["verified"],
            n_applied=counted[APPLIED],
            n_undone=counted[UNDONE],
            n_broken=counted[BROKEN],
            last_used=last[tool],
        )
        for tool, counted in counts.items()
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Habit:
    """How a person mended a bug.

    Attributes:
        pattern: Before and after, as JSON.
        bug: Its id.
        error: Type of the exception.
        before: The function, then.
        after: The function, now.
    """

    pattern: str
    bug: str
    error: str
    before: str
    after: str


class ToolBook:
    """Keeps the books of a ledger's fix tools.

    Args:
        ledger: In a transaction.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._db = ledger.db
        self._project = ledger.project

    def add_tries(
        self,
        bug: int,
        run: Run,
        tried: Mapping[str, tuple[int, int]],
        functions: Mapping[str, Sequence[str]],
    ) -> None:
        """Keep how tools fared with a bug; what is known of them and the bug is added to.

        Args:
            bug: Number in the store.
            run: This one.
            tried: Per tool, candidates that were run, and those that were verified.
            functions: Per tool with a verified fix, what it changes.
        """
        for tool, (n, n_verified) in tried.items():
            name = safe(tool)[:200]
            own = and_(TOOL_USE.c.bug == bug, TOOL_USE.c.tool == name)
            values = {
                "run": run.number,
                "n_tried": n,
                "n_verified": n_verified,
                "functions": dumps(functions.get(tool, ())),
                "made_at": run.made_at.isoformat(),
            }
            if not self._db.execute(update(TOOL_USE).where(own).values(**values)).rowcount:
                self._db.execute(insert(TOOL_USE).values(bug=bug, tool=name, fate="", **values))

    def note_fate(self, tool: str, functions: Collection[str], fate: str) -> bool:
        """Note that the last fix of ``tool`` for one of ``functions`` was applied or undone."""
        asked = (
            select(TOOL_USE.c.bug, TOOL_USE.c.functions)
            .where(TOOL_USE.c.tool == safe(tool)[:200], TOOL_USE.c.n_verified > 0)
            .order_by(TOOL_USE.c.made_at.desc())
        )
        for bug, changed in self._db.execute(asked).all():
            if not set(functions).isdisjoint(json.loads(changed)):
                own = and_(TOOL_USE.c.bug == bug, TOOL_USE.c.tool == safe(tool)[:200])
                self._db.execute(update(TOOL_USE).where(own).values(fate=fate))
                return True
        return False

    def note_broken(self, run: int, tests: Collection[str], suspects: Collection[str]) -> list[str]:
        """Note the applied fixes after which their test fails in what they changed; the tools.

        Args:
            run: Number of this run.
            tests: Node ids that fail.
            suspects: The likeliest locations, as ``file qualname``.
        """
        asked = select(TOOL_USE.c.bug, TOOL_USE.c.tool, TOOL_USE.c.functions).where(
            TOOL_USE.c.fate == APPLIED,
            TOOL_USE.c.run < run,
            TOOL_USE.c.run >= run - BROKEN_WITHIN,
        )
        found = []
        for bug, tool, functions in self._db.execute(asked).all():
            known = self._db.execute(select(TEST.c.node_id).where(TEST.c.bug == bug)).scalars()
            is_same_test = not set(tests).isdisjoint(known)
            if is_same_test and not set(suspects).isdisjoint(json.loads(functions)):
                own = and_(TOOL_USE.c.bug == bug, TOOL_USE.c.tool == tool)
                self._db.execute(update(TOOL_USE).where(own).values(fate=BROKEN))
                found.append(str(tool))
        return found

    def add_habit(self, habit: Habit, at: str) -> list[Habit]:
        """Keep how a bug was mended; all bugs that were mended so, if that is new.

        Empty where it is known already, or is the first of its kind.
        """
        pattern = safe(habit.pattern)
        own = and_(HABIT.c.project == self._project, HABIT.c.pattern == pattern)
        known = self._db.execute(select(HABIT).where(own)).mappings().all()
        if len(pattern) > MAX_PATTERN or habit.bug in {row["bug"] for row in known}:
            return []
        self._db.execute(
            insert(HABIT).values(
                project=self._project,
                pattern=pattern,
                bug=habit.bug,
                error=safe(habit.error)[:80],
                before=safe(habit.before)[:MAX_EXAMPLE],
                after=safe(habit.after)[:MAX_EXAMPLE],
                made_at=at,
            )
        )
        names = ("pattern", "bug", "error", "before", "after")
        earlier = [Habit(**{name: str(row[name]) for name in names}) for row in known]
        return [*earlier, habit] if earlier else []
