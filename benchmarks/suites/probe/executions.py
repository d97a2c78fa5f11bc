"""Which test executed which line, from coverage.py's data: ``executions.py DATA ROOT OUT``.

What was executed at import belongs to the test of the empty name.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from coverage import CoverageData


def main(data_file: str, root: str, to: str) -> None:
    data = CoverageData(data_file)
    data.read()
    numbers: dict[str, int] = {}
    files = {
        # A subject may have coverage.py write relative paths.
        os.path.relpath(os.path.realpath(Path(root, file)), os.path.realpath(root)): {
            line: sorted(
                {numbers.setdefault(name.rpartition("|")[0], len(numbers)) for name in names}
            )
            for line, names in data.contexts_by_lineno(file).items()
        }
        for file in data.measured_files()
    }
    found = {"tests": list(numbers), "files": files}
    Path(to).write_text(json.dumps(found, separators=(",", ":")), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
