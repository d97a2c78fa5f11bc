"""Fixes of patterns are found in a history, and repaired by the strings of their tests."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from benchmarks.bugs import patterns
from benchmarks.bugs.patterns import RIGHT, kind_of, mine_patterns, repair_patterns

if TYPE_CHECKING:
    from pathlib import Path

NAME = "pypa/packaging"
SOURCE = (
    "import re\n\nWORD = re.compile(r'{}')\n\n\ndef words(text):\n    return WORD.findall(text)\n"
)
TESTS = "from words import words\n\n\ndef test_words():\n    assert words('a b') == ['a', 'b']\n"
MORE = "\n\ndef test_hyphen():\n    assert words('a-b c') == ['a-b', 'c']\n"


@pytest.fixture
def clones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one clone, whose last commit but one fixes a pattern."""
    monkeypatch.setattr(patterns, "PATTERNS", tmp_path / "data")
    folder = tmp_path / "pypa+packaging" / "repo"
    folder.mkdir(parents=True)

    def git(*args: str) -> None:
        own = ("-c", "user.name=a", "-c", "user.email=a@localhost")
        subprocess.run(("git", "-C", str(folder), *own, *args), check=True, capture_output=True)

    git("init", "-q")
    for source, tests in (("[a-z]+", TESTS), ("[a-z-]+", TESTS + MORE), ("[a-z-]*", TESTS + MORE)):
        (folder / "words.py").write_text(SOURCE.format(source))
        (folder / "test_words.py").write_text(tests)
        git("add", "-A")
        git("commit", "-qm", "fix")
    return tmp_path


def test_fix_is_found_and_repaired(clones: Path) -> None:
    assert mine_patterns(NAME, clones=clones) == "1 fixes of patterns"

    (found,) = repair_patterns([NAME], clones)
    assert (found.result, found.fix.kind, found.fix.source) == (RIGHT, "class", "words.py")
    assert found.fix.tests == ("test_words.py",)
    assert "a-z" not in (clones / "data" / "pypa+packaging.json").read_text()


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        ("[ab]", "[abc]", "class"),
        ("a+", "a*", "quantifier"),
        ("ab", "a+b", "quantifier"),
        ("ab", r"ab\b", "anchor"),
        ("(a|b)", "(a|b|c)", "alternative"),
        ("ab", "ax?b", "optional part"),
        ("a.b", r"a\.b", "escape"),
        ("ab", "acb", "part"),
        ("abc", "xabcx", "several"),
    ],
)
def test_kind_of_a_fix(before: str, after: str, kind: str) -> None:
    assert kind_of(before, after, 0) == kind
