"""Adding lines to a function, such that all others stay as they are.

The answer of a language model is never run itself: the assertions that the gate lets pass are
written into the function as it stands.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from dataclasses import replace

from pytest_bayesloc.domain.errors import PatchError
from pytest_bayesloc.domain.inspection import Check, InspectionPatch
from pytest_bayesloc.domain.ports import ProposedCode
from pytest_bayesloc.domain.source import (
    FunctionNode,
    SourceMap,
    Unit,
    compile_tree,
    ended_lines,
    first_line,
    lines_of,
    parse,
)
from pytest_bayesloc.inspection.gate import Addition, additions, admit
from pytest_bayesloc.ranking.evidence.invariants import RESULT
from pytest_bayesloc.syntax.text import indent_of

STEP = "    "
GENERATED = "generated"
MAX_TEXT = 200


class LineWriter:
    """Edits the text of a file by lines, from the last to the first, so that positions stay true.

    What methods are given are positions of its syntax tree.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = ended_lines(text)
        self._broken: dict[int, str] = {}

    def enter(self, node: FunctionNode, added: Sequence[str]) -> None:
        """Put lines before the first statement that is no docstring."""
        has_docstring = ast.get_docstring(node, clean=False) is not None
        first = node.body[1] if has_docstring and len(node.body) > 1 else node.body[0]
        if has_docstring and len(node.body) == 1:  # nothing but a docstring: add behind it
            line = first_line(first) - 1
            indent = self.indent(line)
            if not self.starts_line(first):
                head, rest = _cut(self.lines[line], first.col_offset)
                indent += STEP
                self.lines[line] = f"{head.rstrip()}\n{indent}{rest}"
            self._insert(first.end_lineno or first.lineno, indent, added)
        elif not self.put_before(first, added):
            self._break_suite(first, added, behind=False)

    def put_before(self, node: ast.stmt, added: Sequence[str]) -> bool:
        """Put lines before a statement; False if it stands behind another one on its line."""
        line = first_line(node) - 1
        if self.starts_line(node):
            self._insert(line, self.indent(line), added)
        elif node.lineno - 1 in self._broken:
            self._insert(node.lineno, self._broken[node.lineno - 1], added)
        elif self.before(node).rstrip().endswith(":"):
            self._break_suite(node, added, behind=False)
        else:
            return False
        return True

    def put_behind(self, node: ast.stmt, added: Sequence[str]) -> None:
        """Put lines behind a statement that is first on its line."""
        if self.starts_line(node):
            indent = self.indent(first_line(node) - 1)
            self._insert(node.end_lineno or node.lineno, indent, added)

    def check_return(self, statement: ast.Return, checks: Sequence[str]) -> None:
        """Keep what is returned as ``RESULT``, and put lines before it is."""
        last = (statement.end_lineno or statement.lineno) - 1
        if _cut(self.lines[last], statement.end_col_offset or 0)[1].lstrip().startswith(";"):
            return  # what stands behind it would come alive
        value = "None" if statement.value is None else f"({self._text_of(statement.value)})"
        followers = [*checks, f"return {RESULT}"]
        if self.starts_line(statement):
            indent = self.indent(statement.lineno - 1)
            self._replace(statement, f"{RESULT} = {value}")
            self._insert(statement.lineno, indent, followers)
        elif self.before(statement).rstrip().endswith(":"):
            self._replace(statement, f"{RESULT} = {value}")
            self._break_suite(statement, followers, behind=True)

    def _break_suite(self, first: ast.stmt, added: Sequence[str], *, behind: bool) -> None:
        """Turn ``if x: statement`` into two lines, with ``added`` before or behind it."""
        at = first.lineno - 1
        head = self.before(first)
        rest = self.lines[at][len(head) :]
        indent = self._broken[at] = self.indent(at) + STEP
        extra = [f"{indent}{text}\n" for text in added]
        own = [f"{indent}{rest}"]
        self.lines[at : at + 1] = [f"{head.rstrip()}\n", *(own + extra if behind else extra + own)]

    def _insert(self, index: int, indent: str, added: Sequence[str]) -> None:
        self.lines[index:index] = [f"{indent}{text}\n" for text in added]

    def _replace(self, node: ast.stmt, text: str) -> None:
        """Put ``text`` in the place of ``node``, on its first line; comments behind it stay."""
        start, end = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        behind = _cut(self.lines[end], node.end_col_offset or 0)[1]
        self.lines[start : end + 1] = [f"{self.before(node)}{text}{behind}"]

    def _text_of(self, node: ast.expr) -> str:
        """Return the text of an expression."""
        start, end = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        if start == end:
            line = self.lines[start].encode()
            return line[node.col_offset : node.end_col_offset].decode()
        first = _cut(self.lines[start], node.col_offset)[1]
        last = _cut(self.lines[end], node.end_col_offset or 0)[0]
        return "".join([first, *self.lines[start + 1 : end], last])

    def before(self, node: ast.stmt) -> str:
        """Return the text before it on its line."""
        return _cut(self.lines[node.lineno - 1], node.col_offset)[0]

    def starts_line(self, node: ast.stmt) -> bool:
        """Return whether it is first on its line, and no line above goes on with a backslash."""
        above = self.lines[node.lineno - 2] if node.lineno > 1 else ""
        return not self.before(node).strip() and not above.rstrip("\r\n").endswith("\\")

    def indent(self, index: int) -> str:
        """Return the space at the start of a line, by its index."""
        return indent_of(self.lines[index])


