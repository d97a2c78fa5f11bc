"""Examples of the tool circular-import."""

from __future__ import annotations

from tests.unit.fixes.examples import Example

_CART = '''\
"""Carts."""

import logging

from shop.order import Order, draft

log = logging.getLogger(__name__)


class Cart:
    async def close(self, user):
        """Make an order of it."""
        if not self.lines:
            return None
        return Order(
            user,
            lines=self.lines,
        )

    def preview(self):
        return [draft(line) for line in self.lines]
'''
_NOTED = '''\
"""Prices."""
import os
from shop.cart import Cart


def total(cart: Cart) -> int:
    """Of all lines, in cents."""
    return sum(cart.prices)  # without tax
'''
_NEEDED = """\
from shop.cart import (
    Cart,
    empty,  # for tests
)


class Wish(Cart):
    def clear(self, deep=False):
        with self.lock:
            return empty(self)
"""
_HALF = "cannot import name '{}' from partially initialized module '{}' "
_WHY = "(most likely due to a circular import) (/p/shop/x.py)"
EXAMPLES = (
    Example(
        error=f"ImportError: {_HALF.format('Order', 'shop.order')}{_WHY}",
        before=_CART,
        after=_CART.replace("\nfrom shop.order import Order, draft\n", "")
        .replace('of it."""\n', 'of it."""\n        from shop.order import Order\n')
        .replace("w(self):\n", "w(self):\n        from shop.order import draft\n"),
        filename="shop/cart.py",
    ),
    Example(
        error=f"ImportError: {_HALF.format('Order', 'shop.order')}{_WHY}",
        before=_CART,
        after=_CART.replace("from shop.order import Order, draft\n", "import shop.order\n")
        .replace("return Order(", "return shop.order.Order(")
        .replace("[draft(", "[shop.order.draft("),
        filename="shop/cart.py",
    ),
    Example(
        error=f"ImportError: {_HALF.format('Cart', 'shop.cart')}{_WHY}",
        before=_NOTED,
        after='"""Prices."""\nfrom __future__ import annotations\nimport os\n'
        "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from shop.cart import Cart\n"
        + _NOTED.partition("import Cart\n")[2],
        line=3,
        filename="shop/price.py",
    ),
    Example(
        error=f"ImportError: {_HALF.format('empty', 'shop.cart')}{_WHY}",
        before=_NEEDED,
        after=_NEEDED.replace("    empty,  # for tests\n", "").replace(
            "deep=False):\n", "deep=False):\n        from shop.cart import empty\n"
        ),
        line=1,
        filename="shop/wish.py",
    ),
    *(
        Example(
            error=f"AttributeError: {message}",
            before="import b\n\nX = 1\n\n\ndef f(): return b.Y\n",
            after="X = 1\n\n\ndef f(): import b; return b.Y\n",
            filename="a.py",
        )
        for message in (
            "partially initialized module 'a' from '/p/a.py' has no attribute 'X' "
            "(most likely due to a circular import)",
            "module 'a' has no attribute 'X' (consider renaming '/p/a.py' if it has the same name "
            "as a third-party module you intended to import)",  # as Python 3.13 says it
        )
    ),
    Example(f"ImportError: {_HALF.format('add', 'main')}{_WHY}",
            "from main import add\n\n\ndef add(a, b):\n    return a + b\n",
            "def add(a, b):\n    return a + b\n", says="imports the module from itself",
            filename="main.py"),
    # nothing else defines the name
    Example(f"ImportError: {_HALF.format('add', 'main')}{_WHY}",
            "from main import add\n\n\ndef total(xs):\n    return add(*xs)\n", line=1,
            filename="main.py"),
    # a base can't wait
    Example(f"ImportError: {_HALF.format('Cart', 'shop.cart')}{_WHY}",
            _NEEDED, line=1, filename="shop/wish.py"),
    # the middle one of three modules, while the first and the last are half loaded
    Example(f"ImportError: {_HALF.format('Order', 'shop.order')}{_WHY}",
            "from . import tax\n\n\ndef price(line):\n    return tax.of(line)\n",
            "def price(line):\n    from . import tax\n    return tax.of(line)\n",
            says="closes the circle shop.price -> shop.tax -> shop.order -> shop.price",
            filename="shop/price.py",
            files={
                "shop/__init__.py": "",
                "shop/price.py": "from . import tax\n",
                "shop/order.py": "from shop.price import price\n\n\nclass Order:\n    pass\n",
                "shop/tax.py": "from shop.order import Order\n\n\nclass Tax(Order):\n    pass\n",
            }),
    # an import that was running, and leads to no module that is half loaded
    Example(f"ImportError: {_HALF.format('Order', 'shop.order')}{_WHY}",
            "import shop.all\n\n\ndef main():\n    return shop.all.run()\n", line=1,
            filename="main.py",
            files={
                "main.py": "import shop.all\n",
                "shop/__init__.py": "",
                "shop/all.py": "from shop.order import Order\n",
                "shop/order.py": "from shop.all import Order\n",
            }),
    # another file imports the name from here
    Example(f"ImportError: {_HALF.format('Cart', 'shop.cart')}{_WHY}",
            "from shop.cart import Cart\n\n\ndef f():\n    return Cart()\n", line=1,
            filename="shop/__init__.py", files={"app.py": "from shop import Cart\n"}),
    # used while the module is run: the circle is to be cut elsewhere
    Example("AttributeError: partially initialized module 'a' has no attribute 'X' (most "
            "likely due to a circular import)",
            "import a\n\nY = a.X + 1\n", line=3, filename="b.py"),
    Example("AttributeError: partially initialized module 'app' has no attribute 'f' (most "
            "likely due to a circular import)",
            "import app\n\nA = app.f(1)\n\n\ndef f(x):\n    return x and app.f(x - 1)\n\n\n"
            "def g():\n    return A\n",
            "def f(x):\n    return x and f(x - 1)\n\n\nA = f(1)\n\n\ndef g():\n    return A\n",
            line=3),
)  # fmt: skip
