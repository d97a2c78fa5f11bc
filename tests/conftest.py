"""For all tests: fakes can be imported, and no test depends on how fast the machine is."""

from __future__ import annotations

import sys
from pathlib import Path

from hypothesis import settings

# Behind everything that is installed, so that ``tests.fakes`` is found and nothing is hidden.
sys.path.append(str(Path(__file__).parent.parent))

settings.register_profile("timeless", deadline=None)
settings.load_profile("timeless")
