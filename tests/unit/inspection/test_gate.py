"""What a rewritten function may add to the original, and what is refused with which reason."""

from __future__ import annotations

import importlib
from contextlib import suppress
from textwrap import indent
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.domain.errors import PatchError
from pytest_bayesloc.domain.source import FunctionNode, SourceMap
from pytest_bayesloc.fixes.side_effects import PURE, is_pure
from pytest_bayesloc.inspection.edits import lines_at
from pytest_bayesloc.inspection.gate import MAX_ASSERTIONS, admit

if TYPE_CHECKING:
    from pytest_bayesloc.inspection.gate import Addition

ORIGINAL = '''\
def f(x, y=1, *rest, key=None):
    """Doc."""
    total = 0
    for item in x:
        if item > y:
            total += item
        elif item:
            total -= 1
    try:
        z = total / y
    except ZeroDivisionError as error:
        z = None
    match z:
        case [first, *others]:
            pass
        case {"a": a, **more}:
            pass
    return z
'''
HEAD = '    """Doc."""\n'


def found(text: str, original: str = ORIGINAL, around: str = "", name: str = "f") -> list[Addition]:
    """What is admitted of ``text``."""
    source = SourceMap(f"{around}\n{original}", "m.py")
    assert not source.is_broken
    unit = next(u for u in source.units if u.location.qualname == name)
    assert isinstance(unit.node, FunctionNode)
    return admit(unit.node, text, source.module.node)


def with_entry(lines: str, original: str = ORIGINAL) -> str:
    """The original with lines put behind its docstring."""
    assert HEAD in original
    return original.replace(HEAD, HEAD + indent(lines, "    ") + "\n", 1)


def refusal(text: str, original: str = ORIGINAL, around: str = "", name: str = "f") -> str:
    """Why ``text`` is not run."""
    with pytest.raises(PatchError) as caught:
        found(text, original, around, name)
    assert caught.value.slug == "llm-gate"
    return str(caught.value).removesuffix(" (llm-gate)")


# Lines that are put at the entry of the original.
ADMITTED = [
    "assert x",
    "assert x, 'why'",
    "assert (x, 'a tuple')",
    "assert isinstance(x, list) and len(x) > 0",
    "assert all(i > 0 for i in x)",
    "assert all(a <= b for a, b in zip(x, x[1:]))",
    "assert [i for i in x if i] == sorted(set(x))",
    "assert {i: j for i, j in enumerate(x)}",
    "assert max(x, key=abs) >= y",
    "assert f'{y!r:>{len(x)}}'",
    "assert math.isclose(y, 1)",
    "assert operator.add(y, 1) == 2",
    "assert datetime.time(1) < datetime.time(2)",
    "assert isinstance(x, collections.abc.Sequence)",
    "assert re.compile('a').match(str(y)) is None",
    "assert x.count(3) == 0 and x.index(y) == 1",
    "assert x.copy() == x",
    "assert helper(x) == 1",
    "limit = 3\nassert y < limit",
    "low = high = y\nassert low == high",
    "if y:\n    assert x\nelif x:\n    assert not y\nelse:\n    size = len(x)\n    assert size",
    "print('here')\nassert x",
    "__bayesloc__.heartbeat()\nassert x",
    "'a text'\npass\nassert x",
    "assert x.start < x.stop",
    "assert y.next is None and not y.next",
    "assert y.next.next.value == 3",
    "assert x[y.start : y.stop] and x[y.start] and y.start + 1 and -y.start",
    "assert (y.start, y.stop) == (0, 3)",
    "assert isinstance(y.next, int) and len(x.set)",
    "assert y.error is None, f'{y.error}'",
    "assert y.next and (x or y.start)",
    "assert x is not None",
    "assert type(x) is list",
    "assert y in {1, 2}",
    "assert x[:2] != [*x, 3]",
    "pair = (x, y)\nassert pair[0] is x",
    "key_ = 3\nassert key_",
]
IMPORTS = """\
import collections, collections.abc, dataclasses, datetime, enum, functools, heapq, json, math
import operator, re, statistics, typing, os, os as o, subprocess, time
from bisect import insort
from builtins import exec as do
from operator import iadd as plus
from signal import *
run = subprocess.run
def helper(x): return 1
def gen(x): yield x
ROWS = gen(3)
class C:
    def __init__(self, x): self.lines = iter(x)
"""


@pytest.mark.parametrize("lines", ADMITTED)
def test_addition_that_only_looks_is_admitted(lines: str) -> None:
    (addition,) = found(with_entry(lines), around=IMPORTS)

    assert addition.is_entry
    assert addition.where == "before"


