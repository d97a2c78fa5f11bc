"""One session: what all its stages share, its folder in the project, and the memory's place.

Every run imports this module, so it imports little.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
import tempfile
import warnings
from collections import Counter
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from pytest_bayesloc.domain import own_files
from pytest_bayesloc.domain.standard_library import monotonic, time_ns
from pytest_bayesloc.domain.texts import file_of_test, text_digest
from pytest_bayesloc.spectrum.sources import Sources
from pytest_bayesloc.spectrum.validity import environment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pytest_bayesloc.domain.advice import Remembered
    from pytest_bayesloc.domain.redaction import Redaction
    from pytest_bayesloc.fixes.candidate import Candidate
    from pytest_bayesloc.memory.ledger import Ledger
    from pytest_bayesloc.options.option import Launch
    from pytest_bayesloc.options.settings import Settings
    from pytest_bayesloc.report.document import FixEntry
    from pytest_bayesloc.rerun.effects import Effects
    from pytest_bayesloc.rerun.link import Transport
    from pytest_bayesloc.rerun.pool import Pool
    from pytest_bayesloc.rerun.transports.gateways import GatewayOpener
    from pytest_bayesloc.spectrum.recorder import Recorder


FOLDER = own_files.FOLDER
FILE = "memory.sqlite"
BUSY_S = 1.0
PARTIAL_S = 3_600  # after which nobody writes that file any more


def own_folder(rootdir: Path) -> Path:
    """Return the folder of the plugin's own files, made with a mark that git leaves it alone.

    Raises:
        OSError: If it can't be made.
    """
    folder = rootdir / FOLDER
    folder.mkdir(exist_ok=True)
    ignore = folder / ".gitignore"
    if not ignore.exists():
        replace_text(ignore, "# Made by pytest-bayesloc.\n*\n")
    return folder


def effects_in(
    rootdir: Path,
    note: Callable[[str], None] = lambda _: None,
    ended: Callable[[str], tuple[int, str] | None] = lambda _: None,
) -> Effects:
    """Return the effects of tests on a project's files: nothing is known yet."""
    from pytest_bayesloc.rerun.aside import Aside
    from pytest_bayesloc.rerun.effects import Effects

    return Effects(Aside(lambda: _aside(rootdir)), note, ended=ended)


def _aside(rootdir: Path) -> Path:
    """The folder of the files that re-runs change: not in the project, which may come with one."""
    return own_files.user_folder() / "aside" / text_digest(os.path.realpath(rootdir), 16)


def mend_folder(rootdir: Path, note: Callable[[str], None]) -> None:
    """Set aside what stands in the place of our own files and folders, and tell the user.

    What a kill left half written is removed.
    """
    folder = rootdir / FOLDER
    for path in folder.glob(".*.*"):
        with suppress(OSError):
            if time_ns() - path.stat().st_mtime_ns > PARTIAL_S * 1e9:
                path.unlink()
    for text in own_files.misplaced(folder) if folder.is_dir() else ():
        note(text)
    aside = _aside(rootdir)
    if aside.is_dir():
        from pytest_bayesloc.rerun.aside import recover

        recover(aside, note)


def replace_text(path: Path, text: str) -> Path:
    """Write a file in one step.

    Raises:
        OSError: If it can't be written.
    """
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as stream:
            stream.write(text)
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return path


# -- the memory


def has_work(context: Context, *, is_red: bool) -> bool:
    """Whether the memory has to be opened at all."""
    where, recorded = memory_of(context.rootdir, context.settings.memory), context.recorder.recorded
    if where is None or is_red or context.settings.lesson or recorded.reruns:
        return where is not None
    return may_have_open_bugs(where) if isinstance(where, Path) else True


def may_have_open_bugs(path: Path) -> bool:
    """Whether a bug is open; also true where the file can't be read: the store will say why."""
    if not path.is_file():
        return False
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=BUSY_S)) as db:
            found = db.execute("SELECT 1 FROM bug WHERE state = 'open' LIMIT 1").fetchone()
    except sqlite3.Error:
        return True
    return found is not None


def has_counted_passes(context: Context) -> bool:
    """Count the passes of tests that are known to be flaky, where no bug is open.

    It takes what is at hand in a passing run, as long as no file changed that the tests executed.

    Returns:
        Whether all of them were counted; else the memory has to be opened.
    """
    where = memory_of(context.rootdir, context.settings.memory)
    if not isinstance(where, Path) or not where.is_file():
        return True
    passed, own = context.recorder.recorded.verdicts, (project_of(context.rootdir), environment())
    try:
        with closing(sqlite3.connect(where, timeout=BUSY_S)) as db, db:
            rows = [row for row in db.execute(_COUNTED, own * 2) if row[0] in passed]
            now = {row[0]: row[1] for row in reversed(rows) if _is_now(context, *row)}
            if now:
                db.execute("PRAGMA synchronous = NORMAL")
                at = datetime.now(timezone.utc).isoformat(timespec="microseconds")
                db.executemany(_COUNT, [(at, *own, *row) for row in now.items()])
    except sqlite3.Error:
        return False
    return all(node_id in now for node_id, *_ in rows)


