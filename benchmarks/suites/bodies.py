"""What runs while a module is imported: its body and those of its classes."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.suites.functions import DEFS, parts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.suites.functions import SourceFile

MODULE = "<module>"
METADATA = re.compile(
    r"__(all|author|author_email|copyright|credits|date|description|docformat|email|license"
    r"|maintainer|status|title|url|version|version_info)__"
)
# Calls and subscripts that make something for type checkers.
OF_TYPES = re.compile(
    r"Annotated|Callable|ClassVar|Literal|NewType|Optional|ParamSpec|TypeVar|TypeVarTuple|Union"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """The body of a module or class.

    Decorators and bases of what is defined in it are part of it: it runs them.

    Attributes:
        file: The file.
        qualname: As ``__qualname__``; ``<module>`` for a module.
        node: Its syntax.
    """

    file: SourceFile
    qualname: str
    node: ast.Module | ast.ClassDef

    @property
    def start_line(self) -> int:
        """Line of the ``class``, below decorators; 1 for a module."""
        return self.node.lineno if isinstance(self.node, ast.ClassDef) else 1

    def own_nodes(self) -> tuple[ast.AST, ...]:
        """What it runs, in the order it stands."""
        if self.node not in self.file.walked:
            self.file.walked[self.node] = tuple(self._walk())
        return self.file.walked[self.node]

    def _walk(self) -> Iterator[ast.AST]:
        pending: list[ast.AST] = list(reversed(self.node.body))
        while pending:
            node = pending.pop()
            if isinstance(node, ast.stmt) and is_idle(node):
                continue
            yield node
            pending.extend(reversed(list(_run(node))))


def bodies(file: SourceFile) -> Iterator[Body]:
    """The bodies of ``file`` that an import runs; classes inside functions are not among them."""
    yield Body(file=file, qualname=MODULE, node=file.syntax)
    yield from _classes(file, file.syntax, "")


def is_idle(node: ast.stmt) -> bool:
    """Whether a statement is none of the program's doing: a docstring, metadata, for typing."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant) or _is_metadata(_receiver(node.value))
    if isinstance(node, ast.If):
        names = {each.id for each in ast.walk(node.test) if isinstance(each, ast.Name)}
        names |= {each.attr for each in ast.walk(node.test) if isinstance(each, ast.Attribute)}
        return bool(names & {"TYPE_CHECKING", "__name__"})
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    named = any(_is_metadata(getattr(each, "id", "")) for each in targets)
    return named or _is_of_types(node)


def _is_of_types(node: ast.stmt) -> bool:
    if isinstance(node, ast.AnnAssign) and "TypeAlias" in ast.unparse(node.annotation):
        return True
    value = getattr(node, "value", None)
    if isinstance(value, ast.Call):
        return OF_TYPES.fullmatch(_last_name(value.func)) is not None
    made = _last_name(value.value) if isinstance(value, ast.Subscript) else ""
    return OF_TYPES.fullmatch(made) is not None


def _is_metadata(name: str) -> bool:
    return METADATA.fullmatch(name) is not None


def _last_name(node: ast.expr) -> str:
    return str(getattr(node, "attr", getattr(node, "id", "")))


def _run(node: ast.AST) -> Iterator[ast.AST]:
    """What running ``node`` runs at once."""
    if isinstance(node, DEFS):
        yield from node.decorator_list
    elif isinstance(node, ast.ClassDef):
        yield from node.decorator_list
        if node.body[0].lineno > node.lineno:  # else the line is the class's own
            yield from (*node.bases, *node.keywords)
    elif not isinstance(node, ast.Lambda):
        yield from parts(node)


def _receiver(node: ast.expr) -> str:
    """``X`` in ``X.method()``."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return getattr(node.func.value, "id", "")
    return ""


def _classes(file: SourceFile, parent: ast.AST, prefix: str) -> Iterator[Body]:
    for node in ast.iter_child_nodes(parent):
        if isinstance(node, ast.ClassDef):
            yield Body(file=file, qualname=f"{prefix}{node.name}", node=node)
            yield from _classes(file, node, f"{prefix}{node.name}.")
        elif not isinstance(node, DEFS):
            yield from _classes(file, node, prefix)
