"""Answers questions about a syntax tree, or a function in it, and edits the text that it is of."""

from __future__ import annotations

import ast
import builtins
import difflib
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import TypeAlias, TypeVar

from pytest_bayesloc.domain.recording import Sample
from pytest_bayesloc.domain.source import (
    FILLED,
    FORMATTED,
    FunctionNode,
    ScopeNode,
    first_line,
    lines_of,
    parse,
)
from pytest_bayesloc.domain.texts import common_ends

N_SIMILAR = 3
SIMILAR = 0.6  # of difflib: one letter in three, two in six
#: How pytest shows both sides of a comparison that failed.
COMPARED = re.compile(r"^(?:AssertionError: )?assert (.+) == (.+)$", re.MULTILINE)
NodeT = TypeVar("NodeT", bound=ast.AST)
BUILT_IN = frozenset(dir(builtins))
#: Values that code gives for what is missing, whatever it is about.
PLAIN_VALUES = frozenset({"None", "True", "False", "0", "''", "[]", "()", "{}"})
LOOPS = (ast.For, ast.AsyncFor, ast.While)
#: Nodes that have a place in the text.
Placed = ast.stmt | ast.expr | ast.arg | ast.keyword | ast.alias


def syntax_error(code: str) -> SyntaxError | None:
    """The error that a file does not parse with; None if it parses, or fails otherwise."""
    try:
        parse(code)
    except SyntaxError as error:
        return error
    except (ValueError, RecursionError):
        pass
    return None


@lru_cache(maxsize=64)
def every_node(tree: ast.AST) -> tuple[ast.AST, ...]:
    """All nodes of a file, outer ones first; walking over it takes ten times as long."""
    return tuple(ast.walk(tree))


def nodes_of(tree: ast.AST, kind: type[NodeT] | tuple[type[NodeT], ...]) -> list[NodeT]:
    """The nodes of one kind, or of several, in ``tree``, outer ones first."""
    nodes = every_node(tree) if isinstance(tree, ast.Module) else ast.walk(tree)
    return [node for node in nodes if isinstance(node, kind)]


def functions_in(tree: ast.AST) -> list[FunctionNode]:
    """The functions in ``tree``, outer ones first."""
    return nodes_of(tree, (ast.FunctionDef, ast.AsyncFunctionDef))


def names_in(tree: ast.AST) -> set[str]:
    """The names that ``tree`` reads or binds as variables."""
    return {node.id for node in nodes_of(tree, ast.Name)}


def function_at(tree: ast.Module, line: int) -> FunctionNode | None:
    """The innermost function whose lines hold ``line``."""
    return next(iter(_functions_at(tree, line)), None)


def _functions_at(tree: ast.AST, line: int) -> list[FunctionNode]:
    """The functions whose lines hold ``line``, the innermost first."""
    around = [function for function in functions_in(tree) if holds(function, line)]
    return sorted(around, key=lambda node: node.lineno, reverse=True)


def statement_at(tree: ast.Module, line: int) -> ast.stmt | None:
    """The innermost statement whose lines hold ``line``; of a block, its head alone."""
    around = [n for n in every_node(tree) if isinstance(n, ast.stmt) and holds(n, line)]
    return max(around, key=lambda node: (node.lineno, -(node.end_lineno or 0)), default=None)


def nodes_at(tree: ast.Module, line: int) -> Iterator[ast.AST]:
    """Yields the nodes of the statement at ``line``, but for the bodies of blocks."""
    statement = statement_at(tree, line)
    pending: list[ast.AST] = [] if statement is None else [statement]
    while pending:
        node = pending.pop()
        yield node
        children = list(ast.iter_child_nodes(node))
        if node is statement:
            children = [c for c in children if not isinstance(c, (ast.stmt, ast.ExceptHandler))]
        pending.extend(reversed(children))


