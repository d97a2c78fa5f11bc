"""Examples of the tool misspelt-attribute."""

from __future__ import annotations

from tests.unit.fixes.examples import Example, in_f

EXAMPLES = (
    in_f("x", "AttributeError: 'str' object has no attribute 'stirp'. Did you mean: 'strip'?",
         "return x.stirp()", "return x.strip()"),
    Example("AttributeError: 'set' object has no attribute 'issupperset'",
            "def f(x, y):\n    return x.issupperset(y)\n\n\ndef g(x, y):\n"
            "    return y.issupperset(x)\n",
            "def f(x, y):\n    return x.issuperset(y)\n\n\ndef g(x, y):\n"
            "    return y.issuperset(x)\n"),
    Example("AttributeError: 'Cart' object has no attribute 'itmes'",
            "class Cart:\n    items = ()\n\n    def n(self):\n        return self.itmes\n\n\n"
            "def f(page):\n    return page.itmes\n",
            "class Cart:\n    items = ()\n\n    def n(self):\n        return self.items\n\n\n"
            "def f(page):\n    return page.itmes\n"),
    Example("AttributeError: 'Cart' object has no attribute 'itmes'",
            "class Cart:\n    def __init__(self):\n        self.items = []\n\n    def n(self):\n"
            "        return len(\n            self.itmes\n        )\n",
            "class Cart:\n    def __init__(self):\n        self.items = []\n\n    def n(self):\n"
            "        return len(\n            self.items\n        )\n"),
    Example("AttributeError: module 'shop.tax' has no attribute 'rate_off'",
            "from shop import tax\n\n\ndef f():\n    return tax.rate_off('NL')\n",
            "from shop import tax\n\n\ndef f():\n    return tax.rate_of('NL')\n",
            files={"shop/tax.py": "def rate_of(country):\n    return 0\n"}),
    Example("AttributeError: type object 'Color' has no attribute 'GREY'",
            "class Color:\n    GRAY = 1\n    RED = 2\n\n\ndef f():\n    return Color.GREY\n",
            "class Color:\n    GRAY = 1\n    RED = 2\n\n\ndef f():\n    return Color.GRAY\n"),
    in_f("x", "AttributeError: 'NoneType' object has no attribute 'strip'",
         "return x.strip()", line=2),
    in_f("x", "AttributeError: 'list' object has no attribute 'zzz'", "return x.zzz()", line=2),
    Example("AttributeError: 'Road' object has no attribute 'tol'",
            "from collections import namedtuple\n\nRoad = namedtuple('Road', 'name toll')\n\n\n"
            "def f(road):\n    return road.tol\n",
            "from collections import namedtuple\n\nRoad = namedtuple('Road', 'name toll')\n\n\n"
            "def f(road):\n    return road.toll\n"),
    Example("AttributeError: module 'datetime' has no attribute 'strptime'",
            "import datetime\n\n\ndef f(x):\n    return datetime.strptime(x, '%d')\n",
            "import datetime\n\n\ndef f(x):\n    return datetime.datetime.strptime(x, '%d')\n"),
    Example("AttributeError: type object 'datetime.datetime' has no attribute 'datetime'",
            "from datetime import datetime\n\n\ndef f():\n    return datetime.datetime.now()\n",
            "from datetime import datetime\n\n\ndef f():\n    return datetime.now()\n"),
    in_f("path", "AttributeError: 'PosixPath' object has no attribute 'listdir'",
         "return path.listdir()", "return path.iterdir()"),
    Example("AttributeError: module 'os' has no attribute 'join'",
            "import os\n\n\ndef f(x):\n    return os.join(x)\n",
            "import os\n\n\ndef f(x):\n    return os.path.join(x)\n"),
)  # fmt: skip
