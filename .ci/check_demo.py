"""Run the demo's tests with ``--bayesloc`` and check that each of its three faults is found.

The demo has a wrong comparison in its code, a fixture with wrong data, and a test that fails only
after another one. pytest itself fails, as it should; this script succeeds when the JSON results
name all three, coverage alone would not, a search fixes the first, and no file was touched.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOT = Path(__file__).resolve().parent.parent
DEMO = ROOT / "demo_project"
OUTPUT = ROOT / ".cache" / "demo"
CACHES = {"__pycache__", ".pytest_cache", ".bayesloc"}

CODE_TESTS = {
    "tests/test_bookings.py::test_room_is_free_on_the_day_of_departure",
    "tests/test_cleaning.py::test_room_is_cleaned_between_two_parties",
    "tests/test_cleaning.py::test_two_rooms_are_cleaned_on_one_day",
}
CODE_FAULT = ("guesthouse/stays.py", "Stay.overlaps")
DATA_TESTS = {
    "tests/test_prices.py::test_price_of_whitsun",
    "tests/test_prices.py::test_whitsun_is_no_long_stay",
}
DATA_FAULT = ("tests/test_prices.py", "whitsun")
ORDER_TESTS = {"tests/test_reports.py::test_price_list"}
POLLUTER = "tests/test_invoices.py::test_invoice_of_the_house_in_switzerland"
STATE = "guesthouse.settings.HOUSE"
FIXED_LINE = "+        return self.arrival < other.departure and other.arrival < self.departure"


def main() -> int:
    """0 if the demo came out as designed, else 1 with the reasons on standard error."""
    OUTPUT.mkdir(parents=True, exist_ok=True)
    html = OUTPUT / "bayesloc.html"
    before = digests()
    found = run_pytest("bayesloc", "--bayesloc", f"--bayesloc-report=html:{html}")
    files = sorted({test.partition("::")[0] for test in CODE_TESTS})
    fixed = run_pytest("fix", "--bayesloc-fix=suggest", *files)
    faults = {frozenset(fault["failing_tests"]): fault for fault in found.get("faults", ())}
    problems = [*wrong_faults(faults), *wrong_fix(fixed), *changed(before, digests())]
    if not html.is_file():
        problems.append(f"no HTML report was written to {html}")
    if problems:
        print("\nThe demo did not come out as designed:", file=sys.stderr)
        print("\n".join(f"  - {problem}" for problem in problems), file=sys.stderr)
        return 1
    best, *others = by_tarantula(faults[frozenset(CODE_TESTS)])
    own = next(row for row in others if row[1] == CODE_FAULT[1])
    print("\nAll three faults are found. Coverage alone (Tarantula) would look for the first in")
    print(f"{best[1]} ({best[0]:.2f}) before {own[1]} ({own[0]:.2f}).")
    print(f"The report to open in a browser: {shown(html)}")
    return 0


def run_pytest(name: str, *options: str) -> dict[str, Any]:
    """The JSON result of a run of the demo, empty if there is none; its output goes to ours."""
    document = OUTPUT / f"{name}.json"
    document.unlink(missing_ok=True)
    command = [sys.executable, "-m", "pytest", "-q", "--tb=no", *options]
    # Options meant for another run, or the memory of one, would make the demo another one.
    command += ["--bayesloc-memory=off", f"--bayesloc-report=json:{document}"]
    environment = {key: value for key, value in os.environ.items() if key != "PYTEST_ADDOPTS"}
    print(f"$ pytest -q --tb=no {' '.join(o for o in options if 'report' not in o)}", flush=True)
    subprocess.run(command, cwd=DEMO, env=environment, check=False)
    return json.loads(document.read_text(encoding="utf-8")) if document.is_file() else {}


def digests() -> dict[str, str]:
    """A digest of every file of the demo, caches left out."""
    files = (path for path in DEMO.rglob("*") if path.is_file())
    return {
        path.relative_to(DEMO).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
        if CACHES.isdisjoint(path.relative_to(DEMO).parts)
    }


def changed(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    """A sentence for each file that the run changed, made or removed."""
    for file in sorted(before.keys() | after.keys()):
        if before.get(file) != after.get(file):
            yield f"the run changed, made or removed demo_project/{file}"


def wrong_faults(faults: Mapping[frozenset[str], Mapping[str, Any]]) -> Iterator[str]:
    """A sentence for each thing in the JSON result that is not as designed."""
    expected = {*map(frozenset, (CODE_TESTS, DATA_TESTS, ORDER_TESTS))}
    if faults.keys() != expected:
        yield f"the faults are {[*map(sorted, faults)]}: expected {[*map(sorted, expected)]}"
        return
    code, data, order = (faults[frozenset(t)] for t in (CODE_TESTS, DATA_TESTS, ORDER_TESTS))
    for fault, culprit in ((code, CODE_FAULT), (data, DATA_FAULT)):
        first = [(row["file"], row["qualname"]) for row in fault["ranking"] if row["rank"] == 1]
        if first != [culprit]:
            yield f"{first} is at rank 1: expected {culprit} alone"
    if by_tarantula(code)[0][1] == CODE_FAULT[1]:
        yield "coverage alone finds the fault in the code: expected another function first"
    if data["error"]["origin"] != "fixture":
        yield f"the origin of wrong data is {data['error']['origin']!r}: expected 'fixture'"
    cause = order["cause"] or {}
    told = cause.get("after"), cause.get("state")
    if told != ([POLLUTER], STATE):
        yield f"the cause of the last fault is {told}: expected {POLLUTER} and {STATE}"


def wrong_fix(result: Mapping[str, Any]) -> Iterator[str]:
    """A sentence unless the first fix is verified and gives the line that a person would write."""
    fixes = [fix for fix in result.get("fixes", ()) if fix["verified"]]
    if not fixes or FIXED_LINE not in fixes[0]["diff"].splitlines():
        yield f"the first fix is {fixes[:1]}: expected one with {FIXED_LINE}"


def by_tarantula(fault: Mapping[str, Any]) -> list[tuple[float, str]]:
    """The functions that the tests execute with their Tarantula, the most suspicious first."""
    rows = [
        (tarantula(**row["counts"]), row["qualname"])
        for row in fault["ranking"]
        if row["counts"] and not row["qualname"].startswith("<")
    ]
    return sorted(rows, reverse=True)


def tarantula(*, ef: int, ep: int, nf: int, np: int) -> float:
    """The suspiciousness of what ``ef`` failing and ``ep`` passing tests execute."""
    failing, passing = ef / (ef + nf), ep / (ep + np)
    return failing / (failing + passing) if ef else 0.0


def shown(path: Path) -> str:
    """``path`` as short as it can be typed from here."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


if __name__ == "__main__":
    sys.exit(main())
