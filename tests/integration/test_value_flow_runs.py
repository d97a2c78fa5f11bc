"""Data that a check refuses is the fault of who made it, whatever way it took."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.integration.conftest import asserting

if TYPE_CHECKING:
    from tests.integration.conftest import Projects, Run

FORGETFUL = True

CURVE = """
    class Curve:
        def __init__(self, degree, knots=()):
            self.degree = degree
            self.knots = list(knots)
            self.points = []

        def add(self, point):
            self.points.append(point)

        def evaluate(self, t):
            start, end = self.domain()
            return start + t * (end - start)

        def domain(self):
            if len(self.knots) < 2 * self.degree + 2:
                raise ValueError(f"{len(self.knots)} knots are too few")
            return self.knots[self.degree], self.knots[-self.degree - 1]
    """


def localized(projects: Projects, code: str, tests: str) -> Run:
    return projects.make({"curve.py": code, "test_curve.py": tests}).localize("--bayesloc")


@pytest.mark.parametrize("options", [(), ("--bayesloc-fix=suggest",)])
def test_check_that_is_too_strict_is_first_although_a_test_made_the_value(
    projects: Projects, options: tuple[str, ...]
) -> None:
    code = """
        class Account:
            def __init__(self, balance):
                self.balance = balance

            def withdraw(self, amount):
                if amount >= self.balance:
                    raise ValueError("not enough")
                self.balance -= amount
        """
    tests = """
        import pytest

        from bank import Account


        def test_all():
            account = Account(10)
            account.withdraw(10)
            assert account.balance == 0


        def test_some():
            account = Account(10)
            account.withdraw(4)
            assert account.balance == 6


        def test_more():
            with pytest.raises(ValueError):
                Account(10).withdraw(11)
        """
    project = projects.make({"bank.py": code, "test_bank.py": tests})

    run = project.localize("--bayesloc", *options)

    assert run.names()[0] == "bank.py Account.withdraw"


VALIDATOR = """
    class ValidationError(Exception):
        pass


    class EvaluationError(Exception):
        pass


    def require(condition, message):
        if not condition:
            raise ValidationError(message)


    def n_needed(curve):
        return 2 * curve.degree + 2


    def has_enough_knots(curve):
        return len(curve.knots) >= n_needed(curve)


    def ascends(curve):
        return all(a <= b for a, b in zip(curve.knots, curve.knots[1:]))


    def validate(curve):
        for rule in (has_enough_knots, ascends):
            if not rule(curve):
                raise ValidationError(rule.__name__)


    class Curve:
        def __init__(self, degree, knots):
            self.degree = degree
            self.knots = knots

        def evaluate(self, t):
            validate(self)
            start, end = self.knots[self.degree], self.knots[-self.degree - 1]
            return start + t * (end - start)
    """
HIDDEN = VALIDATOR.replace(
    """
            validate(self)
""",
    """
            try:
                validate(self)
            except ValidationError as error:
                raise EvaluationError("the curve can't be evaluated") from error
