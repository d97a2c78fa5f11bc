"""Examples of the tool missing-import."""

from __future__ import annotations

from tests.unit.fixes.examples import Example

_REPORT = '''\
"""Reports of a day."""
# Times are local ones.
from __future__ import annotations

import os


def stamp() -> str:
    return datetime.now().strftime(
        "%Y-%m-%d",
    )
'''
EXAMPLES = (
    Example(
        error="NameError: name 'datetime' is not defined. Did you forget to import 'datetime'?",
        before=_REPORT,
        after=_REPORT.replace("import os\n", "import os\nfrom datetime import datetime\n"),
        line=9,
    ),
    Example("NameError: name 'datetime' is not defined",
            "def first(year):\n    return datetime.date(year, 1, 1)\n",
            "import datetime\n\ndef first(year):\n    return datetime.date(year, 1, 1)\n", line=2),
    Example("NameError: name 'Money' is not defined",
            '"""Carts."""\nimport os\n\n\ndef total(prices):\n    return sum(prices, Money(0))\n',
            '"""Carts."""\nimport os\nfrom shop.money import Money\n\n\ndef total(prices):\n'
            "    return sum(prices, Money(0))\n", line=6, filename="shop/cart.py",
            files={
                "shop/money.py": "class Money:\n    pass\n",
                "tests/test_money.py": "class Money:\n    pass\n",
            }),
    Example("NameError: name 'dec' is not defined",
            'def f(x):\n    return dec.Decimal(x).quantize(\n        dec.Decimal("0.01"))\n',
            "import decimal as dec\n\ndef f(x):\n    return dec.Decimal(x).quantize(\n"
            '        dec.Decimal("0.01"))\n', line=2,
            files={"shop/a.py": "import decimal as dec\n"}),
    Example("NameError: name 'xml' is not defined",
            "import re\n\ndef parsed(text):\n    return xml.etree.ElementTree.fromstring(text)\n",
            "import re\nimport xml.etree.ElementTree\n\ndef parsed(text):\n"
            "    return xml.etree.ElementTree.fromstring(text)\n", line=4),
    # bound, but too late or on a condition: an import would hide that
    Example("NameError: name 'json' is not defined",
            "import os\nif os.environ.get('FAST'):\n    import json\n\n\ndef f(x):\n"
            "    return json.loads(x)\n", line=7),
    # names of modules, but used as no module is
    Example("NameError: name 'code' is not defined",
            "def area(zip_code):\n    return code[:2] + code\n", line=2),
    Example("NameError: name 'count' is not defined",
            "def mean(numbers):\n    n = len(numbers)\n    return sum(numbers) / count\n", line=3),
)  # fmt: skip
