"""What a language model adds to the benchmark of planted faults.

    python -m benchmarks.llm curve                  oracles of several qualities, minutes, no model
    python -m benchmarks.llm live [PACKAGE ...]     a real endpoint: OPENAI_BASE_URL, OPENAI_API_KEY
    python -m benchmarks.llm floor [PACKAGE ...]    an endpoint that only follows functions

``benchmarks/README.md`` says what is done and what the figures mean.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.faults.split import PARTS, TEST, packages_of
from benchmarks.llm.curve import curve
from benchmarks.llm.live import Asked, live
from benchmarks.llm.navigator import serving

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

KINDS = ("regression", "edit", "import", "test")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; 0 if it could do its work."""
    given = _arguments().parse_intermixed_args(argv)
    if given.command == "curve":
        return _print(curve(given.part, n_orders=given.orders))
    work = given.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    asked = Asked(
        packages=given.packages or packages_of(given.part),
        counts=dict.fromkeys(KINDS, given.faults),
        options=tuple(given.option),
        folder=(given.exchanges or work / "exchanges").resolve(),
        mode=given.mode,
    )
    python = given.python.absolute()
    if given.command == "live":
        return _print(live(asked, work=work, python=python))
    with serving() as address:
        os.environ.update(OPENAI_BASE_URL=address, OPENAI_API_KEY="none")
        return _print(live(asked, work=work, python=python))


def _print(lines: Iterable[str]) -> int:
    for line in lines:
        print(line, flush=True)
    return 0


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.llm",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    add = parser.add_argument
    add("command", choices=("curve", "live", "floor"))
    add("packages", nargs="*", metavar="PACKAGE", help="names from the table; else the whole part")
    add("--part", choices=PARTS, default=TEST, help="of the packages (test)")
    add("--orders", type=int, default=5, metavar="N", help="orders of the faults in curve (5)")
    add("--faults", type=int, default=2, metavar="N", help="faults of each kind and package (2)")
    add("--mode", choices=("live", "replay", "record"), default="live")
    add("--exchanges", type=Path, metavar="DIR", help="where requests and answers are kept")
    add("--option", action="append", default=[], help="for the run with the plugin; repeatable")
    add("--work", type=Path, default=cache / "bayesloc-real-suites", metavar="DIR")
    add("--python", type=Path, default=Path(sys.executable), metavar="PY")
    return parser


if __name__ == "__main__":
    sys.exit(main())
