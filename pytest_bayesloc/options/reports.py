"""Which reports are written, and where."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from pytest_bayesloc.options.reading import AUTO, REPORT_KINDS

if TYPE_CHECKING:
    from pathlib import Path

#: Makes the text of a report of the JSON document.
Format = Callable[[Mapping[str, Any]], str]
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A report to write: its kind, and where (None: the default place)."""

    kind: str
    path: Path | None = None


def reports_of(config: pytest.Config, *, inspect: bool) -> tuple[Report, ...]:
    """What was asked for; the page where inspections were and no report was.

    Raises:
        pytest.UsageError: If it can't be.
    """
    entries = config.getoption("bayesloc_report") or config.getini("bayesloc_report")
    asked = [str(entry) for entry in entries]
    reports = [_report(entry, config) for entry in asked if entry != AUTO]
    _check_places(reports)
    if AUTO in asked:
        named = {report.kind for report in reports}
        reports += [Report(kind=kind) for kind in _of_ci(os.environ) if kind not in named]
    if inspect and not reports:
        reports.append(Report(kind="html"))
    return tuple(dict.fromkeys(reports))


def offered(config: pytest.Config) -> tuple[dict[str, Format], str]:
    """The formats of other plugins by their kinds, and what went wrong; empty: nothing did."""
    formats: dict[str, Format] = {}
    try:
        for given in config.hook.pytest_bayesloc_report_formats(config=config):
            formats.update(_checked(given))
    except Exception as error:  # noqa: BLE001 - it is not ours, and may raise anything
        return formats, f"{type(error).__name__}: {error}"
    return formats, ""


def _checked(given: Mapping[str, Format]) -> Mapping[str, Format]:
    for kind, function in given.items():
        if not callable(function) or not _NAME.fullmatch(kind):
            raise TypeError(f"{kind!r} is no name of a kind, or {function!r} no function")
    return given


def _report(entry: str, config: pytest.Config) -> Report:
    kind, colon, path = entry.partition(":")
    known = REPORT_KINDS
    if kind not in known:
        formats, wrong = offered(config)
        # A plugin that can't say what it offers may offer this one: that is told in the end.
        known = (*known, *formats, *((kind,) if wrong and _NAME.fullmatch(kind) else ()))
    if kind not in known or (colon and not path):
        raise pytest.UsageError(
            f"--bayesloc-report={entry} is not KIND or KIND:PATH: KIND is one of "
            f"{', '.join((*known, AUTO))}, for example html:report.html."
        )
    folder = config.invocation_params.dir
    return Report(kind=kind, path=folder / path if path else None)


def _check_places(reports: list[Report]) -> None:
    """No report may overwrite another."""
    kinds: dict[str, str] = {}
    for report in reports:
        if report.path is None:
            continue
        place = os.path.normpath(report.path)
        other = kinds.setdefault(place, report.kind)
        if other != report.kind:
            raise pytest.UsageError(
                f"--bayesloc-report={report.kind}:{report.path} would overwrite the {other} "
                "report: give each report a file of its own."
            )


def _of_ci(environment: Mapping[str, str]) -> tuple[str, ...]:
    """What the CI service shows by itself, and the page; nothing elsewhere."""
    if environment.get("GITHUB_ACTIONS") and environment.get("GITHUB_STEP_SUMMARY"):
        return "html", "github"
    return ("html", "gitlab") if environment.get("GITLAB_CI") else ()
