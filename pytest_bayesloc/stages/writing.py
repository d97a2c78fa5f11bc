"""The stage that writes reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from pytest_bayesloc.options import Report

    Document = Mapping[str, object]
    Read = Callable[[str], str | None]


def write_reports(
    document: Document,
    reports: Sequence[Report],
    read: Read,
    rootdir: Path,
    note: Callable[[str], None],
) -> dict[str, Path]:
    """Write what was asked for; one that can't be written costs a note.

    Args:
        document: The JSON result.
        reports: What to write.
        read: The text of a file of the project.
        rootdir: Of the project.
        note: Tells the user.

    Returns:
        Per kind, where it is.
    """
    from pytest_bayesloc.report.files import write

    written = {}
    for report in reports:
        try:
            text = _rendered(document, report.kind, read)
            written[report.kind] = write(text, report.kind, report.path, rootdir)
        except OSError as error:  # noqa: PERF203 - a few reports
            note(
                f"The {report.kind} report can't be written to {report.path}: {error}. "
                "Give a path that can, as --bayesloc-report=KIND:PATH. (report-not-written)"
            )
    return written


def _rendered(document: Document, kind: str, read: Read) -> str:
    if kind == "json":
        from pytest_bayesloc.report.json import dumps

        return dumps(document)
    from pytest_bayesloc.report.html import render

    return render(document, read)
