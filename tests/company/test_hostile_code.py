"""Patches, tests and sources that attack: what happens is written here, and never a hang.

Whatever it is: pytest ends as it would, the fault is ranked, no file changes, no process is left.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from tests.company.test_plugins import ALONE, OURS
from tests.integration.test_untouched_project_runs import _processes, state

if TYPE_CHECKING:
    from tests.integration.conftest import Project, Projects, Run

BUDGET_S = 12.0
INSPECTED = ("--bayesloc", f"--bayesloc-budget={BUDGET_S:g}")
ALL = "--bayesloc-threshold=0.999"  # inspections, that of an attack with them
# Proposes patches, which begin the faulty function with an attack each.
PROPOSER = """
from pytest_bayesloc.domain.inspection import InspectionPatch

ATTACKS = {attacks!r}


def pytest_bayesloc_propose_patches(config, location, source):
    if location.qualname != "add":
        return []
    head, colon, body = source.partition("def add(a, b):\\n")
    patches = []
    for name, attack in ATTACKS.items():
        patched = head + colon + "".join(f"    {{line}}\\n" for line in attack.splitlines()) + body
        patch = InspectionPatch(target=location, kind=name, original=source, patched=patched)
        patches.append(patch)
    return patches
"""
#: Those that end at once go into one run, the others into one each.
ENDING = {
    "forks and goes on": "import os; os.fork()",
    "forks many": "import os\nfor _ in range(30):\n    if not os.fork(): os._exit(0)",
    "leaves a child behind": "import os, time\nif not os.fork(): time.sleep(1000)",
    "leaves a daemon behind": (
        "import os, time\nif not os.fork():\n    os.setsid()\n    time.sleep(1000)"
    ),
    "allocates 10 GB": "x = b'x' * (10 << 30)",
    "fills the disk": "open('big.tmp', 'wb').write(b'x' * (3 << 30))",
    "closes what is open": "import os; os.closerange(0, 100)",
    "closes the streams": "import sys; sys.stdout.close(); sys.stderr.close()",
    "ends the process": "import os; os._exit(0)",
    "kills its group": "import os; os.killpg(0, 9)",
    "changes the folder": "import os; os.chdir('/')",
    "empties sys.modules": "import sys; sys.modules.clear()",
    "starts a thread": (
        "import threading, time; threading.Thread(target=lambda: time.sleep(1000)).start()"
    ),
    "raises SystemExit": "raise SystemExit(0)",
    "raises KeyboardInterrupt": "raise KeyboardInterrupt",
    "breaks builtins": "import builtins; builtins.open = builtins.print = builtins.len = None",
    "traces": "import sys; sys.settrace(lambda *a: 1 / 0)",
    "prints 50 MB": "print('x' * (50 << 20))",
    "takes the clock away": "import time; time.monotonic = time.time = lambda: 1 / 0",
}
LASTING = {
    "loops": "while True: pass",
    "sleeps": "import time; time.sleep(1000)",
    "recurses": "import sys; sys.setrecursionlimit(10**8); f = lambda n: f(n + 1) + 1; f(0)",
    "kills its parent": "import os; os.kill(os.getppid(), 9)",
    "is deaf to signals": (
        "import signal\n"
        "for s in (1, 2, 3, 14, 15): signal.signal(s, signal.SIG_IGN)\n"
        "while True: pass"
    ),
    "stops itself": "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)",
}


def attacked(project: Project, *args: str) -> Run:
    """The run, after which all is as it was."""
    before, started = state(project.root), time.monotonic()
    run = project.localize(*OURS, *INSPECTED, *args, env=ALONE)
    # The start of the processes is no part of the budget.
    assert time.monotonic() - started < BUDGET_S + 20
    after = state(project.root)
    assert {name: after[name] for name in before} == before
    assert "own-fault" not in run.output
    assert "Traceback" not in run.output
    assert run.names()[0] == "calc.py add"
    return run


@pytest.mark.parametrize(
    "attacks",
    [ENDING, *({name: attack} for name, attack in LASTING.items())],
    ids=["end at once", *LASTING],
)
def test_patches_that_attack(projects: Projects, attacks: dict[str, str]) -> None:
    project = projects.buggy({"conftest.py": PROPOSER.format(attacks=attacks)})

    run = attacked(project, ALL)

    assert run.outcomes == {"failed": 2, "passed": 4}
    tried = [i["kind"] for i in run.inspections if i["kind"] in attacks]
    assert sorted(tried) == sorted(attacks)  # each once
    deadline = time.monotonic() + 3
    while _processes(project) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert _processes(project) == []


ADD = "from calc import add\n\n\n"
SOURCES = {
    "tabs": ("calc.py", b"def add(a, b):\n\treturn a - b\n\n\ndef half(a):\n\treturn a / 2\n"),
    "byte order mark": ("calc.py", b"\xef\xbb\xbfdef add(a, b):\n    return a - b\n"),
    "latin-1": (
        "calc.py",
        "# -*- coding: latin-1 -*-\n# \xe9\ndef add(a, b):\n    return a - b\n".encode("latin-1"),
    ),
    "carriage returns": ("calc.py", b"def add(a, b):\r\n    c = a - b\r\n    return c\r\n"),
    "form feeds": ("calc.py", b"X = 1\n\x0c\ndef add(a, b):\n    return a - b\n\x0c\n"),
    "no last line end": ("calc.py", b"def add(a, b):\n    return a - b"),
    "one line": ("calc.py", b"def add(a, b): return a - b\n"),
    "long lines": (
        "calc.py",
        b"X = [" + b"1, " * 50_000 + b"]\ndef add(a, b):\n    return a - b\n",
    ),
}


@pytest.mark.parametrize("name", SOURCES)
def test_source_that_is_strange(projects: Projects, name: str) -> None:
    project = projects.make(
        {"calc.py": "", "test_calc.py": f"{ADD}def test_a():\n    assert add(1, 2) == 3\n"}
    )
    file, data = SOURCES[name]
    (project.root / file).write_bytes(data)

    attacked(project)


IDS = {
    "10 kB": "x" * 10_000,
    "null": "a\0b",
    "surrogate": "a\udc80b",
    "colours": "\x1b[31mred\x1b[0m",
    "markup": "</script><script>alert(1)</script>",
    "workflow command": "::error file=x::y",
    "line ends": "a\nb\rc",
}


@pytest.mark.parametrize("name", IDS)
def test_test_id_that_is_strange(projects: Projects, name: str) -> None:
    test = f"""
        import pytest

        from calc import add


        @pytest.mark.parametrize("n", [1], ids=[{IDS[name]!r}])
        def test_add(n):
            assert add(n, n) == 2 * n


        def test_zero():
            assert add(0, 0) == 0
        """
    project = projects.buggy({"test_calc.py": test})

    run = attacked(project, "--bayesloc-report=html:page.html")

    page = (project.root / "page.html").read_text("utf-8")
    assert "<script>alert" not in page
    assert "\n::error" not in run.stdout.replace(run.stdout[: run.stdout.index("bayesloc ==")], "")
    (project.root / "page.html").unlink()


def test_difference_of_5_mb_is_no_trouble(projects: Projects) -> None:
    test = (
        f"{ADD}def test_add():\n    assert [add(n, 1) for n in range(400_000)] == [0] * 400_000\n"
    )
    project = projects.buggy({"test_big.py": test})

    attacked(project)


def test_file_that_is_edited_while_inspections_run(projects: Projects) -> None:
    edit = "import pathlib\np = pathlib.Path('other.py')\np.write_text(p.read_text() + '# more\\n')"
    proposer = PROPOSER.format(attacks={"attack": edit})
    project = projects.buggy({"conftest.py": proposer, "other.py": "A = 1\n"})

    run = project.localize(*OURS, *INSPECTED, ALL, env=ALONE)

    assert run.names()[0] == "calc.py add"
    assert "own-fault" not in run.output
    assert (project.root / "other.py").read_text().startswith("A = 1\n")


def test_session_fixture_that_is_slow_ends_with_the_budget(projects: Projects) -> None:
    conftest = """
        import time

        import pytest


        @pytest.fixture(scope="session", autouse=True)
        def slow():
            time.sleep(4)
        """
    project = projects.buggy({"conftest.py": conftest})

    attacked(project)


def test_suite_that_binds_a_port_is_inspected(projects: Projects) -> None:
    conftest = """
        import socket

        import pytest


        @pytest.fixture(scope="session", autouse=True)
        def server():
            with socket.create_server(("127.0.0.1", 18_743)) as bound:
                yield bound
        """
    project = projects.buggy({"conftest.py": conftest})

    attacked(project)


def test_test_that_differs_the_second_time_is_said_to_be_flaky(projects: Projects) -> None:
    test = """
        from pathlib import Path

        from calc import add


        def test_once(tmp_path_factory):
            seen = Path(__file__).with_name("seen")
            if not seen.exists():
                seen.write_text("")
                assert add(1, 2) == 3
        """
    project = projects.buggy({"test_once.py": test})

    run = project.localize(*OURS, *INSPECTED, env=ALONE)

    assert run.names()[0] == "calc.py add"
    assert any("test_once" in node_id for fault in run.faults for node_id in fault["flaky"])
