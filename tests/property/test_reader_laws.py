"""What comes from elsewhere is data: a reader returns a value, or raises its own one-line error.

Real files are changed at random places, by values of any kind, cut and filled; each reader gets a
fixed number of such texts, the same ones in each run.
"""

from __future__ import annotations

import json
from contextlib import closing, suppress
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_bayesloc.__main__ import merged, read_result
from pytest_bayesloc.domain.errors import BayeslocError, LostError, ShardError, StoreError
from pytest_bayesloc.domain.own_files import is_trusted
from pytest_bayesloc.fixes.apply import Journal
from pytest_bayesloc.memory.ledger import Ledger
from pytest_bayesloc.memory.store import BugStore
from pytest_bayesloc.memory.transfer import import_lines
from pytest_bayesloc.options.settings import declarations
from pytest_bayesloc.pipeline.questions import QUESTIONS, Questions
from pytest_bayesloc.pipeline.result_questions import QuestionError
from pytest_bayesloc.rerun.runner import ServerRunner
from pytest_bayesloc.spectrum.build import build_failures, build_spectrum
from pytest_bayesloc.spectrum.run_record import RunRecord
from pytest_bayesloc.spectrum.shards import load, parse
from pytest_bayesloc.spectrum.sources import SourceFilter, Sources
from tests.fakes.transport import FakeServer, FakeTransport
from tests.integration.conftest import projects  # noqa: F401 - a fixture

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pytest_bayesloc.rerun.link import Message
    from tests.integration.conftest import Project, Projects

pytestmark = pytest.mark.one_python
fixed_cases = settings(
    max_examples=150,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
JUNK: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from([None, True, -1, 0, 1, 7, 1 << 31, 1 << 70, 0.5, -1e300, float("inf")]),
    st.sampled_from(["", "x" * 5_000, "\0", "\ud800", "../../../etc/passwd", "/etc/passwd", "::"]),
    st.sampled_from([[], {}, [[]], [None], {"": None}, {"a": {"b": []}}]),
    st.text(max_size=20),
)


class Edit(NamedTuple):
    """A change of a JSON value: at which of its places, how, and what is put there."""

    at: int
    how: str
    what: Any


EDITS = st.lists(
    st.builds(Edit, st.integers(0, 5_000), st.sampled_from(["set", "drop", "twice"]), JUNK),
    min_size=1,
    max_size=3,
)
#: What is put at the end of a text, by a name that Hypothesis can print.
ENDS = {
    "nothing": "",
    "lists": "[" * 50_000,
    "objects": '{"a":' * 20_000,
    "null": "\0",
    "number": "9" * 9_000,
}
CUTS = st.tuples(st.integers(0, 20_000), st.sampled_from(sorted(ENDS)))


def cut_at(text: str, cut: tuple[int, str]) -> str:
    return text[: cut[0] % len(text)] + ENDS[cut[1]]


def places(value: object) -> Iterator[tuple[Any, Any]]:
    """Each container in a JSON value with each of its keys."""
    keys = (
        list(value)
        if isinstance(value, dict)
        else range(len(value))
        if isinstance(value, list)
        else ()
    )
    for key in keys:
        yield value, key
        yield from places(value[key])  # type: ignore[index]


def edited(value: object, edits: Sequence[Edit]) -> Any:  # noqa: ANN401 - any JSON value
    changed = deepcopy(value)
    for edit in edits:
        there = list(places(changed))
        if not there:
            break
        inside, key = there[edit.at % len(there)]
        if edit.how == "set":
            inside[key] = deepcopy(edit.what)
        elif edit.how == "drop":
            del inside[key]
        elif isinstance(inside, list):
            inside.append(inside[key])
        else:
            inside[f"{key}x"] = inside[key]
    return changed


class Samples(NamedTuple):
    """What a real run wrote."""

    project: Project
    record: dict[str, Any]
    result: dict[str, Any]
    last: dict[str, Any]
    export: list[str]

    def __repr__(self) -> str:
        return "samples"  # Hypothesis prints it


@pytest.fixture(scope="module")
def samples(projects: Projects) -> Samples:  # noqa: F811 - the fixture
    project = projects.buggy()
    reports = ("--bayesloc-report=record:r.json", "--bayesloc-report=json:j.json")
    project.run("-q", "--bayesloc", "--bayesloc-inspections=2", "--bayesloc-fix=suggest", *reports)
    project.run("-q", "--bug-memory=export:e.jsonl")

    def read(name: str) -> dict[str, Any]:
        value: dict[str, Any] = json.loads(project.read(name))
        return value

    return Samples(
        project,
        read("r.json"),
        read("j.json"),
        read(".bayesloc/last-run.json"),
        project.read("e.jsonl").splitlines(),
    )


