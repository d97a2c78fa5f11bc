"""Notes which code asks for what may differ between runs: the clock, chance, folders, threads."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
import threading
from contextlib import suppress
from inspect import CO_COROUTINE
from pathlib import PurePath
from types import CodeType, FrameType, ModuleType
from typing import TYPE_CHECKING, Any

from pytest_bayesloc.domain.location import code_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_bayesloc.domain.inspection import Reader

MAX_PLACES = 10  # of one condition
MAX_DEPTH = 40  # frames between a call and the code that asks

#: By a function written in C, as its module or the class it is called on, and its name.
_BUILT_IN = {
    ("time", "time"): "clock", ("time", "time_ns"): "clock", ("time", "strftime"): "clock",
    ("time", "gmtime"): "clock", ("time", "localtime"): "clock time-zone",
    ("time", "ctime"): "clock time-zone", ("time", "mktime"): "time-zone",
    ("time", "sleep"): "waiting", ("time", "monotonic"): "waiting",
    ("time", "perf_counter"): "waiting", ("datetime", "now"): "clock time-zone",
    ("datetime", "utcnow"): "clock", ("datetime", "today"): "clock time-zone",
    ("date", "today"): "clock time-zone", ("datetime", "fromtimestamp"): "time-zone",
    ("date", "fromtimestamp"): "time-zone", ("datetime", "astimezone"): "time-zone",
    ("datetime", "timestamp"): "time-zone", ("posix", "listdir"): "listing",
    ("posix", "scandir"): "listing", ("posix", "getcwd"): "folder", ("posix", "urandom"): "random",
    ("Random", "random"): "random", ("Random", "getrandbits"): "random",
    ("Random", "seed"): "", ("_thread", "start_new_thread"): "threads",
    ("_thread", "start_joinable_thread"): "threads", ("_locale", "setlocale"): "set-locale",
    ("_locale", "localeconv"): "locale",
    ("_io", "open"): "locale folder", ("io", "open"): "locale folder",
    ("builtins", "hash"): "hash",
}  # fmt: skip
#: By the file of the standard library and the name of a function written in Python.
_PYTHON = {
    ("random.py", "*"): "random", ("uuid.py", "uuid4"): "random", ("secrets.py", "*"): "random",
    ("threading.py", "wait"): "waiting", ("threading.py", "join"): "waiting",
    ("threading.py", "start"): "threads", ("queue.py", "get"): "waiting",
    ("tasks.py", "sleep"): "waiting", ("tasks.py", "wait_for"): "waiting",
    ("tasks.py", "gather"): "threads", ("tasks.py", "create_task"): "threads",
    ("timeouts.py", "timeout"): "waiting", ("thread.py", "submit"): "threads",
    ("locale.py", "*"): "locale", ("glob.py", "*"): "listing", ("subprocess.py", "run"): "locale",
    ("zoneinfo", "*"): "time-zone",
}  # fmt: skip

_OPENS = frozenset({"open", "os.listdir", "os.scandir"})
_FINDS = _OPENS | {"os.mkdir", "os.remove", "os.rename", "sqlite3.connect"}
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_OF_PYTHON = (".py", ".pyc", ".pyi", ".so")
_REACHES = frozenset({("socket", "connect"), ("_socket", "getaddrinfo"), ("socket", "getaddrinfo")})
#: Methods of paths, and functions of ``os.path``, that look whether something is there.
_LOOKS = frozenset({"exists", "is_file", "is_dir", "isfile", "isdir", "iterdir", "glob", "rglob"})
_PATHS = frozenset(
    {
        *("<frozen genericpath>", "genericpath.py", "pathlib.py"),
        *("_abc.py", "_local.py", "__init__.py"),  # of pathlib, from Python 3.13 on
    }
)
_ELAPSED = frozenset({"monotonic", "perf_counter"})  # which libraries ask for themselves
#: By the code of a function that gives None or raises: what it looked for, and the parameter with
#: its name.
_SEARCHES = {
    shutil.which.__code__: ("program", "cmd"),
    importlib.util.find_spec.__code__: ("package", "name"),
    type(os.environ).__getitem__.__code__: ("demand", "key"),
}
_SEARCHED = frozenset(map(id, _SEARCHES))  # to hash code is to hash all that it holds
_C_NAMES = frozenset(name for _, name in (*_BUILT_IN, *_REACHES))
_OF_OS = frozenset({"os.py", "<frozen os>"})
_WAITS = frozenset({"join", "wait"})
MAX_NAMES = 200


class Readers:
    """Notes the innermost code of the project for each such call, per condition.

    Beside them it notes what is asked of the machine: ``variable:NAME``, and ``demand:NAME`` where
    it is not there and has no default, ``program:NAME``, ``package:NAME`` that ``find_spec`` did
    not find, ``found:PATH`` of what is there (real), ``shared`` for a port or for a file that it
    writes and that other processes may write,
    ``file:PATH`` (absolute), ``service:`` where nothing answers, ``folder`` for relative paths,
    ``in-thread`` for what threads beside the first one execute, and ``in-tasks`` for coroutines
    where there are several tasks.

    Args:
        name_of: Names a file of the project or its tests, and is empty for any other.
        scratch: A folder of which nothing is noted as found.
    """

    def __init__(self, name_of: Callable[[str], str], scratch: str = "") -> None:
        self._name_of = name_of
        self._scratch = (os.path.realpath(scratch),) if scratch else ()
        self._found: dict[str, dict[Reader, None]] = {}
        self._asking: dict[int, tuple[CodeType, bool]] = {}  # by its id, which lasts as it does
        self._tasks: set[int] = set()
        self._seen: set[CodeType] = set()  # in tasks
        self._main: int | None = None
        self._before: Any = None
        self._is_on = False
        sys.addaudithook(self._audited)  # for good: this process ends with its tests

    def start(self) -> None:
        """Begin with a test."""
        self._found = {}
        self._tasks, self._seen = set(), set()
        self._main = threading.main_thread().ident
        self._before = sys.getprofile()
        self._is_on = True
        threading.setprofile(self._saw)
        sys.setprofile(self._saw)

    def stop(self) -> dict[str, list[Reader]]:
        """End it and return the places, by the names of conditions."""
        sys.setprofile(self._before)
        threading.setprofile(self._before)
        self._is_on = False
        if len(self._tasks) < 2:
            self._found.pop("in-tasks", None)
        return {name: list(places) for name, places in self._found.items()}

    def _saw(self, frame: FrameType, event: str, arg: Any) -> None:  # noqa: ANN401 - what it is given
        # It is called for all that the test calls: most of it must cost next to nothing.
        if event == "c_call":
            if arg.__name__ in _C_NAMES:
                asked = _BUILT_IN.get((_owner(arg), arg.__name__), "")
                # What ``__hash__`` gives is for dicts, whose order it does not decide, and for
                # sets. Enums and types of the standard library have one in Python.
                is_own = asked == "hash" and frame.f_code.co_name == "__hash__"
                self._note("" if is_own else asked, frame, own=arg.__name__ in _ELAPSED)
        elif event == "c_exception" and (_owner(arg), arg.__name__) in _REACHES:
            self._note("service:", frame)
        elif event == "call":
            self._called(frame, frame.f_code)
        elif event == "return" and arg is None and id(frame.f_code) in _SEARCHED:
            self._note(_missed(frame), frame.f_back)

    def _called(self, frame: FrameType, code: CodeType) -> None:
        known = self._asking.get(id(code))
        if known is None:
            known = self._asking[id(code)] = code, _may_ask(code)
        if known[1]:
            self._note(_asked(frame), frame.f_back)
            if path := _looked_at(frame):
                self._note_found(path, frame.f_back)
        if threading.get_ident() != self._main:
            self._note("in-thread", frame, own=True)
        if code.co_flags & CO_COROUTINE and self._name_of(code.co_filename):
            asyncio = sys.modules.get("asyncio")
            with suppress(RuntimeError):  # no loop runs: something else drives it
                task = asyncio.current_task() if asyncio is not None else None
                if task is not None:  # noted as a task first executes it
                    self._tasks.add(id(task))
                    self._note("" if code in self._seen else "in-tasks", frame, own=True)
                    self._seen.add(code)

    def _audited(self, event: str, args: tuple[Any, ...]) -> None:
        if not self._is_on:
            return
        if event in _FINDS and args and isinstance(args[0], (str, os.PathLike)):
            self._note_found(args[0], sys._getframe(1))  # noqa: SLF001 - the caller
        if event in {"socket.bind", "sqlite3.connect"} or (event == "open" and args[2] & _WRITES):
            basetemp = tuple(f"{folder}/basetemp" for folder in self._scratch)
            is_own = event != "socket.bind" and str(args[0]).startswith(basetemp)
            self._note("" if is_own else "shared", sys._getframe(1))  # noqa: SLF001 - the caller
        if event in _OPENS:
            path = args[0] if args and isinstance(args[0], (str, os.PathLike)) else ""
            name = f"file:{path}" if os.path.isabs(path) else "folder"  # noqa: PTH117 - in a hook
            self._note(name if path else "", sys._getframe(1))  # noqa: SLF001 - the caller
        elif event == "subprocess.Popen":
            self._note(f"program:{_program(*args[:2])}", sys._getframe(1))  # noqa: SLF001 - the caller

    def _note_found(self, path: str | os.PathLike[str], frame: FrameType | None) -> None:
        """Note a file or folder that is there as code asks for it."""
        real = os.path.realpath(path)
        is_data = not real.startswith(self._scratch) and not real.endswith(_OF_PYTHON)
        if is_data and os.path.lexists(real):
            self._put([f"found:{real}"], frame, MAX_DEPTH)

    def _note(self, names: str, frame: FrameType | None, *, own: bool = False) -> None:
        if names:
            self._put(names.split(" "), frame, 1 if own else MAX_DEPTH)

    def _put(self, names: Sequence[str], frame: FrameType | None, depth: int) -> None:
        asking = own_frame(frame, self._name_of, depth)
        if asking is None or len(self._found) > MAX_NAMES:
            return
        place = reader_at(asking, self._name_of)
        for condition in names:
            places = self._found.setdefault(condition, {})
            if condition == "waiting":
                places.pop(place, None)
            if len(places) < MAX_PLACES:
                places[place] = None  # the last one to ask comes last


def own_frame(
    frame: FrameType | None, name_of: Callable[[str], str], depth: int = MAX_DEPTH
) -> FrameType | None:
    """Return the innermost of ``depth`` frames that is in a file of the project."""
    for _ in range(depth):
        if frame is None or name_of(frame.f_code.co_filename):
            return frame
        frame = frame.f_back
    return None


def reader_at(frame: FrameType, name_of: Callable[[str], str]) -> Reader:
    """Return the place that ``frame``, of the project, executes."""
    code = frame.f_code
    return name_of(code.co_filename), frame.f_lineno, code.co_firstlineno, code_name(code)


def _program(executable: Any, arguments: Any) -> str:  # noqa: ANN401 - as they were given
    """Return the program that a process is started for; of a shell, the first of its command."""
    words = [os.fsdecode(word) for word in arguments] if isinstance(arguments, list) else []
    if len(words) > 2 and words[1] == "-c" and words[0].endswith("sh"):
        return (words[2].split() or [""])[0]
    return os.fsdecode(executable or (words or [""])[0])


def _may_ask(code: CodeType) -> bool:
    """Whether ``_asked`` or ``_looked_at`` may have something to say of a call of ``code``."""
    file, name = PurePath(code.co_filename).name, code.co_name
    if (file, name) in _PYTHON or (file, "*") in _PYTHON:
        return True
    return name == "__getitem__" if file in _OF_OS else name in _LOOKS and file in _PATHS


def _asked(frame: FrameType) -> str:
    """Return what the call of a function written in Python asks for; empty if nothing."""
    file, name = PurePath(frame.f_code.co_filename).name, frame.f_code.co_name
    if file in _OF_OS and name == "__getitem__":
        key = frame.f_locals.get("key")
        return f"variable:{key}" if isinstance(key, str) else ""
    if path := _looked_at(frame):
        return f"file:{path}" if os.path.isabs(path) else "folder"  # noqa: PTH117 - not Path's own
    if file == "threading.py" and name in _WAITS and frame.f_locals.get("timeout") is None:
        return ""  # as long as it takes
    if name == "wait" and frame.f_back is not None and frame.f_back.f_code.co_name == "start":
        return ""  # of a thread that starts
    return _PYTHON.get((file, name)) or _PYTHON.get((file, "*"), "")


def _missed(frame: FrameType) -> str:
    """Return what a call has looked for in vain; empty if nothing."""
    kind, name = _SEARCHES.get(frame.f_code, ("", ""))
    asking = frame.f_back
    if kind == "demand" and asking is not None:
        # The standard library has defaults: ``get``, and COLUMNS of terminals.
        module = str(asking.f_globals.get("__name__", "")).partition(".")[0]
        kind = "" if module in sys.stdlib_module_names else kind
    return kind and f"{kind}:{frame.f_locals.get(name, '')}"


def _looked_at(frame: FrameType) -> str:
    """Return the path of which a call finds out whether something is there; empty if it doesn't."""
    file, name = PurePath(frame.f_code.co_filename).name, frame.f_code.co_name
    if name not in _LOOKS or file not in _PATHS:
        return ""
    given = (frame.f_locals.get(name) for name in ("path", "s", "self"))
    return os.fspath(next((value for value in given if value), "/"))


def _owner(called: Any) -> str:  # noqa: ANN401 - a function written in C
    """Return the module of a function, or the name of the class that a method is called on."""
    held = called.__self__
    if isinstance(held, ModuleType) or held is None:
        return str(called.__module__ or "")
    kind = held if isinstance(held, type) else type(held)
    return kind.__name__
