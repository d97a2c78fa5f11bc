"""Recorded stories of edits and runs, replayed by real runs of pytest on a small project.

A story says what has to be told in which run. A story is added as a value to one of the modules of
``benchmarks.memory.stories``. Each run is a fork of this process, in which pytest and the plugin
are imported already: a tenth of a second each.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import pkgutil
import re
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING, Any

import pytest

import pytest_bayesloc

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

#: Rules that are read from the terminal; all others are kinds of loops in the JSON result.
SAID: Mapping[str, str] = {
    "fixed": r"is fixed",
    "no fix": r"(?<!, which is )no fix|(?<!by trial \d), which is no fix",
    "flaky": r"\bflaky\b",
    "moved": r"\bmoved\b",
}
LEAN = tuple(
    f"-pno:{name}"
    for name in ("hypothesispytest", "xdist", "xdist.looponfail", "pytest_cov", "anyio")
)
PRELOADED = (
    "pdb",
    "unittest",
    "sqlite3",
    *(
        f"_pytest.{name}"
        for name in ("junitxml", "skipping", "stepwise", "unittest", "faulthandler")
    ),
)
LIMIT_S = 120
RECALL, PRECISION = 0.95, 0.98
OURS = ("PYTEST_", "COV_", "COVERAGE_", "PYTHONWARN", "CI", "GITHUB_", "GITLAB_", "TOX_")
GIT = {
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
    "GIT_CONFIG_GLOBAL": os.devnull,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Some edits, and the run after them.

    Attributes:
        edits: Each an old and a new text, of which the old one stands in one file once, or texts
            by file; None takes the file away.
        shell: A command that is executed after the edits, as ``git commit -qam wip``.
        args: Arguments of pytest.
        environ: More variables of the run.
        told: Rules that have to be told; one of several, as ``same error|wrong place``, which is
            counted as the first of them.
        may: Rules that may be told.
        says: Rules with a pattern each that the terminal has to match.
        never: Rules with a pattern each that it may not match.
    """

    edits: tuple[tuple[str, str] | Mapping[str, str | None], ...] = ()
    shell: str = ""
    args: tuple[str, ...] = ()
    environ: Mapping[str, str] = field(default_factory=dict)
    told: frozenset[str] = frozenset()
    may: frozenset[str] = frozenset()
    says: tuple[tuple[str, str], ...] = ()
    never: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """A project, and what was done to it.

    Attributes:
        name: In a few words.
        kind: ``loop``, ``progress`` or ``lesson``: in a story of progress no loop may be told.
        files: Texts by file.
        steps: In their order.
        uses_git: Whether the project is a repository, with all files in its first commit.
        args: Arguments of pytest in all runs.
    """

    name: str
    kind: str
    files: Mapping[str, str]
    steps: tuple[Step, ...]
    uses_git: bool = False
    args: tuple[str, ...] = ()


