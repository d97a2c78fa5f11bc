"""Mutations of calls: another function or method, one more argument, a call where none is."""

from __future__ import annotations

import ast
import builtins
import difflib
import inspect
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from types import ModuleType

from pytest_bayesloc.domain.source import FunctionNode
from pytest_bayesloc.fixes.calls import signature_of
from pytest_bayesloc.fixes.side_effects import aliases
from pytest_bayesloc.fixes.site import Site
from pytest_bayesloc.syntax.nodes import (
    called_name,
    defaults,
    dotted,
    every_node,
    parameters,
)
from pytest_bayesloc.syntax.text import TextEdit

N_OTHERS = 6  # names that are tried in the place of one
N_PASSED = 3  # that are passed as one argument more
OF_ONE = frozenset({"bool", "float", "frozenset", "list", "set", "tuple"})  # they take one argument
#: Whose arguments are so different that nobody swaps or converts them.
TELL_APART = frozenset({"getattr", "hasattr", "isinstance", "issubclass", "setattr"})
#: Types of what is called.
CALLABLE = frozenset({"builtin_function_or_method", "function", "method", "partial", "type"})
#: Methods whose argument is a flag.
TAKE_FLAGS = frozenset({"splitlines"})


#: Built-in methods and functions that are taken for one another.
FAMILIES = (
    ("strip", "lstrip", "rstrip"),
    ("find", "rfind", "index", "rindex"),
    ("split", "rsplit", "splitlines", "partition", "rpartition"),
    ("partition", "rpartition"),
    ("startswith", "endswith"),
    ("append", "extend", "insert", "add", "update"),
    ("lower", "upper", "casefold", "title", "capitalize"),
    ("pop", "popleft", "popitem", "get"),
    ("appendleft", "append"),
    ("extendleft", "extend"),
    ("keys", "values", "items"),
    ("min", "max"),
    ("any", "all"),
    ("match", "search", "fullmatch"),
    ("remove", "discard", "pop"),
    ("ljust", "rjust", "center"),
    ("issubset", "issuperset"),
    ("union", "intersection", "difference"),
    ("floor", "ceil", "round", "trunc"),
    ("isdigit", "isalpha", "isalnum", "isspace", "isdecimal", "isnumeric"),
    ("isinstance", "issubclass"),
    ("sorted", "reversed", "list"),
    ("islower", "isupper"),
    ("setdefault", "get"),
    ("read", "readline", "readlines"),
    ("removeprefix", "removesuffix"),
    ("rstrip", "removesuffix"),
    ("lstrip", "removeprefix"),
    ("copy", "deepcopy"),
)  # fmt: skip


def similar_call(site: Site) -> Iterator[TextEdit]:
    """Call a method or function that does nearly the same."""
    for node in site.own(ast.Call):
        called = node.func
        name = called_name(node)
        kin = dict.fromkeys(n for family in FAMILIES if name in family for n in family if n != name)
        if isinstance(called, ast.Attribute):
            kin = {n: None for n in kin if n not in TAKE_FLAGS or not node.args}
            yield from renamed(site, called, kin)
        else:
            for other in kin:
                yield site.replace(called, other, f"`{name}` to `{other}`")


def renamed(
    site: Site, node: ast.Attribute, names: Iterable[str], used_of_it: str = ""
) -> Iterator[TextEdit]:
    """Use other attributes; of what is known, those that exist and have what is ``used_of_it``."""
    base, real = site.of(node.value), at_hand(site, node.value)
    is_of_module = isinstance(real, ModuleType)
    is_called = callable(attribute_of(real, node.attr))
    for name in names:
        other = attribute_of(real, name)
        is_missing = bool(used_of_it) and attribute_of(other, used_of_it) is MISSING
        if other is MISSING or is_missing or (is_of_module and callable(other) != is_called):
            continue
        yield site.replace(node, f"{base}.{name}", f"`.{node.attr}` to `.{name}`")


class _Mark:
    """Says something of a value that is not at hand; it might be called."""

    def __call__(self) -> None:
        """Do nothing."""


_UNKNOWN, MISSING = _Mark(), _Mark()


def at_hand(site: Site, node: ast.AST) -> object:
    """A module that is imported, or what one holds; of all else ``_UNKNOWN``.

    Nothing is imported for it, and no code of the project runs.
    """
    first, dot, rest = dotted(node).partition(".")
    meaning = aliases(site.tree).get(first, "")
    if not meaning or first in site.own_names:
        return _UNKNOWN
    top, *parts = f"{meaning}{dot}{rest}".split(".")
    value: object = sys.modules.get(top, _UNKNOWN)
    for part in parts:
        value = attribute_of(value, part) if isinstance(value, ModuleType) else _UNKNOWN
    return _UNKNOWN if value is MISSING else value


def attribute_of(value: object, name: str) -> object:
    """An attribute without running code; ``MISSING`` if there is none, as far as that is known."""
    if isinstance(value, _Mark):
        return value
    if isinstance(value, ModuleType) and "__getattr__" in vars(value):
        return vars(value).get(name, _UNKNOWN)
    return inspect.getattr_static(value, name, MISSING)


def call_it(site: Site) -> Iterator[TextEdit]:
    """Call a method that is only named."""
    called = {id(node.func) for node in site.own(ast.Call)}
    for node in site.own(ast.Attribute):
        is_value = isinstance(node.ctx, ast.Load) and id(node) not in called
        is_data = not CALLABLE.issuperset(site.types.get(ast.unparse(node), ()))
        if is_value and not is_data and callable(at_hand(site, node)):
            words = f"`.{node.attr}` is called"
            yield site.insert(site.end(node), "()", words, node.lineno)


