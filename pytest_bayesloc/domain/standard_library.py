"""The standard library as it was before any test: some patch it, or have clocks jump.

Imported as the plugin is loaded; what is imported after the tests would bind what they left.
"""

from __future__ import annotations

import builtins
import datetime
import hashlib
import io
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


#: Seconds since some fixed point.
monotonic = time.monotonic
sleep = time.sleep
#: Nanoseconds since 1970.
time_ns = time.time_ns


_MODULES = (builtins, datetime, hashlib, io, json, os, subprocess, tempfile, time)
_AT_START = [
    (module, name, value)
    for module in _MODULES
    for name, value in vars(module).items()
    if callable(value) and name != "_"
]
_IMPORTS = [(name, [*getattr(sys, name)]) for name in ("path", "meta_path", "path_hooks")]
LEAST_FRAMES = 1000  # that Python itself allows


@contextmanager
def as_at_start() -> Iterator[None]:
    """Work with the functions that the process began with; what tests left is there again after.

    Where imports were found, and how deep calls may go, is put back for good: what pytest and its
    other plugins do at the end needs it as well.
    """
    sys.setrecursionlimit(max(sys.getrecursionlimit(), LEAST_FRAMES))
    for name, then in _IMPORTS:
        now = getattr(sys, name)
        now += [entry for entry in then if entry not in now]
    gone = object()
    left = [
        (module, name, vars(module).get(name, gone))
        for module, name, value in _AT_START
        if vars(module).get(name, gone) is not value
    ]
    for module, name, value in _AT_START:
        setattr(module, name, value)
    try:
        yield
    finally:
        for module, name, value in left:
            if value is gone:
                delattr(module, name)
            else:
                setattr(module, name, value)
