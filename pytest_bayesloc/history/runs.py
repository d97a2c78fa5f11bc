"""Past runs of the tests: the code and data on which they passed, and the changes since."""

from __future__ import annotations

import hashlib
import os
import re
from contextlib import suppress
from dataclasses import replace
from functools import cache, cached_property
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.errors import StoreError
from pytest_bayesloc.domain.standard_library import time_ns
from pytest_bayesloc.domain.texts import as_python_reads
from pytest_bayesloc.history.snapshots import SnapshotStore
from pytest_bayesloc.spectrum.validity import installation, written_ns

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from pytest_bayesloc.history.changes import Changes, DataChange
    from pytest_bayesloc.history.git import GitHistory
    from pytest_bayesloc.spectrum.sources import Sources


#: Configuration, tables and templates, by the ends of their names.
SUFFIXES = frozenset(
    """.cfg .csv .graphql .htm .html .ini .j2 .jinja .jinja2 .json .mako .po .proto .sql .tmpl .toml
    .tpl .tsv .txt .xml .yaml .yml""".split()  # noqa: SIM905 - names to be read
)
_FOREIGN = frozenset({"__pycache__", "build", "dist", "htmlcov", "node_modules", "site-packages"})
# Choices that keep a run quick where a folder of data lies beside the code.
DEPTH = 2  # folders below one that holds code
MAX_ENTRIES = 5_000
MAX_DATA_FILES = 300
MAX_SIZE = 200_000  # bytes of a file
LIKE = 0.5  # share of lines of a file that was moved


def is_data(name: str) -> bool:
    """Return whether a file of this name holds data of a known form."""
    return PurePosixPath(name).suffix.lower() in SUFFIXES


def beside(code: Mapping[str, Path], before_ns: int) -> dict[str, Path]:
    """Find the data files in the folders of ``code``, and in the folders below them.

    Args:
        code: Per path relative to rootdir, where the file is.
        before_ns: What was written later, as ``time.time_ns``, is left out: tests may write data.

    Returns:
        Likewise, of the data files.
    """
    folders = {str(PurePosixPath(name).parent): path.parent for name, path in code.items()}
    found: dict[str, Path] = {}
    for name, entry in _entries(folders):
        if len(found) == MAX_DATA_FILES:
            break
        with suppress(OSError):
            status = entry.stat()
            if status.st_size <= MAX_SIZE and status.st_mtime_ns <= before_ns:
                found[name] = Path(entry.path)
    return found


