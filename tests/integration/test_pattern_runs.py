"""A regular expression of a table is repaired, by what the failing test asks it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.integration.conftest import asserting

if TYPE_CHECKING:
    from tests.integration.conftest import Projects, Run

FORGETFUL = True
OPTIONS = ("--bayesloc-fix=suggest",)
LEXER = r"""
    import re

    KINDS = [
        ("number", re.compile(r"-?\d+").match),
        ("name", re.compile(r"[a-z][a-z_]*").match),
        ("blank", re.compile(r"[ ]+").match),
        ("sign", re.compile(r"[-+*/=()]").match),
    ]


    def tokens(text):
        at, found = 0, []
        while at < len(text):
            for kind, match in KINDS:
                if token := match(text, at):
                    if kind != "blank":
                        found.append((kind, token.group()))
                    at = token.end()
                    break
            else:
                raise ValueError(text[at:])
        return found
    """
TESTS = asserting(
    "from lexer import tokens",
    sum='tokens("a + 12") == [("name", "a"), ("sign", "+"), ("number", "12")]',
    names='tokens("one_two three") == [("name", "one_two"), ("name", "three")]',
    call='tokens("f(x)/2")[3:] == [("sign", ")"), ("sign", "/"), ("number", "2")]',
    digits_in_names='tokens("x1 + y2") == [("name", "x1"), ("sign", "+"), ("name", "y2")]',
)
INLINE = r"""
    import re


    def port(address):
        found = re.fullmatch("[a-z]+" ":" r"(\d{2,4})", address)
        return int(found[1])
    """
TESTS_OF_INLINE = """
    import pytest

    from address import port


    def test_port():
        assert port("localhost:80") == 80


    def test_no_port():
        with pytest.raises(TypeError):
            port("localhost")


    def test_short_port():
        with pytest.raises(TypeError):
            port("localhost:8")


    def test_long_port():
        assert port("localhost:65000") == 65000
    """


# Stand-ins for patterns are of another type.
STRICT = """
    import re

    if type(re.compile("x")).__name__ != "Pattern":
        raise TypeError("no pattern")


    def least(numbers):
        return max(numbers)
    """
TESTS_OF_STRICT = asserting(
    "from strict import least", least="least([2, 1]) == 1", only="least([3]) == 3"
)


def patched(run: Run) -> list[tuple[str, str]]:
    """Return tools and changed lines of the verified fixes."""
    return [
        (fix["tool"], line[1:].strip())
        for fix in run.document["fixes"]
        if fix["verified"]
        for line in fix["diff"].splitlines()
        if line.startswith("+") and not line.startswith("+++")
    ]


def test_pattern_of_a_table_is_repaired(projects: Projects) -> None:
    run = projects.make({"lexer.py": LEXER, "test_lexer.py": TESTS}).localize(*OPTIONS)

    assert patched(run)[0] == (
        "pattern-class",
        r'("name", re.compile(r"[a-z][a-z_0-9]*").match),',
    )


@pytest.mark.thorough
def test_pattern_in_a_function_is_repaired_as_it_is_written(projects: Projects) -> None:
    files = {"address.py": INLINE, "test_address.py": TESTS_OF_INLINE}
    run = projects.make(files).localize(*OPTIONS)

    made = [line for tool, line in patched(run) if tool == "pattern-quantifier"]
    assert made[0] == r'found = re.fullmatch("[a-z]+" ":" r"(\d{2,})", address)'


@pytest.mark.thorough
def test_code_that_bears_no_watched_patterns_is_repaired_otherwise(projects: Projects) -> None:
    files = {"strict.py": STRICT, "test_strict.py": TESTS_OF_STRICT}
    run = projects.make(files).localize(*OPTIONS)

    assert ("similar-call", "return min(numbers)") in patched(run)
