"""The suspects as GitLab's code quality report."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pytest_bayesloc.report.hot import hot_line
from pytest_bayesloc.report.rows import row_of
from pytest_bayesloc.report.sarif import fingerprint
from pytest_bayesloc.report.text import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping

N_SUSPECTS = 5  # of a fault
#: From which probability on a suspect is how severe.
SEVERITIES = ((0.9, "critical"), (0.5, "major"), (0.1, "minor"), (0.0, "info"))


def to_gitlab(document: Mapping[str, Any]) -> list[dict[str, object]]:
    """One entry a suspect, the likeliest of each fault first; no fingerprint comes twice.

    Args:
        document: A ``bayesloc/1`` result.
    """
    seen: dict[str, int] = {}
    entries: list[dict[str, object]] = []
    for number, fault in enumerate(document["faults"], 1):
        for row in fault["ranking"][:N_SUSPECTS]:
            shown = row_of(row)
            key = fingerprint(fault, row)
            seen[key] = seen.get(key, 0) + 1
            error = one_line(f"{fault['error']['type']}: {fault['error']['message']}")[:300]
            entries.append(
                {
                    "description": (
                        f"{shown.posterior} likely to be the cause of fault {number}, "
                        f"{shown.place.name}: {shown.reason}. {error}"
                    ),
                    "check_name": "bayesloc",
                    "fingerprint": key if seen[key] == 1 else f"{key}-{seen[key]}",
                    "severity": next(word for p, word in SEVERITIES if row["posterior"] >= p),
                    "location": {
                        "path": row["file"],
                        "lines": {"begin": hot_line(row, fault["error"])},
                    },
                }
            )
    return entries


def dumps(document: Mapping[str, Any]) -> str:
    """The report as ASCII text."""
    return json.dumps(to_gitlab(document), ensure_ascii=True, indent=1) + "\n"
