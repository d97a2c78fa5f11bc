"""Each module of the package imports where a platform lacks parts of the standard library."""

from __future__ import annotations

import subprocess
import sys

IMPORT_ALL = """
import builtins, importlib, os, pkgutil, sys

for name in ("fork", "killpg", "register_at_fork", "setpgid"):
    delattr(os, name)
for name in ("fcntl", "grp", "pwd", "resource", "termios"):
    sys.modules[name] = None  # importing it fails

import pytest_bayesloc

for module in pkgutil.walk_packages(pytest_bayesloc.__path__, "pytest_bayesloc."):
    if not module.name.endswith("__main__"):
        try:
            importlib.import_module(module.name)
        except ImportError as error:  # an extra need not be there, or is too old
            top = (error.name or "").partition(".")[0]
            if top in {*sys.stdlib_module_names, "", "pytest_bayesloc"}:
                raise
        else:
            print(module.name)
"""


def test_every_module_imports_where_nothing_forks() -> None:
    done = subprocess.run(
        [sys.executable, "-c", IMPORT_ALL], capture_output=True, text=True, check=False
    )

    assert done.stderr == ""
    assert "pytest_bayesloc.rerun.transports.local" in done.stdout.split()
