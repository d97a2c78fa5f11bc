"""Fix tools: whose they are, which may run, what became of their work, and fixes to show."""

from __future__ import annotations

import json
import re
import sys
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.errors import FixError, StoreError, ToolError
from pytest_bayesloc.domain.fixing import Level
from pytest_bayesloc.domain.own_files import is_trusted, user_folder
from pytest_bayesloc.domain.texts import listed
from pytest_bayesloc.fixes.apply import (
    Journal,
    changed_bytes,
    is_ci,
    refused,
    unified,
    unsaved,
)
from pytest_bayesloc.fixes.candidate import patch_of
from pytest_bayesloc.fixes.definition import ToolOrigin, definitions_in, load_tool
from pytest_bayesloc.history.changes import name_of
from pytest_bayesloc.pipeline.context import FOLDER, open_memory, own_folder, replace_text
from pytest_bayesloc.spectrum.sources import FileKind

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    import pytest

    from pytest_bayesloc.domain.advice import Advice
    from pytest_bayesloc.domain.bug import Run
    from pytest_bayesloc.domain.fixing import ToolRecord
    from pytest_bayesloc.fixes.candidate import Candidate
    from pytest_bayesloc.fixes.definition import Tool
    from pytest_bayesloc.fixes.search import Search
    from pytest_bayesloc.history.changes import Changes
    from pytest_bayesloc.memory.ledger import Ledger
    from pytest_bayesloc.pipeline.context import Context
    from pytest_bayesloc.report.document import FixEntry, ResultDocument

    Note = Callable[[str], None]


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
    events: Sequence[Advice],
    run: Run,
    searches: Sequence[Search | None],
    symptoms: Sequence[tuple[Collection[str], Sequence[str]]],
) -> list[str]:
    """Keep how tools fared, and which of their fixes did not last; sentences for the user.

    Each group has a search, unless no fix was searched, and ``symptoms``: its tests, and its
    suspects as ``file qualname``.
    """
    from pytest_bayesloc.memory import feedback

    said = []
    for event in events:
        if event.fault < 0:
            continue
        tests, suspects = symptoms[event.fault]
        broken = feedback.note_broken(ledger, run.number, tests, suspects[:N_SUSPECTS])
        said += [f"the fix by {t} did not last: its test fails again there" for t in broken]
        own = searches[event.fault] if searches else None
        if own is not None:
            feedback.add_tries(ledger, event.bug, run, own.attempts, own.functions)
    return said


def learn(
    ledger: Ledger,
    events: Sequence[Advice],
    run: Run,
    changes: Mapping[int, Changes],
    rootdir: Path,
) -> list[str]:
    """Take in how people fixed bugs; a way that fixed two becomes a tool, which is said.

    The ``changes`` are what was edited before a bug passed, by its number.
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
                said.append(_begun(rootdir, tool_files(alike, LEARNED), *pattern))
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


def _begun(rootdir: Path, files: Mapping[str, str], before: str, after: str) -> str:
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


PROJECT_FOLDER = "bayesloc_fixes"


def journal(rootdir: Path) -> Journal:
    """Returns the journal of the fixes that were applied in this project."""
    return Journal(rootdir, rootdir / FOLDER / "fixes" / "journal")


def tools_of(config: pytest.Config, note: Note) -> list[Tool]:
    """All tools, those of the package first; one that can't be read costs a note."""
    # Imported here: each red run keeps what it learned of tools, and few runs search for a fix.
    from pytest_bayesloc.fixes.tools import PACKAGE_TOOLS

    return [
        *PACKAGE_TOOLS,
        *_read(_offered(config, note), ToolOrigin.PLUGIN, note),
        *_read(definitions_in(user_folder() / "fixes"), ToolOrigin.USER, note),
        *_read(definitions_in(config.rootpath / PROJECT_FOLDER), ToolOrigin.PROJECT, note, config),
        *_read(definitions_in(config.rootpath / LEARNED), ToolOrigin.PROJECT, note, config),
    ]


def _offered(config: pytest.Config, note: Note) -> Sequence[Path]:
    try:
        offered = config.hook.pytest_bayesloc_fix_tools(config=config)
        return [Path(path) for paths in offered for path in paths]
    except Exception as error:  # noqa: BLE001 - it is not ours, and may raise anything
        note(
            f"A plugin's pytest_bayesloc_fix_tools failed ({type(error).__name__}: {error}): its "
            "tools are left out. (broken-tool)"
        )
        return ()


def _read(
    paths: Sequence[Path], origin: ToolOrigin, note: Note, config: pytest.Config | None = None
) -> Iterator[Tool]:
    from pytest_bayesloc.fixes.run import run_program

    for path in paths:
        try:
            tool = replace(load_tool(path, config and config.rootpath), origin=origin)
            is_known = tool.path and is_trusted(tool.path, tool.digest, user_folder())
            if origin is ToolOrigin.PROJECT and not is_known:
                yield replace(tool, why_not="not trusted")
            else:
                yield replace(tool, propose=partial(run_program, tool))
        except ToolError as error:  # noqa: PERF203 - a few tools
            note(str(error))


# -- fixes that are shown: patches beside the project, and files that are written on request

