"""The stage that inspects: one group of failing tests after the other."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.clock import monotonic
from pytest_bayesloc.domain.errors import BayeslocError
from pytest_bayesloc.fixes.mutations import mutants
from pytest_bayesloc.inspection.loop import Loop
from pytest_bayesloc.inspection.selection import Informative, Limits
from pytest_bayesloc.inspection.strategies import assertions
from pytest_bayesloc.inspection.strategies.assertions import Assertions
from pytest_bayesloc.inspection.strategies.counterfactual import Counterfactual
from pytest_bayesloc.inspection.strategies.mutants import Mutants
from pytest_bayesloc.inspection.strategy import outlooks
from pytest_bayesloc.pipeline.merge import elsewhere
from pytest_bayesloc.ranking.groups import NOT_INSPECTED
from pytest_bayesloc.report.terminal import Progress
from pytest_bayesloc.rerun.world import reaches_out
from pytest_bayesloc.spectrum.shards import environment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import pytest

    from pytest_bayesloc.domain.inspection import InspectionPatch
    from pytest_bayesloc.domain.location import Location
    from pytest_bayesloc.domain.ports import Clock
    from pytest_bayesloc.history.states import History
    from pytest_bayesloc.inspection.strategy import InspectionStrategy
    from pytest_bayesloc.options import Settings
    from pytest_bayesloc.pipeline.execute import RerunTransports
    from pytest_bayesloc.ranking.case import Case
    from pytest_bayesloc.ranking.evidence.invariants import Invariant
    from pytest_bayesloc.rerun.pool import Pool
    from pytest_bayesloc.spectrum.sources import Sources


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspecting:
    """What the stage is given.

    Attributes:
        config: pytest's.
        settings: What the user asked for.
        executing: Where tests are run again.
        sources: The project's files.
        history: Their older states.
        clock: Monotonic seconds.
        note: Tells the user, once.
        warn: Tells the user of a fault of ours.
        environments: Per failing test that another machine ran, in which environment.
        spent_s: Seconds of the budget that are spent already.
        more: More ways to inspect.
    """

    config: pytest.Config
    settings: Settings
    executing: RerunTransports
    sources: Sources
    history: History
    clock: Clock = monotonic
    note: Callable[[str], None]
    warn: Callable[[Exception], None]
    environments: Mapping[str, str] = field(default_factory=dict)
    spent_s: float = 0.0
    more: Sequence[InspectionStrategy] = ()

    def run(self, cases: Sequence[Case], node_ids: Sequence[str]) -> None:
        """Run the loop on each group in turn; they share the budget and the warm server.

        Args:
            cases: The groups; what was found is added to them.
            node_ids: The tests in the order in which they ran.
        """
        cases = [case for case in cases if not self._is_elsewhere(case)]
        if not cases:
            return
        progress = Progress(self.config, self.clock, self.settings.budget_s - self.spent_s)
        pool: Pool | None = None
        try:
            pool = self._pool(cases, node_ids)
            loop = self._loop(pool, progress)
            for n_left, case in zip(range(len(cases), 0, -1), cases, strict=True):
                loop.run(case, share=1 / n_left)
        except BayeslocError as error:
            _stop_all(cases, "tests could not be run again")
            self.note(str(error))
        except KeyboardInterrupt:
            _stop_all(cases, "inspections were interrupted")
            self.note("Inspections were interrupted: the ranking is what was known then.")
        except Exception as error:  # noqa: BLE001 - the ranking stands without inspections
            _stop_all(cases, "inspections failed")
            self.warn(error)
        finally:
            if pool is not None:
                pool.close()
            progress.clear()

    def _is_elsewhere(self, case: Case) -> bool:
        """Whether its tests failed in another environment only: here they may not."""
        where = elsewhere(case.failing, self.environments)
        if where:
            case.stop = f"not inspected: its tests failed with {where}"
            self.note(
                f"{case.failing[0]} failed with {where}, and this is {environment()}: it is "
                "ranked, and not inspected. Merge there to inspect it, too. (other-environment)"
            )
        return bool(where)

    def _pool(self, cases: Sequence[Case], node_ids: Sequence[str]) -> Pool:
        order = {node_id: i for i, node_id in enumerate(node_ids)}
        wanted = {node_id for case in cases for node_id in case.tests()}
        tests = sorted(wanted, key=lambda node_id: order.get(node_id, len(order)))
        files = {where.file for case in cases for where in case.belief.probabilities}
        texts = {file: text for file in files if (text := self.sources.read(file)) is not None}
        return self.executing.pool(tests, texts)

    def _loop(self, pool: Pool, progress: Progress) -> Loop:
        limits = Limits(
            threshold=self.settings.threshold,
            budget_s=max(0.0, round(self.settings.budget_s - self.spent_s, 1)),
            n_inspections=self.settings.n_inspections,
        )
        kinds = self._kinds()
        informative = Informative(outlooks(kinds, self.settings.model))
        return Loop(pool, kinds, limits, informative, self.clock, progress.show)

    # -- where patches come from

    def _kinds(self) -> list[InspectionStrategy]:
        kinds: list[InspectionStrategy] = [
            Counterfactual(self.history),
            Assertions(self._propose),
            Mutants(self._propose_mutants),
            *self.more,
        ]
        return [kind for kind in kinds if kind.name not in self.settings.without]

    def _propose_mutants(
        self, target: Location, suspiciousness: Mapping[int, float]
    ) -> Iterator[InspectionPatch]:
        found = self.sources.unit(target)
        if found is not None and not reaches_out(*found, self.settings.never_edited):
            yield from mutants(*found, suspiciousness)

    def _propose(
        self, target: Location, invariants: Sequence[Invariant]
    ) -> Sequence[InspectionPatch]:
        found = self.sources.unit(target)
        if found is None:
            return ()
        source, unit = found
        patches = []
        # A heartbeat alone is evidence in the reference model only.
        if invariants or self.settings.model == "independent":
            patches.append(assertions.propose(source, unit, invariants))
        return [*patches, *self._proposed_by_others(target, source.text)]

    def _proposed_by_others(self, target: Location, text: str) -> Sequence[InspectionPatch]:
        """Patches of other plugins; one that breaks costs a note, once."""
        try:
            proposed = self.config.hook.pytest_bayesloc_propose_patches(
                config=self.config, location=target, source=text
            )
            return [patch for patches in proposed for patch in patches]
        except Exception as error:  # noqa: BLE001 - it is not ours, and may raise anything
            self.note(
                f"A plugin's pytest_bayesloc_propose_patches failed ({type(error).__name__}: "
                f"{error}): patches of other plugins are left out. (broken-proposals)"
            )
            return ()


def _stop_all(cases: Sequence[Case], reason: str) -> None:
    """Give every case that has not ended its reason."""
    for case in cases:
        if case.stop == NOT_INSPECTED:
            case.stop = reason
