"""Examples of the tool misspelt-name."""

from __future__ import annotations

from tests.unit.fixes.examples import in_f

EXAMPLES = (
    in_f("x", "NameError: name 'rounded' is not defined",
         "return rounded(x)", line=2, files={"money.py": "def rounded(x):\n    return round(x)\n"}),
    in_f("total", "NameError: name 'totl' is not defined", "return totl + 1", "return total + 1"),
    in_f("x", "NameError: name 'lenght' is not defined",
         "return lenght(x)  # keep", "return len(x)  # keep"),
    in_f("x", "NameError: name 'json' is not defined", "return json.loads(x)", line=2),
)  # fmt: skip
