"""Small projects on disk, and runs of pytest in them: each in a process of its own.

Lean runs are forked from one that has imported pytest, except where tests say that they are not.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from tests.integration.fork_server import ForkServer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

SCHEMA = Path(__file__).resolve().parents[2] / "docs" / "bayesloc-1.schema.json"
# Made once: to check the schema itself takes far longer than to hold a result against it.
VALIDATOR = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))
INI_FILES = ("pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")
# Half a second a run; tests about life beside these plugins load them.
LEAN = tuple(
    f"-pno:{name}" for name in ("hypothesispytest", "xdist", "xdist.looponfail", "pytest_cov")
)
PYTEST = ("-m", "pytest")
NO_MEMORY = "--bayesloc-memory=off"
#: Of a run that hangs: far above what any takes, a small language model on a busy machine too.
LIMIT_S = 300.0


@dataclass(frozen=True)
class Run:
    """One finished run of pytest."""

    ret: int
    stdout: str
    stderr: str
    document: dict[str, Any] = field(default_factory=dict)

    @property
    def output(self) -> str:
        return self.stdout + self.stderr

    @property
    def section(self) -> list[str]:
        """The lines of our section in the terminal."""
        lines = self.stdout.splitlines()
        start = next((i for i, line in enumerate(lines) if re.match(r"=+ bayesloc =+", line)), -1)
        if start < 0:
            return []
        rest = lines[start + 1 :]
        end = next((i for i, line in enumerate(rest) if line.startswith("====")), len(rest))
        return rest[:end]

    @property
    def outcomes(self) -> dict[str, int]:
        """The counts of pytest's last line."""
        counts = re.findall(r"(\d+) (passed|failed|skipped|xfailed|errors?)", self.stdout)
        return {what.rstrip("s") if what == "errors" else what: int(n) for n, what in counts}

    @property
    def faults(self) -> list[dict[str, Any]]:
        faults: list[dict[str, Any]] = self.document["faults"]
        return faults

    @property
    def inspections(self) -> list[dict[str, Any]]:
        inspections: list[dict[str, Any]] = self.document["inspections"]
        return inspections

    @property
    def failing(self) -> set[str]:
        """Node ids of the tests that are taken as failed."""
        return {node_id for fault in self.faults for node_id in fault["failing_tests"]}

    def names(self, fault: int | None = None) -> list[str]:
        """Files and names of the suspects, best first."""
        ranking = self.document["ranking"] if fault is None else self.faults[fault]["ranking"]
        return [f"{row['file']} {row['qualname']}" for row in ranking]

    def row(self, qualname: str) -> dict[str, Any]:
        """The row of the suspect of that name."""
        rows: list[dict[str, Any]] = self.document["ranking"]
        return next(row for row in rows if row["qualname"] == qualname)


