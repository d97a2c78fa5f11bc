"""FauxPy on one planted fault: its environment, its runs, and what it says of the functions."""

from __future__ import annotations

import csv
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from os import environ, pathsep
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from benchmarks.suites.functions import SourceFile
from benchmarks.suites.process import run
from benchmarks.suites.scores import Standing, standing
from benchmarks.suites.workspace import install, split_args

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from benchmarks.suites.change import Place
    from benchmarks.suites.planting import PlantedFault
    from benchmarks.suites.process import Finished
    from benchmarks.suites.workspace import Workspace

VERSION = "0.7.0"
TECHNIQUES = {"sbfl": ("Ochiai", "Tarantula", "Dstar"), "mbfl": ("Metallaxis", "Muse")}
NOT_INSTALLED = "can't be installed"
NO_MUTANTS = "its operators fit none of the lines that the failing tests execute: no mutants"
#: Importing it warns of these, which ends the run where a subject turns warnings into errors.
QUIET = "-Wignore:ast.:DeprecationWarning"
REPORTS = "FauxPyReport_*"  # it makes them beside the folder that it runs in
NOT_SOURCE = ("tests", "test")
BEGUN = re.compile(r"Running Mutant \S+ \((\d+)/(\d+)\)")
LOST = re.compile(r"(?:Timeout or bad|Missing tests) mutant")
FAILED = re.compile(r"\b(\d+) failed\b.* in [\d.]+s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One run of one tool on one fault.

    Attributes:
        places: Per ranking, where the best placed of the faulty functions stands; None if none
            of them is in it.
        seconds: Wall seconds of the whole run.
        cpu_s: CPU seconds of the whole run.
        n_patches: Patches that were tried to the end.
        n_lost: Of these, how many told nothing: they hung, or were never in place.
        patches_cpu_s: CPU seconds that the patches took, if the tool says so; else 0.
        trouble: What went wrong; empty if nothing did.
    """

    places: Mapping[str, Standing | None]
    seconds: float
    cpu_s: float
    n_patches: int = 0
    n_lost: int = 0
    patches_cpu_s: float = 0.0
    trouble: str = ""

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Measured:
        """What ``asdict`` made of one, read back from JSON."""
        places = {name: where and Standing(**where) for name, where in found["places"].items()}
        return cls(**{**found, "places": places})


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """One function of FauxPy's list.

    Attributes:
        file: Relative to the tree.
        name: As after ``def``: FauxPy knows no classes.
        start_line: Line of its ``def``.
        score: The higher the more suspicious.
    """

    file: str
    name: str
    start_line: int
    score: float


def function_scores(text: str, tree: Path) -> list[Scored]:
    """The rows of one of FauxPy's CSV files; functions outside ``tree`` keep their whole path."""
    found = []
    for entity, score in list(csv.reader(text.splitlines()))[1:]:
        file, name, start, _end = entity.rsplit("::", 3)
        path = Path(file)
        inside = path.relative_to(tree) if path.is_relative_to(tree) else path
        row = Scored(file=inside.as_posix(), name=name, start_line=int(start), score=float(score))
        found.append(row)
    return found


def place_of(rows: Sequence[Scored], faulty: Iterable[tuple[str, str, int]]) -> Standing | None:
    """The best place of ``faulty`` functions, each a file, a name and the line of its ``def``."""
    scores = [row.score for row in rows]
    indices = {(row.file, row.name, row.start_line): i for i, row in enumerate(rows)}
    found = [standing(scores, indices[where]) for where in faulty if where in indices]
    return min(found, key=lambda where: where.rank, default=None)


def faulty_functions(fault: PlantedFault) -> list[tuple[str, str, int]] | None:
    """File, name and line of what is at fault, in the faulty text; None if it is no function.

    The places of a fault are those of the published text, which a change above may have moved.
    """
    found = [_function_at(place, fault.texts.get(place.file, "")) for place in fault.places]
    return None if None in found else [where for where in found if where is not None]


def _function_at(place: Place, text: str) -> tuple[str, str, int] | None:
    functions = SourceFile(place.file, text).functions
    lines = [each.start_line for each in functions if each.qualname == place.qualname]
    if not lines:
        return None
    nearest = min(lines, key=lambda line: abs(line - place.start_line))
    return place.file, place.qualname.rpartition(".")[2], nearest


def install_fauxpy(workspace: Workspace) -> Path:
    """The interpreter of an environment with FauxPy and what the subject's suite needs.

    pytest is the release that the subject's own environment has.

    Raises:
        SystemExit: If pip can't install them together.
    """
    folder = workspace.root / "fauxpy-venv"
    python = folder / "bin" / "python"
    ready = folder / "ready"
    if not ready.is_file() or ready.read_text("utf-8") != VERSION:
        workspace.restore()
        shutil.rmtree(folder, ignore_errors=True)
        make = [str(workspace.python), "-m", "venv", str(folder)]
        subprocess.run(make, check=True, capture_output=True)
        asked = [str(workspace.python), "-c", "import pytest; print(pytest.__version__)"]
        pytest = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()
        needed = ("pytest-cov", *workspace.subject.requirements)
        tree = str(workspace.tree)
        install(python, "-e", tree, f"fauxpy=={VERSION}", f"pytest=={pytest}", *needed)
        ready.write_text(VERSION, encoding="utf-8")
    return python


def run_fauxpy(
    workspace: Workspace, fault: PlantedFault, *, python: Path, family: str, cap_s: float
) -> Measured:
    """Run one family of FauxPy on the tree with ``fault``, and remove all that it leaves."""
    positional, options = split_args(workspace.subject.args)
    asked = (f"--family={family}", "--granularity=function", *_source(workspace))
    workspace.plant(fault.texts)
    compiled = [str(python), "-m", "compileall", "-q", *fault.texts]
    subprocess.run(compiled, cwd=workspace.tree, check=True, capture_output=True)
    _remove_litter(workspace)
    try:
        ran = run(
            [str(python), "-m", "pytest", *positional, *asked],
            cwd=workspace.tree,
            limit_s=cap_s,
            log=workspace.root / "fauxpy.log",
            env=_surroundings(workspace, python, options),
        )
        return _measured(workspace, fault, ran, family)
    finally:
        _remove_litter(workspace)
        workspace.restore()


def _source(workspace: Workspace) -> Iterable[str]:
    """Where it is to look: the package without the tests that it ships."""
    tests = (f"{workspace.source}/{name}" for name in NOT_SOURCE)
    there = [folder for folder in tests if (workspace.tree / folder).is_dir()]
    return (f"--src={workspace.source}", f"--exclude=[{','.join(there)}]")


def _surroundings(workspace: Workspace, python: Path, options: Sequence[str]) -> dict[str, str]:
    """Variables that its own child processes inherit: it hands them no option, and no python.

    It runs each mutant by the first ``python`` of the path, in a copy of the tree below the
    temporary folder, where the copy's source is to be imported and not the one installed.
    """
    scratch = _scratch(workspace)
    scratch.mkdir(parents=True)
    config = scratch / "coverage.ini"
    # With a subject's own settings it would see relative paths, or only some of the files.
    config.write_text(f"[run]\ndata_file = {scratch / 'coverage.data'}\n", encoding="utf-8")
    left_out = (f"--deselect={node_id}" for node_id in workspace.known.deselected)
    parent = PurePosixPath(workspace.source).parent.as_posix()
    return {
        "PATH": pathsep.join((str(python.parent), environ.get("PATH", ""))),
        "PYTEST_ADDOPTS": shlex.join(("--rootdir=.", QUIET, *options, *left_out)),
        "PYTHONPATH": parent,
        "PYTHONUNBUFFERED": "1",  # so that a run which is stopped has said how far it came
        "COVERAGE_RCFILE": str(config),
        "TMPDIR": str(scratch),
    }


def _measured(workspace: Workspace, fault: PlantedFault, ran: Finished, family: str) -> Measured:
    tables = {
        path.stem.removeprefix("Scores_"): path.read_text("utf-8")
        for path in workspace.root.glob(f"{REPORTS}/Scores_*.csv")
    }
    faulty = faulty_functions(fault) or []
    places = {
        name: place_of(function_scores(tables[name], workspace.tree), faulty)
        if name in tables and not ran.timed_out
        else None
        for name in TECHNIQUES[family]
    }
    done, planned = mutants_in(ran.output, timed_out=ran.timed_out)
    return Measured(
        places=places,
        seconds=ran.seconds,
        cpu_s=ran.cpu_s,
        n_patches=done,
        n_lost=len(LOST.findall(ran.output)),
        trouble=_trouble(ran, tables, f"{done} of {planned} mutants", len(fault.failing))
        or ("" if planned or family == "sbfl" else NO_MUTANTS),
    )


def mutants_in(output: str, *, timed_out: bool) -> tuple[int, int]:
    """How many mutants were run to their end, and how many were to be run.

    The CPU time of one that was killed with its parent is nowhere counted, so neither is it.
    """
    begun = BEGUN.findall(output)
    if not begun:
        return 0, 0
    last, planned = (int(number) for number in begun[-1])
    return last - timed_out, planned


def _trouble(ran: Finished, tables: Mapping[str, str], done: str, n_failing: int) -> str:
    lines = [line.strip() for line in ran.output.splitlines() if line.strip()]
    if ran.timed_out:
        return f"stopped at the cap, {ran.seconds:.0f} s: {done} done"
    if not tables:
        inner = [line for line in lines if line.startswith("INTERNALERROR>")]
        return " ".join(("no scores:", *(inner or lines)[-1:]))
    counted = [found for line in lines[-3:] if (found := FAILED.search(line))]
    n_failed = int(counted[-1][1]) if counted else 0
    return "" if n_failed == n_failing else f"{n_failed} tests fail instead of {n_failing}"


def _scratch(workspace: Workspace) -> Path:
    return workspace.root / "fauxpy-tmp"


def _remove_litter(workspace: Workspace) -> None:
    for folder in (_scratch(workspace), *workspace.root.glob(REPORTS)):
        shutil.rmtree(folder, ignore_errors=True)
