"""Tools for a name or an attribute that does not exist: the closest one, or an import."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

from pytest_bayesloc.domain.fixing import Level
from pytest_bayesloc.domain.source import ScopeNode
from pytest_bayesloc.fixes.calls import attributes, family, picked
from pytest_bayesloc.fixes.library import package_tool
from pytest_bayesloc.fixes.project import Made, Project, Proposal, Task
from pytest_bayesloc.syntax.imports import WELL_KNOWN, packages_of, sources, with_import
from pytest_bayesloc.syntax.nodes import (
    BUILT_IN,
    bound_in,
    dotted,
    every_node,
    function_at,
    nodes_of,
    similar,
    visible,
    walk,
)

_UNBOUND = re.compile(r"(?:local variable|free variable) '(\w+)'")


@package_tool(
    "A name that is not defined is misspelt. Replaces it by the closest name in scope.",
    error_pattern=r"^(NameError|UnboundLocalError): ",
    level=Level.SAFE,
)
def misspelt_name(task: Task, project: Project) -> Iterator[Made]:
    """The function with each name in scope that is nearly the one that is not defined."""
    unbound = _UNBOUND.search(task.message)
    wrong = unbound.group(1) if unbound else task.undefined
    if not wrong or project.defined_in(wrong) or project.imports_of(wrong):
        return  # there is such a name: it is not imported
    scope = task.function or task.tree
    uses = [n for n in nodes_of(scope, ast.Name) if n.id == wrong]
    for name in similar(wrong, [*visible(task.tree, task.line), *sorted(BUILT_IN)] if uses else ()):
        words = f"`{wrong}` is not defined; `{name}` is"
        yield [task.text.replace(use, name, words) for use in uses]


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
)
def misspelt_attribute(task: Task, project: Project) -> Iterator[Made]:
    """The line with each attribute that is nearly the one that does not exist."""
    text = task.text
    found = _MISSING.search(task.message)
    if found is None or found["type"] == "NoneType":
        return
    wrong = found["name"]
    uses = [n for n in task.nodes if isinstance(n, ast.Attribute) and n.attr == wrong]
    if not uses:
        return
    owner = found["type"] or found["class"] or found["module"]
    if found["class"] and owner.rpartition(".")[2] == wrong:
        words = f"`{text.of(uses[0].value)}` is the class `{wrong}` itself"
        yield [text.replace(use, text.of(use.value), words) for use in uses]
    known = _known(task.tree, uses[0], owner.rpartition(".")[2], project)
    if found["module"]:
        loaded = (name for name in dir(sys.modules.get(owner)) if not name.startswith("__"))
        known = [*_members_with(wrong, owner), *project.names_in(owner), *loaded]
    meant = [name for name in known if name.endswith(f".{wrong}")]
    meant += [found["meant"]] if found["meant"] else []
    for name in dict.fromkeys((*meant, *similar(wrong, known))):
        words = f"{owner} has no attribute `{wrong}`, but `{name}`"
        yield [
            text.replace(use, f"{text.of(use)[: -len(wrong)]}{name}", words)
            for use in _everywhere(task.tree, uses, owner)
            if text.of(use).endswith(wrong)
        ]


def _everywhere(
    tree: ast.Module, uses: Sequence[ast.Attribute], owner: str
) -> Sequence[ast.Attribute]:
    """The uses of an attribute that are misspelt alike in the file: of the same, or of a built-in.

    None of a name that the file gives to something.
    """
    wrong, bases = uses[0].attr, {ast.unparse(use.value) for use in uses}
    every = [node for node in nodes_of(tree, ast.Attribute) if node.attr == wrong]
    is_made = any(isinstance(n, ScopeNode) and n.name == wrong for n in every_node(tree))
    if is_made or any(isinstance(node.ctx, ast.Store) for node in every):
        return uses
    is_nowhere = owner in _BUILT_IN and not any(hasattr(kind, wrong) for kind in _BUILT_IN.values())
    return [node for node in every if is_nowhere or ast.unparse(node.value) in bases]


def _members_with(name: str, module: str) -> list[str]:
    """``m.name`` for classes and modules in a module that is loaded, what is called alike first."""
    members = vars(sys.modules[module]).items() if module in sys.modules else ()
    kinds = (type, ModuleType)
    found = [own for own, value in members if isinstance(value, kinds) and hasattr(value, name)]
    return [f"{own}.{name}" for own in sorted(found, key=lambda own: own != module)]


def _known(tree: ast.Module, use: ast.Attribute, owner: str, project: Project) -> list[str]:
    """The attributes that something of the class ``owner`` may have."""
    if owner in _BUILT_IN:
        return [name for name in dir(_BUILT_IN[owner]) if not name.startswith("__")]
    trees = [tree, *filter(None, map(project.tree, project.defined_in(owner)))]
    found = sorted({name for t in trees for name in attributes(family(t, owner), {"self"})})
    for node in tree.body:  # the fields of a named tuple that the file makes by a call
        call = node.value if isinstance(node, ast.Assign) else None
        if isinstance(call, ast.Call) and ast.unparse(call.func).endswith("amedtuple"):
            texts = [n.value for n in nodes_of(call, ast.Constant)]
            if texts[:1] == [owner]:
                found += " ".join(map(str, texts[1:])).replace(",", " ").split()
    base = ast.unparse(use.value)
    if not found:
        standard = (vars(m) for name, m in sys.modules.items() if name in sys.stdlib_module_names)
        found += [
            name for own in standard if isinstance(own.get(owner), type) for name in dir(own[owner])
        ]
    others = (n for n in nodes_of(tree, ast.Attribute) if n is not use)
    found += [n.attr for n in others if ast.unparse(n.value) == base]
    # A class of nowhere in the project: what this file uses of anything.
    return found or [n.attr for n in nodes_of(tree, ast.Attribute) if n is not use]


_PLAIN = frozenset({"pi", "inf", "nan"})  # names in lower case that are no functions
_SHORT = {
    "np": "numpy",
    "pd": "pandas",
    "plt": "matplotlib.pyplot",
    "sns": "seaborn",
    "tf": "tensorflow",
    "nx": "networkx",
    "sa": "sqlalchemy",
    "ET": "xml.etree.ElementTree",
    "dt": "datetime",
}


#: A use of a name as a function or class. Other uses are told by what follows: ``b.c``.
_CALLED = "()"


@package_tool(
    "A name that is not defined was never imported. Adds the import, as the rest of the "
    "project or the standard library has it.",
    error_pattern=r"^NameError: .*name '\w+' is not defined",
    level=Level.SAFE,
)
def missing_import(task: Task, project: Project) -> Iterator[Made]:
    """The file with an import of the name, the project's own way of importing it first."""
    name = task.undefined
    uses = _uses(task.tree, name, task.line)
    declared = {n for node in nodes_of(task.tree, ast.Global) for n in node.names}
    if uses is None or name in {*bound_in(task.tree), *declared}:  # if only on a condition
        return
    for said in dict.fromkeys(_statements(name, uses, task.module, project)):
        code = with_import(task.code, said)
        if code is not None:
            yield Proposal(code=code, message=f"`{name}` is not imported; `{said}` is added")


