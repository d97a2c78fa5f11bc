"""What the plugin sees of each bug, kept as rows of the shape that planted faults have."""

from __future__ import annotations

import difflib
import json
import shutil
import time
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from benchmarks.bugs.checkout import Checkout
from benchmarks.bugs.mining import clone_of, read_bugs
from benchmarks.faults.shares import REAL
from benchmarks.suites.measuring import COLD
from benchmarks.suites.process import run
from benchmarks.suites.workspace import write_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from benchmarks.suites.process import Finished

PROBE = Path(__file__).resolve().parents[1] / "faults" / "probe"
N_INSPECTED = 8
LIMIT_S = 240.0
#: Each bug as a run sees it before it inspects, or with every likely location inspected.
AT_HAND = (COLD,)
INSPECTED = (
    "--bayesloc",
    COLD,
    "--bayesloc-threshold=0.999999999",
    "--bayesloc-inspections=10000",
    "--bayesloc-budget=12",
)
#: Folders of rows, below that of a repository.
FOLDERS = {False: "rows", True: "inspected"}


def collect(name: str, *, clones: Path, work: Path, python: Path, inspect: bool) -> str:
    """Run the plugin on each bug of a repository; what came of it, in words.

    With ``inspect``, every likely location is inspected in every way, which takes half a minute.
    Rows of an earlier run are kept, each with the texts of its failing tests beside it.
    """
    folder = work / name.replace("/", "+")
    checkout = Checkout(clone_of(name, clones), folder, python)
    kept = folder / FOLDERS[inspect]
    kept.mkdir(parents=True, exist_ok=True)
    began, n_new = time.monotonic(), 0
    bugs = read_bugs(name)
    for bug in bugs:
        row = kept / f"{bug['commit'][:12]}.json"
        if not row.is_file():
            write_json(row, collected(checkout, bug, row.with_suffix(".texts"), inspect=inspect))
            n_new += 1
    return f"{len(bugs)} rows, {n_new} of them new, {time.monotonic() - began:.0f} s"


def collected(
    checkout: Checkout, bug: Mapping[str, Any], texts_to: Path, *, inspect: bool
) -> dict[str, Any]:
    """The row of one bug: its tests' files, on the tree before the fix as one fresh commit."""
    before = lay_out(checkout, bug)
    to = checkout.tree.parent / "groups.json"
    to.unlink(missing_ok=True)
    given = ("-p", "bayesloc_rows", *(INSPECTED if inspect else AT_HAND))
    environment = {
        "BAYESLOC_ROWS": str(to),
        "BAYESLOC_TEXTS": str(texts_to),
        "BAYESLOC_N_INSPECTED": str(N_INSPECTED),
    }
    ran, _ = run_tests_of(checkout, bug, given, environment)
    groups = json.loads(to.read_text("utf-8")) if to.is_file() else []
    after = {file: checkout.text(bug["commit"], file) for file in bug["sources"]}
    return {
        "subject": bug["repository"],
        "kind": REAL,
        "commit": bug["commit"],
        "failing": bug["failing"],
        "places": [[*place, ""] for place in places(bug)],
        "changed": {file: changed_lines(before[file], after[file]) for file in before},
        "cpu_s": round(ran.cpu_s, 2),
        "plain_cpu_s": bug["plain_cpu_s"],
        "groups": groups,
    }


def run_tests_of(
    checkout: Checkout,
    bug: Mapping[str, Any],
    options: Sequence[str],
    environment: Mapping[str, str] = MappingProxyType({}),
    *,
    tests: Sequence[str] = (),
    plain: bool = False,
) -> tuple[Finished, dict[str, Any]]:
    """Run the files of a bug's tests on the tree as it is; how it went, and the JSON report.

    Other ``tests`` may be named. A ``plain`` run is one without the plugin, and has no report.
    """
    report = checkout.tree.parent / "report.json"
    report.unlink(missing_ok=True)
    files = sorted({node_id.partition("::")[0] for node_id in bug["failing"]})
    told = [] if plain else [f"--bayesloc-report=json:{report}"]
    ran = run(
        checkout.pytest(*options, *told, *(tests or files)),
        cwd=checkout.tree,
        limit_s=LIMIT_S,
        log=checkout.tree.parent / "rows.log",
        env={**checkout.environment(PROBE), **environment},
    )
    return ran, json.loads(report.read_text("utf-8")) if report.is_file() else {}


def places(bug: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Every place of any of the smallest sets of changes."""
    return sorted({(file, name) for truth in bug["truths"] for file, name in truth})


def lay_out(checkout: Checkout, bug: Mapping[str, Any]) -> dict[str, str]:
    """The tree before the fix with the tests of after, a repository of one commit.

    Returns:
        The texts of what the fix changes.
    """
    checkout.lay_out(bug["commit"])
    before = {file: checkout.text(bug["parent"], file) for file in bug["sources"]}
    checkout.write(before)
    for left in (".bayesloc", ".pytest_cache"):
        shutil.rmtree(checkout.tree / left, ignore_errors=True)
    checkout.commit_afresh()
    return before


def changed_lines(before: str, after: str) -> list[int]:
    """Lines of ``before`` that are taken out, or beside which something is put in."""
    found = set[int]()
    old, new = before.splitlines(), after.splitlines()
    for tag, i1, i2, _j1, _j2 in difflib.SequenceMatcher(None, old, new, False).get_opcodes():
        if tag == "insert":
            found.update((i1, i1 + 1))
        elif tag != "equal":
            found.update(range(i1 + 1, i2 + 1))
    return sorted(line for line in found if 0 < line <= len(old))


def rows_of(name: str, work: Path) -> Iterable[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """The collected rows of a repository, each with the texts of its groups."""
    for path in sorted((work / name.replace("/", "+") / "rows").glob("*.json")):
        texts = path.with_suffix(".texts")
        said = json.loads(texts.read_text("utf-8")) if texts.is_file() else []
        yield json.loads(path.read_text("utf-8")), said
