"""The tools at hand: whose they are, which may run, what became of their work, and questions."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.errors import StoreError, ToolError
from pytest_bayesloc.domain.own_files import is_trusted, setting_key, trust, user_folder
from pytest_bayesloc.domain.redaction import redacted
from pytest_bayesloc.domain.texts import text_digest
from pytest_bayesloc.fixes.apply import Journal
from pytest_bayesloc.fixes.definition import ToolOrigin, definitions_in, load_tool
from pytest_bayesloc.fixes.library import Library
from pytest_bayesloc.fixes.run import run_program
from pytest_bayesloc.fixes.tools import PACKAGE_TOOLS
from pytest_bayesloc.options.option import ini_of
from pytest_bayesloc.options.settings import project_asks
from pytest_bayesloc.pipeline.context import FOLDER, open_memory, own_folder, replace_text
from pytest_bayesloc.report.text import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    import pytest

    from pytest_bayesloc.domain.bug import Run
    from pytest_bayesloc.domain.fixing import ToolRecord
    from pytest_bayesloc.fixes.definition import Tool
    from pytest_bayesloc.fixes.search import SearchResult
    from pytest_bayesloc.history.changes import Changes
    from pytest_bayesloc.memory.episodes import Event
    from pytest_bayesloc.memory.ledger import Ledger
    from pytest_bayesloc.options.settings import Settings

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
MAX_LINE = 500


def journal(rootdir: Path) -> Journal:
    """Returns the journal of the fixes that were applied in this project."""
    return Journal(rootdir, rootdir / FOLDER / "fixes" / "journal")


def tools_of(config: pytest.Config, note: Note) -> list[Tool]:
    """All tools, those of the package first; one that can't be read costs a note."""
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
    for path in paths:
        try:
            tool = replace(load_tool(path, config and config.rootpath), origin=origin)
            if origin is ToolOrigin.PROJECT and not _is_trusted(tool):
                yield replace(tool, why_not="not trusted")
            else:
                yield replace(tool, propose=partial(run_program, tool))
        except ToolError as error:  # noqa: PERF203 - a few tools
            note(str(error))


def _is_trusted(tool: Tool) -> bool:
    return tool.path is not None and is_trusted(tool.path, tool.digest, user_folder())


# -- questions, and corrections, that run no test


def answers(config: pytest.Config, settings: Settings) -> Iterator[str]:
    """Yield the answers to what was asked about fixes, or is to be done about them."""
    for line in _answers(config, settings):
        # A definition may be anybody's: it neither steers the terminal nor adds a line.
        yield visible(" ".join(line.splitlines()))[:MAX_LINE]


def _answers(config: pytest.Config, settings: Settings) -> Iterator[str]:
    if settings.trust:
        yield from _trusted(config, settings.trust)
    if settings.fix == "undo":
        yield from _undone(config, settings)
    if settings.fix == "tools":
        yield from _listed(config, settings)


def _trusted(config: pytest.Config, given: str) -> Iterator[str]:
    path = config.invocation_params.dir / given
    root = config.rootpath.resolve()
    if user_folder().resolve().is_relative_to(root):
        raise ToolError(
            f"--bayesloc-trust={given} is not kept: the folder of your configuration, "
            f"{user_folder()}, lies in the project, which could then trust itself. Expected a "
            "folder outside of it.",
            slug="not-trusted",
        )
    if path.is_file() and path.samefile(ini_of(config)):
        yield _trusted_settings(config, path.resolve())
        return
    paths = definitions_in(path) if path.is_dir() else [path]
    if not paths:
        raise ToolError(
            f"--bayesloc-trust={given} holds no definition of a fix tool: expected a .yaml file, "
            f"or a folder of them, or the ini file of this run, {ini_of(config)}.",
            slug="not-trusted",
        )
    for tool in [load_tool(path, root) for path in paths]:
        if tool.path is not None:
            trust(tool.path, tool.digest, user_folder())
        names = ", ".join(tool.files) or "no file beside it"
        yield f"{tool.name} is trusted as it is now ({tool.path and tool.path.name}, {names})"


def _trusted_settings(config: pytest.Config, path: Path) -> str:
    """Trust what an ini file asks for, and say what that is."""
    asked = project_asks(config)
    if not asked:
        return f"{path.name} asks for nothing that needs trust"
    for name, value in asked.items():
        trust(setting_key(path, name), text_digest(value), user_folder())
    said = ", ".join(f"{name} = {redacted(value)}" for name, value in asked.items())
    return f"{path.name} is trusted to set {said}"


def _undone(config: pytest.Config, settings: Settings) -> Iterator[str]:
    kept = journal(config.rootpath)
    done, unreadable = kept.undo(), kept.unreadable()
    notes: list[str] = []
    fates = [(entry.tool, [entry.target], "undone") for entry, why in done if not why]
    note_fate(config.rootpath, settings.memory, notes.append, fates)
    yield from notes
    for entry, why in done:
        where = f"{entry.file} ({entry.tool})"
        yield f"{where} is not undone: {why}" if why else f"{where} is as it was before"
    for path in unreadable:
        yield f"{path} can't be read: its fix is not undone. Take it back by git or its patch"
    if not (done or unreadable):
        yield "no fix was applied here, or all are undone"


def _listed(config: pytest.Config, settings: Settings) -> Iterator[str]:
    notes: list[str] = []
    records = tool_records(config.rootpath, settings.memory, notes.append)
    library = Library(tools_of(config, notes.append), records)
    width = max(len(tool.name) for tool in library.tools)
    for tool in library.tools:
        state = tool.why_not or "trusted"
        record = library.record(tool.name)
        used = "never used"
        if record.n_bugs:
            bugs = f"{record.n_verified} of {record.n_bugs} bugs"
            sure = f"sure from similarity {record.sure_from:.2f}"
            used = f"{record.worth:.0%} ({bugs}), {sure}, last on {record.last_used}"
        yield f"{tool.name:{width}}  {tool.origin.value:8} {tool.level.value:12} {state}; {used}"
        yield f"{'':{width}}  {tool.description}"
    yield from notes