def own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """The nodes in the body of ``function``, but in no function or class nested there.

    Assertions are left out, since a check that is silenced fixes nothing; and what stands in an
    f-string before Python 3.12, where its positions are wrong.
    """
    pending: list[ast.AST] = list(reversed(getattr(function, "body", [])))
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Assert):
            continue
        yield node
        if isinstance(node, FORMATTED):
            filled = [part.value for part in node.values if isinstance(part, FILLED)]
            pending.extend(reversed(filled) if sys.version_info >= (3, 12) else ())
        elif not isinstance(node, (ScopeNode, ast.Lambda)):
            pending.extend(reversed(list(ast.iter_child_nodes(node))))


def visible(tree: ast.AST, line: int) -> list[str]:
    """The names that code at ``line`` may use, the innermost scope's first, built-ins not."""
    scopes = (*_functions_at(tree, line), tree)
    return list(dict.fromkeys(name for scope in scopes for name in bound_in(scope)))


def bound_in(scope: ast.AST) -> Iterator[str]:
    """The names that ``scope`` binds: parameters, then what its body assigns, imports, defines."""
    if isinstance(scope, FunctionNode):
        yield from parameters(scope.args)
    pending: list[ast.AST] = list(reversed(getattr(scope, "body", [])))
    while pending:
        node = pending.pop()
        if isinstance(node, ScopeNode):
            yield node.name
            continue
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from map(bound_name, node.names)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.ExceptHandler) and node.name:
            yield node.name
        pending.extend(reversed(list(ast.iter_child_nodes(node))))


def parameters(given: ast.arguments) -> list[str]:
    """Names of all parameters, in the order in which they are written."""
    return [arg.arg for arg in every_parameter(given)]


def every_parameter(given: ast.arguments) -> list[ast.arg]:
    """All parameters, in the order in which they are written."""
    every = (*given.posonlyargs, *given.args, given.vararg, *given.kwonlyargs, given.kwarg)
    return [arg for arg in every if arg is not None]


def defaults(given: ast.arguments) -> list[tuple[ast.arg, ast.expr]]:
    """The parameters that have a default, each with it."""
    plain = [*given.posonlyargs, *given.args]
    own = zip(plain[len(plain) - len(given.defaults) :], given.defaults, strict=True)
    named = zip(given.kwonlyargs, given.kw_defaults, strict=True)
    return [*own, *((arg, value) for arg, value in named if value is not None)]


def bound_name(alias: ast.alias) -> str:
    """The name that an import binds."""
    return alias.asname or alias.name.partition(".")[0]


def targets(statement: ast.stmt) -> list[ast.Name]:
    """The names that an assignment sets."""
    found = statement.targets if isinstance(statement, ast.Assign) else []
    if isinstance(statement, ast.AnnAssign):
        found = [statement.target]
    return [target for target in found if isinstance(target, ast.Name)]


def dotted(node: ast.AST, unknown: str = "") -> str:
    """``a.b.c`` of such a use; of something else that has no name, ``unknown.b.c`` or nothing."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    first = node.id if isinstance(node, ast.Name) else unknown
    return ".".join((first, *reversed(parts))) if first else ""


def first_statement(function: FunctionNode) -> ast.stmt:
    """The first statement of a body behind its docstring; that where nothing follows it."""
    first, *rest = function.body
    return rest[0] if is_docstring(first) and rest else first


def is_docstring(statement: ast.stmt) -> bool:
    """Whether a statement is a constant by itself, as a docstring is."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def is_literal(value: str | ast.expr) -> bool:
    """Whether an expression is made of literals alone."""
    try:
        ast.literal_eval(value)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return False
    return True


def entries_of(table: ast.expr) -> list[ast.Constant]:
    """The entries of a list, tuple or set of constants; no items of another.

    Of a dictionary its keys, if it repeats one value, or each key.
    """
    entries: Sequence[ast.expr | None] = ()
    match table:
        case ast.List(elts=elements) | ast.Tuple(elts=elements) | ast.Set(elts=elements):
            entries = elements
        case ast.Dict(keys=keys, values=values):
            said = list(map(ast.dump, values))
            is_repeated = len(set(said)) == 1 or said == [ast.dump(k) for k in keys if k]
            entries = keys if is_repeated else ()
    plain = [entry for entry in entries if isinstance(entry, ast.Constant)]
    return plain if len(plain) == len(entries) else []


