"""Examples of the tool mutable-default."""

from __future__ import annotations

from tests.unit.fixes.examples import Example, in_f

_SHARED = "AssertionError: assert [1, 2] == [2]"
EXAMPLES = (
    Example(_SHARED,
            "def f(x, seen=[]):\n    '''Seen.'''\n    seen.append(x)  # more\n    return seen\n",
            "def f(x, seen=None):\n    '''Seen.'''\n    if seen is None:\n        seen = []\n"
            "    seen.append(x)  # more\n    return seen\n", line=3),
    Example(_SHARED,
            "class C:\n    def __init__(self, *, names={}):\n        self.names = names\n",
            "class C:\n    def __init__(self, *, names=None):\n        if names is None:\n"
            "            names = {}\n        self.names = names\n", line=3),
    Example(_SHARED,
            "def f(\n    x,\n    seen=list(),  # so far\n):\n    seen += [x]\n    return seen\n",
            "def f(\n    x,\n    seen=None,  # so far\n):\n    if seen is None:\n"
            "        seen = list()\n    seen += [x]\n    return seen\n", line=5),
    in_f("x, names=[]", _SHARED, "for name in names:\n        x += name\n    return x", line=3),
    in_f("x, n=0, names=()", _SHARED, "return [x, *names][n:]", line=2),
    Example(_SHARED, "def f(x, seen=[]):\n    return seen\n\n\ndef g(x):\n    return x\n", line=6),
    Example(_SHARED,
            "from __future__ import annotations\n\n\n"
            "def f(x, seen: list[int] = []) -> list[int]:\n    seen.append(x)\n    return seen\n",
            "from __future__ import annotations\n\n\n"
            "def f(x, seen: list[int] | None = None) -> list[int]:\n    if seen is None:\n"
            "        seen = []\n    seen.append(x)\n    return seen\n", line=5),
    Example(_SHARED,
            "def f(x, seen=[]):\n    @cache\n    def more():\n        seen.append(x)\n\n"
            "    more()\n    return seen\n",
            "def f(x, seen=None):\n    if seen is None:\n        seen = []\n    @cache\n"
            "    def more():\n        seen.append(x)\n\n    more()\n    return seen\n", line=7),
    in_f("x, names=[]", _SHARED,
         "if not names:\n        return [x]\n    return [*names, x] + list(names)", line=4),
)  # fmt: skip
