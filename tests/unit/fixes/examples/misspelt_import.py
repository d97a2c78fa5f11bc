"""Examples of the tool misspelt-import."""

from __future__ import annotations

from tests.unit.fixes.examples import Example, in_f

_INVOICE = """\
from shop.money import (
    Money,
    roundd,  # half up
)


async def total(lines):
    amounts = [roundd(line.amount) for line in lines]
    return Money(sum(amounts)), f"{roundd(1)} roundd"
"""
_MONEY = "class Money:\n    pass\n\n\ndef rounded(x):\n    return x\n"
_FROM = "ImportError: cannot import name "
EXAMPLES = (
    Example(
        error=f"{_FROM}'roundd' from 'shop.money' (/p/shop/money.py). Did you mean: 'rounded'?",
        before=_INVOICE,
        after=_INVOICE.replace("roundd,", "rounded,").replace("roundd(", "rounded("),
        line=1,
        filename="shop/invoice.py",
        files={"shop/money.py": _MONEY},
    ),
    Example(f"{_FROM}'Money' from 'shop.price' (/p/shop/price.py)",
            "import os\nfrom shop.price import Money, tax  # both\n\n\n"
            "def f(): return Money(tax)\n",
            "import os\nfrom shop.price import tax\nfrom shop.money import Money  # both\n\n\n"
            "def f(): return Money(tax)\n",
            files={"shop/money.py": _MONEY, "shop/price.py": "tax = 1\n"}),
    in_f("x", f"{_FROM}'Mapping' from 'collections' (/usr/lib/python3.12/collections/__init__.py)",
         "from collections import Mapping\n\n    return isinstance(x, Mapping)",
         "from collections.abc import Mapping\n\n    return isinstance(x, Mapping)"),
    Example(f"{_FROM}'basename' from 'os' (/usr/lib/python3.12/os.py)",
            "from os import basename\n\nNAME = basename(__file__)\n",
            "from os.path import basename\n\nNAME = basename(__file__)\n"),
    Example("ModuleNotFoundError: No module named 'shop.mony'",
            "from .mony import (  # ours\n    Money,\n)\n\nNONE = Money()\n",
            "from .money import (  # ours\n    Money,\n)\n\nNONE = Money()\n",
            filename="shop/cart.py", files={"shop/money.py": _MONEY}),
    Example("ModuleNotFoundError: No module named 'money'",
            "import os\n\nimport money\n\n\nclass A:\n    x = money.rounded(2)\n",
            "import os\n\nfrom shop import money\n\n\nclass A:\n    x = money.rounded(2)\n",
            filename="shop/cart.py", files={"shop/money.py": _MONEY}),
    Example("ModuleNotFoundError: No module named 'jsn'",
            "import os, jsn\n\n\ndef f(x):\n    return jsn.loads(x or jsn.dumps({}))\n",
            "import os, json\n\n\ndef f(x):\n    return json.loads(x or json.dumps({}))\n"),
    # not installed, and not `types`
    Example("ModuleNotFoundError: No module named 'typer'",
            "import typer\n\napp = typer.Typer()\n", line=1),
    # what the project calls `get` is something else
    Example("ModuleNotFoundError: No module named 'requests'",
            "from requests import get\n\n\ndef f(url):\n    return get(url).json()\n", line=1,
            files={"shop/store.py": "def get(key):\n    return key\n"}),
    Example(f"{_FROM}'Money' from partially initialized module 'shop.money' (most likely "
        "due to a circular import) (/p/shop/money.py)",
            "from shop.money import Money\n\nNONE = Money()\n", line=1,
            files={"shop/money.py": "class Moneys:\n    pass\n"}),
    Example("ModuleNotFoundError: No module named 'StringIO'",
            "import StringIO\n\n\ndef f():\n    return StringIO.StringIO()\n",
            "import io\n\n\ndef f():\n    return io.StringIO()\n"),
    Example("ImportError: cannot import name 'quote' from 'urllib' (/usr/lib/urllib.py)",
            "from urllib import quote, urlencode\n", "from urllib.parse import quote, urlencode\n"),
)  # fmt: skip
