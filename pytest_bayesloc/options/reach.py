"""Values of settings that reach beyond running the tests here: they need trust."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_bayesloc.options.values import LOCAL, LlmLimits

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest

    from pytest_bayesloc.options.values import Report


def _leads_out(path: Path | str, config: pytest.Config) -> bool:
    """Whether a path leads out of the project, or to what git keeps there."""
    real, root = (Path(os.path.realpath(where)) for where in (path, config.rootpath))
    return not real.is_relative_to(root) or ".git" in real.relative_to(root).parts


def is_memory_elsewhere(value: str, config: pytest.Config) -> bool:
    """Whether the memory is a server, or a file out of the project."""
    is_place = value not in {"on", "off"}
    return is_place and ("://" in value or _leads_out(config.rootpath / value, config))


def are_reports_elsewhere(value: Sequence[Report], config: pytest.Config) -> bool:
    """Whether a report would be written out of the project."""
    return any(report.path is not None and _leads_out(report.path, config) for report in value)


def are_executors_elsewhere(value: Sequence[str], _: pytest.Config) -> bool:
    """Whether tests would run elsewhere than on this machine."""
    return not set(value) <= {LOCAL, "popen", "dask:local"}


def are_limits_raised(value: LlmLimits, _: pytest.Config) -> bool:
    """Whether more would be asked of a language model than by default."""
    pairs = zip(value, LlmLimits(), strict=True)
    return any(given > usual for given, usual in pairs)


def is_apply_unsafe(value: bool, config: pytest.Config) -> bool:
    """Whether fixes would be applied that may change what the code means."""
    return value and config.getoption("bayesloc_fix") == "apply"
