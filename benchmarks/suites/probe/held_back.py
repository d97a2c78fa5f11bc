"""A pytest plugin of the benchmark: takes tests away, also from processes that pytest starts."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

HELD_BACK = "REAL_SUITES_HELD_BACK"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    held = set(Path(os.environ[HELD_BACK]).read_text(encoding="utf-8").split("\n"))
    gone = [item for item in items if item.nodeid in held]
    config.hook.pytest_deselected(items=gone)
    items[:] = [item for item in items if item.nodeid not in held]