_COUNTED = """SELECT node_id, state, executed, texts FROM outcome
    WHERE project = ? AND environment = ? AND node_id IN (SELECT node_id FROM outcome
        WHERE project = ? AND environment = ? AND (n_passed > 0 OR n_again > 0))
    ORDER BY last_at DESC, first_at DESC"""
_COUNT = """UPDATE outcome SET n_passed = n_passed + 1, last_at = ?
    WHERE project = ? AND environment = ? AND node_id = ? AND state = ?"""


def _is_now(context: Context, node_id: str, state: str, executed: str, texts: str) -> bool:
    files = (name.rpartition(" ")[0] for name in json.loads(executed))
    return bool(state) and context.sources.digest([file_of_test(node_id), *files]) == texts


def memory_of(rootdir: Path, setting: str) -> Path | str | None:
    """Return the memory's file or URL; None if nothing is to be remembered.

    The setting is ``on``, ``off``, a path or a URL.
    """
    if setting == "off":
        return None
    if "://" in setting:
        return setting
    return rootdir / (f"{FOLDER}/{FILE}" if setting == "on" else setting)


def is_there(where: Path | str | None) -> bool:
    """Return whether there is a memory; one at a URL is asked."""
    return where is not None and (isinstance(where, str) or where.exists())


@contextmanager
def open_memory(
    rootdir: Path,
    setting: str,
    note: Callable[[str], None],
    *,
    write: bool,
    may_begin: bool = False,
) -> Iterator[Ledger | None]:
    """Open the project's records in a transaction; None where there is no memory.

    Where there is none and it ``may_begin``, a new one is made.

    Raises:
        StoreError: If the memory can't be used.
    """
    where = memory_of(rootdir, setting)
    if where is None or not (may_begin or is_there(where)):
        yield None
        return
    from pytest_bayesloc.memory.ledger import Ledger
    from pytest_bayesloc.memory.store import BugStore

    if may_begin and isinstance(where, Path):
        own_folder(rootdir)
        where.parent.mkdir(parents=True, exist_ok=True)
    with closing(BugStore(where, note)) as store, store.transaction(write=write) as connection:
        yield Ledger(connection, project_of(rootdir))


# -- names


def project_of(rootdir: Path) -> str:
    """Return the project's name: that of its pyproject.toml, else that of its folder."""
    with suppress(OSError, UnicodeError):
        text = (rootdir / "pyproject.toml").read_text(encoding="utf-8")
        section = re.search(r"^\[project\]\s*$(.*?)(?=^\[|\Z)", text, re.MULTILINE | re.DOTALL)
        found = section and re.search(r"^name\s*=\s*[\"']([^\"']+)", section.group(1), re.MULTILINE)
        if found:
            return found.group(1)
    return rootdir.name


def workspace_of(rootdir: Path) -> str:
    """Return the name of this checkout, made at its first run; empty if it can't be kept."""
    try:
        path = own_folder(rootdir) / "workspace"
        with suppress(FileNotFoundError):
            known = path.read_text(encoding="ascii", errors="replace").strip()
            if re.fullmatch(r"\w{1,12}", known, re.ASCII):
                return known
        return replace_text(path, uuid4().hex[:12]).read_text(encoding="ascii")
    except OSError:
        return ""


class BayeslocWarning(pytest.PytestWarning):
    """A fault of the plugin's own; the tests and pytest's exit status are as they would be."""


