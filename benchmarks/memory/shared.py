"""Many CI jobs that tell their runs to one PostgreSQL, while its connections are cut.

    python -m benchmarks.memory.shared URL [--writers 50] [--seconds 60] [--cuts 20]

``benchmarks/README.md`` says what is done and what the figures mean.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING
from uuid import uuid4

from benchmarks.memory.load import drawn
from pytest_bayesloc.domain.advice import Remembered
from pytest_bayesloc.domain.bug import Run, Symptom
from pytest_bayesloc.domain.errors import StoreError
from pytest_bayesloc.memory.episodes import Episodes
from pytest_bayesloc.memory.ledger import Ledger
from pytest_bayesloc.memory.store import BugStore
from pytest_bayesloc.memory.transfer import deliver, outbox_of, send

if TYPE_CHECKING:
    from collections.abc import Iterator

N_BUGS = 200  # that all jobs share: most runs meet one that is open
FOLDER = ".bayesloc"
PAUSE_S = 0.5  # between the runs of a job
CUT = (
    "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
    " WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
)


def main() -> None:
    """Run the jobs, cut connections meanwhile, and hold what is kept against what was told."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("url")
    parser.add_argument("--writers", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--cuts", type=int, default=20)
    parser.add_argument("--job", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--project", default=f"shared-{uuid4().hex[:8]}", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.job is not None:
        job(args.url, args.project, args.job, args.seconds)
    else:
        print(compare(args.url, args.project, args.writers, args.seconds, args.cuts))


def job(url: str, project: str, seed: int, seconds: float) -> None:
    """One CI job: a run after the other, each of which meets a bug or two; its runs' ids."""
    rng = random.Random(seed)
    root = Path(tempfile.mkdtemp(prefix="bayesloc-job-"))
    (root / FOLDER).mkdir()
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        met = [
            drawn(random.Random(f"{project} {rng.randrange(N_BUGS)}")).symptom
            for _ in range(rng.choice((1, 1, 2)))
        ]
        run = Run(
            id=uuid4().hex[:12],
            workspace=f"job{seed}",
            made_at=datetime.now(timezone.utc),
            revision="r",
            n_passed=9,
            n_failed=len(met),
        )
        reds = [
            replace(what, code_state=run.id, test_state="t")
            for what in {what.fingerprints: what for what in met}.values()
        ]

        def tell(store: BugStore, run: Run = run, reds: list[Symptom] = reds) -> Remembered:
            with store.transaction() as connection:
                ledger = Ledger(connection, project)
                made = replace(run, number=ledger.add_run(run))
                Episodes(ledger, made).advance(reds, {})
            return Remembered()

        started = time.monotonic()
        notes: list[str] = []
        deliver(url, root / FOLDER, _opened, tell, notes.append)
        took = time.monotonic() - started
        print(run.id, len(reds), f"{took:.3f}", int(any("offline" in n for n in notes)), flush=True)
        time.sleep(rng.uniform(0, 2 * PAUSE_S))
    _flush(root, url)


@contextmanager
def _opened(where: Path | str) -> Iterator[BugStore]:
    with closing(BugStore(where, print)) as store:
        yield store


def _flush(root: Path, url: str) -> None:
    """What the next red run would do."""
    for _ in range(20):
        with suppress(StoreError), closing(BugStore(url, print)) as store:
            send(outbox_of(root / FOLDER, url), store, print)
            return
        time.sleep(0.5)
    raise SystemExit("what waits could not be sent")


def compare(url: str, project: str, n_writers: int, seconds: float, n_cuts: int) -> str:
    """Run it; the figures."""
    with closing(BugStore(url, print)) as store, store.transaction():
        """Its tables are there before anybody is cut."""
    command = [sys.executable, "-m", "benchmarks.memory.shared", url, f"--seconds={seconds}"]
    command.append(f"--project={project}")
    jobs = [
        subprocess.Popen([*command, f"--job={n}"], stdout=subprocess.PIPE, text=True)
        for n in range(n_writers)
    ]
    n_ended = _cut(url, seconds, n_cuts)
    told = [line.split() for process in jobs for line in process.communicate()[0].splitlines()]
    codes = Counter(process.returncode for process in jobs)
    runs, met = [row[0] for row in told], sum(int(row[1]) for row in told)
    took = sorted(float(row[2]) for row in told)
    with closing(BugStore(url, print)) as store, store.transaction(write=False) as connection:
        kept = Counter(connection.column("SELECT id FROM run WHERE project = ?", project))
        seen = "SELECT count(*) FROM sighting JOIN bug ON bug.seq = bug WHERE project = ?"
        n_seen = connection.value(seen, project)
        doubled = "SELECT bug, run FROM sighting GROUP BY bug, run HAVING count(*) > 1"
        n_doubled = len(connection.rows(doubled))
        n_bugs = connection.value("SELECT count(*) FROM bug WHERE project = ?", project)
    return (
        f"{n_writers} jobs, {seconds:g} s, {n_cuts} cuts that ended {n_ended} connections; "
        f"exit codes {dict(codes)}\n"
        f"runs told {len(runs)}, kept {len(kept)}, lost {len(set(runs) - set(kept))}, "
        f"kept twice {sum(n > 1 for n in kept.values())}\n"
        f"bugs met {met}, sightings {n_seen}, doubled {n_doubled}; {n_bugs} bugs of {N_BUGS}\n"
        f"by way of the outbox {sum(int(row[3]) for row in told)}; "
        f"a run takes {median(took):.2f} s, one in a hundred over {took[-len(took) // 100]:.2f} s"
    )


def _cut(url: str, seconds: float, n_cuts: int) -> int:
    """End all connections, again and again; how many were."""
    n_ended = 0
    for _ in range(n_cuts):
        time.sleep(seconds / (n_cuts + 1))
        with closing(BugStore(url, print)) as store, store.transaction(write=False) as connection:
            n_ended += int(connection.value(CUT))
    return n_ended


if __name__ == "__main__":
    main()
