"""A rewritten function with added checks does what it did; one with any other change is refused."""

from __future__ import annotations

import ast
import copy
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, given, reject
from hypothesis import strategies as st

from pytest_bayesloc.domain.errors import PatchError
from pytest_bayesloc.domain.ports import ProposedCode
from pytest_bayesloc.domain.source import FunctionNode, SourceMap, parse
from pytest_bayesloc.inspection.gate import admit
from pytest_bayesloc.inspection.writing import with_assertions
from tests.property.test_patch_laws import behaves_as_before, is_writable, modules, target_in

if TYPE_CHECKING:
    from pytest_bayesloc.domain.source import Unit

pytestmark = pytest.mark.one_python

# They hold, whatever names the function hides, and are none of its own statements.
CHECKS = [
    "assert 'ok'",
    "assert [i for i in (1, 2) if i > 1], 'why'",
    "assert f'{3:>{4}}' != 'é'",
    "new = 'ü'\nassert new == 'ü'",
    "if 1 < 2:\n    assert (1, 2) < (1, 3)\nelse:\n    print()",
    "print('seen')\nassert 3 is not None",
]
MAX_ADDED = 5
Block = list[ast.stmt]


def function_of(text: str) -> tuple[SourceMap, Unit, FunctionNode]:
    """A module's function ``f``, to be changed at will."""
    source = SourceMap(text, "m.py")
    unit = target_in(source)
    assert isinstance(unit.node, FunctionNode)
    return source, unit, copy.deepcopy(unit.node)


def all_blocks(node: ast.AST, *, nested: bool) -> list[Block]:
    """The blocks of a function, with those of functions and classes in it if ``nested``."""
    found: list[Block] = []
    for name, value in ast.iter_fields(node):
        parts = value if isinstance(value, list) else []
        if name in {"body", "orelse", "finalbody"} and parts:
            found.append(parts)
        for part in parts:
            is_scope = isinstance(part, (FunctionNode, ast.ClassDef))
            if isinstance(part, ast.AST) and (nested or not is_scope):
                found += all_blocks(part, nested=nested)
    return found


def is_elif(block: Block, node: ast.AST) -> bool:
    """Whether ``block`` is what has no line of its own: the ``else`` of ``elif``."""
    return any(
        isinstance(inner, ast.If) and inner.orelse is block and isinstance(block[0], ast.If)
        for inner in ast.walk(node)
    )


def name_result(function: ast.AST, data: st.DataObject) -> None:
    """Turn some ``return value`` into ``result = value``, a check, ``return result``."""
    for block in all_blocks(function, nested=False):
        for at in reversed(range(len(block))):
            given = block[at]
            if isinstance(given, ast.Return) and data.draw(st.integers(0, 2)) == 0:
                named = parse("result = None\nassert 'result'\nreturn result").body
                assert isinstance(named[0], ast.Assign)
                named[0].value = given.value or ast.Constant(None)
                block[at : at + 1] = named


def add_checks(function: FunctionNode, data: st.DataObject, *, elifs: bool = True) -> str:
    """The function with checks at random places."""
    blocks = all_blocks(function, nested=False)
    blocks = [b for b in blocks if elifs or not is_elif(b, function)]
    name_result(function, data)
    for _ in range(data.draw(st.integers(1, MAX_ADDED))):
        block = data.draw(st.sampled_from(blocks))
        at = data.draw(st.integers(0, len(block)))
        around = [ast.unparse(statement) for statement in block[max(at - 1, 0) : at + 1]]
        assume(not any("result" in text for text in around))  # what became of a return
        block[at:at] = parse(data.draw(st.sampled_from(CHECKS))).body
    return ast.unparse(ast.fix_missing_locations(function))


@given(text=modules(), data=st.data())
def test_function_with_added_checks_is_admitted(text: str, data: st.DataObject) -> None:
    source, unit, function = function_of(text)
    rewritten = add_checks(function, data)

    assert isinstance(unit.node, FunctionNode)
    assert admit(unit.node, rewritten, source.module.node)


@given(text=modules(), data=st.data())
def test_what_is_written_into_any_text_behaves_as_before(text: str, data: st.DataObject) -> None:
    source, unit, function = function_of(text)
    rewritten = add_checks(function, data)

    try:
        patch = with_assertions(source, unit, ProposedCode(text=rewritten, why=""))
    except PatchError:  # not every check has a line of its own
        reject()
    behaves_as_before(text, patch.patched)


@given(text=modules().filter(is_writable), data=st.data())
def test_where_each_statement_has_its_line_every_check_finds_its_place(
    text: str, data: st.DataObject
) -> None:
    plain = ast.unparse(parse(text))
    source, unit, function = function_of(plain)
    rewritten = add_checks(function, data, elifs=False)

    patch = with_assertions(source, unit, ProposedCode(text=rewritten, why=""))

    assert len(patch.checks) == rewritten.count("assert") - plain_asserts(unit.node)
    behaves_as_before(plain, patch.patched)


def plain_asserts(node: ast.AST) -> int:
    return ast.unparse(node).count("assert")


def is_refused(text: str, rewritten: ast.AST) -> None:
    source, unit, _ = function_of(text)
    assert isinstance(unit.node, FunctionNode)
    changed = ast.unparse(ast.fix_missing_locations(rewritten))
    with pytest.raises(PatchError):
        admit(unit.node, changed, source.module.node)


@given(text=modules(), data=st.data())
def test_function_that_lacks_a_statement_is_refused(text: str, data: st.DataObject) -> None:
    _, _, function = function_of(text)
    blocks = all_blocks(function, nested=True)
    function.body.append(parse("assert 'ok'").body[0])
    block = data.draw(st.sampled_from(blocks))
    gone = block.pop(data.draw(st.integers(0, len(block) - 1 - (block is function.body))))
    assume(block or not isinstance(gone, ast.Pass))
    block[:] = block or [ast.Pass()]

    is_refused(text, function)


@given(text=modules(), data=st.data())
def test_function_with_another_name_or_constant_anywhere_is_refused(
    text: str, data: st.DataObject
) -> None:
    _, _, function = function_of(text)
    parts = [n for n in ast.walk(function) if isinstance(n, (ast.Name, ast.Constant, ast.arg))]
    part = data.draw(st.sampled_from(parts))
    function.body.append(parse("assert 'ok'").body[0])
    if isinstance(part, ast.Constant):
        part.value = f"{part.value}z" if isinstance(part.value, str) else 12345
    elif isinstance(part, ast.Name):
        part.id += "z"
    else:
        part.arg += "z"

    is_refused(text, function)


@given(text=modules(), data=st.data())
def test_function_with_another_statement_anywhere_is_refused(
    text: str, data: st.DataObject
) -> None:
    _, _, function = function_of(text)
    block = data.draw(st.sampled_from(all_blocks(function, nested=True)))
    at = data.draw(st.integers(0, len(block)))
    acts = ["x += 1", "x = 3", "return 3", "del x", "x.clear()", "import os", "g()"]
    block[at:at] = parse(data.draw(st.sampled_from(acts))).body
    function.body.append(parse("assert 'ok'").body[0])

    is_refused(text, function)
