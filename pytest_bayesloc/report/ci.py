"""The suspects for CI services: as SARIF 2.1.0, for GitLab, on GitHub's lines, in JUnit's XML.

Each has its line, its place and its fingerprint; in the XML that pytest has written, they are
properties of the suite.

A result names files relative to pytest's rootdir, which may be a subfolder. What a CI service shows
on lines of code is relative to the repository's root: ``Checkout`` turns the one into the other.

Reference:
    OASIS, Static Analysis Results Interchange Format (SARIF) Version 2.1.0, 2020. GitLab
    documentation, "Code Quality": the fields of a report and its severities. GitHub documentation,
    "Workflow commands for GitHub Actions": how messages and properties are escaped.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree as ET

from pytest_bayesloc.domain.texts import text_digest
from pytest_bayesloc.report.document import FaultEntry, ResultDocument, RowEntry
from pytest_bayesloc.report.text import clip, one_line, percent, visible
from pytest_bayesloc.report.view import faults_of, hot_line
from pytest_bayesloc.report.words import (
    all_flaky_words,
    name_of,
    place_of,
    reason_of,
    spoiled_words,
)

N_SUSPECTS = 5  # of a fault
WORTH = 0.05  # who is less likely is named only as the first of a fault
LIKELY, POSSIBLE = 0.5, 0.1  # from which on it is an error, a warning
MAX_ERROR = 500
#: Where a CI service says that the repository lies.
VARIABLES = ("GITHUB_WORKSPACE", "CI_PROJECT_DIR")
_DRIVE = re.compile(r"[A-Za-z]:/")


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkout:
    """A checkout.

    Attributes:
        root: Of the repository, absolute, with slashes.
        rootdir: Of the project, which is pytest's, in the same form.
    """

    root: str
    rootdir: str

    @classmethod
    def around(cls, rootdir: Path, environment: Mapping[str, str]) -> Checkout:
        """Return the checkout that ``rootdir`` lies in; ``rootdir`` itself where none is found.

        The nearest folder with a ``.git`` comes first: a checkout may be a folder of the workspace.
        """
        real = rootdir.resolve()
        above = (real, *real.parents)
        named = [Path(value).resolve() for name in VARIABLES if (value := environment.get(name))]
        roots = [*filter(_has_git, above), *(path for path in named if path in above), real]
        return cls(root=roots[0].as_posix(), rootdir=real.as_posix())

    def path(self, file: str) -> str | None:
        """Return the path of ``file`` from the root of the repository; None if it lies outside."""
        full = self._absolute(file)
        inside = f"{self.root.rstrip('/')}/"
        return full[len(inside) :] if full.startswith(inside) else None

    def uri(self, file: str) -> str:
        """Return the URI of ``file``: relative to the root, absolute if it lies outside."""
        path = self.path(file)
        if path is not None:
            return _quoted(path)
        full = self._absolute(file)
        return f"file://{'' if full.startswith('/') else '/'}{_quoted(full)}"

    def _absolute(self, file: str) -> str:
        if _DRIVE.match(file):  # another drive than rootdir's
            return file
        return posixpath.normpath(posixpath.join(self.rootdir, file))


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspect:
    """A row of a fault's ranking that is worth naming.

    Attributes:
        order: In its ranking; 1 for the first, also where ranks are tied.
        fault: Of the document.
        row: Of the document.
        line: That a mark goes to.
        path: Of its file in the repository; None if it lies outside.
        key: Its fingerprint, which no other suspect of the document has.
        known: What is remembered of the failing tests: that they are flaky, and the cause.
    """

    number: int
    order: int
    fault: FaultEntry
    row: RowEntry
    line: int
    path: str | None
    key: str
    known: Sequence[str] = ()

    @property
    def posterior(self) -> float:
        """Its probability."""
        return self.row.posterior

    @property
    def message(self) -> str:
        """On one line: the evidence against it, which tests spoil those of its fault, the error."""
        said = one_line(f"{self.fault.error.type}: {self.fault.error.message}")
        cause = self.fault.cause
        told = [cause.text] if cause else [spoiled_words(s) for s in self.fault.spoiled]
        told += self.known
        spoiled = "".join(f"{clip(text, MAX_ERROR)}. " for text in told)
        return (
            f"{percent(self.posterior)} likely to be the cause of fault {self.number} "
            f"({len(self.fault.failing_tests)} failing): {reason_of(self.row)}. "
            f"{spoiled}{clip(said, MAX_ERROR)}"
        )


def suspects(document: ResultDocument, checkout: Checkout) -> Iterator[Suspect]:
    """Yield the suspects of each fault in turn, the likeliest first."""
    seen: dict[str, int] = {}
    for view in faults_of(document, lambda _: None):
        number, fault = view.number, view.entry
        for order, row in enumerate(fault.ranking[:N_SUSPECTS], 1):
            if order > 1 and row.posterior < WORTH:
                continue
            # The next run with this error has the same, whatever lines moved and values changed.
            masked = fault.failures[0].masked.partition("\n")[0]
            place = checkout.uri(row.file), row.qualname
            key = text_digest("\0".join((*place, fault.error.type, masked)), 32)
            seen[key] = seen.get(key, 0) + 1
            yield Suspect(
                number=number,
                order=order,
                fault=fault,
                row=row,
                line=hot_line(row, fault)[0],
                path=checkout.path(row.file),
                key=key if seen[key] == 1 else f"{key}-{seen[key]}",
                known=view.known,
            )


def _has_git(folder: Path) -> bool:
    with suppress(OSError):
        return (folder / ".git").exists()  # a file in a worktree and a submodule
    return False


def _quoted(path: str) -> str:
    try:
        name = path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # a name that no file system of bytes has given
        name = path.encode("utf-8", "replace")
    return quote(name, safe="/")


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


def to_sarif(document: ResultDocument, checkout: Checkout, version: str) -> dict[str, object]:
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
                    {"level": "note", "message": _message(note)}
                    for note in (all_flaky_words(document), *document.partial)
                    if note
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
    p, rule = suspect.posterior, int(suspect.row.is_test)
    result: dict[str, object] = {
        "ruleId": RULES[rule][0],
        "ruleIndex": rule,
        "level": "error" if p >= LIKELY else "warning" if p >= POSSIBLE else "note",
        "kind": "fail",
        "rank": round(100 * p, 2),
        "message": _message(suspect.message),
        "locations": [_place(suspect, checkout)],
        "partialFingerprints": {FINGERPRINT: suspect.key},
        "properties": {
            "prior": suspect.row.prior,
            "suspiciousness": suspect.row.suspiciousness,
        },
    }
    failure = suspect.fault.failures[0]
    frames = [frame for frame in failure.frames if frame.in_app]
    if frames:
        steps = [
            {
                "location": {
                    "physicalLocation": _artifact(frame.file, frame.line, checkout),
                    "message": _message(frame.name),
                },
                "nestingLevel": depth,
            }
            for depth, frame in enumerate(frames)
        ]
        result["codeFlows"] = [
            {
                "message": _message(f"How {failure.node_id} failed"),
                "threadFlows": [{"locations": steps}],
            }
        ]
    return result


def _place(suspect: Suspect, checkout: Checkout) -> dict[str, object]:
    row = suspect.row
    physical = _artifact(row.file, suspect.line, checkout)
    if row.end_line > row.start_line:  # a context is more than its region
        physical["contextRegion"] = {"startLine": row.start_line, "endLine": row.end_line}
    return {
        "physicalLocation": physical,
        "logicalLocations": [{"fullyQualifiedName": name_of(suspect.row)}],
    }


def _artifact(file: str, line: int, checkout: Checkout) -> dict[str, Any]:
    location = {"uri": checkout.uri(file)}
    if checkout.path(file) is not None:
        location["uriBaseId"] = ROOT
    return {"artifactLocation": location, "region": {"startLine": max(1, line)}}


def _message(text: str) -> dict[str, object]:
    """Return plain text: ``[words](target)`` in a test's parameters would be a link."""
    return {"text": one_line(text).replace("](", "] (")}


