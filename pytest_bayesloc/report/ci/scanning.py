"""The suspects for services that scan code: as SARIF 2.1.0, and for GitLab.

Reference:
    OASIS, Static Analysis Results Interchange Format (SARIF) Version 2.1.0, 2020. GitLab
    documentation, "Code Quality": the fields of a report and its severities.
"""

from __future__ import annotations

from typing import Any

from pytest_bayesloc.report.ci.suspects import LIKELY, POSSIBLE, Checkout, Suspect, suspects
from pytest_bayesloc.report.document import Document
from pytest_bayesloc.report.text import one_line, visible

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
HOME = "https://pypi.org/project/pytest-bayesloc/"
ROOT = "%SRCROOT%"
FINGERPRINT = "bayeslocSuspect/v1"
RULES = (
    ("bayesloc/code", "FaultyCode", "Code that probably makes tests fail"),
    ("bayesloc/test", "FaultyTest", "A test that is probably at fault itself"),
)


def to_sarif(document: Document, checkout: Checkout, version: str) -> dict[str, object]:
    """Return the log: one result a suspect, which are a few hundred at most."""
    run = {
        "tool": {
            "driver": {
                "name": "pytest-bayesloc",
                "version": version,
                "informationUri": HOME,
                "rules": [_rule(*rule) for rule in RULES],
            }
        },
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {ROOT: {"description": {"text": "The root of the repository."}}},
        "invocations": [
            {
                "executionSuccessful": True,
                "toolExecutionNotifications": [
                    {"level": "note", "message": _message(note)} for note in document["partial"]
                ],
            }
        ],
        "results": [_result(suspect, checkout) for suspect in suspects(document, checkout)],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(name: str, title: str, text: str) -> dict[str, object]:
    return {
        "id": name,
        "name": title,
        "shortDescription": {"text": f"{text}."},
        "fullDescription": {
            "text": f"{text}, by the tests that execute it, tracebacks, and re-runs under "
            "inspection. `rank` is the probability in per cent."
        },
        "help": {"text": "See docs/reading.md of pytest-bayesloc: how to read the answer."},
        "defaultConfiguration": {"level": "warning"},
        "properties": {"precision": "medium", "tags": ["tests", "fault-localization"]},
    }


def _result(suspect: Suspect, checkout: Checkout) -> dict[str, object]:
    p, rule = suspect.posterior, int(suspect.row["is_test"])
    result: dict[str, object] = {
        "ruleId": RULES[rule][0],
        "ruleIndex": rule,
        "level": "error" if p >= LIKELY else "warning" if p >= POSSIBLE else "note",
        "kind": "fail",
        "rank": round(100 * p, 2),
        "message": _message(suspect.message),
        "locations": [_place(suspect, checkout)],
        "partialFingerprints": {FINGERPRINT: suspect.key},
        "properties": {name: suspect.row[name] for name in ("prior", "suspiciousness")},
    }
    failure = suspect.fault["failures"][0]
    frames = [frame for frame in failure["frames"] if frame["in_app"]]
    if frames:
        result["codeFlows"] = [
            {
                "message": _message(f"How {failure['node_id']} failed"),
                "threadFlows": [
                    {"locations": [_step(i, f, checkout) for i, f in enumerate(frames)]}
                ],
            }
        ]
    return result


def _place(suspect: Suspect, checkout: Checkout) -> dict[str, object]:
    row = suspect.row
    physical = _artifact(row["file"], checkout)
    physical["region"] = {"startLine": max(1, suspect.line)}
    if row["end_line"] > row["start_line"]:  # a context is more than its region
        physical["contextRegion"] = {"startLine": row["start_line"], "endLine": row["end_line"]}
    return {
        "physicalLocation": physical,
        "logicalLocations": [{"fullyQualifiedName": suspect.shown.place.name}],
    }


def _step(depth: int, frame: Document, checkout: Checkout) -> dict[str, object]:
    physical = _artifact(frame["file"], checkout)
    physical["region"] = {"startLine": max(1, frame["line"])}
    return {
        "location": {"physicalLocation": physical, "message": _message(frame["name"])},
        "nestingLevel": depth,
    }


def _artifact(file: str, checkout: Checkout) -> dict[str, Any]:
    location = {"uri": checkout.uri(file)}
    if checkout.path(file) is not None:
        location["uriBaseId"] = ROOT
    return {"artifactLocation": location}


def _message(text: str) -> dict[str, object]:
    """Return plain text: ``[words](target)`` in a test's parameters would be a link."""
    return {"text": one_line(text).replace("](", "] (")}


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
