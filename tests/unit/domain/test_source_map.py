from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.domain.location import MODULE
from pytest_bayesloc.domain.source import SourceMap, lines_of, parse
from pytest_bayesloc.syntax.text import edited

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType

TEXT = """\
import functools

LIMIT = 3

@functools.cache
@functools.wraps(len)
def decorated(x, y=LIMIT):
    '''Doc.'''
    return [a for a in x] or (lambda: y)

class Cart:
    rate = 2

    @property
    def total(self):
        def inner(n):
            return n
        return inner(3)

    @total.setter
    def total(self, value):
        class Local:
            def method(self): return value
        self.value = Local()

async def waits(
    x,
    y,
):
    return x
def short(): return 1
LAST = 4
"""


@pytest.fixture
def source() -> SourceMap:
    return SourceMap(TEXT, "src/shop/cart.py")


def spans(source: SourceMap) -> dict[str, list[tuple[int, int]]]:
    found: dict[str, list[tuple[int, int]]] = {}
    for unit in source.units:
        where = unit.location
        found.setdefault(where.qualname, []).append((where.start_line, where.end_line))
    return found


def test_functions_and_classes_span_from_their_header_to_their_last_line(source: SourceMap) -> None:
    assert spans(source) == {
        "<module>": [(1, 32)],
        "decorated": [(7, 9)],
        "Cart": [(11, 24)],
        "Cart.total": [(15, 18), (21, 24)],
        "Cart.total.<locals>.inner": [(16, 17)],
        "Cart.total.<locals>.Local": [(22, 23)],
        "Cart.total.<locals>.Local.method": [(23, 23)],
        "waits": [(26, 30)],
        "short": [(31, 31)],
    }


@pytest.mark.parametrize(
    ("line", "owner"),
    [
        (5, MODULE),  # a decorator runs in the scope around
        (7, MODULE),  # and so do the defaults
        (8, "decorated"),
        (9, "decorated"),
        (10, "<module>"),
        (12, "Cart"),
        (15, "Cart"),
        (16, "Cart.total"),
        (17, "Cart.total.<locals>.inner"),
        (18, "Cart.total"),
        (22, "Cart.total"),
        (23, "Cart.total.<locals>.Local.method"),
        (27, MODULE),
        (30, "waits"),
        (31, "short"),
        (32, MODULE),
        (99, MODULE),
    ],
)
def test_line_belongs_to_the_innermost_body_that_holds_it(
    source: SourceMap, line: int, owner: str
) -> None:
    assert source.owner(line).location.qualname == owner


@pytest.mark.parametrize("head", ["class Cart:", "def cart():"])
def test_decorator_of_the_first_statement_of_a_body_belongs_to_that_body(head: str) -> None:
    source = SourceMap(f"{head}\n    @tag\n    @tag\n    def f():\n        pass\n", "m.py")

    owners = [source.owner(line).location.qualname for line in range(1, 6)]

    around = head.partition(" ")[2].rstrip("():")
    inner = f"{around}.f" if "class" in head else f"{around}.<locals>.f"
    assert owners == [MODULE, around, around, around, inner]


def codes(code: CodeType, prefix: str = "") -> Iterator[tuple[CodeType, str]]:
    """Code objects with the name of the unit around the compiler's own ones."""
    yield code, prefix
    for constant in code.co_consts:
        if hasattr(constant, "co_consts"):
            name = constant.co_name
            inner = prefix if name.startswith("<") else name
            yield from codes(constant, inner)


def test_every_code_object_is_found_by_its_first_line_and_name(source: SourceMap) -> None:
    found = list(codes(compile(TEXT, "cart.py", "exec"), MODULE))

    assert len(found) > 1
    for code, plain in found:
        names: set[str] = {code.co_name, getattr(code, "co_qualname", code.co_name)}
        for name in names:
            unit = source.unit_of_code(code.co_firstlineno, name)
            assert unit.location.qualname.rpartition(".")[2] == plain
            assert unit.first_line <= code.co_firstlineno <= unit.location.end_line


