"""Green runs: what the tests that pass have passed on, and what changed for those that fail."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.clock import time_ns
from pytest_bayesloc.domain.errors import StoreError
from pytest_bayesloc.history.snapshots import GreenMemory, written_ns
from pytest_bayesloc.report.files import FOLDER, own_folder
from pytest_bayesloc.spectrum.cache.key import installation

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from pytest_bayesloc.history.changes import Changes
    from pytest_bayesloc.history.moves import Then
    from pytest_bayesloc.history.states import History
    from pytest_bayesloc.options import Settings
    from pytest_bayesloc.spectrum.recorder import Recorder
    from pytest_bayesloc.spectrum.sources import Sources

MAX_SAID = 40  # characters of a commit's first line


class GreenRuns:
    """The run that begins now, beside the green ones before it.

    Args:
        rootdir: Of the project.
        settings: What the user asked for.
        sources: The project's files as they are.
        in_use: Those that are imported.
        note: Tells the user, once.
    """

    def __init__(
        self,
        rootdir: Path,
        settings: Settings,
        sources: Sources,
        in_use: Callable[[], Collection[str]],
        note: Callable[[str], None],
    ) -> None:
        self._rootdir = rootdir
        self._settings = settings
        self._sources = sources
        self._in_use = in_use
        self._note = note
        self._memory = GreenMemory(rootdir / FOLDER / "green.sqlite")
        self._started_ns = time_ns()
        self._last_run_ns = written_ns(self._memory.path) or self._started_ns

    def changes(self, groups: Sequence[Sequence[str]]) -> list[Changes]:
        """Per group of tests, what changed since they passed, as far as that is remembered."""
        from pytest_bayesloc.history.changes import Changes, changes_since

        if not groups:
            return []
        try:
            greens = self._texts(groups)
        except StoreError as error:
            self._note(str(error))
            return [Changes() for _ in groups]
        return changes_since(greens, self._sources.read, self._sources.map)

    def edits(
        self, groups: Sequence[Sequence[str]], revisions: Sequence[str]
    ) -> list[Changes | None]:
        """Per group of tests, what changed since they last ran; None where that is not known.

        Args:
            groups: Node ids.
            revisions: Of each group, the git revision that it last ran at, which is asked where
                this checkout saw no run; empty if unknown.

        Raises:
            StoreError: If the memory can't be read.
        """
        from pytest_bayesloc.history.changes import changes_since
        from pytest_bayesloc.history.moves import Then

        runs = self._memory.last_runs(groups)
        texts_of = {id(run.texts): run.texts for run in runs if run is not None}
        then_of = {key: self._followed(texts) for key, texts in texts_of.items()}
        thens = [Then(texts={}) if run is None else then_of[id(run.texts)] for run in runs]
        # What is gone is compared as empty.
        found = changes_since(
            [then.texts for then in thens],
            lambda file: self._sources.read(file) or "",
            lambda file: self._sources.map(file) or self._sources.empty(file),
        )
        return [
            replace(changes, moved=then.moved) if run is not None else self._since(revision)
            for run, changes, then, revision in zip(runs, found, thens, revisions, strict=True)
        ]

    def state(self) -> str:
        """A digest of all that decides what a test does, as far as it is Python.

        The project's files that are imported, the packages that are installed, and the interpreter.
        """
        digest = hashlib.sha256(installation().encode("utf-8", "backslashreplace"))
        for file in sorted(self._files):
            text = f"{file}\0{self._sources.read(file)}\0"
            digest.update(text.encode("utf-8", "backslashreplace"))
        return digest.hexdigest()[:32]

    @cached_property
    def _files(self) -> Collection[str]:
        """The files in use when the run is over: nobody asks before."""
        return self._in_use()

    def _followed(self, texts: Mapping[str, str]) -> Then:
        from pytest_bayesloc.history.moves import followed

        return followed(texts, self._sources.read, self._files, self._is_new)

    def _is_new(self, file: str) -> bool:
        """Whether a file was made since the last run, as far as the file system knows."""
        try:
            status = Path(self._sources.files.absolute(file)).stat()
        except OSError:
            return False
        return status.st_ctime_ns > self._last_run_ns

    def _since(self, revision: str) -> Changes | None:
        """What changed since a revision of git; None if it was not clean, or git does not know."""
        from pytest_bayesloc.history.git import knows

        if not revision or revision.endswith("+") or not knows(self._rootdir, revision):
            return None
        return replace(self._history.changes_from(revision), commit=revision)

    @cached_property
    def _history(self) -> _GitHistory:
        return _GitHistory(self._rootdir, self._sources)

    def _texts(self, groups: Sequence[Sequence[str]]) -> list[Mapping[str, str]]:
        revision = self._settings.green
        if revision:
            from pytest_bayesloc.history.git import texts_at

            return [texts_at(self._rootdir, revision)] * len(groups)
        if not self._settings.remembers:
            return [{} for _ in groups]
        greens = self._memory.last_greens(groups)
        return [{} if green is None else green.texts for green in greens]

    def history(self) -> History:
        """What git knows of older code."""
        return self._history

    def remember(self, recorder: Recorder, *, is_quiet: bool) -> None:
        """Note what the tests that passed have passed on.

        Args:
            recorder: Of this run.
            is_quiet: Whether the user is spared what goes wrong.
        """
        verdicts = recorder.recorded.verdicts
        passed = [node_id for node_id, has_passed in verdicts.items() if has_passed]
        failed = [node_id for node_id, has_passed in verdicts.items() if not has_passed]
        files = recorder.files_in_use() if verdicts and self._settings.remembers else {}
        if not files:
            return
        try:
            with suppress(OSError):  # what can't be made is said below
                own_folder(self._rootdir)
            self._memory.remember(passed, failed, files, self._started_ns)
        except StoreError as error:
            if not is_quiet:
                self._note(str(error))


class _GitHistory:
    """The commits of the project, each as it was left; what is not committed comes after all."""

    def __init__(self, rootdir: Path, sources: Sources) -> None:
        self._rootdir = rootdir
        self._sources = sources
        self._changes: dict[str, Changes] = {}

    @cached_property
    def _commits(self) -> dict[str, str]:
        """The newest ones, by what they are called in words."""
        from pytest_bayesloc.history.git import commits
        from pytest_bayesloc.history.states import N_STATES

        newest = commits(self._rootdir, N_STATES + 1)
        return {_called(name, said): name for name, said in newest}

    @cached_property
    def _tracked(self) -> frozenset[str]:
        """The files that git looks after: of these, what does not differ did not change."""
        from pytest_bayesloc.history.git import tracked

        return tracked(self._rootdir)

    def states(self) -> Sequence[str]:
        """The newest commits, the last one only where something is not committed."""
        states = list(self._commits)
        first = 0 if states and self.changes(states[0]).files else 1
        return states[first:]

    def changes(self, state: str) -> Changes:
        """What changed since the commit."""
        if state not in self._changes:
            found = self.changes_from(self._commits[state])
            known = found.known | self._tracked
            self._changes[state] = replace(found, known=known, commit=state)
        return self._changes[state]

    def changes_from(self, commit: str) -> Changes:
        """What changed since a commit."""
        from pytest_bayesloc.history.changes import changes_since
        from pytest_bayesloc.history.git import changed_texts

        texts = changed_texts(self._rootdir, commit)
        (found,) = changes_since([texts], self._sources.read, self._sources.map)
        return found


def _called(commit: str, said: str) -> str:
    return f"{commit} ({shorten(said, MAX_SAID, placeholder=' ...')})" if said else commit
