"""The benchmark of planted faults.

    python -m benchmarks.faults build [PACKAGE ...]      plant the faults, hours
    python -m benchmarks.faults collect [PACKAGE ...]    run the plugin on each, hours
    python -m benchmarks.faults texts [PACKAGE ...]      give rows figures of texts, minutes
    python -m benchmarks.faults watch [PACKAGE ...]      each as a user runs it, watched, hours
    python -m benchmarks.faults green [PACKAGE ...]      the same after a green run, hours
    python -m benchmarks.faults fit                      the model's numbers anew, a minute
    python -m benchmarks.faults report                   what comes out, minutes
    python -m benchmarks.faults ranks                    a digest of all rankings, minutes
    python -m benchmarks.faults smoke                    10 of the faults, for CI
    python -m benchmarks.faults compare [PACKAGE ...]    beside FauxPy on some of them, hours
    python -m benchmarks.faults tools                    beside six tools on ten of them, an hour

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
from benchmarks.faults.green_runs import Given, collect_green
from benchmarks.faults.pool import over_packages
from benchmarks.faults.reporting import digest, report
from benchmarks.faults.side_by_side import Asked, compare
from benchmarks.faults.smoke import smoke
from benchmarks.faults.split import PARTS, VALIDATE, all_packages
from benchmarks.faults.storage import with_rows
from benchmarks.faults.texts import add_texts
from benchmarks.faults.tools import Setting, compare_tools
from benchmarks.faults.watched import watch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

CHECKOUT = Path(__file__).resolve().parents[2]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; 0 if it could do its work."""
    given = _arguments().parse_intermixed_args(argv)
    given.work = given.work.resolve()
    if given.work.is_relative_to(CHECKOUT):
        raise SystemExit(f"--work={given.work} is inside the checkout: give a folder outside it.")
    given.work.mkdir(parents=True, exist_ok=True)
    # No resolve(): the interpreter of an environment is a link, and means it only by that name.
    given.python, given.plugin = given.python.absolute(), given.plugin.resolve()
    return COMMANDS[given.command](given)


def _build(given: argparse.Namespace) -> int:
    task = partial(build, work=given.work, python=given.python)
    return over_packages(given.packages or all_packages(), task, jobs=given.jobs)


def _collect(given: argparse.Namespace) -> int:
    task = partial(collect, work=given.work, python=given.python, plugin=given.plugin)
    return over_packages(given.packages or all_packages(), task, jobs=given.jobs)


def _texts(given: argparse.Namespace) -> int:
    task = partial(add_texts, work=given.work, python=given.python)
    return over_packages(given.packages or with_rows(), task, jobs=given.jobs)


def _watch(given: argparse.Namespace) -> int:
    task = partial(
        watch, work=given.work, python=given.python, plugin=given.plugin, most=given.most
    )
    return over_packages(given.packages or all_packages(), task, jobs=given.jobs)


def _green(given: argparse.Namespace) -> int:
    has = Given(git_alone=given.git_alone, without=tuple(given.without))
    task = partial(
        collect_green, work=given.work, python=given.python, plugin=given.plugin, given=has
    )
    return over_packages(given.packages or all_packages(), task, jobs=given.jobs)


def _fit(given: argparse.Namespace) -> int:
    del given
    from benchmarks.faults.numbers import fit  # numpy and scipy are wanted here only

    print(fit())
    return 0


def _report(given: argparse.Namespace) -> int:
    report(given.part, ablation=given.ablation)
    return 0


def _ranks(given: argparse.Namespace) -> int:
    del given
    value, n = digest()
    print(f"{value}: {n} probabilities")
    return 0


def _smoke(given: argparse.Namespace) -> int:
    return smoke(work=given.work, python=given.python, jobs=given.jobs)


def _compare(given: argparse.Namespace) -> int:
    asked = Asked(packages=given.packages, n_sbfl=given.sbfl, n_mbfl=given.mbfl, cap_s=given.cap)
    python, plugin = given.python, given.plugin
    return compare(asked, work=given.work, python=python, plugin=plugin, to=given.json)


def _tools(given: argparse.Namespace) -> int:
    python, plugin = given.python, given.plugin
    return compare_tools(
        Setting(work=given.work, python=python, plugin=plugin, cap_s=given.cap, n_mbfl=given.mbfl)
    )


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "build": _build,
    "collect": _collect,
    "texts": _texts,
    "watch": _watch,
    "green": _green,
    "fit": _fit,
    "report": _report,
    "ranks": _ranks,
    "smoke": _smoke,
    "compare": _compare,
    "tools": _tools,
}


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.faults",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    add = parser.add_argument
    add("command", choices=tuple(COMMANDS))
    add("packages", nargs="*", metavar="PACKAGE", help="names from the table; all if none is given")
    add("--work", type=Path, default=cache / "bayesloc-real-suites", metavar="DIR")
    add("--python", type=Path, default=Path(sys.executable), metavar="PY")
    add("--plugin", type=Path, default=CHECKOUT, metavar="DIR", help="checkout that is measured")
    add("--jobs", type=int, default=2, metavar="N", help="packages worked on at a time (2)")
    add("--most", type=int, default=13, metavar="N", help="faults of a kind that watch runs (13)")
    add("--part", choices=PARTS, default=VALIDATE, help="what report is about (validate)")
    add("--git-alone", action="store_true", help="green remembers no run, and has git alone")
    add("--without", action="append", default=[], metavar="KIND", help="evidence green leaves out")
    add("--ablation", action="store_true", help="report without each kind of evidence too")
    compared = parser.add_argument_group("compare and tools")
    add = compared.add_argument
    add("--sbfl", type=int, default=40, metavar="N", help="faults for FauxPy's SBFL (40)")
    add("--mbfl", type=int, default=8, metavar="N", help="faults for FauxPy's MBFL (8)")
    add("--cap", type=float, default=900, metavar="SECONDS", help="wall time of a run (900)")
    add("--json", type=Path, metavar="OUT", help="all rows as JSON")
    return parser


if __name__ == "__main__":
    sys.exit(main())
