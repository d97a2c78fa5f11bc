"""One planted fault: the plain run, the run with the plugin, and what the plugin said."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
from dataclasses import asdict, dataclass, field
from math import sqrt
from posixpath import normpath
from typing import TYPE_CHECKING, Any

from benchmarks.suites.process import run
from benchmarks.suites.scores import Standing, standing
from benchmarks.suites.workspace import install, write_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from benchmarks.suites.change import Place
    from benchmarks.suites.planting import PlantedFault
    from benchmarks.suites.process import Finished
    from benchmarks.suites.workspace import Workspace

    Json = Mapping[str, Any]

OURS = re.compile(r"pytest_bayesloc[/\\][\w/\\]+\.py[\"':]")
#: A planted fault is the tree's last commit: what the plugin would learn from git is left out.
COLD = "--bayesloc-without=counterfactual"
RANKINGS = ("posterior", "best group", "prior", "suspiciousness", "ochiai of lines")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One measured fault.

    Attributes:
        fault: Its key.
        subject: The release.
        where: The planted function.
        kind: ``regression``, ``edit``, ``import`` or ``test``.
        how: What was done.
        n_failing: Tests that fail.
        places: Per ranking, where the planted function stands; None if it is not in it.
        refusal: Why no ranking came; empty if one came.
        inspections_cpu_s: CPU seconds of each inspection.
        plain_s: Wall seconds of the plain run.
        seconds: Wall seconds of the run with the plugin.
        plain_cpu_s: CPU seconds of the plain run.
        cpu_s: CPU seconds of the run with the plugin.
        troubles: What must not happen but did.
        fresh_cpu_s: CPU seconds of a fresh ``python -m pytest`` of the tests that the first
            inspection ran; 0 if none was made.
        n_refused: Patched re-runs that would have done something outside.
    """

    fault: str
    subject: str
    where: str
    kind: str
    how: str
    n_failing: int
    places: Mapping[str, Standing | None]
    refusal: str
    inspections_cpu_s: tuple[float, ...]
    plain_s: float
    seconds: float
    plain_cpu_s: float
    cpu_s: float
    troubles: tuple[str, ...] = field(default=())
    fresh_cpu_s: float = 0.0
    n_refused: int = 0

    @property
    def ratio(self) -> float:
        """Wall seconds with the plugin to those without."""
        return self.seconds / self.plain_s


class Rows:
    """Measured rows on disk, by fault and by what they were measured with."""

    def __init__(self, path: Path, setting: str) -> None:
        self._path = path
        self._setting = setting
        self._all: dict[str, dict[str, Any]] = {}
        if path.is_file():
            self._all = json.loads(path.read_text("utf-8"))

    def find(self, fault: PlantedFault) -> Row | None:
        """What was measured of ``fault`` in this setting."""
        found = self._all.get(f"{self._setting} {fault.key}")
        if found is None:
            return None
        places = {name: where and Standing(**where) for name, where in found["places"].items()}
        lists = {name: tuple(found[name]) for name in ("inspections_cpu_s", "troubles")}
        return Row(**{**found, **lists, "places": places})

    def add(self, fault: PlantedFault, row: Row) -> None:
        """Keep ``row``, on disk at once."""
        self._all[f"{self._setting} {fault.key}"] = asdict(row)
        write_json(self._path, self._all)


def install_plugin(workspace: Workspace, checkout: Path) -> str:
    """Install the plugin of ``checkout`` if it changed since; its fingerprint."""
    digest = hashlib.sha256()
    sources = (checkout / "pytest_bayesloc").rglob("*")
    for path in (checkout / "pyproject.toml", *sorted(sources)):
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(path.relative_to(checkout).as_posix().encode() + path.read_bytes())
    fingerprint = digest.hexdigest()[:16]
    installed = workspace.root / "plugin"
    if not installed.is_file() or installed.read_text("utf-8") != fingerprint:
        installed.unlink(missing_ok=True)
        pip = [str(workspace.python), "-m", "pip", "uninstall", "-q", "-y", "pytest-bayesloc"]
        subprocess.run(pip, check=False, capture_output=True)
        install(workspace.python, str(checkout))
        installed.write_text(fingerprint, encoding="utf-8")
    return fingerprint


def measure(
    workspace: Workspace, fault: PlantedFault, *, options: Sequence[str], limit_s: float
) -> Row:
    """Run the suite on the faulty tree without and with the plugin."""
    workspace.plant(fault.texts)
    compiled = [str(workspace.python), "-m", "compileall", "-q", *fault.texts]
    subprocess.run(compiled, cwd=workspace.tree, check=True, capture_output=True)
    report = workspace.root / "report.json"
    report.unlink(missing_ok=True)
    to_report = ("--bayesloc", COLD, f"--bayesloc-report=json:{report}", *options)
    workspace.home.mkdir(exist_ok=True)
    ran, states = [], []
    for name, given in (("plain", ("-p", "no:bayesloc")), ("bayesloc", to_report)):
        log, home = workspace.root / f"{name}.log", {"HOME": str(workspace.home)}
        command = workspace.pytest(*given)
        ran.append(run(command, cwd=workspace.tree, limit_s=limit_s, log=log, env=home))
        states.append(workspace.state())
    plain, ours = ran
    result, unreadable = _read(report)
    fresh_cpu_s = _fresh_cpu_s(workspace, result, limit_s)
    names = sorted(states[0].keys() | states[1].keys())
    changes = [name for name in names if states[0].get(name) != states[1].get(name)]
    workspace.restore()
    return Row(
        fault=fault.key,
        subject=fault.subject,
        where=str(fault),
        kind=fault.kind,
        how=fault.how,
        n_failing=len(fault.failing),
        places=places_in(result, fault),
        refusal="" if result.get("ranking") else unreadable or _refusal(result, ours),
        inspections_cpu_s=tuple(
            float(step.get("cpu_s") or step.get("seconds") or 0)
            for step in result.get("inspections", ())
        ),
        plain_s=plain.seconds,
        seconds=ours.seconds,
        plain_cpu_s=plain.cpu_s,
        cpu_s=ours.cpu_s,
        troubles=tuple(_troubles(plain, ours, changes, result, fault)),
        fresh_cpu_s=fresh_cpu_s,
        n_refused=result.get("session", {}).get("n_refused", 0),
    )


