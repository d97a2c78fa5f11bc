"""Changes of a text as blocks, and as single entries and statements."""

from __future__ import annotations

from textwrap import dedent

import pytest

from pytest_bayesloc.domain.source import SourceMap
from pytest_bayesloc.history.hunks import Hunk, hunks_of, is_whole, owner_of, parts_of, put_back


def texts(hunks: list[Hunk], now: str) -> list[tuple[str, str]]:
    """What stands there now, and what stood there, per hunk."""
    lines = now.splitlines(keepends=True)
    return [("".join(lines[slice(*hunk.now)]), "".join(hunk.then)) for hunk in hunks]


def parts(now: str, then: str, file: str = "m.py") -> list[tuple[str, str]]:
    found = [p for hunk in hunks_of(file, now, then) for p in parts_of(hunk, now, then)]
    return [(a.strip(), b.strip()) for a, b in texts(found, now)]


NOW = "a = 1\nb = 2\nc = 3\nd = 4\n"
THEN = "a = 0\nb = 2\nc = 3\nx = 9\nd = 4\n"


def test_blocks_of_changed_lines_are_told_apart() -> None:
    hunks = hunks_of("m.py", NOW, THEN)

    assert texts(hunks, NOW) == [("a = 1\n", "a = 0\n"), ("", "x = 9\n")]
    assert [hunk.lines for hunk in hunks] == [(1, 1), (4, 4)]


def test_some_blocks_or_all_are_put_back() -> None:
    first, last = hunks_of("m.py", NOW, THEN)

    assert put_back(NOW, [last]) == "a = 1\nb = 2\nc = 3\nx = 9\nd = 4\n"
    assert put_back(NOW, [last, first]) == THEN


def test_last_line_without_an_end_is_put_back_as_a_line() -> None:
    now, then = "a = 1\nb = 2", "a = 1\nc = 3\nb = 2\nd = 4"

    assert put_back(now, hunks_of("m.py", now, then)[:1]) == "a = 1\nc = 3\nb = 2\n"


def test_comments_are_no_change_but_in_a_text_over_several_lines() -> None:
    assert hunks_of("m.py", "# new\na = 1\n\n", "a = 1\n") == []
    assert len(hunks_of("m.py", 'a = """\n# new\n"""\n', 'a = """\n# old\n"""\n')) == 1
    assert len(hunks_of("m.yaml", "# new\n", "# old\n")) == 1


@pytest.mark.parametrize(
    ("now", "then", "expected"),
    [
        ("T = {\n    'a': 1,\n    'b': 2,\n}\n", "T = {\n    'a': 3,\n    'b': 4,\n}\n",
         [("'a': 1,", "'a': 3,"), ("'b': 2,", "'b': 4,")]),
        ("T = {\n    'a': 1,\n    'b': 2,\n    'd': 5,\n}\n",
         "T = {\n    'a': 3,\n    'c': 0,\n    'b': 4,\n}\n",
         [("'a': 1,", "'a': 3,"), ("", "'c': 0,"), ("'b': 2,", "'b': 4,"), ("'d': 5,", "")]),
        ("T = {\n    **A,\n    'b': 2,\n}\n", "T = {\n    **C,\n    'b': 4,\n}\n",
         [("**A,", "**C,"), ("'b': 2,", "'b': 4,")]),
        ("T = [\n    ('a', 1),\n    ('b', 2),\n]\n", "T = [\n    ('b', 4),\n]\n",
         [("('a', 1),", ""), ("('b', 2),", "('b', 4),")]),
        ("f(\n    1,\n    a=2,\n)\n", "f(\n    3,\n    a=4,\n)\n",
         [("1,", "3,"), ("a=2,", "a=4,")]),
        ("a = 1\nb += 2\n", "a = 3\nb += 4\n", [("a = 1", "a = 3"), ("b += 2", "b += 4")]),
        ("if a:\n    b()\n    c()\n", "if z:\n    y()\n    x()\n",
         [("if a:", "if z:"), ("b()", "y()"), ("c()", "x()")]),
        ("a = 1\nb = 2\nc = 3\n", "x = 1\n", [("a = 1\nb = 2\nc = 3", "x = 1")]),
    ],
    ids=["entries", "new and gone", "merged", "rows", "arguments", "names", "inner", "unlike"],
)  # fmt: skip
def test_entries_and_statements_of_a_block_are_told_apart(
    now: str, then: str, expected: list[tuple[str, str]]
) -> None:
    assert parts(now, then) == expected


def test_lines_of_data_are_told_apart_by_their_names() -> None:
    now = '{\n  "a": 1,\n  "b": 2\n}\n'
    then = '{\n  "a": 3,\n  "n": 0,\n  "b": 4\n}\n'

    assert parts(now, then, "m.json") == [
        ('"a": 1,', '"a": 3,'),
        ("", '"n": 0,'),
        ('"b": 2', '"b": 4'),
    ]


def test_parts_together_are_the_block() -> None:
    now = "T = {\n    'a': 1,\n    'b': [\n        2,\n    ],\n    'd': 5,\n}\n"
    then = "T = {\n    'c': 0,\n    'b': [\n        3,\n        4,\n    ],\n    'a': 3,\n}\n"
    found = [p for hunk in hunks_of("m.py", now, then) for p in parts_of(hunk, now, then)]

    assert put_back(now, found) == then


def test_text_that_does_not_parse_is_none_of_python_but_may_be_data() -> None:
    assert not is_whole("m.py", "a = (\n")
    assert is_whole("m.py", "a = 1\n")
    assert is_whole("m.json", '{"a": ')


def test_block_belongs_to_the_innermost_place_around_it() -> None:
    now = dedent(
        """
        class A:
            @made
            def f(self):
                return 1

        B = 2
        """
    )
    source = SourceMap(now, "m.py")
    places = [unit.location for unit in source.units]
    names = [
        owner_of(hunk, source, places).qualname
        for hunk in hunks_of("m.py", now, now.replace("made", "told").replace("2", "3"))
    ]

    assert names == ["A.f", "<module>"]
