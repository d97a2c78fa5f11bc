"""Mutations of names: of a variable, an attribute, a method, an argument."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterable, Iterator

from pytest_bayesloc.domain.source import FunctionNode
from pytest_bayesloc.fixes.mutations.site import Site
from pytest_bayesloc.fixes.syntax import TextEdit, parameters

N_OTHERS = 6  # names that are tried in the place of one
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
)  # fmt: skip


def other_name(site: Site) -> Iterator[TextEdit]:
    """Use another variable of the function, or a name of the file that looks alike."""
    for node in site.own(ast.Name):
        if isinstance(node.ctx, ast.Load):
            for name in _others(node.id, site):
                yield site.text.replace(node, name, f"`{node.id}` to `{name}`")


def _others(name: str, site: Site) -> list[str]:
    own = [other for other in site.own_names if other != name]
    alike = difflib.get_close_matches(name, sorted(site.visible - {name}), n=3, cutoff=0.6)
    if name not in site.own_names:
        own = []  # a function or class of the file: what looks alike is as good as it gets
    ranked = sorted(own, key=lambda other: -difflib.SequenceMatcher(None, name, other).ratio())
    return list(dict.fromkeys((*alike, *ranked)))[:N_OTHERS]


def other_attribute(site: Site) -> Iterator[TextEdit]:
    """Use another attribute of ``self``, or one that the file uses of the same object."""
    used: dict[str, list[str]] = {}
    for node in ast.walk(site.tree):
        if isinstance(node, ast.Attribute):
            used.setdefault(ast.unparse(node.value), []).append(node.attr)
    for node in site.own(ast.Attribute):
        if isinstance(node.ctx, ast.Load):
            base = ast.unparse(node.value)
            known = site.class_names if base == "self" else used.get(base, [])
            yield from _renamed(site, node, _nearest(node.attr, known))


def similar_call(site: Site) -> Iterator[TextEdit]:
    """Call a method or function that does nearly the same."""
    for node in site.own(ast.Call):
        called = node.func
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        kin = [other for family in FAMILIES if name in family for other in family if other != name]
        if isinstance(called, ast.Attribute):
            yield from _renamed(site, called, dict.fromkeys(kin))
        else:
            for other in dict.fromkeys(kin):
                yield site.text.replace(called, other, f"`{name}` to `{other}`")


def _renamed(site: Site, node: ast.Attribute, names: Iterable[str]) -> Iterator[TextEdit]:
    base = site.text.of(node.value)
    for name in names:
        yield site.text.replace(node, f"{base}.{name}", f"`.{node.attr}` to `.{name}`")


def _nearest(name: str, known: Iterable[str]) -> list[str]:
    others = [other for other in dict.fromkeys(known) if other != name]
    others.sort(key=lambda other: -difflib.SequenceMatcher(None, name, other).ratio())
    return others[:N_OTHERS]


def call_it(site: Site) -> Iterator[TextEdit]:
    """Call a method that is only named."""
    called = {id(node.func) for node in site.own(ast.Call)}
    for node in site.own(ast.Attribute):
        if isinstance(node.ctx, ast.Load) and id(node) not in called:
            words = f"`.{node.attr}` is called"
            yield site.text.insert(site.text.end(node), "()", words, node.lineno)


def add_argument(site: Site) -> Iterator[TextEdit]:
    """Pass one argument more: a name of the function, or what other calls pass."""
    given = _given_elsewhere(site)
    for node in site.own(ast.Call):
        if any(isinstance(a, ast.Starred) for a in node.args):
            continue
        name = ast.unparse(node.func).rpartition(".")[2]
        known = {keyword.arg for keyword in node.keywords}
        wanted = [text for text in given.get(name, []) if text.partition("=")[0] not in known]
        passed = {ast.unparse(argument) for argument in node.args}
        wanted += [f"{n}={n}" for n in _parameters_of(site, name) if n in site.own_names]
        wanted += [other for other in site.own_names if other not in passed][:3]
        at = site.text.end(node) - 1
        has_any = bool(node.args or node.keywords)
        ends = site.text.between(site.text.start(node), at).rstrip().endswith(",")
        for text in dict.fromkeys(wanted):
            if node.keywords and "=" not in text:
                continue
            written = f"{', ' if has_any and not ends else ''}{text}"
            words = f"`{text}` is passed to `{name}`"
            yield site.text.insert(at, written, words, node.lineno)


def _given_elsewhere(site: Site) -> dict[str, list[str]]:
    """Per name of what is called, the keywords with which the file calls it."""
    found: dict[str, list[str]] = {}
    for node in ast.walk(site.tree):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func).rpartition(".")[2]
            for keyword in node.keywords:
                is_known = isinstance(keyword.value, (ast.Constant, ast.Name))
                if keyword.arg and is_known:
                    found.setdefault(name, []).append(f"{keyword.arg}={ast.unparse(keyword.value)}")
    return found


def _parameters_of(site: Site, name: str) -> list[str]:
    """The parameters of what is called ``name`` in the file; of a class, those of its start."""
    found: list[str] = []
    for node in ast.walk(site.tree):
        if isinstance(node, FunctionNode) and node.name == name:
            found += parameters(node.args)
        elif isinstance(node, ast.ClassDef) and node.name == name:
            for inner in node.body:
                if isinstance(inner, FunctionNode) and inner.name == "__init__":
                    found += parameters(inner.args)
    return [n for n in dict.fromkeys(found) if n not in {"self", "cls"}]