def _entries(folders: Mapping[str, Path]) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Yield data files with their names, outer folders first, until enough was looked at."""
    pending = [(name, str(path), 0) for name, path in sorted(folders.items())]
    seen: set[str] = set()
    n_seen = 0
    while pending and n_seen < MAX_ENTRIES:
        folder, path, depth = pending.pop(0)
        listed = [] if path in seen else _listed(path)
        seen.add(path)
        n_seen += len(listed)
        for entry in listed:
            name = str(PurePosixPath(folder, entry.name))
            if entry.is_dir(follow_symlinks=False):
                if depth < DEPTH and entry.name not in _FOREIGN:
                    pending.append((name, entry.path, depth + 1))
            elif is_data(entry.name):
                yield name, entry


def _listed(path: str) -> list[os.DirEntry[str]]:
    """List a folder by name, hidden entries left out; nothing of an environment."""
    with suppress(OSError), os.scandir(path) as entries:
        listed = sorted(entries, key=lambda entry: entry.name)
        if all(entry.name != "pyvenv.cfg" for entry in listed):
            return [entry for entry in listed if not entry.name.startswith(".")]
    return []


def named_first(files: Iterable[str], texts: Iterable[str]) -> tuple[str, ...]:
    """Sort ``files``: those whose name stands in one of ``texts`` come first."""
    together = "\n".join(texts)
    return tuple(sorted(files, key=lambda file: (PurePosixPath(file).name not in together, file)))


def followed(
    texts: Mapping[str, str],
    read: Callable[[str], str | None],
    in_use: Collection[str],
    is_new: Callable[[str], bool],
) -> tuple[dict[str, str], frozenset[str]]:
    """Return old ``texts`` of files under their present paths, and names of modules that moved.

    A file that is gone has become the one, of those in use that are not in ``texts``, with which it
    shares most lines, half of them at least.

    Args:
        texts: By path, as the files were.
        read: The text of a file as it is; None if there is none.
        in_use: The files of the project that are imported.
        is_new: Whether a file of those was made since; else it was not imported then.

    Returns:
        Per file its old text: one that was moved has its new path, one that was made since is
        empty. Then the dotted names that the modules had which were moved.
    """
    gone = sorted(file for file in texts if read(file) is None)
    others = sorted(file for file in in_use if file not in texts)
    moved: dict[str, str] = {}

    @cache
    def lines_of_now(file: str) -> frozenset[str]:
        return _lines(read(file) or "")

    def share_of(old: frozenset[str], file: str) -> float:
        now = lines_of_now(file)
        return len(old & now) / max(len(old), len(now), 1)

    for old in gone if others else ():
        lines = _lines(texts[old])
        share, best = max(((share_of(lines, file), file) for file in others), default=(0.0, ""))
        if share >= LIKE:
            moved[old] = best
            others.remove(best)
    made = {file: "" for file in others if is_new(file)}
    present = {moved.get(file, file): text for file, text in texts.items()} | made
    # The import root is unknown: ``shop/cart.py`` may be ``shop.cart`` or ``cart``.
    modules = [old.removesuffix(".py").removesuffix("/__init__").split("/") for old in moved]
    return present, frozenset(".".join(m[i:]) for m in modules for i in range(len(m)))


def _lines(text: str) -> frozenset[str]:
    return frozenset(line.strip() for line in text.splitlines()) - {""}


_INSTALLED = re.compile(r"^([\w.]+)-([\w.+!]+)(?:-py[\d.]+)?\.(?:dist|egg)-info$", re.MULTILINE)
PYTHON = "Python"


def versions_in(listed: str) -> dict[str, str]:
    """Return the version of each package that an ``installation`` lists, and Python's."""
    found = {name.lower(): version for name, version in _INSTALLED.findall(listed)}
    return {**found, PYTHON: listed.partition(" ")[0]}


#: Folders of other people's code, and how many files are looked at for edits that no test sees.
FOREIGN = frozenset({"node_modules", "site-packages", "venv", "env"})
MAX_FILES = 5_000


