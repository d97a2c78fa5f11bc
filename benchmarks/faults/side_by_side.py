"""This plugin and FauxPy on the same faults, on the same machine, one after the other."""

from __future__ import annotations

import json
import random
import signal
import subprocess
from dataclasses import asdict, dataclass, replace
from math import ceil
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from benchmarks.faults import side_by_side_table as table
from benchmarks.faults.building import GOALS, SEED
from benchmarks.faults.fauxpy_runs import (
    NOT_INSTALLED,
    TECHNIQUES,
    VERSION,
    Measured,
    faulty_functions,
    install_fauxpy,
    run_fauxpy,
)
from benchmarks.suites.functions import source_files
from benchmarks.suites.measuring import install_plugin, measure
from benchmarks.suites.planting import Planting
from benchmarks.suites.subjects import KNOWN
from benchmarks.suites.workspace import package_folder, prepare, split_args, unpacked, write_json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from benchmarks.suites.planting import PlantedFault
    from benchmarks.suites.workspace import Workspace

T = TypeVar("T")

KINDS = ("regression", "edit")
MOST_OF_ONE = {"sbfl": 3, "mbfl": 2}
OUR_RANKING = "posterior"


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Both tools on one fault.

    Attributes:
        family: Of FauxPy's techniques.
        subject: The release.
        where: What is at fault.
        kind: ``regression`` or ``edit``.
        how: What was done.
        n_failing: Tests that fail.
        plain: The suite without either.
        ours: With this plugin.
        theirs: With FauxPy.
    """

    family: str
    subject: str
    where: str
    kind: str
    how: str
    n_failing: int
    plain: Measured
    ours: Measured
    theirs: Measured


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is to be compared.

    Attributes:
        packages: Names from the table that faults are drawn from; all if none is given.
        n_sbfl: Faults that FauxPy's spectrum-based techniques are run on.
        n_mbfl: Faults that its mutation-based ones are run on.
        cap_s: Wall seconds after which a run is stopped.
    """

    packages: Sequence[str]
    n_sbfl: int
    n_mbfl: int
    cap_s: float


def compare(asked: Asked, *, work: Path, python: Path, plugin: Path, to: Path | None) -> int:
    """Run both on planted faults and print how they do; 0 if every run could be made.

    Faults are taken from what ``build`` has planted below ``work``; nothing is planted here.

    Raises:
        SystemExit: If a name is not in the table, or nothing is planted.
    """
    signal.signal(signal.SIGTERM, interrupt)
    pools = _planted(asked.packages, work, python)
    sizes = {name: _n_lines(name, work, python) for name in pools if asked.n_mbfl}
    chosen = {
        "sbfl": drawn(pools, asked.n_sbfl),
        "mbfl": smallest(pools, sizes, asked.n_mbfl),
    }
    rows: list[Compared] = []
    try:
        for family, faults in chosen.items():
            if faults:
                table.print_head(family)
            for name, fault in faults:
                workspace = prepare(KNOWN[name], work=work, python=python)
                row = _compared(workspace, fault, family, plugin=plugin, cap_s=asked.cap_s)
                rows.append(row)
                table.print_row(row)
    except KeyboardInterrupt:
        print("\nInterrupted. The same command goes on from here.")
        return 130
    for family in chosen:
        table.print_summary([row for row in rows if row.family == family], family)
    if to is not None:
        shown = {"fauxpy": VERSION, "seed": SEED, "cap_s": asked.cap_s}
        write_json(to, {**shown, "rows": [asdict(row) for row in rows]})
    return int(any(row.ours.trouble for row in rows))


def drawn(pools: Mapping[str, Sequence[T]], n: int) -> list[tuple[str, T]]:
    """``n`` of the faults of all packages, as far as there are so many.

    One of each package in turn until there are enough, by a seed; so a package more or less
    changes little. Those of a package stand together.
    """
    shuffled = {}
    for name, faults in pools.items():
        own = list(faults)
        random.Random(f"{SEED} compare {name}").shuffle(own)
        shuffled[name] = own[: MOST_OF_ONE["sbfl"]]
    names = sorted(shuffled, key=lambda name: random.Random(f"{SEED} turn {name}").random())
    turns = [
        (name, shuffled[name][turn])
        for turn in range(MOST_OF_ONE["sbfl"])
        for name in names
        if turn < len(shuffled[name])
    ]
    return sorted(turns[:n], key=lambda each: names.index(each[0]))


def smallest(
    pools: Mapping[str, Sequence[PlantedFault]], sizes: Mapping[str, int], n: int
) -> list[tuple[str, PlantedFault]]:
    """``n`` faults of the packages with the fewest lines, of each those that fail fewest tests."""
    names = sorted((name for name in pools if name in sizes), key=lambda name: sizes[name])
    each = max(MOST_OF_ONE["mbfl"], ceil(n / max(len(names), 1)))
    found = []
    for name in names:
        own = sorted(pools[name], key=lambda fault: (len(fault.failing), fault.digest))
        found += [(name, fault) for fault in own[:each]]
    return found[:n]


