"""Examples of the tool missing-guard."""

from __future__ import annotations

from tests.unit.fixes.examples import Example, in_f

_NO_NAME = "AttributeError: 'NoneType' object has no attribute 'name'"
EXAMPLES = (
    in_f("x, y", _NO_NAME,
         "if y and x.name:\n        return 1\n    return 0",
         "if y and x is not None and x.name:\n        return 1\n    return 0"),
    in_f("xs", _NO_NAME,
         "return [x for x in xs if x.name == 'a' or x.name]",
         "return [x for x in xs if (x is not None and x.name == 'a') or x.name]"),
    in_f("x, y", _NO_NAME,
         "y.add(\n        x.name\n    )\n    return y",
         "if x is not None:\n        y.add(\n            x.name\n        )\n    return y"),
    Example("KeyError: ('/', 1)",
            "def hit(hits, page, day):\n    hits[page, day] += 1\n",
            "def hit(hits, page, day):\n    hits[page, day] = hits.get((page, day), 0) + 1\n"),
    Example("ZeroDivisionError: division by zero",
            "def mean(values):\n    '''Mean.'''\n    return sum(values) / len(values)\n",
            "def mean(values):\n    '''Mean.'''\n    if not values:\n        return 0\n"
            "    return sum(values) / len(values)\n"),
    Example("IndexError: list index out of range",
            "class C:\n    def first(self):\n        return self.items[0]\n",
            "class C:\n    def first(self):\n        if not self.items:\n"
            "            return None\n        return self.items[0]\n"),
    in_f("xs", "AttributeError: 'NoneType' object has no attribute 'price'",
         "n = 0\n    for x in xs:\n        n += x.price\n    return n",
         "n = 0\n    for x in xs:\n        if x is None:\n            continue\n"
         "        n += x.price\n    return n",
         test="def test_f():\n    assert f([None, X(3)]) == 3\n"),
    in_f("line", "TypeError: '>' not supported between instances of 'int' and 'NoneType'",
         "return max(line, 1)", "return max((line or 0), 1)"),
    in_f("xs", "TypeError: 'NoneType' object is not iterable",
         "for x in xs:\n        print(x)", "for x in xs or ():\n        print(x)"),
    in_f("x", "KeyError: 'b'", "return x['b']", "return x.get('b')"),
    in_f("x", "ValueError: max() arg is an empty sequence",
         "return max(x)", "return max(x, default=0)"),
    in_f("name", "AttributeError: 'int' object has no attribute 'strip'",
         "return name.strip()", line=2),
    Example("IndexError: list index out of range", "x = []\nx[0]\n", line=2),
    in_f("x", "KeyError: 'b'", "x['b'] = 1\n    return x", line=2),
    in_f("a, user", "AttributeError: 'NoneType' object has no attribute 'name'",
         "if a:\n        return 'x'\n    elif user.name:\n        return user.name\n    return ''",
         "if user is None:\n        return ''\n    if a:\n        return 'x'\n"
         "    elif user.name:\n        return user.name\n    return ''", line=4,
         test="def test_f():\n    assert f(0, None) == ''\n"),
    in_f("xs", "StopIteration",
         "return next(x for x in xs if x)", "return next((x for x in xs if x), None)"),
    in_f("row, key", "TypeError: 'NoneType' object is not subscriptable",
         "yield row[key]", "if row is None:\n        return\n    yield row[key]"),
    in_f("xs", "AttributeError: 'NoneType' object has no attribute 'name'",
         "return [x.name for x in xs]", line=2),
    in_f("n, x", "TypeError: unsupported operand type(s) for +: 'NoneType' and 'int'",
         "n[x] = n.get(x) + 1", "n[x] = n.get(x, 0) + 1"),
)  # fmt: skip
