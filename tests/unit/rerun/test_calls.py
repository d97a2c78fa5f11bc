from __future__ import annotations

import os
import sys
import threading
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from pytest_bayesloc.rerun.calls import FIRST_CALLS, LAST_CALLS, SAMPLED_CALLS, CallTracer, note
from tests.fakes.hostile import Hostile

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

HERE = os.path.realpath(__file__)


@dataclass(frozen=True, kw_only=True)
class Seen:
    name: str
    caller: int
    entered: int
    left: int
    args: dict[str, Any]
    result: Any
    raised: bool


def texts(values: dict[str, list[Any]]) -> dict[str, Any]:
    return {name: value[4] or value[0] for name, value in values.items()}


@pytest.fixture(autouse=True)
def _profile() -> Iterator[None]:
    """Other tools go on where they were."""
    before = sys.getprofile()
    yield
    sys.setprofile(before)


def tracer_of(*functions: Callable[..., Any], **more: Any) -> CallTracer:  # noqa: ANN401 - its own
    named = [function.__code__ for function in functions]
    return CallTracer(
        {HERE: {(c.co_firstlineno, c.co_name): n for n, c in enumerate(named)}}, **more
    )


def record(run: Callable[[], object], *functions: Callable[..., Any]) -> list[Seen]:
    calls, _ = recorded(run, *functions)
    return calls


def recorded(
    run: Callable[[], object], *functions: Callable[..., Any]
) -> tuple[list[Seen], dict[tuple[str, str], int]]:
    """The calls of ``functions`` while ``run`` runs, and who called whom how often."""
    names = [function.__code__.co_name for function in functions]
    tracer = tracer_of(*functions)
    tracer.start()
    run()
    calls = [
        Seen(
            name=names[target],
            caller=caller,
            entered=entered,
            left=left,
            args=texts(args),
            result=None if result is None else result[4] or result[0],
            raised=raised,
        )
        for target, caller, entered, left, args, result, raised in tracer.stop()
    ]
    edges = {(names[a], names[b]): n for (a, b), n in tracer.edges.items()}
    return calls, edges


def outer(x: int, *rest: int, key: str = "k", **more: int) -> int:
    return inner(x) + inner(x + 1)


def inner(n: int) -> int:
    m = n * 2
    n = -1
    return m


def test_arguments_results_and_order_of_calls_are_noted() -> None:
    calls, edges = recorded(lambda: outer(1, 2, key="z", other=3), outer, inner)

    assert [(c.name, c.caller, c.entered, c.left) for c in calls] == [
        ("outer", -1, 1, 6),
        ("inner", 0, 2, 3),
        ("inner", 0, 4, 5),
    ]
    assert [c.args for c in calls] == [{"x": "1", "key": "'z'"}, {"n": "1"}, {"n": "2"}]
    assert [c.result for c in calls] == ["6", "2", "4"]
    assert edges == {("outer", "inner"): 2}


def test_other_functions_are_passed_over_and_callers_found_behind_them() -> None:
    def between(x: int) -> int:
        return inner(x)

    def around(x: int) -> int:
        return between(x)

    calls, edges = recorded(lambda: around(1), around, inner)

    assert [(c.name, c.caller) for c in calls] == [("around", -1), ("inner", 0)]
    assert edges == {("around", "inner"): 1}


def returns_none(x: int) -> None:
    return None


def returns_in_with(x: int) -> None:
    with nullcontext():
        return


def returns_in_finally(x: int) -> None:
    try:
        return
    finally:
        x += 1


def swallows(x: int) -> None:
    try:
        raises(x)
    except KeyError:
        return


@pytest.mark.parametrize("function", [returns_none, returns_in_with, returns_in_finally, swallows])
def test_returning_none_is_no_exception(function: Callable[[int], None]) -> None:
    (call,) = record(lambda: function(1), function)

    assert (call.raised, call.result) == (False, "None")


def raises(x: int) -> NoReturn:
    raise KeyError(x)


