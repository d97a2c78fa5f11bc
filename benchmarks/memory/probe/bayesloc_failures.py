"""A pytest plugin of the benchmark: writes how the memory describes each failing test, as JSON."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_bayesloc.domain.source import SourceMap
from pytest_bayesloc.memory.symptoms import symptom_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest

    from pytest_bayesloc.domain.result import Fault

FAILURES_TO = "BAYESLOC_FAILURES"
N_SUSPECTS = 10


def pytest_bayesloc_localized(config: pytest.Config, faults: Sequence[Fault]) -> None:
    maps: dict[str, SourceMap | None] = {}

    def read(file: str) -> SourceMap | None:
        if file not in maps:
            path = config.rootpath / file
            text = path.read_text("utf-8", "replace") if path.is_file() else None
            maps[file] = None if text is None else SourceMap(text, file)
        return maps[file]

    rows: list[dict[str, Any]] = []
    for fault in faults:
        suspects = [(row.location, row.posterior) for row in fault.ranking[:N_SUSPECTS]]
        for failure in fault.failures:
            symptom = symptom_of([failure], suspects, read, str(config.rootpath))
            rows.append(
                {
                    "test": failure.node_id,
                    "fingerprint": symptom.failing[failure.node_id],
                    "signature": symptom.signature,
                    "category": symptom.category.value,
                    "tags": sorted(symptom.tags),
                }
            )
    Path(os.environ[FAILURES_TO]).write_text(json.dumps(rows), encoding="utf-8")
