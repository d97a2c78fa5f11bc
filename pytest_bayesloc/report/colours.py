"""Marks up Python source for the page: comments, strings, keywords and numbers."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator, Sequence

from markupsafe import Markup, escape

from pytest_bayesloc.report.text import visible

# Good enough for broken source as well, which the standard tokenizer refuses.
_STRINGS = (
    r'"""(?:[^\\]|\\.)*?(?:"""|\Z)',
    r"'''(?:[^\\]|\\.)*?(?:'''|\Z)",
    r'"(?:[^"\\\n]|\\.)*"?',
    r"'(?:[^'\\\n]|\\.)*'?",
)
_TOKEN = re.compile(
    r"(?P<comment>#[^\n]*)"
    rf"|(?P<string>(?:\b[rbfuRBFU]{{1,2}})?(?:{'|'.join(_STRINGS)}))"
    rf"|(?P<keyword>\b(?:{'|'.join(keyword.kwlist)})\b)"
    r"|(?P<number>\b\d[\w.]*)",
    re.DOTALL,
)
_MARKED = Markup('<span class="{}">{}</span>')


def coloured(lines: Sequence[str]) -> list[Markup]:
    """Return lines of Python as markup; tokens are elements with their kind as class."""
    return Markup("").join(_pieces("\n".join(lines))).split("\n")


def _pieces(text: str) -> Iterator[Markup]:
    at = 0
    for match in _TOKEN.finditer(text):
        yield escape(visible(text[at : match.start()]))
        parts = (_MARKED.format(match.lastgroup, visible(part)) for part in match[0].split("\n"))
        yield Markup("\n").join(parts)
        at = match.end()
    yield escape(visible(text[at:]))


def with_code(text: str) -> Markup:
    """Return text as markup, in which what stands between backticks is code."""
    parts = visible(text).split("`")
    is_code = len(parts) % 2 == 1
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if is_code and n % 2 else escape(part)
        for n, part in enumerate(parts)
    )
