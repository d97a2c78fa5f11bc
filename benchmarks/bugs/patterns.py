"""Fixes of regular expressions: which are repaired by edits of the pattern, judged by its matches.

Nothing is run: the pattern before a fix and the one after it are held against the strings of the
tests that came with the fix, of those before it, and of those of today.
"""

from __future__ import annotations

import ast
import difflib
import json
import re
import subprocess
import time
import warnings
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import PurePosixPath
from statistics import quantiles
from typing import TYPE_CHECKING

from benchmarks.bugs.candidates import TESTS, is_source, is_test_file
from benchmarks.bugs.checkout import changed_files
from benchmarks.bugs.mining import DATA, clone_of, data_file
from benchmarks.bugs.repositories import NAMES, PARTS, is_sealed, part_of_repository
from benchmarks.suites.workspace import write_json
from pytest_bayesloc.fixes.matching import PatternCase, judged, outcomes
from pytest_bayesloc.fixes.mutations.regex_parts import branches_of, compiled, parts_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from pytest_bayesloc.domain.recording import MatchCall

PATTERNS = DATA / "patterns"
MAX_LINES = 12  # that a fix changes
MAX_TEXT = 2_000  # characters of a string
MAX_PATTERN = 800
N_OLD = 200  # strings of earlier tests that an edit must leave alone
N_NEW = 40
N_LATER = 3_000
N_TRIES = 60  # edits that tests would be run with
LIMIT_S = 10.0
RIGHT, PLAUSIBLE, NOTHING = "right", "plausible", "nothing"
_FLAGS = frozenset(re.RegexFlag.__members__) - {"DEBUG", "NOFLAG"}
_SPECIAL = re.compile(r"\\[dwsbSWD.]|\[[^\]]+\]|\(\?|[)\].\w][*+?]|\.\*|[\^$|]")


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternFix:
    """A commit that changes one pattern in the source, and tests.

    Attributes:
        repository: As ``owner/name``.
        commit: Its full name.
        parent: The commit before it.
        date: Of the commit, ISO.
        source: The file with the pattern.
        number: Of the pattern among the strings of the file, in the order of ``ast.walk``.
        tests: Files of tests that it changes.
        kind: Of change.
    """

    repository: str
    commit: str
    parent: str
    date: str
    source: str
    number: int
    tests: tuple[str, ...]
    kind: str = ""


class Blobs:
    """Reads files of a clone at any commit."""

    def __init__(self, clone: Path) -> None:
        self._clone = clone
        command = ("git", "-C", str(clone), "cat-file", "--batch")
        self._git = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def log(self, *options: str, fields: str = "%H%x00%P%x00%cs") -> str:
        """Return all commits with the files that each changes."""
        form = f"--format=%x01{fields}%x02"
        command = ("git", "-C", str(self._clone), "log", "--diff-merges=first-parent", *options)
        done = subprocess.run(
            (*command, "--name-status", form, "HEAD"), capture_output=True, check=True
        )
        return done.stdout.decode("utf-8", "replace")

    def text(self, commit: str, file: str) -> str | None:
        """Return a file's text; None if the commit has no such file."""
        stdin, stdout = self._git.stdin, self._git.stdout
        if stdin is None or stdout is None:
            return None
        stdin.write(f"{commit}:{file}\n".encode("utf-8", "surrogateescape"))
        stdin.flush()
        _, *kind, size = stdout.readline().split()
        if kind != [b"blob"]:
            if size.isdigit():  # a folder
                stdout.read(int(size) + 1)
            return None
        return stdout.read(int(size) + 1)[:-1].decode("utf-8", "replace")

    def close(self) -> None:
        """End it."""
        self._git.kill()
        self._git.wait()
        for pipe in (self._git.stdin, self._git.stdout):
            if pipe is not None:
                pipe.close()


# -- finding them


def mine_patterns(name: str, *, clones: Path) -> str:
    """Find the fixes of patterns in a repository's history, and keep them in the project's data."""
    if is_sealed(name):
        return "sealed"
    blobs = Blobs(clone_of(name, clones))
    seen: set[tuple[str, str]] = set()
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for fix in _candidates(name, blobs):
            both = _patterns_of(blobs, fix)
            if both is not None and both[:2] not in seen and _subjects(blobs, fix, *both)[0]:
                seen.add(both[:2])
                found.append({**asdict(fix), "kind": kind_of(*both)})
    blobs.close()
    PATTERNS.mkdir(parents=True, exist_ok=True)
    if found:
        write_json(data_file(PATTERNS, name), found)
    return f"{len(found)} fixes of patterns"


