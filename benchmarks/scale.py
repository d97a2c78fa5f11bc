"""Spectra of very large suites: written, merged, read and ranked.

    python -m benchmarks.scale [--tests N ...] [--work DIR]

``benchmarks/README.md`` says what is done and what the figures mean.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from array import array
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_bayesloc.ranking.belief import ModelChoice
from pytest_bayesloc.ranking.faults import fault_of
from pytest_bayesloc.ranking.groups import open_groups
from pytest_bayesloc.spectrum.build import build_failures, build_spectrum
from pytest_bayesloc.spectrum.cache import SpectrumCache
from pytest_bayesloc.spectrum.run_record import START_UP, Footprint, RunRecord, Window
from pytest_bayesloc.spectrum.sources import SourceFilter, Sources

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_bayesloc.spectrum.failures import RawFailure

# The shape of a real suite (click 8.5.1: 1,550 tests, 461 functions that they execute): quantiles
# of the share of tests that execute a function, and of how many ways they do it in.
N_TESTS, N_SHARED = 1550, 461
QUANTILES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0)
SHARES = (0.0006, 0.0006, 0.0019, 0.0174, 0.1658, 0.6839, 0.7755, 0.8)
WAYS = (1, 1, 1, 1, 2, 5, 16, 16)
N_FUNCTIONS = 3 * N_TESTS  # of a component; what is not shared, one or two tests execute
N_PROTOTYPES = 150  # rows of a component; most tests repeat one, but for functions of their own
PER_FILE = 30
TEXT = """\
def f{0}(x):
    a = x
    if a:
        b = a
        if b:
            a = b
    else:
        a = 0
    return a


"""
LINES = 10  # of a function
FAILING = "tests/test_0.py::test_0"


def main(argv: Sequence[str] | None = None) -> int:
    """Print one row a size."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tests", type=int, nargs="+", default=[1000, 10_000, 100_000])
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "bayesloc-scale")
    parser.add_argument("--stage", choices=STAGES, help=argparse.SUPPRESS)
    given = parser.parse_args(argv)
    if given.stage:
        print(json.dumps(STAGES[given.stage](given.work, given.tests[0])))
        return 0
    print(
        "| tests | functions | executed | file, MB | write, s | MB | merge, s | MB | rank, s | MB |"
    )
    print("|---" * 10 + "|")
    for n in given.tests:
        work = given.work / str(n)
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        cells = [f"{n:,}"]
        for stage in STAGES:
            found = _in_process(stage, work, n)
            cells += [str(value) for value in found.values()]
        print("| " + " | ".join(cells) + " |", flush=True)
        shutil.rmtree(work)
    return 0


def _in_process(stage: str, work: Path, n: int) -> dict[str, object]:
    """What a stage says in a process of its own: its peak of memory is its own as well."""
    command = [sys.executable, "-m", "benchmarks.scale", "--stage", stage, "--tests", str(n)]
    done = subprocess.run(
        [*command, "--work", str(work)], check=True, capture_output=True, text=True
    )
    found: dict[str, object] = json.loads(done.stdout)
    return found


def _peak_mb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


# -- the suite


def _quantile(values: Sequence[float], at: float) -> float:
    i = next(i for i in range(1, len(QUANTILES)) if at <= QUANTILES[i])
    low, high = QUANTILES[i - 1], QUANTILES[i]
    return values[i - 1] + (values[i] - values[i - 1]) * (at - low) / (high - low)


def _suite(root: Path, n_tests: int) -> RunRecord:
    """A suite of components, each in the shape of the real one; the first test fails."""
    rng = random.Random(0)
    recorded = RunRecord(collector="simulated")
    recorded.windows[START_UP].is_ordered = True
    shares = [_quantile(SHARES, (j + 0.5) / N_SHARED) for j in range(N_SHARED)]
    ways = [round(_quantile(WAYS, rng.random())) for _ in range(N_SHARED)]
    prototypes: list[list[int]] = []
    shared = 0
    for test in range(n_tests):
        component, at = divmod(test, N_TESTS)
        if at == 0:
            shared = _add_component(recorded, root, component, ways)
            numbers = [shared + sum(ways[:j]) for j in range(N_SHARED)]
            prototypes = [
                [
                    numbers[j] + rng.randrange(ways[j])
                    for j in range(N_SHARED)
                    if rng.random() < shares[j]
                ]
                for _ in range(N_PROTOTYPES)
            ]
        own = shared + sum(ways) + 2 * at
        row = array("I", [*rng.choice(prototypes), own, own + 1])
        node_id = f"tests/test_{test // 50}.py::test_{test}"
        window = recorded.open(Window(node_id=node_id, rows=[row]))
        recorded.windows_of[node_id] = [window, START_UP]
        recorded.verdicts[node_id] = test > 0
    return recorded


