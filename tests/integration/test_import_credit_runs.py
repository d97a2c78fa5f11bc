"""Who answers for what an import executes: those that use what it made, and nobody by chance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.integration.conftest import asserting

if TYPE_CHECKING:
    from tests.integration.conftest import Projects, Run

pytestmark = pytest.mark.one_python

FORGETFUL = True

INI = "[pytest]\npythonpath = .\n"


def code(run: Run) -> list[dict[str, Any]]:
    """The suspects that are no test code, best first."""
    return [row for row in run.document["ranking"] if not row["is_test"]]


# -- attributes


PATHS = {
    "pytest.ini": INI,
    "shop/__init__.py": "",
    "shop/kinds.py": """
        from enum import Enum


        class Source(Enum):
            path = "path"
            url = "url"


        class Target(Enum):
            path = "path"
            name = "name"
        """,
    "shop/files.py": """
        class File:
            def __init__(self, path):
                self.path = path


        def short(file):
            return file.path[1:]


        def kind(text):
            from shop.kinds import Source

            return Source(text)
        """,
    "tests/test_files.py": asserting(
        "from shop.files import File, kind, short\nfrom shop.kinds import Source, Target",
        short='short(File("/tmp/x")) == "x"',
        kind='kind("url") is Source.url',
        target='Target("name") is Target.name',
    ),
}


def test_attribute_of_an_object_speaks_for_no_class_that_has_one_of_that_name(
    projects: Projects,
) -> None:
    run = projects.make(PATHS).localize()

    assert code(run)[0]["qualname"] in {"short", "File.__init__"}
    known = {row["qualname"]: row for row in code(run)}
    for name in {"Source", "Target"} & known.keys():
        assert not any(line["ef"] and not line["ep"] for line in known[name]["lines"])


# -- bodies


BODIES = {
    "pytest.ini": INI,
    "shop/__init__.py": "",
    "shop/errors.py": """
        class ShopError(Exception):
            code = 1


        class StockError(ShopError):
            code = 2
        """,
    "shop/stock.py": """
        import json

        from shop.errors import StockError

        LIMIT = 9
        UNUSED = 3


        class Entry:
            def __init__(self, name, n):
                self.name = name
                self.n = n


        class Level:
            LOW = 1


        def left(entry, sold):
            if entry.n > 99:
                raise StockError
            return entry.n + sold
        """,
    "shop/prices.py": "def net(x):\n    return x\n",
    "tests/test_prices.py": asserting(
        "from shop.prices import net", net="net(1) == 1", net_of_nothing="net(0) == 0"
    ),
    "tests/test_stock.py": asserting(
        "from shop.stock import Entry, left", left='left(Entry("apple", 3), 1) == 2'
    ),
}


def test_body_that_nobody_is_seen_to_use_is_not_the_failing_test_s_alone(
    projects: Projects,
) -> None:
    run = projects.make(BODIES).localize()

    assert code(run)[0]["qualname"] == "left"
    bodies = [row for row in code(run) if row["qualname"] in {"<module>", "Level", "ShopError"}]
    assert bodies
    for row in bodies:
        alone = [line["line"] for line in row["lines"] if line["ef"] and not line["ep"]]
        assert not alone, row
        assert row["posterior"] < code(run)[0]["posterior"] / 4


def test_value_that_the_failing_test_uses_leads_its_body(projects: Projects) -> None:
    files = {
        **BODIES,
        "shop/stock.py": """
            LIMITS = {"apple": 9, "pear": 8}
            NAMES = ["apple", "pear"]


            def limit(name):
                return LIMITS[name]


            def names():
                return NAMES
            """,
        "tests/test_stock.py": asserting(
            "from shop.stock import limit, names",
            limit='limit("apple") == 10',
            names='"apple" in names()',
        ),
    }

    run = projects.make(files).localize()

    lines = {line["line"]: line for line in run.row("<module>")["lines"]}
    assert [(lines[n]["ef"], lines[n]["ep"]) for n in (1, 2)] == [(1, 0), (0, 1)]
    assert {row["qualname"] for row in code(run)[:2]} == {"limit", "<module>"}


# -- what the import of a test module makes


ROUTES = {
    "pytest.ini": INI,
    "web/__init__.py": "",
    "web/router.py": """
        class Router:
            def __init__(self, prefix=""):
                self.prefix = prefix
                self.routes = {}

            def route(self, path):
                def decorator(function):
                    self.routes[self.prefix + path] = function
                    return function

                return decorator


        class Table:
            def __init__(self, names):
                self.rows = dict.fromkeys(names, 1)

            def put(self, name, row):
                self.rows[name] = row - 1
        """,
    "web/call.py": """
        def call(router, path):
            return router.routes[path]()


        def look_up(table, name):
            return table.rows[name]
        """,
    "tests/test_web.py": """
        from web.call import call, look_up
        from web.router import Router, Table

        router = Router("/api")
        table = Table(["a", "b"])
        table.put("b", 2)


        @router.route("/one")
        def one():
            return 1


        @router.route("/two")
        def two():
            return 2


        def test_one():
            assert call(router, "/api/one") == 1


        def test_two():
            assert call(router, "/api/two") == 2


        def test_row():
            assert look_up(table, "a") == 1


        def test_row_that_was_put():
            assert look_up(table, "b") == 2
        """,
}


def test_maker_of_an_object_is_credited_to_the_tests_that_use_it(projects: Projects) -> None:
    run = projects.make(ROUTES).localize()

    assert run.row("Table.put")["counts"] == {"ef": 1, "ep": 1, "nf": 0, "np": 2}
    names = [row["qualname"] for row in code(run)]
    routers = [names.index(name) for name in names if name.startswith("Router.")]
    assert names.index("Table.put") < min(routers, default=len(names))


def test_router_that_the_failing_test_uses_through_a_fixture_leads(projects: Projects) -> None:
    files = {
        **ROUTES,
        "web/router.py": ROUTES["web/router.py"]
        .replace("self.prefix + path", "self.prefix + path[:-1]")
        .replace("row - 1", "row"),
        "tests/test_web.py": ROUTES["tests/test_web.py"]
        .replace("import call, look_up", "import call, look_up\n        import pytest")
        .replace(
            "def test_one():\n            assert call(router",
            "@pytest.fixture\n        def client():\n            return router\n\n\n"
            "        def test_one(client):\n            assert call(client",
        ),
    }

    run = projects.make(files).localize()

    assert run.row("Router.route")["counts"] == {"ef": 2, "ep": 0, "nf": 0, "np": 2}
    names = [row["qualname"] for row in code(run)]
    assert "Router.route" in names[:4]
    assert "Table.put" not in names[:4]
