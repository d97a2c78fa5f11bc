"""Examples of the tool wrong-arguments."""

from __future__ import annotations

from tests.unit.fixes.examples import Example

EXAMPLES = (
    Example(
        error="TypeError: price() missing 1 required positional argument: 'rate'",
        before="def price(net, rate):\n    return net * rate\n\n\ndef total(net, rate):\n"
        "    return price(net)  # with tax\n",
        after="def price(net, rate):\n    return net * rate\n\n\ndef total(net, rate):\n"
        "    return price(net, rate=rate)  # with tax\n",
    ),
    Example(
        error="TypeError: Cart.price() missing 1 required positional argument: 'rate'",
        before="class Cart:\n    def __init__(self):\n        self.rate = 1\n\n"
        "    def price(self, rate):\n        return rate\n\n    def total(self):\n"
        "        return self.price()\n",
        after="class Cart:\n    def __init__(self):\n        self.rate = 1\n\n"
        "    def price(self, rate):\n        return rate\n\n    def total(self):\n"
        "        return self.price(rate=self.rate)\n",
    ),
    Example(
        error="TypeError: price() missing 1 required keyword-only argument: 'strict'",
        before="def total(net):\n    return price(\n        net,\n    )\n",
        after="def total(net):\n    return price(\n        net,\n        strict=True,\n    )\n",
        line=2,
        files={"shop.py": "def f(net):\n    return price(net, strict=True)\n"},
    ),
    Example(
        error="TypeError: price() takes 1 positional argument but 2 were given",
        before="def total(net, rate):\n    return price(net, rate)\n",
        after="def total(net, rate):\n    return price(net)\n",
    ),
    Example(
        error="TypeError: price() got multiple values for argument 'net'",
        before="def total(net):\n    return price(net, net=net)\n",
        after="def total(net):\n    return price(net)\n",
    ),
    Example(
        error="TypeError: price() takes 1 positional argument but 2 were given",
        before="def total(net, rate):\n    return price(*net)\n",
        line=2,
    ),
    Example(
        error="TypeError: price() takes 1 positional argument but 2 were given",
        before="def price(net, *, strict=False):\n    return net\n\n\ndef total(net):\n"
        "    return price(net, True)\n",
        after="def price(net, *, strict=False):\n    return net\n\n\ndef total(net):\n"
        "    return price(net, strict=True)\n",
    ),
    Example(
        error="TypeError: price() missing 1 required positional argument: 'rate'",
        before="def price(net, rate):\n    return net * (rate or 1)\n\n\ndef total():\n"
        "    return price(1)\n",
        after="def price(net, rate=None):\n    return net * (rate or 1)\n\n\ndef total():\n"
        "    return price(1)\n",
        line=6,
    ),
    Example(
        error="TypeError: key() missing 1 required positional argument: 'rate'",
        before="def total(net, rate):\n    return sorted(net, key=key)\n",
        line=2,
    ),
    Example(
        error="TypeError: 'float' object is not callable",
        before="def f(x):\n    return x.kilos() > 2\n",
        after="def f(x):\n    return x.kilos > 2\n",
    ),
    Example(
        error="TypeError: 'list' object is not callable",
        before="def f(x):\n    return x(0)\n",
        after="def f(x):\n    return x[0]\n",
    ),
)
