"""Failures whose cause lies beside the code: fixtures, helpers, time-outs, lost tracebacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.integration.conftest import asserting

if TYPE_CHECKING:
    from typing import Any

    from tests.integration.conftest import Projects

pytestmark = pytest.mark.one_python

FORGETFUL = True

INI = "[pytest]\npythonpath = .\n"
SHOP = {
    "pytest.ini": INI,
    "shop/__init__.py": "",
    "shop/models.py": """
        from enum import Enum

        from shop.errors import ShopError


        class Size(Enum):
            SMALL = 1
            LARGE = 2


        class Item:
            size = Size.SMALL

            def price(self):
                if self.size is None:
                    raise ShopError
                return self.size.value
        """,
    "shop/errors.py": "class ShopError(Exception):\n    code = 7\n",
}


# -- tracebacks that were taken away


# As twisted.trial runs a test: it hands the traceback over, and takes it away from the exception.
TRIAL = """
    import unittest

    from calc import half, twice


    class TrialCase(unittest.TestCase):
        def run(self, result=None):
            result.startTest(self)
            try:
                getattr(self, self._testMethodName)()
            except Exception as error:
                trace = error.__traceback__
                error.__traceback__ = None
                result.addError(self, (type(error), error, trace))
            else:
                result.addSuccess(self)
            result.stopTest(self)


    class TestCalc(TrialCase):
        def test_it(self):
            assert twice(half(4)) == 4
    """


def test_frames_are_known_though_the_exception_lost_its_traceback(projects: Projects) -> None:
    files = {
        "calc.py": "def half(x):\n    return x / 0\n\n\ndef twice(x):\n    return 2 * x\n",
        "test_calc.py": TRIAL,
    }

    run = projects.make(files).localize()

    error = run.faults[0]["error"]
    assert (error["file"], error["line"]) == ("calc.py", 2)
    assert "RAISE_FRAME" in {seen["outcome"] for seen in run.row("half")["evidence"]}


def test_assertion_of_another_framework_is_a_wrong_result(projects: Projects) -> None:
    files = {
        "calc.py": "def half(x):\n    return x\n",
        "test_calc.py": """
            from calc import half


            class FailTest(AssertionError):
                pass


            def test_it():
                if half(4) != 2:
                    raise FailTest("4 != 2")
            """,
    }

    run = projects.make(files).localize()

    assert run.faults[0]["error"]["kind"] == "logic"


# -- fixtures and helpers


def test_traceback_of_a_fixture_shows_the_fixture_alone(projects: Projects) -> None:
    files = {
        "conftest.py": """
            import pytest


            @pytest.fixture
            def item():
                return {}["missing"]
            """,
        "test_shop.py": """
            def test_item(item):
                pass
            """,
    }

    run = projects.make(files).localize("--tb=long")

    assert '>       return {}["missing"]' in run.stdout
    assert "recorder.py" not in run.stdout


def test_helper_of_a_fixture_that_misses_a_file_leads(projects: Projects) -> None:
    files = {
        **SHOP,
        "tests/conftest.py": """
            import pytest
            from pathlib import Path
            from shop.models import Item


            def load(name):
                return Path(__file__).with_name(name).read_text()


            @pytest.fixture
            def item():
                load("item.json")
                return Item()
            """,
        "tests/test_shop.py": """
            from shop import errors, models


            def test_price(item):
                assert item.price() == 1


            def test_code():
                assert errors.ShopError.code == 7
            """,
    }

    run = projects.make(files).localize()

    assert run.names()[0] == "tests/conftest.py load"
    assert run.faults[0]["error"]["origin"] == "fixture"


def test_fixture_that_lacks_a_key_of_the_test_leads_before_any_code_ran(projects: Projects) -> None:
    files = {
        **SHOP,
        "tests/test_models.py": """
            import pytest
            from shop import errors, models

            PRICES = {"tea": 1, "cake": 1}


            @pytest.fixture
            def price(request):
                return PRICES[request.param]


            @pytest.mark.parametrize("price", ["tea", "cake"], indirect=True)
            def test_item(price):
                assert models.Item.__name__ == "Item"


            @pytest.mark.parametrize("price", ["coffee"], indirect=True)
            def test_more_of_models(price):
                assert models.Item.__name__ == "Item"
            """,
    }

    run = projects.make(files).localize()

    assert run.names()[0] == "tests/test_models.py price"
    assert run.faults[0]["error"]["origin"] == "fixture"


def test_helper_that_can_not_bear_what_the_code_gave_it_does_not_lead(projects: Projects) -> None:
    files = {
        **SHOP,
        "shop/stock.py": "def find(name):\n    return None\n",
        "tests/conftest.py": """
            import pytest
            from shop.stock import find


            @pytest.fixture
            def price():
                return find("apple").price
            """,
        "tests/test_shop.py": "def test_price(price):\n    assert price == 1\n",
    }

    run = projects.make(files).localize()

    assert not any(row["is_test"] for row in run.faults[0]["ranking"])
    assert run.faults[0]["error"]["origin"] == "code"


def test_method_that_no_call_reaches_is_a_suspect(projects: Projects) -> None:
    files = {
        "account.py": """
            class Account:
                def __init__(self, balance=0):
                    self.balance = balance

                def deposit(self, amount):
                    self.balance += amount

                def withdraw(amount):
                    self.balance -= amount


            def transfer(a, b, amount):
                a.withdraw(amount)
                b.deposit(amount)
            """,
        "test_account.py": asserting(
            "from account import Account, transfer",
            deposit="account = Account(1); account.deposit(2); assert account.balance == 3",
            transfer="a, b = Account(10), Account(); transfer(a, b, 4); assert b.balance == 4",
        ),
    }

    run = projects.make(files).localize()

    assert set(run.names()[:2]) == {"account.py Account.withdraw", "account.py transfer"}
    assert run.row("Account.withdraw")["posterior"] > 0.2


# -- time-outs

# As pytest-timeout's: a signal raises in whatever is running.
TIMEOUT = """
    import signal

    import pytest


    def timeout_sigalrm(signum, frame):
        __tracebackhide__ = True
        pytest.fail("Timeout (>0.3s) from pytest-timeout.")


    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call():
        signal.signal(signal.SIGALRM, timeout_sigalrm)
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    """


@pytest.fixture(scope="module")
def hung(projects: Projects) -> Any:  # noqa: ANN401 - a run
    files = {
        "pytest.ini": "[pytest]\npythonpath = . lib/site-packages\naddopts = -p pytest_timeout\n",
        "lib/site-packages/pytest_timeout.py": TIMEOUT,
        "waits.py": """
            def first(numbers):
                return numbers[0]


            def wait_for(ready):
                while ready:
                    pass
            """,
        "test_waits.py": asserting(
            "from waits import first, wait_for", it="wait_for(first([1])); assert True"
        ),
    }
    # An inspection would find that it ends in time if another value is waited for.
    return projects.make(files).localize("--bayesloc", "--bayesloc-inspections=0")


@pytest.mark.thorough
def test_test_that_ran_out_of_time_is_told_as_such(hung: Any) -> None:  # noqa: ANN401
    assert hung.faults[0]["error"]["kind"] == "timeout"
    assert "the time ran out at waits.py:" in hung.stdout


def test_code_that_hung_speaks_for_itself(hung: Any) -> None:  # noqa: ANN401
    assert hung.names()[0] == "waits.py wait_for"
    why = {seen["outcome"]: seen["why"] for seen in hung.row("wait_for")["evidence"]}
    assert why["RAISE_FRAME"].startswith("the time ran out at waits.py:")
