"""An import that closes a circle, deferred to where its names are used."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from pytest_bayesloc.domain.fixing import Level
from pytest_bayesloc.domain.source import FORMATTED, FunctionNode, ScopeNode, first_line, lines_of
from pytest_bayesloc.fixes.library import package_tool
from pytest_bayesloc.fixes.project import Project, Proposal, Task
from pytest_bayesloc.syntax.imports import Import, Use, import_of, is_of, uses_of, with_import
from pytest_bayesloc.syntax.nodes import (
    bound_in,
    bound_name,
    first_statement,
    functions_in,
    holds,
    nodes_of,
    walk,
)
from pytest_bayesloc.syntax.text import TextEdit, indent_of

#: The names of an import that go elsewhere, with their uses.
_Moved = dict[ast.alias, list[Use]]

_CIRCLE = re.compile(
    r"cannot import name '(?P<name>\w+)' from partially initialized module '(?P<module>[\w.]+)'"
    r"|partially initialized module '(?P<of>[\w.]+)'.* has no attribute '(?P<attribute>\w+)'"
    # So Python 3.13 speaks of a module of the project that is only partially initialized.
    r"|module '(?P<half>[\w.]+)' has no attribute '(?P<late>\w+)' \(consider renaming"
    r"|cannot access submodule '(?P<inner>\w+)' of module '(?P<outer>[\w.]+)' \(most likely due"
)
_FUTURE = "from __future__ import annotations"


@package_tool(
    "Two modules import each other while one is only partially initialized. Defers the import"
    " to where the name is used.",
    error_pattern=r"^(ImportError|AttributeError): .*(partially initialized module"
    r"|most likely due to a circular import|has no attribute .* \(consider renaming)",
    level=Level.SAFE,
)
def circular_import(task: Task, project: Project) -> Iterator[Proposal]:
    """The file with the import in the functions that need it, or for the type checker alone."""
    own = task.module
    found = _CIRCLE.search(task.message)
    if found is None and task.error:
        return
    own_imports = list(_of_itself(task, is_only=found is None))
    if own_imports or found is None:
        yield from own_imports
        return
    statement, wanted = _closing(task, project, found)
    is_package = task.filename.endswith("__init__.py")  # where a bare ``from .`` is of itself
    if (
        isinstance(statement, ast.ImportFrom)
        and is_of(statement, own)
        and (statement.module or is_package)
    ):
        yield from _without_own(task, statement)
        return
    moved = {} if statement is None else _moved(task.tree, statement, wanted)
    if statement is None or not moved:
        return
    asked = (said for alias in moved for said in project.imports_of(bound_name(alias)))
    if any(said.split()[:2] == ["from", own] for said in asked):
        return  # some other file imports the name from this one
    modules = project.circle(statement, own)  # if the files of the project tell it
    circle = f"the circle {' -> '.join(modules)}" if modules else "a circle"
    closes = f"`{import_of(statement, list(moved))}` closes {circle}"
    if code := _deferred(task, statement, moved):
        yield Proposal(code=code, message=f"{closes}; it is deferred")
    if code := _dotted(task, statement, moved):
        words = "the names are looked up in the module when needed"
        yield Proposal(code=code, message=f"{closes}; {words}")


def _of_itself(task: Task, *, is_only: bool) -> Iterator[Proposal]:
    """The file without its imports of itself; those of names where nothing else is known."""
    own = task.module
    for top in task.tree.body:
        if isinstance(top, ast.Import) and [alias.name for alias in top.names] == [own]:
            yield from _without_self(task, top)
        elif is_only and isinstance(top, ast.ImportFrom) and own and is_of(top, own):
            yield from _without_own(task, top)


def _without_own(task: Task, statement: ast.ImportFrom) -> Iterator[Proposal]:
    """The file without what it imports from itself, if it defines all of that."""
    defined = {s.name for s in task.tree.body if isinstance(s, ScopeNode)}
    if all(alias.name in defined and alias.asname is None for alias in statement.names):
        edits = _removed(task, statement, {alias: [] for alias in statement.names})
        words = f"`{ast.unparse(statement)}` imports the module from itself; it goes"
        yield Proposal(code=task.text.edited(*edits), message=words)


def _without_self(task: Task, statement: ast.Import) -> Iterator[Proposal]:
    """The file without the import of itself: its own names, used below their definitions."""
    tree, places, name = task.tree, task.text, bound_name(statement.names[0])
    module = statement.names[0].asname or statement.names[0].name
    chains = [n for n in nodes_of(tree, ast.Attribute) if ast.unparse(n.value) == module]
    ends = {s.name: s.end_lineno or s.lineno for s in tree.body if isinstance(s, ScopeNode)}
    if not name or not chains or not {chain.attr for chain in chains} <= set(ends):
        return
    edits = [places.cut(places.at(statement.lineno), places.at(statement.lineno + 1))]
    for top in tree.body:
        inner = [chain for chain in chains if chain in set(walk(top))]
        below = max((ends[chain.attr] for chain in inner), default=0)
        if isinstance(top, ScopeNode) or below < top.lineno:
            edits += [places.replace(chain, chain.attr) for chain in inner]
            continue
        start, end = places.at(top.lineno), places.at((top.end_lineno or top.lineno) + 1)
        said = places.between(start, end).replace(f"{module}.", "")
        edits += [places.cut(start, end), places.insert(places.at(below + 1), f"\n\n{said}")]
    words = f"`{ast.unparse(statement)}` imports the module from itself; it goes"
    yield Proposal(code=places.edited(*edits).lstrip("\n"), message=words)


def _closing(task: Task, project: Project, found: re.Match[str]) -> tuple[Import | None, str]:
    """The import at the top that closes the circle, and the one name that failed, if any.

    It is the one that failed, or one that was running and leads to the module that is half loaded.
    """
    name = found["name"] or ""
    module = found["module"] or found["of"] or found["half"] or found["outer"]
    imports = [s for s in task.tree.body if isinstance(s, (ast.Import, ast.ImportFrom))]
    froms = [s for s in imports if isinstance(s, ast.ImportFrom) and is_of(s, module)]
    failing = [s for s in froms if name in {alias.name for alias in s.names}]
    at_line = [s for s in imports if holds(s, task.line)]
    here = [s for s in failing if s in at_line] or failing[:1]
    if here:
        return here[0], name
    for running in at_line[:1]:
        circle = (task.module, *project.circle(running, task.module))
        if any(f".{part}".endswith(f".{module}") for part in circle):
            return running, ""
    return None, ""


def _moved(tree: ast.Module, statement: Import, wanted: str) -> _Moved:
    """The names that can be deferred; none if the one that failed can't, or the line is shared."""
    first, last = statement.lineno, statement.end_lineno or statement.lineno
    others = [s for s in tree.body if s is not statement]
    shares = [s for s in others if s.lineno <= last and first <= (s.end_lineno or s.lineno)]
    bound = list(bound_in(tree))
    uses: _Moved = {}
    for alias in statement.names:
        name = bound_name(alias)
        of_it = uses_of(tree, name)
        is_late = all(function is not None or noted for _, function, noted in of_it)
        if of_it and is_late and bound.count(name) == 1 and not _is_exported(tree, name):
            uses[alias] = of_it
    names = {alias.name for alias in uses}
    is_enough = wanted in names if wanted else len(uses) == len(statement.names)
    if shares or not is_enough:
        return {}
    if len(uses) < len(statement.names) and wanted:
        uses = {alias: found for alias, found in uses.items() if alias.name == wanted}
    return uses


