"""``python -m pytest_bayesloc``: merges CI jobs, answers questions, serves coding agents."""

from __future__ import annotations

import argparse
import json
import os
import sys
from contextlib import closing
from functools import wraps
from importlib.util import find_spec
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import MsgspecError, convert, to_builtins
from msgspec.structs import replace

from pytest_bayesloc.domain.errors import BayeslocError
from pytest_bayesloc.domain.redaction import Redaction
from pytest_bayesloc.domain.texts import storable, with_texts
from pytest_bayesloc.llm.privacy import local_privacy
from pytest_bayesloc.pipeline.context import FOLDER, replace_text
from pytest_bayesloc.pipeline.questions import QUESTIONS, Questions
from pytest_bayesloc.pipeline.report import FILES, render
from pytest_bayesloc.pipeline.result_questions import lines_of_answer
from pytest_bayesloc.pipeline.run_files import FILE as LAST_RUN
from pytest_bayesloc.pipeline.run_files import read_last
from pytest_bayesloc.report.ci import Checkout
from pytest_bayesloc.report.document import (
    MAX_FAULTS,
    MAX_ROWS,
    CallEntry,
    CallGraphEntry,
    FaultEntry,
    FixEntry,
    FlakyEntry,
    InspectionEntry,
    MemoryEntry,
    RememberedCauseEntry,
    ResultDocument,
    RowEntry,
    SessionEntry,
)
from pytest_bayesloc.report.document import SCHEMA as RESULT
from pytest_bayesloc.report.encoding import without_secrets
from pytest_bayesloc.report.markdown import prompt
from pytest_bayesloc.report.text import clip
from pytest_bayesloc.report.words import Key, key_of
from pytest_bayesloc.spectrum.shards import SCHEMA as RECORD

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

EPILOG = """\
JSON results (--bayesloc-report=json) become one report, each fault once. Records of runs
(--bayesloc-report=record:PATH) become one run: it is ranked as a whole and inspected here, once;
what follows `--` is given to pytest. A folder stands for all such files in it.
"""
ASK = """\
Answers come from the last failed run in this folder or one above it. `run`, `try` and `evaluate`
re-run tests; nothing changes a file.
"""
SERVE = """\
The server speaks on standard input and output, and answers the same questions as `ask`. It needs
`pip install 'pytest-bayesloc[mcp]'`.
"""
INSTRUCTIONS = """\
Where a pytest suite is red: ask `ranking` first, then `why`, `source` and `values` of a suspect. \
`evaluate` looks into a running test, `try` tries an edit in memory; neither changes a file. Edit \
a file yourself, then run pytest: it remembers what was tried.
"""
WRITABLE = sorted(FILES)
#: An entry that belongs to a fault, by its number.
OfFault = TypeVar("OfFault", InspectionEntry, FixEntry, FlakyEntry, RememberedCauseEntry)


def main(argv: Sequence[str]) -> int:
    """Do what is asked, and return the exit status: 2 if that can't be done."""
    at = list(argv).index("--") if "--" in argv else len(argv)  # behind it, those of pytest
    given, rest = _arguments().parse_args(list(argv[:at])), list(argv[at + 1 :])
    try:
        status: int = given.do(given, rest)
    except BayeslocError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return status


