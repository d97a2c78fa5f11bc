"""Puts patched code in place: in the functions that exist, or in what an import loads.

Line numbers stay those of the file on disk.
"""

from __future__ import annotations

import builtins
import difflib
import gc
import io
import os
import pathlib
import re
import sys
import tempfile
from contextlib import suppress
from functools import cache
from importlib.machinery import SourceFileLoader
from importlib.util import find_spec
from itertools import accumulate, takewhile
from types import FunctionType
from typing import IO, TYPE_CHECKING, Any, cast

from pytest_bayesloc.domain.source import compile_tree, lines_of, parse, renumber
from pytest_bayesloc.domain.texts import common_ends

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from importlib.machinery import ModuleSpec
    from types import CodeType, ModuleType

    from pytest_bayesloc.domain.source import Unit

# First line (of a decorator, if any) and plain name identify a code object.
CodeKey = tuple[int, str]
FunctionIndex = dict[str, list[FunctionType]]


def line_map(original: str, patched: str) -> list[int]:
    """Per line of ``patched`` (index 0 unused), the line of ``original`` that it stands for.

    An inserted line stands for the line that it was inserted before, at the end of a suite for the
    line above; a changed one for the one that it replaced. Never descends.
    """
    before, after = _texts(original), _texts(patched)
    last = max(1, len(before))
    # A patch changes one function: what is equal around it needs no comparison, which is quadratic.
    head, tail = common_ends(before, after)
    middle = before[head : len(before) - tail], after[head : len(after) - tail]
    mapped = list(range(head + 1))
    matcher = difflib.SequenceMatcher(None, *middle, autojunk=False)
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        first, end, new = head + i1 + 1, head + i2, middle[1][j1:j2]
        if tag == "equal":
            mapped.extend(range(first, end + 1))
        elif tag == "insert":
            below = before[end] if end < len(before) else ""
            added = [end + (_depth(text) <= _depth(below)) for text in new]
            mapped.extend(min(max(1, n), last) for n in accumulate(added, max))
        else:
            mapped.extend(first + n for n in _replaced(middle[0][i1:i2], new))
    mapped.extend(range(len(before) - tail + 1, len(before) + 1))
    return mapped


def _texts(text: str) -> list[str]:
    return [line.rstrip("\r\n") for line in lines_of(text)]


def _replaced(before: Sequence[str], after: Sequence[str]) -> list[int]:
    """Per line of ``after``, the index of the line in ``before`` that it came from.

    They are counted off, except that what follows ``if x:`` belongs to ``if x: return y``.
    """
    found: list[int] = []
    at = -1
    for n, text in enumerate(after):
        heads = (i for i in range(at + 1, len(before)) if before[i].startswith(text))
        at = next(heads, at) if text.endswith(":") else at
        found.append(at if at >= 0 else min(n, len(before) - 1))
    return [*accumulate(reversed(found), min)][::-1]


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def excerpt(original: str, patched: str, around: Sequence[Unit]) -> tuple[str, str] | None:
    """Return both texts with all but one function left out, each line in its place.

    Of the classes around it the headers stay; all of the outermost one stays if the texts differ
    in more of it. Compiling an excerpt takes a fraction of the time that the module takes. The
    function stands last in ``around``, behind the functions and classes around it.

    Returns:
        None if the texts differ outside of the outermost one, or it is not safe to cut it out.
    """
    before, after = _texts(original), _texts(patched)
    classes = [*takewhile(lambda unit: not unit.is_function, around)]
    method = _cut(before, after, classes, around[len(classes)])
    return method or _cut(before, after, (), around[0])


def _cut(
    before: Sequence[str], after: Sequence[str], classes: Sequence[Unit], kept: Unit
) -> tuple[str, str] | None:
    first, last = kept.first_line, kept.location.end_line
    head, tail = before[: first - 1], before[last:]
    end = len(after) - len(tail)
    outermost = [*classes, kept][0]
    is_at_margin = not before[outermost.first_line - 1][:1].isspace()
    if after[: first - 1] != head or after[end:] != tail or not is_at_margin:
        return None
    futures = [line for line in head if "__future__" in line]
    if len(futures) > 1 or any(not _FUTURE.fullmatch(line) for line in futures):
        return None
    shown = [*futures, *[""] * (first - 1 - len(futures))]
    for unit in classes:
        header = slice(unit.location.start_line - 1, unit.body_line - 1)
        shown[header] = before[header]
    return (
        "\n".join([*shown, *before[first - 1 : last], ""]),
        "\n".join([*shown, *after[first - 1 : end], ""]),
    )


_FUTURE = re.compile(r"from __future__ import [\w, ]+")


def compile_patched(original: str, patched: str, filename: str) -> CodeType:
    """The module code of ``patched``, numbered like ``original``.

    Raises:
        SyntaxError: If the patched text does not compile.
        ValueError: Likewise.
    """
    tree = parse(patched, filename)
    lines = line_map(original, patched)
    if lines != [*range(len(lines))]:
        renumber(tree, lines)
    return compile_tree(tree, filename)


def codes_in(code: CodeType) -> Iterator[CodeType]:
    """``code`` and all code objects in its constants, outer ones first."""
    yield code
    for constant in code.co_consts:
        if hasattr(constant, "co_consts"):
            yield from codes_in(constant)


def key_of(code: CodeType) -> CodeKey:
    """The key of ``code``, which is the same in another compilation of the same file."""
    return code.co_firstlineno, code.co_name


# -- functions that exist


#: Kept, since forked children begin with what the server has looked up.
real_path = cache(os.path.realpath)


