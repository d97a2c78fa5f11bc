"""The search for a fix of one group: what it may try, where, and how long."""

from __future__ import annotations

import warnings
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache, partial
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.fixing import MUTANTS
from pytest_bayesloc.domain.standard_library import monotonic
from pytest_bayesloc.domain.texts import file_of_test
from pytest_bayesloc.fixes.ahead import Ahead
from pytest_bayesloc.fixes.candidate import GENERATED, MODEL, Candidate, patch_of
from pytest_bayesloc.fixes.check import N_FIRST, Checked, Checker, Status, plain_rerun
from pytest_bayesloc.fixes.edit_candidates import (
    edits_after,
    inspected,
    mutated,
    other_constants,
    taken_back,
)
from pytest_bayesloc.fixes.library import Library, ToolRunner
from pytest_bayesloc.fixes.pattern_candidates import PatternSearch, uses_patterns, watched_tests
from pytest_bayesloc.fixes.project import Project
from pytest_bayesloc.fixes.reach import Reach, out_of_bounds
from pytest_bayesloc.fixes.search import STEPS, NextStep, Objections, Search
from pytest_bayesloc.fixes.soundness import unsound
from pytest_bayesloc.fixes.tasks import (
    covering,
    n_turned,
    python_files,
    tasks_after,
    tasks_of,
    test_files,
    texts_of_tests,
    unconcerned,
    users,
)
from pytest_bayesloc.inspection.strategies.likely_fixes import is_test_meant
from pytest_bayesloc.inspection.strategy import rerun_once
from pytest_bayesloc.inspection.trials import loses_check
from pytest_bayesloc.pipeline.execute import WideRunners, is_local, open_pool
from pytest_bayesloc.pipeline.order import explain_order
from pytest_bayesloc.spectrum.build import executed_by_imports

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_bayesloc.domain.ports import Clock, Runner
    from pytest_bayesloc.fixes.project import Task
    from pytest_bayesloc.pipeline.context import Context
    from pytest_bayesloc.pipeline.guide import LlmStage
    from pytest_bayesloc.ranking.case import Case
    from pytest_bayesloc.rerun.pool import Pool

N_AHEAD = 64  # candidates of which it is remembered what they may reach
N_TESTS = 5  # failing tests of a group whose texts are read
ORDER = 1 / 2  # of the time, to find the tests that spoil one
OF_PATTERNS = 1 / 3  # of the time that is left, for edits of regular expressions
OF_SAMPLES = 1 / 10  # of the time, to note the values at points of functions
SPARE = 1 / 4  # of the time, for what changed since the tests passed
#: Seconds of the budget in which an inspection tries the likeliest fixes, and those to check what
#: passes: of 45 searches on real bugs that found something 33 had it in four seconds.
TRY_S, CHECK_S = 3.6, 15.0
WORK_S = 2.4  # with CPU for the run: what ``TRY_S`` are on an idle machine
FAR_S, FAR = 25.0, 2 / 3  # the same where each try goes to another machine; of the time left
CONFIDENCE = 0.6  # from which on a language model is believed that a tool does not fit


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """The time that a search has, and what it leaves to others.

    Attributes:
        try_s: Seconds of its clock in which candidates are tried.
        check_s: Seconds behind those, to check what passes.
        work_s: Seconds with CPU for the run that the tries get, although half of those go by.
        is_first: Whether an inspection asks. Others explain orders and take changes back; what they
            saw fail is told again, and what fails here is known to the search that follows.
    """

    try_s: float
    check_s: float = 0.0
    work_s: float = 0.0
    is_first: bool = False


def likeliest(
    context: Context, work: Clock, case: Case, clock: Clock, limit_s: float
) -> Search | None:
    """Try the likeliest fixes of a group for some of the ``limit_s`` seconds that are left.

    ``work`` goes on while there is CPU for the run, ``clock`` is the budget's.

    Returns:
        The search; None if nothing was searched.

    Raises:
        ExecutionError: If tests can't be run again.
    """
    from pytest_bayesloc.fixes.tools import PACKAGE_TOOLS

    try_s = min(TRY_S if is_local(context) else FAR_S, limit_s * FAR)
    check_s = min(CHECK_S, limit_s - try_s)
    effort = Effort(try_s=try_s, check_s=check_s, work_s=WORK_S, is_first=True)
    with closing(WideRunners(context)) as wide, without_warnings():
        return FixSearch(context=context, clock=clock, work=work).run(
            case, Library(PACKAGE_TOOLS), effort, wide
        )


