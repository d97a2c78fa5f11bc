"""Examples of the tool normal-form."""

from __future__ import annotations

from tests.unit.fixes.examples import Example

TEST = "def test_f():\n    assert f('Jos\\u00e9') == f('JOSE\\u0301')\n"
KEY = "def key(name):\n    return name.casefold()\n"
EXAMPLES = (
    Example("AssertionError: assert False",
            KEY,
            "import unicodedata\n\ndef key(name):\n"
            '    return unicodedata.normalize("NFC", name).casefold()\n', says="NFC", line=2,
            test=TEST),
    Example("AssertionError: assert False",
            "import unicodedata\n\n\ndef same(a, b):\n    return a.lower() == b.lower()\n",
            "import unicodedata\n\n\ndef same(a, b):\n"
            '    return unicodedata.normalize("NFKC", a.lower()) == '
            'unicodedata.normalize("NFKC", b.lower())\n', says="NFKC",
            test="def test_f():\n    assert same('\\ufb01n', '\\uff46in')\n"),
    Example("AssertionError: assert 'é' == 'é'",
            "def f(x):\n    return x + g(x)\n",
            'import unicodedata\n\ndef f(x):\n    return unicodedata.normalize("NFC", x + g(x))\n',
            line=2),
    Example("AssertionError: assert 'e' == 'é'", KEY, line=2),
    Example("AssertionError: assert False",
            KEY, line=2, test="def test_f():\n    assert f('Jos\\u00e9') == f('JOS\\u00c9')\n"),
)  # fmt: skip
