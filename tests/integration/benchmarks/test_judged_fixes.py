"""A fix is right if it passes what the true fix passes, and something does."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest

from benchmarks.bugs.checkout import Checkout, Ends
from benchmarks.bugs.fixed import judged

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

TRUE, OTHER, WRONG = "x = 1\n", "x = 2 - 1\n", "x = 2\n"


class Tree:
    """A checkout of one file, whose test passes unless ``x`` is 2."""

    def __init__(self, tree: Path) -> None:
        self.tree = tree
        self.write({"m.py": "x = 0\n"})

    def write(self, texts: Mapping[str, str]) -> None:
        for file, text in texts.items():
            (self.tree / file).write_text(text)

    def run_tests(self, _tests: Sequence[str]) -> Ends:
        is_right = (self.tree / "m.py").read_text() != WRONG
        passed = frozenset({"t"} if is_right else ())
        return Ends(passed=passed, failed={}, uncollected={}, cpu_s=0.0)


@pytest.mark.parametrize(
    ("passed", "right"),
    [(frozenset({"t"}), [True, True, False]), (frozenset(), [True, False, False])],
)
def test_a_fix_is_right_by_tests_that_pass_with_the_true_one(
    tmp_path: Path, passed: frozenset[str], right: list[bool]
) -> None:
    checkout = cast("Checkout", Tree(tmp_path))
    texts = [{"m.py": text} for text in (TRUE, OTHER, WRONG)]

    assert judged(checkout, {"m.py": TRUE}, texts, [(["t"], {}, passed)]) == right
    assert (tmp_path / "m.py").read_text() == "x = 0\n"
