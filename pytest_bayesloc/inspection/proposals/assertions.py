"""The ``assertions`` patch: a heartbeat, and what held in passing calls as real assertions."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.errors import PatchError
from pytest_bayesloc.domain.inspection import Check, InspectionPatch
from pytest_bayesloc.domain.source import compiled, first_line, lines_of, parse
from pytest_bayesloc.inspection.invariants import RESULT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_bayesloc.domain.source import SourceMap, Unit
    from pytest_bayesloc.inspection.invariants import Invariant

KIND = "assertions"
MAX_CHECKS = 16
STEP = "    "
ENTRY = "_bayesloc_in_"
# What conditions call.
BUILTINS = frozenset({"all", "len", "repr", "type", "zip"})
SEE_LOCALS = frozenset({"dir", "eval", "exec", "locals", "vars"})


def propose(source: SourceMap, unit: Unit, invariants: Sequence[Invariant]) -> InspectionPatch:
    """A patch of the file of ``source`` that checks ``invariants`` in ``unit``.

    Raises:
        PatchError: If the patched text does not compile.
    """
    usable = [i for i in invariants if not _sees_locals(unit.node) or not _saved(i)]
    if not any(isinstance(exit_, ast.Raise) for exit_ in _own_exits(unit.node)):
        usable = [i for i in usable if not i.at_raise]
    chosen = sorted(usable, key=lambda i: (not i.at_exit, -i.support))[:MAX_CHECKS]
    checks = tuple(
        Check(number=n, at_exit=i.at_exit, text=i.words, support=i.support)
        for n, i in enumerate(chosen)
    )
    patched = _Writer(source.text).write(unit, chosen, checks)
    try:
        compiled(parse(patched), unit.location.file)
    except (SyntaxError, ValueError) as error:
        raise PatchError(
            f"Inspection patch for {unit.location} does not compile ({error}): skipped.",
            slug="bad-patch",
        ) from error
    return InspectionPatch(
        target=unit.location,
        kind=KIND,
        original=source.text,
        patched=patched,
        checks=checks,
    )


class _Writer:
    """Edits text by lines, from the last to the first, so that positions stay true."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = lines_of(text)
        self._broken: dict[int, str] = {}
        if self._lines and not self._lines[-1].endswith(("\n", "\r")):
            self._lines[-1] += "\n"

    def write(self, unit: Unit, invariants: Sequence[Invariant], checks: Sequence[Check]) -> str:
        if not isinstance(unit.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            self._insert_module_heartbeat(unit)
            return "".join(self._lines)
        pairs = list(zip(invariants, checks, strict=True))
        hidden = _hidden_builtins(self._text)
        at_entry = [_assertion(i, c, hidden) for i, c in pairs if not i.at_exit]
        at_raise = [_assertion(i, c, hidden) for i, c in pairs if i.at_raise]
        at_exit = [_assertion(i, c, hidden) for i, c in pairs if i.at_exit and not i.at_raise]
        if not _suspends(unit.node):
            self._check_exits(unit.node, at_exit, at_raise)
        saved = sorted({name for invariant, _ in pairs for name in _saved(invariant)})
        keep = [f"{ENTRY}{name} = {name}" for name in saved]
        self._enter(unit.node, [_heartbeat(unit), *keep, *at_entry])
        return "".join(self._lines)

    def _insert_module_heartbeat(self, unit: Unit) -> None:
        body = getattr(unit.node, "body", [])
        first = next((s for s in body if not _keeps_first_place(s)), None)
        if first is None or not self._starts_line(first):
            return
        line = first_line(first) - 1
        self._lines.insert(line, f"{self._indent(line)}{_heartbeat(unit)}\n")

    def _enter(self, node: ast.FunctionDef | ast.AsyncFunctionDef, added: Sequence[str]) -> None:
        has_docstring = ast.get_docstring(node, clean=False) is not None
        first = node.body[1] if has_docstring and len(node.body) > 1 else node.body[0]
        line = first_line(first) - 1
        if has_docstring and len(node.body) == 1:  # nothing but a docstring: add behind it
            end = first.end_lineno or first.lineno
            indent = self._indent(line)
            if not self._starts_line(first):
                head, rest = _cut(self._lines[line], first.col_offset)
                indent += STEP
                self._lines[line] = f"{head.rstrip()}\n{indent}{rest}"
            self._lines[end:end] = [f"{indent}{text}\n" for text in added]
        elif line in self._broken and not self._starts_line(first):
            indent = self._broken[line]
            self._lines[line + 1 : line + 1] = [f"{indent}{text}\n" for text in added]
        elif self._starts_line(first):
            indent = self._indent(line)
            self._lines[line:line] = [f"{indent}{text}\n" for text in added]
        else:
            self._break_suite(first, added, behind=False)

    def _check_exits(
        self,
        node: ast.FunctionDef | ast.AsyncFunctionDef,
        checks: Sequence[str],
        at_raise: Sequence[str],
    ) -> None:
        last = node.body[-1]
        falls_off = not isinstance(last, (ast.Return, ast.Raise))
        if checks and falls_off and self._starts_line(last):
            indent = self._indent(first_line(last) - 1)
            end = last.end_lineno or last.lineno
            fall_off = [f"{RESULT} = None", *checks]
            self._lines[end:end] = [f"{indent}{text}\n" for text in fall_off]
        exits = sorted(_own_exits(node), key=lambda e: e.lineno, reverse=True)
        for statement in exits:
            if isinstance(statement, ast.Raise):
                self._check_raise(statement, at_raise)
            elif checks:
                self._check_return(statement, checks)

    def _check_raise(self, statement: ast.Raise, checks: Sequence[str]) -> None:
        line = statement.lineno - 1
        if checks and self._starts_line(statement):
            indent = self._indent(line)
            self._lines[line:line] = [f"{indent}{text}\n" for text in checks]
        elif checks and self._before(statement).rstrip().endswith(":"):
            self._break_suite(statement, checks, behind=False)

    def _check_return(self, statement: ast.Return, checks: Sequence[str]) -> None:
        last = (statement.end_lineno or statement.lineno) - 1
        if _cut(self._lines[last], statement.end_col_offset or 0)[1].lstrip().startswith(";"):
            return  # what stands behind it would come alive
        value = "None" if statement.value is None else f"({self._text_of(statement.value)})"
        followers = [*checks, f"return {RESULT}"]
        if self._starts_line(statement):
            indent = self._indent(statement.lineno - 1)
            self._replace(statement, f"{RESULT} = {value}")
            self._lines[statement.lineno : statement.lineno] = [f"{indent}{t}\n" for t in followers]
        elif self._before(statement).rstrip().endswith(":"):
            self._replace(statement, f"{RESULT} = {value}")
            self._break_suite(statement, followers, behind=True)

    def _break_suite(self, first: ast.stmt, added: Sequence[str], *, behind: bool) -> None:
        """Turn ``if x: statement`` into two lines, with ``added`` before or behind it."""
        at = first.lineno - 1
        head = self._before(first)
        rest = self._lines[at][len(head) :]
        indent = self._broken[at] = self._indent(at) + STEP
        extra = [f"{indent}{text}\n" for text in added]
        own = [f"{indent}{rest}"]
        self._lines[at : at + 1] = [f"{head.rstrip()}\n", *(own + extra if behind else extra + own)]

    def _replace(self, node: ast.stmt, text: str) -> None:
        """Put ``text`` in the place of ``node``, on its first line; comments behind it stay."""
        start, end = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        behind = _cut(self._lines[end], node.end_col_offset or 0)[1]
        self._lines[start : end + 1] = [f"{self._before(node)}{text}{behind}"]

    def _text_of(self, node: ast.expr) -> str:
        start, end = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        if start == end:
            line = self._lines[start].encode()
            return line[node.col_offset : node.end_col_offset].decode()
        first = _cut(self._lines[start], node.col_offset)[1]
        last = _cut(self._lines[end], node.end_col_offset or 0)[0]
        return "".join([first, *self._lines[start + 1 : end], last])

    def _before(self, node: ast.stmt) -> str:
        return _cut(self._lines[node.lineno - 1], node.col_offset)[0]

    def _starts_line(self, node: ast.stmt) -> bool:
        """Whether nothing stands before it, not even on a line that goes on with a backslash."""
        above = self._lines[node.lineno - 2] if node.lineno > 1 else ""
        return not self._before(node).strip() and not above.rstrip("\r\n").endswith("\\")

    def _indent(self, index: int) -> str:
        line = self._lines[index]
        return line[: len(line) - len(line.lstrip(" \t\f"))]


def _cut(line: str, column: int) -> tuple[str, str]:
    """``line`` before and from ``column``, which counts UTF-8 bytes as the syntax tree does."""
    data = line.encode()
    return data[:column].decode(), data[column:].decode()


def _heartbeat(unit: Unit) -> str:
    return f"__bayesloc__.heartbeat({unit.location.fqn!r})"


def _assertion(invariant: Invariant, check: Check, hidden: frozenset[str]) -> str:
    note = f"{check.text}: held in all {check.support} passing calls"
    condition = _unhidden(invariant.condition, hidden)
    return f"assert {condition}, __bayesloc__.violated({check.number}, {note!r})"


def _saved(invariant: Invariant) -> set[str]:
    """The parameters whose value at entry ``invariant`` needs."""
    tree = ast.parse(invariant.condition, mode="eval")
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return {n.removeprefix(ENTRY) for n in names if n.startswith(ENTRY)}


def _sees_locals(function: ast.AST) -> bool:
    """Whether it may look at its local variables as a whole, so that it must get no new ones."""
    return any(isinstance(n, ast.Name) and n.id in SEE_LOCALS for n in ast.walk(function))


def _hidden_builtins(text: str) -> frozenset[str]:
    """Names of ``BUILTINS`` that mean something else somewhere in a file."""
    found: set[str] = set()
    for node in ast.walk(parse(text)):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.alias):
            found |= BUILTINS if node.name == "*" else {node.asname or node.name}
    return BUILTINS & found


def _unhidden(condition: str, hidden: frozenset[str]) -> str:
    """``condition`` with the built-ins that a file hides taken from where they can't be."""
    names = (n for n in ast.walk(ast.parse(condition, mode="eval")) if isinstance(n, ast.Name))
    data = condition.encode()
    for column in sorted((n.col_offset for n in names if n.id in hidden), reverse=True):
        data = data[:column] + b"__bayesloc__.builtins." + data[column:]
    return data.decode()


def _keeps_first_place(statement: ast.stmt) -> bool:
    """Docstrings and ``__future__`` imports must stay first."""
    if isinstance(statement, ast.ImportFrom):
        return statement.module == "__future__"
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def _own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, _SCOPES):
            yield from _own_nodes(child)


def _own_exits(node: ast.AST) -> list[ast.Return | ast.Raise]:
    return [child for child in _own_nodes(node) if isinstance(child, (ast.Return, ast.Raise))]


def _suspends(node: ast.AST) -> bool:
    return any(isinstance(child, (ast.Yield, ast.YieldFrom)) for child in _own_nodes(node))