YES, QUIT = {"y", "yes"}, {"q", "quit"}


def write_patches(context: Context) -> None:
    """Write each fix as a patch below ``.bayesloc/fixes/``."""
    folder = context.rootdir / FOLDER / "fixes"
    for i, (fix, candidate) in enumerate(context.fixes, 1):
        if not fix.diff:
            continue
        name = re.sub(r"\W+", "-", f"{fix.fault}-{i}-{fix.tool}").strip("-")
        with suppress(OSError, FixError):
            own_folder(context.rootdir)
            folder.mkdir(exist_ok=True)
            parts = [(*_bytes(context, p), p.file) for p in candidate.parts_by_file()]
            patch = b"".join(unified(*part) for part in parts)
            (folder / f"{name}.patch").write_bytes(patch)
            fix.patch_file = f"{FOLDER}/fixes/{name}.patch"


def apply_best(context: Context) -> None:
    """Write the best safe fix that is verified, and that nothing speaks against, to its file."""
    safe = (pair for pair in context.fixes if pair[0].verified and pair[1].level is Level.SAFE)
    best = next((pair for pair in safe if pair[0].doubt is None), None)
    if best is not None:
        _apply(context, *best)


def review(context: Context, reporter: pytest.TerminalReporter) -> None:
    """Ask of each verified fix whether to write it."""
    capture = context.config.pluginmanager.getplugin("capturemanager")
    if capture is not None:
        capture.suspend_global_capture(in_=True)
    try:
        if not sys.stdin.isatty():
            context.note(
                "--bayesloc-fix=review has nobody to ask: standard input is no terminal. The "
                "patches are in .bayesloc/fixes/. (fix-review)"
            )
            return
        for fix, candidate in context.fixes:
            if not fix.verified:
                continue
            reporter.write_line(fix.diff)
            files = " and ".join(part.file for part in candidate.parts_by_file())
            reporter.write(f"Apply this fix by {fix.tool} to {files}? [y/N/q] ")
            line = sys.stdin.readline()
            answer = line.strip().lower()
            if answer in QUIT or not line:  # nobody is there any more
                return
            if answer in YES:
                _apply(context, fix, candidate)
    finally:
        if capture is not None:
            capture.resume_global_capture()


def mark_applied(context: Context, document: ResultDocument) -> bool:
    """Say in the JSON result what was applied; whether anything was."""
    searched = (entry for entry in document.fixes if entry.stage != "inspection")
    for entry, (fix, _) in zip(searched, context.fixes, strict=False):
        entry.applied = fix.applied
    return any(fix.applied for fix, _ in context.fixes)


def _apply(context: Context, fix: FixEntry, candidate: Candidate) -> None:
    """Write a fix to its file, unless something speaks against it; say what was done."""
    parts = candidate.parts_by_file()
    files = " and ".join(part.file for part in parts)
    try:
        for part in parts:
            if why := _why_not_written(context, part.file):
                then = "Commit it first, apply the patch yourself, or give"
                raise refused(part.file, f"{why}. {then} --bayesloc-allow-dirty")
        changes = [(p.file, *_bytes(context, p)) for p in parts]
        where = name_of(patch_of(candidate).target)
        journal(context.rootdir).apply(changes, fix.tool, where)
    except FixError as error:
        context.note(str(error))
        return
    told = context.settings.memory
    note_fate(context.rootdir, told, context.note, [(fix.tool, [where], "applied")])
    fix.applied = True
    context.note(
        f"The fix by {fix.tool} was written to {files}. To take it back: pytest "
        "--bayesloc-fix=undo. (fix-applied)"
    )


def announce_refusals(context: Context, likely: Iterable[str]) -> None:
    """Say before the search which likely files it may not write, rather than after it."""
    known = context.sources.files
    files: dict[str, list[str]] = {}
    for file in sorted(set(likely)):
        is_code = known.kind(known.absolute(file)) is FileKind.CODE
        if is_code and (why := _why_not_written(context, file)):
            files.setdefault(why, []).append(file)
    for why, paths in files.items():
        context.announce(
            f"A fix of {listed(paths)} will be shown, not applied: {why}. "
            "Commit first, or give --bayesloc-allow-dirty. (fix-refused)"
        )


def _why_not_written(context: Context, file: str) -> str:
    """Say why a fix must not be written to ``file``; empty if it may."""
    if context.settings.allows_dirty:
        return ""
    options = context.config.option
    if is_ci(context.launch.environment):
        return "this is a CI run (its environment says CI)"
    if getattr(options, "numprocesses", None) or getattr(options, "tx", None):
        return "this is a run of pytest-xdist, whose other processes may read it"
    return unsaved(Path(context.sources.files.absolute(file)).resolve())


def _bytes(context: Context, candidate: Candidate) -> tuple[bytes, bytes]:
    """Return the bytes of the file as it is, and with the change."""
    path = Path(context.sources.files.absolute(candidate.file))
    try:
        before = path.read_bytes()
    except OSError as error:
        raise refused(candidate.file, f"it can't be read ({error})") from error
    return before, changed_bytes(before, candidate.before, candidate.after, candidate.file)
