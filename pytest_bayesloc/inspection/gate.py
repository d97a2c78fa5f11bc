"""The gate for a function that a language model rewrote: it lets added assertions pass, no more.

The syntax trees of both are laid beside each other. Every statement of the original has to be
there, unchanged and in its place; what is added may only look. The rewritten text itself is never
compiled: what passes is written into the original.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from pytest_bayesloc.domain.source import FunctionNode, ScopeNode
from pytest_bayesloc.inspection.rules import (
    Addition,
    Rules,
    dump_of,
    gate_error,
    only_function,
    same_header,
    short,
)

MAX_ASSERTIONS = 16
MAX_NODES = 600  # of all that is added


def admit(original: FunctionNode, text: str, module: ast.AST) -> list[Addition]:
    """Return what ``text`` adds to the function ``original``, in the order of the text.

    Args:
        original: The function as it stands in its file.
        text: The function as the model gave it back.
        module: The syntax tree of the file.

    Raises:
        PatchError: If it does anything else than add assertions, or adds none.
    """
    try:
        found = additions(original, only_function(text))
        _bounded(found)
        Rules(original, module).check(found)
        if not any(isinstance(node, ast.Assert) for node in _nodes(found)):
            raise gate_error("adds no assertion")
    except (ValueError, RecursionError, MemoryError) as error:  # the parser takes more than we do
        raise gate_error(f"can't be looked through ({error})") from error
    return found


def additions(original: FunctionNode, rewritten: FunctionNode) -> list[Addition]:
    """Return what ``rewritten`` has that ``original`` does not, in the order of the text.

    Decorators may be left out, since they are not shown; white space around the line breaks of a
    text is not compared, since it moves with the function.

    Raises:
        PatchError: If a statement of ``original`` is missing or changed, or the signature is.
    """
    same_header(original, rewritten)
    has_docstring = ast.get_docstring(original, clean=False) is not None
    walk = _Walk(
        first=original.body[min(int(has_docstring), len(original.body) - 1)],
        docstring=original.body[0] if has_docstring else None,
    )
    walk.align(original.body, rewritten.body)
    return walk.found


def _bounded(found: Sequence[Addition]) -> None:
    nodes = _nodes(found)
    n = sum(isinstance(node, ast.Assert) for node in nodes)
    if n > MAX_ASSERTIONS or len(nodes) > MAX_NODES:
        raise gate_error(
            f"adds {n} assertions of {len(nodes)} parts, more than can be looked through"
        )


def _nodes(found: Sequence[Addition]) -> list[ast.AST]:
    added = [statement for addition in found for statement in addition.statements]
    return [node for statement in added for node in ast.walk(statement)]


@dataclass
class _Walk:
    """Lays statements beside those of the original, and collects what is new."""

    first: ast.stmt
    docstring: ast.stmt | None
    found: list[Addition] = field(default_factory=list)

    def align(self, old: Sequence[ast.stmt], new: Sequence[ast.stmt]) -> None:
        """Take ``new`` for ``old`` with additions.

        Raises:
            PatchError: If a statement of ``old`` is missing or changed.
        """
        rest, at = list(new), 0
        for statement in old:
            start = at
            while at < len(rest) and not self._is_same(statement, rest[at]):
                end = _checked_return(statement, rest, at)
                if end:
                    self._add(statement, "before", rest[start:at])
                    self._add(statement, "return", rest[at + 1 : end], _target(rest[at]))
                    at = end + 1
                    break
                at += 1
            else:
                if at == len(rest):
                    raise gate_error(f"lacks or changes `{short(statement)}`")
                self._add(statement, "before", rest[start:at])
                self._blocks(statement, rest[at])
                at += 1
        self._add(old[-1], "end", rest[at:])

    def _add(
        self, anchor: ast.stmt, where: str, statements: Iterable[ast.stmt], name: str = ""
    ) -> None:
        if anchor is self.docstring and where == "before":  # it has to stay first
            anchor, where = self.first, "end" if self.first is self.docstring else "before"
        kept = tuple(_kept(statements))
        if not kept:
            return
        last = self.found[-1] if self.found else None
        if last is not None and last.anchor is anchor and last.where == where:
            kept = (*last.statements, *kept)
            self.found.pop()
        is_entry = where == "before" and anchor is self.first
        self.found.append(Addition(anchor, where, kept, name=name, is_entry=is_entry))

    def _is_same(self, old: ast.stmt, new: ast.stmt) -> bool:
        """Say whether they are one statement, blocks inside them aside."""
        if type(old) is not type(new):
            return False
        if isinstance(old, ScopeNode) or not any(_blocks(old)):
            return dump_of(old) == dump_of(new)
        return _heads(old) == _heads(new)

    def _blocks(self, old: ast.stmt, new: ast.stmt) -> None:
        if isinstance(old, ScopeNode):
            return
        for before, after in zip(_blocks(old), _blocks(new), strict=True):
            if before and after:
                self.align(before, after)
            elif before or after:
                raise gate_error(f"changes `{short(old)}`")


def _blocks(statement: ast.AST) -> list[list[ast.stmt]]:
    """Return the blocks of a compound statement, in a fixed order, empty ones too."""
    found: list[list[ast.stmt]] = []
    for name, value in ast.iter_fields(statement):
        if name in {"body", "orelse", "finalbody"} and isinstance(value, list):
            found.append(value)
        elif name in {"handlers", "cases"}:
            for part in value:
                found += _blocks(part)
    return found


def _heads(statement: ast.AST) -> list[str]:
    """Return all of a compound statement but its blocks."""
    found = [type(statement).__name__]
    for name, value in ast.iter_fields(statement):
        if name in {"handlers", "cases"}:
            for part in value:
                found += _heads(part)
        elif name not in {"body", "orelse", "finalbody"}:
            values = value if isinstance(value, list) else [value]
            found += [f"{name}={len(values)}"]
            found += [dump_of(v) if isinstance(v, ast.AST) else repr(v) for v in values]
    return found


def _checked_return(old: ast.stmt, rest: Sequence[ast.stmt], at: int) -> int:
    """Return the index of ``return name``, if ``old`` became ``name = value``, checks, and it.

    Zero if it did not.
    """
    name = _target(rest[at])
    if not name or not isinstance(old, ast.Return):
        return 0
    value = old.value if old.value is not None else ast.Constant(None)
    if dump_of(value) != dump_of(getattr(rest[at], "value", value)):
        return 0
    ends = (i for i in range(at + 1, len(rest)) if isinstance(rest[i], ast.Return))
    end = next(ends, 0)
    given = getattr(rest[end], "value", None)
    return end if isinstance(given, ast.Name) and given.id == name else 0


def _target(statement: ast.stmt) -> str:
    """Return the one name that ``statement`` gives a value; empty if it does anything else."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return ""
    target = statement.targets[0]
    return target.id if isinstance(target, ast.Name) else ""


def _kept(statements: Iterable[ast.stmt]) -> list[ast.stmt]:
    """Drop heartbeats, which are added anyway, prints and texts: they are not run."""
    kept: list[ast.stmt] = []
    for statement in statements:
        if isinstance(statement, ast.If):
            body, orelse = _kept(statement.body), _kept(statement.orelse)
            if body or orelse:
                kept.append(ast.If(statement.test, body or [ast.Pass()], orelse))
        elif not _says_nothing(statement):
            kept.append(statement)
    return kept


def _says_nothing(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Pass):
        return True
    if not isinstance(statement, ast.Expr):
        return False
    value = statement.value
    if isinstance(value, ast.Call):
        return ast.unparse(value.func) in {"__bayesloc__.heartbeat", "print"}
    return isinstance(value, ast.Constant)
