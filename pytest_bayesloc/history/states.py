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

from pytest_bayesloc.history.changes import changes_since
from pytest_bayesloc.history.git import changed_texts, commits, tracked

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from pytest_bayesloc.history.changes import Changes
    from pytest_bayesloc.spectrum.sources import Sources

#: The states that are tried: the code before none, 1, 3 and 7 of the youngest commits.
STEPS = (0, 1, 3, 7)
N_STATES = STEPS[-1] + 1
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
    """The commits of the project, each as it was left; uncommitted code comes after all.

    Args:
        rootdir: Of the project.
        sources: The project's files as they are.
    """

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
            found = self.changes_from(self._commits[state])
            known = found.known | self._tracked
            self._changes[state] = replace(found, known=known, commit=state)
        return self._changes[state]

    def changes_from(self, commit: str) -> Changes:
        """Return the changes since a commit."""
        texts = changed_texts(self._rootdir, commit)
        (found,) = changes_since([texts], self._sources.read, self._sources.map)
        return found


def _named(commit: str, subject: str) -> str:
    return f"{commit} ({shorten(subject, MAX_SUBJECT, placeholder=' ...')})" if subject else commit


def last_passing(history: History, passes: Callable[[Changes], bool]) -> Changes | None:
    """Return the changes since the youngest state that passes, if all older ones do.

    Args:
        history: Older states.
        passes: Whether the tests pass with these changes taken back.

    Returns:
        None if none of the states that are tried passes.
    """
    states = history.states()
    failing, found = -1, None
    for at in dict.fromkeys(min(step, len(states) - 1) for step in STEPS if states):
        changes = history.changes(states[at])
        if passes(changes):
            found, passing = changes, at
            break
        failing = at
    else:
        return None
    while passing - failing > 1:
        middle = (passing + failing) // 2
        changes = history.changes(states[middle])
        if passes(changes):
            found, passing = changes, middle
        else:
            failing = middle
    return found
