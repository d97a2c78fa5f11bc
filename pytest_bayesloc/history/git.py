"""The project's files at git revisions, and the youngest revision with which failing tests pass.

Reference:
    Bentley, Yao: An almost optimal algorithm for unbounded searching. IPL 1976. (Steps that
    double, then halving, as ``git bisect`` does between two known commits.)
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from textwrap import shorten

from pytest_bayesloc.domain.errors import StoreError
from pytest_bayesloc.domain.source import SourceMap
from pytest_bayesloc.domain.texts import as_python_reads
from pytest_bayesloc.history.changes import Changes, changes_since, narrowed
from pytest_bayesloc.spectrum.sources import Sources

LIMIT_S = 30.0
LOOK_S = 5.0  # where nobody asked for it: a long history with little Python takes longer
PYTHON = "*.py"
# A copy is no place for the user's hooks, nor for half of the files, and loads nothing from afar.
PLAIN = ("core.hooksPath=/dev/null", "core.fsmonitor=false", "core.sparseCheckout=false")
OFFLINE = {"GIT_NO_LAZY_FETCH": "1", "GIT_LFS_SKIP_SMUDGE": "1"}
N_STATES = 8  # that are tried in memory: the code before none, 1, 3 and 7 of the youngest commits
MAX_SILENT = 10  # states that can't say, between one that passes and one that fails
MAX_SUBJECT = 40  # characters of a commit's first line


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """One commit.

    Attributes:
        id: Its whole name.
        name: Its abbreviated name.
        date: The day on which its author made it.
        subject: Its first line.
    """

    id: str
    name: str
    date: str
    subject: str


def texts_at(rootdir: Path, revision: str) -> dict[str, str]:
    """Return the Python files below ``rootdir`` at ``revision``, relative to it.

    Raises:
        StoreError: If git does not know the revision, or there is no git.
    """
    try:
        asked = ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"]
        commit = _git(rootdir, asked).decode("ascii", "replace").strip()
        listed = _git(rootdir, ["ls-tree", "-r", "-z", "--name-only", commit])
        names = _names(listed.decode("utf-8", "replace"))
        return _read(rootdir, commit, [name for name in names if name[-3:] == ".py"])
    except _GitError as error:
        raise StoreError(
            f"--bayesloc-green={revision} can't be read from git in {rootdir} ({error}): what "
            "changed since the tests passed is not known. Give a revision that `git log` knows.",
            slug="green-revision",
        ) from error


def data_at(rootdir: Path, revision: str, names: Sequence[str]) -> dict[str, str]:
    """Return the files ``names`` at ``revision``, as far as git can say and they are text."""
    with suppress(_GitError):
        return _read(rootdir, revision, names)
    return {}


def first_parents(
    rootdir: Path, at_most: int, *patterns: str, limit_s: float = LIMIT_S
) -> list[Commit]:
    """Return the newest commits, newest first; a merge stands for what it brought.

    None where git can't say, or prints something else. Without ``patterns`` of files that they
    changed, those that changed no Python are among them: data can break tests.
    """
    log = ["log", "--first-parent", "--format=%H%x00%h%x00%as%x00%s", f"--max-count={at_most}"]
    lines = _look(rootdir, [*log, "HEAD", "--", *patterns], limit_s).split("\n")
    rows = (line.split("\0", 3) for line in lines)
    whole = (row for row in rows if len(row) == 4)
    return [Commit(id=i, name=n, date=date, subject=text) for i, n, date, text in whole]


def is_shallow(rootdir: Path) -> bool:
    """Whether the repository holds the newest part of the history only."""
    return "true" in _look(rootdir, ["rev-parse", "--is-shallow-repository"], LIMIT_S)


@contextmanager
def copy_at(rootdir: Path, commit: str) -> Iterator[tuple[Path, Path] | None]:
    """Write the files of ``commit`` into a new folder, which is removed at the end.

    The repository's files, index and references stay as they are.

    Yields:
        The folder of the repository and that of the copy; None where git can't make it.
    """
    with tempfile.TemporaryDirectory(prefix="bayesloc-", ignore_cleanup_errors=True) as made:
        folder = Path(made).resolve() / "copy"
        folder.mkdir()
        try:
            asked = _git(rootdir, ["rev-parse", "--absolute-git-dir", "--show-prefix"]).decode()
            git_dir, prefix = asked.split("\n")[:2]
            where = [f"--git-dir={git_dir}", f"--work-tree={folder}"]
            options = [part for value in PLAIN for part in ("-c", value)]
            own = {**OFFLINE, "GIT_INDEX_FILE": str(folder.parent / "index")}
            _git(folder, [*options, *where, "read-tree", "--reset", "-u", commit], more=own)
        except (_GitError, UnicodeError):
            yield None
            return
        depth = len(Path(prefix).parts)
        yield (rootdir.parents[depth - 1] if depth else rootdir), folder


def head(rootdir: Path) -> tuple[str, str]:
    """Return the commit that is checked out, and its first line; empty without git.

    The commit's name ends in ``+`` if a Python file below ``rootdir`` differs from it.
    """
    with suppress(_GitError):
        shown = _git(rootdir, ["log", "-1", "--format=%H%x00%s"], limit_s=LOOK_S)
        commit, _, subject = shown.decode("utf-8", "replace").strip().partition("\0")
        asked = ["status", "--porcelain", "--untracked-files=no", "--", PYTHON]
        differs = _git(rootdir, asked, limit_s=LOOK_S).strip()
        return f"{commit}{'+' if differs else ''}", subject
    return "", ""


def knows(rootdir: Path, commit: str) -> bool:
    """Whether git has the commit here: a shallow clone may not."""
    return bool(_look(rootdir, ["cat-file", "-t", commit]))


def went_back(rootdir: Path, commit: str) -> bool:
    """Whether a commit before ``commit`` is looked at: off all branches, and nothing differs.

    A branch that was set back to it is no look, but an edit.
    """
    then = commit.rstrip("+")
    now, _ = head(rootdir) if then else ("", "")
    if not now or now.endswith("+") or now == then:
        return False
    with suppress(_GitError):
        _git(rootdir, ["merge-base", "--is-ancestor", now, then], limit_s=LOOK_S)
        on_branch = _git(rootdir, ["branch", "--show-current"], limit_s=LOOK_S)
        return not on_branch.strip()
    return False


def changed_texts(rootdir: Path, commit: str, until: str = "") -> dict[str, str]:
    """Return the Python files below ``rootdir`` that differ from ``commit``, as they were then.

    Files that are new since are not among them. Nothing where git can't say.

    Args:
        rootdir: Of the project.
        commit: The older state.
        until: The younger one; empty: the files as they are.
    """
    with suppress(_GitError):
        return _read(rootdir, commit, _differing(rootdir, [commit, until], "a", PYTHON))
    return {}


def changed_names(rootdir: Path, revision: str, until: str = "") -> list[str]:
    """Return the files that were at ``revision`` and differ from it; none where git can't say."""
    return _differing(rootdir, [revision, until], "a")


