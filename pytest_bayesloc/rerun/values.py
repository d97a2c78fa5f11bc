"""Puts other values in the place of variables and of parameters' defaults.

Which ones, the two sides of a comparison that failed say, as far as they are plain values.
"""

from __future__ import annotations

import ast
import sys
import unittest
from enum import Enum, EnumMeta
from traceback import walk_tb
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from pytest_bayesloc.rerun.swap import key_of, real_path

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_bayesloc.rerun.swap import FunctionIndex


MAX_TEXT = 2000
MAX_PARTS = 500
OPERATORS = frozenset({"==", "is"})
_ATOMS = (type(None), bool, int, float, str, bytes)
_SEQUENCES = (list, tuple, set)
_mro = type.__dict__["__mro__"].__get__  # asks no metaclass of the project's
_EQUAL = unittest.TestCase.assertEqual.__code__


class Sides:
    """A plugin that keeps the sides of the last comparison of the running test that failed.

    Attributes:
        texts: As literals, the left or first one first; empty for one that is no plain value.
    """

    def __init__(self) -> None:
        self.texts: list[str] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_assertrepr_compare(self, op: str, left: object, right: object) -> None:
        """Note the sides of a comparison in an ``assert`` statement."""
        is_equality = op in OPERATORS
        self.texts = [literal_of(left), literal_of(right)] if is_equality else []

    @pytest.hookimpl(tryfirst=True)
    def pytest_exception_interact(self, call: pytest.CallInfo[Any]) -> None:
        """Note the arguments of ``assertEqual``, if that raised the exception."""
        for frame, _ in walk_tb(call.excinfo.tb if call.excinfo is not None else None):
            if frame.f_code is _EQUAL:
                values = frame.f_locals
                self.texts = [literal_of(values["first"]), literal_of(values["second"])]


def literal_of(value: object) -> str:
    """Return the text that ``ast.literal_eval`` makes ``value`` of; empty if it is not plain.

    Nothing of an object of the project's is called: only exact built-in types are looked into. An
    object of a subclass of ``str`` (``markupsafe.Markup``) stands for its text.
    """
    if str in _mro(type(value)):
        value = str.__str__(value)  # makes a plain one
    if not _is_plain(value):
        return ""
    text = repr(value)
    try:
        is_same = len(text) <= MAX_TEXT and ast.literal_eval(text) == value
    except (SyntaxError, ValueError, MemoryError, RecursionError):  # ``inf``, or nested too deep
        return ""
    return text if is_same else ""  # ``nan`` equals nothing


def _is_plain(value: object) -> bool:
    pending, n_parts = [value], 0
    while pending:
        part = pending.pop()
        n_parts += 1
        kind = type(part)
        if n_parts > MAX_PARTS:  # too much, or it holds itself
            return False
        if kind is dict:
            pending += [*part.keys(), *part.values()]  # type: ignore[attr-defined]
        elif kind in _SEQUENCES:
            pending += part  # type: ignore[arg-type]
        elif kind not in _ATOMS or (kind in (str, bytes) and len(part) > MAX_TEXT):  # type: ignore[arg-type]
            return False
    return True


# -- variables and defaults


def put_value(wanted: Mapping[str, Any], functions: FunctionIndex) -> int:
    """Put what an ``OtherValue`` holds, in its ``filename``; return in how many places it stands.

    It goes into a variable of a module or class, or into the default of a parameter of one of
    ``functions``. A container is changed as it stands; another value replaces the old one in each
    module that imported it by its name. What was computed from it before stays as it is.
    """
    path, name = real_path(wanted["filename"]), wanted["name"]
    code = compile(wanted["text"], path, "eval", dont_inherit=True)
    if wanted["first_line"]:
        key = wanted["first_line"], wanted["owner"].rpartition(".")[2]
        own = [f for f in functions.get(path, ()) if key_of(f.__code__) == key]
        return sum(_put_default(function, name, code) for function in own)
    files = [(module, getattr(module, "__file__", None)) for module in list(sys.modules.values())]
    modules = [m for m, file in files if isinstance(file, str) and real_path(file) == path]
    return sum(_put_variable(module, wanted["owner"], name, code) for module in modules)


def _put_default(function: FunctionType, name: str, code: CodeType) -> int:
    given, keywords = function.__defaults__ or (), function.__kwdefaults__ or {}
    value = eval(code, function.__globals__)  # noqa: S307 - an expression that only computes
    if name in keywords:
        keywords[name] = value
        return 1
    own = function.__code__
    names = own.co_varnames[own.co_argcount - len(given) : own.co_argcount]
    pairs = zip(names, given, strict=True)
    function.__defaults__ = tuple(value if one == name else old for one, old in pairs)
    return int(name in names)


def _put_variable(module: ModuleType, owner: str, name: str, code: CodeType) -> int:
    holder: Any = module
    for part in filter(None, owner.split(".")):
        holder = vars(holder).get(part, holder)
    if name not in vars(holder):
        return 0
    old = vars(holder)[name]
    new = eval(code, vars(module), dict(vars(holder)))  # noqa: S307 - likewise
    if isinstance(holder, EnumMeta):
        if not isinstance(old, Enum) or isinstance(old, (int, str)):
            return 0  # a member that is a number or text keeps its own
        vars(old)["_value_"] = new
        return 1
    if type(old) is type(new) and isinstance(old, (dict, list, set)):
        old.clear()
        old.extend(new) if isinstance(old, list) else old.update(new)
        return 1
    if isinstance(holder, type):
        setattr(holder, name, new)
        return 1
    users = [vars(user) for user in list(sys.modules.values()) if isinstance(user, ModuleType)]
    same = [variables for variables in users if variables.get(name) is old]
    for variables in same:
        variables[name] = new
    return len(same)