def is_one_line(error: BaseException) -> bool:
    return len(str(error).splitlines()) == 1 and len(str(error)) < 2_000


def refuses(read: Callable[[], object], *expected: type[Exception]) -> bool:
    """Whether ``read`` refuses, by its own error; another one fails the test."""
    told: Exception | None = None
    try:
        read()
    except expected as error:
        told = error
    assert told is None or is_one_line(told), told
    return told is not None


# -- records and results that are merged


@fixed_cases
@given(edits=EDITS)
def test_record_is_merged_and_ranked_or_refused(samples: Samples, edits: list[Edit]) -> None:
    root = samples.project.root
    text = json.dumps(edited(samples.record, edits))

    def read() -> None:
        files = SourceFilter(root)
        recorded = RunRecord()
        load(recorded, parse(text, Path("r.json"), files), files)
        build_spectrum(recorded, Sources(files))
        build_failures(recorded, Sources(files))

    refuses(read, ShardError)


@fixed_cases
@given(cut=CUTS)
def test_record_that_is_cut_is_refused(samples: Samples, cut: tuple[int, str]) -> None:
    text = cut_at(json.dumps(samples.record), cut)

    files = SourceFilter(samples.project.root)
    assert refuses(lambda: parse(text, Path("r.json"), files), ShardError)


@fixed_cases
@given(edits=EDITS)
def test_result_is_merged_and_drawn_or_refused(samples: Samples, edits: list[Edit]) -> None:
    document = json.loads(json.dumps(edited(samples.result, edits)))

    known = read_result("b", samples.result)
    refuses(lambda: merged([("a", read_result("a", document)), ("b", known)]), ValueError)


# -- exports


@pytest.mark.one_python
@settings(fixed_cases, max_examples=60)
@given(edits=EDITS, cut=st.none() | CUTS)
def test_export_is_imported_or_refused(
    samples: Samples,
    tmp_path_factory: pytest.TempPathFactory,
    edits: list[Edit],
    cut: tuple[int, str] | None,
) -> None:
    lines = [
        json.dumps(line) for line in edited([json.loads(line) for line in samples.export], edits)
    ]
    if cut is not None:
        lines[-1:] = [cut_at(samples.export[-1], cut)]
    path = tmp_path_factory.mktemp("memory") / "memory.sqlite"

    def read() -> None:
        with closing(BugStore(path, pytest.fail)) as store:
            with store.transaction() as connection:
                import_lines(connection, lines)
            with store.transaction(write=False) as connection:
                ledger = Ledger(connection, "shop")
                ledger.bugs(ledger.open_bugs())

    refuses(read, StoreError)


# -- the last run, and questions about it


class Told(Questions):
    """Questions up to the first re-run."""

    def _server(self) -> Any:  # noqa: ANN401 - never returns
        _ = self._last.command
        raise QuestionError("tests would run now.")


ASKED = st.sampled_from(
    ["ranking", "why", "source", "failure", "changes", "similar", "fixes", "run", "values", "calls"]
)


@fixed_cases
@given(edits=EDITS, asked=ASKED)
def test_last_run_is_answered_from_or_refused(
    samples: Samples, edits: list[Edit], asked: str
) -> None:
    last = edited(samples.last, edits)
    samples.project.write({".bayesloc/last-run.json": json.dumps(last)})
    place = ["calc.py:2"] if asked in {"why", "source", "values", "calls"} else []
    with closing(Told(samples.project.root)) as questions:
        refuses(lambda: QUESTIONS[asked](questions, *place), BayeslocError)


LONG = {
    "brackets": "(" * 5_000,
    "functions": "lambda: " * 9_000,
    "digits": f"calc.py:{'9' * 5_000}",
}
TEXTS = st.one_of(
    st.sampled_from(
        [*LONG, "calc.py", "../x.py", "/etc/passwd", "a\0b", "\ud800", "", "a - b", "."]
    ),
    st.sampled_from(["calc.py:1", "x" * 999]),
    st.text(max_size=10),
)


