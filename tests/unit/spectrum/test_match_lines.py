"""The lines of unchanged functions are followed through edits of their file."""

from __future__ import annotations

from textwrap import dedent

import pytest

from pytest_bayesloc.spectrum.run_record import Footprint
from pytest_bayesloc.spectrum.validity import match_lines, move_footprint

BEFORE = dedent('''\
    RATE = 2

    def net(x):
        # what is left
        return x / RATE

    class Cart:
        @property
        def total(self):
            return sum(self.items)

        def text(self):
            def line(item):
                return f"{item}"

            return """
            # a heading
            """
    ''')
EVERY = range(1, 19)


def kept(after: str) -> dict[int, int] | None:
    moved = match_lines(BEFORE, after, [1])
    return None if moved is None else dict(moved)


def test_unchanged_lines_stay() -> None:
    moved = kept(BEFORE)

    assert moved is not None
    assert all(moved[line] == line for line in moved)
    assert set(EVERY) - moved.keys() == {2, 4, 6, 11, 15}  # blank lines and a comment


@pytest.mark.parametrize(
    ("old", "new", "gone"),
    [
        ("x / RATE", "x * RATE", {5}),
        ("sum(self.items)", "len(self.items)", {10}),
        ('f"{item}"', 'f"<{item}>"', {14}),
        ("# a heading", "# another heading", {13, 16, 17, 18}),
    ],
    ids=["function", "method", "inner function", "comment in a text"],
)
def test_lines_of_an_edited_function_are_gone(old: str, new: str, gone: set[int]) -> None:
    assert old in BEFORE
    unedited, edited = kept(BEFORE), kept(BEFORE.replace(old, new))

    assert unedited is not None
    assert edited is not None
    assert unedited.keys() - edited.keys() == gone


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("RATE = 2", "RATE = 3"),
        ("class Cart:", "class Cart(dict):"),
        ("@property", "@cached_property"),
        ("def net(x)", "def net(x, y=1)"),
        ("def net(x)", "def gross(x)"),
        ("    def text(self)", "    items = ()\n\n    def text(self)"),
        ("RATE = 2", "RATE = ("),
    ],
    ids=["module", "class", "decorator", "default", "name", "class body", "broken"],
)
def test_edited_body_leaves_nothing_for_sure(old: str, new: str) -> None:
    assert old in BEFORE

    assert kept(BEFORE.replace(old, new)) is None


def test_import_that_nobody_saw_leaves_nothing_for_sure() -> None:
    after = BEFORE.replace("x / RATE", "x * RATE")

    assert match_lines(BEFORE, after, [5, 10]) is None
    assert match_lines(BEFORE, after, [3]) is not None  # a header is executed by the import


def test_lines_move_with_their_function() -> None:
    moved = kept("#\n#\n" + BEFORE.replace("    # what is left\n", ""))

    assert moved is not None
    assert (moved[1], moved[3], moved[5], moved[10]) == (3, 5, 6, 11)


def test_footprint_moves_as_a_whole_or_not_at_all() -> None:
    moved = {3: 5, 5: 6}
    footprint = Footprint("a.py", 3, "net", (5,))

    assert move_footprint(footprint, moved) == Footprint("a.py", 5, "net", (6,))
    assert move_footprint(footprint._replace(lines=(4, 5)), moved) is None
    assert move_footprint(footprint._replace(first_line=9), moved) is None
    # Where only lines are known, and of a module, there is no header to follow.
    assert move_footprint(Footprint("a.py", 0, "", (5,)), moved) == Footprint("a.py", 0, "", (6,))
    module = Footprint("a.py", 1, "<module>", (3,))
    assert move_footprint(module, moved) == module._replace(lines=(5,))
