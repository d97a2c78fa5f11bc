"""The search for a fix of one group of failing tests: tools, several steps, then other candidates.

Reference:
    docs/fixes.md, section "Which tools are tried".
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from heapq import merge
from itertools import chain, filterfalse, islice, tee
from typing import NamedTuple, TypeAlias

from pytest_bayesloc.domain.fixing import Level
from pytest_bayesloc.domain.inspection import Effect, Trial
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.source import SourceMap, lines_of, map_of, tree_of
from pytest_bayesloc.domain.texts import file_of_test
from pytest_bayesloc.fixes.candidate import (
    CHANGE,
    EDIT,
    OTHER_CONSTANT,
    TOOL,
    Candidate,
    unlikelihood,
)
from pytest_bayesloc.fixes.check import Checked, Checker, Status
from pytest_bayesloc.fixes.definition import Tool
from pytest_bayesloc.fixes.library import N_BEST, ToolRunner
from pytest_bayesloc.fixes.plausibility import (
    TAKES_AWAY,
    doubt_of,
    is_emptied,
    is_told,
    weight,
    with_rivals,
    worth_showing,
)
from pytest_bayesloc.fixes.project import Task
from pytest_bayesloc.fixes.simpler import likewise, simpler
from pytest_bayesloc.history.changes import name_of
from pytest_bayesloc.syntax.text import differing_lines

MAX_STEPS = 4
N_BASES = 4  # candidates of one step that are gone on with
ENOUGH = 3  # verified candidates of one stage
RIVAL = 1 / 5  # of the chance of one that works, below which another is no rival of it
BATCH = 60  # candidates that are tried before one that works is enough
LEAST_GAIN = 0.01  # P(a second of tries finds the repair), below which it is not spent
N_FIRST, FIRST_S = 40, 6.0  # edits that are tried in forked processes, and their wall seconds
OWN_S = 0.01  # CPU seconds of this process for a try
ON_WAY = 1 / 2  # P(one of the changes that made progress is a part of the repair)
N_SHOWN = 3  # of a fault
STEPS = "steps"  # the stage of a candidate that is made of several
STORED = "stale-snapshot"  # the tool that finds stored values


NextStep: TypeAlias = tuple[Sequence[Task], Iterable[Candidate]]


class Objections(NamedTuple):
    """Say why a change is no fix; nothing if it may be one.

    Attributes:
        to_run: Asked before a change of Python code is run.
        to_show: Asked once failing tests pass with it.
        test_files: Where tests stand, whatever their files are called: nothing changes them.
        known: Keys of candidates that were rejected for this bug on this very code.
    """

    to_run: Callable[[Candidate], str] = lambda _: ""
    to_show: Callable[[Candidate], str] = lambda _: ""
    test_files: frozenset[str] = frozenset()
    known: frozenset[str] = frozenset()


class Search:
    """One search, and what it found.

    Args:
        tools: Asks the tools.
        checker: Checks candidates.
        objections: To changes.
        next_step: Tasks that a test sets which still fails with a change, and edits on top of that.
        spare_s: Seconds that are kept for what takes changes back, or to check what passes.
        has_worked: Whether candidates had their time, or half of those seconds go by for them: on a
            busy machine there was no CPU for them before.

    Attributes:
        last: The candidate that was checked last, with what came of it.
        verified: The best first.
        shown: Changes of tests, which nobody checks.
        rejected: Candidates that were not run or broke something, with the reason.
        attempts: Per tool, how many candidates of it were run, and how many were verified.
        broken: Keys of the candidates that break other tests.
        failed: Keys of the candidates that are no fix.
        n_spared: Candidates that were not run, since they are known to be none.
        is_out_of_time: Whether time ran out before all was tried.
        halves: Per place, what came nearest of those with which some failing tests pass, and others
            not.
        partial: One of these, if it is a tool's, nothing better was found, and it breaks nothing.
        trials: Per function, what came of edits of it.
        seconds: Wall seconds that it took.
    """

    def __init__(
        self,
        tools: ToolRunner,
        checker: Checker,
        objections: Objections,
        next_step: Callable[[Checked], NextStep] = lambda _: ((), ()),
        *,
        spare_s: float = 0.0,
        has_worked: Callable[[], bool] = lambda: True,
    ) -> None:
        self._tools = tools
        self._next_step = next_step
        self._checker = checker
        self._objections = objections
        self._spare_s = spare_s
        self._has_worked = has_worked
        self._started = checker.clock()
        self._seen: set[str] = set()
        self._bases: list[tuple[tuple[int, int], Checked]] = []
        self._edits: list[Candidate] = []
        self._pulled: Iterable[Candidate] = ()
        self._spent: dict[tuple[str, bool], tuple[int, float]] = {}
        self.last: Checked | None = None
        self.verified: list[Checked] = []
        self.shown: list[Candidate] = []
        self.rejected: list[tuple[Candidate, str]] = []
        self.attempts: dict[str, tuple[int, int]] = {}
        self.broken: set[str] = set()
        self.failed: list[str] = []
        self.n_spared = 0
        self.is_out_of_time = False
        self.halves: dict[Location, Checked] = {}
        self.partial: Checked | None = None
        self.trials: dict[Location, list[Trial]] = {}
        self.seconds = 0.0

    @property
    def n_failing(self) -> int:
        """The number of failing tests that a fix makes pass."""
        return len(self._checker.failing)

    @property
    def n_tried(self) -> int:
        """The number of candidates that were run."""
        return sum(n for n, _ in self.attempts.values())

    @property
    def nearest(self) -> Checked | None:
        """The candidate with which most failing tests pass, where others still fail."""
        return max(self.halves.values(), key=_green, default=None)

    @property
    def best(self) -> Sequence[Checked]:
        """The verified candidates that are shown."""
        return worth_showing(self.verified)[:N_SHOWN]

    @property
    def functions(self) -> Mapping[str, Sequence[str]]:
        """Per tool with a verified fix, what its best one changes, as ``file qualname``."""
        return {
            checked.candidate.name: [name_of(where) for where in checked.targets]
            for checked in reversed(self.verified)
        }

    def begin(self, inspected: Iterable[Candidate]) -> None:
        """Check the edits that inspections saw repair.

        Where one does, ``run`` asks tools, and tries edits that may be its rivals, and no more.

        Raises:
            ExecutionError: If tests can't be run again.
        """
        self._check_all([inspected])
        self._settle()

    def run(
        self,
        tasks: Sequence[Task],
        edits: Iterable[Candidate] = (),
        taken_back: Iterable[Candidate] = (),
        generated: Iterable[Candidate] | None = None,
        constants: Iterable[Candidate] = (),
        patterns: Iterable[Candidate] = (),
    ) -> None:
        """Search until a stage finds something, or time is up.

        Args:
            tasks: Where the error showed, the likeliest place first.
            edits: Mutations of the suspects, the likeliest first; like what follows, made only if
                they are needed.
            taken_back: Functions as they were when the tests passed.
            generated: Changes that a language model writes, who reads ``last`` after each. They are
                tried before mutations that make code do less; None: nobody is asked.
            constants: Other constants of the suspects, the likeliest first, which read ``last`` as
                well; each is made when those before it were tried.
            patterns: Edits of patterns with which a test was seen to pass.

        Raises:
            ExecutionError: If tests can't be run again.
        """
        seen = frozenset(checked.candidate.key for checked in self.verified)
        late = () if seen else self._unless_stored(constants)
        by_edits = [_likeliest(edits, late)]
        if generated is not None and not seen:
            first, second = tee(edits)
            kept, less = filterfalse(_takes_away, first), filter(_takes_away, second)
            by_edits = [_likeliest(kept, late), _batches(generated), _likeliest(less)]
        by_steps = [] if seen else [self._by_steps()]
        again = [] if seen else [self._by_steps()]
        stages = [self._by_tools(tasks), _weightiest(patterns), *by_steps, *by_edits, *again]
        for stage in stages:
            is_found = self._found_by(stage, seen)
            if is_found or self.is_out_of_time:
                break
        # An edit that is clearly the one keeps what was meant by a change; taking it back does not.
        if all(checked.shown_doubt for checked in self.verified):
            self._pulled = ()
            self._check_all(_batches(taken_back))
            self._settle()
        nearest = self.nearest
        if not self.verified and nearest is not None and nearest.candidate.stage == TOOL:
            self.take_part(nearest, nearest.failing)
        self.seconds = self._checker.clock() - self._started

    def take_part(self, half: Checked, failing: Sequence[str]) -> None:
        """Check a change for some failing tests alone: ``partial`` if it is verified.

        Raises:
            ExecutionError: If tests can't be run again.
        """
        part = self._checker.check_part(half, tuple(failing))
        self.partial = part if part.status is Status.VERIFIED else None

    def _found_by(self, stage: Iterator[Iterable[Candidate]], seen: frozenset[str]) -> bool:
        """Try what a stage has until new processes agree to something that was not ``seen``."""
        self._pulled = ()
        while True:
            n_before = len(self.verified)
            self._check_all(stage, self._spare_s)
            is_new = len(self.verified) > n_before
            self._settle()
            is_found = not seen.issuperset(c.candidate.key for c in self.verified)
            if is_found or not is_new or self.is_out_of_time:
                return is_found

    def _settle(self) -> None:
        """Order what is verified, and have new processes agree to what is shown of it."""
        by_key: dict[str, Checked] = {}
        for checked in sorted(self.verified, key=self._order):
            by_key.setdefault(checked.candidate.key, checked)
        while True:
            self.verified = with_rivals([replace(c, rivals="") for c in by_key.values()])
            forked = next((checked for checked in self.best if checked.is_forked), None)
            if forked is None:
                return
            again = self._checker.anew(forked)
            name, key = again.candidate.name, again.candidate.key
            if again.status is Status.VERIFIED:
                by_key[key] = again
                continue
            del by_key[key]
            n, n_verified = self.attempts.get(name, (0, 0))
            self.attempts[name] = n, max(0, n_verified - 1)
            if again.status is not Status.UNSURE:
                self.failed.append(key)
            if not self._checker.left_s():  # what nobody agreed to is not shown
                by_key = {k: checked for k, checked in by_key.items() if not checked.is_forked}

    def _plainer(self, candidate: Candidate) -> Iterator[Candidate]:
        """Yield a change as a person would write it, the best first."""
        if candidate.stage == CHANGE or not candidate.file.endswith(".py"):
            return
        plain = simpler(candidate.before, candidate.after)
        whole = likewise(candidate.before, plain)
        words = f"{candidate.message}, and likewise in lines that are alike"
        for after, message in {whole: words, plain: candidate.message}.items():
            made = replace(candidate, after=after, message=message, held=None)
            is_other = after not in {candidate.before, candidate.after}
            if is_other and not any(ask(made) for ask in self._objections[:2]):
                yield made

    # -- stages: batches of candidates; after each, it would do to have found something

    def _by_tools(self, tasks: Sequence[Task]) -> Iterator[Iterator[Candidate]]:
        matches = self._tools.matches(tasks)
        for start in range(0, len(matches), N_BEST):
            yield (
                candidate
                for tool, similarity in matches[start : start + N_BEST]
                for task in tasks
                for candidate in self._proposed(tool, similarity, task)
            )

    def _by_steps(self) -> Iterator[Iterator[Candidate]]:
        """One more change on what made some progress and breaks nothing, up to ``MAX_STEPS``."""
        for _ in range(MAX_STEPS - 1):
            bases = sorted(self._bases, key=lambda base: base[0], reverse=True)[:N_BASES]
            self._bases = []
            for _, base in bases:
                if self._checker.left_s() and self._checker.is_harmless(base):
                    yield self._following(base, ON_WAY / len(bases))

    def _unless_stored(self, constants: Iterable[Candidate]) -> Iterator[Candidate]:
        """Yield constants, but none to fit a value that is stored: that may be stale."""
        if not any(STORED in hint.tools for hint in self.shown):
            yield from constants

    def _following(self, base: Checked, p_base: float) -> Iterator[Candidate]:
        """Yield changes for the error that is left, then those tried without the base.

        ``p_base`` is the chance of the base to be a part of the repair.
        """
        tasks, edits = self._next_step(base)
        for task in tasks:
            for tool, similarity in self._tools.library.search(task.error)[: 2 * N_BEST]:
                proposed = self._proposed(tool, similarity, task)
                yield from (joined(base.candidate, candidate) for candidate in proposed)
        for edit in self._worth(edits, p_base):
            yield joined(base.candidate, edit)
        for edit in self._worth(list(self._edits), p_base):
            both = merged(base.candidate, edit)
            if both is not None:
                yield both

    def _proposed(self, tool: Tool, similarity: float, task: Task) -> Iterator[Candidate]:
        if not self._tools.is_for(tool, similarity, task) or not self._checker.left_s():
            return
        is_test = bool(task.filename) and task.filename in {
            task.test_file,
            *self._objections.test_files,
        }
        for proposal in self._tools.ask(tool, task):
            is_unsafe = proposal.is_guess and tool.level is Level.SAFE
            level = Level.UNSAFE if is_unsafe else tool.level
            yield Candidate(
                tools=(tool.name,),
                stage=TOOL,
                level=Level.DISPLAY if is_test else level,
                file=task.filename,
                before=task.code,
                after=proposal.code,
                message=proposal.message,
                is_test=is_test,
                line=task.line,
            )

    # -- one candidate after the other

    def _check_all(self, batches: Iterable[Iterable[Candidate]], spare_s: float = 0.0) -> None:
        n_before = len(self.verified)
        for batch in batches:
            for candidate in self._with_next(batch):
                left_s = self._checker.left_s()
                if left_s <= spare_s and (self._has_worked() or left_s <= spare_s / 2):
                    self.is_out_of_time = True
                    return
                found = self.verified[n_before:]
                best = max((c.candidate.chance for c in found if not c.doubt), default=0.0)
                if candidate.chance >= RIVAL * best and self._is_worth(candidate):
                    self._consider(candidate)
                if len(self.verified) - n_before >= ENOUGH:
                    return
            if any(not checked.doubt for checked in self.verified):
                return

    def _with_next(self, batch: Iterable[Candidate]) -> Iterator[Candidate]:
        """Yield a batch, of which other runners begin with those that come next."""
        pending, coming = chain(self._pulled, batch), deque[Candidate]()
        self._pulled = coming  # what is pulled ahead comes next, also if this ends early
        while True:
            n_most = 1 + len(self._checker.ahead.others())
            while len(coming) < n_most and (not coming or _is_by_itself(coming[-1])):
                following = next(pending, None)
                if following is None:
                    break
                coming.append(following)
            if not coming:
                return
            for candidate in islice(coming, 1, None):
                if _is_by_itself(candidate) and self._may_begin(candidate):
                    self._checker.begin(candidate)
            yield coming.popleft()

    def _may_begin(self, candidate: Candidate) -> bool:
        """Say whether a candidate will be run, as far as that is known before its turn comes."""
        asked = self._objections
        is_left_out = self._is_known(candidate) or candidate.file in asked.test_files
        return not is_left_out and self._is_worth(candidate) and not asked.to_run(candidate)

    def _is_known(self, candidate: Candidate) -> bool:
        """Say whether a candidate was tried, or rejected by an earlier run."""
        key = candidate.key
        return key in self._objections.known or key in self._seen

    def _worth(self, edits: Iterable[Candidate], p_base: float) -> Iterator[Candidate]:
        """Yield the edits that are worth a try on top of a change."""
        on_top = (replace(edit, chance=p_base * edit.chance) for edit in edits)
        return filter(self._is_worth, on_top)

    def _is_worth(self, candidate: Candidate) -> bool:
        """Say whether trying it gains ``LEAST_GAIN`` a second, by what such tries took so far.

        The first ones always do: how likely an edit is, is known but roughly.
        """
        n, seconds = self._spent.get(_way(candidate), (0, 0.0))
        is_first = candidate.target is not None and n < N_FIRST and seconds < FIRST_S
        is_likely = candidate.chance >= LEAST_GAIN * (OWN_S + seconds / max(1, n))
        if not (is_first or is_likely):
            return False
        # Of edits a few don't parse.
        return candidate.stage != EDIT or tree_of(candidate.parts()[1]) is not None

    def _consider(self, candidate: Candidate) -> None:
        self.n_spared += candidate.key in self._objections.known
        is_idle = candidate.after == candidate.before and candidate.level is not Level.DISPLAY
        if is_idle or self._is_known(candidate):
            return
        self._seen.add(candidate.key)
        if candidate.level is Level.DISPLAY:
            self.shown.append(candidate)
            return
        if candidate.file in self._objections.test_files:
            return
        # What a change replaced was there, and ran.
        is_judged = candidate.file.endswith(".py") and candidate.stage != CHANGE
        if is_judged and (why := self._objections.to_run(candidate)):
            self._reject(candidate, why)
            return
        checked = self._checker.attempt(candidate)
        if is_judged and not checked.why and (why := self._objections.to_show(candidate)):
            self._reject(candidate, why)
            return
        self._note(checked if checked.why else self._confirmed(checked))

    def _confirmed(self, done: Checked) -> Checked:
        """Check in full what makes failing tests pass, in plainer words if tests agree to them."""
        for plain in self._plainer(done.candidate):
            again = self._checker.attempt(plain)
            if not again.why and (again := self._checker.confirm(again)).status is Status.VERIFIED:
                return again
        return self._checker.confirm(done)

    def _reject(self, candidate: Candidate, why: str) -> None:
        self.rejected.append((candidate, why))
        self.failed.append(candidate.key)

    def _note(self, checked: Checked) -> None:
        self.last, candidate = checked, checked.candidate
        n, n_verified = self.attempts.get(candidate.name, (0, 0))
        is_verified = checked.status is Status.VERIFIED
        is_unsure = checked.status is Status.UNSURE
        if not is_unsure or checked.seconds:  # it was run
            self.attempts[candidate.name] = (n + 1, n_verified + is_verified)
        # To check what makes the failing tests pass is worth its time, and says nothing of a try.
        if checked.status is Status.STILL_FAILS and checked.seconds:
            n, seconds = self._spent.get(_way(candidate), (0, 0.0))
            self._spent[_way(candidate)] = n + 1, seconds + checked.seconds
        if candidate.stage == EDIT and candidate.target is not None and not is_unsure:
            made = Trial(
                line=candidate.line,
                words=candidate.message,
                effect=_effect(checked),
                n_passed=checked.n_green,
            )
            self.trials.setdefault(candidate.target, []).append(made)
        if is_verified:
            self.verified.append(self._weighed(checked))
        elif checked.status is Status.BREAKS:
            self._reject(candidate, checked.why)
            self.broken.add(candidate.key)
        # One that more changes may follow is tried again by the next run, so that they do.
        # Of a constant, copies that were made before it was exchanged in memory stay as they are.
        elif (
            checked.status is Status.STILL_FAILS
            and not self._is_base(checked)
            and candidate.held is None
        ):
            self.failed.append(candidate.key)

    def _weighed(self, checked: Checked) -> Checked:
        """Return a verified candidate with what speaks against it."""
        candidate = checked.candidate
        lost = ""
        if candidate.stage == EDIT:
            lost = self._checker.either_way(checked) or self._checker.unreached(checked)
        emptied = is_emptied(candidate) or bool(lost)
        return replace(checked, doubt=doubt_of(candidate) or lost, is_emptied=emptied)

    def _is_base(self, checked: Checked) -> bool:
        """Keep what made progress, and say whether it did: more changes may follow."""
        candidate = checked.candidate
        if checked.n_green:
            where = changed_location(candidate)
            known = self.halves.setdefault(where, checked)
            self.halves[where] = max(known, checked, key=lambda half: half.n_green)
        if candidate.stage == EDIT:  # alone it may be half of what is needed
            self._edits.append(candidate)
        is_by_tools = self._tools.library.names.issuperset(candidate.tools)
        made = progress(checked, strictly=not is_by_tools)
        is_base = made > (0, 0) and len(candidate.tools) < MAX_STEPS
        if is_base:
            self._bases.append((made, checked))
        return is_base

    def _order(self, checked: Checked) -> tuple[bool, int, bool, float, float, int]:
        candidate = checked.candidate
        level, is_guess = list(Level).index(candidate.level), not is_told(candidate)
        worth = self._tools.library.record(candidate.name).worth
        return bool(checked.doubt), level, is_guess, -worth, -weight(candidate), candidate.size()


def _effect(checked: Checked) -> Effect:
    ends = {Status.VERIFIED: Effect.REPAIRS, Status.BREAKS: Effect.BREAKS_OTHERS}
    before, now = checked.before, checked.still
    is_same = before is None or now is None or now.error == before.error
    still = Effect.SAME_ERROR if is_same else Effect.OTHER_ERROR
    return ends.get(checked.status, Effect.REPAIRS_SOME if checked.n_green else still)


def _green(half: Checked) -> tuple[int, bool]:
    """Of two with which as many tests pass, a tool's is nearer: it knows the error."""
    return half.n_green, half.candidate.stage == TOOL


