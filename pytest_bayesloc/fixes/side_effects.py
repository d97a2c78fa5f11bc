"""Finds code that reaches out of the process, or that looking at would change."""

from __future__ import annotations

import ast
import re
import sys
from functools import lru_cache
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.source import FunctionNode
from pytest_bayesloc.syntax.nodes import dotted, nodes_of, walk

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from pytest_bayesloc.domain.source import SourceMap, Unit

#: Modules whose calls send something to other machines.
SENDING = frozenset(
    {"ftplib", "http.client", "httpx", "paramiko", "requests", "smtplib", "socket",
     "urllib.request"}
)  # fmt: skip
#: Functions that no fence holds: they write to a descriptor, which may be anybody's, make what
#: Python tells nobody of, or decide where a second copy of the re-run ends.
UNFENCED = frozenset(
    {"os._exit", "os.copy_file_range", "os.fork", "os.forkpty", "os.mkfifo", "os.mknod",
     "os.pwrite", "os.pwritev", "os.sendfile", "os.splice", "os.write", "os.writev"}
)  # fmt: skip
#: Methods that change files, whatever they are called on.
METHODS = frozenset(
    {"chmod", "hardlink_to", "mkdir", "rename", "rmdir", "rmtree", "symlink_to", "touch", "unlink",
     "write_bytes", "write_text"}
)  # fmt: skip
#: Built-ins and methods that give their items once.
ITERATORS = frozenset({"enumerate", "filter", "iter", "map", "reversed", "zip"})
READERS = frozenset({"DictReader", "finditer", "iterdir", "open", "reader", "scandir"})
_ONCE = re.compile(r"['\"]?(\w+\.)*((Async)?(Iterator|Generator)|(Text|Binary)?IO)\b")
#: Modules of the standard library that only compute.
PURE = frozenset(
    {"abc", "array", "bisect", "calendar", "cmath", "collections", "copy", "dataclasses",
     "datetime", "decimal", "difflib", "enum", "fractions", "functools", "heapq", "itertools",
     "json", "math", "numbers", "operator", "re", "statistics", "string", "textwrap", "typing",
     "unicodedata", "uuid"}
)  # fmt: skip
#: Names of those that change arguments or a setting, print, or run text.
IMPURE = frozenset(
    {"ForwardRef", "NamedTuple", "TypedDict", "attrgetter", "dataclass", "delitem", "dump", "final",
     "get_type_hints", "getnode", "heapify", "heappop", "heappush", "heappushpop", "heapreplace",
     "iadd", "iand", "iconcat", "ifloordiv", "ilshift", "imatmul", "imod", "imul", "insort",
     "insort_left", "insort_right", "ior", "ipow", "irshift", "isub", "itruediv", "ixor", "load",
     "make_dataclass", "methodcaller", "prcal", "prmonth", "prweek", "pryear", "runtime_checkable",
     "setcontext", "setfirstweekday", "setitem", "total_ordering", "update_wrapper", "wraps"}
)  # fmt: skip
#: Built-ins that run text, reach out, or change or use up objects of others.
DENIED = frozenset(
    {"__import__", "aiter", "anext", "breakpoint", "compile", "delattr", "eval", "exec", "exit",
     "getattr", "globals", "help", "input", "iter", "license", "locals", "memoryview", "next",
     "open", "print", "quit", "setattr", "super", "vars"}
)  # fmt: skip
#: Methods that change what they are called on, or reach out, whatever that is.
CHANGING = METHODS | frozenset(
    {"acquire", "add", "append", "appendleft", "byteswap", "cache_clear", "call_later",
     "call_soon", "cancel", "choice", "choices", "clear", "clear_flags", "close", "commit",
     "connect", "copyto", "create_task", "critical", "debug", "delete", "difference_update",
     "discard", "error", "exception", "exec_module", "execute", "executemany", "exit", "extend",
     "fetchall", "fetchmany", "fetchone", "fill", "flush", "frombytes", "fromfile", "fromlist",
     "gauss", "get_nowait", "getrandbits", "import_module", "info", "input", "insert", "integers",
     "intersection_update", "kill", "move_to_end", "next", "open", "permutation", "pop", "popen",
     "popitem", "popleft", "post", "put", "quit", "randbytes", "randint", "random", "randrange",
     "read", "readline", "readlines", "recv", "register", "release", "remove", "resize",
     "reverse", "rollback", "rotate", "run", "sample", "save", "seed", "send", "sendall", "set",
     "setdefault", "setflags", "shuffle", "sleep", "sort", "start", "stop", "submit",
     "symmetric_difference_update", "system", "terminate", "throw", "tofile", "truncate",
     "uniform", "update", "wait", "warning", "write", "writelines"}
)  # fmt: skip
#: Names that lead out of the process, however they were come by.
RISKY = SENDING | frozenset(
    {"asyncio", "bltns", "builtins", "ctypes", "environ", "importlib", "multiprocessing", "os",
     "pathlib", "pickle", "shutil", "signal", "subprocess", "sys", "tempfile", "threading"}
)  # fmt: skip
#: Attributes from which all names of a program can be reached, or text be run.
INNER = frozenset(
    {"ag_frame", "breakpoint", "cr_frame", "delattr", "eval", "exec", "f_back", "f_builtins",
     "f_globals", "f_locals", "getattr", "gi_frame", "globals", "locals", "setattr", "tb_frame",
     "tb_next"}
)  # fmt: skip


