"""One repository's files at a commit, and how its tests end there."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.suites.process import run

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

PROBE = Path(__file__).resolve().parent / "probe"
LIMIT_S = 90.0
#: Of a project's configuration: what measures, runs in parallel or turns warnings into errors.
PLAIN = ("-q", "-p", "no:cacheprovider", "-o", "addopts=", "-o", "filterwarnings=default")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ends:
    """How tests ended in one run.

    Attributes:
        passed: Node ids.
        failed: The first line of the error, per node id.
        uncollected: Per file that could not be collected, the end of its error.
        cpu_s: CPU seconds of the run.
    """

    passed: frozenset[str]
    failed: Mapping[str, str]
    uncollected: Mapping[str, str]
    cpu_s: float


class Checkout:
    """A work tree of a clone, of which any commit can be laid out.

    Args:
        clone: Its git directory.
        folder: Where the tree is made; what is there is kept if it is one already.
        python: Interpreter of the environment that holds all requirements.
    """

    def __init__(self, clone: Path, folder: Path, python: Path) -> None:
        self.tree = folder / "tree"
        self._folder, self._python = folder, python
        if not (self.tree / ".git").is_dir():
            shutil.rmtree(self.tree, ignore_errors=True)
            folder.mkdir(parents=True, exist_ok=True)
            _output("git", "clone", "-q", "--shared", "-n", str(clone), str(self.tree))

    def git(self, *args: str) -> str:
        """Output of a git command in the tree."""
        return _output("git", "-C", str(self.tree), "-c", "core.hooksPath=/dev/null", *args)

    def text(self, commit: str, file: str) -> str:
        """A file's text at ``commit``."""
        return self.git("show", f"{commit}:{file}")

    def lay_out(self, commit: str) -> None:
        """Make the tree that of ``commit``, with what a build would have added."""
        self._forget_compiled()
        self.git("checkout", "-q", "-f", "--detach", commit)
        self.git("clean", "-fdxq")
        for folder in packages(self.tree):
            installed = self._site / folder.name
            if installed.is_dir():
                _complete(folder, installed)

    def write(self, texts: Mapping[str, str]) -> None:
        """Write files of the tree."""
        self._forget_compiled()
        for file, text in texts.items():
            (self.tree / file).write_bytes(text.encode("utf-8", "surrogateescape"))

    def _forget_compiled(self) -> None:
        """Forget the byte code of the tree: only seconds and size tell whether it is of a file."""
        tree = self.tree.absolute()
        own = self._bytecode / tree.relative_to(tree.anchor)
        shutil.rmtree(own, ignore_errors=True)

    def commit_afresh(self) -> None:
        """Make what is there a commit without a parent: nothing is known of what was before."""
        self.git("add", "-A")
        tree = self.git("write-tree").strip()
        mine = ("-c", "user.name=benchmark", "-c", "user.email=benchmark@localhost")
        commit = self.git(*mine, "commit-tree", tree, "-m", "As it is").strip()
        self.git("checkout", "-q", "--detach", commit)

    def run_tests(self, tests: Sequence[str], *, limit_s: float = LIMIT_S) -> Ends:
        """Run files or single tests without the plugin."""
        to = self._folder / "outcomes.json"
        to.unlink(missing_ok=True)
        chosen = self._folder / "chosen.txt"
        chosen.write_text("\n".join(tests), encoding="utf-8")
        ran = run(
            self.pytest("-p", "no:bayesloc", "-p", "bugs_outcomes", f"@{chosen}"),
            cwd=self.tree,
            limit_s=limit_s,
            log=self._folder / "suite.log",
            env=self.environment(PROBE) | {"BUGS_OUTCOMES": str(to)},
        )
        found = json.loads(to.read_text("utf-8")) if to.is_file() else {}
        ends: dict[str, str] = found.get("ends", {})
        return Ends(
            passed=frozenset(node_id for node_id, end in ends.items() if end == "passed"),
            failed={n: found["errors"].get(n, "") for n, end in ends.items() if end == "failed"},
            uncollected=found.get("uncollected", {"all": ran.output[-400:]}),
            cpu_s=ran.cpu_s,
        )

    def pytest(self, *options: str) -> list[str]:
        """The command that runs pytest in the tree."""
        return [str(self._python), "-m", "pytest", f"--rootdir={self.tree}", *PLAIN, *options]

    def environment(self, *first: Path) -> dict[str, str]:
        """Variables of a run: the tree's packages hide installed ones of the same name."""
        home = self._folder / "home"
        home.mkdir(exist_ok=True)
        paths = [*first, *(f for f in (self.tree / "src", self.tree / "lib") if f.is_dir())]
        return {
            "PYTHONPATH": ":".join(map(str, [*paths, self.tree])),
            # As people have it, what is imported is compiled once, but not in the tree.
            "PYTHONPYCACHEPREFIX": str(self._bytecode),
            "PYTHONDONTWRITEBYTECODE": "",
            "PYTHONHASHSEED": "0",
            "HOME": str(home),
            "TZ": "UTC",
        }

    @property
    def _bytecode(self) -> Path:
        return self._folder / "bytecode"

    @property
    def _site(self) -> Path:
        return next((self._python.parent.parent / "lib").glob("python*/site-packages"))


def packages(tree: Path) -> list[Path]:
    """The folders of packages at the usual places of a repository."""
    found = []
    for parent in (tree / "src", tree / "lib", tree):
        found += [path.parent for path in parent.glob("*/__init__.py")]
    return found


def _complete(folder: Path, installed: Path) -> None:
    """Add files of the installed package that git lacks: its version, and data that a build makes.

    What is compiled stays out, and so do modules: they may not exist at that commit.
    """
    for path in installed.rglob("*"):
        target = folder / path.relative_to(installed)
        is_version = path.suffix == ".py" and "version" in path.stem
        is_data = path.suffix not in {".py", ".pyc", ".so", ".pyd", ".pyi"}
        if path.is_file() and (is_version or is_data) and not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)


def _output(*argv: str) -> str:
    done = subprocess.run(argv, capture_output=True, check=True)
    return done.stdout.decode("utf-8", "surrogateescape")


def changed_files(status: Iterable[str]) -> dict[str, str]:
    """What ``git --name-status`` says, per file: A, M, D, or R for both names of a rename."""
    found = {}
    for line in status:
        kind, *files = line.split("\t")
        found.update(dict.fromkeys(files, kind[:1]))
    return found
