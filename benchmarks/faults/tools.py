"""Ten faults, each given to this plugin and to other tools, one after the other on one machine.

Which faults is decided by the lists that ``build`` wrote, before any tool ran: the packages of the
part ``test``, to which nothing was fitted, from the fewest tests to the most, the first ten. The
first, third, ... lend their first regression, the others their first single edit; a package that
has none of that kind lends the first of the other.
"""

from __future__ import annotations

import json
import os
import re
import signal
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.faults.building import LISTED, faults_of, remade
from benchmarks.faults.fauxpy_runs import faulty_functions
from benchmarks.faults.green_runs import harmless, merged
from benchmarks.faults.side_by_side import KINDS, interrupt, run_theirs, with_tests_of
from benchmarks.faults.split import TEST, packages_of
from benchmarks.fixes import corpus
from benchmarks.flaky.running import FAILED, WITHOUT_PLUGINS, FlakyProject, judged, projects
from benchmarks.suites.functions import SourceFile
from benchmarks.suites.measuring import COLD, install_plugin, places_in
from benchmarks.suites.process import run
from benchmarks.suites.scores import standing
from benchmarks.suites.subjects import KNOWN
from benchmarks.suites.workspace import BASE, install, prepare, write_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from benchmarks.suites.change import Change
    from benchmarks.suites.planting import PlantedFault
    from benchmarks.suites.process import Finished
    from benchmarks.suites.scores import Standing
    from benchmarks.suites.workspace import Workspace

