"""Sixty broken snippets: what the shelf should make of each, or that it should leave it alone.

``data/snippets.txt`` holds them: ``app.py``, other files, the body of a test that imports ``app``,
and the file as it should be; a snippet without that is a trap.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FILE = Path(__file__).with_name("data") / "snippets.txt"


@dataclass(frozen=True, slots=True, kw_only=True)
class Snippet:
    """A broken file.

    Attributes:
        name: What is wrong.
        text: ``app.py`` as it is.
        fixed: As it should be; None if it is to be left alone.
        test: A test module.
        body: The body of its test.
        files: More files.
    """

    name: str
    text: str
    fixed: str | None
    test: str
    body: str
    files: Mapping[str, str]


def _snippets() -> Iterator[Snippet]:
    for part in FILE.read_text(encoding="utf-8").split("=== ")[1:]:
        head, *sections = part.split("--- ")
        name, _, text = head.partition("\n")
        more = {title: body for title, _, body in (s.partition("\n") for s in sections)}
        body = more.pop("test")
        yield Snippet(
            name=name,
            text=text,
            fixed=more.pop("fixed", None),
            test=f"import app\n\n\ndef test():\n{indent(body.strip(), '    ')}\n",
            body=body.strip(),
            files=more,
        )


SNIPPETS = tuple(_snippets())
BROKEN = tuple(snippet for snippet in SNIPPETS if snippet.fixed is not None)
TRAPS = tuple(snippet for snippet in SNIPPETS if snippet.fixed is None)
