"""Examples of the tool indentation."""

from __future__ import annotations

from tests.unit.fixes.examples import Example

_CART = '''\
class Cart:
    """What somebody wants:
      things, with prices.
    """

    def total(self, lines):
        # In cents.
        amount = 0
        for line in lines:
            amount += line.price * (
                line.count
            )
            self.seen.add(line)

        return amount


    async def close(self):
        await self.store()
'''
EXAMPLES = (
    Example(
        error="IndentationError: unexpected indent",
        before="def f(x):\n    for y in x:\n        y()\nx.pop()\n\n    return x\n",
        after="def f(x):\n    for y in x:\n        y()\n        x.pop()\n\n    return x\n",
        line=6,
    ),
    Example(
        error="IndentationError: unexpected indent (app.py, line 8)",
        before=_CART.replace("        amount = 0", "          amount = 0").replace(
            "        # In cents.", "        cents = True"
        ),
        after=_CART.replace("        # In cents.", "        cents = True"),
    ),
    Example(
        error="IndentationError: unindent does not match any outer indentation level",
        before=_CART.replace("        return", "       return"),
        after=_CART,
    ),
    Example(
        error="IndentationError: expected an indented block after 'for' statement on line 9",
        before=_CART.replace("    amount +=", "amount +=")
        .replace("        line.count\n            )", "    line.count\n        )")
        .replace("    self.seen", "self.seen"),
        after=_CART,
    ),
    Example(
        error="IndentationError: expected an indented block after 'if' statement on line 2",
        before="def f(x):\n    if x:\n        # nothing to do\n"
        "    else:\n        x += 1\n    return x\n",
        after="def f(x):\n    if x:\n        # nothing to do\n        pass\n"
        "    else:\n        x += 1\n    return x\n",
    ),
    Example(
        error="TabError: inconsistent use of tabs and spaces in indentation (app.py, line 5)",
        before=_CART.replace("            amount +=", "\t    amount +="),
        after=_CART,
    ),
    Example(
        error="SyntaxError: expected ':' (app.py, line 6)",
        before=_CART.replace("in lines:", "in lines  # each"),
        after=_CART.replace("in lines:", "in lines:  # each"),
    ),
    Example(
        error="SyntaxError: '(' was never closed",
        before="def f(x, y):\n    print(max(x, y)  # )\n    return x\n",
        after="def f(x, y):\n    print(max(x, y))  # )\n    return x\n",
    ),
    Example(
        error="SyntaxError: unmatched ')'",
        before="def f(x):\n    return [a for a in x]  # (\ny = h(1))\n",
        after="def f(x):\n    return [a for a in x]  # (\ny = h(1)\n",
        line=2,
    ),
    Example(  # which of the two is left over, nobody knows
        error="SyntaxError: unmatched ')'",
        before="def f(a, b):\n    return g(a), b)\n",
        line=2,
    ),
    Example(  # text that is parsed elsewhere: this file is sound
        error="SyntaxError: invalid syntax (<string>, line 1)",
        before="def f(text):\n    return eval(text)\n",
        line=2,
    ),
    Example(
        error="SyntaxError: 'return' outside function (app.py, line 4)",
        before="def f(xs):\n    for x in xs:\n        print(x)\nreturn xs\n",
        after="def f(xs):\n    for x in xs:\n        print(x)\n    return xs\n",
    ),
)
