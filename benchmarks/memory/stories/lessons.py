"""Stories of what is learned: nothing that the evidence or a mend contradicts."""

from __future__ import annotations

from benchmarks.memory.replay import Story, run
from benchmarks.memory.stories.project import shop

CART = {
    "cart.py": """
        def total(prices, rate):
            net = sum(prices)
            if net < 100:
                net = net - net * rate
            return net
        """,
    "test_cart.py": """
        from cart import total


        def test_small_order_has_its_full_price():
            assert total([10, 20], 0.1) == 30


        def test_large_order_is_reduced():
            assert total([100, 100], 0.1) == 180
        """,
}
GUARDED = {
    "knots.py": """
        def check(knots):
            if len(knots) < 4:
                raise ValueError("too few knots")
        """,
    "curve.py": """
        from knots import check


        def curve(knots):
            check(knots)
            return knots
        """,
    "test_curve.py": """
        from curve import curve


        def test_line():
            assert curve([0, 0, 1, 1])


        def test_point():
            assert curve([0, 1, 2])
        """,
}
HELPED = {
    "shop.py": """
        def total(prices):
            return sum(prices) + 1


        def label(name):
            return name.lower()
        """,
    "test_shop.py": """
        from shop import label, total


        def check(found, wanted):
            assert found == wanted


        def test_total():
            check(total([1, 2]), 3)


        def test_label():
            check(label("ann"), "ANN")
        """,
}

TAXED = "net + net * rate(country) // 100"
NO_OPINION = [("too early an opinion", r"experiment 1|speaks against|all \d tries")]

STORIES: tuple[Story, ...] = (
    Story(
        name="wrong edit of the guilty function",
        kind="lesson",
        files=CART,
        steps=(
            run(),
            run(
                ("net < 100", "net < 50"),
                says=[("failed before", r"failed before: cart\.py total .*`if net < 50:`")],
                never=[("false constraint", r"learned:|does not change")],
            ),
            run(
                ("net < 50", "net >= 100"),
                told="fixed",
                says=[("kind of mistake", r"condition inverted: `net < 100` had to be")],
            ),
            run(
                ("net >= 100", "net <= 100"),
                says=[("net mend", r"fixed by cart\.py total .*`if net < 100:` -> `if net >= 100")],
                never=[("empty lesson", r"LOGIC_ERROR|the code had to change|bugs so far")],
            ),
        ),
    ),
    Story(
        name="demand that the mend takes back",
        kind="lesson",
        files=GUARDED,
        steps=(
            run(says=[("demand", r"learned: check needs len\(knots\) >= 4")]),
            run(
                ("< 4", "< 3"),
                told="fixed",
                says=[("withdrawn", r"no longer learned.*check needs len\(knots\) >= 4")],
            ),
            run(
                ("< 3", "< 5"),
                never=[("false constraint", r"needs len\(knots\) >= 4")],
            ),
        ),
    ),
    Story(
        name="mend after a try that was taken back",
        kind="lesson",
        files=shop(("stock - sold", "stock + sold")),
        steps=(
            run(),
            run(("stock <= 0", "stock < 1")),
            run(
                ("stock < 1", "stock <= 0"),
                ("stock + sold", "stock - sold"),
                told="fixed",
                says=[("kind of mistake", r"wrong operator: `stock \+ sold` had to be")],
                never=[("part of a try", r"mended.*is_empty")],
            ),
        ),
    ),
    Story(
        name="failures in a shared helper of the tests",
        kind="lesson",
        files=HELPED,
        steps=(
            run(args="-k total"),
            run(
                args="-k label",
                says=[("new bug", r"bug \w+ begins")],
                never=[("same failure", r"the same failure")],
            ),
        ),
    ),
    Story(
        name="statistics of one bug",
        kind="lesson",
        files=CART,
        steps=(
            run(),
            run(("net < 100", "net >= 100"), told="fixed"),
            run(
                args="--bug-memory=stats",
                says=[("too early", r"too early \(1\)")],
                never=[("figures", r"100%")],
            ),
        ),
    ),
    Story(
        name="note of a person",
        kind="lesson",
        files=CART,
        steps=(
            run(args="--bug-note=rates", says=[("note kept", r"note kept with bug \w+: rates")]),
            run(args="--bug-advice-last", says=[("note", r"note: rates")]),
        ),
    ),
    Story(
        name="file that does not parse",
        kind="lesson",
        files={**CART, "cart.py": "def total(prices, rate:\n    return 0\n"},
        steps=(run(never=[("only the tests", r"only the tests themselves")]),),
    ),
    Story(
        name="second opinion at the third failure",
        kind="lesson",
        files=shop(("net = net + amount", "net = net - amount")),
        steps=(
            run(never=NO_OPINION),
            run((TAXED, "net + rate(country) * net // 100"), never=NO_OPINION),
            run(
                ("net + rate(country) * net // 100", "(net * 100 + net * rate(country)) // 100"),
                told="same error",
                says=[
                    ("in common", r"both attempts edit prices\.py taxed and change returned"),
                    (
                        "experiment",
                        r"(?s)experiment 1: have edits .*pytest --bayesloc test_cart\.py::",
                    ),
                ],
                never=[("against the likeliest", r"speaks against cart\.py total")],
            ),
        ),
    ),
    Story(
        name="second opinion with an edit that helps",
        kind="lesson",
        files=CART,
        args=("--bayesloc", "--bayesloc-budget=20", "--bayesloc-threshold=0.999"),
        steps=(
            run(never=NO_OPINION),
            run(("net < 100", "net < 50"), never=NO_OPINION),
            run(
                ("net < 50", "net < 60"),
                told="same error",
                says=[("experiment", r"experiment 1: make the edit .*cart\.py total: `if net")],
            ),
        ),
    ),
)
