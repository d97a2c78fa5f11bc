from __future__ import annotations

import sys
from textwrap import dedent
from typing import TYPE_CHECKING, Any

import pytest

from pytest_bayesloc.domain.failure import Failure, Frame
from pytest_bayesloc.domain.source import SourceMap
from pytest_bayesloc.ranking.evidence.guards import Guard, refusal
from tests.fakes.sources import failure_at

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

    from pytest_bayesloc.domain.location import Location

CODE, TEST = "shop.py", "test_shop.py"


def frames_of(traceback: TracebackType | None) -> tuple[Frame, ...]:
    found = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        found.append(
            Frame(
                file=code.co_filename,
                line=traceback.tb_lineno,
                name=getattr(code, "co_qualname", code.co_name),
                first_line=code.co_firstlineno,
                in_app=code.co_filename in (CODE, TEST),
                is_test=code.co_filename == TEST,
            )
        )
        traceback = traceback.tb_next
    return tuple(found[1:])


def refused(
    code: str, test: str, arguments: Mapping[str, Any] | None = None, fixtures: str = ""
) -> Guard | None:
    """What refused ``test()`` of a test file, which sees the names of the code's file."""
    texts = {CODE: dedent(code), TEST: dedent(test)}
    maps = {file: SourceMap(text, file, is_test=file == TEST) for file, text in texts.items()}
    space: dict[str, Any] = {"__name__": "shop"}
    exec(compile(texts[CODE], CODE, "exec", dont_inherit=True), space)
    exec(compile(texts[TEST], TEST, "exec", dont_inherit=True), space)
    try:
        space["test"](**(arguments or {}))
    except (ValueError, AssertionError, IndexError) as error:
        frames, message = frames_of(error.__traceback__), str(error)
    else:
        pytest.fail("nothing was refused")
    tests = tuple(named(maps[TEST], name) for name in ("test", *fixtures.split()))
    return refusal(failure_at(*frames, kind="ValueError", message=message, tests=tests), maps.get)


def guard_of(
    code: str, test: str, arguments: Mapping[str, Any] | None = None, fixtures: str = ""
) -> Guard:
    guard = refused(code, test, arguments, fixtures)
    assert guard is not None
    return guard


def named(source: SourceMap, qualname: str) -> Location:
    return next(u.location for u in source.units if u.location.qualname == qualname)


def owner_of(
    code: str, test: str, arguments: Mapping[str, Any] | None = None, fixtures: str = ""
) -> str:
    owner = guard_of(code, test, arguments, fixtures).owner
    return f"{owner.file} {owner.qualname}"


PAY = """\
def pay(amount, *, fee=0):
    if amount < 0:
        raise ValueError("negative")
    if fee < 0:
        raise ValueError("negative fee")
    return amount + fee
"""
LISTS = """\
def fill(items):
    items.clear()
def total(items):
    if not items:
        raise ValueError("empty")
    return sum(items)
"""
ACCOUNT = """\
class Account:
    def __init__(self, balance=0):
        self.balance = balance
        if self.balance < 0:
            raise ValueError("debt")
    def deposit(self, amount):
        self.balance -= amount  # wrong
    def withdraw(self, amount):
        if amount > self.balance:
            raise ValueError("not enough")
        if amount == 13:
            raise ValueError("unlucky")
    @staticmethod
    def check(amount):
        if amount == 13:
            raise ValueError("unlucky")
    @classmethod
    def of(cls, balance):
        return cls(balance)
"""
DATACLASS = """\
from dataclasses import dataclass, field
from typing import ClassVar
@dataclass
class Line:
    price: int
    rate: ClassVar[int] = 2
    note: str = field(init=False, default="")
    quantity: int = 1
    def __post_init__(self):
        if self.quantity < 1:
            raise ValueError("quantity")
        if self.taxed() < 0:
            raise ValueError("tax")
    def taxed(self):
        return self.price * 2
"""
OF_TEST = f"{TEST} test"


def test_guard_names_the_test_that_made_the_value() -> None:
    guard = guard_of(PAY, "def test():\n    assert pay(-5) == 5\n")

    assert (guard.function.qualname, guard.condition) == ("pay", "amount < 0")
    assert (guard.owner.qualname, guard.line, guard.value) == ("test", 2, "`-5`")
    assert not guard.in_fixture


def test_check_that_has_its_error_raised_elsewhere_is_the_guard() -> None:
    code = """\
    def pay(amount):
        if amount < 0:
            refuse("negative")
        return amount


    def refuse(text):
        raise ValueError(text)
    """

    guard = guard_of(code, "def test():\n    assert pay(-5) == 5\n")

    assert (guard.function.qualname, guard.condition) == ("pay", "amount < 0")
    assert (guard.owner.qualname, guard.value) == ("test", "`-5`")


