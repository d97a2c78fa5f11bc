"""What silences a check or knows the answer is no fix."""

from __future__ import annotations

import pytest

from pytest_bayesloc.domain.recording import RESULT
from pytest_bayesloc.fixes.soundness import doubt, emptied, tuned, unsound
from tests.unit.fixes.candidates import f

TEST = "    def test_total(self):\n        assert total(['a', 17], 'blue') == 4217\n"


def caught(before: str, after: str, then: str = "pass") -> tuple[str, str]:
    """The same with the exceptions that are caught before and after."""
    text = "try:\n    f()\nexcept {}:\n    {}\n"
    return text.format(before, then), text.format(after, then)


UNSOUND = {
    "a check": f("x", "assert x\n    return x", "return x"),
    "a weaker check": f("x", "assert x > 1\n    return x", "assert x > 0\n    return x"),
    "all exceptions": caught("ValueError", "Exception"),
    "a bare except": ("f()\n", "try:\n    f()\nexcept:\n    pass\n"),
    "one more exception": caught("ValueError", "(ValueError, KeyError)"),
    "the exception above": caught("KeyError", "LookupError"),
    "suppress": ("f()\n", "with contextlib.suppress(ValueError):\n    f()\n"),
    "the expected value": f("x", "return x", "return 4217"),
    "the input": f("x", "return x", "if x == 'blue':\n        return 1\n    return x"),
    "one of the inputs":
        f("x", "return x", "if x in ('blue', 'red'):\n        return 1\n    return x"),
    "a second entry": f("x", "return x in ('red',)", "return x in ('red', 'blue')"),
    "a table of answers": f("x", "return x", "return {'blue': 3}.get(x, x)"),
    "the expected value in a file that was broken":
        ("def f(x)\n    return x\n", "def f(x):\n    return 4217\n"),
    "a check in a file that was broken":
        ("def f(x)\n    assert x\n    return x\n", "def f(x):\n    return x\n"),
    "self with a default": (
        "class A:\n    def f(self):\n        return 1\n",
        "class A:\n    def f(self=None):\n        return 1\n",
    ),
    "a comparison of a thing with itself": f("x, y", "return g(x) == g(y)", "return g(y) == g(y)"),
    "a difference of a thing to itself": f("x, y", "return x - y", "return x - x"),
    "a clause that stands there twice": f("x, y", "return x and y", "return y and y"),
    "a search in what is to be anything": f("x, y", "return x in y", "return x in y or y"),
    "any length":
        f("x", "if len(x) > 0:\n        return x[0]", "if len(x) >= 0:\n        return x[0]"),
    "a value that is no default": f("x, y", "return g(x, y or 0)", "return g(x, y and 0)"),
    "a text for a truth value": f("x, y", "return x == y", "return str(x == y)"),
    "a list for a truth value":
        f("x, y", "if x:\n        return False\n    return not y",
          "if x:\n        return [False]\n    return not y"),
    "no syntax": ("def f(x):\n    return x\n", "def f(x)\n    return x\n"),
}  # fmt: skip
SOUND = {
    "one more entry of several":
        f("x", "return x in ('red', 'green')", "return x in ('red', 'green', 'blue')"),
    "another exception": caught("KeyError", "IndexError"),
    "one more exception for which something is done":
        caught("KeyError", "(KeyError, TypeError)", "return 0"),
    "a guard before a search":
        f("x, y", "if x in y:\n        return g()", "if y and x in y:\n        return g()"),
    "another bound": f("x", "return x > 16", "return x > 17"),
    "a guard": f("x", "return x", "if not x:\n        return 0\n    return x"),
    "another default": f("x", "return x == 'blue'", "return x != 'blue'"),
    "another truth value": f("x, y", "return x == y", "return all(x) and any(y)"),
    "no answer in the place of a truth value":
        f("x, y", "return x == y", "if y is None:\n        return None\n    return x == y"),
    "a length that was compared like that":
        f("x", "return len(x) >= 0 and x.a", "return len(x) >= 0 and x.b"),
    "another condition around a check":
        f("n", "if n > 0:\n        assert n < 9\n    return n",
          "if n >= 0:\n        assert n < 9\n    return n"),
    "a default": f("x, y", "return g(x, y.a)", "return g(x, y.a or 1)"),
    "a broken file": ("def f(:\n", "def f():\n    assert 1\n    return 4\n"),
}  # fmt: skip


@pytest.mark.parametrize("name", UNSOUND)
def test_what_is_unsound_is_said(name: str) -> None:
    assert unsound(*UNSOUND[name], [TEST])


@pytest.mark.parametrize("name", SOUND)
def test_what_is_sound_passes(name: str) -> None:
    assert unsound(*SOUND[name], [TEST]) == ""


def test_the_types_of_recorded_calls_tell_what_is_true_by_its_type() -> None:
    before, after = "def f(x, y):\n    return g(x, y)\n", "def f(x, y):\n    return x\n"
    types = {"x": frozenset({"str"}), RESULT: frozenset({"bool"})}

    assert unsound(before, after, types=types)
    assert unsound(before, after, types={**types, RESULT: frozenset({"bool", "str"})}) == ""
    assert unsound(before, after, types={**types, "x": frozenset({"bool"})}) == ""


def test_what_gave_texts_gives_no_truth_value() -> None:
    before, after = "def f(x):\n    return g(x)\n", "def f(x):\n    return bool(g(x))\n"

    assert unsound(before, after, types={RESULT: frozenset({"str"})})
    assert unsound(before, after, types={RESULT: frozenset({"int", "str"})}) == ""
    assert unsound(before, after) == ""


