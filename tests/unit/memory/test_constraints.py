from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.domain.failure import Failure, Frame
from pytest_bayesloc.domain.source import SourceMap
from pytest_bayesloc.memory.symptoms import constraint_of, first_check

if TYPE_CHECKING:
    from pytest_bayesloc.domain.source import ReadMap

CODE = "def check(knots, degree):\n    if len(knots) < 2 * degree:\n        raise ValueError\n"


def learned_constraint(failed: Failure, read: ReadMap, rootdir: str = "/") -> str:
    return constraint_of(failed, read, rootdir)


def failure(message: str, *frames: Frame) -> Failure:
    return Failure(node_id="t::t", phase="call", exc_type="E", message=message, frames=frames)


@pytest.mark.parametrize(
    ("message", "lesson"),
    [
        ("Cart.add() got an unexpected keyword argument 'n'", "Cart.add() takes no keyword 'n'"),
        ("f() missing 2 required positional arguments: 'a' and 'b'", "f() requires 'a' and 'b'"),
        ("f() takes from 1 to 2 positional arguments but 3 were given",
         "f() takes from 1 to 2 positional"),
        ("'Cart' object has no attribute 'sum'", "'Cart' objects have no attribute 'sum'"),
        ("module 'shop.cart' has no attribute 'x'", "module 'shop.cart' has no 'x'"),
        ("cannot import name 'x' from partially initialized module 'shop' (most likely ...)",
         "module 'shop' has no 'x'"),
        ("No module named 'shop.carts'", "there is no module 'shop.carts'"),
        ("something else", ""),
    ],
)  # fmt: skip
def test_message_of_python_says_what_does_not_fit(message: str, lesson: str) -> None:
    assert learned_constraint(failure(message), lambda _: None) == lesson


def test_guard_that_fired_says_what_it_needs() -> None:
    frame = Frame(file="knots.py", line=3, name="check", first_line=1, in_app=True)
    source = SourceMap(CODE, "knots.py")

    found = learned_constraint(failure("", frame), lambda _: source)

    assert found == "check needs len(knots) >= 2 * degree"


def test_assertion_of_a_test_is_no_guard() -> None:
    frame = Frame(file="t.py", line=2, name="test", first_line=1, in_app=True, is_test=True)
    source = SourceMap("def test():\n    assert 1 == 2\n", "t.py", is_test=True)

    assert not learned_constraint(failure("", frame), lambda _: source)


def frame(name: str, file: str, *, in_app: bool = True, is_test: bool = False) -> Frame:
    return Frame(file=file, line=3, name=name, first_line=1, in_app=in_app, is_test=is_test)


TEST, ENTRY, MIDDLE, GUARD = (
    frame("test", "t.py", is_test=True),
    frame("draw", "pen.py"),
    frame("curve", "curve.py"),
    frame("check", "knots.py"),
)


@pytest.mark.parametrize(
    ("frames", "where"),
    [
        ((TEST, ENTRY, MIDDLE, GUARD), "pen.py:3 in draw"),
        ((TEST, MIDDLE, GUARD), ""),
        ((TEST, GUARD), ""),
        ((TEST,), ""),
        ((TEST, ENTRY, MIDDLE, frame("else", "else.py")), ""),
        ((TEST, GUARD, GUARD, GUARD), ""),
    ],
    ids=["far below", "right below", "called by the test", "test", "no guard", "calls itself"],
)
def test_guard_far_below_can_be_checked_where_the_value_comes_in(
    frames: tuple[Frame, ...], where: str
) -> None:
    sources = {"knots.py": SourceMap(CODE, "knots.py")}

    assert first_check(failure("", *frames), sources.get, "/") == where
