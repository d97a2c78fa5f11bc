"""Tests come out, and files stay, as they would without the plugin; re-runs are like the run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.integration.conftest import Projects

pytestmark = pytest.mark.traced

FORGETFUL = True

INSPECTED = ("--bayesloc", "--bayesloc-threshold=0.999")


def test_mock_of_the_file_system_sees_only_the_calls_of_the_test(projects: Projects) -> None:
    tests = """
        from unittest import mock

        def test_lazy_import():
            with mock.patch("os.path.exists", return_value=True) as exists:
                from pkg import code
                code.one()
            exists.assert_not_called()
        """
    files = {"test_mock.py": tests, "pkg/code.py": "def one():\n    return 1\n"}

    run = projects.make(files).run()

    assert run.outcomes == {"passed": 1}


@pytest.mark.thorough
def test_log_file_of_the_ini_file_is_not_written_by_inspections(projects: Projects) -> None:
    conftest = """
        import logging

        def pytest_runtest_call(item):
            logging.getLogger().warning("in %s", item.name)
        """
    ini = "[pytest]\nlog_file = run.log\nlog_file_level = INFO\n"
    project = projects.buggy({"conftest.py": conftest, "pytest.ini": ini})

    run = project.localize(*INSPECTED)

    assert run.inspections
    assert project.read("run.log").count("WARNING") == 6


@pytest.mark.thorough
def test_inspections_go_on_where_a_thread_forbids_to_fork(projects: Projects) -> None:
    thread = (
        "import threading, time\n\nthreading.Thread(target=time.sleep, args=(99,), daemon=True)"
    )
    project = projects.buggy({"conftest.py": f"{thread}.start()\n"})

    run = project.localize(*INSPECTED)

    assert run.inspections
    assert "own-fault" not in run.stdout


def test_children_of_the_fork_server_of_collection_are_started_in_inspections(
    projects: Projects,
) -> None:
    tests = """
        import multiprocessing

        from calc import add

        CONTEXT = multiprocessing.get_context("forkserver")
        child = CONTEXT.Process(target=abs, args=(1,))
        child.start()
        child.join()


        def test_add():
            child = CONTEXT.Process(target=abs, args=(1,))
            child.start()
            child.join()
            assert child.exitcode == 0
            assert add(1, 1) == 2
        """
    project = projects.buggy({"test_calc.py": tests})

    run = project.localize(*INSPECTED)

    assert "EDIT_REPAIRS" in {row["outcome"] for row in run.inspections}


def test_warnings_that_the_command_line_makes_errors_are_errors_in_inspections(
    projects: Projects,
) -> None:
    code = "import warnings\n\n\ndef old():\n    warnings.warn('old', DeprecationWarning)\n"
    tests = "import code_under_test\n\n\ndef test_old():\n    code_under_test.old()\n"
    project = projects.make({"code_under_test.py": code, "test_old.py": tests})

    run = project.localize("-Werror", *INSPECTED)

    assert run.failing == {"test_old.py::test_old"}
    assert not run.faults[0]["flaky"]


def test_option_that_a_conftest_reads_as_it_is_configured_holds_in_inspections(
    projects: Projects,
) -> None:
    conftest = """
        import calc


        def pytest_addoption(parser):
            parser.addoption("--stage", default="local")


        def pytest_configure(config):
            calc.STAGE = config.getoption("--stage")
        """
    tests = "import calc\n\n\ndef test_stage():\n    assert calc.stage() == 'local'\n"
    files = {
        "conftest.py": conftest,
        "test_stage.py": tests,
        "calc.py": "STAGE = ''\n\n\ndef stage():\n    return STAGE\n",
    }

    run = projects.make(files).localize("--stage=remote", *INSPECTED)

    assert run.failing == {"test_stage.py::test_stage"}
    assert not run.faults[0]["flaky"]


def test_import_of_a_test_file_counts_where_its_doctests_are_collected_too(
    projects: Projects,
) -> None:
    tests = """
        from calc import half

        HALF = half(2)


        def test_half():
            assert HALF == 2
        """
    project = projects.make({"test_half.py": tests, "calc.py": "def half(n):\n    return n / 2\n"})

    run = project.localize("--doctest-modules")

    assert "calc.py half" in run.names()


def test_code_of_a_shared_fixture_is_executed_by_all_tests_that_use_it(
    projects: Projects,
) -> None:
    files = {
        "app.py": """
            def create():
                return {"a": 1}


            def view(app, key):
                return app[key] + 1
            """,
        "conftest.py": """
            import pytest

            import app


            @pytest.fixture(scope="session")
            def application():
                return app.create()
            """,
        "test_app.py": """
            import app


            def test_view(application):
                assert app.view(application, "a") == 1


            def test_use(application):
                assert application


            def test_asked_for(request):
                assert request.getfixturevalue("application")
            """,
    }

    run = projects.make(files).localize()

    assert run.names()[0] == "app.py view"
    assert run.row("create")["counts"] == {"ef": 1, "ep": 2, "nf": 0, "np": 0}


def test_file_that_fails_before_it_imports_code_is_its_own_only_suspect(
    projects: Projects,
) -> None:
    files = {
        "calc.py": "def one():\n    return 2\n",
        "test_calc.py": "from calc import one\n\n\ndef test_one():\n    assert one() == 1\n",
        "test_missing.py": "import a_module_that_nobody_has\n",
    }

    run = projects.make(files).localize("--continue-on-collection-errors")

    faults = [fault for fault in run.faults if fault["failing_tests"] == ["test_missing.py"]]
    assert [row["file"] for fault in faults for row in fault["ranking"]] == ["test_missing.py"]


@pytest.mark.thorough
def test_workers_measure_under_a_bare_cov_option(projects: Projects) -> None:
    run = projects.buggy().run("-n2", "--cov", lean=False)

    assert run.outcomes == {"failed": 2, "passed": 4}
    assert "(recording)" not in run.output
    assert "TOTAL" in run.stdout
