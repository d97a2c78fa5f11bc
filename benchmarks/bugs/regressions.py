"""Regressions of real histories: the source of a later commit under the tests of an earlier one.

The tests pass at the earlier commit, and the plugin remembers that. Then dozens of functions change
at once, and some tests fail. Which blocks of changed lines break which test is found by delta
debugging on the files themselves, in runs without the plugin.

Reference:
    Zeller: Yesterday, my program worked. Today, it does not. Why? ESEC/FSE 1999.
"""

from __future__ import annotations

import difflib
import json
import math
import os
import resource
import shutil
import subprocess
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.bugs.candidates import is_source, is_test_file
from benchmarks.bugs.checkout import Checkout, changed_files
from benchmarks.bugs.mining import DATA, clone_of, data_file
from benchmarks.suites.process import run
from benchmarks.suites.workspace import write_json
from pytest_bayesloc.domain.location import MODULE
from pytest_bayesloc.domain.source import SourceMap, lines_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

PLUGIN = Path(__file__).resolve().parents[2] / "pytest_bayesloc"
KEPT = DATA / "regressions"
GAP = 30  # commits between the two
STEP = 60  # commits from one pair to the next
MAX_FAILING = 200
N_TESTS = 4  # of a pair, whose truth is looked for
MAX_RUNS = 60  # of them
MAX_BLOCKS = 600
LIMIT_S = 400.0
BUDGET_S = 180


class NoRegressionError(Exception):
    """The pair of commits is none for this set; its text says why."""


@dataclass(frozen=True, slots=True, order=True)
class Block:
    """Lines of a file that differ between the commits, and those that stood there.

    Attributes:
        file: Its path.
        start: First line as it is, from 0.
        end: The end of the lines, excluded.
        then: The lines of the earlier commit.
    """

    file: str
    start: int
    end: int
    then: tuple[str, ...]

    @property
    def said(self) -> list[Any]:
        """File, first and last line from 1; where lines are gone, those around the place."""
        is_gone = self.start == self.end
        return [self.file, self.start + (not is_gone), self.end + is_gone]


@dataclass(slots=True)
class Pair:
    """Two texts of each changed file, and what is known of them.

    Attributes:
        then: Of the earlier commit.
        now: Of the later one; empty if the file is gone.
        known: Per set of blocks that were undone, the tests that passed.
        n_runs: Runs of tests.
        cpu_s: Their CPU seconds.
    """

    checkout: Checkout
    then: Mapping[str, str]
    now: Mapping[str, str]
    tests: Sequence[str] = ()
    known: dict[frozenset[Block], frozenset[str]] = field(default_factory=dict)
    n_runs: int = 0
    cpu_s: float = 0.0

    def blocks(self) -> list[Block]:
        """All that changed, file by file."""
        found = []
        for file, then in self.then.items():
            old, new = lines_of(then), lines_of(self.now[file])
            codes = difflib.SequenceMatcher(None, new, old, False).get_opcodes()
            found += [
                Block(file, i1, i2, tuple(old[j1:j2]))
                for tag, i1, i2, j1, j2 in codes
                if tag != "equal"
            ]
        return found

    def passed(self, undone: Iterable[Block]) -> frozenset[str]:
        """The tests that pass with some blocks as they were."""
        key = frozenset(undone)
        if key not in self.known:
            if self.n_runs == MAX_RUNS:
                raise NoRegressionError("too many runs for its truth")
            texts = {
                file: _undone(text, [b for b in key if b.file == file])
                for file, text in self.now.items()
            }
            self.checkout.write(texts)
            ends = self.checkout.run_tests(self.tests)
            self.n_runs += 1
            self.cpu_s += ends.cpu_s
            self.known[key] = ends.passed
        return self.known[key]

    def smallest(self, test: str, every: Sequence[Block]) -> list[Block]:
        """The fewest blocks without which ``test`` passes: files first, then their blocks."""
        files = list(dict.fromkeys(block.file for block in every))
        kept = self._minimal(test, [[b for b in every if b.file == f] for f in files])
        return self._minimal(test, [[block] for block in kept])

    def _minimal(self, test: str, parts: list[list[Block]]) -> list[Block]:
        """Halve while one half suffices, then leave out what is not needed."""
        while len(parts) > 1:
            middle = len(parts) // 2
            halves = parts[:middle], parts[middle:]
            half = next((h for h in halves if test in self.passed(_joined(h))), None)
            if half is None:
                break
            parts = half
        size = len(parts) // 4
        while size:
            at = 0
            while at < len(parts):
                fewer = parts[:at] + parts[at + size :]
                if fewer and test in self.passed(_joined(fewer)):
                    parts = fewer
                else:
                    at += size
            size //= 2
        for part in list(parts) if len(parts) > 1 else ():
            fewer = [other for other in parts if other is not part]
            if fewer and test in self.passed(_joined(fewer)):
                parts = fewer
        return _joined(parts)


