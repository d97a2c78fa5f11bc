"""Random runs of pytest on small projects: options, plugins, edits and kills, drawn by a seed.

python -m benchmarks.soak [--runs N] [--seed S] [--work DIR]

After each run: no traceback or fault of ours in its output, no file changed but what the run may
write, the memory whole and no record of it lost, no process left, and an end within the limit.
After every tenth, the ranking is that of a run that traces all tests.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing, suppress
from importlib.util import find_spec
from itertools import zip_longest
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ROOT = Path(__file__).resolve().parents[1]
LIMIT_S = 90.0
OURS = ".bayesloc"
MAY_APPEAR = (OURS, "__pycache__", ".pytest_cache", ".coverage", ".testmondata", ".benchmarks")
# Each is drawn by itself, with its chance.
OPTIONS: Sequence[tuple[float, tuple[str, ...]]] = (
    (0.4, ("--bayesloc", "--bayesloc-budget=4")),
    (0.3, ("--bug-advice",)),
    (0.1, ("--bayesloc-formula=dstar2",)),
    (0.1, ("--bayesloc-model=independent",)),
    (0.1, ("--bayesloc-memory=off",)),
    (0.1, ("--bayesloc-collect=always",)),
    (0.2, ("--bayesloc-collect=on-failure",)),
    (0.05, ("--bayesloc-collect=never",)),
    (0.05, ("--bayesloc-without=mutants",)),
    (0.1, ("--bayesloc-report=json",)),
    (0.1, ("--bayesloc-without=mutants",)),
    (0.1, ("--bug-note=seen by the soak",)),
    (0.05, ("--bug-memory=stats",)),
    (0.05, ("--bug-advice-last",)),
    (0.05, ("--collect-only",)),
    (0.05, ("--no-bayesloc",)),
    (0.15, ("-x",)),
    (0.1, ("--lf",)),
    (0.1, ("--ff",)),
    (0.1, ("--sw",)),
    (0.1, ("-p", "no:cacheprovider")),
    (0.05, ("-p", "no:terminal")),
    (0.1, ("-W", "error")),
    (0.1, ("-s",)),
    (0.1, ("--import-mode=importlib",)),
    (0.1, ("--assert=plain",)),
    (0.1, ("--tb=native",)),
    (0.1, ("-k", "not total")),
    (0.1, ("--doctest-modules",)),
)
# Modules, each loaded alone beside ours where it is installed.
PLUGINS: Mapping[str, tuple[str, ...]] = {
    "xdist.plugin": ("-n2",),
    "xdist.looponfail": ("-p", "xdist.plugin", "-n2", "--dist=loadscope", "--maxfail=2"),
    "pytest_cov.plugin": ("--cov=.", "--cov-report="),
    "pytest_cov": ("--cov=.", "--cov-branch", "--cov-context=test", "--cov-report="),
    "pytest_randomly": (),
    "pytest_rerunfailures": ("--reruns=1",),
    "pytest_timeout": ("--timeout=60",),
    "flaky.flaky_pytest_plugin": ("--force-flaky",),
    "testmon.pytest_testmon": ("--testmon",),
    "pytest_forked": ("--forked",),
    "_hypothesis_pytestplugin": (),
    "random_order.plugin": ("--random-order",),
    "pytest_repeat": ("--count=2",),
    "pytest_benchmark.plugin": (),
    "pytest_mock": (),
    "pytest_asyncio.plugin": ("-o", "asyncio_default_fixture_loop_scope=function"),
    "anyio.pytest_plugin": (),
    "pyfakefs.pytest_plugin": (),
    "pytest_sugar": (),
    "pytest_instafail": ("--instafail",),
    "pytest_html.plugin": (
        "-p",
        "pytest_metadata.plugin",
        "--html=.pytest_cache/report.html",
    ),
    "pytest_split.plugin": ("--splits=2", "--group=1"),
}
FORK_OFF = 0.1  # of the runs
# The last frame is ours; in others we stand as every plugin that wraps a hook.
OUR_TRACEBACK = r'File "[^"]*/pytest_bayesloc/[^\n]*\n[^\n]*\n(?:[ ~^]+\n)?\w+(?:Error|Exception)'
US = ("-p", "pytest_bayesloc.plugin")
INTERNAL = "INTERNALERROR"
KILL = 0.2
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
CALC = """
def add(a, b):
    return a - b


