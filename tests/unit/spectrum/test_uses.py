"""Who uses what an import defines: each case names the line that a test executes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.domain.source import SourceMap
from pytest_bayesloc.spectrum.uses import ImportUses

if TYPE_CHECKING:
    from pytest_bayesloc.domain.location import Location

TEXT = """\
import re
LIMIT = 3
TABLE = {
    "a": LIMIT,
    "b": 2,
}
UNREAD = 1
def plain(x):
    return LIMIT
@decorated
def wrapped(x, y=re):
    return x
class Owner:
    size = 1
    other = 2
    def method(self, n=size):
        return self.other
def reader():
    return TABLE
if LIMIT:
    CHOSEN = 1
else:
    CHOSEN = 2
register(plain)
def late():
    return CHOSEN, plain
"""


def used(*executed: int, texts: dict[str, str] | None = None, is_test: bool = False) -> set[int]:
    """The lines of ``TEXT`` that a test is credited with which executes some lines of a file."""
    files = {"a.py": TEXT, **(texts or {})}
    maps = [
        SourceMap(text, name, is_test=is_test and name != "a.py") for name, text in files.items()
    ]
    source = maps[-1]
    lines = {source.owner(line).location: {line: 1} for line in executed}
    found = ImportUses(maps, lines).of_lines()
    return {line for where, rows in found.items() if where.file == "a.py" for line in rows}


@pytest.mark.parametrize(
    ("line", "credited"),
    [
        pytest.param(9, {2}, id="a name that a function reads"),
        pytest.param(19, {2, 3, 4, 5, 6}, id="a statement whole, and what it was made of"),
        pytest.param(12, {10, 11}, id="decorators and defaults of what is called"),
        pytest.param(17, {14, 15, 16}, id="an attribute, and the header of the method around it"),
        pytest.param(26, {21, 23, 24}, id="in both branches, and a call that names it"),
    ],
)
def test_definition_is_used_by_who_executes_a_line_that_reads_it(
    line: int, credited: set[int]
) -> None:
    assert used(line) == credited


def test_importers_use_what_they_import_by_name_or_attribute() -> None:
    imports = "from a import LIMIT\nimport a\ndef f():\n    return LIMIT\ndef g():\n    a.UNREAD\n"

    assert used(4, texts={"b.py": imports}) == {2}
    assert used(6, texts={"b.py": imports}) == {7}


def test_name_of_another_file_that_did_not_import_it_is_another() -> None:
    assert used(2, texts={"b.py": "def f():\n    return LIMIT\n"}) == set()


def test_tests_use_but_define_nothing() -> None:
    text = "from a import UNREAD\nOWN = 1\ndef test_it():\n    assert UNREAD == OWN\n"

    assert used(4, texts={"test_a.py": text}, is_test=True) == {7}


PAIR = """\
class Left:
    path = "left"
    def name(self):
        return self.path
class Right:
    path = "right"
    def __init__(self, n=path):
        pass
class Heir(Right):
    def name(self):
        return self.path
def left():
    return Left.path
def of_any(item):
    return item.path
def made():
    return Right()
def after():
    super().__init__()
"""


@pytest.mark.parametrize(
    ("executed", "credited"),
    [
        pytest.param({4}, {2}, id="of the class around it"),
        pytest.param({11}, {6}, id="of a base of the class around it"),
        pytest.param({13}, {2}, id="of the class that is named"),
        pytest.param({15}, set(), id="of an object that may be anything"),
        pytest.param({15, 17}, {6}, id="of an object, where the test names one class"),
        pytest.param({15, 8}, {6, 7}, id="of an object, where the test runs code of one class"),
        pytest.param({17, 19}, set(), id="a method is used by who runs it"),
    ],
)
def test_attribute_speaks_for_the_class_that_the_test_deals_with(
    executed: set[int], credited: set[int]
) -> None:
    source = SourceMap(PAIR, "a.py")
    lines: dict[Location, dict[int, int]] = {}
    for line in executed:
        lines.setdefault(source.owner(line).location, {})[line] = 1

    found = ImportUses([source], lines).of_lines()

    assert {line for rows in found.values() for line in rows} == credited


MAKERS = """\
class Router:
    def __init__(self):
        self.routes = {}
    def route(self, path):
        return self.put
    def put(self, function):
        return function
    def never(self):
        pass
def other():
    pass
"""
ROUTED = """\
from makers import Router, other
router = Router()
@router.route("/a")
def handler():
    pass
table = other()
@fixture
def client():
    return router
def test_router(client):
    assert client
def test_table():
    assert table
"""


def test_function_that_an_import_called_counts_for_who_uses_what_was_made() -> None:
    code, test = SourceMap(MAKERS, "makers.py"), SourceMap(ROUTED, "test_it.py", is_test=True)
    lines = {
        unit.location: dict.fromkeys(range(unit.first_line, unit.location.end_line + 1), tests)
        for unit in test.units
        for name, tests in (("test_router", 1), ("test_table", 2))
        if unit.location.qualname == name
    }
    called = [unit for unit in code.units if unit.is_function and "never" not in str(unit.location)]

    found = ImportUses([code, test], lines).of_called(called)

    assert {where.qualname: tests for where, tests in found.items()} == {
        "Router.__init__": 1,
        "Router.route": 1,
        "Router.put": 1,
        "other": 2,
    }
