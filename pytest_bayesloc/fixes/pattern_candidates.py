"""Candidates that edit a regular expression of the project, which the failing tests asked.

Reference:
    docs/fixes.md, section "Regular expressions".
"""

from __future__ import annotations

import ast
import difflib
import io
import re
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeAlias

from pytest_bayesloc.domain.inspection import InspectionPatch, Verdict
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.ports import Clock, Runner
from pytest_bayesloc.domain.recording import MatchCall
from pytest_bayesloc.domain.source import FORMATTED, SourceMap, tree_of
from pytest_bayesloc.domain.texts import common_ends
from pytest_bayesloc.fixes.candidate import EDIT, PATTERN, Candidate
from pytest_bayesloc.fixes.matching import JudgedEdit, PatternCase, judged, subjects_of
from pytest_bayesloc.fixes.mutations.regex_parts import branches_of, literals_of
from pytest_bayesloc.fixes.tasks import texts_of_tests
from pytest_bayesloc.ranking.case import Case
from pytest_bayesloc.spectrum.sources import FileKind, Sources
from pytest_bayesloc.syntax.nodes import attributes_in, names_in, nodes_of, targets
from pytest_bayesloc.syntax.text import Text, brief

#: Per pattern and flags, the calls, each once.
Asked: TypeAlias = "dict[tuple[str, int], dict[MatchCall, None]]"

N_FAILING = 5  # tests that are watched
N_PASSING = 40
N_SUSPECTS = 10  # whose tests these are
N_PATTERNS = 40  # that are edited
N_TRIES = 80  # edits that a failing test is run with
ENOUGH = 2  # of them that pass
JUDGE_S = 10.0
LIMIT_S = 5.0  # of the tests with one edit
RELEVANCE = 3.0  # of a pattern all of whose words stand in the texts
LEAST_BELIEF = 0.02  # of a place that is no suspect
MAX_LITERAL = 2_000
_IMPORTS = re.compile(r"^\s*(?:import|from) +(?:re|regex)\b|, *re\b", re.MULTILINE)
_SPECIAL = re.compile(r"[\\\[\](){}|*+?^$.]")


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternLiteral:
    """A string of the project that is a pattern which was asked, or a part of one.

    Attributes:
        source: The file.
        node: The string.
        belief: P(faulty) of the likeliest function that uses it.
        target: The function in whose body it stands; None if it stands elsewhere.
    """

    source: SourceMap
    node: ast.Constant
    belief: float
    target: Location | None

    @property
    def value(self) -> str:
        """The text that it stands for."""
        return str(self.node.value)


def uses_patterns(case: Case, sources: Sources) -> bool:
    """Say whether a file of the likeliest suspects works with regular expressions."""
    files = dict.fromkeys(where.file for where in case.targets()[:N_SUSPECTS])
    return any(_IMPORTS.search(sources.read(file) or "") for file in files)


