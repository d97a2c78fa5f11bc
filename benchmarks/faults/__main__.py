"""The benchmark of planted faults.

    python -m benchmarks.faults build [PACKAGE ...]      plant the faults, hours
    python -m benchmarks.faults collect [PACKAGE ...]    run the plugin on each, hours
    python -m benchmarks.faults fit                      fit the model's numbers, minutes
    python -m benchmarks.faults report                   what comes out, minutes
    python -m benchmarks.faults smoke                    20 of the faults, for CI
    python -m benchmarks.faults compare [PACKAGE ...]    beside FauxPy on some of them, hours

``benchmarks/README.md`` says what is done and what the figures mean.
"""

from __future__ import annotations

import argparse
import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.faults.building import build
from benchmarks.faults.collecting import collect
from benchmarks.faults.pool import over_packages
from benchmarks.faults.side_by_side import Asked, compare
from benchmarks.faults.smoke import smoke

if TYPE_CHECKING:
    from collections.abc import Sequence

CHECKOUT = Path(__file__).resolve().parents[2]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; 0 if it could do its work."""
    given = _arguments().parse_args(argv)
    work = given.work.resolve()
    if work.is_relative_to(CHECKOUT):
        raise SystemExit(f"--work={given.work} is inside the checkout: give a folder outside it.")
    work.mkdir(parents=True, exist_ok=True)
    if given.command == "smoke":
        return smoke(work=work, python=given.python.absolute())
    if given.command == "compare":
        python, plugin = given.python.absolute(), given.plugin.resolve()
        asked = Asked(
            packages=given.packages, n_sbfl=given.sbfl, n_mbfl=given.mbfl, cap_s=given.cap
        )
        return compare(asked, work=work, python=python, plugin=plugin, to=given.json)
    # No resolve(): the interpreter of an environment is a link, and means it only by that name.
    task = partial(build, work=work, python=given.python.absolute())
    if given.command == "collect":
        python, plugin = given.python.absolute(), given.plugin.resolve()
        task = partial(collect, work=work, python=python, plugin=plugin)
    return over_packages(given.packages, task, jobs=given.jobs)


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.faults",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    add = parser.add_argument
    add("command", choices=("build", "collect", "smoke", "compare"))
    add("packages", nargs="*", metavar="PACKAGE", help="names from the table; all if none is given")
    add("--work", type=Path, default=cache / "bayesloc-real-suites", metavar="DIR")
    add("--python", type=Path, default=Path(sys.executable), metavar="PY")
    add("--plugin", type=Path, default=CHECKOUT, metavar="DIR", help="checkout that is measured")
    add("--jobs", type=int, default=2, metavar="N", help="packages worked on at a time (2)")
    compared = parser.add_argument_group("compare")
    add = compared.add_argument
    add("--sbfl", type=int, default=40, metavar="N", help="faults for FauxPy's SBFL (40)")
    add("--mbfl", type=int, default=8, metavar="N", help="faults for FauxPy's MBFL (8)")
    add("--cap", type=float, default=900, metavar="SECONDS", help="wall time of a run (900)")
    add("--json", type=Path, metavar="OUT", help="all rows as JSON")
    return parser


if __name__ == "__main__":
    sys.exit(main())
