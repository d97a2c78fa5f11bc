"""Reads and writes what the memory knows of fix tools, and learns tools from people's fixes."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.errors import StoreError
from pytest_bayesloc.pipeline.place import FOLDER, open_memory, own_folder, replace_text

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from pathlib import Path

    from pytest_bayesloc.domain.bug import Run
    from pytest_bayesloc.domain.fixing import ToolRecord
    from pytest_bayesloc.fixes.search import SearchResult
    from pytest_bayesloc.history.changes import Changes
    from pytest_bayesloc.memory.episodes import Event
    from pytest_bayesloc.memory.ledger import Ledger

LEARNED = f"{FOLDER}/fixes/learned"
N_SUSPECTS = 5


def tool_records(rootdir: Path, told: str, note: Callable[[str], None]) -> dict[str, ToolRecord]:
    """The record of each tool; none where the memory is off, not there yet or can't be read."""
    try:
        with open_memory(rootdir, told, note, write=False) as ledger:
            if ledger is None:
                return {}
            from pytest_bayesloc.memory import feedback

            return feedback.tool_records(ledger.db)
    except StoreError as error:
        note(str(error))
        return {}


def note_fate(
    rootdir: Path,
    told: str,
    note: Callable[[str], None],
    fates: Sequence[tuple[str, Collection[str], str]],
) -> None:
    """Tell the memory that fixes were applied or undone: tool, functions, and what."""
    if not fates:
        return
    try:
        with open_memory(rootdir, told, note, write=True) as ledger:
            if ledger is None:
                return
            from pytest_bayesloc.memory import feedback

            for tool, functions, fate in fates:
                feedback.note_fate(ledger, tool, functions, fate)
    except StoreError as error:
        note(str(error))


def take_in(
    ledger: Ledger,
    events: Sequence[Event],
    run: Run,
    results: Sequence[SearchResult],
    symptoms: Sequence[tuple[Collection[str], Sequence[str]]],
) -> list[str]:
    """Keep how tools fared, and which of their fixes did not last; sentences for the user.

    Args:
        ledger: In a transaction.
        events: What became of each bug.
        run: This one.
        results: Of the searches, one for each group; none where no fix was searched.
        symptoms: Of each group, its tests and its suspects, as ``file qualname``.
    """
    from pytest_bayesloc.memory import feedback

    said = []
    for event in events:
        if event.group < 0:
            continue
        tests, suspects = symptoms[event.group]
        broken = feedback.note_broken(ledger, run.number, tests, suspects[:N_SUSPECTS])
        said += [f"the fix by {t} did not last: its test fails again there" for t in broken]
        if results:
            own = results[event.group]
            feedback.add_tries(ledger, event.bug, run, own.attempts, own.functions)
    return said


def learn(
    ledger: Ledger,
    events: Sequence[Event],
    run: Run,
    changes: Mapping[int, Changes],
    rootdir: Path,
) -> list[str]:
    """Take in how people fixed bugs; a way that fixed two becomes a tool, which is said.

    Args:
        ledger: In a transaction.
        events: What became of each bug.
        run: This one.
        changes: Per number of a bug, what was edited before it passed.
        rootdir: Of the project.
    """
    fixed = [e.bug for e in events if e.kind == "resolved" and e.bug in changes]
    if not fixed:  # most runs: the imports cost them a fifth of a second
        return []
    from pytest_bayesloc.domain.fixing import FixPattern
    from pytest_bayesloc.fixes.pattern import pattern_of, tool_files
    from pytest_bayesloc.memory.feedback import add_fix_pattern

    said = []
    known = ledger.bugs(fixed)
    for bug in fixed:
        error = known[bug].symptom.signature.partition(":")[0].rpartition(".")[2]
        for before, after in _functions(changes[bug]):
            pattern = pattern_of(before, after)
            if pattern is None:
                continue
            fix = FixPattern(
                pattern=json.dumps(pattern),
                bug=known[bug].id,
                error=error,
                before=before,
                after=after,
            )
            alike = add_fix_pattern(ledger, fix, run.made_at)
            if len(alike) == 2:
                said.append(_offered(rootdir, tool_files(alike, LEARNED), *pattern))
    return said


def _functions(changes: Changes) -> list[tuple[str, str]]:
    """The text of each changed function that is no test, then and now."""
    from textwrap import dedent

    found = []
    for change in changes.files.values():
        then = {unit.location.qualname: unit.location for unit in change.before.units}
        for where in change.changed:
            old = then.get(where.qualname)
            if old is not None and not where.is_test and where.qualname != "<module>":
                pair = change.before.text_of(old), change.now.text_of(where)
                found.append((dedent(pair[0]), dedent(pair[1])))
    return found


def _offered(rootdir: Path, files: Mapping[str, str], before: str, after: str) -> str:
    folder = rootdir / LEARNED
    name = next(iter(files)).removesuffix(".py")
    with suppress(OSError):
        own_folder(rootdir)
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in files.items():
            if not (folder / file).exists():
                replace_text(folder / file, text)
    return (
        f"`{before}` became `{after}` for a second bug: the tool {name} is learned. Read "
        f"{LEARNED}/{name}.py; to have it used: pytest --bayesloc-trust={LEARNED}/{name}.yaml"
    )
