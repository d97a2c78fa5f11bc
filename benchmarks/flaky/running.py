"""Projects whose tests fail for a known cause that is no mistake of a function.

A file of ``projects`` holds some of one kind, in the way of ``benchmarks.fixes.corpus``. Below the
name stand lines of the truth: ``kind``, ``place`` (``file::qualname``, alternatives between ``|``),
``after`` (the polluting tests, or files), ``needs`` (the test that sets up) and ``state``; ``run``
says how a run is made red, ``green`` how one is made green. Both are parts between ``;``:
``NAME=VALUE`` and arguments of pytest, ``in: FOLDER``, ``at: DATE`` for a faked date, ``listing:
sorted`` for the entries of folders in order, ``until: red`` for what fails by chance, ``twice:
committed`` for a second run where git knows the files that were there before the first. ``green``
may also be
``alone`` (each failing test in a process of its own) or ``never``; without it, a plain run passes.
The first word of a file's name marks a set: ``third`` takes all of ``third-...``. What ends with
``controls`` holds steady failures with a plain mistake at ``place``.
"""

from __future__ import annotations

import json
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from benchmarks.fixes import corpus

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

PROJECTS = Path(__file__).with_name("projects")
LIMIT_S = 90.0
N_TRIES = 40
SEED, N_CONTROLS = 51, 60
CONTROLS = "controls"
WITHOUT_PLUGINS = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
#: Kinds of the corpus with a cause of ours, with tests that depend on each other, or wrong tests.
NO_CONTROLS = frozenset(
    {
        *("missing_await", "moved_module", "python2_names", "removed_api", "unawaited"),
        *("shared_attribute", "shared_default", "stale_snapshot"),
    }
)
SORTED_LISTING = """
import os

unsorted_names, unsorted_entries = os.listdir, os.scandir

class Entries:
    def __init__(self, path="."):
        with unsorted_entries(path) as entries:
            self._entries = iter(sorted(entries, key=lambda entry: entry.name))
    def __enter__(self): return self
    def __exit__(self, *_): pass
    def __iter__(self): return self
    def __next__(self): return next(self._entries)
    def close(self): pass

os.listdir = lambda path=".": sorted(unsorted_names(path))
os.scandir = Entries
"""
ASSIGNED = re.compile(r"[A-Z][A-Z0-9_]*=")
FAILED = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", re.MULTILINE)
RIGHT, KIND_ONLY, NOTHING, WRONG = "right", "place wrong", "nothing", "wrong"


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """Where, when and with what pytest is started.

    Attributes:
        variables: Of the environment, beside those of all runs.
        arguments: Of pytest.
        folder: Where it starts, below the project's.
        date: What the clock shows at the start; empty: the true date.
        is_listing_sorted: Whether the entries of folders come in order, as on some file systems.
        by_chance: Whether the run must be repeated until it ends as it should.
        is_second: Whether there was one before, after a commit.
    """

    variables: Mapping[str, str]
    arguments: Sequence[str]
    folder: str = "."
    date: str = ""
    is_listing_sorted: bool = False
    by_chance: bool = False
    is_second: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FlakyProject:
    """A project and the truth about it.

    Attributes:
        title: Of its file: the kind, or a part of it.
        name: Of the project.
        truth: The lines below its name: ``kind``, ``place``, ``run``, ``green``, ``after``, ...
        files: Texts by path.
    """

    title: str
    name: str
    truth: Mapping[str, str]
    files: Mapping[str, str]

    def alternatives(self, key: str) -> set[str]:
        """The values of a line between ``|``."""
        return {part.strip() for part in self.truth.get(key, "").split("|")} - {""}

    @property
    def is_control(self) -> bool:
        """Whether it fails for a plain mistake."""
        return self.title.endswith(CONTROLS)

    @property
    def places(self) -> set[str]:
        """The places of its cause: file, and qualified name with dots."""
        parts = (place.partition("::") for place in self.alternatives("place"))
        return {f"{file}::{name.replace('::', '.')}" for file, _, name in parts}


def projects() -> Iterator[FlakyProject]:
    """Yield all projects, written controls too."""
    for path in sorted(PROJECTS.glob("*.txt")):
        for head, files in corpus.sections(path):
            name, *lines = head.splitlines()
            truth = dict(line.split(": ", 1) for line in lines if ": " in line)
            yield FlakyProject(title=path.stem, name=name, truth=truth, files=files)


def controls() -> list[FlakyProject]:
    """Draw steady failures, the same at each call, and add the written ones: no cause is right."""
    pool = [project for project in corpus.projects() if project.kind not in NO_CONTROLS]
    drawn = [
        FlakyProject(title=CONTROLS, name=f"{p.kind}: {p.name}", truth={}, files=p.files)
        for p in random.Random(SEED).sample(pool, N_CONTROLS)
    ]
    return drawn + [project for project in projects() if project.is_control]


