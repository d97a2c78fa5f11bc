"""Re-runs under patches of several functions and files: swapped at once, or imported anew."""

from __future__ import annotations

import sys
import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_bayesloc.domain.errors import ExecutionError
from pytest_bayesloc.domain.inspection import InspectionPatch, Verdict
from pytest_bayesloc.domain.source import SourceMap
from pytest_bayesloc.rerun.aside import Aside
from pytest_bayesloc.rerun.command import NEUTRAL, PLUGIN, Command
from pytest_bayesloc.rerun.effects import Effects
from pytest_bayesloc.rerun.runner import ServerRunner
from pytest_bayesloc.rerun.transports.local import local_transport
from tests.integration.conftest import asserting

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from pytest_bayesloc.domain.inspection import Rerun
    from pytest_bayesloc.rerun.link import Message
    from tests.integration.conftest import Project, Projects

pytestmark = pytest.mark.traced

FILES = {
    "a.py": """
        STEP = 1


        def one():
            return STEP


        def two(n=1):
            return n


        class Base:
            def size(self):
                return 0


        class Child(Base):
            def size(self):
                return 1
        """,
    "b.py": """
        def three():
            return 1
        """,
    "late.py": """
        def four():
            return 1
        """,
    "test_all.py": asserting(
        "import a, b",
        a="(a.one(), a.two()) == (2, 2)",
        b="(a.one(), b.three()) == (2, 2)",
        size="a.Child().size() == 0",
        late="import late; assert (a.one(), late.four()) == (2, 2)",
    ),
    "test_broken.py": """
        import a
        assert a.STEP == 2
        """,
}


@pytest.fixture(scope="module")
def project(projects: Projects) -> Project:
    return projects.make(FILES)


@pytest.fixture(scope="module")
def runner(project: Project) -> Iterator[ServerRunner]:
    made = made_for(project)
    yield made
    made.close()


def made_for(project: Project, *arguments: str) -> ServerRunner:
    command = Command(
        flags=(),
        path=(str(project.root), *sys.path),
        arguments=(f"--rootdir={project.root}", "--no-bayesloc", "-p", PLUGIN, *arguments),
        rootdir=project.root,
        cwd=project.root,
        environment=project.environment(),
        options=NEUTRAL,
    )
    texts = {name: project.read(name) for name in FILES}
    tests = [node_id(name) for name in ("a", "b", "size", "late")]
    return ServerRunner(local_transport(command, Effects()), tests, texts)


def node_id(name: str) -> str:
    return f"test_all.py::test_{name}"


def patch(project: Project, file: str, *names: str, edits: dict[str, str]) -> InspectionPatch:
    """A change of the functions ``names`` of a file: each key of ``edits`` becomes its value."""
    text = patched = project.read(file)
    for old, new in edits.items():
        assert patched.count(old) == 1
        patched = patched.replace(old, new)
    places = {unit.location.qualname: unit.location for unit in SourceMap(text, file).units}
    first, *others = (places[name] for name in names)
    return InspectionPatch(
        target=first, others=tuple(others), kind="k", original=text, patched=patched
    )


ONE = {"return STEP": "return 2"}
TWO = {"return n": "x = n\n    return x + 1"}
THREE = {"return 1": "return 2"}


def rerun(
    runner: ServerRunner, made: InspectionPatch | None, name: str
) -> tuple[Verdict, str, int]:
    """Verdict of a test, how it was run, and the number of functions that were swapped."""
    done = runner.rerun(made, [node_id(name)], limit_s=30)
    return done.tests[node_id(name)].verdict, done.how, done.n_swapped


