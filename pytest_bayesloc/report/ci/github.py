"""GitHub Actions: the summary of a job, and annotations on lines.

Reference:
    GitHub documentation, "Workflow commands for GitHub Actions": how messages and properties are
    escaped, and that a summary of a step is 1 MiB at most.
"""

from __future__ import annotations

from pytest_bayesloc.report.ci import markdown
from pytest_bayesloc.report.ci.suspects import LIKELY, POSSIBLE, Checkout, Suspect, suspects
from pytest_bayesloc.report.document import Document, ReadSource
from pytest_bayesloc.report.text import clip, visible

MAX_SUMMARY = (1 << 20) - 1000  # bytes: what is longer is dropped as a whole
FULL = "\n_bayesloc: the summary of this step is full; `--bayesloc-report=html` shows all._\n"
#: GitHub takes no more of a level from one step.
MAX_ANNOTATIONS = 10
MAX_MESSAGE = 1_000


def summary(document: Document, read_source: ReadSource, before: str) -> str:
    """Return what is added to the summary of a job; one line where ``before`` nearly fills it.

    Raises:
        ValueError: If not even the line fits.
    """
    left = MAX_SUMMARY - markdown.size(before)
    if left < markdown.size(FULL):
        raise ValueError("it holds 1 MiB, of which nothing is left")
    if left < markdown.MIN_BYTES:
        return FULL
    own = markdown.render(document, read_source, min(left - 1, markdown.MAX_BYTES))
    return own if not before or before.endswith("\n") else f"\n{own}"


def marks(document: Document, checkout: Checkout) -> list[str]:
    """Return workflow commands that mark the lines of suspects: the first of each fault first.

    What lies outside of the repository has no line to mark.
    """
    left = {"error": MAX_ANNOTATIONS, "warning": MAX_ANNOTATIONS}
    found: dict[tuple[str | None, int], str] = {}  # faults may share a suspect
    for suspect in sorted(suspects(document, checkout), key=lambda s: (s.order, s.number)):
        level = "error" if suspect.posterior >= LIKELY else "warning"
        where = suspect.path, suspect.line
        is_worth_it = suspect.order == 1 or suspect.posterior >= POSSIBLE
        if suspect.path is not None and where not in found and is_worth_it and left[level]:
            left[level] -= 1
            found[where] = _command(level, suspect, suspect.path)
    return list(found.values())


def _command(level: str, suspect: Suspect, path: str) -> str:
    title = f"{suspect.shown.posterior} {suspect.shown.place.name}"
    where = f"file={_value(path)},line={suspect.line},title={_value(title)}"
    return f"::{level} {where}::{_text(clip(suspect.message, MAX_MESSAGE))}"


def _text(text: str) -> str:
    """Return ``text`` as the message of a workflow command."""
    return visible(text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))


def _value(text: str) -> str:
    """Return ``text`` as a property of a workflow command."""
    return _text(text).replace(":", "%3A").replace(",", "%2C")