def raises_below(x: int) -> None:
    int("x")


def raises_in_finally(x: int) -> None:
    try:
        return
    finally:
        raises(x)


def reraises(x: int) -> None:
    try:
        raises(x)
    except KeyError as error:
        raise ValueError from error


@pytest.mark.parametrize("function", [raises, raises_below, raises_in_finally, reraises])
def test_call_that_an_exception_left_has_no_result(function: Callable[[int], None]) -> None:
    def run() -> None:
        with pytest.raises((KeyError, ValueError)):
            function(1)

    (call,) = record(run, function)

    assert (call.raised, call.result) == (True, None)
    assert call.left > call.entered


def factorial(n: int) -> int:
    return 1 if n < 2 else n * factorial(n - 1)


def test_recursion_is_a_chain_of_calls() -> None:
    calls = record(lambda: factorial(3), factorial)

    assert [(c.caller, c.entered, c.left) for c in calls] == [(-1, 1, 6), (0, 2, 5), (1, 3, 4)]
    assert [c.result for c in calls] == ["6", "2", "1"]


def numbers(n: int) -> Iterator[int | None]:
    yield inner(n)
    yield None


def test_generator_has_arguments_but_no_result_and_is_open_only_while_it_runs() -> None:
    def run() -> None:
        values = numbers(4)
        next(values)
        inner(5)
        list(values)

    calls = record(run, numbers, inner)

    assert calls[0].args == {"n": "4"}
    assert [c.name for c in calls[:3]] == ["numbers", "inner", "inner"]
    assert [c.caller for c in calls[:3]] == [-1, 0, -1]  # the second runs while it is suspended
    assert {(c.result, c.raised) for c in calls if c.name == "numbers"} == {(None, False)}


def delegates(n: int) -> Generator[int | None, None, None]:
    yield from numbers(n)


class Pause:
    def __await__(self) -> Generator[None, None, None]:
        yield


async def waits(n: int) -> int:
    await Pause()
    return n


def test_suspension_is_no_exception() -> None:
    def run() -> None:
        list(delegates(1))
        coroutine = waits(2)
        coroutine.send(None)
        with pytest.raises(StopIteration):
            coroutine.send(None)

    calls = record(run, delegates, waits)

    assert len(calls) == 5
    assert {(c.result, c.raised) for c in calls} == {(None, False)}


def test_exception_that_is_thrown_into_a_generator_leaves_the_callers_open() -> None:
    def throws() -> int:
        values = numbers(1)
        next(values)
        with pytest.raises(KeyError):
            values.throw(KeyError)  # type: ignore[attr-defined]
        numbers(2).close()  # type: ignore[attr-defined]
        return inner(3)

    calls = record(throws, throws, numbers, inner)

    assert calls[0].left == max(c.left for c in calls)
    assert calls[-1] == Seen(
        name="inner",
        caller=0,
        entered=calls[-1].entered,
        left=calls[-1].entered + 1,
        args={"n": "3"},
        result="6",
        raised=False,
    )


def test_function_that_was_entered_before_the_recording_ends_nothing() -> None:
    def entered_before(n: int) -> int:
        tracer.start()
        return inner(n)

    tracer = tracer_of(entered_before, inner)
    entered_before(1)

    assert [call[0] for call in tracer.stop()] == [1]


def test_parameters_that_a_closure_uses_are_noted() -> None:
    def makes(x: int) -> Callable[[], int]:
        return lambda: x

    (call,) = record(lambda: makes(7), makes)

    assert call.args == {"x": "7"}


def test_threads_that_a_test_starts_have_stacks_of_their_own() -> None:
    def run() -> None:
        thread = threading.Thread(target=outer, args=(5,))
        thread.start()
        thread.join()

    def starts() -> int:
        run()
        return inner(1)

    calls = record(starts, starts, outer, inner)

    assert [(c.name, c.caller) for c in calls] == [
        ("starts", -1),
        ("outer", -1),
        ("inner", 1),
        ("inner", 1),
        ("inner", 0),
    ]


