"""Mistakes about names: the wrong variable, attribute, method or argument."""

from __future__ import annotations

import ast
from collections import defaultdict
from typing import TYPE_CHECKING

from benchmarks.suites.edits import Edit, operator
from benchmarks.suites.spans import called, instead, nearest, own, without_item

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.suites.edits import Site
    from benchmarks.suites.functions import Function

UNMISTAKABLE = frozenset({"self", "cls", "mcs", "_"})
N_CONFUSED = 3

METHODS = (
    "append extend",
    "strip lstrip rstrip",
    "find rfind",
    "index rindex",
    "split rsplit",
    "partition rpartition",
    "startswith endswith",
    "keys values",
    "lower upper",
    "title capitalize",
    "ljust rjust",
    "union intersection difference",
    "issubset issuperset",
    "match search fullmatch",
    "isdigit isalpha isalnum isspace",
    "read readline",
    "start end",
    "group groups",
    "pop popleft",
    "append appendleft",
    "floor ceil",
    "setdefault get",
    "remove discard",
)
BUILTINS = (
    "min max",
    "any all",
    "sorted list",
    "sorted reversed",
    "str repr",
    "list set",
    "int round",
)
# How many arguments each takes at least: what follows has a default that is easily forgotten.
NEEDED = {
    "get": 1,
    "pop": 1,
    "getattr": 2,
    "next": 1,
    "strip": 0,
    "lstrip": 0,
    "rstrip": 0,
    "split": 0,
    "rsplit": 0,
    "replace": 2,
    "range": 2,
    "round": 1,
    "enumerate": 1,
    "sum": 1,
    "int": 1,
    "find": 1,
    "rfind": 1,
    "index": 1,
    "setdefault": 1,
    "decode": 0,
    "encode": 0,
    "sub": 2,
}


@operator(
    "wrong name",
    (
        "def f(old, new):\n    key = old\n    new.put(key)\n",
        "def f(old, new):\n    key = old\n    new.put(old)\n",
    ),
    (
        "def f(a, b):\n    return [c + a for c in b]\n",
        "def f(a, b):\n    return [c + b for c in b]\n",
    ),
)
def wrong_name(function: Function) -> Iterator[Edit]:
    """Another variable that has a value there, and elsewhere is used in the same way."""
    bound, uses = bound_names(function), _uses(function)
    mentions = defaultdict[str, dict[str, list[int]]](dict)
    for node in own(function, ast.Name):
        for way in {uses.get(node, ""), ""} if node.id in bound else ():
            mentions[way].setdefault(node.id, []).append(node.lineno)
    for node in own(function, ast.Name):
        way = uses.get(node, "")
        if node.id not in bound or not isinstance(node.ctx, ast.Load) or way == "()":
            continue
        unmentioned = {name: [function.start_line] for name in bound} if not way else {}
        others = {
            name: lines
            for name, lines in {**unmentioned, **mentions[way]}.items()
            if bound[name] < node.lineno and name != node.id
        }
        for other in nearest(others, node.lineno, N_CONFUSED):
            yield instead(function.file, node, other)


@operator(
    "wrong attribute",
    ("def f(a):\n    return a.start - a.end\n", "def f(a):\n    return a.end - a.end\n"),
    (
        "class C:\n    def f(self):\n        self.a()\n    def g(self):\n        self.b()\n",
        "class C:\n    def f(self):\n        self.b()\n    def g(self):\n        self.b()\n",
    ),
)
def wrong_attribute(function: Function) -> Iterator[Edit]:
    """Another one that the function, or its class, uses in the same way on the same name."""
    uses = _attributes(function)
    for node, key in _used(function):
        others = {name: lines for name, lines in uses[key].items() if name != node.attr}
        end = function.file.span(node)[1]
        for other in nearest(others, node.lineno, N_CONFUSED):
            yield Edit(start=end - len(node.attr.encode()), end=end, text=other)


@operator(
    "similar function",
    ("def f(a):\n    a.b.append(a)\n", "def f(a):\n    a.b.extend(a)\n"),
    ("def f(a):\n    a.append(1)\n", "def f(a):\n    a.insert(0, 1)\n"),
    ("def f(a):\n    g(a.strip())\n", "def f(a):\n    g(a.rstrip())\n"),
    ("def f(a):\n    return min(a)\n", "def f(a):\n    return max(a)\n"),
    ("def f(a):\n    return a.get(1, 2)\n", "def f(a):\n    return a.pop(1, 2)\n"),
)
def similar_function(site: Site) -> Iterator[Edit]:
    """A method or builtin that does something alike."""
    for node in own(site, ast.Call):
        name, (_, end) = called(node), site.file.span(node.func)
        groups = METHODS if isinstance(node.func, ast.Attribute) else BUILTINS
        others = [o for group in groups if name in group.split() for o in group.split()]
        if name in {"get", "pop"} and len(node.args) == 2:
            others = ["get", "pop"]
        for other in dict.fromkeys(others):
            if other != name:
                yield Edit(start=end - len(name.encode()), end=end, text=other)
        if name == "append" and len(node.args) == 1:
            first, _ = site.file.span(node.args[0])
            yield Edit(start=end - len("append"), end=first, text="insert(0, ")


