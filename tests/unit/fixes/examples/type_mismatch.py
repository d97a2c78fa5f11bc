"""Examples of the tool type-mismatch."""

from __future__ import annotations

from tests.unit.fixes.examples import Example

EXAMPLES = (
    Example(
        error="TypeError: '>=' not supported between instances of 'str' and 'int'",
        before="def f(age):\n    return age >= 18\n",
        after="def f(age):\n    return int(age) >= 18\n",
    ),
    Example(
        error="TypeError: '>=' not supported between instances of 'str' and 'int'",
        before="def f():\n    return '20' >= 18\n",
        line=2,
    ),
    Example(
        error="TypeError: 'float' object cannot be interpreted as an integer",
        before="def n(xs):\n    return len(xs) / 2\n\n\ndef f(xs):\n    return range(n(xs))\n",
        after="def n(xs):\n    return len(xs) // 2\n\n\ndef f(xs):\n    return range(n(xs))\n",
        line=6,
    ),
    Example(
        error="TypeError: 'float' object cannot be interpreted as an integer",
        before="def f(xs):\n    half = len(xs) / 2\n    return range(half)\n",
        after="def f(xs):\n    half = len(xs) // 2\n    return range(half)\n",
        line=3,
    ),
    Example(
        error="TypeError: unsupported operand type(s) for +: 'int' and 'str'",
        before="def f(a, b):\n    return a + b\n",
        after="def f(a, b):\n    return a + int(b)\n",
        values={"b": ("3", "'4'")},
    ),
    Example(
        error="TypeError: list indices must be integers or slices, not str",
        before="class C:\n    def get(self, n):\n        return self.items[n]\n",
        after="class C:\n    def get(self, n):\n        return self.items[int(n)]\n",
    ),
    Example(
        error="TypeError: sequence item 0: expected str instance, int found",
        before="def f(x):\n    return ','.join(\n        x,\n    )\n",
        after="def f(x):\n    return ','.join(\n        map(str, x),\n    )\n",
        line=2,
    ),
    Example(
        error="TypeError: a bytes-like object is required, not 'str'",
        before="def f(file, x):\n    file.write(x)\n",
        after="def f(file, x):\n    file.write(x.encode())\n",
    ),
    Example(
        error="TypeError: unhashable type: 'list'",
        before="def f(seen, x):\n    seen[x] = 1\n",
        after="def f(seen, x):\n    seen[tuple(x)] = 1\n",
    ),
    Example(
        error="TypeError: object of type 'generator' has no len()",
        before="def f(x):\n    return len(a for a in x)\n",
        after="def f(x):\n    return len(list(a for a in x))\n",
    ),
    Example(
        error="AssertionError: assert '3' == 3",
        before="def f(x):\n    return x\n",
        after="def f(x):\n    return int(x)\n",
    ),
    Example(
        error="AssertionError: assert '3' == 4",
        before="def f(x):\n    return x\n",
        line=2,
    ),
    Example(
        error='TypeError: can only concatenate str (not "int") to str',
        before="def f(n):\n    # how many\n    return 'a' + n + 'b'\n",
        after="def f(n):\n    # how many\n    return 'a' + str(n) + 'b'\n",
    ),
    Example(
        error="TypeError: slice indices must be integers or None or have an __index__ method",
        before="class C:\n    def half(self, n):\n        return self.items[: n / 2]\n",
        after="class C:\n    def half(self, n):\n        return self.items[: int(n / 2)]\n",
    ),
    Example(
        error="AssertionError: assert b'x' == 'x'",
        before="def f(x):\n    return x\n",
        after="def f(x):\n    return x.decode()\n",
    ),
    Example(
        error="TypeError: unhashable type: 'list'",
        before="def f(rows):\n    return len(set(rows))\n",
        after="def f(rows):\n    return len(set(map(tuple, rows)))\n",
    ),
    Example(
        error="AssertionError: assert 'None' == None",
        before="def f(x):\n    return x\n",
        line=2,
    ),
    Example(
        error="TypeError: unsupported operand type(s) for +: 'int' and 'str'",
        before="def f(xs):\n    return sum(x.n for x in xs)\n",
        after="def f(xs):\n    return sum(int(x.n) for x in xs)\n",
    ),
    Example(
        error="TypeError: unsupported operand type(s) for *: 'float' and 'decimal.Decimal'",
        before="def f(a, b):\n    return a * b\n",
        after="def f(a, b):\n    return Decimal(str(a)) * b\n",
    ),
    Example(
        error="TypeError: unsupported operand type(s) for -: "
        "'datetime.date' and 'datetime.datetime'",
        before="def f(a, b):\n    return a - b\n",
        after="def f(a, b):\n    return a - b.date()\n",
    ),
    Example(
        error="TypeError: Object of type set is not JSON serializable",
        before="def f(x):\n    return json.dumps({'x': x})\n",
        after="def f(x):\n    return json.dumps({'x': x}, default=sorted)\n",
    ),
    Example(
        error="TypeError: Object of type date is not JSON serializable",
        before="def f(x):\n    return json.dumps(x)\n",
        after="def f(x):\n    return json.dumps(x, default=str)\n",
    ),
    Example(
        error="ValueError: Unknown format code 'f' for object of type 'str'",
        before="def f(x):\n    return format(x, '.2f')\n",
        after="def f(x):\n    return format(float(x), '.2f')\n",
    ),
    Example(
        error="ValueError: invalid literal for int() with base 10: '7.5'",
        before="def f(x):\n    return abs(int(x))\n",
        after="def f(x):\n    return abs(float(x))\n",
    ),
    Example(
        error="ValueError: invalid literal for int() with base 10: ''",
        before="def f(x):\n    return int(x)\n",
        after="def f(x):\n    return int(x or 0)\n",
    ),
    Example(
        error="ValueError: invalid literal for int() with base 10: 'two'",
        before="def f(x):\n    return int(x)\n",
        line=2,
    ),
    Example(
        error="KeyError: 12",
        before="def f(names, n):\n    return names[n]\n",
        after="def f(names, n):\n    return names[str(n)]\n",
    ),
    Example(
        error="AssertionError: assert ['9', '10'] == ['10', '9']",
        before="def f(xs):\n    return sorted(xs, reverse=True)\n",
        after="def f(xs):\n    return sorted(xs, reverse=True, key=int)\n",
    ),
    Example(
        error="AssertionError: assert '[1]' == [1]",
        before="import json\n\n\ndef f(x):\n    return x\n",
        after="import json\n\n\ndef f(x):\n    return json.loads(x)\n",
    ),
    Example(
        error="TypeError: must be str or None, not bytes",
        before="def f(x):\n    return x.split(b';')\n",
        after="def f(x):\n    return x.split(';')\n",
    ),
    Example(
        error="AssertionError: assert '9' == 10",
        before="def f(xs):\n    return max(xs)\n",
        after="def f(xs):\n    return max(map(int, xs))\n",
    ),
)
