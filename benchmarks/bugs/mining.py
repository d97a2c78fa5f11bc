"""Bugs of one repository: commits whose tests fail on the source of the commit before."""

from __future__ import annotations

import json
import re
import subprocess
import time
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.bugs.candidates import candidates
from benchmarks.bugs.checkout import Checkout
from benchmarks.bugs.repositories import NAMES, part_of_repository
from benchmarks.bugs.truth import MAX_ATOMS, Change, smallest
from benchmarks.suites.workspace import write_json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from benchmarks.bugs.candidates import Candidate

DATA = Path(__file__).resolve().parent / "data"
BUGS = DATA / "bugs"
MAX_FAILING = 40
#: Errors of a test that asks for what the code does not have yet: a feature.
LACKING = re.compile(
    r"has no attribute '(\w+)'|cannot import name '(\w+)'|unexpected keyword argument '(\w+)'|"
    r"name '(\w+)' is not defined|No module named '([\w.]+)'|No such option:? (?:'|\")?--?([\w-]+)"
)


class NoBugError(Exception):
    """The commit is no bug for this set; its text says why."""


def mine(name: str, *, clones: Path, work: Path, python: Path, most: int, tries: int) -> str:
    """Find up to ``most`` bugs of a repository among its newest ``tries`` candidates.

    Those found are kept in the project's data; what was tried before is not tried again.

    Args:
        name: As ``owner/name``.
        clones: Folder of git directories, each in ``owner+name/repo``.
        work: Folder for its work tree.
        python: Interpreter of the environment with all requirements.
        most: Bugs of one repository.
        tries: Candidates of it that are looked at.
    """
    folder = work / name.replace("/", "+")
    checkout = Checkout(clone_of(name, clones), folder, python)
    saved = folder / "tried.json"
    tried: dict[str, str] = json.loads(saved.read_text("utf-8")) if saved.is_file() else {}
    bugs = read_bugs(name)
    began = time.monotonic()
    for candidate in islice(candidates(checkout), tries):
        if len(bugs) >= most:
            break
        if candidate.commit in tried:
            continue
        try:
            bugs.append(found(name, checkout, candidate))
            tried[candidate.commit] = "bug"
            write_bugs(name, bugs)
        except NoBugError as reason:
            tried[candidate.commit] = str(reason)
        except (subprocess.CalledProcessError, OSError, UnicodeError, RecursionError) as error:
            tried[candidate.commit] = f"trouble: {type(error).__name__}"
        write_json(saved, tried)
    why = Counter(tried.values())
    return f"{len(bugs)} bugs, {time.monotonic() - began:.0f} s, {dict(why.most_common(6))}"


def found(name: str, checkout: Checkout, candidate: Candidate) -> dict[str, Any]:
    """The bug that ``candidate`` fixes.

    Raises:
        NoBugError: If it is none that this set can hold.
    """
    after = {file: checkout.text(candidate.commit, file) for file in candidate.sources}
    before = {file: checkout.text(candidate.parent, file) for file in candidate.sources}
    change = Change(before, after)
    if not change.atoms and not change.context:
        raise NoBugError("no code changes")
    if len(change.atoms) > MAX_ATOMS:
        raise NoBugError("too many changes")
    checkout.lay_out(candidate.commit)
    failing, cpu_s = _failing(checkout, candidate, change)

    def passes(texts: Mapping[str, str]) -> bool:
        checkout.write(texts)
        return set(failing) <= checkout.run_tests(failing).passed

    is_whole = len(change.atoms) == 1 and not change.context
    if not is_whole and (passes(before) or not passes(after)):
        raise NoBugError("its tests end otherwise by themselves")
    return {
        "repository": name,
        "commit": candidate.commit,
        "parent": candidate.parent,
        "date": candidate.date,
        "sources": list(candidate.sources),
        "failing": failing,
        "truths": [change.places((0,))] if is_whole else smallest(change, passes),
        "n_changed": len(change.atoms),
        "plain_cpu_s": round(cpu_s, 2),
    }


def _failing(checkout: Checkout, candidate: Candidate, change: Change) -> tuple[list[str], float]:
    """The tests that fail before and pass after, and the CPU seconds of the failing run."""
    checkout.write(change.before)
    red = checkout.run_tests(candidate.tests)
    if not red.passed | red.failed.keys():
        raise NoBugError("its tests do not run here")
    if not red.failed:
        raise NoBugError("no test fails before")
    checkout.write(change.after)
    green = checkout.run_tests(candidate.tests)
    if red.uncollected.keys() - green.uncollected.keys():
        raise NoBugError("a feature: its tests can't be collected before")
    failing = {n: error for n, error in red.failed.items() if n in green.passed}
    if not failing:
        raise NoBugError("no test fails before")
    fair = [n for n, error in failing.items() if not _is_feature(error, change)]
    if 2 * len(fair) < len(failing):
        raise NoBugError("a feature: its tests ask for what is new")
    if len(fair) > MAX_FAILING:
        raise NoBugError("too many tests fail")
    return fair, red.cpu_s


def _is_feature(error: str, change: Change) -> bool:
    """Whether the error names something that only the new source has."""
    named = {name for groups in LACKING.findall(error) for name in groups if name}
    old, new = "\n".join(change.before.values()), "\n".join(change.after.values())
    return any(
        re.search(rf"\b{re.escape(name)}\b", new) and not re.search(rf"\b{re.escape(name)}\b", old)
        for name in named
    )


def clone_of(name: str, clones: Path) -> Path:
    """The git directory of ``name``."""
    folder = clones / name.replace("/", "+") / "repo"
    return folder / ".git" if (folder / ".git").is_dir() else folder


def read_bugs(name: str) -> list[dict[str, Any]]:
    """The bugs of a repository; none if it was not mined."""
    path = data_file(BUGS, name)
    found: list[dict[str, Any]] = json.loads(path.read_text("utf-8")) if path.is_file() else []
    return found


def write_bugs(name: str, bugs: list[dict[str, Any]]) -> None:
    """Keep the bugs of a repository."""
    BUGS.mkdir(parents=True, exist_ok=True)
    write_json(data_file(BUGS, name), bugs)


def data_file(folder: Path, name: str) -> Path:
    """Where a folder of data keeps what is known of a repository."""
    return folder / f"{name.replace('/', '+')}.json"


def read_part(folder: Path, part: str) -> list[dict[str, Any]]:
    """All that a folder of data keeps of the repositories of one part."""
    paths = [data_file(folder, name) for name in NAMES if part_of_repository(name) == part]
    return [row for path in paths if path.is_file() for row in json.loads(path.read_text("utf-8"))]


def made_once(path: Path, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The row that a file holds; it is made where there is none."""
    if not path.is_file():
        write_json(path, make())
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found