REFUSED = [
    # Statements.
    ("import os\nassert x", "adds `import os`"),
    ("from os import path\nassert x", "adds `from os import path`"),
    ("assert x\nx.clear()", "adds `x.clear()`"),
    ("assert x\nreturn 3", "adds `return 3`"),
    ("assert x\nraise KeyError", "adds `raise KeyError`"),
    ("assert x\ndel x", "adds `del x`"),
    ("assert x\nglobal q", "adds `global q`"),
    ("assert x\nfor i in x: pass", "adds `for i in x:`"),
    ("assert x\ntry: assert y\nfinally: pass", "adds `try:`"),
    ("assert x\ndef g(): pass", "adds `def g():`"),
    ("assert x\ntotal += 1", "adds `total += 1`"),
    ("assert x\nq: int = 1", "adds `q: int = 1`"),
    ("assert x\nif x:\n    del x", "adds `del x`"),
    ("if x:\n    assert x\n    x.clear()", "adds `x.clear()`"),
    ("pass", "adds no assertion"),
    ("q = 3", "adds no assertion"),
    ("if x:\n    print(x)", "adds no assertion"),
    # Names.
    ("x = 3\nassert x", "gives `x` another value"),
    ("rest = 3\nassert x", "gives `rest` another value"),
    ("error = 3\nassert x", "gives `error` another value"),
    ("first = 3\nassert x", "gives `first` another value"),
    ("others = 3\nassert x", "gives `others` another value"),
    ("more = 3\nassert x", "gives `more` another value"),
    ("f = 3\nassert x", "gives `f` another value"),
    ("len = 3\nassert x", "gives `len` another value"),
    ("math = 3\nassert x", "gives `math` another value"),
    ("q, r = x\nassert x", "gives `(q, r)` another value"),
    ("q = x = 3\nassert x", "gives `x` another value"),
    ("x.q = 3\nassert x", "gives `x.q` another value"),
    ("x[0] = 3\nassert x", "gives `x[0]` another value"),
    ("_q = 3\nassert x", "makes up the name `_q`"),
    # Expressions that act.
    ("assert (q := 3)", "adds `(q := 3)`"),
    ("assert (lambda x: x)(x)", "adds `lambda x: x`"),
    ("assert [0 for x.q in [1]]", "gives `x.q` another value"),
    ("assert [0 for x[0] in [1]]", "gives `x[0]` another value"),
    ("assert [0 for q in [1] for x[0], r in [(q, q)]]", "gives `x[0]` another value"),
    ("assert [0 async for q in x]", "adds `async for q in x`"),
    ("assert (yield x)", "adds `(yield x)`"),
    ("assert f'{(yield)}'", "adds `(yield)`"),
    # Calls that change, and ways to come by them.
    ("assert x.append(3) is None", "uses `append`"),
    ("assert f'{x.clear()}'", "uses `clear`"),
    ("assert f'{y:{x.pop()}}'", "uses `pop`"),
    ("assert x, x.clear()", "uses `clear`"),
    ("if x.pop():\n    assert x", "uses `pop`"),
    ("assert list.append(x, 3) is None", "uses `append`"),
    ("assert [m(3) for m in [x.append]]", "uses `append`"),
    ("assert [x.append][0](3) is None", "uses `append`"),
    ("assert (x.append if y else y)(3) is None", "uses `append`"),
    ("assert {'a': x.append}['a'](3) is None", "uses `append`"),
    ("q = x.append\nassert q(3) is None", "uses `append`"),
    ("assert list(map(x.append, [3]))", "uses `append`"),
    ("assert sorted(x, key=x.append)", "uses `append`"),
    ("assert functools.partial(x.append, 3)() is None", "uses `append`"),
    ("assert y.sort() is None", "uses `sort`"),
    ("assert y.dropna(inplace=True) is None", "asks for a change with `inplace`"),
    ("assert y.sum(out=x)", "asks for a change with `out`"),
    ("assert x.open('w')", "uses `open`"),
    ("assert x.info('seen') is None", "uses `info`"),
    ("assert x.random() < 1", "uses `random`"),
    ("assert (i for i in x).throw(SystemExit)", "uses `throw`"),
    ("assert operator.iadd(x, [3])", "uses `operator.iadd`"),
    ("assert plus(x, [3])", "uses `operator.iadd`"),
    ("assert operator.methodcaller('append', 3)(x) is None", "uses `operator.methodcaller`"),
    ("assert heapq.heappush(x, 3) is None", "uses `heapq.heappush`"),
    ("assert list(map(heapq.heapify, [x]))", "uses `heapq.heapify`"),
    ("assert insort(x, 3) is None", "uses `bisect.insort`"),
    ("assert json.dump(x, y) is None", "uses `json.dump`"),
    ("assert type('C', (), {})", "makes a class"),
    ("assert type(*x)", "makes a class"),
    ("assert dataclasses.dataclass(type(x))", "uses `dataclasses.dataclass`"),
    ("assert typing.get_type_hints(x)", "uses `typing.get_type_hints`"),
    # Ways out.
    ("assert eval('x')", "uses `eval`"),
    ("assert list(map(exec, ['x']))", "uses `exec`"),
    ("assert do('x') is None", "uses `builtins.exec`"),
    ("assert print(x) is None", "uses `print`"),
    ("assert getattr(x, 'clear')() is None", "uses `getattr`"),
    ("assert __import__('os')", "uses `__import__`"),
    ("assert __bayesloc__.violated(0, '')", "uses `__bayesloc__`"),
    ("assert x.__class__", "looks at `__class__`"),
    ("assert x.os.getpid()", "looks at `os`"),
    ("assert o.getcwd()", "uses `os.getcwd`"),
    ("assert run(x)", "uses `subprocess.run`"),
    ("assert raise_signal(2)", "uses `signal.raise_signal`"),  # of a star import
    ("assert time.time()", "uses `time.time`"),
    ("assert collections._sys.modules", "uses `collections._sys.modules`"),
    ("assert enum.bltns.exec('x')", "looks at `exec`"),
    ("assert json.codecs.lookup(x)", "uses `json.codecs`"),
    ("assert statistics.random.random()", "uses `random`"),
    ("assert (i for i in x).gi_frame.f_builtins['exec']('x')", "looks at `f_builtins`"),
    ("assert \U0001d4ee\U0001d501\U0001d4ee\U0001d4ec('x') is None", "uses `exec`"),
    # What is gone when it was looked at.
    ("assert next(x)", "uses `next`"),
    ("assert list(map(next, [x]))", "uses `next`"),
    ("assert list(ROWS)", "uses up `ROWS`"),
]


