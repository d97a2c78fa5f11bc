"""An import of what is not there, for one of what nearly has its name or has moved."""

from __future__ import annotations

import ast
import difflib
import re
import sys
from collections.abc import Iterator, Sequence
from itertools import chain

from pytest_bayesloc.domain.fixing import Level
from pytest_bayesloc.fixes.library import package_tool
from pytest_bayesloc.fixes.project import Made, Project, Task
from pytest_bayesloc.syntax.imports import (
    WELL_KNOWN,
    import_of,
    is_of,
    is_test,
    packages_of,
    renamed,
    sources,
)
from pytest_bayesloc.syntax.nodes import SIMILAR, dotted, holds, nodes_of, similar, walk
from pytest_bayesloc.syntax.text import Text, TextEdit

N_MODULES = 3
#: Modules of Python 2, and ones that were removed since, by what has their names now.
MOVED = {
    "BaseHTTPServer": "http.server",
    "ConfigParser": "configparser",
    "Cookie": "http.cookies",
    "HTMLParser": "html.parser",
    "Queue": "queue",
    "SimpleHTTPServer": "http.server",
    "SocketServer": "socketserver",
    "StringIO": "io",
    "pipes": "shlex",
    "Tkinter": "tkinter",
    "__builtin__": "builtins",
    "cPickle": "pickle",
    "cStringIO": "io",
    "cookielib": "http.cookiejar",
    "copy_reg": "copyreg",
    "httplib": "http.client",
    "imp": "importlib",
    "thread": "_thread",
    "urllib2": "urllib.request",
    "urlparse": "urllib.parse",
    "xmlrpclib": "xmlrpc.client",
}
CLOSE = 0.8  # of names of modules: `typer` is not installed, and is not `types`
_NO_NAME = re.compile(
    r"cannot import name '(?P<name>\w+)' from '(?P<module>[\w.]+)'"
    r"(?:.*Did you mean: '(?P<meant>\w+)')?"
)
_NO_MODULE = re.compile(r"No module named '?(?P<module>[\w.]+)")
_NOT_MISSPELT = ("partially initialized", "consider renaming")


@package_tool(
    "An import names a module or a name that does not exist. Replaces it by the closest one, "
    "or imports the name from where it is defined.",
    error_pattern=r"^ImportError: cannot import name '\w+' from '"
    r"|^(ModuleNotFoundError|ImportError): No module named ",
    level=Level.SAFE,
)
def misspelt_import(task: Task, project: Project) -> Iterator[Made]:
    """The file with the import of what was meant; what is renamed is renamed where it is used."""
    if any(words in task.message for words in _NOT_MISSPELT):
        return
    if found := _NO_NAME.search(task.message):
        yield from _names(task, found, project)
    elif found := _NO_MODULE.search(task.message):
        yield from _modules(task, found["module"], project)


def _names(task: Task, found: re.Match[str], project: Project) -> Iterator[Made]:
    name, module = found["name"], found["module"]
    froms = (n for n in nodes_of(task.tree, ast.ImportFrom) if is_of(n, module))
    importing = [n for n in froms if name in {alias.name for alias in n.names}]
    if not importing:
        return
    statement = next((n for n in importing if holds(n, task.line)), importing[0])
    alias = next(alias for alias in statement.names if alias.name == name)
    meant = [found["meant"]] if found["meant"] else []
    others = [m for m in sources(project.defined_in(name), task.module) if m != module]
    known = {alias.name for alias in statement.names}
    close = [n for n in similar(name, _held(module, project)) if n not in known]
    if not meant:  # it was moved, or the module is taken for another
        if WELL_KNOWN.get(name, module) != module:
            others.append(WELL_KNOWN[name])
        if module.partition(".")[0] in sys.stdlib_module_names:
            below = [m for m in list(sys.modules) if m.startswith(f"{module}.") and "._" not in m]
            others += [m for m in sorted(below)[:100] if name in _loaded(m)]
        for other in others:
            words = f"`{module}` has no `{name}`; `{other}` has"
            also = [a for a in statement.names if WELL_KNOWN.get(a.name) == other != module]
            moved = also if alias in also else [alias]
            yield _from(statement, moved, other, task.text, words)
    for other in dict.fromkeys((*meant, *close)):
        words = f"`{module}` has no `{name}`, but `{other}`"
        edits = [task.text.rename(alias, name, other, words)]
        yield edits if alias.asname else [*edits, *renamed(task.tree, task.text, name, other)]


def _held(module: str, project: Project) -> list[str]:
    """Returns the names in a module of the project, or in one that is already imported."""
    loaded = sorted(name for name in _loaded(module) if not name.startswith("_"))
    return [*project.names_in(module), *loaded]


def _loaded(module: str) -> set[str]:
    return set(getattr(sys.modules.get(module), "__dict__", ()))


def _from(
    statement: ast.ImportFrom, aliases: Sequence[ast.alias], module: str, places: Text, words: str
) -> TextEdit:
    """The names imported from ``module``; the statement keeps its other names."""
    others = [a for a in statement.names if a not in aliases]
    if not others:
        return _of_module(statement, module, places, words)
    before = places.lead(statement)
    apart = f"\n{before}" if not before.strip() else "; "
    moved = import_of(ast.ImportFrom(module=module, names=[], level=0), aliases)
    return places.replace(statement, f"{import_of(statement, others)}{apart}{moved}", words)


def _of_module(statement: ast.ImportFrom, module: str, places: Text, words: str) -> TextEdit:
    """The statement with another module, and its names as they are written."""
    head = re.match(r"from\b\s*[.\s]*[\w.]*\s*(?=\bimport\b)", places.of(statement))
    return places.rename(statement, head.group() if head else "", f"from {module} ", words)


