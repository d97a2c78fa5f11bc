"""Examples of the tool indentation."""

from __future__ import annotations

from tests.unit.fixes.examples import Example, in_f

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
    Example("IndentationError: unexpected indent",
            "def f(x):\n    for y in x:\n        y()\nx.pop()\n\n    return x\n",
            "def f(x):\n    for y in x:\n        y()\n        x.pop()\n\n    return x\n", line=6),
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
    in_f("x", "IndentationError: expected an indented block after 'if' statement on line 2",
         "if x:\n        # nothing to do\n    else:\n        x += 1\n    return x",
         "if x:\n        # nothing to do\n        pass\n    else:\n        x += 1\n    return x"),
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
    in_f("x, y", "SyntaxError: '(' was never closed",
         "print(max(x, y)  # )\n    return x", "print(max(x, y))  # )\n    return x"),
    Example("SyntaxError: unmatched ')'",
            "def f(x):\n    return [a for a in x]  # (\ny = h(1))\n",
            "def f(x):\n    return [a for a in x]  # (\ny = h(1)\n", line=2),
    # which of the two is left over, nobody knows
    in_f("a, b", "SyntaxError: unmatched ')'", "return g(a), b)", line=2),
    # text that is parsed elsewhere: this file is sound
    in_f("text", "SyntaxError: invalid syntax (<string>, line 1)", "return eval(text)", line=2),
    Example("SyntaxError: 'return' outside function (app.py, line 4)",
            "def f(xs):\n    for x in xs:\n        print(x)\nreturn xs\n",
            "def f(xs):\n    for x in xs:\n        print(x)\n    return xs\n"),
)  # fmt: skip
