from __future__ import annotations

import builtins
import sys
from inspect import CO_OPTIMIZED
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_bayesloc.domain.source import SourceMap, lines_of
from pytest_bayesloc.inspection.strategies.assertions import propose
from pytest_bayesloc.ranking.evidence.invariants import RESULT, Invariant
from pytest_bayesloc.rerun.child import NAME, Probe
from pytest_bayesloc.rerun.swap import codes_in, compile_patched, excerpt, key_of, line_map

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import CodeType

    from pytest_bayesloc.domain.source import Unit

pytestmark = pytest.mark.one_python

# A block is a list of lines, indented by one STEP a level.
Block = list[str]

SIMPLE: list[Block] = [
    ["x += 1"],
    ["a = x; b = 'é'"],
    ["a = 'ü'; x = [a, x]  # ß"],
    ["# a comment", "pass"],
    ["x = (", "    x,  # c", ")"],
    ["a = '''", "  no code \x0c here: return 5", "'''"],
    ["a = x \\", "    if x else 0"],
    ["g = lambda: x"],
    ["a = [y for y in [x] if y]"],
    ["a = f'{x!r}'"],
    ["def g(y): return y"],
    ["def g(y):", "    '''Doc.'''", "    return [y]"],
    ["@tag", "@tag", "def g(y):", "    def h(): return x", "    return h"],
    ["async def g(y):", "    return y"],
    ["class K:", "    z = 1", "    def m(self): return 'm'"],
    ["'not a docstring'"],
    ["assert x != 1, 'one'"],
    ["del x; x = 3"],
    ["import os; x = os.sep"],
    ["[1][x] if x == 2 else 0"],
]
RETURNS: list[Block] = [
    ["return"],
    ["return x"],
    ["return x;"],
    ["return x  # c"],
    ["return x; x = 5"],
    ["x = 'é'; return x"],
    ["return 'é', x"],
    ["return (", "    x, # c", "    'ü')"],
    ["return x \\", "    , 1"],
    ["return (y := x)"],
    ["return [", "  x]  # d"],
    ["return '''", "a'''"],
    ["return x if x else (lambda: x)()"],
    ["raise KeyError(x)"],
]
ONE_LINE = [b[0] for b in (*SIMPLE, *RETURNS) if len(b) == 1 and "def" not in b[0]]


def indented(block: Block, step: str) -> Block:
    """Text inside quotes keeps its place, since it is part of a value."""
    inside, lines = False, []
    for line in block:
        lines.append(line if inside else step + line)
        inside ^= line.count("'''") % 2 == 1
    return lines


# Compound statements by their headers; a body follows each.
COMPOUND: list[list[str]] = [
    ["if x == 1:", "elif x:", "else:"],
    ["if x:"],
    ["for y in [x, 1]:", "else:"],
    ["with opened() as y:"],
    ["try:", "except KeyError:", "else:"],
    ["try:", "finally:"],
    ["match x:\n case 0:", " case _:"],
    ["if (x and\n        x):"],
]


@st.composite
def compound(draw: st.DrawFn, inner: st.SearchStrategy[Block], step: str) -> Block:
    lines: Block = []
    for header in draw(st.sampled_from(COMPOUND)):
        *above, head = header.split("\n")
        lines += above
        if header == "finally:":
            lines += [head, f"{step}x = 7"]
        elif draw(st.booleans()):
            lines.append(f"{head} {draw(st.sampled_from(ONE_LINE))}")
        else:
            deeper = step * 3 if head.startswith(" ") else step
            lines += [head, *indented(draw(inner), deeper)]
    return lines


def joined(parts: list[Block]) -> Block:
    return [line for part in parts for line in part]


def blocks(step: str) -> st.SearchStrategy[Block]:
    def lists(inner: st.SearchStrategy[Block]) -> st.SearchStrategy[Block]:
        return st.lists(inner, min_size=1, max_size=3).map(joined)

    simple = st.sampled_from([*SIMPLE, *RETURNS])
    return lists(st.recursive(simple, lambda inner: compound(lists(inner), step), max_leaves=6))


DOCS = st.sampled_from([[], ["'''Doc.'''"], ['"""Doc', "more \u2028.", '"""'], ["'é'; a = 1"]])
HEADERS = st.sampled_from(
    [
        "def f(x):",
        "async def f(x):",
        "@tag\ndef f(x):",
        "def f(\n  x,\n  *, y=1,\n  z=(1,\n  2)\n):",
        "def f(x): #é",
        "def f(x, type=1, len=2):",
    ]
)


@st.composite
def modules(draw: st.DrawFn) -> str:
    """A module with a function ``f`` of one argument, at the top or as a method."""
    step = draw(st.sampled_from(["  ", "    ", "\t"]))
    body = draw(blocks(step))
    header = draw(HEADERS)
    one_line = draw(st.integers(0, 4)) == 0 and "#" not in header
    if one_line:
        function = [*header.split("\n")]
        function[-1] += draw(st.sampled_from([" ", ""])) + draw(st.sampled_from(ONE_LINE))
    else:
        function = [*header.split("\n"), *indented([*draw(DOCS), *body], step)]
    if draw(st.booleans()):
        function = ["class Holder:", *indented(function, step), f"{step}f = staticmethod(f)"]
        function += ["f = Holder.f"]
    around = ["A = 'x\x0cy'", "\x0c", "def before(x):", f"{step}return x, 'é'"]
    text = "\n".join([*around, *function, "def after(x): return x + 1"])
    return text + draw(st.sampled_from(["", "\n", "\n\n"]))