LEAST_ENTRIES = 2  # of a table, for one more to be of their kind
TABLES = (ast.List, ast.Tuple, ast.Set, ast.Dict)


def kind_of(node: ast.expr, names: Mapping[str, str] = MappingProxyType({})) -> str:
    """The name of the built-in type that an expression surely has; empty if it may have others.

    Args:
        node: The expression.
        names: Types of variables, as far as they are known.
    """
    match node:
        case ast.Constant(value=value):
            kind = type(value).__name__
        case ast.Name(id=name):
            kind = names.get(name, "")
        case ast.BoolOp(values=parts):
            kind = _common_kind([kind_of(part, names) for part in parts])
        case ast.IfExp(body=body, orelse=other):
            kind = _common_kind([kind_of(body, names), kind_of(other, names)])
        case ast.UnaryOp(op=ast.Not()):
            kind = "bool"
        case ast.Call(func=ast.Name(id=name)):
            kind = name if name in KINDS else _RESULTS.get(name, "")
        case ast.Call(func=ast.Attribute(attr=name)):
            kind = _RESULTS.get(f".{name}", "")
        case _:
            kind = _DISPLAYS.get(type(node), "")
    return kind


def _common_kind(kinds: Sequence[str]) -> str:
    return kinds[0] if len(set(kinds)) == 1 else ""


KINDS = frozenset({"bool", "bytes", "dict", "float", "int", "list", "set", "str", "tuple"})
_RESULTS = {
    **dict.fromkeys(("isinstance", "issubclass", "hasattr", "callable", "any", "all"), "bool"),
    **dict.fromkeys((".startswith", ".endswith", ".isdigit", ".isalpha", ".isspace"), "bool"),
    "sorted": "list",
    "len": "int",
    "repr": "str",
}
_DISPLAYS: Mapping[type[ast.AST], str] = {
    ast.List: "list",
    ast.ListComp: "list",
    ast.Dict: "dict",
    ast.DictComp: "dict",
    ast.Set: "set",
    ast.SetComp: "set",
    ast.Tuple: "tuple",
    ast.JoinedStr: "str",
    ast.Compare: "bool",
}


