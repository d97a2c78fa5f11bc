"""Stories in which somebody comes on: no loop may be told."""

from __future__ import annotations

from benchmarks.memory.replay import Story, run
from benchmarks.memory.stories.loops import ADD, FOURTH, LEAP, LEAP_MENDED, NO_CENTURY, TAX
from benchmarks.memory.stories.project import shop

STORIES: tuple[Story, ...] = (
    Story(
        name="fewer cases fail after each edit",
        kind="progress",
        files={
            "roman.py": """
                def roman(n):
                    table = [(1, "I")]
                    text = ""
                    for value, sign in table:
                        while n >= value:
                            text, n = text + sign, n - value
                    return text
                """,
            "test_roman.py": """
                import pytest

                from roman import roman


                @pytest.mark.parametrize(
                    ("n", "text"), [(3, "III"), (4, "IV"), (5, "V"), (9, "IX"), (40, "XL")]
                )
                def test_roman(n, text):
                    assert roman(n) == text
                """,
        },
        steps=(
            run(),
            run(('[(1, "I")]', '[(5, "V"), (1, "I")]')),
            run(('[(5, "V"),', '[(5, "V"), (4, "IV"),')),
            run(('[(5, "V"),', '[(9, "IX"), (5, "V"),')),
            run(('[(9, "IX"),', '[(10, "X"), (9, "IX"),')),
            run(('[(10, "X"),', '[(40, "XL"), (10, "X"),'), told="fixed"),
        ),
    ),
    Story(
        name="hunt with a new error each time",
        kind="progress",
        files=shop(
            ("RATES[country]", "RATES[cuontry.upper()]"),
            ("net * rate(country) // 100", "net * rate(country).value // 100"),
            ('f"{amount} EUR"', '"{} EUR" + amount'),
        ),
        steps=(
            run(),
            run(("cuontry.upper()", "country.upper()")),
            run(("country.upper()", "country")),
            run(("rate(country).value", "rate(country)"), may="fixed"),
            run(('"{} EUR" + amount', 'f"{amount} EUR"'), told="fixed"),
        ),
    ),
    Story(
        name="written test first, then the code in steps",
        kind="progress",
        files=shop(
            test_voucher="""
                from voucher import Voucher


                def test_voucher():
                    voucher = Voucher(10)
                    assert voucher.off(200) == 180
                    assert voucher.off(5) == 4
                """
        ),
        steps=(
            run(),
            run({"voucher.py": "def off():\n    pass\n"}),
            run({"voucher.py": "class Voucher:\n    pass\n"}),
            run({"voucher.py": "class Voucher:\n    def __init__(self, percent):\n        pass\n"}),
            run(
                {
                    "voucher.py": """
                        class Voucher:
                            def __init__(self, percent):
                                self.percent = percent

                            def off(self, amount):
                                raise NotImplementedError
                        """
                }
            ),
            run(("raise NotImplementedError", "return amount - amount * self.percent / 100")),
            run(
                ("amount * self.percent / 100", "amount * self.percent // 100 - (amount == 5)"),
                told="fixed",
            ),
        ),
    ),
    Story(
        name="mended at the second try",
        kind="progress",
        files=shop((ADD, "net = net - amount")),
        steps=(
            run(),
            run((TAX, "net + rate(country) * net // 100")),
            run(("net = net - amount", ADD), told="fixed"),
            run(),
        ),
    ),
    Story(
        name="prints are added to look",
        kind="progress",
        files=shop((ADD, "net = net - amount")),
        steps=(
            run(),
            run(("net = 0\n", "net = 0\n    print(items, country)\n")),
            run(("net = net - amount\n", "net = net - amount\n        print(net)\n")),
            run(("return RATES[country]", "print(country)\n    return RATES[country]")),
            run(
                ("        print(net)\n", ""),
                ("    print(items, country)\n", ""),
                ("    print(country)\n", ""),
                ("net = net - amount", ADD),
                told="fixed",
            ),
        ),
    ),
    Story(
        name="other work beside a test that is known to fail",
        kind="progress",
        files=shop((ADD, "net = net - amount")),
        steps=(
            run(),
            run(("stock - sold", "max(stock - sold, 0)")),
            run(("stock <= 0", "stock < 1")),
            run(("max(stock - sold, 0)", "max(0, stock - sold)")),
            run(("stock < 1", "not stock > 0")),
            run(("net = net - amount", ADD), told="fixed"),
        ),
    ),
    Story(
        name="names are changed while a test fails",
        kind="progress",
        files=shop((ADD, "net = net - amount")),
        steps=(
            run(),
            run(
                ("net = 0", "subtotal = 0"),
                ("net = net - amount", "subtotal = subtotal - amount"),
                ("return taxed(net, country)", "return taxed(subtotal, country)"),
            ),
            run(
                ("subtotal = 0", "sum_ = 0"),
                ("subtotal = subtotal - amount", "sum_ = sum_ - amount"),
                ("return taxed(subtotal, country)", "return taxed(sum_, country)"),
            ),
            run(
                ("sum_ = 0", "value = 0"),
                ("sum_ = sum_ - amount", "value = value - amount"),
                ("return taxed(sum_, country)", "return taxed(value, country)"),
            ),
            run(("value = value - amount", "value = value + amount"), told="fixed"),
        ),
    ),
    Story(
        name="fix of A breaks B, then both are mended",
        kind="progress",
        files=LEAP,
        steps=(
            run(),
            run((FOURTH, NO_CENTURY), told="moved"),
            run((NO_CENTURY, LEAP_MENDED), told="fixed"),
        ),
    ),
    Story(
        name="older commits are checked out in search of the culprit",
        kind="progress",
        uses_git=True,
        files=shop(),
        steps=(
            run(),
            run((ADD, "net = net - amount"), shell="git commit -qam one"),
            run((TAX, "net + rate(country) * net // 100"), shell="git commit -qam two"),
            run(
                ("[n * price for", "[price * n for"),
                shell="git commit -qam three; git checkout -q HEAD~1",
            ),
            run(shell="git checkout -q HEAD~1"),
            run(shell="git checkout -q HEAD~1", told="fixed"),
        ),
    ),
    Story(
        name="the same bug comes back after it was mended",
        kind="progress",
        files=shop((ADD, "net = net - amount")),
        steps=(
            run(),
            run(("net = net - amount", ADD), told="fixed"),
            run((ADD, "net = net - amount")),
            run(("net = net - amount", ADD), told="fixed"),
        ),
    ),
    Story(
        name="one run again before the mend",
        kind="progress",
        files=shop((ADD, "net = net - amount")),
        steps=(
            run(),
            run(args="-v"),
            run(args="-x"),
            run(args="test_cart.py -v"),
            run(args="test_cart.py -l"),
            run(("net = net - amount", ADD), told="fixed"),
        ),
    ),
)
