"""Older states of the code, and the youngest of them with which the failing tests pass.

Reference:
    Bentley, Yao: An almost optimal algorithm for unbounded searching. IPL 1976. (Steps that
    double, then halving, as ``git bisect`` does between two known commits.)
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from textwrap import shorten
from typing import TYPE_CHECKING, Protocol

from pytest_bayesloc.domain.source import SourceMap
from pytest_bayesloc.history.changes import changes_since, narrowed
from pytest_bayesloc.history.git import changed_texts, commits, new_names, tracked

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from pytest_bayesloc.history.changes import Changes
    from pytest_bayesloc.history.git import Commit
    from pytest_bayesloc.spectrum.sources import Sources

N_STATES = 8  # that are tried in memory: the code before none, 1, 3 and 7 of the youngest commits
MAX_SILENT = 10  # states that can't say, between one that passes and one that fails
MAX_SUBJECT = 40  # characters of a commit's first line


class History(Protocol):
    """Older states of the project's code, the youngest first."""

    def states(self) -> Sequence[str]:
        """Return their names, at most ``N_STATES``; none if there are none, or nobody knows."""
        ...

    def changes(self, state: str) -> Changes:
        """Return the changes from then to now."""
        ...


class GitHistory:
    """The commits of the project, each as it was left; uncommitted code comes after all."""

    def __init__(self, rootdir: Path, sources: Sources) -> None:
        self._rootdir = rootdir
        self._sources = sources
        self._changes: dict[str, Changes] = {}

    @cached_property
    def _commits(self) -> dict[str, str]:
        """The newest ones, by their names in words."""
        newest = commits(self._rootdir, N_STATES + 1)
        return {_named(commit, subject): commit for commit, subject in newest}

    @cached_property
    def _tracked(self) -> frozenset[str]:
        """The files in git: of these, those that don't differ did not change."""
        return tracked(self._rootdir)

    def states(self) -> Sequence[str]:
        """Return the newest commits, the last one only where something is not committed."""
        states = list(self._commits)
        first = 0 if states and self.changes(states[0]).files else 1
        return states[first:]

    def changes(self, state: str) -> Changes:
        """Return the changes since one of ``states``."""
        if state not in self._changes:
            commit = self._commits[state]
            found = self.changes_from(commit)
            # Taking a new file back could take away what tests import: of its code nothing is said.
            known = (found.known | self._tracked).difference(new_names(self._rootdir, commit))
            self._changes[state] = replace(found, known=known, commit=state)
        return self._changes[state]

    def changes_from(self, commit: str) -> Changes:
        """Return the changes since a commit."""
        texts = changed_texts(self._rootdir, commit)
        (found,) = changes_since([texts], self._sources.read, self._sources.map)
        return found

    def changes_of(self, good: Commit, bad: Commit | None) -> Changes:
        """Return the changes that ``bad`` and what lies before it made since ``good``.

        Code that only younger commits changed is as good as unchanged: the tests failed before.

        Args:
            good: The older commit.
            bad: The younger one; None: all changes up to the code of now.
        """
        (found,) = changes_since([self._old(good.id)], self._sources.read, self._sources.map)
        if bad is not None:
            then = changed_texts(self._rootdir, bad.id, good.id)
            (own,) = changes_since(
                [self._old(good.id, bad.id)], then.get, lambda file: SourceMap(then[file], file)
            )
            found = narrowed(found, own)
        known = found.known | self._tracked
        return replace(found, known=known, commit=_named(good.name, good.subject))

    def _old(self, commit: str, until: str = "") -> dict[str, str]:
        """Return the files that differ from ``commit``; what is new since was empty."""
        new = new_names(self._rootdir, commit, until)
        return {**dict.fromkeys(new, ""), **changed_texts(self._rootdir, commit, until)}


def _named(commit: str, subject: str) -> str:
    return f"{commit} ({shorten(subject, MAX_SUBJECT, placeholder=' ...')})" if subject else commit


class Bisection:
    """The next older state to try, until the youngest one that passes is known.

    Steps back double until a state passes; then the states between are halved. States that can't
    say are left out, as by ``git bisect skip``. Where all older ones can't say (the tests were
    not written yet), what lies between those and the last one that fails is halved.

    Args:
        n_states: How many there are; the youngest is number 0.

    Attributes:
        failing: The oldest one known to fail, of those younger than ``passing``; -1: the code of
            now.
        passing: The youngest one known to pass.
        n_tried: How many of them were tried.
    """

    def __init__(self, n_states: int) -> None:
        self._last = n_states - 1
        self._reach: int | None = 0 if n_states else None  # while steps double
        self._silent: set[int] = set()
        self.failing = -1
        self.passing: int | None = None
        self.n_tried = 0

    @property
    def n_silent(self) -> int:
        """The number of states that could not say."""
        return len(self._silent)

    def next(self) -> int | None:
        """Return the state to try; None if no more is to be learned."""
        if self._reach is not None:
            return self._reach
        older = self.passing
        if older is None:
            older = min((at for at in self._silent if at > self.failing), default=self.failing)
        between = range(self.failing + 1, older)
        if len(self._silent.intersection(between)) > MAX_SILENT:
            return None
        untried = (at for at in between if at not in self._silent)
        return min(untried, key=lambda at: abs(2 * at - self.failing - older), default=None)

    def take(self, at: int, passes: bool | None) -> None:
        """Learn whether state ``at`` passes; None if it can't say."""
        self.n_tried += 1
        if at == self._reach:
            self._reach = None if passes or at == self._last else min(2 * at + 1, self._last)
        if passes is None:
            self._silent.add(at)
        elif passes:
            self.passing = at
        else:
            self.failing = at


def last_passing(history: History, passes: Callable[[Changes], bool]) -> Changes | None:
    """Return the changes since the youngest state that passes, if all older ones do.

    Args:
        history: Older states.
        passes: Whether the tests pass with these changes taken back.

    Returns:
        None if none of the states that are tried passes.
    """
    states = history.states()[:N_STATES]
    search = Bisection(len(states))
    while (at := search.next()) is not None:
        search.take(at, passes(history.changes(states[at])))
    return None if search.passing is None else history.changes(states[search.passing])
