"""A subject made ready: its sources, a git tree, an environment, and what its suite does."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tarfile
import tempfile
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.suites.process import Finished, run

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from benchmarks.suites.subjects import Subject

CHECKOUT = Path(__file__).resolve().parents[2]
PROBE = Path(__file__).resolve().parent / "probe"
BASE = "real-suites-base"
IGNORED = ("__pycache__/", "*.pyc", "*.egg-info/", ".hypothesis/", ".coverage*", "build/")
OF_A_RUN = (".pytest_cache", ".bayesloc", ".hypothesis")
FIRST_LIMIT_S = 300.0
#: Options of pytest whose value is the next word.
WITH_VALUE = {"-o", "-p", "-W", "-c", "-k", "-m"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcomes:
    """One run of the suite.

    Attributes:
        finished: The process.
        passed: Node ids that passed.
        failed: Node ids that failed in any phase.
        uncollected: Files that could not be collected, or everything if the run said nothing.
    """

    finished: Finished
    passed: frozenset[str]
    failed: frozenset[str]
    uncollected: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """What the suite does without any fault.

    Attributes:
        passing: Node ids that passed each time.
        deselected: Node ids that are left out of every later run.
        executed: Per file of the source, the lines that some test executed.
        seconds: Wall seconds of a run without what was left out.
        cpu_s: CPU seconds of it.
    """

    passing: tuple[str, ...]
    deselected: tuple[str, ...]
    executed: Mapping[str, tuple[int, ...]]
    seconds: float
    cpu_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """Where one subject lives under one Python.

    Attributes:
        subject: The release.
        root: Folder of everything below.
        tree: The subject's files, a git repository of one commit and at most one fault.
        python: Interpreter of its environment.
        source: The package's folder, relative to ``tree``.
        baseline: None until it was measured.
    """

    subject: Subject
    root: Path
    tree: Path
    python: Path
    source: str
    baseline: Baseline | None = None

    @property
    def known(self) -> Baseline:
        """The baseline, which must have been measured."""
        if self.baseline is None:
            raise RuntimeError(f"{self.subject} has no baseline yet: measure it first.")
        return self.baseline

    def pytest(self, *options: str, tests: Sequence[str] | None = None) -> list[str]:
        """The command line of the suite, or of some of its tests, with ``options``."""
        out = self.baseline.deselected if self.baseline else self.subject.deselect
        args = [f"--deselect={node_id}" for node_id in out]
        if tests is not None:
            chosen = self.root / "chosen.txt"
            chosen.write_text("\n".join(tests), encoding="utf-8")
            args = [f"@{chosen}", *split_args(self.subject.args)[1]]
        else:
            args = [*self.subject.args, *args]
        return [str(self.python), "-m", "pytest", f"--rootdir={self.tree}", *options, *args]

    def git(self, *args: str) -> str:
        """Output of a git command in the tree, independent of whose machine it is."""
        mine = ("user.name=benchmark", "user.email=benchmark@localhost", "core.autocrlf=false")
        plain = ("commit.gpgsign=false", "core.hooksPath=/dev/null", "core.safecrlf=false")
        config = [word for setting in (*mine, *plain) for word in ("-c", setting)]
        done = subprocess.run(
            ["git", *config, *args], cwd=self.tree, check=True, capture_output=True, text=True
        )
        return done.stdout

    def changes(self) -> str:
        """What ``git status`` says: empty for a clean tree."""
        return self.git("status", "--porcelain").strip()

    def state(self) -> dict[str, tuple[int, str]]:
        """The mode and a digest of all in the tree and its home folder but what a run leaves."""
        left = {*OF_A_RUN, ".git", "__pycache__"}
        found = {}
        for folder in (self.tree, self.home):
            for path in folder.rglob("*"):
                if left.isdisjoint(path.relative_to(folder).parts):
                    data = path.read_bytes() if path.is_file() else b""
                    digest = hashlib.sha256(data).hexdigest()[:16]
                    found[path.relative_to(self.root).as_posix()] = (path.lstat().st_mode, digest)
        return found

    @property
    def home(self) -> Path:
        """The home folder of its runs."""
        return self.root / "home"

    def restore(self) -> None:
        """The tree as published, with nothing that an earlier run left."""
        self.git("checkout", "-q", "-f", BASE)
        self.git("clean", "-fdq")
        for name in OF_A_RUN:
            shutil.rmtree(self.tree / name, ignore_errors=True)

    def plant(self, texts: Mapping[str, str]) -> None:
        """Commit new texts of files on top of the published tree."""
        self.restore()
        for file, text in texts.items():
            self.write(file, text)
        self.git("commit", "-qam", f"Change {', '.join(texts)}", "--allow-empty")

    def write(self, file: str, text: str) -> None:
        """Write a source file; bytecode of its old text is dropped, the clock may not tell it."""
        path = self.tree / file
        path.write_bytes(text.encode("utf-8"))
        for stale in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
            stale.unlink()

    def outcomes(
        self, *options: str, limit_s: float, tests: Sequence[str] | None = None
    ) -> Outcomes:
        """Run the suite as it stands, or some of its tests, without the plugin."""
        to = self.root / "outcomes.json"
        to.unlink(missing_ok=True)
        finished = run(
            self.pytest(
                "-p", "no:bayesloc", "-p", "real_suites_outcomes", "-q", *options, tests=tests
            ),
            cwd=self.tree,
            limit_s=limit_s,
            log=self.root / "suite.log",
            env={
                "PYTHONPATH": str(PROBE),
                "REAL_SUITES_OUTCOMES": str(to),
                "COVERAGE_FILE": str(self.root / "coverage.data"),
            },
        )
        found = json.loads(to.read_text("utf-8")) if to.is_file() else {}
        ends: dict[str, str] = found.get("outcomes", {})
        return Outcomes(
            finished=finished,
            passed=frozenset(node_id for node_id, end in ends.items() if end == "passed"),
            failed=frozenset(node_id for node_id, end in ends.items() if end == "failed"),
            uncollected=tuple(found.get("uncollected", ("everything",))),
        )


def split_args(args: Iterable[str]) -> tuple[list[str], list[str]]:
    """What pytest is to run, and its options with their values."""
    positional: list[str] = []
    options: list[str] = []
    for arg in args:
        is_value = bool(options) and options[-1] in WITH_VALUE
        (options if is_value or arg.startswith("-") else positional).append(arg)
    return positional, options


def prepare(subject: Subject, *, work: Path, python: Path) -> Workspace:
    """The workspace of ``subject``, made where it is not there yet."""
    version = _output([str(python), "-c", "import sys; print('%d.%d' % sys.version_info[:2])"])
    root = work / f"{subject.name}-{subject.version}" / version
    tree = root / "tree"
    venv = root / "venv" / "bin" / "python"
    ready = root / "ready"
    if not ready.exists():
        shutil.rmtree(root, ignore_errors=True)
        root.mkdir(parents=True)
        shutil.copytree(unpacked(subject.name, subject.version, work=work, python=python), tree)
        _output([str(python), "-m", "venv", str(root / "venv")])
        install(venv, "-e", str(tree), "pytest", "pytest-cov", *subject.requirements)
    source = package_folder(tree, subject.import_name).relative_to(tree).as_posix()
    workspace = Workspace(subject=subject, root=root, tree=tree, python=venv, source=source)
    if not ready.exists():
        _keep_as_published(workspace)
        ready.touch()
    workspace.restore()
    return replace(workspace, baseline=_baseline(workspace))


def sources_alone(subject: Subject, *, work: Path, python: Path) -> Workspace:
    """A workspace that can be read and changed, and runs nothing; made anew each time."""
    root = work / "sources" / f"{subject.name}-{subject.version}"
    tree = root / "tree"
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(unpacked(subject.name, subject.version, work=work, python=python), tree)
    source = package_folder(tree, subject.import_name).relative_to(tree).as_posix()
    workspace = Workspace(subject=subject, root=root, tree=tree, python=python, source=source)
    _keep_as_published(workspace)
    return workspace


def _keep_as_published(workspace: Workspace) -> None:
    """Make the tree a repository of one commit."""
    workspace.git("init", "-q")
    exclude = workspace.tree / ".git" / "info" / "exclude"
    exclude.write_text("\n".join((*IGNORED, "")), encoding="utf-8")
    workspace.git("add", "-A")
    workspace.git("commit", "-qm", f"{workspace.subject} as published")
    workspace.git("tag", BASE)


def unpacked(name: str, version: str, *, work: Path, python: Path) -> Path:
    """Folder of the unpacked source distribution, downloaded by pip once."""
    folder = work / "sdists" / f"{name}-{version}"
    if not folder.exists():
        with tempfile.TemporaryDirectory(dir=_made(work / "sdists")) as scratch:
            _fetched(name, version, to=Path(scratch), python=python).replace(folder)
    return folder


def _fetched(name: str, version: str, *, to: Path, python: Path) -> Path:
    """The unpacked distribution, also where pip fetched it but then can't build its metadata.

    An old release often can't be built on a new Python, but only its text is wanted.
    """
    pip = [str(python), "-m", "pip", "download", "--no-clean", "--no-deps", "--no-binary", name]
    done = subprocess.run(
        [*pip, "-d", str(to / "archive"), f"{name}=={version}"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "TMPDIR": str(to)},
    )
    archives = list((to / "archive").glob("*"))
    if archives:
        _extract(archives[0], to / "unpacked")
        return next((to / "unpacked").iterdir())
    for unbuilt in to.glob("pip-download-*/*/PKG-INFO"):
        return unbuilt.parent
    raise SystemExit(f"pip can't download {name}=={version}:\n{done.stderr[-1500:]}")


def package_folder(tree: Path, import_name: str) -> Path:
    """Where the package's source is in an unpacked distribution.

    Raises:
        SystemExit: If it is in none of the usual places.
    """
    for parent in (tree / "src", tree, tree / "lib"):
        if (parent / import_name / "__init__.py").is_file():
            return parent / import_name
    raise SystemExit(f"No package {import_name!r} in {tree}: looked in it, in src/ and in lib/.")


def install(python: Path, *what: str) -> None:
    """Install distributions into the environment of ``python``."""
    _output([str(python), "-m", "pip", "install", "-q", *what])


def _baseline(workspace: Workspace) -> Baseline:
    """Measured once: two runs that agree on what passes, then one for the executed lines."""
    saved = workspace.root / "baseline.json"
    if saved.is_file():
        found: dict[str, Any] = json.loads(saved.read_text("utf-8"))
        lines = {file: tuple(rows) for file, rows in found.pop("executed").items()}
        lists = {name: tuple(found[name]) for name in ("passing", "deselected")}
        return Baseline(**{**found, **lists, "executed": lines})
    baseline = _settled(workspace)
    workspace.restore()
    baseline = replace(baseline, executed=_executed(replace(workspace, baseline=baseline)))
    _ignore_own_litter(workspace)
    write_json(saved, asdict(baseline))
    return baseline


def _settled(workspace: Workspace) -> Baseline:
    """What passes in two runs without a failure; what ever failed is left out.

    A test whose id is another in each run (it has a date in it) stays in the suite, but is not
    among those that pass: a fault that it notices is dropped.
    """
    out = workspace.subject.deselect
    green: list[Outcomes] = []
    for _ in range(5):
        blank = Baseline(passing=(), deselected=out, executed={}, seconds=0, cpu_s=0)
        ran = replace(workspace, baseline=blank).outcomes(limit_s=FIRST_LIMIT_S)
        if ran.uncollected or not ran.passed:
            tail = ran.finished.output[-1500:]
            raise SystemExit(f"The suite of {workspace.subject} does not run here:\n{tail}")
        out = (*out, *sorted(ran.failed))
        green = [] if ran.failed else [*green, ran]
        if len(green) == 2:
            return replace(
                blank,
                passing=tuple(sorted(green[0].passed & green[1].passed)),
                seconds=min(each.finished.seconds for each in green),
                cpu_s=min(each.finished.cpu_s for each in green),
            )
    raise SystemExit(f"The suite of {workspace.subject} never passed twice in a row.")


def _executed(workspace: Workspace) -> dict[str, tuple[int, ...]]:
    """Lines that some test executed; empty if coverage could not be had."""
    report = workspace.root / "coverage.json"
    source = workspace.tree / workspace.source
    limit_s = 10 * workspace.known.seconds + 60
    workspace.outcomes(f"--cov={source}", f"--cov-report=json:{report}", limit_s=limit_s)
    if not report.is_file():
        return {}
    files: dict[str, dict[str, Any]] = json.loads(report.read_text("utf-8"))["files"]
    report.unlink()
    return {file: tuple(found["executed_lines"]) for file, found in files.items()}


def _ignore_own_litter(workspace: Workspace) -> None:
    """Files that the suite itself leaves in its tree don't count against the plugin."""
    litter = [line[3:].strip('"') for line in workspace.changes().splitlines() if line[:2] == "??"]
    with (workspace.tree / ".git" / "info" / "exclude").open("a", encoding="utf-8") as exclude:
        exclude.writelines(f"/{name}\n" for name in litter)


def _extract(archive: Path, to: Path) -> None:
    with tarfile.open(archive) as packed:
        if hasattr(tarfile, "data_filter"):  # not in the first patch releases of 3.10 and 3.11
            packed.extractall(to, filter="data")
        else:
            packed.extractall(to)


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _output(argv: Sequence[str]) -> str:
    """Standard output of a command that must succeed."""
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode:
        said = "\n".join((done.stdout + done.stderr).splitlines()[-15:])
        raise SystemExit(f"{' '.join(argv)} ended with {done.returncode}:\n{said}")
    return done.stdout.strip()


def write_json(path: Path, value: object) -> None:
    """Write ``value`` so that an interruption leaves the old file or the new one."""
    draft = path.with_name(f"{path.name}.new")
    draft.write_text(json.dumps(value, indent=1), encoding="utf-8")
    draft.replace(path)
