"""Puts other values into variables of modules and classes, and into defaults of parameters."""

from __future__ import annotations

import sys
from enum import Enum, EnumMeta
from types import ModuleType
from typing import TYPE_CHECKING, Any

from pytest_bayesloc.rerun.swap import key_of, real_path

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import CodeType, FunctionType

    from pytest_bayesloc.rerun.swap import FunctionIndex


def put_value(wanted: Mapping[str, Any], functions: FunctionIndex) -> int:
    """Give a variable of a module or class, or a parameter's default, another value.

    A container is changed as it stands; another value replaces the old one in each module that
    imported it by its name. What was computed from it before stays as it is.

    Args:
        wanted: ``filename``, and what an ``OtherValue`` holds.
        functions: Those that may have the default.

    Returns:
        In how many places it stands now.
    """
    path, name = real_path(wanted["filename"]), wanted["name"]
    code = compile(wanted["text"], path, "eval", dont_inherit=True)
    if wanted["first_line"]:
        key = wanted["first_line"], wanted["owner"].rpartition(".")[2]
        own = [f for f in functions.get(path, ()) if key_of(f.__code__) == key]
        return sum(_put_default(function, name, code) for function in own)
    modules = [module for module in list(sys.modules.values()) if _file_of(module) == path]
    return sum(_put_variable(module, wanted["owner"], name, code) for module in modules)


def _file_of(module: object) -> str:
    file = getattr(module, "__file__", None)
    return real_path(file) if isinstance(file, str) else ""


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
        return _put_member(old, new)
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


def _put_member(member: object, value: object) -> int:
    """Give a member of an enumeration another value; a number or text that is one keeps its own."""
    if not isinstance(member, Enum) or isinstance(member, (int, str)):
        return 0
    vars(member)["_value_"] = value
    return 1
