"""The stage that writes reports."""

from __future__ import annotations

import os
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.errors import BayeslocError
from pytest_bayesloc.options import RECORD, offered_formats
from pytest_bayesloc.report.ci.suspects import Checkout
from pytest_bayesloc.report.files import write
from pytest_bayesloc.report.formats import FORMATS, ReportFormat, ReportInput

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pytest

    from pytest_bayesloc.options import Format, Launch, Report, Settings

    Document = Mapping[str, object]
    Read = Callable[[str], str | None]

MAX_BEFORE = 64 << 20  # bytes of a file that is read to be added to


class WritingError(BayeslocError):
    """A report that can't be written."""


def write_reports(
    document: Document,
    config: pytest.Config,
    settings: Settings,
    launch: Launch,
    read: Read,
    note: Callable[[str], None],
) -> dict[str, Path]:
    """Write what was asked for; one that can't be written costs a note.

    Args:
        document: The JSON result.
        config: pytest's.
        settings: What to write.
        launch: What the process was started with.
        read: The text of a file of the project.
        note: Tells the user.

    Returns:
        Per kind of report, where it is.
    """
    written = {}
    for report in settings.reports:
        if report.kind == RECORD:  # written in every run, by merge
            continue
        try:
            kind = FORMATS.get(report.kind) or _of_others(report.kind, config)
            path = _place(report, kind, config, launch)
            has_prompt = report.kind == "html" and "prompt" not in settings.without
            material = ReportInput(
                document=document,
                read_source=read,
                checkout=Checkout.around(config.rootpath, launch.environment),
                prompt=_prompt(document, settings, read, config.rootpath) if has_prompt else "",
            )
            written[report.kind] = _written(report.kind, kind, material, path, config.rootpath)
        except WritingError as error:
            note(str(error))
    return written


def _of_others(name: str, config: pytest.Config) -> ReportFormat:
    """The kind of another plugin.

    Raises:
        WritingError: If there is none, since the plugin's hook failed.
    """
    formats, wrong = offered_formats(config)
    if name not in formats:
        raise WritingError(
            f"A plugin's pytest_bayesloc_report_formats failed ({wrong or 'it offered more before'}"
            f"): there is no {name} report.",
            slug="broken-format",
        )
    return ReportFormat(
        render=lambda material: _made(name, formats[name], material.document),
        name=f"bayesloc-report.{name}",
    )


def _made(name: str, function: Format, document: Document) -> str:
    """The text that another plugin makes.

    Raises:
        WritingError: If it fails.
    """
    try:
        text: object = function(deepcopy(document))
    except Exception as error:  # noqa: BLE001 - it is not ours, and may raise anything
        wrong = f"{type(error).__name__}: {error}"
    else:
        if isinstance(text, str):
            return text
        wrong = f"it gave {type(text).__name__}, not text"
    raise WritingError(
        f"The plugin that makes {name} reports failed ({wrong}): there is none.",
        slug="broken-format",
    )


def _place(
    report: Report, kind: ReportFormat, config: pytest.Config, launch: Launch
) -> Path | None:
    """Where a report goes: as asked, else to the place that others have made; None: a usual one.

    Raises:
        WritingError: If it needs such a place, and there is none.
    """
    if report.path is not None or not kind.needs:
        return report.path
    named = {
        "github": launch.environment.get("GITHUB_STEP_SUMMARY"),
        "junit": getattr(config.option, "xmlpath", None),
    }.get(report.kind)
    if not named:
        raise WritingError(
            f"The {report.kind} report has no place: give one, as --bayesloc-report="
            f"{report.kind}:PATH, or {kind.needs}.",
            slug="report-not-written",
        )
    # pytest takes variables and the home folder in its own option.
    return Path(os.path.expandvars(named)).expanduser() if report.kind == "junit" else Path(named)


def _text(path: Path) -> str:
    """What stands in a file; what is no UTF-8 is kept as it is."""
    if not path.exists():
        return ""
    if path.stat().st_size > MAX_BEFORE:
        raise ValueError(f"what stands there is larger than {MAX_BEFORE >> 20} MiB")
    return path.read_text(encoding="utf-8", errors="surrogateescape")


def _prompt(document: Document, settings: Settings, read: Read, rootdir: Path) -> str:
    from pytest_bayesloc.llm.privacy import local_privacy
    from pytest_bayesloc.report.prompt import prompt

    privacy = local_privacy(rootdir, settings.llm_never_send)
    return prompt(document, privacy.reader(read), privacy.clean)


def _written(
    name: str, kind: ReportFormat, material: ReportInput, path: Path | None, rootdir: Path
) -> Path:
    """Where the report now is.

    Raises:
        WritingError: If it can't be written there.
    """
    try:
        before = _text(path) if path is not None and kind.needs else ""
        text = kind.render(replace(material, before=before))
        if path is None or not kind.is_added:
            return write(text, kind.name, path, rootdir)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8", errors="backslashreplace") as stream:
            stream.write(text)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise WritingError(
            f"The {name} report can't be written to {path or 'its usual place'}: {why}. "
            f"Give a path that can, as --bayesloc-report={name}:PATH.",
            slug="report-not-written",
        ) from error
    return path
