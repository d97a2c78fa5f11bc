"""Commits that look like bug fixes with tests of their own."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from benchmarks.bugs.checkout import changed_files

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.bugs.checkout import Checkout

MAX_SOURCES = 3
N_FIELDS = 5
#: What a message of a fix says; and what one of a new feature says, which then decides.
FIX = re.compile(
    r"\b(?:fix\w*|bugs?|bugfix\w*|crash\w*|regress\w*|incorrect\w*|wrong\w*|broken|breaks?|"
    r"correct\w*|properly|avoid\w*|prevent\w*|fail\w*|issue\w*|mistake\w*|leak\w*|handl\w+|"
    r"don'?t|doesn'?t|do not|should|must|instead|error\w*|exception\w*|raise\w*)\b|#\d+",
    re.IGNORECASE,
)
FEATURE = re.compile(
    r"\b(?:feat\w*|implement\w*|new (?:option|argument|method|function|parameter|class|rule)|"
    r"support(?:s|ed)? for|add(?:s|ed|ing)? (?:a |an |new |optional )?(?:support|option|argument|"
    r"parameter|method|function|class|flag|setting|rule|plugin|hook)|deprecat\w*|refactor\w*|"
    r"renam\w*|typing|type hints?|annotations?|release|bump|pre-commit|lint\w*|drop\w*|"
    r"python ?3\.\d+|black|ruff|mypy|py3|performance|speed ?up|locale|translations?)\b",
    re.IGNORECASE,
)
MERGE = re.compile(r"^Merge (?:pull request #\d+ from|branch|remote-tracking branch) ?")
TESTS = frozenset({"test", "tests", "testing", "testsuite", "unittests"})
ASIDE = frozenset(
    {
        *("docs", "doc", "docs_src", "examples", "example"),
        *("scripts", "benchmarks", "benchmark", "tools", "tasks"),
    }
)
BUILDING = frozenset({"setup.py", "noxfile.py", "conftest.py", "tasks.py", "fabfile.py"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A commit that changes source and tests.

    Attributes:
        commit: Its full name.
        parent: The commit before it, on the main line.
        date: Of the commit, ISO.
        subject: First line of the message; of a merge, of what was merged.
        sources: Files of source that it changes.
        tests: Files of tests that it changes or adds.
    """

    commit: str
    parent: str
    date: str
    subject: str
    sources: tuple[str, ...]
    tests: tuple[str, ...]


def candidates(checkout: Checkout) -> Iterator[Candidate]:
    """Those of a repository's main line, the newest first."""
    log = checkout.git(
        "log",
        "--first-parent",
        "--diff-merges=first-parent",
        "--name-status",
        "--format=%x01%H%x00%P%x00%cs%x00%s%x00%b%x02",
        "origin/HEAD",
    )
    for entry in log.split("\x01")[1:]:
        header, _, status = entry.partition("\x02")
        fields = header.split("\x00")
        if len(fields) != N_FIELDS:  # a message that holds the separators itself
            continue
        commit, parents, date, subject, body = fields
        if not parents or not speaks_of_fix(subject, body):
            continue
        changed = changed_files(line for line in status.splitlines() if line)
        sources = [file for file in changed if is_source(file)]
        tests = [file for file in changed if is_test_file(file) and changed[file] != "D"]
        is_plain = all(changed[file] == "M" for file in sources)
        if tests and 0 < len(sources) <= MAX_SOURCES and is_plain and not has_data(changed):
            yield Candidate(
                commit=commit,
                parent=parents.split()[0],
                date=date,
                subject=subject,
                sources=tuple(sources),
                tests=tuple(tests),
            )


def speaks_of_fix(subject: str, body: str) -> bool:
    """Whether the message of a commit is one of a fix, not of a feature; of a merge, its text."""
    merged = MERGE.sub("", subject)
    told = subject if merged == subject else f"{merged}\n{body[:300]}"
    return bool(FIX.search(told)) and not FEATURE.search(told)


def is_test_file(file: str) -> bool:
    """Whether pytest would collect the Python file by its name, at the usual places."""
    path = PurePosixPath(file)
    if path.suffix != ".py" or path.name in {"conftest.py", "__init__.py"}:
        return False
    is_named = path.stem.startswith("test") or path.stem.endswith(("_test", "_tests"))
    return is_named or bool(TESTS & set(path.parts[:-1]))


def is_source(file: str) -> bool:
    """Whether it is code that users run."""
    path = PurePosixPath(file)
    is_aside = bool((TESTS | ASIDE) & set(path.parts[:-1])) or path.name in BUILDING
    return path.suffix == ".py" and not is_aside and not is_test_file(file)


def has_data(changed: dict[str, str]) -> bool:
    """Whether data beside the source changes, which may be what is fixed."""
    kept = {".md", ".rst", ".txt", ".cfg", ".toml", ".yml", ".yaml", ".ini", ".pyi", ".py", ""}
    outside = TESTS | ASIDE | {"changelog", "changes", "news", "newsfragments", ".github"}
    paths = [PurePosixPath(file) for file in changed]
    return any(
        path.suffix not in kept and not outside & {part.lower() for part in path.parts[:-1]}
        for path in paths
    )