def watched_tests(case: Case) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the failing tests, and the passing ones near them, whose patterns are watched."""
    targets = case.targets()[:N_SUSPECTS]
    return case.failing[:N_FAILING], case.near.union(targets, each=N_PASSING, at_most=N_PASSING)


@dataclass(kw_only=True)
class PatternSearch:
    """Searches edits of patterns with which the failing tests pass.

    Attributes:
        case: The group of failing tests.
        sources: The project's files.
        failing: Tests that fail each time.
        passing: Tests that passed.
        runner: Runs them in a server that watches patterns.
        clock: Monotonic seconds.
        ends: When the search must end.
    """

    case: Case
    sources: Sources
    failing: Sequence[str]
    passing: Sequence[str]
    runner: Runner
    clock: Clock
    ends: float

    def candidates(self) -> Iterator[Candidate]:
        """Yield edits with which the first failing tests pass, the likeliest first."""
        by_failing = self._asked(self.failing, Verdict.FAIL)
        literals = _literals(self.case, self.sources, [text for text, _ in by_failing])
        if not any(_holding(text, literals) for text, _ in by_failing):
            return
        cases = _cases(by_failing, self._asked(self.passing, Verdict.PASS))
        chosen = [case for case in cases if _holding(case.text, literals)]
        beliefs = {c.text: max(one.belief for one in _holding(c.text, literals)) for c in chosen}
        chosen.sort(key=lambda case: -beliefs[case.text] * _relevance(case))
        chosen = chosen[:N_PATTERNS]
        edits = judged(chosen, self._expected(), min(JUDGE_S, self._left_s() / 2)) if chosen else []
        tries = [
            (
                edit.weight * _relevance(case) * max(literal.belief, LEAST_BELIEF),
                edit,
                literal,
                value,
            )
            for case, own in zip(chosen, edits, strict=True)
            for edit in own
            for literal in _holding(case.text, literals)
            if (value := _value_of(literal.value, case.text, edit.text)) is not None
        ]
        tries.sort(key=lambda one: -one[0])
        passing: set[str] = set()
        for _, edit, literal, value in tries[:N_TRIES]:
            if len(passing) >= ENOUGH or not self._left_s():
                break
            candidate = _candidate(literal, edit, value)
            # Two edits of which one is enough say nothing of the other.
            is_new = candidate is not None and passing.isdisjoint(edit.parts)
            if candidate is not None and is_new and self._passes(candidate, literal, value, cases):
                passing.add(edit.text)
                yield candidate

    def _left_s(self) -> float:
        return max(0.0, self.ends - self.clock())

    def _asked(self, tests: Sequence[str], verdict: Verdict) -> Asked:
        """Return the calls of each pattern, each once, if tests end with stand-ins as they do.

        Of passing tests those that don't are left out from now on.
        """
        rerun, asked = self.runner.patterns_asked(tests, limit_s=self._limit_s())
        same = [test for test in tests if rerun.tests[test].verdict is verdict]
        if verdict is Verdict.PASS:
            self.passing = same
        elif len(same) < len(tests):
            return {}
        found: Asked = {}
        for pattern in chain.from_iterable(asked.get(test, ()) for test in same):
            calls = dict.fromkeys(pattern.calls)
            found.setdefault((pattern.text, pattern.flags), {}).update(calls)
        return found

    def _expected(self) -> list[str]:
        """Return the strings that stand in the failing tests, and in what they are given."""
        texts = texts_of_tests(self.case.failures[:N_FAILING], self.sources)
        trees = (tree for tree in map(tree_of, texts) if tree is not None)
        strings = (node.value for tree in trees for node in nodes_of(tree, ast.Constant))
        return [*dict.fromkeys(text for text in strings if isinstance(text, str))]

    def _passes(
        self,
        candidate: Candidate,
        literal: PatternLiteral,
        value: str,
        cases: Sequence[PatternCase],
    ) -> bool:
        """Run failing tests, then passing ones, with another pattern in memory."""
        old = literal.value
        pairs = tuple((c.text, c.text.replace(old, value)) for c in cases if old in c.text)
        patch = InspectionPatch(
            target=literal.target or literal.source.module.location,
            kind="fix",
            original=candidate.before,
            patched=candidate.after,
            patterns=pairs,
        )
        return all(
            rerun.n_swapped and {run.verdict for run in rerun.tests.values()} <= {Verdict.PASS}
            for tests in (self.failing, self.passing)
            for rerun in [self.runner.rerun(patch, tests, limit_s=self._limit_s())]
        )

    def _limit_s(self) -> float:
        return max(0.1, min(LIMIT_S, self._left_s()))


def _cases(by_failing: Asked, by_passing: Asked) -> list[PatternCase]:
    """Return the patterns that failing tests ask what no passing test asks."""
    return [
        PatternCase(
            text=text,
            flags=flags,
            failing=tuple(calls),
            passing=tuple(by_passing.get((text, flags), ())),
        )
        for (text, flags), calls in by_failing.items()
        if calls.keys() - by_passing.get((text, flags), {}).keys()
    ]


# -- where a pattern stands


def _literals(case: Case, sources: Sources, texts: Sequence[str]) -> list[PatternLiteral]:
    """Return the strings of executed files that are patterns or parts of some, likeliest first."""
    found: list[PatternLiteral] = []
    for file in dict.fromkeys(where.file for where in case.spectrum.executed):
        source = sources.map(file)
        is_code = sources.files.kind(sources.files.absolute(file)) is FileKind.CODE
        if source is None or source.is_broken or not is_code:
            continue
        tree = source.module.node
        apart = {id(part) for node in nodes_of(tree, FORMATTED) for part in node.values}
        apart |= {id(node.value) for node in nodes_of(tree, ast.Expr)}
        found += (
            _literal(source, node, case)
            for node in nodes_of(tree, ast.Constant)
            if id(node) not in apart and _is_pattern(node.value, texts)
        )
    return sorted(found, key=lambda literal: -literal.belief)


def _is_pattern(value: object, texts: Sequence[str]) -> bool:
    if not isinstance(value, str) or not 0 < len(value) <= MAX_LITERAL:
        return False
    return value in texts or bool(
        _SPECIAL.search(value) and len(value) > 2 and any(value in text for text in texts)
    )


def _literal(source: SourceMap, node: ast.Constant, case: Case) -> PatternLiteral:
    unit = source.owner(node.lineno)
    beliefs = case.belief.probabilities
    names = {
        target.id
        for statement in getattr(unit.node, "body", ())
        if statement.lineno <= node.lineno <= (statement.end_lineno or 0)
        for target in targets(statement)
    }
    readers = (  # functions that read the variable in whose value it stands
        other.location
        for other in source.units
        if other.is_function and names & (names_in(other.node) | attributes_in(other.node))
    )
    users = [unit.location, *readers]
    is_inside = unit.is_function and node.lineno >= unit.body_line
    return PatternLiteral(
        source=source,
        node=node,
        belief=max(beliefs.get(where, 0.0) for where in users),
        target=unit.location if is_inside else None,
    )


def _holding(text: str, literals: Sequence[PatternLiteral]) -> list[PatternLiteral]:
    whole = [literal for literal in literals if literal.value == text]
    return whole or [literal for literal in literals if text.count(literal.value) == 1]


def _relevance(case: PatternCase) -> float:
    """Return how much likelier a pattern is meant that holds words of what failing tests ask it."""
    subjects = "\n".join(subjects_of(case.failing)).casefold()
    try:
        words = [*literals_of(case.text, branches_of(case.text, case.flags))]
    except (ValueError, IndexError, RecursionError):
        return 1.0
    n_shared = sum(word.casefold() in subjects for word in words)
    return 1.0 + RELEVANCE * n_shared / max(1, len(words))


def _value_of(value: str, before: str, after: str) -> str | None:
    """Return the text of a part of a pattern with which the pattern becomes another.

    None if more than the part is edited.
    """
    start = before.index(value)
    behind = len(before) - start - len(value)
    head, tail = common_ends(before, after)
    if head < start or tail < behind:
        return None
    return after[start : len(after) - behind]


def _candidate(literal: PatternLiteral, edit: JudgedEdit, value: str) -> Candidate | None:
    source, node = literal.source, literal.node
    text = Text(source.text)
    written = rewritten(text.of(node), literal.value, value)
    if written is None:
        return None
    replaced, kind = text.replace(node, written), edit.kind.replace("-", " ")
    # Where the patterns differ is shown with a few characters around it.
    head, tail = common_ends(literal.value, value)
    old, new = (
        brief(repr(pattern[max(0, head - 5) : len(pattern) - tail + 5]))
        for pattern in (literal.value, value)
    )
    return Candidate(
        tools=(f"{PATTERN}{edit.kind}",),
        weight=min(1.0, edit.weight),
        stage=EDIT,
        file=source.file,
        before=source.text,
        after=text.edited(replaced),
        message=f"line {node.lineno}: {kind} of the pattern, {old} to {new}",
        line=node.lineno,
        target=literal.target,
    )


# -- a string as it is written


def rewritten(segment: str, value: str, other: str) -> str | None:
    """Return a string literal with another value, in which all else stays as it is written.

    Args:
        segment: The literal, or several that stand behind each other.
        value: Its value.
        other: The value that it gets.

    Returns:
        None if that can't be written, or if ``segment`` is no such literal.
    """
    places = _places(segment, value)
    if places is None:
        return None
    made = segment
    matcher = difflib.SequenceMatcher(None, value, other, autojunk=False)
    for tag, start, end, first, last in reversed(matcher.get_opcodes()):
        if tag != "equal":
            inside = places[start:end]
            # What is only added stands right behind the character before it.
            behind = places[start - 1].end if start else places[0].start
            at = inside[0].start if inside else behind
            new = other[first:last]
            if not (inside or places[max(start - 1, 0) :] or places)[0].is_raw:
                escaped = new.replace("\\", "\\\\").replace("'", "\\'").replace('"', '\\"')
                new = "".join(c if c.isprintable() else repr(c)[1:-1] for c in escaped)
            made = f"{made[:at]}{new}{made[inside[-1].end if inside else at :]}"
    tree = tree_of(f"({made})")
    wanted = ast.Module([ast.Expr(ast.Constant(other))], [])
    return made if tree is not None and ast.dump(tree) == ast.dump(wanted) else None


@dataclass(frozen=True, slots=True)
class _Written:
    """The place at which one character of a string's value is written."""

    start: int
    end: int
    is_raw: bool


