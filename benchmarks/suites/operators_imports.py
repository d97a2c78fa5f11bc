"""Mistakes in what an import runs: tables, constants, patterns, registrations, headers of defs."""

from __future__ import annotations

import ast
from itertools import pairwise
from typing import TYPE_CHECKING

from benchmarks.suites.bodies import Body, is_idle
from benchmarks.suites.edits import Edit, operator
from benchmarks.suites.functions import DEFS
from benchmarks.suites.literals import (
    entries_of,
    entry_edits,
    is_pattern,
    number_edits,
    pattern_edits,
    text_edits,
)
from benchmarks.suites.operators_names import lost_keyword
from benchmarks.suites.spans import (
    blocks,
    called,
    dotted,
    exchanged,
    instead,
    nearest,
    own,
    removed,
    whole_lines,
    without_item,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

# What decorators and bases say to type checkers alone.
TYPING = frozenset(
    {
        "overload",
        "final",
        "override",
        "no_type_check",
        "runtime_checkable",
        "deprecated",
        "object",
        "Generic",
        "Protocol",
        "TypedDict",
        "NamedTuple",
        "ABC",
    }
)
N_CONFUSED = 2


@operator(
    "lost entry",
    ("TABLE = {\n    'a': 1,\n    'b': 2,  # two\n}\n", "TABLE = {\n    'a': 1,\n}\n"),
    ("NAMES = frozenset(['a', 'b'])\n", "NAMES = frozenset(['a'])\n"),
    ("class C:\n    names = ('a', 'b')\n", "class C:\n    names = ('b')\n"),
)
def lost_entry(body: Body) -> Iterator[Edit]:
    """An entry of a table is forgotten."""
    for node in body.own_nodes():
        yield from entry_edits(body.file, node)


@operator(
    "copied entry",
    ("TABLE = {'a': f, 'b': g}\n", "TABLE = {'a': f, 'b': f}\n"),
    ("TABLE = {'a': f, 'b': g}\n", "TABLE = {'a': g, 'b': g}\n"),
)
def copied_entry(body: Body) -> Iterator[Edit]:
    """An entry of a table was copied from the one beside it, and its value stayed."""
    for node in own(body, ast.Dict):
        for one, other in pairwise(node.values):
            yield instead(body.file, other, body.file.segment(one))
            yield instead(body.file, one, body.file.segment(other))


@operator(
    "exchanged entries",
    ("RULES = [a, b, c]\n", "RULES = [b, a, c]\n"),
    ("RULES = {'a': f, 'b': g}\n", "RULES = {'b': g, 'a': f}\n"),
)
def exchanged_entries(body: Body) -> Iterator[Edit]:
    """The order of a table is another one."""
    for node in body.own_nodes():
        entries = [] if isinstance(node, ast.Set) else entries_of(body.file, node)
        for (start, middle), (later, end) in pairwise(entries):
            between = body.file.between(middle, later)
            text = f"{body.file.between(later, end)}{between}{body.file.between(start, middle)}"
            yield Edit(start=start, end=end, text=text)


@operator(
    "altered constant",
    ("LIMIT = 1024\n", "LIMIT = 102\n"),
    ("LIMIT = 1024\n", "LIMIT = 1042\n"),
    ("LIMIT = 8\n", "LIMIT = 80\n"),
    ("class C:\n    strict = True\n", "class C:\n    strict = False\n"),
)
def altered_constant(body: Body) -> Iterator[Edit]:
    """A number is mistyped, or a setting is the other way."""
    for node in own(body, ast.Constant):
        if isinstance(node.value, bool):
            yield instead(body.file, node, str(not node.value))
        yield from number_edits(body.file, node)


@operator(
    "altered text",
    ("NAME = 'utf-8'\n", "NAME = 'utf8'\n"),
    ("class C:\n    names = ['a', 'bc']\n", "class C:\n    names = ['a', 'b']\n"),
    ("@register('ab')\ndef f():\n    pass\n", "@register('a')\ndef f():\n    pass\n"),
)
def altered_text(body: Body) -> Iterator[Edit]:
    """A text that is no pattern is mistyped."""
    for node in own(body, ast.Constant):
        if not is_pattern(node.value):
            yield from text_edits(body.file, node)


@operator(
    "altered pattern",
    ("WORD = re.compile(r'(\\d+)b*$')\n", "WORD = re.compile(r'(\\d*)b*$')\n"),
    ("WORD = re.compile(r'(\\d+)b*$')\n", "WORD = re.compile(r'(\\w+)b*$')\n"),
    ("WORD = re.compile(r'(\\d+)b*$')\n", "WORD = re.compile(r'(\\d+)b*')\n"),
    ("WORD = re.compile('x', re.I | re.M)\n", "WORD = re.compile('x', re.M)\n"),
    ("WORD = re.compile('x', re.I)\n", "WORD = re.compile('x')\n"),
)
def altered_pattern(body: Body) -> Iterator[Edit]:
    """A regular expression is more or less strict, or a flag of it is lost."""
    for node in own(body, ast.Constant):
        yield from pattern_edits(body.file, node)
    for call in own(body, ast.Call):
        flags = [*call.args[1:], *(word.value for word in call.keywords if word.arg == "flags")]
        for flag in flags if called(call) == "compile" else ():
            if isinstance(flag, ast.BinOp) and isinstance(flag.op, ast.BitOr):
                yield instead(body.file, flag, body.file.segment(flag.left))
                yield instead(body.file, flag, body.file.segment(flag.right))
            elif flag in call.args:
                yield without_item(body.file, *body.file.span(flag))


@operator(
    "lost registration",
    ("def f(): pass\nregister(f)\n", "def f(): pass\n"),
    ("T = {}\nT['a'] = 1\n", "T = {}\n"),
    ("T = []\nT += ['a']\n", "T = []\n"),
    ("class C:\n    pass\nC.register(int)\n", "class C:\n    pass\n"),
)
def lost_registration(body: Body) -> Iterator[Edit]:
    """What is defined is not made known."""
    for suite in blocks(body):
        for node in suite:
            if is_idle(node) or not _registers(node):
                continue
            edit = removed(body.file, suite, node)
            if edit is not None:
                yield edit


@operator(
    "lost decorator",
    ("@cache  # all\ndef f():\n    pass\n", "def f():\n    pass\n"),
    (
        "class C:\n    @property\n    def f(self):\n        pass\n",
        "class C:\n    def f(self):\n        pass\n",
    ),
)
def lost_decorator(body: Body) -> Iterator[Edit]:
    for node in own(body, ast.stmt):
        for decorator in getattr(node, "decorator_list", ()):
            start, end = body.file.span(decorator)
            span = whole_lines(body.file, start - 1, end)
            if span is not None and _name(decorator) not in TYPING:
                lines = range(decorator.lineno, (decorator.end_lineno or 0) + 1)
                yield Edit(start=span[0], end=span[1], lines=lines)


@operator(
    "other decorator",
    (
        "class C:\n    @staticmethod\n    def f(x):\n        pass\n",
        "class C:\n    @classmethod\n    def f(x):\n        pass\n",
    ),
    ("@a\n@b\ndef f():\n    pass\n", "@b\n@a\ndef f():\n    pass\n"),
)
def other_decorator(body: Body) -> Iterator[Edit]:
    """Another decorator stands there, or two stand in the other order."""
    others = {"staticmethod": "classmethod", "classmethod": "staticmethod"}
    for node in own(body, ast.stmt):
        decorators: list[ast.expr] = getattr(node, "decorator_list", [])
        for decorator in decorators:
            if isinstance(decorator, ast.Name) and decorator.id in others:
                yield instead(body.file, decorator, others[decorator.id])
        for first, second in pairwise(decorators):
            if not {_name(first), _name(second)} & {*TYPING, "abstractmethod"}:
                yield exchanged(body.file, first, second)


@operator(
    "other bases",
    ("class C(A, B):\n    pass\n", "class C(B):\n    pass\n"),
    ("class C(A, B):\n    pass\n", "class C(B, A):\n    pass\n"),
    ("class C(A):\n    pass\n", "class C():\n    pass\n"),
    ("class C(A, metaclass=M):\n    pass\n", "class C(A):\n    pass\n"),
)
def other_bases(body: Body) -> Iterator[Edit]:
    """A class lacks a base or its metaclass, or looks into its bases in another order."""
    for node in own(body, ast.ClassDef):
        if node.body[0].lineno == node.lineno:
            continue  # the line is the class's own, see ``Body``
        bases = [base for base in node.bases if _name(base) not in TYPING]
        for item in (*bases, *node.keywords):
            yield without_item(body.file, *body.file.span(item))
        for first, second in pairwise(bases):
            yield exchanged(body.file, first, second)


@operator(
    "other alias",
    (
        "class C:\n    def a(self): pass\n    def b(self): pass\n    c = a\n",
        "class C:\n    def a(self): pass\n    def b(self): pass\n    c = b\n",
    ),
    ("text = str\ndata = bytes\n", "text = str\ndata = str\n"),
)
def other_alias(body: Body) -> Iterator[Edit]:
    """A name stands for another one of what the body defines or gives names to."""
    known: dict[str, list[int]] = {}
    for node in own(body, ast.stmt):
        value = node.value if isinstance(node, ast.Assign) else None
        if isinstance(node, (*DEFS, ast.ClassDef)):
            known.setdefault(node.name, []).append(node.lineno)
        elif isinstance(value, (ast.Name, ast.Attribute)) and dotted(value):
            others = {name: lines for name, lines in known.items() if name != dotted(value)}
            for other in nearest(others, node.lineno, N_CONFUSED):
                yield instead(body.file, value, other)
            known.setdefault(dotted(value), []).append(node.lineno)


@operator(
    "lost keyword",
    ("class C:\n    a = Field(required=True)\n", "class C:\n    a = Field()\n"),
    ("@cache(size=1, typed=True)\ndef f():\n    pass\n", "@cache(size=1)\ndef f():\n    pass\n"),
)
def lost_option(body: Body) -> Iterator[Edit]:
    """An option of what a body makes is forgotten."""
    yield from lost_keyword.edits(body)


def _registers(node: ast.stmt) -> bool:
    """Whether a statement is there for what it changes, and all names exist without it."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        return True
    if isinstance(node, ast.AugAssign):
        return True
    if isinstance(node, ast.Assign):
        return all(isinstance(each, (ast.Attribute, ast.Subscript)) for each in node.targets)
    return False


def _name(node: ast.expr) -> str:
    """The last name of a decorator or base, whatever it is called or subscripted with."""
    while isinstance(node, (ast.Call, ast.Subscript)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return dotted(node).rpartition(".")[2]
