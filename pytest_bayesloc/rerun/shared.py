"""The state that tests share: reads it, tells it apart, and puts parts of it back.

Variables of the project's modules and classes are told apart by what plain values hold, and by the
identity of all else, which is the same in each process that a server forks. No code of the project
runs for it. Beside them stands what a process holds: its environment, its folder, the numbers of
``random``, handlers of logging, files; and functions of other modules that were replaced.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from pytest_bayesloc.rerun.contents import (
    ATOMS,
    MAPPINGS,
    SETS,
    contents_of,
    namespace_of,
    parts_of,
)

if TYPE_CHECKING:
    from collections.abc import Generator

    from pytest_bayesloc.domain.inspection import Change

MAX_STATE_DEPTH = 5
MAX_STATE_PARTS = 2_000  # of one variable
MAX_CHANGES = 3  # parts of a variable that are told
MAX_FILES = 3_000
MAX_KEPT = 100_000  # bytes of one file that are kept
_OF_PYTEST = "PYTEST_CURRENT_TEST"
_SIZED: tuple[type, ...] = (dict, list, tuple, *SETS)
_Cached = type(lru_cache(len))
_CALLED = (FunctionType, BuiltinFunctionType, type)
_TOOLS = ("pytest", "_pytest", "pluggy", "coverage", "xdist", "pytest_bayesloc", "py")
#: What unittest and pytest note in modules and classes of tests, for themselves.
_BOOKKEEPING = re.compile(
    r"tearDown_exceptions$|_class_cleanups$|_classSetupFailed$|_moduleSetUpFailed$"
    r"|_testMethod\w+$|pytestmark$|_pytest|_xunit_|__unittest|@py_"
)
_FOLDER = Path.cwd()  # of a server, before a test changes it
_NO_FOLDERS = frozenset({"__pycache__", "node_modules", "site-packages", "venv"})

NameOf = Callable[[str], str]


class Place(NamedTuple):
    """A variable: its value, and how to give it another or to remove it."""

    value: Any
    put: Callable[[Any], object]
    drop: Callable[[], object]


def shared_state(name_of: NameOf) -> dict[str, str]:
    """Return a digest for each variable that tests share.

    Args:
        name_of: Names a file of the project or its tests; empty for any other.

    Returns:
        By ``file::module.variable``, ``::os.environ['NAME']``, ``::module.function`` of a module
        that is not the project's, or ``::the working directory`` and the like.
    """
    state = {name: _digest(place.value) for name, place in variables(name_of)}
    state |= {f"::{name}": repr(read()) for name, (read, _) in _process().items()}
    # Functions and classes of other modules are told apart by their identity.
    for name, module in list(sys.modules.items()):
        if type(module) is not ModuleType or name.partition(".")[0] in _TOOLS:
            continue
        path = vars(module).get("__file__")
        if type(path) is str and name_of(path):
            continue
        for attribute, value in list(vars(module).items()):
            if type(value) in _CALLED:
                state[f"::{name}.{attribute}"] = str(id(value))
    return state


def changed_state(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """List the variables that differ between two answers of ``shared_state``.

    What was imported meanwhile differs as a whole, and says nothing.
    """
    known = {name.rpartition(".")[0] for name in before}
    return sorted(
        name
        for name in {*before, *now}
        if before.get(name) != now.get(name)
        and (name in before or name.rpartition(".")[0] in known)
    )


class KeptState:
    """The values of some shared variables, as they are when this is made.

    ``names`` are those of ``shared_state``.
    """

    def __init__(self, names: Iterable[str], name_of: NameOf) -> None:
        self._name_of = name_of
        self._names = frozenset(names)
        self._before = dict(self._places())
        self._kept = {name: _keep(place.value, {}) for name, place in self._before.items()}
        self._parts = {name: _parts(place.value) for name, place in self._before.items()}
        self._contents = _contents() if "::files" in self._names else {}

    def changes(self) -> dict[str, list[Change]]:
        """Return per variable the first parts that differ from what they were."""
        now = {name: _parts(place.value) for name, place in self._places()}
        before = self._parts
        return {name: _differing(before.get(name, {}), now.get(name, {})) for name in self._names}

    def restore(self) -> None:
        """Put all of them back as they were; what was not there goes."""
        for name, place in dict(self._places()).items():
            if name not in self._before:
                place.drop()
        for name, place in self._before.items():
            place.put(self._kept[name]())
        for path, content in self._contents.items():
            if _content(path) != content:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
        getattr(time, "tzset", lambda: None)()  # ``TZ`` may be among them

    def _places(self) -> Iterator[tuple[str, Place]]:
        for name, place in variables(self._name_of):
            if name in self._names:
                yield name, place
        for name, (read, put) in _process().items():
            if f"::{name}" in self._names:
                yield f"::{name}", Place(read(), put, lambda: None)
        for name in self._names:
            module, _, attribute = name.removeprefix("::").rpartition(".")
            found = sys.modules.get(module) if name.startswith("::") else None
            if found is not None and attribute in vars(found):
                yield name, _in_module(vars(found), attribute)


class SharedFixtures:
    """Watches the values of the project's fixtures that several tests share.

    A pytest plugin. ``name_of`` is that of ``shared_state``.
    """

    def __init__(self, name_of: NameOf) -> None:
        self._name_of = name_of
        self._made: dict[str, tuple[pytest.FixtureDef[Any], str, dict[str, str]]] = {}

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[Any]
    ) -> Generator[None, object, object]:
        """Note the value as it was made."""
        value = yield
        code = getattr(fixturedef.func, "__code__", None)
        file = self._name_of(code.co_filename) if code is not None else ""
        if file and fixturedef.scope != "function":
            name = f"{file}::fixture {fixturedef.argname}"
            self._made[name] = fixturedef, _digest(value), _parts(value)
        return value

    def changes(self) -> dict[str, list[Change]]:
        """Return the fixtures whose values differ from what was made, with the first parts."""
        changed = {}
        for name, (definition, digest, parts) in self._made.items():
            result = definition.cached_result
            if result is not None and _digest(result[0]) != digest:
                changed[name] = _differing(parts, _parts(result[0]))
        return changed

    def restore(self, names: Iterable[str], item: pytest.Item) -> None:
        """Tear fixtures down, such that the next test gets them made anew."""
        for name in names:
            if name in self._made:
                self._made[name][0].finish(item._request)  # type: ignore[attr-defined] # noqa: SLF001


# -- where it is

_WRAPPED = (staticmethod, classmethod)


def variables(name_of: NameOf) -> Iterator[tuple[str, Place]]:
    """Yield the variables that tests share, by the names that ``shared_state`` has for them."""
    for name, value in list(os.environ.items()):
        if name != _OF_PYTEST:
            put = partial(os.environ.__setitem__, name)
            yield f"::os.environ[{name!r}]", Place(value, put, partial(os.environ.pop, name, None))
    for name, module in list(sys.modules.items()):
        # Some put another object in the place of their module: it may run code when asked.
        path = vars(module).get("__file__") if type(module) is ModuleType else None
        if type(path) is str and (file := name_of(path)):
            yield from _in_namespace(f"{file}::{name}", vars(module), name)


def _in_namespace(
    prefix: str, namespace: Mapping[str, object], module: str
) -> Iterator[tuple[str, Place]]:
    for name, value in list(namespace.items()):
        is_own = type(name) is str and not _BOOKKEEPING.match(name)
        if not is_own or (name.startswith("__") and name.endswith("__")):
            continue
        yield f"{prefix}.{name}", _in_module(namespace, name)
        if type(value) is FunctionType:
            yield from _of_function(f"{prefix}.{name}", value)
        elif issubclass(type(value), type) and prefix.endswith(f"::{module}"):
            own = namespace_of(value)
            home = own.get("__module__")
            if type(home) is str and home == module:
                yield from _of_class(f"{prefix}.{name}", value, own)


def _of_function(prefix: str, function: FunctionType) -> Iterator[tuple[str, Place]]:
    for held in ("__defaults__", "__kwdefaults__", "__dict__"):
        if own := getattr(function, held):
            # What it holds is put back in place; another tuple may stand for the defaults.
            yield f"{prefix}.{held}", Place(own, partial(setattr, function, held), lambda: None)


def _of_class(prefix: str, kind: Any, own: Mapping[str, object]) -> Iterator[tuple[str, Place]]:  # noqa: ANN401
    for name, value in list(own.items()):
        is_own = type(name) is str and not _BOOKKEEPING.match(name)
        if is_own and (type(value) in ATOMS or not name.startswith("__")):
            put, drop = partial(type.__setattr__, kind, name), partial(type.__delattr__, kind, name)
            yield f"{prefix}.{name}", Place(value, put, drop)
        method = getattr(value, "__func__", value) if type(value) in _WRAPPED else value
        if type(method) is FunctionType:
            yield from _of_function(f"{prefix}.{name}", method)


def _in_module(namespace: Any, name: str) -> Place:  # noqa: ANN401 - of a module
    return Place(
        namespace[name], partial(namespace.__setitem__, name), lambda: namespace.pop(name, None)
    )


# -- of the process


def _process() -> dict[str, tuple[Callable[[], Any], Callable[[Any], object]]]:
    """Return how parts of the state of the process are read and set, by their names.

    Of modules that are imported already.
    """
    known: dict[str, tuple[Callable[[], Any], Callable[[Any], object]]] = {
        "the working directory": (_folder, _go_to),
        "sys.path": (lambda: [*sys.path], partial(sys.path.__setitem__, slice(None))),
        "the recursion limit": (sys.getrecursionlimit, sys.setrecursionlimit),
        "the umask": (_umask, os.umask),
        "the threads that run": (
            lambda: sorted(thread.name for thread in threading.enumerate()), lambda _: None,
        ),
        "files": (_files, _put_files),
    }  # fmt: skip
    modules = {name: sys.modules.get(name) for name in _READERS}
    for name, module in modules.items():
        if module is not None:
            title, read, put = _READERS[name]
            known[title] = partial(read, module), partial(put, module)
    return known


def _folder() -> str:
    try:
        return str(Path.cwd())
    except FileNotFoundError:  # it was removed
        return ""


def _go_to(folder: str) -> None:
    if folder:
        os.chdir(folder)


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def _files() -> dict[str, str]:
    """Return size and time of the files of the project and of those beside temporary folders."""
    own = ("pytest-of-", "bayesloc", ".")
    told = {str(path): _told(path) for path in islice(_below(_FOLDER), MAX_FILES)}
    shared = Path(tempfile.gettempdir()).iterdir()
    others = (path for path in shared if not path.name.startswith(own))
    return told | {str(path): _told(path) for path in islice(others, MAX_FILES)}


def _below(top: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(top):
        folders[:] = [n for n in folders if n not in _NO_FOLDERS and not n.startswith(".")]
        yield from (Path(folder, name) for name in (*folders, *names))


def _told(path: Path) -> str:
    try:
        told = path.lstat()
    except OSError:
        return "gone"
    return "folder" if path.is_dir() else f"{told.st_size} bytes at {told.st_mtime_ns}"


def _contents() -> dict[Path, bytes]:
    """Return what the small files of the project hold, as far as it is not too much together."""
    left, found = MAX_KEPT * 10, {}
    for path in islice(_below(_FOLDER), MAX_FILES):
        content = _content(path)
        if content is not None and len(content) <= left:
            found[path] = content
            left -= len(content)
    return found


def _content(path: Path) -> bytes | None:
    try:
        is_small = path.is_file() and not path.is_symlink() and path.stat().st_size <= MAX_KEPT
        return path.read_bytes() if is_small else None
    except OSError:
        return None


def _put_files(before: Mapping[str, str]) -> None:
    """Remove the files that were not there."""
    for name in [name for name in _files() if name not in before]:
        path = Path(name)
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _logging(logging: Any) -> dict[str, Any]:  # noqa: ANN401 - a module
    loggers = {"root": logging.root, **logging.root.manager.loggerDict}
    state: dict[str, Any] = {
        name: [logger.level, logger.disabled, logger.propagate, [*logger.handlers]]
        for name, logger in loggers.items()
        if isinstance(logger, logging.Logger)
    }
    return {**state, " disabled": logging.root.manager.disable}


def _put_logging(logging: Any, state: Mapping[str, Any]) -> None:  # noqa: ANN401 - a module
    logging.disable(state[" disabled"])
    for name, now in _logging(logging).items():
        if name == " disabled":
            continue
        logger = logging.getLogger(None if name == "root" else name)
        level, disabled, propagate, handlers = state.get(name, [0, False, True, []])
        if now != [level, disabled, propagate, handlers]:
            logger.setLevel(level)
            logger.disabled, logger.propagate = disabled, propagate
            logger.handlers[:] = handlers


def _put_warnings(warnings: Any, filters: list[Any]) -> None:  # noqa: ANN401 - a module
    warnings.filters[:] = filters
    getattr(warnings, "_filters_mutated", lambda: None)()


def _put_patches(mock: Any, patches: list[Any]) -> None:  # noqa: ANN401 - a module
    for patch in [*_active(mock)]:
        if all(patch is not known for known in patches):
            patch.stop()


def _active(mock: Any) -> list[Any]:  # noqa: ANN401 - a module
    return [*getattr(mock._patch, "_active_patches", ())]  # noqa: SLF001 - no public way leads there


def _signals(signal: Any) -> dict[int, Any]:  # noqa: ANN401 - a module
    return {int(number): signal.getsignal(number) for number in signal.valid_signals()}


def _put_signals(signal: Any, handlers: Mapping[int, Any]) -> None:  # noqa: ANN401 - a module
    for number, handler in _signals(signal).items():
        if handler is not handlers.get(number) and handlers.get(number) is not None:
            signal.signal(number, handlers[number])


#: By the name of a module: of what, how it is read, and how it is set.
_READERS: dict[str, tuple[str, Callable[[Any], Any], Callable[[Any, Any], object]]] = {
    "random": (
        "the state of random", lambda m: repr(m.getstate()),
        lambda m, text: m.setstate(_tuples(text)),
    ),
    "decimal": (
        "the decimal context", lambda m: m.getcontext().copy(), lambda m, v: m.setcontext(v),
    ),
    "locale": (
        "the locale", lambda m: m.setlocale(m.LC_ALL), lambda m, v: m.setlocale(m.LC_ALL, v),
    ),
    "warnings": ("the filters of warnings", lambda m: [*m.filters], _put_warnings),
    "logging": ("the settings of logging", _logging, _put_logging),
    "unittest.mock": ("a patch that was started", _active, _put_patches),
    "signal": ("the handlers of signals", _signals, _put_signals),
    "socket": (
        "the time-out of sockets", lambda m: m.getdefaulttimeout(),
        lambda m, v: m.setdefaulttimeout(v),
    ),
}  # fmt: skip


def _tuples(text: str) -> Any:  # noqa: ANN401 - what ``random`` gave
    import ast

    return ast.literal_eval(text)


# -- values


def _keep(value: Any, seen: dict[int, Callable[[], Any]], depth: int = 0) -> Callable[[], Any]:  # noqa: ANN401
    """Return a call that makes ``value`` what it is now, in place, and returns it."""
    kind: Any = type(value)
    if kind in ATOMS or depth > MAX_STATE_DEPTH:
        return lambda: value
    if id(value) in seen:
        return seen[id(value)]
    seen[id(value)] = lambda: value
    inner = partial(_keep, seen=seen, depth=depth + 1)
    if kind is _Cached:
        return lambda: (value.cache_clear(), value)[1]
    if kind in (list, tuple):
        items = [inner(child) for child in value]
        return lambda: _filled(value, [back() for back in items])
    if kind is set or kind in MAPPINGS:
        held = ((member, None) for member in value) if kind is set else value.items()
        pairs = [(key, inner(child)) for key, child in held]
        return lambda: _filled(value, {key: back() for key, back in pairs})
    # Only attributes that can be read and set without code of the project.
    is_closed = issubclass(kind, (type, ModuleType, *_CALLED))
    is_plain = kind.__getattribute__ is object.__getattribute__ and not is_closed
    has_dict = is_plain and type(getattr(value, "__dict__", None)) is dict
    back = inner(value.__dict__) if has_dict else lambda: None
    return lambda: (back(), value)[1]


def _filled(value: Any, content: Any) -> Any:  # noqa: ANN401 - a list, tuple, dict or set
    kind = type(value)
    if kind is not tuple:  # which holds the same objects for ever
        kind.clear(value)
        (kind.extend if kind is list else kind.update)(value, content)
    return value


def _parts(value: Any) -> dict[str, str]:  # noqa: ANN401 - any object
    if type(value) is _Cached:
        return {"": f"{value.cache_info().currsize} cached results"}
    return dict(parts_of(value))


def _differing(before: Mapping[str, str], now: Mapping[str, str]) -> list[Change]:
    """Return the first parts that differ, the innermost of each path."""
    paths = [path for path in {**before, **now} if before.get(path) != now.get(path)]
    inner = (p for p in paths if not any(other != p and other.startswith(p) for other in paths))
    return [(p, before.get(p, ""), now.get(p, "")) for p in islice(inner, MAX_CHANGES)]


def _digest(value: object) -> str:
    parts: list[str] = []
    _describe(value, parts, MAX_STATE_DEPTH)
    return hashlib.blake2s("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _describe(value: Any, parts: list[str], depth: int) -> None:  # noqa: ANN401 - any object
    kind = type(value)
    held = None if kind in ATOMS or depth == 0 else contents_of(value)
    if len(parts) > MAX_STATE_PARTS:
        return
    if kind in ATOMS:
        parts.append(repr(value))
    elif kind is _Cached:
        parts.append(f"{id(value)} holds {value.cache_info().currsize}")
    elif held is None:
        parts.append(f"is {id(value)}")
    elif kind in SETS:
        parts += [f"set of {len(value)}", *sorted(map(_digest, held.values()))]
    else:
        size = len(value) if kind in _SIZED else ""
        parts.append(f"{id(kind)} of {size}")
        for key, child in held.items():
            parts.append(repr(key))
            _describe(child, parts, depth - 1)