def test_code_of_a_decorated_function_starts_at_its_first_decorator(source: SourceMap) -> None:
    unit = source.unit_of_code(5, "decorated")

    assert (unit.location.start_line, unit.first_line, unit.body_line) == (7, 5, 8)
    assert unit.is_function


def test_class_is_no_function(source: SourceMap) -> None:
    assert not source.unit_of_code(11, "Cart").is_function
    assert not source.module.is_function


def test_scopes_around_a_unit_come_outermost_first(source: SourceMap) -> None:
    method = source.owner(23)

    assert [u.location.qualname for u in method.enclosing] == [
        "Cart",
        "Cart.total",
        "Cart.total.<locals>.Local",
        "Cart.total.<locals>.Local.method",
    ]
    assert method.enclosing[1].location.start_line == 21  # not the getter of that name


def test_unit_of_a_location_is_found_until_the_text_changes(source: SourceMap) -> None:
    where = source.owner(9).location
    moved = SourceMap("\n" + TEXT, "src/shop/cart.py")

    assert source.unit(where) is source.owner(9)
    assert moved.unit(where) is None


@pytest.mark.parametrize("text", ["def f(:\n", "x = '\0'\n", "(" * 5000])
def test_file_that_does_not_parse_is_one_location(text: str) -> None:
    source = SourceMap(text + "\n", "m.py", is_test=True)

    assert [unit.location.qualname for unit in source.units] == [MODULE]
    assert source.owner(1) is source.module
    assert source.module.location.is_test


def test_empty_file_has_one_line() -> None:
    assert spans(SourceMap("", "m.py")) == {MODULE: [(1, 1)]}


def test_file_that_the_compiler_warns_of_is_read_without_a_warning() -> None:
    assert list(spans(SourceMap("def f():\n    return '\\d'\n", "m.py"))) == [MODULE, "f"]


@pytest.mark.parametrize(
    "text", ["a\nb", "a\r\nb\r\n", "a\rb\r", "'\x0c'\n'\u2028\x1c\x85'\n", "", "\n"]
)
def test_lines_are_counted_as_python_does(text: str) -> None:
    lines = lines_of(text)

    assert "".join(lines) == text
    end = "" if not text or text.endswith(("\n", "\r")) else "\n"
    assert parse(f"{text}{end}last").body[-1].lineno == len(lines) + 1


@pytest.mark.parametrize(
    "body",
    ["x = " + " + ".join(["1"] * 3000), "if x: pass\n" + "elif x: pass\n" * 900],
    ids=["sum", "elif"],
)
def test_deep_syntax_is_read(body: str) -> None:
    found = SourceMap(
        f"def f(x): return x\n{body}\n\n\nclass C:\n    def g(self): return 1\n", "m.py"
    )

    names = [unit.location.qualname for unit in found.units]
    assert names == (["<module>"] if found.is_broken else ["<module>", "f", "C", "C.g"])


@pytest.mark.parametrize(
    ("head", "text"),
    [
        pytest.param("", "text", id="dedented"),
        pytest.param("", "one\ntwo", id="a text that begins at the margin, in no class"),
        pytest.param("class C:\n", "one\ntwo", id="the same in a class"),
    ],
)
def test_edited_lines_of_a_function_parse_by_themselves(head: str, text: str) -> None:
    blanks = "    " if head else ""
    old = f'{head}{blanks}def f():\n{blanks}    return """{text}"""\n\n\nx = 1\n'
    new = old.replace("return", "print()\n" + blanks + "    return")
    function = next(unit for unit in SourceMap(old, "m.py").units if unit.is_function)

    lines = edited(old, new, function.location)

    found = next(node for node in ast.walk(parse(lines)) if isinstance(node, ast.FunctionDef))
    assert [ast.unparse(line) for line in found.body] == ["print()", f"return {text!r}"]
    assert "x = 1" not in lines
