"""Gives sets that code makes another order, in a forked child, and notes who reads it.

The order of a set of texts differs from process to process. Here it is a shuffled one, which a seed
decides, so that no new process is needed, and which code depends on it can be told.

Reference:
    Shi et al.: Detecting assumptions on deterministic implementations of non-deterministic
    specifications. ICST 2016.
"""

from __future__ import annotations

import ast
import builtins
import hashlib
import sys
from functools import cache
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from pytest_bayesloc.domain.source import compile_tree, parse
from pytest_bayesloc.rerun.readers import own_frame, reader_at
from pytest_bayesloc.rerun.swap import FunctionIndex, real_path, swap_each, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
    from types import CodeType, FrameType

    from pytest_bayesloc.domain.inspection import Reader

NAME = "__bayesloc_sets__"  # of ``builtins``, by which changed code reaches ``Shuffle``
MAX_PLACES = 20
_MAKES = ("set", "frozenset")


class Shuffle:
    """Orders sets by a seed, and notes who reads the order.

    Args:
        seed: Decides the order.
        name_of: Names a file of the project or its tests; empty for any other.
        only: Line and file of the only code that gets the order; all does if it is None.
    """

    def __init__(
        self, seed: int, name_of: Callable[[str], str], only: tuple[str, int] | None
    ) -> None:
        self._seed = seed
        self._name_of = name_of
        self._only = only
        self._places: dict[Reader, None] = {}

    def start(self) -> None:
        """Begin with a test."""
        self._places = {}

    def stop(self) -> list[Reader]:
        """End it and return who read the order of a set of two or more."""
        return list(self._places)

    def install(self, functions: FunctionIndex, texts: Mapping[str, str]) -> None:
        """Change the code of ``functions``, and the sets that modules of these files hold.

        Args:
            functions: By the real paths of their files.
            texts: Of the files to change, by their paths.
        """
        setattr(builtins, NAME, self)
        for path, text in texts.items():
            code = changed_code(path, text)
            if code is not None:
                swap_each(functions.get(path, ()), code)
        held: dict[int, Any] = {}
        modules = list(sys.modules.values())
        for module in [m for m in modules if getattr(m, "__file__", None) in texts]:
            for name, value in list(vars(module).items()):
                if type(value) in (set, frozenset) and not name.startswith("__"):
                    vars(module)[name] = held.setdefault(id(value), self.of(value))

    def of(self, value: Any) -> Any:  # noqa: ANN401 - what the code made
        """Return a set with the order of this seed; anything else as it is."""
        if type(value) is set:
            return _ShuffledSet(value)
        return _ShuffledFrozenset(value) if type(value) is frozenset else value

    def order(self, items: list[Any], frame: FrameType | None) -> list[Any]:
        """Return ``items`` in the order of this seed, if the reader is to get it."""
        if len(items) < 2:
            return items
        own = own_frame(frame, self._name_of)
        while own is not None and own.f_code.co_name.startswith("<") and own.f_back is not None:
            own = own.f_back  # a comprehension is read where its function is
        place = None if own is None else reader_at(own, self._name_of)
        if place is not None and len(self._places) < MAX_PLACES:
            self._places[place] = None
        if self._only is not None and (place is None or place[:2] != self._only):
            return items
        return sorted(items, key=self._key)

    def _key(self, item: object) -> bytes:
        return hashlib.blake2s(f"{self._seed} {item!r}".encode("utf-8", "replace")).digest()


class _Shuffled:
    """The methods of sets that read the order, or give sets."""

    def __iter__(self) -> Iterator[Any]:
        shuffle: Shuffle = getattr(builtins, NAME)
        own: Any = self
        base = frozenset if isinstance(own, frozenset) else set
        return iter(shuffle.order(list(base.__iter__(own)), sys._getframe(1)))  # noqa: SLF001


def _giving_sets(base: type) -> dict[str, Any]:
    """Return methods that do what those of ``base`` do, and give shuffled sets."""

    def like(name: str) -> Any:  # noqa: ANN401 - a method
        real = getattr(base, name)

        def method(self: Any, *others: Any) -> Any:  # noqa: ANN401
            return getattr(builtins, NAME).of(real(self, *others))

        return method

    names = ("__or__", "__and__", "__sub__", "__xor__", "union", "intersection", "difference")
    return {name: like(name) for name in (*names, "symmetric_difference", "copy")}


def _pop(self: Any) -> Any:  # noqa: ANN401 - a member
    if not self:
        return set.pop(self)
    first = next(iter(self))
    self.remove(first)
    return first


_ShuffledSet: Any = type("set", (_Shuffled, set), {**_giving_sets(set), "pop": _pop})
_ShuffledFrozenset: Any = type("frozenset", (_Shuffled, frozenset), _giving_sets(frozenset))


class _Wrapper(ast.NodeTransformer):
    """Hands each set that code makes to ``Shuffle.of``."""

    def visit_Set(self, node: ast.Set) -> ast.expr:
        return _wrapped(self.generic_visit(node))

    def visit_SetComp(self, node: ast.SetComp) -> ast.expr:
        return _wrapped(self.generic_visit(node))

    def visit_Call(self, node: ast.Call) -> ast.expr:
        is_set = _makes_a_set(node)
        inner = self.generic_visit(node)
        return _wrapped(inner) if is_set else inner  # type: ignore[return-value]


def _makes_a_set(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in _MAKES
    return isinstance(node, ast.Set | ast.SetComp)


def _wrapped(node: Any) -> ast.expr:  # noqa: ANN401 - an expression
    of = ast.Attribute(value=ast.Name(id=NAME, ctx=ast.Load()), attr="of", ctx=ast.Load())
    call = ast.Call(func=of, args=[node], keywords=[])
    for part in (call, of, of.value):
        ast.copy_location(part, node)
    return call


def _making_sets(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements that make sets; of classes, only what makes some."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            node.body = [*_making_sets(node.body)]
            if node.body:
                yield node
        elif any(map(_makes_a_set, ast.walk(node))):
            yield node


@cache
def changed_code(path: str, text: str) -> CodeType | None:
    """Return the code of a file that hands each set it makes to ``Shuffle``; None if it has none.

    Functions that make none are left out. It is kept, since forked children begin with what the
    server has compiled.
    """
    try:
        tree = parse(text, path)
        imports = [n for n in tree.body if isinstance(n, ast.ImportFrom)]
        tree.body = [*_making_sets(tree.body)]
        if not tree.body:
            return None
        tree.body[:0] = [n for n in imports if n.module == "__future__"]
        return compile_tree(_Wrapper().visit(tree), path)
    except (SyntaxError, ValueError, RecursionError):
        return None


def texts_of(files: Mapping[str, str], names: Collection[str]) -> dict[str, str]:
    """Return the texts of those of ``files`` with one of ``names``, if of code, by real paths."""
    named = [path for path, name in files.items() if name in names]
    return {real_path(file): text_of(file) for file in code_files(named)}


def compile_ahead(files: Mapping[str, str], names: Collection[str]) -> None:
    """Compile what the children that are forked from now on need."""
    for path, text in texts_of(files, names).items():
        changed_code(path, text)


def code_files(paths: Iterable[str]) -> list[str]:
    """Return those of ``paths`` that are no test files: their assertions were rewritten."""
    names = ((path, PurePath(path).name) for path in paths)
    return [path for path, name in names if not name.startswith(("test_", "conftest"))]