BOTH, STEP = {**ONE, **TWO}, {"STEP = 1": "STEP = 2"}
CHILD = "class Child(Base):\n    def size(self):\n        return "
SUPER = {f"{CHILD}1": f"{CHILD}super().size()"}
GONE = {"def one():\n    return STEP\n": "one = int\n"}
SWAPPED_ONE, SWAPPED_FOUR = ("a.py", ["one"], ONE), ("late.py", ["four"], THREE)
SWAPPED_THREE = ("b.py", ["three"], THREE)
#: Patches by file, functions and edits; a test, its verdict, how it is run, and what is swapped.
PATCHES = {
    "two functions of a file": ([("a.py", ["one", "two"], BOTH)], "a", "pass", "fork", 2),
    "one of two edited functions": ([("a.py", ["one"], BOTH)], "a", "fail", "fork", 1),
    "functions of two files": ([SWAPPED_ONE, SWAPPED_THREE], "b", "pass", "fork", 2),
    "a body and a function": (
        [("a.py", ["<module>"], STEP), SWAPPED_THREE],
        "b",
        "pass",
        "fresh",
        2,
    ),
    "a function beside its body": (
        *([("a.py", ["two", "<module>"], {**TWO, **STEP})], "a"),
        *("pass", "fresh", 1),
    ),
    "a file that the test imports, last": ([SWAPPED_ONE, SWAPPED_FOUR], "late", "pass", "fork", 2),
    "a file that the test imports, first": ([SWAPPED_FOUR, SWAPPED_ONE], "late", "pass", "fork", 2),
    "what closes over other variables": (
        [("a.py", ["Child.size"], SUPER)],
        "size",
        "pass",
        "fresh",
        1,
    ),
    "what is not in the patched text": ([("a.py", ["one"], GONE)], "a", "fail", "fresh", 1),
}


@pytest.mark.parametrize("name", PATCHES)
def test_patch_is_swapped_where_it_can_be_and_imported_otherwise(
    project: Project, runner: ServerRunner, name: str
) -> None:
    patches, test, verdict, how, n_swapped = PATCHES[name]
    first, *others = (patch(project, file, *at, edits=edits) for file, at, edits in patches)

    done = rerun(runner, replace(first, companions=tuple(others)), test)

    assert done == (Verdict(verdict), how, n_swapped)


def test_patch_ends_with_its_re_run(project: Project, runner: ServerRunner) -> None:
    assert rerun(runner, patch(project, "a.py", "one", "two", edits={**ONE, **TWO}), "a")
    assert rerun(runner, None, "a") == (Verdict.FAIL, "fork", 0)


def test_patch_that_asks_for_an_import_gets_one(project: Project, runner: ServerRunner) -> None:
    both = patch(project, "a.py", "one", "two", edits={**ONE, **TWO})

    assert rerun(runner, replace(both, fresh=True), "a")[:2] == (Verdict.PASS, "fresh")


def test_all_tests_of_its_files_can_be_asked_for(project: Project) -> None:
    small = made_for(project)
    small._tests = (node_id("b"),)

    assert rerun(small, None, "a") == (Verdict.FAIL, "fork", 0)
    small.close()


CALLING = "import subprocess\n\nsubprocess.run(['true'], check=True)\n"


