from __future__ import annotations

import asyncio
from dataclasses import replace
from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.domain.errors import PatchError
from pytest_bayesloc.domain.source import SourceMap
from pytest_bayesloc.inspection.strategies.assertions import KIND, MAX_CHECKS, propose
from pytest_bayesloc.ranking.evidence.invariants import RESULT, Invariant
from tests.unit.inspection.conftest import run, violations

if TYPE_CHECKING:
    from pytest_bayesloc.domain.inspection import InspectionPatch
    from pytest_bayesloc.rerun.child import Probe

FILE = "shop/cart.py"


def invariant(condition: str, *, at_exit: bool, support: int = 5) -> Invariant:
    words = condition.replace(RESULT, "the result")
    return Invariant(
        at_exit=at_exit, condition=condition, words=words, support=support, holds=lambda _: True
    )


X_IS_INT = invariant("type(x).__qualname__ in ('int',)", at_exit=False)
RESULT_IS_INT = invariant(f"type({RESULT}).__qualname__ in ('int',)", at_exit=True)
RESULT_GROWS = invariant(f"{RESULT} >= _bayesloc_in_x", at_exit=True)


def patch_of(
    text: str, *invariants: Invariant, target: str = "f", file: str = FILE
) -> InspectionPatch:
    source = SourceMap(text, file)
    unit = next(u for u in source.units if u.location.qualname == target)
    return propose(source, unit, invariants)


# One function f(x) each, which returns an int for 1, and a str for "a".
SHAPES = {
    "plain": "def f(x):\n    return x\n",
    "no end of line": "def f(x):\n    return x",
    "on one line, tight": "def f(x):return x\n",
    "on one line with a comment": "def f(x): return x  # why\n",
    "on one line, twice": "def f(x): y = x; return y\n",
    "one-line suites": "def f(x):\n    if x: return x\n    else: return 0\n",
    "else return": "def f(x):\n    if not x:\n        return 0\n    else: return x\n",
    "several lines": "def f(x):\n    return (\n        x  # c\n        or 0\n    )  # d\n",
    "without parentheses": "def f(x):\n    return x \\\n        or 0\n",
    "docstring of several lines": 'def f(x):\n    """Doc\n\n    more.\n    """\n    return x\n',
    "header of several lines": "def f(\n    x,\n    y=(1,\n       2),\n): return x\n",
    "tabs": "def f(x):\n\tif x:\n\t\treturn x\n\treturn 0\n",
    "semicolons": "def f(x):\n    y = 1; z = x\n    return z;\n",
    "unicode": "def f(x):\n    if 'é' * 3: return x or 'ßß'\n    return 'ü'\n",
    "unicode in a line": "def f(x): ä = 'é', x; return ä[1]\n",
    "try": "def f(x):\n    try: return x\n    finally: x = 3\n",
    "with": "def f(x):\n    with open('/dev/null') as s: return x\n",
    "nested": "def f(x):\n    def g(y):\n        return [y]\n    return g(x)[0]\n",
    "nested first": "def f(x):\n    @staticmethod\n    def g(): return x\n    return g()\n",
    "lambda": "def f(x):\n    g = lambda: x\n    return g()\n",
    "decorated": "def d(f): return f\n@d\n@d\ndef f(x):\n    return x\n",
    "match": "def f(x):\n    match x:\n        case 0: return 0\n        case _: return x\n",
    "windows": "def f(x):\r\n    if x: return x\r\n    return 0\r\n",
    "form feed": "A = 'a\x0cb\x1c\u2028c'\n\x0c\ndef f(x):\n    '''\x0c'''\n    return x\n",
    "continued header": "def f(x):\n    if x: \\\n    return x\n    return 0\n",
    "continued statement": "def f(x):\n    y = 0 + \\\n        1\n    return x\n",
    "string on several lines": "def f(x):\n    s = '''\n  a'''\n    return x if s else '''\n'''\n",
    "hidden built-ins": "def f(x, type=3, len=4):\n    return x\n",
    "built-ins hidden in the module": "from os import *\ntype = 3\ndef f(x):\n    return x\n",
    "global first": "def f(x):\n    global N\n    N = x\n    return N\n",
    "walrus": "def f(x):\n    return (y := x)\n",
    "condition over lines": "def f(x):\n    if (x and\n            x): return x\n    return 0\n",
}


