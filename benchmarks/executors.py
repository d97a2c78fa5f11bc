"""Throughput of inspections, by where they are made.

    python -m benchmarks.executors [--n N] [--rounds R] [--docker CONTAINER]

``benchmarks/README.md`` says what is done and what the figures mean.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import cycle, islice
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.fixing import MUTANTS
from pytest_bayesloc.domain.inspection import InspectionPatch, Verdict
from pytest_bayesloc.domain.source import SourceMap, tree_of
from pytest_bayesloc.fixes.mutations import FIRST, edits
from pytest_bayesloc.rerun.command import NEUTRAL, PLUGIN, Command
from pytest_bayesloc.rerun.effects import Effects
from pytest_bayesloc.rerun.link import Workspaces
from pytest_bayesloc.rerun.pool import Pool
from pytest_bayesloc.rerun.transports.cluster import open_cluster
from pytest_bayesloc.rerun.transports.gateways import GatewayOpener, open_container
from pytest_bayesloc.rerun.transports.local import local_transport

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_bayesloc.domain.ports import Runner
    from pytest_bayesloc.rerun.link import Transport

DEMO = Path(__file__).resolve().parent.parent / "demo_project"
FILE, NAME = "guesthouse/stays.py", "Stay.overlaps"
TESTS = (
    "tests/test_bookings.py::test_room_is_free_on_the_day_of_departure",
    "tests/test_cleaning.py::test_room_is_cleaned_between_two_parties",
)
LIMIT_S = 20.0


@dataclass(frozen=True)
class Row:
    """One way to run tests again.

    Attributes:
        name: For the table.
        n_runners: Side by side.
        open: Opens its transports.
    """

    name: str
    n_runners: int
    open: Callable[[Command], Sequence[Transport]]


def main() -> None:
    """Measure all ways in turn, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--n", type=int, default=150, help="inspections of a measurement")
    parser.add_argument("--rounds", type=int, default=5, help="measurements of each way, in turn")
    parser.add_argument("--docker", help="a running container with this Python; it mounts --work")
    parser.add_argument("--work", type=Path, help="folder of the project under test")
    args = parser.parse_args()
    with ExitStack() as stack:
        work = args.work or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        project = work / "project"
        shutil.copytree(DEMO, project, dirs_exist_ok=True)
        command = _command(project)
        patches = _patches(project)
        pools = []
        for row in _rows(args.docker):
            transports = row.open(command)
            for transport in transports:
                stack.callback(transport.close)
            pool = Pool(transports, row.n_runners, TESTS, {}, print)
            stack.callback(pool.close)
            pools.append((row, _all_runners(pool, row.n_runners, patches[0])))
        times: dict[str, list[float]] = {row.name: [] for row, _ in pools}
        for _ in range(args.rounds):
            for row, runners in pools:
                times[row.name].append(_measure(runners, patches, args.n))
    _print(times, args.n)


def _all_runners(pool: Pool, n_runners: int, patch: InspectionPatch) -> Sequence[Runner]:
    """Start all runners of ``pool`` and wait until they are ready."""
    pool.first.rerun(patch, TESTS, limit_s=LIMIT_S)
    while len(pool.runners(inf)) < n_runners:
        time.sleep(0.05)
    return pool.runners(0.0)


def _rows(container: str | None) -> list[Row]:
    both = Workspaces("/", "/")

    def gateways(*specs: str) -> Callable[[Command], Sequence[Transport]]:
        def open_all(command: Command) -> Sequence[Transport]:
            opener = GatewayOpener(command, [FILE], Effects())
            return [opener.open(spec) for spec in specs]

        return open_all

    def docker(command: Command) -> Sequence[Transport]:
        spec = f"docker:{container}//python={sys.executable}"
        return [open_container(spec, GatewayOpener(command, [FILE], Effects()), both)]

    def dask(n_workers: int) -> Callable[[Command], Sequence[Transport]]:
        return lambda command: [
            open_cluster("dask:local", command, [FILE], both, Effects(), n_workers)
        ]

    rows = [
        Row("local, 1 server", 1, lambda command: [local_transport(command, Effects())]),
        Row("local, 2 servers", 2, lambda command: [local_transport(command, Effects())]),
        Row("execnet popen, 1", 1, gateways("popen")),
        Row("execnet popen, 2", 2, gateways("popen", "popen")),
        Row("dask, 1 worker", 1, dask(1)),
        Row("dask, 2 workers", 2, dask(2)),
    ]
    return [*rows, Row("docker exec, 1", 1, docker)] if container else rows


def _command(project: Path) -> Command:
    environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
    return Command(
        flags=(),
        path=(str(project), *sys.path[1:]),
        arguments=(f"--rootdir={project}", "--no-bayesloc", "-p", PLUGIN),
        rootdir=project,
        cwd=project,
        environment=environment,
        options=NEUTRAL,
    )


def _patches(project: Path) -> list[InspectionPatch]:
    source = SourceMap((project / FILE).read_text(encoding="utf-8"), FILE)
    unit = next(unit for unit in source.units if unit.location.qualname == NAME)
    where = unit.location
    lines = dict.fromkeys(range(where.start_line, where.end_line + 1), 1.0)
    made = edits(FIRST, source, unit, lines)
    patches = [
        InspectionPatch(target=where, kind=MUTANTS, original=source.text, patched=text)
        for _, _, text in made
        if tree_of(text) is not None
    ]
    assert patches
    return patches


def _measure(runners: Sequence[Runner], patches: Sequence[InspectionPatch], n: int) -> float:
    """Seconds for ``n`` inspections, shared by ``runners``."""

    def work(runner: Runner, own: Sequence[InspectionPatch]) -> None:
        for patch in own:
            done = runner.rerun(patch, TESTS, limit_s=LIMIT_S)
            assert all(run.verdict in {Verdict.PASS, Verdict.FAIL} for run in done.tests.values())

    todo = list(islice(cycle(patches), n))
    shares = [todo[i :: len(runners)] for i in range(len(runners))]
    started = time.perf_counter()
    with ThreadPoolExecutor(len(runners)) as threads:
        list(threads.map(work, runners, shares))
    return time.perf_counter() - started


def _print(times: dict[str, list[float]], n: int) -> None:
    base = times["local, 1 server"]
    print(f"{'':20}{'ms each':>9}{'ratio to local, 1':>20}{'ms more than local':>20}")
    for name, spent in times.items():
        each = statistics.median(spent) / n * 1000
        ratio = statistics.median(own / one for own, one in zip(spent, base, strict=True))
        more = statistics.median(own - one for own, one in zip(spent, base, strict=True)) / n
        print(f"{name:20}{each:>9.1f}{ratio:>20.2f}{more * 1000:>20.1f}")


if __name__ == "__main__":
    main()
