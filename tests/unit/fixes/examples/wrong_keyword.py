"""Examples of the tool wrong-keyword."""

from __future__ import annotations

from tests.unit.fixes.examples import Example

EXAMPLES = (
    Example(
        error="TypeError: price() got an unexpected keyword argument 'rat'",
        before="def price(net, rate=1):\n    return net * rate\n\n\ndef total(net):\n"
        "    return price(net, rat=2)  # twice\n",
        after="def price(net, rate=1):\n    return net * rate\n\n\ndef total(net):\n"
        "    return price(net, rate=2)  # twice\n",
    ),
    Example(
        error="TypeError: Cart.__init__() got an unexpected keyword argument 'itms'. "
        "Did you mean 'items'?",
        before="def new():\n    return Cart(\n        itms=[],\n    )\n",
        after="def new():\n    return Cart(\n        items=[],\n    )\n",
        line=2,
    ),
    Example(
        error="TypeError: JSONEncoder.__init__() got an unexpected keyword argument 'ident'",
        before="import json\n\n\ndef f(x):\n    return json.dumps(x, ident=2)\n",
        after="import json\n\n\ndef f(x):\n    return json.dumps(x, indent=2)\n",
    ),
    Example(
        error="TypeError: price() got an unexpected keyword argument 'encoding'",
        before="def total(net):\n    return price(net, encoding='x', tax=1)\n",
        after="def total(net):\n    return price(net, tax=1)\n",
    ),
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
    Example(
        error="TypeError: price() got an unexpected keyword argument 'rate'",
        before="def price(*nets, start=(1)):\n    return rate\n",
        after="def price(*nets, start=(1), rate=None):\n    return rate\n",
        line=2,
    ),
    Example(
        error="TypeError: Cart.__init__() got an unexpected keyword argument 'itms'",
        before="from shop import Cart\n\n\ndef new():\n    return Cart(itms=[], note='')\n",
        after="from shop import Cart\n\n\ndef new():\n    return Cart(items=[], note='')\n",
        files={"shop.py": "@dataclass\nclass Cart:\n    items: list\n    note: str\n"},
    ),
    Example(
        error="TypeError: f() got an unexpected keyword argument 'char'",
        before="def f(x, width=2, symbol='#'):\n    return x\n\n\ndef g(x):\n"
        "    return f(x, width=3, char='=')\n",
        after="def f(x, width=2, symbol='#'):\n    return x\n\n\ndef g(x):\n"
        "    return f(x, width=3, symbol='=')\n",
    ),
    Example(
        error="TypeError: f() got an unexpected keyword argument 'char'",
        before="def f(symbol='#'):\n    return symbol\n\n\ndef g():\n    return f(char='=')\n",
        after="def f(symbol='#'):\n    return symbol\n\n\ndef g():\n    return f(symbol='=')\n",
    ),
)
