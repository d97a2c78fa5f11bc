"""Where admitted additions are written, and that nothing else of a file changes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.domain.errors import PatchError
from pytest_bayesloc.domain.ports import ProposedCode
from pytest_bayesloc.domain.source import SourceMap
from pytest_bayesloc.inspection.writing import GENERATED, with_assertions
from tests.unit.inspection.conftest import run, violations

if TYPE_CHECKING:
    from pytest_bayesloc.domain.inspection import InspectionPatch
    from pytest_bayesloc.rerun.child import Probe


def patch_of(original: str, text: str, target: str = "f") -> InspectionPatch:
    source = SourceMap(original, "m.py")
    assert not source.is_broken
    unit = next(u for u in source.units if u.location.qualname == target)
    return with_assertions(source, unit, ProposedCode(text=text, why="a reason"))


HEARTBEAT = "__bayesloc__.heartbeat('m.f')"


def told(number: int, text: str) -> str:
    return f"assert {text}, __bayesloc__.violated({number}, {text!r})"


# Original, what came back, and what is run.
WRITTEN = {
    "at the entry": (
        "def f(x):\n    return x\n",
        "def f(x):\n    assert x\n    y = 3\n    return x\n",
        f"def f(x):\n    {HEARTBEAT}\n    {told(0, 'x')}\n    y = 3\n    return x\n",
    ),
    "at the end": (
        "def f(x):\n    y = x  # why\n\nA = 1",
        "def f(x):\n    y = x\n    assert y\n",
        f"def f(x):\n    {HEARTBEAT}\n    y = x  # why\n    {told(0, 'y')}\n\nA = 1\n",
    ),
    "before the return": (
        "def f(x):\n    if x: return x\n    return (\n        1,  # one\n    )\n",
        "def f(x):\n    if x:\n        r = x\n        assert r\n        return r\n"
        "    q = (1,)\n    assert q\n    return q\n",
        f"def f(x):\n    {HEARTBEAT}\n    if x:\n        _bayesloc_result = (x)\n"
        f"        {told(0, 'r').replace('assert r', 'assert _bayesloc_result')}\n"
        "        return _bayesloc_result\n"
        "    _bayesloc_result = ((\n        1,  # one\n    ))\n"
        f"    {told(1, 'q').replace('assert q', 'assert _bayesloc_result')}\n"
        "    return _bayesloc_result\n",
    ),
    "behind the docstring": (
        "def f(x):\n\t'''Doc.'''\n\treturn x\n",
        "def f(x):\n    assert x\n    '''Doc.'''\n    assert not x\n    return x\n",
        f"def f(x):\n\t'''Doc.'''\n\t{HEARTBEAT}\n\t{told(0, 'x')}\n\t{told(1, 'not x')}\n"
        "\treturn x\n",
    ),
    "around a docstring alone": (
        "def f(x):\n    '''Doc.'''\n",
        "def f(x):\n    assert x\n    '''Doc.'''\n    assert not x\n",
        f"def f(x):\n    '''Doc.'''\n    {HEARTBEAT}\n    {told(0, 'x')}\n    {told(1, 'not x')}\n",
    ),
    "in a suite on one line": (
        "def f(x):\n    x = 1\n    if x: return x\n",
        "def f(x):\n    x = 1\n    assert x == 1\n    if x:\n        assert x\n        r = x\n"
        "        assert r\n        return r\n",
        f"def f(x):\n    {HEARTBEAT}\n    x = 1\n    {told(0, 'x == 1')}\n    if x:\n"
        f"        {told(1, 'x')}\n        _bayesloc_result = (x)\n"
        f"        {told(2, 'r').replace('assert r', 'assert _bayesloc_result')}\n"
        "        return _bayesloc_result\n",
    ),
    "in a body on one line": (
        "def f(x): return x  # why\n",
        "def f(x):\n    assert x\n    return x",
        f"def f(x):\n    {HEARTBEAT}\n    {told(0, 'x')}\n    return x  # why\n",
    ),
    "at the ends of nested blocks": (
        "def f(x):\n    while x:\n        if x:\n            x -= 1\n",
        "def f(x):\n    while x:\n        if x:\n            x -= 1\n            assert 1\n"
        "        assert 2\n    assert 3\n",
        f"def f(x):\n    {HEARTBEAT}\n    while x:\n        if x:\n            x -= 1\n"
        f"            {told(0, '1')}\n        {told(1, '2')}\n    {told(2, '3')}\n",
    ),
    "before what is decorated": (
        "def f(x):\n    y = x\n    @tag\n    def g(): pass\n    return g\n",
        "def f(x):\n    y = x\n    assert y\n    @tag\n    def g():\n        pass\n    return g\n",
        f"def f(x):\n    {HEARTBEAT}\n    y = x\n    {told(0, 'y')}\n    @tag\n    def g(): pass\n"
        "    return g\n",
    ),
    "under a condition": (
        "def f(x):\n    return x\n",
        "def f(x):\n    if x:\n        print(x.pop())\n        assert x > 0\n    else:\n"
        "        print()\n    return x\n",
        f"def f(x):\n    {HEARTBEAT}\n    if x:\n        {told(0, 'x > 0')}\n    return x\n",
    ),
    "windows": (
        "A = 1\r\ndef f(x):\r\n    x = 1\r\n    return x\r\n",
        "def f(x):\n    x = 1\n    assert x\n    return x\n",
        f"A = 1\r\ndef f(x):\r\n    {HEARTBEAT}\n    x = 1\r\n    {told(0, 'x')}\n    return x\r\n",
    ),
}


@pytest.mark.parametrize(("original", "text", "expected"), WRITTEN.values(), ids=WRITTEN)
def test_additions_are_written_into_the_original_text(
    original: str, text: str, expected: str
) -> None:
    assert patch_of(original, text).patched == expected


# An original that is not easily edited, and the same with `assert y` put in, in plain style; more
# of them are in test_assertions.py, by the same writer.
SHAPES = {
    "in else": (
        "def f(x):\n    y = 1\n    if not x:\n        pass\n    elif x:\n        return x\n",
        "def f(x):\n    y = 1\n    if not x:\n        pass\n    elif x:\n        assert y\n"
        "        return x\n",
    ),
    "no end of line":
        ("def f(x):\n    y = 1\n    return x", "def f(x):\n  y = 1\n  assert y\n  return x"),
    "global": (
        "def f(x):\n    global y\n    y = 1\n    return x\n",
        "def f(x):\n    global y\n    y = 1\n    assert y\n    return x\n",
    ),
    "carriage returns":
        ("def f(x):\r    y = 1\r    return x\r", "def f(x):\n y = 1\n assert y\n return x"),
}  # fmt: skip


@pytest.mark.parametrize(("original", "text"), SHAPES.values(), ids=SHAPES)
def test_patched_function_does_what_it_did_and_is_checked(
    original: str, text: str, probe: Probe
) -> None:
    patch = patch_of(original, text)
    function = run(patch)["f"]

    assert function(3) == 3
    assert probe.covered
    assert probe.violations == []
    assert [check.at_exit for check in patch.checks] == ["assert x" not in text]


@pytest.mark.parametrize(
    ("original", "text"),
    [
        # Behind a semicolon.
        ("def f(x):\n    a = 1; b = 2\n", "def f(x):\n    a = 1\n    assert a\n    b = 2\n"),
        ("def f(x):\n    a = 1; b = 2\n", "def f(x):\n    a = 1\n    b = 2\n    assert a\n"),
        ("def f(x): a = 1; return x\n",
         "def f(x):\n    a = 1\n    r = x\n    assert r\n    return r"),
        ("def f(x): return x; x = 1\n",
         "def f(x):\n    r = x\n    assert r\n    return r\n    x = 1"),
        ("def f(x): 'doc'; return x\n", "def f(x):\n    'doc'\n    assert x\n    return x\n"),
        ("def f(x): 'doc'\n", "def f(x):\n    'doc'\n    assert x\n"),
        # There is no line between `else` and `if` in `elif`.
        ("def f(x):\n    if x: pass\n    elif x == 0:\n        x = 1\n",
         "def f(x):\n    if x: pass\n    else:\n        assert x\n        if x == 0:\n"
         "            x = 1\n"),
        ("def f(x):\n    if x: pass\n    elif x == 0:\n        x = 1\n",
         "def f(x):\n    if x: pass\n    else:\n        if x == 0:\n            x = 1\n"
         "        assert x == 1\n"),
        # It would not compile.
        ("def f(x):\n    global y\n    y = 1\n",
         "def f(x):\n    assert y\n    global y\n    y = 1\n"),
        ("def f(x):\n    return x\n", "def f(x):\n    assert x, *x\n    return x\n"),
        # It can't be written.
        ("def f(x):\n    return x\n", f"def f(x):\n    assert x{'.a' * 280}\n    return x\n"),
        ("def f(x):\n    y = 1\n    if x: \\\n    return x\n",
         "def f(x):\n    y = 1\n    if x:\n        assert y\n        return x\n"),
        ("def f(x):\n    return x\n", f"def f(x):\n    assert x < 0x{'f' * 5000}\n    return x\n"),
    ],
    ids=range(13),
)  # fmt: skip
def test_addition_without_a_place_of_its_own_is_refused(original: str, text: str) -> None:
    with pytest.raises(PatchError) as caught:
        patch_of(original, text)

    assert caught.value.slug == "llm-gate"


def test_code_that_is_no_function_is_refused() -> None:
    with pytest.raises(PatchError, match="no function"):
        patch_of("x = 1\n", "def f(): assert 1", target="<module>")


def test_assertions_are_numbered_in_the_order_of_the_text(probe: Probe) -> None:
    original = "def f(x):\n    y = x + 1\n    return y\n"
    text = (
        "def f(x):\n    assert x > 0\n    y = x + 1\n    assert y > 2\n"
        "    r = y\n    assert r > 3\n    return r\n"
    )
    patch = patch_of(original, text)
    function = run(patch)["f"]

    assert [(c.number, c.text, c.at_exit) for c in patch.checks] == [
        (0, "x > 0", False),
        (1, "y > 2", True),
        (2, "r > 3", True),
    ]
    fired = [violations(probe, partial(function, x)) for x in (0, 1, 2, 3)]
    assert fired == [[0], [1], [2], []]
    assert (patch.kind, patch.words, patch.target.qualname) == (GENERATED, "a reason", "f")


def test_function_of_a_method_among_others_is_found_again(probe: Probe) -> None:
    original = (
        "def f(x): pass\nclass C:\n    def f(self):\n        return 1\n    def g(self): pass\n"
    )
    text = "    def f(self):\n        r = 1\n        assert r == 2\n        return r\n"
    patch = patch_of(original, text, target="C.f")
    made = run(patch)["C"]()

    assert violations(probe, made.f) == [0]
    assert patch.patched.startswith("def f(x): pass\nclass C:\n    def f(self):\n        __bay")
    assert patch.patched.endswith("    def g(self): pass\n")


def test_text_on_several_lines_is_compared_as_it_is(probe: Probe) -> None:
    text = "def f(x):\n    assert x != f'''{x}\n  b\x0c'''\n    return x\n"

    function = run(patch_of("def f(x):\n    return x\n", text))["f"]

    assert violations(probe, lambda: function("a")) == []


def test_texts_of_the_guide_are_data(probe: Probe) -> None:
    text = "def f(x):\n    assert x != '\\ud800\\x00\\n', 'a'\n    return x\n"

    function = run(patch_of("def f(x):\n    return x\n", text))["f"]

    assert violations(probe, lambda: function("\ud800\x00\n")) == [0]
