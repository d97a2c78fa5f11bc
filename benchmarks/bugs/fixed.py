"""The fixes that are shown for each bug of one function, judged by tests that the search never saw.

A fix is right if it passes what the true one passes: all failing tests, of which the search is
shown every second, the others of their files, and these files as the next commits left them.
"""

from __future__ import annotations

import ast
import json
import subprocess
import time
from collections import Counter
from contextlib import suppress
from statistics import quantiles
from typing import TYPE_CHECKING, Any

from benchmarks.bugs.checkout import Checkout
from benchmarks.bugs.collecting import lay_out, run_tests_of
from benchmarks.bugs.mining import DATA, clone_of, read_bugs
from benchmarks.bugs.repositories import NAMES, part_of_repository
from benchmarks.suites.measuring import COLD
from benchmarks.suites.workspace import write_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

FIXED = DATA / "fixed"
SEARCH = ("--bayesloc", "--bayesloc-fix=suggest", COLD)
N_LATER = 3  # commits
FEW = 2  # statements


def fix(name: str, *, clones: Path, work: Path, python: Path) -> str:
    """Search a fix of each bug of a repository; what came of it, in words.

    What an earlier run left is kept. The diffs stay in ``work``.
    """
    folder = work / name.replace("/", "+")
    checkout = Checkout(clone_of(name, clones), folder, python)
    kept = folder / "fixed"
    kept.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    found = []
    for bug in read_bugs(name):
        if min(map(len, bug["truths"])) > 1:
            continue
        path = kept / f"{bug['commit'][:12]}.json"
        if not path.is_file():
            write_json(path, _fixed(checkout, bug))
        row = json.loads(path.read_text("utf-8"))
        found.append({**row, "fixes": [{**one, "diff": ""} for one in row["fixes"]]})
    FIXED.mkdir(parents=True, exist_ok=True)
    if found:
        write_json(FIXED / f"{name.replace('/', '+')}.json", found)
    return f"{len(found)} bugs, {time.monotonic() - began:.0f} s"


def _fixed(checkout: Checkout, bug: Mapping[str, Any]) -> dict[str, Any]:
    before = lay_out(checkout, bug)
    after = {file: checkout.text(bug["commit"], file) for file in bug["sources"]}
    hidden = [f"--deselect={node_id}" for node_id in sorted(bug["failing"])[1::2]]
    ran, result = run_tests_of(checkout, bug, (*SEARCH, *hidden))
    fixes = [
        {key: one[key] for key in ("tool", "verified", "doubt", "diff")}
        for one in result.get("fixes", ())
    ]
    texts = [_patched(checkout, one["diff"]) if one["verified"] else {} for one in fixes]
    judged = _judged(checkout, bug, after, [own and {**before, **own} for own in texts])
    for one, is_right in zip(fixes, judged, strict=True):
        one["right"] = one["verified"] and is_right
    seconds = result.get("session", {}).get("seconds", {})
    return {
        "commit": bug["commit"],
        "n_statements": n_changed_statements(before, after),
        "fixes": fixes,
        "n_notes": len(result.get("session", {}).get("notes", ())),
        "cpu_s": round(ran.cpu_s - bug["plain_cpu_s"], 2),
        "search_s": round(seconds.get("fix", 0.0), 2),
    }


def _patched(checkout: Checkout, diff: str) -> dict[str, str]:
    """The files that ``diff`` changes, with it; none if git can't apply it."""
    argv = ["git", "-C", str(checkout.tree), "apply", "--whitespace=nowarn", "-"]
    if subprocess.run(argv, input=diff.encode(), check=False, capture_output=True).returncode:
        return {}
    changed = checkout.git("diff", "--name-only").split()
    texts = {file: (checkout.tree / file).read_text("utf-8") for file in changed}
    checkout.git("checkout", "-q", "-f", ".")
    return texts


