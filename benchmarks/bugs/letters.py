"""Small fixes of real histories, against the edits that the search makes.

Which kinds of edit are the very fix, per edit made? Nothing is run: the function before a fix gets
every edit of every mutation, as if all of its lines were equally suspicious and nothing else known
of it, and each is compared with the function after the fix.
"""

from __future__ import annotations

import ast
import difflib
import json
import math
import random
import re
import time
import warnings
from collections import Counter
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import islice, zip_longest
from typing import TYPE_CHECKING

from benchmarks.bugs.candidates import N_FIELDS, has_data, is_source, speaks_of_fix
from benchmarks.bugs.checkout import changed_files
from benchmarks.bugs.fixed import FEW, n_changed_statements
from benchmarks.bugs.mining import DATA, clone_of, data_file
from benchmarks.bugs.patterns import Blobs, is_of_tests
from benchmarks.bugs.repositories import NAMES, part_of_repository
from benchmarks.faults.split import FIT
from benchmarks.suites.workspace import write_json
from pytest_bayesloc.domain.source import FunctionNode, SourceMap, lines_of
from pytest_bayesloc.fixes.mutations import FIRST, FURTHER, name_of
from pytest_bayesloc.fixes.plausibility import UNUSUAL, USUAL, WEIGHTS
from pytest_bayesloc.fixes.site import Site
from pytest_bayesloc.syntax.text import TextEdit, by_themselves, differing_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from pytest_bayesloc.domain.source import Unit

LETTERS = DATA / "letters"
LETTER_NAMES = tuple(name for name in NAMES if part_of_repository(name) == FIT)
MOST = 60  # fixes of one repository
MAX_LINES = 30  # that a fix changes
MOST_EDITS = 400  # of one mutation at one function
LIMIT_S = 20.0
PRIOR = 2.0  # hits that the present weight of a kind counts as
MAX_SHOWN = 14  # lines of a diff
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallFix:
    """A commit that changes at most two statements of one function.

    Attributes:
        commit: Its full name.
        file: Of the function.
        qualname: Of the function.
        has_tests: Whether it changes tests as well.
        n_statements: That differ; none where order alone does, or what a handler catches.
    """

    commit: str
    file: str
    qualname: str
    has_tests: bool
    n_statements: int


@dataclass(frozen=True, kw_only=True)
class Changed:
    """A function before and after a fix, which changes nothing else of the file.

    Attributes:
        source: The file before.
        unit: The function before.
        before: Its lines, with its decorators.
        after: Its lines after the fix.
    """

    source: SourceMap = field(repr=False)
    unit: Unit
    before: Sequence[str]
    after: Sequence[str]

    @cached_property
    def trees(self) -> tuple[ast.Module | None, ast.Module | None]:
        """The function before and after; None for what does not parse by itself."""
        return plain(self.before), plain(self.after)

    @cached_property
    def is_small(self) -> bool:
        """Whether code changes, but no more than two statements."""
        old, new = self.trees
        if old is None or new is None or ast.dump(old) == ast.dump(new):
            return False
        return self.n_statements <= FEW

    @cached_property
    def n_statements(self) -> int:
        """The number of statements that differ."""
        old, new = ({"": ast.unparse(tree)} for tree in self.trees if tree)
        return n_changed_statements(old, new)


# -- finding them


def mine_letters(name: str, *, clones: Path) -> str:
    """Find the small fixes in a repository's history, and keep them in the project's data."""
    if part_of_repository(name) != FIT:
        return f"not of the part {FIT}"
    if not clone_of(name, clones).is_dir():
        return "no clone"
    blobs = Blobs(clone_of(name, clones))
    commits = sorted(_commits(blobs), key=lambda commit: not commit[2])
    found = [asdict(fix) for fix in islice(_small_fixes(blobs, commits), MOST)]
    blobs.close()
    LETTERS.mkdir(parents=True, exist_ok=True)
    if found:
        write_json(data_file(LETTERS, name), found)
    return f"{len(found)} small fixes, {sum(fix['has_tests'] for fix in found)} with tests"


