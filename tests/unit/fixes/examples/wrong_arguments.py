"""Examples of the tool wrong-arguments."""

from __future__ import annotations

from tests.unit.fixes.examples import Example, in_f

EXAMPLES = (
    Example("TypeError: price() missing 1 required positional argument: 'rate'",
            "def price(net, rate):\n    return net * rate\n\n\ndef total(net, rate):\n"
            "    return price(net)  # with tax\n",
            "def price(net, rate):\n    return net * rate\n\n\ndef total(net, rate):\n"
            "    return price(net, rate=rate)  # with tax\n"),
    Example("TypeError: Cart.price() missing 1 required positional argument: 'rate'",
            "class Cart:\n    def __init__(self):\n        self.rate = 1\n\n"
            "    def price(self, rate):\n        return rate\n\n    def total(self):\n"
            "        return self.price()\n",
            "class Cart:\n    def __init__(self):\n        self.rate = 1\n\n"
            "    def price(self, rate):\n        return rate\n\n    def total(self):\n"
            "        return self.price(rate=self.rate)\n"),
    Example("TypeError: price() missing 1 required keyword-only argument: 'strict'",
            "def total(net):\n    return price(\n        net,\n    )\n",
            "def total(net):\n    return price(\n        net,\n        strict=True,\n    )\n",
            line=2, files={"shop.py": "def f(net):\n    return price(net, strict=True)\n"}),
    Example("TypeError: price() takes 1 positional argument but 2 were given",
            "def total(net, rate):\n    return price(net, rate)\n",
            "def total(net, rate):\n    return price(net)\n"),
    Example("TypeError: price() got multiple values for argument 'net'",
            "def total(net):\n    return price(net, net=net)\n",
            "def total(net):\n    return price(net)\n"),
    Example("TypeError: price() takes 1 positional argument but 2 were given",
            "def total(net, rate):\n    return price(*net)\n", line=2),
    Example("TypeError: price() takes 1 positional argument but 2 were given",
            "def price(net, *, strict=False):\n    return net\n\n\ndef total(net):\n"
            "    return price(net, True)\n",
            "def price(net, *, strict=False):\n    return net\n\n\ndef total(net):\n"
            "    return price(net, strict=True)\n"),
    Example("TypeError: price() missing 1 required positional argument: 'rate'",
            "def price(net, rate):\n    return net * (rate or 1)\n\n\ndef total():\n"
            "    return price(1)\n",
            "def price(net, rate=None):\n    return net * (rate or 1)\n\n\ndef total():\n"
            "    return price(1)\n", line=6),
    Example("TypeError: key() missing 1 required positional argument: 'rate'",
            "def total(net, rate):\n    return sorted(net, key=key)\n", line=2),
    in_f("x", "TypeError: 'float' object is not callable",
         "return x.kilos() > 2", "return x.kilos > 2"),
    in_f("x", "TypeError: 'list' object is not callable", "return x(0)", "return x[0]"),
)  # fmt: skip
