"""Stories in which somebody goes in circles, or gets tests green without a fix."""

from __future__ import annotations

from benchmarks.memory.replay import Story, run
from benchmarks.memory.stories.project import shop

ADD = "net = net + amount"
TAX = "net + net * rate(country) // 100"
FEE = "net = net + amount + FEE"
#: A sum with a fee that nobody set: TypeError at the line that everybody edits.
FEE_IS_NONE = shop((ADD, FEE), ("def amounts", "FEE = None\n\n\n        def amounts"))
SAME = "same error|wrong place"
COMMIT = "git commit -qam wip"

LEAP = {
    "leap.py": """
        def is_leap(year):
            return year % 4 == 0
        """,
    "test_leap.py": """
        from leap import is_leap


        def test_2000_is_a_leap_year():
            assert is_leap(2000)


        def test_1900_is_none():
            assert not is_leap(1900)
        """,
}
FOURTH, NO_CENTURY = "return year % 4 == 0", "return year % 4 == 0 and year % 100 != 0"
LEAP_MENDED = "return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)"

STORIES: tuple[Story, ...] = (
    Story(
        name="raising line edited again and again",
        kind="loop",
        files=FEE_IS_NONE,
        steps=(
            run(),
            run((FEE, "net = amount + net + FEE"), may="same error"),
            run(("net = amount + net + FEE", "net += amount + FEE"), told=SAME),
            run(("net += amount + FEE", "net = net + (amount + FEE)"), told=SAME),
            run(
                ("net = net + (amount + FEE)", "net = (net + amount) + FEE"),
                told="seen state|same error",  # the first one, but for parentheses
            ),
            run(("net = (net + amount) + FEE", "net = int(amount) + FEE + net"), told=SAME),
            run(("net = int(amount) + FEE + net", "net = round(amount) + FEE"), told=SAME),
            run(
                ("net = round(amount) + FEE", FEE),
                ("FEE = None", "FEE = 0"),
                told="fixed",
            ),
        ),
    ),
    Story(
        name="import of a missing module reworded",
        kind="loop",
        files=shop(("from prices import", "import pricetools\n        from prices import")),
        steps=(
            run(),
            run(("import pricetools\n", "import pricetools as tools\n"), may="same error"),
            run(("import pricetools as tools\n", "from pricetools import rate\n"), told=SAME),
            run(("from pricetools import rate\n", "from pricetools import *\n"), told=SAME),
            run(("from pricetools import *\n", "import pricetools, prices\n"), told=SAME),
            run(("import pricetools, prices\n", ""), told="fixed"),
        ),
    ),
    Story(
        name="commit after each edit",
        kind="loop",
        uses_git=True,
        files=shop((ADD, "net = net - amount")),
        steps=(
            run(),
            run((TAX, "net + rate(country) * net // 100"), shell=COMMIT, may="same error"),
            run(("[n * price for", "[price * n for"), shell=COMMIT, told=SAME),
            run(("[price * n for", "[int(price) * n for"), shell=COMMIT, told=SAME),
            run(("net + rate(country) * net // 100", TAX), shell=COMMIT, told=SAME),
            run(("net = 0", "net = 0 + 0"), shell=COMMIT, told=SAME),
            run(("net = 0 + 0", "net = int(0)"), shell=COMMIT, told=SAME),
            run(("net = net - amount", ADD), shell=COMMIT, told="fixed"),
        ),
    ),
    Story(
        name="amend, stash and branch between edits",
        kind="loop",
        uses_git=True,
        files=shop((ADD, "net = net - amount")),
        steps=(
            run(),
            run(
                (TAX, "net + rate(country) * net // 100"),
                shell="git commit -qa --amend -m start",
                may="same error",
            ),
            run(("net = 0", "net = int(0)"), shell="git stash -q; git stash pop -q", told=SAME),
            run(
                ("[n * price for", "[price * n for"),
                shell="git checkout -qb second; git commit -qam second",
                told=SAME,
            ),
            run(
                ("net = int(0)", "net = 0 - 0"),
                shell=f"{COMMIT}; git rebase -q HEAD~1",
                told=SAME,
            ),
            run(("net = net - amount", ADD), told="fixed"),
        ),
    ),
    Story(
        name="fix of A breaks B, fix of B breaks A",
        kind="loop",
        files=LEAP,
        steps=(
            run(),
            run((FOURTH, NO_CENTURY), told="moved"),
            run((NO_CENTURY, FOURTH), told="moved|alternation", may="seen state,alternation"),
            *(
                run(edit, told="alternation", may="moved,seen state")
                for edit in ((FOURTH, NO_CENTURY), (NO_CENTURY, FOURTH)) * 2
            ),
            run((FOURTH, LEAP_MENDED), told="fixed"),
        ),
    ),
    Story(
        name="edit and its undoing",
        kind="loop",
        files=shop((ADD, "net = net - amount")),
        steps=(
            run(),
            run((TAX, "net + net * rate(country) / 100")),
            run(("* rate(country) / 100", "* rate(country) // 100"), told="seen state"),
            run((TAX, "net + net * rate(country) / 100"), told="alternation|seen state"),
            run(("* rate(country) / 100", "* rate(country) // 100"), told="alternation|seen state"),
            run((TAX, "net + net * rate(country) / 100"), told="alternation|seen state"),
            run((ADD.replace("+", "-"), ADD), ("/ 100", "// 100"), told="fixed"),
        ),
    ),
    Story(
        name="two errors come and go",
        kind="loop",
        files=shop(("RATES[country]", "RATES[country.upper()]")),
        steps=(
            run(),
            run(("RATES[country.upper()]", "RATES.get(country.upper())")),
            run(("RATES.get(country.upper())", "RATES[str(country).upper()]")),
            run(
                ("RATES[str(country).upper()]", "RATES.get(str(country).upper())"),
                may="alternation",
            ),
            run(
                ("RATES.get(str(country).upper())", "RATES[country.upper()[:]]"),
                may="alternation",
            ),
            run(
                ("RATES[country.upper()[:]]", "RATES.get(country.upper()[:])"),
                told="alternation",
            ),
            run(
                ("RATES.get(country.upper()[:])", "RATES[country[:].upper()]"),
                told="alternation",
            ),
            run(("RATES[country[:].upper()]", "RATES[country]"), told="fixed"),
        ),
    ),
    Story(
        name="code edited where the test expects the wrong",
        kind="loop",
        files=shop(("== 595", "== 594")),
        args=("test_cart.py",),
        steps=(
            run(),
            run((TAX, "net + rate(country) * net // 100"), may="test at fault"),
            run((ADD, "net = amount + net"), told="test at fault|same error"),
            run(("[n * price for", "[price * n for"), told="test at fault|same error"),
            run(("== 594", "== 595"), told="fixed"),
        ),
    ),
    Story(
        name="edits of a copy that nothing imports",
        kind="loop",
        files=shop(
            (ADD, "net = net - amount"),
            cart_v2="def total(items, country):\n    return sum(n * p for n, p in items)\n",
        ),
        steps=(
            run(),
            run(("sum(n * p for n, p in items)", "sum(n * p for n, p in items) * 2")),
            run(("in items) * 2", "in items) * 119"), told="untested edit"),
            run(("in items) * 119", "in items) * 119 // 100"), told="untested edit"),
            run(("net = net - amount", ADD), told="fixed"),
        ),
    ),
    Story(
        name="same command over and over",
        kind="loop",
        files=shop((ADD, "net = net - amount")),
        steps=(
            run(),
            run(),
            run(may="no edit"),
            run(told="no edit"),
            run(told="no edit"),
            run(("net = net - amount", ADD), told="fixed"),
        ),
    ),
    Story(
        name="failing test is deleted",
        kind="loop",
        files=shop(("stock - sold", "stock + sold")),
        steps=(
            run(),
            run(
                {
                    "test_stock.py": """
                        from stock import is_empty


                        def test_is_empty():
                            assert is_empty(0)
                        """
                },
                told="no fix",
            ),
        ),
    ),
    Story(
        name="failing test is skipped",
        kind="loop",
        files=shop(("stock - sold", "stock + sold")),
        steps=(
            run(),
            run(
                (
                    "def test_left",
                    "import pytest\n\n\n@pytest.mark.skip(reason='later')\ndef test_left",
                ),
                told="no fix",
            ),
        ),
    ),
    Story(
        name="assertion is weakened",
        kind="loop",
        files=shop(("stock - sold", "stock + sold")),
        steps=(
            run(),
            run(("assert left(5, 2) == 3", "assert left(5, 2)"), told="no fix"),
            run(("assert left(5, 2)", "assert left(5, 2) == 3")),
            run(("stock + sold", "stock - sold"), told="fixed"),
        ),
    ),
    Story(
        name="failure that does not come back",
        kind="loop",
        files=shop(
            test_flaky="""
                import pathlib


                def test_is_there():
                    path = pathlib.Path("seen.txt")
                    was_there = path.exists()
                    path.write_text("seen")
                    assert was_there
                """
        ),
        args=("--bayesloc", "--bayesloc-budget=10"),
        steps=(
            run(
                told="flaky",
                never=[("flaky first", r"(?s)(the code under test|\d %).*\bflaky\b")],
            ),
            run(told="flaky"),
        ),
    ),
)
