"""Examples of the tool shared-value."""

from __future__ import annotations

from tests.unit.fixes.examples import Example, in_f

_WRONG = "AssertionError: assert [1, 2] == [2]"
_FIELD = (
    "ValueError: mutable default <class 'list'> for field a is not allowed: use default_factory"
)
EXAMPLES = (
    Example(_WRONG,
            "class A:\n    xs = []\n    n = 1\n\n    def add(self, x):\n"
            "        self.xs.append(x)\n",
            "class A:\n    n = 1\n\n    def __init__(self):\n        self.xs = []\n\n"
            "    def add(self, x):\n        self.xs.append(x)\n", line=6,
            says="`xs` belongs to each `A`"),
    Example(_WRONG,
            "class A:\n    xs = {}\n\n    def __init__(self, n):\n        self.n = n\n\n"
            "    def add(self, x):\n        self.xs[x] = self.n\n",
            "class A:\n\n    def __init__(self, n):\n        self.xs = {}\n        self.n = n\n\n"
            "    def add(self, x):\n        self.xs[x] = self.n\n", line=8),
    Example(_WRONG,
            "class A:\n    xs = []\n\n    def add(self, x):\n        self.xs.append(x)\n\n\n"
            "class B(A):\n    def __init__(self, n):\n        self.n = n\n",
            "class A:\n\n    def __init__(self):\n        self.xs = []\n\n    def add(self, x):\n"
            "        self.xs.append(x)\n\n\nclass B(A):\n    def __init__(self, n):\n"
            "        super().__init__()\n        self.n = n\n", line=5),
    # the class sets it
    Example(_WRONG,
            "class A:\n    xs = []\n\n    def add(self, x):\n        self.xs = [x]\n"
            "        self.xs.append(x)\n", line=6),
    Example(_FIELD,
            "from dataclasses import dataclass\n\n\n@dataclass\nclass A:\n    a: list = []\n"
            "    b: int = 0\n",
            "from dataclasses import field, dataclass\n\n\n@dataclass\nclass A:\n"
            "    a: list = field(default_factory=list)\n    b: int = 0\n", line=4),
    Example(_FIELD,
            "import dataclasses\n\n\n@dataclasses.dataclass\nclass A:\n    a: list = [1]\n"
            "    b: dict = {}\n",
            "import dataclasses\n\n\n@dataclasses.dataclass\nclass A:\n"
            "    a: list = dataclasses.field(default_factory=lambda: [1])\n"
            "    b: dict = dataclasses.field(default_factory=dict)\n", line=4),
    Example(_FIELD,
            "from dataclasses import dataclass, field\n\n\n@dataclass\nclass A:\n"
            "    a: list = field(default=[])\n",
            "from dataclasses import dataclass, field\n\n\n@dataclass\nclass A:\n"
            "    a: list = field(default_factory=list)\n", line=4),
    in_f("xs", _WRONG,
         "return [lambda y: x + y for x in xs]", "return [lambda y, x=x: x + y for x in xs]"),
    in_f("xs", _WRONG,
         "for x in xs:\n        def g():\n            return x\n\n        yield g",
         "for x in xs:\n        def g(x=x):\n            return x\n\n        yield g", line=6),
    in_f("n", _WRONG,
         "return [[0] * n] * n, dict.fromkeys('ab', [])",
         "return [[0] * n for _ in range(n)], dict.fromkeys('ab', [])"),
    in_f("keys", _WRONG, "return dict.fromkeys(keys, [])", "return {key: [] for key in keys}"),
    in_f("xs", _WRONG,
         "xs.sort(key=len)\n    return xs[0]", "xs = sorted(xs, key=len)\n    return xs[0]",
         line=3),
    Example(_WRONG,
            "A = {'x': []}\n\n\ndef f():\n    return A.copy()\n",
            "from copy import deepcopy\n\nA = {'x': []}\n\n\ndef f():\n    return deepcopy(A)\n",
            line=5),
    in_f("a, b", "AssertionError: assert {'x': 2} == {'x': 1}",
         "a.update(b)\n    return a", "a = a.copy()\n    a.update(b)\n    return a",
         says="a copy of `a` is changed"),
    in_f("a", "AssertionError: assert {} == {'x': 1}",
         "del a['x']\n    return a", "a = a.copy()\n    del a['x']\n    return a"),
)  # fmt: skip
