"""The stage that searches fixes."""

from __future__ import annotations

import warnings
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.errors import BayeslocError
from pytest_bayesloc.domain.evidence import (
    REPAIRING_EDITS,
    ChangeOutcome,
    InspectionOutcome,
    Outcome,
)
from pytest_bayesloc.domain.failure import Situation
from pytest_bayesloc.domain.fixing import FIX
from pytest_bayesloc.domain.inspection import Effect, Finding, Signals, TestRun, Trial, Verdict
from pytest_bayesloc.domain.standard_library import monotonic
from pytest_bayesloc.domain.texts import count, file_of_test
from pytest_bayesloc.fixes.candidate import (
    CHANGE,
    GENERATED,
    MODEL,
    Candidate,
    patch_of,
)
from pytest_bayesloc.fixes.check import N_FIRST, Checked, Checker, Status
from pytest_bayesloc.fixes.edit_candidates import (
    edits_after,
    inspected,
    inspected_by,
    mutated,
    other_constants,
    taken_back,
)
from pytest_bayesloc.fixes.library import Library, ToolRunner
from pytest_bayesloc.fixes.mutations import KIND
from pytest_bayesloc.fixes.pattern_candidates import PatternSearch, uses_patterns, watched_tests
from pytest_bayesloc.fixes.plausibility import is_slip
from pytest_bayesloc.fixes.project import Project
from pytest_bayesloc.fixes.reach import Reach, out_of_bounds
from pytest_bayesloc.fixes.search import (
    N_SHOWN,
    STEPS,
    STORED,
    NextStep,
    Objections,
    Search,
    changed_location,
)
from pytest_bayesloc.fixes.soundness import unsound
from pytest_bayesloc.fixes.tasks import (
    covering,
    likely_places,
    n_turned,
    python_files,
    tasks_after,
    tasks_of,
    test_files,
    texts_of_tests,
    unconcerned,
    users,
)
from pytest_bayesloc.inspection.strategy import Budget, InspectionStrategy, rerun_once
from pytest_bayesloc.inspection.trials import (
    clear_of_check,
    is_judged,
    loses_check,
    others,
    who_passes,
)
from pytest_bayesloc.pipeline.execute import WideRunners, is_local, open_pool
from pytest_bayesloc.pipeline.fix_tools import (
    announce_refusals,
    tool_records,
    tools_of,
)
from pytest_bayesloc.pipeline.order import explain_order
from pytest_bayesloc.ranking.likelihoods import NEUTRAL, REFERENCE_MODEL, weigh
from pytest_bayesloc.report.document import MAX_TESTS, FixEntry
from pytest_bayesloc.report.encoding import entry_of, positive
from pytest_bayesloc.spectrum.build import executed_by_imports

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from pytest_bayesloc.domain.location import Location
    from pytest_bayesloc.domain.ports import Clock
    from pytest_bayesloc.fixes.project import Task
    from pytest_bayesloc.pipeline.context import Context
    from pytest_bayesloc.pipeline.guide import LlmStage
    from pytest_bayesloc.ranking.case import Case
    from pytest_bayesloc.rerun.pool import Pool

MAX_GROUPS = 10
N_TESTS = 5  # failing tests of a group whose texts are read
ORDER = 1 / 2  # of the time, to find the tests that spoil one
OF_PATTERNS = 1 / 3  # of the time that is left, for edits of regular expressions
OF_SAMPLES = 1 / 10  # of the time, to note the values at points of functions
SPARE = 1 / 4  # of the time, for what changed since the tests passed
#: Seconds of the budget in which an inspection tries the likeliest fixes, and those to check what
#: passes: of 45 searches on real bugs that found something 33 had it in four seconds.
TRY_S, CHECK_S = 4.5, 15.0
N_LEAST = 40  # changes that are tried although a busy machine needs longer
FAR_S, FAR = 25.0, 2 / 3  # the same where each try goes to another machine; of the time left
MIN_CONCLUSIVE = 3  # edits of a function that must fail before that says something
N_TOLD = 24  # of them
MEANT = 1 / 2  # P(a test is at fault), from which on no edit of code is tried for its sake
CHECKS = {"AssertionError", "Failed"}  # exceptions of checks: the code may be wrong as well
UNVERIFIED = "the search for a fix did not verify it"
#: Tools that mend a use of what the code lacks.
LACKING = frozenset({"misspelt-attribute", "wrong-arguments", "wrong-key", "wrong-keyword"})
STALE = "stale-expectation"  # the tool that writes what the code computes into a test
CONFIDENCE = 0.6  # from which on a language model is believed that a tool does not fit


