"""The search for a fix of one group of failing tests: tools, pairs of them, small edits.

Reference:
    docs/fixes.md, section "Which tools are tried".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice

from pytest_bayesloc.domain.errors import ToolError
from pytest_bayesloc.domain.fixing import Level
from pytest_bayesloc.fixes.check import CHANGE, Candidate, Checked, Checker, Status
from pytest_bayesloc.fixes.library import MAX_PROPOSALS, N_BEST, Library, Tool, ToolMatch
from pytest_bayesloc.fixes.project import Project, Proposal, Task
from pytest_bayesloc.fixes.soundness import unsound

Forbids = Callable[[Candidate], str]
Judge = Callable[[Task, str], bool | None]

MAX_PAIRS = 24
N_JUDGED = 5  # questions to a judge: an answer takes seconds and money, a dry run neither
SLOW_S = 5.0  # for an answer
ENOUGH = 5  # verified candidates of one stage
BATCH = 60  # edits that are tried before one that works is enough
#: Edits that make code do less: tests that pass with them say least.
TAKES_AWAY = frozenset({"drop-statement", "relax-condition", "change-return", "other-jump"})
_CRASH = re.compile(r"^(.+?):(\d+): ", re.MULTILINE)


@dataclass(kw_only=True)
class Outcome:
    """What a search came to.

    Attributes:
        verified: The best first.
        shown: Changes of tests, which nobody checks.
        rejected: Candidates that were not run or broke something, with the reason.
        tried: Per tool, how many candidates of it were run, and how many were verified.
        in_vain: Keys of the candidates that are no fix.
        n_spared: Candidates that were not run, since they are known to be none.
        is_over: Whether time ran out before all was tried.
    """

    verified: list[Checked] = field(default_factory=list)
    shown: list[Candidate] = field(default_factory=list)
    rejected: list[tuple[Candidate, str]] = field(default_factory=list)
    tried: dict[str, tuple[int, int]] = field(default_factory=dict)
    in_vain: list[str] = field(default_factory=list)
    n_spared: int = 0
    is_over: bool = False


@dataclass(kw_only=True)
class Search:
    """One search.

    Attributes:
        library: The tools.
        project: What tools may ask.
        checker: Checks candidates.
        forbids: Says what must not be run.
        judge: Asked about tools that match less than surely.
        note: Tells the user.
        edits: Small changes of the suspects, made only if they are needed.
        taken_back: Functions as they were when the tests passed, likewise.
        spare_s: Seconds that are kept for these.
        generated: Changes that a language model writes, likewise.
        tests: Texts of the failing tests and of what they are given: a fix must not know their
            values.
        test_files: Where tests stand, whatever their files are called: nothing changes them.
        known: Keys of candidates that were rejected for this bug on this very code.
    """

    library: Library
    project: Project
    checker: Checker
    forbids: Forbids
    judge: Judge
    note: Callable[[str], None]
    edits: Callable[[], Iterable[Candidate]] = tuple
    taken_back: Callable[[], Iterable[Candidate]] = tuple
    spare_s: float = 0.0
    generated: Callable[[], Iterable[Candidate]] = tuple
    tests: tuple[str, ...] = ()
    test_files: frozenset[str] = frozenset()
    known: frozenset[str] = frozenset()
    _seen: set[str] = field(default_factory=set)
    _outcome: Outcome = field(default_factory=Outcome)
    _stirred: list[Checked] = field(default_factory=list)
    _broken: set[str] = field(default_factory=set)
    _judged: dict[tuple[str, str, str], bool | None] = field(default_factory=dict)

    def run(self, tasks: Sequence[Task]) -> Outcome:
        """Search until a stage finds something, or time is up.

        Args:
            tasks: Where the error showed, the likeliest place first.

        Raises:
            ExecutionError: If tests can't be run again.
        """
        outcome = self._outcome
        for stage in (self._tools(tasks), self._pairs(), self._each(self.edits)):
            self._check_all(stage, self.spare_s)
            if outcome.verified or outcome.is_over:
                break
        # An edit keeps what was meant by a change; to take it back does not.
        if not outcome.verified:
            self._check_all(self._each(self.taken_back))
        if not outcome.verified and not outcome.is_over:
            self._check_all(self._each(self.generated))
        outcome.verified.sort(key=self._order)
        return outcome

    # -- stages: each yields candidates, and a None where it would do to have found something

    def _tools(self, tasks: Sequence[Task]) -> Iterator[Candidate | None]:
        matches = self._matches(tasks)
        for start in range(0, len(matches), N_BEST):
            for match in matches[start : start + N_BEST]:
                for task in tasks:
                    if self._is_for(match, task):
                        yield from self._of(match.tool, task)
            yield None

    def _pairs(self) -> Iterator[Candidate | None]:
        """Another tool on what a tool left behind, where that at least changed the error."""
        done = islice(list(self._stirred), MAX_PAIRS)
        for checked in done:
            first = checked.candidate
            task = _next_task(checked)
            for match in self.library.search(task.error)[:N_BEST] if task is not None else ():
                if task is None or not self._is_for(match, task):
                    continue
                for second in self._of(match.tool, task):
                    yield replace(
                        second,
                        tools=(*first.tools, *second.tools),
                        stage="pair",
                        level=max(first.level, second.level, key=list(Level).index),
                        before=first.before,
                        message=f"{first.message}; {second.message}",
                    )
            yield None

    def _each(self, made: Callable[[], Iterable[Candidate]]) -> Iterator[Candidate | None]:
        """Small edits by the batch: the first that works is not always the likeliest."""
        for i, candidate in enumerate(made(), 1):
            yield candidate
            if i % BATCH == 0:
                yield None

    def _matches(self, tasks: Sequence[Task]) -> list[ToolMatch]:
        errors = dict.fromkeys(task.error for task in tasks)
        found: dict[str, ToolMatch] = {}
        for match in chain.from_iterable(map(self.library.search, errors)):
            known = found.get(match.tool.name)
            if known is None or known.similarity < match.similarity:
                found[match.tool.name] = match
        return list(found.values())

    def _is_for(self, match: ToolMatch, task: Task) -> bool:
        definition = match.tool.definition
        if not definition.may_change(task.filename):
            return False
        if match.similarity > self.library.sure_from(match.tool.name) and definition.auto_apply:
            return True
        asked = match.tool.name, task.error, task.filename
        if asked not in self._judged and len(self._judged) < N_JUDGED:
            self._judged[asked] = self.judge(task, definition.description)
        return self._judged.get(asked) is not False  # where nobody knows, the dry run decides

    def _of(self, tool: Tool, task: Task) -> Iterator[Candidate]:
        """What a tool proposes; one that breaks is not asked again."""
        if tool.propose is None or tool.name in self._broken or not self.checker.left_s():
            return
        level = tool.definition.level
        is_test = bool(task.filename) and task.filename in {task.test_file, *self.test_files}
        for made in self._asked(tool, task):
            yield Candidate(
                tools=(tool.name,),
                stage="tool",
                level=Level.DISPLAY if is_test else level,
                file=task.filename,
                before=task.code,
                after=made.code,
                message=made.message,
                is_test=is_test,
                line=task.line,
            )

    def _asked(self, tool: Tool, task: Task) -> list[Proposal]:
        """The answer of a tool; one that breaks, or takes long, is not asked again."""
        if tool.propose is None:
            return []
        started = self.checker.clock()
        why = ""
        made: list[Proposal] = []
        try:
            made = list(islice(tool.propose(task, self.project), MAX_PROPOSALS))
        except ToolError as error:
            why = str(error)
        except Exception as error:  # noqa: BLE001 - a tool may be anybody's
            why = (
                f"The fix tool {tool.name} failed ({type(error).__name__}: {error}): it is left "
                "out of this run. (broken-tool)"
            )
        spent_s = self.checker.clock() - started
        if not why and spent_s > SLOW_S:
            why = (
                f"The fix tool {tool.name} took {spent_s:.0f} s for an answer: it is not asked "
                "again in this run. (broken-tool)"
            )
        if why:
            self._broken.add(tool.name)
            self.note(why)
        return made

    # -- one candidate after the other

    def _check_all(self, candidates: Iterable[Candidate | None], spare_s: float = 0.0) -> None:
        for candidate in candidates:
            if len(self._outcome.verified) >= ENOUGH:
                return
            if candidate is None:
                if self._outcome.verified:
                    return
                continue
            if self.checker.left_s() <= spare_s:
                self._outcome.is_over = True
                return
            self._consider(candidate)

    def _consider(self, candidate: Candidate) -> None:
        self._outcome.n_spared += candidate.key in self.known
        is_idle = candidate.after == candidate.before and candidate.level is not Level.DISPLAY
        if is_idle or candidate.key in (self.known | self._seen):
            return
        self._seen.add(candidate.key)
        if candidate.level is Level.DISPLAY:
            self._outcome.shown.append(candidate)
            return
        if candidate.file in self.test_files:
            return
        is_code = candidate.file.endswith(".py")
        why = ""
        if is_code and candidate.stage != CHANGE:  # that was there, and ran
            before, after = candidate.parts()
            why = unsound(before, after, self.tests, candidate.before) or self.forbids(candidate)
        if why:
            self._outcome.rejected.append((candidate, why))
            self._outcome.in_vain.append(candidate.key)
        else:
            self._check(candidate)

    def _check(self, candidate: Candidate) -> None:
        checked = self.checker.check(candidate)
        self._count(checked)
        if checked.status in {Status.BREAKS, Status.IN_VAIN}:
            self._outcome.in_vain.append(candidate.key)
        if checked.status is Status.VERIFIED:
            self._outcome.verified.append(checked)
        elif checked.status is Status.BREAKS:
            self._outcome.rejected.append((candidate, checked.why))
        elif checked.status is Status.IN_VAIN and self._is_other(checked):
            self._stirred.append(checked)

    def _is_other(self, checked: Checked) -> bool:
        """Whether the tests fail in another way with the change than without."""
        return bool(checked.why) and checked.why not in self.checker.errors.values()

    def _count(self, checked: Checked) -> None:
        name = checked.candidate.name
        n, n_verified = self._outcome.tried.get(name, (0, 0))
        verified = n_verified + (checked.status is Status.VERIFIED)
        self._outcome.tried[name] = (n + 1, verified)

    def _order(self, checked: Checked) -> tuple[int, bool, float, int]:
        candidate = checked.candidate
        level = list(Level).index(candidate.level)
        takes_away = candidate.name in TAKES_AWAY
        return level, takes_away, -self.library.worth(candidate.name), candidate.size()


def _next_task(checked: Checked) -> Task | None:
    """What the tests say with the change, if it is about the same file."""
    candidate = checked.candidate
    found = _CRASH.search(checked.output)
    if found is None or not found.group(1).replace("\\", "/").endswith(candidate.file):
        return None
    line = int(found.group(2))
    return Task(
        code=candidate.after,
        filename=candidate.file,
        error=checked.why,
        line=line,
        lines=(line,),
    )