def _merge(given: argparse.Namespace, rest: Sequence[str]) -> int:
    files, why = _files(given.paths)
    kinds = {_schema(file) for file in files}
    if not why and kinds == {RECORD}:
        import pytest

        asked = [f"--bayesloc-report={report}" for report in given.report]
        merge = [f"--bayesloc-merge={file.resolve()}" for file in files]
        # The ini file may ask for workers, and there is nothing for them to do.
        alone = ["-n0"] if find_spec("xdist") and "no:xdist" not in " ".join(rest) else []
        return int(pytest.main(["--bayesloc", *alone, *merge, *asked, *rest]))
    if not why and kinds != {RESULT}:
        strange = next((file for file in files if _schema(file) not in {RESULT, RECORD}), None)
        why = (
            f"{strange} is neither a JSON result nor a record of a run: expected what "
            "--bayesloc-report=json or --bayesloc-report=record:PATH writes."
            if strange
            else "JSON results and records of runs can't be merged with each other: give one kind."
        )
    if why:
        sys.stderr.write(f"{why} (unreadable-record)\n")
        return 2
    return _write(files, given.report or ["html"], offers_prompt=not given.no_prompt)


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m pytest_bayesloc", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="merge | ask | mcp")
    merge = commands.add_parser("merge", description=EPILOG, usage="%(prog)s PATH ... [-- PYTEST]")
    merge.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="files and folders")
    merge.add_argument(
        "--report",
        action="append",
        default=[],
        metavar="KIND[:PATH]",
        help=f"what to write, repeatable: {', '.join(WRITABLE)}; html if nothing is said",
    )
    merge.add_argument(
        "--no-prompt", action="store_true", help="the page holds no prompt for an assistant"
    )
    merge.set_defaults(do=_merge)
    ask = commands.add_parser("ask", description=ASK)
    ask.set_defaults(do=_ask)
    ask.add_argument("--json", action="store_true", help="answer in JSON")
    questions = ask.add_subparsers(required=True, dest="question", metavar="QUESTION")
    for name, question in QUESTIONS.items():
        first, _, _ = (question.__doc__ or "").partition("\n")
        asked = questions.add_parser(name, help=first, description=first)
        for parameter in list(signature(question).parameters.values())[1:]:
            is_needed = parameter.default is Parameter.empty
            nargs = "*" if parameter.name == "tests" else None if is_needed else "?"
            kind = int if parameter.annotation == "int" else str
            asked.add_argument(
                parameter.name, type=kind, nargs=nargs, default=None if is_needed else ""
            )
    serve = commands.add_parser("mcp", description=SERVE)
    serve.set_defaults(do=_serve)
    return parser


def _ask(given: argparse.Namespace, _: Sequence[str]) -> int:
    question = QUESTIONS[given.question]
    names = list(signature(question).parameters)[1:]
    with closing(Questions(_project_at(Path.cwd()))) as questions:
        answer = question(questions, **{name: getattr(given, name) for name in names})
    text = json.dumps(answer, indent=2) if given.json else "\n".join(lines_of_answer(answer))
    sys.stdout.write(f"{text}\n")
    return 0


def _serve(*_: object) -> int:
    """Answer on standard input and output until the client hangs up."""
    try:
        from mcp.server.mcpserver import MCPServer
    except ModuleNotFoundError as error:
        sys.stderr.write(
            f"The server needs {error.name}, which is not installed: "
            "pip install 'pytest-bayesloc[mcp]'.\n"
        )
        return 2
    rootdir = _project_at(Path.cwd())
    server: MCPServer[Any] = MCPServer("pytest-bayesloc", instructions=INSTRUCTIONS)

    def last_run() -> str:
        """The JSON result of the last failed run."""
        return json.dumps(to_builtins(read_last(rootdir).document))

    server.resource("bayesloc://last-run", mime_type="application/json")(last_run)
    with closing(Questions(rootdir)) as questions:
        for name, question in QUESTIONS.items():
            text = " ".join((question.__doc__ or "").split())
            add = server.tool(name, description=text, structured_output=False)
            add(_asked(question, questions))
        server.run("stdio")
    return 0


def _asked(question: Callable[..., Any], questions: Questions) -> Callable[..., Any]:
    """Return a question with its errors told in the way of the Model Context Protocol."""
    from mcp.server.mcpserver.exceptions import ToolError

    @wraps(getattr(questions, question.__name__))
    def ask(**given: Any) -> Any:  # noqa: ANN401 - what the schema of the question says
        try:
            return question(questions, **given)
        except BayeslocError as error:
            raise ToolError(str(error)) from error

    return ask


