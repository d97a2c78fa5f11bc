"""Edits that do as what stands beside: the same keyword, the same wrapper."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import islice

from pytest_bayesloc.fixes.site import Site
from pytest_bayesloc.syntax.nodes import BUILT_IN, dotted, functions_in, names_in, nodes_of
from pytest_bayesloc.syntax.text import TextEdit, brief

N_WRAPPERS = 6  # that are tried around one result
ELSEWHERE = 1 / 3  # of the weight of what is called for results, for what is called for others
_SHORT = (ast.Constant, ast.Name, ast.Attribute)


def same_keyword(site: Site) -> Iterator[TextEdit]:
    """Pass a keyword that other calls of the function in the file pass, the most usual first."""
    given, usable = _keywords(site.tree), site.visible | BUILT_IN | {"self", "cls"}
    for node in site.own(ast.Call):
        known = {keyword.arg for keyword in node.keywords}
        is_open = None in known or any(isinstance(a, ast.Starred) for a in node.args)
        for keyword, text in () if is_open else given.get(_last_name(node), ()):
            if keyword not in known and names_in(ast.parse(text)) <= usable:
                said = f"{keyword}={text}"
                words = f"`{said}` is passed to `{_last_name(node)}`, as elsewhere"
                yield site.one_more(node, said, words)


def _last_name(call: ast.Call) -> str:
    return dotted(call.func, unknown="_").rpartition(".")[2]


@lru_cache(maxsize=16)
def _keywords(tree: ast.AST) -> dict[str, list[tuple[str, str]]]:
    """Per name of what the file calls, the keywords that it passes, the most usual first."""
    found: dict[str, Counter[tuple[str, str]]] = {}
    for node in nodes_of(tree, ast.Call):
        for keyword in node.keywords:
            if keyword.arg and isinstance(keyword.value, _SHORT):
                said = keyword.arg, ast.unparse(keyword.value)
                found.setdefault(_last_name(node), Counter())[said] += 1
    return {name: [said for said, _ in kinds.most_common()] for name, kinds in found.items()}


def wrap_result(site: Site) -> Iterator[TextEdit]:
    """Call for a value what other functions of the file call for theirs, the nearest first.

    First for a result what is called for results, then for it and for what is assigned what the
    class, or a file without one, calls with one value most often.
    """
    usable = site.visible | BUILT_IN | {"self", "cls"}
    every = dict.fromkeys(text for other in site.others for text in _wrappers(other))
    usual = _called_with_one(site.owner or site.tree, site.tree)
    returned = [node.value for node in site.own(ast.Return) if node.value is not None]
    assigned = [node.value for node in site.own(ast.Assign)]
    for known, values, weight in (
        (every, returned, 1.0),
        (usual, (*returned, *assigned), ELSEWHERE),
    ):
        others = (text for text in known if text.rpartition(".")[2] != site.function.name)
        fitting = [text for text in others if names_in(ast.parse(text)) <= usable]
        for value in (v for v in values if not isinstance(v, (ast.Constant, ast.Tuple))):
            said = site.of(value)
            for text in islice((t for t in fitting if f"{t}(" not in said), N_WRAPPERS):
                words = f"`{brief(text)}()`, as elsewhere"
                yield replace(site.replace(value, f"{text}({said})", words), weight=weight)


@lru_cache(maxsize=512)
def _wrappers(function: ast.AST) -> list[str]:
    """The functions that are called with one value for what ``function`` returns."""
    values = (node.value for node in nodes_of(function, ast.Return))
    return [name for value in values if (name := _of_one(value))]


@lru_cache(maxsize=64)
def _called_with_one(part: ast.AST, tree: ast.AST) -> list[str]:
    """The functions and methods of the file ``tree`` that ``part`` calls with one value.

    Those called most often come first. What a standard type has is tried as a conversion.
    """
    own = {node.name for node in functions_in(tree)}
    names = Counter(filter(None, map(_of_one, nodes_of(part, ast.Call))))
    return [name for name, _ in names.most_common() if name.rpartition(".")[2] in own]


def _of_one(value: ast.expr | None) -> str:
    """The name of what is called with one value; empty if ``value`` is no such call."""
    match value:
        case ast.Call(func=(ast.Name() | ast.Attribute()) as called, args=[_], keywords=[]):
            return dotted(called)
    return ""
