"""An import that closes a circle, deferred to where its names are used."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from pytest_bayesloc.domain.fixing import Level
from pytest_bayesloc.domain.source import FunctionNode, ScopeNode, first_line, lines_of
from pytest_bayesloc.fixes.imports import Use, is_of, module_of, uses_of, with_import
from pytest_bayesloc.fixes.library import on_syntax, package_tool
from pytest_bayesloc.fixes.project import Project, Proposal, Task
from pytest_bayesloc.fixes.syntax import (
    Text,
    TextEdit,
    bound_in,
    bound_name,
    holds,
    import_of,
    indent_of,
    is_docstring,
)

_Import = ast.Import | ast.ImportFrom

_CIRCLE = re.compile(
    r"cannot import name '(?P<name>\w+)' from partially initialized module '(?P<module>[\w.]+)'"
    r"|partially initialized module '(?P<of>[\w.]+)'.* has no attribute '(?P<attribute>\w+)'"
    # So Python 3.13 speaks of a module of the project that is only partially initialized.
    r"|module '(?P<half>[\w.]+)' has no attribute '(?P<late>\w+)' \(consider renaming"
    r"|cannot access submodule '(?P<inner>\w+)' of module '(?P<outer>[\w.]+)' \(most likely due"
)
_FUTURE = "from __future__ import annotations"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Move:
    """An import at the top of a file, and those of its names that go elsewhere."""

    code: str
    places: Text
    tree: ast.Module
    statement: _Import
    uses: dict[ast.alias, list[Use]]

    @property
    def is_noted(self) -> bool:
        """Whether some of the names are used in annotations too."""
        return any(use.is_annotation for uses in self.uses.values() for use in uses)

    @property
    def is_whole(self) -> bool:
        return len(self.uses) == len(self.statement.names)


@package_tool(
    "Two modules import each other while one is only partially initialized. Defers the import"
    " to where the name is used.",
    error_pattern=r"^(ImportError|AttributeError): .*(partially initialized module"
    r"|most likely due to a circular import|has no attribute .* \(consider renaming)",
    level=Level.SAFE,
    auto_apply=True,
)
@on_syntax
def circular_import(
    task: Task, tree: ast.Module, _text: Text, project: Project
) -> Iterator[Proposal]:
    """The file with the import in the functions that need it, or for the type checker alone."""
    own = module_of(task.filename)
    found = _CIRCLE.search(task.message)
    if found is None and task.error:
        return
    own_imports = list(_of_itself(task, tree, own, is_only=found is None))
    if own_imports or found is None:
        yield from own_imports
        return
    statement, wanted = _closing(tree, task.line, found, own)
    if isinstance(statement, ast.ImportFrom) and is_of(statement, own):
        yield from _without_own(task.code, tree, statement)
        return
    move = None if statement is None else _move(task.code, tree, statement, wanted)
    if move is None or any(_is_asked(alias, own, project) for alias in move.uses):
        return
    said = import_of(move.statement, list(move.uses))
    if code := _deferred(move):
        yield Proposal(code=code, message=f"`{said}` closes a circle; it is deferred")
    if code := _dotted(move):
        words = f"`{said}` closes a circle; the names are looked up in the module when needed"
        yield Proposal(code=code, message=words)


def _of_itself(task: Task, tree: ast.Module, own: str, *, is_only: bool) -> Iterator[Proposal]:
    """The file without its imports of itself; those of names where nothing else is known."""
    for top in tree.body:
        if isinstance(top, ast.Import) and [alias.name for alias in top.names] == [own]:
            yield from _without_self(task.code, tree, top)
        elif is_only and isinstance(top, ast.ImportFrom) and own and is_of(top, own):
            yield from _without_own(task.code, tree, top)


def _without_own(code: str, tree: ast.Module, statement: ast.ImportFrom) -> Iterator[Proposal]:
    """The file without what it imports from itself, if it defines all of that."""
    defined = {s.name for s in tree.body if isinstance(s, ScopeNode)}
    if all(alias.name in defined and alias.asname is None for alias in statement.names):
        uses: dict[ast.alias, list[Use]] = {alias: [] for alias in statement.names}
        move = _Move(code=code, places=Text(code), tree=tree, statement=statement, uses=uses)
        words = f"`{ast.unparse(statement)}` imports the module from itself; it goes"
        yield Proposal(code=move.places.edited(*_removed(move)), message=words)


def _without_self(code: str, tree: ast.Module, statement: ast.Import) -> Iterator[Proposal]:
    """The file without the import of itself: its own names, used below their definitions."""
    places, name = Text(code), bound_name(statement.names[0])
    module = statement.names[0].asname or statement.names[0].name
    chains = [
        n for n in ast.walk(tree) if isinstance(n, ast.Attribute) and ast.unparse(n.value) == module
    ]
    ends = {s.name: s.end_lineno or s.lineno for s in tree.body if isinstance(s, ScopeNode)}
    if not name or not chains or not {chain.attr for chain in chains} <= set(ends):
        return
    edits = [places.cut(places.at(statement.lineno), places.at(statement.lineno + 1))]
    for top in tree.body:
        inner = [chain for chain in chains if chain in set(ast.walk(top))]
        below = max((ends[chain.attr] for chain in inner), default=0)
        if isinstance(top, ScopeNode) or below < top.lineno:
            edits += [places.replace(chain, chain.attr) for chain in inner]
            continue
        start, end = places.at(top.lineno), places.at((top.end_lineno or top.lineno) + 1)
        said = places.between(start, end).replace(f"{module}.", "")
        edits += [places.cut(start, end), places.insert(places.at(below + 1), f"\n\n{said}")]
    words = f"`{ast.unparse(statement)}` imports the module from itself; it goes"
    yield Proposal(code=places.edited(*edits).lstrip("\n"), message=words)


def _closing(
    tree: ast.Module, line: int, found: re.Match[str], own: str
) -> tuple[_Import | None, str]:
    """The import at the top that closes the circle, and the one name that failed, if any."""
    name = found["name"] or ""
    module = found["module"] or found["of"] or found["half"] or found["outer"]
    imports = [s for s in tree.body if isinstance(s, (ast.Import, ast.ImportFrom))]
    froms = [s for s in imports if isinstance(s, ast.ImportFrom) and is_of(s, module)]
    failing = [s for s in froms if name in {alias.name for alias in s.names}]
    at_line = [s for s in imports if holds(s, line)]
    here = [s for s in failing if s in at_line] or failing[:1]
    if here:
        return here[0], name
    is_half = own == module or own.endswith(f".{module}")
    return (at_line[0], "") if at_line and is_half else (None, "")


def _move(code: str, tree: ast.Module, statement: _Import, wanted: str) -> _Move | None:
    """The names that can be deferred; None if the one that failed can't, or the line is shared."""
    shares = [s for s in tree.body if s is not statement and _touches(s, statement)]
    bound = list(bound_in(tree))
    uses: dict[ast.alias, list[Use]] = {}
    for alias in statement.names:
        name = bound_name(alias)
        of_it = uses_of(tree, name)
        is_late = all(use.function is not None or use.is_annotation for use in of_it)
        if of_it and is_late and bound.count(name) == 1 and not _is_exported(tree, name):
            uses[alias] = of_it
    names = {alias.name for alias in uses}
    is_enough = wanted in names if wanted else len(uses) == len(statement.names)
    if shares or not is_enough:
        return None
    if len(uses) < len(statement.names) and wanted:
        uses = {alias: found for alias, found in uses.items() if alias.name == wanted}
    return _Move(code=code, places=Text(code), tree=tree, statement=statement, uses=uses)