def run(  # noqa: PLR0913 - all of it has a default
    *edits: tuple[str, str] | Mapping[str, str | None],
    told: str = "",
    may: str = "",
    shell: str = "",
    args: str = "",
    environ: Mapping[str, str] | None = None,
    says: Sequence[tuple[str, str]] = (),
    never: Sequence[tuple[str, str]] = (),
) -> Step:
    """Return a step; rules are separated by commas, arguments by blanks."""
    return Step(
        edits=edits,
        shell=shell,
        args=tuple(args.split()),
        environ=environ or {},
        told=frozenset(filter(None, map(str.strip, told.split(",")))),
        may=frozenset(filter(None, map(str.strip, may.split(",")))),
        says=tuple(says),
        never=tuple(never),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What one run told.

    Attributes:
        rules: By their names.
        text: On the terminal.
        document: The JSON result; empty where nothing failed.
    """

    rules: frozenset[str]
    text: str
    document: Mapping[str, Any]


@dataclass(kw_only=True)
class Tally:
    """Counts of the runs in which a rule was told or was to be told.

    Attributes:
        right: It was told, and had to be.
        false: It was told, and must not be; per story and number of the run.
        missed: It had to be told; likewise.
    """

    right: Counter[str] = field(default_factory=Counter)
    false: list[tuple[str, str, int]] = field(default_factory=list)
    missed: list[tuple[str, str, int]] = field(default_factory=list)

    def add(self, story: Story, number: int, step: Step, told: Told) -> None:
        """Count one run."""
        found, allowed = set(told.rules), set(step.may)
        for rule, *others in (wanted.split("|") for wanted in step.told):
            allowed |= {rule, *others}
            self._count(rule, story.name, number, is_told=not found.isdisjoint((rule, *others)))
        for rule, pattern in step.says:
            is_told = re.search(pattern, told.text) is not None
            self._count(rule, story.name, number, is_told=is_told)
        wrong = {rule for rule, pattern in step.never if re.search(pattern, told.text)}
        wrong |= found - allowed
        self.false += [(rule, story.name, number) for rule in sorted(wrong)]

    def _count(self, rule: str, story: str, number: int, *, is_told: bool) -> None:
        if is_told:
            self.right[rule] += 1
        else:
            self.missed.append((rule, story, number))

    @property
    def rules(self) -> list[str]:
        """The names of all rules."""
        return sorted({*self.right, *(r for r, *_ in self.false), *(r for r, *_ in self.missed)})

    def row(self, rule: str | None) -> tuple[int, int, int]:
        """Return how often a rule, or any, was told rightly, wrongly, and not at all."""
        n_right = self.right.total() if rule is None else self.right[rule]
        n_false, n_missed = (
            sum(rule in {None, name} for name, *_ in places) for places in (self.false, self.missed)
        )
        return n_right, n_false, n_missed


# -- running


def replay(story: Story, folder: Path) -> Iterator[tuple[int, Step, Told]]:
    """Run a story in an empty folder, and yield its runs, numbered from 1."""
    root = folder / "project"
    write(root, {"pytest.ini": "[pytest]\n", **story.files})
    if story.uses_git:
        _shell("git init -q && git add -A && git commit -qm start", root)
    for number, step in enumerate(story.steps, 1):
        for edit in step.edits:
            change(root, edit)
        if step.shell:
            _shell(step.shell, root)
        yield number, step, told_by(root, folder, [*story.args, *step.args], step.environ)


def write(root: Path, files: Mapping[str, str | None]) -> None:
    """Write indented texts to files, or take files away."""
    for name, text in files.items():
        path = root / name
        if text is None:
            path.unlink()
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text).lstrip("\n"), encoding="utf-8")


def change(root: Path, edit: tuple[str, str] | Mapping[str, str | None]) -> None:
    """Make one edit."""
    if not isinstance(edit, tuple):
        write(root, edit)
        return
    old, new = edit
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(root.rglob("*.py"))}
    at = [path for path, text in texts.items() if text.count(old) == 1]
    if len(at) != 1:
        raise ValueError(f"{old!r} stands in {len(at)} files once")
    at[0].write_text(texts[at[0]].replace(old, new), encoding="utf-8")


def told_by(
    root: Path, folder: Path, args: Sequence[str], environ: Mapping[str, str] | None = None
) -> Told:
    """Run pytest in ``root``, and return what it told."""
    report, output = folder / "result.json", folder / "output.txt"
    report.unlink(missing_ok=True)
    asked = ["-q", "--tb=no", "--bug-advice", f"--bayesloc-report=json:{report}"]
    _forked(root, output, [*LEAN, *asked, *args], environ or {})
    text = output.read_text(encoding="utf-8", errors="replace")
    document = json.loads(report.read_text(encoding="utf-8")) if report.exists() else {}
    loops = document["memory"]["loops"] if document else []
    said = {rule for rule, pattern in SAID.items() if re.search(pattern, text)}
    return Told(rules=frozenset(said | {e["kind"] for e in loops}), text=text, document=document)


def _forked(root: Path, output: Path, args: Sequence[str], environ: Mapping[str, str]) -> None:
    """Run pytest in a fork of this process."""
    pid = os.fork()
    if pid:
        _, status = os.waitpid(pid, 0)
        if os.waitstatus_to_exitcode(status) not in {0, 1, 2}:
            raise RuntimeError(f"pytest ended with {status}: {output.read_text('utf-8')[-2000:]}")
        return
    code = 70
    try:
        target = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(target, 1)
        os.dup2(target, 2)
        for name in [name for name in os.environ if name.startswith(OURS)]:
            del os.environ[name]
        os.environ.update({**environ, "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "200"})
        os.chdir(root)
        sys.path.insert(0, str(root))
        sys.dont_write_bytecode = True  # two edits in a second may leave the same size
        code = int(pytest.main(list(args)))
        sys.stdout.flush()
    finally:
        os._exit(code)


def preload() -> None:
    """Import what runs need, so that forks have it."""
    for module in pkgutil.walk_packages(pytest_bayesloc.__path__, "pytest_bayesloc."):
        if not module.name.endswith("__main__"):
            with contextlib.suppress(ImportError):  # of an extra that is not installed
                importlib.import_module(module.name)
    for name in PRELOADED:
        importlib.import_module(name)
    gc.freeze()


def _shell(command: str, root: Path) -> None:
    subprocess.run(
        ["/bin/sh", "-ec", command],
        cwd=root,
        env={**os.environ, **GIT},
        check=True,
        timeout=LIMIT_S,
        capture_output=True,
    )


# -- all stories


def tallied(stories: Iterable[Story], show: bool = False) -> Tally:
    """Replay stories, and count what they told."""
    preload()
    tally = Tally()
    for story in stories:
        with tempfile.TemporaryDirectory(prefix="bayesloc-replay-") as folder:
            for number, step, told in replay(story, Path(folder)):
                tally.add(story, number, step, told)
                if show:
                    print(f"--- {story.name}, run {number}: {sorted(told.rules)}\n{told.text}")
    return tally


def is_good(tally: Tally) -> bool:
    """Return whether recall and precision over all rules reach their targets."""
    right, false, missed = tally.row(None)
    return right >= RECALL * (right + missed) and right >= PRECISION * (right + false)


def table(tally: Tally) -> str:
    """Return a table with precision and recall of each rule, and what went wrong."""
    lines = ["| rule | told | missed | false | recall | precision |", "|---|--:|--:|--:|--:|--:|"]
    for rule in (*tally.rules, None):
        right, false, missed = tally.row(rule)
        recall, precision = _share(right, right + missed), _share(right, right + false)
        named = "all" if rule is None else rule
        lines.append(f"| {named} | {right} | {missed} | {false} | {recall} | {precision} |")
    for what, places in (("missed", tally.missed), ("false", tally.false)):
        lines += [f"{what}: {rule}: {story}, run {number}" for rule, story, number in places]
    return "\n".join(lines)


def _share(n: int, of: int) -> str:
    return f"{n / of:.2f}" if of else "-"
