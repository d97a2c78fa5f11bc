"""A day of CI: what a run, a test and a bug cost, and a simulated day held against it.

    python -m benchmarks.day [--memory URL] [--tests N] [--machines N] [--runs N] [--red N]

``benchmarks/README.md`` says what is done, ``docs/scale.md`` what the figures mean.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import tempfile
import time
from array import array
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from benchmarks.memory.load import drawn
from benchmarks.scale import _suite, _write_files, failure_of, part_of
from pytest_bayesloc.domain.bug import Run
from pytest_bayesloc.memory.episodes import Episodes
from pytest_bayesloc.memory.ledger import Ledger
from pytest_bayesloc.memory.schema import tables
from pytest_bayesloc.memory.store import BugStore
from pytest_bayesloc.ranking.belief import ModelChoice
from pytest_bayesloc.ranking.faults import fault_of
from pytest_bayesloc.ranking.groups import open_groups
from pytest_bayesloc.spectrum.build import build_failures, build_spectrum
from pytest_bayesloc.spectrum.run_record import RunRecord
from pytest_bayesloc.spectrum.shards import dump, load
from pytest_bayesloc.spectrum.sources import SourceFilter, Sources

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

WHOLE_TESTS, WHOLE_MACHINES = 1_000_000, 1_000
N_BUGS = 40  # that the red runs of a day meet
PROJECT = "day"


@dataclass
class Bill:
    """What a day, or a part of it, has cost.

    Attributes:
        record_bytes: Of the records of all shards.
        record_s: CPU seconds to write them.
        merge_s: CPU seconds to read them where they are merged.
        rank_s: CPU seconds to rank.
        told_s: CPU seconds to tell red runs to the memory.
        asked_s: CPU seconds to ask it whether a bug is open, by every shard.
        n_rows: Rows that the memory has got.
        memory_bytes: By which it has grown.
    """

    record_bytes: float = 0
    record_s: float = 0
    merge_s: float = 0
    rank_s: float = 0
    told_s: float = 0
    asked_s: float = 0
    n_rows: float = 0
    memory_bytes: float = 0

    def times(self, by_test: float, by_shard: float, by_red: float) -> Bill:
        """Of a day with so many times the tests, the shards and the red runs."""
        return Bill(
            record_bytes=self.record_bytes * by_test,
            record_s=self.record_s * by_test,
            merge_s=self.merge_s * by_test,
            rank_s=self.rank_s * by_test,
            told_s=self.told_s * by_red,
            asked_s=self.asked_s * by_shard,
            n_rows=self.n_rows * by_red,
            memory_bytes=self.memory_bytes * by_red,
        )


@dataclass(kw_only=True)
class Day:
    """Runs of a suite that is split.

    Attributes:
        work: Folder of everything.
        store: The memory.
        n_tests: Of the suite.
        n_machines: Shards of it.
        bill: So far.
    """

    work: Path
    store: BugStore
    n_tests: int
    n_machines: int
    bill: Bill = field(default_factory=Bill)

    def __post_init__(self) -> None:
        self._tree = self.work / "tree"
        shutil.rmtree(self._tree, ignore_errors=True)
        _write_files(self._tree, self.n_tests)
        self._files = SourceFilter(self._tree)
        self._parts = _split(_suite(self._tree, self.n_tests), self.n_machines)

    def pass_by(self, n_runs: int, n_red: int, rng: random.Random) -> None:
        """Add ``n_runs``, of which ``n_red`` are red, in any order."""
        before = self._held()
        colours = [True] * n_red + [False] * (n_runs - n_red)
        rng.shuffle(colours)
        for is_red in colours:
            self._one(rng, is_red=is_red)
        rows, size = self._held()
        self.bill.n_rows += rows - before[0]
        self.bill.memory_bytes += size - before[1]

    def _one(self, rng: random.Random, *, is_red: bool) -> None:
        failing = f"tests/test_0.py::test_{rng.randrange(50)}" if is_red else ""
        records = (partial(self._record, part, failing) for part in self._parts)
        texts = [self._timed("record_s", record) for record in records]
        self.bill.record_bytes += sum(map(len, texts))
        for _ in texts:
            self._timed("asked_s", self._ask)
        if is_red:  # a green run needs no ranking
            merged = self._timed("merge_s", lambda: self._merge(texts))
            self._timed("rank_s", lambda: self._rank(merged))
            self._timed("told_s", lambda: self._tell(rng))

    def _timed(self, name: str, do: Callable[[], Any]) -> Any:  # noqa: ANN401 - what it gives
        started = time.process_time()
        done = do()
        setattr(self.bill, name, getattr(self.bill, name) + time.process_time() - started)
        return done

    def _record(self, part: RunRecord, failing: str) -> str:
        part.verdicts = {name: name != failing for name in part.windows_of}
        part.failures = {failing: failure_of(failing)} if failing in part.windows_of else {}
        return dump(part, self._files, "r", {})

    def _merge(self, texts: Sequence[str]) -> RunRecord:
        merged = RunRecord()
        for told in texts:
            load(merged, json.loads(told), self._files)
        return merged

    def _rank(self, recorded: RunRecord) -> None:
        sources = Sources(self._files)
        cases = open_groups(
            build_spectrum(recorded, sources),
            build_failures(recorded, sources),
            sources,
            ModelChoice(formula="blend", belief="single-fault"),
        )
        if not [row for case in cases for row in fault_of(case).ranking]:
            raise SystemExit("Nothing was ranked.")

    def _ask(self) -> None:
        with self.store.transaction(write=False) as connection:
            Ledger(connection, PROJECT).revisions()

    def _tell(self, rng: random.Random) -> None:
        what = drawn(random.Random(rng.randrange(N_BUGS))).symptom
        run = Run(
            id=uuid4().hex[:12],
            workspace="ci",
            made_at=datetime.now(timezone.utc),
            revision="r",
            n_passed=self.n_tests - 1,
            n_failed=1,
        )
        red = replace(what, code_state=run.id, test_state="t")
        with self.store.transaction() as connection:
            ledger = Ledger(connection, PROJECT)
            ledger.add_run(run)
            Episodes(ledger, run).advance([red], {})

    def _held(self) -> tuple[int, int]:
        """Rows and bytes of the memory."""
        with self.store.transaction(write=False) as connection:
            rows = sum(int(connection.value(f"SELECT count(*) FROM {t}")) for t in tables())
            if self.store.is_local:
                asked = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
            else:
                asked = "SELECT pg_database_size(current_database())"
            return rows, int(connection.value(asked))


def main() -> None:
    """Measure a small day, then a larger one, and hold it against what the small one says."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--memory", default="", help="URL; a file if it is not given")
    parser.add_argument("--tests", type=int, default=WHOLE_TESTS // 100)
    parser.add_argument("--machines", type=int, default=WHOLE_MACHINES // 100)
    parser.add_argument("--runs", type=int, default=50, help="of the whole suite, a day (50)")
    parser.add_argument("--red", type=int, default=10, help="of them, red (10)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        where = given.memory or Path(folder, "memory.sqlite")
        rng = random.Random(0)
        with closing(BugStore(where, print)) as store:
            part = given.tests // 5, max(1, given.machines // 5)
            small = _passed(folder, store, part, (given.runs, given.red), rng)
            day = _passed(
                folder, store, (given.tests, given.machines), (given.runs, given.red), rng
            )
    by_test, by_shard = given.tests / part[0], given.machines / part[1]
    said = small.times(by_test, by_shard, 1.0)
    whole = day.times(WHOLE_TESTS / given.tests, WHOLE_MACHINES / given.machines, 1.0)
    print(json.dumps({"runs": given.runs, "red": given.red, "part": part}))
    titles = ("", f"{part[0]:,} tests", "expected", f"{given.tests:,} tests", "ratio", "whole")
    print("| " + " | ".join(titles) + " |")
    print("|---" * len(titles) + "|")
    for name in vars(day):
        values = [getattr(bill, name) for bill in (small, said, day, whole)]
        cells = [f"{value:,.3g}" if value < 1000 else f"{value:,.0f}" for value in values]
        cells.insert(3, f"{values[2] / values[1]:.2f}" if values[1] else "")
        print(f"| {name} | " + " | ".join(cells) + " |")


def _passed(
    folder: str, store: BugStore, size: tuple[int, int], runs: tuple[int, int], rng: random.Random
) -> Bill:
    day = Day(work=Path(folder), store=store, n_tests=size[0], n_machines=size[1])
    day.pass_by(*runs, rng)
    return day.bill


def _split(whole: RunRecord, n: int) -> list[RunRecord]:
    """What each of ``n`` machines sees, each with the footprints of its own tests."""
    names = list(whole.windows_of)
    size = -(-len(names) // n)
    return [_part(whole, names[start : start + size]) for start in range(0, len(names), size)]


def _part(whole: RunRecord, names: Sequence[str]) -> RunRecord:
    part = part_of(whole, names)
    used = sorted({number for w in part.windows for row in w.rows for number in row})
    numbers = {old: new for new, old in enumerate(used)}
    part.footprints = [whole.footprints[old] for old in used]
    part.windows = [
        replace(w, rows=[array("I", map(numbers.__getitem__, row)) for row in w.rows])
        for w in part.windows
    ]
    return part


if __name__ == "__main__":
    main()