def _judged(
    checkout: Checkout,
    bug: Mapping[str, Any],
    after: Mapping[str, str],
    texts: Sequence[Mapping[str, str]],
) -> list[bool]:
    """Which of ``texts`` pass all that the true fix passes, now and in the next commits."""
    files = sorted({node_id.partition("::")[0] for node_id in bug["failing"]})
    same = [_same(own, after) for own in texts]
    still = [bool(own) for own in texts]
    for tests in ({}, *_later(checkout, bug["commit"], files)):
        if not any(is_right and not is_same for is_right, is_same in zip(still, same, strict=True)):
            break
        now = {file: (checkout.tree / file).read_text("utf-8") for file in tests}
        checkout.write({**after, **tests})
        wanted = checkout.run_tests(files).passed | (set() if tests else set(bug["failing"]))
        for n, own in enumerate(texts):
            if still[n] and not same[n]:
                checkout.write({**after, **own})
                still[n] = wanted <= checkout.run_tests(files).passed
        checkout.write(now)
    return [is_right or is_same for is_right, is_same in zip(still, same, strict=True)]


def _later(checkout: Checkout, commit: str, files: Sequence[str]) -> Iterator[dict[str, str]]:
    """The tests' files as the next commits that change one of them leave them."""
    span = f"{commit}..origin/HEAD"
    commits = checkout.git("log", "--reverse", "--format=%H", span, "--", *files).split()
    with suppress(subprocess.CalledProcessError):  # one is renamed
        for later in commits[:N_LATER]:
            yield {file: checkout.text(later, file) for file in files}


def _same(texts: Mapping[str, str], after: Mapping[str, str]) -> bool:
    return bool(texts) and all(
        _dumped(text) == _dumped(after.get(file, "")) for file, text in texts.items()
    )


def _dumped(text: str) -> str:
    return ast.dump(ast.parse(text))


def n_changed_statements(before: Mapping[str, str], after: Mapping[str, str]) -> int:
    """How many statements differ, without what is inside them: the more of gone and of new ones."""
    gone, new = (sum(map(_statements, texts.values()), Counter()) for texts in (before, after))
    return max((gone - new).total(), (new - gone).total())


def _statements(text: str) -> Counter[str]:
    found: Counter[str] = Counter()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.stmt):
            own = {
                name: value
                for name, value in ast.iter_fields(node)
                if name not in {"body", "orelse", "finalbody", "handlers"}
            }
            parts = (
                [ast.dump(v) if isinstance(v, ast.AST) else repr(v) for v in values]
                for values in (v if isinstance(v, list) else [v] for v in own.values())
            )
            found[f"{type(node).__name__} {list(parts)}"] += 1
    return found


def table(part: str) -> Iterator[str]:
    """What the kept runs of one part say, as lines."""
    rows = [
        row
        for name in NAMES
        if part_of_repository(name) == part
        for path in [FIXED / f"{name.replace('/', '+')}.json"]
        if path.is_file()
        for row in json.loads(path.read_text("utf-8"))
    ]
    if len(rows) < 2:
        yield "none was run: `python -m benchmarks.bugs fix`"
        return
    few = [row for row in rows if row["n_statements"] <= FEW]
    yield "| bugs of one function | n | plausible | right | right first |"
    yield "|---|---|---|---|---|"
    for words, own in (("all", rows), (f"at most {FEW} statements", few)):
        shown = [[one for one in row["fixes"] if one["verified"]] for row in own]
        counts = (
            sum(map(bool, shown)),
            sum(any(one["right"] for one in ones) for ones in shown),
            sum(ones[0]["right"] for ones in shown if ones),
        )
        shares = " | ".join(f"{n} ({100 * n / len(own):.0f} %)" for n in counts)
        yield f"| {words} | {len(own)} | {shares} |"
    sure = [o["right"] for row in rows for o in row["fixes"] if o["verified"] and not o["doubt"]]
    yield f"\nshown without doubt: {len(sure)}, right {sum(sure)}"
    unchecked = sum(not one["verified"] for row in rows for one in row["fixes"])
    yield f"changes of tests, and hints: {unchecked}"
    for words, is_found in (("with a fix", True), ("without", False)):
        spent = [
            row["search_s"] for row in rows if any(o["verified"] for o in row["fixes"]) == is_found
        ]
        if len(spent) > 1:
            tenths = quantiles(spent, n=10, method="inclusive")
            yield f"seconds of a search {words}: median {tenths[4]:.1f}, 90 % {tenths[8]:.1f}"
