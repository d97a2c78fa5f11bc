"""Several changes are one candidate, and partial success is told from none."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest

from pytest_bayesloc.domain.inspection import TestRun, Verdict
from pytest_bayesloc.domain.source import SourceMap
from pytest_bayesloc.fixes.candidate import Candidate, changed_functions, patch_of
from pytest_bayesloc.fixes.search import changed_location, joined, merged, progress
from tests.unit.fixes.candidates import candidate, tried

TEXT = "def f():\n    return 1\n\n\ndef g():\n    return 2\n"


def change(old: str, new: str, text: str = TEXT, file: str = "a.py") -> Candidate:
    return candidate(text, text.replace(old, new), tools=(f"to-{new}",), file=file)


def test_a_step_on_a_step_is_a_change_of_the_file_as_it_is() -> None:
    first = change("1", "10")

    both = joined(first, change("2", "20", first.after))

    assert both.before == TEXT
    assert both.after == TEXT.replace("1", "10").replace("2", "20")
    assert both.tools == ("to-10", "to-20")


@pytest.mark.parametrize(
    ("old", "new", "qualname"),
    [
        ("f():", "f(x=None):", "f"),
        ("return 2", "return 20", "g"),
        ("def f", "import os\n\n\ndef f", "<module>"),
        ("return", "yield", "<module>"),
    ],
    ids=["header", "body", "above", "two functions"],
)
def test_change_is_of_the_innermost_function_that_holds_all_of_it(
    old: str, new: str, qualname: str
) -> None:
    assert changed_location(change(old, new)).qualname == qualname


def test_change_of_two_functions_is_of_the_one_in_which_the_error_showed() -> None:
    both = replace(change("return", "yield"), line=TEXT.count("\n"))

    assert changed_location(both).qualname == "g"


NESTED = """\
import os


def outer(a, b=1):
    def inner(x):
        return x

    return inner


def makes():
    class Made:
        def call(self):
            return 7

    return Made


class A:
    @property
    def p(self):
        return 1

    def q(self):
        return 2
"""


@pytest.mark.parametrize(
    ("old", "new", "inner", "outer"),
    [
        ("return 1", "return 3", ["A.p"], ["A.p"]),
        ("return x", "return a", ["outer.<locals>.inner"], ["outer"]),
        ("return x", "return a\n\n    inner(b)", ["outer"], ["outer"]),
        ("return inner", "return inner\n    pass", ["outer"], ["outer"]),
        ("return 7", "return 8", ["makes.<locals>.Made.call"], ["makes"]),
        ("return ", "yield ", ["outer", "makes", "A.p", "A.q"], ["outer", "makes", "A.p", "A.q"]),
        ("inner(x)", "inner(x, y)", ["outer"], ["outer"]),
        ("b=1", "b=2", [], []),
        ("import os", "import sys", [], []),
        ("@property", "@property\n    @cached", [], []),
        ("return 2", "return 2\n\n    z = 3", [], []),
        ("return 1", "return 1  # one", [], []),
    ],
)
def test_functions_that_changed_are_found_by_the_lines_that_differ(
    old: str, new: str, inner: list[str], outer: list[str]
) -> None:
    source, after = SourceMap(NESTED, "a.py"), NESTED.replace(old, new)

    for is_innermost, expected in ((True, inner), (False, outer)):
        found = changed_functions(source, after, innermost=is_innermost)
        assert [where.qualname for where in found] == expected


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        ("return 2", "return 3", {"A.q"}),
        ("return ", "yield ", {"outer", "makes", "A.p", "A.q"}),
        ("b=1", "b=2", {"<module>"}),
    ],
    ids=["one function", "several", "a signature"],
)
def test_patch_is_of_functions_or_of_the_module_in_a_new_process(
    old: str, new: str, names: set[str]
) -> None:
    patch = patch_of(change(old, new, NESTED))

    assert {where.qualname for where in (patch.target, *patch.others)} == names
    assert patch.fresh is (names == {"<module>"})


def test_a_step_on_a_step_is_looked_at_without_parsing_its_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = change("1", "10")
    patch_of(first)
    parsed: list[str] = []
    original = ast.parse

    def parse(text: str, filename: str) -> ast.AST:
        parsed.append(text)
        return original(text, filename)

    monkeypatch.setattr(ast, "parse", parse)

    both = joined(first, change("2", "20", first.after))

    assert [where.qualname for where in patch_of(both).others] == ["g"]
    assert both.parts()[1].split() == both.after.split()
    assert parsed
    assert both.after not in parsed


def test_steps_in_two_files_are_one_patch() -> None:
    both = joined(change("1", "10"), change("2", "20", file="b.py"))

    assert both.texts == {"a.py": TEXT.replace("1", "10"), "b.py": TEXT.replace("2", "20")}
    diff = patch_of(both).diff
    assert "+++ b/a.py" in diff
    assert "+++ b/b.py" in diff


def test_changes_of_other_lines_are_merged_and_of_the_same_line_are_not() -> None:
    longer = change("return 1", "x = 1\n    return x")

    both = merged(longer, change("2", "20"))

    assert both is not None
    assert both.after == longer.after.replace("2", "20")
    assert merged(change("1", "10"), change("1", "11")) is None


@pytest.mark.parametrize(
    ("error", "line", "strictly", "expected"),
    [
        ("NameError: b", 3, False, 1),
        ("NameError: b", 3, True, 0),
        ("NameError: b", 4, True, 2),
        ("NameError: b", 2, False, 0),
        ("NameError: a", 3, False, 0),
    ],
    ids=["other error", "other value", "later", "earlier", "same"],
)
def test_an_error_further_on_is_progress(
    error: str, line: int, strictly: bool, expected: int
) -> None:
    before, still = (
        TestRun(verdict=Verdict.FAIL, error=said, frames=(("/p/test_a.py", n), ("/p/a.py", 9)))
        for said, n in (("NameError: a", 3), (error, line))
    )
    checked = tried(
        change("1", "10"),
        failing=("test_a.py::other",),
        test="test_a.py::test",
        before=before,
        still=still,
    )

    assert progress(checked, strictly=strictly) == (1, expected)
