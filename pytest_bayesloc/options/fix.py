"""What is said about fixes."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from pytest_bayesloc.options.reading import FIX_MODES, choice_of


@dataclass(frozen=True, slots=True, kw_only=True)
class FixSettings:
    """How fixes are searched and applied.

    Attributes:
        mode: ``suggest``, ``review`` or ``apply``.
        shows_unsafe: Whether fixes are shown that may change what the code means.
        allows_dirty: Whether files are written that git could not give back.
    """

    mode: str
    shows_unsafe: bool
    allows_dirty: bool

    @classmethod
    def from_config(cls, config: pytest.Config) -> FixSettings | None:
        """Read and check everything; None if no fix is asked for.

        Raises:
            pytest.UsageError: If a value is not usable; the text names it.
        """
        mode = choice_of(config, "fix", FIX_MODES)
        if mode not in {"off", "suggest"} and not _is_typed(config, "--bayesloc-fix"):
            raise pytest.UsageError(
                f"bayesloc_fix={mode} in the ini file, or in addopts, would change files in every "
                f"run: expected off or suggest there; give --bayesloc-fix={mode} on the command "
                "line."
            )
        trust = config.getoption("bayesloc_trust")
        if trust and not _is_typed(config, "--bayesloc-trust"):
            raise pytest.UsageError(
                f"--bayesloc-trust={trust} in addopts would let a project trust itself: give it "
                "on the command line."
            )
        if mode in {"off", "undo"}:
            return None
        unsafe = config.getoption("bayesloc_fix_unsafe") or config.getini("bayesloc_fix_unsafe")
        return cls(
            mode=mode,
            shows_unsafe=bool(unsafe),
            allows_dirty=bool(config.getoption("bayesloc_allow_dirty")),
        )


def _is_typed(config: pytest.Config, option: str) -> bool:
    """Whether a person gave it, not a file of the project."""
    return any(str(argument).startswith(option) for argument in config.invocation_params.args)


def add_fix_options(parser: pytest.Parser, group: pytest.OptionGroup) -> None:
    """Declare what has no value of its own, or is for the command line alone."""
    text = "show fixes, too, that may change what the code means"
    group.addoption("--bayesloc-fix-unsafe", action="store_true", help=text)
    parser.addini("bayesloc_fix_unsafe", text, type="bool")
    for name, said in (
        ("allow-dirty", "apply fixes also to files with changes that are not committed"),
        ("fix-tools", "list the fix tools: where from, trusted or not, how often right"),
    ):
        group.addoption(f"--bayesloc-{name}", action="store_true", help=said)
    said = "trust a fix tool of the project as it is now, or all in a folder"
    group.addoption("--bayesloc-trust", metavar="PATH", help=said)