def mul(a, b):
    return a * b


def total(prices):
    net = 0
    for price in prices:
        net = add(net, price)
    return net
"""
TESTS = """
import pytest

from calc import add, mul, total


def test_add():
    assert add(1, 2) == 3


@pytest.mark.parametrize("n", range(9))
def test_mul(n):
    assert mul(n, 2) == 2 * n


def test_total():
    assert total([1, 2]) == 3
"""
GUARD = """
def check(knots, degree):
    if len(knots) < 2 * degree + 2:
        raise ValueError(f"too few knots for degree {degree}")


def curve(knots, degree):
    check(knots, degree)
    return knots
"""
TESTS_OF_GUARD = """
import pytest

from guard import curve


@pytest.fixture
def knots():
    return [0, 0, 0, 1, 1, 1]


def test_line():
    assert curve([0, 0, 1, 1], 1)


def test_cubic(knots):
    assert curve(knots, 3)


def test_quadratic(knots):
    assert curve(knots, 2)
"""
# Pairs of texts that are exchanged, back and forth.
EDITS = {
    "calc": [("calc.py", "return a - b", "return b - a"), ("calc.py", "a - b", "a + b")],
    "guard": [
        ("guard.py", "+ 2:", "+ 1:"),
        ("test_guard.py", "[0, 0, 0, 1, 1, 1]", "[0, 0, 0, 0, 1, 1, 1, 1]"),
        ("guard.py", "def check(knots, degree):", "def check(knots, degree:"),
    ],
    "demo": [("guesthouse/rooms.py", "n_guests <= self", "n_guests < self")],
}


def made(work: Path) -> dict[str, Path]:
    """The three projects, anew."""
    shutil.rmtree(work, ignore_errors=True)
    ignored = shutil.ignore_patterns(OURS, "__pycache__", ".pytest_cache")
    shutil.copytree(ROOT / "demo_project", work / "demo", ignore=ignored)
    for name, files in {
        "calc": {"calc.py": CALC, "test_calc.py": TESTS},
        "guard": {"guard.py": GUARD, "test_guard.py": TESTS_OF_GUARD},
    }.items():
        (work / name).mkdir()
        for file, text in {**files, "pytest.ini": "[pytest]\n"}.items():
            (work / name / file).write_text(text, encoding="utf-8")
    return {path.name: path for path in sorted(work.iterdir())}


def arguments(rng: random.Random) -> list[str]:
    """The command line of one run."""
    chosen = [option for chance, option in OPTIONS if rng.random() < chance]
    there = [name for name in PLUGINS if find_spec(name.partition(".")[0]) is not None]
    if there and rng.random() < 0.4:
        name = rng.choice(there)
        chosen.append(("-p", name, *PLUGINS[name]))
    return [*US, *(word for option in chosen for word in option)]


def edit(rng: random.Random, name: str, root: Path) -> bool:
    """Exchange one text for its twin, or back; whether there was one."""
    file, a, b = rng.choice(EDITS[name])
    path = root / file
    text = path.read_text(encoding="utf-8")
    now = text.replace(b, a) if b in text else text.replace(a, b)
    path.write_text(now, encoding="utf-8")
    return now != text


def state(root: Path) -> dict[str, bytes]:
    """Every file that no run may touch."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and not any(part.startswith(MAY_APPEAR) for part in path.parts)
    }


def n_bugs(root: Path) -> int:
    """How many records the memory holds; -1 if a database of ours is not whole."""
    found = 0
    for path in (root / OURS).glob("*.sqlite"):
        with closing(sqlite3.connect(path, timeout=30)) as db:
            (said,) = db.execute("PRAGMA integrity_check").fetchone()
            if said != "ok":
                return -1
            if path.name == "memory.sqlite":
                (found,) = db.execute("SELECT count(*) FROM bug").fetchone()
    return int(found)


def untrue(root: Path) -> Iterator[str]:
    """Whether what is known of earlier runs leads to another ranking than tracing all again."""
    rankings = []
    for more in ((), ("--bayesloc-collect=always",)):
        report = root.parent / f"{root.name}.json"
        report.unlink(missing_ok=True)
        undisturbed(root, (*US, f"--bayesloc-report=json:{report}", *more))
        written = report.read_text(encoding="utf-8") if report.exists() else "{}"
        rankings.append(json.loads(written).get("ranking"))
    if rankings[0] != rankings[1]:
        places = zip_longest(*(ranking or () for ranking in rankings))
        first = next(pair for pair in places if pair[0] != pair[1])
        yield f"another ranking than that of a full trace, first: {first[0]}\n{first[1]}"


