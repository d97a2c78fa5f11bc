"""Finds causes beside mistakes in functions that failures tell themselves, without any re-run.

Every red run imports this module, so it imports little.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_bayesloc.causes.awaits import never_awaited
from pytest_bayesloc.causes.environment import EnvironmentCauses, Machine
from pytest_bayesloc.causes.mocks import MockCauses
from pytest_bayesloc.causes.versions import packages_changed
from pytest_bayesloc.domain.texts import file_of_test
from pytest_bayesloc.syntax.nodes import imported_packages

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_bayesloc.domain.failure import Cause, Failure
    from pytest_bayesloc.domain.spectrum import Spectrum
    from pytest_bayesloc.history.runs import PastRuns
    from pytest_bayesloc.pipeline.context import Context
    from pytest_bayesloc.ranking.case import Case


MAX_FAILURES = 200  # whose causes are looked for


def with_causes(
    context: Context, spectrum: Spectrum, failures: Sequence[Failure]
) -> tuple[Failure, ...]:
    """Return ``failures`` with the causes that they and the code tell without any re-run."""
    environment = environment_of(context)
    mocks = MockCauses(context.sources)
    unawaited = context.recorder.recorded.unawaited

    def cause_of(failure: Failure) -> Cause | None:
        test = spectrum.bitset([failure.node_id])
        executed = [where for where, tests in spectrum.executed.items() if tests & test]
        if cause := mocks.cause_of(failure, executed):
            return cause
        warned = unawaited.get(failure.node_id, failure.message)
        if "coroutine" in warned:
            places = (*executed, *failure.test_locations)
            units = (found[1] for w in places if (found := context.sources.unit(w)) is not None)
            source = context.sources.map(file_of_test(failure.node_id))
            if cause := never_awaited(warned, units, source.units if source else ()):
                return cause
        return environment.cause_of(failure) or environment.fallback(failure, executed)

    looked_at, rest = failures[:MAX_FAILURES], failures[MAX_FAILURES:]
    return (*(replace(f, cause=cause_of(f)) for f in looked_at), *rest)


def explain_packages(context: Context, past: PastRuns, cases: Sequence[Case]) -> None:
    """Add to ``cases`` that packages changed since their tests passed, where no code did."""
    same = [c for c in cases if c.changes.known and not (c.changes.every or c.changes.data)]
    known = past.changed_packages() if same else None
    if known is None or not known[0]:
        return
    for case in same:
        failure = case.failures[0]
        own = [frame for frame in failure.frames if frame.in_app]
        location = context.sources.locate_frame(own[-1]) if own else None
        files = {where.file for where in (*case.belief.probabilities, *failure.test_locations)}
        maps = (context.sources.map(file) for file in sorted(files))
        imported = imported_packages(*(s.module.node for s in maps if s is not None))
        case.cause = case.cause or packages_changed(*known, failure, imported, location)


def environment_of(context: Context) -> EnvironmentCauses:
    """Return what finds out what is missing where this run's tests run."""
    folder = str(context.config.invocation_params.dir)
    machine = Machine(rootdir=str(context.rootdir), folder=folder)
    return EnvironmentCauses(context.sources, machine)
