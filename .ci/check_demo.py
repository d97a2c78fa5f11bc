"""Run the demo's tests with ``--bayesloc`` and check that both of its faults are found.

The demo has one wrong function and one test with wrong data. pytest itself fails, as it should;
this script succeeds when the JSON result names both and no file of the demo was touched.
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

CODE_FAULT = ("cutshop/prices.py", "combined_rate", False)
CODE_TESTS = {
    "tests/test_orders.py::test_discount_is_limited",
    "tests/test_orders.py::test_invoice_of_a_large_order",
    "tests/test_prices.py::test_combined_rate_with_coupon_stays_within_the_limit",
}
DATA_FAULT = ("tests/test_curve.py", "test_cubic_arch_is_symmetric", True)
DATA_TESTS = {"tests/test_curve.py::test_cubic_arch_is_symmetric"}


def main() -> int:
    """0 if the demo came out as designed, else 1 with the reasons on standard error."""
    document, html = OUTPUT / "bayesloc.json", OUTPUT / "bayesloc.html"
    OUTPUT.mkdir(parents=True, exist_ok=True)
    for old in (document, html):
        old.unlink(missing_ok=True)
    before = digests()
    status = run_pytest(document, html)
    problems = [*wrong_status(status), *changed(before, digests())]
    if not html.is_file():
        problems.append(f"no HTML report was written to {html}")
    problems += wrong_result(document)
    if problems:
        print("\nThe demo did not come out as designed:", file=sys.stderr)
        print("\n".join(f"  - {problem}" for problem in problems), file=sys.stderr)
        return 1
    print(f"\nBoth faults are ranked first. The report to open in a browser: {shown(html)}")
    return 0


def run_pytest(document: Path, html: Path) -> int:
    """The exit status of pytest on the demo; its output goes where ours goes."""
    command = [sys.executable, "-m", "pytest", "--bayesloc"]
    command += [f"--bayesloc-report=json:{document}", f"--bayesloc-report=html:{html}"]
    # Options meant for another run would make the demo another one.
    environment = {key: value for key, value in os.environ.items() if key != "PYTEST_ADDOPTS"}
    sys.stdout.flush()
    return subprocess.run(command, cwd=DEMO, env=environment, check=False).returncode


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


def wrong_status(status: int) -> Iterator[str]:
    """A sentence unless pytest ended as it does when tests fail."""
    if status != 1:
        yield f"pytest's exit status is {status}: expected 1, since tests of the demo fail"


def wrong_result(document: Path) -> Iterator[str]:
    """A sentence for each thing in the JSON result that is not as designed."""
    if not document.is_file():
        yield f"no JSON result was written to {document}"
        return
    result = json.loads(document.read_text(encoding="utf-8"))
    if result.get("schema") != "bayesloc/1":
        yield f"the schema is {result.get('schema')!r}: expected 'bayesloc/1'"
        return
    faults = result["faults"]
    groups = [set(fault["failing_tests"]) for fault in faults]
    for name, tests, culprit in (
        ("code", CODE_TESTS, CODE_FAULT),
        ("data", DATA_TESTS, DATA_FAULT),
    ):
        if tests not in groups:
            yield f"no fault has just the tests {sorted(tests)}: found {list(map(sorted, groups))}"
            continue
        yield from wrong_fault(name, faults[groups.index(tests)], culprit)
    if len(faults) != 2:
        yield f"{len(faults)} faults were told apart: expected 2"


def wrong_fault(
    name: str, fault: Mapping[str, Any], culprit: tuple[str, str, bool]
) -> Iterator[str]:
    """A sentence for each thing in one fault that is not as designed."""
    origin = fault["error"]["origin"]
    if name == "data" and origin != "data":
        yield f"the data fault's origin is {origin!r}: expected 'data'"
    ranking = fault["ranking"]
    if not ranking:
        yield f"the {name} fault has no ranking"
        return
    first = [row for row in ranking if row["rank"] == 1]
    found = [(row["file"], row["qualname"], row["is_test"]) for row in first]
    if found != [culprit]:
        names = ", ".join(f"{file} {qualname}" for file, qualname, _ in found)
        yield f"the {name} fault has {names} at rank 1: expected {culprit[0]} {culprit[1]} alone"


def shown(path: Path) -> str:
    """``path`` as short as it can be typed from here."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


if __name__ == "__main__":
    sys.exit(main())