def tracked(rootdir: Path) -> frozenset[str]:
    """Return the Python files below ``rootdir`` in git; none where git can't say."""
    return frozenset(_names(_look(rootdir, ["ls-files", "-z", "--", PYTHON])))


def tracked_below(rootdir: Path, paths: Sequence[str]) -> list[str] | None:
    """Return what git knows of ``paths`` and below them, absolute; None where git can't say."""
    with suppress(_GitError):
        listed = _git(rootdir, ["ls-files", "-z", "--", *paths], limit_s=LOOK_S)
        return [str(rootdir / name) for name in _names(listed.decode("utf-8", "replace"))]
    return None


class _GitError(Exception):
    """An error message of git, in one line."""


def _differing(rootdir: Path, revisions: Sequence[str], chosen: str, *patterns: str) -> list[str]:
    """Return the files that differ as git's filter ``chosen`` asks; none where git can't say."""
    # By itself, a diff writes to the index what it finds unchanged.
    diff = ["-c", "diff.autoRefreshIndex=false", "diff", "--name-only", "--no-renames"]
    asked = [*diff, f"--diff-filter={chosen}", "-z", "--relative", *filter(None, revisions)]
    return _names(_look(rootdir, [*asked, "--", *patterns]))


def _read(rootdir: Path, commit: str, names: Sequence[str]) -> dict[str, str]:
    """Return the files ``names`` at ``commit``; those that are no text are left out."""
    named = [name for name in names if "\n" not in name]
    wanted = "".join(f"{commit}:./{name}\n" for name in named)
    blobs = _git(rootdir, ["cat-file", "--batch"], wanted.encode())
    found: dict[str, str] = {}
    at = 0
    for name in named:
        end = blobs.index(b"\n", at)
        head = blobs[at:end].split()
        at = end + 1
        if len(head) != 3 or not head[2].isdigit():
            continue  # a submodule, or nothing: git says "missing" and no more
        size = int(head[2])
        with suppress(SyntaxError, UnicodeError):
            found[name] = as_python_reads(blobs[at : at + size])
        at += size + 1
    return found


def _names(listed: str) -> list[str]:
    return [name for name in listed.split("\0") if name]


def _look(rootdir: Path, command: Sequence[str], limit_s: float = LOOK_S) -> str:
    """Return what git prints; nothing where it can't say."""
    with suppress(_GitError):
        return _git(rootdir, command, limit_s=limit_s).decode("utf-8", "replace")
    return ""


