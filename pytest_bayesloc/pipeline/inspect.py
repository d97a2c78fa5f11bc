"""The stage that inspects: one group of failing tests after the other."""

from __future__ import annotations

from contextlib import ExitStack, closing
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.errors import BayeslocError
from pytest_bayesloc.domain.fixing import MUTANTS
from pytest_bayesloc.domain.location import DATA
from pytest_bayesloc.domain.standard_library import monotonic
from pytest_bayesloc.fixes.tasks import N_SUSPECTS, covering
from pytest_bayesloc.history.git import N_STATES
from pytest_bayesloc.inspection.loop import SEVERAL, InspectionLoop
from pytest_bayesloc.inspection.strategies import assertions
from pytest_bayesloc.inspection.strategies.assertions import Assertions
from pytest_bayesloc.inspection.strategies.counterfactual import Counterfactual
from pytest_bayesloc.inspection.strategies.likely_fixes import LikelyFixes
from pytest_bayesloc.inspection.strategies.once_more import FollowValues, Swallowed
from pytest_bayesloc.inspection.strategy import Budget, Limits
from pytest_bayesloc.options.option import AUTO
from pytest_bayesloc.pipeline.conditions import SHARE, explain_condition
from pytest_bayesloc.pipeline.execute import is_local, open_pool
from pytest_bayesloc.pipeline.fix_search import likeliest as likeliest_fix
from pytest_bayesloc.pipeline.order import explain_import, explain_missing, explain_order
from pytest_bayesloc.pipeline.run_files import foreign_environment
from pytest_bayesloc.ranking.case import NOT_INSPECTED
from pytest_bayesloc.ranking.groups import divided
from pytest_bayesloc.report.terminal import Progress
from pytest_bayesloc.rerun.transports.local import waited_for_cpu_s
from pytest_bayesloc.spectrum.validity import environment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_bayesloc.domain.inspection import InspectionPatch
    from pytest_bayesloc.domain.location import Location
    from pytest_bayesloc.history.git import GitHistory
    from pytest_bayesloc.inspection.strategy import InspectionStrategy
    from pytest_bayesloc.pipeline.context import Context
    from pytest_bayesloc.ranking.case import Case
    from pytest_bayesloc.ranking.evidence.invariants import Invariant
    from pytest_bayesloc.rerun.pool import Pool


BY_CONDITION = "not inspected: a condition decides how its tests end"
BY_ORDER = "not inspected: its tests pass after others"
CHEAP_S = 3.0  # in which the run collected all of its tests
WORK = 2 / 3  # of the budget, on an idle machine


def inspect(
    context: Context,
    cases: Sequence[Case],
    history: GitHistory,
    *,
    spent_s: float,
    more: Sequence[InspectionStrategy],
) -> list[Case]:
    """Run the loop on each group in turn, and add to it what is found.

    They share the warm server and the budget, of which ``spent_s`` seconds are spent already.

    Returns:
        The groups; one whose tests prove to fail for several reasons is several.
    """
    started = monotonic()
    _inspect_each(context, cases, history, spent_s, more)
    done: list[Case] = []
    for case in cases:
        parts = [case]
        if case.stop == SEVERAL:
            spent = spent_s + monotonic() - started
            parts = divided(case, context.sources)
            parts = inspect(context, parts, history, spent_s=spent, more=more)
        done += parts
    return done


def look_back(context: Context, cases: Sequence[Case], history: GitHistory, limit_s: float) -> None:
    """Find out since when tests fail of which no run is known that passed; inspect nothing."""
    cases = [case for case in cases if not case.changes.known and case.cause is None]
    if not cases or MUTANTS in context.settings.without or not history.states():
        return
    older, ends = Counterfactual(history), monotonic() + limit_s
    try:
        with closing(_pool(context, cases)) as pool:
            for case in cases:
                older.look_back(case, Budget(pool.first, monotonic, ends, case))
    except BayeslocError as error:
        context.note(str(error))


def _inspect_each(
    context: Context,
    cases: Sequence[Case],
    history: GitHistory,
    spent_s: float,
    more: Sequence[InspectionStrategy],
) -> None:
    cases = [case for case in cases if not _is_elsewhere(context, case)]
    if not cases:
        return
    left_s = context.settings.budget_s - spent_s
    progress = Progress(context.config, monotonic, left_s)
    try:
        with ExitStack() as stack:
            pool = _pool(context, cases)
            context.keep(pool)
            stack.callback(context.keep, None)
            loop = _loop(context, history, pool, more, progress, left_s)
            for n_left, case in zip(range(len(cases), 0, -1), cases, strict=True):
                _inspect_case(context, case, loop, pool, 1 / n_left)
            if context.settings.searches_fixes:  # all went well: the search goes on by the pool
                stack.pop_all()
    except BayeslocError as error:
        _stop_all(cases, "tests could not be run again")
        context.note(str(error))
    except KeyboardInterrupt:
        _stop_all(cases, "inspections were interrupted")
        context.note("Inspections were interrupted: the ranking is what was known then.")
    except Exception as error:  # noqa: BLE001 - the ranking stands without inspections
        _stop_all(cases, "inspections failed")
        context.warn(error)
    finally:
        progress.clear()


