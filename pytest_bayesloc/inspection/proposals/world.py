"""Functions that change more than values: what an edit of theirs does can't be taken back."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from pytest_bayesloc.domain.source import SourceMap, Unit

#: Modules whose calls reach out of the process.
MODULES = frozenset(
    {"ftplib", "http.client", "os", "paramiko", "requests", "httpx", "shutil", "signal", "smtplib",
     "socket", "subprocess", "tempfile", "urllib.request"}
)  # fmt: skip
#: What only asks, of those.
ASKS = frozenset(
    {"os.access", "os.cpu_count", "os.environ", "os.fsdecode", "os.fsencode", "os.fspath",
     "os.getcwd", "os.getenv", "os.getpid", "os.listdir", "os.lstat", "os.path", "os.scandir",
     "os.stat", "os.urandom", "os.walk", "shutil.disk_usage", "shutil.get_terminal_size",
     "shutil.which", "tempfile.gettempdir"}
)  # fmt: skip
#: Methods that change files, whatever they are called on.
METHODS = frozenset(
    {"chmod", "hardlink_to", "mkdir", "rename", "rmdir", "rmtree", "symlink_to", "touch", "unlink",
     "write_bytes", "write_text"}
)  # fmt: skip
WRITES = frozenset("wax+")


def reaches_out(source: SourceMap, unit: Unit, named: Collection[str] = ()) -> bool:
    """Whether ``unit`` itself calls what changes files, processes or other machines.

    Args:
        source: Its file.
        unit: A function.
        named: More such functions, methods or modules, as the user names them: ``db.execute``,
            ``send_mail``.
    """
    imported = aliases(source.module.node)
    calls = (node for node in ast.walk(unit.node) if isinstance(node, ast.Call))
    return any(_reaches_out(call, imported, frozenset(named)) for call in calls)


def _reaches_out(call: ast.Call, imported: Mapping[str, str], named: frozenset[str]) -> bool:
    parts = _dotted(call.func, imported).split(".")
    starts = {".".join(parts[:n]) for n in range(1, len(parts) + 1)}
    ends = {".".join(parts[n:]) for n in range(len(parts))}
    if not named.isdisjoint(starts | ends):
        return True
    if parts[-1] == "open":
        return _writes(call)
    in_module = not MODULES.isdisjoint(starts) and ASKS.isdisjoint(starts)
    return in_module or (len(parts) > 1 and parts[-1] in METHODS)


def _writes(call: ast.Call) -> bool:
    """Whether a call of ``open`` may write: its mode is not a literal that only reads."""
    given = [*call.args[1:2], *(k.value for k in call.keywords if k.arg == "mode")]
    is_method = isinstance(call.func, ast.Attribute)
    given += call.args[:1] if is_method else []
    modes = [node.value if isinstance(node, ast.Constant) else "w" for node in given]
    return any(isinstance(mode, str) and not WRITES.isdisjoint(mode) for mode in modes)


def _dotted(function: ast.expr, imported: Mapping[str, str]) -> str:
    """``os.path.join`` of what is called, imports resolved; ``?`` for what has no name."""
    parts: list[str] = []
    node = function
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    first = imported.get(node.id, node.id) if isinstance(node, ast.Name) else "?"
    return ".".join((first, *reversed(parts)))


def aliases(tree: ast.AST) -> dict[str, str]:
    """Per name that an import of the file binds, what it stands for."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                found[alias.asname or top] = alias.name if alias.asname else top
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}
    return found
