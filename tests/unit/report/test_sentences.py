"""Nothing that the terminal says changes unread: ``python -m tests.unit.report.sentences``."""

from __future__ import annotations

from difflib import unified_diff

import pytest

from tests.unit.report.sentences import FILE, made

pytestmark = pytest.mark.one_python


def test_every_sentence_is_one_that_was_read() -> None:
    read, now = FILE.read_text("utf-8").splitlines(), made().splitlines()

    changed = "\n".join(unified_diff(read, now, "read", "now", lineterm=""))
    assert not changed, f"read it, then run python -m {made.__module__}\n{changed}"