def is_json(text: str) -> bool:
    """Whether a text is JSON."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def similar(name: str, known: Iterable[str]) -> list[str]:
    """The names of ``known`` that ``name`` may be a misspelling of, the likest first."""
    others = [other for other in dict.fromkeys(known) if other != name]
    plain = {other: _plain(other) for other in others}
    own = _plain(name)
    same = [other for other in others if plain[other] == own]
    close = difflib.get_close_matches(name, others, n=N_SIMILAR, cutoff=SIMILAR)
    folded = difflib.get_close_matches(own, list(plain.values()), n=N_SIMILAR, cutoff=SIMILAR)
    more = [other for text in folded for other in others if plain[other] == text]
    return list(dict.fromkeys((*same, *close, *more)))[:N_SIMILAR]


def brief(text: str, width: int = 40) -> str:
    """The first line of ``text``, shortened to ``width`` characters for a message."""
    line = text.partition("\n")[0].strip()
    return line if len(line) <= width else f"{line[: width - 3]}..."


def indent_of(line: str) -> str:
    """The blanks that a line starts with."""
    return line[: len(line) - len(line.lstrip(" \t\f"))]


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def holds(node: ast.stmt, line: int) -> bool:
    """Whether ``line`` is one of those of ``node`` and its decorators."""
    return first_line(node) <= line <= (node.end_lineno or node.lineno)


#: Lines of a text, from 0, the end excluded, and those that another text has in their place.
LineSpan: TypeAlias = tuple[int, int, Sequence[str]]


@lru_cache(maxsize=64)  # one change is asked about several times
def differing_lines(before: str, after: str) -> tuple[LineSpan, ...]:
    """The runs of lines in which two texts differ, in their order."""
    old, new = lines_of(before), lines_of(after)
    head, tail = common_ends(old, new)
    # A change is in one place: what is equal around it needs no comparison, which is quadratic.
    middle = old[head : len(old) - tail], new[head : len(new) - tail]
    matcher = difflib.SequenceMatcher(None, *middle, autojunk=False)
    return tuple(
        (head + i, head + j, middle[1][k:n])
        for tag, i, j, k, n in matcher.get_opcodes()
        if tag != "equal"
    )


# -- small changes of the text


@dataclass(frozen=True, slots=True, kw_only=True)
class TextEdit:
    """Text to put in the place of a node.

    Attributes:
        start: Byte at which the replaced text starts.
        end: Byte before which it ends.
        text: What stands there then.
        words: What is done, for a person.
        weight: How natural it is, against others of its kind.
    """

    start: int
    end: int
    text: str
    line: int
    words: str
    weight: float = 1.0


class Text:
    """A file's text; positions count UTF-8 bytes from its beginning."""

    def __init__(self, text: str) -> None:
        self._data = text.encode()
        self._starts = [0]
        for line in lines_of(text):
            self._starts.append(self._starts[-1] + len(line.encode()))

    def at(self, line: int, column: int = 0) -> int:
        """Position of the byte ``column`` of ``line``; the end of the text has a line too."""
        return self._starts[min(line - 1, len(self._starts) - 1)] + column

    def start(self, node: Placed) -> int:
        """Position at which ``node`` starts."""
        return self._starts[node.lineno - 1] + node.col_offset

    def end(self, node: Placed) -> int:
        """Position at which ``node`` ends."""
        return self._starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)

    def between(self, start: int, end: int) -> str:
        """The text from ``start`` to before ``end``."""
        return self._data[start:end].decode()

    def of(self, node: Placed) -> str:
        """The text of ``node``."""
        return self.between(self.start(node), self.end(node))

    def line_start(self, node: Placed) -> int:
        """Position at which the first line of ``node`` starts."""
        return self.start(node) - node.col_offset

    def lead(self, node: Placed) -> str:
        """The text before ``node`` on its first line: blanks, if it comes first there."""
        return self.between(self.line_start(node), self.start(node))

    def replace(self, node: Placed, text: str, words: str = "") -> TextEdit:
        """``text`` instead of ``node``, apart from the words around it."""
        start, end = self.start(node), self.end(node)
        before = " " if self._is_word(start - 1) and _is_word(text[:1]) else ""
        behind = " " if self._is_word(end) and _is_word(text[-1:]) else ""
        return self.cut(start, end, f"{before}{text}{behind}", words, node.lineno)

    def rename(self, node: Placed, old: str, new: str, words: str = "") -> TextEdit:
        """``new`` instead of ``old``, which ``node`` begins with."""
        return self.cut(self.start(node), self.start(node) + len(old.encode()), new, words)

    def insert(self, at: int, text: str, words: str = "", line: int = 1) -> TextEdit:
        """``text`` before the byte ``at``."""
        return self.cut(at, at, text, words, line)

    def guard(self, statement: ast.stmt, test: str, left: str, words: str) -> TextEdit | None:
        """``if test: left`` before a statement; None where that stands behind something else."""
        indent = self.lead(statement)
        if indent.strip():
            return None
        step = "\t" if indent.startswith("\t") else "    "
        text = f"{indent}if {test}:\n{indent}{step}{left}\n"
        return self.insert(self.line_start(statement), text, words, statement.lineno)

    def cut(self, start: int, end: int, text: str = "", words: str = "", line: int = 1) -> TextEdit:
        """``text`` instead of the bytes from ``start`` to before ``end``."""
        return TextEdit(start=start, end=end, text=text, line=line, words=words)

    def edited(self, *edits: TextEdit) -> str:
        """The whole text after ``edits``, which don't overlap."""
        data = self._data
        for edit in sorted(edits, key=lambda edit: edit.start, reverse=True):
            data = data[: edit.start] + edit.text.encode() + data[edit.end :]
        return data.decode()

    def _is_word(self, at: int) -> bool:
        return _is_word(self._data[max(at, 0) : at + 1].decode("utf-8", "replace"))