def _commits(blobs: Blobs) -> Iterator[tuple[str, str, bool]]:
    """Yield fixes of one file of source, the newest first: commit, file, whether tests change."""
    log = blobs.log("--first-parent", "--no-renames", fields="%H%x00%P%x00%cs%x00%s%x00%b")
    for entry in log.split("\x01")[1:]:
        header, _, status = entry.partition("\x02")
        fields = header.split("\x00")
        if len(fields) != N_FIELDS or not fields[1] or not speaks_of_fix(*fields[3:]):
            continue
        files = changed_files(line for line in status.splitlines() if line.strip())
        sources = [file for file in files if is_source(file)]
        if [files[file] for file in sources] == ["M"] and not has_data(files):
            yield fields[0], sources[0], any(map(is_of_tests, files))


def _small_fixes(blobs: Blobs, commits: Iterable[tuple[str, str, bool]]) -> Iterator[SmallFix]:
    """Yield the fixes of one function among commits, but none that was made before."""
    seen = set()
    for commit, file, has_tests in commits:
        changed = _changed_by(blobs, commit, file)
        if changed is None or not changed.is_small:
            continue
        texts = "".join(changed.before), "".join(changed.after)
        if texts not in seen:
            seen.add(texts)
            yield SmallFix(
                commit=commit,
                file=file,
                qualname=changed.unit.location.qualname,
                has_tests=has_tests,
                n_statements=changed.n_statements,
            )


def _changed_by(blobs: Blobs, commit: str, file: str) -> Changed | None:
    before, after = (blobs.text(own, file) for own in (f"{commit}^", commit))
    return changed_function(before, after, file) if before and after else None


def changed_function(before: str, after: str, file: str) -> Changed | None:
    """Return the one function in which two texts of a file differ; None if more differs.

    Comments elsewhere may differ. A long change is none.
    """
    old, new = (Counter(lines_of(text)) for text in (before, after))
    if max((new - old).total(), (old - new).total()) > MAX_LINES:
        return None
    spans = list(_spans(before, after))
    sources = SourceMap(before, file), SourceMap(after, file)
    if not spans or any(source.is_broken for source in sources):
        return None
    ours, theirs = (
        list(_around(source, [both[n] for both in spans])) for n, source in enumerate(sources)
    )
    for unit in reversed(ours):  # inner ones first
        for other in theirs:
            if unit.first_line == other.first_line and _name(unit) == _name(other):
                return Changed(
                    source=sources[0],
                    unit=unit,
                    before=_lines(before, unit),
                    after=_lines(after, other),
                )
    return None


def _spans(before: str, after: str) -> Iterator[tuple[range, range]]:
    """Yield the lines, from 0, in which the code of two texts differs, blank ones trimmed."""
    old, new = lines_of(before), lines_of(after)
    shift = 0
    for start, end, lines in differing_lines(before, after):
        ours = _trimmed(old, range(start, end))
        theirs = _trimmed(new, range(start + shift, start + shift + len(lines)))
        shift += len(lines) - (end - start)
        changed = [old[n] for n in ours] + [new[n] for n in theirs]
        if not all(line.strip()[:1] in {"", "#"} for line in changed):
            yield ours, theirs


def _trimmed(lines: Sequence[str], span: range) -> range:
    while span and not lines[span[-1]].strip():
        span = span[:-1]
    while len(span) > 1 and not lines[span[0]].strip():
        span = span[1:]
    return span


def _around(source: SourceMap, spans: Sequence[range]) -> Iterator[Unit]:
    """Yield the functions that hold all ``spans``, outer ones first."""
    start, stop = min(s.start for s in spans), max(s.stop for s in spans)
    for unit in source.units:
        if unit.is_function and unit.first_line - 1 <= start and stop <= unit.location.end_line:
            yield unit


def _name(unit: Unit) -> str:
    return unit.location.qualname


def _lines(text: str, unit: Unit) -> list[str]:
    return lines_of(text)[unit.first_line - 1 : unit.location.end_line]


def plain(lines: Sequence[str]) -> ast.Module | None:
    """Return a function without its docstrings and annotations; None if it does not parse."""
    try:
        tree = ast.parse(by_themselves(lines))
    except (SyntaxError, ValueError, RecursionError):
        return None
    _Bare().visit(tree)
    return ast.fix_missing_locations(tree)