def _cut(line: str, column: int) -> tuple[str, str]:
    """Cut ``line`` at ``column``, which counts UTF-8 bytes as the syntax tree does."""
    data = line.encode()
    return data[:column].decode(), data[column:].decode()


def heartbeat(unit: Unit) -> str:
    """Return the statement that tells that ``unit`` runs."""
    return f"__bayesloc__.heartbeat({unit.location.fqn!r})"


# -- the patch


def with_assertions(source: SourceMap, unit: Unit, answer: ProposedCode) -> InspectionPatch:
    """Make a patch of the file of ``source`` with the assertions of ``answer`` in ``unit``.

    Raises:
        PatchError: If the answer does anything else, or can't be put in place.
    """
    if not isinstance(unit.node, FunctionNode):
        raise PatchError("it is for code that is no function", slug="llm-gate")
    found = admit(unit.node, answer.text, source.module.node)
    rewriter = _Rewriter()
    try:
        made = [rewriter.rewrite(addition) for addition in found]
        patched = _AdditionWriter(source.text).write(unit, unit.node, made)
        # It has to be the text of the file with what was made in its place, and nothing else.
        compile_tree(parse(patched), unit.location.file)
        twin = SourceMap(patched, unit.location.file).units[source.units.index(unit)]
        assert isinstance(unit.node, FunctionNode)  # noqa: S101 - nothing else is asked for
        if (
            not isinstance(twin.node, FunctionNode)
            or _outside(patched, twin) != _outside(source.text, unit)
            or ast.get_docstring(twin.node) != ast.get_docstring(unit.node)
            or _written(additions(unit.node, twin.node)) != _written(made)
        ):
            raise PatchError("an assertion of it has no place of its own", slug="llm-gate")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise PatchError(f"it does not compile ({error})", slug="llm-gate") from error
    return InspectionPatch(
        target=unit.location,
        kind=GENERATED,
        original=source.text,
        patched=patched,
        checks=tuple(rewriter.checks),
        words=answer.why,
    )


def _outside(text: str, unit: Unit) -> tuple[str, str]:
    """Return the text before and behind a function."""
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

    def rewrite(self, addition: Addition) -> Addition:
        """Rewrite an addition to what is put into the text."""
        self._name, self._is_entry = addition.name, addition.is_entry
        made = [self.visit(copy.deepcopy(statement)) for statement in addition.statements]
        return replace(addition, statements=tuple(map(ast.fix_missing_locations, made)))

    def visit_Assert(self, node: ast.Assert) -> ast.Assert:
        """Turn ``assert x`` into ``assert x, __bayesloc__.violated(number, "x")``."""
        said = " ".join(ast.unparse(node.test).split())[:MAX_TEXT]
        number = len(self.checks)
        check = Check(number=number, at_exit=not self._is_entry, text=said, support=0)
        self.checks.append(check)
        told = ast.parse(f"__bayesloc__.violated({number}, {said!r})", mode="eval").body
        return ast.Assert(test=self.visit(node.test), msg=told)

    def visit_Name(self, node: ast.Name) -> ast.Name:
        """Give the returned value our own name for it."""
        return ast.Name(RESULT, node.ctx) if self._name and node.id == self._name else node


class _AdditionWriter(LineWriter):
    """Writes additions into the original text."""

    def write(self, unit: Unit, node: FunctionNode, made: Sequence[Addition]) -> str:
        """Return the text with all of them, and with the heartbeat."""
        at_entry: list[str] = []
        for addition in sorted(made, key=_position, reverse=True):
            lines = [line for s in addition.statements for line in ast.unparse(s).splitlines()]
            if addition.is_entry:
                at_entry = lines
            else:
                anchor, before = addition.anchor, "".join(self.lines)
                if addition.where == "return":
                    assert isinstance(anchor, ast.Return)  # noqa: S101 - the gate names no other
                    self.check_return(anchor, lines)
                elif addition.where == "end":
                    self.put_behind(anchor, lines)
                else:
                    self.put_before(anchor, lines)
                if "".join(self.lines) == before:
                    raise PatchError(
                        "an assertion of it has no line of its own to stand on", slug="llm-gate"
                    )
        self.enter(node, [heartbeat(unit), *at_entry])
        return "".join(self.lines)


def _position(addition: Addition) -> tuple[int, int, int]:
    """Order additions by their place: later ones first, so that the lines above keep their numbers.

    Of two blocks that end on one line, the outer one's end comes first, and is pushed down by the
    inner one's. What a return returns is named before anything is put above it. Of what
    starts on one line, the last is first.
    """
    anchor = addition.anchor
    if addition.where == "end":
        return (anchor.end_lineno or anchor.lineno, 0, -anchor.col_offset)
    kind = 2 if addition.where == "return" else 1
    return (first_line(anchor) - 1, kind, anchor.col_offset)
