"""The suspects as GitLab's code quality report.

Reference:
    GitLab documentation, "Code Quality": the fields of a report and its severities.
"""

from __future__ import annotations

from pytest_bayesloc.report.ci.suspects import Checkout, suspects
from pytest_bayesloc.report.document import Document
from pytest_bayesloc.report.text import visible

#: From which probability on a suspect is how severe.
SEVERITIES = ((0.9, "critical"), (0.5, "major"), (0.1, "minor"), (0.0, "info"))


def to_gitlab(document: Document, checkout: Checkout) -> list[dict[str, object]]:
    """Return an entry for each suspect whose file has a path in the repository."""
    return [
        {
            "description": f"{suspect.shown.place.name} is {suspect.message}",
            "check_name": "bayesloc",
            "fingerprint": suspect.key,
            "severity": next(word for p, word in SEVERITIES if suspect.posterior >= p),
            "location": {"path": visible(suspect.path), "lines": {"begin": suspect.line}},
        }
        for suspect in suspects(document, checkout)
        if suspect.path is not None
    ]