def _add_component(recorded: RunRecord, root: Path, component: int, ways: Sequence[int]) -> int:
    """Its footprints: the shared functions in all their ways, then the others; the first number."""
    first = len(recorded.footprints)
    every = (2, 3, 4, 5, 6, 8, 9)
    for j in range(N_FUNCTIONS):
        file = str(root / f"c{component}" / f"m{j // PER_FILE}.py")
        start = j % PER_FILE * LINES
        for way in range(ways[j] if j < N_SHARED else 1):
            kept = [line for i, line in enumerate(every) if not way >> i & 1]
            lines = tuple(start + line for line in kept)
            recorded.footprints.append(Footprint(file, start + 1, f"f{j}", lines))
    return first


def _write_files(root: Path, n_tests: int) -> int:
    """The files of all components and tests; the number of functions."""
    n_components = -(-n_tests // N_TESTS)
    for component in range(n_components):
        folder = root / f"c{component}"
        folder.mkdir(parents=True)
        for file in range(N_FUNCTIONS // PER_FILE):
            text = "".join(TEXT.format(file * PER_FILE + i) for i in range(PER_FILE))
            (folder / f"m{file}.py").write_text(text, encoding="utf-8")
    (root / "tests").mkdir()
    for file in range(-(-n_tests // 50)):
        text = "".join(f"def test_{file * 50 + i}():\n    pass\n" for i in range(50))
        (root / "tests" / f"test_{file}.py").write_text(text, encoding="utf-8")
    return n_components * N_FUNCTIONS


def _cache(work: Path) -> SpectrumCache:
    return SpectrumCache(work / "spectra.sqlite", Sources(SourceFilter(work / "tree")))


def failure_of(node_id: str) -> RawFailure:
    """How a test of it fails, as the recorder tells it."""
    return {
        "node_id": node_id,
        "phase": "call",
        "exc_type": "AssertionError",
        "error": "assertion",
        "message": "",
        "frames": [],
        "cause_frames": [],
        "syntax_error": None,
        "test_code": [],
    }


# -- the stages


def _write(work: Path, n: int) -> dict[str, object]:
    """Keep what a first run has traced."""
    n_functions = _write_files(work / "tree", n)
    time.sleep(0.1)  # or the files would be as young as the run
    recorded = _suite(work / "tree", n)
    cache = _cache(work)
    started = time.process_time()
    cache.keep(recorded, {})
    seconds = time.process_time() - started
    return {
        "functions": f"{n_functions:,}",
        "executed": f"{sum(len(row) for window in recorded.windows for row in window.rows):,}",
        "file": (work / "spectra.sqlite").stat().st_size >> 20,
        "seconds": f"{seconds:.1f}",
        "mb": _peak_mb(),
    }


def part_of(whole: RunRecord, names: Sequence[str]) -> RunRecord:
    """The record of ``names`` alone, with all footprints."""
    part = RunRecord(footprints=whole.footprints, collector="simulated")
    for name in names:
        window = part.open(whole.windows[whole.windows_of[name][0]])
        part.windows_of[name] = [window, START_UP]
    return part


def _merge(work: Path, n: int) -> dict[str, object]:
    """Take what four workers send."""
    whole = _suite(work / "tree", n)
    names = list(whole.windows_of)
    texts = [json.dumps(part_of(whole, names[i::4]).payload()) for i in range(4)]
    merged = RunRecord(verdicts=whole.verdicts)
    del whole
    started = time.process_time()
    for text in texts:
        merged.merge(json.loads(text))
    return {"seconds": f"{time.process_time() - started:.1f}", "mb": _peak_mb()}


def _rank(work: Path, n: int) -> dict[str, object]:
    """Answer a run that has traced nothing, as it knew what all tests execute."""
    verdicts = {f"tests/test_{test // 50}.py::test_{test}": test > 0 for test in range(n)}
    recorded = RunRecord(verdicts=verdicts, failures={FAILING: failure_of(FAILING)})
    recorded.windows[START_UP].cached_name = ""
    for name in verdicts:
        window = recorded.open(Window(node_id=name, cached_name=name))
        recorded.windows_of[name] = [window, START_UP]
    cache, sources = _cache(work), Sources(SourceFilter(work / "tree"))
    started = time.process_time()
    known = cache.settle((), verdicts)
    if len(known) != n:
        raise SystemExit(f"{len(known)} of {n} tests are known: expected all.")
    cache.recall(recorded)
    spectrum = build_spectrum(recorded, sources)
    model = ModelChoice(formula="blend", belief="single-fault")
    cases = open_groups(spectrum, build_failures(recorded, sources), sources, model)
    ranking = [row for case in cases for row in fault_of(case).ranking]
    seconds = time.process_time() - started
    if not ranking:
        raise SystemExit("Nothing was ranked.")
    return {"seconds": f"{seconds:.1f}", "mb": _peak_mb()}


STAGES: dict[str, Callable[[Path, int], dict[str, object]]] = {
    "write": _write,
    "merge": _merge,
    "rank": _rank,
}

if __name__ == "__main__":
    sys.exit(main())
