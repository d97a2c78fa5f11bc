"""Sixty broken snippets: what the shelf should make of each, or that it should leave it alone.

A snippet is ``app.py`` with a test below it, sometimes with another file beside it. Errors and
lines come from running it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from textwrap import dedent
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Snippet:
    """A broken file.

    Attributes:
        name: What is wrong.
        code: Text of ``app.py``.
        test: Body of the test, in which ``app`` is imported.
        old: What stands there wrongly; empty for a trap.
        new: What should stand there.
        files: More files.
    """

    name: str
    code: str
    test: str
    old: str = ""
    new: str = ""
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The file as it is."""
        return dedent(self.code).lstrip("\n")

    @property
    def fixed(self) -> str | None:
        """The file as it should be; None if it is to be left alone."""
        if not self.old:
            return None
        assert self.text.count(self.old) == 1, f"{self.name}: {self.old!r} is not there once"
        return self.text.replace(self.old, self.new)


def _s(name: str, code: str, test: str, old: str, new: str, **files: str) -> Snippet:
    named = {f"{file}.py": text for file, text in files.items()}
    return Snippet(name=name, code=code, test=test, old=old, new=new, files=named)


def _trap(name: str, code: str, test: str, **files: str) -> Snippet:
    return _s(name, code, test, "", "", **files)