def asked_of(runner: ServerRunner, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """The tests of each new process, once it is started."""
    asked: list[tuple[str, ...]] = []
    answer = runner._answer_of_fresh

    def noted(request: Message) -> Sequence[Message]:
        asked.append(tuple(request["tests"]))
        return answer(request)

    monkeypatch.setattr(runner, "_answer_of_fresh", noted)
    return asked


def test_what_collecting_does_is_learned_without_a_test(
    projects: Projects, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = projects.make({**FILES, "conftest.py": CALLING})
    both = patch(project, "a.py", "one", "two", edits={**ONE, **TWO})
    alone = made_for(project)
    asked = asked_of(alone, monkeypatch)

    assert rerun(alone, replace(both, fresh=True), "a")[:2] == (Verdict.PASS, "fresh")
    assert asked == [(node_id("a"),), (), (node_id("a"),)]


def test_what_a_plugin_does_as_it_is_imported_is_learned_by_the_first_server(
    projects: Projects, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = projects.make({**FILES, "calling.py": CALLING})
    monkeypatch.syspath_prepend(project.root)
    both = patch(project, "a.py", "one", "two", edits={**ONE, **TWO})
    alone = made_for(project, "-p", "calling")
    alone.make_ready()
    asked = asked_of(alone, monkeypatch)

    assert rerun(alone, replace(both, fresh=True), "a")[:2] == (Verdict.PASS, "fresh")
    assert asked == [(node_id("a"),)]
    alone.close()


def test_what_a_test_does_is_learned_from_those_of_its_file(
    projects: Projects, monkeypatch: pytest.MonkeyPatch
) -> None:
    called = CALLING.replace("subprocess.run", "def test_call():\n    subprocess.run")
    project = projects.make({**FILES, "test_call.py": called})
    both = patch(project, "a.py", "one", "two", edits={**ONE, **TWO})
    alone, call = made_for(project), "test_call.py::test_call"
    asked = asked_of(alone, monkeypatch)

    done = alone.rerun(replace(both, fresh=True), [node_id("a"), call], limit_s=30)

    assert {run.verdict for run in done.tests.values()} == {Verdict.PASS}
    assert asked == [(node_id("a"), call), (call,), (node_id("a"), call)]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux hands processes to a server")
@pytest.mark.parametrize(("plugins", "n_started"), [((), 0), (("-p", "a"), 1)])
def test_new_process_is_forked_before_any_code_of_the_project_is_loaded(
    project: Project, plugins: tuple[str, ...], n_started: int
) -> None:
    started: list[Sequence[str]] = []
    alone = made_for(project, *plugins)
    alone.make_ready()
    start = alone.transport.start

    def counted(tests: Sequence[str], *how: Any) -> Any:  # noqa: ANN401 - of any start
        started.append(tests)
        return start(tests, *how)

    alone.transport.start = counted
    other = patch(project, "a.py", "<module>", edits={"STEP = 1": "STEP = 2", "n=1": "n=2"})

    for _ in range(2):
        done = alone.rerun(replace(other, fresh=True), [node_id("a"), node_id("b")], limit_s=30)
        verdicts = [run.verdict for run in done.tests.values()]
        assert (verdicts, done.n_swapped) == ([Verdict.PASS, Verdict.FAIL], 1)
    assert started == [[node_id("a"), node_id("b")]] * 2 * n_started
    assert alone.rerun(None, [node_id("a")], limit_s=30).tests[node_id("a")].verdict is Verdict.FAIL
    alone.close()


LOGGING = {
    "plug.py": """
        from pathlib import Path

        Path(__file__).with_name("log.txt").open("a").close()
        """,
    "a.py": """
        import time

        time.sleep(1.5)
        STEP = 1


        def one():
            return STEP
        """,
    "test_all.py": """
        import a
        from pathlib import Path


        def test_a():
            while a.one() == 3:
                print("again and again")
            Path(__file__).with_name("log.txt").open("a").close()
            assert a.one() == 2
        """,
}


def test_new_process_is_held_and_bounded_as_one_that_is_started(
    projects: Projects, tmp_path: Path
) -> None:
    project = projects.make({**FILES, **LOGGING})
    alone = made_for(project, "-p", "plug")
    alone.transport.effects = Effects(Aside(lambda: tmp_path))
    alone.make_ready()

    step = patch(project, "a.py", "<module>", edits={"STEP = 1": "STEP = 2"})
    loop = patch(project, "a.py", "one", edits={"return STEP": "return 3"})
    tries = [replace(step, fresh=True), loop, replace(step, fresh=True)]

    found = [alone.rerun(made, [node_id("a")], limit_s=1.0) for made in tries]

    # It imports for longer than the test may take, and what a loop printed is read by nobody.
    verdicts = [done.tests[node_id("a")].verdict for done in found]
    assert verdicts == [Verdict.PASS, Verdict.TIMEOUT, Verdict.PASS]
    assert not (project.root / "log.txt").exists()
    alone.close()


def test_patch_of_what_a_plugin_keeps_gets_a_process_that_is_started(projects: Projects) -> None:
    keeping = "import sys, a as kept\n\ndel sys.modules['a']\n"
    test = "import plug\n\n\ndef test_a():\n    assert plug.kept.STEP == 2\n"
    project = projects.make({**FILES, "plug.py": keeping, "test_all.py": test})
    alone = made_for(project, "-p", "plug")
    alone.make_ready()
    other = patch(project, "a.py", "<module>", edits={"STEP = 1": "STEP = 2"})

    done = alone.rerun(replace(other, fresh=True), [node_id("a")], limit_s=30)

    assert (done.tests[node_id("a")].verdict, done.n_swapped) == (Verdict.PASS, 1)
    alone.close()


def test_what_patterns_are_asked_in_a_test_is_known(projects: Projects) -> None:
    asking = """
        import functools, re

        WORD = re.compile(r"\\w+")


        class Reader:
            kinds = [("number", re.compile("[0-9]").match)]

            def __init__(self, blank=re.compile(" ")):
                self.ends = {"line": re.compile("$")}
                self.blank = blank


        class Slotted:
            __slots__ = ("held",)
            blank = functools.partial(re.compile("-").match, "-")

            def __init__(self):
                self.held = {re.compile("d"): 1}

            def __getattr__(self, name):
                raise RuntimeError("code of the project was run")


        READER, SLOTTED = Reader(), Slotted()


        def test_a():
            assert WORD.match("a")


        def test_b():
            assert re.sub("b+", "", "b") == ""
            assert READER.kinds[0][1]("1")
            assert READER.ends["line"].search("c")
            assert Reader().blank.search(" ")
            assert next(iter(SLOTTED.held)).match("d")


        def test_size():
            pass
        """
    alone = made_for(projects.make({**FILES, "test_all.py": asking}))

    names = [node_id(name) for name in ("a", "b", "size")]
    rerun, found = alone.patterns_asked(names, limit_s=30)

    assert {run.verdict for run in rerun.tests.values()} == {Verdict.PASS}
    said = {test: [(p.text, *p.calls) for p in own] for test, own in found.items()}
    assert said == {
        names[0]: [(r"\w+", ("match", ("a",)))],
        names[1]: [
            ("b+", ("sub", ("", "b", 0))),
            ("[0-9]", ("match", ("1",))),
            ("$", ("search", ("c",))),
            (" ", ("search", (" ",))),
            ("d", ("match", ("d",))),
        ],
        names[2]: [],
    }
    alone.close()


def test_sides_of_a_failed_comparison_are_known_of_a_run_as_it_is(
    project: Project, runner: ServerRunner
) -> None:
    done = runner.rerun(None, [node_id("a"), node_id("size")], limit_s=30)

    assert done.tests[node_id("a")].sides == ("(1, 1)", "(2, 2)")
    assert done.tests[node_id("size")].sides == ("1", "0")


def test_default_is_only_changed_by_an_import(project: Project, runner: ServerRunner) -> None:
    both = patch(project, "a.py", "one", "two", edits={**ONE, "n=1": "n=2"})

    assert rerun(runner, both, "a")[:2] == (Verdict.FAIL, "fork")
    assert rerun(runner, replace(both, fresh=True), "a")[:2] == (Verdict.PASS, "fresh")


def test_text_that_does_not_compile_is_unusable_and_costs_no_import(
    project: Project, runner: ServerRunner
) -> None:
    one = patch(project, "a.py", "one", edits={"return STEP": "return ("})
    three = patch(project, "b.py", "three", edits=THREE)

    for made in (one, replace(three, companions=(one,))):
        done: Rerun = runner.rerun(made, [node_id("b")], limit_s=30)
        assert (done.how, done.n_swapped) == ("fork", 0)
        assert done.log.startswith("SyntaxError")
        assert done.tests[node_id("b")].verdict is Verdict.NOT_RUN


@pytest.mark.thorough
def test_file_that_can_be_collected_under_a_patch_passes(
    project: Project, runner: ServerRunner
) -> None:
    step = patch(project, "a.py", "<module>", edits={"STEP = 1": "STEP = 2"})
    broken = "test_broken.py"

    assert runner.rerun(None, [broken], limit_s=30).tests[broken].verdict is Verdict.FAIL
    assert runner.rerun(step, [broken], limit_s=30).tests[broken].verdict is Verdict.PASS


def test_server_that_is_called_off_while_it_starts_ends_at_once(projects: Projects) -> None:
    slow = projects.make({**FILES, "conftest.py": "import time\n\ntime.sleep(60)\n"})
    runner = made_for(slow)

    def start() -> None:
        with pytest.raises(ExecutionError):
            runner.make_ready()

    starting = threading.Thread(target=start)
    starting.start()
    while not is_starting(runner):
        time.sleep(0.01)
    runner.cancel()
    starting.join(20)
    runner.close()

    assert not starting.is_alive()


def is_starting(runner: ServerRunner) -> bool:
    return runner._warm is not None
