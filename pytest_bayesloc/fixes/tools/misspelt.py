"""Tools for a name or an attribute that does not exist: the closest one that does."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator

from pytest_bayesloc.domain.fixing import Level
from pytest_bayesloc.fixes.calls import attributes, family
from pytest_bayesloc.fixes.library import on_syntax, package_tool
from pytest_bayesloc.fixes.project import Project, Proposal, Task, proposal
from pytest_bayesloc.fixes.syntax import BUILT_IN, Text, function_at, nodes_at, similar, visible

_UNDEFINED = re.compile(r"name '(\w+)' is not defined|(?:local variable|free variable) '(\w+)'")


@package_tool(
    "A name that is not defined is misspelt. Replaces it by the closest name in scope.",
    error_pattern=r"^(NameError|UnboundLocalError): ",
    level=Level.SAFE,
    auto_apply=True,
)
@on_syntax
def misspelt_name(task: Task, tree: ast.Module, text: Text, project: Project) -> Iterator[Proposal]:
    """The function with each name in scope that is nearly the one that is not defined."""
    found = _UNDEFINED.search(task.message)
    if found is None:
        return
    wrong = found.group(1) or found.group(2)
    if project.defined_in(wrong) or project.imports_of(wrong):
        return  # there is such a name: it is not imported
    scope = function_at(tree, task.line) or tree
    uses = [n for n in ast.walk(scope) if isinstance(n, ast.Name) and n.id == wrong]
    for name in similar(wrong, [*visible(tree, task.line), *sorted(BUILT_IN)] if uses else ()):
        words = f"`{wrong}` is not defined; `{name}` is"
        yield proposal(text, *(text.replace(use, name, words) for use in uses))


_MISSING = re.compile(
    r"(?:'(?P<type>[\w.]+)' object|type object '(?P<class>[\w.]+)'|module '(?P<module>[\w.]+)')"
    r" has no attribute '(?P<name>\w+)'(?:.*Did you mean: '(?P<meant>\w+)')?"
)
_BUILT_IN = {
    kind.__name__: kind
    for kind in (str, bytes, bytearray, list, tuple, dict, set, frozenset, int, float, complex)
}


@package_tool(
    "An attribute or method does not exist because it is misspelt. Replaces it by the closest"
    " one of the object's class.",
    error_pattern=r"AttributeError: .*has no attribute",
    level=Level.SAFE,
    auto_apply=True,
)
@on_syntax
def misspelt_attribute(
    task: Task, tree: ast.Module, text: Text, project: Project
) -> Iterator[Proposal]:
    """The line with each attribute that is nearly the one that does not exist."""
    found = _MISSING.search(task.message)
    if found is None or found["type"] == "NoneType":
        return
    wrong = found["name"]
    uses = [
        n for n in nodes_at(tree, task.line) if isinstance(n, ast.Attribute) and n.attr == wrong
    ]
    if not uses:
        return
    owner = found["type"] or found["class"] or found["module"]
    known = _known(tree, uses[0], owner.rpartition(".")[2], project)
    if found["module"]:
        known = [*project.names_in(owner), *_loaded(owner)]
    meant = [found["meant"]] if found["meant"] else []
    for name in dict.fromkeys((*meant, *similar(wrong, known))):
        words = f"{owner} has no attribute `{wrong}`, but `{name}`"
        edits = [
            text.replace(use, f"{text.of(use)[: -len(wrong)]}{name}", words)
            for use in uses
            if text.of(use).endswith(wrong)
        ]
        yield proposal(text, *edits)


def _known(tree: ast.Module, use: ast.Attribute, owner: str, project: Project) -> list[str]:
    """The attributes that something of the class ``owner`` may have."""
    if owner in _BUILT_IN:
        return [name for name in dir(_BUILT_IN[owner]) if not name.startswith("__")]
    trees = [tree, *filter(None, map(project.tree, project.defined_in(owner)))]
    found = sorted({name for t in trees for name in attributes(family(t, owner), {"self"})})
    found += _fields(tree, owner)
    base = ast.unparse(use.value)
    others = (n for n in ast.walk(tree) if isinstance(n, ast.Attribute) and n is not use)
    found += [n.attr for n in others if ast.unparse(n.value) == base]
    # A class of nowhere in the project: what this file uses of anything.
    return found or [
        n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute) and n is not use
    ]


def _fields(tree: ast.Module, owner: str) -> list[str]:
    """Returns the fields of a named tuple that the file makes by a call."""
    found: list[str] = []
    for node in tree.body:
        call = node.value if isinstance(node, ast.Assign) else None
        if isinstance(call, ast.Call) and ast.unparse(call.func).endswith("amedtuple"):
            texts = [n.value for n in ast.walk(call) if isinstance(n, ast.Constant)]
            if texts[:1] == [owner]:
                found += " ".join(map(str, texts[1:])).replace(",", " ").split()
    return found


def _loaded(module: str) -> list[str]:
    """Returns the names in a module that is already imported."""
    return [name for name in dir(sys.modules.get(module)) if not name.startswith("__")]
