"""Examples of the tool missing-return."""

from __future__ import annotations

from tests.unit.fixes.examples import Example

_NONE = "AssertionError: assert None == 5\n +  where None = f(2)"
EXAMPLES = (
    Example(
        error="AttributeError: 'NoneType' object has no attribute 'text'",
        before="class Q:\n    def where(self, x):\n        self.x = x\n\n"
        "    def text(self):\n        return 'a'\n",
        after="class Q:\n    def where(self, x):\n        self.x = x\n        return self\n\n"
        "    def text(self):\n        return 'a'\n",
        line=3,
    ),
    Example(
        error="TypeError: can only join an iterable",
        before="def f(xs):\n    xs = xs.sort()\n    return ', '.join(xs)\n",
        after="def f(xs):\n    xs.sort()\n    return ', '.join(xs)\n",
        line=3,
    ),
    Example(
        error="TypeError: argument of type 'NoneType' is not iterable",
        before="def f(xs):\n    seen = set()\n    for x in xs:\n"
        "        seen = seen.add(x) if x > 1 else seen\n    return seen\n",
        after="def f(xs):\n    seen = set()\n    for x in xs:\n"
        "        if x > 1:\n            seen.add(x)\n    return seen\n",
    ),
    *(
        Example(
            error="AttributeError: 'NoneType' object has no attribute 'calls'",
            before="def put(box, x) -> None:\n    box.keep(x)\n",
            after="def put(box, x) -> None:\n    return box.keep(x)\n" if taken else None,
            line=2,
            test=f"    def test_put(self):\n        {taken}put(self.box, 1)\n",
        )
        for taken in ("kept = ", "")
    ),
    Example(
        error=_NONE,
        before="def f(x):\n    '''Double.'''\n    y = 2 * x  # twice\n\n\nZ = 1\n",
        after="def f(x):\n    '''Double.'''\n    y = 2 * x  # twice\n    return y\n\n\nZ = 1\n",
        line=3,
    ),
    Example(
        error=_NONE,
        before="class C:\n    def f(self, x):\n        x + 1\n",
        after="class C:\n    def f(self, x):\n        return x + 1\n",
    ),
    Example(
        error="TypeError: unsupported operand type(s) for +: 'NoneType' and 'int'",
        before="def f(x):\n    if x:\n        y = 1\n    else:\n        y = 2\n",
        after="def f(x):\n    if x:\n        y = 1\n    else:\n        y = 2\n    return y\n",
        line=3,
    ),
    Example(
        error=_NONE,
        before="def f(xs):\n    found = []\n    for x in xs:\n        found.append(x)\n",
        after="def f(xs):\n    found = []\n    for x in xs:\n        found.append(x)\n"
        "    return found\n",
        line=4,
    ),
    Example(
        error="AssertionError: assert 1 == 6",
        before="def f(xs):\n    n = 0\n    for x in xs:\n        n += x\n        return n\n",
        after="def f(xs):\n    n = 0\n    for x in xs:\n        n += x\n    return n\n",
    ),
    Example(
        error=_NONE,
        before="def f(x):\n    if x:\n        return 1\n    2 * x\n",
        after="def f(x):\n    if x:\n        return 1\n    return 2 * x\n",
    ),
    Example(error=_NONE, before="def f(x) -> None:\n    y = x\n", line=2),
    Example(
        error="AssertionError: assert 4 == 5",
        before="def f(x):\n    y = x\n",
        line=2,
    ),
    Example(error=_NONE, before="def f(x):\n    yield x\n    y = x\n", line=3),
    Example(
        error=_NONE,
        before="def f(xs):\n    total = 0\n    for x in xs:\n        total += x\n"
        "    if total > 10:\n        return 10  # at most\n",
        after="def f(xs):\n    total = 0\n    for x in xs:\n        total += x\n"
        "    if total > 10:\n        return 10  # at most\n    return total\n",
        line=5,
    ),
    Example(
        error="AssertionError: assert False is True",
        before="def f(xs, y):\n    for x in xs:\n        if x == y:\n            return True\n"
        "        else:\n            return False\n",
        after="def f(xs, y):\n    for x in xs:\n        if x == y:\n            return True\n"
        "    return False\n",
        line=6,
    ),
    Example(
        error=_NONE,
        before="def f(x): y = 2 * x\n",
        after="def f(x): y = 2 * x; return y\n",
    ),
    Example(
        error=_NONE,
        before="class TestIt:\n    def test_f(self):\n        y = f(2)\n        assert y == 5\n"
        "        z = y\n",
        line=4,
    ),
    Example(
        error="AssertionError: assert None == [1]",
        before="def f(xs):\n    ys = list(xs)\n    return ys.reverse()\n",
        after="def f(xs):\n    ys = list(xs)\n    ys.reverse()\n    return ys\n",
    ),
    Example(
        error="AssertionError: assert None == [1]",
        before="import random\n\n\ndef f(xs):\n    ys = random.shuffle(list(xs))\n    return ys\n",
        after="import random\n\n\ndef f(xs):\n    ys = list(xs)\n    random.shuffle(ys)\n"
        "    return ys\n",
        line=6,
    ),
)