def reaches_out(source: SourceMap, unit: Unit, named: Collection[str] = ()) -> bool:
    """Whether ``unit`` itself calls what a fence around a re-run can't hold.

    That is what sends to other machines. Files and commands are held (``rerun.fence``).

    Args:
        source: Its file.
        unit: A function.
        named: More such functions, methods or modules, as the user names them: ``db.execute``,
            ``send_mail``.
    """
    return bool(reaching_calls(source, unit, named))


def reaching_calls(source: SourceMap, unit: Unit, named: Collection[str] = ()) -> list[str]:
    """List the calls by which ``unit`` reaches out, as they are written; arguments as above."""
    return calls_out(unit.node, aliases(source.module.node), named)


def calls_out(tree: ast.AST, imported: Mapping[str, str], named: Collection[str] = ()) -> list[str]:
    """List the calls in ``tree`` that reach out, as they are written.

    Args:
        tree: Some syntax.
        imported: The dotted names of its file (``aliases``).
        named: As above.
    """
    found = []
    out = SENDING | UNFENCED
    for call in nodes_of(tree, ast.Call):
        parts = full_name(call.func, imported).split(".")
        starts = {".".join(parts[:n]) for n in range(1, len(parts) + 1)}
        ends = {".".join(parts[n:]) for n in range(len(parts))}
        if not (out.isdisjoint(starts) and (starts | ends).isdisjoint(named)):
            found.append(ast.unparse(call))
    return found


def full_name(function: ast.expr, imported: Mapping[str, str]) -> str:
    """Return the dotted name of a called function, imports resolved; ``?`` if it has no name."""
    first, dot, rest = dotted(function, unknown="?").partition(".")
    return f"{imported.get(first, first)}{dot}{rest}"


@lru_cache(maxsize=256)  # each function of a file asks for the same, and calls lead to others
def aliases(tree: ast.AST) -> dict[str, str]:
    """Map each name that an import of the file binds to its dotted name."""
    found: dict[str, str] = {}
    for node in nodes_of(tree, (ast.Import, ast.ImportFrom)):
        found |= bound_by(node)
    return found


def bound_by(node: ast.AST) -> dict[str, str]:
    """Map each name that an import binds to its dotted name; empty for other syntax."""
    found: dict[str, str] = {}
    if isinstance(node, ast.Import):
        for alias in node.names:
            top = alias.name.partition(".")[0]
            found[alias.asname or top] = alias.name if alias.asname else top
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        found = {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}
    return found


def meanings(function: ast.AST, tree: ast.AST) -> dict[str, set[str]]:
    """Map each name that ``function`` may have from elsewhere to all its possible meanings.

    Other than ``aliases`` it knows ``from os import *`` and ``run = subprocess.run``.
    """
    found: dict[str, set[str]] = {}
    for node in walk(tree):
        for name, meaning in bound_by(node).items():
            for bound, stands_for in _spread(name, meaning):
                found.setdefault(bound, set()).add(stands_for)
    for node in (*getattr(tree, "body", ()), *walk(function)):
        if isinstance(node, ast.Assign) and isinstance(node.value, (ast.Name, ast.Attribute)):
            # Such as ``run = subprocess.run`` and ``do = exec``.
            root, dot, rest = ast.unparse(node.value).partition(".")
            known = {f"{meaning}{dot}{rest}" for meaning in found.get(root, {root} & DENIED)}
            names = [t.id for t in node.targets if isinstance(t, ast.Name) and t.id != root]
            for name in names if known else ():
                found.setdefault(name, set()).update(known)
    return found


