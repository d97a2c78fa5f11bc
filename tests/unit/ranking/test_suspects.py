from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.failure import Role
from pytest_bayesloc.domain.source import SourceMap
from pytest_bayesloc.ranking.evidence.test_code import suspected_tests
from tests.fakes.case import frame_in
from tests.fakes.sources import failure_at

if TYPE_CHECKING:
    from pytest_bayesloc.domain.failure import Failure, Frame

TEXT = dedent("""\
    import shop

    PRICES = [1, 2]

    def cart():
        return shop.Cart(PRICES)

    def build():
        return helper(3)

    def helper(n):
        return n

    def unused():
        return 1

    class TestCart:
        def setUp(self):
            self.n = 1

        def value(self):
            return build()

        def test_value(self, cart):
            assert self.value() == 2

    def test_plain():
        assert shop.total() == 1
""")
SOURCE = SourceMap(TEXT, "test_shop.py", is_test=True)
BY_NAME = {unit.location.qualname: unit.location for unit in SOURCE.units}


def failure(*tests: str, frames: tuple[Frame, ...] = ()) -> Failure:
    locations = tuple(BY_NAME[name] for name in tests)
    return failure_at(*frames, kind="AssertionError", message="", tests=locations)


def of_group(*failures: Failure) -> dict[str, Role]:
    found = suspected_tests(failures, {"test_shop.py": SOURCE}.get)
    return {where.qualname: role for where, role in found.items()}


def suspects(*tests: str, frames: tuple[Frame, ...] = ()) -> dict[str, Role]:
    return of_group(failure(*tests, frames=frames))


def test_test_that_uses_nothing_stands_alone() -> None:
    assert suspects("test_plain") == {"test_plain": Role.TEST}


def test_fixture_and_what_it_uses_are_suspects() -> None:
    assert suspects("test_plain", "cart") == {
        "test_plain": Role.TEST,
        "cart": Role.FIXTURE,
        "<module>": Role.DATA,
    }


def test_helpers_are_followed_two_calls_deep_and_set_up_is_one() -> None:
    assert suspects("TestCart.test_value") == {
        "TestCart.test_value": Role.TEST,
        "TestCart.setUp": Role.HELPER,
        "TestCart.value": Role.HELPER,
        "build": Role.HELPER,
    }


def test_test_code_in_the_traceback_is_a_helper() -> None:
    frame = frame_in(BY_NAME["helper"])

    assert suspects("test_plain", frames=(frame,)) == {
        "test_plain": Role.TEST,
        "helper": Role.HELPER,
    }


def test_what_only_some_of_the_failing_tests_use_is_a_part() -> None:
    found = of_group(failure("test_plain", "build"), failure("TestCart.test_value", "build"))

    assert found == {
        "test_plain": Role.PART,
        "TestCart.test_value": Role.PART,
        "TestCart.setUp": Role.PART,
        "TestCart.value": Role.PART,
        "build": Role.FIXTURE,
        "helper": Role.HELPER,
    }
