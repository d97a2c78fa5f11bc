"""Replaces the result of calls of a function: the function itself runs as ever.

The function gets the code of a trampoline with the same signature. That hands the arguments to a
handler, which calls a twin of the function that has the old code.
"""

from __future__ import annotations

import ast
import sys
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

from pytest_bayesloc.rerun.calls import CO_SUSPENDS
from pytest_bayesloc.rerun.sides import literal_of
from pytest_bayesloc.rerun.swap import codes_in, key_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pytest_bayesloc.rerun.link import Message
    from pytest_bayesloc.rerun.swap import CodeKey

VARARGS, VARKEYWORDS = 0x04, 0x08
#: Values that an argument and a result often share by chance.
COMMON = frozenset({"None", "True", "False"})
NAME = "_bayesloc_called"  # of the trampoline while it is compiled


class ForcedCalls:
    """Says what the calls of one function give back.

    Args:
        message: The fields of a ``domain.inspection.ForcedResult``.
        on_replaced: Called when a call gives back something else.
    """

    def __init__(self, message: Message, on_replaced: Callable[[], None]) -> None:
        self._value: str = message["value"]
        self._instead: str = message["instead"]
        self._on_replaced = on_replaced

    def call(
        self, real: FunctionType, args: Sequence[object], keywords: Mapping[str, object]
    ) -> object:
        """Call ``real``; return its result, or what stands for it."""
        result = real(*args, **keywords)
        if literal_of(result) != self._instead or self._is_given([*args, *keywords.values()]):
            return result
        self._on_replaced()
        return ast.literal_eval(self._value)

    def _is_given(self, values: Sequence[object]) -> bool:
        """Return whether the value was not made by the function, but is an argument of it."""
        is_telling = self._instead not in COMMON
        return is_telling and any(literal_of(value) == self._instead for value in values)


class Trampolines:
    """The functions whose results are replaced, by number."""

    def __init__(self) -> None:
        self._known: list[tuple[FunctionType, ForcedCalls]] = []

    def call(self, number: int, args: Sequence[object], keywords: Mapping[str, object]) -> object:
        """Call the function ``number``; the code of trampolines does."""
        real, calls = self._known[number]
        return calls.call(real, args, keywords)

    def place(self, functions: Iterable[FunctionType], key: CodeKey, calls: ForcedCalls) -> int:
        """Let ``calls`` decide what those of ``functions`` that have ``key`` give back.

        Functions that suspend are left alone: they give back what they yield, later.

        Returns:
            The number of functions.
        """
        chosen = [
            function
            for function in functions
            if key_of(function.__code__) == key and not function.__code__.co_flags & CO_SUSPENDS
        ]
        for function in chosen:
            code, number = function.__code__, len(self._known)
            self._known.append((_twin(function), calls))
            function.__code__ = trampoline(code, number)
        return len(chosen)


def _twin(function: FunctionType) -> FunctionType:
    twin = FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    twin.__kwdefaults__ = function.__kwdefaults__
    return twin


def trampoline(code: CodeType, number: int) -> CodeType:
    """Return code with the signature and the free variables of ``code`` that calls ``number``.

    The names behind the ``return`` are never read: they make the compiler close over them.
    """
    free = code.co_freevars
    call = f"return __bayesloc__.forced.call({number}, {_arguments(code)})"
    text = f"def {NAME}({_parameters(code)}): {'; '.join((call, *free))}\n"
    if free:
        text = f"def around():\n {' = '.join(free)} = None\n {text}"
    module = compile(text, code.co_filename, "exec", dont_inherit=True)
    made = next(inner for inner in codes_in(module) if inner.co_name == NAME)
    names: dict[str, Any] = {"co_name": code.co_name, "co_firstlineno": code.co_firstlineno}
    if sys.version_info >= (3, 11):
        names["co_qualname"] = code.co_qualname
    return made.replace(**names)


def _split(code: CodeType) -> tuple[list[str], list[str], list[str], str, str]:
    """Return its parameters: by position only, also by position, by name only, rest, more."""
    n_positional, n_named = code.co_argcount, code.co_argcount + code.co_kwonlyargcount
    names = list(code.co_varnames)
    rest = names[n_named:]
    more = rest.pop(1 if code.co_flags & VARARGS else 0) if code.co_flags & VARKEYWORDS else ""
    return (
        names[: code.co_posonlyargcount],
        names[code.co_posonlyargcount : n_positional],
        names[n_positional:n_named],
        rest[0] if code.co_flags & VARARGS else "",
        more,
    )


def _parameters(code: CodeType) -> str:
    before, named, only_named, rest, more = _split(code)
    parts = [*before, *(["/"] if before else []), *named]
    if rest or only_named:
        parts.append(f"*{rest}")
    parts += only_named
    return ", ".join([*parts, f"**{more}"] if more else parts)


def _arguments(code: CodeType) -> str:
    before, named, only_named, rest, more = _split(code)
    positional = [*before, *named, *([f"*{rest}"] if rest else [])]
    keywords = [f"{name!r}: {name}" for name in only_named] + ([f"**{more}"] if more else [])
    return f"[{', '.join(positional)}], {{{', '.join(keywords)}}}"
