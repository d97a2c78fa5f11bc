"""Edits of patterns that change what they match in failing tests, and little in passing ones.

What a pattern was asked in the tests is known, so thousands of edits are judged without any run.
A match may take for ever, and nothing in this process ends it: ``judged`` asks another one.
"""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from itertools import chain, combinations, islice
from typing import Any

from pytest_bayesloc.domain.recording import MatchCall
from pytest_bayesloc.fixes.mutations.regex_parts import branches_of, compiled, prefixes_of
from pytest_bayesloc.fixes.mutations.regexes import (
    WORD,
    Guides,
    RegexEdit,
    guides_of,
    regex_edits,
)

LIMIT_S = 0.05  # for all calls of one edited pattern
MAX_RESULTS = 500  # of one call
N_PAIRED = 24  # edits that are joined, two at a time
N_SUBJECTS = 20  # that are looked at for where a pattern stops
N_PREFIXES = 40  # of a pattern, the longest
N_BEFORE = 40  # characters before a match
N_MATCHES = 8  # of a subject
N_NEAR = 12  # characters that stand there
N_NEAR_WORDS = 6
NEAR_S = 3.0
OF_PAIRS = 0.4  # to make two mistakes at once is less usual
MAX_CHANGED = 1 / 4  # of the results in passing tests
CHANGING = 0.2  # how much less likely an edit is that changes some of them
TELLING = 2.0  # how much likelier an edit is with which a text that the test expects is matched
ANSWER_S = 5.0  # beyond the time that the work may take


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternCase:
    """A pattern with what it was asked.

    Attributes:
        text: The pattern.
        flags: With which it was compiled.
        failing: Calls in failing tests.
        passing: Calls in passing tests.
    """

    text: str
    flags: int
    failing: tuple[MatchCall, ...]
    passing: tuple[MatchCall, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedEdit:
    """An edited pattern that may repair.

    Attributes:
        text: The edited pattern.
        kind: Of edit.
        weight: How likely it is to be meant, against others.
        parts: Of two edits as one, the pattern with each of them.
    """

    text: str
    kind: str
    weight: float
    parts: tuple[str, ...] = ()


def judged(
    cases: Sequence[PatternCase], expected: Sequence[str], limit_s: float
) -> list[list[JudgedEdit]]:
    """Return edits of each pattern that fit its calls, the likeliest first; by another process.

    Args:
        cases: The patterns.
        expected: Texts that the failing tests hold.
        limit_s: Wall seconds; there are no edits if the process does not answer.
    """
    request = {"cases": [*map(asdict, cases)], "expected": list(expected), "limit_s": limit_s}
    command = (sys.executable, "-c", f"from {__name__} import answer; answer()")
    with suppress(subprocess.TimeoutExpired, ValueError):
        done = subprocess.run(
            command,
            input=json.dumps(request),
            capture_output=True,
            timeout=limit_s + ANSWER_S,
            check=False,
            encoding="ascii",
        )
        return [
            [JudgedEdit(**{**edit, "parts": tuple(edit["parts"])}) for edit in edits]
            for edits in json.loads(done.stdout)
        ]
    return [[] for _ in cases]


def answer() -> None:
    """Read a request from standard input, and write the edits that fit to standard output."""
    request = json.load(sys.stdin)
    cases, ends = request["cases"], time.monotonic() + request["limit_s"]
    found = []
    for i, raw in enumerate(cases):
        failing, passing = (
            tuple((method, tuple(args)) for method, args in raw[name])
            for name in ("failing", "passing")
        )
        share_s = (ends - time.monotonic()) / (len(cases) - i)
        case = PatternCase(**{**raw, "failing": failing, "passing": passing})
        found.append(fitting(case, request["expected"], share_s))
    json.dump([[*map(asdict, edits)] for edits in found], sys.stdout)


def fitting(case: PatternCase, expected: Sequence[str], limit_s: float) -> list[JudgedEdit]:
    """Return the edits of a pattern that fit its calls, the likeliest first.

    They change a result in failing tests and none in passing ones, or few: what a lexer takes for
    a word may be a keyword as well. Of edits with the same results in failing tests the likeliest
    stands for all.

    Args:
        case: The pattern.
        expected: Texts that the failing tests hold.
        limit_s: Wall seconds.
    """
    ends = time.monotonic() + limit_s
    now = compiled(case.text, case.flags)
    failing, passing = (now and outcomes(now, calls) for calls in (case.failing, case.passing))
    if failing is None or passing is None:
        return []
    told = set(expected).difference(_texts(failing))
    found: dict[str, JudgedEdit] = {}
    kept: list[RegexEdit] = []
    singles = ((edit, ()) for edit in _edits_of(case))
    for edit, parts in chain(singles, _pairs(kept, case.text)):
        if time.monotonic() > ends:
            break
        text = edit.of(case.text)
        regex = compiled(text, case.flags)
        made = regex and outcomes(regex, case.failing)
        if regex is None or made is None or made == failing:
            continue
        changed = _changed(passing, outcomes(regex, case.passing))
        if changed > MAX_CHANGED or is_slower(text, case.text):
            continue
        weight = edit.weight * (TELLING if told.intersection(_texts(made)) else 1.0)
        weight *= CHANGING if changed else 1.0
        key = repr(made)
        if key not in found or found[key].weight < weight:
            found[key] = JudgedEdit(text=text, kind=edit.kind, weight=weight, parts=parts)
            if not changed:
                kept.append(edit)
    return sorted(found.values(), key=lambda edit: -edit.weight)


def _changed(before: Sequence[object], after: Sequence[object] | None) -> float:
    """Return the share of the results that differ; 1 if there are none."""
    if after is None:
        return 1.0
    return sum(a != b for a, b in zip(before, after, strict=True)) / max(1, len(before))


def _pairs(kept: list[RegexEdit], text: str) -> Iterator[tuple[RegexEdit, tuple[str, ...]]]:
    """Yield two edits as one, of the likeliest that change what matches; read at the end.

    With them comes what each makes of ``text`` alone.
    """
    best = sorted(kept, key=lambda edit: -edit.weight)[:N_PAIRED]
    for one, other in combinations(best, 2):
        both = one.joined(other)
        if both is not None:
            parts = one.of(text), other.of(text)
            yield replace(both, weight=OF_PAIRS * both.weight), parts


def _edits_of(case: PatternCase) -> list[RegexEdit]:
    failing, passing = (subjects_of(calls) for calls in (case.failing, case.passing))
    with suppress(_EndlessError), _limited(NEAR_S):
        near = _near(case, failing[:N_SUBJECTS])
        return regex_edits(case.text, case.flags, guides_of(failing, passing, near))
    return []


def _near(case: PatternCase, subjects: Sequence[str]) -> Guides:
    """Return what stands where the pattern stops to match, of the longest parts of it first."""
    characters: Counter[str] = Counter()
    words: Counter[str] = Counter()
    try:
        prefixes = list(prefixes_of(case.text, branches_of(case.text, case.flags)))
    except (ValueError, IndexError, RecursionError):
        return Guides()
    for i, prefix in enumerate(prefixes[-N_PREFIXES:]):
        regex = compiled(prefix, case.flags)
        matches = (
            (m for s in subjects for m in islice(regex.finditer(s), N_MATCHES)) if regex else ()
        )
        for match in matches:
            before, behind = match.string[: match.start()], match.string[match.end() :]
            characters |= Counter(dict.fromkeys((behind[:1], before[-1:]), i + 1))
            at = WORD.search(behind)
            near = (*([at[0]] if at is not None else []), *WORD.findall(before[-N_BEFORE:])[-1:])
            words |= Counter(dict.fromkeys(near, i + 1))
    del characters[""]
    return Guides(
        characters=tuple(c for c, _ in characters.most_common(N_NEAR)),
        words=tuple(w for w, _ in words.most_common(N_NEAR_WORDS)),
    )


def subjects_of(calls: Sequence[MatchCall]) -> list[str]:
    """Return the texts that a pattern was held against: with ``sub``, they come second."""
    found = (args[method.startswith("sub")] for method, args in calls)
    return [*dict.fromkeys(text for text in found if isinstance(text, str))]


def outcomes(regex: re.Pattern[str], calls: Sequence[MatchCall]) -> list[object] | None:
    """Return the result of each call by plain values; None if they take too long."""
    try:
        with _limited(LIMIT_S):
            return [_outcome(regex, method, args) for method, args in calls]
    except (_EndlessError, re.error, IndexError):  # a template may name a group that is gone
        return None


def _outcome(regex: re.Pattern[str], method: str, args: Sequence[Any]) -> object:
    result = getattr(regex, method)(*args)
    if isinstance(result, re.Match):
        return _plain(result)
    if method == "finditer":
        return [_plain(match) for match in islice(result, MAX_RESULTS)]
    return result


def _plain(match: re.Match[str]) -> object:
    return [match.span(), match.groups()]


def _texts(results: object) -> Iterator[str]:
    """Yield the texts in results, however deep."""
    if isinstance(results, str):
        yield results
    elif isinstance(results, (list, tuple)):
        for part in results:
            yield from _texts(part)


class _EndlessError(Exception):
    """A match took too long."""


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """End what takes longer, where signals do: elsewhere the whole process gets its time."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def end(*_: object) -> None:
        raise _EndlessError

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


_NESTED = re.compile(r"[^\\][*+]\)[*+{]")


def is_slower(text: str, before: str) -> bool:
    """Say whether an edited pattern repeats what repeats itself, and did not before.

    Such a pattern may take exponential time on texts that nobody has tried.
    """
    return len(_NESTED.findall(text)) > len(_NESTED.findall(before))
