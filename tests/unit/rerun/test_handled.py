from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias
from unittest.mock import Mock

import pytest

from pytest_bayesloc.domain.source import compile_tree, parse
from pytest_bayesloc.rerun import handled
from pytest_bayesloc.rerun.handled import HandledErrors, Monitored, Traced, text_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Mapping

Caught: TypeAlias = "Callable[[Callable[[], object]], list[Seen]]"
MONITORING: Any = getattr(sys, "monitoring", None)
WAYS = [Traced, *([Monitored] if MONITORING else [])]
EMPTY: Mapping[str, int] = {}


@dataclass(frozen=True, kw_only=True)
class Seen:
    handler: str
    line: int  # from that of ``def`` on
    kind: str
    text: str
    raised: str
    n: int = 1
    is_of_double: bool = False


@pytest.fixture(params=WAYS, ids=lambda way: way.__name__.lower())
def caught(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Caught]:
    """Call a function and return what this file caught meanwhile."""
    if request.param is Traced:
        monkeypatch.delattr(sys, "monitoring", raising=False)
    own = HandledErrors(lambda file: "m.py" if file == __file__ else "")

    def record(run: Callable[[], object]) -> list[Seen]:
        own.start()
        try:
            run()
        finally:
            raw = own.stop()
        return [
            Seen(
                handler=each["handler"]["name"].rpartition(".")[2],
                line=each["handler"]["line"] - each["handler"]["first_line"],
                kind=each["kind"],
                text=each["text"],
                raised=each["raised"]["name"].rpartition(".")[2],
                n=each["n"],
                is_of_double=not each["raised"]["file"],
            )
            for each in json.loads(json.dumps(raw))
        ]

    outer = sys.gettrace()
    sys.settrace(None)
    yield record
    sys.settrace(outer)


def take(settings: Mapping[str, int]) -> int:
    return settings["port"]


def load(settings: Mapping[str, int]) -> int | None:
    try:
        return take(settings)
    except Exception:  # noqa: BLE001 - as those do that are looked for
        return None


def test_caught_error_is_told_with_its_handler_and_where_it_was_raised(caught: Caught) -> None:
    expected = Seen(handler="load", line=3, kind="KeyError", text="'port'", raised="take")

    assert caught(lambda: load(EMPTY)) == [expected]


def test_errors_that_one_handler_catches_are_counted(caught: Caught) -> None:
    (seen,) = caught(lambda: [load(EMPTY) for _ in range(3)])

    assert seen.n == 3


def test_nothing_is_told_where_nothing_is_raised(caught: Caught) -> None:
    assert caught(lambda: load({"port": 80})) == []


def suppressed() -> int:
    with contextlib.suppress(KeyError):
        take(EMPTY)
    return 1


FINALLY = """
def returned_in_finally():
    try:
        take(EMPTY)
    finally:
        return 2
"""


def returned_in_finally() -> object:
    """Drop the error, of which Python 3.14 and later warn where it is compiled."""
    names: dict[str, Any] = {"take": take, "EMPTY": EMPTY}
    exec(compile_tree(parse(FINALLY), __file__), names)
    return names["returned_in_finally"]()


def generated() -> Iterator[int]:
    try:
        yield take(EMPTY)
    except KeyError:
        yield 3


@contextlib.contextmanager
def ignoring() -> Iterator[None]:
    try:
        yield
    except KeyError:
        return


def ignored() -> None:
    with ignoring():
        take(EMPTY)


async def awaited() -> None:
    async for _ in several():
        pass
    with contextlib.suppress(KeyError):
        await take_later()


async def several() -> AsyncIterator[int]:
    yield 1
    await asyncio.sleep(0)


async def take_later() -> None:
    await asyncio.sleep(0)
    take(EMPTY)


def in_thread() -> None:
    thread = threading.Thread(target=load, args=(EMPTY,))
    thread.start()
    thread.join()


@pytest.mark.parametrize(
    ("run", "handler"),
    [
        (suppressed, "suppressed"),
        (returned_in_finally, "returned_in_finally"),
        (lambda: list(generated()), "generated"),
        (ignored, "ignoring"),
        (lambda: asyncio.run(awaited()), "awaited"),
        (in_thread, "load"),
    ],
)
def test_handler_is_found_in_every_form(
    run: Callable[[], object], handler: str, caught: Caught
) -> None:
    assert [(seen.handler, seen.raised) for seen in caught(run)] == [(handler, "take")]


