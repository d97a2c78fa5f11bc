"""Examples of the tool misspelt-name."""

from __future__ import annotations

from tests.unit.fixes.examples import Example

EXAMPLES = (
    Example(
        error="NameError: name 'rounded' is not defined",
        before="def f(x):\n    return rounded(x)\n",
        line=2,
        files={"money.py": "def rounded(x):\n    return round(x)\n"},
    ),
    Example(
        error="NameError: name 'totl' is not defined",
        before="def f(total):\n    return totl + 1\n",
        after="def f(total):\n    return total + 1\n",
    ),
    Example(
        error="NameError: name 'lenght' is not defined",
        before="def f(x):\n    return lenght(x)  # keep\n",
        after="def f(x):\n    return len(x)  # keep\n",
    ),
    Example(
        error="NameError: name 'json' is not defined",
        before="def f(x):\n    return json.loads(x)\n",
        line=2,
    ),
)
