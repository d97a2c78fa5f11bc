"""The likeliest fixes of a group, tried for some seconds: what repairs, and what does not."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace

from pytest_bayesloc.domain.evidence import ChangeOutcome, InspectionOutcome, Outcome
from pytest_bayesloc.domain.fixing import FIX, MUTANTS
from pytest_bayesloc.domain.inspection import Effect, Finding, Signals, TestRun, Trial, Verdict
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.ports import Clock
from pytest_bayesloc.fixes.check import Checked
from pytest_bayesloc.fixes.edit_candidates import inspected_by
from pytest_bayesloc.fixes.search import Search, changed_location
from pytest_bayesloc.inspection.strategy import Budget, InspectionStrategy
from pytest_bayesloc.inspection.trials import clear_of_check, is_judged, others, who_passes
from pytest_bayesloc.ranking.case import Case
from pytest_bayesloc.ranking.likelihoods import NEUTRAL, REFERENCE_MODEL, Likelihood, weigh

MIN_CONCLUSIVE = 3  # edits of a function that must fail before that says something
N_TOLD = 24  # of them
MEANT = 1 / 2  # P(a test is at fault), from which on no edit of code is tried for its sake
#: Searches a fix of a group by a clock, for some of the seconds that are left by it; None if
#: nothing was searched.
Searching = Callable[[Case, Clock, float], "Search | None"]


class LikelyFixes(InspectionStrategy):
    """Tries the likeliest fixes of a group for some seconds, wherever they are."""

    name = MUTANTS

    def __init__(self, search: Searching, read: Callable[[str], str | None]) -> None:
        self._search = search
        self._read = read

    def explore(self, case: Case, budget: Budget) -> Iterator[Finding]:
        """Yield what they show of each place; a search that follows goes on from there."""
        left_s = budget.left_s()
        if left_s and is_open(case, self._read):
            # Seconds in which a busy machine gave the run no CPU are not counted.
            found = self._search(case, budget.clock, left_s)
            yield from findings_of(case, found) if found is not None else ()


def is_open(case: Case, read: Callable[[str], str | None]) -> bool:
    """Say whether the likeliest fixes may tell more of a group than is known.

    ``read`` gives the text of a file.
    """
    is_told = case.model != REFERENCE_MODEL  # that takes nothing from edits
    is_known = case.cause is not None or bool(case.culprits)
    if not (is_told and case.failing) or is_known or case.flaky:
        return False
    # A check that refused a test's data may be too strict, if other tests say what it is for.
    guard = case.guard
    text = read(guard.function.file) if guard is not None else None
    is_clearing = guard is not None and text is not None and is_judged(case, guard, text)
    return is_clearing or not is_test_meant(case)


def is_test_meant(case: Case) -> bool:
    """Say whether a test is probably at fault."""
    return any(where.is_test and p >= MEANT for where, p in case.belief.top(1))


def findings_of(case: Case, found: Search) -> Iterator[Finding]:
    """Yield what a search says of each place: first its best fix, as an inspection's repair.

    What else was verified speaks as an edit that repairs. What mends a part of the tests alone says
    nothing of the place: it may divide them.
    """
    parts, best = [] if found.partial is None else [found.partial], found.best[:1]
    repaired: set[Location] = set()
    for checked in (*parts, *best, *found.verified):
        where = changed_location(checked.candidate)
        if where not in repaired and not checked.candidate.companions:
            repaired.add(where)
            outcome = _told_by(checked) if checked in best else InspectionOutcome.EDIT_REPAIRS
            learned = NEUTRAL if checked in parts else case.likelihood(outcome, where)
            yield _repair(case, checked, where, learned)
    rest = (where for where in found.trials if where not in repaired)
    for where in sorted(rest, key=lambda place: (-case.belief.p(place), place)):
        yield from _failures(case, where, found.trials[where])


def _repair(case: Case, best: Checked, where: Location, learned: Likelihood) -> Finding:
    ran = (*best.failing, *best.passing)
    name, words = best.candidate.name.replace("-", " "), best.candidate.message
    words = words if words.startswith(name) else f"{name}, {words}"
    evidence = weigh(
        case.model,
        InspectionOutcome.EDIT_REPAIRS,
        where,
        source=MUTANTS,
        why=words_of_repair(case, ran, words),
        learned=learned,
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
        repair=replace(best.patch, kind=MUTANTS, words=words),
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
            evidence=weigh(case.model, outcome, where, source=MUTANTS, why=why, learned=learned),
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
    repairs = [e for e in findings if e.outcome is InspectionOutcome.EDIT_REPAIRS]
    tried = repairs or [e for e in findings if e.source == MUTANTS]
    if not tried:
        case.learn([evidence])
    elif not (repairs and best.shown_doubt):
        case.correct(replace(evidence, source=tried[0].source))
