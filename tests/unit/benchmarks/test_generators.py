from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from benchmarks.suites import faulty_tests, import_faults, single_edits
from benchmarks.suites.change import Change, Place
from benchmarks.suites.functions import SourceFile
from pytest_bayesloc.domain.source import SourceMap

if TYPE_CHECKING:
    from collections.abc import Iterator


PROGRAM = '''\
"""A shop."""

import re
from typing import TYPE_CHECKING, Callable, TypeVar

if TYPE_CHECKING:
    NAMES = ["never", "run"]

__all__ = ["Cart", "total"]
__version__ = "1.20"
T = TypeVar("T", bound="Cart")
Rate: "TypeAlias" = Callable[[int, str], int]

WORD = re.compile(r"\\w+[ ]?", re.I)
RATES = {"food": 7, "rest": 19}


class Cart(Base):
    """A cart."""

    limit = 10

    def add(self, item, count=1):
        """Put it in."""
        if not item:
            return
        first, rest = item.split(",", 1)
        self.items.append((first, count))

    @property
    def size(self):
        return len(self.items)

    class Row:
        names = ("a", "b")


@register("total")
def total(cart, rates=None):
    if rates is None:
        rates = dict(RATES)
    result = 0
    for item, count in cart.items:
        if not count:
            continue
        result += rates.get(item, 0) * count
    return f"{result} of {cart.size}"
'''

TEST = '''\
import pytest

DATA = ["a", "b"]


@pytest.fixture
def cart():
    return Cart(["x", "y"], limit=3)


@pytest.mark.parametrize(("a", "b"), [(1, "one"), pytest.param(2, "two", id="pair")])
def test_total(cart, a, b):
    """Sums."""
    cart.add(b, a)
    with pytest.raises(KeyError, match="no x"):
        cart.drop("x")
    assert cart.size == 12, "size"


class TestCart:
    kept = {"a": 1, "b": 2}

    def setup_method(self):
        self.cart = Cart()
        self.cart.add("z", 1)

    def test_kept(self):
        assert self.kept == {"a": 1, "b": 2}
'''


def program() -> SourceFile:
    return SourceFile("shop.py", PROGRAM)


def suite() -> SourceFile:
    return SourceFile("tests/test_shop.py", TEST)


def drawn(kind: str, seed: int) -> Iterator[Change]:
    dice = random.Random(seed)
    if kind == "edit":
        return single_edits.single_edits(program().functions, dice)
    if kind == "import":
        return import_faults.import_faults([program()], dice)
    return faulty_tests.faulty_tests([suite()], dice)


def changed(change: Change) -> str:
    """The lines that a change of one file takes out."""
    lines = change.diff.splitlines()[2:]
    return "\n".join(line[1:] for line in lines if line.startswith("-"))


@pytest.mark.parametrize("kind", ["edit", "import", "test"])
def test_one_seed_gives_one_order_and_every_change_once(kind: str) -> None:
    first, again, other = (list(drawn(kind, seed)) for seed in (1, 1, 2))

    assert [c.digest for c in first] == [c.digest for c in again]
    assert [c.digest for c in first] != [c.digest for c in other]
    assert {c.digest for c in first} == {c.digest for c in other}
    assert len({c.digest for c in first}) == len(first)


@pytest.mark.parametrize("kind", ["edit", "import", "test"])
def test_changes_are_named_as_the_plugin_names_them(kind: str) -> None:
    changes = list(drawn(kind, 1))

    assert changes
    for change in changes:
        (file,), (place,) = change.texts, change.places
        units = SourceMap(change.originals[file], file).units
        names = [(unit.location.qualname, unit.location.start_line) for unit in units]
        assert (place.qualname, place.start_line) in names
        assert change.kind == kind


def test_what_an_import_runs_belongs_to_the_body_that_runs_it() -> None:
    places = {str(place) for change in drawn("import", 1) for place in change.places}

    assert places == {"shop.py:1 <module>", "shop.py:18 Cart", "shop.py:34 Cart.Row"}


def test_import_faults_leave_alone_what_does_nothing() -> None:
    lines = "\n".join(changed(change) for change in drawn("import", 1))

    for idle in ("shop.", "never", "__all__", "__version__", "TypeVar", "TypeAlias", "Put it"):
        assert idle not in lines
    assert "count=1" not in lines


def test_edits_leave_docstrings_and_f_strings_alone() -> None:
    texts = [change.texts["shop.py"] for change in drawn("edit", 1)]

    assert texts
    assert all('"""Put it in."""' in text for text in texts)
    assert all('f"{result} of {cart.size}"' in text for text in texts)


def test_a_faulty_row_is_a_fault_of_its_test() -> None:
    rows = [change for change in drawn("test", 1) if change.how == "wrong row"]

    assert {change.places for change in rows} == {
        (Place(file="tests/test_shop.py", qualname="test_total", start_line=12),)
    }
    assert not [change for change in rows if "'pair'" in change.texts["tests/test_shop.py"]]


def test_messages_and_docstrings_of_tests_stay() -> None:
    lines = [change.texts["tests/test_shop.py"] for change in drawn("test", 1)]

    assert lines
    assert all('"""Sums."""' in text and ', "size"\n' in text for text in lines)
