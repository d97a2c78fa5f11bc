"""Check the built documentation: it loads nothing from elsewhere, and messages have sections.

``zensical build --strict`` has found dead links already.
"""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

MESSAGES = Path(__file__).resolve().parent.parent / "docs" / "messages.md"
ELSEWHERE = re.compile(r"(?:https?:)?//")
IN_STYLE = re.compile(r"(?:url\(|@import\s+)[\"']?((?:https?:)?//[^\"')]+)")
#: Links that a browser follows by itself.
LOADED = frozenset(
    {"dns-prefetch", "icon", "manifest", "preconnect", "prefetch", "preload", "stylesheet"}
)


class Loaded(HTMLParser):
    """Collects what a page makes a browser load, and its anchors."""

    def __init__(self) -> None:
        super().__init__()
        self.urls: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """One element."""
        given = {name: value or "" for name, value in attrs}
        self.anchors.add(given.get("id", ""))
        self.urls.append(given.get("src", ""))
        if tag == "link" and LOADED.intersection(given.get("rel", "").split()):
            self.urls.append(given.get("href", ""))


def main(site: Path) -> int:
    """0 if all is as it should be, else 1 with the reasons on standard error."""
    problems = [*loads(site), *lost_messages(site)]
    for problem in problems:
        print(problem, file=sys.stderr)
    if not problems:
        print(f"{site} loads nothing from elsewhere, and every message leads to its section.")
    return 1 if problems else 0


def loads(site: Path) -> Iterator[str]:
    """A sentence for each thing that is loaded from elsewhere."""
    for path in sorted(site.rglob("*.html")):
        for url in read(path).urls:
            if ELSEWHERE.match(url):
                yield f"{path} loads {url}"
    for path in sorted(site.rglob("*.css")):
        for url in IN_STYLE.findall(path.read_text(encoding="utf-8")):
            yield f"{path} loads {url}"


def lost_messages(site: Path) -> Iterator[str]:
    """A sentence for each message whose word does not lead to its section."""
    slugs = re.findall(r"^## (\S+)$", MESSAGES.read_text(encoding="utf-8"), re.MULTILINE)
    page = site / "messages.html"
    for slug in sorted(set(slugs) - read(page).anchors):
        yield f"{page} has no anchor #{slug}"


def read(path: Path) -> Loaded:
    """What is in a page."""
    page = Loaded()
    page.feed(path.read_text(encoding="utf-8"))
    return page


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
