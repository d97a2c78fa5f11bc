"""Data that a check refuses is the fault of who made it, whatever way it took."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

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


def localized(projects: Projects, code: str, tests: str, **more: str) -> Run:
    files = {"curve.py": code, "test_curve.py": tests}
    return projects.make({**files, **more}).localize("--bayesloc")


def blames_the_data_of(run: Run, test: str) -> bool:
    error = run.faults[0]["error"]
    is_data = (error["origin"], error["kind"]) == ("data", "validation")
    return run.names()[0] == f"test_curve.py {test}" and is_data


@pytest.fixture(scope="module")
def knots_in_an_attribute(projects: Projects) -> Run:
    tests = """
        from curve import Curve


        def test_line():
            curve = Curve(1, [0, 0, 1, 1])
            assert curve.evaluate(0.5) == 0.5


        def test_parabola():
            curve = Curve(2)
            curve.knots = [0, 0, 0, 1, 1, 1]
            assert curve.evaluate(0.5) == 0.5


        def test_cubic():
            curve = Curve(3)
            curve.knots = [0, 0, 0, 1, 1, 1]
            assert curve.evaluate(0.5) == 0.5
        """
    return localized(projects, CURVE, tests)


@pytest.mark.thorough
def test_test_that_put_refused_knots_into_an_attribute_is_first(
    knots_in_an_attribute: Run,
) -> None:
    assert blames_the_data_of(knots_in_an_attribute, "test_cubic")


def test_check_that_refused_an_attribute_is_said_to_be_a_guard(knots_in_an_attribute: Run) -> None:
    evidence = knots_in_an_attribute.document["ranking"][0]["evidence"]
    refused = "passed `self.knots`, which the check `len(self.knots) < 2 * self.degree + 2`"

    assert [item["outcome"] for item in evidence if item["why"].startswith(refused)] == [
        "GUARD_NAMES_OWNER"
    ]


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


@pytest.mark.thorough
def test_test_that_put_refused_objects_into_a_list_is_first(projects: Projects) -> None:
    code = (
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
    """
    )
    tests = """
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
        """

    assert blames_the_data_of(localized(projects, code, tests), "test_weighted_middle")


@pytest.mark.thorough
def test_test_that_handed_refused_knots_to_a_factory_is_first(projects: Projects) -> None:
    code = (
        CURVE
        + """
    def make_curve(degree, spans, *, end=1.0):
        knots = [end * span for span in spans]
        return Curve(degree, knots)
    """
    )
    tests = """
        from curve import make_curve


        def test_line():
            assert make_curve(1, [0, 0, 1, 1]).evaluate(0.5) == 0.5


        def test_cubic():
            assert make_curve(3, [0, 0, 0, 1, 1, 1]).evaluate(0.5) == 0.5
        """

    assert blames_the_data_of(localized(projects, code, tests), "test_cubic")


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
VALIDATED = """
    from curve import Curve


    def test_line():
        assert Curve(1, [0, 0, 1, 1]).evaluate(0.5) == 0.5


    def test_parabola():
        assert Curve(2, [0, 0, 0, 1, 1, 1]).evaluate(0.5) == 0.5


    def test_long_line():
        assert Curve(1, [0, 0, 1, 2, 2]).evaluate(0.5) == 1


    def test_cubic():
        assert Curve(3, [0, 0, 0, 0, 1, 1, 1]).evaluate(0.5) == 0.5
    """


@pytest.mark.thorough
def test_test_whose_data_a_validator_with_rules_of_its_own_refused_is_first(
    projects: Projects,
) -> None:
    assert blames_the_data_of(localized(projects, VALIDATOR, VALIDATED), "test_cubic")


@pytest.mark.thorough
def test_test_whose_data_was_refused_by_a_check_that_another_error_hides_is_first(
    projects: Projects,
) -> None:
    hidden = VALIDATOR.replace(
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

    assert blames_the_data_of(localized(projects, hidden, VALIDATED), "test_cubic")


def test_test_whose_data_a_library_refused_is_first(projects: Projects) -> None:
    code = """
        import ipaddress


        class Host:
            def __init__(self, name, address):
                self.name = name
                self.address = address

            def network(self):
                return ipaddress.ip_network(self.address)
        """
    tests = """
        from curve import Host


        def test_network():
            assert str(Host("a", "10.0.0.0/8").network()) == "10.0.0.0/8"


        def test_small_network():
            assert str(Host("b", "10.0.0.300/32").network()) == "10.0.0.30/32"
        """
    run = localized(projects, code, tests)

    assert blames_the_data_of(run, "test_small_network")


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
CONVERTED = """
    from curve import as_cents, gross, label, total


    def test_as_cents():
        assert as_cents(1.5) == 150


    def test_label():
        assert label("tea;1;0") == "Tea"


    def test_gross():
        assert gross("tea;1.5;0.5") == 150


    def test_total():
        assert total("tea;1.5;0.5") == 100
    """


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


@pytest.mark.thorough
def test_test_that_put_refused_knots_into_a_dict_is_first(projects: Projects) -> None:
    code = (
        CURVE
        + """
    def drawn(shapes, name):
        return [Curve(shape["degree"], shape["knots"]).evaluate(0.5) for shape in shapes[name]]
    """
    )
    tests = """
        from curve import drawn


        def test_line():
            assert drawn({"line": [{"degree": 1, "knots": [0, 0, 1, 1]}]}, "line") == [0.5]


        def test_cubic():
            shapes = {}
            shapes["cubic"] = [{"degree": 3, "knots": [0, 0, 0, 1, 1, 1]}]
            assert drawn(shapes, "cubic") == [0.5]
        """

    assert blames_the_data_of(localized(projects, code, tests), "test_cubic")


def test_check_that_is_wrong_itself_stays_first(projects: Projects) -> None:
    wrong = CURVE.replace("2 * self.degree + 2", "3 * self.degree + 2")
    tests = """
        from curve import Curve


        def test_points():
            curve = Curve(1)
            curve.add(1)
            assert curve.points == [1]


        def test_line():
            curve = Curve(1)
            curve.knots = [0, 0, 1, 1]
            assert curve.evaluate(0.5) == 0.5


        def test_parabola():
            assert Curve(2, [0, 0, 0, 1, 1, 1]).evaluate(0.5) == 0.5
        """

    assert localized(projects, wrong, tests).names()[0] == "curve.py Curve.domain"