def _is_noted(moved: _Moved) -> bool:
    """Whether some of the names are used in annotations too."""
    return any(noted for uses in moved.values() for _, _, noted in uses)


def _is_exported(tree: ast.Module, name: str) -> bool:
    """Whether ``__all__`` lists it."""
    lists = [s for s in tree.body if isinstance(s, (ast.Assign, ast.AugAssign, ast.AnnAssign))]
    texts = [n for s in lists if "__all__" in ast.unparse(s) for n in walk(s)]
    return any(isinstance(n, ast.Constant) and n.value == name for n in texts)


def _deferred(task: Task, statement: Import, moved: _Moved) -> str | None:
    """The import in each function that uses a name, and for the type checker if need be."""
    edits = [*_removed(task, statement, moved), *_local(task, statement, moved)]
    if not _is_noted(moved):
        return task.text.edited(*edits)
    noted = [a for a, uses in moved.items() if _is_noted({a: uses})]
    said = import_of(statement, noted)
    code: str | None = task.text.edited(*edits, _for_checker(task, said))
    present = {a.name for s in task.tree.body if isinstance(s, ast.ImportFrom) for a in s.names}
    if _block(task.tree) is not None:  # for types alone
        present.add("TYPE_CHECKING")
    for more in ("from typing import TYPE_CHECKING", _FUTURE):
        if code is not None and more.rpartition(" ")[2] not in present:
            code = with_import(code, more)
    return code


