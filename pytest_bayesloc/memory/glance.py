"""A look at a memory in a file that costs next to nothing: the standard library only."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

BUSY_S = 1.0


def may_have_open_bugs(path: Path) -> bool:
    """Whether a bug is open; also true where the file can't be read: the store will say why."""
    if not path.is_file():
        return False
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=BUSY_S)) as db:
            found = db.execute("SELECT 1 FROM bug WHERE state = 'open' LIMIT 1").fetchone()
    except sqlite3.Error:
        return True
    return found is not None