@pytest.mark.parametrize("text", SHAPES.values(), ids=SHAPES.keys())
def test_patched_function_does_what_it_did_and_checks_what_goes_in_and_out(
    text: str, probe: Probe
) -> None:
    patch = patch_of(text, X_IS_INT, RESULT_IS_INT)
    f = run(patch)["f"]

    assert f(1) == 1
    assert probe.covered
    assert violations(probe, lambda: f(2)) == []
    assert violations(probe, lambda: f("a")) == [1]
    assert patch.checks[1].text == X_IS_INT.words


# A return behind a semicolon or a backslash is left alone.
EXITS = {n: t for n, t in SHAPES.items() if ";" not in t and "\\\n    return" not in t}


@pytest.mark.parametrize("text", EXITS.values(), ids=EXITS.keys())
def test_result_is_checked_on_every_way_out(text: str, probe: Probe) -> None:
    f = run(patch_of(text, RESULT_IS_INT))["f"]

    assert violations(probe, lambda: f("a")) == [0]
    assert f(1) == 1


def test_statement_behind_a_return_stays_dead(probe: Probe) -> None:
    f = run(patch_of("def f(x):\n    return x; return 5\n", RESULT_IS_INT, X_IS_INT))["f"]

    assert f(1) == 1
    assert violations(probe, lambda: f("a")) == [1]


@pytest.mark.parametrize("text", ["def f(x): 'doc'\n", "def f(x): '''a\nb'''; \n"])
def test_function_of_a_docstring_only_gets_its_checks_inside(text: str, probe: Probe) -> None:
    space = run(patch_of(text, X_IS_INT))

    assert not probe.covered  # not when the module was loaded
    assert space["f"](1) is None
    assert space["f"].__doc__ == SourceMap(text, FILE).units[1].node.body[0].value.value  # type: ignore[attr-defined]
    assert violations(probe, lambda: space["f"]("a")) == [0]


def test_falling_off_the_end_returns_none_and_is_checked(probe: Probe) -> None:
    text = "def f(x):\n    if x:\n        return x\n    for y in []:\n        pass\n"
    f = run(patch_of(text, RESULT_IS_INT))["f"]

    assert f(1) == 1
    assert violations(probe, lambda: f(0)) == [0]


def test_returns_of_inner_functions_are_their_own(probe: Probe) -> None:
    text = """\
def f(x):
    class C:
        def m(self):
            return "no int"
    def g():
        return "no int"
    C().m(), g()
    return x
"""
    f = run(patch_of(text, RESULT_IS_INT))["f"]

    assert f(1) == 1
    assert probe.violations == []


def test_function_that_looks_at_its_variables_gets_no_new_ones(probe: Probe) -> None:
    patch = patch_of("def f(x):\n    return eval('locals()')\n", RESULT_GROWS, X_IS_INT)

    assert run(patch)["f"](1) == {"x": 1}
    assert [check.text for check in patch.checks] == [X_IS_INT.words]


def test_generator_is_checked_when_it_starts_and_not_at_its_end(probe: Probe) -> None:
    text = "def f(x):\n    yield x\n    return 'end'\n"
    f = run(patch_of(text, X_IS_INT, RESULT_IS_INT))["f"]

    assert list(f(1)) == [1]
    assert violations(probe, lambda: list(f("a"))) == [1]


def test_coroutine_is_checked_on_both_sides(probe: Probe) -> None:
    text = "async def f(x):\n    return await g(x)\nasync def g(y): return y and str(y)\n"
    f = run(patch_of(text, X_IS_INT, RESULT_IS_INT))["f"]

    assert asyncio.run(f(0)) == 0
    assert violations(probe, lambda: asyncio.run(f(1))) == [0]


def test_method_with_a_private_parameter_is_checked(probe: Probe) -> None:
    text = "class C:\n    def f(self, __x):\n        return super().__hash__() and __x\n"
    private = invariant("type(_C__x).__qualname__ in ('int',)", at_exit=False)
    grows = invariant(f"{RESULT} == _bayesloc_in__C__x", at_exit=True)
    cls = run(patch_of(text, private, grows, target="C.f"))["C"]

    assert cls().f(3) == 3
    assert violations(probe, lambda: cls().f("a")) == [1]


