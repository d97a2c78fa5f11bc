"""Looks into objects without running code of theirs."""

from __future__ import annotations

import builtins
from collections import OrderedDict, defaultdict, deque
from functools import partial
from itertools import islice
from types import (
    BuiltinFunctionType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    ModuleType,
)
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


MAX_ATTRIBUTES = 50
MAX_ELEMENTS = 100
MAX_DEPTH = 4
MAX_PARTS = 100  # of one value
MAX_TEXT = 1_000  # characters of one text; of a longer one its length is told
SHORT_TEXT = 20  # the compiler makes one object of equal short texts
SMALL = 256  # Python keeps one object of each integer up to here

Contents = dict[Any, Any]  # per attribute, index or key, the value

SEQUENCES = (list, tuple, deque)
SETS = (set, frozenset)
# Equal to dict before 3.15, where the other one is built in.
_FROZEN_DICT: Any = getattr(builtins, "frozendict", dict)
MAPPINGS = (dict, defaultdict, OrderedDict, _FROZEN_DICT)
_CONTAINERS = (*SEQUENCES, *SETS, *MAPPINGS)
_UNSET = object()
ATOMS = (type(None), bool, int, float, complex, str, bytes)
_CLOSED = (ModuleType, FunctionType, BuiltinFunctionType)
_KEYS = (str, int)  # others may have an ``__eq__`` of their own
# Of ``type`` itself: a metaclass of the project may have its own.
_mro = type.__dict__["__mro__"].__get__
namespace_of = type.__dict__["__dict__"].__get__
_qualname = type.__dict__["__qualname__"].__get__
_layouts: dict[type, tuple[Callable[..., Any] | None, tuple[tuple[str, Any], ...]]] = {}


def contents_of(value: object) -> Contents | None:
    """Return the attributes or elements of ``value``, as far as it has any, capped."""
    kind: Any = type(value)
    held: Any = value
    if kind in SEQUENCES or kind in SETS:
        return dict(enumerate(islice(held, MAX_ELEMENTS)))
    if kind in MAPPINGS:
        pairs = enumerate(islice(kind.items(held), MAX_ELEMENTS))
        return {key if type(key) in _KEYS else f"#{n}": child for n, (key, child) in pairs}
    read, slots = _layouts.get(kind) or _layout(kind)
    if read is None and not slots:
        return None
    attributes = read(value) if read is not None else {}
    found: Contents = {}
    if type(attributes) is dict:
        found.update(islice(attributes.items(), MAX_ATTRIBUTES))
    for name, slot in slots:
        child = _in_slot(slot, value)
        if child is not _UNSET:
            found[name] = child
    return found


def attributes_of(value: object) -> Iterator[tuple[object, Callable[[Any], object]]]:
    """Yield what the attributes of ``value`` hold, each with what puts another object there."""
    kind = type(value)
    read, slots = _layouts.get(kind) or _layout(kind)
    attributes = read(value) if read is not None else None
    if type(attributes) is dict:
        for name, child in list(attributes.items()):
            yield child, partial(attributes.__setitem__, name)
    for _, slot in slots:
        if (child := _in_slot(slot, value)) is not _UNSET:
            yield child, partial(slot.__self__.__set__, value)


def parts_of(value: object) -> Iterator[tuple[str, str]]:
    """Yield the path of each part of ``value`` and its text: ``["items"][2].price`` and ``None``.

    The first path is empty, for the value as a whole; parts are capped.
    """
    return islice(_parts(value, "", MAX_DEPTH), MAX_PARTS)


def _parts(value: object, path: str, depth: int) -> Iterator[tuple[str, str]]:
    kind: Any = type(value)
    held = None if kind in ATOMS or depth == 0 else contents_of(value)
    yield path, _text(value)
    if kind in SETS:
        return
    for key, child in (held or {}).items():
        if kind in _CONTAINERS:
            step = f"[{_text(key)}]" if type(key) in _KEYS else f"[{key}]"
        else:
            step = f".{key}"
        yield from _parts(child, path + step, depth - 1)


def _text(value: Any) -> str:  # noqa: ANN401 - any object
    """Return a plain value as Python writes it; of all else its type, and of some its length."""
    kind = type(value)
    if kind in _CONTAINERS and not value:
        return repr(value)
    if kind in SETS and len(value) <= MAX_ELEMENTS and all(type(item) in ATOMS for item in value):
        text = ", ".join(sorted(map(repr, value)))
        return f"{{{text}}}" if len(text) <= MAX_TEXT else f"set of {len(value)}"
    if kind in _CONTAINERS:
        return f"{_qualname(kind)} of {len(value)}"
    if kind in (str, bytes) and len(value) > MAX_TEXT:
        return f"{_qualname(kind)} of {len(value)} characters"
    if kind is int and value.bit_length() > MAX_TEXT:
        return "int"  # Python refuses to write the longest ones
    return repr(value) if kind in ATOMS else str(_qualname(kind))


def _in_slot(slot: Any, value: object) -> object:  # noqa: ANN401
    try:
        return slot(value)
    except AttributeError:
        return _UNSET


def _layout(kind: type) -> tuple[Callable[..., Any] | None, tuple[tuple[str, Any], ...]]:
    """Return how attributes of instances of ``kind`` are read by its own C code alone."""
    read, slots = None, []
    if not issubclass(_mro(kind)[0], type) and kind not in _CLOSED:
        for base in _mro(kind):
            own = namespace_of(base)
            descriptor = own.get("__dict__")
            if read is None and type(descriptor) is GetSetDescriptorType:
                read = descriptor.__get__
            slots += [
                (name, member.__get__)
                for name, member in own.items()
                if type(member) is MemberDescriptorType and not name.startswith("__")
            ]  # what Python keeps of an exception is no data
    _layouts[kind] = read, tuple(slots[:MAX_ATTRIBUTES])
    return _layouts[kind]


def classes_of(value: object) -> list[str]:
    """Return the names of the classes that ``value`` is an instance of, ``object`` left out."""
    return [_qualname(kind) for kind in _mro(type(value))[:-1]]


def is_object(value: object) -> bool:
    """Return whether ``value`` has attributes of its own, and is no built-in container."""
    return type(value) not in _CONTAINERS and bool(contents_of(value))


def is_shared(value: object) -> bool:
    """Return whether ``value`` may be the same object elsewhere by chance alone."""
    kind = type(value)
    if kind is int:
        return -SMALL <= value <= SMALL  # type: ignore[operator]
    if kind in (str, bytes):
        return len(value) <= SHORT_TEXT  # type: ignore[arg-type]
    if kind in (tuple, frozenset):
        return not value
    return value is None or kind is bool or kind is FunctionType or issubclass(kind, type)
