"""Fetch axe-core, which says whether everybody can use a page, below the folder that is named.

Where there is no npm, the tests that need it are skipped.
"""

from __future__ import annotations

import shutil
import subprocess
import sys


def main(prefix: str) -> int:
    """The exit status of npm; 0 where there is none."""
    npm = shutil.which("npm")
    if npm is None:
        print("No npm: the tests of what everybody can use are skipped.")
        return 0
    quiet = ("--silent", "--no-save", "--no-audit", "--no-fund")
    command = [npm, "install", *quiet, "--prefix", prefix, "axe-core@4"]
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
