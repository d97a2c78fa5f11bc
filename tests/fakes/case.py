"""A case of failing tests of which nothing but the node ids is known, and what it consists of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_bayesloc.domain.failure import Failure, Frame
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.history.changes import Changes
from pytest_bayesloc.ranking.belief import ModelChoice
from pytest_bayesloc.ranking.case import Case

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_bayesloc.domain.evidence import Evidence
    from pytest_bayesloc.domain.spectrum import Spectrum


def location(name: str, file: str = "m.py", *, is_test: bool = False) -> Location:
    """A function of which nothing but the name matters."""
    return Location(file=file, start_line=1, end_line=9, qualname=name, is_test=is_test)


def frame_in(where: Location, line: int = 0, *, in_app: bool = True) -> Frame:
    """A frame of a traceback in ``where``, at its header if no line is given."""
    return Frame(
        file=where.file,
        line=line or where.start_line,
        name=where.qualname,
        first_line=where.start_line,
        in_app=in_app,
        is_test=where.is_test,
    )


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
