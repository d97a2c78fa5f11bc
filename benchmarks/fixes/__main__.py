"""The benchmark of fixes.

    python -m benchmarks.fixes search [PACKAGE ...]    plant faults, search a fix for each: hours
    python -m benchmarks.fixes report [PACKAGE ...]    what came of it
    python -m benchmarks.fixes corpus [KIND ...]       the small broken projects: minutes

``benchmarks/README.md`` says what is done and what the figures mean.
"""

from __future__ import annotations

import argparse
import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.faults.pool import over_packages
from benchmarks.faults.split import PARTS, VALIDATE, packages_of
from benchmarks.fixes.corpus import measure
from benchmarks.fixes.reporting import report
from benchmarks.fixes.running import Plan, search_package

if TYPE_CHECKING:
    from collections.abc import Sequence

CHECKOUT = Path(__file__).resolve().parents[2]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; 0 if it could do its work."""
    given = _arguments().parse_intermixed_args(argv)
    if given.command == "corpus":
        measure(given.packages, given.python, given.budget, jobs=given.jobs, sealed=given.sealed)
        return 0
    work = given.work.resolve()
    names = given.packages or packages_of(given.part)
    plan = Plan(
        counts={"each": given.each, "edit": given.edits, "regression": given.regressions},
        budget_s=given.budget,
        knows=given.knowing,
    )
    if given.command == "report":
        report(plan.folder(work), names)
        return 0
    task = partial(
        search_package,
        work=work,
        python=given.python.absolute(),
        plugin=given.plugin.resolve(),
        plan=plan,
    )
    return over_packages(names, task, jobs=given.jobs)


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.fixes",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    add = parser.add_argument
    add("command", choices=("search", "report", "corpus"))
    add("packages", nargs="*", metavar="PACKAGE", help="or kinds; all of the part")
    add("--part", choices=PARTS, default=VALIDATE, help="whose packages (validate)")
    add("--each", type=int, default=2, metavar="N", help="faults of each of the shelf's kinds (2)")
    add("--edits", type=int, default=5, metavar="N", help="single edits a package (5)")
    add("--regressions", type=int, default=5, metavar="N", help="regressions a package (5)")
    known = "remember a run in which all tests passed, and change more beside the fault"
    add("--knowing", action="store_true", help=known)
    add("--sealed", action="store_true", help="of the corpus, what tools were not made with")
    add("--budget", type=float, default=60.0, metavar="SECONDS", help="of a run (60)")
    add("--work", type=Path, default=cache / "bayesloc-real-suites", metavar="DIR")
    add("--python", type=Path, default=Path(sys.executable), metavar="PY")
    add("--plugin", type=Path, default=CHECKOUT, metavar="DIR", help="checkout that is measured")
    add("--jobs", type=int, default=2, metavar="N", help="packages or projects at a time (2)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
