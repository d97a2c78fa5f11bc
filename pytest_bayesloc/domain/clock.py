"""Clocks as they were before any test: tests patch them (freezegun), or have them jump.

Imported as the plugin is loaded; what is imported after the tests would bind what they left.
"""

from __future__ import annotations

import time

#: Seconds since some fixed point.
monotonic = time.monotonic
#: Nanoseconds since 1970.
time_ns = time.time_ns