def _spread(name: str, meaning: str) -> Iterator[tuple[str, str]]:
    """Yield all names that ``from module import *`` binds; the one name of any other import."""
    if name != "*":
        yield name, meaning
        return
    module = meaning.removesuffix(".*")
    loaded = sys.modules.get(module) if module.partition(".")[0] in _STANDARD else None
    names = [] if loaded is None else [n for n in vars(loaded) if not n.startswith("_")]
    for public in getattr(loaded, "__all__", names):
        yield public, f"{module}.{public}"


def is_pure(name: str) -> bool:
    """Return whether ``name``, dotted, only computes or is not of the standard library."""
    top, *parts = name.split(".")
    if top in DENIED or top in RISKY:
        return False
    if top not in _STANDARD:
        return True
    if top not in PURE or any(part.startswith("_") or part in IMPURE for part in parts):
        return False
    value: object = import_module(top)
    for part in parts:
        value = getattr(value, part, None)
    return not isinstance(value, ModuleType) or value.__name__.partition(".")[0] in PURE | _ABCS


_STANDARD = sys.stdlib_module_names
_ABCS = frozenset({"_collections_abc"})  # the same as collections.abc


class OnceOnly:
    """Finds expressions that give their items only once, so that looking uses them up.

    Args:
        function: The names are looked up in it.
        tree: The syntax tree of its file.

    Attributes:
        names: Texts of expressions: ``lines``, ``self.lines``.
    """

    def __init__(self, function: ast.AST, tree: ast.AST) -> None:
        nodes = walk(tree)
        own = {id(node) for node in (*walk(function), *getattr(tree, "body", ()))}
        self._imported = aliases(tree)
        # A generator that is decorated is most often a context manager.
        plain = (n for n in nodes if isinstance(n, FunctionNode) and not n.decorator_list)
        kinds = (ast.Yield, ast.YieldFrom)
        self._generators = {n.name for n in plain if any(nodes_of(n, kind) for kind in kinds)}
        self.names: frozenset[str] = frozenset()
        texts = ((ast.unparse(t), id(n) in own) for n in nodes for t in self._named_by(n))
        self.names = frozenset(text for text, is_own in texts if is_own or "." in text)

    def is_made_by(self, value: ast.expr | None) -> bool:
        """Whether the value of an expression is such."""
        if isinstance(value, ast.Call):
            name = full_name(value.func, self._imported)
            own = name.rpartition(".")[2]
            is_known = name in ITERATORS or own in READERS | self._generators
            return is_known or name.startswith("itertools.")
        if isinstance(value, (ast.Name, ast.Attribute)):
            return ast.unparse(value) in self.names
        return isinstance(value, ast.GeneratorExp)

    def _named_by(self, node: ast.AST) -> list[ast.expr]:
        """List the names that ``node`` gives to such a value, or treats as one."""
        if isinstance(node, ast.Assign):
            return node.targets if self.is_made_by(node.value) else []
        if isinstance(node, (ast.AnnAssign, ast.NamedExpr)):
            is_said = isinstance(node, ast.AnnAssign) and _says_once(node.annotation)
            return [node.target] if is_said or self.is_made_by(node.value) else []
        if isinstance(node, ast.withitem) and node.optional_vars is not None:
            return [node.optional_vars] if self.is_made_by(node.context_expr) else []
        if isinstance(node, ast.arg):
            return [ast.Name(node.arg)] if _says_once(node.annotation) else []
        is_next = isinstance(node, ast.Call) and ast.unparse(node.func) in {"next", "anext"}
        return node.args[:1] if is_next and isinstance(node, ast.Call) else []


def _says_once(annotation: ast.expr | None) -> bool:
    """Whether an annotation names an iterator or a stream."""
    text = "" if annotation is None else ast.unparse(annotation)
    return _ONCE.match(text) is not None
