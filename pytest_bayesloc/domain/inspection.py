"""An inspection: propose a patch, re-run tests under it, weigh what came out."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from pytest_bayesloc.domain.evidence import Decision
from pytest_bayesloc.domain.source import lines_of
from pytest_bayesloc.domain.texts import TextEnum, text_digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_bayesloc.domain.evidence import Evidence
    from pytest_bayesloc.domain.location import Location


class Verdict(TextEnum):
    """The end of one re-run of one test. Only pass and fail are evidence."""

    PASS = "pass"  # noqa: S105 - a verdict, no password
    FAIL = "fail"
    TIMEOUT = "timeout"
    CRASH = "crash"
    NOT_RUN = "not-run"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One assertion that a patch inserts.

    Attributes:
        number: Its number in the patch, from 0.
        at_exit: Whether it speaks of what the target returns, not of what it is given.
        text: The condition as source text.
        support: How many observed passing calls it held in.
    """

    number: int
    at_exit: bool
    text: str
    support: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherValue:
    """Another value of a variable of a module or class, or of a default, in memory only.

    Attributes:
        owner: Qualified name of the class, or of the function that has the default; empty of a
            module.
        name: Of the variable or parameter.
        text: Of the expression.
        first_line: Of the function that has the default; 0 of a variable.
    """

    owner: str
    name: str
    text: str
    first_line: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class InspectionPatch:
    """A change to one file, or with companions to several, made in memory only.

    Attributes:
        kind: The proposal that made it: ``assertions``, ...
        patched: Text of the file with the change.
        line: The line that it changes; 0 if it changes no single one.
        words: What it does, for a person; empty for assertions, which speak for themselves.
        others: More functions of the same file that it changes.
        companions: What it changes in other files at the same time.
        fresh: Whether it changes more than the code of functions, so that only an import can put it
            in place.
        value: Of a variable or default, where that is all that the text changes.
        patterns: Regular expressions and those in their places, where that is all that the text
            changes.
    """

    target: Location
    kind: str
    original: str
    patched: str
    checks: tuple[Check, ...] = ()
    line: int = 0
    words: str = ""
    others: tuple[Location, ...] = ()
    companions: tuple[InspectionPatch, ...] = ()
    fresh: bool = False
    value: OtherValue | None = None
    patterns: tuple[tuple[str, str], ...] = ()

    @property
    def key(self) -> str:
        """A digest of the texts that it makes; empty if it changes more than texts, or no text."""
        if self.value is not None or self.checks:
            return ""
        texts = [(part.target.file, part.patched) for part in (self, *self.companions)]
        return text_digest(repr(texts), DIGEST)

    @property
    def diff(self) -> str:
        """The patch as a unified diff."""
        lines = (
            line
            for part in (self, *self.companions)
            for line in difflib.unified_diff(
                lines_of(part.original),
                lines_of(part.patched),
                fromfile=f"a/{part.target.file}",
                tofile=f"b/{part.target.file}",
            )
        )
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


CAPTURED = "\n-- Captured "  # stands before what was captured in the output of a test