N_FAULTS, N_UNRELATED = 10, 8
RESULTS = Path(__file__).resolve().parent / "data" / "tools.json"
EXTRAS = ("pytest-testmon==2.2.0", "detect-test-pollution==1.2.0")
#: The techniques of FauxPy that were best in the larger comparison, not in each fault.
BEST = {"sbfl": "Dstar", "mbfl": "Metallaxis"}
#: Each lends its first project, whose polluter is a test.
POLLUTED = ("polluted-fixtures", "polluted-left", "polluted-modules", "polluted-process")
PLAIN = ("-p", "no:bayesloc")
TRACEBACK = "Traceback (most recent call last):"
FRAME = re.compile(r'^  File "(.+)", line (\d+), in ', re.MULTILINE)
SECTION = re.compile(r"^_{3,} .+ _{3,}$", re.MULTILINE)
POLLUTER = re.compile(r"polluting test is: (\S+)")
COUNTED = re.compile(r"(\d+) (failed|passed|skipped|xfailed|xpassed|error)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Where and with what the tools run, for how long, and on how many faults FauxPy's mutants."""

    work: Path
    python: Path
    plugin: Path
    cap_s: float
    n_mbfl: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One tool's answer to one fault.

    Attributes:
        seconds: Wall seconds of the run.
        rank: Expected rank of the faulty function, or of the faulty commit; None if it is not
            named.
        n_rows: Places, or commits, that it is one of.
        text: Why there is no rank, or an answer of another kind.
    """

    seconds: float
    rank: float | None = None
    n_rows: int = 0
    text: str = ""


def compare_tools(given: Setting) -> int:
    """Run every tool on the ten faults and the polluted projects, and print the tables.

    Answers are kept below the folder of work by the plugin's state: a second call continues.
    """
    signal.signal(signal.SIGTERM, interrupt)
    rows: dict[str, dict[str, Any]] = {}
    for tools, n in ((QUICK, N_FAULTS), (MUTATIONS, given.n_mbfl)):
        for name, kind in list(packages())[:n]:
            workspace = prepare(KNOWN[name], work=given.work, python=given.python)
            kept = given.work / f"tools-{install_plugin(workspace, given.plugin)}-{name}.json"
            rows[name] = _answered(workspace, kind, tools, given, kept)
    result = {
        "date": date.today().isoformat(),
        "cap_s": given.cap_s,
        "faults": list(rows.values()),
        "polluted": [_polluted(project, workspace.python, given) for project in polluted()],
    }
    write_json(RESULTS, result)
    print("\n".join(tables(result)))
    return 0


def packages() -> Iterator[tuple[str, str]]:
    """Yield the ten packages, each with the kind of fault that it lends."""
    listed = [name for name in packages_of(TEST) if (LISTED / f"{name}.json").is_file()]
    by_size = sorted(listed, key=lambda name: (faults_of(name)["n_tests"], name))
    for n, name in enumerate(by_size[:N_FAULTS]):
        there = {fault["kind"] for fault in faults_of(name)["faults"]}
        wanted, other = KINDS[n % 2], KINDS[1 - n % 2]
        yield name, wanted if wanted in there else other


def polluted() -> list[FlakyProject]:
    """The first project of each file of ``POLLUTED``."""
    first = {project.title: project for project in reversed(list(projects()))}
    return [first[title] for title in POLLUTED]


def tables(result: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of both tables, in Markdown: rank and seconds, then polluters."""
    names = [*QUICK, *MUTATIONS]
    yield f"| fault | {' | '.join(names)} |"
    yield "|---" * (len(names) + 1) + "|"
    for row in result["faults"]:
        what = f"{row['subject'].partition('==')[0]}, {row['kind']}, {row['n_failing']} failing"
        cells = (_cell(row["answers"].get(name)) for name in names)
        yield f"| {what} | {' | '.join(cells)} |"
    yield "\n| polluter | detect-test-pollution | this plugin | what it says |\n|---|---|---|---|"
    for row in result["polluted"]:
        polluters = row["polluters"]
        theirs, ours = (
            f"{'named' if row[tool] == polluters else 'not named'} / {row[f'{tool}_s']:.1f}"
            for tool in ("theirs", "ours")
        )
        yield f"| {polluters} | {theirs} | {ours} | {row['text']} |"


def _cell(answer: Mapping[str, Any] | None) -> str:
    if answer is None:
        return "not run"
    rank, why = answer["rank"], answer["text"].partition(":")[0] or "not named"
    return f"{why if rank is None else format(rank, 'g')} / {answer['seconds']:.1f}"


def _answered(
    workspace: Workspace, kind: str, tools: Mapping[str, Tool], given: Setting, kept: Path
) -> dict[str, Any]:
    """The row of a package's fault, completed by those of ``tools`` that it lacks."""
    saved = kept.read_text("utf-8") if kept.is_file() else '{"answers": {}}'
    row: dict[str, Any] = json.loads(saved)
    missing = [name for name in tools if name not in row["answers"]]
    for fault in remade(workspace, {kind: 1}, work=given.work) if missing else ():
        about = {"subject": fault.subject, "kind": kind, "how": fault.how, "where": str(fault)}
        row |= {**about, "n_failing": len(fault.failing), "load": os.getloadavg()[0]}
        for name in missing:
            workspace.plant(fault.texts)
            answer = tools[name](workspace, fault, given)
            workspace.restore()
            print(f"{fault.subject} {fault}: {name}: {answer}", flush=True)
            row["answers"][name] = asdict(answer)
            write_json(kept, row)
    return row


def _in_tree(
    workspace: Workspace, given: Setting, argv: list[str], env: Mapping[str, str] | None = None
) -> Finished:
    log = workspace.root / "tools.log"
    return run(argv, cwd=workspace.tree, limit_s=given.cap_s, log=log, env=env)


def _at(where: Standing | None, seconds: float, text: str = "") -> Answer:
    if where is None:
        return Answer(seconds=seconds, text=text)
    return Answer(seconds=seconds, rank=where.rank, n_rows=where.n_rows, text=text)


def _innermost_frame(workspace: Workspace, fault: PlantedFault, given: Setting) -> Answer:
    """Groups of failures by their innermost frame in the package, the largest group first.

    The run is a plain one, so its seconds are those of the suite.
    """
    ran = _in_tree(workspace, given, workspace.pytest(*PLAIN, "--tb=native"))
    sections = (text.rpartition(TRACEBACK)[2] for text in SECTION.split(ran.output)[1:])
    groups = Counter(filter(None, (innermost(workspace, text) for text in sections)))
    sizes, faulty = list(groups.values()), faulty_functions(fault) or ()
    found = [standing(sizes, i) for i, where in enumerate(groups) if where in faulty]
    best = min(found, key=lambda where: where.rank, default=None)
    return _at(best, ran.seconds, "elsewhere" if groups else "in tests alone")


def innermost(workspace: Workspace, traceback: str) -> tuple[str, str, int] | None:
    """File, name and line of the innermost function of the package in a traceback."""
    for file, line in reversed(FRAME.findall(traceback)):
        path = workspace.tree / file
        if path.is_relative_to(workspace.tree / workspace.source) and path.is_file():
            name = path.relative_to(workspace.tree).as_posix()
            functions = SourceFile(name, path.read_text("utf-8")).functions
            around = [f for f in functions if f.start_line <= int(line) <= (f.node.end_lineno or 0)]
            if around:
                inner = max(around, key=lambda function: function.start_line)
                return name, inner.qualname.rpartition(".")[2], inner.start_line
    return None


def _ours(
    workspace: Workspace, fault: PlantedFault, given: Setting, *options: str, by_git: bool
) -> Answer:
    if by_git:
        _commit_all(workspace, fault, given)
    report = workspace.root / "tools-report.json"
    report.unlink(missing_ok=True)
    workspace.home.mkdir(exist_ok=True)
    asked = ("-q", "--bayesloc", f"--bayesloc-report=json:{report}", *options)
    ran = _in_tree(workspace, given, workspace.pytest(*asked), {"HOME": str(workspace.home)})
    result = json.loads(report.read_text("utf-8")) if report.is_file() else {}
    n_failed = result.get("session", {}).get("n_failed")
    text = "" if n_failed == len(fault.failing) else f"{n_failed} tests fail"
    return _at(places_in(result, fault)["posterior"], ran.seconds, text)


def _fauxpy(workspace: Workspace, fault: PlantedFault, given: Setting, *, family: str) -> Answer:
    chosen = with_tests_of(workspace, fault) if family == "mbfl" else workspace
    measured = run_theirs(chosen, fault, family, given.cap_s)
    return _at(measured.places[BEST[family]], measured.seconds, measured.trouble)


def _bisect(workspace: Workspace, fault: PlantedFault, given: Setting) -> Answer:
    """``git bisect run`` with one failing test as its script, over the commits of ``by_git``."""
    n_commits = _commit_all(workspace, fault, given)
    last = workspace.git("rev-parse", "HEAD").strip()
    workspace.git("bisect", "start", "HEAD", BASE)
    test = workspace.pytest(*PLAIN, tests=fault.failing[:1])
    env = {"PYTHONDONTWRITEBYTECODE": "1"}
    ran = _in_tree(workspace, given, ["git", "bisect", "run", *test], env)
    workspace.git("bisect", "reset")
    is_right = f"{last} is the first bad commit" in ran.output
    return Answer(seconds=ran.seconds, rank=1 if is_right else None, n_rows=n_commits)


def _commit_all(workspace: Workspace, fault: PlantedFault, given: Setting) -> int:
    """Commit changes of other files that no test notices, then the fault; how many commits."""
    tag = f"tools-{fault.digest}"
    if not workspace.git("tag", "--list", tag):
        steps = _unrelated(workspace, fault, given)
        workspace.restore()
        steps.append({**(steps[-1] if steps else {}), **fault.texts})
        for n, texts in enumerate(steps, 1):
            for file, text in texts.items():
                workspace.write(file, text)
            workspace.git("commit", "-qam", f"Change {n}")
        workspace.git("tag", tag)
    workspace.git("checkout", "-q", "-f", tag)
    return int(workspace.git("rev-list", "--count", f"{BASE}..HEAD"))


def _unrelated(
    workspace: Workspace, fault: PlantedFault, given: Setting
) -> list[Mapping[str, str]]:
    """The texts after each of the changes beside which the fault fails the same tests."""
    blank = replace(fault, texts={})
    chosen: list[Change] = []
    steps: list[Mapping[str, str]] = []
    for change in harmless(workspace, faults_of(workspace.subject.name), given.work):
        texts, n_merged = merged(workspace, blank, [*chosen, change], len(chosen) + 1)
        is_apart = fault.texts.keys().isdisjoint(change.texts) and n_merged > len(chosen)
        if is_apart and len(chosen) < N_UNRELATED:
            workspace.plant({**texts, **fault.texts})
            if workspace.outcomes(limit_s=given.cap_s).failed == {*fault.failing}:
                chosen.append(change)
                steps.append(texts)
    return steps


def _testmon(workspace: Workspace, fault: PlantedFault, given: Setting) -> Answer:
    """The second run, after the edit; the first, of the published tree, is not counted."""
    data = workspace.root / "testmondata"
    for old in workspace.root.glob(f"{data.name}*"):
        old.unlink()
    env = {"PYTHONPATH": str(_extras(given)), "TESTMON_DATAFILE": str(data)}
    command = workspace.pytest(*PLAIN, "--testmon-forceselect", "--testmon")
    workspace.restore()
    first = _in_tree(workspace, given, command, env)
    workspace.plant(fault.texts)
    second = _in_tree(workspace, given, command, env)
    before, after = _counts(first.output), _counts(second.output)
    n_missed = len(fault.failing) - after["failed"] - after["error"]
    text = f"{after.total()} of {before.total()} tests"
    return Answer(seconds=second.seconds, text=f"{text}, {n_missed} missed" if n_missed else text)


def _counts(output: str) -> Counter[str]:
    """Tests by outcome, as the last line that has any says."""
    lines = [line for line in output.splitlines() if " in " in line and COUNTED.search(line)]
    return Counter({name: int(n) for n, name in COUNTED.findall(lines[-1])} if lines else {})


def _extras(given: Setting) -> Path:
    """A folder with the tools that need no environment of their own."""
    folder = given.work / "extras"
    if not folder.is_dir():
        install(given.python, "--no-deps", "--target", str(folder), *EXTRAS)
    return folder


def _polluted(project: FlakyProject, python: Path, given: Setting) -> dict[str, Any]:
    """detect-test-pollution, which is told the failing test, and this plugin on one project."""
    with tempfile.TemporaryDirectory(prefix="bayesloc-tools-") as name:
        root, log = Path(name, "project"), Path(name, "log")
        corpus.write(root, project.files)
        env = {"PYTHONPATH": str(_extras(given)), **WITHOUT_PLUGINS}
        started = partial(run, cwd=root, limit_s=given.cap_s, log=log, env=env)
        failing = FAILED.findall(started([str(python), "-m", "pytest", "-q", "-rfE"]).output)[0]
        # It hands pytest its own __name__ as a plugin, so it can't be run by -m.
        detect = [str(python), "-c", "from detect_test_pollution import main; exit(main())"]
        theirs = started([*detect, "--tests", ".", "--failing-test", failing])
    ours = judged(project, python)
    cause: dict[str, Any] = next((cause for cause in ours["causes"] if cause), {})
    return {
        "polluters": project.truth["after"],
        "state": project.truth["state"],
        "theirs": " ".join(POLLUTER.findall(theirs.output)),
        "theirs_s": theirs.seconds,
        "ours": " ".join(cause.get("after") or ()),
        "ours_s": ours["seconds"],
        "text": re.sub(r"/\S*/project/", "", cause.get("text", "")),
    }


Tool = Callable[["Workspace", "PlantedFault", Setting], Answer]
QUICK: dict[str, Tool] = {
    "innermost frame": _innermost_frame,
    "this plugin": lambda tree, fault, given: _ours(tree, fault, given, COLD, by_git=False),
    "this plugin, git": partial(_ours, by_git=True),
    "FauxPy, DStar": partial(_fauxpy, family="sbfl"),
    "git bisect": _bisect,
    "testmon": _testmon,
}
MUTATIONS: dict[str, Tool] = {"FauxPy, Metallaxis": partial(_fauxpy, family="mbfl")}
