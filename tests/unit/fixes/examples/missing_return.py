"""Examples of the tool missing-return."""

from __future__ import annotations

from tests.unit.fixes.examples import Example, in_f

_NONE = "AssertionError: assert None == 5\n +  where None = f(2)"
EXAMPLES = (
    Example("AttributeError: 'NoneType' object has no attribute 'text'",
            "class Q:\n    def where(self, x):\n        self.x = x\n\n    def text(self):\n"
            "        return 'a'\n",
            "class Q:\n    def where(self, x):\n        self.x = x\n        return self\n\n"
            "    def text(self):\n        return 'a'\n", line=3),
    in_f("xs", "TypeError: can only join an iterable",
         "xs = xs.sort()\n    return ', '.join(xs)", "xs.sort()\n    return ', '.join(xs)", line=3),
    in_f("xs", "TypeError: argument of type 'NoneType' is not iterable",
         "seen = set()\n    for x in xs:\n        seen = seen.add(x) if x > 1 else seen\n"
         "    return seen",
         "seen = set()\n    for x in xs:\n        if x > 1:\n            seen.add(x)\n"
         "    return seen"),
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
    Example(_NONE,
            "def f(x):\n    '''Double.'''\n    y = 2 * x  # twice\n\n\nZ = 1\n",
            "def f(x):\n    '''Double.'''\n    y = 2 * x  # twice\n    return y\n\n\nZ = 1\n",
            line=3),
    Example(_NONE,
            "class C:\n    def f(self, x):\n        x + 1\n",
            "class C:\n    def f(self, x):\n        return x + 1\n"),
    in_f("x", "TypeError: unsupported operand type(s) for +: 'NoneType' and 'int'",
         "if x:\n        y = 1\n    else:\n        y = 2",
         "if x:\n        y = 1\n    else:\n        y = 2\n    return y", line=3),
    in_f("xs", _NONE,
         "found = []\n    for x in xs:\n        found.append(x)",
         "found = []\n    for x in xs:\n        found.append(x)\n    return found", line=4),
    in_f("xs", "AssertionError: assert 1 == 6",
         "n = 0\n    for x in xs:\n        n += x\n        return n",
         "n = 0\n    for x in xs:\n        n += x\n    return n"),
    in_f("x", _NONE,
         "if x:\n        return 1\n    2 * x", "if x:\n        return 1\n    return 2 * x"),
    Example(_NONE, "def f(x) -> None:\n    y = x\n", line=2),
    in_f("x", "AssertionError: assert 4 == 5", "y = x", line=2),
    in_f("x", _NONE, "yield x\n    y = x", line=3),
    in_f("xs", _NONE,
         "total = 0\n    for x in xs:\n        total += x\n    if total > 10:\n"
         "        return 10  # at most",
         "total = 0\n    for x in xs:\n        total += x\n    if total > 10:\n"
         "        return 10  # at most\n    return total", line=5),
    in_f("xs, y", "AssertionError: assert False is True",
         "for x in xs:\n        if x == y:\n            return True\n        else:\n"
         "            return False",
         "for x in xs:\n        if x == y:\n            return True\n    return False", line=6),
    Example(_NONE, "def f(x): y = 2 * x\n", "def f(x): y = 2 * x; return y\n"),
    Example(_NONE,
            "class TestIt:\n    def test_f(self):\n        y = f(2)\n        assert y == 5\n"
            "        z = y\n", line=4),
    in_f("xs", "AssertionError: assert None == [1]",
         "ys = list(xs)\n    return ys.reverse()",
         "ys = list(xs)\n    ys.reverse()\n    return ys"),
    Example("AssertionError: assert None == [1]",
            "import random\n\n\ndef f(xs):\n    ys = random.shuffle(list(xs))\n    return ys\n",
            "import random\n\n\ndef f(xs):\n    ys = list(xs)\n    random.shuffle(ys)\n"
            "    return ys\n", line=6),
)  # fmt: skip
