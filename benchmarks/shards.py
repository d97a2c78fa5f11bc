"""Real suites in shards: is what they are ranked as, merged, what one run of everything gives?

    python -m benchmarks.shards [NAME ...] [--faults N] [--shards N] [--seed N] [--work DIR]

``benchmarks/README.md`` says what is done and what the figures mean.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.suites.measuring import install_plugin
from benchmarks.suites.planting import plant
from benchmarks.suites.process import run
from benchmarks.suites.subjects import subject_of
from benchmarks.suites.workspace import CHECKOUT, Workspace, prepare

if TYPE_CHECKING:
    from collections.abc import Sequence

SUITES = ("marshmallow", "sqlparse")
PLAIN = ("-q", "--tb=no", "-p", "no:cacheprovider", "--bayesloc-memory=off")


def main(argv: Sequence[str] | None = None) -> int:
    """Print a row for each fault; 0 if all rankings are the same."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    parser.add_argument("names", nargs="*", help=f"packages ({', '.join(SUITES)})")
    parser.add_argument("--faults", type=int, default=5, help="of each package (5)")
    parser.add_argument("--shards", type=int, default=8, help="jobs of a run (8)")
    parser.add_argument("--seed", type=int, default=1, help="of faults and shards (1)")
    parser.add_argument("--work", type=Path, default=cache / "bayesloc-real-suites")
    given = parser.parse_args(argv)
    said = f"same order from {given.shards} shards | largest difference of a probability"
    print(f"| suite | tests | fault | failing | suspects | {said} |")
    print("|---" * 7 + "|")
    n_other = 0
    for name in given.names or SUITES:
        work = given.work.resolve()
        workspace = prepare(subject_of(name), work=work, python=Path(sys.executable))
        install_plugin(workspace, CHECKOUT)
        for fault in plant(workspace, {"mutant": given.faults}, seed=given.seed, work=work):
            workspace.plant(fault.texts)
            whole, merged = compare(workspace, given.shards, random.Random(given.seed))
            is_same, n_same, differs = _held_against(whole, merged)
            n_other += not is_same
            order = "yes" if is_same else f"down to rank {n_same}"
            cells = (
                *(workspace.subject, len(workspace.known.passing), fault, len(fault.failing)),
                *(len(whole["ranking"]), order, f"{differs:.1g}"),
            )
            print("| " + " | ".join(map(str, cells)) + " |", flush=True)
        workspace.restore()
    return int(n_other > 0)


def compare(
    workspace: Workspace, n_shards: int, rng: random.Random
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The results of one run of everything, and of its shards merged."""
    tests = list(workspace.known.passing)
    jobs = workspace.root / "jobs"
    shutil.rmtree(jobs, ignore_errors=True)
    whole = _result(workspace, workspace.pytest(*PLAIN, *_report(workspace), tests=tests))
    drawn = rng.sample(tests, len(tests))
    for n in range(n_shards):
        own = set(drawn[n::n_shards])
        shard = [test for test in tests if test in own]
        record = f"--bayesloc-report=record:{jobs}/{n}.json"
        _run(workspace, workspace.pytest(*PLAIN, record, tests=shard))
    merge = f"--bayesloc-merge={jobs}"
    merged = _result(workspace, workspace.pytest(*PLAIN, merge, *_report(workspace), tests=tests))
    return whole, merged


def _held_against(whole: dict[str, Any], merged: dict[str, Any]) -> tuple[bool, int, float]:
    """Whether the order is the same; if not, down to which rank; how far probabilities differ.

    A test that is the first of its process fills caches that another one finds filled: numbers may
    differ by what that executes.
    """
    told = [_told(document) for document in (whole, merged)]
    (tests, names, numbers), (other_tests, other_names, others) = told
    n_same = next(
        (i for i, (a, b) in enumerate(zip(names, other_names, strict=False)) if a != b), len(names)
    )
    is_same = tests == other_tests and names == other_names
    differs = max(abs(numbers[name] - others.get(name, 0.0)) for name in names)
    return is_same, n_same, differs


def _told(document: dict[str, Any]) -> tuple[list[Any], list[str], dict[str, float]]:
    tests = [sorted(fault["failing_tests"]) for fault in document["faults"]]
    rows = {f"{row['file']} {row['qualname']}": row["posterior"] for row in document["ranking"]}
    return tests, list(rows), rows


def _report(workspace: Workspace) -> tuple[str, ...]:
    return (f"--bayesloc-report=json:{workspace.root / 'shards.json'}",)


def _result(workspace: Workspace, command: Sequence[str]) -> dict[str, Any]:
    path = workspace.root / "shards.json"
    path.unlink(missing_ok=True)
    output = _run(workspace, command)
    if not path.is_file():
        raise SystemExit(output)
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return document


def _run(workspace: Workspace, command: Sequence[str]) -> str:
    log = workspace.root / "shards.log"
    limit_s = 40 * workspace.known.seconds + 60
    return run(command, cwd=workspace.tree, limit_s=limit_s, log=log).output


if __name__ == "__main__":
    sys.exit(main())