def chosen(names: Sequence[str], *, controls_only: bool) -> list[FlakyProject]:
    """The projects, or the controls, of these sets, kinds or names; all where none is named.

    Raises:
        SystemExit: If there is no such project, or one needs a program that is missing.
    """
    pool = controls() if controls_only else [p for p in projects() if not p.is_control]
    taken = [p for p in pool if not names or _names(p) & {*names}]
    if not taken:
        kinds = ", ".join(dict.fromkeys(p.title for p in pool))
        raise SystemExit(f"No project of {', '.join(names)}: take {kinds}, or the name of one")
    dated = [p.name for p in taken if _conditions(p.truth.get("run", "")).date]
    if dated and shutil.which("faketime") is None:
        raise SystemExit(f"No faketime on PATH, which {dated[0]} needs: apt-get install faketime")
    return taken


def _names(project: FlakyProject) -> set[str]:
    kinds = project.alternatives("kind")
    return {project.title, project.title.partition("-")[0], project.name, *kinds}


def check(names: Sequence[str], python: Path, *, controls: bool, jobs: int) -> int:
    """Print each project that is not red as told, or not green else; 1 if there is one."""
    taken = chosen(names, controls_only=controls)
    with ThreadPoolExecutor(jobs) as pool:
        faults = list(pool.map(partial(_fault, python=python), taken))
    for project, fault in zip(taken, faults, strict=True):
        if fault:
            print(f"{project.title}: {project.name}: {fault}")
    print(f"{faults.count('')} of {len(taken)} are red and green as told")
    return int(any(faults))


def measure(names: Sequence[str], python: Path, work: Path, *, controls: bool, jobs: int) -> None:
    """Run the plugin on each project, print what it says, and keep that below ``work``."""
    work.mkdir(parents=True, exist_ok=True)
    taken = chosen(names, controls_only=controls)
    with ThreadPoolExecutor(jobs) as pool:
        for row in pool.map(partial(judged, python=python), taken):
            words = f"{row['title']}: {row['name']}: {row['text']}"
            print(f"{row['outcome']:11} {row['seconds']:5.1f} s  {words}", flush=True)
            file = re.sub(r"\W+", "-", f"{row['title']} {row['name']}") + ".json"
            (work / file).write_text(json.dumps(row, indent=1), encoding="utf-8")


def report(work: Path) -> None:
    """Print the outcomes of what is kept below ``work``, by kind, and how long the runs took."""
    rows = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(work.glob("*.json"))]
    ours = [row for row in rows if not row["title"].endswith(CONTROLS)]
    print("| kind | projects | right | place wrong | nothing | wrong | seconds, median | most |")
    print("|---|---|---|---|---|---|---|---|")
    for title in dict.fromkeys(row["title"] for row in ours):
        _print_row(title, [row for row in ours if row["title"] == title])
    if ours:
        _print_row("all", ours)
    steady = [row for row in rows if row["title"].endswith(CONTROLS)]
    n_called = sum(row["outcome"] == WRONG for row in steady)
    print(f"{n_called} of {len(steady)} controls were called something else than a fault of code")


def _print_row(title: str, rows: Sequence[Mapping[str, Any]]) -> None:
    states = Counter(row["outcome"] for row in rows)
    seconds = [row["seconds"] for row in rows]
    counts = [len(rows), *(states[state] for state in (RIGHT, KIND_ONLY, NOTHING, WRONG))]
    print(f"| {' | '.join(map(str, (title, *counts)))} ", end="")
    print(f"| {median(seconds):.1f} | {max(seconds):.1f} |")


def judged(project: FlakyProject, python: Path) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="bayesloc-flaky-") as name:
        root = Path(name) / "project"
        result = Path(name) / "result.json"
        options = ("--bayesloc", "--bayesloc-memory=off", f"--bayesloc-report=json:{result}")
        corpus.write(root, project.files)
        *_, seconds = _tried(root, python, _conditions(project.truth.get("run", "")), 1, options)
        document = json.loads(result.read_text(encoding="utf-8")) if result.is_file() else {}
    causes = [fault.get("cause") for fault in document.get("faults", ())]
    return {
        "title": project.title,
        "name": project.name,
        "outcome": _outcome(project, causes),
        "text": next((cause["text"] for cause in causes if cause), ""),
        "causes": causes,
        "seconds": seconds,
    }


def _outcome(project: FlakyProject, causes: Sequence[Mapping[str, Any] | None]) -> str:
    """The worst of what is said of the faults of a project, or of a control.

    A result without faults says nothing. Of a control, that Python took a name away says that the
    code is at fault.
    """
    if project.is_control:
        called = [cause for cause in causes if cause and cause["kind"] != "version"]
        return WRONG if called else RIGHT if causes else NOTHING
    ranked = [_rated(project, cause) for cause in causes if cause]
    if WRONG in ranked or not ranked or None in causes:
        return WRONG if WRONG in ranked else NOTHING
    return KIND_ONLY if KIND_ONLY in ranked else RIGHT