class _Bare(ast.NodeTransformer):
    """Leaves out docstrings and annotations."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._bare(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return self._bare(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        self.generic_visit(node)
        if node.value is None:
            return ast.Pass()
        return ast.Assign(targets=[node.target], value=node.value)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def _bare(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        self.generic_visit(node)
        node.returns = None
        if ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        return node


# -- comparing them with edits


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """The edits of one function.

    Attributes:
        n_edits: Per kind, the number of edits.
        ranks: Per kind that makes the very fix, the place of that edit among its own, from 1.
    """

    n_edits: Mapping[str, int]
    ranks: Mapping[str, int]


def tried(changed: Changed) -> Tried:
    """Make the edits of a function, and compare each with the true fix.

    An edit that two kinds make counts for the one whose turn comes first, as in the search.
    """
    old, new = changed.trees
    if old is None or new is None:
        return Tried(n_edits={}, ranks={})
    true, words = ast.dump(new), _difference(ast.unparse(old), ast.unparse(new))
    n_edits: Counter[str] = Counter()
    ranks: dict[str, int] = {}
    for name, removed, added, text in _edited(changed):
        n_edits[name] += 1
        # To parse is slow. Edits replace whole nodes, and thereby whole words.
        if "#" in removed or _difference(removed, added) == words:
            tree = plain(lines_of(text))
            if tree is not None and ast.dump(tree) == true:
                ranks.setdefault(name, n_edits[name])
    return Tried(n_edits=n_edits, ranks=ranks)


def _difference(old: str, new: str) -> tuple[Counter[str], Counter[str]]:
    """Return the words that are gone and those that are new, each as often as it is so."""
    before, after = (Counter(_WORD.findall(text)) for text in (old, new))
    return before - after, after - before


def _edited(changed: Changed) -> Iterator[tuple[str, str, str, str]]:
    """Yield each edit, kinds in turn: its kind, text before, text after, and the whole function."""
    node, source = changed.unit.node, changed.source
    if not isinstance(node, FunctionNode):
        return
    site = Site(source.text, source.module.node, node)
    span = range(changed.unit.first_line, changed.unit.location.end_line + 1)
    start, end = site.at(span.start), site.at(span.stop)
    seen = {site.between(start, end)}
    for name, edit in _in_turn(site, span):
        if not start <= edit.start <= edit.end <= end:
            continue
        text = site.between(start, edit.start) + edit.text + site.between(edit.end, end)
        if text not in seen:
            seen.add(text)
            yield name, site.between(edit.start, edit.end), edit.text, text


def _in_turn(site: Site, span: range) -> Iterator[tuple[str, TextEdit]]:
    """Yield the first edits of each mutation; those whose turn comes after the limit make none."""
    until = time.process_time() + LIMIT_S
    turns = []
    for mutation in (*FIRST, *FURTHER):
        if time.process_time() < until:
            edits = [edit for edit in islice(mutation(site), MOST_EDITS) if edit.line in span]
            turns.append([(name_of(mutation), edit) for edit in edits])
    for turn in zip_longest(*turns):
        yield from (made for made in turn if made is not None)


@dataclass(slots=True, kw_only=True)
class Kind:
    """The edits of one kind at all functions.

    Attributes:
        name: Of the kind.
        n_edits: That were made.
        n_sites: Functions where any was made.
        ranks: Of each very fix among the edits of this kind at its function.
    """

    name: str
    n_edits: int = 0
    n_sites: int = 0
    ranks: list[int] = field(default_factory=list)

    @property
    def n_hits(self) -> int:
        """The number of fixes that it makes to the letter."""
        return len(self.ranks)

    @property
    def per_thousand(self) -> float:
        """Such fixes per thousand edits; 0 of none."""
        return 1000 * self.n_hits / self.n_edits if self.n_edits else 0.0

    @property
    def n_told(self) -> float:
        """The number of edits, each of a place after the first ``USUAL`` as less than one."""
        mean = self.n_edits / self.n_sites if self.n_sites else 0.0
        more = 1 + math.log(mean / USUAL) if mean > USUAL else mean / USUAL
        return self.n_sites * USUAL * more

    @property
    def weight(self) -> float:
        """Its present weight."""
        return WEIGHTS.get(self.name, UNUSUAL)


def kinds_of(all_tried: Iterable[Tried]) -> list[Kind]:
    """Return the kinds, those with the most hits first, then those with most hits per edit."""
    kinds = {name: Kind(name=name) for name in map(name_of, (*FIRST, *FURTHER))}
    for one in all_tried:
        for name, n in one.n_edits.items():
            kinds[name].n_edits += n
            kinds[name].n_sites += 1
        for name, rank in one.ranks.items():
            kinds[name].ranks.append(rank)
    return sorted(kinds.values(), key=lambda kind: (-kind.n_hits, -kind.per_thousand, kind.name))


def suggested(kinds: Sequence[Kind]) -> dict[str, float]:
    """Return weights by which the present ones and the hits per edit speak together.

    Of the many edits that a kind may make at a place, those after the first ``USUAL`` count less,
    as in a search. Present weights are scaled so that they foretell as many hits as there are, and
    count as ``PRIOR`` hits each; the result is on the scale of the present ones. They stay as they
    are where there are no hits at all.
    """
    told = sum(kind.weight * kind.n_told for kind in kinds)
    scale = sum(kind.n_hits for kind in kinds) / told if told else 0.0
    return {
        kind.name: (PRIOR + kind.n_hits) / (PRIOR / (scale * kind.weight) + kind.n_told) / scale
        if scale
        else kind.weight
        for kind in kinds
    }


def report_letters(names: Sequence[str], clones: Path, *, n_missed: int = 0) -> None:
    """Print how often each kind of edit is the very fix, and some fixes that none is."""
    all_tried, missed = [], []
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for title, changed in _kept(names, clones):
            one = tried(changed)
            all_tried.append(one)
            if not one.ranks:
                missed.append(f"\n{title}\n{''.join(_diff(changed))}")
    print("\n".join(table(all_tried)))
    print(f"\n{time.process_time() - began:.0f} CPU seconds")
    print("".join(random.Random(0).sample(missed, min(n_missed, len(missed)))), end="")


def _kept(names: Sequence[str], clones: Path) -> Iterator[tuple[str, Changed]]:
    """Yield the fixes in the project's data, with words for each."""
    for name in names:
        path = data_file(LETTERS, name)
        if part_of_repository(name) != FIT or not path.is_file():
            continue
        blobs = Blobs(clone_of(name, clones))
        for raw in json.loads(path.read_text("utf-8")):
            fix = SmallFix(**raw)
            changed = _changed_by(blobs, fix.commit, fix.file)
            if changed is not None:
                yield f"{name} {fix.commit[:12]} {fix.file} {fix.qualname}", changed
        blobs.close()