@pytest.mark.parametrize(("lines", "why"), REFUSED)
def test_addition_that_does_more_is_refused_with_the_reason(lines: str, why: str) -> None:
    assert refusal(with_entry(lines), around=IMPORTS) == f"it {why}"


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("    return z\n", "", "lacks or changes `return z`"),
        ("total = 0", "total = False", "lacks or changes `total = 0`"),
        ("item > y", "item >= y", "lacks or changes `if item > y:`"),
        ("elif item:", "else:", "lacks or changes `if item:`"),
        ("as error", "", "lacks or changes `try:`"),
        ("*others", "*more", "lacks or changes `match z:`"),
        ("            pass\n", "            return 3\n", "lacks or changes `pass`"),
        ("    match", "    else:\n        assert z\n    match", "changes `try:`"),
        ("    match", "    finally:\n        assert z\n    match", "changes `try:`"),
        ("            total += item\n", "            total += item\n" * 2, "adds `total += item`"),
        ('"""Doc."""', '"""Another."""', "lacks or changes `'Doc.'`"),
        ('    """Doc."""\n', "", "lacks or changes `'Doc.'`"),
        ("def f(x", "def g(x", "changes the signature or the decorators"),
        ("def f(x", "async def f(x", "changes the signature or the decorators"),
        ("y=1", "y=2", "changes the signature or the decorators"),
        ("):", ") -> None:", "changes the signature or the decorators"),
        ("def f", "@cache\ndef f", "changes the signature or the decorators"),
        ("    return z\n", "    q = z\n    q = 3\n    return q\n", "gives `q` another value"),
        ("    return z\n", "    x = z\n    assert x\n    return x\n", "gives `x` another value"),
        ("    return z\n", "    q = z\n    assert q\n    return x\n",
         "lacks or changes `return z`"),
        ("    return z\n", "    q = x\n    assert q\n    return q\n",
         "lacks or changes `return z`"),
    ],
)  # fmt: skip
def test_function_that_is_not_the_original_is_refused(old: str, new: str, why: str) -> None:
    assert old in ORIGINAL
    text = with_entry("assert x").replace(old, new)

    assert refusal(text).startswith(f"it {why}")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is not the one function that was asked for, but nothing"),
        (f"import os\n{ORIGINAL}", "is not the one function that was asked for"),
        (f"{ORIGINAL}\nf(3)", "is not the one function that was asked for"),
        (indent(ORIGINAL, "  ") + "else:\n  f(3)\n", "is not the one function"),
        ("class f: pass", "is not the one function that was asked for, but ClassDef"),
        ("def f(:", "does not parse"),
        ("def f(): '\0'", "does not parse"),
        ("def f(): '\ud800'", "does not parse"),
        (f"def f(): {'(' * 1000}", "does not parse"),
        (with_entry("\n".join(["assert x"] * (MAX_ASSERTIONS + 1))), "adds 17 assertions of "),
        (with_entry(f"assert x in {list(range(700))}"), "adds 1 assertion of "),
    ],
    ids=range(11),
)
def test_text_that_can_not_be_looked_through_is_refused(text: str, why: str) -> None:
    assert refusal(text).startswith(f"it {why}")


