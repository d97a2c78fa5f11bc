"""Examples of the tool text-encoding."""

from __future__ import annotations

from tests.unit.fixes.examples import Example

UTF8 = "UnicodeDecodeError: 'utf-8' codec can't decode byte 0xff in position 0: invalid start byte"
ASCII = "UnicodeDecodeError: 'ascii' codec can't decode byte 0xc3 in position 1"

EXAMPLES = (
    Example(
        error=ASCII,
        before="def f(path):\n    with open(path) as file:\n        return file.read()\n",
        after=(
            'def f(path):\n    with open(path, encoding="utf-8") as file:\n'
            "        return file.read()\n"
        ),
        line=3,
    ),
    Example(
        error=UTF8,
        before='def f(path):\n    with open(path, "r") as file:\n        return file.read()\n',
        after=(
            'def f(path):\n    with open(path, "r", encoding="utf-8", errors="ignore") as file:\n'
            "        return file.read()\n"
        ),
        line=3,
    ),
    Example(
        error=UTF8,
        before="def f(data):\n    return data.decode()\n",
        after='def f(data):\n    return data.decode(encoding="utf-8", errors="replace")\n',
    ),
    Example(
        error="UnicodeEncodeError: 'latin-1' codec can't encode character '\\u20ac' in position 0",
        before="def f(path, text):\n    path.write_text(text, 'latin-1')\n",
        after='def f(path, text):\n    path.write_text(text, "utf-8")\n',
    ),
    Example(
        error=UTF8,
        before="def f(path):\n    return str(path.open('rb').read(), 'utf-8')\n",
        line=2,
    ),
)
