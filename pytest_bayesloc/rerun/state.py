"""Notes the state that tests share: variables of the project's modules and classes.

Values are told apart by what plain ones hold, and by the identity of all else, which is the same in
each process that a server forks. No code of the objects is run.
"""

from __future__ import annotations

import hashlib
import os
import sys
from functools import lru_cache
from types import ModuleType
from typing import TYPE_CHECKING, Any

from pytest_bayesloc.rerun.contents import contents_of, names_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

MAX_DEPTH = 5
MAX_PARTS = 2_000  # of one variable
_OF_PYTEST = "PYTEST_CURRENT_TEST"
_ATOMS = (type(None), bool, int, float, complex, str, bytes)
_SETS = (set, frozenset)
_SIZED: tuple[type, ...] = (dict, list, tuple, *_SETS)
_Cached = type(lru_cache(len))


def shared_state(name_of: Callable[[str], str]) -> dict[str, str]:
    """Return a digest for each variable of the project's modules and of their classes.

    Args:
        name_of: Names a file of the project or its tests; empty for any other.

    Returns:
        By ``file::module.variable``, or ``::os.environ['NAME']``.
    """
    state = {
        f"::os.environ[{name!r}]": _digest(value)
        for name, value in os.environ.items()
        if name != _OF_PYTEST
    }
    for name, module in list(sys.modules.items()):
        # Some put another object in the place of their module: it may run code when asked.
        file = name_of(_file_of(module)) if type(module) is ModuleType else ""
        if file:
            state.update(_variables(f"{file}::{name}", vars(module), name))
    return state


def _file_of(module: ModuleType) -> str:
    file = vars(module).get("__file__")
    return file if type(file) is str else ""


def _variables(
    prefix: str, namespace: Mapping[str, object], module: str
) -> Iterator[tuple[str, str]]:
    for name, value in list(namespace.items()):
        if type(name) is not str or (name.startswith("__") and name.endswith("__")):
            continue
        yield f"{prefix}.{name}", _digest(value)
        own = names_of(value)
        is_top = prefix.endswith(f"::{module}")
        if own is not None and is_top and _is_text(own.get("__module__"), module):
            yield from _variables(f"{prefix}.{name}", own, module)


def _is_text(value: object, text: str) -> bool:
    return type(value) is str and value == text


def _digest(value: object) -> str:
    parts: list[str] = []
    _describe(value, parts, MAX_DEPTH)
    return hashlib.blake2s("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _describe(value: Any, parts: list[str], depth: int) -> None:  # noqa: ANN401 - any object
    kind = type(value)
    held = None if kind in _ATOMS or depth == 0 else contents_of(value)
    if len(parts) > MAX_PARTS:
        return
    if kind in _ATOMS:
        parts.append(repr(value))
    elif kind is _Cached:
        parts.append(f"{id(value)} holds {value.cache_info().currsize}")
    elif held is None:
        parts.append(f"is {id(value)}")
    elif kind in _SETS:
        parts += [f"set of {len(value)}", *sorted(map(_digest, held.values()))]
    else:
        size = len(value) if kind in _SIZED else ""
        parts.append(f"{id(kind)} of {size}")
        for key, child in held.items():
            parts.append(repr(key))
            _describe(child, parts, depth - 1)
