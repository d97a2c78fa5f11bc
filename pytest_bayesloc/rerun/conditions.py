"""Runs tests under another condition, in a forked child: another clock, order of folders, seed.

All is put in place after the tests were imported, so names that modules hold already are replaced
too. Nothing is put back: the child ends with its tests.
"""

from __future__ import annotations

import datetime
import glob
import os
import random
import shutil
import sys
import threading
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_bayesloc.domain.location import code_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from types import FrameType

    from pytest_bayesloc.domain.inspection import Reader

SETS = "sets"  # another order of sets: see ``sets``
TASKS = "tasks"  # turns of tasks: see ``tasks``
CLOCK = "bayesloc_clock"  # an option of a server's: seconds to add before anything is imported
TWIN = "twin"  # the same tests again and again, in another process, too, or not
ABSENT = "absent"  # what has to be kept by whoever asks for it
_MAKES = frozenset({"os.mkdir", "os.rename", "os.link", "os.symlink", "sqlite3.connect"})
DELAY_S, MAX_DELAYED = 0.005, 400  # a line, and how many of them in all
N_UNEVEN = 5  # threads of which each takes longer than the next one

_time, _time_ns, _sleep = time.time, time.time_ns, time.sleep
_date, _datetime = datetime.date, datetime.datetime
_monotonic, _LIBRARY = time.monotonic, str(Path(os.__file__).parent)
_listdir, _scandir = os.listdir, os.scandir


def apply(name: str, value: Any) -> None:  # noqa: ANN401 - by the name
    """Put the condition ``name`` in place, with a ``value`` of its own.

    Values: a seed, seconds to add to the clock, the name of a time zone, ``sorted`` or
    ``reversed``, a folder, a factor of waits, seconds between switches of threads, seconds before
    a thread starts, the name of a variable to unset, and the code of a function to delay.
    """
    _APPLY[name](value)


def _seed(value: int) -> None:
    random.seed(value)
    own = random.Random(value)  # noqa: S311 - it has to be the same again
    _replace({os.urandom: own.randbytes})  # of uuid, secrets and SystemRandom
    for module in list(sys.modules.values()):
        for held in list(getattr(module, "__dict__", {}).values()):
            if type(held) is random.Random:
                held.seed(value)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(value)
    faker = sys.modules.get("faker")
    if faker is not None:
        faker.Faker.seed(value)


def _set_zone(value: str) -> None:
    os.environ["TZ"] = value
    time.tzset()


def _remove(value: str) -> None:
    path = Path(value)
    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


