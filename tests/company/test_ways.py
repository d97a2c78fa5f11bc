"""Ways to run, and kinds of code, that need more than one look."""

from __future__ import annotations

import shutil
import sysconfig
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.company.test_plugins import ALONE, OURS
from tests.integration.conftest import BUGGY, Projects, projects  # noqa: F401 - a fixture

SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")


def test_testmon_runs_again_what_changed_and_no_more(projects: Projects) -> None:  # noqa: F811
    pytest.importorskip("testmon")
    project = projects.buggy({"other.py": "def one():\n    return 1\n"})
    project.write(
        {"test_other.py": "import other\n\n\ndef test_one():\n    assert other.one() == 1\n"}
    )
    options = (*OURS, "-p", "testmon.pytest_testmon", "--testmon")
    first = project.localize(*options, lean=False, env=ALONE)
    project.write({"calc.py": project.read("calc.py").replace("a - b", "a + b")})

    second = project.run("-q", *options, lean=False, env=ALONE)

    assert first.names()[0] == "calc.py add"
    assert "own-fault" not in first.output + second.output
    assert second.ret == 0
    assert second.outcomes["passed"] < first.outcomes["passed"] + first.outcomes["failed"]


def test_tests_are_listed_without_a_trace_of_us(projects: Projects) -> None:  # noqa: F811
    project = projects.buggy()

    run = project.run("-q", "--collect-only", "--bayesloc")

    assert run.ret == 0
    assert "bayesloc" not in run.stdout
    assert not (project.root / ".bayesloc").exists()


def test_empty_suite_is_as_it_was(projects: Projects) -> None:  # noqa: F811
    project = projects.make({"calc.py": "def add(a, b):\n    return a - b\n"})

    run = project.run("--bayesloc")

    assert run.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    assert "own-fault" not in run.output
    assert "bayesloc ==" not in run.stdout


def test_last_failures_are_ranked_with_what_passed_before(projects: Projects) -> None:  # noqa: F811
    project = projects.buggy()
    project.run("-q")

    run = project.localize("--lf", "--bayesloc")

    assert run.outcomes == {"failed": 2}
    assert "calc.py add" in run.names()[:2]


def test_debugger_that_pytest_opens_ends_as_usual(projects: Projects) -> None:  # noqa: F811
    project = projects.buggy()

    run = project.run("-q", "--tb=no", "--pdb", "-x")

    assert run.ret != pytest.ExitCode.INTERNAL_ERROR
    assert "own-fault" not in run.output
    assert "(Pdb)" in run.stdout


def test_zipped_package_is_no_trouble(projects: Projects) -> None:  # noqa: F811
    project = projects.buggy()
    with zipfile.ZipFile(project.root / "parts.zip", "w") as archive:
        archive.writestr("zipped.py", "def give(x):\n    return x\n")
    head = "from zipped import give\nfrom calc import add\n\n\n"
    test = f"{head}def test_zip():\n    assert add(give(1), 1) == 2\n"
    project.write(
        {"test_zip.py": test, "conftest.py": "import sys\nsys.path.insert(0, 'parts.zip')\n"}
    )

    run = project.localize("--bayesloc")

    assert run.names()[0] == "calc.py add"
    assert "own-fault" not in run.output


def test_extension_module_is_no_trouble(projects: Projects) -> None:  # noqa: F811
    found = find_spec("_bisect")
    if found is None or not found.origin or not found.origin.endswith(SUFFIX):
        pytest.skip("this Python has no extension module to copy")
    project = projects.buggy({"shop/__init__.py": "", "test_shop.py": USES_EXTENSION})
    shutil.copy(found.origin, project.root / "shop" / Path(found.origin).name)

    run = project.localize("--bayesloc")

    assert run.names()[0] == "calc.py add"
    assert "own-fault" not in run.output


USES_EXTENSION = """
    from calc import add
    from shop._bisect import bisect_left


    def test_place():
        assert add(bisect_left([1, 2, 3], 2), 1) == 2


    def test_first():
        assert bisect_left([1, 2], 0) == 0
    """
CHILD = """
    import subprocess
    import sys


    def test_add():
        code = "from calc import add; assert add(1, 2) == 3"
        subprocess.run([sys.executable, "-c", code], check=True)


    def test_mul():
        code = "from calc import mul; assert mul(1, 2) == 2"
        subprocess.run([sys.executable, "-c", code], check=True)
    """


def test_code_that_only_a_child_process_runs_is_said_to_be_unseen(projects: Projects) -> None:  # noqa: F811
    project = projects.make({"calc.py": BUGGY["calc.py"], "test_calc.py": CHILD})

    run = project.localize("--bayesloc")

    assert run.outcomes == {"failed": 1, "passed": 1}
    assert "(empty-spectrum)" in run.output
    assert "own-fault" not in run.output


def test_run_of_a_test_inside_a_test_is_left_alone(projects: Projects) -> None:  # noqa: F811
    test = """
        def test_outer(pytester):
            pytester.makepyfile("def test_inner(): assert 0")
            result = pytester.runpytest_inprocess("--bayesloc")
            result.assert_outcomes(failed=1)
            result.stdout.no_fnmatch_line("*bayesloc:*")
        """
    project = projects.make({"test_plugin.py": test})

    run = project.run("-q", "-p", "pytester")

    assert run.outcomes == {"passed": 1}
