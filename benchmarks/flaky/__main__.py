"""The benchmark of causes outside the code.

    python -m benchmarks.flaky check [KIND or NAME ...]    red as told, else green: minutes
    python -m benchmarks.flaky run [KIND or NAME ...]      with the plugin: half an hour
    python -m benchmarks.flaky report                      what came of it

``benchmarks/README.md`` says what is done and what the figures mean.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.flaky.running import check, measure, report

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; 0 if it could do its work."""
    given = _arguments().parse_intermixed_args(argv)
    python = given.python.absolute()
    if given.command == "check":
        return check(given.names, python, controls=given.controls, jobs=given.jobs)
    if given.command == "run":
        measure(given.names, python, given.work, controls=given.controls, jobs=given.jobs)
    report(given.work)
    return 0


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.flaky",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    add = parser.add_argument
    add("command", choices=("check", "run", "report"))
    add("names", nargs="*", metavar="KIND or NAME", help="all where none is named")
    add("--controls", action="store_true", help="steady failures instead, which have no such cause")
    add("--work", type=Path, default=cache / "bayesloc-flaky", metavar="DIR", help="of results")
    add("--python", type=Path, default=Path(sys.executable), metavar="PY")
    add("--jobs", type=int, default=2, metavar="N", help="projects at a time (2)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