def _is_word(character: str) -> bool:
    return character == "_" or character.isalnum()


@dataclass(frozen=True, slots=True, kw_only=True)
class Hints:
    """The facts that failing tests tell of a function.

    Attributes:
        error: Name of the exception that was raised in it or passed through it; empty if none.
        line: Of the function, where that was.
        sides: What was computed and what was expected, as values, where they differ.
        is_lenient: Whether a test expected an exception that nothing raised.
        failing: Values at points of the function in failing tests.
        passing: The same in passing tests.
    """

    error: str = ""
    line: int = 0
    sides: Sequence[tuple[object, object]] = ()
    is_lenient: bool = False
    failing: Sequence[Sample] = ()
    passing: Sequence[Sample] = ()


class Site(Text):
    """A file's text, the function in it that is edited, and what the failing tests say of it."""

    def __init__(
        self, text: str, tree: ast.AST, function: FunctionNode, hints: Hints | None = None
    ) -> None:
        super().__init__(text)
        self.tree = tree
        self.function = function
        self.hints = hints or Hints()

    def one_more(self, call: ast.Call, text: str, words: str) -> TextEdit:
        """``text`` as one more argument of ``call``, the last one."""
        at = self.end(call) - 1
        before = self.between(self.start(call), at).rstrip()
        comma = "" if before.endswith((",", "(")) else ", "
        return self.insert(at, f"{comma}{text}", words, call.lineno)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """The nodes in its body, but in no function or class nested there."""
        return list(own_nodes(self.function))

    def own(self, kind: type[NodeT]) -> Iterator[NodeT]:
        """The nodes of one kind among these."""
        return (node for node in self.nodes if isinstance(node, kind))

    @cached_property
    def own_names(self) -> list[str]:
        """The names that it binds itself: parameters first."""
        return [n for n in dict.fromkeys(bound_in(self.function)) if n not in {"self", "cls"}]

    @cached_property
    def visible(self) -> frozenset[str]:
        """All names that it may use, built-ins not among them."""
        return frozenset(visible(self.tree, self.function.lineno))

    @cached_property
    def others(self) -> list[FunctionNode]:
        """The other functions of the file, the nearest first."""
        line = self.function.lineno
        rest = [n for n in functions_in(self.tree) if n is not self.function]
        return sorted(rest, key=lambda n: abs(n.lineno - line))

    @cached_property
    def owner(self) -> ast.ClassDef | None:
        """The class whose method it is."""
        classes = nodes_of(self.tree, ast.ClassDef)
        return next((node for node in classes if self.function in node.body), None)

    @cached_property
    def class_methods(self) -> frozenset[str]:
        """The methods that its class defines, properties not among them."""
        body = [] if self.owner is None else self.owner.body
        plain = (n for n in body if isinstance(n, FunctionNode) and not n.decorator_list)
        return frozenset(node.name for node in plain)

    @cached_property
    def class_names(self) -> list[str]:
        """The attributes of ``self`` that its class sets, uses, declares or defines."""
        node = self.owner
        if node is None:
            return []
        found = [inner.name for inner in node.body if isinstance(inner, FunctionNode)]
        found += [name.id for inner in node.body for name in targets(inner)]
        uses = nodes_of(node, ast.Attribute)
        found += [use.attr for use in uses if ast.unparse(use.value) == "self"]
        return list(dict.fromkeys(found))

    @cached_property
    def blocks(self) -> list[list[ast.stmt]]:
        """The lists of statements in its body, outer ones first."""
        found: list[list[ast.stmt]] = [self.function.body]
        for node in self.nodes:
            for name in ("body", "orelse", "finalbody"):
                block = getattr(node, name, None)
                if isinstance(block, list) and block and not isinstance(node, ast.ClassDef):
                    found.append(block)
        return found