def _project_at(folder: Path) -> Path:
    """Return the nearest folder from here upwards with a last run; this one if none has."""
    around = (folder, *folder.parents)
    return next((path for path in around if (path / FOLDER / LAST_RUN).is_file()), folder)


def _files(paths: Sequence[Path]) -> tuple[list[Path], str]:
    """Return the files that are meant, or why there are none."""
    found: dict[Path, None] = {}
    for path in paths:
        inside = [path] if path.is_file() else sorted(path.rglob("*.json"))
        known = [file for file in inside if path.is_file() or _schema(file)]
        if not known:
            return [], f"{path} holds neither JSON results nor records of runs."
        found.update(dict.fromkeys(known))
    return list(found), ""


def _schema(file: Path) -> str:
    """Return the schema that a file names; empty if it is neither a result nor a record."""
    try:
        with file.open(encoding="utf-8") as stream:
            begin = stream.read(200)
    except (OSError, UnicodeError):
        return ""
    return next((schema for schema in (RECORD, RESULT) if f'"{schema}"' in begin), "")


def _write(files: Sequence[Path], reports: Sequence[str], *, offers_prompt: bool) -> int:
    try:
        texts = ((file.stem, file.read_text("utf-8")) for file in files)
        document = merged([(name, read_result(name, json.loads(text))) for name, text in texts])
        for report in reports:
            path = _written(report, document, offers_prompt=offers_prompt)
            sys.stdout.write(f"report: {path}\n")
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        sys.stderr.write(f"Nothing was merged: {error}. (unreadable-record)\n")
        return 2
    return 0


def _written(report: str, document: ResultDocument, *, offers_prompt: bool) -> Path:
    kind, _, path = report.partition(":")
    if kind not in WRITABLE:
        raise ValueError(f"--report={report} is not KIND or KIND:PATH with {', '.join(WRITABLE)}")
    privacy, redaction = local_privacy(Path.cwd(), ()), Redaction(os.environ)

    def read(file: str) -> str | None:
        text = _read(file)
        return None if text is None else redaction.clean(text)

    document = without_secrets(document, redaction)
    asked = prompt(document, privacy.reader(_read), privacy.clean) if offers_prompt else ""
    text = render(kind, document, read, Checkout.around(Path.cwd(), os.environ), prompt=asked)
    target = Path(path or FILES[kind])
    target.parent.mkdir(parents=True, exist_ok=True)
    return replace_text(target, text)


def _read(file: str) -> str | None:
    try:
        return Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeError):
        return None


# -- results of several runs


def read_result(name: str, value: object) -> ResultDocument:
    """Return the result that a JSON value holds.

    Raises:
        ValueError: If it holds none; the text begins with ``name``.
    """
    said = value.get("schema") if isinstance(value, dict) else None
    if said != RESULT:
        raise ValueError(f"{name} has the schema {clip(str(said), 50)!r}: expected {RESULT!r}")
    try:
        return convert(with_texts(value, storable), ResultDocument)
    except MsgspecError as error:
        raise ValueError(f"{name} is not as {RESULT} says ({clip(str(error), 300)})") from error


def merged(documents: Sequence[tuple[str, ResultDocument]]) -> ResultDocument:
    """Return one result of several, of which the first says how it was computed.

    A fault is the same in two of them if it has the same error and shares a failing test; that of
    which more was inspected is kept, with the tests of both.

    Args:
        documents: At least one, each with a name for what it says.
    """
    faults: list[_Fault] = []
    for name, document in documents:
        for number, fault in enumerate(document.faults, 1):
            own = _Fault(name, number, fault, document)
            same = next((known for known in faults if known.is_like(own)), None)
            if same is None:
                faults.append(own)
            else:
                faults[faults.index(same)] = same.with_other(own)
    faults.sort(key=lambda fault: -len(fault.tests))
    kept = faults[:MAX_FAULTS]
    first = documents[0][1]
    calls: dict[tuple[Key, Key], CallEntry] = {}
    for edge in (edge for _, document in documents for edge in document.call_graph.edges):
        key = (key_of(edge.caller), key_of(edge.callee))
        calls.setdefault(key, replace(edge, calls=0)).calls += edge.calls
    return replace(
        first,
        session=_session([document.session for _, document in documents]),
        ranking=_ranking(kept),
        faults=[fault.merged() for fault in kept],
        inspections=_numbered(kept, lambda d: d.inspections),
        call_graph=CallGraphEntry(edges=list(calls.values())),
        memory=first.memory if len(documents) == 1 else _memory(documents, kept),
        fixes=_numbered(kept, lambda d: d.fixes),
        partial=[f"{name}: {note}" for name, d in documents for note in d.partial],
    )