def regress(name: str, *, clones: Path, work: Path, python: Path, most: int, tries: int) -> str:
    """Find regressions of a repository, run the plugin on each, and keep what came of it.

    Args:
        name: As ``owner/name``.
        clones: Folder of git directories, each in ``owner+name/repo``.
        work: Folder for its work tree.
        python: Interpreter of the environment with all requirements.
        most: Pairs of commits that are kept.
        tries: Pairs that are looked at.
    """
    folder = work / name.replace("/", "+")
    checkout = Checkout(clone_of(name, clones), folder, python)
    (folder / "plugin").mkdir(exist_ok=True)
    link = folder / "plugin" / "pytest_bayesloc"
    link.unlink(missing_ok=True)
    link.symlink_to(PLUGIN)
    path = data_file(KEPT, name)
    kept: list[dict[str, Any]] = json.loads(path.read_text("utf-8")) if path.is_file() else []
    why: Counter[str] = Counter()
    checkout.lay_out("origin/HEAD")
    os.environ["PYTEST_ADDOPTS"] = _without_plugins(checkout.tree)
    began = time.process_time() + _children_s()
    log = ["log", "--first-parent", "--format=%H", f"--max-count={tries * STEP + GAP}"]
    commits = checkout.git(*log, "origin/HEAD").split()
    for at in range(0, max(0, len(commits) - GAP), STEP):
        before, after = commits[at + GAP], commits[at]
        if len(kept) >= most or any(row["after"] == after for row in kept):
            continue
        try:
            kept.append(found(name, checkout, before, after))
            KEPT.mkdir(parents=True, exist_ok=True)
            write_json(path, kept)
            why["kept"] += 1
        except NoRegressionError as reason:
            why[str(reason)] += 1
            if str(reason) == SLOW:
                break
        except (subprocess.CalledProcessError, OSError, UnicodeError, RecursionError) as error:
            why[f"trouble: {type(error).__name__}"] += 1
    spent = time.process_time() + _children_s() - began
    return f"{len(kept)} pairs, {spent:.0f} CPU s, {dict(why)}"


#: Plugins that take half a second to load, and the word that stands in tests that need them.
HEAVY = {"hypothesispytest": "hypothesis", "trio": "trio", "asyncio": "asyncio", "anyio": "anyio"}


def _without_plugins(tree: Path) -> str:
    """Options that leave out plugins of the environment that the tests do not need."""
    texts = "\n".join(path.read_text("utf-8", "replace") for path in tree.rglob("*test*/**/*.py"))
    texts += "\n".join(path.read_text("utf-8", "replace") for path in tree.glob("*.py"))
    return " ".join(f"-p no:{name}" for name, word in HEAVY.items() if word not in texts)


