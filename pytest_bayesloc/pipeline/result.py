"""What a run came to, as the JSON result."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.domain.advice import Remembered
from pytest_bayesloc.domain.dialogue import Usage
from pytest_bayesloc.domain.result import Result
from pytest_bayesloc.options import LOCAL
from pytest_bayesloc.ranking.groups import calls_around, combined
from pytest_bayesloc.report.encoding import encode

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_bayesloc.domain.result import Fault
    from pytest_bayesloc.options import Settings
    from pytest_bayesloc.pipeline.apply import Applying
    from pytest_bayesloc.pipeline.execute import RerunTransports
    from pytest_bayesloc.pipeline.guide import Guiding
    from pytest_bayesloc.ranking.case import Case
    from pytest_bayesloc.spectrum.recorded import Recorded


@dataclass(frozen=True, kw_only=True)
class Parts:
    """What the stages left behind.

    Attributes:
        settings: What the user asked for.
        recorded: What the tests did.
        seconds: Per stage, wall seconds.
        notes: What went wrong.
        remembered: What the memory says, if it was asked.
        applying: The fixes, if some were searched.
        guiding: The language model's part, if one was asked.
        executing: Where tests were run again, if they were.
    """

    settings: Settings
    recorded: Recorded
    seconds: Mapping[str, float]
    notes: Sequence[str]
    remembered: Remembered | None
    applying: Applying | None
    guiding: Guiding | None
    executing: RerunTransports | None


def document_of(
    faults: tuple[Fault, ...], cases: Sequence[Case], parts: Parts
) -> dict[str, object]:
    """The document of ``docs/bayesloc-1.schema.json``."""
    recorded, settings = parts.recorded, parts.settings
    result = Result(
        pytest_version=pytest.__version__,
        python_version=platform.python_version(),
        n_passed=sum(recorded.verdicts.values()),
        n_remembered=len(recorded.remembered),
        n_traced=recorded.n_traced,
        n_failed=sum(not passed for passed in recorded.verdicts.values()),
        collector=recorded.collector,
        executor=LOCAL if parts.executing is None else parts.executing.words,
        formula=settings.formula,
        model=settings.model,
        threshold=settings.threshold,
        seconds=parts.seconds,
        ranking=combined(faults),
        faults=faults,
        edges=calls_around(faults, cases),
        partial=(*recorded.partial, *parts.notes),
        memory=parts.remembered or Remembered(),
        llm=parts.guiding.usage() if parts.guiding is not None else Usage(),
        fixes=None if parts.applying is None else parts.applying.fixes,
    )
    return encode(result)
