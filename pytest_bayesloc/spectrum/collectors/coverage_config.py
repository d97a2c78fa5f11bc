"""What coverage.py is configured to measure, read without importing it: that costs 40 ms."""

from __future__ import annotations

import re
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    Measured = tuple[list[str], list[str]]

FILES = (".coveragerc", "setup.cfg", "tox.ini", "pyproject.toml")
_MARKS = ("coverage:", "tool.coverage", "[run]")
_KEYS = ("source", "source_pkgs", "omit")


def measured(rootdir: Path) -> Measured:
    """``source`` (folders and packages) and ``omit`` of the first file that configures it."""
    for name in FILES:
        text = _text(rootdir / name)
        if any(mark in text for mark in _MARKS):
            try:
                source, packages, omit = map(_plain, _values(name, text))
            except (ValueError, LookupError):
                return _asked(rootdir / name)
            return [*source, *packages], omit
    return [], []


def texts(option: object) -> list[str]:
    """A list-valued option of coverage.py as texts; empty if it is not set."""
    return [str(item) for item in option] if isinstance(option, (list, tuple)) else []


def _values(name: str, text: str) -> list[Any]:
    """The values of ``_KEYS``.

    Raises:
        ValueError: If the file can't be read.
        LookupError: If it can't here.
    """
    if name.endswith(".toml"):
        # On Python 3.10, where pytest brings it along, it goes by the name that it had then.
        tomllib = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
        table = tomllib.loads(text).get("tool", {}).get("coverage", {}).get("run", {})
        return [table.get(key, []) for key in _KEYS]
    from configparser import Error, RawConfigParser

    parser = RawConfigParser(interpolation=None)
    try:
        parser.read_string(text)
    except Error as error:
        raise ValueError(name) from error
    sections = ("coverage:run", "run") if name == ".coveragerc" else ("coverage:run",)
    section = next((s for s in sections if parser.has_section(s)), None)
    return [parser.get(section, key, fallback="") if section else "" for key in _KEYS]


def _plain(value: object) -> list[str]:
    """A list as coverage.py reads it.

    Raises:
        ValueError: If there is more to it, such as variables.
    """
    items = re.split(r"[,\n]", value) if isinstance(value, str) else value
    if not isinstance(items, list) or any("$" in str(item) for item in items):
        raise ValueError(value)
    return [item for item in (str(item).strip() for item in items) if item]


def _asked(path: Path) -> Measured:
    """What coverage.py itself makes of the file."""
    from coverage import Coverage
    from coverage.exceptions import ConfigError, CoverageException

    try:
        cov = Coverage(data_file=None, config_file=str(path))
    except (ConfigError, CoverageException):  # of old, two families
        return [], []
    named = [*texts(cov.get_option("run:source")), *texts(cov.get_option("run:source_pkgs"))]
    return named, texts(cov.get_option("run:omit"))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