@pytest.mark.parametrize(
    "text",
    [
        with_entry(f"assert {'-' * 5000}x"),
        with_entry(f"assert x{'.a' * 280}"),
        with_entry(f"assert x{'.a' * 5000}"),
        with_entry(f"assert {'not ' * 90}x and x < 0x{'f' * 5000} "),
        with_entry(f"q = 0x{'f' * 5000}\nassert q"),
        with_entry(f"0x{'f' * 5000}.a()"),
        ORIGINAL.replace("total = 0", f"total = 0x{'f' * 5000}"),
    ],
    ids=range(7),
)
def test_text_that_is_too_deep_or_too_large_is_no_error_of_another_kind(text: str) -> None:
    with suppress(PatchError):
        found(text)


@pytest.mark.parametrize("name", sorted(PURE))
def test_no_way_leads_from_a_pure_module_to_one_that_is_not(name: str) -> None:
    module = importlib.import_module(name)
    ways = {n: v.__name__ for n, v in vars(module).items() if isinstance(v, ModuleType)}

    open_ways = {way for way in ways if is_pure(f"{name}.{way}")}

    assert {ways[way].partition(".")[0] for way in open_ways} <= PURE


def admits(lines: str, body: str, header: str = "def f(x):", around: str = "") -> bool:
    """Whether lines may be put before the last line of a function."""
    original = f"{header}\n{indent(body, '    ')}\n"
    *above, last = body.split("\n")
    text = f"{header}\n{indent(chr(10).join([*above, lines, last]), '    ')}\n"
    try:
        return bool(found(text, original, around))
    except PatchError:
        return False


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("it = iter(x)\nreturn it", "assert list(it)"),
        ("it = iter(x)\nreturn it", "assert 3 in it"),
        ("it = (i for i in x)\nreturn it", "assert any(i for i in it)"),
        ("it = gen(x)\nreturn it", "assert [*it]"),
        ("it = map(str, x)\nreturn it", "assert max(it)"),
        ("it = open(x)\nreturn it", "assert list(it)"),
        ("with open(x) as it:\n    return it", "    assert list(it)"),
        ("it: Iterator[int] = x\nreturn it", "assert list(it)"),
        ("self.it = itertools.chain(x)\nreturn 3", "assert list(self.it)"),
        ("self.it = chain(x)\nreturn 3", "assert list(self.it)"),
        ("q = next(x)\nreturn x", "assert list(x)"),
    ],
)
def test_what_gives_its_items_once_is_not_looked_at(body: str, lines: str) -> None:
    around = "import itertools\nfrom itertools import chain\ndef gen(x): yield x"

    assert not admits(lines, body, around=around)


def test_result_that_gives_its_items_once_is_not_looked_at() -> None:
    original = "def f(x):\n    return (i for i in x)\n"
    text = "def f(x):\n    r = (i for i in x)\n    assert {}\n    return r\n"

    assert refusal(text.format("all(r)"), original) == "it uses up `r`"


@pytest.mark.parametrize(
    "annotation", ["Iterator[int]", "typing.Generator[int, None, None]", "'TextIO'", "IO[str]"]
)
def test_parameter_that_is_said_to_give_its_items_once_is_not_looked_at(annotation: str) -> None:
    header = f"def f(x: {annotation}, y: 'list[Iterator[int]]'):"

    assert not admits("assert list(x)", "return 3", header)
    assert admits("assert list(y)", "return 3", header)


def test_attribute_that_another_method_makes_an_iterator_is_not_looked_at() -> None:
    around = "class C:\n    def __init__(self, x):\n        self.lines = iter(x)\n"
    original = "def f(self):\n    return 3\n"
    text = "def f(self):\n    assert list(self.lines)\n    return 3\n"

    assert refusal(text, original, around) == "it uses up `self.lines`"