class _Fault:
    """A fault of one result, with the tests of the others that have it."""

    def __init__(self, name: str, number: int, fault: FaultEntry, document: ResultDocument) -> None:
        self.names = [name]
        self.number = number
        self.fault = fault
        self.document = document
        self.tests = list(fault.failing_tests)

    def is_like(self, other: _Fault) -> bool:
        mine, its = self.fault.error, other.fault.error
        is_same = (mine.type, mine.file) == (its.type, its.file)
        return is_same and not set(self.tests).isdisjoint(other.tests)

    def with_other(self, other: _Fault) -> _Fault:
        best, rest = (self, other) if self._depth() >= other._depth() else (other, self)
        best.names = [*self.names, *other.names]
        best.tests = list(dict.fromkeys([*best.tests, *rest.tests]))
        return best

    def _depth(self) -> int:
        return sum(step.fault == self.number for step in self.document.inspections)

    def merged(self) -> FaultEntry:
        stopped = f"{self.fault.stop_reason} (in {', '.join(self.names)})"
        return replace(self.fault, failing_tests=self.tests, stop_reason=stopped)


def _session(sessions: Sequence[SessionEntry]) -> SessionEntry:
    sums = ("n_passed", "n_failed", "n_remembered", "n_traced", "n_refused", "n_rejected")
    stages = dict.fromkeys(stage for session in sessions for stage in session.seconds)
    longest = {
        stage: max(session.seconds.get(stage, 0.0) for session in sessions) for stage in stages
    }
    named = ("python_version", "pytest_version", "collector", "executor")
    return replace(
        sessions[0],
        seconds=longest,
        **{name: sum(getattr(session, name) for session in sessions) for name in sums},
        **{
            name: ", ".join(dict.fromkeys(getattr(session, name) for session in sessions))
            for name in named
        },
    )


def _ranking(faults: Sequence[_Fault]) -> list[RowEntry]:
    """Return each place with the highest probability that any fault gives it."""
    best: dict[Key, RowEntry] = {}
    for fault in faults:
        for row in fault.fault.ranking:
            known = best.get(key_of(row))
            if known is None or row.posterior > known.posterior:
                best[key_of(row)] = row
    rows = sorted(best.values(), key=lambda row: -row.posterior)[:MAX_ROWS]
    return [replace(row, rank=rank, tied=1) for rank, row in enumerate(rows, 1)]


def _numbered(
    faults: Sequence[_Fault], entries: Callable[[ResultDocument], Sequence[OfFault]]
) -> list[OfFault]:
    """Return the entries of each fault, with its number in the merged result."""
    return [
        replace(entry, fault=number)
        for number, fault in enumerate(faults, 1)
        for entry in entries(fault.document)
        if entry.fault == fault.number
    ]


def _memory(
    documents: Sequence[tuple[str, ResultDocument]], faults: Sequence[_Fault]
) -> MemoryEntry:
    """Return what each job said as a whole, and of tests; advice belongs to bugs of one job."""
    return MemoryEntry(
        said=[f"{name}: {text}" for name, d in documents for text in d.memory.said],
        records=[],
        advice=[],
        loops=[],
        months=[],
        world_model={},
        flaky=_numbered(faults, lambda d: d.memory.flaky),
        causes=_numbered(faults, lambda d: d.memory.causes),
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