class PastRuns:
    """The run that begins now, beside those before it.

    The methods on edits raise ``StoreError`` if the snapshots can't be read.

    Args:
        rootdir: Of the project.
        path: Of the file in which snapshots of the project are kept.
        sources: The project's files as they are.
        in_use: Returns those that are imported.
        note: Tells the user, once.
        revision: The git revision on which all tests passed; empty: the snapshots know; None: no
            change is looked for.
    """

    def __init__(
        self,
        rootdir: Path,
        path: Path,
        sources: Sources,
        in_use: Callable[[], Collection[str]],
        note: Callable[[str], None],
        revision: str | None = "",
    ) -> None:
        self._rootdir = rootdir
        self._sources = sources
        self._in_use = in_use
        self._note = note
        self._revision = revision
        self._snapshots = SnapshotStore(path, note)
        self._packages = path.with_name("packages.txt")
        self._started_ns = time_ns()
        self._last_run_ns = written_ns(path) or self._started_ns

    def changes(
        self, groups: Sequence[Sequence[str]], present: Collection[str] = ()
    ) -> list[Changes]:
        """Return per group of tests the changes since they passed, as far as they are known.

        Args:
            groups: Node ids.
            present: Those of all tests of this run.
        """
        from pytest_bayesloc.history.changes import Changes, changes_since

        if self._revision is None or not groups:
            return [Changes() for _ in groups]
        try:
            texts, data = self._passed(groups, present)
        except StoreError as error:
            self._note(str(error))
            return [Changes() for _ in groups]
        found = changes_since(texts, self._sources.read, self._sources.map)
        code = [self._sources.read(file) or "" for file in self._files] if any(data) else []
        sorted_once = {id(files): self._data_changes(files, code) for files in data}
        return [
            replace(own, data=sorted_once[id(files)])
            for own, files in zip(found, data, strict=True)
        ]

    def newest_changes(self) -> Changes:
        """Return the changes since git's state before the newest one of Python code.

        Nothing where git can't say.
        """
        from pytest_bayesloc.history.changes import Changes

        states = self.history.states()
        return self.history.changes(states[0]) if states else Changes()

    def _data_changes(
        self, before: Mapping[str, str | None], code: Sequence[str]
    ) -> tuple[DataChange, ...]:
        """Return the changes since data files held ``before``; what ``code`` names comes first."""
        from pytest_bayesloc.history.changes import DataChange

        together = "\n".join(code)
        found = []
        for file in named_first(before, [together]):
            now = ""
            with suppress(OSError, SyntaxError, UnicodeError):
                now = self._data(file) or ""
            is_named = PurePosixPath(file).name in together
            found.append(DataChange(file=file, before=before[file], now=now, is_named=is_named))
        return tuple(found)

    def edits(
        self, groups: Sequence[Sequence[str]], revisions: Sequence[str]
    ) -> list[Changes | None]:
        """Return per group of tests the changes since they last ran; None if unknown.

        Args:
            groups: Node ids.
            revisions: Of each group, the git revision that it last ran at, which is asked where
                this checkout saw no run; empty if unknown.
        """
        known = self._compared(self._snapshots.last_runs(groups))
        return [
            self._since(revision) if found is None else found
            for found, revision in zip(known, revisions, strict=True)
        ]

    def net_edits(self, groups: Sequence[Sequence[str]]) -> list[Changes | None]:
        """Return per group of tests the changes since they first failed; None if unknown.

        Changes that were tried and reverted in between are left out.
        """
        return self._compared(self._snapshots.first_failed(groups))

    def _compared(self, runs: Sequence[Mapping[str, str] | None]) -> list[Changes | None]:
        """Return the changes since the files held each of ``runs``; None for none."""
        from pytest_bayesloc.history.changes import changes_since

        different = {id(run): run for run in runs if run is not None}  # groups share texts
        before = [
            followed(texts, self._sources.read, self._files, self._is_new)
            for texts in different.values()
        ]
        # A file that is gone is compared as empty.
        found = changes_since(
            [texts for texts, _ in before],
            lambda file: self._sources.read(file) or "",
            lambda file: self._sources.map(file) or self._sources.of_text(file),
        )
        changes = {
            key: replace(own, moved=moved)
            for key, own, (_, moved) in zip(different, found, before, strict=True)
        }
        return [changes.get(id(run)) for run in runs]

    def written_since(self, moment: datetime) -> tuple[str, ...]:
        """Return Python files below the root that no test imports, written since, before this run.

        Not those of hidden folders and environments, and none of a project of too many files.
        """
        found: list[str] = []
        n_seen, in_use = 0, set(self._files)
        for folder, inner, names in os.walk(self._rootdir):
            inner[:] = [n for n in inner if not n.startswith((".", "__")) and n not in FOREIGN]
            n_seen += len(names)
            if n_seen > MAX_FILES:
                return ()
            for path in (Path(folder, name) for name in names if name.endswith(".py")):
                file = path.relative_to(self._rootdir).as_posix()
                is_new = moment.timestamp() * 1e9 < written_ns(path) <= self._started_ns
                if is_new and file not in in_use:
                    found.append(file)
        return tuple(sorted(found))

    def data_since(self, moment: datetime) -> tuple[str, ...]:
        """Return data files beside the code that were written since, before this run."""
        code = {file: Path(self._sources.files.absolute(file)) for file in self._files}
        since_ns = moment.timestamp() * 1e9
        found = beside(code, self._started_ns)
        return tuple(sorted(file for file, path in found.items() if written_ns(path) > since_ns))

    def state(self) -> str:
        """Return a digest of all Python code that decides what a test does.

        The project's files that are imported, the packages that are installed, and the interpreter.
        """
        digest = hashlib.sha256(installation().encode("utf-8", "backslashreplace"))
        for file in sorted(self._files):
            text = f"{file}\0{self._sources.read(file)}\0"
            digest.update(text.encode("utf-8", "backslashreplace"))
        return digest.hexdigest()[:32]

    def remember(self, verdicts: Mapping[str, bool], files: Mapping[str, Path]) -> None:
        """Keep the code in ``files`` on which tests passed and failed, by ``verdicts``.

        Raises:
            StoreError: If it can't be written.
        """
        passed = [node_id for node_id, has_passed in verdicts.items() if has_passed]
        failed = [node_id for node_id, has_passed in verdicts.items() if not has_passed]
        data = beside(files, self._started_ns)
        self._snapshots.remember(passed, failed, {**data, **files}, self._started_ns)
        if not failed:
            with suppress(OSError):
                self._packages.write_text(installation(), encoding="utf-8")

    def changed_packages(self) -> tuple[dict[str, tuple[str, str]], datetime] | None:
        """Return the versions of packages then and now, and when all tests last passed.

        Of those that are installed then and now, and of Python; None if no run is remembered.
        """
        from datetime import datetime

        try:
            then = versions_in(self._packages.read_text(encoding="utf-8"))
            passed = datetime.fromtimestamp(self._packages.stat().st_mtime).astimezone()
        except (OSError, ValueError):
            return None
        now = versions_in(installation())
        changed = {name for name in {*then} & {*now} if then[name] != now[name]}
        return {name: (then[name], now[name]) for name in sorted(changed)}, passed

    @cached_property
    def history(self) -> GitHistory:
        """Older code, as git knows it."""
        from pytest_bayesloc.history.git import GitHistory

        return GitHistory(self._rootdir, self._sources)

    @cached_property
    def _files(self) -> Collection[str]:
        """The files in use when the run is over: nobody asks before."""
        return self._in_use()

    def _is_new(self, file: str) -> bool:
        """Whether a file was made since the last run, as far as the file system knows."""
        try:
            status = Path(self._sources.files.absolute(file)).stat()
        except OSError:
            return False
        return status.st_ctime_ns > self._last_run_ns

    def _since(self, revision: str) -> Changes | None:
        """Return the changes since a git revision; None if it was not clean, or is unknown."""
        from pytest_bayesloc.history.git import knows

        if not revision or revision.endswith("+") or not knows(self._rootdir, revision):
            return None
        return replace(self.history.changes_from(revision), commit=revision)

    def _passed(
        self, groups: Sequence[Sequence[str]], present: Collection[str]
    ) -> tuple[list[Mapping[str, str]], list[Mapping[str, str | None]]]:
        """Return per group the code on which its tests passed, and data that differs from then."""
        if self._revision:
            from pytest_bayesloc.history.git import changed_names, data_at, texts_at

            texts = texts_at(self._rootdir, self._revision)
            names = list(filter(is_data, changed_names(self._rootdir, self._revision)))
            read = data_at(self._rootdir, self._revision, names) if names else {}
            before: Mapping[str, str | None] = {name: read.get(name) for name in names}
            return [texts] * len(groups), [before] * len(groups)
        code = self._snapshots.last_passed(groups, present)
        data = self._snapshots.last_passed(groups, present, code=False)
        differing = {
            id(texts): {f: text for f, text in (texts or {}).items() if self._differs(f, text)}
            for texts in data
        }
        return [texts or {} for texts in code], [differing[id(texts)] for texts in data]

    def _differs(self, file: str, text: str) -> bool:
        """Whether a data file is gone, or holds another text; not if that can't be read."""
        try:
            return self._data(file) != text
        except (OSError, SyntaxError, UnicodeError):
            return False

    def _data(self, file: str) -> str | None:
        """Return the text of a data file; None if it is gone."""
        try:
            return as_python_reads(Path(self._sources.files.absolute(file)).read_bytes())
        except FileNotFoundError:
            return None