def _candidates(name: str, blobs: Blobs) -> Iterator[PatternFix]:
    """Yield commits that change one string of one file of source, and tests, the newest first."""
    for entry in blobs.log().split("\x01")[1:]:
        header, _, status = entry.partition("\x02")
        commit, parents, date = header.split("\x00")
        files = changed_files(line for line in status.splitlines() if line.strip())
        sources = [file for file in files if is_source(file)]
        tests = tuple(file for file in files if is_of_tests(file) and files[file] != "D")
        if not parents or not tests or [files[file] for file in sources] != ["M"]:
            continue
        parent = parents.split()[0]
        before, after = (blobs.text(c, sources[0]) for c in (parent, commit))
        number = _changed_string(before, after) if before and after else None
        if number is not None:
            yield PatternFix(
                repository=name,
                commit=commit,
                parent=parent,
                date=date,
                source=sources[0],
                number=number,
                tests=tests,
            )


def is_of_tests(file: str) -> bool:
    """Say whether a file is one of tests, or of their data."""
    return is_test_file(file) or bool(TESTS & set(PurePosixPath(file).parts[:-1]))


def _changed_string(before: str, after: str) -> int | None:
    """Return the number of the one string in which two files differ; None if more differs."""
    old, new = (Counter(text.splitlines()) for text in (before, after))
    if max((new - old).total(), (old - new).total()) > MAX_LINES:
        return None
    try:
        trees = ast.parse(before), ast.parse(after)
    except (SyntaxError, ValueError, RecursionError):
        return None
    first, second = map(_strings, trees)
    if len(first) != len(second):
        return None
    differing = [
        i for i, (a, b) in enumerate(zip(first, second, strict=True)) if a.value != b.value
    ]
    for node in (*first, *second):
        node.value = ""
    same = len(differing) == 1 and ast.dump(trees[0]) == ast.dump(trees[1])
    return differing[0] if same else None


def _strings(tree: ast.AST) -> list[ast.Constant]:
    return [n for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)]


def _patterns_of(blobs: Blobs, fix: PatternFix) -> tuple[str, str, int] | None:
    """Return the pattern before and after, and its flags; None if it is no pattern."""
    found = []
    flags = 0
    for commit in (fix.parent, fix.commit):
        tree = ast.parse(blobs.text(commit, fix.source) or "")
        node = _strings(tree)[fix.number]
        found.append(str(node.value))
        flags = flags or _flags_of(tree, node)
    before, after = found
    if any("\n" in text for text in found):
        flags |= re.VERBOSE
    for text in found:
        is_plain = not _SPECIAL.search(text) or (text.count(" ") > 6 and "\\" not in text)
        if len(text) > MAX_PATTERN or is_plain or compiled(text, flags) is None:
            return None
    return before, after, flags


def _flags_of(tree: ast.AST, node: ast.Constant) -> int:
    """Return the flags that stand in the call that has the pattern, or the file's own ones."""
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and node in n.args]
    own = [n for n in ast.walk(tree) if isinstance(n, ast.Assign) and "flags" in _name(n).lower()]
    for place in (*calls, *own):
        names = {n.attr for n in ast.walk(place) if isinstance(n, ast.Attribute)} & _FLAGS
        if names:
            return sum({int(re.RegexFlag[name]) for name in names})
    return 0


def _name(assignment: ast.Assign) -> str:
    target = assignment.targets[0]
    return target.id if isinstance(target, ast.Name) else ""


#: Kinds by what is put in, or in the place of what: the first that fits.
_KINDS = (
    ("anchor", re.compile(r"(?:\^|\$|\\[bBAZ]|\(\?<?[=!].*\))*", re.DOTALL)),
    ("quantifier", re.compile(r"[*+?]|\{[\d,]+\}")),
    ("alternative", re.compile(r".*\|.*", re.DOTALL)),
    ("optional part", re.compile(r".*[?*]", re.DOTALL)),
    ("escape", re.compile(r"\\")),
    ("part", re.compile(r".*", re.DOTALL)),
)


def kind_of(before: str, after: str, flags: int) -> str:
    """Return the kind of change that makes ``after`` of ``before``."""
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    changes = [code for code in matcher.get_opcodes() if code[0] != "equal"]
    try:
        parts = list(parts_in(branches_of(before, flags)))
    except (ValueError, IndexError):
        parts = []
    if len(changes) > 1 or not parts:
        return "several"
    ((_, start, end, first, last),) = changes
    if any(p.kind == "class" and p.start < start and end < p.end for p in parts):
        return "class"
    is_quantifier = any(p.end <= start < end <= p.stop for p in parts)
    text = f"{before[start:end]}{after[first:last]}"
    if is_quantifier:
        return "quantifier"
    return next(kind for kind, pattern in _KINDS if pattern.fullmatch(text))


# -- the strings of tests


