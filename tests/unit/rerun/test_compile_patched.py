from __future__ import annotations

import traceback
from textwrap import indent
from typing import Any

import pytest

from pytest_bayesloc.domain.source import SourceMap
from pytest_bayesloc.rerun.swap import codes_in, compile_patched, excerpt, key_of, line_map

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


def test_inserted_lines_stand_for_the_line_that_they_were_inserted_before() -> None:
    assert line_map("a\nb\nc\n", "a\nX\nY\nb\nc\n") == [0, 1, 2, 2, 2, 3]


@pytest.mark.parametrize("below", ["", "\n\nb\n"])
def test_lines_inserted_at_the_end_of_a_suite_stand_for_the_line_above(below: str) -> None:
    original = f"if x:\n    a\n{below}"
    expected = [0, 1, 2, 2, 2, *range(3, 3 + below.count("\n"))]

    assert line_map(original, f"if x:\n    a\n    X\n    Y\n{below}") == expected


def test_lines_added_at_the_end_stand_for_the_last_one() -> None:
    assert line_map("a\nb\n", "a\nb\nX\nY\n") == [0, 1, 2, 2, 2]


def test_changed_lines_stand_for_what_they_replaced() -> None:
    assert line_map("a\nb\nc\nd\n", "a\nX\nY\nZ\nd\n") == [0, 1, 2, 3, 3, 4]


def test_suites_that_were_broken_up_stand_for_their_own_line() -> None:
    original = "if x: return 1\nelse: return 2\n"
    patched = "if x:\n    r = 1\n    X\n    return r\nelse:\n    r = 2\n    return r\n"

    assert line_map(original, patched) == [0, 1, 1, 1, 1, 2, 2, 2]


def test_line_behind_removed_ones_keeps_its_number() -> None:
    assert line_map("a\nb\nc\nd\n", "a\nd\n") == [0, 1, 4]


def test_equal_lines_around_a_change_are_not_counted_twice() -> None:
    assert line_map("a\na\n", "a\na\na\n") == [0, 1, 2, 2]
    assert line_map("a\na\na\n", "a\na\n") == [0, 1, 2]


def test_end_of_the_last_line_makes_no_difference() -> None:
    assert line_map("a\nb\nc", "a\nX\nY\nc\n") == [0, 1, 2, 2, 3]


def test_empty_original_has_one_line() -> None:
    assert line_map("", "x\ny\n") == [0, 1, 1]


def test_form_feed_ends_no_line() -> None:
    assert line_map("'\x0c'\nb\n", "'\x0c'\nX\nb\n") == [0, 1, 2, 2]


def line_numbers(code: Any) -> dict[str, set[int]]:  # noqa: ANN401
    return {
        c.co_name: {line for _, _, line in c.co_lines() if line is not None} for c in codes_in(code)
    }


def test_functions_of_the_patched_text_are_found_by_their_old_lines() -> None:
    old = {key_of(c) for c in codes_in(compile(TEXT, "m.py", "exec"))}
    new = {key_of(c) for c in codes_in(compile_patched(TEXT, PATCHED, "m.py"))}

    assert new == old == {(1, "<module>"), (3, "before"), (6, "target"), (14, "after")}


def test_unpatched_functions_are_the_same_code() -> None:
    old: dict[Any, Any] = {key_of(c): c for c in codes_in(compile(TEXT, "m.py", "exec"))}
    new: dict[Any, Any] = {key_of(c): c for c in codes_in(compile_patched(TEXT, PATCHED, "m.py"))}

    for key in ((3, "before"), (14, "after")):
        assert new[key].co_code == old[key].co_code
        assert new[key].co_consts == old[key].co_consts
        assert list(new[key].co_lines()) == list(old[key].co_lines())


def test_patched_function_has_no_line_that_the_file_does_not_have() -> None:
    code = compile_patched(TEXT, PATCHED, "m.py")

    assert line_numbers(code)["target"] <= set(range(6, 13))
    assert line_numbers(code)["after"] == line_numbers(compile(TEXT, "m.py", "exec"))["after"]


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