@dataclass(frozen=True, kw_only=True)
class FixStage:
    """Searches fixes for groups of failing tests.

    Attributes:
        context: The session.
        llm: A language model's part; None: none is asked.
        clock: Monotonic seconds.
    """

    context: Context
    llm: LlmStage | None
    clock: Clock = monotonic

    def run(self, cases: Sequence[Case], budget_s: float) -> list[Search | None]:
        """Search a fix for each of the largest groups, which share ``budget_s`` wall seconds.

        Returns:
            The search for each group; None where nothing was searched.
        """
        results: list[Search | None] = [None for _ in cases]
        with self._guarded():
            self._search_all(cases, self.clock() + budget_s, results)
        return results

    def likeliest(self, case: Case, limit_s: float) -> Search | None:
        """Try the likeliest fixes of a group for some of the ``limit_s`` seconds that are left.

        Returns:
            The search; None if nothing was searched.

        Raises:
            ExecutionError: If tests can't be run again.
        """
        from pytest_bayesloc.fixes.tools import PACKAGE_TOOLS

        project, reach = self._grounds()
        tools = ToolRunner(
            Library(PACKAGE_TOOLS), project, self._fits, self.context.note, self.clock
        )
        with closing(WideRunners(self.context)) as wide, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the suite may have made errors of them
            try_s = min(TRY_S if is_local(self.context) else FAR_S, limit_s * FAR)
            check_s = min(CHECK_S, limit_s - try_s)
            return self._search(case, tools, reach, try_s, wide, check_s)

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Whatever goes wrong, the ranking stands without fixes."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the suite may have made errors of them
                yield
        except BayeslocError as error:
            self.context.note(str(error))
        except KeyboardInterrupt:
            self.context.note(
                "The search for fixes was interrupted: shown is what was found until then."
            )
        except Exception as error:  # noqa: BLE001 - the ranking stands without fixes
            self.context.warn(error)
        finally:
            self.context.keep(None)

    def _search_all(self, cases: Sequence[Case], ends: float, results: list[Search | None]) -> None:
        context = self.context
        records = tool_records(context.rootdir, context.settings.memory, context.note)
        library = Library(tools_of(context.config, context.note), records, context.note)
        self._tell_retired(library, cases)
        if context.settings.writes_fixes:
            announce_refusals(
                context, (f for case in cases[:MAX_GROUPS] for f, _ in likely_places(case))
            )
        project, reach = self._grounds()
        with closing(WideRunners(context)) as wide:
            for i, case in enumerate(cases[:MAX_GROUPS]):
                if case.cause is not None and not case.cause.is_repairable:
                    continue
                share_s = max(0.0, ends - self.clock()) / (min(len(cases), MAX_GROUPS) - i)
                # Which tools failed, or were judged, is asked anew for each group.
                tools = ToolRunner(library, project, self._fits, context.note, self.clock)
                result = self._search(case, tools, reach, share_s, wide)
                if result is not None:
                    results[i] = result
                    weigh_fixes(case, result)
                    self._show(i + 1, case, result, library)

    def _grounds(self) -> tuple[Project, Reach]:
        """Return what tools may read of the project, and what a change must not reach."""
        context = self.context
        files = python_files(context.sources)
        reach = Reach(files, context.sources, context.settings.never_edited)
        return Project(files, context.sources.read), reach

    def _tell_retired(self, library: Library, cases: Sequence[Case]) -> None:
        errors = {f"{f.exc_type}: {f.message}" for case in cases for f in case.failures}
        for tool in library.tools:
            if "retired" in tool.why_not and any(library.is_called_for(tool, e) for e in errors):
                self.context.note(
                    f"The fix tool {tool.name} is not tried any more ({tool.why_not}). "
                    "(retired-tool)"
                )

    def _search(
        self,
        case: Case,
        tools: ToolRunner,
        reach: Reach,
        budget_s: float,
        wide: WideRunners,
        check_s: float = 0.0,
    ) -> Search | None:
        """Return the search for a group; None if all of its tests pass when they are run again.

        With ``check_s`` wall seconds to check what passes behind those of the search, it tries
        tools, patterns and edits alone.
        """
        context = self.context
        imports = cache(
            partial(executed_by_imports, context.recorder.recorded, sources=context.sources)
        )
        texts = tuple(texts_of_tests(case.failures[:N_TESTS], self.context.sources))

        # Tests of which nothing is known: they were collected, and did not run.
        idle = self.context.recorder.recorded.blocked_tests(self.context.collected)

        def using(candidate: Candidate) -> Sequence[str] | None:
            tests = users(case, candidate, context.sources)
            return None if tests is None else (*tests, *idle)

        def refusal(candidate: Candidate) -> str:
            reasons = (out_of_bounds(part, reach) for part in candidate.parts_by_file())
            return next(filter(None, reasons), "") or _unasked(case, candidate)

        def is_unsound(candidate: Candidate) -> str:
            reasons = (
                unsound(*part.parts(), texts, part.before, _types(case, part))
                for part in candidate.parts_by_file()
            )
            return next(filter(None, reasons), "")

        ends = self.clock() + budget_s + check_s
        for after in self._orders(case, ends) if not check_s else [dict.fromkeys(case.failing, ())]:
            near = case.neighbours()
            first = [n for test, others in after.items() for n in (*others, test)]
            with self._pool(first, near) as pool:
                near = tuple(n for n in near if n in pool.tests)
                checker = Checker(
                    runner=pool.first,
                    clock=self.clock,
                    deadline=ends,
                    failing=tuple(after),
                    covering=lambda target: (*covering(case, target, context.sources), *idle),
                    users=using,
                    unconcerned=partial(unconcerned, case, sources=context.sources),
                    n_turned=partial(n_turned, case, sources=context.sources),
                    earlier=after,
                    tests_s=self.context.tests_s,
                    near=frozenset(near),
                    known=case.tried,
                    wide=lambda tests: wide.runner_of(tests, pool, ends - self.clock()),
                    by_import=lambda where: where in (imports(where.file) or {where}),
                )
                if check_s:
                    checker.rerun = lambda runner, patch, tests, limit_s: rerun_once(
                        runner, case, patch, tests, limit_s=limit_s
                    )
                if checker.failing and checker.fails_again():
                    objections = Objections(refusal, is_unsound)
                    return self._found(case, tools, checker, objections, budget_s, check_s)
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

    def _orders(self, case: Case, ends: float) -> Iterator[Mapping[str, tuple[str, ...]]]:
        """Yield, per failing test, none to run before it; then, of those that pass alone, some."""
        yield dict.fromkeys(case.failing, ())
        if not case.spoiled:
            explain_order(self.context, case, limit_s=(ends - self.clock()) * ORDER)
        yield {spoiled.test: spoiled.after for spoiled in case.spoiled}

    def _found(
        self,
        case: Case,
        tools: ToolRunner,
        checker: Checker,
        objections: Objections,
        budget_s: float,
        check_s: float,
    ) -> Search:
        files = test_files(case.spectrum.tests)
        # What an inspection saw fail is told again: each of its runs is known, and not its end.
        known = frozenset() if check_s else case.rejected.known_fixes()
        never_edited = self.context.settings.never_edited
        is_mutated = "mutants" not in self.context.settings.without

        def next_step(checked: Checked) -> NextStep:
            edits = edits_after(checked, case, self.context.sources, never_edited)
            tasks = tasks_after(checked, case, self.context.sources)
            return tasks, edits if is_mutated else ()

        search = Search(tools, checker, objections, files, known, next_step)
        constants = other_constants(case, self.context.sources, never_edited, lambda: search.last)
        limit_s = budget_s * OF_SAMPLES
        edits = mutated(case, self.context.sources, never_edited, checker.runner, limit_s)
        search.spare_s = check_s or (budget_s * SPARE if case.changes.code else 0.0)
        search.least = N_LEAST if check_s else 0
        search.begin(inspected(case))
        search.run(
            tasks_of(case, self.context.sources),
            edits=edits if is_mutated else (),
            patterns=self._patterns(case, checker, check_s) if is_mutated else (),
            constants=constants if is_mutated and not check_s else (),
            taken_back=taken_back(case) if not check_s else (),
            generated=None if self.llm is None else self._generated(self.llm, case, search),
        )
        is_divisible = all(checked.candidate.stage == STEPS for checked in search.verified)
        for where, half in search.halves.items() if check_s and is_divisible else ():
            own = case.failing_of(where, len(case.failing))
            is_whole = set(own) <= {*half.failing, *case.failing[N_FIRST:]}
            if search.partial is None and is_whole and 1 < len(own) < len(checker.failing):
                search.take_part(half, own)  # the others fail for another reason
        if not check_s:
            case.rejected.add_fixes(search.failed)
        case.rejected.n_spared += search.n_spared
        return search

    def _patterns(self, case: Case, checker: Checker, check_s: float) -> Iterator[Candidate]:
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
                ends=self.clock() + OF_PATTERNS * (checker.left_s() - check_s),
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

    # -- what is shown

    def _show(self, number: int, case: Case, result: Search, library: Library) -> None:
        found = result.best if result.partial is None else [result.partial]
        for checked in found:
            worth = library.record(checked.candidate.name).worth
            fix = _fix(number, checked.candidate, checked, worth)
            self.context.fixes.append((fix, checked.candidate))
        # To take a change back fixes every failure; what was meant may be to change what is stored.
        if all(checked.candidate.stage == CHANGE for checked in found):
            for candidate in changes_of_tests(case, result)[:N_SHOWN]:
                self.context.fixes.append((_fix(number, candidate), candidate))
        if not found and not result.is_out_of_time:
            case.inspections = [*map(unverified, case.inspections)]
        repairs = (f for f in case.inspections if f.evidence.outcome in REPAIRING_EDITS)
        is_repaired = any(not finding.doubt for finding in repairs)
        if not found and not is_repaired:  # an edit of theirs is shown, too
            self.context.note(nothing_found(number, result))
        self.context.n_rejected += len(result.rejected)
        if result.is_out_of_time:
            self.context.note(
                f"The search for a fix of fault {number} ended with its share of the budget of "
                f"{self.context.settings.budget_s:g} s: give more by --bayesloc-budget. "
                "(fix-budget)"
            )


