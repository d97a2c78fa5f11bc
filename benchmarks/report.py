"""How large the page of a large run is, and how soon a browser has it.

    python -m benchmarks.report [--tests N] [--functions N] [--faults N] [--page FILE]

``benchmarks/README.md`` says what is done and what the figures mean.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.advice import Remembered
from pytest_bayesloc.domain.evidence import Decision, Evidence, InspectionOutcome
from pytest_bayesloc.domain.failure import ErrorKind, Failure, Frame, Origin
from pytest_bayesloc.domain.inspection import Finding, Signals, TestRun, Verdict
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.result import Fault, Ranked, RankedLine
from pytest_bayesloc.domain.spectrum import Counts
from pytest_bayesloc.report.document import SessionEntry
from pytest_bayesloc.report.encoding import Result, dumps, encode
from pytest_bayesloc.report.html import render
from pytest_bayesloc.report.memory import memory_entry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from playwright.sync_api import Browser

OUTPUT = 5_000_000  # characters of what one test prints
N_ROWS = 300
N_STEPS, N_INSPECTED = 40, 5  # of a fault; faults that there is time to inspect
ROUNDS = 5
#: From the click on the link to a page that answers, and from a letter to a filtered table.
_READY = "performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd"
_FILTER = """() => {
  const form = document.querySelector('form[data-filters]');
  form.elements.text.value = 'module_7';
  const started = performance.now();
  form.dispatchEvent(new Event('input'));
  return performance.now() - started;
}"""
_OPEN = """async () => {
  const fold = [...document.querySelectorAll('details.fault')].at(-1);
  if (!fold) return 0;
  const started = performance.now();
  fold.open = true;
  while (fold.querySelector(':scope > [data-packed], :scope > [aria-busy]')) {
    await new Promise((done) => setTimeout(done, 5));
    if (performance.now() - started > 10000) break;
  }
  return performance.now() - started;
}"""


def main(argv: Sequence[str] | None = None) -> int:
    """Print one table; 0 unless there is no browser."""
    given = _arguments().parse_args(argv)
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        print("There is no Chromium: apt-get install chromium.")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        file = given.page
        if file is None:
            started = perf_counter()
            result = large_result(given.tests, given.functions, given.faults)
            document = encode(result)
            text = render(document, _source, "Mend it.\n" * 1_000)
            print(f"made in {perf_counter() - started:.2f} s; JSON {len(dumps(document)):,} bytes")
            file = Path(folder, "report.html")
            file.write_text(text, encoding="utf-8")
        from playwright.sync_api import sync_playwright

        with sync_playwright() as api:
            browser = api.chromium.launch(executable_path=program, args=["--no-sandbox"])
            _print_times(browser, file)
            browser.close()
    return 0


def _print_times(browser: Browser, file: Path) -> None:
    times: dict[str, list[float]] = {"ready": [], "filter": [], "open a packed fault": []}
    for _ in range(ROUNDS):
        page = browser.new_page()
        page.goto(file.resolve().as_uri())
        for name, script in zip(times, (_READY, _FILTER, _OPEN), strict=True):
            times[name].append(page.evaluate(script))
        page.close()
    print(f"page {file.stat().st_size:,} bytes")
    for name, found in times.items():
        print(f"{name}: {median(found):.0f} ms ({min(found):.0f} to {max(found):.0f})")


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--tests", type=int, default=5_000, metavar="N", help="failing ones (5000)")
    add("--functions", type=int, default=20_000, metavar="N", help="that are ranked (20000)")
    add("--faults", type=int, default=60, metavar="N", help="groups of failing tests (60)")
    add("--page", type=Path, metavar="FILE", help="a page that was made before, of a real run")
    return parser


def large_result(n_tests: int, n_functions: int, n_faults: int) -> Result:
    """A run in which much failed.

    Args:
        n_tests: Failing tests.
        n_functions: Ranked functions.
        n_faults: Groups of failing tests.
    """
    each = max(1, n_tests // n_faults)
    faults = tuple(_fault(i, each, n_functions) for i in range(n_faults))
    places = [_place(i) for i in range(2_000)]
    return Result(
        session=SessionEntry(
            pytest_version="9.0.0",
            python_version="3.13.0",
            n_passed=95_000,
            n_remembered=0,
            n_traced=100_000,
            n_failed=n_tests,
            n_refused=0,
            n_rejected=0,
            collector="monitoring",
            executor="local",
            formula="blend",
            model="single-fault",
            threshold=0.9,
            seconds={"localize": 4.0, "inspect": 60.0},
        ),
        memory=memory_entry(Remembered()),
        ranking=faults[0].ranking,
        faults=faults,
        edges=tuple((places[i // 3], places[i + 1], i) for i in range(1_500)),
    )


def _place(i: int) -> Location:
    return Location(
        file=f"src/package/module_{i % 97}.py",
        start_line=1 + 10 * (i // 97),
        end_line=9 + 10 * (i // 97),
        qualname=f"Class{i % 13}.method_{i}",
    )


def _source(file: str) -> str:
    return f"# {file}\n" + "    value = compute(value, other)  # a line of code\n" * 3_000


def _fault(number: int, n_tests: int, n_functions: int) -> Fault:
    places = [_place((number * 31 + i) % n_functions) for i in range(N_ROWS)]
    n_steps = N_STEPS if number < N_INSPECTED else 0
    return Fault(
        failures=tuple(_failure(number, i) for i in range(n_tests)),
        origin=Origin.CODE,
        kind=ErrorKind.RUNTIME,
        ranking=tuple(_row(i, where) for i, where in enumerate(places)),
        stop_reason="the budget of 60 s is spent",
        history=tuple(
            tuple((where, 1 / (i + 2 + step % 3)) for i, where in enumerate(places[:5]))
            for step in range(n_steps + 1)
        ),
        inspections=tuple(_step(i, where) for i, where in enumerate(places[:n_steps], 1)),
        n_candidates=n_functions,
        reached=tuple((0, 1, 2) for _ in range(n_tests)),
    )


def _failure(number: int, i: int) -> Failure:
    frames = tuple(
        Frame(file=f"src/package/module_{j}.py", line=j + 1, name=f"call_{j}", first_line=1,
              in_app=j % 3 > 0)
        for j in range(25)
    )  # fmt: skip
    return Failure(
        node_id=f"tests/unit/test_module_{number}.py::TestClass::test_behaviour_{i}[case-{i}]",
        phase="call",
        exc_type="ValueError",
        message=f"value {i} is not what was expected\n" + "x" * OUTPUT if i == 0 else f"value {i}",
        frames=frames,
        cause_frames=(frames[:10],),
    )


def _row(i: int, where: Location) -> Ranked:
    return Ranked(
        rank=i + 1,
        tied=1,
        location=where,
        counts=Counts(ef=90, ep=i, nf=10, np=94_000),
        suspiciousness=1 / (i + 1),
        prior=1 / (i + 2),
        posterior=1 / (i + 1.5),
        lines=tuple(
            RankedLine(line=n, ef=90, ep=i, suspiciousness=0.5)
            for n in range(where.start_line, where.end_line)
        ),
        evidence=tuple(_evidence(where, why) for why in ("in the traceback", "named by the tests")),
        values={"value": ("int, 0 to 9 (900 calls)", "int, 12 (90 calls)")},
    )


def _evidence(where: Location, why: str) -> Evidence:
    return Evidence(
        location=where,
        source="traceback",
        outcome=InspectionOutcome.TARGET_ASSERTION_FAILED,
        p_if_faulty=0.9,
        p_if_clean=0.3,
        why=why,
    )


def _step(number: int, where: Location) -> Finding:
    runs = {
        f"tests/unit/test_{i}.py::test_{i}": TestRun(
            verdict=Verdict.FAIL, error="ValueError: no", covered=True, output="line\n" * 2_000
        )
        for i in range(30)
    }
    return Finding(
        diff="--- a\n+++ b\n@@ -1 +1 @@\n-    a\n+    b\n" * 5,
        tests=runs,
        signals=Signals(is_covered=True, has_target_assertion=False, is_failure=True),
        decision=Decision.NEUTRAL,
        evidence=_evidence(where, "none of 12 small edits makes the failing tests pass"),
        seconds=0.5,
        cpu_s=0.4,
        log="--- INSPECTION_START ---\n" * 50,
        step=number,
        belief_before=0.4,
        belief_after=0.5,
    )


if __name__ == "__main__":
    sys.exit(main())