@fixed_cases
@given(file=TEXTS, old=TEXTS, new=TEXTS, line=st.integers(-2, 30))
def test_edit_and_expression_are_tried_or_refused(
    samples: Samples, file: str, old: str, new: str, line: int
) -> None:
    samples.project.write({".bayesloc/last-run.json": json.dumps(samples.last)})
    file, old, new = (LONG.get(text, text) for text in (file, old, new))
    with closing(Told(samples.project.root)) as questions:
        for ask in (
            lambda: questions.attempt(file, old, new),
            lambda: questions.attempt("calc.py", "a - b", new),
            lambda: questions.evaluate(file, line, old),
            lambda: questions.evaluate("calc.py", line, new),
            lambda: questions.source(old),
            lambda: questions.failure(new),
        ):
            refuses(ask, BayeslocError)


# -- answers of servers


ENDED = {"output": "", "violations": [1], "sides": ["1", "2"], "frames": [["calc.py", 3]]}
FRAME = {"file": "calc.py", "line": 1, "name": "add", "first_line": 1, "in_app": True}
ANSWERS: list[Message] = [
    {"start": "t.py::t"},
    {"covered": "t.py::t"},
    {"swapped": 1},
    {"end": "t.py::t", "verdict": "fail", "error": "E: 1", "covered": True, **ENDED},
    {"of": "t.py::t", "calls": []},
    {"edges": []},
    {"of": "t.py::t", "flow": {"user": FRAME, "condition": "c", "values": []}},
    {"state": {"calc.x": "1"}},
    {"done": "ok", "seconds": 0.1, "cpu_s": 0.1},
]


class Saying(FakeTransport):
    """Servers give one answer to everything."""

    answer: Any = None

    def serve(self, tests: Sequence[str], once: Message | None, fence: Message) -> FakeServer:
        server = super().serve(tests, once, fence)
        server.exchange = lambda *_: self.answer  # type: ignore[method-assign]
        return server


@fixed_cases
@given(edits=EDITS)
def test_answer_of_a_server_is_taken_or_counts_as_lost(edits: list[Edit]) -> None:
    transport = Saying()
    transport.answer = edited(ANSWERS, edits)
    with closing(ServerRunner(transport, ["t.py::t"], {"calc.py": "def add(): ...\n"})) as runner:
        for ask in (
            lambda: runner.rerun(None, ["t.py::t"], limit_s=1.0),
            lambda: runner.record(["t.py::t"], [], limit_s=1.0),
            lambda: runner.follow(["t.py::t"], limit_s=1.0),
            lambda: runner.changed_state(["t.py::t"], limit_s=1.0),
        ):
            refuses(ask, LostError)


# -- files that the plugin wrote itself


@pytest.mark.one_python
@fixed_cases
@given(cut=CUTS, edits=EDITS)
def test_journal_and_trust_are_read_or_passed_over(
    tmp_path_factory: pytest.TempPathFactory, cut: tuple[int, str], edits: list[Edit]
) -> None:
    root = tmp_path_factory.mktemp("project")
    (root / "a.py").write_bytes(b"old")
    journal = Journal(root, root / "journal")
    (path,) = journal.apply([("a.py", b"old", b"new")], "tool")
    value = edited(json.loads(path.read_text()), edits)
    (root / "trusted.json").write_text(json.dumps({"trusted": edited({"a": "b"}, edits)}))
    for text in (json.dumps(value), cut_at(path.read_text(), cut)):
        path.write_text(text)
        journal.undo()
        is_trusted(Path("a"), "b", root)
    with suppress(FileNotFoundError):
        assert (root / "a.py").read_bytes() in {b"old", b"new"} or journal.undo() == []


# -- settings of an ini file


INI = st.one_of(
    st.sampled_from([
        "", "0", "-1", "nan", "inf", "1e999", "9" * 5_000, "x:" * 50, "a\0b", "json:", "docker:",
        "postgresql://", "::", "=", "1=2", "embedding:", "on", "off", "%s",
    ]),
    st.text(max_size=15),
)  # fmt: skip


@fixed_cases
@given(which=st.integers(0, 100), text=INI)
def test_setting_is_taken_or_is_a_usage_error(
    pytestconfig: pytest.Config, which: int, text: str
) -> None:
    options = [option for option in declarations() if option.metavar]
    option = options[which % len(options)]
    is_list = option.repeats or option.ini_type in {"args", "linelist"}
    with suppress(pytest.UsageError):
        option.read(option.name, text.splitlines() if is_list else text, pytestconfig)
