"""Refuses fixes that make tests pass by silencing a check or knowing the test's answer.

Reference:
    docs/fixes.md, section "What is never proposed".
"""

from __future__ import annotations

import ast
import builtins
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache

from pytest_bayesloc.fixes.syntax import brief, tree_of

WIDTH = 60  # of code in a reason
_ASSERT = re.compile(r"\bassert\b")
_LEAVES = (ast.Return, ast.Break, ast.Continue, ast.Raise)
BROAD = frozenset({"", "BaseException", "Exception"})
_EQUAL = (ast.Eq, ast.NotEq, ast.In, ast.NotIn, ast.Is, ast.IsNot)
#: Values that code compares with whatever the test is about.
_PLAIN = frozenset({"None", "True", "False", "Ellipsis", "0", "1", "2", "-1", "''", "b''", "0.0"})


def unsound(before: str, after: str, tests: Sequence[str] = (), code: str = "") -> str:
    """Says why ``after`` is no fix of ``before``; empty if nothing speaks against it.

    Args:
        before: Text of a Python file that is no test, or of a function of it.
        after: The same with a change.
        tests: Texts of failing tests and of what they are given, each by itself.
        code: Text of the whole file: values that it has anywhere are its own.
    """
    old, new = tree_of(before), tree_of(after)
    if new is None:
        return "it does not parse"
    own = frozenset(_literals(code)) if code else frozenset()
    values = frozenset(text for test in tests for text in _literals(test))
    if old is None:  # all that is known of it are its words
        return _adds_to_words(before, after, _telling(new), values)
    return next(_reasons(old, new, values - own), "")


def _adds_to_words(before: str, after: str, told: Iterator[str], values: frozenset[str]) -> str:
    """Says why a text is no fix of one that does not parse; empty if nothing speaks against it."""
    if len(_ASSERT.findall(before)) > len(_ASSERT.findall(after)):
        return "it takes away a check"
    fresh = (text for text in told if text.strip("'\"") not in before)
    known = next((text for text in fresh if text in values), "")
    return f"it knows a value of the test: {brief(known, WIDTH)}" if known else ""


def _reasons(old: ast.AST, new: ast.AST, values: frozenset[str]) -> Iterator[str]:
    if lost := _asserts(old) - _asserts(new):
        yield f"it takes away the check `{brief(next(iter(lost))[0], WIDTH)}`"
    before, now = _swallowing(old), _swallowing(new)
    if now.total() > before.total():
        yield f"it swallows errors: {brief(next(iter(now - before)), WIDTH)}"
    if caught := _wider(_caught(old), _caught(new)):
        yield f"it catches more: {caught}"
    if known := _answers(old, new, values):
        yield f"it knows a value of the test: {brief(known, WIDTH)}"


def _asserts(tree: ast.AST, around: tuple[str, ...] = ()) -> Counter[tuple[str, tuple[str, ...]]]:
    """Each assert with the kinds of statements around it: one that moved may not be reached."""
    found: Counter[tuple[str, tuple[str, ...]]] = Counter()
    for name, value in ast.iter_fields(tree):
        is_over = False
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST):
                continue
            here = (*around, "dead") if is_over else around
            if isinstance(child, ast.Assert):
                found[ast.unparse(child), here] += 1
            inner = (*here, f"{type(child).__name__}.{name}") if _is_block(child) else here
            found += _asserts(child, inner)
            is_over |= isinstance(child, _LEAVES)
    return found


def _is_block(node: ast.AST) -> bool:
    return isinstance(node, ast.stmt) and hasattr(node, "body")


def _swallowing(tree: ast.AST) -> Counter[str]:
    """The handlers that don't raise again, and what leaves a ``finally`` otherwise."""
    found: Counter[str] = Counter()
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler):
            if not any(isinstance(n, ast.Raise) for n in ast.walk(node)):
                found[f"except {', '.join(_names(node.type))}".strip()] += 1
        elif isinstance(node, ast.Try):
            left = (n for part in node.finalbody for n in ast.walk(part))
            found.update("finally" for n in left if isinstance(n, _LEAVES[:3]))
    return found


def _caught(tree: ast.AST) -> Counter[str]:
    """The names of exceptions that are caught, by ``except`` and by ``suppress``."""
    found: Counter[str] = Counter()
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler):
            found.update(_names(node.type))
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("suppress"):
            found.update(name for argument in node.args for name in _names(argument))
    return found


def _names(caught: ast.expr | None) -> list[str]:
    """Returns the names in an ``except``; a bare one gives the empty string."""
    if caught is None:
        return [""]
    if isinstance(caught, ast.Tuple):
        return [ast.unparse(name) for name in caught.elts]
    return [ast.unparse(caught)]


def _wider(before: Counter[str], after: Counter[str]) -> str:
    """Names what is newly caught; one exception in the place of another is not wider."""
    added, removed = after - before, before - after
    for name in added:
        is_above = any(_is_above(name, other) for other in removed)
        if name in BROAD or is_above or added.total() > removed.total():
            return name or "everything"
    return ""


def _is_above(name: str, other: str) -> bool:
    """Whether catching ``name`` catches ``other`` as well."""
    kinds = [getattr(builtins, text, None) for text in (name, other)]
    if not all(isinstance(kind, type) for kind in kinds):
        return False
    above, below = kinds
    return above is not below and issubclass(below, above)  # type: ignore[arg-type]  # types both


def _answers(old: ast.AST, new: ast.AST, literals: frozenset[str]) -> str:
    """A value of the test that the code compares with or returns now, and did not before."""
    fresh = Counter(_telling(new)) - Counter(_telling(old))
    return next((text for text in fresh if text in literals), "")


def _telling(tree: ast.AST) -> Iterator[str]:
    """The constants that are compared for being equal, are cases, in tables, or returned."""
    for node in ast.walk(tree):
        told: list[ast.AST] = []
        if isinstance(node, ast.Compare) and any(isinstance(op, _EQUAL) for op in node.ops):
            told = [node.left, *node.comparators]
        elif isinstance(node, ast.MatchValue):
            told = [node.value]
        elif isinstance(node, ast.Dict):  # a table of answers
            told = [part for part in (*node.keys, *node.values) if part is not None]
        elif isinstance(node, (ast.Return, ast.IfExp)):
            told = [n for n in ast.iter_child_nodes(node) if not isinstance(n, ast.Compare)]
        for part in told:
            yield from _constants(part)


def _constants(node: ast.AST) -> Iterator[str]:
    """The literals of an expression, where it is nothing but literals."""
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        for item in node.elts:
            yield from _constants(item)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant):
        yield ast.unparse(node)
    elif isinstance(node, ast.Constant):
        yield repr(node.value)


@lru_cache(maxsize=64)  # each candidate asks
def _literals(test: str) -> frozenset[str]:
    """The literals of a text that are worth knowing."""
    indent = "if True:\n" if test[:1].isspace() else ""  # a method by itself
    tree = tree_of(indent + test)
    if tree is None:
        return frozenset()
    found = {text for node in ast.walk(tree) for text in _constants(node)}
    return frozenset(found - _PLAIN)
