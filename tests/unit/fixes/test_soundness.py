"""What silences a check or knows the answer is no fix."""

from __future__ import annotations

import pytest

from pytest_bayesloc.domain.recording import RESULT
from pytest_bayesloc.fixes.soundness import doubt, emptied, tuned, unsound

TEST = "    def test_total(self):\n        assert total(['a', 17], 'blue') == 4217\n"
UNSOUND = {
    "a check": ("def f(x):\n    assert x\n    return x\n", "def f(x):\n    return x\n"),
    "a weaker check": (
        "def f(x):\n    assert x > 1\n    return x\n",
        "def f(x):\n    assert x > 0\n    return x\n",
    ),
    "all exceptions": (
        "try:\n    f()\nexcept ValueError:\n    pass\n",
        "try:\n    f()\nexcept Exception:\n    pass\n",
    ),
    "a bare except": ("f()\n", "try:\n    f()\nexcept:\n    pass\n"),
    "one more exception": (
        "try:\n    f()\nexcept ValueError:\n    pass\n",
        "try:\n    f()\nexcept (ValueError, KeyError):\n    pass\n",
    ),
    "the exception above": (
        "try:\n    f()\nexcept KeyError:\n    pass\n",
        "try:\n    f()\nexcept LookupError:\n    pass\n",
    ),
    "suppress": ("f()\n", "with contextlib.suppress(ValueError):\n    f()\n"),
    "the expected value": ("def f(x):\n    return x\n", "def f(x):\n    return 4217\n"),
    "the input": (
        "def f(x):\n    return x\n",
        "def f(x):\n    if x == 'blue':\n        return 1\n    return x\n",
    ),
    "one of the inputs": (
        "def f(x):\n    return x\n",
        "def f(x):\n    if x in ('blue', 'red'):\n        return 1\n    return x\n",
    ),
    "a table of answers": (
        "def f(x):\n    return x\n",
        "def f(x):\n    return {'blue': 3}.get(x, x)\n",
    ),
    "the expected value in a file that was broken": (
        "def f(x)\n    return x\n",
        "def f(x):\n    return 4217\n",
    ),
    "a check in a file that was broken": (
        "def f(x)\n    assert x\n    return x\n",
        "def f(x):\n    return x\n",
    ),
    "self with a default": (
        "class A:\n    def f(self):\n        return 1\n",
        "class A:\n    def f(self=None):\n        return 1\n",
    ),
    "a comparison of a thing with itself": (
        "def f(x, y):\n    return g(x) == g(y)\n",
        "def f(x, y):\n    return g(y) == g(y)\n",
    ),
    "a difference of a thing to itself": (
        "def f(x, y):\n    return x - y\n",
        "def f(x, y):\n    return x - x\n",
    ),
    "a clause that stands there twice": (
        "def f(x, y):\n    return x and y\n",
        "def f(x, y):\n    return y and y\n",
    ),
    "a search in what is to be anything": (
        "def f(x, y):\n    return x in y\n",
        "def f(x, y):\n    return x in y or y\n",
    ),
    "any length": (
        "def f(x):\n    if len(x) > 0:\n        return x[0]\n",
        "def f(x):\n    if len(x) >= 0:\n        return x[0]\n",
    ),
    "a value that is no default": (
        "def f(x, y):\n    return g(x, y or 0)\n",
        "def f(x, y):\n    return g(x, y and 0)\n",
    ),
    "a text for a truth value": (
        "def f(x, y):\n    return x == y\n",
        "def f(x, y):\n    return str(x == y)\n",
    ),
    "a list for a truth value": (
        "def f(x, y):\n    if x:\n        return False\n    return not y\n",
        "def f(x, y):\n    if x:\n        return [False]\n    return not y\n",
    ),
    "no syntax": ("def f(x):\n    return x\n", "def f(x)\n    return x\n"),
}
SOUND = {
    "another exception": (
        "try:\n    f()\nexcept KeyError:\n    pass\n",
        "try:\n    f()\nexcept IndexError:\n    pass\n",
    ),
    "one more exception for which something is done": (
        "try:\n    f()\nexcept KeyError:\n    return 0\n",
        "try:\n    f()\nexcept (KeyError, TypeError):\n    return 0\n",
    ),
    "a guard before a search": (
        "def f(x, y):\n    if x in y:\n        return g()\n",
        "def f(x, y):\n    if y and x in y:\n        return g()\n",
    ),
    "another bound": ("def f(x):\n    return x > 16\n", "def f(x):\n    return x > 17\n"),
    "a guard": (
        "def f(x):\n    return x\n",
        "def f(x):\n    if not x:\n        return 0\n    return x\n",
    ),
    "another default": (
        "def f(x):\n    return x == 'blue'\n",
        "def f(x):\n    return x != 'blue'\n",
    ),
    "another truth value": (
        "def f(x, y):\n    return x == y\n",
        "def f(x, y):\n    return all(x) and any(y)\n",
    ),
    "no answer in the place of a truth value": (
        "def f(x, y):\n    return x == y\n",
        "def f(x, y):\n    if y is None:\n        return None\n    return x == y\n",
    ),
    "a default": (
        "def f(x, y):\n    return g(x, y.a)\n",
        "def f(x, y):\n    return g(x, y.a or 1)\n",
    ),
    "a length that was compared like that": (
        "def f(x):\n    return len(x) >= 0 and x.a\n",
        "def f(x):\n    return len(x) >= 0 and x.b\n",
    ),
    "another condition around a check": (
        "def f(n):\n    if n > 0:\n        assert n < 9\n    return n\n",
        "def f(n):\n    if n >= 0:\n        assert n < 9\n    return n\n",
    ),
    "a broken file": ("def f(:\n", "def f():\n    assert 1\n    return 4\n"),
}


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
    "counts letters, not bytes": (
        "def f(x):\n    return bytes([len(x)]) + x\n",
        "def f(x):\n    return bytes([len(x)]) + x.encode()\n",
        "it encodes `x`, whose letters are counted elsewhere",
    ),
    "returns a constant": (
        "def f(x):\n    return x > 1\n",
        "def f(x):\n    return True\n",
        "it returns `True` whatever it is given",
    ),
    "returns one constant at each place": (
        "def f(x):\n    if x:\n        return True\n    return False\n",
        "def f(x):\n    if x:\n        return True\n    return True\n",
        "it returns `True` whatever it is given",
    ),
    "decides nothing": (
        "def f(x):\n    if x:\n        return x\n    return -x\n",
        "def f(x):\n    if True:\n        return x\n    return -x\n",
        "a condition is always true",
    ),
    "drops what it was given": (
        "def f(x, rate):\n    return x * rate\n",
        "def f(x, rate):\n    return x * x\n",
        "it no longer uses `rate`",
    ),
    "hides a sign": (
        "def f(x, y):\n    return x - y\n",
        "def f(x, y):\n    return abs(x - y)\n",
        "`abs()` only hides what was wrong",
    ),
    "doubles": (
        "def f(x, y):\n    return (x, x + y)\n",
        "def f(x, y):\n    return (x, y + y)\n",
        "it adds `y` to itself",
    ),
    "negates a coroutine": (
        "async def ok(u):\n    return u\nasync def f(u):\n    if ok(u):\n        return u\n",
        "async def ok(u):\n    return u\nasync def f(u):\n    if not ok(u):\n        return u\n",
        "it negates a coroutine that nobody awaits",
    ),
    "returns another type": (
        "def f(x) -> int:\n    if x:\n        return g(x)\n    return 0\n",
        "def f(x) -> int:\n    if x:\n        return []\n    return 0\n",
        "it returns `[]`, and `int` is declared",
    ),
}
EMPTIED = {
    "decides nothing": DOUBTED["decides nothing"],
    "returns a constant": DOUBTED["returns a constant"],
    "raises no longer": (
        "def f(xs):\n    for x in xs:\n        if not x:\n            raise E(x)\n",
        "def f(xs):\n    for x in xs:\n        if not x:\n            continue\n",
        "it no longer raises `E(x)`",
    ),
    "a clause that decides all": (
        "def f(x, y):\n    return y or x\n",
        "def f(x, y):\n    return True or y or x\n",
        "a condition is always true",
    ),
    "a filter that lets all pass": (
        "def f(x):\n    return [i for i in x if i]\n",
        "def f(x):\n    return [i for i in x if True]\n",
        "a condition is always true",
    ),
}
TRUSTED = {
    "another exception": (
        "def f(x):\n    raise KeyError(x)\n",
        "def f(x):\n    raise ValueError(x)\n",
    ),
    "another operator": ("def f(x):\n    return x > 1\n", "def f(x):\n    return x >= 1\n"),
    "a name that was misspelt": (
        "def f(width):\n    return widht\n",
        "def f(width):\n    return width\n",
    ),
    "a parameter that was misspelt": (
        "def f(widht):\n    return widht * width\n",
        "def f(width):\n    return width * width\n",
    ),
    "a case of its own": (
        "def f(xs):\n    return sum(xs) / len(xs)\n",
        "def f(xs):\n    if not xs:\n        return 0\n    return sum(xs) / len(xs)\n",
    ),
    "another constant": ("def f():\n    return 1\n", "def f():\n    return 2.0\n"),
}


@pytest.mark.parametrize("name", DOUBTED)
def test_what_empties_code_is_doubted(name: str) -> None:
    before, after, why = DOUBTED[name]

    assert doubt(before, after) == why


@pytest.mark.parametrize("name", EMPTIED)
def test_what_no_tests_outweigh_is_told_apart(name: str) -> None:
    before, after, why = EMPTIED[name]

    assert emptied(before, after) == doubt(before, after) == why
    assert emptied(*DOUBTED["drops what it was given"][:2]) == ""


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
