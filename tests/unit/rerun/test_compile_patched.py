from __future__ import annotations

import traceback
from textwrap import indent
from typing import Any

import pytest

from pytest_bayesloc.domain.source import SourceMap
from pytest_bayesloc.rerun.swap import codes_in, compile_patched, excerpt, line_map

TEXT = """\
import functools

def before(x):
    return x

@functools.cache
def target(x):
    y = x + 1
    return (
        y
        / x
    )

def after(x):
    raise KeyError(x)
"""
PATCHED = TEXT.replace("    y = ", "    hello = 1\n    assert x != 5\n    y = ").replace(
    "    return (\n", "    hello = 2\n    return (\n"
)


SUITE = "if x:\n    a\n"
ONE_LINE_SUITES = "if x: return 1\nelse: return 2\n"
BROKEN_UP = "if x:\n    r = 1\n    X\n    return r\nelse:\n    r = 2\n    return r\n"
LINES = {
    "inserted: the line below": ("a\nb\nc\n", "a\nX\nY\nb\nc\n", [1, 2, 2, 2, 3]),
    "at the end of a suite: the line above": (SUITE, f"{SUITE}    X\n    Y\n", [1, 2, 2, 2]),
    "the same above other lines": (f"{SUITE}\n\nb\n", f"{SUITE}    X\n\n\nb\n", [1, 2, 2, 3, 4, 5]),
    "added at the end: the last one": ("a\nb\n", "a\nb\nX\nY\n", [1, 2, 2, 2]),
    "changed: what they replaced": ("a\nb\nc\nd\n", "a\nX\nY\nZ\nd\n", [1, 2, 3, 3, 4]),
    "suites broken up: their own line": (ONE_LINE_SUITES, BROKEN_UP, [1, 1, 1, 1, 2, 2, 2]),
    "behind removed ones: as before": ("a\nb\nc\nd\n", "a\nd\n", [1, 4]),
    "equal lines around one more": ("a\na\n", "a\na\na\n", [1, 2, 2]),
    "equal lines around one less": ("a\na\na\n", "a\na\n", [1, 2]),
    "without an end of the last line": ("a\nb\nc", "a\nX\nY\nc\n", [1, 2, 2, 3]),
    "of an empty original": ("", "x\ny\n", [1, 1]),
    "with a form feed": ("'\x0c'\nb\n", "'\x0c'\nX\nb\n", [1, 2, 2]),
}


@pytest.mark.parametrize("which", LINES)
def test_lines_of_a_patched_text_stand_for_those_of_the_original(which: str) -> None:
    original, patched, lines = LINES[which]

    assert line_map(original, patched) == [0, *lines]


def line_numbers(code: Any) -> dict[str, set[int]]:  # noqa: ANN401
    return {
        c.co_name: {line for _, _, line in c.co_lines() if line is not None} for c in codes_in(code)
    }


@pytest.mark.parametrize(
    ("call", "line"), [("target(5)", 8), ("target(0)", 11), ("after(1)", 15), ("target('a')", 8)]
)
def test_traceback_under_a_patch_names_the_line_of_the_file(call: str, line: int) -> None:
    space: dict[str, Any] = {}
    exec(compile_patched(TEXT, PATCHED, "m.py"), space)

    with pytest.raises((AssertionError, ZeroDivisionError, KeyError, TypeError)) as error:
        eval(call, space)

    frame = traceback.extract_tb(error.value.__traceback__)[-1]
    assert frame.filename == "m.py"
    assert frame.lineno in (line, 10 if line == 11 else line)


def test_text_that_does_not_compile_is_a_syntax_error() -> None:
    with pytest.raises(SyntaxError):
        compile_patched(TEXT, TEXT + "def (:\n", "m.py")


def test_warnings_of_the_compiler_are_not_repeated() -> None:
    text = 'X = "\\d"\nassert (1, 2)\n'

    assert line_numbers(compile_patched(text, "Y = 1\n" + text, "m.py"))["<module>"]


def test_caller_s_future_imports_are_not_inherited() -> None:
    space: dict[str, Any] = {}
    exec(compile_patched("", "def f(x: int) -> None: ...\n", "m.py"), space)

    assert space["f"].__annotations__["x"] is int


def test_strings_over_several_lines_keep_their_numbers() -> None:
    text = 'def f(x):\n    s = f"""\n{x}\n{\n  x}"""\n    return s\n'
    patched = text.replace("    s = ", "    hello = 3\n    s = ")
    source = SourceMap(text, "m.py")

    code = compile_patched(text, patched, "m.py")

    assert max(line_numbers(code)["f"]) == source.units[1].location.end_line


HEAD = "from __future__ import annotations\nLIMIT = 3\n"
BODY = "def f(x):\n    return x\n"
TAIL = "def g():\n    pass\n"
CHANGED = "def f(x):\n    check(x)\n    return x\n"


def cut_out(original: str, patched: str, name: str = "f") -> tuple[str, str] | None:
    source = SourceMap(original, "m.py")
    unit = next(u for u in source.units if u.location.qualname == name)
    return excerpt(original, patched, unit.enclosing)


def test_excerpt_keeps_the_function_in_its_place_and_the_future() -> None:
    cut = cut_out(HEAD + BODY + TAIL, HEAD + CHANGED + TAIL)

    future = "from __future__ import annotations\n\n"
    assert cut == (future + BODY, future + CHANGED)


CLASS = """\
@decorated
class Outer(
    Base,
):
    limit = 3

    class Inner:
        '''About.'''

        @property
        def f(self):
            return self.x

    def g(self):
        return 2
"""
METHOD = """\

class Outer(
    Base,
):


    class Inner:


        @property
        def f(self):
            return self.x
"""


def test_excerpt_of_a_method_keeps_the_headers_of_its_classes() -> None:
    cut = cut_out(CLASS, CLASS.replace(".x", ".y"), "Outer.Inner.f")

    assert cut == (METHOD, METHOD.replace(".x", ".y"))


def test_excerpt_of_a_method_is_its_class_where_more_of_that_changes() -> None:
    changed = CLASS.replace("limit = 3", "limit = 4")

    assert cut_out(CLASS, changed, "Outer.g") == (CLASS, changed)


def test_excerpt_of_a_nested_function_is_the_outer_one() -> None:
    text = "x = 1\ndef f(y):\n    def g():\n        return y\n    return g\n"
    cut = text.replace("x = 1", "")

    changed = cut.replace("return y", "return 1")
    assert cut_out(text, f"x = 1{changed}", "f.<locals>.g") == (cut, changed)


@pytest.mark.parametrize(
    ("original", "patched"),
    [
        (HEAD + BODY + TAIL, HEAD + CHANGED + TAIL.replace("pass", "raise")),
        (HEAD + BODY + TAIL, HEAD.replace("3", "4") + CHANGED + TAIL),
        (f"if True:\n    pass\n{indent(BODY, '    ')}", ""),
        (f"from __future__ import (\n    division)\n{BODY}", ""),
    ],
    ids=["changed behind", "changed before", "not at the margin", "future over two lines"],
)
def test_there_is_no_excerpt_where_it_would_not_be_the_same(original: str, patched: str) -> None:
    patched = patched or original.replace("return x", "return y")

    assert cut_out(original, patched) is None
