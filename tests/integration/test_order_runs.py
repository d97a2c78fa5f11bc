"""Tests that fail because of a test before them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.integration.conftest import asserting

if TYPE_CHECKING:
    from tests.integration.conftest import Project, Projects, Run

# Marked one_python are those on which neither fixtures nor workers of another version can bear.
pytestmark = pytest.mark.traced

FORGETFUL = True

CONFIG = """
    CACHE = {"currency": "EUR"}


    def currency():
        return CACHE["currency"]


    def load(currency):
        CACHE["currency"] = currency
        return currency
    """
EARLIER = asserting(
    "from shop import config",
    currency='config.currency() == "EUR"',
    load='config.load("USD") == "USD"',
    load_the_usual_one_is_not_needed="isinstance(config.CACHE, dict)",
)
LATER = asserting(
    "from shop import config",
    name='config.__name__ == "shop.config"',
    price='config.currency() == "EUR"',
)
SHOP = {
    "shop/__init__.py": "",
    "shop/config.py": CONFIG,
    "tests/test_a.py": EARLIER,
    "tests/test_b.py": LATER,
}
SPOILER, VICTIM = "tests/test_a.py::test_load", "tests/test_b.py::test_price"


@pytest.fixture(scope="module")
def shop(projects: Projects) -> Project:
    return projects.make(SHOP)


@pytest.fixture(scope="module")
def run(shop: Project) -> Run:
    return shop.localize("--bayesloc", "tests")


def _spoiled(run: Run) -> list[dict[str, Any]]:
    return [entry for fault in run.faults for entry in fault["spoiled"]]


def test_test_that_spoils_a_later_one_is_found_with_a_command_that_reproduces_it(
    shop: Project, run: Run
) -> None:
    (spoiled,) = _spoiled(run)

    assert (spoiled["test"], spoiled["after"]) == (VICTIM, [SPOILER])
    assert spoiled["n_earlier"] == 4
    assert run.outcomes == {"failed": 1, "passed": 4}
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    command = spoiled["command"]
    assert f"  Next, reproduce it: {command}" in run.stdout.splitlines()
    again = shop.run(*command.split()[1:])
    assert again.outcomes == {"failed": 1, "passed": 1}
    assert shop.run(VICTIM).outcomes == {"passed": 1}


def test_changed_state_is_named_with_its_writer(run: Run) -> None:
    (state,) = _spoiled(run)[0]["state"]

    assert state["name"] == "shop.config.CACHE"
    (writer,) = state["writers"]
    assert (writer["file"], writer["qualname"], writer["line"]) == ("shop/config.py", "load", 9)
    text = " ".join(" ".join(run.section).split())
    assert (
        "Likely cause: test_price fails after test_load (tests/test_a.py:8), which leaves "
        "['currency'] of shop.config.CACHE changed from 'EUR' to 'USD'"
    ) in text
    assert text.index("Likely cause") < text.index("If not that, most likely")
    assert run.inspections == []


@pytest.mark.thorough
@pytest.mark.one_python
def test_test_that_writes_the_state_itself_is_the_writer(projects: Projects) -> None:
    earlier = """
        from shop import config


        def test_cold():
            config.CACHE = {"currency": "USD"}
        """
    project = projects.make({**SHOP, "tests/test_a.py": earlier})

    run = project.localize("--bayesloc", "tests")

    (state,) = _spoiled(run)[0]["state"]
    assert [writer["qualname"] for writer in state["writers"]] == ["test_cold"]


@pytest.mark.one_python
def test_two_tests_that_spoil_only_together_are_both_named(projects: Projects) -> None:
    code = """
        class Pool:
            open = []


        def acquire():
            Pool.open.append(1)
            assert len(Pool.open) < 3
        """
    earlier = """
        from shop.pool import acquire


        def test_one():
            acquire()


        def test_nothing():
            pass


        def test_two():
            acquire()
        """
    later = "from shop.pool import acquire\n\n\ndef test_three():\n    acquire()\n"
    files = {"shop/pool.py": code, "tests/test_a.py": earlier, "tests/test_b.py": later}
    project = projects.make({"shop/__init__.py": "", **files})

    run = project.localize("--bayesloc", "tests")

    (spoiled,) = _spoiled(run)
    assert spoiled["after"] == ["tests/test_a.py::test_one", "tests/test_a.py::test_two"]
    assert [state["name"] for state in spoiled["state"]] == ["shop.pool.Pool.open"]


@pytest.mark.one_python
def test_test_that_passes_after_the_earlier_ones_is_flaky(projects: Projects) -> None:
    later = """
        import pathlib

        STATE = pathlib.Path(__file__).with_name("state")


        def test_once():
            is_first = not STATE.exists()
            STATE.touch()
            assert not is_first
        """
    project = projects.make({**SHOP, "tests/test_b.py": later})

    run = project.localize("--bayesloc", "tests")

    assert _spoiled(run) == []
    assert run.faults[0]["stop_reason"].endswith("flaky, not localized further")


@pytest.mark.thorough
def test_only_tests_of_the_same_worker_are_looked_through(projects: Projects) -> None:
    project = projects.make(SHOP)
    names = " ".join(["tests/test_b.py", "tests/test_a.py"])

    run = project.localize(
        "--bayesloc", "-p", "xdist", "-n1", "--dist=loadfile", *reversed(names.split()), lean=False
    )

    (spoiled,) = _spoiled(run)
    assert (spoiled["after"], spoiled["n_earlier"]) == ([SPOILER], 4)
    assert " -n0 " in spoiled["command"]


@pytest.mark.thorough
@pytest.mark.one_python
def test_variable_is_named_by_the_module_that_makes_it(projects: Projects) -> None:
    later = asserting(
        "from shop.config import CACHE, currency", price='currency() == CACHE["currency"] == "EUR"'
    )
    project = projects.make({**SHOP, "tests/test_b.py": later})

    run = project.localize("--bayesloc", "tests")

    (spoiled,) = _spoiled(run)
    assert [state["name"] for state in spoiled["state"]] == ["shop.config.CACHE"]
    assert spoiled["n_changed"] == 1


@pytest.mark.thorough
def test_environment_that_a_fixture_leaves_changed_is_named(projects: Projects) -> None:
    files = {
        "tests/conftest.py": """
            import os

            import pytest


            @pytest.fixture
            def dollars():
                os.environ["SHOP_CURRENCY"] = "USD"
            """,
        "tests/test_a.py": "def test_dollars(dollars):\n    pass\n",
        "tests/test_b.py": """
            import os
            import unittest


            class TestShop(unittest.TestCase):
                def test_price(self):
                    self.assertEqual(os.environ.get("SHOP_CURRENCY", "EUR"), "EUR")
            """,
    }
    project = projects.make({**SHOP, **files})

    run = project.localize("--bayesloc", "tests")

    (state,) = _spoiled(run)[0]["state"]
    assert state["name"] == "os.environ['SHOP_CURRENCY']"
    assert [(w["file"], w["qualname"]) for w in state["writers"]] == [
        ("tests/conftest.py", "dollars")
    ]


@pytest.mark.thorough
@pytest.mark.one_python
def test_fault_beside_a_spoiled_test_is_still_localized(projects: Projects) -> None:
    later = asserting(
        "from shop import config",
        price='config.currency() == "EUR"',
        price_in_lower_case='config.currency().lower() == "EUR"',
    )
    project = projects.make({**SHOP, "tests/test_b.py": later})

    run = project.localize("--bayesloc", "tests")

    assert [spoiled["test"] for spoiled in _spoiled(run)] == [VICTIM]
    assert run.failing == {VICTIM, f"{VICTIM}_in_lower_case"}


NO_OTHER_SERVER = """
    from pytest_bayesloc.pipeline import order

    collect_ignore = ["test_again.py"]
    order.open_pool = None
    """
SKIPPED = """
    import pytest

    pytest.importorskip("no_such_package")


    def test_skipped():
        assert True
    """
ALL_RAN = """
    import pytest


    @pytest.fixture
    def test_rate():
        return 2


    class BaseOfTests:
        def test_sum(self):
            assert self.parts == [1]


    class TestOne(BaseOfTests):
        parts = [1]


    @pytest.mark.parametrize("value", [1, 2])
    def test_value(value, test_rate):
        assert value * test_rate


    def test_slow():
        assert True
    """


@pytest.mark.one_python
def test_no_other_tests_are_looked_for_where_all_ran_that_are_to(projects: Projects) -> None:
    files = {"test_again.py": ALL_RAN, "test_all.py": ALL_RAN, "test_any.py": SKIPPED}
    project = projects.buggy({"conftest.py": NO_OTHER_SERVER, **files})

    run = project.localize("--bayesloc", "--deselect=test_all.py::test_slow")

    assert run.inspections
    assert "own-fault" not in run.output
