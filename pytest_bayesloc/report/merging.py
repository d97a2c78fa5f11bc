"""Several JSON results as one: what failed in a matrix of jobs, each fault once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import MsgspecError, convert

from pytest_bayesloc.report.document import (
    MAX_FAULTS,
    MAX_ROWS,
    SCHEMA,
    Document,
    ResultDocument,
)
from pytest_bayesloc.report.rows import key_of
from pytest_bayesloc.report.text import clip


def merged(documents: Sequence[tuple[str, Document]]) -> dict[str, Any]:
    """Return one result of several, of which the first says how it was computed.

    A fault is the same in two of them if it has the same error and shares a failing test; that of
    which more was inspected is kept, with the tests of both.

    Args:
        documents: At least one ``bayesloc/1`` result, each with a name for what it says.

    Raises:
        ValueError: If one of them is no such result.
    """
    for name, document in documents:
        said = document.get("schema") if isinstance(document, dict) else None
        if said != SCHEMA:
            raise ValueError(f"{name} has the schema {clip(str(said), 50)!r}: expected {SCHEMA!r}")
        try:
            convert(document, ResultDocument)
        except MsgspecError as error:
            raise ValueError(f"{name} is not as {SCHEMA} says ({clip(str(error), 300)})") from error
    faults: list[_Fault] = []
    for name, document in documents:
        for number, fault in enumerate(document["faults"], 1):
            own = _Fault(name, number, fault, document)
            same = next((known for known in faults if known.is_like(own)), None)
            if same is None:
                faults.append(own)
            else:
                faults[faults.index(same)] = same.with_other(own)
    faults.sort(key=lambda fault: -len(fault.tests))
    kept = faults[:MAX_FAULTS]
    return {
        "schema": SCHEMA,
        "session": _session([document for _, document in documents]),
        "ranking": _ranking(kept),
        "faults": [fault.merged() for fault in kept],
        "inspections": _numbered(kept, "inspections"),
        "call_graph": {"edges": _edges(document for _, document in documents)},
        "memory": documents[0][1]["memory"] if len(documents) == 1 else _memory(documents),
        "fixes": _numbered(kept, "fixes"),
        "llm": documents[0][1]["llm"],
        "partial": [f"{name}: {note}" for name, d in documents for note in d["partial"]],
    }


class _Fault:
    """A fault of one result, with the tests of the others that have it."""

    def __init__(self, name: str, number: int, fault: Document, document: Document) -> None:
        self.names = [name]
        self.number = number
        self.fault = fault
        self.document = document
        self.tests: list[str] = list(fault["failing_tests"])

    def is_like(self, other: _Fault) -> bool:
        mine, its = self.fault["error"], other.fault["error"]
        is_same = (mine["type"], mine["file"]) == (its["type"], its["file"])
        return is_same and not set(self.tests).isdisjoint(other.tests)

    def with_other(self, other: _Fault) -> _Fault:
        best, rest = (self, other) if self._depth() >= other._depth() else (other, self)
        best.names = [*self.names, *other.names]
        best.tests = list(dict.fromkeys([*best.tests, *rest.tests]))
        return best

    def _depth(self) -> int:
        return len(self.of("inspections"))

    def of(self, what: str) -> list[Document]:
        return [entry for entry in self.document[what] if entry["fault"] == self.number]

    def merged(self) -> dict[str, Any]:
        where = f" (in {', '.join(self.names)})"
        stopped = self.fault["stop_reason"] + where
        return {**self.fault, "failing_tests": self.tests, "stop_reason": stopped}


def _session(documents: Sequence[Document]) -> dict[str, Any]:
    sessions = [document["session"] for document in documents]
    sums = ("n_passed", "n_failed", "n_remembered", "n_traced")
    stages = dict.fromkeys(stage for session in sessions for stage in session["seconds"])
    return {
        **sessions[0],
        **{name: sum(session[name] for session in sessions) for name in sums},
        "seconds": {
            stage: max(session["seconds"].get(stage, 0.0) for session in sessions)
            for stage in stages
        },
        "python_version": ", ".join(dict.fromkeys(s["python_version"] for s in sessions)),
        "pytest_version": ", ".join(dict.fromkeys(s["pytest_version"] for s in sessions)),
        "collector": ", ".join(dict.fromkeys(s["collector"] for s in sessions)),
        "executor": ", ".join(dict.fromkeys(s["executor"] for s in sessions if "executor" in s)),
    }


def _ranking(faults: Sequence[_Fault]) -> list[dict[str, Any]]:
    """Return each place with the highest probability that any fault gives it."""
    best: dict[tuple[str, int, str], Document] = {}
    for fault in faults:
        for row in fault.fault["ranking"]:
            known = best.get(key_of(row))
            if known is None or row["posterior"] > known["posterior"]:
                best[key_of(row)] = row
    rows = sorted(best.values(), key=lambda row: -row["posterior"])[:MAX_ROWS]
    return [{**row, "rank": rank, "tied": 1} for rank, row in enumerate(rows, 1)]


def _numbered(faults: Sequence[_Fault], what: str) -> list[dict[str, Any]]:
    return [
        {**entry, "fault": number}
        for number, fault in enumerate(faults, 1)
        for entry in fault.of(what)
    ]


def _edges(documents: Iterable[Document]) -> list[dict[str, Any]]:
    found: dict[tuple[object, ...], dict[str, Any]] = {}
    for document in documents:
        for edge in document["call_graph"]["edges"]:
            key = (key_of(edge["caller"]), key_of(edge["callee"]))
            known = found.setdefault(key, {**edge, "calls": 0})
            known["calls"] += edge["calls"]
    return list(found.values())


def _memory(documents: Sequence[tuple[str, Document]]) -> dict[str, Any]:
    """Return what each job said as a whole; advice belongs to faults with other numbers."""
    said = [f"{name}: {text}" for name, d in documents for text in d["memory"]["said"]]
    return {"said": said, "records": [], "advice": [], "loops": [], "months": [], "world_model": {}}
