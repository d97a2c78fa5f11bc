"""A function whose result is replaced keeps its signature, its closure and its effects."""

from __future__ import annotations

import inspect
from types import FunctionType
from typing import TYPE_CHECKING, Any

import pytest

from pytest_bayesloc.rerun.forced import ForcedCalls
from pytest_bayesloc.rerun.swap import key_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytest_bayesloc.rerun.child import Probe


def force(
    probe: Probe, function: Callable[..., Any], *, value: str = "0", instead: str = "'no'"
) -> int:
    assert isinstance(function, FunctionType)
    forced = {"value": value, "instead": instead}
    probe.forced = ForcedCalls(forced, lambda: probe.heartbeat(""))
    return probe.forced.place([function], key_of(function.__code__))


def test_value_is_replaced_and_the_function_runs(probe: Probe) -> None:
    seen: list[int] = []

    def f(x: int) -> Any:  # noqa: ANN401
        seen.append(x)
        return x + 1

    assert force(probe, f, value="[1, 'a']", instead="3") == 1

    before = f(1), probe.covered
    after = f(x=2), probe.covered

    assert (before, after) == ((2, False), ([1, "a"], True))
    assert seen == [1, 2]


def test_values_are_made_anew_for_each_call(probe: Probe) -> None:
    def f() -> Any:  # noqa: ANN401
        return None

    force(probe, f, value="[]", instead="None")
    f().append(1)

    assert f() == []


def test_argument_that_comes_back_is_not_replaced(probe: Probe) -> None:
    def f(x: Any, *, y: Any = None) -> Any:  # noqa: ANN401
        return x or y

    force(probe, f, value="7", instead="'x'")

    assert (f("x"), f("", y="x")) == ("x", "x")


def test_truth_that_an_argument_has_as_well_is_replaced(probe: Probe) -> None:
    def f(x: object) -> Any:  # noqa: ANN401
        return bool(x)

    force(probe, f, value="7", instead="True")

    assert f(True) == 7


def test_exception_stays(probe: Probe) -> None:
    def f() -> int:
        raise KeyError

    force(probe, f)

    with pytest.raises(KeyError):
        f()


def _every_parameter(a: int, /, b: int = 2, *c: int, d: int, e: int = 5, **f: int) -> Any:  # noqa: ANN401
    return a, b, c, d, e, f


def _only_keywords(*, d: int = 1) -> int:
    return d


def _nothing() -> int:
    return 0


@pytest.mark.parametrize("function", [_every_parameter, _only_keywords, _nothing])
def test_signature_stays(probe: Probe, function: FunctionType) -> None:
    twin = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__
    )
    twin.__kwdefaults__ = function.__kwdefaults__
    twin.__annotations__ = function.__annotations__
    before = inspect.signature(twin)

    assert force(probe, twin) == 1

    assert inspect.signature(twin) == before
    assert twin.__code__.co_name == function.__code__.co_name


def test_arguments_arrive_as_they_were_given(probe: Probe) -> None:
    force(probe, _every_parameter)

    assert _every_parameter(1, 3, 4, 5, d=6, g=7) == (1, 3, (4, 5), 6, 5, {"g": 7})
    assert _every_parameter(1, d=6) == (1, 2, (), 6, 5, {})
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'd'"):
        _every_parameter(1)  # type: ignore[call-arg]


class _Base:
    def f(self) -> str:
        return "base"


class _Derived(_Base):
    def f(self) -> str:
        return "derived of " + super().f()


def test_method_that_calls_super_runs(probe: Probe) -> None:
    force(probe, _Derived.f, value="'x'", instead="'derived of base'")

    assert _Derived().f() == "x"
    assert _Base().f() == "base"


def test_closure_stays(probe: Probe) -> None:
    count, step = 0, 2

    def f() -> Any:  # noqa: ANN401
        nonlocal count
        count += step
        return count

    force(probe, f, value="'x'", instead="4")

    assert (f(), f(), f()) == (2, "x", 6)


def test_recursive_calls_are_replaced(probe: Probe) -> None:
    def f(n: int) -> int:
        return 1 if n == 0 else n * f(n - 1)

    force(probe, f, value="10", instead="6")

    assert f(4) == 4 * 10


def test_functions_that_suspend_are_left_alone(probe: Probe) -> None:
    def f() -> Iterator[int]:
        yield 1

    async def g() -> None:
        return

    assert force(probe, f) == 0
    assert force(probe, g) == 0
    assert list(f()) == [1]
