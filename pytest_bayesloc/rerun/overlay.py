"""An import hook that serves the changed text of one file from memory."""

from __future__ import annotations

import builtins
import io
import json
import os
import pathlib
import sys
import tempfile
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from pytest_bayesloc.rerun.compiled import compile_patched
from pytest_bayesloc.rerun.wire import SERVER_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import CodeType, ModuleType


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
        spec = self._spec(fullname, path, target)
        if spec is None or not spec.origin or os.path.realpath(spec.origin) != self._filename:
            return None
        self.n_loaded += 1
        spec.loader = OverlayLoader(fullname, spec.origin, self._original, self._patched)
        spec.cached = None
        return spec

    def _spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None
    ) -> ModuleSpec | None:
        """What the other finders say, those of editable installs among them.

        Other overlays are not asked: each would ask all the others.
        """
        for finder in sys.meta_path:
            find_spec = getattr(finder, "find_spec", None)
            if not isinstance(finder, Overlay) and find_spec is not None:
                spec: ModuleSpec | None = find_spec(fullname, path, target)
                if spec is not None:
                    return spec
        return None

    def install(self) -> None:
        """Answer before every other finder."""
        sys.meta_path.insert(0, self)


class DataOverlay:
    """Another content of a data file, for all that opens it by Python to read it.

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
        """What ``open`` gives, of the copy where the file itself is meant."""
        if isinstance(file, (str, bytes, os.PathLike)) and not set("wax+") & set(mode):
            path = os.path.realpath(os.fsdecode(file))
            if path == self._filename:
                self.n_loaded += 1
                file = self._copy
        return self._open(file, mode, *args, **kwargs)

    def install(self) -> None:
        """Stand in for ``open``, wherever it is known."""
        _data.append(self)
        builtins.open = io.open = self  # type: ignore[assignment]  # it does as open does
        accessor = getattr(pathlib, "_NormalAccessor", None)  # of 3.10
        if accessor is not None:
            accessor.open = staticmethod(self)


_data: list[DataOverlay] = []


def install_all() -> None:
    """Put in place what the process was started with, before pytest is there.

    Its own start may import code under test: for a filter of warnings that names a class of the
    project's, or because the project is a plugin.
    """
    spec = json.loads(Path(os.environ[SERVER_VARIABLE]).read_text(encoding="ascii"))
    patches = spec["once"].get("patches", ()) if spec["once"] else ()
    for patch in patches:
        if patch["filename"].endswith(".py"):
            Overlay(patch["filename"], patch["original"], patch["patched"]).install()
        else:
            DataOverlay(patch["filename"], patch["patched"], spec["scratch"]).install()


def bring_to_front() -> list[Overlay | DataOverlay]:
    """The overlays; those of modules answer before every other finder again, such as pytest's."""
    overlays = [finder for finder in sys.meta_path if isinstance(finder, Overlay)]
    for overlay in overlays:
        sys.meta_path.remove(overlay)
    sys.meta_path[:0] = overlays
    return [*overlays, *_data]