def undisturbed(root: Path, options: Sequence[str]) -> bytes:
    """What a run prints that nobody ends."""
    command = [sys.executable, "-m", "pytest", "-q", *options]
    done = subprocess.run(
        command, cwd=root, env=environment(), capture_output=True, timeout=LIMIT_S, check=False
    )
    return done.stdout + done.stderr


def environment() -> dict[str, str]:
    """That of every run."""
    return {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


def processes(root: Path) -> list[str]:
    """Command lines of what works in the project."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # any of them may end meanwhile
            if (folder / "cwd").resolve() == root:
                found.append((folder / "cmdline").read_text().replace("\0", " "))
    return [command for command in found if command]


def run(rng: random.Random, root: Path, options: Sequence[str]) -> Iterator[str]:
    """One run, killed now and then; what is wrong afterwards."""
    before, bugs = state(root), n_bugs(root)
    with tempfile.TemporaryFile() as log:
        yield from ended(rng, root, options, log)
        log.seek(0)
        output = log.read().decode("utf-8", "replace")
    for mark in (r"own-fault", INTERNAL, OUR_TRACEBACK):
        if re.search(mark, output) and not (mark == INTERNAL and breaks_alone(root, options)):
            yield f"{mark} in its output:\n{output[-3000:]}"
    after = state(root)
    if after != before:
        yield f"changed: {sorted(dict(before.items() ^ after.items()))}"
    if n_bugs(root) < bugs:
        yield f"{bugs} records before, {n_bugs(root)} now: some are lost, or all are unreadable"
    deadline = time.monotonic() + 5
    while (left := processes(root)) and time.monotonic() < deadline:
        time.sleep(0.05)
    if left:
        yield f"processes are left: {left}"


def breaks_alone(root: Path, options: Sequence[str]) -> bool:
    """Whether other plugins break under these options without us, too."""
    assert options[: len(US)] == list(US)
    ours = ("--bayesloc", "--no-bayesloc", "--bug")
    theirs = [word for word in options[len(US) :] if not word.startswith(ours)]
    return INTERNAL.encode() in undisturbed(root, theirs)


def ended(rng: random.Random, root: Path, options: Sequence[str], log: IO[bytes]) -> Iterator[str]:
    """Start pytest and wait for its end, or bring it about."""
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", "-q", *options],
        cwd=root,
        env=environment() | ({"PYTEST_BAYESLOC_FORK": "off"} if rng.random() < FORK_OFF else {}),
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    is_killed = rng.random() < KILL
    try:
        process.wait(rng.uniform(0.2, 5.0) if is_killed else LIMIT_S)
    except subprocess.TimeoutExpired:
        if not is_killed:
            yield f"no end within {LIMIT_S:g} s"
        process.send_signal(rng.choice(SIGNALS) if is_killed else signal.SIGKILL)
    try:
        process.wait(LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        yield "no end after a signal"


def soak(n_runs: int, seed: int, work: Path) -> int:
    """How many troubles there were in ``n_runs``; each is printed as it comes."""
    rng = random.Random(seed)
    projects = made(work)
    n_edits = n_troubles = 0
    for n in range(n_runs):
        name = rng.choice(sorted(projects))
        if rng.random() < 0.5:
            n_edits += edit(rng, name, projects[name])
        options = arguments(rng)
        for trouble in run(rng, projects[name], options):
            n_troubles += 1
            print(f"run {n} in {name}, {' '.join(options)}: {trouble}", flush=True)
        if n % 10 == 0:
            for trouble in untrue(projects[name]):
                n_troubles += 1
                print(f"after run {n} in {name}: {trouble}", flush=True)
    print(f"{n_runs} runs, {n_edits} edits between them: {n_troubles} troubles")
    return n_troubles


def main() -> int:
    """1 if there was any trouble."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir(), "bayesloc-soak"))
    given = parser.parse_args()
    os.environ.pop("PYTEST_ADDOPTS", None)
    return 1 if soak(given.runs, given.seed, given.work.resolve()) else 0


if __name__ == "__main__":
    sys.exit(main())
