"""Small broken projects, by kind of mistake, and how each fares with the plugin.

A file of ``corpus`` holds the projects of one kind: ``===`` starts a project with its name, ``---``
a file of it. A file marked ``held`` is a test that the search does not see. Projects whose names
start with ``sealed:`` are not looked at while tools are made. Where the code is right and a test is
not, ``shown`` holds words of what is to be shown, and no fix of the code is right.
"""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

CORPUS = Path(__file__).with_name("corpus")
SEALED, HELD, SHOWN = "sealed: ", "held ", "shown"
OPTIONS = (
    *("-q", "-p", "no:cacheprovider"),
    *("--bayesloc-fix=suggest", "--bayesloc-memory=off"),
)
LIMIT_S = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenProject:
    """A project with a mistake in it.

    Attributes:
        kind: Of the mistake.
        name: What is wrong.
        files: Texts by path.
        held: Tests that the search does not see, likewise.
        shown: Words that are shown beside the test if it is the test that is wrong; else empty.
    """

    kind: str
    name: str
    files: Mapping[str, str]
    held: Mapping[str, str]
    shown: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fate:
    """What came of one project.

    Attributes:
        project: Its kind and name.
        is_verified: Whether a verified fix was shown.
        is_doubted: Whether one of them was shown with the words that it is probably wrong.
        is_right: Whether all tests, held ones too, pass with the first of each fault; of a wrong
            test, whether no fix was shown but the words for it.
        seconds: Wall seconds of the search.
        words: What the first fix does, else the first note.
    """

    project: BrokenProject
    is_verified: bool
    is_doubted: bool
    is_right: bool
    seconds: float
    words: str

    @property
    def state(self) -> str:
        """The fate in one word."""
        if self.is_right or not self.is_verified:
            return "right" if self.is_right else "none"
        return "doubt" if self.is_doubted else "wrong"


def projects(kinds: Sequence[str] = (), *, sealed: bool = False) -> Iterator[BrokenProject]:
    """Yield the projects of ``kinds``, of all where none is named; sealed ones if ``sealed``."""
    for path in sorted(CORPUS.glob("*.txt")):
        if kinds and path.stem not in kinds:
            continue
        for head, texts in sections(path):
            project = _project(path.stem, head, texts)
            if project.name.startswith(SEALED) == sealed:
                yield project


def sections(path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield each project of a file: what stands above its files, and their texts by title."""
    for part in re.split(r"^=== ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        head, *below = re.split(r"^--- ", part, flags=re.MULTILINE)
        titled = (section.partition("\n") for section in below)
        yield head.strip(), {title: text for title, _, text in titled}


def measure(
    kinds: Sequence[str], python: Path, budget_s: float, *, jobs: int, sealed: bool
) -> None:
    """Search a fix for each project and print what came of it.

    Raises:
        SystemExit: If there is no such project.
    """
    chosen = list(projects(kinds, sealed=sealed))
    if not chosen:
        names = ", ".join(path.stem for path in sorted(CORPUS.glob("*.txt")))
        raise SystemExit(
            f"No project of {', '.join(kinds)}: with or without --sealed, take {names}"
        )
    fates = []
    search = partial(searched, python=python, budget_s=budget_s)
    with ThreadPoolExecutor(jobs) as pool:
        for fate in pool.map(search, chosen):
            name = f"{fate.project.kind}: {fate.project.name}"
            print(f"{fate.state:6} {fate.seconds:5.1f} s  {name}: {fate.words}", flush=True)
            fates.append(fate)
    for kind in dict.fromkeys(fate.project.kind for fate in fates):
        _summarize(kind, [fate for fate in fates if fate.project.kind == kind])
    _summarize("all", fates)


def _summarize(title: str, fates: Sequence[Fate]) -> None:
    states = Counter(fate.state for fate in fates)
    n_held_back = sum(fate.is_right and fate.is_doubted for fate in fates)
    n_sure = states["right"] + states["wrong"] - n_held_back
    seconds = [fate.seconds for fate in fates]
    late = quantiles(seconds, n=20, method="inclusive")[-1] if len(fates) > 1 else seconds[0]
    print(
        f"{title}: {states['right']} of {len(fates)} right and first ({n_held_back} of them told "
        f"as probably wrong), {states['wrong']} of {n_sure} wrong, {states['doubt']} more told as "
        "probably wrong; "
        f"{median(seconds):.1f} s at the median, {late:.1f} s at 95 %"
    )


def searched(project: BrokenProject, python: Path, budget_s: float) -> Fate:
    """Search fixes in a copy of the project, and hold the first of each fault against all tests."""
    with tempfile.TemporaryDirectory(prefix="bayesloc-corpus-") as name:
        root = Path(name)
        write(root, project.files)
        result = root / "result.json"
        options = (*OPTIONS, f"--bayesloc-budget={budget_s:g}", f"--bayesloc-report=json:{result}")
        _run([str(python), "-m", "pytest", *options], root)
        document = json.loads(result.read_text("utf-8")) if result.is_file() else {}
        fixes = document.get("fixes", ())
        first = {fix["fault"]: fix for fix in reversed(fixes) if fix["verified"]}
        chosen = list({first[fault]["diff"]: first[fault] for fault in sorted(first)}.values())
        if project.shown:
            is_right = not chosen and any(project.shown in fix["words"] for fix in fixes)
        else:
            is_right = bool(chosen) and _is_right(root, project, chosen, python)
        notes = [*(fix["words"] for fix in fixes), *document.get("partial", ()), "no result"]
        return Fate(
            project=project,
            is_verified=bool(chosen),
            is_doubted=any(fix.get("doubt") for fix in chosen),
            is_right=is_right,
            seconds=document.get("session", {}).get("seconds", {}).get("fix", 0.0),
            words=str(chosen[0]["words"] if chosen else notes[0])[:200],
        )


def _is_right(
    root: Path, project: BrokenProject, fixes: Sequence[Mapping[str, Any]], python: Path
) -> bool:
    """Whether all tests pass with the first fix of each fault, or with one that holds them all."""
    for chosen in (fixes, *([fix] for fix in reversed(fixes))):
        if _fixed(root, project, chosen):
            write(root, project.held)
            if not _run([str(python), "-m", "pytest", "-q", "--no-bayesloc"], root):
                return True
    return False


def _fixed(root: Path, project: BrokenProject, fixes: Sequence[Mapping[str, Any]]) -> bool:
    """Write the project with fixes, merged as git merges branches; whether that is possible."""
    made = dict(project.files)
    for fix in fixes:
        write(root, project.files)
        if _run(["git", "apply", str(fix["patch_file"])], root):
            return False
        for file, base in project.files.items():
            write(root, {"base": base, "made": made[file]})
            if _run(["git", "merge-file", "made", "base", file], root):
                return False
            made[file] = (root / "made").read_bytes().decode()
    write(root, made)
    return True


def _project(kind: str, head: str, texts: Mapping[str, str]) -> BrokenProject:
    return BrokenProject(
        kind=kind,
        name=head,
        files={f: text for f, text in texts.items() if not f.startswith(HELD) and f != SHOWN},
        held={f.removeprefix(HELD): text for f, text in texts.items() if f.startswith(HELD)},
        shown=texts.get(SHOWN, "").strip(),
    )


def write(root: Path, files: Mapping[str, str]) -> None:
    """Write texts by path below a folder."""
    for file, text in files.items():
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_text(text, encoding="utf-8")


def _run(command: Sequence[str], root: Path) -> int:
    done = subprocess.run(
        command,
        cwd=root,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=LIMIT_S,
        check=False,
    )
    return done.returncode