def _unasked(case: Case, candidate: Candidate) -> str:
    """Say that a change lets data through that a check refused, if a test is probably at fault."""
    is_asked = case.guard is not None and _is_test_meant(case)
    is_loose = is_asked and loses_check(case, patch_of(candidate))
    return "it lets what the test made pass a check" if is_loose else ""


def _types(case: Case, part: Candidate) -> Mapping[str, frozenset[str]]:
    """Return the types that were seen at a function, where a change is one of a single function."""
    changed = part.changed
    return case.recording.types_of(changed[0]) if len(changed) == 1 else {}


def unverified(finding: Finding) -> Finding:
    """Return a finding, with a doubt if the search tried its edit and found no fix in it."""
    is_tried = any(inspected_by(finding))
    return replace(finding, doubt=finding.doubt or UNVERIFIED) if is_tried else finding


def changes_of_tests(case: Case, result: Search) -> list[Candidate]:
    """Return changes of tests for which something speaks.

    An expectation is stale only if code changed after its test did, and a tool mends a test only
    where that raises an error of its own. Where a test uses what the code lacks, the code may be
    wrong, unless a slip of a letter tells why.
    """
    raised = [f.raise_frame for f in case.failures if f.exc_type not in CHECKS]
    is_of_test = any(frame is None or frame.is_test for frame in raised)
    told = {STORED} | ({STALE} if case.situation is Situation.REGRESSION else set())
    return [
        c
        for c in result.shown
        if told.intersection(c.tools)
        or (is_of_test and STALE not in c.tools and (LACKING.isdisjoint(c.tools) or is_slip(c)))
    ]