def _modules(task: Task, missing: str, project: Project) -> Iterator[Made]:
    found = [n for n in walk(task.tree) if isinstance(n, (ast.Import, ast.ImportFrom))]
    asking = [n for n in found if _asks(n, missing)]
    here = [n for n in asking if holds(n, task.line)]
    modules = [task.module]
    for node in found:
        if isinstance(node, ast.Import):
            modules += [alias.name for alias in node.names]
        elif node.module and not node.level:
            modules.append(f"{node.module}._")
    packages = list(dict.fromkeys(p for module in modules for p in packages_of(module)))
    for statement in (here or asking)[:1]:
        if isinstance(statement, ast.ImportFrom):
            names = [alias.name for alias in statement.names]
            for module in _candidates(task, missing, names, packages, project):
                words = f"there is no module `{missing}`, but `{module}`"
                yield _of_module(statement, _said(statement, missing, module), task.text, words)
        else:
            yield from _plain(task, statement, missing, packages, project)


def _asks(statement: ast.Import | ast.ImportFrom, missing: str) -> bool:
    if isinstance(statement, ast.Import):
        return any(f"{a.name}.".startswith(f"{missing}.") for a in statement.names)
    said = statement.module or ""
    if statement.level:
        return bool(said) and f".{missing}".endswith(f".{said}")
    return f"{said}.".startswith(f"{missing}.")


def _said(statement: ast.ImportFrom, missing: str, module: str) -> str:
    """Returns ``module`` as the statement names it: relative if it was, with what follows."""
    said = statement.module or ""
    if not statement.level:
        return module + said[len(missing) :]
    anchor = missing.removesuffix(said)
    inner = module.removeprefix(anchor)
    return f"{'.' * statement.level}{inner}" if inner != module and anchor else module


def _candidates(
    task: Task, missing: str, names: Sequence[str], packages: Sequence[str], project: Project
) -> list[str]:
    """Modules that nearly have the missing one's name, or lie near it, and hold all ``names``."""
    wanted = set(names)
    nested = [f"{package}.{missing}" for package in packages]
    nested = [module for module in nested if wanted <= set(project.names_in(module))]
    holders = [set(_sources_of(name, task.module, project)) for name in names]
    having = [m for m in (set.intersection(*holders) if holders else ()) if _is_near(m, missing)]
    having.sort(key=lambda module: (-_ratio(_last(module), _last(missing)), module))
    # Those that nearly have the name: of the standard library, or imported already.
    depth = missing.count(".")
    known = {m for m in (*sys.stdlib_module_names, *sys.modules.copy()) if m.count(".") == depth}
    public = {m.lower(): m for m in sorted(known) if not re.search(r"(^|\.)_", m)}
    near = difflib.get_close_matches(missing.lower(), list(public), n=N_MODULES, cutoff=CLOSE)
    alike = (public[name] for name in near if public[name] != missing)
    held = {module: set(_held(module, project)) for module in alike}
    close = (module for module in held if not held[module] or wanted <= held[module])
    moved = [MOVED[missing]] if missing in MOVED else []
    found = dict.fromkeys((*(m for m in nested if project.names_in(m)), *moved, *having, *close))
    return [module for module in found if module not in {missing, task.module}]


def _sources_of(name: str, own: str, project: Project) -> Iterator[str]:
    """Yields the modules that define the name, and those that it is imported from."""
    yield from sources(project.defined_in(name), own)
    for said in project.imports_of(name):
        words = said.split()
        if words[0] == "from" and words[3] == name and (is_test(own) or not is_test(words[1])):
            yield words[1]


def _is_near(module: str, missing: str) -> bool:
    """Whether one may be taken for the other: the name is like it, or the package the same."""
    parts, other = module.split("."), missing.split(".")
    is_inside = len(other) > 1 and parts[0] == other[0]
    return is_inside or other[-1] in parts or _ratio(parts[-1], other[-1]) >= SIMILAR


def _last(module: str) -> str:
    return module.rpartition(".")[2]


def _ratio(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, one, other).ratio()


def _plain(
    task: Task, statement: ast.Import, missing: str, packages: Sequence[str], project: Project
) -> Iterator[Made]:
    """An import of the module from its package, or of one that nearly has its name."""
    text = task.text
    alias = next(a for a in statement.names if f"{a.name}.".startswith(f"{missing}."))
    chains = {n: dotted(n) for n in nodes_of(task.tree, ast.Attribute)}
    base = f"{alias.asname or alias.name}."
    used = {said[len(base) :] for said in chains.values() if said.startswith(base)}
    if len(statement.names) == 1 and alias.name == missing and not alias.asname:
        # The project's own imports of the name, then those from packages at hand.
        own = project.imports_of(missing)
        others = (said for said in own if not f"{said}.".startswith(f"import {missing}."))
        inner = (p for p in packages if "." not in missing and project.names_in(f"{p}.{missing}"))
        for said in chain(others, (f"from {package} import {missing}" for package in inner)):
            words = f"there is no module `{missing}` at the top; `{said}` imports it"
            yield text.replace(statement, said, words)
    names = sorted({said.partition(".")[0] for said in used})
    for module in _candidates(task, missing, names, [], project):
        new = module + alias.name[len(missing) :]
        words = f"there is no module `{missing}`, but `{module}`"
        edits = [text.rename(alias, alias.name, new, words)]
        if not alias.asname and "." not in alias.name:
            edits += renamed(task.tree, text, missing, module)
        elif not alias.asname:
            edits += [text.replace(n, new, "") for n, s in chains.items() if s == alias.name]
        yield edits