class WrongError(Exception):
    pass


def translated() -> None:
    try:
        take(EMPTY)
    except KeyError as error:
        raise WrongError from error


def raised_again() -> None:
    try:
        take(EMPTY)
    except KeyError as error:
        error.args = ("again",)
        raise error  # noqa: TRY201 - not as a bare one does


def not_matched() -> None:
    try:
        take(EMPTY)
    except ValueError:
        return
    finally:
        EMPTY.get("host")


def closed_in_passing() -> None:
    with open(__file__):  # noqa: PTH123
        take(EMPTY)


@pytest.mark.parametrize("run", [translated, raised_again, not_matched, closed_in_passing])
def test_error_that_leaves_its_handler_is_not_caught(
    run: Callable[[], None], caught: Caught
) -> None:
    def outside() -> None:
        with pytest.raises((KeyError, WrongError)):
            run()

    assert [seen.handler for seen in caught(outside)] == ["outside"]


def cleaned_up() -> None:
    try:
        take(EMPTY)
    except KeyError:
        load(EMPTY)


def test_error_that_was_caught_while_another_one_was_is_told_apart(caught: Caught) -> None:
    assert {seen.handler for seen in caught(cleaned_up)} == {"cleaned_up", "load"}


def ended() -> list[int]:
    numbers = (n for n in (1, 2))
    next(numbers)
    numbers.close()
    return [next(iter(()), 0), *generated_twice()]


def generated_twice() -> Iterator[int]:
    yield from (1, 2)


def test_end_of_an_iteration_is_no_error(caught: Caught) -> None:
    assert caught(ended) == []


def by_foreign_code() -> object:
    class Lazy:
        def __getattr__(self, name: str) -> NoReturn:
            raise AttributeError(name)

    return getattr(Lazy(), "missing", None)


def test_error_that_foreign_code_catches_is_not_told(caught: Caught) -> None:
    assert caught(by_foreign_code) == []


def test_test_double_that_raises_has_no_file(caught: Caught) -> None:
    double = Mock(side_effect=KeyError("port"))

    def run() -> None:
        with contextlib.suppress(KeyError):
            double()

    assert [seen.is_of_double for seen in caught(run)] == [True]
    assert [seen.is_of_double for seen in caught(lambda: load(EMPTY))] == [False]


def deep(n: int = 0) -> int:
    try:
        return deep(n + 1)
    except RecursionError:
        return n


def test_recursion_without_end_is_survived(caught: Caught) -> None:
    assert {seen.kind for seen in caught(deep)} <= {"RecursionError"}


class HostileError(Exception):
    def __str__(self) -> NoReturn:
        raise AssertionError("asked")

    __repr__ = __str__


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (KeyError("port"), "'port'"),
        (ValueError("two\nlines"), "two lines"),
        (ValueError("x" * 10_000_000), "x" * handled.TEXT_LIMIT),
        (ValueError(1 << 100_000), "..."),
        (OSError(2, "No such file", "a.txt"), "[Errno 2] No such file: 'a.txt'"),
        (ValueError("a", 1), "'a', 1"),
        (ValueError(object()), ""),
        (HostileError(HostileError()), ""),
        (HostileError("said"), "said"),
    ],
)
def test_text_is_made_of_plain_arguments_alone(error: Exception, text: str) -> None:
    assert text_of(error) == text


@pytest.mark.skipif(MONITORING is None, reason="Python 3.12 and newer monitor")
def test_recording_needs_a_free_slot() -> None:
    free = [slot for slot in handled.SLOTS if MONITORING.get_tool(slot) is None]
    for slot in free:
        MONITORING.use_tool_id(slot, "other")
    own = HandledErrors(lambda file: file)
    try:
        own.start()
        load(EMPTY)
        assert own.stop() == []
    finally:
        for slot in free:
            MONITORING.free_tool_id(slot)


def test_trace_function_of_another_tool_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(sys, "monitoring", raising=False)
    own = HandledErrors(lambda file: file)
    before = sys.gettrace()

    def other(*_: object) -> None:
        return None

    sys.settrace(other)
    try:
        own.start()
        load(EMPTY)
        kept, seen = sys.gettrace(), own.stop()
    finally:
        sys.settrace(before)

    assert (kept, seen) == (other, [])
