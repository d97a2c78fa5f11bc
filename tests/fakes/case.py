"""A case of failing tests of which nothing but the node ids is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_bayesloc.domain.failure import Failure
from pytest_bayesloc.history.changes import Changes
from pytest_bayesloc.ranking.belief import ModelChoice
from pytest_bayesloc.ranking.case import Case

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_bayesloc.domain.evidence import Evidence
    from pytest_bayesloc.domain.location import Location
    from pytest_bayesloc.domain.spectrum import Spectrum


def case_of(
    spectrum: Spectrum,
    prior: Mapping[Location, float],
    *,
    model: str = "single-fault",
    evidence: tuple[Evidence, ...] = (),
    changes: Changes | None = None,
) -> Case:
    """The case of the failing tests of ``spectrum``."""
    failures = tuple(
        Failure(node_id=node_id, phase="call", exc_type="E", message="")
        for node_id in spectrum.node_ids(spectrum.failing)
    )
    return Case(
        failures=failures,
        spectrum=spectrum,
        choice=ModelChoice(formula="ochiai", belief=model),
        prior=prior,
        evidence=evidence,
        changes=changes or Changes(),
    )
