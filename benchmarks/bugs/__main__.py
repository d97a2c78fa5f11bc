"""The benchmark of real bugs.

    python -m benchmarks.bugs mine [NAME ...]       find them in clones of public histories, hours
    python -m benchmarks.bugs collect [NAME ...]    run the plugin on each, hours
    python -m benchmarks.bugs pack [NAME ...]       keep what it saw, with figures of texts, minutes
    python -m benchmarks.bugs show [NAME ...]       each as a user runs it, an hour
    python -m benchmarks.bugs fix [NAME ...]        search a fix of each, hours
    python -m benchmarks.bugs report                what comes out, a minute
    python -m benchmarks.bugs mine-patterns         find fixes of regular expressions, minutes
    python -m benchmarks.bugs patterns              which of them are repaired, minutes
    python -m benchmarks.bugs mine-letters          find small fixes of one function, minutes
    python -m benchmarks.bugs letters               which kinds of edit are the very fix, minutes
    python -m benchmarks.bugs regress [NAME ...]    later source under earlier tests: half an hour
    python -m benchmarks.bugs regress-report        what comes out

``benchmarks/README.md`` says what is done and what the figures mean.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.bugs import letters, patterns, regressions
from benchmarks.bugs.collecting import collect
from benchmarks.bugs.fixed import fix
from benchmarks.bugs.mining import mine
from benchmarks.bugs.reporting import report
from benchmarks.bugs.repositories import NAMES, PARTS, is_sealed
from benchmarks.bugs.rows import pack
from benchmarks.bugs.shown import show
from benchmarks.faults.pool import over
from benchmarks.faults.split import VALIDATE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


COMMANDS = (
    *("mine", "collect", "pack", "show", "fix", "report", "mine-patterns", "patterns"),
    *("mine-letters", "letters", "regress", "regress-report"),
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; 0 if it could do its work."""
    given = _arguments().parse_intermixed_args(argv)
    if given.command == "report":
        report(given.part, ablation=given.ablation)
        return 0
    if given.command == "regress-report":
        regressions.report()
        return 0
    if given.clones is not None and given.command in {"patterns", "mine-patterns"}:
        return _of_patterns(given)
    if given.clones is not None and given.command in {"letters", "mine-letters"}:
        return _of_letters(given)
    if given.clones is None or given.work is None:
        raise SystemExit(f"{given.command} needs --clones=DIR and --work=DIR.")
    names = given.names or [n for n in NAMES if given.command == "mine" or not is_sealed(n)]
    # No resolve(): the interpreter of an environment is a link, and means it only by that name.
    work, python = given.work.resolve(), given.python.absolute()
    common = {"clones": given.clones, "work": work}
    tasks: dict[str, Callable[[str], str]] = {
        "mine": partial(mine, **common, python=python, most=given.most, tries=given.tries),
        "collect": partial(collect, **common, python=python, inspect=given.inspect),
        "pack": partial(pack, **common),
        "show": partial(show, **common, python=python),
        "fix": partial(fix, **common, python=python),
        "regress": partial(
            regressions.regress, **common, python=python, most=given.most, tries=given.tries
        ),
    }
    return over(names, tasks[given.command], jobs=given.jobs)


def _of_patterns(given: argparse.Namespace) -> int:
    names = given.names or patterns.PATTERN_NAMES
    if given.command == "patterns":
        patterns.report_patterns(names, given.clones)
        return 0
    return over(names, partial(patterns.mine_patterns, clones=given.clones), jobs=given.jobs)


def _of_letters(given: argparse.Namespace) -> int:
    names = given.names or letters.LETTER_NAMES
    if given.command == "letters":
        letters.report_letters(names, given.clones, n_missed=given.missed)
        return 0
    return over(names, partial(letters.mine_letters, clones=given.clones), jobs=given.jobs)


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.bugs",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("command", choices=COMMANDS)
    add("names", nargs="*", metavar="NAME", help="owner/name of the table; all if none is given")
    add("--clones", type=Path, metavar="DIR", help="git directories, owner+name/repo")
    add("--work", type=Path, metavar="DIR", help="outside the checkout")
    add("--python", type=Path, default=Path(sys.executable), metavar="PY")
    add("--jobs", type=int, default=2, metavar="N", help="repositories worked on at a time (2)")
    add("--most", type=int, default=8, metavar="N", help="bugs of one repository (8)")
    add("--inspect", action="store_true", help="collect inspects every likely location")
    add("--part", choices=PARTS, default=VALIDATE, help="what report is about (validate)")
    add("--ablation", action="store_true", help="report without each kind of evidence too")
    add("--tries", type=int, default=40, metavar="N", help="commits looked at (40)")
    add("--missed", type=int, default=0, metavar="N", help="diffs of fixes that no edit is (0)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
