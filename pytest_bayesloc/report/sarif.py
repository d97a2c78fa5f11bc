"""The suspects as SARIF 2.1.0, for code scanning.

Reference:
    OASIS, Static Analysis Results Interchange Format (SARIF) Version 2.1.0, 2020.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from pytest_bayesloc.report.hot import hot_line
from pytest_bayesloc.report.rows import row_of
from pytest_bayesloc.report.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Entry = Mapping[str, Any]

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
HOME = "https://pypi.org/project/pytest-bayesloc/"
ROOT = "%SRCROOT%"
FINGERPRINT = "bayeslocSuspect/v1"
N_SUSPECTS = 5  # of a fault
MAX_RESULTS = 25_000  # what GitHub takes of a run
LIKELY, POSSIBLE = 0.5, 0.1
RULES = (
    ("bayesloc/code", "FaultyCode", "Code that probably makes tests fail"),
    ("bayesloc/test", "FaultyTest", "A test that is probably at fault itself"),
)


def to_sarif(document: Entry, version: str) -> dict[str, object]:
    """The log.

    Args:
        document: A ``bayesloc/1`` result.
        version: Of the plugin.
    """
    results = list(_results(document))[:MAX_RESULTS]
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "pytest-bayesloc",
                        "version": version,
                        "informationUri": HOME,
                        "rules": [_rule(*rule) for rule in RULES],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "invocations": [
                    {
                        "executionSuccessful": True,
                        "toolExecutionNotifications": [
                            {"level": "note", "message": {"text": one_line(note)}}
                            for note in document["partial"]
                        ],
                    }
                ],
                "results": results,
            }
        ],
    }


def dumps(document: Entry, version: str) -> str:
    """The log as ASCII text."""
    return json.dumps(to_sarif(document, version), ensure_ascii=True, indent=1) + "\n"


def _rule(name: str, title: str, text: str) -> dict[str, object]:
    return {
        "id": name,
        "name": title,
        "shortDescription": {"text": text},
        "fullDescription": {
            "text": f"{text}, by the tests that execute it, tracebacks, and re-runs under "
            "inspection. `rank` is the probability in per cent."
        },
        "help": {"text": "See docs/reading.md of pytest-bayesloc: how to read the answer."},
        "defaultConfiguration": {"level": "warning"},
        "properties": {"precision": "medium", "tags": ["tests", "fault-localization"]},
    }


def _results(document: Entry) -> Iterator[dict[str, object]]:
    seen: dict[str, int] = {}
    for number, fault in enumerate(document["faults"], 1):
        for row in fault["ranking"][:N_SUSPECTS]:
            key = fingerprint(fault, row)
            seen[key] = seen.get(key, 0) + 1
            unique = key if seen[key] == 1 else f"{key}:{seen[key]}"
            yield _result(number, fault, row, unique)


def fingerprint(fault: Entry, row: Entry) -> str:
    """Of a suspect: the same for the next run with this error, whatever lines moved."""
    masked = fault["failures"][0]["masked"].partition("\n")[0]
    said = "\0".join((row["file"], row["qualname"], fault["error"]["type"], masked))
    return hashlib.sha256(said.encode("utf-8", "backslashreplace")).hexdigest()[:32]


def _result(number: int, fault: Entry, row: Entry, key: str) -> dict[str, object]:
    shown, p = row_of(row), row["posterior"]
    rule = int(row["is_test"])
    tests = len(fault["failing_tests"])
    error = one_line(f"{fault['error']['type']}: {fault['error']['message']}")[:500]
    text = (
        f"{shown.posterior} likely to be the cause of fault {number} ({tests} failing): "
        f"{shown.reason}. {error}"
    )
    result: dict[str, object] = {
        "ruleId": RULES[rule][0],
        "ruleIndex": rule,
        "level": "error" if p >= LIKELY else "warning" if p >= POSSIBLE else "note",
        "kind": "fail",
        "rank": round(100 * p, 2),
        "message": {"text": text},
        "locations": [_place(row, hot_line(row, fault["error"]))],
        "partialFingerprints": {FINGERPRINT: key},
        "properties": {"prior": row["prior"], "suspiciousness": row["suspiciousness"]},
    }
    flow = [_step(frame) for frame in fault["failures"][0]["frames"] if frame["in_app"]]
    if flow:
        test = one_line(fault["failures"][0]["node_id"])
        result["codeFlows"] = [
            {"message": {"text": f"How {test} failed"}, "threadFlows": [{"locations": flow}]}
        ]
    return result


def _place(row: Entry, line: int) -> dict[str, object]:
    first, last = row["start_line"], max(row["start_line"], row["end_line"])
    physical = _artifact(row["file"])
    physical["region"] = {"startLine": line}
    physical["contextRegion"] = {"startLine": first, "endLine": last}
    name = {"fullyQualifiedName": one_line(row["qualname"]), "kind": "function"}
    return {"physicalLocation": physical, "logicalLocations": [name]}


def _step(frame: Entry) -> dict[str, object]:
    return {
        "location": {
            "physicalLocation": {
                **_artifact(frame["file"]),
                "region": {"startLine": max(1, frame["line"])},
            },
            "message": {"text": one_line(frame["name"])},
        }
    }


def _artifact(file: str) -> dict[str, Any]:
    """A path below the root as a relative URI; another one as it is."""
    uri = quote(file.encode("utf-8", "surrogateescape"), safe="/")
    if file.startswith("/"):
        return {"artifactLocation": {"uri": f"file://{uri}"}}
    return {"artifactLocation": {"uri": uri, "uriBaseId": ROOT}}