def _uses(tree: ast.Module, name: str, line: int) -> list[str] | None:
    """Returns what follows the name in the function at ``line``, or anywhere if it is not there.

    None if it is nowhere.
    """
    function = function_at(tree, line)
    for scope in (tree,) if function is None else (function, tree):
        nodes = walk(scope)
        if any(_is(node, name) for node in nodes):
            calls = [_CALLED for n in nodes if any(_is(part, name) for part in _called(n))]
            parts = (dotted(node).partition(".") for node in nodes)
            return [*calls, *(rest for first, _, rest in parts if first == name and rest)]
    return None


def _attributes(uses: Sequence[str]) -> set[str]:
    return {use.partition(".")[0] for use in uses if use != _CALLED}


def _is(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)


def _called(node: ast.AST) -> list[ast.expr]:
    """Returns what a node uses in a way that only fits functions and classes."""
    above: list[ast.expr] = getattr(node, "decorator_list", [])
    return [*picked(node, "function|indexed"), *getattr(node, "bases", []), *above]


def _statements(name: str, uses: Sequence[str], own: str, project: Project) -> Iterator[str]:
    """Imports that may have been forgotten, the likeliest first."""
    attributes_used = _attributes(uses)
    for said in project.imports_of(name):
        _, module, *more = said.split()  # no member if it is an import of a module
        member = more[1] if said.startswith("from ") else ""
        if module not in {own, "__future__"} and _fits(module, member, uses):
            yield said
    for module in sources(project.defined_in(name), own):
        yield f"from {module} import {name}"
    for package in packages_of(own) if attributes_used and _CALLED not in uses else ():
        if attributes_used <= set(project.names_in(f"{package}.{name}")):
            yield f"from {package} import {name}"
    if name in sys.stdlib_module_names and name != own:
        yield from _standard(name, uses)
    module = WELL_KNOWN.get(name, "")
    is_odd = name.islower() and name not in _PLAIN and not uses
    if module and not is_odd and _fits(module, name, uses):
        yield f"from {module} import {name}"
    yield from _installed(name, uses, own)


