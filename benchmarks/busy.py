"""Whether the ranking depends on what else the machine does: idle, and with all CPUs busy.

    python -m benchmarks.busy [--runs N] [--budget SECONDS]

Ten faults, planted one at a time in a small project; a run is fresh, with inspections.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

SHOP = """
def net(price, rate):
    return price * rate


def discount(price, percent):
    if percent < 0 or percent > 100:
        raise ValueError("percent")
    return price - price * percent / 100


def total(prices, rate=1):
    result = 0
    for price in prices:
        result += net(price, rate)
    return result


def cheapest(prices):
    best = None
    for price in prices:
        if best is None or price < best:
            best = price
    return best


def batches(items, size):
    return [items[i : i + size] for i in range(0, len(items), size)]


def words(text):
    return [word.strip(",.").lower() for word in text.split()]


def count(items):
    counts = {}
    for item in items:
        counts[item] = counts.get(item, 0) + 1
    return counts


def most(items):
    counts = count(items)
    return max(counts, key=lambda item: (counts[item], item)) if counts else None


def receipt(prices, percent=0):
    lines = [f"{price:.2f}" for price in prices]
    lines.append(f"{discount(total(prices), percent):.2f}")
    return "\\n".join(lines)


def is_paid(prices, paid, percent=0):
    return paid >= discount(total(prices), percent)
"""
TESTS = """
import pytest

from shop import *


def test_net(): assert net(3, 2) == 6
def test_discount(): assert discount(50, 10) == 45
def test_full_discount(): assert discount(50, 100) == 0
def test_bad_discount(): pytest.raises(ValueError, discount, 1, 101)
def test_total(): assert total([1, 2, 3], 2) == 12
def test_total_of_nothing(): assert total([]) == 0
def test_cheapest(): assert cheapest([3, 1, 2]) == 1
def test_cheapest_of_nothing(): assert cheapest([]) is None
def test_batches(): assert batches([1, 2, 3, 4, 5], 2) == [[1, 2], [3, 4], [5]]
def test_words(): assert words("One, two.") == ["one", "two"]
def test_count(): assert count("aba") == {"a": 2, "b": 1}
def test_most(): assert most(words("b a b")) == "b"
def test_most_of_nothing(): assert most([]) is None
def test_receipt(): assert receipt([1, 2], 50) == "1.00\\n2.00\\n1.50"
def test_paid(): assert is_paid([10, 10], 20) and not is_paid([10, 10], 19)
def test_paid_less(): assert is_paid([10, 10], 15, 25)
"""
FAULTS = {
    "operator": ("price * rate", "price + rate"),
    "boundary": ("percent > 100", "percent >= 100"),
    "constant": ("percent / 100", "percent / 10"),
    "start": ("result = 0", "result = 1"),
    "comparison": ("price < best", "price > best"),
    "step": ("len(items), size)", "len(items), size + 1)"),
    "case": (".lower()", ".upper()"),
    "default": ("counts.get(item, 0) + 1", "counts.get(item, 1) + 1"),
    "condition": ("if counts else None", "if not counts else None"),
    "strictness": ("paid >= discount", "paid > discount"),
}


@contextmanager
def load() -> Iterator[None]:
    """Keep every CPU busy."""
    busy = [multiprocessing.Process(target=_spin, daemon=True) for _ in range(os.cpu_count() or 1)]
    for process in busy:
        process.start()
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.join()


def _spin() -> None:
    while True:
        pass


def answer(fault: str, budget_s: float) -> str:
    """Return the ranking of one run, and why it stopped."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        old, new = FAULTS[fault]
        (root / "shop.py").write_text(SHOP.replace(old, new, 1), encoding="utf-8")
        (root / "test_shop.py").write_text(TESTS, encoding="utf-8")
        options = ["--bayesloc", f"--bayesloc-budget={budget_s:g}", "--bayesloc-memory=off"]
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
        command.append("--bayesloc-report=json:result.json")
        subprocess.run(command, cwd=root, capture_output=True, check=False)
        result = json.loads((root / "result.json").read_text(encoding="utf-8"))
    names = [row["qualname"] for row in result["ranking"]]
    return f"{' '.join(names)}; {len(result['inspections'])} inspections"


def main() -> int:
    """Print a line a fault; 1 if a ranking differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10, help="of each fault, idle and busy (10)")
    parser.add_argument("--budget", type=float, default=60.0, help="--bayesloc-budget (60)")
    given = parser.parse_args()
    idle = {f: Counter(answer(f, given.budget) for _ in range(given.runs)) for f in FAULTS}
    with load():
        busy = {f: Counter(answer(f, given.budget) for _ in range(given.runs)) for f in FAULTS}
    n_differ = 0
    for fault in FAULTS:
        usual, n = idle[fault].most_common(1)[0]
        print(f"{fault}: {n} of {given.runs} idle, {busy[fault][usual]} of {given.runs} busy")
        others = (idle[fault] + busy[fault]).keys() - {usual}
        n_differ += bool(others)
        for other in sorted(others):
            print(f"  {usual}\n  {other}")
    print(f"{len(FAULTS) - n_differ} of {len(FAULTS)} faults have one answer")
    return min(n_differ, 1)


if __name__ == "__main__":
    sys.exit(main())