def test_violation_is_noted_even_if_the_program_swallows_the_error(probe: Probe) -> None:
    text = """\
def f(x):
    try:
        return x
    except Exception:
        return 0
"""
    assert run(patch_of(text, RESULT_IS_INT))["f"]("a") == 0
    assert probe.violations == [0]


RAISES_NOTHING = replace(invariant("False", at_exit=True), at_raise=True)


@pytest.mark.parametrize(
    "text",
    [
        "def f(x):\n    if x > 2:\n        raise ValueError(x)\n    return x\n",
        "def f(x):\n    if x > 2: raise ValueError(x)\n    return x\n",
    ],
    ids=["a line of its own", "behind its if"],
)
def test_a_raise_that_passing_calls_do_not_reach_is_asserted_to_stay_so(
    text: str, probe: Probe
) -> None:
    function = run(patch_of(text, RESULT_IS_INT, RAISES_NOTHING))["f"]

    assert function(1) == 1
    assert violations(probe, lambda: function(3)) == [1]


def test_where_nothing_is_raised_there_is_nothing_to_assert_about_it() -> None:
    assert patch_of("def f(x):\n    return x\n", RAISES_NOTHING).checks == ()


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ('"""Doc."""\nfrom __future__ import annotations\n\nX: Undefined = 3\n', "<module>"),
        ("@staticmethod\ndef g(): pass\nX = 3\n", "<module>"),
        ("class A:\n    '''Doc.'''\n    Y = 2\nX = 3\n", "A"),
        ("from typing import NamedTuple\nclass A(NamedTuple):\n    y: int\nX = 3\n", "A"),
    ],
)
def test_body_of_a_module_or_class_gets_a_heartbeat_only(
    text: str, target: str, probe: Probe
) -> None:
    patch = patch_of(text, target=target)

    assert patch.patched.count("__bayesloc__") == 1
    assert run(patch)["X"] == 3
    assert probe.covered


@pytest.mark.parametrize("text", ["'''Only a docstring.'''\n", ""])
def test_module_without_room_for_a_heartbeat_is_left_as_it_is(text: str) -> None:
    assert run(patch_of(text, target="<module>")) is not None


def test_function_that_can_not_be_edited_is_refused() -> None:
    with pytest.raises(PatchError, match=r"m\.py:1 f does not compile"):
        patch_of("def f(x): 'doc'; return 1\n", X_IS_INT, file="m.py")


def test_checks_of_results_come_first_then_the_best_supported_and_not_too_many() -> None:
    weak = [invariant(f"x > {n}", at_exit=False, support=n) for n in range(3, 30)]
    strong = invariant(f"{RESULT} > 0", at_exit=True, support=3)

    checks = patch_of("def f(x):\n    return x\n", *weak, strong).checks

    assert len(checks) == MAX_CHECKS
    assert [check.number for check in checks] == list(range(MAX_CHECKS))
    assert checks[0].at_exit
    assert [check.support for check in checks[1:4]] == [29, 28, 27]


def test_patch_says_whom_it_inspects_and_how() -> None:
    patch = patch_of("def f(x):\n    return x\n", X_IS_INT)

    assert (patch.kind, patch.target.fqn) == (KIND, "shop.cart.f")
    assert patch.diff.splitlines()[:2] == [f"--- a/{FILE}", f"+++ b/{FILE}"]
    assert "+    __bayesloc__.heartbeat('shop.cart.f')" in patch.diff
    assert f"{X_IS_INT.words}: held in all 5 passing calls" in patch.diff


def test_diff_counts_lines_as_python_does() -> None:
    text = "A = 'x\x0cy'\nB = 1\ndef f(x):\n    return x\n"

    assert "@@ -1,4 +1,5 @@" in patch_of(text).diff


def test_heartbeat_is_heard_before_anything_else_happens(probe: Probe) -> None:
    text = dedent("""
        def f(x):
            raise KeyError(x)
    """)

    with pytest.raises(KeyError):
        run(patch_of(text, RESULT_IS_INT))["f"](1)
    assert probe.covered


def test_file_that_the_compiler_warns_of_is_patched_without_a_warning() -> None:
    assert "heartbeat" in patch_of("def f(x):\n    assert (x, 1)\n    return '\\d'\n").patched
