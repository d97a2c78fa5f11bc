"""A pytest plugin of the benchmark: writes how each test ended, as JSON."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

OUTCOMES_TO = "REAL_SUITES_OUTCOMES"
_outcomes: dict[str, str] = {}
_uncollected: list[str] = []


def pytest_collectreport(report: pytest.CollectReport) -> None:
    if report.failed:
        _uncollected.append(report.nodeid)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.failed:
        _outcomes[report.nodeid] = "failed"
    elif report.skipped:
        _outcomes.setdefault(report.nodeid, "skipped")
    elif report.when == "call":
        _outcomes.setdefault(report.nodeid, "passed")


def pytest_sessionfinish() -> None:
    found = {"outcomes": _outcomes, "uncollected": _uncollected}
    Path(os.environ[OUTCOMES_TO]).write_text(json.dumps(found), encoding="utf-8")