def _is_by_itself(candidate: Candidate) -> bool:
    """Say whether what comes after a candidate does not depend on what comes of it."""
    is_edit = candidate.stage == EDIT and candidate.target is not None
    return is_edit and OTHER_CONSTANT not in candidate.tools


def _way(candidate: Candidate) -> tuple[str, bool]:
    """All that is tried in the same way takes about as long."""
    return candidate.stage, candidate.is_swapped


def _takes_away(candidate: Candidate) -> bool:
    return not TAKES_AWAY.keys().isdisjoint(candidate.tools)


def _batches(candidates: Iterable[Candidate]) -> Iterator[Iterator[Candidate]]:
    """Many at a time: the first that works is not always the likeliest."""
    remaining = iter(candidates)
    for first in remaining:
        yield chain([first], islice(remaining, BATCH - 1))


def _weightiest(candidates: Iterable[Candidate]) -> Iterator[Iterator[Candidate]]:
    """The same, the most usual first."""
    yield from _batches(sorted(candidates, key=weight, reverse=True))


def _likeliest(
    candidates: Iterable[Candidate], late: Iterable[Candidate] = ()
) -> Iterator[Iterator[Candidate]]:
    """The same, with those that are made when the ones before them were tried.

    Both come with the likeliest first: what else works is a rival of theirs.
    """
    yield from _batches(merge(candidates, late, key=unlikelihood))


