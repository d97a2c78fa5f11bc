"""What a person changed by hand, as a pattern that is found elsewhere."""

from __future__ import annotations

import pytest

from pytest_bayesloc.fixes.pattern import pattern_of, propose
from pytest_bayesloc.fixes.project import Task
from tests.unit.fixes.candidates import f

#: What a person changed, and the pattern of it.
HABITS = {
    "a bound of a slice": (
        f("a, e", "return a[0:e]", "return a[0:e + 1]"),
        ("_1_[0:e]", "_1_[0:e + 1]"),
    ),
    "a key that may be missing": (
        f("x", "a = 1\n    return x['name']", "a = 1\n    return x.get('name')"),
        ("_1_[_2_]", "_1_.get(_2_)"),
    ),
    "a bound": (
        f("xs, n", "return [x for x in xs if x < n]", "return [x for x in xs if x <= n]"),
        ("_1_ < _2_", "_1_ <= _2_"),
    ),
    "a method": (
        f("line", "return clean(line.rstrip())", "return clean(line.strip())"),
        ("_1_.rstrip()", "_1_.strip()"),
    ),
    "a value more": (
        f("total", "return round(total)", "return round(total, 2)"),
        ("round(_1_)", "round(_1_, 2)"),
    ),
}
NO_HABITS = {
    "a keyword": f(
        "path",
        "text = open(path)\n    return text",
        "text = open(path, encoding='utf-8')\n    return text",
    ),
    "two things": f("x", "return x['a'] + x['b']", "return x.get('a') - x['b']"),
    "nothing": ("def f(x):\n    return x\n", "def f(x):  # why\n    return x\n"),
    "another name": f("x, y", "return x", "return y"),
    "a statement more": f("x", "return x", "x += 1\n    return x"),
    "no syntax": ("def f(x:\n", "def f(x):\n    return x\n"),
}


@pytest.mark.parametrize("name", HABITS)
def test_a_small_change_becomes_a_pattern(name: str) -> None:
    change, expected = HABITS[name]

    assert pattern_of(*change) == expected


@pytest.mark.parametrize("name", NO_HABITS)
def test_what_is_no_habit_is_no_pattern(name: str) -> None:
    assert pattern_of(*NO_HABITS[name]) is None


def test_a_pattern_is_carried_out_with_other_names() -> None:
    pattern = ("_1_[_2_]", "_1_.get(_2_)")
    code = (
        "def g(self, key):\n    return self.rates[key + '!']  # all\n\n\ndef h(x):\n    return x[0]"
    )
    task = Task(code=code, filename="a.py", error="KeyError: 'x'", line=2)

    assert [found.code for found in propose(task, *pattern)] == [
        code.replace("self.rates[key + '!']", "self.rates.get((key + '!'))")
    ]


@pytest.mark.parametrize("name", HABITS)
def test_a_pattern_mends_what_it_was_learned_from(name: str) -> None:
    (before, after), pattern = HABITS[name]
    n_lines = before.count("\n")
    task = Task(code=before, filename="a.py", error="", line=n_lines, lines=(n_lines,))

    assert after in [found.code for found in propose(task, *pattern)]


def test_text_with_values_in_it_is_learned_as_it_stands(prefix: str) -> None:
    before = f"def f(x):\n    return show({prefix}'{{x}}: many', 1)\n"

    pattern = pattern_of(before, before.replace("1)", "2)"))

    assert pattern is not None
    assert "{x}: many" in pattern[1]


@pytest.mark.parametrize("code", ["def f(:\n", "x = 'a\udc80' + 1\n"])
def test_text_that_is_no_python_is_left_alone(code: str) -> None:
    task = Task(code=code, filename="a.py", error="TypeError: no")

    assert not list(propose(task, "_0_ + 1", "_0_"))