def _block(tree: ast.Module) -> ast.If | None:
    found = [s for s in tree.body if isinstance(s, ast.If) and not s.orelse]
    tests = ("TYPE_CHECKING", "typing.TYPE_CHECKING")
    return next((s for s in found if ast.unparse(s.test) in tests), None)


def _for_checker(task: Task, said: str) -> TextEdit:
    """The import in the block for the type checker, or in a new one below the first imports."""
    block = _block(task.tree)
    if block is not None:
        last = block.body[-1]
        indent = indent_of(lines_of(task.code)[last.lineno - 1]) or "    "
        return task.text.insert(task.text.at((last.end_lineno or 0) + 1), f"{indent}{said}\n")
    line = 0
    for number, statement in enumerate(task.tree.body):
        is_text = number == 0 and isinstance(statement, ast.Expr)
        if not is_text and not isinstance(statement, (ast.Import, ast.ImportFrom)):
            break
        line = statement.end_lineno or statement.lineno
    new = f"\nif TYPE_CHECKING:\n    {said}\n"
    return task.text.insert(task.text.at(line + 1), new)


def _local(task: Task, statement: Import, moved: _Moved) -> Iterator[TextEdit]:
    """An import in each function, but for those inside one that has it."""
    needs: dict[FunctionNode, list[ast.alias]] = {}
    for alias, uses in moved.items():
        functions = {function: None for _, function, noted in uses if not noted}
        inner = {n for f in functions if f for n in walk(f) if n is not f}
        for function in functions:
            if function is not None and function not in inner:
                needs.setdefault(function, []).append(alias)
    lines = lines_of(task.code)
    for function, aliases in needs.items():
        # Before the first statement that is no docstring, and the comment above that.
        said = import_of(statement, aliases)
        first, follower = function.body[0], first_statement(function)
        before = (first.end_lineno or 0) if follower is not first else 0
        line = first_line(follower)
        lead = lines[line - 1][: follower.col_offset].strip(" \t\f@")
        if line in {before, function.lineno} or lead:
            yield task.text.insert(task.text.start(follower), f"{said}; ")
            continue
        indent = indent_of(lines[line - 1])
        while line - 1 > before and re.match(r"\s*(#|$)", lines[line - 2]):
            line -= 1
        yield task.text.insert(task.text.at(line), f"{indent}{said}\n")


def _removed(task: Task, statement: Import, moved: _Moved, instead: str = "") -> Iterator[TextEdit]:
    """Takes the names off the top; a blank line that is left over goes too."""
    places, lines = task.text, lines_of(task.code)
    if len(moved) < len(statement.names):
        # Either the lines of the names go, or the statement is written anew.
        on_own = re.compile(r"\s*\w+(\s+as\s+\w+)?\s*,?\s*(#.*)?\n?")
        if all(on_own.fullmatch(lines[alias.lineno - 1]) for alias in moved):
            for alias in moved:
                yield places.cut(places.at(alias.lineno), places.at(alias.lineno + 1))
        else:
            left = [alias for alias in statement.names if alias not in moved]
            yield places.replace(statement, import_of(statement, left), "")
        return
    start, end = statement.lineno, (statement.end_lineno or statement.lineno) + 1
    is_last = end > len(lines) or not lines[end - 1].strip()
    while not instead and is_last and start > 1 and not lines[start - 2].strip():
        start -= 1
    is_free = not instead and start == 1 and not _is_noted(moved)
    while is_free and end <= len(lines) and not lines[end - 1].strip():
        end += 1
    yield places.cut(places.at(start), places.at(end), f"{instead}\n" if instead else "")


def _dotted(task: Task, statement: Import, moved: _Moved) -> str | None:
    """The module imported at the top, and the names looked up in it by the functions."""
    if not isinstance(statement, ast.ImportFrom) or statement.level or not statement.module:
        return None
    top = statement.module.partition(".")[0]
    others = (task.tree, *functions_in(task.tree))
    is_taken = any(top in set(bound_in(scope)) for scope in others)
    if _is_noted(moved) or is_taken or any(isinstance(n, FORMATTED) for n in walk(task.tree)):
        return None
    said = f"import {statement.module}"
    edits = list(_removed(task, statement, moved, said))
    for alias, uses in moved.items():
        new = f"{statement.module}.{alias.name}"
        names = [node for node, _, _ in uses if isinstance(node, ast.Name)]
        edits += [task.text.replace(node, new, "") for node in names]
    code = task.text.edited(*edits)
    return code if len(moved) == len(statement.names) else with_import(code, said)