def _subjects(
    blobs: Blobs, fix: PatternFix, before: str, after: str, flags: int
) -> tuple[list[str], list[str], list[str]]:
    """Return strings of the tests: new, where any differs; earlier, which don't; later ones."""
    old, new, later = (
        _texts_at(blobs, commit, fix.tests) for commit in (fix.parent, fix.commit, "HEAD")
    )
    regexes = compiled(before, flags), compiled(after, flags)
    new = [text for text in new if text not in set(old)]
    differing = [text for text in new if _differ(*regexes, text)]
    kept = [text for text in old if not _differ(*regexes, text)]
    chosen = new[:N_NEW] if set(differing) <= set(new[:N_NEW]) else differing[:N_NEW]
    return chosen if differing else [], kept, [*later, *kept][:N_LATER]


def _texts_at(blobs: Blobs, commit: str, files: Sequence[str]) -> list[str]:
    found: dict[str, None] = {}
    for file in files:
        text = blobs.text(commit, file) or ""
        try:
            strings = [str(node.value) for node in _strings(ast.parse(text))]
        except (SyntaxError, ValueError, RecursionError):
            strings = [text]
        found |= dict.fromkeys(s for s in strings if 0 < len(s) <= MAX_TEXT)
    return list(found)


def _differ(one: re.Pattern[str] | None, other: re.Pattern[str] | None, text: str) -> bool:
    """Say whether two patterns match a text in another way."""
    if one is None or other is None:
        return True
    first, second = (outcomes(regex, _calls([text])) for regex in (one, other))
    if one.groups == other.groups or not first or not second:
        return first != second
    return _spans(first) != _spans(second)


def _spans(results: object) -> object:
    """Return where matches are, without their groups: of these, one pattern has more."""
    match results:
        case [(int(), int()) as span, tuple()]:
            return span
        case list():
            return [*map(_spans, results)]
    return results


def _calls(texts: Sequence[str]) -> tuple[MatchCall, ...]:
    return tuple((method, (text,)) for text in texts for method in ("match", "finditer"))


# -- repairing them


@dataclass(frozen=True, slots=True, kw_only=True)
class Repaired:
    """What came of one fix: how, of which kind, after how many tries, in how many seconds."""

    fix: PatternFix
    result: str
    n_tries: int
    seconds: float


def repaired(blobs: Blobs, fix: PatternFix) -> Repaired | None:
    """Search the pattern of a fix by its new tests; None if the fix is none any more."""
    both = _patterns_of(blobs, fix)
    new, old, later = _subjects(blobs, fix, *both) if both is not None else ([], [], [])
    if both is None or not new:
        return None
    before, after, flags = both
    case = PatternCase(text=before, flags=flags, failing=_calls(new), passing=_calls(old[:N_OLD]))
    began = time.monotonic()
    (edits,) = judged([case], new, LIMIT_S)
    seconds = time.monotonic() - began
    true = compiled(after, flags)
    passing = [
        edit.text
        for edit in edits[:N_TRIES]
        if not any(_differ(compiled(edit.text, flags), true, s) for s in (*new, *old[:N_OLD]))
    ]
    result = NOTHING
    if passing:
        first = compiled(passing[0], flags)
        is_same = not any(_differ(first, true, text) for text in later)
        result = RIGHT if is_same else PLAUSIBLE
    return Repaired(fix=fix, result=result, n_tries=len(edits[:N_TRIES]), seconds=seconds)


def repair_patterns(names: Sequence[str], clones: Path) -> list[Repaired]:
    """Search the patterns of all fixes of some repositories."""
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in names:
            path = data_file(PATTERNS, name)
            raws = json.loads(path.read_text("utf-8")) if path.is_file() else []
            blobs = Blobs(clone_of(name, clones))
            for raw in raws:
                one = repaired(blobs, PatternFix(**{**raw, "tests": tuple(raw["tests"])}))
                if one is not None:
                    found.append(one)
                    print(f"{one.result:10}{one.fix.kind:14}{name} {one.fix.commit[:12]}")
            blobs.close()
    return found


def report_patterns(names: Sequence[str], clones: Path) -> None:
    """Print how many fixes of patterns are repaired right, by part and by kind."""
    found = repair_patterns(names, clones)
    print()
    for title, chosen in (
        ("all", found),
        *(
            (part, [o for o in found if part_of_repository(o.fix.repository) == part])
            for part in PARTS
        ),
        *(
            (kind, [o for o in found if o.fix.kind == kind])
            for kind in sorted({o.fix.kind for o in found})
        ),
    ):
        if chosen:
            n = Counter(one.result for one in chosen)
            share = f"{n[RIGHT]:3} right ({n[RIGHT] / len(chosen):.0%})"
            rest = f"{n[PLAUSIBLE]} plausible, {n[NOTHING]} nothing"
            print(f"{title:14}{len(chosen):4} fixes: {share}, {rest}")
    seconds = quantiles([one.seconds for one in found], n=10, method="inclusive")
    print(f"seconds: median {seconds[4]:.1f}, 90th percentile {seconds[8]:.1f}")


PATTERN_NAMES = tuple(name for name in NAMES if not is_sealed(name))
