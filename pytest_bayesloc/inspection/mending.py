"""A function that a language model rewrote: what of it may be run.

Other than an inspection, a fix may change statements. So its text is held to what the function did
already: the same signature, no new way out of the process, nothing that runs text or looks behind
the scenes. Then tests decide, as of every other candidate.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Collection

from pytest_bayesloc.domain.dialogue import ProposedCode
from pytest_bayesloc.domain.errors import PatchError
from pytest_bayesloc.domain.source import FunctionNode, SourceMap, Unit, lines_of
from pytest_bayesloc.inspection.gate import only_function, same_header
from pytest_bayesloc.inspection.looking import refused
from pytest_bayesloc.rerun.world import (
    DENIED,
    INNER,
    METHODS,
    PURE,
    RISKY,
    aliases,
    calls_out,
    is_pure,
)

MAX_LINES = 400
#: Formatted ones come in parts from Python 3.12 on.
_TEXTS = frozenset({tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)})
#: Built-ins that only the careful need to be kept from: a fix may iterate and call its parent.
_HARMLESS = frozenset({"iter", "next", "super", "getattr", "memoryview", "anext", "aiter"})
#: Attributes that lead out whatever they are taken from.
_LEADS_OUT = frozenset(
    {"FileHandler", "Popen", "connect", "execv", "execve", "execvp", "fork", "kill", "killpg",
     "popen", "putenv", "removedirs", "sendall", "spawnl", "spawnv", "system", "unsetenv",
     "urlopen", "urlretrieve"}
)  # fmt: skip
_FORBIDDEN = (DENIED - _HARMLESS) | RISKY | INNER | METHODS | _LEADS_OUT


def mended(source: SourceMap, unit: Unit, answer: ProposedCode, named: Collection[str] = ()) -> str:
    """The text of the file with the function as the answer has it.

    Args:
        source: The file.
        unit: A function of it, which does not reach out.
        answer: The function, rewritten.
        named: What else must not be called.

    Raises:
        PatchError: If it is another function, or does what the function did not do before.
    """
    if not isinstance(unit.node, FunctionNode):
        raise PatchError("it is for code that is no function", slug="llm-gate")
    text = lines_at(answer.text.strip("\r\n"), "")
    new = only_function(text)
    same_header(unit.node, new)
    _look_through(unit.node, new)
    _see_roots(unit.node, new, source.module.node)
    if calls_out(new, aliases(source.module.node), named):
        raise refused("reaches out of the process")
    lines, own = lines_of(source.text), lines_of(text)
    if len(own) > MAX_LINES:
        raise refused(f"has {len(own)} lines")
    start, end = unit.location.start_line - 1, unit.location.end_line
    blanks = lines[unit.node.lineno - 1][: unit.node.col_offset]
    body = lines_at("".join(own[new.lineno - 1 : new.end_lineno]).rstrip("\n") + "\n", blanks)
    changed = "".join([*lines[:start], body, *lines[end:]])
    twin = SourceMap(changed, source.file)
    if twin.is_broken or len(twin.units) < source.units.index(unit):
        raise refused("can't be put in place")
    return changed


def lines_at(text: str, blanks: str) -> str:
    """A function's text with ``blanks`` as the indentation of its first line.

    Lines within a text over several lines stay as they are: their blanks are part of it.

    Raises:
        PatchError: If the text does not parse.
    """
    given = text[: len(text) - len(text.lstrip(" \t"))]
    try:
        within = _within_texts(f"if 1:\n{text}" if given else text, 1 + bool(given))
    except (SyntaxError, tokenize.TokenError) as error:
        raise refused(f"does not parse ({error})") from error
    return "".join(
        line if n in within or not line.strip() else blanks + line.removeprefix(given)
        for n, line in enumerate(lines_of(text))
    )


def _within_texts(text: str, first: int) -> set[int]:
    """The lines that begin within a text, counted from line ``first``."""
    return {
        line - first
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type in _TEXTS
        for line in range(token.start[0] + 1, token.end[0] + 1)
    }


def _look_through(old: FunctionNode, new: FunctionNode) -> None:
    """See that nothing is named that was not, and leads out.

    Raises:
        PatchError: If something is.
    """
    found = _named(new) - _named(old)
    bad = {name for name in found if name in _FORBIDDEN or name.startswith("__")}
    if bad:
        raise refused(f"uses `{min(bad)}`")
    kinds = (ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal, ast.ClassDef)
    before = {ast.dump(node) for node in ast.walk(old) if isinstance(node, kinds)}
    for node in ast.walk(new):
        if isinstance(node, kinds) and ast.dump(node) not in before:
            raise refused(f"adds `{ast.unparse(node).partition(chr(10))[0]}`")


def _see_roots(old: FunctionNode, new: FunctionNode, tree: ast.AST) -> None:
    """See that what is imported is used as it was, or only computes.

    Names of imported modules and classes lead anywhere: ``os.path`` to ``os.system``, and what is
    not called at once, as in ``map(os.remove, names)``, is used all the same.

    Raises:
        PatchError: If it is not.
    """
    imported = {
        alias.asname or alias.name.partition(".")[0]: alias.name
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }
    meant = aliases(tree)
    known = set(_chains(old))
    for chain in _chains(new):
        root, _, rest = chain.partition(".")
        if chain in known or root not in imported:
            continue
        full = f"{meant[root]}.{rest}".rstrip(".") if root in meant else ""
        if not (full.partition(".")[0] in PURE and is_pure(full)):
            raise refused(f"uses `{chain}` in a new way")


def _chains(function: ast.AST) -> list[str]:
    """The dotted names in a function, each as long as it is written: ``os.path.join``."""
    inner = {id(node.value) for node in ast.walk(function) if isinstance(node, ast.Attribute)}
    found = []
    for node in ast.walk(function):
        if isinstance(node, (ast.Attribute, ast.Name)) and id(node) not in inner:
            base = node
            while isinstance(base, ast.Attribute):
                base = base.value  # type: ignore[assignment]  # any expression
            if isinstance(base, ast.Name):
                found.append(ast.unparse(node))
    return found


def _named(function: ast.AST) -> set[str]:
    names = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
    return names | {node.attr for node in ast.walk(function) if isinstance(node, ast.Attribute)}
