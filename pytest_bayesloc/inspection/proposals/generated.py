"""The ``generated`` patch: assertions that a guide wrote, put into the function as it stands."""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from dataclasses import replace

from pytest_bayesloc.domain.dialogue import ProposedCode
from pytest_bayesloc.domain.errors import PatchError
from pytest_bayesloc.domain.inspection import Check, InspectionPatch
from pytest_bayesloc.domain.source import (
    FunctionNode,
    SourceMap,
    Unit,
    compiled,
    first_line,
    lines_of,
    parse,
)
from pytest_bayesloc.inspection.proposals.gate import additions, admitted
from pytest_bayesloc.inspection.proposals.looking import Addition
from pytest_bayesloc.inspection.proposals.writing import LineWriter, heartbeat
from pytest_bayesloc.ranking.evidence.invariants import RESULT

KIND = "generated"
MAX_TEXT = 200


def propose(source: SourceMap, unit: Unit, answer: ProposedCode) -> InspectionPatch:
    """A patch of the file of ``source`` with the assertions of ``answer`` in ``unit``.

    Raises:
        PatchError: If the answer does anything else, or can't be put in place.
    """
    if not isinstance(unit.node, FunctionNode):
        raise PatchError("it is for code that is no function", slug="llm-gate")
    found = admitted(unit.node, answer.text, source.module.node)
    rewriter = _Rewriter()
    try:
        made = [rewriter.rewritten(addition) for addition in found]
        patched = _Writer(source.text).write(unit, unit.node, made)
        _hold_together(patched, source, unit, made)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise PatchError(f"it does not compile ({error})", slug="llm-gate") from error
    return InspectionPatch(
        target=unit.location,
        kind=KIND,
        original=source.text,
        patched=patched,
        checks=tuple(rewriter.checks),
        words=answer.why,
    )


def _hold_together(patched: str, source: SourceMap, unit: Unit, made: Sequence[Addition]) -> None:
    """See that ``patched`` is the text of ``source`` with what was ``made`` in its place.

    Raises:
        PatchError: If something was written where it does not belong.
        SyntaxError: If it does not compile; so do the errors of the parser.
    """
    compiled(parse(patched), unit.location.file)
    twin = SourceMap(patched, unit.location.file).units[source.units.index(unit)]
    assert isinstance(unit.node, FunctionNode)  # noqa: S101 - nothing else is asked for
    if (
        not isinstance(twin.node, FunctionNode)
        or _around(patched, twin) != _around(source.text, unit)
        or ast.get_docstring(twin.node) != ast.get_docstring(unit.node)
        or _written(additions(unit.node, twin.node)) != _written(made)
    ):
        raise PatchError("an assertion of it has no place of its own", slug="llm-gate")


def _around(text: str, unit: Unit) -> tuple[str, str]:
    """The text before and behind a function."""
    lines = lines_of(text)
    before, behind = lines[: unit.first_line - 1], lines[unit.location.end_line :]
    return "".join(before), "".join(behind).rstrip("\r\n")


def _written(found: Sequence[Addition]) -> list[tuple[int, str, list[str]]]:
    return [(id(a.anchor), a.where, [ast.dump(s) for s in a.statements]) for a in found]


class _Rewriter(ast.NodeTransformer):
    """Turns assertions into checks that say by their number that they failed."""

    def __init__(self) -> None:
        self.checks: list[Check] = []
        self._name = ""
        self._is_entry = False

    def rewritten(self, addition: Addition) -> Addition:
        """An addition as it is written."""
        self._name, self._is_entry = addition.name, addition.is_entry
        made = [self.visit(copy.deepcopy(statement)) for statement in addition.statements]
        return replace(addition, statements=tuple(map(ast.fix_missing_locations, made)))

    def visit_Assert(self, node: ast.Assert) -> ast.Assert:
        """``assert x`` to ``assert x, __bayesloc__.violated(number, "x")``."""
        said = " ".join(ast.unparse(node.test).split())[:MAX_TEXT]
        number = len(self.checks)
        check = Check(number=number, at_exit=not self._is_entry, text=said, support=0)
        self.checks.append(check)
        told = ast.parse(f"__bayesloc__.violated({number}, {said!r})", mode="eval").body
        return ast.Assert(test=self.visit(node.test), msg=told)

    def visit_Name(self, node: ast.Name) -> ast.Name:
        """The value that is returned has one name, ours."""
        return ast.Name(RESULT, node.ctx) if self._name and node.id == self._name else node


class _Writer(LineWriter):
    """Writes additions into the original text."""

    def write(self, unit: Unit, node: FunctionNode, made: Sequence[Addition]) -> str:
        """The text with all of them, and with the heartbeat.

        Raises:
            PatchError: If one has no place of its own in the text.
        """
        at_entry: list[str] = []
        for addition in sorted(made, key=_position, reverse=True):
            lines = [line for s in addition.statements for line in ast.unparse(s).splitlines()]
            if addition.is_entry:
                at_entry = lines
            else:
                self._put(addition, lines)
        self.enter(node, [heartbeat(unit), *at_entry])
        return "".join(self.lines)

    def _put(self, addition: Addition, lines: Sequence[str]) -> None:
        anchor, before = addition.anchor, "".join(self.lines)
        if addition.where == "return":
            assert isinstance(anchor, ast.Return)  # noqa: S101 - the gate names no other
            self.check_return(anchor, lines)
        elif addition.where == "end" and self.starts_line(anchor):
            indent, end = self.indent(first_line(anchor) - 1), anchor.end_lineno or anchor.lineno
            self.lines[end:end] = [f"{indent}{line}\n" for line in lines]
        elif addition.where == "before" and self.starts_line(anchor):
            at = first_line(anchor) - 1
            indent = self.indent(at)
            self.lines[at:at] = [f"{indent}{line}\n" for line in lines]
        elif addition.where == "before" and self.is_broken(anchor):
            self.put_into_broken(anchor, lines)
        elif addition.where == "before" and self.before(anchor).rstrip().endswith(":"):
            self.break_suite(anchor, lines, behind=False)
        if "".join(self.lines) == before:
            raise PatchError(
                "an assertion of it has no line of its own to stand on", slug="llm-gate"
            )


def _position(addition: Addition) -> tuple[int, int, int]:
    """Where it goes: later ones first, so that the lines above keep their numbers.

    Of two blocks that end on one line, the outer one's end comes first, and is pushed down by the
    inner one's. What a return gives back is named before anything is put above it. Of what
    starts on one line, the last is first.
    """
    anchor = addition.anchor
    if addition.where == "end":
        return (anchor.end_lineno or anchor.lineno, 0, -anchor.col_offset)
    kind = 2 if addition.where == "return" else 1
    return (first_line(anchor) - 1, kind, anchor.col_offset)