def _inspect_case(
    context: Context, case: Case, loop: InspectionLoop, pool: Pool, share: float
) -> None:
    limit_s = SHARE * share * loop.left_s()
    if limit_s and (
        explain_missing(context, case, limit_s) or explain_import(context, case, pool, limit_s)
    ):
        case.stop = BY_ORDER
        return
    if limit_s and explain_condition(context, case, pool.first, limit_s):
        case.stop = BY_CONDITION
        return
    loop.run(case, share=share)
    if case.flaky:
        explain_order(context, case, limit_s=share * loop.left_s())
    if case.flaky and not case.failing:
        explain_import(context, case, pool, share * loop.left_s())
        explain_condition(context, case, pool.first, share * loop.left_s(), is_asked=True)


def _is_elsewhere(context: Context, case: Case) -> bool:
    """Return whether code is not to be inspected: its tests failed from something else.

    Or in another environment: here they may not.
    """
    if case.cause is not None and not case.cause.is_repairable:
        case.stop = "not inspected: the cause is no mistake in a function"
        return True
    where = foreign_environment(case.failing, context.recorder.recorded.environments)
    if where:
        case.stop = f"not inspected: its tests failed with {where}"
        context.note(
            f"{case.failing[0]} failed with {where}, and this is {environment()}: it is ranked, "
            "and not inspected. Merge there to inspect it, too. (other-environment)"
        )
    return bool(where)


def _pool(context: Context, cases: Sequence[Case]) -> Pool:
    order = {node_id: i for i, node_id in enumerate(context.recorder.recorded.verdicts)}
    wanted = {node_id for case in cases for node_id in case.tests()}
    if context.settings.searches_fixes and context.collected_s <= CHEAP_S:
        # What a fix of them may break is asked of the same server: another one starts from nothing.
        suspects = [(case, where) for case in cases for where in case.targets()[:N_SUSPECTS]]
        wanted.update(n for case, where in suspects for n in covering(case, where, context.sources))
    tests = sorted(wanted, key=lambda node_id: order.get(node_id, len(order)))
    places = (where for case in cases for where in case.belief.probabilities)
    files = {where.file for where in places if where.qualname != DATA}
    texts = {file: text for file in files if (text := context.sources.read(file)) is not None}
    return open_pool(context, tests, texts)


def _loop(
    context: Context,
    history: GitHistory,
    pool: Pool,
    more: Sequence[InspectionStrategy],
    progress: Progress,
    left_s: float,
) -> InspectionLoop:
    clock = BudgetClock(pool)
    strategies: list[InspectionStrategy] = [
        _older_code(context, history, progress),
        FollowValues(context.sources.map),
        Swallowed(context.sources.map),
        Assertions(partial(_assertions, context)),
        LikelyFixes(partial(likeliest_fix, context, clock.work_s), context.sources.read),
        *more,
    ]
    settings = context.settings
    chosen = [s for s in strategies if s.name not in settings.without]
    limits = Limits(
        threshold=settings.threshold,
        budget_s=max(0.0, round(left_s, 1)),
        n_inspections=settings.n_inspections,
    )
    return InspectionLoop(pool.first, chosen, limits, clock, progress.show)


class BudgetClock:
    """The clock by which the budget is spent.

    Work spends it in ``WORK`` of its seconds, where a second in which there was no CPU for the run
    is no work; a busy machine then inspects as much as an idle one. The wall bounds both. A wait
    is known when it is over only, and then takes back work that was counted: the clock stands
    still meanwhile, and never runs back.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._started, self._before = monotonic(), waited_for_cpu_s()
        self._latest, self._lock = self._started, Lock()

    def __call__(self) -> float:
        """Return its seconds."""
        with self._lock:
            wall = monotonic()
            self._latest = max(self._latest, wall, self._started + self.work_s() / WORK)
            return self._latest

    def work_s(self) -> float:
        """Return the seconds of work so far."""
        waited_s = self._pool.waited_s + waited_for_cpu_s() - self._before
        return monotonic() - self._started - waited_s


# -- where patches come from


def _older_code(context: Context, history: GitHistory, progress: Progress) -> Counterfactual:
    """Return the strategy that takes changes back; it looks for them as far back as is asked."""
    if context.settings.green != AUTO:
        return Counterfactual(history)
    if not is_local(context):
        context.note(
            f"The tests are run again by {', '.join(context.settings.executors)}, where no copy "
            f"of older commits is made: {N_STATES} commits are looked at. (bisect)"
        )
        return Counterfactual(history)
    from pytest_bayesloc.pipeline.bisect import CommitSearch

    return Counterfactual(history, CommitSearch(context, history, progress))


def _assertions(
    context: Context, target: Location, invariants: Sequence[Invariant]
) -> Sequence[InspectionPatch]:
    found = context.sources.unit(target)
    if found is None:
        return ()
    patches: list[InspectionPatch] = []
    # A heartbeat alone is evidence in the reference model only.
    if invariants or context.settings.model == "independent":
        patches.append(assertions.propose(*found, invariants))

    def propose() -> None:
        for proposed in context.config.hook.pytest_bayesloc_propose_patches(
            config=context.config, location=target, source=found[0].text
        ):
            patches.extend(proposed)

    context.call_others(
        "pytest_bayesloc_propose_patches",
        propose,
        effect="patches of other plugins are left out",
        slug="broken-proposals",
    )
    return patches


def _stop_all(cases: Sequence[Case], reason: str) -> None:
    """Give every case that has not ended its reason."""
    for case in cases:
        if case.stop == NOT_INSPECTED:
            case.stop = reason