def nothing_found(number: int, result: Search) -> str:
    """Tell of a search that found no fix what it tried, what came nearest, and what to do next."""
    tried = f"{count(result.n_tried, 'change')} tried in {result.seconds:.0f} s"
    text = f"No fix of fault {number} was found: {tried}"
    if result.verified:
        passes = result.verified[0]
        where = f"{passes.candidate.file}:{passes.candidate.line}"
        text += (
            f". The tests pass with a change of {where} ({passes.candidate.message}), which is "
            f"probably no fix: {passes.doubt or passes.rivals}"
        )
    elif result.nearest is not None:
        near = result.nearest
        where = f"{near.candidate.file}:{near.candidate.line}"
        text += (
            f". The nearest, by {near.candidate.name} at {where}, makes {near.n_green} of "
            f"{result.n_failing} failing tests pass"
        )
    return f"{text}. Start at the first suspects: their reasons say what was seen. (no-fix)"


class LikelyFixes(InspectionStrategy):
    """Tries the likeliest fixes of a group for some seconds, wherever they are."""

    name = KIND

    def __init__(self, stage: FixStage) -> None:
        self._stage = stage

    def explore(self, case: Case, budget: Budget) -> Iterator[Finding]:
        """Yield what they show of each place; a search that follows goes on from there."""
        left_s = budget.left_s()
        if left_s > TRY_S and is_open(self._stage.context, case):
            # Seconds in which a busy machine gave the run no CPU are not counted.
            found = replace(self._stage, clock=budget.clock).likeliest(case, left_s)
            yield from findings_of(case, found) if found is not None else ()


