"""A proposed change of one file, and how it is put in place in memory."""

from __future__ import annotations

import ast
import hashlib
from copy import deepcopy
from dataclasses import dataclass
from textwrap import dedent

from pytest_bayesloc.domain.fixing import Level
from pytest_bayesloc.domain.inspection import InspectionPatch
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.source import FunctionNode, SourceMap, Unit, lines_of

KIND = "fix"
CHANGE = "change"  # the stage of what takes a change back


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A change that has not been tried.

    Attributes:
        tools: Names of the tools that made it, in their order.
        stage: ``tool``, ``pair``, ``edit``, ``change`` or ``generated``.
        level: The lowest of its tools'.
        file: What it changes, relative to rootdir.
        before: Text of the file.
        after: Text of the file with the change.
        message: What was done, in a sentence.
        is_test: Whether the file is a test file.
        line: The line it is about; 0 if none is known.
        target: The function whose body alone it changes, where that is known.
    """

    tools: tuple[str, ...]
    stage: str
    level: Level
    file: str
    before: str
    after: str
    message: str
    is_test: bool = False
    line: int = 0
    target: Location | None = None

    def parts(self) -> tuple[str, str]:
        """What differs lies in these: the function before and after, else the whole file."""
        if self.target is None:
            return self.before, self.after
        old, new = lines_of(self.before), lines_of(self.after)
        start, end = self.target.start_line - 1, self.target.end_line
        cut = old[start:end], new[start : end + len(new) - len(old)]
        return dedent("".join(cut[0])), dedent("".join(cut[1]))

    @property
    def key(self) -> str:
        """A digest of the change and of the code that it is a change of."""
        said = repr((self.file, self.before, self.after))
        return hashlib.sha256(said.encode("utf-8", "backslashreplace")).hexdigest()[:32]

    @property
    def name(self) -> str:
        """Who made it."""
        return " + ".join(self.tools)

    def size(self) -> int:
        """Characters that differ, roughly: what the texts don't have in common at both ends."""
        a, b = self.before, self.after
        start = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), None)
        if start is None:
            return abs(len(a) - len(b))
        tails = zip(reversed(a[start:]), reversed(b[start:]), strict=False)
        end = next((i for i, (x, y) in enumerate(tails) if x != y), min(len(a), len(b)) - start)
        return max(len(a), len(b)) - start - end


def patch_of(candidate: Candidate) -> InspectionPatch:
    """The change as a patch: of the code of functions where that is all it changes."""
    if candidate.target is not None:
        changed = [candidate.target]
    else:
        source = SourceMap(candidate.before, candidate.file, is_test=candidate.is_test)
        changed = _innermost(source, candidate.after)
    target, *others = changed or [_place(candidate)]
    return InspectionPatch(
        target=target,
        kind=KIND,
        original=candidate.before,
        patched=candidate.after,
        line=candidate.line,
        words=candidate.message,
        others=tuple(others),
        fresh=not changed,
    )


def _place(candidate: Candidate) -> Location:
    """The file; of a hint, which changes nothing, the function that it is about."""
    source = SourceMap(candidate.before, candidate.file, is_test=candidate.is_test)
    is_hint = candidate.before == candidate.after
    return (source.owner(candidate.line) if is_hint else source.module).location


def changed_functions(source: SourceMap, after: str) -> list[Location]:
    """The outermost functions whose bodies are all that differs; nothing if more does."""
    return [unit.location for unit, _ in _changed(source, after)]


def _innermost(source: SourceMap, after: str) -> list[Location]:
    """The same, but of functions that differ in functions within them alone, those.

    What a decorator or a factory made at an import is reached by nothing else.
    """
    of = {id(unit.node): unit.location for unit in source.units}
    pending = [(old.node, now.node) for old, now in _changed(source, after)]
    found = []
    while pending:
        old, now = pending.pop(0)
        if _frame(old) != _frame(now):
            found.append(of[id(old)])
            continue
        pairs = zip(_functions_in(old), _functions_in(now), strict=True)
        pending += [(a, b) for a, b in pairs if ast.dump(a) != ast.dump(b)]
    return found


def _changed(source: SourceMap, after: str) -> list[tuple[Unit, Unit]]:
    new = SourceMap(after, source.file, is_test=source.is_test)
    if source.is_broken or new.is_broken:
        return []
    if _frame(source.module.node) != _frame(new.module.node):
        return []
    # The same frame holds the same functions in the same order.
    pairs = zip(_outermost(source), _outermost(new), strict=True)
    return [(old, now) for old, now in pairs if ast.dump(old.node) != ast.dump(now.node)]


def _outermost(source: SourceMap) -> list[Unit]:
    units = (unit for unit in source.units if unit.is_function)
    return [unit for unit in units if "<locals>" not in unit.location.qualname]


def _functions_in(node: ast.AST) -> list[ast.AST]:
    """The functions in a syntax tree that are in no other function of it."""
    found: list[ast.AST] = []
    pending = list(ast.iter_child_nodes(node))
    while pending:
        child = pending.pop(0)
        if isinstance(child, FunctionNode):
            found.append(child)
        else:
            pending = [*ast.iter_child_nodes(child), *pending]
    return found


def _frame(tree: ast.AST) -> str:
    """A syntax tree without the bodies of the functions in it."""
    copy = deepcopy(tree)
    for function in _functions_in(copy):
        function.body = []  # type: ignore[attr-defined]  # a function has one
    return ast.dump(copy)
