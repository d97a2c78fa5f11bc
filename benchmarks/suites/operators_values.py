"""Mistakes about values: not copied, not converted, cut wrongly, mistyped."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from benchmarks.suites.edits import Edit, operator
from benchmarks.suites.literals import text_edits
from benchmarks.suites.spans import called, instead, nearest, own, without_item

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.suites.edits import Site
    from benchmarks.suites.functions import Function

CONVERSIONS = frozenset(
    {
        "list",
        "tuple",
        "dict",
        "set",
        "frozenset",
        "str",
        "repr",
        "int",
        "float",
        "bool",
        "bytes",
        "abs",
        "sorted",
        "reversed",
        "iter",
        "copy",
        "deepcopy",
        "escape",
        "fspath",
    }
)
NORMALISING = frozenset(
    {
        "copy",
        "strip",
        "lstrip",
        "rstrip",
        "lower",
        "upper",
        "casefold",
        "title",
        "capitalize",
        "split",
        "decode",
        "encode",
    }
)
# Exceptions that are taken for each other.
FAMILIES = (
    "KeyError IndexError LookupError AttributeError",
    "ValueError TypeError",
    "StopIteration IndexError",
    "UnicodeDecodeError UnicodeEncodeError",
    "FileNotFoundError PermissionError",
    "OverflowError ZeroDivisionError",
    "RuntimeError ValueError",
    "NotImplementedError RuntimeError",
    "AttributeError TypeError",
    "OSError ValueError",
    "ImportError AttributeError",
    "Exception ValueError",
)
EXCEPTION = re.compile(r"[a-z](Error|Exception)$|^[A-Z]Error$")


@operator(
    "lost conversion",
    ("def f(a):\n    g(list(a))\n", "def f(a):\n    g(a)\n"),
    ("def f(a):\n    return int(a + b) * 2\n", "def f(a):\n    return (a + b) * 2\n"),
    ("def f(a):\n    g(a.b.copy())\n", "def f(a):\n    g(a.b)\n"),
    ("def f(a):\n    g(a.lower() in x)\n", "def f(a):\n    g(a in x)\n"),
)
def lost_conversion(function: Function) -> Iterator[Edit]:
    """A value is used as it comes: not copied, converted or normalised."""
    for node in own(function, ast.Call):
        name, value = called(node), node.func
        if name in CONVERSIONS and len(node.args) == 1:
            value = node.args[0]
        elif name in NORMALISING and isinstance(value, ast.Attribute) and not node.args:
            value = value.value
        if value is not node.func and not isinstance(value, ast.Starred):
            yield instead(function.file, node, operand(function, value))


@operator(
    "changed text",
    ("def f(a):\n    g(a['key'])\n", "def f(a):\n    g(a['ke'])\n"),
    ("def f(a):\n    g('Key')\n", "def f(a):\n    g('key')\n"),
    ('def f(a):\n    g("a, b")\n', 'def f(a):\n    g("a b")\n'),
    ("def f(a):\n    g(r'\\d')\n", "def f(a):\n    g(r'')\n"),
)
def changed_text(function: Function) -> Iterator[Edit]:
    """A typing mistake in a text, which may be a key, a name or a pattern."""
    alone = [node.value for node in own(function, ast.Expr)]
    for node in own(function, ast.Constant):
        if node not in alone:
            yield from text_edits(function.file, node)


@operator(
    "assigned, not added",
    ("def f(a):\n    a += 1\n", "def f(a):\n    a = 1\n"),
    ("def f(a):\n    a.b  //= (c)\n", "def f(a):\n    a.b  = (c)\n"),
)
def assigned_not_added(function: Function) -> Iterator[Edit]:
    """The old value is lost."""
    for node in own(function, ast.AugAssign):
        start, end = function.file.span(node.target)[1], function.file.span(node.value)[0]
        between = function.file.between(start, end)
        yield Edit(start=start, end=end, text=re.sub(r"[^\s=]+=", "=", between, count=1))


@operator(
    "wrong exception",
    (
        "def f(a):\n    try:\n        g()\n    except (KeyError, IndexError):\n        pass\n",
        "def f(a):\n    try:\n        g()\n    except (IndexError):\n        pass\n",
    ),
    (
        "def f(a):\n    try:\n        g()\n    except KeyError as e:\n        pass\n",
        "def f(a):\n    try:\n        g()\n    except IndexError as e:\n        pass\n",
    ),
    ("def f(a):\n    raise TypeError(a)\n", "def f(a):\n    raise ValueError(a)\n"),
    (
        "def f(a):\n    raise AError\ndef g():\n    raise BError('')\n",
        "def f(a):\n    raise BError\ndef g():\n    raise BError('')\n",
    ),
)
def wrong_exception(site: Site) -> Iterator[Edit]:
    """Another exception is raised or handled, or one of several is no longer handled."""
    for node in exceptions(site):
        if isinstance(node, ast.Tuple):
            for each in node.elts:
                yield without_item(site.file, *site.file.span(each))
        elif isinstance(node, ast.Name):
            for other in other_exceptions(site, node):
                yield instead(site.file, node, other)


def exceptions(site: Site) -> Iterator[ast.expr]:
    """What is raised, and what is handled."""
    for node in site.own_nodes():
        if isinstance(node, ast.Raise) and node.exc is not None:
            yield node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        elif isinstance(node, ast.ExceptHandler) and node.type is not None:
            yield node.type


def other_exceptions(site: Site, node: ast.Name) -> list[str]:
    """Builtin ones that ``node`` is taken for, and two that the same file speaks of."""
    alike = [o for family in FAMILIES if node.id in family.split() for o in family.split()]
    spoken = {
        name: lines
        for name, lines in site.file.names.items()
        if EXCEPTION.search(name) and name != node.id
    }
    names = dict.fromkeys((*alike[:4], *nearest(spoken, node.lineno, 2)))
    return [name for name in names if name != node.id]


def operand(function: Function, node: ast.expr) -> str:
    """The text of ``node`` so that it can stand anywhere."""
    text = function.file.segment(node)
    plain = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant, ast.GeneratorExp)
    shown = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
    return text if isinstance(node, (*plain, *shown)) else f"({text})"