def n_patches(report: Mapping[str, Any]) -> tuple[int, int]:
    """Patches that this plugin's report lists, and how many of them told nothing.

    An inspection that lists trials counts as these, any other as one.
    """
    trials = [step.get("trials") or () for step in report.get("inspections", ())]
    effects = [trial.get("effect", "") for listed in trials for trial in listed]
    n_lost = sum(effect.startswith("did not end") for effect in effects)
    return sum(max(len(listed), 1) for listed in trials), n_lost


def _planted(names: Sequence[str], work: Path, python: Path) -> dict[str, list[PlantedFault]]:
    """Per package that has been planted, its faults that are of functions alone."""
    unknown = [name for name in names if name not in KNOWN]
    if unknown:
        raise SystemExit(f"{', '.join(unknown)}: not in the table. Known: {', '.join(KNOWN)}.")
    asked = [str(python), "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
    version = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()
    found = {}
    for name in names or KNOWN:
        root = work / f"{name}-{KNOWN[name].version}" / version
        planting = Planting.load(root / f"planted-{SEED}.json")
        listed = [fault for kind in KINDS for fault in planting.of_kind(kind)[: GOALS[kind]]]
        # FauxPy has no row for the body of a class or a module.
        found[name] = [fault for fault in listed if faulty_functions(fault)]
    found = {name: faults for name, faults in found.items() if faults}
    if not found:
        raise SystemExit(f"Nothing is planted below {work}: run `build` with the same --work.")
    return found


def _n_lines(name: str, work: Path, python: Path) -> int:
    """Lines of the published package, its tests left out."""
    subject = KNOWN[name]
    top = unpacked(subject.name, subject.version, work=work, python=python)
    folder = package_folder(top, subject.import_name)
    return sum(len(file.text.splitlines()) for file in source_files(folder, top))


def _compared(
    workspace: Workspace, fault: PlantedFault, family: str, *, plugin: Path, cap_s: float
) -> Compared:
    """Both runs of one fault; what was measured before, with the same tool, is taken as it is."""
    chosen = with_tests_of(workspace, fault) if family == "mbfl" else workspace
    fingerprint = install_plugin(workspace, plugin)
    name = f"{family}-{fault.digest}-{cap_s:g}-bayesloc-{fingerprint}.json"
    own = _kept(workspace.root / "compare" / name, lambda: _ours(chosen, fault, cap_s))
    return Compared(
        family=family,
        subject=fault.subject,
        where=str(fault),
        kind=fault.kind,
        how=fault.how,
        n_failing=len(fault.failing),
        plain=own["plain"],
        ours=own["ours"],
        theirs=run_theirs(chosen, fault, family, cap_s),
    )


def with_tests_of(workspace: Workspace, fault: PlantedFault) -> Workspace:
    """``workspace`` with a suite of the files alone that hold the failing tests.

    FauxPy runs all tests it is given again for each mutant: of whole suites, for days.
    """
    _, options = split_args(workspace.subject.args)
    files = sorted({node_id.partition("::")[0] for node_id in fault.failing})
    return replace(workspace, subject=replace(workspace.subject, args=(*files, *options)))


def _kept(path: Path, make: Callable[[], Mapping[str, Measured]]) -> dict[str, Measured]:
    """What is saved at ``path``, after making it if it is not there yet."""
    if not path.is_file():
        path.parent.mkdir(exist_ok=True)
        write_json(path, {name: asdict(measured) for name, measured in make().items()})
    found: dict[str, dict[str, Any]] = json.loads(path.read_text("utf-8"))
    return {name: Measured.from_json(measured) for name, measured in found.items()}


def _ours(workspace: Workspace, fault: PlantedFault, cap_s: float) -> dict[str, Measured]:
    row = measure(workspace, fault, options=(), limit_s=cap_s)
    report = workspace.root / "report.json"
    tried, n_lost = n_patches(json.loads(report.read_text("utf-8")) if report.is_file() else {})
    return {
        "plain": Measured(places={}, seconds=row.plain_s, cpu_s=row.plain_cpu_s),
        "ours": Measured(
            places={OUR_RANKING: row.places[OUR_RANKING]},
            seconds=row.seconds,
            cpu_s=row.cpu_s,
            n_patches=tried,
            n_lost=n_lost,
            patches_cpu_s=sum(row.inspections_cpu_s),
            trouble="; ".join(said for said in (row.refusal, *row.troubles) if said),
        ),
    }


def run_theirs(workspace: Workspace, fault: PlantedFault, family: str, cap_s: float) -> Measured:
    try:
        python = install_fauxpy(workspace)
    except SystemExit as error:
        # Not kept: another time the index may answer.
        said = str(error).splitlines()[-1]
        nowhere = dict.fromkeys(TECHNIQUES[family])
        return Measured(places=nowhere, seconds=0, cpu_s=0, trouble=f"{NOT_INSTALLED}: {said}")
    name = f"{family}-{fault.digest}-{cap_s:g}-fauxpy-{VERSION}.json"

    def measured() -> dict[str, Measured]:
        ran = run_fauxpy(workspace, fault, python=python, family=family, cap_s=cap_s)
        return {"theirs": ran}

    return _kept(workspace.root / "compare" / name, measured)["theirs"]


def interrupt(*_: object) -> NoReturn:
    """End as with Ctrl-C, so that what runs is ended too."""
    raise KeyboardInterrupt
