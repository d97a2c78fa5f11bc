"""Make the pictures of the terminal in ``docs/images``, and those of the page smaller.

The terminal's are of a run of the project of ``docs/examples.md``. The page's are taken by
``tests/e2e/test_report_page.py``.
"""

from __future__ import annotations

import io
import re
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
PICTURES = {"terminal.svg": "-q", "terminal-long.svg": "-v"}
WIDTH = 92
N_COLOURS = 64
FONTS = re.compile(r"@font-face \{.*?\}", re.DOTALL)  # which a picture would load from elsewhere


def main() -> int:
    """Write the pictures; return 0."""
    for path in IMAGES.glob("report-*.png"):
        Image.open(path).convert("RGB").quantize(N_COLOURS).save(path, optimize=True)
    for name, verbosity in PICTURES.items():
        console = Console(record=True, width=WIDTH, file=io.StringIO())
        console.print(Text.from_ansi(section(verbosity)))
        title = f"pytest --bayesloc {verbosity}"
        picture = FONTS.sub("", console.export_svg(title=title, unique_id="terminal"))
        text = "\n".join(line.rstrip() for line in picture.splitlines())
        (IMAGES / name).write_text(f"{text}\n", encoding="utf-8")
    return 0


def section(verbosity: str) -> str:
    """Return what the plugin says of that project, with colours."""
    from tests.pages import files_of

    with tempfile.TemporaryDirectory() as folder:
        for name, text in files_of("examples.md").items():
            Path(folder, name).write_text(text, encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "--bayesloc", verbosity, "--color=yes"]
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
