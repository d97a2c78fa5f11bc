"""Replacing the code of functions that exist already."""

from __future__ import annotations

import gc
import os
from types import FunctionType
from typing import TYPE_CHECKING

from pytest_bayesloc.rerun.compiled import CodeKey, codes_in, key_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import CodeType


class FunctionIndex:
    """The functions alive in this process, by file.

    Made before ``gc.freeze()``, which hides objects from the scan.
    """

    def __init__(self) -> None:
        self._by_file: dict[str, list[FunctionType]] = {}
        self._real: dict[str, str] = {}
        for thing in gc.get_objects():
            if type(thing) is FunctionType:
                self._by_file.setdefault(self._path(thing.__code__), []).append(thing)

    def _path(self, code: CodeType) -> str:
        name = code.co_filename
        known = self._real.get(name)
        if known is None:
            known = self._real[name] = os.path.realpath(name)
        return known

    def swap(self, filename: str, module: CodeType, keys: Sequence[CodeKey]) -> int:
        """Give every function of ``filename`` with one of ``keys`` its code from ``module``.

        Returns:
            The number of functions that run other code now.

        Raises:
            ValueError: If a function's free variables would change.
        """
        wanted = set(keys)
        fresh = {key_of(code): code for code in codes_in(module) if key_of(code) in wanted}
        n_swapped = 0
        for function in self._by_file.get(os.path.realpath(filename), ()):
            code = fresh.get(key_of(function.__code__))
            if code is not None:
                function.__code__ = code
                n_swapped += 1
        return n_swapped
