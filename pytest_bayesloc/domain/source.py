"""The functions of a file, and the code that its lines belong to."""

from __future__ import annotations

import ast
import io
import warnings
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from pytest_bayesloc.domain.location import MODULE, Location

if TYPE_CHECKING:
    from types import CodeType

    from pytest_bayesloc.domain.failure import Frame


FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
ScopeNode = FunctionNode | ast.ClassDef
#: Texts with values filled in, and such values: of f-strings, and t-strings from 3.14 on.
FORMATTED = (ast.JoinedStr, getattr(ast, "TemplateStr", ast.JoinedStr))
FILLED = (ast.FormattedValue, getattr(ast, "Interpolation", ast.FormattedValue))


def lines_of(text: str) -> list[str]:
    """Split ``text`` into lines with their ends, as Python does: a form feed ends none."""
    return io.StringIO(text, newline="").readlines()


def ended_lines(text: str) -> list[str]:
    """Split ``text`` into lines likewise, the last one with an end, too."""
    lines = lines_of(text)
    if lines and not lines[-1].endswith(("\n", "\r")):
        lines[-1] += "\n"
    return lines


def parse(text: str, filename: str = "<unknown>") -> ast.Module:
    """Parse ``text`` without warnings, which were shown when the program ran.

    Raises:
        SyntaxError: If it does not parse.
        ValueError: If it holds null bytes.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text, filename)


def compile_tree(tree: ast.Module, filename: str) -> CodeType:
    """Compile ``tree``, without warnings as well; the errors are those of ``parse``."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return compile(tree, filename, "exec", dont_inherit=True)


def renumber(tree: ast.Module, lines: Sequence[int]) -> None:
    """Have each node of ``tree`` stand at other lines: ``lines`` has them by those of now."""
    last = len(lines) - 1
    node: Any
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            start, end = node.lineno, node.end_lineno or node.lineno
            node.lineno, node.end_lineno = lines[min(start, last)], lines[min(end, last)]
            if node.end_lineno == node.lineno:  # columns of one line must not descend
                node.end_col_offset = max(node.end_col_offset or 0, node.col_offset)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A location with what is needed to find its code again.

    Attributes:
        first_line: ``co_firstlineno``: the first decorator's line, if any.
        body_line: Line of the first statement of its body.
        node: Its syntax node; of a module body, the module's.
        outer: The unit directly around it; the module has none.
    """

    location: Location
    first_line: int
    body_line: int
    node: ast.AST = field(repr=False, compare=False)
    outer: Unit | None = field(default=None, repr=False, compare=False)

    @property
    def is_function(self) -> bool:
        """Whether it is a function or a method, not a class or module body."""
        return isinstance(self.node, FunctionNode)

    @property
    def enclosing(self) -> list[Unit]:
        """The functions and classes around it, outermost first, itself last."""
        return [] if self.outer is None else [*self.outer.enclosing, self]


@lru_cache(maxsize=16)  # each candidate asks for the same file
def tree_of(code: str) -> ast.Module | None:
    """The syntax tree of a file, or None if it does not parse; nobody changes it."""
    try:
        return parse(code)
    except (SyntaxError, ValueError, RecursionError):
        return None


def first_line(statement: ast.stmt) -> int:
    """The first line of ``statement``, that of its first decorator if it has any."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])