BROKEN = (
    # names
    _s("misspelt local", "def f(total):\n    return totla * 2\n", "assert app.f(2) == 4", "totla", "total"),
    _s("misspelt built-in", "def f(x):\n    return stored(x)\n", "assert app.f([2, 1]) == [1, 2]", "stored", "sorted"),
    _s("misspelt global", "LIMIT = 3\n\n\ndef f(x):\n    return x < LIMTI\n", "assert app.f(2)", "LIMTI", "LIMIT"),
    _s("misspelt function", "def double(x):\n    return 2 * x\n\n\ndef f(x):\n    return duoble(x)\n", "assert app.f(2) == 4", "duoble", "double"),
    _s("misspelt method", "def f(x):\n    return x.uper()\n", "assert app.f('a') == 'A'", "uper", "upper"),
    _s("misspelt attribute", "class C:\n    def __init__(self):\n        self.items = [1]\n\n    def n(self):\n        return len(self.item)\n", "assert app.C().n() == 1", "self.item)", "self.items)"),
    _s("misspelt attribute of a module", "import math\n\n\ndef f(x):\n    return math.squrt(x)\n", "assert app.f(4) == 2", "squrt", "sqrt"),
    # imports
    _s("missing import", "def f(x):\n    return math.floor(x)\n", "assert app.f(1.5) == 1", "def f", "import math\n\ndef f"),
    _s("missing from import", "import os\n\n\ndef f(x):\n    return OrderedDict(x)\n", "assert app.f([(1, 2)])[1] == 2", "import os\n", "import os\nfrom collections import OrderedDict\n"),
    _s("missing import as elsewhere", "def f(x):\n    return rounded(x)\n", "assert app.f(1.4) == 1", "def f", "from money import rounded\n\ndef f", money="def rounded(x):\n    return round(x)\n"),
    _s("misspelt imported name", "from collections import defaultdcit\n\n\ndef f():\n    return defaultdict(int)[1]\n", "assert app.f() == 0", "defaultdcit", "defaultdict"),
    _s("misspelt imported module", "import jsn\n\n\ndef f(x):\n    return json.loads(x)\n", "assert app.f('1') == 1", "import jsn", "import json"),
    _s("moved name", "from prices import tax\n\n\ndef f(x):\n    return tax(x)\n", "assert app.f(1) == 2", "from prices", "from taxes", prices="RATE = 1\n", taxes="def tax(x):\n    return 2 * x\n"),
    _s("circular import", "from other import helper\n\n\ndef f(x):\n    return helper(x)\n\n\ndef g(x):\n    return x\n", "assert app.f(1) == 1", "from other import helper\n\n\ndef f(x):\n", "def f(x):\n    from other import helper\n", other="from app import g\n\n\ndef helper(x):\n    return g(x)\n"),
    # indentation and syntax
    _s("unexpected indent", "def f(x):\n    y = x\n     return y\n", "assert app.f(1) == 1", "     return", "    return"),
    _s("body not indented", "def f(x):\nreturn x\n", "assert app.f(1) == 1", "\nreturn", "\n    return"),
    _s("dedent to nowhere", "def f(x):\n    if x:\n        y = 1\n      return y\n    return 0\n", "assert app.f(0) == 0 and app.f(1) == 1", "      return y", "        return y"),
    _s("tab among blanks", "def f(x):\n    if x:\n\treturn 1\n    return 0\n", "assert app.f(1) == 1", "\treturn", "        return"),
    _s("colon missing", "def f(x)\n    return x\n", "assert app.f(1) == 1", "f(x)", "f(x):"),
    # arguments
    _s("self missing", "class C:\n    def f(x):\n        return x\n", "assert app.C().f(1) == 1", "f(x)", "f(self, x)"),
    _s("self missing before a method", "class C:\n    def g(self):\n        return 1\n\n    def f(self):\n        return g()\n", "assert app.C().f() == 1", "return g()", "return self.g()"),
    _s("argument missing", "def g(x, rate):\n    return x * rate\n\n\ndef f(x, rate):\n    return g(x)\n", "assert app.f(2, 3) == 6", "return g(x)", "return g(x, rate=rate)"),
    _s("argument too many", "def g(x):\n    return x\n\n\ndef f(x, y):\n    return g(x, y)\n", "assert app.f(2, 3) == 2", "g(x, y)", "g(x)"),
    _s("keyword misspelt", "def g(x, scale=1):\n    return x * scale\n\n\ndef f(x):\n    return g(x, scael=3)\n", "assert app.f(2) == 6", "scael", "scale"),
    _s("keyword of the library misspelt", "import json\n\n\ndef f(x):\n    return json.dumps(x, sort_key=True)\n", "assert app.f({'b': 1, 'a': 2})[2] == 'a'", "sort_key", "sort_keys"),
    # types
    _s("number added to text", "def f(n):\n    return 'n' + n\n", "assert app.f(1) == 'n1'", "+ n", "+ str(n)"),
    _s("text as an index", "def f(xs, n):\n    return xs[n]\n", "assert app.f([1, 2], '1') == 2", "xs[n]", "xs[int(n)]"),
    _s("text for bytes", "import hashlib\n\n\ndef f(x):\n    return hashlib.sha256(x).hexdigest()[:2]\n", "assert app.f('a') == 'ca'", "sha256(x)", "sha256(x.encode())"),
    _s("numbers joined", "def f(xs):\n    return ','.join(xs)\n", "assert app.f([1, 2]) == '1,2'", "join(xs)", "join(map(str, xs))"),
    _s("list as a key", "def f(x):\n    return {x: 1}\n", "assert app.f([1]) == {(1,): 1}", "{x: 1}", "{tuple(x): 1}"),
    _s("length of a generator", "def f(xs):\n    return len(x for x in xs if x)\n", "assert app.f([0, 1]) == 1", "len(x for x in xs if x)", "len(list(x for x in xs if x))"),
    _s("text returned for a number", "def f(x):\n    return x.strip()\n", "assert app.f(' 3') == 3", "x.strip()", "int(x.strip())"),
    # flow and values
    _s("return missing", "def f(x):\n    y = x + 1\n", "assert app.f(1) == 2", "y = x + 1\n", "y = x + 1\n    return y\n"),
    _s("return too soon", "def f(xs):\n    n = 0\n    for x in xs:\n        n += x\n        return n\n", "assert app.f([1, 2]) == 3", "        return n", "    return n"),
    _s("await missing", "import asyncio\n\n\nasync def g():\n    return [1]\n\n\nasync def f():\n    return g()[0]\n", "import asyncio\n    assert asyncio.run(app.f()) == 1", "g()[0]", "(await g())[0]"),
    _s("shared default", "def f(x, seen=[]):\n    seen.append(x)\n    return seen\n", "app.f(1)\n    assert app.f(2) == [2]", "seen=[]):\n", "seen=None):\n    if seen is None:\n        seen = []\n"),
    _s("empty list", "def f(xs):\n    return sum(xs) / len(xs)\n", "assert app.f([]) == 0 and app.f([2]) == 2", "    return", "    if not xs:\n        return 0\n    return"),
    _s("None", "def f(x):\n    return x.strip()\n", "assert app.f(None) == '' and app.f(' a') == 'a'", "    return", "    if x is None:\n        return ''\n    return"),
    _s("JSON with a comma at the end", "import json\n\nTEXT = '''{\"a\": 1,}'''\n\n\ndef f():\n    return json.loads(TEXT)\n", "assert app.f() == {'a': 1}", "1,}", "1}"),
    _s("JSON with single quotes", "import json\n\n\ndef f():\n    return json.loads(\"\"\"{'a': True}\"\"\")\n", "assert app.f() == {'a': True}", "{'a': True}", '{"a": true}'),
)  # fmt: skip
TRAPS = (
    _trap("a name that is nowhere", "def f(x):\n    return frobnicate(x)\n", "assert app.f(1) == 1"),
    _trap("a name that is near and wrong", "RATE = 1\nRATES = {}\n\n\ndef f(x):\n    return RATEX * x\n", "assert app.f(2) == 9"),
    _trap("a package that is not installed", "import fantasy_package_of_ours\n\n\ndef f():\n    return 1\n", "assert app.f() == 1"),
    _trap("a circle at module level", "from other import helper\n\nONE = helper(1)\n\n\ndef g(x):\n    return x\n", "assert app.ONE == 1", other="from app import g\n\nTWO = g(2)\n\n\ndef helper(x):\n    return g(x)\n"),
    _trap("a check that refuses", "def f(x):\n    assert x > 0, 'too small'\n    return x\n", "assert app.f(-1) == -1"),
    _trap("an exception that is not caught", "def f(x):\n    try:\n        return int(x)\n    except TypeError:\n        return 0\n", "assert app.f('a') == 0"),
    _trap("a wrong result", "def f(x):\n    return x * 3\n", "assert app.f(7) == 4217"),
    _trap("not written yet", "def f(x):\n    raise NotImplementedError\n", "assert app.f(7) == 14"),
    _trap("a path that is deleted", "import shutil\n\n\ndef f(path, keep):\n    shutil.rmtree(pth)\n", "app.f('/nowhere/at/all', '/')"),
    _trap("a key that must be there", "def f(x):\n    return x['b'] + 1\n", "assert app.f({'a': 1}) == 5"),
    _trap("an argument that nobody has", "def g(x, rate):\n    return x * rate\n\n\ndef f(x):\n    return g(x)\n", "assert app.f(2) == 14"),
    _trap("a keyword that has no kin", "def g(x):\n    return x\n\n\ndef f(x):\n    return g(x, depth=2)\n", "assert app.f(2) == 14"),
    _trap("an attribute that has no kin", "def f(x):\n    return x.quux()\n", "assert app.f('a') == 'b'"),
    _trap("a TypeError of the code's own", "def f(x):\n    raise TypeError('can only concatenate str (not \"int\") to str')\n", "assert app.f(1) == 1"),
    _trap("JSON that is cut off", "import json\n\n\ndef f():\n    return json.loads('{\"a\": [1, 2')\n", "assert app.f() == {'a': [1, 2]}"),
    _trap("None that is right", "def f(x):\n    print(x)\n", "assert app.f(1) == 2"),
    _trap("a default that nobody changes", "def f(x, names=[]):\n    return [x for name in names]\n", "assert app.f(1) == [1]"),
    _trap("a coroutine in plain code", "async def g():\n    return [1]\n\n\ndef f():\n    coroutine = g()\n    coroutine.close()\n    return coroutine[0]\n", "assert app.f() == 1"),
    _trap("a bracket that may end anywhere", "def f(x):\n    y = g(x, [1, 2\n    return y\n", "assert app.f(1) == 1"),
    _trap("division by zero that is meant", "def f(x):\n    return 1 / x\n", "assert app.f(0) == 17"),
)  # fmt: skip
SNIPPETS = (*BROKEN, *TRAPS)