SLOW = "its tests take too long"
SUITE_S = 12.0


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def found(name: str, checkout: Checkout, before: str, after: str) -> dict[str, Any]:
    """The regression between two commits, with its truths and with what the plugin says.

    Raises:
        NoRegressionError: If there is none that this set can hold.
    """
    then, now = _texts(checkout, before, after)
    added = {file: text for file, text in now.items() if file not in then}
    pair = Pair(checkout, then, {file: text for file, text in now.items() if file in then})
    checkout.lay_out(before)
    files = [f for f in checkout.git("ls-files").split("\n") if is_test_file(f)]
    chosen = [f for f in files if Path(f).stem.startswith("test") or f.endswith("_test.py")]
    green = checkout.run_tests(chosen, limit_s=60.0)
    if green.uncollected.keys() & set(chosen):  # they ask for what is not installed
        chosen = [file for file in chosen if file not in green.uncollected]
        green = checkout.run_tests(chosen, limit_s=60.0)
    if green.cpu_s > SUITE_S or not green.passed:
        raise NoRegressionError(SLOW if green.cpu_s > SUITE_S else "its tests do not run here")
    _write(checkout, now)
    red = checkout.run_tests(chosen, limit_s=60.0)
    failing = sorted(green.passed & red.failed.keys())
    if not failing:
        raise NoRegressionError("no test fails")
    if len(failing) > MAX_FAILING:
        raise NoRegressionError("too many tests fail")
    pair.tests = _spread(failing, red.failed)
    every = pair.blocks()
    if len(every) > MAX_BLOCKS:
        raise NoRegressionError("too many changes")
    still = pair.passed(every)
    pair.tests = [test for test in pair.tests if test in still and test not in pair.passed(())]
    if not pair.tests:
        raise NoRegressionError("its tests end otherwise by themselves")
    truths: dict[tuple[Block, ...], list[str]] = {}
    for test in pair.tests:
        truths.setdefault(tuple(sorted(pair.smallest(test, every))), []).append(test)
    maps = {file: SourceMap(text, file) for file, text in pair.now.items()}
    wanted = sorted({node_id.partition("::")[0] for node_id in failing})
    said = _said(checkout, before, {**pair.now, **added}, wanted)
    return {
        "repository": name,
        "before": before,
        "after": after,
        "failing": failing,
        "n_blocks": len(every),
        "n_files": len(pair.then),
        "cpu_s": round(green.cpu_s + red.cpu_s + pair.cpu_s, 1),
        "truths": [
            {
                "tests": tests,
                "blocks": [[*block.said, _place(maps[block.file], block)] for block in blocks],
                **_judged(pair, blocks, maps, tests, said),
            }
            for blocks, tests in truths.items()
        ],
    }


def _texts(checkout: Checkout, before: str, after: str) -> tuple[dict[str, str], dict[str, str]]:
    """The source files that were there and differ, and all that differ as they are.

    One that is gone is empty.
    """
    status = checkout.git("diff", "--no-renames", "--name-status", before, after)
    changed = {f: k for f, k in changed_files(status.splitlines()).items() if is_source(f)}
    if not changed:
        raise NoRegressionError("no source changes")
    then = {f: checkout.text(before, f) for f, k in changed.items() if k != "A"}
    now = {f: "" if k == "D" else checkout.text(after, f) for f, k in changed.items()}
    return then, now


def _write(checkout: Checkout, texts: Mapping[str, str]) -> None:
    for file in texts:
        (checkout.tree / file).parent.mkdir(parents=True, exist_ok=True)
    checkout.write(texts)


def _spread(failing: Sequence[str], errors: Mapping[str, str]) -> list[str]:
    """A few of the failing tests, of as many errors and files as there are."""
    seen: Counter[tuple[str, str]] = Counter()
    ranked = []
    for test in failing:
        key = test.partition("::")[0], errors[test][:40]
        ranked.append((seen[key], test))
        seen[key] += 1
    return [test for _, test in sorted(ranked)[:N_TESTS]]


def _place(source: SourceMap, block: Block) -> str:
    """The innermost function or class around the lines of a block."""
    around = [
        unit
        for unit in source.units
        if unit.first_line - 1 <= block.start and block.end <= unit.location.end_line
    ]
    innermost = max(around, key=lambda unit: unit.first_line, default=source.module)
    return innermost.location.qualname or MODULE


def _joined(parts: Iterable[Sequence[Block]]) -> list[Block]:
    return [block for part in parts for block in part]


def _undone(text: str, blocks: Sequence[Block]) -> str:
    lines = lines_of(text)
    for block in sorted(blocks, key=lambda b: (b.start, b.end), reverse=True):
        lines[block.start : block.end] = block.then
    return "".join(lines)


# -- the plugin's answer


def _said(
    checkout: Checkout, before: str, later: Mapping[str, str], files: Sequence[str]
) -> dict[str, Any]:
    """The plugin's result on the later source, after a green run on the earlier one."""
    checkout.lay_out(before)
    for left in (".bayesloc", ".pytest_cache"):
        shutil.rmtree(checkout.tree / left, ignore_errors=True)
    checkout.commit_afresh()
    to = checkout.tree.parent / "report.json"
    to.unlink(missing_ok=True)
    _with_plugin(checkout, *files)
    _write(checkout, later)
    ran = _with_plugin(
        checkout,
        "--bayesloc",
        f"--bayesloc-budget={BUDGET_S}",
        f"--bayesloc-report=json:{to}",
        *files,
    )
    document: dict[str, Any] = json.loads(to.read_text("utf-8")) if to.is_file() else {"faults": []}
    return {**document, "cpu_s": round(ran, 1)}


