"""What counts as failed, what as passed, and what is no evidence; what is coverage."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.integration.conftest import asserting

if TYPE_CHECKING:
    from tests.integration.conftest import Project, Projects, Run

pytestmark = pytest.mark.traced

FORGETFUL = True


ZOO = {
    "code.py": """
        def connect():
            raise ConnectionError("refused")


        def disconnect():
            raise OSError("gone")


        def known_fault():
            return 1


        def repaired():
            return 2


        def skipped():
            return 3


        def parity(n):
            return n % 3


        def method():
            return 4


        def half_done():
            return 5


        class Shown:
            def __repr__(self):
                return self.text()

            def text(self):
                return "shown"

            def __eq__(self, other):
                return False

            __hash__ = None


        def make():
            return Shown()
        """,
    "test_fixtures.py": """
        import pytest

        from code_ import connect, disconnect


        @pytest.fixture
        def connection():
            connect()


        @pytest.fixture
        def session():
            yield 1
            disconnect()


        def test_setup_fails(connection):
            pass


        def test_teardown_fails(session):
            pass
        """,
    "test_marks.py": """
        import pytest

        from code_ import known_fault, parity, repaired, skipped


        @pytest.mark.xfail
        def test_xfail():
            assert known_fault() == 2


        @pytest.mark.xfail
        def test_xpass():
            assert repaired() == 2


        @pytest.mark.xfail(strict=True)
        def test_strict_xpass():
            assert repaired() == 2


        def test_skip():
            skipped()
            pytest.skip("not here")


        @pytest.mark.skip
        def test_skip_mark():
            skipped()


        @pytest.mark.parametrize("n", [0, 1, 2])
        def test_parity(n):
            assert parity(n) == n % 2
        """,
    "test_classes.py": """
        import unittest

        from code_ import half_done, make, method


        class TestCase(unittest.TestCase):
            def setUp(self):
                self.value = method()

            def test_method(self):
                self.assertEqual(self.value, 5)

            def test_good(self):
                self.assertEqual(self.value, 4)

            def test_parts(self):
                for part in (4, 5, 6):
                    with self.subTest(part=part):
                        self.assertEqual(half_done(), part)

            def test_shown(self):
                self.assertEqual(make(), 1)
        """,
    "test_repr.py": asserting("from code_ import make", shown="make() == 1"),
}
ZOO["code_.py"] = ZOO.pop("code.py")  # the standard library has a module ``code``


@pytest.fixture(scope="module")
def project(projects: Projects) -> Project:
    return projects.make(ZOO)


@pytest.fixture(scope="module")
def zoo(project: Project) -> Run:
    return project.localize()


def test_outcomes_are_those_of_a_run_without_us(project: Project, zoo: Run) -> None:
    assert zoo.outcomes == project.run("-q", "--no-bayesloc").outcomes


@pytest.mark.parametrize(
    ("test", "code"), [("test_setup_fails", "connect"), ("test_teardown_fails", "disconnect")]
)
def test_failure_in_setup_or_teardown_fails_the_test_and_ranks_its_code(
    zoo: Run, test: str, code: str
) -> None:
    assert f"test_fixtures.py::{test}" in zoo.failing
    assert zoo.row(code)["counts"]["ef"] == 1


def test_expected_failures_and_skips_are_no_evidence_and_no_failures(zoo: Run) -> None:
    of_marks = {test.partition("::")[2] for test in zoo.failing if "test_marks.py" in test}
    assert of_marks == {"test_strict_xpass", "test_parity[2]"}
    assert {"known_fault", "skipped"}.isdisjoint(row["qualname"] for row in zoo.document["ranking"])
    assert zoo.row("repaired")["counts"]["ep"] == 1  # by the xpass that is not strict


def test_parametrised_tests_are_told_apart(zoo: Run) -> None:
    assert "test_marks.py::test_parity[2]" in zoo.failing
    assert "test_marks.py::test_parity[1]" not in zoo.failing
    assert zoo.row("parity")["counts"]["ef"] == 1
    assert zoo.row("parity")["counts"]["ep"] == 2


def test_methods_and_subtests_of_unittest_classes_are_tests(zoo: Run) -> None:
    test = "test_classes.py::TestCase::test_method"
    assert {test, "test_classes.py::TestCase::test_parts"} <= zoo.failing
    assert zoo.row("method")["counts"]["ef"] >= 1
    (error,) = (fault["error"] for fault in zoo.faults if test in fault["failing_tests"])

    assert (error["type"], error["message"]) == ("AssertionError", "4 != 5")
    assert error["file"] == "test_classes.py"


def test_repr_that_an_explanation_or_a_report_calls_is_no_coverage(zoo: Run) -> None:
    names = {row["qualname"] for row in zoo.document["ranking"]}

    assert "Shown.__eq__" in names
    assert "Shown.text" not in names


def test_number_of_verdicts_is_that_of_the_tests(zoo: Run) -> None:
    session = zoo.document["session"]

    # parity[0], parity[1], xpass, good; and the failing ones are those of the groups
    assert session["n_passed"] == 4
    assert session["n_failed"] == len(zoo.failing) == 8


# -- reruns

RERUNS = {
    "conftest.py": """
        import pytest
        from _pytest.runner import runtestprotocol


        # As pytest-rerunfailures does.
        @pytest.hookimpl
        def pytest_runtest_protocol(item, nextitem):
            item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
            for attempt in range(2):
                reports = runtestprotocol(item, nextitem=nextitem, log=False)
                again = attempt == 0 and any(report.failed for report in reports)
                for report in reports:
                    if again and report.failed:
                        report.outcome = "rerun"
                    item.ihook.pytest_runtest_logreport(report=report)
                if not again:
                    break
                item._initrequest()
            item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
            return True


        def pytest_report_teststatus(report):
            if report.outcome == "rerun":
                return "rerun", "R", "RERUN"
        """,
    "lib.py": """
        def shaky(attempt):
            return attempt if attempt == 1 else other(attempt)


        def other(attempt):
            return attempt


        def wrong():
            return 1
        """,
    "test_shaky.py": """
        from lib import shaky, wrong

        ATTEMPTS = []


        def test_shaky():
            ATTEMPTS.append(1)
            assert shaky(len(ATTEMPTS)) == 2


        def test_wrong():
            assert wrong() == 2
        """,
}


def test_test_counts_once_as_its_last_rerun_ended(projects: Projects) -> None:
    run = projects.make(RERUNS).localize()

    assert run.failing == {"test_shaky.py::test_wrong"}
    assert run.document["session"]["n_passed"] == 1
    assert run.document["session"]["n_failed"] == 1
    assert run.row("wrong")["counts"] == {"ef": 1, "ep": 0, "nf": 0, "np": 1}


# -- subtests of pytest 9


@pytest.mark.skipif(pytest.version_tuple < (9, 0), reason="subtests came with pytest 9")
def test_failing_subtest_fails_the_test(projects: Projects) -> None:
    project = projects.make(
        {
            "lib.py": """
                def square(n):
                    return n * 2


                def cube(n):
                    return n**3
                """,
            "test_lib.py": """
                from lib import cube, square


                def test_square(subtests):
                    for n in (2, 3):
                        with subtests.test(n=n):
                            assert square(n) == n * n


                def test_cube(subtests):
                    for n in (2, 3):
                        with subtests.test(n=n):
                            assert cube(n) == n * n * n
                """,
        }
    )

    run = project.localize("--bayesloc")

    assert run.failing == {"test_lib.py::test_square"}
    assert run.names()[0] == "lib.py square"
    assert run.document["session"]["n_passed"] == 1
    assert not run.faults[0]["flaky"]


# -- code that is not executed by tests themselves


def test_code_executed_at_import_is_credited_to_the_tests_of_the_module(
    projects: Projects,
) -> None:
    project = projects.make(
        {
            "registry.py": """
                HANDLERS = {}


                def register(name):
                    def add(function):
                        HANDLERS[name.upper()] = function
                        return function

                    return add
                """,
            "app.py": """
                from registry import register


                @register("start")
                def start():
                    return "started"
                """,
            "other.py": "def one():\n    return 1\n",
            "test_app.py": asserting(
                "import app\nfrom registry import HANDLERS", start='"start" in HANDLERS'
            ),
            "test_other.py": asserting("from other import one", one="one() == 1"),
        }
    )

    run = project.localize()

    assert run.row("register.<locals>.add")["counts"] == {"ef": 1, "ep": 0, "nf": 0, "np": 1}
    assert "registry.py register.<locals>.add" in run.names()[:5]


def test_code_executed_by_conftest_is_credited_to_all_tests(projects: Projects) -> None:
    project = projects.make(
        {
            "setup_code.py": """
                def prepare(values):
                    return sorted(values, reverse=True)
                """,
            "conftest.py": """
                from setup_code import prepare

                VALUES = prepare([2, 1, 3])
                """,
            "test_values.py": """
                import pytest

                from conftest import VALUES

                def test_order():
                    assert VALUES == [1, 2, 3]


                def test_number():
                    assert len(VALUES) == 3
                """,
        }
    )

    run = project.localize()

    assert run.row("prepare")["counts"]["ef"] == 1


def test_async_test_without_a_plugin_gives_no_fault_of_ours(projects: Projects) -> None:
    project = projects.make(
        {
            "lib.py": "def wrong():\n    return 1\n",
            "test_lib.py": """
                from lib import wrong


                async def test_async():
                    assert wrong() == 2


                def test_wrong():
                    assert wrong() == 2
                """,
        }
    )

    run = project.localize("--bayesloc")

    assert "test_lib.py::test_wrong" in run.failing
    assert "own-fault" not in run.output
    assert "lib.py wrong" in run.names()[:2]


def test_generators_and_coroutines_are_ranked(projects: Projects) -> None:
    project = projects.make(
        {
            "lib.py": """
                import asyncio


                def numbers(n):
                    for i in range(n):
                        yield i + 1


                async def fetch():
                    await asyncio.sleep(0)
                    return 1
                """,
            "test_lib.py": asserting(
                "import asyncio\n\nfrom lib import fetch, numbers",
                numbers="list(numbers(2)) == [0, 1]",
                fetch="asyncio.run(fetch()) == 1",
            ),
        }
    )

    run = project.localize("--bayesloc")

    assert run.names()[0] == "lib.py numbers"
    assert run.ret == 1