@operator(
    "lost keyword",
    ("def f(a):\n    g(a, b=1, c=2)\n", "def f(a):\n    g(a, b=1)\n"),
    ("def f(a):\n    g(b=1, c=2)\n", "def f(a):\n    g(c=2)\n"),
    (
        "def f(a):\n    g(\n        a,\n        b=1,  # c\n    )\n",
        "def f(a):\n    g(\n        a,\n    )\n",
    ),
)
def lost_keyword(site: Site) -> Iterator[Edit]:
    for node in own(site, ast.Call):
        for keyword in node.keywords:
            if keyword.arg is not None:
                yield without_item(site.file, *site.file.span(keyword))


@operator(
    "lost argument",
    ("def f(a):\n    return a.get(1, [])\n", "def f(a):\n    return a.get(1)\n"),
    ("def f(a):\n    return a.split(',', 1)\n", "def f(a):\n    return a.split(',')\n"),
    ("def f(a):\n    return range(1, a)\n", "def f(a):\n    return range(a)\n"),
)
def lost_argument(function: Function) -> Iterator[Edit]:
    """An argument that has a default is forgotten."""
    for node in own(function, ast.Call):
        name = called(node)
        starred = any(isinstance(each, ast.Starred) for each in node.args)
        if len(node.args) > NEEDED.get(name, len(node.args)) and not starred:
            yield without_item(function.file, *function.file.span(node.args[-1]))
        if name == "range" and len(node.args) == 2:
            yield without_item(function.file, *function.file.span(node.args[0]))


def bound_names(function: Function) -> dict[str, int]:
    """The variables of ``function`` with the line that first binds each; 0 for parameters.

    Variables of comprehensions are not among them: elsewhere they have no value.
    """
    args = function.node.args
    given = [*args.posonlyargs, *args.args, args.vararg, *args.kwonlyargs, args.kwarg]
    bound = {arg.arg: 0 for arg in given if arg is not None}
    hidden = set(UNMISTAKABLE)
    for node in function.own_nodes():
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.setdefault(node.id, node.lineno)
        elif isinstance(node, (ast.comprehension, ast.Lambda)):
            inner = node.target if isinstance(node, ast.comprehension) else node.args
            hidden.update(_words(inner))
    return {name: line for name, line in bound.items() if name not in hidden}


def _words(node: ast.AST) -> set[str]:
    found = (getattr(each, "id", getattr(each, "arg", None)) for each in ast.walk(node))
    return {word for word in found if isinstance(word, str)}


def _uses(function: Function) -> dict[ast.AST, str]:
    """How expressions are used: called, subscripted, or with which attribute."""
    uses: dict[ast.AST, str] = {}
    for node in function.own_nodes():
        if isinstance(node, ast.Call):
            uses[node.func] = "()"
        elif isinstance(node, ast.Subscript):
            uses[node.value] = "[]"
        elif isinstance(node, ast.Attribute):
            uses[node.value] = "." if isinstance(node.value, ast.Name) else f".{node.attr}"
    return uses


def _used(function: Function) -> Iterator[tuple[ast.Attribute, tuple[str, str]]]:
    """Attributes of plain names, with the name and the way that they are used."""
    uses = _uses(function)
    for node in own(function, ast.Attribute):
        if isinstance(node.value, ast.Name) and not node.attr.startswith("__"):
            yield node, (node.value.id, uses.get(node, "") + type(node.ctx).__name__)


def _attributes(function: Function) -> dict[tuple[str, str], dict[str, list[int]]]:
    """Per name and way of use, the attributes with the lines where they are mentioned.

    What the other methods of the class use on ``self`` is among them.
    """
    found = defaultdict[tuple[str, str], dict[str, list[int]]](dict)
    around, given = function.qualname.rpartition(".")[0], _first_parameter(function)
    for other in function.file.functions:
        same_class = around and other.qualname.rpartition(".")[0] == around
        if other is function or (same_class and given == _first_parameter(other)):
            for node, key in _used(other):
                if other is function or key[0] == given:
                    found[key].setdefault(node.attr, []).append(node.lineno)
    return found


def _first_parameter(function: Function) -> str:
    args = function.node.args
    return next((arg.arg for arg in (*args.posonlyargs, *args.args)), "")