class Project:
    """A project on disk.

    Attributes:
        lean_memory: Whether its lean runs are without a memory.
        forks: Starts its lean runs, if any does.
    """

    lean_memory = False
    forks: ForkServer | None = None

    def __init__(self, root: Path) -> None:
        self.root = root

    def write(self, files: Mapping[str, str]) -> Project:
        """Add files, given by path with indented text.

        Python takes byte code for current if the source has its size and its second of change,
        so an edit of one letter within that second would not be run.
        """
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(dedent(text).lstrip("\n"), encoding="utf-8")
            for compiled in path.parent.glob(f"__pycache__/{path.stem}.*.pyc"):
                compiled.unlink(missing_ok=True)
        return self

    def read(self, name: str) -> str:
        """The text of a file."""
        return (self.root / name).read_text(encoding="utf-8")

    def command(self, *args: str, python: Sequence[str] = PYTEST) -> list[str]:
        """The command line of a lean run."""
        return [sys.executable, *python, *self._lean_options(), *args]

    def run(
        self,
        *args: str,
        python: Sequence[str] = PYTEST,
        lean: bool = True,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> Run:
        """What came of ``python -m pytest ARGS`` in the project."""
        args = (*(self._lean_options() if lean else ()), *args)
        cwd = cwd or self.root
        environment = {**self.environment(), **(env or {})}
        if lean and python == PYTEST and self.forks and self.forks.can_start(env or {}):
            done = self.forks.run(args, cwd=cwd, environment=environment, limit_s=LIMIT_S)
        else:
            done = subprocess.run(
                [sys.executable, *python, *args],
                cwd=cwd,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=LIMIT_S,
                check=False,
            )
        return Run(done.returncode, done.stdout, done.stderr)

    def localize(
        self,
        *args: str,
        lean: bool = True,
        env: Mapping[str, str] | None = None,
        python: Sequence[str] = PYTEST,
    ) -> Run:
        """The same with its JSON result, which is held against the schema."""
        path = self.root.parent / f"{self.root.name}.json"
        path.unlink(missing_ok=True)
        report = f"--bayesloc-report=json:{path}"
        run = self.run("-q", "--tb=no", report, *args, lean=lean, env=env, python=python)
        assert path.exists(), run.output
        return Run(run.ret, run.stdout, run.stderr, self.result(path))

    def _lean_options(self) -> tuple[str, ...]:
        return (*LEAN, NO_MEMORY) if self.lean_memory else LEAN

    @staticmethod
    def environment() -> dict[str, str]:
        """The environment without what was meant for the run of these tests.

        pytest and Hypothesis keep other files where they see a CI or tox.
        """
        ours = ("PYTEST_", "COV_", "COVERAGE_", "PYTHONWARN", "PYTHONDONT")
        of_ci = ("CI", "BUILD", "GITHUB_", "GITLAB_", "TF_BUILD", "TEAMCITY", "TOX_", "__TOX")
        return {k: v for k, v in os.environ.items() if not k.startswith((*ours, *of_ci))}

    @staticmethod
    def result(path: Path) -> dict[str, Any]:
        """A JSON result, which conforms to the schema."""
        document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        VALIDATOR.validate(document)
        return document


def asserting(imports: str, **tests: str) -> str:
    """The text of a module of tests, each given by its statements, or by all that it asserts."""
    bodies = {name: what if "; " in what else f"assert {what}" for name, what in tests.items()}
    texts = (f"def test_{name}():\n    {what}\n" for name, what in bodies.items())
    return "\n\n".join([f"{imports}\n", *texts]).replace("; ", "\n    ")


#: A wrong entry of a table, and a wrong attribute of a class.
UNITS = {
    "units.py": """
        FACTORS = {"m": 1, "km": 100}


        class Scale:
            top = 9

            def clip(self, value):
                return min(value, self.top)


        def to_metres(value, unit):
            return value * FACTORS[unit]
        """,
    "test_units.py": asserting(
        "from units import Scale, to_metres",
        m='to_metres(2, "m") == 2',
        km='to_metres(2, "km") == 2000',
        clip="Scale().clip(12) == 10",
        clip_small="Scale().clip(3) == 3",
    ),
}
#: ``add`` is wrong; ``total`` calls it, ``mul`` and ``half`` are innocent.
BUGGY = {
    "calc.py": """
        def add(a, b):
            return a - b


        def mul(a, b):
            return a * b


        def half(a):
            return a / 2


        def total(prices):
            net = 0
            for price in prices:
                net = add(net, price)
            return net
        """,
    "test_calc.py": """
        from calc import add, half, mul, total


        def test_add():
            assert add(1, 2) == 3


        def test_add_zero():
            for n in (1, 2, 3, 4):
                assert add(n, 0) == n


        def test_mul():
            assert mul(2, 3) == 6


        def test_half():
            assert half(mul(4, 2)) == 4


        def test_total():
            assert total([1, 2]) == 3


        def test_total_of_nothing():
            assert total([]) == 0
        """,
}


class Projects:
    """Makes projects, each in a folder of its own."""

    def __init__(self, folders: pytest.TempPathFactory) -> None:
        self._folders = folders

    def make(self, files: Mapping[str, str]) -> Project:
        """A project of the given files."""
        project = Project(self._folders.mktemp("case") / "project")
        project.root.mkdir()
        if not any(name in files for name in INI_FILES):
            project.write({"pytest.ini": "[pytest]\n"})
        return project.write(files)

    def copy_of(self, project: Project) -> Project:
        """A project with all its files, and with what was kept of its runs."""
        copy = self.make({})
        shutil.copytree(project.root, copy.root, dirs_exist_ok=True)
        return copy

    def buggy(self, files: Mapping[str, str] | None = None) -> Project:
        """The project with the fault in ``calc.add``, with more or other files."""
        return self.make({**BUGGY, **(files or {})})


@pytest.fixture(scope="session")
def projects(tmp_path_factory: pytest.TempPathFactory) -> Projects:
    """Makes projects."""
    return Projects(tmp_path_factory)


@pytest.fixture(scope="session", autouse=True)
def forks() -> Iterator[None]:
    """An eighth of a second less for each lean run, and a third if it has a memory."""
    server = ForkServer(Project.environment())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Project, "forks", server)
        yield
    server.close()


@pytest.fixture(scope="module", autouse=True)
def lean_memory(request: pytest.FixtureRequest, forks: None) -> Iterator[None]:
    """A quarter of a second less for each red run of a module that says ``FORGETFUL = True``.

    One that says ``FRESH = True`` has each run in a Python of its own.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Project, "lean_memory", getattr(request.module, "FORGETFUL", False))
        if getattr(request.module, "FRESH", False):
            patch.setattr(Project, "forks", None)
        yield


@pytest.fixture
def buggy_project(projects: Projects) -> Project:
    """Two tests fail since ``calc.add`` subtracts; four pass."""
    return projects.buggy()


@pytest.fixture(scope="session")
def shared_buggy_project(projects: Projects) -> Project:
    """The same for tests that add nothing to it."""
    return projects.buggy()


@pytest.fixture
def green_project(projects: Projects) -> Project:
    """One test, which passes."""
    files = {
        "calc.py": "def one():\n    return 1\n",
        "test_calc.py": asserting("from calc import one", one="one() == 1"),
    }
    return projects.make(files)
