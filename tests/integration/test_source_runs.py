"""What is under test: as it was named, as coverage.py is configured, or all below rootdir."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.integration.conftest import asserting

if TYPE_CHECKING:
    from tests.integration.conftest import Projects, Run

pytestmark = pytest.mark.one_python

FORGETFUL = True


FUNCTION = "def {0}(x):\n    return x + 1\n"
FILES = {
    "pkg/__init__.py": "",
    "pkg/core.py": FUNCTION.format("core"),
    "pkg/generated.py": FUNCTION.format("generated"),
    "other/__init__.py": "",
    "other/side.py": FUNCTION.format("side"),
    "tests/test_all.py": asserting(
        "from other.side import side\nfrom pkg import core, generated",
        all="core.core(side(generated.generated(1))) == 1",
    ),
    "pytest.ini": "[pytest]\npythonpath = .\n",
}


def _code(run: Run) -> set[str]:
    return {row["file"] for row in run.document["ranking"] if not row["is_test"]}


PKG, OTHER = {"pkg/core.py", "pkg/generated.py"}, {"other/side.py"}
DEEP = {
    "pkg/sub/__init__.py": "",
    "pkg/sub/deep.py": FUNCTION.format("deep"),
    "tests/test_all.py": asserting(
        "from pkg.core import core\nfrom pkg.sub.deep import deep", all="core(deep(1)) == 1"
    ),
}
COVERED = {".coveragerc": "[run]\nsource = pkg\nomit = */generated.py\n"}
#: More files, options, and the code that is under test.
SOURCES = {
    "everything below rootdir": ({}, (), PKG | OTHER),
    "a folder": ({}, ("pkg",), PKG),
    "a folder with a dot": ({}, ("./pkg",), PKG),
    "a folder with a slash": ({}, ("pkg/",), PKG),
    "two folders": ({}, ("pkg", "other"), PKG | OTHER),
    "a package in a package": (DEEP, ("pkg.sub",), {"pkg/sub/deep.py"}),
    "that of coverage, which omits what can be at fault": (COVERED, (), PKG),
    "an option before that of coverage": (COVERED, ("other",), OTHER),
}


@pytest.mark.parametrize(("more", "named", "expected"), SOURCES.values(), ids=SOURCES)
def test_code_under_test_is_what_was_named(
    projects: Projects, more: dict[str, str], named: tuple[str, ...], expected: set[str]
) -> None:
    run = projects.make({**FILES, **more}).localize(*(f"--bayesloc-source={x}" for x in named))

    assert _code(run) == expected


def test_source_may_be_the_name_of_a_package(projects: Projects) -> None:
    files = {f"src/{name}" if name[0] in "po" else name: text for name, text in FILES.items()}
    files["pytest.ini"] = "[pytest]\npythonpath = src\nbayesloc_source = pkg\n"
    del files["src/pytest.ini"]

    run = projects.make(files).localize()

    assert _code(run) == {"src/pkg/core.py", "src/pkg/generated.py"}


@pytest.mark.thorough
def test_source_may_be_the_name_of_an_installed_package(
    projects: Projects, tmp_path_factory: pytest.TempPathFactory
) -> None:
    project = projects.make(FILES)
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    shutil.move(project.root / "pkg", elsewhere / "pkg")

    run = project.localize("--bayesloc-source=pkg", env={"PYTHONPATH": str(elsewhere)})

    assert {file.rpartition("/")[2] for file in _code(run)} == {"core.py", "generated.py"}


@pytest.mark.thorough
def test_src_layout_needs_no_option(projects: Projects) -> None:
    files = {f"src/{name}": text for name, text in FILES.items() if name.startswith(("pkg", "oth"))}
    files["tests/test_all.py"] = FILES["tests/test_all.py"]
    files["pytest.ini"] = "[pytest]\npythonpath = src\n"

    run = projects.make(files).localize("--bayesloc")

    assert {"src/pkg/core.py", "src/other/side.py"} <= _code(run)


def test_copy_of_foreign_code_that_coverage_omits_is_not_under_test(projects: Projects) -> None:
    files = {**FILES, "pkg/_vendor/__init__.py": "", ".coveragerc": "[run]\nomit = */_vendor/*\n"}
    files["pkg/_vendor/foreign.py"] = FUNCTION.format("foreign")
    files["pkg/core.py"] = "from pkg._vendor.foreign import foreign as core\n"

    run = projects.make(files).localize()

    assert "pkg/generated.py" in _code(run)
    assert not any("_vendor" in file for file in _code(run))


@pytest.mark.parametrize("patterns", ["test_*.py __init__.py", "*.py"])
def test_pattern_of_test_files_that_matches_code_makes_no_test_of_it(
    projects: Projects, patterns: str
) -> None:
    files = {
        "pytest.ini": f"[pytest]\npythonpath = .\npython_files = {patterns}\n",
        "pkg/__init__.py": "def double(x):\n    return x + 1\n",
        "check/test_all.py": asserting(
            "from pkg import double", double="double(3) == 6", double_of_one="double(1) == 2"
        ),
        "check/more.py": """
            import pkg


            class TestMore:
                def test_it(self):
                    assert pkg
            """,
    }

    run = projects.make(files).localize("check")

    assert run.names()[0] == "pkg/__init__.py double"
    (fault,) = run.faults
    assert not {row["file"] for row in fault["ranking"]} - {"pkg/__init__.py"}
    assert fault["test_share"] > 0


def test_environments_and_hidden_folders_are_not_under_test(projects: Projects) -> None:
    folders = {
        "env": {"env/pyvenv.cfg": "home = /usr\n"},
        ".hidden": {},
        "lib/site-packages": {},
    }
    files = {**FILES}
    for number, (folder, more) in enumerate(folders.items()):
        files |= {f"{folder}/foreign{number}.py": FUNCTION.format(f"foreign{number}"), **more}
    files["pytest.ini"] = f"[pytest]\npythonpath = . {' '.join(folders)}\n"
    files["tests/test_all.py"] = """
        from foreign0 import foreign0
        from foreign1 import foreign1
        from foreign2 import foreign2
        from pkg.core import core


        def test_all():
            assert core(foreign0(foreign1(foreign2(1)))) == 1
        """

    run = projects.make(files).localize()

    assert _code(run) == {"pkg/core.py"}


def test_run_from_a_subfolder_gives_paths_from_rootdir(projects: Projects) -> None:
    project = projects.make(FILES)

    run = project.run("-q", "--tb=no", "test_all.py", cwd=project.root / "tests")

    assert any("core (pkg/core.py:1)" in line for line in run.section)


def test_source_that_no_test_executes_costs_one_line(projects: Projects) -> None:
    run = projects.make({**FILES, "empty/__init__.py": ""}).localize("--bayesloc-source=empty")

    assert "(empty-spectrum)" in run.stdout
    assert "Check bayesloc_source" in run.stdout
    assert run.names() == ["tests/test_all.py test_all"]