@dataclass(kw_only=True)
class Context:
    """The session that the stages work for.

    Attributes:
        config: pytest's.
        settings: Everything that the user set.
        launch: What the process was started with.
        notes: What went wrong, for the user.
        seconds: Wall seconds by stage.
        tests_s: Wall seconds of all tests.
        collected_s: Wall seconds until they were collected.
        collected: Node ids; where a file can't be collected, pytest runs none of the rest.
        remembered: What the memory says, once it was asked.
        fixes: Those that are shown, the best of each fault first, each with its change.
        transports: The places where tests are run again; None before the first re-run.
        opener: Of those that execnet reaches.
        pool: The runners that inspections leave to the search for a fix.
    """

    config: pytest.Config
    settings: Settings
    launch: Launch
    recorder: Recorder
    notes: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    tests_s: float = 0.0
    collected_s: float = 0.0
    collected: Sequence[str] = ()
    remembered: Remembered | None = None
    fixes: list[tuple[FixEntry, Candidate]] = field(default_factory=list)
    transports: list[Transport] | None = None
    opener: GatewayOpener | None = None
    pool: Pool | None = None
    n_rejected: int = 0

    @cached_property
    def effects(self) -> Effects:
        """The effects of tests on the world here, as re-runs show them."""
        return effects_in(self.rootdir, self.note, self._ended)

    def _ended(self, test: str) -> tuple[int, str] | None:
        """Return how a test ended in this run, as ``Effects`` takes it."""
        from pytest_bayesloc.rerun.effects import PASSED, line_of

        failure = self.recorder.recorded.failures.get(test)
        if failure is not None:
            frames = ((str(frame["file"]), int(frame["line"])) for frame in failure["frames"])
            return line_of(test, frames), str(failure["message"])
        return (PASSED, "") if self.recorder.recorded.verdicts.get(test) else None

    @cached_property
    def effects_elsewhere(self) -> Effects:
        """The same of re-runs on other machines, whose files can't be put back from here."""
        from pytest_bayesloc.rerun.effects import Effects

        return Effects(note=self.note)

    @property
    def n_refused(self) -> int:
        """The re-runs under patches that were ended, because of what they would have done."""
        known = (vars(self).get(name) for name in ("effects", "effects_elsewhere"))
        return sum(len(effects.refused) for effects in known if effects is not None)

    @property
    def rootdir(self) -> Path:
        """The project's folder."""
        return self.config.rootpath

    @cached_property
    def sources(self) -> Sources:
        """The project's files."""
        return Sources(self.recorder.files)

    @cached_property
    def redaction(self) -> Redaction | None:
        """Takes secrets out of what is published; None if the user wants them."""
        if "redaction" in self.settings.without:
            return None
        from pytest_bayesloc.domain.redaction import Redaction  # its patterns take a while

        # Tests may have changed a variable: what the process was given is the real secret.
        return Redaction({**os.environ, **self.launch.environment})

    def clean(self, text: str) -> str:
        """Return ``text`` as it is published."""
        return text if self.redaction is None else self.redaction.clean(text)

    def read(self, file: str) -> str | None:
        """Return the text of a file as it is published; None if it can't be read."""
        text = self.sources.read(file)
        return None if text is None else self.clean(text)

    @property
    def executor(self) -> str:
        """The places where tests were run again, for a person; ``local`` if they were not."""
        if self.transports is None:
            return "local"
        counts = Counter(transport.name for transport in self.transports)
        named = (f"{n} x {name}" if n > 1 else name for name, n in counts.items())
        return ", ".join(named) or "nowhere"

    def keep(self, pool: Pool | None) -> None:
        """Leave ``pool`` to the next stage, and close what was left before."""
        kept, self.pool = self.pool, pool
        if kept is not None:
            kept.close()

    def close(self) -> None:
        """End what runs tests again. May be called twice."""
        self.keep(None)
        transports, self.transports = self.transports or (), None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of libraries; the suite may have made errors of them
            for transport in transports:
                transport.close()
            if "effects" in vars(self):
                self.effects.close()
            if self.opener is not None:
                self.opener.close()
                self.opener = None

    def note(self, text: str) -> None:
        """Tell the user once, however often it happens."""
        if text not in self.notes:
            self.notes.append(text)

    def announce(self, text: str) -> None:
        """Tell the user right now; at the end where there is no terminal reporter."""
        reporter = self.config.pluginmanager.get_plugin("terminalreporter")
        if reporter is None:
            self.note(text)
            return
        reporter.write_line("")  # the dots of the tests may have no end yet
        reporter.write_line(f"bayesloc: {text}", yellow=True)

    def warn(self, error: Exception) -> None:
        """Tell the user of a fault of ours, which has no consequence for the tests."""
        text = (
            f"pytest-bayesloc failed ({type(error).__name__}: {error}): the tests and the exit "
            "status are not affected. Please report it, or run with --no-bayesloc. (own-fault)"
        )
        if text in self.notes:
            return
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            with suppress(BayeslocWarning):  # where warnings are errors, the note has to do
                self.config.issue_config_time_warning(BayeslocWarning(text), stacklevel=2)
        self.notes.append(text)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Measure the wall seconds of a stage."""
        started = monotonic()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + monotonic() - started

    def spent_s(self, *stages: str) -> float:
        """Return the wall seconds that ``stages`` took."""
        return sum(self.seconds.get(name, 0.0) for name in stages)

    def call_others(self, hook: str, call: Callable[[], object], *, effect: str, slug: str) -> None:
        """Call a hook of other plugins; one that breaks costs a note."""
        try:
            call()
        except Exception as error:  # noqa: BLE001 - it is not ours, and may raise anything
            self.note(
                f"A plugin's {hook} failed ({type(error).__name__}: {error}): {effect}. ({slug})"
            )