def is_open(context: Context, case: Case) -> bool:
    """Say whether the likeliest fixes may tell more of a group than is known."""
    settings = context.settings
    is_allowed = KIND not in settings.without and settings.n_inspections > len(case.inspections)
    is_told = case.model != REFERENCE_MODEL  # that takes nothing from edits
    is_known = case.cause is not None or bool(case.culprits)
    if not (is_allowed and is_told and case.failing) or is_known or case.flaky:
        return False
    # A check that refused a test's data may be too strict, if other tests say what it is for.
    guard = case.guard
    text = context.sources.read(guard.function.file) if guard is not None else None
    is_clearing = guard is not None and text is not None and is_judged(case, guard, text)
    return is_clearing or not _is_test_meant(case)


def _is_test_meant(case: Case) -> bool:
    """Say whether a test is probably at fault."""
    return any(where.is_test and p >= MEANT for where, p in case.belief.top(1))


def findings_of(case: Case, found: Search) -> Iterator[Finding]:
    """Yield what a search says of each place: first its best fix, as an inspection's repair."""
    best = found.partial or next(iter(found.best), None)
    repaired = None
    if best is not None and not best.candidate.companions:
        repaired = changed_location(best.candidate)
        yield _repair(case, best, repaired)
    rest = (where for where in found.trials if where != repaired)
    for where in sorted(rest, key=lambda place: (-case.belief.p(place), place)):
        yield from _failures(case, where, found.trials[where])


def _repair(case: Case, best: Checked, where: Location) -> Finding:
    ran = (*best.failing, *best.passing)
    name, words = best.candidate.name.replace("-", " "), best.candidate.message
    words = words if words.startswith(name) else f"{name}, {words}"
    evidence = weigh(
        case.model,
        InspectionOutcome.EDIT_REPAIRS,
        where,
        source=KIND,
        why=words_of_repair(case, ran, words),
        learned=case.likelihood(_told_by(best), where),
    )
    if not best.shown_doubt:
        clear_of_check(case, best.patch)
    case.admit(where)
    return Finding(
        evidence=evidence,
        diff=best.patch.diff,
        tests={test: TestRun(verdict=Verdict.PASS) for test in ran},
        signals=Signals(is_covered=True),
        seconds=best.seconds,
        trials=(Trial(line=best.candidate.line, words=words, effect=Effect.REPAIRS),),
        doubt=best.shown_doubt,
        repair=replace(best.patch, kind=KIND, words=words),
    )