#: Code that asks for what may differ between two runs: file, line, first line and name of its code.
Reader: TypeAlias = tuple[str, int, int, str]
#: A part of a shared variable that changed: its path, its text before, and now.
Change: TypeAlias = tuple[str, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class TestRun:
    """One test in one re-run.

    Attributes:
        verdict: How it ended.
        error: ``Type: message`` of a failure, else empty.
        covered: Whether the patch's heartbeat was seen.
        violations: Numbers of the patch's checks that failed in the target's own frame, in order.
        output: What the test printed and its traceback, capped.
        sides: Of a comparison that failed without a patch, the sides that are plain values, as
            literals.
        frames: Of a failure, files and lines of the traceback, the outermost first.
    """

    __test__ = False  # not a test class for pytest

    verdict: Verdict
    error: str = ""
    covered: bool = False
    violations: tuple[int, ...] = ()
    output: str = ""
    sides: tuple[str, ...] = ()
    frames: tuple[tuple[str, int], ...] = ()

    @property
    def printed(self) -> str:
        """Return what the test wrote and logged, without the traceback."""
        _, head, rest = self.output.partition(CAPTURED)
        return f"{head}{rest}".strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rerun:
    """The result of a re-run of several tests.

    Attributes:
        tests: Per node id, how it went; every test that was asked for.
        n_swapped: Functions whose code was replaced; 0 means that the patch was never in place.
        seconds: Wall seconds, without those in which there was no CPU for it.
        cpu_s: CPU seconds of the re-run itself.
        log: Heartbeat and notes, for the report.
        how: ``fork`` or ``fresh``.
        refused: What the patch would have done outside of the process, which the tests as they are
            do not: it was ended before. Empty if nothing.
    """

    tests: Mapping[str, TestRun]
    n_swapped: int = 0
    seconds: float = 0.0
    cpu_s: float = 0.0
    log: str = ""
    how: str = "fork"
    refused: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """The formal signals of one inspection (docs/model.md, section "Outcomes")."""

    is_covered: bool = False
    has_target_assertion: bool = False
    is_failure: bool = False


class Effect(TextEnum):
    """The effect of a patch that edits the target, from least to most telling."""

    INCONCLUSIVE = "did not end, or was never in place"
    SAME_ERROR = "the same error"
    OTHER_ERROR = "another error"
    REPAIRS_SOME = "some failing tests pass"
    BREAKS_OTHERS = "the failing tests pass, others break"
    REPAIRS = "the failing tests pass, nothing else breaks"

    @property
    def rank(self) -> int:
        """0 for the least telling."""
        return list(Effect).index(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One of several patches that an inspection tried.

    Attributes:
        line: The line that it edits.
        words: What it does.
        effect: What came of it.
        n_passed: Tests that passed under it.
    """

    line: int
    words: str
    effect: Effect
    n_passed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The result of inspecting one location in one way.

    Attributes:
        evidence: The outcome with its likelihoods; ``source`` is the way.
        diff: The patch as a unified diff; of several, the most telling one's.
        tests: Per node id, how it went under that patch.
        seconds: Wall seconds of proposing, re-running and updating.
        cpu_s: CPU seconds of the re-runs.
        log: Heartbeats and notes.
        trials: The patches, where several were tried.
        doubt: Why the patch is probably no fix although tests pass with it; empty if nothing says
            so.
        repair: The edit with which tests pass, and nothing else breaks; None if there is none.
        step: From 1, in the order in which a case took its findings; 0 until one took it.
        belief_before: P(target is faulty) before it was taken; 0 until then.
        belief_after: P(target is faulty) after; 0 until then.
    """

    evidence: Evidence
    diff: str = ""
    tests: Mapping[str, TestRun] = field(default_factory=dict)
    signals: Signals = field(default_factory=Signals)
    decision: Decision = Decision.NEUTRAL
    seconds: float = 0.0
    cpu_s: float = 0.0
    log: str = ""
    trials: tuple[Trial, ...] = ()
    doubt: str = ""
    repair: InspectionPatch | None = None
    step: int = 0
    belief_before: float = 0.0
    belief_after: float = 0.0

    @property
    def target(self) -> Location:
        """The inspected location."""
        return self.evidence.location


SAME, OTHER = "s", "o"
KNOWN = "known from an earlier run"
DIGEST = 32
FIX = "fix:"


class Rejected:
    """Patches under which every test still failed, and no check of theirs was broken.

    An entry holds how the patch was run and, per test in order, a letter: ``s`` for the error that
    the test has without it, ``o`` for another; as a capital if its heartbeat was seen.

    Args:
        state: Digest of the project; empty if nothing is to be kept.
        known: From earlier runs on that state: the key of a patch to its entry.
    """

    def __init__(self, state: str = "", known: Mapping[str, str] | None = None) -> None:
        self.state = state
        self._known = known or {}
        self.new: dict[str, str] = {}
        self.n_spared = 0

    def find(
        self, patch: InspectionPatch, tests: Sequence[str], errors: Mapping[str, str]
    ) -> Rerun | None:
        """Return the earlier re-run of ``tests``, which have ``errors`` without ``patch``.

        None if it was not rejected.
        """
        how, _, letters = self._known.get(_key(patch, tests, errors), "").partition(":")
        if not letters or len(letters) != len(tests):
            return None
        self.n_spared += 1
        runs = {
            node_id: TestRun(
                verdict=Verdict.FAIL,
                error=errors[node_id] if letter.lower() == SAME else f"another error, {KNOWN}",
                covered=letter.isupper(),
            )
            for node_id, letter in zip(tests, letters, strict=True)
        }
        return Rerun(tests=runs, n_swapped=1, how=how, log=KNOWN)

    def again(self) -> Rejected:
        """Return what earlier runs rejected, for another group of the same tests."""
        return Rejected(self.state, self._known)

    def known_fixes(self) -> frozenset[str]:
        """Keys of the fixes that were rejected on this very code."""
        return frozenset(key for key, outcome in self._known.items() if outcome.startswith(FIX))

    def add_fixes(self, keys: Iterable[str]) -> None:
        """Keep fixes that were rejected, by their keys."""
        self.new.update(dict.fromkeys(keys, FIX))

    def add(
        self,
        patch: InspectionPatch,
        tests: Sequence[str],
        errors: Mapping[str, str],
        rerun: Rerun,
    ) -> None:
        """Keep the outcome of ``patch``, if it was rejected."""
        letters = ""
        for node_id in tests if rerun.n_swapped else ():
            run, error = rerun.tests.get(node_id), errors.get(node_id)
            if run is None or error is None or run.verdict is not Verdict.FAIL or run.violations:
                return
            letter = SAME if run.error == error else OTHER
            letters += letter.upper() if run.covered else letter
        if rerun.n_swapped:
            self.new[_key(patch, tests, errors)] = f"{rerun.how}:{letters}"


def _key(patch: InspectionPatch, tests: Sequence[str], errors: Mapping[str, str]) -> str:
    """Digest all that decides the outcome, except the project's state."""
    parts = [(part.target.file, part.patched, part.fresh) for part in (patch, *patch.companions)]
    text = repr((parts, [(node_id, errors.get(node_id)) for node_id in tests]))
    return text_digest(text, DIGEST)
