"""The ``generated`` patch: assertions that a guide wrote, put into the function as it stands."""

from __future__ import annotations

import ast
import copy
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.errors import PatchError
from pytest_bayesloc.domain.inspection import Check, InspectionPatch
from pytest_bayesloc.domain.source import FunctionNode, compiled, first_line, parse
from pytest_bayesloc.inspection.invariants import RESULT
from pytest_bayesloc.inspection.proposals.gate import Addition, admitted
from pytest_bayesloc.inspection.proposals.writing import LineWriter, heartbeat

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_bayesloc.domain.guiding import ProposedCode
    from pytest_bayesloc.domain.source import SourceMap, Unit

KIND = "generated"
MAX_TEXT = 200


def propose(source: SourceMap, unit: Unit, answer: ProposedCode) -> InspectionPatch:
    """A patch of the file of ``source`` with the assertions of ``answer`` in ``unit``.

    Raises:
        PatchError: If the answer does anything else, or can't be put in place.
    """
    if not isinstance(unit.node, FunctionNode):
        raise PatchError("it is for code that is no function", slug="llm-gate")
    additions = admitted(unit.node, answer.text, source.module.node)
    rewriter = _Rewriter()
    blocks = [rewriter.rewritten(addition) for addition in additions]
    patched = _Writer(source.text).write(unit, unit.node, list(zip(additions, blocks, strict=True)))
    _hold_together(patched, unit)
    return InspectionPatch(
        target=unit.location,
        kind=KIND,
        original=source.text,
        patched=patched,
        checks=tuple(rewriter.checks),
        words=answer.why,
    )


def _hold_together(patched: str, unit: Unit) -> None:
    try:
        compiled(parse(patched), unit.location.file)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise PatchError(f"it does not compile ({error})", slug="llm-gate") from error


class _Rewriter(ast.NodeTransformer):
    """Turns assertions into checks that say by their number that they failed."""

    def __init__(self) -> None:
        self.checks: list[Check] = []
        self._name = ""
        self._is_entry = False

    def rewritten(self, addition: Addition) -> list[str]:
        """The lines of an addition, not indented."""
        self._name, self._is_entry = addition.name, addition.is_entry
        made = [self.visit(copy.deepcopy(statement)) for statement in addition.statements]
        text = "\n".join(ast.unparse(ast.fix_missing_locations(node)) for node in made)
        return text.splitlines()

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

    def write(
        self, unit: Unit, node: FunctionNode, additions: Sequence[tuple[Addition, list[str]]]
    ) -> str:
        """The text with all of them, and with the heartbeat.

        Raises:
            PatchError: If one has no place of its own in the text.
        """
        at_entry: list[str] = []
        for addition, lines in sorted(additions, key=lambda item: _position(item[0]), reverse=True):
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
        elif addition.where == "before" and self.before(anchor).rstrip().endswith(":"):
            self.break_suite(anchor, lines, behind=False)
        if "".join(self.lines) == before:
            raise PatchError(
                "an assertion of it has no line of its own to stand on", slug="llm-gate"
            )


def _position(addition: Addition) -> tuple[int, int, int]:
    """Where it goes: later ones first, so that the lines above keep their numbers.

    Of two blocks that end on one line, the outer one's end comes first, and is pushed down by the
    inner one's. What a return gives back is named before anything is put above it.
    """
    anchor = addition.anchor
    if addition.where == "end":
        return (anchor.end_lineno or anchor.lineno, 0, -anchor.col_offset)
    return (first_line(anchor) - 1, 2 if addition.where == "return" else 1, 0)
