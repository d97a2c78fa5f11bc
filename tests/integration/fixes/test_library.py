"""Which tools an error calls for."""

from __future__ import annotations

from dataclasses import replace

from pytest_bayesloc.fixes.definition import Tool, ToolOrigin, parse_definition
from pytest_bayesloc.fixes.library import Library

NAMED = b"""\
name: named
description: Mends what is called.
command: python
metadata: {error_pattern: '^(Key|Index)Error: .*b.*$'}
"""
ENDLESS = NAMED.replace(b"named", b"endless").replace(b"^(Key|Index)Error: .*b.*$", b"(a+)+$")


def tool(text: bytes) -> Tool:
    made = parse_definition(text, "tool.yaml")
    return replace(made, origin=ToolOrigin.PROJECT, propose=lambda *_: iter(()))


def test_a_pattern_is_searched_in_the_error() -> None:
    library = Library([tool(NAMED)])

    assert [found.name for found, _ in library.search("KeyError: 'abc'")] == ["named"]
    assert library.search("TypeError: 'abc'") == []


def test_a_pattern_without_end_costs_a_note_and_no_more() -> None:
    notes: list[str] = []
    library = Library([tool(ENDLESS), tool(NAMED)], note=notes.append)

    for error in ("KeyError: b" + 50 * "a" + "!", "KeyError: b"):
        assert [found.name for found, _ in library.search(error)] == ["named"]

    assert len(notes) == 1
    assert "endless is left out" in notes[0]


def test_a_retired_tool_is_called_for_and_not_tried() -> None:
    retired = replace(tool(NAMED), propose=None, why_not="retired")
    library = Library([retired])

    assert library.search("KeyError: 'abc'") == []
    assert library.is_called_for(retired, "KeyError: 'abc'")
