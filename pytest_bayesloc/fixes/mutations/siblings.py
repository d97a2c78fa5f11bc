"""Edits that do as what stands beside: the same keyword, the same wrapper."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

from pytest_bayesloc.fixes.site import Site
from pytest_bayesloc.syntax.nodes import BUILT_IN, dotted, functions_in, names_in, nodes_of
from pytest_bayesloc.syntax.text import TextEdit, brief

N_WRAPPERS = 6  # that are tried around one result
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
    """Call for a result, or what is assigned, what the class calls with one value most often.

    For a function outside of classes that is what the file calls.
    """
    usable = site.visible | BUILT_IN | {"self", "cls"}
    usual = _called_with_one(site.owner or site.tree, site.tree)
    others = (text for text in usual if text.rpartition(".")[2] != site.function.name)
    fitting = [text for text in others if names_in(ast.parse(text)) <= usable]
    returned = [node.value for node in site.own(ast.Return) if node.value is not None]
    values = (*returned, *(node.value for node in site.own(ast.Assign)))
    for value in (v for v in values if not isinstance(v, (ast.Constant, ast.Tuple))):
        said = site.of(value)
        for text in islice((t for t in fitting if f"{t}(" not in said), N_WRAPPERS):
            yield site.replace(value, f"{text}({said})", f"`{brief(text)}()`, as elsewhere")


@lru_cache(maxsize=64)
def _called_with_one(part: ast.AST, tree: ast.AST) -> list[str]:
    """The functions and methods of the file ``tree`` that ``part`` calls with one value.

    Those called most often come first. What a standard type has is tried as a conversion.
    """
    own = {node.name for node in functions_in(tree)}
    calls = (call for call in nodes_of(part, ast.Call) if len(call.args) == 1 and not call.keywords)
    names = Counter(dotted(call.func) for call in calls)
    return [name for name, _ in names.most_common() if name.rpartition(".")[2] in own]
