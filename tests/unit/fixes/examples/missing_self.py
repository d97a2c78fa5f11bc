"""Examples of the tool missing-self."""

from __future__ import annotations

from tests.unit.fixes.examples import Example

EXAMPLES = (
    Example("TypeError: Cart.total() takes 0 positional arguments but 1 was given",
            "class Cart:\n    def total():  # of all\n        return 1\n",
            "class Cart:\n    def total(self):  # of all\n        return 1\n", line=3),
    Example("TypeError: add() takes 1 positional argument but 2 were given",
            "class Cart:\n    @property\n    def n(self):\n        return 1\n\n    def add(\n"
            "        item,\n    ):\n        return item\n",
            "class Cart:\n    @property\n    def n(self):\n        return 1\n\n    def add(\n"
            "        self,\n        item,\n    ):\n        return item\n", line=9),
    Example("TypeError: Cart.of() takes 1 positional argument but 2 were given",
            "class Cart:\n    @classmethod\n    def of(items):\n        return items\n",
            "class Cart:\n    @classmethod\n    def of(cls, items):\n        return items\n",
            line=4),
    Example("NameError: name 'rate' is not defined",
            "class Cart:\n    def rate(self):\n        return 1\n\n    def total(self):\n"
            "        return rate() + rate()\n",
            "class Cart:\n    def rate(self):\n        return 1\n\n    def total(self):\n"
            "        return self.rate() + self.rate()\n"),
    Example("NameError: name 'self' is not defined",
            "class Cart:\n    def total():\n        return self.n\n",
            "class Cart:\n    def total(self):\n        return self.n\n", line=3),
    Example("TypeError: add() takes 1 positional argument but 2 were given",
            "class Cart:\n    @staticmethod\n    def add(item):\n        return item\n", line=4),
    Example("TypeError: add() takes 1 positional argument but 2 were given",
            "def add(item):\n    return item\n", line=2),
    Example("NameError: name 'rate' is not defined",
            "class Cart:\n    def total(self):\n        return rate()\n", line=3),
    Example("TypeError: Cart.add() takes 2 positional arguments but 3 were given",
            "class Cart:\n    def __init__(this):\n        this.items = []\n\n"
            "    def add(this, item):\n        this.items.append(item)\n", line=6),
    Example("NameError: name 'rate' is not defined",
            "class Base:\n    def rate(self):\n        return 1\n\n\nclass Cart(Base):\n"
            "    def total(self):\n        def each(n):\n            return n * rate()\n\n"
            "        return each(2)\n",
            "class Base:\n    def rate(self):\n        return 1\n\n\nclass Cart(Base):\n"
            "    def total(self):\n        def each(n):\n            return n * self.rate()\n\n"
            "        return each(2)\n"),
    Example("AttributeError: 'A' object has no attribute 'n'",
            "class A:\n    def __init__(self, n):\n        n = n or 1\n\n    def f(self):\n"
            "        return self.n\n",
            "class A:\n    def __init__(self, n):\n        self.n = n or 1\n\n    def f(self):\n"
            "        return self.n\n", line=6, says="`self.n` is set"),
    # the name is used
    Example("AssertionError: assert 1 == 2",
            "class A:\n    n = 1\n\n    def f(self):\n        n = self.n + 1\n        return n\n",
            line=6),
)  # fmt: skip