def _with_plugin(checkout: Checkout, *options: str) -> float:
    folder = checkout.tree.parent
    return run(
        checkout.pytest(*options),
        cwd=checkout.tree,
        limit_s=LIMIT_S,
        log=folder / "plugin.log",
        env=checkout.environment(folder / "plugin"),
    ).cpu_s


def _judged(
    pair: Pair,
    blocks: Sequence[Block],
    maps: Mapping[str, SourceMap],
    tests: Sequence[str],
    said: Mapping[str, Any],
) -> dict[str, Any]:
    """How the answer to the first of ``tests`` compares with the truth.

    Returns:
        Whether the first suspect is a place of the truth (``function``); whether the change that is
        shown is in it (``hunk``), and nothing beside it (``exact``); whether the test passes when
        that change is undone in the files (``works``).
    """
    fault = next((f for f in said["faults"] if tests[0] in f["failing_tests"]), None)
    if fault is None or not fault["ranking"]:
        return {"function": False, "hunk": False, "exact": False, "works": False, "shown": []}
    first = fault["ranking"][0]
    places = {(block.file, _place(maps[block.file], block)) for block in blocks}
    changes = [c for c in fault["breaking_changes"] if tests[0] in c["tests"]]
    changes = changes or fault["breaking_changes"]
    shown = changed_lines_of(changes[0]["diff"]) if changes else []
    inside = [any(_is_in(line, block) for block in blocks) for line in shown]
    return {
        "function": (first["file"], first["qualname"]) in places,
        "first": f"{first['file']} {first['qualname']}",
        "hunk": any(inside),
        "exact": bool(inside) and all(inside),
        "works": bool(changes) and _works(pair, changes[0]["diff"], tests[0]),
        "shown": sorted({(file, line) for file, line in shown})[:10],
        "is_smallest": bool(changes) and changes[0]["is_smallest"],
    }


def _is_in(line: tuple[str, int], block: Block) -> bool:
    file, first, last = block.said
    return bool(line[0] == file and first <= line[1] <= last)


def changed_lines_of(diff: str) -> list[tuple[str, int]]:
    """Files and lines, as they are, that a diff takes away, or behind which it adds."""
    found, file, number = [], "", 0
    for text in diff.splitlines():
        if text.startswith("--- a/"):
            file = text.removeprefix("--- a/")
        elif text.startswith("@@"):
            number = int(text.split()[1].split(",")[0].lstrip("-"))
        elif text.startswith("-"):
            found.append((file, number))
            number += 1
        elif text.startswith("+") and not text.startswith("+++"):
            if not found or found[-1] != (file, number - 1):
                found.append((file, number - 1))
        elif file and number:
            number += 1
    return found


def _works(pair: Pair, diff: str, test: str) -> bool:
    """Whether ``test`` passes with ``diff`` applied to the files, without the plugin."""
    checkout = pair.checkout
    checkout.write(pair.now)
    patch = checkout.tree.parent / "shown.diff"
    patch.write_text(diff, encoding="utf-8")
    try:
        checkout.git("apply", str(patch))
    except subprocess.CalledProcessError:
        return False
    return test in checkout.run_tests([test]).passed


# -- figures


def rows() -> Iterator[dict[str, Any]]:
    """All regressions that are kept."""
    for path in sorted(KEPT.glob("*.json")):
        yield from json.loads(path.read_text("utf-8"))


def report() -> None:
    """Print how often the answer is right."""
    kept = list(rows())
    truths = [truth for row in kept for truth in row["truths"]]
    names = {row["repository"] for row in kept}
    print(f"{len(truths)} truths in {len(kept)} pairs of commits, {len(names)} repositories")
    for key, words in (
        ("function", "first suspect is a place of the truth"),
        ("hunk", "shown change is in the truth"),
        ("exact", "and nothing beside it"),
        ("works", "shown change, undone in the files, repairs the test"),
    ):
        n = sum(bool(truth[key]) for truth in truths)
        share = 100 * n / max(1, len(truths))
        low, high = _interval(n, max(1, len(truths)))
        print(f"{share:5.1f} % ({100 * low:.0f} to {100 * high:.0f}) {words}")


def _interval(n: int, of: int, z: float = 1.96) -> tuple[float, float]:
    """Wilson's interval of a share (Journal of the American Statistical Association 1927)."""
    share, spread = n / of, z * z / of
    middle = (share + spread / 2) / (1 + spread)
    half = z / (1 + spread) * math.sqrt(share * (1 - share) / of + spread / (4 * of))
    return middle - half, middle + half
