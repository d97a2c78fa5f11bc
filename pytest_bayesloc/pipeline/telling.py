"""The lines that a run ends with."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_bayesloc.report.memory import advice_lines
from pytest_bayesloc.report.terminal import brief, full
from pytest_bayesloc.report.text import Line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    import pytest

    from pytest_bayesloc.options import Settings
    from pytest_bayesloc.ranking.case import Case
    from pytest_bayesloc.ranking.groups import Group


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What there is to say.

    Attributes:
        document: The JSON result; None if nothing failed.
        written: Per kind of report, where it is.
        said: Of the memory, where nothing failed.
        notes: What went wrong.
        prompts: What a language model would have been asked.
        environment: What the process was started with.
    """

    document: Mapping[str, Any] | None
    written: Mapping[str, str]
    said: Sequence[str]
    notes: Sequence[str]
    prompts: Sequence[str]
    environment: Mapping[str, str]


def tell_others(
    config: pytest.Config,
    groups: Sequence[Group],
    cases: Sequence[Case],
    note: Callable[[str], None],
) -> None:
    """Tell plugins that listen; one that breaks costs a note."""
    try:
        config.hook.pytest_bayesloc_localized(config=config, groups=groups, cases=cases)
    except Exception as error:  # noqa: BLE001 - it is not ours, and may raise anything
        note(
            f"A plugin's pytest_bayesloc_localized failed ({type(error).__name__}: {error}): "
            "what it is for is missing. (broken-listener)"
        )


def tell(reporter: pytest.TerminalReporter, settings: Settings, told: Told) -> None:
    """Print it below the failures."""
    width = reporter._tw.fullwidth  # noqa: SLF001 - no public way leads to the width
    lines = _lines(width, reporter.verbosity, settings, told)
    harmless = no_command if "github" in told.written else str
    if lines or told.notes:
        reporter.section("bayesloc", bold=True)
    for line in lines:
        reporter.write_line(harmless(line.text), **line.markup)
    for note in told.notes:
        reporter.write_line(harmless(f"bayesloc: {note}"), yellow=True)
    for command in _commands(told, reporter.config.rootpath):
        reporter.write_line(command)
    for prompt in told.prompts:
        reporter.section("bayesloc: not sent", sep="-")
        reporter.write_line(harmless(prompt))


def _commands(told: Told, rootdir: Path) -> Sequence[str]:
    """What GitHub Actions reads in the log."""
    if told.document is None or "github" not in told.written:
        return ()
    from pytest_bayesloc.report.ci.github import marks
    from pytest_bayesloc.report.ci.suspects import Checkout

    return marks(told.document, Checkout.around(rootdir, told.environment))


def no_command(text: str) -> str:
    """``text`` in which GitHub Actions finds no command: messages that it quotes may hold some."""
    return re.sub(r"^(\s*):(?=:)", r"\1: ", text, flags=re.MULTILINE).replace("##[", "# #[")


def _lines(width: int, verbosity: int, settings: Settings, told: Told) -> list[Line]:
    if told.document is None:
        return [Line(text) for text in told.said]
    if settings.inspect:
        # The notes are printed below it, in full.
        rest = [text for text in told.document["partial"] if text not in told.notes]
        document = {**told.document, "partial": rest}
        lines = full(document, width=width, reports=told.written, verbosity=verbosity)
    else:
        lines = brief(told.document, width=width)
    said = advice_lines(
        told.document["memory"],
        in_full=settings.advises,
    )
    return lines + said
