"""Examples of the tool text-encoding."""

from __future__ import annotations

from tests.unit.fixes.examples import in_f

UTF8 = "UnicodeDecodeError: 'utf-8' codec can't decode byte 0xff in position 0: invalid start byte"
ASCII = "UnicodeDecodeError: 'ascii' codec can't decode byte 0xc3 in position 1"

EXAMPLES = (
    in_f("path", ASCII,
         "with open(path) as file:\n        return file.read()",
         'with open(path, encoding="utf-8") as file:\n        return file.read()', line=3),
    in_f("path", UTF8,
         'with open(path, "r") as file:\n        return file.read()',
         'with open(path, "r", encoding="utf-8", errors="ignore") as file:\n'
         "        return file.read()", line=3),
    in_f("data", UTF8,
         "return data.decode()", 'return data.decode(encoding="utf-8", errors="replace")'),
    in_f("path, text",
         "UnicodeEncodeError: 'latin-1' codec can't encode character '\\u20ac' in position 0",
         "path.write_text(text, 'latin-1')", 'path.write_text(text, "utf-8")'),
    in_f("path", UTF8, "return str(path.open('rb').read(), 'utf-8')", line=2),
)  # fmt: skip
