from __future__ import annotations

from typing import TYPE_CHECKING, cast

from benchmarks.bugs.checkout import Checkout, Ends
from benchmarks.bugs.regressions import Pair, changed_lines_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


class Files:
    """A tree of which a condition on its texts says whether the test passes."""

    def __init__(self, passes: Callable[[Mapping[str, str]], bool]) -> None:
        self._passes = passes
        self._texts: dict[str, str] = {}

    def write(self, texts: Mapping[str, str]) -> None:
        self._texts.update(texts)

    def run_tests(self, tests: Sequence[str]) -> Ends:
        passed = frozenset(tests if self._passes(self._texts) else ())
        return Ends(passed=passed, failed={}, uncollected={}, cpu_s=1.0)


THEN = {
    file: "".join(f"{name} = 1\n_ = 0\n" for name in names)
    for file, names in (("m.py", "abcdef"), ("n.py", "ghij"))
}
NOW = {file: text.replace("1", "2") for file, text in THEN.items()}


def truth(passes: Callable[[str], bool]) -> list[list[object]]:
    files = Files(lambda texts: passes("".join(texts.values())))
    pair = Pair(cast("Checkout", files), THEN, NOW, ["t"])
    return [block.said for block in pair.smallest("t", pair.blocks())]


def test_block_that_suffices_alone_is_the_truth() -> None:
    assert truth(lambda text: "i = 1" in text) == [["n.py", 5, 5]]


def test_blocks_that_are_needed_together_are_the_truth() -> None:
    assert truth(lambda text: "b = 1" in text and "j = 1" in text) == [
        ["m.py", 3, 3],
        ["n.py", 7, 7],
    ]


def test_lines_that_a_diff_changes_are_those_of_the_text_as_it_is() -> None:
    diff = "--- a/m.py\n+++ b/m.py\n@@ -3,4 +3,5 @@\n a\n-b\n+c\n d\n+e\n f\n"

    assert changed_lines_of(diff) == [("m.py", 4), ("m.py", 5)]
