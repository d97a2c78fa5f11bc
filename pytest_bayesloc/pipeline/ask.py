"""Answers questions to the memory and about fixes, and corrects the memory; no test is run."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.domain.errors import BayeslocError, StoreError, ToolError
from pytest_bayesloc.domain.own_files import setting_key, trust, user_folder
from pytest_bayesloc.domain.redaction import redacted
from pytest_bayesloc.domain.texts import text_digest
from pytest_bayesloc.fixes.definition import definitions_in, load_tool
from pytest_bayesloc.fixes.library import Library
from pytest_bayesloc.options.option import ini_of, is_about_fixes
from pytest_bayesloc.options.settings import project_asks
from pytest_bayesloc.pipeline.context import memory_of, mend_folder, open_memory, replace_text
from pytest_bayesloc.pipeline.fix_tools import journal, note_fate, tool_records, tools_of
from pytest_bayesloc.report.text import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping
    from pathlib import Path

    from pytest_bayesloc.memory.ledger import Ledger
    from pytest_bayesloc.options.settings import Settings


MAX_LINE = 500  # of an answer about fixes


def answer(config: pytest.Config, settings: Settings) -> int:
    """Answer what was asked of fixes, else of the memory, and return pytest's exit status."""
    mend_folder(config.rootpath, _note)
    if settings.refusal and not settings.trust:
        _note(settings.refusal)
    try:
        if is_about_fixes(config):
            for line in _about_fixes(config, settings):
                # A definition may be anybody's: it neither steers the terminal nor adds a line.
                sys.stdout.write(f"{visible(' '.join(line.splitlines()))[:MAX_LINE]}\n")
        else:
            for line in _about_memory(config, settings):
                sys.stdout.write(f"{line}\n")
    except BayeslocError as error:
        sys.stderr.write(f"{visible(str(error))}\n")
        return int(pytest.ExitCode.USAGE_ERROR)
    return int(pytest.ExitCode.OK)


def _about_memory(config: pytest.Config, settings: Settings) -> Iterator[str]:
    if settings.advice_last:
        from pytest_bayesloc.pipeline.run_files import read_last
        from pytest_bayesloc.report.memory import advice_lines

        run = read_last(config.rootpath)
        yield f"advice of the run of {run.made_at}"
        yield from (line.text for line in advice_lines(run.document.memory, in_full=True))
    for verb, argument in settings.memory_actions:
        if verb in CORRECTIONS:
            with _ledger(config, settings, write=True) as ledger:
                if ledger is not None:
                    yield CORRECTIONS[verb](ledger, argument)
        elif verb == "import":
            yield _imported(config, settings, config.invocation_params.dir / argument)
        elif verb == "export":
            yield _exported(config, settings, config.invocation_params.dir / argument)
        else:
            from pytest_bayesloc.memory.statistics import statistics_of, stats_json, stats_lines

            with _ledger(config, settings, write=False) as ledger:
                rows = [] if ledger is None else statistics_of(ledger)
            if verb == "stats-json":
                yield json.dumps(stats_json(rows), indent=2)
            else:
                yield from stats_lines(rows)


def _exported(config: pytest.Config, settings: Settings, path: Path) -> str:
    from pytest_bayesloc.memory.transfer import export

    with _ledger(config, settings, write=False) as ledger:
        if ledger is None:
            return "nothing was exported"
        lines = list(export(ledger.db, ledger.project))
    try:
        replace_text(path, "".join(f"{line}\n" for line in lines))
    except OSError as error:
        raise StoreError(
            f"The memory can't be written to {path} ({error}): give a path that can, as "
            "--bug-memory=export:FILE.",
            slug="memory-export",
        ) from error
    n_bugs = sum(line.startswith('{"bug"') for line in lines)
    return f"{path}: {n_bugs} bugs in {len(lines)} lines"


def _imported(config: pytest.Config, settings: Settings, path: Path) -> str:
    from pytest_bayesloc.memory.transfer import import_lines

    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeError) as error:
        raise StoreError(
            f"{path} can't be read ({error}): nothing was taken in. Give a file that "
            "--bug-memory=export:FILE wrote.",
            slug="memory-import",
        ) from error
    with _ledger(config, settings, write=True, may_begin=True) as ledger:
        if ledger is None:
            return "nothing was taken in"
        counts = import_lines(ledger.db, lines)
    news = ", ".join(f"{n} {kind}" for kind, n in sorted(counts.items()) if n)
    return f"taken in, as new: {news or 'nothing, all of it was known'}"


@contextmanager
def _ledger(
    config: pytest.Config, settings: Settings, *, write: bool, may_begin: bool = False
) -> Generator[Ledger | None]:
    """Open the project's ledger in a transaction; None, and a note why, without a memory."""
    rootdir, setting = config.rootpath, settings.memory
    with open_memory(rootdir, setting, _note, write=write, may_begin=may_begin) as ledger:
        if setting == "off":
            _note("The memory is off (--bayesloc-memory=off): there is nothing to ask.")
        elif ledger is None:
            where = memory_of(rootdir, setting)
            _note(f"There is no memory in {where} yet: no test has failed with it on.")
        yield ledger


def _note(text: str) -> None:
    """Write to stderr: a program may read the answer."""
    sys.stderr.write(f"{text}\n")


def _forget(ledger: Ledger, bug_id: str) -> str:
    from pytest_bayesloc.memory import outcomes

    bug = _found(ledger, bug_id)
    record = ledger.bugs([bug])[bug]
    ledger.decide(record.symptom.fingerprints, "")
    outcomes.forget(ledger, record.symptom.tests)
    ledger.delete(bug)
    return f"bug {record.id} is forgotten, and what fails as it did is not taken in again"


def _merge(ledger: Ledger, pair: str) -> str:
    kept_id, _, merged_id = (part.strip() for part in pair.partition(","))
    kept, merged = _found(ledger, kept_id), _found(ledger, merged_id)
    if kept == merged:
        return f"bug {kept_id} is already one with itself: nothing was changed"
    records = ledger.bugs([kept, merged])
    ledger.decide(records[merged].symptom.fingerprints, records[kept].id)
    ledger.add_failures(kept, records[merged].symptom)
    ledger.delete(merged)
    return f"bug {records[merged].id} is bug {records[kept].id} from now on"


def _found(ledger: Ledger, bug_id: str) -> int:
    bug = ledger.find(bug_id) if bug_id else None
    if bug is None:
        raise StoreError(
            f"No single bug has the id {bug_id!r}: nothing was changed. Give an id as the advice "
            "prints it (--bug-memory=forget:ID, --bug-memory=merge:A,B).",
            slug="memory-unknown-bug",
        )
    return bug


#: What changes the memory, and says how.
CORRECTIONS: Mapping[str, Callable[[Ledger, str], str]] = {"forget": _forget, "merge": _merge}


# -- fixes


def _about_fixes(config: pytest.Config, settings: Settings) -> Iterator[str]:
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
        ini, asked = path.resolve(), project_asks(config)
        for name, value in asked.items():
            trust(setting_key(ini, name), text_digest(value), user_folder())
        said = ", ".join(f"{name} = {redacted(value)}" for name, value in asked.items())
        nothing = f"{ini.name} asks for nothing that needs trust"
        yield f"{ini.name} is trusted to set {said}" if asked else nothing
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
