"""The rules for edits that a language model proposes: they reach no further than the code did."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Collection, Iterator
from copy import deepcopy

from pytest_bayesloc.domain.errors import PatchError
from pytest_bayesloc.domain.source import FunctionNode, ScopeNode, SourceMap, Unit, lines_of, parse
from pytest_bayesloc.fixes.side_effects import (
    DENIED,
    INNER,
    METHODS,
    PURE,
    RISKY,
    aliases,
    calls_out,
    is_pure,
)
from pytest_bayesloc.syntax.nodes import attributes_in, bound_name, children, dotted, names_in, walk
from pytest_bayesloc.syntax.text import brief

MAX_LINES = 400
#: Formatted ones come in parts: f-strings from Python 3.12 on, t-strings from 3.14 on.
_MIDDLES = ("FSTRING_MIDDLE", "TSTRING_MIDDLE")
_TEXTS = frozenset({tokenize.STRING, *(getattr(tokenize, n, tokenize.STRING) for n in _MIDDLES)})
#: Built-ins that only the careful need to be kept from: a fix may iterate and call its parent.
_HARMLESS = frozenset({"iter", "next", "super", "getattr", "memoryview", "anext", "aiter"})
#: Attributes that lead out whatever they are taken from.
_LEADS_OUT = frozenset(
    {"FileHandler", "Popen", "connect", "execv", "execve", "execvp", "fork", "kill", "killpg",
     "popen", "putenv", "removedirs", "sendall", "spawnl", "spawnv", "system", "unsetenv",
     "urlopen", "urlretrieve"}
)  # fmt: skip
_FORBIDDEN = (DENIED - _HARMLESS) | RISKY | INNER | METHODS | _LEADS_OUT


def edited_unit(source: SourceMap, text: str) -> Unit:
    """Return the function, or the body of a class or module, that an edit of a file is in.

    The header of a function or class is part of what surrounds it. ``text`` is that of the file
    with the edit.

    Raises:
        PatchError: If that does not parse, or more or less than one of these is edited.
    """
    twin = SourceMap(text, source.file)
    if twin.is_broken:
        raise gate_error("does not parse")
    old, new = source.units, twin.units
    if [unit.location.qualname for unit in old] != [unit.location.qualname for unit in new]:
        raise gate_error("adds, drops or renames a function or class")
    try:
        pairs = zip(old, new, strict=True)
        changed = [before for before, after in pairs if _dump(before) != _dump(after)]
    except RecursionError as error:
        raise gate_error("is too deeply nested to be looked through") from error
    if len(changed) != 1:
        raise gate_error("edits more than one place" if changed else "changes nothing")
    return changed[0]


def checked_edit(source: SourceMap, unit: Unit, text: str, named: Collection[str] = ()) -> str:
    """Return ``text``, that of the file of ``source`` with an edit of ``unit`` and nothing else.

    A function must not reach out. What else must not be called is ``named``.

    Raises:
        PatchError: If the code does what it did not do before.
    """
    twin = SourceMap(text, source.file).units[source.units.index(unit)]
    if unit.is_function:
        whole = "".join(lines_of(text)[twin.first_line - 1 : twin.location.end_line])
        return checked_fix(source, unit, whole, named)
    # An import executes the others: such code may import what only computes.
    old, new, tree = _bare(unit.node), _bare(twin.node), source.module.node
    before = {_module_of(node) for node in walk(tree) if isinstance(node, _IMPORTS)}
    for node in walk(new):
        if not isinstance(node, _IMPORTS) or _module_of(node) in before:
            continue
        names = aliases(node).values()
        computes = bool(names) and all(n.partition(".")[0] in PURE and is_pure(n) for n in names)
        if not computes:
            raise gate_error(f"adds `{ast.unparse(node)}`")
    _look_through(old, new)
    _see_roots(old, new, tree)
    imported = aliases(tree) | aliases(new)
    if set(calls_out(new, imported, named)) - set(calls_out(old, imported, named)):
        raise gate_error("reaches out of the process")
    return text


def _dump(unit: Unit) -> str:
    """Dump a unit's own code; the header of a function or class is its surroundings'."""
    return "".join(map(ast.dump, _bare(unit.node).body))


def _bare(node: ast.AST) -> ast.Module:
    """Return the statements of a function, class or module, its inner ones without their bodies."""
    copy = ast.Module(body=deepcopy(getattr(node, "body", [])), type_ignores=[])
    for inner in _scopes(copy):
        inner.body = [ast.Pass()]
    return copy


def _scopes(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    """Yield the functions and classes in a tree, but for those in others."""
    for node in children(tree):
        if isinstance(node, ScopeNode):
            yield node
        else:
            yield from _scopes(node)


_IMPORTS = (ast.Import, ast.ImportFrom)


def _module_of(node: ast.Import | ast.ImportFrom) -> tuple[int, str]:
    if isinstance(node, ast.ImportFrom):
        return node.level, node.module or ""
    return 0, ",".join(alias.name for alias in node.names)


def checked_fix(source: SourceMap, unit: Unit, answer: str, named: Collection[str] = ()) -> str:
    """Return the text of the file with the function ``unit`` as the answer has it.

    Other than an inspection, a fix may change statements. So its text is held to what the function
    did already: the same signature, no new way out of the process, nothing that runs text or looks
    behind the scenes, no call of what is ``named``. Then tests decide, as of every other candidate.

    Raises:
        PatchError: If it is another function, or does what the function did not do before.
    """
    if not isinstance(unit.node, FunctionNode):
        raise gate_error("is for code that is no function")
    text = lines_at(answer.strip("\r\n"), "")
    new = only_function(text)
    same_header(unit.node, new)
    _look_through(unit.node, new)
    kinds = (*_IMPORTS, ast.ClassDef)
    before = {ast.dump(node) for node in walk(unit.node) if isinstance(node, kinds)}
    for node in walk(new):
        if isinstance(node, kinds) and ast.dump(node) not in before:
            raise gate_error(f"adds `{ast.unparse(node).partition(chr(10))[0]}`")
    _see_roots(unit.node, new, source.module.node)
    if calls_out(new, aliases(source.module.node), named):
        raise gate_error("reaches out of the process")
    lines, own = lines_of(source.text), lines_of(text)
    if len(own) > MAX_LINES:
        raise gate_error(f"has {len(own)} lines")
    start, end = unit.location.start_line - 1, unit.location.end_line
    blanks = lines[unit.node.lineno - 1][: unit.node.col_offset]
    body = lines_at("".join(own[new.lineno - 1 : new.end_lineno]).rstrip("\n") + "\n", blanks)
    changed = "".join([*lines[:start], body, *lines[end:]])
    twin = SourceMap(changed, source.file)
    if twin.is_broken or len(twin.units) < source.units.index(unit):
        raise gate_error("can't be put in place")
    return changed


def lines_at(text: str, blanks: str) -> str:
    """Return a function's text with ``blanks`` as the indentation of its first line.

    Lines within a text over several lines stay as they are: their blanks are part of it.
    """
    given = text[: len(text) - len(text.lstrip(" \t"))]
    try:
        whole = io.StringIO(f"if 1:\n{text}" if given else text)
        within = {
            line - 1 - bool(given)
            for token in tokenize.generate_tokens(whole.readline)
            if token.type in _TEXTS
            for line in range(token.start[0] + 1, token.end[0] + 1)
        }
    except (SyntaxError, tokenize.TokenError) as error:
        raise gate_error(f"does not parse ({error})") from error
    return "".join(
        line if n in within or not line.strip() else blanks + line.removeprefix(given)
        for n, line in enumerate(lines_of(text))
    )


def _look_through(old: ast.AST, new: ast.AST) -> None:
    """Reject new names that reach I/O, and new ``global`` and ``nonlocal`` statements."""
    found = _named(new) - _named(old)
    bad = {name for name in found if name in _FORBIDDEN or name.startswith("__")}
    if bad:
        raise gate_error(f"uses `{min(bad)}`")
    kinds = (ast.Global, ast.Nonlocal)
    before = {ast.dump(node) for node in walk(old) if isinstance(node, kinds)}
    for node in walk(new):
        if isinstance(node, kinds) and ast.dump(node) not in before:
            raise gate_error(f"adds `{ast.unparse(node)}`")


def _see_roots(old: ast.AST, new: ast.AST, tree: ast.AST) -> None:
    """Check that what is imported is used as it was, or only computes.

    Names of imported modules and classes lead anywhere: ``os.path`` to ``os.system``, and what is
    not called at once, as in ``map(os.remove, names)``, is used all the same.
    """
    imported = {
        bound_name(alias): alias.name
        for node in (*walk(tree), *walk(new))
        if isinstance(node, _IMPORTS)
        for alias in node.names
    }
    meant = aliases(tree) | aliases(new)
    known = set(_chains(old))
    for chain in _chains(new):
        root, _, rest = chain.partition(".")
        if chain in known or root not in imported:
            continue
        full = f"{meant[root]}.{rest}".rstrip(".") if root in meant else ""
        if not (full.partition(".")[0] in PURE and is_pure(full)):
            raise gate_error(f"uses `{chain}` in a new way")


def _chains(function: ast.AST) -> list[str]:
    """Return the dotted names in a function, each as long as it is written: ``os.path.join``."""
    inner = {id(node.value) for node in walk(function) if isinstance(node, ast.Attribute)}
    whole = (node for node in walk(function) if id(node) not in inner)
    return [name for node in whole if (name := dotted(node))]


def _named(function: ast.AST) -> set[str]:
    return names_in(function) | attributes_in(function)


# -- the shape of a rewritten function


def short(node: ast.AST) -> str:
    """Return the text of a piece of code, on one line."""
    return brief(ast.unparse(node), 80)


def gate_error(why: str) -> PatchError:
    """Return the error of a rewritten function that is not run; ``why`` goes on after "it"."""
    return PatchError(f"it {why}", slug="llm-gate")


def same_header(original: FunctionNode, rewritten: FunctionNode) -> None:
    """Check that a function has the name, signature and, if it has any, decorators of another."""
    old, new = ([*map(dump_of, f.decorator_list)] for f in (original, rewritten))
    if _header(rewritten) != _header(original) or (new and new != old):
        raise gate_error("changes the signature or the decorators")


def only_function(text: str) -> FunctionNode:
    """Return the one function that a text is."""
    text = text.strip("\r\n")
    is_indented = text[:1] in {" ", "\t"}
    try:
        body = parse(f"if 1:\n{text}" if is_indented else text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise gate_error(f"does not parse ({error})") from error
    if is_indented and len(body) == 1 and isinstance(body[0], ast.If):
        body = [*body[0].body, *body[0].orelse]
    if len(body) != 1 or not isinstance(body[0], FunctionNode):
        kinds = ", ".join(sorted({type(node).__name__ for node in body})) or "nothing"
        raise gate_error(f"is not the one function that was asked for, but {kinds}")
    return body[0]


def _header(function: FunctionNode) -> list[str]:
    parts = [function.args, *getattr(function, "type_params", [])]
    returns = "" if function.returns is None else dump_of(function.returns)
    return [type(function).__name__, function.name, returns, *map(dump_of, parts)]


def dump_of(node: ast.AST) -> str:
    """Dump a syntax tree, without white space around the line breaks of its texts."""
    return re.sub(r"(?: |\\t)*\\n(?: |\\t)*", r"\\n", ast.dump(node))
