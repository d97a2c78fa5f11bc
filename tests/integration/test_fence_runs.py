"""Nothing outside of a re-run is otherwise than the plain run left it.

In each project plain pytest is harmless, and a small edit of the function at fault is not.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.integration import worlds
from tests.integration.conftest import asserting

if TYPE_CHECKING:
    from tests.integration.conftest import Project, Projects, Run

SHORT = ("rmtree", "rows of a database")
FIXED = ("--bayesloc", "--bayesloc-fix=suggest")
OURS = frozenset({".bayesloc", ".config", "__pycache__", ".pytest_cache", "looked.json", ".git"})


def state_of(*folders: Path) -> dict[str, list[Any]]:
    """Of all that is in ``folders``: type and mode, time of change, and a digest."""
    found: dict[str, list[Any]] = {}
    for folder in folders:
        for path in (folder, *sorted(folder.rglob("*"))):
            if OURS.isdisjoint(path.relative_to(folder).parts):
                seen = path.lstat()
                data = path.read_bytes() if path.is_file() else b""
                digest = hashlib.sha256(data).hexdigest()
                found[str(path)] = [seen.st_mode, seen.st_mtime_ns, digest]
    for folder in folders:  # our own folder is made in it
        found[str(folder)][1] = 0
    return found


#: Looks when the tests have ended, and nothing is run again yet.
LOOK = """
    import json
    import os
    import sys
    from pathlib import Path

    import pytest

    sys.path.insert(0, os.environ["LOOKS"])


    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtestloop(session):
        yield
        from tests.integration.test_fence_runs import state_of

        root = Path(__file__).parent
        found = state_of(root, Path(os.environ["HOME"]))
        Path(root, "looked.json").write_text(json.dumps(found))
    """


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / ".apprc").write_text("colour = red\n")
    return folder


def localized(project: Project, home: Path) -> tuple[Run, dict[str, Any]]:
    """The run, and what was changed after the tests."""
    project.write({"conftest.py": LOOK})
    here = str(Path(__file__).parents[2])
    run = project.localize(*FIXED, env={"HOME": str(home), "LOOKS": here})
    before = json.loads(project.read("looked.json"))
    after = state_of(project.root, home)
    changed = {
        path: (before.get(path), after.get(path))
        for path in before.keys() | after.keys()
        if before.get(path) != after.get(path)
    }
    return run, changed


AT_IMPORT = """
    import atexit
    import logging
    import sqlite3
    from pathlib import Path

    HERE = Path(__file__).parent
    LOG = logging.getLogger("app")
    LOG.addHandler(logging.FileHandler(HERE / "app.log", "w"))
    SHOP = sqlite3.connect(HERE / "shop.db", isolation_level=None)
    SHOP.execute("create table if not exists item (name, price)")
    (HERE / "cache").mkdir(exist_ok=True)


    def price_of(name, kind="kg"):
        LOG.warning("asked for %s", name)
        if kind and name:
            SHOP.execute("delete from item where name = ?", (name,))
            SHOP.execute("insert into item values (?, 3)", (name,))
        else:
            SHOP.execute("delete from item")
        ((price,),) = SHOP.execute("select price from item where name = ?", (name,))
        return price
    """
OF_IMPORT = asserting(
    "from app import SHOP, price_of",
    price='SHOP.execute("insert into item values (\'plum\', 1)"); assert price_of("pear") == 3',
    other_price='price_of("apple") == 4',
)


def test_what_a_module_opens_when_it_is_imported_is_put_back(
    projects: Projects, home: Path
) -> None:
    project = projects.make({"app.py": AT_IMPORT, "test_app.py": OF_IMPORT})

    run, changed = localized(project, home)

    assert changed == {}
    assert "asked for apple" in project.read("app.log")
    assert run.names()[0] == "app.py price_of"
    assert "changes tried in" in " ".join(run.section)  # none of them is a fix


LOGGING = """
    from pathlib import Path

    LOG = Path(__file__).with_name("run.log").open("a")


    def pytest_runtest_setup(item):
        LOG.write(f"{item.nodeid}\\n")
        LOG.flush()
    """


def test_what_a_plugin_opens_when_it_is_imported_is_put_back(
    projects: Projects, home: Path
) -> None:
    code, ini = "def half(n):\n    return n // 2\n", "[pytest]\naddopts = -p logs\n"
    test = "from app import half\n\ndef test_half():\n    assert half(3) == 1.5\n"
    files = {"app.py": code, "test_app.py": test, "logs.py": LOGGING, "pytest.ini": ini}
    project = projects.make({**files, "run.log": "old\n"})

    run, changed = localized(project, home)

    assert changed == {}
    assert project.read("run.log") == "old\ntest_app.py::test_half\n"
    assert run.names()[0] == "app.py half"


MARKED = """
    import pytest

    from app import half


    @pytest.mark.bayesloc_never_rerun
    def test_half():
        assert half(3) == 1.5


    def test_half_of_two():
        assert half(2) == 1
    """


def test_tests_with_a_mark_are_not_run_under_patches(projects: Projects) -> None:
    code = "def half(n):\n    return n // 2\n"
    project = projects.make({"app.py": code, "test_app.py": MARKED})

    run = project.localize(*FIXED, "--strict-markers")

    assert "is marked bayesloc_never_rerun, so no patch is tried with it. (left-out)" in run.stdout
    assert run.names()[0] == "app.py half"
    tests = [test for row in run.inspections for test in row["tests"]]
    assert {test["verdict"] for test in tests if test["node_id"].endswith("_half")} <= {"not-run"}


MANY = """
    from pathlib import Path

    from app import half

    HERE = Path(__file__).parent


    def test_half():
        for number in range(100):
            with open(HERE / f"{number}.txt", "r+") as stream:
                stream.write("x")
        assert half(3) == 1.5
    """


@pytest.mark.thorough
def test_tests_that_change_very_many_files_are_not_run_under_patches(projects: Projects) -> None:
    files = {f"{number}.txt": "x" for number in range(100)}
    code = "def half(n):\n    return n // 2\n"
    project = projects.make({**files, "app.py": code, "test_app.py": MANY})

    run = project.localize(*FIXED)

    assert "test_app.py::test_half changes more than 60 files" in " ".join(run.stdout.split())
    assert run.names()[0] == "app.py half"


AWAY = """
    import socket

    import pytest

    from app import half


    def test_half():
        with socket.socket() as line, pytest.raises(OSError):
            line.settimeout(0.1)
            line.connect(("192.0.2.1", 80))
        assert half(3) == 1.5
    """


def test_tests_that_connect_to_other_machines_are_not_run_under_patches(
    projects: Projects,
) -> None:
    code = "def half(n):\n    return n // 2\n"
    project = projects.make({"app.py": code, "test_app.py": AWAY})

    run = project.localize(*FIXED)

    assert "test_app.py::test_half connects to 192.0.2.1:80, so no patch is" in run.stdout
    assert run.names()[0] == "app.py half"
    tests = [test for row in run.inspections for test in row["tests"]]
    assert {test["verdict"] for test in tests if test["node_id"].endswith("_half")} <= {"not-run"}


def test_plugin_that_connects_to_other_machines_as_it_is_imported_keeps_no_test_from_it(
    projects: Projects,
) -> None:
    calling = """
        import socket

        with socket.socket() as line:
            line.settimeout(0.1)
            try:
                line.connect(("192.0.2.1", 80))
            except OSError:
                pass
        """
    code = "def half(n):\n    return n // 2\n"
    test = "from app import half\n\ndef test_half():\n    assert half(3) == 1.5\n"
    ini = "[pytest]\naddopts = -p calling\n"
    files = {"app.py": code, "test_app.py": test, "calling.py": calling, "pytest.ini": ini}

    run = projects.make(files).localize(*FIXED)

    assert "left-out" not in run.stdout
    assert run.names()[0] == "app.py half"
    assert [fix["verified"] for fix in run.document["fixes"]] == [True]


COPYING = """
    import subprocess
    from pathlib import Path

    from app import half

    HERE = Path(__file__).parent


    def test_half():
        subprocess.run(["cp", HERE / "app.py", HERE / "copy.txt"], check=True)
        assert half(3) == 1.5
    """


ATTACHING = """
    import sqlite3
    from pathlib import Path

    from app import half

    PLACE = Path(__file__).parent / "shop.db"


    def test_half():
        shop = sqlite3.connect(":memory:")
        shop.execute("attach database ? as shop", (str(PLACE),))
        shop.execute("create table if not exists shop.item (name)")
        shop.execute("insert into shop.item values ('pear')")
        assert half(3) == 1.5
    """
LARGE = """
    import tempfile

    from app import half


    def test_half():
        with tempfile.TemporaryFile() as stream:
            stream.truncate(1 << 40)
        assert half(3) == 1.5
    """


@pytest.mark.parametrize(
    ("tests", "why"),
    [
        (COPYING, "it runs cp "),
        pytest.param(ATTACHING, "readonly database", marks=pytest.mark.thorough),
        pytest.param(LARGE, "File too large", marks=pytest.mark.thorough),
    ],
)
def test_tests_that_a_re_run_can_not_show_as_they_are_are_not_run_under_patches(
    projects: Projects, tests: str, why: str
) -> None:
    code = "def half(n):\n    return n // 2\n"
    project = projects.make({"app.py": code, "test_app.py": tests})

    run = project.localize(*FIXED)

    said = " ".join(run.stdout.split())
    assert "test_app.py::test_half fails otherwise when it is run again: " in said
    assert why in said
    assert run.names()[0] == "app.py half"
    rows = [test for row in run.inspections for test in row["tests"]]
    assert {test["verdict"] for test in rows} <= {"not-run"}


KILLING = """
    import os
    import signal
    from pathlib import Path

    from app import half

    PLACE = Path(__file__).parent / "precious.txt"
    MAIN = Path(__file__).parent / "main.pid"


    def test_half():
        if "bayesloc-" in os.environ.get("TMPDIR", ""):  # it is run again
            PLACE.write_text("lost")
            Path(PLACE.parent, "new.txt").write_text("left")
            os.kill(int(MAIN.read_text()), signal.SIGKILL)
        MAIN.write_text(str(os.getpid()))
        PLACE.write_text("keep\\n")
        assert half(3) == 1.5
    """


def test_files_are_put_back_by_the_next_run_if_this_one_is_killed(
    projects: Projects, home: Path
) -> None:
    env = {"HOME": str(home)}
    project = projects.make(
        {
            "app.py": "def half(n):\n    return n // 2\n",
            "test_app.py": KILLING,
            "precious.txt": "keep\n",
            "other.txt": "mine",
        }
    )

    killed = project.run("--bayesloc", lean=False, env=env)
    assert killed.ret < 0
    assert project.read("precious.txt") == "lost"
    project.write({"other.txt": "edited since"})
    after = project.run("--bayesloc", "-k", "nothing", env=env)

    assert "put-back" in after.stdout
    assert project.read("precious.txt") == "keep\n"
    assert project.read("other.txt") == "edited since"
    assert not (project.root / "new.txt").exists()
    (aside,) = (home / ".config" / "pytest-bayesloc" / "aside").iterdir()
    assert [path.name for path in aside.iterdir()] == ["lock"]


@pytest.mark.traced
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name, marks=() if name in SHORT else [pytest.mark.thorough, pytest.mark.one_python]
        )
        for name in worlds.HARMLESS
    ],
)
def test_small_edits_change_nothing(projects: Projects, home: Path, name: str) -> None:
    world = worlds.HARMLESS[name]
    project = projects.make(world.files)
    (project.root / "precious.txt").chmod(0o640)

    run, changed = localized(project, home)

    assert changed == {}
    assert run.document["session"]["n_refused"] or world.is_put_back