def functions_by_file() -> FunctionIndex:
    """Find the functions alive in this process, by the real path of their file.

    To be called before ``gc.freeze()``, which hides objects from the scan.
    """
    functions: FunctionIndex = {}
    for thing in gc.get_objects():
        if type(thing) is FunctionType:
            functions.setdefault(real_path(thing.__code__.co_filename), []).append(thing)
    return functions


def swap_code(
    functions: Iterable[FunctionType], module: CodeType, keys: Collection[CodeKey]
) -> int:
    """Give each of ``functions`` that has one of ``keys`` its code from ``module``; count them.

    Raises:
        ValueError: If a function's free variables would change.
    """
    fresh = {key_of(code): code for code in codes_in(module) if key_of(code) in keys}
    n_swapped = 0
    for function in functions:
        code = fresh.get(key_of(function.__code__))
        if code is not None:
            function.__code__ = code
            n_swapped += 1
    return n_swapped


def swap_each(functions: Iterable[FunctionType], module: CodeType) -> None:
    """Give each of ``functions`` its code from ``module``, unless it would close over others."""
    fresh = {key_of(code): code for code in codes_in(module)}
    for function in functions:
        code = fresh.get(key_of(function.__code__))
        if code is not None:
            with suppress(ValueError):
                function.__code__ = code


@cache
def text_of(path: str) -> str:
    """Return the text of a file; empty if it can't be read. Kept as ``real_path`` is."""
    try:
        return pathlib.Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeError):
        return ""


# -- imports


class OverlayLoader(SourceFileLoader):
    """Loads a module as if its file had the patched text; no byte code is read or written."""

    def __init__(self, fullname: str, path: str, original: str, patched: str) -> None:
        super().__init__(fullname, path)
        self._original = original
        self._patched = patched

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002 - importlib's signature
        """The code of the patched text, numbered like the file."""
        return compile_patched(self._original, self._patched, self.path)


class Overlay:
    """A finder for ``sys.meta_path`` that changes one file.

    Attributes:
        n_loaded: How often the changed file was loaded.
    """

    def __init__(self, filename: str, original: str, patched: str) -> None:
        self._filename = os.path.realpath(filename)
        self._original = original
        self._patched = patched
        self.n_loaded = 0

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        """The spec of the changed file, or None for every other module."""
        # Other finders know, those of editable installs among them. Other overlays are not asked:
        # each would ask all the others.
        others = (finder for finder in sys.meta_path if not isinstance(finder, Overlay))
        asked = (getattr(finder, "find_spec", None) for finder in others)
        specs: Iterator[ModuleSpec | None] = (f(fullname, path, target) for f in asked if f)
        spec = next(filter(None, specs), None)
        if spec is None or not spec.origin or os.path.realpath(spec.origin) != self._filename:
            return None
        self.n_loaded += 1
        spec.loader = OverlayLoader(fullname, spec.origin, self._original, self._patched)
        spec.cached = None
        return spec

    def install(self) -> None:
        """Answer before every other finder."""
        sys.meta_path.insert(0, self)


class WhenImported:
    """A finder for ``sys.meta_path`` that calls a function each time that a module was loaded.

    It is the loader of that module, too, which hides the real one until then.
    """

    def __init__(self, name: str, then: Callable[[], None]) -> None:
        self._name = name
        self._then = then
        self._loader: Any = None
        self._is_asking = False

    def find_spec(self, fullname: str, *_: object) -> ModuleSpec | None:
        """The spec that other finders have of the module, or None for every other one."""
        if fullname != self._name or self._is_asking:
            return None
        self._is_asking = True
        try:
            spec: Any = find_spec(fullname)
        finally:
            self._is_asking = False
        if spec is not None and spec.loader is not self:  # it is asked twice for a reload
            self._loader, spec.loader = spec.loader, self
        return cast("ModuleSpec | None", spec)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Return what the real loader makes."""
        return cast("ModuleType | None", self._loader.create_module(spec))

    def exec_module(self, module: ModuleType) -> None:
        """Have the real loader execute it, known by that name, and call the function."""
        vars(module)["__loader__"] = vars(module)["__spec__"].loader = self._loader
        self._loader.exec_module(module)
        self._then()


class DataOverlay:
    """Serves another content of a data file to all that opens it by Python to read it.

    Attributes:
        n_loaded: How often it was opened.
    """

    def __init__(self, filename: str, patched: str, scratch: str) -> None:
        self._filename = os.path.realpath(filename)
        handle, self._copy = tempfile.mkstemp(dir=scratch)
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(patched)
        self._open = io.open
        self.n_loaded = 0

    def __call__(self, file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> IO[Any]:  # noqa: ANN401 - as ``open``
        """Open the copy where the file itself is meant, else as ``open`` does."""
        if isinstance(file, (str, bytes, os.PathLike)) and not set("wax+") & set(mode):
            path = os.path.realpath(os.fsdecode(file))
            if path == self._filename:
                self.n_loaded += 1
                file = self._copy
        return self._open(file, mode, *args, **kwargs)

    def install(self) -> None:
        """Replace ``open`` wherever it is known."""
        _data.append(self)
        builtins.open = io.open = self  # type: ignore[assignment]  # it does as open does
        accessor = getattr(pathlib, "_NormalAccessor", None)  # of 3.10
        if accessor is not None:
            accessor.open = staticmethod(self)


_data: list[DataOverlay] = []


def bring_to_front() -> list[Overlay | DataOverlay]:
    """Return the overlays; those of modules answer before every other finder again."""
    overlays = [finder for finder in sys.meta_path if isinstance(finder, Overlay)]
    for overlay in overlays:
        sys.meta_path.remove(overlay)
    sys.meta_path[:0] = overlays
    return [*overlays, *_data]