def add_argument(site: Site) -> Iterator[TextEdit]:
    """Pass one argument more: a name of the function."""
    for node in site.own(ast.Call):
        if any(isinstance(a, ast.Starred) for a in node.args):
            continue
        name = ast.unparse(node.func).rpartition(".")[2]
        passed = {ast.unparse(argument) for argument in node.args}
        wanted = [f"{n}={n}" for n in parameters_of(site, node) if n in site.own_names]
        if not _is_full(site, node):
            own = site.bound_before(node.lineno)
            wanted += [other for other in own if other not in passed][:N_PASSED]
        for text in dict.fromkeys(wanted):
            if node.keywords and "=" not in text:
                continue
            yield site.one_more(node, text, f"`{text}` is passed to `{name}`")


def _is_full(site: Site, call: ast.Call) -> bool:
    """Whether a call of a built-in or imported function, or of a text, takes no more by place."""
    match call.func:
        case ast.Name(id=name) if name in OF_ONE:
            return bool(call.args)
        case ast.Attribute(value=ast.Constant(value=str()), attr=name):
            known = signature_of(getattr(str, name, None))[1:]
        case _:
            known = _signature(site, call)
    by_place = [p for p in known if p.kind in _BY_PLACE]
    is_open = any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in known)
    return bool(known) and not is_open and len(by_place) <= len(call.args)


@lru_cache(maxsize=16)
def _parameters_by_name(tree: ast.AST) -> dict[str, list[str]]:
    """Per name of a function or class in the file, its parameters; of a class, of its start."""
    found: dict[str, list[str]] = {}
    for node in every_node(tree):
        if isinstance(node, FunctionNode):
            found.setdefault(node.name, []).extend(parameters(node.args))
        elif isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, FunctionNode) and inner.name == "__init__":
                    found.setdefault(node.name, []).extend(parameters(inner.args))
    return {
        name: [n for n in dict.fromkeys(own) if n not in {"self", "cls"}]
        for name, own in found.items()
    }


def other_flag(site: Site) -> Iterator[TextEdit]:
    """Pass a flag that a call leaves at its default."""
    own = _flags_by_name(site.tree)
    for node in site.own(ast.Call):
        given = {keyword.arg for keyword in node.keywords}
        name = dotted(node.func).rpartition(".")[2]
        flags = own.get(name) or {
            parameter.name: parameter.default
            for parameter in _signature(site, node)
            if isinstance(parameter.default, bool)
        }
        for flag, value in flags.items() if None not in given else ():
            if flag not in given:
                text = f"{flag}={not value}"
                yield site.one_more(node, text, f"`{text}` is passed")


@lru_cache(maxsize=16)
def _flags_by_name(tree: ast.AST) -> dict[str, dict[str, bool]]:
    """Per function of the file, its parameters that are true or false by default."""
    found: dict[str, dict[str, bool]] = {}
    for node in every_node(tree):
        if isinstance(node, FunctionNode):
            for parameter, value in defaults(node.args):
                if isinstance(value, ast.Constant) and isinstance(value.value, bool):
                    found.setdefault(node.name, {})[parameter.arg] = value.value
    return found


def parameters_of(site: Site, call: ast.Call) -> Collection[str]:
    """The parameters that a call may name, of a function of the file or one that is at hand."""
    own = _parameters_by_name(site.tree).get(dotted(call.func).rpartition(".")[2])
    if own is not None:
        return own
    return {p.name for p in _signature(site, call) if p.kind in _NAMEABLE}


_NAMEABLE = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_BY_PLACE = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _signature(site: Site, call: ast.Call) -> Sequence[inspect.Parameter]:
    """The parameters of the built-in or imported function that a call is of, if it is at hand."""
    name = call.func.id if isinstance(call.func, ast.Name) else ""
    function = vars(builtins).get(name) or at_hand(site, call.func)
    return signature_of(function) if inspect.isroutine(function) else ()


def split_once(site: Site) -> Iterator[TextEdit]:
    """Split a text into as many parts as there are variables for them, and no more."""
    for node in site.own(ast.Assign):
        match node:
            case ast.Assign(
                targets=[ast.Tuple(elts=parts) | ast.List(elts=parts)],
                value=ast.Call(
                    func=ast.Attribute(attr="split" | "rsplit"), args=[_], keywords=[]
                ) as call,
            ) if not any(isinstance(part, ast.Starred) for part in parts):
                n = len(parts) - 1
                yield site.one_more(call, str(n), f"split into {n + 1} parts at most")


def public_names(module: object) -> list[str]:
    """The names that a module is used by; no items of what is none."""
    known = vars(module) if isinstance(module, ModuleType) else ()
    return [name for name in known if not name.startswith("_")]


def nearest(name: str, known: Iterable[str]) -> list[str]:
    """The names of ``known`` that are most like ``name``, the likest first."""
    others = [other for other in dict.fromkeys(known) if other != name]
    return sorted(others, key=lambda other: -_likeness(name, other))[:N_OTHERS]


@lru_cache(maxsize=4096)
def _likeness(name: str, other: str) -> float:
    return difflib.SequenceMatcher(None, name, other).ratio()
