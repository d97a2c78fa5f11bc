"""Command line and ini file to frozen settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_bayesloc.options.option import (
    AUTO,
    DRY_RUN,
    LOCAL,
    LOOP,
    RECORD,
    REPORT_KINDS,
    Format,
    Launch,
    Option,
    Report,
    Trusts,
    ini_of,
)
from pytest_bayesloc.options.readers import offered_formats
from pytest_bayesloc.options.settings import Settings, declarations, project_asks

if TYPE_CHECKING:
    import pytest

__all__ = [
    "AUTO",
    "DRY_RUN",
    "LOCAL",
    "LOOP",
    "RECORD",
    "REPORT_KINDS",
    "Format",
    "Launch",
    "Option",
    "Report",
    "Settings",
    "Trusts",
    "add_options",
    "declarations",
    "early",
    "ini_of",
    "is_about_fixes",
    "is_about_memory",
    "is_enabled",
    "is_listing",
    "offered_formats",
    "project_asks",
]


def add_options(parser: pytest.Parser) -> None:
    """Declare the command line and the ini file."""
    group = parser.getgroup(
        "bayesloc",
        "fault localization (pytest-bayesloc): options that people use most; the others are in "
        "docs/options.md",
    )
    for option in declarations():
        option.declare(parser, group)


# -- what is asked before all plugins are loaded


def early(config: pytest.Config, name: str) -> Any:  # noqa: ANN401 - text, list or bool
    """Return the value of an option as far as it is known, unchecked."""
    return _typed(config, name) or config.getini(name)


def is_enabled(config: pytest.Config) -> bool:
    """Return whether the plugin may do anything."""
    return not early(config, "no_bayesloc")


def is_listing(config: pytest.Config) -> bool:
    """Return whether no test is to be run, by pytest's own options."""
    return any(_typed(config, name) for name in ("collectonly", "help", "version"))


def _typed(config: pytest.Config, name: str) -> Any:  # noqa: ANN401 - text, list or bool
    return getattr(getattr(config, "known_args_namespace", config.option), name, None)


def is_about_memory(config: pytest.Config) -> bool:
    """Return whether the memory is asked or corrected, and no test is to be run."""
    return bool(config.getoption("bug_advice_last") or config.getoption("bug_memory"))


def is_about_fixes(config: pytest.Config) -> bool:
    """Return whether fix tools are listed or trusted, or fixes undone; no test is to be run."""
    asked = config.getoption("bayesloc_fix") in {"undo", "tools"}
    return bool(asked or config.getoption("bayesloc_trust"))
