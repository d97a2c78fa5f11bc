"""What git says of a file that is to be written."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

LIMIT_S = 20.0
_CI = ("CI", "GITHUB_ACTIONS", "GITLAB_CI", "BUILD_NUMBER", "TF_BUILD", "TEAMCITY_VERSION")
_OFF = frozenset({"", "0", "false", "no", "off"})


def is_ci(environment: Mapping[str, str]) -> bool:
    """Whether this is a run that nobody watches."""
    return any(environment.get(name, "").lower() not in _OFF for name in _CI)


def unsaved(path: Path) -> str:
    """Why a file can't be had back from git if it is written; empty if it can.

    Args:
        path: Of the file, resolved.
    """
    if (_git(path, "rev-parse", "--is-inside-work-tree") or b"").strip() != b"true":
        return "it is outside of version control"
    tag = (_git(path, "ls-files", "-v", "--", path.name) or b"")[:1]
    if not tag:
        return "git does not know it"
    if tag != b"H":
        return "git was told not to look whether it changed"
    status = _git(path, "status", "--porcelain", "--", path.name)
    if status is None:
        return "git can't say whether it changed"
    return "it has changes that are not committed" if status.strip() else ""


def _git(path: Path, *command: str) -> bytes | None:
    """What git prints; None where it fails, or there is none."""
    try:
        done = subprocess.run(
            ["git", "--literal-pathspecs", *command],  # noqa: S607 - the one that the user's PATH finds
            cwd=path.parent,
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"},  # a look must not refresh the index
            check=True,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=LIMIT_S,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout
