"""Regular expressions of other people: one that backtracks without end costs seconds, not a run."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from functools import lru_cache

LIMIT_S = 2.0
MAX_TEXT = 2_000
_SEARCH = (
    "import json, re, sys; p, flags, t = json.load(sys.stdin); "
    "sys.exit(0 if re.search(p, t, flags) else 3)"
)
_FOUND, _NOT_FOUND = 0, 3
_REPEATS = re.compile(r"[*+{]")


@lru_cache(maxsize=1_024)
def found(pattern: re.Pattern[str], text: str) -> bool | None:
    """Whether a pattern is found in the first characters of a text; None if that takes too long.

    Nothing stops a search in this process. So a pattern that may take exponential time is
    searched in another, which takes some 20 ms.
    """
    text = text[:MAX_TEXT]
    n_repeats = len(_REPEATS.findall(pattern.pattern))
    if n_repeats == 0 or (n_repeats == 1 and "(" not in pattern.pattern):
        return pattern.search(text) is not None
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", _SEARCH],
            input=json.dumps([pattern.pattern, pattern.flags, text]).encode("ascii"),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None
    except OSError:  # no process can be started
        return False
    return {_FOUND: True, _NOT_FOUND: False}.get(done.returncode)