""",
)
VALIDATED = asserting(
    "from curve import Curve",
    line="Curve(1, [0, 0, 1, 1]).evaluate(0.5) == 0.5",
    parabola="Curve(2, [0, 0, 0, 1, 1, 1]).evaluate(0.5) == 0.5",
    long_line="Curve(1, [0, 0, 1, 2, 2]).evaluate(0.5) == 1",
    cubic="Curve(3, [0, 0, 0, 0, 1, 1, 1]).evaluate(0.5) == 0.5",
)
IN_AN_ATTRIBUTE = asserting(
    "from curve import Curve",
    line="Curve(1, [0, 0, 1, 1]).evaluate(0.5) == 0.5",
    parabola="c = Curve(2); c.knots = [0, 0, 0, 1, 1, 1]; assert c.evaluate(0.5) == 0.5",
    cubic="c = Curve(3); c.knots = [0, 0, 0, 1, 1, 1]; assert c.evaluate(0.5) == 0.5",
)
#: Code, tests, and the one whose data the code refuses.
REFUSED = {
    "put into an attribute": (CURVE, IN_AN_ATTRIBUTE, "cubic"),
    "objects put into a list": (
        CURVE
        + """
    class Point:
        def __init__(self, x, weight=1.0):
            self.x = x
            self.weight = weight


    def middle(curve):
        total = sum(weight_of(point) for point in curve.points)
        return sum(point.x * point.weight for point in curve.points) / total


    def weight_of(point):
        if point.weight <= 0:
            raise ValueError("weights are positive")
        return point.weight
    """,
        """
        from curve import Curve, Point, middle


        def test_middle():
            curve = Curve(1)
            for x in (0.0, 1.0):
                curve.add(Point(x))
            assert middle(curve) == 0.5


        def test_weighted_middle():
            curve = Curve(1)
            for x, weight in [(0.0, 3.0), (1.0, -1.0)]:
                curve.add(Point(x, weight))
            assert middle(curve) == 0.25
        """,
        "weighted_middle",
    ),
    "handed to a factory": (
        CURVE
        + """
    def make_curve(degree, spans, *, end=1.0):
        knots = [end * span for span in spans]
        return Curve(degree, knots)
    """,
        asserting(
            "from curve import make_curve",
            line="make_curve(1, [0, 0, 1, 1]).evaluate(0.5) == 0.5",
            cubic="make_curve(3, [0, 0, 0, 1, 1, 1]).evaluate(0.5) == 0.5",
        ),
        "cubic",
    ),
    "put into a dict": (
        CURVE
        + """
    def drawn(shapes, name):
        return [Curve(shape["degree"], shape["knots"]).evaluate(0.5) for shape in shapes[name]]
    """,
        asserting(
            "from curve import drawn",
            line='drawn({"line": [{"degree": 1, "knots": [0, 0, 1, 1]}]}, "line") == [0.5]',
            cubic='d = {}; d["c"] = [{"degree": 3, "knots": [0] * 6}]; assert drawn(d, "c")',
        ),
        "cubic",
    ),
    "by a validator with rules of its own": (VALIDATOR, VALIDATED, "cubic"),
    "by a check that another error hides": (HIDDEN, VALIDATED, "cubic"),
    "by a library": (
        """
        import ipaddress


        class Host:
            def __init__(self, name, address):
                self.name = name
                self.address = address

            def network(self):
                return ipaddress.ip_network(self.address)
        """,
        asserting(
            "from curve import Host",
            network='str(Host("a", "10.0.0.0/8").network()) == "10.0.0.0/8"',
            small_network='str(Host("b", "10.0.0.300/32").network()) == "10.0.0.30/32"',
        ),
        "small_network",
    ),
}
QUICK = {"put into an attribute", "by a library"}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in QUICK else pytest.mark.thorough) for name in REFUSED],
)
def test_test_whose_data_the_code_refused_is_first(projects: Projects, name: str) -> None:
    code, tests, victim = REFUSED[name]

    run = localized(projects, code, tests)

    error, suspect = run.faults[0]["error"], run.document["ranking"][0]
    assert (error["origin"], error["kind"]) == ("data", "validation")
    assert run.names()[0] == f"test_curve.py test_{victim}"
    if name == "put into an attribute":
        refused = "passed `self.knots`, which the check `len(self.knots) < 2 * self.degree + 2`"
        said = [seen["outcome"] for seen in suspect["evidence"] if seen["why"].startswith(refused)]
        assert said == ["GUARD_NAMES_OWNER"]


# -- the value is the code's own

CONVERSION = """
    def as_cents(amount):
        if not isinstance(amount, (int, float)):
            raise TypeError(f"{amount!r} is no number")
        return round(100 * amount)


    def price_in(row):
        return float(row.split(";")[1])


    def discount_in(row):
        return row.split(";")[2]


    def label(row):
        return row.split(";")[0].title()


    def total(row):
        price = price_in(row)
        discount = discount_in(row)
        net = as_cents(price)
        return net - as_cents(discount)


    def gross(row):
        return as_cents(price_in(row))
    """
CONVERTED = asserting(
    "from curve import as_cents, gross, label, total",
    as_cents="as_cents(1.5) == 150",
    label='label("tea;1;0") == "Tea"',
    gross='gross("tea;1.5;0.5") == 150',
    total='total("tea;1.5;0.5") == 100',
)


@pytest.mark.thorough
@pytest.mark.parametrize("options", [(), ("--bayesloc",)])
def test_code_that_handed_a_refused_value_over_is_before_the_check(
    projects: Projects, options: tuple[str, ...]
) -> None:
    project = projects.make({"curve.py": CONVERSION, "test_curve.py": CONVERTED})

    names = project.localize(*options).names()

    assert names.index("curve.py total") < names.index("curve.py as_cents")


@pytest.mark.thorough
def test_code_that_handed_one_of_two_values_over_in_a_line_is_before_the_check(
    projects: Projects,
) -> None:
    code = CONVERSION.replace(
        """\
        net = as_cents(price)
        return net - as_cents(discount)
""",
        """\
        return as_cents(price) - as_cents(discount)
""",
    )
    names = localized(projects, code, CONVERTED).names()

    assert code != CONVERSION
    assert names.index("curve.py total") < names.index("curve.py as_cents")


def test_code_that_handed_a_refused_value_over_is_first_where_no_name_speaks_for_it(
    projects: Projects,
) -> None:
    named = ("as_cents", "rounding"), ("label", "title"), ("gross", "list_price"), ("total", "bill")
    tests = CONVERTED
    for old, new in named:
        tests = tests.replace(f"def test_{old}(", f"def test_{new}(")

    # Inspected, code that makes the value is no worse a suspect: either may convert it.
    run = projects.make({"curve.py": CONVERSION, "test_curve.py": tests}).localize()

    assert run.failing == {"test_curve.py::test_bill"}
    evidence = run.document["ranking"][0]["evidence"]
    assert run.names()[0] == "curve.py total"
    assert "GUARD_NAMES_CALLER" in {item["outcome"] for item in evidence}


def test_check_that_is_wrong_itself_stays_first(projects: Projects) -> None:
    wrong = CURVE.replace("2 * self.degree + 2", "3 * self.degree + 2")
    tests = asserting(
        "from curve import Curve",
        points="curve = Curve(1); curve.add(1); assert curve.points == [1]",
        line="curve = Curve(1); curve.knots = [0, 0, 1, 1]; assert curve.evaluate(0.5) == 0.5",
        parabola="Curve(2, [0, 0, 0, 1, 1, 1]).evaluate(0.5) == 0.5",
    )

    run = localized(projects, wrong, tests)

    assert run.names()[0] == "curve.py Curve.domain"
    assert run.faults[0]["error"]["origin"] == "code"
