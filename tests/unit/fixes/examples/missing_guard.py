"""Examples of the tool missing-guard."""

from __future__ import annotations

from tests.unit.fixes.examples import Example

_NO_NAME = "AttributeError: 'NoneType' object has no attribute 'name'"
EXAMPLES = (
    Example(
        error=_NO_NAME,
        before="def f(x, y):\n    if y and x.name:\n        return 1\n    return 0\n",
        after="def f(x, y):\n    if y and x is not None and x.name:\n        return 1\n"
        "    return 0\n",
    ),
    Example(
        error=_NO_NAME,
        before="def f(xs):\n    return [x for x in xs if x.name == 'a' or x.name]\n",
        after="def f(xs):\n"
        "    return [x for x in xs if (x is not None and x.name == 'a') or x.name]\n",
    ),
    Example(
        error=_NO_NAME,
        before="def f(x, y):\n    y.add(\n        x.name\n    )\n    return y\n",
        after="def f(x, y):\n    if x is not None:\n        y.add(\n            x.name\n"
        "        )\n    return y\n",
    ),
    Example(
        error="KeyError: ('/', 1)",
        before="def hit(hits, page, day):\n    hits[page, day] += 1\n",
        after="def hit(hits, page, day):\n    hits[page, day] = hits.get((page, day), 0) + 1\n",
    ),
    Example(
        error="ZeroDivisionError: division by zero",
        before="def mean(values):\n    '''Mean.'''\n    return sum(values) / len(values)\n",
        after="def mean(values):\n    '''Mean.'''\n    if not values:\n        return 0\n"
        "    return sum(values) / len(values)\n",
    ),
    Example(
        error="IndexError: list index out of range",
        before="class C:\n    def first(self):\n        return self.items[0]\n",
        after="class C:\n    def first(self):\n        if not self.items:\n"
        "            return None\n        return self.items[0]\n",
    ),
    Example(
        error="AttributeError: 'NoneType' object has no attribute 'price'",
        before="def f(xs):\n    n = 0\n    for x in xs:\n        n += x.price\n    return n\n",
        after="def f(xs):\n    n = 0\n    for x in xs:\n        if x is None:\n"
        "            continue\n        n += x.price\n    return n\n",
        test="def test_f():\n    assert f([None, X(3)]) == 3\n",
    ),
    Example(
        error="TypeError: '>' not supported between instances of 'int' and 'NoneType'",
        before="def f(line):\n    return max(line, 1)\n",
        after="def f(line):\n    return max((line or 0), 1)\n",
    ),
    Example(
        error="TypeError: 'NoneType' object is not iterable",
        before="def f(xs):\n    for x in xs:\n        print(x)\n",
        after="def f(xs):\n    for x in xs or ():\n        print(x)\n",
    ),
    Example(
        error="KeyError: 'b'",
        before="def f(x):\n    return x['b']\n",
        after="def f(x):\n    return x.get('b')\n",
    ),
    Example(
        error="ValueError: max() arg is an empty sequence",
        before="def f(x):\n    return max(x)\n",
        after="def f(x):\n    return max(x, default=0)\n",
    ),
    Example(
        error="AttributeError: 'int' object has no attribute 'strip'",
        before="def f(name):\n    return name.strip()\n",
        line=2,
    ),
    Example(
        error="IndexError: list index out of range", before="x = []\nx[0]\n", after=None, line=2
    ),
    Example(
        error="KeyError: 'b'",
        before="def f(x):\n    x['b'] = 1\n    return x\n",
        line=2,
    ),
    Example(
        error="AttributeError: 'NoneType' object has no attribute 'name'",
        before="def f(a, user):\n    if a:\n        return 'x'\n    elif user.name:\n"
        "        return user.name\n    return ''\n",
        after="def f(a, user):\n    if user is None:\n        return ''\n    if a:\n"
        "        return 'x'\n    elif user.name:\n        return user.name\n    return ''\n",
        line=4,
        test="def test_f():\n    assert f(0, None) == ''\n",
    ),
    Example(
        error="StopIteration",
        before="def f(xs):\n    return next(x for x in xs if x)\n",
        after="def f(xs):\n    return next((x for x in xs if x), None)\n",
    ),
    Example(
        error="TypeError: 'NoneType' object is not subscriptable",
        before="def f(row, key):\n    yield row[key]\n",
        after="def f(row, key):\n    if row is None:\n        return\n    yield row[key]\n",
    ),
    Example(
        error="AttributeError: 'NoneType' object has no attribute 'name'",
        before="def f(xs):\n    return [x.name for x in xs]\n",
        line=2,
    ),
    Example(
        error="TypeError: unsupported operand type(s) for +: 'NoneType' and 'int'",
        before="def f(n, x):\n    n[x] = n.get(x) + 1\n",
        after="def f(n, x):\n    n[x] = n.get(x, 0) + 1\n",
    ),
)
