"""Which values an error is about, read off its frames and the text of the functions."""

from __future__ import annotations

import os
import sys
from textwrap import dedent
from typing import TYPE_CHECKING, Any

import pytest

from pytest_bayesloc.rerun.flow import FlowTracer
from pytest_bayesloc.rerun.flow_probe import WrongValues, wrong_values

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def asked(tmp_path: Path) -> Callable[[str], WrongValues | None]:
    """What was refused when ``test()`` of a file fails, if anything was."""

    def asked(text: str) -> WrongValues | None:
        path = tmp_path / "shop.py"
        path.write_text(dedent(text), encoding="utf-8")
        space: dict[str, Any] = {"__name__": "shop"}
        exec(compile(path.read_text("utf-8"), str(path), "exec", dont_inherit=True), space)

        def is_ours(filename: str) -> bool:
            return os.path.realpath(filename) == os.path.realpath(path)

        tracer = FlowTracer(is_ours)
        before = sys.getprofile()
        tracer.start()
        try:
            space["test"]()
        except Exception as error:  # noqa: BLE001 - whatever the text raises
            tracer.stop()
            return wrong_values(error, tracer)
        finally:
            tracer.stop()
            sys.setprofile(before)
        pytest.fail("nothing was raised")

    return asked


@pytest.fixture
def read(asked: Callable[[str], WrongValues | None]) -> Callable[[str], WrongValues]:
    """What was refused."""

    def read(text: str) -> WrongValues:
        found = asked(text)
        assert found is not None
        return found

    return read


def named(wrong: WrongValues) -> dict[str, object]:
    return {root.label: root.value for root in wrong.roots}


def test_condition_of_a_check_names_what_it_refused(read: Callable[..., WrongValues]) -> None:
    wrong = read(
        """\
        class Curve:
            knots = ()
            def __init__(self):
                self.degree = 3
            @property
            def n_knots(self):
                return 7.5
            def check(self, limit):
                least = 2 * limit
                if self.n_knots < least * self.degree or len(str(limit)) > 2:
                    raise ValueError
        def test():
            Curve().check(4)
        """
    )

    assert (wrong.user.code.co_name, wrong.line) == ("check", 11)
    assert named(wrong) == {"self.n_knots": 7.5, "least": 8, "self.degree": 3, "limit": 4}


def test_object_that_a_check_asks_others_about_is_wrong_by_its_attributes(
    read: Callable[..., WrongValues],
) -> None:
    wrong = read(
        """\
        class Point:
            def __init__(self, weight):
                self.weight = weight
            def is_good(self):
                return self.weight > 0
        def check(points):
            if not all(point.is_good() for point in points):
                raise ValueError
        def test():
            check([Point(1.5), Point(-2.5)])
        """
    )

    assert {root.label: root.value for root in wrong.roots if root.is_part} == {
        "points.weight": -2.5
    }
    assert [root.value for root in wrong.roots if root.is_part] == [1.5, -2.5]


@pytest.mark.parametrize("ending", ["from error", "from None", ""])
def test_error_that_another_one_hides_is_the_one_that_counts(
    read: Callable[..., WrongValues], ending: str
) -> None:
    wrong = read(
        f"""\
        def check(amount):
            if amount < 0:
                raise ValueError
        def pay(amount):
            try:
                check(amount)
            except ValueError as error:
                raise RuntimeError("not paid") {ending}
        def test():
            pay(-5)
        """
    )

    assert (wrong.user.code.co_name, wrong.condition) == ("check", "amount < 0")


def test_error_that_was_got_over_before_does_not_count(read: Callable[..., WrongValues]) -> None:
    wrong = read(
        """\
        CACHE = {}
        def pay(amount):
            if amount < 0:
                raise ValueError
        def cached(amount):
            try:
                return CACHE[amount]
            except KeyError:
                return pay(amount)
        def test():
            cached(-5)
        """
    )

    assert wrong.user.code.co_name == "pay"


def test_library_that_says_a_value_is_wrong_refused_what_it_was_given(
    read: Callable[..., WrongValues],
) -> None:
    wrong = read(
        """\
        import ipaddress
        def network(address, name):
            return name, ipaddress.ip_network(address)
        def test():
            network("10.0.0.300", "a")
        """
    )

    assert named(wrong) == {"address": "10.0.0.300"}


def test_library_that_is_used_wrongly_refused_nothing(
    asked: Callable[[str], WrongValues | None],
) -> None:
    text = """\
        import textwrap
        def fold(text):
            return textwrap.dedent(text)
        def test():
            fold(5)
        """

    assert asked(text) is None


def test_crash_that_no_condition_asked_for_refused_nothing(
    asked: Callable[[str], WrongValues | None],
) -> None:
    assert asked("def half(n):\n    return n / 0\ndef test():\n    half(1)\n") is None