class SourceMap:
    """The locations of one file.

    A file that does not parse (``is_broken``) has one location, its module body.

    Args:
        text: The file's text.
        file: Its path relative to rootdir.
        is_test: Whether its locations are test code.
    """

    def __init__(self, text: str, file: str, *, is_test: bool = False) -> None:
        self.text = text
        self.file = file
        self.is_test = is_test
        self.is_broken = False
        try:
            tree = parse(text)
        except (SyntaxError, ValueError, RecursionError):
            tree, self.is_broken = ast.Module(body=[], type_ignores=[]), True
        self.module = Unit(
            location=self._location(MODULE, 1, max(1, len(lines_of(text)))),
            first_line=1,
            body_line=1,
            node=tree,
        )
        self.units: list[Unit] = [self.module]
        self._visit(tree)
        self._by_code = {(u.first_line, u.location.qualname): u for u in self.units}
        self._owners = self._line_owners()

    def _location(self, qualname: str, start: int, end: int) -> Location:
        return Location(
            file=self.file, start_line=start, end_line=end, qualname=qualname, is_test=self.is_test
        )

    def _visit(self, tree: ast.Module) -> None:
        """Find the scopes, outer ones first; a long chain of ``elif`` is too deep for recursion."""
        pending: list[tuple[ast.AST, str, Unit]] = [(tree, "", self.module)]
        while pending:
            node, prefix, outer = pending.pop()
            if isinstance(node, ScopeNode):
                qualname = prefix + node.name
                end = node.end_lineno or node.lineno
                outer = Unit(
                    location=self._location(qualname, node.lineno, end),
                    first_line=first_line(node),
                    body_line=first_line(node.body[0]),
                    node=node,
                    outer=outer,
                )
                self.units.append(outer)
                prefix = qualname + ("." if isinstance(node, ast.ClassDef) else ".<locals>.")
            # No expression holds a scope that has a name.
            inside = [n for n in ast.iter_child_nodes(node) if not isinstance(n, ast.expr)]
            pending += [(child, prefix, outer) for child in reversed(inside)]

    def _line_owners(self) -> tuple[list[int], list[Unit]]:
        """Starts of runs of lines, ascending, and the innermost unit that owns each run.

        A header (``def`` line, defaults, decorators) belongs to the enclosing scope, which
        executes it; a body that shares the line with ``def`` belongs to the function.
        """
        events: list[tuple[int, int, Unit]] = []
        for unit in self.units[1:]:
            events.append((unit.body_line, 1, unit))
            events.append((unit.location.end_line + 1, 0, unit))
        events.sort(key=lambda e: e[:2])  # outer ones come first already
        starts, owners, stack = [1], [self.module], [self.module]
        for line, opens, unit in events:
            if opens:
                stack.append(unit)
            elif unit in stack:
                stack.remove(unit)
            starts.append(line)
            owners.append(stack[-1])
        return starts, owners

    def owner(self, line: int) -> Unit:
        """The innermost unit whose body holds ``line``."""
        starts, owners = self._owners
        return owners[max(0, bisect_right(starts, line) - 1)]

    def unit_of_code(self, first_line: int, name: str) -> Unit:
        """The unit of a code object, given its first line and (qualified) name.

        Code that the compiler made (lambdas, comprehensions) belongs to the unit around it.
        """
        if name == MODULE:
            return self.module
        exact = self._by_code.get((first_line, name))
        if exact is not None:
            return exact
        named = (u for u in self.units if u.location.qualname.rpartition(".")[2] == name)
        same = (u for u in named if u.first_line == first_line)
        return next(same, None) or self.owner(first_line)

    def text_of(self, location: Location) -> str:
        """The lines of ``location``."""
        return "".join(self._lines[location.start_line - 1 : location.end_line])

    def own_text(self, location: Location) -> str:
        """The lines of ``location``, without the functions and classes of a class or a module."""
        unit = self.unit(location)
        if unit is None or unit.is_function:
            return self.text_of(location)
        inside = {
            line
            for inner in self._inner.get(location, ())
            for line in range(inner.first_line, inner.location.end_line + 1)
        }
        lines = self._lines[location.start_line - 1 : location.end_line]
        numbered = enumerate(lines, location.start_line)
        return "".join(line for n, line in numbered if n not in inside)

    @cached_property
    def _lines(self) -> list[str]:
        return lines_of(self.text)

    @cached_property
    def _by_location(self) -> dict[Location, Unit]:
        return {unit.location: unit for unit in reversed(self.units)}

    @cached_property
    def _inner(self) -> dict[Location, list[Unit]]:
        """Per unit, those directly inside it."""
        inner: dict[Location, list[Unit]] = {}
        for unit in self.units:
            if unit.outer is not None:
                inner.setdefault(unit.outer.location, []).append(unit)
        return inner

    def unit(self, location: Location) -> Unit | None:
        """The unit of ``location``, or None if the file no longer has it."""
        return self._by_location.get(location)


@lru_cache(maxsize=16)  # each candidate asks for the same file
def map_of(text: str, file: str, *, is_test: bool = False) -> SourceMap:
    """The locations of a file, like ``SourceMap``; nobody changes its nodes."""
    return SourceMap(text, file, is_test=is_test)


#: Finds the locations of a file, by its path relative to rootdir; None of one that can't be read.
ReadMap: TypeAlias = Callable[[str], SourceMap | None]


def unit_of_frame(frame: Frame, read: ReadMap) -> Unit | None:
    """Return the unit that a frame was executing; None if its file can't be read."""
    source = read(frame.file)
    return None if source is None else source.unit_of_code(frame.first_line, frame.name)
