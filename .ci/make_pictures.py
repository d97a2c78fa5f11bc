"""Make the pictures of the terminal in ``docs/images``, and those of the page smaller.

The terminal's are of a run of the project of ``docs/examples.md``, or of the demo. The page's are
taken by ``tests/e2e/test_report_page.py``.
"""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
IMAGES = ROOT / "docs" / "images"
#: Per picture, the arguments of pytest behind --bayesloc.
OF_EXAMPLE: dict[str, tuple[str, ...]] = {"terminal.svg": ("-q",), "terminal-long.svg": ("-v",)}
OF_DEMO = {"terminal-flaky.svg": ("-q", "tests/test_invoices.py", "tests/test_reports.py")}
WIDTH = 92
N_COLOURS = 64
FONTS = re.compile(r"@font-face \{.*?\}", re.DOTALL)  # which a picture would load from elsewhere


def main() -> int:
    """Write the pictures; return 0."""
    for path in IMAGES.glob("report-*.png"):
        Image.open(path).convert("RGB").quantize(N_COLOURS).save(path, optimize=True)
    from tests.pages import files_of

    with tempfile.TemporaryDirectory() as folder:
        for name, text in files_of("examples.md").items():
            Path(folder, name).write_text(text, encoding="utf-8")
        for picture, arguments in OF_EXAMPLE.items():
            draw(IMAGES / picture, folder, arguments)
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "demo_project", folder, dirs_exist_ok=True)
        for picture, files in OF_DEMO.items():
            draw(IMAGES / picture, folder, files)
    return 0


def draw(path: Path, folder: str, arguments: tuple[str, ...]) -> None:
    """Draw the plugin's answer to a run in ``folder``."""
    console = Console(record=True, width=WIDTH, file=io.StringIO())
    console.print(Text.from_ansi(section(folder, arguments)))
    title = " ".join(("pytest --bayesloc", *arguments))
    picture = FONTS.sub("", console.export_svg(title=title, unique_id="terminal"))
    text = "\n".join(line.rstrip() for line in picture.splitlines())
    path.write_text(f"{text}\n", encoding="utf-8")


def section(folder: str, arguments: tuple[str, ...]) -> str:
    """Return what the plugin says of the project in ``folder``, with colours."""
    command = [sys.executable, "-m", "pytest", "--bayesloc", *arguments, "--color=yes"]
    run = subprocess.run(
        [*command, "--tb=no", "-p", "no:cacheprovider"],
        cwd=folder,
        env={"COLUMNS": str(WIDTH), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = run.stdout.splitlines()
    first = next(n for n, line in enumerate(lines) if "= bayesloc =" in line)
    last = next(n for n, line in enumerate(lines) if "report: html" in line)
    return "\n".join(lines[first : last - 1])


if __name__ == "__main__":
    sys.exit(main())