def _git(
    rootdir: Path,
    command: Sequence[str],
    given: bytes = b"",
    *,
    limit_s: float = LIMIT_S,
    more: Mapping[str, str] | None = None,
) -> bytes:
    try:
        done = subprocess.run(
            ["git", *command],  # noqa: S607 - the one that the user's PATH finds
            cwd=rootdir,
            # A look must not refresh the index.
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0", **(more or {})},
            input=given,
            check=True,
            capture_output=True,
            timeout=limit_s,
        )
    except (OSError, subprocess.SubprocessError) as error:
        reason = str(error)
        if isinstance(error, subprocess.CalledProcessError):
            reason = error.stderr.decode("utf-8", "replace").strip() or "unknown revision"
        raise _GitError(reason.partition("\n")[0]) from error
    return done.stdout


# -- older states of the project


class GitHistory:
    """The commits of the project, each as it was left; uncommitted code comes after all."""

    def __init__(self, rootdir: Path, sources: Sources) -> None:
        self._rootdir = rootdir
        self._sources = sources
        self._changes: dict[Commit, Changes] = {}

    @cached_property
    def _tracked(self) -> frozenset[str]:
        """The files in git: of these, those that don't differ did not change."""
        return tracked(self._rootdir)

    def states(self) -> Sequence[Commit]:
        """Return the newest commits of Python code, the last only if some is not committed."""
        newest = first_parents(self._rootdir, N_STATES + 1, PYTHON, limit_s=LOOK_S)
        first = 0 if newest and self.changes(newest[0]).files else 1
        return newest[first:]

    def changes(self, state: Commit) -> Changes:
        """Return the changes since one of ``states``."""
        if state not in self._changes:
            found = self.changes_from(state.id)
            # Taking a new file back could take away what tests import: of its code nothing is said.
            new = _differing(self._rootdir, [state.id], "A", PYTHON)
            known = (found.known | self._tracked).difference(new)
            self._changes[state] = replace(found, known=known, commit=_in_words(state))
        return self._changes[state]

    def changes_from(self, commit: str) -> Changes:
        """Return the changes since a commit."""
        return self._since(changed_texts(self._rootdir, commit))

    def _since(self, texts: Mapping[str, str]) -> Changes:
        (found,) = changes_since([texts], self._sources.read, self._sources.map)
        return found

    def changes_of(self, good: Commit, bad: Commit | None) -> Changes:
        """Return the changes that ``bad`` and what lies before it made since ``good``.

        Code that only younger commits changed is as good as unchanged: the tests failed before.

        Args:
            good: The older commit.
            bad: The younger one; None: all changes up to the code of now.
        """
        found = self._since(self._old(good.id))
        if bad is not None:
            then = changed_texts(self._rootdir, bad.id, good.id)
            (own,) = changes_since(
                [self._old(good.id, bad.id)], then.get, lambda file: SourceMap(then[file], file)
            )
            found = narrowed(found, own)
        return replace(found, known=found.known | self._tracked, commit=_in_words(good))

    def _old(self, commit: str, until: str = "") -> dict[str, str]:
        """Return the files that differ from ``commit``; what is new since was empty."""
        new = _differing(self._rootdir, [commit, until], "A", PYTHON)
        return {**dict.fromkeys(new, ""), **changed_texts(self._rootdir, commit, until)}


def _in_words(commit: Commit) -> str:
    subject = shorten(commit.subject, MAX_SUBJECT, placeholder=" ...")
    return f"{commit.name} ({subject})" if subject else commit.name


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
        silent: Those that could not say.
        n_tried: How many of them were tried.
    """

    def __init__(self, n_states: int) -> None:
        self._last = n_states - 1
        self._reach: int | None = 0 if n_states else None  # while steps double
        self.silent: set[int] = set()
        self.failing = -1
        self.passing: int | None = None
        self.n_tried = 0

    def next(self) -> int | None:
        """Return the state to try; None if no more is to be learned."""
        if self._reach is not None:
            return self._reach
        older = self.passing
        if older is None:
            older = min((at for at in self.silent if at > self.failing), default=self.failing)
        between = range(self.failing + 1, older)
        if len(self.silent.intersection(between)) > MAX_SILENT:
            return None
        untried = (at for at in between if at not in self.silent)
        return min(untried, key=lambda at: abs(2 * at - self.failing - older), default=None)

    def take(self, at: int, passes: bool | None) -> None:
        """Learn whether state ``at`` passes; None if it can't say."""
        self.n_tried += 1
        if at == self._reach:
            self._reach = None if passes or at == self._last else min(2 * at + 1, self._last)
        if passes is None:
            self.silent.add(at)
        elif passes:
            self.passing = at
        else:
            self.failing = at


def last_passing(history: GitHistory, passes: Callable[[Changes], bool]) -> Changes | None:
    """Return the changes since the youngest state that passes; None if none that is tried does.

    Args:
        history: Older states, of which those before one that passes are taken to pass as well.
        passes: Whether the tests pass with these changes taken back.
    """
    states = history.states()[:N_STATES]
    search = Bisection(len(states))
    while (at := search.next()) is not None:
        search.take(at, passes(history.changes(states[at])))
    return None if search.passing is None else history.changes(states[search.passing])