#: From which probability on a suspect is how severe.
SEVERITIES = ((0.9, "critical"), (0.5, "major"), (0.1, "minor"), (0.0, "info"))


def to_gitlab(document: ResultDocument, checkout: Checkout) -> list[dict[str, object]]:
    """Return an entry for each suspect whose file has a path in the repository."""
    return [
        {
            "description": f"{name_of(suspect.row)} is {suspect.message}",
            "check_name": "bayesloc",
            "fingerprint": suspect.key,
            "severity": next(word for p, word in SEVERITIES if suspect.posterior >= p),
            "location": {"path": visible(suspect.path), "lines": {"begin": suspect.line}},
        }
        for suspect in suspects(document, checkout)
        if suspect.path is not None
    ]


#: GitHub takes no more of a level from one step.
MAX_ANNOTATIONS = 10
MAX_MESSAGE = 1_000


def marks(document: ResultDocument, checkout: Checkout) -> list[str]:
    """Return workflow commands that mark the lines of suspects: the first of each fault first.

    What lies outside of the repository has no line to mark. Before them comes one for the run if
    all failures are of tests known to be flaky.
    """
    all_flaky = all_flaky_words(document)
    of_run = [f"::notice title=bayesloc::{_text(all_flaky)}"] if all_flaky else []
    left = {"error": MAX_ANNOTATIONS, "warning": MAX_ANNOTATIONS}
    found: dict[tuple[str | None, int], str] = {}  # faults may share a suspect
    for suspect in sorted(suspects(document, checkout), key=lambda s: (s.order, s.number)):
        level = "error" if suspect.posterior >= LIKELY else "warning"
        where = suspect.path, suspect.line
        is_worth_it = suspect.order == 1 or suspect.posterior >= POSSIBLE
        if suspect.path is not None and where not in found and is_worth_it and left[level]:
            left[level] -= 1
            title = _value(f"{percent(suspect.posterior)} {name_of(suspect.row)}")
            place = f"file={_value(suspect.path)},line={suspect.line},title={title}"
            text = _text(clip(suspect.message, MAX_MESSAGE))
            found[where] = f"::{level} {place}::{text}"
    return [*of_run, *found.values()]