def _touches(one: ast.stmt, other: ast.stmt) -> bool:
    first, last = one.lineno, one.end_lineno or one.lineno
    return first <= (other.end_lineno or other.lineno) and other.lineno <= last


def _is_exported(tree: ast.Module, name: str) -> bool:
    """Whether ``__all__`` lists it."""
    lists = [s for s in tree.body if isinstance(s, (ast.Assign, ast.AugAssign, ast.AnnAssign))]
    texts = [n for s in lists if "__all__" in ast.unparse(s) for n in ast.walk(s)]
    return any(isinstance(n, ast.Constant) and n.value == name for n in texts)


def _is_asked(alias: ast.alias, own: str, project: Project) -> bool:
    """Whether some other file imports the name from this one."""
    said = project.imports_of(bound_name(alias))
    return any(s.split()[:2] == ["from", own] for s in said)


def _deferred(move: _Move) -> str | None:
    """The import in each function that uses a name, and for the type checker if need be."""
    edits = [*_removed(move), *_local(move)]
    if not move.is_noted:
        return move.places.edited(*edits)
    noted = [a for a, uses in move.uses.items() if any(use.is_annotation for use in uses)]
    said = import_of(move.statement, noted)
    code: str | None = move.places.edited(*edits, _for_checker(move, said))
    for more in ("from typing import TYPE_CHECKING", _FUTURE):
        if code is not None and not _has(move.tree, more):
            code = with_import(code, more)
    return code


def _has(tree: ast.Module, said: str) -> bool:
    """Whether the file says so; a block for types alone says it too."""
    names = {a.name for s in tree.body if isinstance(s, ast.ImportFrom) for a in s.names}
    name = said.rpartition(" ")[2]
    return name in names or (name == "TYPE_CHECKING" and _block(tree) is not None)