@pytest.mark.parametrize(
    "declared",
    [
        "global q\nfrom m import q\nreturn 3",
        "global q\nreturn 3",
        "from . import q\nreturn 3",
        "import a.b as q\nreturn 3",
        "def q(): pass\nreturn 3",
        "class q: pass\nreturn 3",
        "def g():\n    def q(): pass\nreturn 3",
        "g = lambda: q\nreturn 3",
        "try: pass\nexcept E as q: pass\nreturn 3",
        "match x:\n    case {**q}: pass\nreturn 3",
    ],
)
def test_name_that_the_function_knows_in_any_way_is_not_new(declared: str) -> None:
    assert not admits("q = 3\nassert q", declared)
    assert admits("r = 3\nassert r", declared)


def test_name_of_an_argument_elsewhere_is_new() -> None:
    assert admits("q = 3\nassert q", "g(q=1)\nreturn x.q")


@pytest.mark.parametrize(
    "look", ["locals()", "vars()", "builtins.locals()", "sys._getframe(0)", "eval('q')", "dir()"]
)
def test_function_that_looks_at_its_variables_gets_no_new_ones(look: str) -> None:
    body = f"y = {look}\nreturn y"

    assert not admits("q = 3\nassert q", body)
    assert not admits("assert q", body)  # of the function around it: would be closed over
    assert admits("assert x", body)


def test_all_that_a_name_may_stand_for_counts() -> None:
    around = "import subprocess as s\ndef g():\n    import math as s\n"

    assert not admits("assert s.run(x)", "return 3", around=around)


def test_names_elsewhere_in_the_file_do_not_count() -> None:
    around = "import sys\ndef g():\n    x = sys.argv\n"

    assert admits("assert x", "return 3", around=around)


def test_lines_within_a_text_with_values_keep_their_blanks(prefix: str) -> None:
    text = f"def f(x):\n    y = {prefix}'''{{x}}\n  a\n'''\n    return y\n"

    moved = lines_at(text, "    ")

    assert moved == f"    def f(x):\n        y = {prefix}'''{{x}}\n  a\n'''\n        return y\n"


@pytest.mark.parametrize("step", ["    ", "\t"])
@pytest.mark.parametrize("is_indented", [True, False])
def test_method_may_come_back_with_its_indentation_or_without(step: str, is_indented: bool) -> None:
    body = ['"""Doc', "", f"{step * 2}more.   ", f'{step * 2}"""', "y = '''", "  a", "'''"]
    lines = "".join(f"{step * 2 * (i in (0, 4))}{text}\n" for i, text in enumerate(body))
    method = f"{step}def f(self):\n{lines}{step * 2}return y\n"
    text = method.replace(f"{step * 2}return", f"{step * 2}assert y\n{step * 2}return")
    back = text if is_indented else text.replace(f"\n{step}", "\n").removeprefix(step)

    (addition,) = found(back, f"class C:\n{method}", name="C.f")

    assert not addition.is_entry


def test_decorators_are_not_shown_and_may_be_left_out() -> None:
    original = "@tag\n@tag(3)\ndef f(x):\n    return x\n"
    text = "def f(x):\n    assert x\n    return x\n"

    assert found(text, original)
    assert found(f"@tag\n@tag(3)\n{text}", original)
    assert "decorators" in refusal(f"@tag\n{text}", original)


def test_value_that_is_returned_may_have_a_name() -> None:
    original = "def f(x):\n    if x:\n        return\n    return x + 1\n"
    text = """\
def f(x):
    if x:
        q = None
        assert q is None
        return q
    assert not x
    q = x + 1
    if q:
        assert q == 1
    return q
"""
    first, second, third = found(text, original)

    assert [(a.where, a.name) for a in (first, second, third)] == [
        ("return", "q"),
        ("before", ""),
        ("return", "q"),
    ]
    assert second.anchor is third.anchor


def test_value_that_is_returned_may_be_looked_at_before() -> None:
    assert admits("q = len(x)\nassert q", "return len(x)")


def test_what_is_said_but_not_asserted_is_left_out() -> None:
    (addition,) = found(with_entry("if x:\n    print(x.clear())\n    assert y\nelse:\n    print()"))

    (condition,) = addition.statements
    assert [type(s).__name__ for s in condition.body] == ["Assert"]  # type: ignore[attr-defined]
    assert condition.orelse == []  # type: ignore[attr-defined]


def test_assertion_above_the_docstring_counts_as_below() -> None:
    text = ORIGINAL.replace(HEAD, f"    assert x\n{HEAD}    assert y\n")

    (addition,) = found(text)

    assert addition.is_entry
    assert len(addition.statements) == 2


def test_inner_functions_are_not_added_to() -> None:
    original = "def f(x):\n    def g():\n        return x\n    return g\n"
    text = original.replace("        return", "        assert x\n        return")

    assert "lacks or changes `def g():`" in refusal(text, original)