@pytest.mark.parametrize(
    "statement",
    [
        "with pytest.raises(KeyError):\n        pay(-5)",
        "with TestCase().assertRaises(KeyError):\n        pay(-5)",
        "TestCase().assertRaises(KeyError, owe)",
    ],
)
def test_data_that_are_meant_to_be_refused_name_nobody(statement: str) -> None:
    test = f"import pytest\nfrom unittest import TestCase\ndef test():\n    {statement}\n"

    assert refused(f"{PAY}def owe():\n    return pay(-5)\n", test) is None


def test_keyword_only_parameter_is_not_taken_for_a_positional_one() -> None:
    guard = guard_of(
        "def pay(amount, *, fee=0):\n    if fee < 0:\n        raise ValueError\n",
        "def test():\n    pay(7, fee=-1)\n",
    )

    assert guard.value == "`-1`"


@pytest.mark.parametrize(
    "test",
    [
        "def test():\n    pay(debt())\n",
        "def test():\n    amount = debt()\n    pay(amount)\n",
        "def test():\n    pay(sum(map(owed, [1])))\n",
        "from shop import LIMIT\ndef test():\n    pay(LIMIT)\n",
        "AMOUNT = debt()\ndef test():\n    pay(AMOUNT)\n",
        "def test():\n    with opened() as amount:\n        pay(amount)\n",
        "def test():\n    for amount in debts():\n        pay(amount)\n",
        "def test():\n    pay([debt() for _ in range(1)][0])\n",
        "def test():\n    amount = 0\n    amount -= -debt()\n    pay(amount)\n",
    ],
)
def test_value_that_the_test_got_from_code_is_not_the_tests(
    test: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = (
        PAY
        + """
import sys
from contextlib import contextmanager
from types import SimpleNamespace
sys.modules["shop"] = SimpleNamespace(LIMIT=-3)
def debt():
    return -5
def debts():
    return [-5]
def owed(n):
    return -n
@contextmanager
def opened():
    yield -5
"""
    )
    monkeypatch.setitem(sys.modules, "shop", None)

    assert refused(code, test) is None


def test_value_is_followed_through_helpers_of_the_test_file() -> None:
    test = """\
        def helper(n):
            pay(n)
        def test():
            helper(-2)
    """

    guard = guard_of(PAY, test)

    assert (guard.owner.qualname, guard.line) == ("test", 4)


@pytest.mark.parametrize(
    ("code", "test"),
    [
        pytest.param("", "pay(amount=-5)", id="by its name"),
        pytest.param("", "pay(int('-5'))", id="of a call of Python"),
        pytest.param("", "pay(*[-5])", id="in a list"),
        pytest.param("", "amount = 3\n    amount -= 8\n    pay(amount)", id="in a variable"),
        pytest.param("", "pay(-AMOUNT * -1)", id="a constant of its file"),
        pytest.param(LISTS, "items = [1]\n    items.remove(1)\n    total(items)",
                     id="a container that only the test changed"),
        pytest.param("def log(x):\n    pass\n", "amount = -1\n    log(amount)\n    pay(amount)",
                     id="a number, whoever else was given it"),
        pytest.param(
            "def buy(price):\n    return pay(price)\ndef shop(n):\n    return buy(price=n)\n",
            "shop(-2)", id="passed on by functions"),
        pytest.param(f"{ACCOUNT}class Child(Account):\n"
                     "    def __init__(self, n):\n        super().__init__(n)\n",
                     "Child(-3)", id="passed on by the constructor of a subclass"),
    ],
)  # fmt: skip
def test_value_that_the_test_made_is_the_tests(code: str, test: str) -> None:
    assert owner_of(PAY + code, f"AMOUNT = -4\ndef test():\n    {test}\n") == OF_TEST


def test_value_from_parametrisation_is_the_tests() -> None:
    assert owner_of(PAY, "def test(amount):\n    pay(amount)\n", {"amount": -1}) == OF_TEST


@pytest.mark.parametrize(
    "body", ["pay(-1)", "back = n - wrong(n)\n    pay(back)"], ids=["a constant", "computed"]
)
def test_function_that_makes_the_value_is_the_owner_even_if_a_test_calls_it(body: str) -> None:
    code = f"{PAY}def refund(n):\n    {body}\ndef wrong(n):\n    return 9\n"

    assert owner_of(code, "def test():\n    refund(4)\n") == f"{CODE} refund"


@pytest.mark.parametrize(
    ("code", "test"),
    [
        pytest.param(
            LISTS, "items = [1]\n    fill(items)\n    total(items)", id="code may have changed it"
        ),
        pytest.param(f"{LISTS}def report(items):\n    fill(items)\n    return total(items)\n",
                     "report([1])", id="code on the way may have changed it"),
        pytest.param("class Debt:\n    n = -1\n    def settle(self):\n        pay(self.n)\n",
                     "Debt().settle()", id="state that a method hands over"),
        pytest.param("def owe(amount=-1):\n    if amount < 0:\n        raise ValueError\n",
                     "owe()", id="a default value"),
        pytest.param("def logged(f):\n    def wrapper(*args):\n        return f(*args)\n"
                     "    return wrapper\n"
                     "@logged\ndef owe(amount):\n    if amount < 0:\n        raise ValueError\n",
                     "owe(-1)", id="a decorator between two frames"),
        pytest.param("", "pay(1) + pay(-1)", id="two calls on one line"),
        pytest.param(ACCOUNT,
                     "account = Account(9)\n    account.deposit(5)\n    account.withdraw(7)",
                     id="a condition on the state of an object"),
        pytest.param("class Limiter:\n    limit = 9\n    def lower(self, limit):\n"
                     "        if self.limit > 5:\n            raise ValueError\n",
                     "Limiter().lower(3)", id="state with the name of a parameter"),
        pytest.param(
            "class Order:\n    def __init__(self, total):\n        self.total = taxed(total)\n"
            "        if self.total < 0:\n            raise ValueError\n"
            "def taxed(n):\n    return -n\n",
            "Order(3)", id="an attribute that a constructor computed"),
        pytest.param(DATACLASS, "Line(-3)", id="a condition on what a dataclass computes"),
    ],
)  # fmt: skip
def test_value_of_which_it_is_unclear_who_made_it_is_nobodys(code: str, test: str) -> None:
    assert refused(PAY + code, f"def test():\n    {test}\n") is None


# -- what a guard is


@pytest.mark.parametrize(
    "body",
    [
        "assert amount >= 0",
        "if not amount >= 0: raise ValueError",
        "if amount >= 0:\n        pass\n    else:\n        raise ValueError",
        "if amount == 1:\n        pass\n    elif amount < 0:\n        raise ValueError",
        "sign = abs(amount) / amount\n    if sign < 0:\n        raise ValueError",
        "if not isinstance(amount, str) and amount < LIMIT:\n        raise ValueError",
        "for digit in [amount]:\n        if digit < 0:\n            raise ValueError",
        "if str(amount).startswith('-'):\n        raise ValueError",
        "if (n := amount) < 0:\n        raise ValueError",
    ],
)
def test_guard_is_a_condition_on_parameters(body: str) -> None:
    code = f"LIMIT = 0\ndef pay(amount):\n    {body}\n"

    assert owner_of(code, "def test():\n    pay(-1)\n") == OF_TEST


@pytest.mark.parametrize(
    "body",
    [
        "raise ValueError(amount)",
        "raise_it()",
        "[][amount]",
        "if any(map(is_bad, [amount])):\n        raise ValueError",
        "if amount < compute():\n        raise ValueError",
        "low = compute()\n    if amount < low:\n        raise ValueError",
        "amount = negated(-amount)\n    if amount < 0:\n        raise ValueError",
        "if compute():\n        if amount < 0:\n            raise ValueError",
        "while compute():\n        if amount < 0:\n            raise ValueError",
        "if amount not in KNOWN:\n        raise ValueError",
        "with opened() as low:\n        if amount < low:\n            raise ValueError",
        "match compute():\n        case low:\n            if amount < low: raise ValueError",
        "try:\n        raise_it()\n    except ValueError as e:\n        if e and amount: raise",
    ],
)
def test_condition_on_more_than_parameters_is_no_guard(body: str) -> None:
    code = f"""\
from contextlib import nullcontext as opened_as
KNOWN = {{}}
def register(n):
    KNOWN[n] = n
def opened():
    return opened_as(3)
def is_bad(n):
    return True
def compute():
    return 7
def negated(n):
    return -n
def raise_it():
    raise ValueError
def pay(amount):
    {body}
"""

    assert refused(code, "def test():\n    pay(-1)\n") is None


@pytest.mark.parametrize(
    "call",
    [
        "Account(20).withdraw(13)",
        "Account.withdraw(Account(20), 13)",
        "Account.check(13)",
        "Account(-1)",
        "Account(balance=-1)",
        "Account.of(-1)",
    ],
)
def test_methods_and_constructors_are_followed(call: str) -> None:
    guard = guard_of(ACCOUNT, f"def test():\n    {call}\n")

    assert guard.owner.qualname == "test"
    assert guard.value in ("`13`", "`-1`")


@pytest.mark.parametrize("call", ["Line(3, -1)", "Line(3, quantity=-1)"])
def test_field_of_a_dataclass_is_followed_to_who_gave_it(call: str) -> None:
    guard = guard_of(DATACLASS, f"def test():\n    {call}\n")

    assert (guard.function.qualname, guard.value) == ("Line.__post_init__", "`-1`")


# -- fixtures


def test_fixture_that_makes_the_value_is_the_owner() -> None:
    test = """\
        def order():
            data = {}
            data["amount"] = -1
            return data
        def test(order):
            pay(order["amount"])
    """

    guard = guard_of(PAY, test, {"order": {"amount": -1}}, fixtures="order")

    assert (guard.owner.qualname, guard.in_fixture) == ("order", True)


@pytest.mark.parametrize(
    "fixture",
    [
        "def amount():\n    return debt()\n",
        "def amount():\n    data = []\n    debts(data)\n    return data[0]\n",
        "def amount(start):\n    return start\ndef start():\n    return debt()\n",
        "def amount(elsewhere):\n    return elsewhere\n",
        "from shop import LIMIT as amount_\ndef amount():\n    return amount_\n",
    ],
)
def test_fixture_that_got_the_value_from_code_is_not_the_owner(
    fixture: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "shop", sys.modules[__name__])
    monkeypatch.setattr(sys.modules[__name__], "LIMIT", -1, raising=False)
    code = PAY + "def debt():\n    return -1\ndef debts(to):\n    to.append(-1)\n"
    fixtures = "amount start" if "start" in fixture else "amount"
    test = f"{fixture}def test(amount):\n    pay(amount)\n"

    assert refused(code, test, {"amount": -1}, fixtures=fixtures) is None


@pytest.mark.parametrize(
    ("module", "is_known"),
    [
        ("AMOUNTS = [-1]\nAMOUNTS.insert(0, debt())\n", False),
        ("AMOUNTS = [-1]\nAMOUNTS.count(0)\n", True),
        ("AMOUNTS = [-1]\nAMOUNTS[0] = debt()\n", False),
        ("AMOUNTS = [debt()]\n", False),
        ("from shop import amounts as AMOUNTS\n", False),
    ],
)
def test_data_of_a_test_module_are_the_test_s_unless_something_else_fills_them(
    module: str, is_known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "shop", sys.modules[__name__])
    monkeypatch.setattr(sys.modules[__name__], "amounts", [-1], raising=False)
    code = PAY + "def debt():\n    return -1\n"

    guard = refused(code, f"{module}def test():\n    pay(AMOUNTS[0])\n")

    assert (guard is not None) is is_known


def test_fixture_is_known_by_the_name_its_decorator_gives() -> None:
    test = """\
        def fixture(**options):
            return lambda f: f
        @fixture(name="amount")
        def amount_fixture():
            return -1
        def test(amount):
            pay(amount)
    """

    guard = guard_of(PAY, test, {"amount": -1}, fixtures="amount_fixture")

    assert guard.owner.qualname == "amount_fixture"


def test_fixture_that_is_refused_itself_is_the_owner() -> None:
    test = """\
        def order():
            return pay(-1)
        def test():
            order()
    """

    guard = guard_of(PAY, test, fixtures="order")

    assert (guard.owner.qualname, guard.in_fixture) == ("order", True)


def test_test_that_spoils_what_its_fixture_made_is_not_told_from_it() -> None:
    # Only one of them can be named: the fixture, whose text makes the value.
    test = """\
        def amount():
            return 1
        def test(amount):
            pay(amount - 2)
    """

    assert owner_of(PAY, test, {"amount": 1}, fixtures="amount") == f"{TEST} amount"


# -- failures that no guard ended


def test_exception_from_outside_the_project_is_no_refusal() -> None:
    assert refused("def pay(n):\n    if n < 0: int('x')\n", "def test():\n    pay(-1)\n") is None


def test_failure_in_the_test_itself_is_no_refusal() -> None:
    assert refused(PAY, "def test(n):\n    if n: raise ValueError\n", {"n": 1}) is None


def test_failure_without_frames_is_no_refusal() -> None:
    failure = Failure(node_id="t", phase="setup", exc_type="X", message="")

    assert refusal(failure, lambda _file: None) is None
