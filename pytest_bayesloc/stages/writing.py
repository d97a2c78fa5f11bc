"""The stage that writes reports."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_bayesloc.report.files import write
from pytest_bayesloc.report.kinds import KINDS, Kind, Material

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pytest

    from pytest_bayesloc.options import Launch, Report, Settings

    Document = Mapping[str, object]
    Read = Callable[[str], str | None]


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
        kind = KINDS[report.kind]
        path = report.path or _usual_place(report.kind, config, launch)
        if path is None and kind.needs:
            note(
                f"The {report.kind} report has no place: give one, as --bayesloc-report="
                f"{report.kind}:PATH, or {kind.needs}. (report-not-written)"
            )
            continue
        try:
            before = _text(path) if path is not None and kind.needs else ""
            asked = (
                _prompt(document, settings, read, config.rootpath) if report.kind == "html" else ""
            )
            material = Material(document=document, read_source=read, prompt=asked, before=before)
            written[report.kind] = _written(kind, kind.render(material), path, config.rootpath)
        except (OSError, ValueError) as error:
            note(_why_not(report, path, error))
    return written


def _usual_place(kind: str, config: pytest.Config, launch: Launch) -> Path | None:
    """Where a report goes that others have made a place for."""
    named = {
        "github": launch.environment.get("GITHUB_STEP_SUMMARY"),
        "junit": getattr(config.option, "xmlpath", None),
    }.get(kind)
    return Path(named) if named else None


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _prompt(document: Document, settings: Settings, read: Read, rootdir: Path) -> str:
    if not settings.offers_prompt:
        return ""
    from pytest_bayesloc.report.prompt import prompt
    from pytest_bayesloc.stages.privacy import privacy_of

    return prompt(document, read, privacy_of(rootdir, settings.never_sent))


def _written(kind: Kind, text: str, path: Path | None, rootdir: Path) -> Path:
    if path is None or not kind.is_added:
        return write(text, kind.name, path, rootdir)
    with path.open("a", encoding="utf-8", errors="backslashreplace") as stream:
        stream.write(text)
    return path


def _why_not(report: Report, path: Path | None, error: Exception) -> str:
    return (
        f"The {report.kind} report can't be written to {path}: {error}. "
        "Give a path that can, as --bayesloc-report=KIND:PATH. (report-not-written)"
    )
