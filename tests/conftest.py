"""For all tests: fakes can be imported, and no test depends on how fast the machine is."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

# Behind everything that is installed, so that ``tests.fakes`` is found and nothing is hidden.
sys.path.append(str(Path(__file__).parent.parent))

settings.register_profile("timeless", deadline=None)
settings.register_profile("short", deadline=None, max_examples=15)  # by --hypothesis-profile
settings.load_profile("timeless")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Start more workers than there are cores: most of the time goes into waiting for runs."""
    return (os.cpu_count() or 1) + 2
