"""A real Chromium, and what says whether everybody can use a page."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

WIDE, MIDDLE, NARROW = 1280, 820, 390
HEIGHT = 800
PATIENCE_MS = 10_000
_AXE = "node_modules/axe-core/axe.min.js"


@contextmanager
def chromium() -> Iterator[Browser]:
    """The browser; skips what asks for it where there is none."""
    api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("no Chromium: apt-get install chromium")
    with api.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=program, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


class Opened:
    """A page from a file, without a network, and what went wrong while it was used."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.troubles: list[str] = []
        self.requests: list[str] = []
        page.on("pageerror", lambda error: self.troubles.append(str(error)))
        page.on("dialog", lambda dialog: self.troubles.append(f"dialog {dialog.message}"))
        page.on(
            "console",
            lambda said: self.troubles.append(said.text) if said.type == "error" else None,
        )
        page.on("request", lambda request: self.requests.append(request.url))

    def unfold(self) -> None:
        """Open all that is folded away."""
        self.page.evaluate(
            "document.querySelectorAll('details').forEach((fold) => { fold.open = true; })"
        )

    def violations(self) -> list[str]:
        """What axe-core takes for serious or critical, each with the first element."""
        axe = next((path for path in _axe_places() if path.is_file()), None)
        if axe is None:
            pytest.skip("no axe-core: npm install --prefix PREFIX axe-core")
        # Through the debugger, which the page's own policy does not bind.
        self.page.evaluate(axe.read_text(encoding="utf-8"))
        found: dict[str, Any] = self.page.evaluate("() => axe.run()")
        return [
            f"{entry['id']} ({entry['impact']}): {entry['nodes'][0]['html'][:200]}"
            for entry in found["violations"]
            if entry["impact"] in {"serious", "critical"}
        ]


@contextmanager
def opened(
    browser: Browser, file: Path, *, width: int = WIDE, scheme: str = "light", anchor: str = ""
) -> Iterator[Opened]:
    """The page in ``file``.

    Args:
        browser: A real one.
        file: HTML.
        width: CSS pixels.
        scheme: ``light`` or ``dark``.
        anchor: Where to go in it.
    """
    context = browser.new_context(
        viewport={"width": width, "height": HEIGHT},
        color_scheme="dark" if scheme == "dark" else "light",
        offline=True,
        permissions=["clipboard-read", "clipboard-write"],
    )
    try:
        context.set_default_timeout(PATIENCE_MS)
        found = Opened(context.new_page())
        found.page.goto(f"{file.resolve().as_uri()}{anchor}")
        yield found
    finally:
        context.close()


def _axe_places() -> list[Path]:
    given = os.environ.get("BAYESLOC_AXE")
    return [*([Path(given)] if given else []), Path(sys.prefix) / _AXE, Path(_AXE)]