def test_values_are_known_whatever_stands_beside_them() -> None:
    before = "def f(n):\n    return n\n"
    after = "def f(n):\n    if n == 417:\n        return 8231\n    return n\n"
    texts = (
        "    def test_it(self):\n        x = '''\nnothing\n'''\n        assert f(417) == 8231\n",
        "def test_other():\n    assert f(1) == 1\n",
    )

    assert "knows a value of the test" in unsound(before, after, texts)
    assert unsound(before, after, texts[1:]) == ""


HIDDEN = {
    "under a condition": "def f(n):\n    if n:\n        assert n < 9\n    return n\n",
    "behind a return": "def f(n):\n    return n\n    assert n < 9\n",
    "in a function of its own": "def f(n):\n    def g():\n        assert n < 9\n    return n\n",
}
RAISING = "def f(n):\n    try:\n        g(n)\n    except KeyError:\n        log(n)\n        raise\n"
SWALLOWED = {
    "no longer raised": RAISING.replace("        raise\n", ""),
    "left by finally": RAISING + "    finally:\n        return 0\n",
}


@pytest.mark.parametrize("how", HIDDEN)
def test_a_check_that_is_not_reached_is_gone(how: str) -> None:
    before = "def f(n):\n    assert n < 9\n    return n\n"

    assert unsound(before, HIDDEN[how]) == "it takes away the check `assert n < 9`"


@pytest.mark.parametrize("how", SWALLOWED)
def test_an_error_that_goes_nowhere_is_swallowed(how: str) -> None:
    assert "it swallows errors" in unsound(RAISING, SWALLOWED[how])


DOUBTED = {
    "it encodes `x`, whose letters are counted elsewhere": f(
        "x", "return bytes([len(x)]) + x", "return bytes([len(x)]) + x.encode()"
    ),
    "it no longer uses `rate`": f("x, rate", "return x * rate", "return x * x"),
    "`abs()` only hides what was wrong": f("x, y", "return x - y", "return abs(x - y)"),
    "it adds `y` to itself": f("x, y", "return (x, x + y)", "return (x, y + y)"),
    "it negates a coroutine that nobody awaits": (
        "async def ok(u):\n    return u\nasync def f(u):\n    if ok(u):\n        return u\n",
        "async def ok(u):\n    return u\nasync def f(u):\n    if not ok(u):\n        return u\n",
    ),
    "it returns `[]`, and `int` is declared": (
        "def f(x) -> int:\n    if x:\n        return g(x)\n    return 0\n",
        "def f(x) -> int:\n    if x:\n        return []\n    return 0\n",
    ),
}
ALWAYS_TRUE, ONE_RESULT = "a condition is always true", "it returns `True` whatever it is given"
EMPTIED = {
    "decides nothing":
        (f("x", "if x:\n        return x\n    return -x",
           "if True:\n        return x\n    return -x"), ALWAYS_TRUE),
    "a clause that decides all": (f("x, y", "return y or x", "return True or y or x"), ALWAYS_TRUE),
    "a filter that lets all pass":
        (f("x", "return [i for i in x if i]", "return [i for i in x if True]"), ALWAYS_TRUE),
    "returns a constant": (f("x", "return x > 1", "return True"), ONE_RESULT),
    "returns one constant at each place":
        (f("x", "if x:\n        return True\n    return False",
           "if x:\n        return True\n    return True"), ONE_RESULT),
    "raises no longer":
        (f("xs", "for x in xs:\n        if not x:\n            raise E(x)",
           "for x in xs:\n        if not x:\n            continue"), "it no longer raises `E(x)`"),
}  # fmt: skip
TRUSTED = {
    "another exception": f("x", "raise KeyError(x)", "raise ValueError(x)"),
    "another operator": f("x", "return x > 1", "return x >= 1"),
    "a name that was misspelt": f("width", "return widht", "return width"),
    "a parameter that was misspelt": (
        "def f(widht):\n    return widht * width\n",
        "def f(width):\n    return width * width\n",
    ),
    "a case of its own": f(
        "xs",
        "return sum(xs) / len(xs)",
        "if not xs:\n        return 0\n    return sum(xs) / len(xs)",
    ),
    "another constant": f("", "return 1", "return 2.0"),
}


@pytest.mark.parametrize("why", DOUBTED)
def test_change_that_does_not_look_like_a_fix_is_doubted(why: str) -> None:
    assert doubt(*DOUBTED[why]) == why
    assert emptied(*DOUBTED[why]) == ""


@pytest.mark.parametrize("name", EMPTIED)
def test_what_empties_code_is_doubted_and_told_apart(name: str) -> None:
    change, why = EMPTIED[name]

    assert emptied(*change) == doubt(*change) == why


@pytest.mark.parametrize("name", TRUSTED)
def test_what_keeps_the_data_flow_is_not_doubted(name: str) -> None:
    assert doubt(*TRUSTED[name]) == ""


@pytest.mark.parametrize(
    ("one", "other", "is_told"),
    [
        ("0.02", "0.2", False),
        ("237.15", "273.15", False),
        ("9", "10", False),
        ("17", "7", False),
        ("30", "22.5", True),
        ("0.5", "3.2", True),
        ("'0.7'", "'0.07'", False),
        ("'0.7'", "'0.31'", True),
        ("'a'", "'b'", False),
    ],
)
def test_number_that_is_no_slip_of_another_is_told(one: str, other: str, is_told: bool) -> None:
    assert bool(tuned(f"N = {one}\n", f"N = {other}\n")) is is_told


def test_small_number_may_fit_by_chance() -> None:
    assert tuned("N = 1\n", "N = 2\n", small=3) != ""
    assert tuned("N = 3\n", "N = 4\n", small=3) == ""