ALWAYS = "type({}).__qualname__ != 'no such type' or all([len(repr({}))])"
INVARIANTS = (
    Invariant(
        at_exit=True, condition=ALWAYS.format(RESULT, RESULT), words="r", support=3, holds=bool
    ),
    Invariant(
        at_exit=True, condition=f"_bayesloc_in_x is {NAME}.given", words="x", support=3, holds=bool
    ),
    Invariant(at_exit=False, condition=ALWAYS.format("x", "x"), words="x", support=3, holds=bool),
)


def target_in(source: SourceMap) -> Unit:
    """The function ``f`` of a module."""
    return next(u for u in source.units if u.location.qualname in ("f", "Holder.f"))


def patched_text(text: str) -> tuple[SourceMap, str]:
    source = SourceMap(text, "m.py")
    return source, propose(source, target_in(source), INVARIANTS).patched


def is_writable(text: str) -> bool:
    """Whether ``f`` is not of the shape that is refused: a statement beside its docstring."""
    return "'é'; a = 1" not in text


class Opened:
    def __enter__(self) -> int:
        return 4

    def __exit__(self, *_: object) -> None:
        return None


def functions_of(code: CodeType) -> Callable[[Any], Any]:
    space: dict[str, Any] = {"tag": lambda f: f, "opened": Opened, "__name__": "m"}
    exec(code, space)
    function: Callable[[Any], Any] = space["f"]
    return function


def behaviour(function: Callable[[Any], Any], argument: object) -> str:
    """What a call comes to."""
    try:
        result = function(argument)
        if hasattr(result, "send"):
            try:
                result.send(None)
            except StopIteration as stop:
                result = stop.value
    except (KeyError, AssertionError, IndexError, TypeError, NameError) as error:
        return f"{type(error).__name__} {error}"
    return repr(result)


ARGUMENTS: Sequence[object] = (0, 1, 2, "s", None)


def behaves_as_before(text: str, patched: str) -> None:
    """Whether the patched function does what it did, is heard, and breaks no check."""
    before = functions_of(compile_patched(text, text, "m.py"))
    after = functions_of(compile_patched(text, patched, "m.py"))

    for argument in ARGUMENTS:
        probe: Any = Probe(lambda: None)
        probe.given = argument
        setattr(builtins, NAME, probe)
        try:
            assert behaviour(after, argument) == behaviour(before, argument)
        finally:
            delattr(builtins, NAME)
        assert probe.covered
        assert probe.violations == []


@given(text=modules().filter(is_writable))
def test_patched_function_behaves_as_before(text: str) -> None:
    behaves_as_before(text, patched_text(text)[1])


def is_written(key: tuple[int, str]) -> bool:
    return not key[1].rpartition(".")[2].startswith("<")


@given(text=modules().filter(is_writable))
@example(text="def f(x):\n  if x:\n    return x\n    a = [y for y in [x]]\n")
@example(text="def f(x):\n  if x:\n    return x\n    def g(y): return y\n")
def test_unpatched_functions_stay_the_same_and_the_patched_one_is_found_again(text: str) -> None:
    source, patched = patched_text(text)
    old = {key_of(c): c for c in codes_in(compile_patched(text, text, "m.py"))}
    new = {key_of(c): c for c in codes_in(compile_patched(text, patched, "m.py"))}
    target = target_in(source)

    # What can't be reached the compiler may leave out, until a patch lies between; from 3.14 on
    # it also leaves it out behind a patch.
    more = set(filter(is_written, new)).symmetric_difference(filter(is_written, old))
    assert sys.version_info >= (3, 14) or more.isdisjoint(old)
    assert all(target.first_line < line <= target.location.end_line for line, _ in more)
    for key, code in old.items():
        if key[1] in ("before", "after"):
            assert (new[key].co_code, new[key].co_consts) == (code.co_code, code.co_consts)
            assert list(new[key].co_lines()) == list(code.co_lines())
    code = new[target.first_line, "f"]
    lines = {line for _, _, line in code.co_lines() if line is not None}
    assert min(lines) >= target.first_line
    assert max(lines) <= target.location.end_line
    assert code.co_freevars == old[target.first_line, "f"].co_freevars


@given(text=modules().filter(is_writable), future=st.booleans())
def test_an_excerpt_compiles_to_the_same_functions_as_the_module(
    text: str, *, future: bool
) -> None:
    text = f"from __future__ import annotations\n{text}" if future else text
    source, patched = patched_text(text)
    target = target_in(source)

    cut = excerpt(text, patched, target.enclosing)

    assert cut is not None
    whole = {key_of(c): c for c in codes_in(compile_patched(text, patched, "m.py"))}
    codes = codes_in(compile_patched(*cut, "m.py"))
    of_excerpt = [code for code in codes if code.co_flags & CO_OPTIMIZED]  # of classes is cut
    assert target.location.qualname.rpartition(".")[2] in [c.co_name for c in of_excerpt]
    for code in of_excerpt:
        if "<lambda>" not in code.co_name:
            assert code == whole[key_of(code)]


@given(before=st.text("ab\n\x0c", max_size=12), after=st.text("abc\n\x0c", max_size=12))
def test_line_map_of_any_two_texts_never_descends(before: str, after: str) -> None:
    lines = line_map(before, after)

    assert len(lines) == len(lines_of(after)) + 1
    assert lines == sorted(lines)
    assert set(lines[1:]) <= set(range(1, max(1, len(lines_of(before))) + 1))