def words_of_repair(case: Case, ran: Collection[str], words: str) -> str:
    """Return that the tests that ``ran`` pass with an edit, in a sentence."""
    return f"{who_passes(case, ran)} with one small edit{others(case, ran)} ({words})"


def _failures(case: Case, where: Location, trials: Sequence[Trial]) -> Iterator[Finding]:
    """Yield what edits of a function show that are no fix; nothing if too few were tried."""
    breaking = _breaking(trials)
    if breaking or len(trials) >= MIN_CONCLUSIVE:
        fails, breaks = InspectionOutcome.NO_EDIT_REPAIRS, InspectionOutcome.EDIT_BREAKS_OTHERS
        outcome, why = breaks if breaking else fails, words_of_failures(trials)
        # How many are tried depends on time: that none repairs is told, and not weighed.
        learned = None if breaking else NEUTRAL
        yield Finding(
            evidence=weigh(case.model, outcome, where, source=KIND, why=why, learned=learned),
            signals=Signals(is_covered=True, is_failure=not breaking),
            trials=(*breaking, *(t for t in trials if t not in breaking))[:N_TOLD],
        )


def _breaking(trials: Sequence[Trial]) -> list[Trial]:
    return [trial for trial in trials if trial.effect is Effect.BREAKS_OTHERS]


def words_of_failures(trials: Sequence[Trial]) -> str:
    """Return what edits of one function came to that are no fix, in a sentence."""
    for trial in _breaking(trials):
        return f"with a small edit the failing tests pass, but others break ({trial.words})"
    return f"none of {len(trials)} small edits makes the failing tests pass"


def weigh_fixes(case: Case, result: Search) -> None:
    """Weigh what the best fix that is shown says of the place that it changes.

    It takes the place of what an inspection saw there; one that is doubted speaks as an edit of
    theirs that repairs. Such an edit that breaks a test which they did not run repairs no more.
    """
    for finding in case.inspections:
        if any(candidate.key in result.broken for candidate in inspected_by(finding)):
            case.correct(
                weigh(
                    case.model,
                    InspectionOutcome.EDIT_BREAKS_OTHERS,
                    finding.target,
                    source=finding.evidence.source,
                    why="with the edit that makes the failing tests pass, others break",
                )
            )
    for best in result.best[:1]:
        if not best.shown_doubt:
            clear_of_check(case, best.patch)
        if not best.candidate.companions:
            _weigh_fix(case, best)


def _told_by(best: Checked) -> Outcome:
    """Return what a fix says of its place: more than an edit that repairs, unless it is doubted."""
    return InspectionOutcome.EDIT_REPAIRS if best.shown_doubt else ChangeOutcome.FIX_VERIFIED


def _weigh_fix(case: Case, best: Checked) -> None:
    where, outcome = changed_location(best.candidate), _told_by(best)
    why = f"the failing tests pass with a fix by {best.candidate.name}, and nothing else breaks"
    evidence = weigh(
        case.model, outcome, where, source=FIX, why=why, learned=case.likelihood(outcome, where)
    )
    findings = [f.evidence for f in case.inspections if f.target == where]
    repairs = [e for e in findings if e.outcome in REPAIRING_EDITS]
    tried = repairs or [e for e in findings if e.source == KIND]
    if not tried:
        case.learn([evidence])
    elif not (repairs and best.shown_doubt):
        case.correct(replace(evidence, source=tried[0].source))


def _fix(
    number: int, candidate: Candidate, checked: Checked | None = None, worth: float = 0.5
) -> FixEntry:
    """Return a fix as the result shows it; one that was not checked would change a test."""
    failing, passing = (checked.failing, checked.passing) if checked else ((), ())
    return entry_of(
        FixEntry,
        checked.patch if checked else patch_of(candidate),
        candidate,
        fault=number,
        step=None,
        tool=candidate.name,
        verified=bool(failing),
        doubt=(checked.shown_doubt or None) if checked is not None else None,
        n_failing=len(failing),
        n_passing=len(passing),
        checked=(*failing, *passing)[:MAX_TESTS],
        seconds=positive(checked.seconds) if checked else 0.0,
        worth=worth,
        patch_file=None,
        applied=False,
    )
