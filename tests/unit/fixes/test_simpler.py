"""A change is shown as a person would write it."""

from __future__ import annotations

import ast

import pytest

from pytest_bayesloc.fixes.simpler import likewise, simpler

HEAD = "def f(a, b, c):\n    "


@pytest.mark.parametrize(
    ("before", "after", "plain"),
    [
        ("return a - 1", "return a - 0", "return a"),
        ("return a", "return a + 0", "return a"),
        ("return a + 1", "return a + 1 - 1", "return a"),
        ("return a[b + 1]", "return a[b + 1 + 1]", "return a[b + 2]"),
        ("return a - 3", "return a - 3 + 1", "return a - 2"),
        ("return a - 0", "return a - (-1)", "return a + 1"),
        ("return a * 2", "return a * 1", "return a"),
        ("return c / (a() - 1)", "return c / (a() - 0)", "return c / a()"),
        ("return a[1:]", "return a[:]", "return a"),
        ("return a[1:b]", "return a[0:b]", "return a[:b]"),
        ("return a and b", "return a or False", "return a"),
        ("return a and b", "return a and True and b", "return a and b"),
        ("return not a", "return not not a", "return a"),
        ("if a == b: return c", "if (not (a == b)): return c", "if a != b: return c"),
        ("if a: return c", "if (not (a)): return c", "if not a: return c"),
        ("return a if b else c", "return a if True else c", "return a"),
        ("if a: return c", "if (a) and (b is c): return c", "if a and b is c: return c"),
        ("return a == b", "return bool(a == b)", "return a == b"),
        ("return a.pop(0)", "return a.pop(-1)", "return a.pop()"),
        (
            "if a:\n        b()\n        c()\n    return c",
            "if True:\n        b()\n        c()\n    return c",
            "b()\n    c()\n    return c",
        ),
        ("for i in a:\n        b(i)\n        c(i)", "for i in a:\n        pass\n        c(i)",
         "for i in a:\n        c(i)"),
    ],
)  # fmt: skip
def test_what_means_nothing_is_left_out(before: str, after: str, plain: str) -> None:
    assert simpler(f"{HEAD}{before}\n", f"{HEAD}{after}\n") == f"{HEAD}{plain}\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = a[:]; y = b + 0; return (a - b)", "x = a[:]; y = b + 0; return (a + b)"),
        ("return (a + b) * c", "return (a + c) * c"),
        ("return a - (b - c)", "return a - (b + c)"),
        ("return a", "return a or True"),
        ("return 'ä' + a", "return 'ä' + (b or c)"),
        (
            "if a:\n        b()\n    else:\n        c()",
            "if True:\n        b()\n    else:\n        c()",
        ),
        ("return a", "return (a"),
        ("if True:\n        pass\n        x = a", "if True:\n        pass\n        x = b"),
        ("if a:\n        b()  # why\n        c()", "if a:\n        pass  # why\n        c()"),
    ],
)
def test_what_was_there_or_means_something_stays(before: str, after: str) -> None:
    assert simpler(f"{HEAD}{before}\n", f"{HEAD}{after}\n") == f"{HEAD}{after}\n"


def test_what_is_plainer_parses() -> None:
    made = simpler(f"{HEAD}return[a]\n", f"{HEAD}return(a)or False\n")

    assert ast.unparse(ast.parse(made)).endswith("return a")


@pytest.mark.parametrize(
    ("old", "new", "whole"),
    [
        ("if not a:", "if a is None:", ["if a is None:", "if b is None:"]),
        ("if not b:", "if b is None:", ["if a is None:", "if b is None:"]),
        ("if not a:", "if not c:", ["if not c:", "if not b:"]),  # b is not the one exchanged
        ("a = c", "a = d", ["a = d", "b = c"]),  # short
        ("return f(a, b)", "return g(a, b)", ["return g(a, b)"]),
    ],
)
def test_change_is_made_in_lines_that_are_alike(old: str, new: str, whole: list[str]) -> None:
    code = (
        "def f(a, b, c, d):\n"
        "    if not a:\n"
        "        a = c\n"
        "\n"
        "    if not b:\n"
        "        b = c\n"
        "    return f(a, b)\n"
    )

    made = likewise(code, code.replace(old, new))

    lines = [line.strip() for line in made.splitlines()]
    assert [line for line in lines if line in whole] == whole


def test_line_deeper_in_the_function_keeps_its_indentation() -> None:
    deep = "    if a:\n        if a.size >= b:\n            a = b\n"
    code = f"def f(a, b):\n{deep}    if b.size >= a:\n        b = a\n"

    made = likewise(code, code.replace("    if b.size >= a", "    if b.size <= a"))

    assert made == code.replace(">=", "<=")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def f(a):\n    x = 0\n    x = 0\n", "def f(a):\n    x = 1\n    x = 0\n"),
        ("def f(a):\n    x = 0\n    y = 1\n", "def f(a):\n    x = 2\n    y = 1\n"),
        ("def f(a):\n    x(0)\n\ndef g(b):\n    y(0)\n",
         "def f(a):\n    x(1)\n\ndef g(b):\n    y(0)\n"),
        ("def f(a):\n    x(0)\n    y(0)\n", "def f(a):\n    x(0)\n    y(0)\n    z(0)\n"),
        ("def f(a, b):\n    a.x.issupserset(b)\n    a.y.isdisjoint(b)\n",
         "def f(a, b):\n    a.x.issuperset(b)\n    a.y.isdisjoint(b)\n"),
    ],
    ids=["a short line", "another number", "another function", "a new line", "another mistake"],
)  # fmt: skip
def test_other_lines_stay(before: str, after: str) -> None:
    assert likewise(before, after) == after
