"""Examples of the tool wrong-keyword."""

from __future__ import annotations

from tests.unit.fixes.examples import Example

EXAMPLES = (
    Example("TypeError: price() got an unexpected keyword argument 'rat'",
            "def price(net, rate=1):\n    return net * rate\n\n\ndef total(net):\n"
            "    return price(net, rat=2)  # twice\n",
            "def price(net, rate=1):\n    return net * rate\n\n\ndef total(net):\n"
            "    return price(net, rate=2)  # twice\n"),
    Example("TypeError: Cart.__init__() got an unexpected keyword argument 'itms'. Did you "
            "mean 'items'?",
            "def new():\n    return Cart(\n        itms=[],\n    )\n",
            "def new():\n    return Cart(\n        items=[],\n    )\n", line=2),
    Example("TypeError: JSONEncoder.__init__() got an unexpected keyword argument 'ident'",
            "import json\n\n\ndef f(x):\n    return json.dumps(x, ident=2)\n",
            "import json\n\n\ndef f(x):\n    return json.dumps(x, indent=2)\n"),
    Example("TypeError: price() got an unexpected keyword argument 'encoding'",
            "def total(net):\n    return price(net, encoding='x', tax=1)\n",
            "def total(net):\n    return price(net, tax=1)\n"),
    Example(
        error="TypeError: price() got an unexpected keyword argument 'rate'",
        before="def total(net, **more):\n    return price(net, **more)\n",
        line=2,
    ),
    Example(
        error="TypeError: price() got an unexpected keyword argument 'rate'",
        before="def price(net, **more):\n    return net * rate\n",
        line=2,
    ),
    Example("TypeError: price() got an unexpected keyword argument 'rate'",
            "def price(*nets, start=(1)):\n    return rate\n",
            "def price(*nets, start=(1), rate=None):\n    return rate\n", line=2),
    Example("TypeError: Cart.__init__() got an unexpected keyword argument 'itms'",
            "from shop import Cart\n\n\ndef new():\n    return Cart(itms=[], note='')\n",
            "from shop import Cart\n\n\ndef new():\n    return Cart(items=[], note='')\n",
            files={"shop.py": "@dataclass\nclass Cart:\n    items: list\n    note: str\n"}),
    Example("TypeError: f() got an unexpected keyword argument 'char'",
            "def f(x, width=2, symbol='#'):\n    return x\n\n\ndef g(x):\n"
            "    return f(x, width=3, char='=')\n",
            "def f(x, width=2, symbol='#'):\n    return x\n\n\ndef g(x):\n"
            "    return f(x, width=3, symbol='=')\n"),
    Example("TypeError: f() got an unexpected keyword argument 'char'",
            "def f(symbol='#'):\n    return symbol\n\n\ndef g():\n    return f(char='=')\n",
            "def f(symbol='#'):\n    return symbol\n\n\ndef g():\n    return f(symbol='=')\n"),
)  # fmt: skip
