"""Stories that were written after the rules."""

from __future__ import annotations

from benchmarks.memory.replay import Step, Story, run
from benchmarks.memory.stories.loops import ADD, FOURTH, LEAP, LEAP_MENDED, NO_CENTURY, SAME, TAX
from benchmarks.memory.stories.project import shop

SUB = "net = net - amount"
WRONG = shop((ADD, SUB))
SOLD = shop(("stock - sold", "stock + sold"))
MEND = (SUB, ADD)
PERCENT = "net * (100 + rate(country)) // 100"


def _loop(name: str, files: dict[str, str], *steps: Step, git: bool = False) -> Story:
    return Story(name=name, kind="loop", files=files, steps=steps, uses_git=git)


def _progress(name: str, files: dict[str, str], *steps: Step, git: bool = False) -> Story:
    return Story(name=name, kind="progress", files=files, steps=steps, uses_git=git)


STORIES: tuple[Story, ...] = (
    _loop(
        "one test by its id",
        WRONG,
        run(args="test_cart.py::test_total"),
        run(("net = 0", "net = int(0)"), args="test_cart.py::test_total"),
        run((TAX, "net + rate(country) * net // 100"), args="test_cart.py::test_total", told=SAME),
        run(("[n * price for", "[price * n for"), args="test_cart.py::test_total", told=SAME),
        run(MEND, told="fixed"),
    ),
    _loop(
        "three states in turn",
        WRONG,
        run(),
        run((TAX, PERCENT)),
        run((PERCENT, "net * 2"), told=SAME),
        run(("net * 2", TAX), told="seen state|alternation"),
        run((TAX, PERCENT), told="seen state|alternation"),
        run((PERCENT, "net * 2"), told="alternation|seen state"),
        run(("net * 2", TAX), MEND, told="fixed"),
    ),
    _loop(
        "syntax error moved about",
        shop(("net = 0", "net = = 0")),
        run(),
        run(("net = = 0", "net = = (0)")),
        run(("net = = (0)", "net = = int(0)"), told=SAME),
        run(("net = = int(0)", "net = = sum([])"), told=SAME),
        run(("net = = sum([])", "net = 0"), told="fixed"),
    ),
    _loop(
        "stash and pop",
        WRONG,
        run(),
        run(("net = 0", "net = 1")),
        run(shell="git stash -q", told="seen state"),
        run(shell="git stash pop -q", told="seen state|alternation"),
        run(("net = 1", "net = 0"), MEND, told="fixed"),
        git=True,
    ),
    _loop(
        "branch reset to an older commit",
        WRONG,
        run(),
        run((TAX, PERCENT), shell="git commit -qam one"),
        run(shell="git reset -q --hard HEAD~1", told="seen state"),
        run(("net = 0", "net = int(0)"), shell="git commit -qam two", told=SAME),
        run(shell="git reset -q --hard HEAD~1", told="seen state|alternation"),
        run(MEND, told="fixed"),
        git=True,
    ),
    _loop(
        "commits of a change and its revert",
        LEAP,
        run(),
        run((FOURTH, NO_CENTURY), shell="git commit -qam a", told="moved"),
        run((NO_CENTURY, FOURTH), shell="git commit -qam b", told="moved", may="seen state"),
        run(
            (FOURTH, NO_CENTURY),
            shell="git commit -qam c",
            told="alternation",
            may="moved,seen state",
        ),
        run((NO_CENTURY, LEAP_MENDED), shell="git commit -qam d", told="fixed"),
        git=True,
    ),
    _loop(
        "failing test is expected to fail",
        SOLD,
        run(),
        run(
            ("def test_left", "import pytest\n\n\n@pytest.mark.xfail\ndef test_left"),
            told="no fix",
        ),
    ),
    _loop(
        "one of two checks is taken out",
        shop(
            ("stock - sold", "stock + sold"),
            (
                "assert left(5, 2) == 3",
                "assert left(5, 0) == 5\n            assert left(5, 2) == 3",
            ),
        ),
        run(),
        run(("    assert left(5, 2) == 3\n", ""), told="no fix"),
        run(),
    ),
    _loop(
        "check becomes that something is there",
        SOLD,
        run(),
        run(("assert left(5, 2) == 3", "assert left(5, 2) is not None"), told="no fix"),
    ),
    _loop(
        "file of the failing test is taken away",
        SOLD,
        run(),
        run({"test_stock.py": None}, told="no fix"),
    ),
    _loop(
        "copy below build is edited",
        {**WRONG, "build/lib/old.py": "def total(items):\n    return 0\n"},
        run(),
        run(("    return 0\n", "    return 1\n")),
        run(("    return 1\n", "    return 2\n"), told="untested edit"),
        run(MEND, told="fixed"),
    ),
    _loop(
        "same command between empty commits",
        WRONG,
        *(run(shell="git commit -q --allow-empty -m again") for _ in range(3)),
        run(shell="git commit -q --allow-empty -m again", told="no edit"),
        git=True,
    ),
    _loop(
        "passes without an edit",
        shop(test_env="import os\n\n\ndef test_env():\n    assert os.environ.get('GOOD')\n"),
        run(),
        run(environ={"GOOD": "1"}, told="flaky"),
    ),
    _progress(
        "two bugs, one after the other",
        shop((ADD, SUB), ("stock - sold", "stock + sold")),
        run(),
        run(MEND, told="fixed"),
        run(("stock + sold", "stock - sold"), told="fixed"),
    ),
    _progress(
        "next failure of -x after each fix",
        shop((ADD, SUB), ("stock - sold", "stock + sold"), ("stock <= 0", "stock < 0")),
        run(args="-x"),
        run(MEND, args="-x", told="fixed"),
        run(("stock + sold", "stock - sold"), args="-x", told="fixed"),
        run(("stock < 0", "stock <= 0"), args="-x", told="fixed"),
    ),
    _progress(
        "log messages are added to look",
        WRONG,
        run(),
        run(("from prices import", "import logging\n\nfrom prices import")),
        run(("net = 0\n", "net = 0\n    logging.info(items)\n")),
        run(("return RATES[country]", "print(country)\n    return RATES[country]")),
        run(MEND, told="fixed"),
    ),
    _progress(
        "wrong expectation is put right",
        shop(("== 595", "== 594")),
        run(),
        run(("== 594", "== 595"), told="fixed"),
    ),
    _progress(
        "commits of others come in",
        WRONG,
        run(),
        run(("stock - sold", "max(stock - sold, 0)"), shell="git commit -qam theirs"),
        run(("stock <= 0", "not stock > 0"), shell="git commit -qam theirs"),
        run(MEND, shell="git commit -qam ours", told="fixed"),
        git=True,
    ),
)
