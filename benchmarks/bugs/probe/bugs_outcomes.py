"""A pytest plugin of the benchmark: writes how each test ended, and its error, as JSON."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

OUTCOMES_TO = "BUGS_OUTCOMES"
LIMIT = 400
_ends: dict[str, str] = {}
_errors: dict[str, str] = {}
_uncollected: dict[str, str] = {}


def pytest_collectreport(report: pytest.CollectReport) -> None:
    if report.failed:
        _uncollected[report.nodeid] = report.longreprtext[-LIMIT:]


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.failed:
        _ends[report.nodeid] = "failed"
        crash = getattr(report.longrepr, "reprcrash", None)
        message = crash.message if crash else report.longreprtext[-LIMIT:]
        _errors.setdefault(report.nodeid, message[:LIMIT])
    elif report.skipped:
        _ends.setdefault(report.nodeid, "skipped")
    elif report.when == "call":
        _ends.setdefault(report.nodeid, "passed")


def pytest_sessionfinish() -> None:
    found = {"ends": _ends, "errors": _errors, "uncollected": _uncollected}
    Path(os.environ[OUTCOMES_TO]).write_text(json.dumps(found), encoding="utf-8")
