"""Nothing that the terminal says changes unread: ``python -m tests.unit.report.sentences``."""

from __future__ import annotations

import re
from difflib import unified_diff

import pytest

from tests.unit.report.sentences import FILE, answers, made

pytestmark = pytest.mark.one_python
NEVER_CUT = ("  Next, ", "Note: ", "report: ")


def test_every_sentence_is_one_that_was_read() -> None:
    read, now = FILE.read_text("utf-8").splitlines(), made().splitlines()

    changed = "\n".join(unified_diff(read, now, "read", "now", lineterm=""))
    assert not changed, f"read it, then run python -m {made.__module__}\n{changed}"


def test_no_answer_is_wider_than_its_terminal() -> None:
    width, n_lines = 0, 0
    for line in answers():
        if titled := re.match(r"-- \w+, (\d+) columns", line):
            width = int(titled[1])
        elif not line.startswith(NEVER_CUT):
            assert len(line) <= width
            n_lines += 1
    assert n_lines > 100
