"""Examples of the tool shared-value."""

from __future__ import annotations

from tests.unit.fixes.examples import Example

_WRONG = "AssertionError: assert [1, 2] == [2]"
_FIELD = (
    "ValueError: mutable default <class 'list'> for field a is not allowed: use default_factory"
)
EXAMPLES = (
    Example(
        error=_WRONG,
        before="class A:\n    xs = []\n    n = 1\n\n    def add(self, x):\n"
        "        self.xs.append(x)\n",
        after="class A:\n    n = 1\n\n    def __init__(self):\n        self.xs = []\n\n"
        "    def add(self, x):\n        self.xs.append(x)\n",
        line=6,
        says="`xs` belongs to each `A`",
    ),
    Example(
        error=_WRONG,
        before="class A:\n    xs = {}\n\n    def __init__(self, n):\n        self.n = n\n\n"
        "    def add(self, x):\n        self.xs[x] = self.n\n",
        after="class A:\n\n    def __init__(self, n):\n        self.xs = {}\n        self.n = n\n\n"
        "    def add(self, x):\n        self.xs[x] = self.n\n",
        line=8,
    ),
    Example(
        error=_WRONG,
        before="class A:\n    xs = []\n\n    def add(self, x):\n        self.xs.append(x)\n\n\n"
        "class B(A):\n    def __init__(self, n):\n        self.n = n\n",
        after="class A:\n\n    def __init__(self):\n        self.xs = []\n\n"
        "    def add(self, x):\n        self.xs.append(x)\n\n\n"
        "class B(A):\n    def __init__(self, n):\n        super().__init__()\n        self.n = n\n",
        line=5,
    ),
    Example(  # the class sets it
        error=_WRONG,
        before="class A:\n    xs = []\n\n    def add(self, x):\n        self.xs = [x]\n"
        "        self.xs.append(x)\n",
        line=6,
    ),
    Example(
        error=_FIELD,
        before="from dataclasses import dataclass\n\n\n@dataclass\nclass A:\n    a: list = []\n"
        "    b: int = 0\n",
        after="from dataclasses import field, dataclass\n\n\n@dataclass\nclass A:\n"
        "    a: list = field(default_factory=list)\n    b: int = 0\n",
        line=4,
    ),
    Example(
        error=_FIELD,
        before="import dataclasses\n\n\n@dataclasses.dataclass\nclass A:\n    a: list = [1]\n"
        "    b: dict = {}\n",
        after="import dataclasses\n\n\n@dataclasses.dataclass\nclass A:\n"
        "    a: list = dataclasses.field(default_factory=lambda: [1])\n"
        "    b: dict = dataclasses.field(default_factory=dict)\n",
        line=4,
    ),
    Example(
        error=_FIELD,
        before="from dataclasses import dataclass, field\n\n\n@dataclass\nclass A:\n"
        "    a: list = field(default=[])\n",
        after="from dataclasses import dataclass, field\n\n\n@dataclass\nclass A:\n"
        "    a: list = field(default_factory=list)\n",
        line=4,
    ),
    Example(
        error=_WRONG,
        before="def f(xs):\n    return [lambda y: x + y for x in xs]\n",
        after="def f(xs):\n    return [lambda y, x=x: x + y for x in xs]\n",
    ),
    Example(
        error=_WRONG,
        before="def f(xs):\n    for x in xs:\n        def g():\n            return x\n\n"
        "        yield g\n",
        after="def f(xs):\n    for x in xs:\n        def g(x=x):\n            return x\n\n"
        "        yield g\n",
        line=6,
    ),
    Example(
        error=_WRONG,
        before="def f(n):\n    return [[0] * n] * n, dict.fromkeys('ab', [])\n",
        after="def f(n):\n    return [[0] * n for _ in range(n)], dict.fromkeys('ab', [])\n",
    ),
    Example(
        error=_WRONG,
        before="def f(keys):\n    return dict.fromkeys(keys, [])\n",
        after="def f(keys):\n    return {key: [] for key in keys}\n",
    ),
    Example(
        error=_WRONG,
        before="def f(xs):\n    xs.sort(key=len)\n    return xs[0]\n",
        after="def f(xs):\n    xs = sorted(xs, key=len)\n    return xs[0]\n",
        line=3,
    ),
    Example(
        error=_WRONG,
        before="A = {'x': []}\n\n\ndef f():\n    return A.copy()\n",
        after="from copy import deepcopy\n\nA = {'x': []}\n\n\ndef f():\n    return deepcopy(A)\n",
        line=5,
    ),
    Example(
        error="AssertionError: assert {'x': 2} == {'x': 1}",
        before="def f(a, b):\n    a.update(b)\n    return a\n",
        after="def f(a, b):\n    a = a.copy()\n    a.update(b)\n    return a\n",
        says="a copy of `a` is changed",
    ),
    Example(
        error="AssertionError: assert {} == {'x': 1}",
        before="def f(a):\n    del a['x']\n    return a\n",
        after="def f(a):\n    a = a.copy()\n    del a['x']\n    return a\n",
    ),
)
