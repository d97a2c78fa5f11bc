"""What GitHub Actions shows by itself: the summary of a job, and annotations on lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_bayesloc.report import markdown
from pytest_bayesloc.report.hot import hot_line
from pytest_bayesloc.report.rows import row_of
from pytest_bayesloc.report.text import clip, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pytest_bayesloc.report.view import Document, ReadSource

MAX_SUMMARY = (1 << 20) - 1000  # bytes: what is longer is dropped as a whole
#: GitHub takes no more of a level from one step.
MAX_ANNOTATIONS = 10
N_SUSPECTS = 3
MAX_MESSAGE = 1_000
LIKELY = 0.5  # from which on a suspect is an error rather than a warning


def summary(document: Document, read_source: ReadSource, before: str) -> str:
    """What is added to the summary of a job; little where it is nearly full.

    Args:
        document: A ``bayesloc/1`` result.
        read_source: Text of a file of the project, None if it can't be read.
        before: What the step has written until now.
    """
    own = markdown.render(document, read_source)
    if len((before + own).encode("utf-8", "backslashreplace")) > MAX_SUMMARY:
        return "\n_bayesloc: the summary of this step is full; see the HTML report._\n"
    return own if not before or before.endswith("\n") else f"\n{own}"


def marks(document: Mapping[str, Any]) -> list[str]:
    """Workflow commands that mark the lines of suspects, the likeliest first.

    Args:
        document: A ``bayesloc/1`` result.
    """
    left = {"error": MAX_ANNOTATIONS, "warning": MAX_ANNOTATIONS}
    found = []
    for level, command in _commands(document):
        if left[level]:
            left[level] -= 1
            found.append(command)
    return found


def _commands(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    faults = list(enumerate(document["faults"], 1))
    for i in range(N_SUSPECTS):
        for number, fault in faults:
            for row in fault["ranking"][i : i + 1]:
                level = "error" if i == 0 and row["posterior"] >= LIKELY else "warning"
                yield level, _command(level, number, fault, row)


def _command(level: str, number: int, fault: Mapping[str, Any], row: Mapping[str, Any]) -> str:
    shown = row_of(row)
    where = (
        f"file={_value(row['file'])},line={hot_line(row, fault['error'])},"
        f"endLine={row['end_line']},title={_value(f'{shown.posterior} {shown.place.name}')}"
    )
    tests = len(fault["failing_tests"])
    error = one_line(f"{fault['error']['type']}: {fault['error']['message']}")
    said = f"Fault {number} ({tests} failing): {shown.reason}. {error}"
    return f"::{level} {where}::{_text(clip(said, MAX_MESSAGE))}"


def _text(text: str) -> str:
    """``text`` as the message of a workflow command."""
    return one_line(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _value(text: str) -> str:
    """``text`` as a property of a workflow command."""
    return _text(text).replace(":", "%3A").replace(",", "%2C")
