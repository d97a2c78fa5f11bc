"""Fakes are imported as ``tests.fakes``, behind everything that is installed."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent))
