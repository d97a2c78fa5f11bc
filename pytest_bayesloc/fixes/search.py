"""The search for a fix of one group of failing tests: tools, several steps, then other candidates.

Reference:
    docs/fixes.md, section "Which tools are tried".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, filterfalse, islice, tee
from typing import TypeAlias

from pytest_bayesloc.domain.errors import ToolError
from pytest_bayesloc.domain.fixing import Level
from pytest_bayesloc.domain.ports import Clock
from pytest_bayesloc.fixes.check import CHANGE, EDIT, TOOL, Candidate, Checked, Checker, Status
from pytest_bayesloc.fixes.definition import Tool
from pytest_bayesloc.fixes.library import MAX_PROPOSALS, N_BEST, Library
from pytest_bayesloc.fixes.plausibility import TAKES_AWAY, doubt_of, weight, with_rivals
from pytest_bayesloc.fixes.project import Project, Proposal, Task
from pytest_bayesloc.fixes.steps import joined, merged, progress
from pytest_bayesloc.history.changes import name_of

MAX_STEPS = 4
N_BASES = 4  # candidates of one step that are gone on with
N_JUDGED = 5  # questions to a judge: an answer takes seconds and money, a dry run neither
SLOW_S = 5.0  # for an answer
ENOUGH = 5  # verified candidates of one stage
BATCH = 60  # candidates that are tried before one that works is enough
WINDOW = 3 * BATCH  # edits of which the likeliest are tried first
STORED = "stale-snapshot"  # the tool that finds stored values


NextStep: TypeAlias = tuple[Sequence[Task], Iterable[Candidate]]


class ToolRunner:
    """Asks the tools that an error calls for; one that fails, or takes long, is asked no more.

    Args:
        library: The tools.
        project: What tools may ask about the project.
        judge: Whether a tool, described in words, is for a task; None if it can't tell. Asked
            about tools that don't match for sure.
        note: Tells the user.
        clock: Monotonic seconds.
    """

    def __init__(
        self,
        library: Library,
        project: Project,
        judge: Callable[[Task, str], bool | None],
        note: Callable[[str], None],
        clock: Clock,
    ) -> None:
        self.library = library
        self._project = project
        self._judge = judge
        self._note = note
        self._clock = clock
        self._left_out: set[str] = set()
        self._judged: dict[tuple[str, str, str], bool | None] = {}

    def matches(self, tasks: Sequence[Task]) -> list[tuple[Tool, float]]:
        """The tools that the errors of ``tasks`` call for, each with its best similarity."""
        errors = dict.fromkeys(task.error for task in tasks)
        found: dict[str, tuple[Tool, float]] = {}
        for tool, similarity in chain.from_iterable(map(self.library.search, errors)):
            if tool.name not in found or found[tool.name][1] < similarity:
                found[tool.name] = tool, similarity
        return list(found.values())

    def is_for(self, tool: Tool, similarity: float, task: Task) -> bool:
        """Whether a tool may change the file of ``task``, and nobody says that it is not for it."""
        if not tool.may_change(task.filename):
            return False
        if similarity > self.library.record(tool.name).sure_from and tool.auto_apply:
            return True
        asked = tool.name, task.error, task.filename
        if asked not in self._judged and len(self._judged) < N_JUDGED:
            self._judged[asked] = self._judge(task, tool.description)
        return self._judged.get(asked) is not False  # where nobody knows, the dry run decides

    def ask(self, tool: Tool, task: Task) -> list[Proposal]:
        """The proposals of a tool for ``task``."""
        if tool.propose is None or tool.name in self._left_out:
            return []
        started = self._clock()
        why = ""
        made: list[Proposal] = []
        try:
            made = list(islice(tool.propose(task, self._project), MAX_PROPOSALS))
        except ToolError as error:
            why = str(error)
        except Exception as error:  # noqa: BLE001 - a tool may be anybody's
            why = (
                f"The fix tool {tool.name} failed ({type(error).__name__}: {error}): it is left "
                "out of this run. (broken-tool)"
            )
        spent_s = self._clock() - started
        if not why and spent_s > SLOW_S:
            why = (
                f"The fix tool {tool.name} took {spent_s:.0f} s for an answer: it is not asked "
                "again in this run. (broken-tool)"
            )
        if why:
            self._left_out.add(tool.name)
            self._note(why)
        return made


@dataclass(kw_only=True)
class SearchResult:
    """The result of a search.

    Attributes:
        verified: The best first.
        shown: Changes of tests, which nobody checks.
        rejected: Candidates that were not run or broke something, with the reason.
        attempts: Per tool, how many candidates of it were run, and how many were verified.
        failed: Keys of the candidates that are no fix.
        n_spared: Candidates that were not run, since they are known to be none.
        is_out_of_time: Whether time ran out before all was tried.
        nearest: What came nearest of those with which some failing tests pass, and others not.
        seconds: Wall seconds that it took.
    """

    verified: list[Checked] = field(default_factory=list)
    shown: list[Candidate] = field(default_factory=list)
    rejected: list[tuple[Candidate, str]] = field(default_factory=list)
    attempts: dict[str, tuple[int, int]] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)
    n_spared: int = 0
    is_out_of_time: bool = False
    nearest: Checked | None = None
    seconds: float = 0.0

    @property
    def n_tried(self) -> int:
        """The number of candidates that were run."""
        return sum(n for n, _ in self.attempts.values())

    @property
    def functions(self) -> Mapping[str, Sequence[str]]:
        """Per tool with a verified fix, what its best one changes, as ``file qualname``."""
        return {
            checked.candidate.name: [name_of(where) for where in checked.targets]
            for checked in reversed(self.verified)
        }


class Search:
    """One search.

    Args:
        tools: Asks the tools.
        checker: Checks candidates.
        refusal: Why a change of Python code must not be run; empty if it may.
        test_files: Where tests stand, whatever their files are called: nothing changes them.
        known: Keys of candidates that were rejected for this bug on this very code.
        next_step: Tasks that a test sets which still fails with a change, and edits on top of that.

    Attributes:
        last: The candidate that was checked last, with what came of it.
    """

    def __init__(
        self,
        tools: ToolRunner,
        checker: Checker,
        refusal: Callable[[Candidate], str],
        test_files: frozenset[str] = frozenset(),
        known: frozenset[str] = frozenset(),
        next_step: Callable[[Checked], NextStep] = lambda _: ((), ()),
    ) -> None:
        self._tools = tools
        self._next_step = next_step
        self._checker = checker
        self._refusal = refusal
        self._test_files = test_files
        self._known = known
        self.last: Checked | None = None
        self._seen: set[str] = set()
        self._bases: list[tuple[tuple[int, int], Checked]] = []
        self._edits: list[Candidate] = []
        self._result = SearchResult()

    def run(
        self,
        tasks: Sequence[Task],
        edits: Iterable[Candidate] = (),
        taken_back: Iterable[Candidate] = (),
        generated: Iterable[Candidate] | None = None,
        constants: Iterable[Candidate] = (),
        spare_s: float = 0.0,
    ) -> SearchResult:
        """Search until a stage finds something, or time is up.

        Args:
            tasks: Where the error showed, the likeliest place first.
            edits: Mutations of the suspects; like what follows, made only if they are needed.
            taken_back: Functions as they were when the tests passed.
            generated: Changes that a language model writes, who reads ``last`` after each. They are
                tried before mutations that make code do less; None: nobody is asked.
            constants: Other constants of the suspects, which read ``last`` as well.
            spare_s: Seconds that are kept for what takes changes back.

        Raises:
            ExecutionError: If tests can't be run again.
        """
        result = self._result
        stages = [self._by_tools(tasks), self._by_steps(), _likeliest(edits), self._by_steps()]
        if generated is not None:
            first, second = tee(edits)
            kept, less = filterfalse(_takes_away, first), filter(_takes_away, second)
            stages[2:3] = [_likeliest(kept), _batches(generated), _likeliest(less)]
        stages.append(_batches(self._unless_stored(constants)))
        for stage in stages:
            self._check_all(stage, spare_s)
            if result.verified or result.is_out_of_time:
                break
        # An edit keeps what was meant by a change; to take it back does not.
        if not result.verified:
            self._check_all(_batches(taken_back))
        result.verified = with_rivals(sorted(result.verified, key=self._order))
        return result

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
                    yield self._following(base)

    def _unless_stored(self, constants: Iterable[Candidate]) -> Iterator[Candidate]:
        """Yield constants, but none to fit a value that is stored: that may be stale."""
        if not any(STORED in hint.tools for hint in self._result.shown):
            yield from constants

    def _following(self, base: Checked) -> Iterator[Candidate]:
        """Yield changes for the error that is left, then those tried without the base."""
        tasks, edits = self._next_step(base)
        for task in tasks:
            for tool, similarity in self._tools.library.search(task.error)[: 2 * N_BEST]:
                proposed = self._proposed(tool, similarity, task)
                yield from (joined(base.candidate, candidate) for candidate in proposed)
        yield from (joined(base.candidate, edit) for edit in edits)
        for candidate in list(self._edits):
            both = merged(base.candidate, candidate)
            if both is not None:
                yield both

    def _proposed(self, tool: Tool, similarity: float, task: Task) -> Iterator[Candidate]:
        if not self._tools.is_for(tool, similarity, task) or not self._checker.left_s():
            return
        is_test = bool(task.filename) and task.filename in {task.test_file, *self._test_files}
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
        for batch in batches:
            for candidate in batch:
                if len(self._result.verified) >= ENOUGH:
                    return
                if self._checker.left_s() <= spare_s:
                    self._result.is_out_of_time = True
                    return
                self._consider(candidate)
            if any(not checked.doubt for checked in self._result.verified):
                return

    def _consider(self, candidate: Candidate) -> None:
        self._result.n_spared += candidate.key in self._known
        is_idle = candidate.after == candidate.before and candidate.level is not Level.DISPLAY
        if is_idle or candidate.key in (self._known | self._seen):
            return
        self._seen.add(candidate.key)
        if candidate.level is Level.DISPLAY:
            self._result.shown.append(candidate)
            return
        if candidate.file in self._test_files:
            return
        is_code = candidate.file.endswith(".py")
        # What a change replaced was there, and ran.
        why = self._refusal(candidate) if is_code and candidate.stage != CHANGE else ""
        if why:
            self._result.rejected.append((candidate, why))
            self._result.failed.append(candidate.key)
        else:
            self._check(candidate)

    def _check(self, candidate: Candidate) -> None:
        checked = self.last = self._checker.check(candidate)
        n, n_verified = self._result.attempts.get(candidate.name, (0, 0))
        is_verified = checked.status is Status.VERIFIED
        self._result.attempts[candidate.name] = (n + 1, n_verified + is_verified)
        if checked.status in {Status.BREAKS, Status.STILL_FAILS}:
            self._result.failed.append(candidate.key)
        if is_verified:
            self._result.verified.append(replace(checked, doubt=doubt_of(candidate)))
        elif checked.status is Status.BREAKS:
            self._result.rejected.append((candidate, checked.why))
        elif checked.status is Status.STILL_FAILS:
            self._keep_base(checked)

    def _keep_base(self, checked: Checked) -> None:
        """Keep what made progress: more changes may follow."""
        candidate = checked.candidate
        nearest = self._result.nearest
        if checked.n_green > (nearest.n_green if nearest is not None else 0):
            self._result.nearest = checked
        if candidate.stage == EDIT:  # alone it may be half of what is needed
            self._edits.append(candidate)
        is_by_tools = self._tools.library.names.issuperset(candidate.tools)
        made = progress(checked, strictly=not is_by_tools)
        if made > (0, 0) and len(candidate.tools) < MAX_STEPS:
            self._bases.append((made, checked))

    def _order(self, checked: Checked) -> tuple[int, bool, float, float, int]:
        candidate = checked.candidate
        level = list(Level).index(candidate.level)
        worth = self._tools.library.record(candidate.name).worth
        return level, bool(checked.doubt), -worth, -weight(candidate), candidate.size()


def _takes_away(candidate: Candidate) -> bool:
    return not TAKES_AWAY.keys().isdisjoint(candidate.tools)


def _batches(candidates: Iterable[Candidate]) -> Iterator[Iterator[Candidate]]:
    """Many at a time: the first that works is not always the likeliest."""
    remaining = iter(candidates)
    for first in remaining:
        yield chain([first], islice(remaining, BATCH - 1))


def _likeliest(candidates: Iterable[Candidate]) -> Iterator[Iterator[Candidate]]:
    """The same, of several batches the likeliest first: what else works is a rival of theirs."""
    remaining = iter(candidates)
    while window := list(islice(remaining, WINDOW)):
        yield from _batches(sorted(window, key=weight, reverse=True))
