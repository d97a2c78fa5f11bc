"""The tools at hand: whose they are, which may run, and questions about them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.errors import ToolError
from pytest_bayesloc.domain.redaction import redacted
from pytest_bayesloc.domain.texts import text_digest
from pytest_bayesloc.fixes.apply import Journal
from pytest_bayesloc.fixes.definition import ToolOrigin, definitions_in, load_tool
from pytest_bayesloc.fixes.library import Library
from pytest_bayesloc.fixes.run import run_program
from pytest_bayesloc.fixes.tools import PACKAGE_TOOLS
from pytest_bayesloc.fixes.trust import is_trusted, setting_key, trust, user_folder
from pytest_bayesloc.options import ini_of, project_asks
from pytest_bayesloc.pipeline.fix_memory import LEARNED, note_fate, tool_records
from pytest_bayesloc.pipeline.place import FOLDER
from pytest_bayesloc.report.text import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pytest

    from pytest_bayesloc.fixes.definition import Tool
    from pytest_bayesloc.options import Settings

    Note = Callable[[str], None]

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
