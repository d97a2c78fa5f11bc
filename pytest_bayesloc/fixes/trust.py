"""Keeps what a person trusted of a project in the user's own configuration, by path and digest."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

import platformdirs

from pytest_bayesloc.domain.errors import ToolError

APP = "pytest-bayesloc"
FILE = "trusted.json"


def user_folder() -> Path:
    """The user's own configuration."""
    return platformdirs.user_config_path(APP)


def is_trusted(path: Path, digest: str, folder: Path) -> bool:
    """Return whether a person trusted what lies at ``path`` as it is now.

    Args:
        path: Real, absolute.
        digest: Of what it holds, and is trusted for.
        folder: Of the user's own configuration, where trust is kept.
    """
    return _trusted(folder).get(str(path)) == digest


def setting_key(ini: Path, name: str) -> Path:
    """Return the key of a setting of an ini file, whose other lines may change."""
    return ini.with_name(f"{ini.name}::{name}")


def trust(path: Path, digest: str, folder: Path) -> None:
    """Trust what lies at ``path`` as it is; the arguments are those of ``is_trusted``.

    Raises:
        ToolError: If that can't be written.
    """
    known = {**_trusted(folder), str(path): digest}
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, name = tempfile.mkstemp(dir=folder, prefix=f".{FILE}.")
        with os.fdopen(handle, "w", encoding="ascii") as stream:
            json.dump({"trusted": known}, stream, indent=1, sort_keys=True)
        Path(name).replace(folder / FILE)
    except OSError as error:
        raise ToolError(
            f"Trust in {path.name} can't be written to {folder / FILE} ({error}): it does not "
            "count. See that the folder can be written.",
            slug="not-trusted",
        ) from error


def _trusted(folder: Path) -> dict[str, str]:
    try:
        read = json.loads((folder / FILE).read_text(encoding="ascii"))
        return {str(path): str(digest) for path, digest in read["trusted"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}
