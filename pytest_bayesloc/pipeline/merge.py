"""Merges the records of several machines, and the results of several runs.

No test is run here except by inspections.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from msgspec import MsgspecError, convert

from pytest_bayesloc.domain.errors import ShardError
from pytest_bayesloc.domain.texts import digest_of
from pytest_bayesloc.history.git import head
from pytest_bayesloc.pipeline.context import replace_text
from pytest_bayesloc.report.document import MAX_FAULTS, MAX_ROWS, Document, ResultDocument
from pytest_bayesloc.report.document import SCHEMA as RESULT_SCHEMA
from pytest_bayesloc.report.text import clip
from pytest_bayesloc.report.words import key_of
from pytest_bayesloc.spectrum.shards import MAX_CHARACTERS, SCHEMA, dump, environment, load, parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pytest_bayesloc.spectrum.recorder import Recorder
    from pytest_bayesloc.spectrum.shards import CodeState, Shard


class RecordMerger:
    """Reads records instead of running tests.

    Args:
        recorder: Of this run, which records nothing itself.
        paths: Files that ``--bayesloc-report=record:PATH`` wrote, or folders of them.
        note: Tells the user.
    """

    def __init__(
        self, recorder: Recorder, paths: Sequence[Path], note: Callable[[str], None]
    ) -> None:
        self._recorder = recorder
        self._paths = paths
        self._note = note

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Merge the records, and run nothing."""
        recorded = self._recorder.recorded
        recorded.verdicts.clear()
        records = dict(filter(None, map(self._read, record_files(self._paths, self._note))))
        refuse_other_code({**records, Path("this checkout"): self._state_here(records.values())})
        for record in records.values():
            load(recorded, record, self._recorder.files)
        order = {item.nodeid: number for number, item in enumerate(session.items)}
        known = sorted(recorded.verdicts, key=lambda node_id: order.get(node_id, len(order)))
        recorded.verdicts = {node_id: recorded.verdicts[node_id] for node_id in known}
        session.testsfailed = sum(not passed for passed in recorded.verdicts.values())
        return True

    def _state_here(self, records: Iterable[CodeState]) -> CodeState:
        """The digests of the same files here, which inspections would be about."""
        files = dict.fromkeys(file for record in records for file in record["digests"])
        here = {file: digest_of(Path(self._recorder.files.absolute(file))) for file in files}
        return {
            "revision": "",
            "digests": {file: digest for file, digest in here.items() if digest},
        }

    def _read(self, path: Path) -> tuple[Path, Shard] | None:
        """Read a record; note if it can't be used."""
        try:
            with path.open(encoding="utf-8") as stream:
                text = stream.read(MAX_CHARACTERS)
            return path, parse(text, path, self._recorder.files)
        except (OSError, UnicodeError, ShardError) as error:
            self._note(str(error))
            self._recorder.recorded.partial.append(f"What {path.name} holds is missing")
            return None


def refuse_other_code(records: Mapping[Path, CodeState]) -> None:
    """End the run if records are not all about the same code.

    Args:
        records: Each with its ``revision``, empty if unknown, and the ``digests`` of files.

    Raises:
        pytest.UsageError: If two differ; the text names them, and a file.
    """
    first: dict[str, Path] = {}  # per file, the first record that names it
    known = [(path, record["revision"]) for path, record in records.items() if record["revision"]]
    for path, revision in known[1:]:
        if revision != known[0][1]:
            raise pytest.UsageError(
                f"{path} is of commit {revision[:12]}, and {known[0][0]} of {known[0][1][:12]}: "
                "what tests execute at two commits is not merged. Give records of one commit. "
                "(other-code)"
            )
    for path, record in records.items():
        for file, digest in record["digests"].items():
            other = first.setdefault(file, path)
            if records[other]["digests"][file] != digest:
                raise pytest.UsageError(
                    f"{file} was another one for {path} than for {other}: what tests execute in "
                    "two versions of the code is not merged. Give records of one version. "
                    "(other-code)"
                )


def foreign_environment(tests: Sequence[str], environments: Mapping[str, str]) -> str:
    """Name the environment where ``tests`` failed; empty if any failed in one like this."""
    met = {environments[test] for test in tests if test in environments}
    return "" if not met or environment() in met else min(met)


def record_files(paths: Sequence[Path], note: Callable[[str], None]) -> list[Path]:
    """List the record files among ``paths``; of folders, those in them at any depth."""
    files: dict[Path, None] = {}
    for path in paths:
        inside = sorted(filter(_is_record, path.rglob("*.json"))) if path.is_dir() else [path]
        if not inside:
            note(
                f"{path} holds no record of a run: expected what --bayesloc-report=record:PATH "
                "writes. (unreadable-record)"
            )
        files.update(dict.fromkeys(inside))
    return list(files)


def _is_record(path: Path) -> bool:
    try:
        with path.open(encoding="utf-8") as stream:
            return SCHEMA in stream.read(100)
    except (OSError, UnicodeError):
        return False


def keep_record(
    recorder: Recorder,
    rootdir: Path,
    path: Path,
    note: Callable[[str], None],
    clean: Callable[[str], str],
) -> None:
    """Write the record of this run.

    Args:
        rootdir: Of the project.
        recorder: With all that is known of tests that were not traced.
        path: Where to.
        note: Told if it can't be written.
        clean: Takes secrets out.
    """
    digests = {file: digest_of(where) for file, where in recorder.files_in_use().items()}
    text = dump(recorder.recorded, recorder.files, head(rootdir)[0], digests, clean)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_text(path, text)
    except OSError as error:
        note(
            f"The record of this run can't be written to {path}: {error}. Give a path that can, "
            "as --bayesloc-report=record:PATH. (report-not-written)"
        )


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
        if said != RESULT_SCHEMA:
            raise ValueError(
                f"{name} has the schema {clip(str(said), 50)!r}: expected {RESULT_SCHEMA!r}"
            )
        try:
            convert(document, ResultDocument)
        except MsgspecError as error:
            raise ValueError(
                f"{name} is not as {RESULT_SCHEMA} says ({clip(str(error), 300)})"
            ) from error
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
        "schema": RESULT_SCHEMA,
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