def table(all_tried: Sequence[Tried]) -> Iterator[str]:
    """Yield lines that say what each kind of edit came to, as Markdown."""
    kinds = kinds_of(all_tried)
    weights = suggested(kinds)
    yield "| kind | hits | edits | sites | per 1,000 edits | mean rank | weight | suggested |"
    yield "|---|---|---|---|---|---|---|---|"
    for kind in kinds:
        rank = f"{sum(kind.ranks) / kind.n_hits:.1f}" if kind.ranks else ""
        yield (
            f"| {kind.name} | {kind.n_hits} | {kind.n_edits} | {kind.n_sites} | "
            f"{kind.per_thousand:.2f} | {rank} | {kind.weight:g} | {weights[kind.name]:.2f} |"
        )
    n_edits = sum(kind.n_edits for kind in kinds)
    n_made = sum(bool(one.ranks) for one in all_tried)
    share = f" ({n_made / len(all_tried):.1%})" if all_tried else ""
    yield f"\n{len(all_tried)} fixes, {n_made} made to the letter{share}, by {n_edits} edits"


def _diff(changed: Changed) -> Iterator[str]:
    lines = difflib.unified_diff(changed.before, changed.after, n=2)
    for line in islice(lines, 2, MAX_SHOWN + 1):
        yield line if line.endswith("\n") else f"{line}\n"