_BODY = re.compile(r"(?P<prefix>[a-zA-Z]*)(?P<quote>'''|\"\"\"|'|\")")
_WRITTEN = re.compile(
    r"\\(?:\n|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{[^}]*\}|[0-7]{1,3}|.)|.", re.DOTALL
)


def _places(segment: str, value: str) -> list[_Written] | None:
    """Return the places of the characters of ``value``; None if they can't be told."""
    found: list[_Written] = []
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(f"({segment}\n)").readline))
    except (tokenize.TokenError, SyntaxError):
        return None
    starts = [0]
    for line in segment.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for token in tokens:
        if token.type == tokenize.STRING:
            row, column = token.start
            at = starts[row - 1] + column - (row == 1)
            found += _characters(token.string, at)
    return found if len(found) == len(value) and value else None


def _characters(token: str, at: int) -> Iterator[_Written]:
    match = _BODY.match(token)
    if match is None:
        return
    is_raw = "r" in match["prefix"].lower()
    first, last = match.end(), len(token) - len(match["quote"])
    if is_raw:
        yield from (_Written(at + i, at + i + 1, True) for i in range(first, last))
        return
    for written in _WRITTEN.finditer(token, first, last):
        text = written[0]
        # A backslash stands for itself where what follows makes no escape of it.
        is_two = text[:1] == "\\" and text[1:2] not in "\\'\"abfnrtv01234567xuUN\n"
        n = 0 if text == "\\\n" else 2 if is_two else 1
        for i in range(n):
            start = written.start() + i * (n == 2)
            end = start + 1 if n == 2 else written.end()
            yield _Written(at + start, at + end, False)