def _text(text: str) -> str:
    """Return ``text`` as the message of a workflow command."""
    return visible(text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))


def _value(text: str) -> str:
    """Return ``text`` as a property of a workflow command."""
    return _text(text).replace(":", "%3A").replace(",", "%2C")


N_IN_XML = 3  # suspects of a fault
N_TESTS = 20  # of a fault
PREFIX = "bayesloc."


def with_properties(xml: str, document: ResultDocument) -> str:
    """Return pytest's XML with what was found; properties of an earlier run of ours are replaced.

    Raises:
        ValueError: If ``xml`` is no such file.
    """
    if not xml:
        raise ValueError("pytest has written nothing there, which --junit-xml makes it do")
    try:
        root = ET.fromstring(  # noqa: S314 - pytest wrote it a moment ago
            xml.encode("utf-8", "surrogateescape")
        )
    except ET.ParseError as error:
        raise ValueError(f"what stands there is no XML ({error})") from error
    suite = root if root.tag == "testsuite" else root.find("testsuite")
    if suite is None:
        raise ValueError(f"what stands there has no <testsuite> but <{root.tag}>")
    properties = suite.find("properties")
    if properties is None:
        properties = ET.Element("properties")
        suite.insert(0, properties)
    for old in list(properties):
        if old.get("name", "").startswith(PREFIX):
            properties.remove(old)
    for name, value in _values(document):
        ET.SubElement(properties, "property", name=f"{PREFIX}{name}", value=value)
    return f'<?xml version="1.0" encoding="utf-8"?>{ET.tostring(root, encoding="unicode")}'


def _values(document: ResultDocument) -> Iterator[tuple[str, str]]:
    """Yield names and values; ``one_line`` leaves no character that XML can't hold."""
    if all_flaky := all_flaky_words(document):
        yield "known_flaky", all_flaky
    for view in faults_of(document, lambda _: None):
        name, fault = f"fault.{view.number}", view.entry
        tests = fault.failing_tests
        yield f"{name}.n_tests", str(len(tests))
        yield f"{name}.tests", " ".join(map(one_line, tests[:N_TESTS]))
        if cause := fault.cause:
            yield f"{name}.cause", clip(cause.text)
            yield f"{name}.cause.kind", cause.kind
        for order, text in enumerate(view.known, 1):
            yield f"{name}.known.{order}", clip(text)
        for order, spoiled in enumerate(fault.spoiled, 1):
            yield f"{name}.spoiled.{order}", clip(spoiled_words(spoiled))
            yield f"{name}.spoiled.{order}.command", one_line(spoiled.command)
        # Numbered in order: tied suspects have one rank, and a name is given once.
        for order, row in enumerate(fault.ranking[:N_IN_XML], 1):
            yield f"{name}.suspect.{order}", clip(f"{place_of(row)}: {reason_of(row)}")
            yield f"{name}.suspect.{order}.posterior", f"{row.posterior:.4f}"
