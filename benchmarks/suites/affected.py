"""Which tests a change can make fail: those that execute what it changes."""

from __future__ import annotations

import json
import subprocess
from collections import defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING

from benchmarks.suites.workspace import PROBE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from benchmarks.suites.change import Change
    from benchmarks.suites.workspace import Workspace

MOST = 0.5  # of the tests: choosing among more spares nothing


def affected(workspace: Workspace, change: Change) -> list[str] | None:
    """The tests that can notice ``change``; None where all have to be run."""
    passing = workspace.known.passing
    if change.kind == "test":
        files = tuple(f"{file}::" for file in change.texts)
        chosen = [node_id for node_id in passing if node_id.startswith(files)]
        chosen = chosen if all("conftest" not in file for file in files) else []
    elif change.kind == "import":
        return None
    else:
        known = _executions(_noted(workspace))
        lines = ((file, line) for file, rows in change.lines.items() for line in rows)
        found = {test for place in lines for test in known.get(place, ())}
        chosen = [] if "" in found else [node_id for node_id in passing if node_id in found]
        if not found and known:
            return []
    too_many = len(chosen) > MOST * len(passing)
    odd = any("\n" in node_id or node_id != node_id.strip() for node_id in chosen)
    return None if not chosen or too_many or odd else chosen


def _noted(workspace: Workspace) -> Path:
    """A file that says which test executed which line, measured once."""
    to = workspace.root / "executions.json"
    if to.is_file():
        return to
    workspace.restore()
    data = workspace.root / "coverage.data"
    data.unlink(missing_ok=True)
    source = f"--cov={workspace.tree / workspace.source}"
    limit_s = 20 * workspace.known.seconds + 120
    workspace.outcomes(source, "--cov-context=test", "--cov-report=", limit_s=limit_s)
    command = [str(workspace.python), str(PROBE / "executions.py")]
    subprocess.run(
        [*command, str(data), str(workspace.tree), str(to)], check=True, capture_output=True
    )
    data.unlink()
    return to


@lru_cache(maxsize=2)
def _executions(path: Path) -> Mapping[tuple[str, int], Sequence[str]]:
    noted = json.loads(path.read_text("utf-8"))
    tests: list[str] = noted["tests"]
    found: dict[tuple[str, int], Sequence[str]] = defaultdict(tuple)
    for file, lines in noted["files"].items():
        for line, numbers in lines.items():
            found[file, int(line)] = [tests[n] for n in numbers]
    return found
