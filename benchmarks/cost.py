"""What collecting costs, beside what others cost that trace tests.

    python -m benchmarks.cost [NAME ...] [--python PY ...] [--rounds N] [--work DIR]

``benchmarks/README.md`` says what is done and what the figures mean.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from math import isnan
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.suites.measuring import install_plugin
from benchmarks.suites.process import run
from benchmarks.suites.subjects import subject_of
from benchmarks.suites.workspace import CHECKOUT, Workspace, install, prepare

if TYPE_CHECKING:
    from collections.abc import Sequence

SUITES = ("marshmallow", "werkzeug", "click")
OFF = ("-p", "no:bayesloc")


class Way(NamedTuple):
    """A way to run a suite.

    Attributes:
        name: In the table.
        options: Of pytest; ``{source}`` stands for the folder of the package.
        launcher: What runs pytest, after the interpreter.
        clears: What is removed before: folders and files that a tool keeps.
    """

    name: str
    options: tuple[str, ...]
    launcher: tuple[str, ...] = ("-m", "pytest")
    clears: tuple[str, ...] = ()


WAYS = (
    Way("first run", (), clears=(".bayesloc",)),
    Way("second run", ()),
    Way("on-failure", ("--bayesloc-collect=on-failure",), clears=(".bayesloc",)),
    Way("--cov", (*OFF, "--cov={source}", "--cov-report=")),
    Way("contexts", (*OFF, "--cov={source}", "--cov-report=", "--cov-context=test")),
    Way("testmon 1st", (*OFF, "--testmon-noselect"), clears=(".testmondata",)),
    Way("testmon 2nd", (*OFF, "--testmon-noselect")),
    Way("slipcover", OFF, launcher=("-m", "slipcover", "--source", "{source}", "-m", "pytest")),
)
PLAIN = Way("plain", OFF)


def main(argv: Sequence[str] | None = None) -> int:
    """Print one row a suite and Python; 0 unless a run did not pass."""
    given = _arguments().parse_args(argv)
    names = [way.name for way in WAYS]
    print("| suite | Python | plain, s | " + " | ".join(names) + " |")
    print("|---" * (len(names) + 3) + "|")
    troubles = 0
    for python in given.python:
        for name in given.names or SUITES:
            workspace = prepare(subject_of(name), work=given.work.resolve(), python=python)
            install(workspace.python, "pytest-testmon", "slipcover")
            install_plugin(workspace, CHECKOUT)
            troubles += _print_row(workspace, given.rounds)
    return int(troubles > 0)


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    add = parser.add_argument
    add("names", nargs="*", metavar="NAME", help=f"packages ({', '.join(SUITES)})")
    add("--python", type=Path, nargs="+", default=[Path(sys.executable)], metavar="PY")
    add("--rounds", type=int, default=5, metavar="N", help="of all ways in turn (5)")
    add("--work", type=Path, default=cache / "bayesloc-real-suites", metavar="DIR")
    return parser


def _print_row(workspace: Workspace, n_rounds: int) -> int:
    """The row of one suite; 1 if it did not pass with the plugin.

    The speed of a shared machine changes from minute to minute, so each run stands between two
    plain ones, and is divided by their mean.
    """
    ratios: dict[str, list[float]] = {way.name: [] for way in WAYS}
    _once(workspace, PLAIN)  # so that all bytecode is there
    plain_s = [_once(workspace, PLAIN)]
    for _ in range(n_rounds):
        for way in WAYS:
            used = _once(workspace, way)
            plain_s.append(_once(workspace, PLAIN))
            ratios[way.name].append(2 * used / sum(plain_s[-2:]))
    cells = [_cell(ratios[way.name]) for way in WAYS]
    plain = f"{median(plain_s):.2f}"
    version = workspace.root.name
    print(f"| {workspace.subject} | {version} | {plain} | " + " | ".join(cells) + " |", flush=True)
    return int("failed" in cells[:3])


def _cell(ratios: Sequence[float]) -> str:
    return "failed" if any(map(isnan, ratios)) else f"{median(ratios):.2f}"


def _once(workspace: Workspace, way: Way) -> float:
    """CPU seconds of one run; NaN if it did not pass."""
    for name in way.clears:
        path = workspace.tree / name
        shutil.rmtree(path, ignore_errors=True)
        path.unlink(missing_ok=True)
    source = str(workspace.tree / workspace.source)
    interpreter, _, _, *rest = workspace.pytest("-q", "-p", "no:cacheprovider", *way.options)
    ran = run(
        [word.replace("{source}", source) for word in (interpreter, *way.launcher, *rest)],
        cwd=workspace.tree,
        limit_s=40 * workspace.known.seconds + 60,
        log=workspace.root / "cost.log",
        env={
            "COVERAGE_FILE": str(workspace.root / "coverage.data"),
            "PYTHONDONTWRITEBYTECODE": "",  # else each run pays for compiling what it imports
        },
    )
    return ran.cpu_s if ran.exit_code == 0 else float("nan")


if __name__ == "__main__":
    sys.exit(main())
