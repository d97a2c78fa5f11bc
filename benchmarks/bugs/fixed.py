"""The fixes that are shown for each bug of one function, judged by tests that the search never saw.

The search is run with the suite: the folder of the failing tests, or their files where that folder
lacks them. Tests that fail with the true fix too are left out, and so is every second failing test.
A fix is right if it passes what the true one passes: the suite and the files, the tests left out,
and the failing tests' files as the next commits left them.
"""

from __future__ import annotations

import ast
import subprocess
import time
from collections import Counter
from contextlib import suppress
from functools import partial
from itertools import chain
from posixpath import normpath
from statistics import quantiles
from typing import TYPE_CHECKING, Any

from benchmarks.bugs.checkout import Checkout
from benchmarks.bugs.collecting import lay_out, places, run_tests_of
from benchmarks.bugs.mining import DATA, clone_of, data_file, made_once, read_bugs, read_part
from benchmarks.suites.measuring import COLD
from benchmarks.suites.workspace import write_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    #: Tests, texts of their files that are written before, and those that pass with the true fix.
    Wanted = tuple[Sequence[str], Mapping[str, str], frozenset[str]]

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
        row = made_once(path, partial(_fixed, checkout, bug))
        told = [{**one, "diff": "", "doubt": bool(one["doubt"])} for one in row["fixes"]]
        found.append({**row, "fixes": told})
    FIXED.mkdir(parents=True, exist_ok=True)
    if found:
        write_json(data_file(FIXED, name), found)
    return f"{len(found)} bugs, {time.monotonic() - began:.0f} s"


def _fixed(checkout: Checkout, bug: Mapping[str, Any]) -> dict[str, Any]:
    before = lay_out(checkout, bug)
    after = {file: checkout.text(bug["commit"], file) for file in bug["sources"]}
    files = sorted({node_id.partition("::")[0] for node_id in bug["failing"]})
    checkout.write(after)
    tests = sorted({_suite(file) for file in files})
    green = checkout.run_tests(tests)
    first: list[Wanted] = [(tests, {}, green.passed)]
    if not green.passed.issuperset(bug["failing"]):  # it does not end, or lacks them
        tests, green = files, checkout.run_tests(files)
        first.append((tests, {}, green.passed))
    checkout.write(before)
    hidden = [*sorted(bug["failing"])[1::2], *green.failed]
    left_out = [f"--deselect={node_id}" for node_id in hidden]
    ran, result = run_tests_of(checkout, bug, (*SEARCH, *left_out), tests=tests)
    fixes = [
        {key: one[key] for key in ("tool", "verified", "doubt", "diff")}
        for one in result.get("fixes", ())
    ]
    texts = [_patched(checkout, one["diff"]) if one["verified"] else {} for one in fixes]
    wanted = chain(first, _later(checkout, bug["commit"], files, after))
    verdicts = judged(checkout, after, [own and {**before, **own} for own in texts], wanted)
    for one, own, is_right in zip(fixes, texts, verdicts, strict=True):
        one["right"] = one["verified"] and is_right
        one["same"] = one["verified"] and _same(own, after)
    seconds = result.get("session", {}).get("seconds", {})
    guilty = set(places(bug))
    ranking = [(normpath(row["file"]), row["qualname"]) for row in result.get("ranking", ())]
    return {
        "commit": bug["commit"],
        "first": bool(ranking and ranking[0] in guilty),
        "n_statements": n_changed_statements(before, after),
        "fixes": fixes,
        "cpu_s": round(ran.cpu_s - green.cpu_s, 2),
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


def judged(
    checkout: Checkout,
    after: Mapping[str, str],
    texts: Sequence[Mapping[str, str]],
    wanted: Iterable[Wanted],
) -> list[bool]:
    """Which of ``texts`` pass all that the true fix passes; where that is nothing, none does."""
    same = [_same(own, after) for own in texts]
    still = [bool(own) for own in texts]
    n_passed = 0
    for tests, files, passed in wanted:
        n_passed += len(passed)
        if not any(is_right and not is_same for is_right, is_same in zip(still, same, strict=True)):
            break
        for n, own in enumerate(texts):
            if passed and still[n] and not same[n]:
                still[n] = passed <= _passed(checkout, tests, {**after, **own, **files})
    return [
        is_same or (is_right and n_passed > 0)
        for is_right, is_same in zip(still, same, strict=True)
    ]


def _later(
    checkout: Checkout, commit: str, files: Sequence[str], after: Mapping[str, str]
) -> Iterator[Wanted]:
    """The tests' files as the next commits that change one of them leave them."""
    span = f"{commit}..origin/HEAD"
    commits = checkout.git("log", "--reverse", "--format=%H", span, "--", *files).split()
    with suppress(subprocess.CalledProcessError):  # one is renamed
        for later in commits[:N_LATER]:
            tests = {file: checkout.text(later, file) for file in files}
            yield files, tests, _passed(checkout, files, {**after, **tests})


def _passed(checkout: Checkout, tests: Sequence[str], texts: Mapping[str, str]) -> frozenset[str]:
    """The tests that pass with other texts of files, which are as before then."""
    now = {file: (checkout.tree / file).read_text("utf-8") for file in texts}
    checkout.write(texts)
    passed = checkout.run_tests(tests).passed
    checkout.write(now)
    return passed


def _suite(file: str) -> str:
    """The outermost folder of tests that holds ``file``; the file where there is none."""
    parts = file.split("/")
    named = (n for n, part in enumerate(parts[:-1], 1) if part.startswith("test"))
    return "/".join(parts[: next(named, len(parts))])


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
    rows = read_part(FIXED, part)
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
    same = sum(any(one.get("same") for one in row["fixes"]) for row in rows)
    yield f"bugs with a fix that is the true one to the letter: {same}"
    unchecked = sum(not one["verified"] for row in rows for one in row["fixes"])
    yield f"changes of tests, and hints: {unchecked}"
    for words, is_found in (("with a fix", True), ("without", False)):
        spent = [
            row["search_s"] for row in rows if any(o["verified"] for o in row["fixes"]) == is_found
        ]
        if len(spent) > 1:
            tenths = quantiles(spent, n=10, method="inclusive")
            yield f"seconds of a search {words}: median {tenths[4]:.1f}, 90 % {tenths[8]:.1f}"