def _standard(name: str, uses: Sequence[str]) -> Iterator[str]:
    """A module of the standard library, or what has its name in it: ``datetime.datetime``."""
    module = _deepest(name, uses)
    if uses and _CALLED not in uses and (module != name or _fits(name, "", uses)):
        yield f"import {module}"
    if uses and name in _contents(name) and _fits(name, name, uses):
        yield f"from {name} import {name}"


def _installed(name: str, uses: Sequence[str], own: str) -> Iterator[str]:
    """A distribution of that name, or of the name that everybody shortens to it."""
    module = _SHORT.get(name, name)
    top = module.partition(".")[0]
    is_other = top not in {own.partition(".")[0], own} and name not in sys.stdlib_module_names
    if not is_other or _spec(top, None) is None:
        return
    if _CALLED in uses:
        yield f"from {module} import {name}"
    elif uses:
        yield f"import {module} as {name}" if module != name else f"import {_deepest(name, uses)}"


def _fits(module: str, member: str, uses: Sequence[str]) -> bool:
    """Whether the uses speak for it; what is not of the standard library is not looked at."""
    known = _contents(module)
    if not member:
        return _CALLED not in uses and (not known or _attributes(uses) <= known.keys())
    value = known.get(member)
    return value is None or _attributes(uses) <= set(dir(value))


def _contents(module: str) -> dict[str, object]:
    """Returns the contents of a module of the standard library, if it is already imported."""
    is_standard = module.partition(".")[0] in sys.stdlib_module_names
    loaded = sys.modules.get(module) if is_standard else None
    return {} if loaded is None else dict(vars(loaded))


def _deepest(name: str, uses: Sequence[str]) -> str:
    """The module that the uses need: ``xml.etree.ElementTree`` for a use of it by ``xml``."""
    found = name
    for use in uses:
        module, spec = name, _spec(name, None)
        for part in use.split(".") if use != _CALLED else ():
            inside = spec.submodule_search_locations if spec is not None else None
            spec = _spec(f"{module}.{part}", list(inside)) if inside else None
            if spec is None:
                break
            module = f"{module}.{part}"
        found = max(found, module, key=len)
    return found


def _spec(name: str, inside: list[str] | None) -> ModuleSpec | None:
    """Finds a module without importing anything; None for a mere folder."""
    try:
        spec = PathFinder.find_spec(name, inside)
    except (ImportError, OSError, ValueError):
        return None
    return spec if spec is not None and spec.loader is not None else None