def _rated(project: FlakyProject, cause: Mapping[str, Any]) -> str:
    if cause["kind"] not in project.alternatives("kind"):
        return WRONG
    location = cause.get("location") or {}
    place = f"{location.get('file')}::{location.get('qualname')}"
    polluters = set(project.truth.get("after", "").split())
    is_exact = place in project.places and (
        not polluters or polluters == {*(cause.get("after") or ())}
    )
    return RIGHT if is_exact else KIND_ONLY


def _fault(project: FlakyProject, python: Path) -> str:
    """Say in which way a project is not red or not green as told; empty if it is."""
    red = _conditions(project.truth.get("run", ""))
    status, output = _in_a_copy(project, python, red, 1)
    failing = FAILED.findall(output)
    if status == 0 or not (failing or project.is_control):
        return f"is not red ({status}): {output[-500:]}"
    for way, is_green in _other_ways(project, red, failing):
        status, output = _in_a_copy(project, python, way, 0 if is_green else 1)
        if (status == 0) != is_green:
            return f"ends with {status} for {way}: {output[-500:]}"
    return ""


def _other_ways(
    project: FlakyProject, red: Conditions, failing: Sequence[str]
) -> Iterator[tuple[Conditions, bool]]:
    """Yield conditions beside those that make it red, each with whether all tests then pass."""
    green = "never" if project.is_control else project.truth.get("green", "")
    polluters = project.truth.get("after", "").split()
    if polluters:
        yield replace(red, arguments=(*polluters, *failing)), False
    for polluter in polluters:
        without = "deselect" if "::" in polluter else "ignore"  # a file pollutes as it is imported
        yield replace(red, arguments=(*red.arguments, f"--{without}={polluter}")), True
    if green in ("alone", "never"):
        for test in failing:
            yield replace(red, arguments=(test,)), green == "alone"
    else:
        yield _conditions(green), True


def _in_a_copy(
    project: FlakyProject, python: Path, conditions: Conditions, status: int
) -> tuple[int, str]:
    with tempfile.TemporaryDirectory(prefix="bayesloc-flaky-") as name:
        corpus.write(Path(name), project.files)
        variables = {**conditions.variables, **WITHOUT_PLUGINS}
        if conditions.is_listing_sorted:
            corpus.write(Path(name), {"order/sitecustomize.py": SORTED_LISTING})
            variables["PYTHONPATH"] = str(Path(name, "order"))
        plain = replace(conditions, variables=variables)
        found, output, _ = _tried(Path(name), python, plain, status)
    return found, output


def _conditions(text: str) -> Conditions:
    marked, plain = {}, []
    for part in filter(None, map(str.strip, text.split(";"))):
        mark, is_marked, value = part.partition(": ")
        if is_marked:
            marked[mark] = value
        else:
            plain += shlex.split(part)
    assigned = [word for word in plain if ASSIGNED.match(word)]
    return Conditions(
        variables=dict(word.split("=", 1) for word in assigned),
        arguments=[word for word in plain if word not in assigned],
        folder=marked.get("in", "."),
        date=marked.get("at", ""),
        is_listing_sorted="listing" in marked,
        by_chance="until" in marked,
        is_second="twice" in marked,
    )


def _tried(
    root: Path, python: Path, conditions: Conditions, status: int, options: Sequence[str] = ()
) -> tuple[int, str, float]:
    """Run pytest, by chance until it ends with ``status``; its status, output and seconds."""
    if conditions.is_second:
        _commit(root)
        _run(root, python, conditions, ())
    for _ in range(N_TRIES if conditions.by_chance else 1):
        start = time.perf_counter()
        found, output = _run(root, python, conditions, options)
        seconds = time.perf_counter() - start
        if found in {status, -signal.SIGKILL}:
            break
    return found, output, seconds


def _commit(root: Path) -> None:
    for words in ("init -q", "add -A", "-c user.name=a -c user.email=a@b commit -qm first"):
        subprocess.run(("git", *words.split()), cwd=root, check=True)


def _run(
    root: Path, python: Path, conditions: Conditions, options: Sequence[str]
) -> tuple[int, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    fixed = {"LANG": "C.UTF-8", "TZ": "UTC", "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
    clock = ("faketime", "--exclude-monotonic", "-f", f"@{conditions.date}")
    command = (str(python), "-m", "pytest", "-q", "-rfE", "-p", "no:cacheprovider", *options)
    process = subprocess.Popen(
        (*(clock if conditions.date else ()), *command, *conditions.arguments),
        cwd=root / conditions.folder,
        env={**kept, **fixed, **conditions.variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
    return process.returncode, output