@contextmanager
def without_warnings() -> Iterator[None]:
    """Ignore warnings: the suite may have made errors of them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@dataclass(frozen=True, kw_only=True)
class FixSearch:
    """Searches a fix for one group after the other.

    Attributes:
        context: The session.
        llm: A language model's part; None: none is asked.
        clock: Monotonic seconds.
        work: Those in which there is CPU for the run.
    """

    context: Context
    llm: LlmStage | None = None
    clock: Clock = monotonic
    work: Clock = monotonic

    @cached_property
    def _files(self) -> list[str]:
        return python_files(self.context.sources)

    @cached_property
    def _project(self) -> Project:
        return Project(self._files, self.context.sources.read)

    @cached_property
    def _reach(self) -> Reach:
        return Reach(self._files, self.context.sources, self.context.settings.never_edited)

    def run(self, case: Case, library: Library, effort: Effort, wide: WideRunners) -> Search | None:
        """Search a fix of a group.

        Returns:
            The search; None if all of its tests pass when they are run again.

        Raises:
            ExecutionError: If tests can't be run again.
        """
        ends = self.clock() + effort.try_s + effort.check_s
        plain: Mapping[str, tuple[str, ...]] = dict.fromkeys(case.failing, ())
        for after in [plain] if effort.is_first else self._orders(case, plain, ends):
            near = case.neighbours()
            first = [n for test, others in after.items() for n in (*others, test)]
            with self._pool(first, near) as pool:
                checker = self._checker(case, pool, wide, after, ends, effort)
                with closing(checker.ahead):
                    if checker.failing and checker.fails_again():
                        return self._searched(case, library, checker, effort)
                case.flaky = case.flaky or checker.flaky
        return None

    @contextmanager
    def _pool(self, first: Sequence[str], near: Sequence[str]) -> Iterator[Pool]:
        """Give runners of tests: those of the inspections, if they know all of ``first``."""
        kept = self.context.pool
        if kept is not None and set(first).issubset(kept.tests):
            yield kept
            return
        tests = [*dict.fromkeys((*first, *near))]
        with closing(open_pool(self.context, tests, {})) as pool:
            yield pool

    def _orders(
        self, case: Case, plain: Mapping[str, tuple[str, ...]], ends: float
    ) -> Iterator[Mapping[str, tuple[str, ...]]]:
        """Yield, per failing test, none to run before it; then, of those that pass alone, some."""
        yield plain
        if not case.spoiled:
            explain_order(self.context, case, limit_s=(ends - self.clock()) * ORDER)
        yield {spoiled.test: spoiled.after for spoiled in case.spoiled}

    def _checker(
        self,
        case: Case,
        pool: Pool,
        wide: WideRunners,
        after: Mapping[str, tuple[str, ...]],
        ends: float,
        effort: Effort,
    ) -> Checker:
        sources, recorded = self.context.sources, self.context.recorder.recorded
        imports = cache(partial(executed_by_imports, recorded, sources=sources))
        # Tests of which nothing is known: they were collected, and did not run.
        idle = recorded.blocked_tests(self.context.collected)

        def others() -> Sequence[Runner]:  # those that are not ready are started if that pays
            return pool.runners(ends - self.clock() - effort.check_s)[1:]

        def using(candidate: Candidate) -> Sequence[str] | None:
            tests = users(case, candidate, sources)
            return None if tests is None else (*tests, *idle)

        return Checker(
            runner=pool.first,
            clock=self.clock,
            deadline=ends,
            failing=tuple(after),
            covering=lambda target: (*covering(case, target, sources), *idle),
            users=using,
            unconcerned=partial(unconcerned, case, sources=sources),
            n_turned=partial(n_turned, case, sources=sources),
            earlier=after,
            tests_s=self.context.tests_s,
            near=frozenset(n for n in case.neighbours() if n in pool.tests),
            known=case.tried,
            wide=lambda tests: wide.runner_of(tests, pool, ends - self.clock()),
            by_import=lambda where: where in (imports(where.file) or {where}),
            rerun=partial(rerun_once, case) if effort.is_first else plain_rerun,
            ahead=Ahead(others),
        )

    def _searched(self, case: Case, library: Library, checker: Checker, effort: Effort) -> Search:
        sources, never_edited = self.context.sources, self.context.settings.never_edited
        is_mutated = MUTANTS not in self.context.settings.without

        def next_step(checked: Checked) -> NextStep:
            edits = edits_after(checked, case, sources, never_edited)
            return tasks_after(checked, case, sources), edits if is_mutated else ()

        began = self.work()
        search = Search(
            # Which tools failed, or were judged, is asked anew for each group.
            ToolRunner(library, self._project, self._fits, self.context.note, self.clock),
            checker,
            self._objections(case, effort),
            next_step,
            spare_s=effort.check_s or (effort.try_s * SPARE if case.changes.code else 0.0),
            has_worked=lambda: self.work() - began >= effort.work_s,
        )
        limit_s = effort.try_s * OF_SAMPLES
        edits = mutated(case, sources, never_edited, checker.runner, limit_s)
        constants = other_constants(case, sources, never_edited, lambda: search.last)
        search.begin(inspected(case))
        search.run(
            tasks_of(case, sources),
            edits=edits if is_mutated else (),
            patterns=self._patterns(case, checker, effort) if is_mutated else (),
            constants=constants if is_mutated else (),
            taken_back=() if effort.is_first else taken_back(case),
            generated=None if self.llm is None else self._generated(self.llm, case, search),
        )
        if effort.is_first:
            _take_half(case, search)
        else:
            case.rejected.add_fixes(search.failed)
        case.rejected.n_spared += search.n_spared
        return search

    def _objections(self, case: Case, effort: Effort) -> Objections:
        texts = tuple(texts_of_tests(case.failures[:N_TESTS], self.context.sources))

        def refusal(candidate: Candidate) -> str:
            reasons = (out_of_bounds(part, self._reach) for part in candidate.parts_by_file())
            return next(filter(None, reasons), "") or _unasked(case, candidate)

        def is_unsound(candidate: Candidate) -> str:
            reasons = (
                unsound(*part.parts(), texts, part.before, _types(case, part))
                for part in candidate.parts_by_file()
            )
            return next(filter(None, reasons), "")

        known = frozenset() if effort.is_first else case.rejected.known_fixes()
        asked_once = lru_cache(maxsize=N_AHEAD)(refusal)
        return Objections(asked_once, is_unsound, test_files(case.spectrum.tests), known)

    def _patterns(self, case: Case, checker: Checker, effort: Effort) -> Iterator[Candidate]:
        """Yield edits of regular expressions with which failing tests pass, tried in memory."""
        failing, passing = watched_tests(case)
        if uses_patterns(case, self.context.sources):
            collected = set(map(file_of_test, (*checker.failing, *checker.near)))
            search = PatternSearch(
                case=case,
                sources=self.context.sources,
                failing=failing,
                passing=[test for test in passing if file_of_test(test) in collected],
                runner=checker.runner,
                clock=self.clock,
                ends=self.clock() + OF_PATTERNS * (checker.left_s() - effort.check_s),
            )
            yield from search.candidates()

    def _fits(self, task: Task, description: str) -> bool | None:
        """Whether a language model says that a tool is for ``task``; None if it is not sure."""
        if self.llm is None:
            return None
        code = task.code[:500] if self.llm.may_send(task.filename) else ""
        said = self.llm.advisor.is_applicable(task.error, code, description)
        if said is None or said.confidence <= CONFIDENCE:
            return None
        return said.applicable

    def _generated(self, llm: LlmStage, case: Case, search: Search) -> Iterator[Candidate]:
        """Yield the likeliest functions as a language model would fix them."""

        def outcome() -> str:
            checked, search.last = search.last, None
            if checked is None or checked.status is Status.VERIFIED:
                return ""
            error = checked.still.error if checked.still is not None else ""
            return f"{checked.status.value}: {checked.why or error}"

        for target, text, why in llm.fixes(case, outcome):
            source = self.context.sources.map(target.file)
            if source is not None:
                search.last = None
                yield Candidate(
                    tools=(MODEL,),
                    stage=GENERATED,
                    file=target.file,
                    before=source.text,
                    after=text,
                    message=" ".join(why.split()),
                    line=target.start_line,
                )


def _take_half(case: Case, search: Search) -> None:
    """Check a change that mends all failing tests of one place: the others fail for another reason.

    That is done unless one change mends them all; what takes several may mend several mistakes.
    """
    if any(checked.candidate.stage != STEPS for checked in search.verified):
        return
    for where, half in search.halves.items():
        own = case.failing_of(where, len(case.failing))
        is_whole = set(own) <= {*half.failing, *case.failing[N_FIRST:]}
        if search.partial is None and is_whole and 1 < len(own) < search.n_failing:
            search.take_part(half, own)


def _unasked(case: Case, candidate: Candidate) -> str:
    """Say that a change lets data through that a check refused, if a test is probably at fault."""
    is_asked = case.guard is not None and is_test_meant(case)
    is_loose = is_asked and loses_check(case, patch_of(candidate))
    return "it lets what the test made pass a check" if is_loose else ""


def _types(case: Case, part: Candidate) -> Mapping[str, frozenset[str]]:
    """Return the types that were seen at a function, where a change is one of a single function."""
    changed = part.changed
    return case.recording.types_of(changed[0]) if len(changed) == 1 else {}