def _block(tree: ast.Module) -> ast.If | None:
    found = [s for s in tree.body if isinstance(s, ast.If) and not s.orelse]
    tests = ("TYPE_CHECKING", "typing.TYPE_CHECKING")
    return next((s for s in found if ast.unparse(s.test) in tests), None)


def _for_checker(move: _Move, said: str) -> TextEdit:
    """The import in the block for the type checker, or in a new one below the first imports."""
    block = _block(move.tree)
    if block is not None:
        last = block.body[-1]
        indent = indent_of(lines_of(move.code)[last.lineno - 1]) or "    "
        return move.places.insert(move.places.at((last.end_lineno or 0) + 1), f"{indent}{said}\n")
    line = 0
    for number, statement in enumerate(move.tree.body):
        is_text = number == 0 and isinstance(statement, ast.Expr)
        if not is_text and not isinstance(statement, (ast.Import, ast.ImportFrom)):
            break
        line = statement.end_lineno or statement.lineno
    new = f"\nif TYPE_CHECKING:\n    {said}\n"
    return move.places.insert(move.places.at(line + 1), new)


def _local(move: _Move) -> Iterator[TextEdit]:
    """An import in each function, but for those inside one that has it."""
    needs: dict[ast.FunctionDef | ast.AsyncFunctionDef, list[ast.alias]] = {}
    for alias, uses in move.uses.items():
        functions = {use.function: None for use in uses if not use.is_annotation}
        inner = {n for f in functions if f for n in ast.walk(f) if n is not f}
        for function in functions:
            if function is not None and function not in inner:
                needs.setdefault(function, []).append(alias)
    for function, aliases in needs.items():
        yield _at_top(move, function, import_of(move.statement, aliases))


def _at_top(move: _Move, function: ast.FunctionDef | ast.AsyncFunctionDef, said: str) -> TextEdit:
    """``said`` before the first statement that is no docstring, and the comment above that."""
    first, *rest = function.body
    follower = rest[0] if is_docstring(first) and rest else first
    before = (first.end_lineno or 0) if follower is not first else 0
    line = first_line(follower)
    lines = lines_of(move.code)
    if line in {before, function.lineno} or lines[line - 1][: follower.col_offset].strip(" \t\f@"):
        return move.places.insert(move.places.start(follower), f"{said}; ")
    indent = indent_of(lines[line - 1])
    while line - 1 > before and re.match(r"\s*(#|$)", lines[line - 2]):
        line -= 1
    return move.places.insert(move.places.at(line), f"{indent}{said}\n")


def _removed(move: _Move, instead: str = "") -> Iterator[TextEdit]:
    """Takes the names off the top; a blank line that is left over goes too."""
    places, statement, lines = move.places, move.statement, lines_of(move.code)
    if not move.is_whole:
        yield from _thinned(move)
        return
    start, end = statement.lineno, (statement.end_lineno or statement.lineno) + 1
    is_last = end > len(lines) or not lines[end - 1].strip()
    while not instead and is_last and start > 1 and not lines[start - 2].strip():
        start -= 1
    is_free = not instead and start == 1 and not move.is_noted
    while is_free and end <= len(lines) and not lines[end - 1].strip():
        end += 1
    yield places.cut(places.at(start), places.at(end), f"{instead}\n" if instead else "")


def _thinned(move: _Move) -> Iterator[TextEdit]:
    """Takes some names off a statement: their lines, or it is written anew."""
    lines, statement = lines_of(move.code), move.statement
    on_own = re.compile(r"\s*\w+(\s+as\s+\w+)?\s*,?\s*(#.*)?\n?")
    if all(on_own.fullmatch(lines[alias.lineno - 1]) for alias in move.uses):
        for alias in move.uses:
            start, end = move.places.at(alias.lineno), move.places.at(alias.lineno + 1)
            yield move.places.cut(start, end)
        return
    left = [alias for alias in statement.names if alias not in move.uses]
    yield move.places.replace(statement, import_of(statement, left), "")


def _dotted(move: _Move) -> str | None:
    """The module imported at the top, and the names looked up in it by the functions."""
    statement = move.statement
    if not isinstance(statement, ast.ImportFrom) or statement.level or not statement.module:
        return None
    top = statement.module.partition(".")[0]
    others = (move.tree, *(n for n in ast.walk(move.tree) if isinstance(n, FunctionNode)))
    is_taken = any(top in set(bound_in(scope)) for scope in others)
    if move.is_noted or is_taken or any(isinstance(n, ast.JoinedStr) for n in ast.walk(move.tree)):
        return None
    said = f"import {statement.module}"
    edits = list(_removed(move, said))
    for alias, uses in move.uses.items():
        new = f"{statement.module}.{alias.name}"
        names = [use.node for use in uses if isinstance(use.node, ast.Name)]
        edits += [move.places.replace(node, new, "") for node in names]
    code = move.places.edited(*edits)
    return code if move.is_whole else with_import(code, said)