# -- several changes as one, and how far one that is no fix yet has come


def joined(first: Candidate, second: Candidate) -> Candidate:
    """Return both changes as one.

    Args:
        first: A change, or several.
        second: A change of the text that ``first`` leaves behind.
    """
    parts = {part.file: part for part in first.parts_by_file()}
    own = parts.pop(second.file, None)
    return replace(
        second,
        tools=(*first.tools, *second.tools),
        stage=STEPS,
        level=max(first.level, second.level, key=list(Level).index),
        before=second.before if own is None else own.before,
        message=f"{first.message}; {second.message}",
        target=second.target if own is None else None,
        held=None,
        companions=tuple(parts.values()),
    )


def merged(first: Candidate, second: Candidate) -> Candidate | None:
    """Return two changes of the code as it is as one; None if they touch the same lines."""
    after = first.texts.get(second.file)
    if after is None:
        return joined(first, second)
    spans, others = (differing_lines(second.before, text) for text in (after, second.after))
    if any(start <= e and s <= end for start, end, _ in others for s, e, _ in spans):
        return None
    text = lines_of(second.before)
    for start, end, new in sorted((*spans, *others), key=lambda span: span[:2], reverse=True):
        text[start:end] = new
    return joined(first, replace(second, after="".join(text)))


def progress(checked: Checked, *, strictly: bool = False) -> tuple[int, int]:
    """Return how far a change has brought the failing tests; ``(0, 0)`` is nowhere.

    Args:
        checked: A candidate with which some tests still fail.
        strictly: Whether another error at the same line of the test is no progress: a value that
            is wrong in another way.

    Returns:
        How many more tests pass; then 2 if the failing test gets further than before, 1 if it
        fails there with another error.
    """
    before, now = checked.before, checked.still
    if before is None or now is None or now.error == before.error:
        return checked.n_green, 0
    test = file_of_test(checked.test)
    old, new = (_line_of(test, run.frames) for run in (before, now))
    if old and new and old != new:
        return checked.n_green, 2 if new > old else 0
    return checked.n_green, 0 if strictly else 1


def _line_of(test: str, frames: Sequence[tuple[str, int]]) -> int:
    """The line of the test file that was executing; 0 if that is not known."""
    files = ((file.replace("\\", "/"), line) for file, line in frames)
    return next((line for file, line in files if file.endswith(f"/{test}")), 0)


def changed_location(candidate: Candidate) -> Location:
    """Return the innermost location whose text, its header included, holds all of a change.

    Where it changes several, as a name that is misspelt twice, the one in which the error showed.
    """
    # Lines that are added alone belong to the line before them.
    spans = [
        (min(start + 1, end), end)
        for start, end, _ in differing_lines(candidate.before, candidate.after)
    ]
    source = map_of(candidate.before, candidate.file, is_test=candidate.is_test)
    shown = _innermost(source, candidate.line, candidate.line)
    if any(_innermost(source, *span) == shown for span in spans):
        return shown
    return _innermost(source, spans[0][0], spans[-1][1])


def _innermost(source: SourceMap, first: int, last: int) -> Location:
    around = [
        unit
        for unit in source.units[1:]
        if unit.location.start_line <= first and last <= unit.location.end_line
    ]
    return max(around, key=lambda unit: len(unit.enclosing), default=source.module).location
