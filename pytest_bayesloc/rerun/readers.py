"""Notes which code asks for what may differ between runs: the clock, chance, folders, threads."""

from __future__ import annotations

import sys
import threading
from pathlib import PurePath
from types import FrameType, ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_PLACES = 10  # of one condition
MAX_DEPTH = 40  # frames between a call and the code that asks

#: By a function written in C, as its module or the class it is called on, and its name.
_BUILT_IN = {
    ("time", "time"): "clock", ("time", "time_ns"): "clock", ("time", "strftime"): "clock",
    ("time", "gmtime"): "clock", ("time", "localtime"): "clock time-zone",
    ("time", "ctime"): "clock time-zone", ("time", "mktime"): "time-zone",
    ("time", "sleep"): "waiting", ("datetime", "now"): "clock time-zone",
    ("datetime", "utcnow"): "clock", ("datetime", "today"): "clock time-zone",
    ("date", "today"): "clock time-zone", ("datetime", "fromtimestamp"): "time-zone",
    ("date", "fromtimestamp"): "time-zone", ("datetime", "astimezone"): "time-zone",
    ("datetime", "timestamp"): "time-zone", ("posix", "listdir"): "listing",
    ("posix", "scandir"): "listing", ("posix", "urandom"): "random",
    ("Random", "random"): "random", ("Random", "getrandbits"): "random",
    ("Random", "seed"): "", ("_thread", "start_new_thread"): "threads",
    ("_thread", "start_joinable_thread"): "threads", ("_locale", "setlocale"): "set-locale",
    ("_locale", "localeconv"): "locale",
    ("_io", "open"): "locale folder", ("io", "open"): "locale folder",
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

#: A place: the project's file, the line, and first line and name of its code.
Place = tuple[str, int, int, str]


class Readers:
    """Notes the innermost code of the project for each such call, per condition.

    ``name_of`` names a file of the project or its tests, and is empty for any other.
    """

    def __init__(self, name_of: Callable[[str], str]) -> None:
        self._name_of = name_of
        self._found: dict[str, dict[Place, None]] = {}
        self._before: Any = None

    def start(self) -> None:
        """Begin with a test."""
        self._found = {}
        self._before = sys.getprofile()
        threading.setprofile(self._saw)
        sys.setprofile(self._saw)

    def stop(self) -> dict[str, list[Place]]:
        """End it and return the places, by the names of conditions."""
        sys.setprofile(self._before)
        threading.setprofile(self._before)
        return {name: list(places) for name, places in self._found.items()}

    def _saw(self, frame: FrameType, event: str, called: Any) -> None:  # noqa: ANN401 - what it is given
        if event == "c_call":
            names = _BUILT_IN.get((_owner(called), called.__name__), "")
            caller: FrameType | None = frame
        elif event == "call":
            file, name = PurePath(frame.f_code.co_filename).name, frame.f_code.co_name
            names = _PYTHON.get((file, name)) or _PYTHON.get((file, "*"), "")
            if file in {"os.py", "<frozen os>"} and name == "__getitem__":
                names = f"variable:{frame.f_locals.get('key', '')}"
            caller = frame.f_back
        else:
            return
        if names and (place := self._place(caller)) is not None:
            for condition in names.split():
                places = self._found.setdefault(condition, {})
                if len(places) < MAX_PLACES:
                    places[place] = None

    def _place(self, frame: FrameType | None) -> Place | None:
        for _ in range(MAX_DEPTH):
            if frame is None:
                return None
            code = frame.f_code
            if file := self._name_of(code.co_filename):
                name = getattr(code, "co_qualname", code.co_name)
                return file, frame.f_lineno, code.co_firstlineno, name
            frame = frame.f_back
        return None


def _owner(called: Any) -> str:  # noqa: ANN401 - a function written in C
    """Return the module of a function, or the name of the class that a method is called on."""
    held = called.__self__
    if isinstance(held, ModuleType) or held is None:
        return str(called.__module__ or "")
    kind = held if isinstance(held, type) else type(held)
    return kind.__name__
