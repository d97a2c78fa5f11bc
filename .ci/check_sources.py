"""Check the sources of the package for dead code, and for docstrings that begin with a question.

vulture finds names that nothing uses. What templates and readers of the JSON result use counts as
used; what pytest and other processes call is listed in ``pyproject.toml``.
"""

from __future__ import annotations

import ast
import keyword
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "pytest_bayesloc"
SCHEMAS = ROOT / "docs"
USED = ROOT / ".cache" / "used_by_others.py"
WORD = re.compile(r"[a-z]\w+")
QUESTIONS = frozenset({"How", "What", "Where", "Which", "Who", "Whose"})


def main() -> int:
    """Return 0 if there is no dead code, and no docstring begins with a question, else 1."""
    asking = list(questions())
    if asking:
        print(f"{len(asking)} docstrings begin with a question: {' '.join(asking)}")
    USED.parent.mkdir(exist_ok=True)
    USED.write_text("\n".join(f"_.{word}" for word in sorted(words_of_others())), encoding="utf-8")
    command = [sys.executable, "-m", "vulture", str(PACKAGE), str(USED)]
    return int(bool(asking) or subprocess.run(command, cwd=ROOT, check=False).returncode != 0)


def words_of_others() -> set[str]:
    """Collect the words of the templates and of the schemas of what is written as JSON."""
    paths = [*PACKAGE.rglob("*.j2"), *SCHEMAS.glob("*.schema.json")]
    words = {word for path in paths for word in WORD.findall(path.read_text(encoding="utf-8"))}
    return words - {*keyword.kwlist}


def questions() -> Iterator[str]:
    """Name each class, function or module whose docstring begins with a question, by its line."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_bytes())):
            text = ast.get_docstring(node) if isinstance(node, kinds) else None
            if text and text.split()[0] in QUESTIONS:
                yield f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 1)}"


if __name__ == "__main__":
    sys.exit(main())