class Made:
    """Notes whether ``path``, which is absent at first, comes to be: a recorder of a child."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._is_made = False
        sys.addaudithook(self._audited)  # for good: this process ends with its tests

    def start(self) -> None:
        """Begin with a test."""

    def stop(self) -> list[Reader]:
        """End it and return the path, as a place, if this test or one before it made it."""
        self._is_made |= os.path.lexists(self._path)
        return [(self._path, 0, 0, "")] if self._is_made else []

    def _audited(self, event: str, args: tuple[Any, ...]) -> None:
        is_written = event in _MAKES or (event == "open" and args[2] & (os.O_WRONLY | os.O_RDWR))
        paths = [arg for arg in args[:2] if isinstance(arg, (str, os.PathLike))]
        self._is_made |= bool(is_written) and self._path in map(os.path.realpath, paths)


# -- the clock


class _Stand(type):
    """Classes that take instances of the real ones, their only bases, for their own."""

    def _is_stand(cls) -> bool:  # else a subclass, of the project
        return cls.__module__ == __name__

    def __instancecheck__(cls, instance: object) -> bool:
        return issubclass(type(instance), cls)

    def __subclasscheck__(cls, other: type) -> bool:
        is_own = type.__subclasscheck__(cls, other)
        return is_own or (cls._is_stand() and issubclass(other, cls.__base__ or object))

    def __call__(cls, *args: Any, **how: Any) -> Any:  # noqa: ANN401 - what a real one gives
        return (
            (cls.__base__ or object)(*args, **how)
            if cls._is_stand()
            else (super().__call__(*args, **how))
        )


class ShiftedDate(datetime.date, metaclass=_Stand):
    """Stands for ``datetime.date`` where the clock is shifted."""

    @classmethod
    def today(cls) -> Any:  # noqa: ANN401 - a real date
        """The date that the shifted clock shows."""
        return _date.fromtimestamp(_now())


class ShiftedTime(datetime.datetime, metaclass=_Stand):
    """Stands for ``datetime.datetime`` where the clock is shifted."""

    @classmethod
    def now(cls, tz: datetime.tzinfo | None = None) -> Any:  # noqa: ANN401 - a real time
        """The time that the shifted clock shows."""
        return _datetime.fromtimestamp(_now(), tz)

    @classmethod
    def today(cls) -> Any:  # noqa: ANN401 - a real time
        """The local time that the shifted clock shows."""
        return cls.now()

    @classmethod
    def utcnow(cls) -> Any:  # noqa: ANN401 - a real time
        """The time in UTC that the shifted clock shows; deprecated, and still called."""
        return cls.now(datetime.timezone.utc).replace(tzinfo=None)


_shifted_by = 0.0


def _now() -> float:
    return _time() + _shifted_by


def _shift(seconds: float) -> None:
    """Have the clock show a time that many seconds later; negative: earlier."""
    global _shifted_by  # noqa: PLW0603 - the clock of a process
    _shifted_by = seconds
    strftime, local = time.strftime, time.localtime

    def of_now(real: Callable[..., Any]) -> Callable[..., Any]:
        return lambda when=None: real(_now() if when is None else when)

    _replace(
        {
            _date: ShiftedDate,
            _datetime: ShiftedTime,
            _time: _now,
            _time_ns: lambda: int(_now() * 1e9),
            strftime: lambda text, when=None: strftime(text, when or local(_now())),
            **{real: of_now(real) for real in (time.localtime, time.gmtime, time.ctime)},
        }
    )


# -- folders


def _order(value: str) -> None:
    """Have folders give their entries by name, or in the opposite order."""
    is_reversed = value == "reversed"

    def listdir(*path: str) -> list[str]:
        return sorted(_listdir(*path), reverse=is_reversed)

    def scandir(*path: str) -> Entries:
        return Entries(sorted(_scandir(*path), key=lambda e: e.name, reverse=is_reversed))

    _replace({_listdir: listdir, _scandir: scandir})
    # By this object ``pathlib`` asks for folders before Python 3.11.
    accessor = getattr(sys.modules.get("pathlib"), "_normal_accessor", None)
    for held in (getattr(glob, "_StringGlobber", None), accessor and type(accessor)):
        for name, real in (("scandir", scandir), ("listdir", listdir)):
            if held is not None and name in vars(held):
                setattr(held, name, staticmethod(real))


class Entries:
    """Gives entries as ``os.scandir`` does."""

    def __init__(self, entries: Iterable[os.DirEntry[Any]]) -> None:
        self._entries = iter(entries)

    def __iter__(self) -> Entries:
        return self

    def __next__(self) -> os.DirEntry[Any]:
        return next(self._entries)

    def __enter__(self) -> Entries:  # noqa: PYI034 - Python 3.10 has no Self
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def close(self) -> None:
        """Do nothing: all is read."""


# -- waits and threads


def _wait_longer(factor: float) -> None:
    """Have the thread of the tests sleep and wait for others ``factor`` times as long."""
    main = threading.main_thread()

    def sleep(seconds: float) -> None:
        _sleep(seconds * factor if threading.current_thread() is main else seconds)

    _replace({_sleep: sleep})
    # The project's code sees that less time has passed; what waits for it sees it all.
    reals = (time.monotonic, time.perf_counter)
    slowed = {real: partial(_slowed, real, real(), factor) for real in reals}
    _replace(slowed, of_libraries=False)
    for real, own in slowed.items():
        setattr(time, real.__name__, own)
    for kind, name in (
        (threading.Event, "wait"), (threading.Condition, "wait"), (threading.Thread, "join"),
    ):  # fmt: skip
        setattr(kind, name, _longer(getattr(kind, name), factor, main))
    asyncio = sys.modules.get("asyncio")
    if asyncio is not None:
        asyncio.BaseEventLoop.time = lambda _: _monotonic()
        _wait_longer_for(asyncio, factor)


def _slowed(real: Callable[[], float], started: float, factor: float) -> float:
    return started + (real() - started) / factor


def _delay(value: Sequence[Any]) -> None:
    """Have a function take a while for each of its lines: first line, name and file of its code.

    A fourth value is a factor of waits; by a fifth, the first threads take longer than others.
    """
    first_line, name, file = value[:3]
    factor = value[3] if len(value) > 3 else 1.0
    is_uneven = len(value) > 4
    left = MAX_DELAYED  # one that is called often would never end
    order: dict[int, int] = {}  # of threads, as they come
    if factor != 1:
        _wait_longer(factor)

    def within(_frame: FrameType, event: str, _arg: object) -> Any:  # noqa: ANN401
        nonlocal left
        if event == "line" and left > 0:
            number = order.setdefault(threading.get_ident(), len(order))
            n = max(1, N_UNEVEN - number) if is_uneven else 1
            left -= n
            _sleep(n * DELAY_S)
        return within

    def trace(frame: FrameType, _event: str, _arg: object) -> Any:  # noqa: ANN401
        code = frame.f_code
        own = code.co_firstlineno == first_line and code.co_filename.endswith(file)
        return within if own and code_name(code) == name else None

    threading.settrace(trace)
    sys.settrace(trace)


def _wait_longer_for(asyncio: Any, factor: float) -> None:  # noqa: ANN401 - a module
    real_wait, real_timeout = asyncio.wait_for, getattr(asyncio, "timeout", None)

    async def wait_for(awaitable: Any, timeout: float | None) -> Any:  # noqa: ANN401
        return await real_wait(awaitable, None if timeout is None else timeout * factor)

    replaced: dict[Any, Any] = {real_wait: wait_for}
    if real_timeout is not None:
        replaced[real_timeout] = lambda delay: real_timeout(
            None if delay is None else delay * factor
        )
    _replace(replaced)


def _longer(real: Any, factor: float, main: threading.Thread) -> Any:  # noqa: ANN401 - a method
    def wait(self: Any, timeout: float | None = None) -> Any:  # noqa: ANN401
        if timeout is not None and threading.current_thread() is main:
            timeout *= factor
        return real(self, timeout)

    return wait


def _start_late(seconds: float) -> None:
    """Have each thread begin its work that much later."""
    real = threading.Thread.run

    def run(self: threading.Thread) -> None:
        _sleep(seconds)
        real(self)

    threading.Thread.run = run  # type: ignore[method-assign]


def _replace(others: Mapping[Any, Any], *, of_libraries: bool = True) -> None:
    """Put other objects in the place of some, in the variables of all modules."""
    by_id = {id(real): other for real, other in others.items()}
    for name, module in list(sys.modules.items()):
        path = getattr(module, "__file__", None) or ""
        is_library = path.startswith((_LIBRARY, sys.prefix))
        if name.partition(".")[0] in _OURS or (is_library and not of_libraries):
            continue
        namespace: Any = getattr(module, "__dict__", None)
        for variable, value in list(namespace.items()) if type(namespace) is dict else ():
            if id(value) in by_id:
                namespace[variable] = by_id[id(value)]


_OURS = ("pytest_bayesloc", "_pytest", "pytest")
_APPLY: dict[str, Callable[[Any], object]] = {
    "random": _seed,
    "clock": _shift,
    "time-zone": _set_zone,
    "listing": _order,
    "folder": os.chdir,
    "waiting": _wait_longer,
    "switching": sys.setswitchinterval,
    "starting": _start_late,
    "variable": lambda name: os.environ.pop(name, None),
    "delaying": _delay,
    ABSENT: _remove,
}
