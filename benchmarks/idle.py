"""What the plugin costs where there is nothing to do: its import, its start, one green test.

    python -m benchmarks.idle [--pairs N]

CPU milliseconds, medians of differences between neighbouring processes with and without it.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from benchmarks.suites.process import run

if TYPE_CHECKING:
    from collections.abc import Sequence

PYTEST = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
OFF = ("-p", "no:bayesloc")
WAYS = {
    "import": (
        (sys.executable, "-c", "import pytest"),
        (sys.executable, "-c", "import pytest, pytest_bayesloc.plugin"),
    ),
    "start, nothing to do": (
        (*PYTEST, *OFF, "--collect-only"),
        (*PYTEST, "--collect-only"),
    ),
    "green run, first": ((*PYTEST, *OFF), (*PYTEST, "--bayesloc-collect=always")),
    "green run, later": ((*PYTEST, *OFF), PYTEST),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Print a line a way."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=30, metavar="N", help="of processes (30)")
    given = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "calc.py").write_text("def add(a, b):\n    return a + b\n", encoding="utf-8")
        test = "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n"
        (root / "test_calc.py").write_text(test, encoding="utf-8")
        for name, (without, beside) in WAYS.items():
            _cpu_ms(beside, root)  # bytecode is written, and what is kept is there
            found = [_cpu_ms(beside, root) - _cpu_ms(without, root) for _ in range(given.pairs)]
            print(f"{name}: {median(found):.1f} ms", flush=True)
    return 0


def _cpu_ms(command: Sequence[str], root: Path) -> float:
    env = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    ran = run(list(command), cwd=root, limit_s=60, log=root / "log", env=env)
    if ran.exit_code:
        raise SystemExit(f"{' '.join(command)} ended with {ran.exit_code}:\n{ran.output[-2000:]}")
    return 1000 * ran.cpu_s


if __name__ == "__main__":
    sys.exit(main())
