"""Run the tests for every supported Python on this machine, then all other checks.

Arguments are names of tox environments; without any, all are run whose Python is here, but for
the tests that ``make test`` has run on one of them. tox finds a Python only by its name on PATH,
so the folders of those found are put there.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
#: With a t, those without a global lock.
VERSIONS = ("3.10", "3.11", "3.12", "3.13", "3.14", "3.15", "3.14t", "3.15t")
#: Its tests run with the oldest dependencies.
LOWEST = "3.11"
#: The one that runs all tests.
FULL = "3.13"
#: Where ``make test`` runs tests.
TESTED = ROOT / ".cache" / "test-venv" / "pyvenv.cfg"
CHECKS = ("e2e", "company")
#: Each keeps one processor busy, so these run beside each other.
BESIDE = ("check", "release")
ASK = """
import sys, sysconfig
letter = "t" if sysconfig.get_config_var("Py_GIL_DISABLED") else ""
print("%d.%d" % sys.version_info[:2] + letter)
print(sys.executable)
"""


def main(wanted: list[str]) -> int:
    """The exit status of tox, which runs twice where all environments are wanted."""
    found = {version: where for version in VERSIONS if (where := find(version))}
    for version in VERSIONS:
        print(f"Python {version}: {found.get(version) or 'not here, its tests are skipped'}")
    environments = wanted or [*test_environments(list(found)), *CHECKS]
    folders = [str(where.parent) for where in found.values()]
    path = os.pathsep.join([*folders, os.environ.get("PATH", os.defpath)])
    # Where a Python is missing, the tests are skipped in plain sight, never fetched behind it.
    is_left = not wanted and tested() == FULL
    environment = {
        "BAYESLOC_LEFT": "-m thorough" if is_left else "",
        "UV_PYTHON_DOWNLOADS": "never",
        **os.environ,
        "PATH": path,
    }
    runs = [["run", "-e", ",".join(environments)]]
    if not wanted:
        runs.append(["run-parallel", "--parallel-live", "-e", ",".join(BESIDE)])
    failed = 0
    for arguments in runs:
        print("$ tox", *arguments, flush=True)
        tox = [sys.executable, "-m", "tox", *arguments]
        failed |= subprocess.run(tox, cwd=ROOT, env=environment, check=False).returncode
    return failed


def tested() -> str:
    """The version of the Python that ``make test`` ran on last, as ``3.13``; empty if unknown."""
    lines = TESTED.read_text(encoding="utf-8").splitlines() if TESTED.is_file() else []
    versions = [line.partition("=")[2].strip() for line in lines if line.startswith("version")]
    return ".".join(versions[0].split(".")[:2]) if versions else ""


def test_environments(found: list[str]) -> list[str]:
    """The tox environments that run tests: one a Python."""
    if not found:
        print(f"None of them is here: the tests run on {sys.version.split()[0]} alone.")
        return ["py"]
    return ["lowest" if v == LOWEST else "py" + v.replace(".", "") for v in found]


def find(version: str) -> Path | None:
    """The executable of Python ``version``: one that runs, not just one that has the name."""
    for candidate in candidates(version):
        if where := real_path(candidate, version):
            return where
    return None


def candidates(version: str) -> Iterator[str]:
    """What may be Python ``version``: a command on PATH, then what pyenv has installed."""
    if command := shutil.which(f"python{version}"):
        yield command
    home = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    pyenv = shutil.which("pyenv") or str(home / "bin" / "pyenv")
    installed = output([pyenv, "versions", "--bare", "--skip-aliases"]).split()
    for name in sorted(installed, key=patch_number, reverse=True):
        if name.startswith(f"{version.rstrip('t')}.") and (
            prefix := output([pyenv, "prefix", name]).strip()
        ):
            yield str(Path(prefix) / "bin" / f"python{version}")


def patch_number(version: str) -> int:
    """9 of ``3.12.9``; -1 where the last part is no number."""
    last = version.rpartition(".")[2]
    return int(last) if last.isdecimal() else -1


def real_path(candidate: str, version: str) -> Path | None:
    """Where ``candidate`` really lies, if it runs and is ``version``; shims may do neither."""
    answer = output([candidate, "-c", ASK]).splitlines()
    if len(answer) != 2 or answer[0] != version:
        return None
    return Path(answer[1])


def output(command: list[str]) -> str:
    """What ``command`` prints; nothing if it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
