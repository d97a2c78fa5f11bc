"""The store under load: many writers, kills, and a hundred thousand records."""

from __future__ import annotations

import os
import random
import resource
import signal
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from statistics import median
from uuid import uuid4

from pytest_bayesloc.domain.advice import Advice
from pytest_bayesloc.domain.bug import BugRecord, BugState, Category, Run, Symptom
from pytest_bayesloc.memory.advice import Adviser
from pytest_bayesloc.memory.ledger import Ledger
from pytest_bayesloc.memory.store import BugStore

N_WRITERS, N_EACH = 8, 1_000
N_KILLS = 200
N_QUERIES = 50
BATCH = 1_000
PROJECT = "load"
TYPES = ("ValueError", "TypeError", "KeyError", "AttributeError", "AssertionError", "OSError")
COMMON = ("expected", "got", "value", "is", "not", "of", "the", "argument", "object", "in")


def opened(where: str) -> BugStore:
    """The store at a path or URL."""
    return BugStore(where if "://" in where else Path(where), print)


def drawn(rng: random.Random) -> BugRecord:
    """A record whose words are spread as in messages: ten common ones, and a long tail."""
    said = [rng.choice(COMMON) for _ in range(6)]
    said += [f"name{int(rng.paretovariate(0.7)) % 50_000}" for _ in range(4)]
    rng.shuffle(said)
    kind = rng.choice(TYPES)
    signature = f"{kind}: {' '.join(said)}"[:200]
    module = f"module{rng.randrange(2_000)}"
    function = f"{module}.function{rng.randrange(20_000)}"
    made_at = datetime.now(timezone.utc)
    node_id = f"tests/test_{rng.randrange(5_000)}.py::test_{rng.randrange(100_000)}"
    fingerprint = f"1:{rng.getrandbits(64):016x}"
    symptom = Symptom(
        failing={node_id: fingerprint},
        signatures={fingerprint: signature},
        errors=frozenset({signature}),
        signature=signature,
        category=rng.choice(list(Category)),
        hypothesis=f"likeliest place: {function}",
        tags=frozenset({f"error:{kind}", f"api:{function}", f"module:{module}"}),
        error=f"{signature}\nat src/{function}.py:1",
        code="def f():\n    return 1\n" * 10,
    )
    return BugRecord(
        id=uuid4().hex[:12],
        symptom=symptom,
        state=BugState.RESOLVED,
        created_at=made_at,
        seen_at=made_at,
        completed_at=made_at,
        session=f"{rng.randrange(40_000):012x}",
    )


def count(where: str) -> int:
    """How many records are in the store."""
    with closing(opened(where)) as store, store.transaction(write=False) as connection:
        return int(connection.value("SELECT count(*) FROM bug"))


def fill(where: str, n: int) -> None:
    """Put ``n`` records into the store, a thousand at a time."""
    rng = random.Random(n)
    with closing(opened(where)) as store:
        for start in range(0, n, BATCH):
            with store.transaction() as connection:
                ledger = Ledger(connection, PROJECT)
                for _ in range(min(BATCH, n - start)):
                    ledger.add(drawn(rng))


def write(where: str, n: int) -> None:
    """Write ``n`` records, each in a transaction of its own, and say each one that is kept."""
    rng = random.Random(os.getpid())
    with closing(opened(where)) as store:
        for _ in range(n):
            record = replace(drawn(rng), state=BugState.OPEN)
            with store.transaction() as connection:
                Ledger(connection, PROJECT).add(record)
            print(record.id, flush=True)


def writers(where: str) -> str:
    """Eight processes at once; what came of it."""
    before = count(where)
    started = time.monotonic()
    command = [sys.executable, "-m", "benchmarks.memory.load", "write", where, str(N_EACH)]
    running = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(N_WRITERS)]
    codes = [process.wait() for process in running]
    seconds = time.monotonic() - started
    kept = count(where) - before
    return (
        f"{N_WRITERS} writers of {N_EACH}: {kept} records kept of {N_WRITERS * N_EACH}, "
        f"exit codes {sorted(set(codes))}, {seconds:.0f} s"
    )


def kills(where: str, n: int = N_KILLS) -> str:
    """Writers that are killed at random moments; what is missing of what they said was kept."""
    rng = random.Random(1)
    said: set[str] = set()
    command = [sys.executable, "-m", "benchmarks.memory.load", "write", where, "100000"]
    for _ in range(n):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        said.add(process.stdout.readline().strip())  # it has begun to write
        time.sleep(rng.uniform(0, 0.05))
        process.send_signal(signal.SIGKILL)
        said.update(line.strip() for line in process.stdout if line.endswith("\n"))
        process.wait()
    with closing(opened(where)) as store, store.transaction(write=False) as connection:
        kept = set(connection.column("SELECT id FROM bug"))
    missing = said - {""} - kept
    return f"{n} kills: {len(said)} records said to be kept, {len(missing)} missing"


def speed(where: str) -> str:
    """Open the store and ask for advice, again and again; median and the memory it takes."""
    rng = random.Random(7)
    spent = []
    with closing(opened(where)) as store, store.transaction() as connection:
        ledger = Ledger(connection, PROJECT)
        run = Run(
            id=uuid4().hex[:12],
            workspace="w",
            made_at=datetime.now(timezone.utc),
            revision="",
            n_passed=1,
            n_failed=1,
        )
        ledger.add_run(run)
        asked = [replace(drawn(rng), session=run.id) for _ in range(N_QUERIES)]
        numbers = [ledger.add(record) for record in asked]
    for number, record in zip(numbers, asked, strict=True):
        started = time.perf_counter()
        with closing(opened(where)) as store, store.transaction(write=False) as connection:
            adviser = Adviser(Ledger(connection, PROJECT), "w")
            event = Advice(bug=number, kind="again", record=record, message="", fault=0)
            adviser.advise(event, record.symptom, "")
        spent.append(1000 * (time.perf_counter() - started))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    slowest = sorted(spent)[int(0.95 * len(spent))]
    return (
        f"open and advice: median {median(spent):.1f} ms, 95 % within {slowest:.1f} ms, "
        f"memory {memory:.0f} MB"
    )


def main() -> None:
    """``fill|write|writers|kills|speed|count WHERE [N]``."""
    command, where, *rest = sys.argv[1:]
    n = [int(text) for text in rest]
    if command in {"fill", "write"}:
        {"fill": fill, "write": write}[command](where, *n)
    elif command == "kills":
        print(kills(where, *n))
    else:
        print({"writers": writers, "speed": speed, "count": count}[command](where))


if __name__ == "__main__":
    main()
