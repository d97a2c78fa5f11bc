"""Beside other plugins: the run is what it is without us, and the fault is found all the same.

Each row is one plugin, or one way to run, with nothing else loaded.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from tests.integration.conftest import (
    BUGGY,
    NO_MEMORY,
    Projects,
    asserting,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.integration.conftest import Project, Run

ALONE = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
OURS = ("-p", "pytest_bayesloc.plugin")


@dataclass(frozen=True, kw_only=True)
class Row:
    """One companion.

    Attributes:
        needs: Modules that must be there.
        plugins: Modules that are loaded as plugins.
        args: Of the command line.
        files: More or other files than those of the project with the faulty ``calc.add``.
        first: The suspect that must be first; empty: nothing is located.
        said: What must be printed.
        inspect: Whether inspections are run as well.
    """

    needs: tuple[str, ...] = ()
    plugins: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    first: str = "calc.py add"
    said: str = ""
    inspect: bool = True


def test_file(text: str) -> dict[str, str]:
    return {"test_calc.py": text}


test_file.__test__ = False  # type: ignore[attr-defined]  # a helper


def asynchronous(mark: str) -> str:
    return f"""
        import pytest

        from calc import add, mul


        async def slow_add(a, b):
            return add(a, b)


        @pytest.mark.{mark}
        async def test_add():
            assert await slow_add(1, 2) == 3


        @pytest.mark.{mark}
        async def test_mul():
            assert mul(2, 3) == 6


        def test_plain():
            assert mul(1, 1) == 1
        """


ROWS = {
    "rerunfailures": Row(plugins=("pytest_rerunfailures",), args=("--reruns=2",)),
    "flaky": Row(plugins=("flaky.flaky_pytest_plugin",), args=("--force-flaky", "--max-runs=2")),
    "randomly": Row(plugins=("pytest_randomly",), args=("--randomly-seed=7",)),
    "random-order": Row(
        plugins=("random_order.plugin",), args=("--random-order", "--random-order-seed=7")
    ),
    "timeout by signal": Row(
        plugins=("pytest_timeout",),
        args=("--timeout=1", "--timeout-method=signal"),
        files={
            "calc.py": """
                def add(a, b):
                    while a != b:
                        a = a
                    return a


                def mul(a, b):
                    return a * b
                """,
            **test_file(
                asserting("from calc import add, mul", add="add(1, 2) == 3", mul="mul(2, 3) == 6")
            ),
        },
    ),
    "timeout by thread": Row(
        plugins=("pytest_timeout",), args=("--timeout=60", "--timeout-method=thread")
    ),
    "asyncio": Row(
        plugins=("pytest_asyncio.plugin",),
        files=test_file(asynchronous("asyncio")),
    ),
    "anyio": Row(plugins=("anyio.pytest_plugin",), files=test_file(asynchronous("anyio"))),
    "trio": Row(
        needs=("trio",), plugins=("pytest_trio.plugin",), files=test_file(asynchronous("trio"))
    ),
    "django": Row(
        needs=("django",),
        plugins=("pytest_django.plugin",),
        args=("--ds=settings",),
        files={
            "settings.py": """
                SECRET_KEY = "x"
                ROOT_URLCONF = "urls"
                IN_MEMORY = {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}
                DATABASES = {"default": IN_MEMORY}
                INSTALLED_APPS = ["django.contrib.contenttypes", "django.contrib.auth"]
                """,
            "urls.py": """
                from django.http import HttpResponse
                from django.urls import path

                from calc import add, mul

                urlpatterns = [
                    path("add/<int:a>/<int:b>", lambda request, a, b: HttpResponse(add(a, b))),
                    path("mul/<int:a>/<int:b>", lambda request, a, b: HttpResponse(mul(a, b))),
                ]
                """,
            **test_file(
                """
                import pytest
                from django.contrib.auth.models import Group

                from calc import add


                def test_add(client):
                    assert client.get("/add/1/2").content == b"3"


                def test_mul(client):
                    assert client.get("/mul/2/3").content == b"6"


                @pytest.mark.django_db
                def test_group_is_added():
                    Group.objects.create(name="a")
                    assert add(Group.objects.count(), 1) == 2


                @pytest.mark.django_db
                def test_database_is_empty():
                    assert Group.objects.count() == 0
                """
            ),
        },
    ),
    "flask": Row(
        needs=("flask",),
        plugins=("pytest_flask.plugin",),
        files={
            "app.py": """
                from flask import Flask

                from calc import add, mul


                def create():
                    app = Flask("app")
                    app.add_url_rule("/add/<int:a>/<int:b>", "add", lambda a, b: str(add(a, b)))
                    app.add_url_rule("/mul/<int:a>/<int:b>", "mul", lambda a, b: str(mul(a, b)))
                    return app
                """,
            "conftest.py": """
                import pytest

                from app import create


                @pytest.fixture
                def app():
                    return create()
                """,
            **test_file(
                """
                def test_add(client):
                    assert client.get("/add/1/2").data == b"3"


                def test_mul(client):
                    assert client.get("/mul/2/3").data == b"6"


                def test_not_found(client):
                    assert client.get("/sub/2/3").status_code == 404
                """
            ),
        },
    ),
    "hypothesis": Row(
        needs=("hypothesis",),
        plugins=("_hypothesis_pytestplugin",),
        args=("--hypothesis-seed=7",),
        files=test_file(
            """
            from hypothesis import given, strategies as st

            from calc import add, mul

            small = st.integers(0, 9)


            @given(small, small)
            def test_add(a, b):
                assert add(a, b) == a + b


            @given(small, small)
            def test_mul(a, b):
                assert mul(a, b) == a * b
            """
        ),
    ),
    "doctest": Row(
        args=("--doctest-modules",),
        files={
            "calc.py": '''
                def add(a, b):
                    """
                    >>> add(1, 2)
                    3
                    """
                    return a - b


                def mul(a, b):
                    """
                    >>> mul(2, 3)
                    6
                    """
                    return a * b
                ''',
            **test_file("from calc import mul\n\n\ndef test_mul():\n    assert mul(1, 1) == 1\n"),
        },
    ),
    "mock": Row(
        plugins=("pytest_mock",),
        files=test_file(
            """
            import calc


            def test_add(mocker):
                mocker.patch("calc.mul", return_value=4)
                assert calc.add(calc.mul(1, 1), 2) == 6


            def test_mul(mocker):
                spy = mocker.spy(calc, "mul")
                assert calc.mul(2, 3) == 6
                assert spy.call_count == 1
            """
        ),
    ),
    "freezegun": Row(
        needs=("freezegun",),
        files=test_file(
            """
            import time

            from freezegun import freeze_time

            from calc import add, mul


            @freeze_time("2001-01-01")
            def test_add():
                assert add(time.time(), 1) == 978307201


            @freeze_time("2001-01-01")
            def test_mul():
                assert mul(time.time(), 2) == 2 * 978307200
            """
        ),
    ),
    "time-machine": Row(
        needs=("time_machine",),
        files=test_file(
            """
            import time

            import time_machine

            from calc import add, mul


            @time_machine.travel(0, tick=False)
            def test_add():
                assert add(time.time(), 1) == 1


            @time_machine.travel(0, tick=False)
            def test_mul():
                assert mul(time.time(), 2) == 0
            """
        ),
    ),
    "pyfakefs": Row(
        plugins=("pyfakefs.pytest_plugin",),
        files=test_file(
            """
            import shutil
            from pathlib import Path

            from calc import add, mul


            def test_add(fs):
                Path("/a").write_text("1")
                fs.create_file("/usr/b")  # the real one is none of its business
                shutil.rmtree("/usr")
                assert add(int(Path("/a").read_text()), 2) == 3


            def test_mul(fs):
                assert not Path("/a").exists()
                assert mul(2, 3) == 6
            """
        ),
    ),
    "benchmark": Row(
        plugins=("pytest_benchmark.plugin",),
        args=("--benchmark-disable-gc", "--benchmark-max-time=0.01", "--benchmark-min-rounds=2"),
        files=test_file(
            """
            from calc import add, mul


            def test_add(benchmark):
                assert benchmark(add, 1, 2) == 3


            def test_mul(benchmark):
                assert benchmark(mul, 2, 3) == 6
            """
        ),
    ),
    "testmon": Row(plugins=("testmon.pytest_testmon",), args=("--testmon",)),
    "html": Row(plugins=("pytest_metadata.plugin", "pytest_html.plugin"), args=("--html=r.html",)),
    "sugar": Row(plugins=("pytest_sugar",)),
    "instafail": Row(plugins=("pytest_instafail",), args=("--instafail",)),
    "repeat": Row(plugins=("pytest_repeat",), args=("--count=2",)),
    "split": Row(plugins=("pytest_split.plugin",), args=("--splits=2", "--group=1"), first=""),
    "pytester": Row(
        args=("-p", "pytester"),
        files={
            "plugin_of_ours.py": """
                from calc import add


                def pytest_report_header():
                    return f"added {add(1, 2)}"
                """,
            **test_file(
                """
                from calc import mul


                def test_added(pytester):
                    pytester.makepyfile("def test_inner(): pass")
                    result = pytester.runpytest_inprocess("-p", "plugin_of_ours")
                    result.stdout.fnmatch_lines(["added 3"])


                def test_failing_run(pytester):
                    pytester.makepyfile("def test_inner(): assert 0")
                    result = pytester.runpytest_inprocess("-p", "pytest_bayesloc.plugin")
                    result.assert_outcomes(failed=1)


                def test_mul():
                    assert mul(2, 3) == 6
                """
            ),
        },
    ),
    "forked": Row(
        plugins=("pytest_forked",),
        args=("--forked",),
        first="",
        said="(empty-spectrum)",
    ),
    "xdist by scope": Row(plugins=("xdist.plugin",), args=("-n2", "--dist=loadscope")),
    "xdist to the first failure": Row(
        plugins=("xdist.plugin",), args=("-n2", "--dist=loadfile", "--maxfail=1")
    ),
    "stepwise": Row(args=("--stepwise",)),
    "strict": Row(args=("--strict-markers", "--strict-config")),
    "no assertion rewriting": Row(args=("--assert=plain",)),
    "fault handler": Row(args=("-o", "faulthandler_timeout=60")),
    "namespace package": Row(
        args=("--import-mode=importlib", "-o", "pythonpath=."),
        files={
            "shop/parts/calc.py": BUGGY["calc.py"],
            "calc.py": "",
            **test_file(BUGGY["test_calc.py"].replace("from calc", "from shop.parts.calc")),
        },
        first="shop/parts/calc.py add",
    ),
    "src layout": Row(
        args=("-o", "pythonpath=src"),
        files={
            "src/shop/__init__.py": "",
            "src/shop/calc.py": BUGGY["calc.py"],
            "calc.py": "",
            **test_file(BUGGY["test_calc.py"].replace("from calc", "from shop.calc")),
        },
        first="src/shop/calc.py add",
    ),
}


def outcome(run: Run) -> tuple[int, dict[str, int]]:
    return run.ret, run.outcomes


def made(folders: Projects, row: Row) -> Project:
    """The project, or a skip where what it needs is not there."""
    for module in (*row.needs, *row.plugins):
        pytest.importorskip(module.partition(".")[0], reason=f"pip install what has {module}")
    return folders.make({**BUGGY, **row.files})


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_run_beside_another_plugin(projects: Projects, row: Row) -> None:
    project = made(projects, row)
    loaded = [arg for name in row.plugins for arg in ("-p", name)]
    arguments = [*loaded, *row.args]
    # Plugins that keep files of their own must find none of an earlier run.
    plain = projects.make({**BUGGY, **row.files}).run("-q", *arguments, lean=False, env=ALONE)

    ours = (*OURS, NO_MEMORY) if row.inspect else OURS  # one run with a memory is enough
    run = project.localize(*ours, *arguments, lean=False, env=ALONE)

    assert outcome(run) == outcome(plain)
    assert "own-fault" not in run.output
    assert "(recording)" not in run.output
    assert row.said in run.output
    assert run.names()[:1] == ([row.first] if row.first else run.names()[:1])
    if row.inspect:
        fresh = made(projects, row)
        inspected = fresh.localize(*OURS, "--bayesloc", *arguments, lean=False, env=ALONE)
        assert outcome(inspected) == outcome(plain)
        assert "own-fault" not in inspected.output
        assert inspected.names()[:1] == ([row.first] if row.first else inspected.names()[:1])
        assert "could not be run again" not in inspected.output