def _fresh_cpu_s(workspace: Workspace, result: Json, limit_s: float) -> float:
    """What the first inspection's tests cost in a pytest of their own."""
    steps = list(result.get("inspections", ()))
    if not steps:
        return 0.0
    tests = [test["node_id"] for test in steps[0]["tests"]]
    command = [str(workspace.python), "-m", "pytest", f"--rootdir={workspace.tree}", "-q"]
    log = workspace.root / "fresh.log"
    return run(
        [*command, "-p", "no:bayesloc", *tests], cwd=workspace.tree, limit_s=limit_s, log=log
    ).cpu_s


def _read(report: Path) -> tuple[Json, str]:
    try:
        found = json.loads(report.read_text("utf-8"))
    except FileNotFoundError:
        return {}, ""
    except ValueError as error:
        return {}, f"the report is no JSON: {error}"
    if not isinstance(found, dict):
        return {}, "the report is no JSON object"
    return found, ""


def places_in(result: Json, fault: PlantedFault) -> dict[str, Standing | None]:
    rows: list[Json] = list(result.get("ranking", ()))
    code = [row for row in rows if not row.get("is_test")]
    groups = [list(group.get("ranking", ())) for group in result.get("faults", ())]
    in_groups = [found for group in groups if (found := _place(group, fault, "posterior"))]
    session = result.get("session", {})
    n_failed = max(int(session.get("n_failed", 0)), 1)
    scored = [{**row, "ochiai": _ochiai_of_lines(row, n_failed)} for row in code]
    return {
        "posterior": _place(rows, fault, "posterior"),
        "best group": min(in_groups, key=lambda found: found.rank, default=None),
        "prior": _place(code, fault, "prior"),
        "suspiciousness": _place(code, fault, "suspiciousness"),
        "ochiai of lines": _place(scored, fault, "ochiai"),
    }


def _place(rows: Sequence[Json], fault: PlantedFault, by: str) -> Standing | None:
    """The best place of what is at fault when ``rows`` are ordered by a field."""
    scores = [float(row.get(by) or 0.0) for row in rows]
    indices = (_index(rows, planted) for planted in fault.places)
    found = [standing(scores, index) for index in indices if index is not None]
    return min(found, key=lambda where: where.rank, default=None)


def _index(rows: Sequence[Json], planted: Place) -> int | None:
    """The row of ``planted``: of several with its name, as in overloads, the nearest."""
    same_file = [i for i, row in enumerate(rows) if normpath(row["file"]) == planted.file]
    same_name = [i for i in same_file if rows[i]["qualname"] == planted.qualname]
    return min(
        same_name, key=lambda i: abs(rows[i]["start_line"] - planted.start_line), default=None
    )


def _ochiai_of_lines(row: Json, n_failed: int) -> float:
    """The highest Ochiai score among the row's lines."""
    counts = ((line["ef"], line["ep"]) for line in row.get("lines", ()))
    return max((ef / sqrt(n_failed * (ef + ep)) for ef, ep in counts if ef), default=0.0)


def _refusal(result: Json, ours: Finished) -> str:
    """Why there is no ranking: the report's word, else the last the terminal says of it."""
    reasons = [str(reason) for reason in result.get("partial", ())]
    reasons += [str(group.get("stop_reason", "")) for group in result.get("faults", ())]
    if ours.timed_out:
        reasons.insert(0, f"killed after {ours.seconds:.0f} s")
    said = [line.strip() for line in ours.output.splitlines() if "bayesloc" in line.lower()]
    stated = "; ".join(reason for reason in reasons if reason)
    return stated or " ".join(said[-1:]) or "no report, and not a word why"


def _troubles(
    plain: Finished, ours: Finished, changes: Sequence[str], result: Json, fault: PlantedFault
) -> list[str]:
    found = []
    if plain.exit_code != ours.exit_code:
        found.append(f"exit code {ours.exit_code} instead of {plain.exit_code}")
    if changes:
        found.append(f"changed: {'; '.join(changes[:3])}")
    if "INTERNALERROR" in ours.output:
        found.append("INTERNALERROR")
    if OURS.search(ours.output):
        found.append("traceback of the plugin's")
    if ours.left_behind:
        found.append(f"{ours.left_behind} processes left behind")
    n_failed = result.get("session", {}).get("n_failed")
    if n_failed not in {None, len(fault.failing)}:
        found.append(f"{n_failed} tests fail instead of {len(fault.failing)}")
    return found
