"""Examples of the tool misspelt-attribute."""

from __future__ import annotations

from tests.unit.fixes.examples import Example

EXAMPLES = (
    Example(
        error="AttributeError: 'str' object has no attribute 'stirp'. Did you mean: 'strip'?",
        before="def f(x):\n    return x.stirp()\n",
        after="def f(x):\n    return x.strip()\n",
    ),
    Example(
        error="AttributeError: 'set' object has no attribute 'issupperset'",
        before="def f(x, y):\n    return x.issupperset(y)\n\n\n"
        "def g(x, y):\n    return y.issupperset(x)\n",
        after="def f(x, y):\n    return x.issuperset(y)\n\n\n"
        "def g(x, y):\n    return y.issuperset(x)\n",
    ),
    Example(
        error="AttributeError: 'Cart' object has no attribute 'itmes'",
        before="class Cart:\n    items = ()\n\n    def n(self):\n        return self.itmes\n\n\n"
        "def f(page):\n    return page.itmes\n",
        after="class Cart:\n    items = ()\n\n    def n(self):\n        return self.items\n\n\n"
        "def f(page):\n    return page.itmes\n",
    ),
    Example(
        error="AttributeError: 'Cart' object has no attribute 'itmes'",
        before="class Cart:\n    def __init__(self):\n        self.items = []\n\n"
        "    def n(self):\n        return len(\n            self.itmes\n        )\n",
        after="class Cart:\n    def __init__(self):\n        self.items = []\n\n"
        "    def n(self):\n        return len(\n            self.items\n        )\n",
    ),
    Example(
        error="AttributeError: module 'shop.tax' has no attribute 'rate_off'",
        before="from shop import tax\n\n\ndef f():\n    return tax.rate_off('NL')\n",
        after="from shop import tax\n\n\ndef f():\n    return tax.rate_of('NL')\n",
        files={"shop/tax.py": "def rate_of(country):\n    return 0\n"},
    ),
    Example(
        error="AttributeError: type object 'Color' has no attribute 'GREY'",
        before="class Color:\n    GRAY = 1\n    RED = 2\n\n\ndef f():\n    return Color.GREY\n",
        after="class Color:\n    GRAY = 1\n    RED = 2\n\n\ndef f():\n    return Color.GRAY\n",
    ),
    Example(
        error="AttributeError: 'NoneType' object has no attribute 'strip'",
        before="def f(x):\n    return x.strip()\n",
        line=2,
    ),
    Example(
        error="AttributeError: 'list' object has no attribute 'zzz'",
        before="def f(x):\n    return x.zzz()\n",
        line=2,
    ),
    Example(
        error="AttributeError: 'Road' object has no attribute 'tol'",
        before="from collections import namedtuple\n\nRoad = namedtuple('Road', 'name toll')\n\n\n"
        "def f(road):\n    return road.tol\n",
        after="from collections import namedtuple\n\nRoad = namedtuple('Road', 'name toll')\n\n\n"
        "def f(road):\n    return road.toll\n",
    ),
    Example(
        error="AttributeError: module 'datetime' has no attribute 'strptime'",
        before="import datetime\n\n\ndef f(x):\n    return datetime.strptime(x, '%d')\n",
        after="import datetime\n\n\ndef f(x):\n    return datetime.datetime.strptime(x, '%d')\n",
    ),
    Example(
        error="AttributeError: type object 'datetime.datetime' has no attribute 'datetime'",
        before="from datetime import datetime\n\n\ndef f():\n    return datetime.datetime.now()\n",
        after="from datetime import datetime\n\n\ndef f():\n    return datetime.now()\n",
    ),
    Example(
        error="AttributeError: 'PosixPath' object has no attribute 'listdir'",
        before="def f(path):\n    return path.listdir()\n",
        after="def f(path):\n    return path.iterdir()\n",
    ),
    Example(
        error="AttributeError: module 'os' has no attribute 'join'",
        before="import os\n\n\ndef f(x):\n    return os.join(x)\n",
        after="import os\n\n\ndef f(x):\n    return os.path.join(x)\n",
    ),
)