def test_of_many_calls_the_first_and_the_last_are_kept_and_all_are_counted() -> None:
    n_calls = FIRST_CALLS + LAST_CALLS + 50

    def loops() -> None:
        for n in range(n_calls):
            inner(n)

    calls, edges = recorded(loops, loops, inner)

    kept = [int(c.args["n"]) for c in calls if c.name == "inner"]
    assert kept == [*range(FIRST_CALLS), *range(n_calls - LAST_CALLS, n_calls)]
    assert edges == {("loops", "inner"): n_calls}


def test_next_test_starts_from_nothing() -> None:
    tracer = tracer_of(inner)
    for n in (1, 2):
        tracer.start()
        inner(n)
        calls = tracer.stop()

    assert [(call[2], call[4]["n"][4]) for call in calls] == [(1, "2")]


# -- values


class TouchyList(list[int]):
    def __len__(self) -> int:
        raise AssertionError

    def __iter__(self) -> Iterator[int]:
        raise AssertionError


class TouchyText(str):
    __slots__ = ()

    def __repr__(self) -> str:
        raise AssertionError


@pytest.mark.parametrize(
    ("value", "type_name"),
    [(Hostile(), "Hostile"), (TouchyList([1, 2]), "TouchyList"), (TouchyText("x"), "TouchyText")],
    ids=["object", "list", "text"],
)
def test_no_method_of_the_project_s_objects_is_called(value: object, type_name: str) -> None:
    assert note(value) == [type_name, None, None, None, None]


def test_containers_of_the_project_s_objects_are_only_counted() -> None:
    value = [Hostile(), Hostile()]

    assert note(value) == ["list", None, 2, None, None]


@pytest.mark.parametrize(
    ("value", "noted"),
    [
        (None, ["NoneType", None, None, None, "None"]),
        (True, ["bool", None, None, None, "True"]),
        (3, ["int", 3.0, None, None, "3"]),
        (float("nan"), ["float", None, None, None, None]),
        (float("inf"), ["float", None, None, None, None]),
        (10**400, ["int", None, None, None, None]),
        ("é", ["str", None, 1, None, "'é'"]),
        ("x" * 41, ["str", None, 41, None, None]),
        (b"ab", ["bytes", None, 2, None, None]),
        ([], ["list", None, 0, None, None]),
        ([1], ["list", None, 1, None, None]),
        ([1, 1, 2.5], ["list", None, 3, True, None]),
        ((2, 1), ["tuple", None, 2, False, None]),
        (["a", "b"], ["list", None, 2, True, None]),
        ([1, "a"], ["list", None, 2, None, None]),
        ([True, False], ["list", None, 2, None, None]),
        (list(range(101)), ["list", None, 101, None, None]),
        ({1: 2}, ["dict", None, 1, None, None]),
        (frozenset("ab"), ["frozenset", None, 2, None, None]),
    ],
)
def test_built_in_values_are_looked_into(value: object, noted: list[Any]) -> None:
    assert note(value) == noted


def test_a_sample_notes_the_first_calls_of_a_function_over_all_tests() -> None:
    def target(number: int) -> int:
        return number

    tracer = tracer_of(target, sample=True)

    noted = []
    for _ in range(4):
        tracer.start()
        for number in range(100):
            target(number)
        noted.append(len(tracer.stop()))

    assert noted == [100, 100, SAMPLED_CALLS - 200, 0]


def test_values_of_one_function_are_noted_with_their_parts() -> None:
    def target(order: dict[str, int]) -> int:
        return other(order)

    def other(order: dict[str, int]) -> int:
        return len(order)

    tracer = tracer_of(target, other, detailed=0)
    tracer.start()
    target({"a": 1})
    (_, _, _, _, args, result, _), (*_, plain, _, _) = tracer.stop()

    assert args["order"][-1] == [("", "dict of 1"), ("['a']", "1")]
    assert result[-1] == [("", "1")]
    assert len(plain["order"]) == 5
