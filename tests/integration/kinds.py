"""Twelve failing projects, one for each kind of failure that docs/examples.md shows.

``python -m tests.integration.kinds`` runs them and writes what the terminal says into the page.
"""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tests.integration.conftest import asserting
from tests.integration.test_memory_runs import edit
from tests.pages import DOCS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.integration.conftest import Project

ANSWERED = ("-q", "--tb=no", "--bayesloc")
FORGETFUL = "--bayesloc-memory=off"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A project that fails.

    Attributes:
        title: Of its section.
        words: What is wrong.
        files: By path.
        edits: File, text, and what it becomes, each after a run.
        args: Of the last run, beside ``ANSWERED``.
    """

    title: str
    words: str
    files: Mapping[str, str]
    edits: Sequence[tuple[str, str, str]] = ()
    args: tuple[str, ...] = field(default=(FORGETFUL,))

    def section(self, project: Project) -> list[str]:
        """What the terminal says of it, from an empty project on; the same id for each bug."""
        project.write(self.files)
        for edited in self.edits:
            project.run("-q", "--tb=no")
            edit(project, *edited)
        lines = project.run(*ANSWERED, *self.args).section
        return [
            BUG.sub("216ce7925d3d", line)
            for line in lines
            if line and not line.startswith(("report: ", "FAILED ", "ERROR ", "="))
        ]


BUG = re.compile(r"(?<=bug )[0-9a-f]{12}")

PRICES = """
    DISCOUNTS = {"summer": 20, "friends": 15}


    def discount(code):
        return DISCOUNTS.get(code, 0)


    def to_pay(net, code):
        return net + net * discount(code) // 100


    def total(nets, code):
        return sum(to_pay(net, code) for net in nets)
    """
TEST_PRICES = asserting(
    "from prices import discount, to_pay, total",
    discount='discount("summer") == 20',
    full_price='to_pay(1000, "") == 1000',
    summer_price='to_pay(1000, "summer") == 800',
    total='total([1000, 500], "friends") == 1275',
)
GOOD_PRICES = PRICES.replace("net + net *", "net - net *")
ORDERS = """
    class Order:
        def __init__(self, quantity, price):
            if quantity < 1:
                raise ValueError(f"an order of {quantity} pieces")
            self.quantity = quantity
            self.price = price

        def amount(self):
            return self.quantity * self.price
    """
READ = """
    def parse(line):
        name, _, value = line.partition("=")
        return name.strip(), value.strip()


    def read(text):
        return dict(parse(line) for line in text.splitlines())


    def port(text):
        return int(read(text).get("port"))
    """

KINDS = (
    Kind(
        title="A crash",
        words="`port` takes it that a port is given.",
        files={
            "config.py": READ,
            "test_config.py": asserting(
                "from config import parse, port, read",
                parse='parse("a = 1") == ("a", "1")',
                read='read("a=1") == {"a": "1"}',
                port='port("port=80") == 80',
                default_port='port("host=here") == 80',
            ),
        },
    ),
    Kind(
        title="A wrong value",
        words="`to_pay` adds the discount.",
        files={"prices.py": PRICES, "test_prices.py": TEST_PRICES},
    ),
    Kind(
        title="Wrong data in a test",
        words="A test orders 0 pieces.",
        files={
            "orders.py": ORDERS,
            "test_orders.py": asserting(
                "from orders import Order",
                amount="Order(2, 30).amount() == 60",
                amount_of_one="Order(1, 30).amount() == 30",
                free_order="quantity = 0; order = Order(quantity, 0); assert order.amount() == 0",
            ),
        },
    ),
    Kind(
        title="A fixture",
        words="A fixture orders 0 pieces.",
        files={
            "orders.py": ORDERS,
            "test_orders.py": """
                import pytest

                from orders import Order


                @pytest.fixture
                def order():
                    return Order(0, 30)


                def test_amount_of_bolts(order):
                    assert order.amount() == 60


                def test_quantity_of_bolts(order):
                    assert order.quantity == 2
                """,
        },
    ),
    Kind(
        title="An import",
        words="`shop.py` imports a name that is called otherwise.",
        files={
            "prices.py": GOOD_PRICES,
            "shop.py": """
                from prices import totals


                def bill(nets):
                    return f"{totals(nets, '')} EUR"
                """,
            "test_prices.py": TEST_PRICES,
            "test_shop.py": asserting("from shop import bill", bill='bill([100, 50]) == "150 EUR"'),
        },
    ),
    Kind(
        title="A time-out",
        words="`wait` tries once too few.",
        files={
            "work.py": """
                def wait(poll, tries):
                    for _ in range(1, tries):
                        if poll():
                            return True
                    raise TimeoutError(f"not ready after {tries} tries")


                def start(states):
                    return wait(lambda: states.pop(0) == "ready", 3)
                """,
            "test_work.py": """
                import pytest

                from work import start, wait


                def test_never_ready():
                    with pytest.raises(TimeoutError):
                        wait(lambda: False, 2)


                def test_wait():
                    assert wait(lambda: True, 5)


                def test_start():
                    assert start(["new", "ready"])


                def test_waits_until_ready():
                    assert start(["new", "busy", "ready"])
                """,
        },
    ),
    Kind(
        title="A flaky test",
        words="A test fails only the first time.",
        files={
            "prices.py": GOOD_PRICES,
            "test_prices.py": TEST_PRICES,
            "test_flaky.py": """
                import pathlib

                from prices import to_pay

                SEEN = pathlib.Path(__file__).with_name("seen")


                def test_price_of_the_day():
                    was_there = SEEN.exists()
                    SEEN.touch()
                    assert to_pay(100, "") == 100
                    assert was_there
                """,
        },
    ),
    Kind(
        title="Two faults",
        words="`to_pay` adds the discount, and `port` takes it that a port is given.",
        files={
            "prices.py": PRICES,
            "test_prices.py": TEST_PRICES,
            "config.py": READ,
            "test_config.py": asserting(
                "from config import port, read",
                read='read("a=1") == {"a": "1"}',
                port='port("port=80") == 80',
                default_port='port("host=here") == 80',
            ),
        },
    ),
    Kind(
        title="A syntax error",
        words="A bracket is missing.",
        files={
            "prices.py": GOOD_PRICES.replace("for net in nets)", "for net in nets"),
            "test_prices.py": TEST_PRICES,
        },
    ),
    Kind(
        title="A regression",
        words="The tests passed before `-` became `+`.",
        files={"prices.py": GOOD_PRICES, "test_prices.py": TEST_PRICES},
        edits=[("prices.py", "net - net *", "net + net *")],
        args=(),
    ),
    Kind(
        title="A loop",
        words="`discount` is edited three times, and the fault is in `to_pay`.",
        files={"prices.py": PRICES, "test_prices.py": TEST_PRICES},
        edits=[
            ("prices.py", "DISCOUNTS.get(code, 0)", "DISCOUNTS.get(code) or 0"),
            (
                "prices.py",
                "DISCOUNTS.get(code) or 0",
                "DISCOUNTS[code] if code in DISCOUNTS else 0",
            ),
            (
                "prices.py",
                "DISCOUNTS[code] if code in DISCOUNTS else 0",
                "int(DISCOUNTS.get(code, 0))",
            ),
        ],
        args=(),
    ),
    Kind(
        title="A fix",
        words="A name is misspelt, and `--bayesloc-fix=suggest` was asked for.",
        files={
            "prices.py": GOOD_PRICES.replace(
                "net - net * discount(code)", "net - nett * discount(code)"
            ),
            "test_prices.py": TEST_PRICES,
        },
        args=(FORGETFUL, "--bayesloc-fix=suggest"),
    ),
)


def markdown(kind: Kind, section: Sequence[str]) -> str:
    """The part of the page on ``kind``."""
    return "\n".join([f"### {kind.title}", "", kind.words, "", "```text", *section, "```", ""])


def main() -> None:
    """Write what the terminal says of each kind between the marks of the page."""
    from tests.integration.conftest import Project  # it needs pytest's plugins

    parts = []
    for kind in KINDS:
        with tempfile.TemporaryDirectory() as folder:
            parts.append(markdown(kind, kind.section(Project(Path(folder)))))
    page = DOCS / "examples.md"
    before, mark, rest = page.read_text(encoding="utf-8").partition("<!-- kinds -->\n")
    after = rest.partition(mark)[2]
    page.write_text(f"{before}{mark}\n{chr(10).join(parts)}\n{mark}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
