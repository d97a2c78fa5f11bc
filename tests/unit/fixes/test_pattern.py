"""What a person changed by hand, as a pattern that is found elsewhere."""

from __future__ import annotations

import pytest

from pytest_bayesloc.fixes.pattern import pattern_of, propose
from pytest_bayesloc.fixes.project import Task

HABITS = {
    "a bound of a slice": (
        "def f(a, e):\n    return a[0:e]\n",
        "def f(a, e):\n    return a[0:e + 1]\n",
        ("_1_[0:e]", "_1_[0:e + 1]"),
    ),
    "a key that may be missing": (
        "def f(x):\n    a = 1\n    return x['name']\n",
        "def f(x):\n    a = 1\n    return x.get('name')\n",
        ("_1_[_2_]", "_1_.get(_2_)"),
    ),
    "a bound": (
        "def f(xs, n):\n    return [x for x in xs if x < n]\n",
        "def f(xs, n):\n    return [x for x in xs if x <= n]\n",
        ("_1_ < _2_", "_1_ <= _2_"),
    ),
    "a method": (
        "def f(line):\n    return clean(line.rstrip())\n",
        "def f(line):\n    return clean(line.strip())\n",
        ("_1_.rstrip()", "_1_.strip()"),
    ),
    "a keyword": (
        "def f(path):\n    text = open(path)\n    return text\n",
        "def f(path):\n    text = open(path, encoding='utf-8')\n    return text\n",
        None,
    ),
    "a value more": (
        "def f(total):\n    return round(total)\n",
        "def f(total):\n    return round(total, 2)\n",
        ("round(_1_)", "round(_1_, 2)"),
    ),
}
NO_HABITS = {
    "two things": (
        "def f(x):\n    return x['a'] + x['b']\n",
        "def f(x):\n    return x.get('a') - x['b']\n",
    ),
    "nothing": ("def f(x):\n    return x\n", "def f(x):  # why\n    return x\n"),
    "another name": ("def f(x, y):\n    return x\n", "def f(x, y):\n    return y\n"),
    "a statement more": ("def f(x):\n    return x\n", "def f(x):\n    x += 1\n    return x\n"),
    "no syntax": ("def f(x:\n", "def f(x):\n    return x\n"),
}


@pytest.mark.parametrize("name", HABITS)
def test_a_small_change_becomes_a_pattern(name: str) -> None:
    before, after, expected = HABITS[name]

    assert pattern_of(before, after) == expected


@pytest.mark.parametrize("name", NO_HABITS)
def test_what_is_no_habit_is_no_pattern(name: str) -> None:
    before, after = NO_HABITS[name]

    assert pattern_of(before, after) is None


def test_a_pattern_is_carried_out_with_other_names() -> None:
    pattern = ("_1_[_2_]", "_1_.get(_2_)")
    code = (
        "def g(self, key):\n    return self.rates[key + '!']  # all\n\n\ndef h(x):\n    return x[0]"
    )
    task = Task(code=code, filename="a.py", error="KeyError: 'x'", line=2)

    assert [found.code for found in propose(task, *pattern)] == [
        code.replace("self.rates[key + '!']", "self.rates.get((key + '!'))")
    ]


@pytest.mark.parametrize("name", [name for name in HABITS if HABITS[name][2]])
def test_a_pattern_mends_what_it_was_learned_from(name: str) -> None:
    before, after, pattern = HABITS[name]
    assert pattern is not None
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
