"""Mutations of statements: another order, another block, or one from elsewhere in the file."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import pairwise

from pytest_bayesloc.fixes.site import Site
from pytest_bayesloc.syntax.nodes import BUILT_IN, is_docstring, names_in, parameters, walk
from pytest_bayesloc.syntax.text import TextEdit, brief

N_BORROWED = 8  # statements or conditions from elsewhere in the file, for one place
N_FUNCTIONS = 512  # whose conditions and statements are kept for the others of their files


def exchange_statements(site: Site) -> Iterator[TextEdit]:
    """Exchange two statements that follow each other."""
    for block in site.blocks:
        for first, second in pairwise(block):
            if is_docstring(first) or first.end_lineno == second.lineno:
                continue
            start, end = site.start(first), site.end(second)
            between = site.between(site.end(first), site.start(second))
            if "#" not in between:
                text = f"{site.of(second)}{between}{site.of(first)}"
                words = f"`{brief(site.of(first))}` after the next statement"
                yield site.cut(start, end, text, words, first.lineno)


def branch_first(site: Site) -> Iterator[TextEdit]:
    """Ask a condition before those that are asked first: of two that hold, that one decides."""
    for block in site.blocks:
        before: list[ast.If] = []
        for node in block:
            if not isinstance(node, ast.If) or node.orelse or not isinstance(node.body[-1], _ENDS):
                before = []
                continue
            if before:
                start, end = site.start(before[0]), site.start(node)
                text = (
                    f"{site.of(node)}\n{' ' * node.col_offset}{site.between(start, end).rstrip()}"
                )
                words = f"`{brief(site.of(node.test))}` is asked first"
                yield site.cut(start, site.end(node), text, words, before[0].lineno)
            before.append(node)
    inner = {id(node.orelse[0]) for node in site.own(ast.If) if len(node.orelse) == 1}
    for node in site.own(ast.If):
        if id(node) not in inner:
            yield from _branch_first(site, node)


_ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)


def _branch_first(site: Site, node: ast.If) -> Iterator[TextEdit]:
    """Let each ``elif`` of a chain be the first."""
    chain, start, indent = [node], site.start(node), " " * node.col_offset
    while len(node.orelse) == 1 and isinstance(following := node.orelse[0], ast.If):
        is_elif = site.between(site.start(following), site.start(following.test))[:4] == "elif"
        if not is_elif:
            break
        node = following
        chain.append(node)
        parts = [site.between(site.start(one.test), site.end(one.body[-1])) for one in chain]
        text = f"\n{indent}elif ".join([parts[-1], *parts[:-1]])
        words = f"`{brief(site.of(node.test))}` is asked first"
        yield site.cut(start, site.end(node.body[-1]), f"if {text}", words, chain[0].lineno)


def exchange_targets(site: Site) -> Iterator[TextEdit]:
    """Exchange the two items of a tuple."""
    for node in site.own(ast.Tuple):
        if len(node.elts) == 2:
            left, right = (site.of(part) for part in node.elts)
            start, end = site.start(node.elts[0]), site.end(node.elts[1])
            text = f"{right}, {left}"
            yield site.cut(start, end, text, f"`{text}`", node.lineno)


def other_jump(site: Site) -> Iterator[TextEdit]:
    """Put ``break``, ``continue``, ``return`` and ``pass`` for one another."""
    for node in site.nodes:
        if isinstance(node, (ast.Break, ast.Continue, ast.Pass)):
            own = site.of(node)
            for other in ("break", "continue", "return", "pass"):
                if other != own:
                    yield site.replace(node, other, f"`{own}` to `{other}`")


def raise_again(site: Site) -> Iterator[TextEdit]:
    """Raise what was caught, where a test expects an exception that nothing raised."""
    for handler in site.own(ast.ExceptHandler) if site.hints.is_lenient else ():
        inside = [inner for part in handler.body for inner in walk(part)]
        for node in inside:
            if isinstance(node, (ast.Break, ast.Continue, ast.Pass, ast.Return)):
                words = f"`{brief(site.of(node), 30)}` to `raise`"
                yield site.replace(node, "raise", words)


def chain_if(site: Site) -> Iterator[TextEdit]:
    """Ask a condition only where the one before it did not hold."""
    for block in site.blocks:
        for first, second in pairwise(block):
            if isinstance(first, ast.If) and isinstance(second, ast.If) and not first.orelse:
                words = f"`elif {brief(site.of(second.test), 30)}`"
                yield site.insert(site.start(second), "el", words, second.lineno)


def go_on(site: Site) -> Iterator[TextEdit]:
    """Go on with the loop, or end it, where the function is left."""
    own = set(site.nodes)
    for loop in site.nodes:
        if isinstance(loop, (ast.For, ast.While)):
            inside = (n for part in loop.body for n in walk(part) if n in own)
            for node in inside:
                if isinstance(node, (ast.Return, ast.Raise)):
                    for other in ("continue", "break"):
                        words = f"`{brief(site.of(node), 30)}` to `{other}`"
                        yield site.replace(node, other, words)


def move_out(site: Site) -> Iterator[TextEdit]:
    """Move the last statement of a block behind the block."""
    for node in site.nodes:
        block = getattr(node, "body", None)
        if not isinstance(node, (ast.For, ast.While, ast.If, ast.With)) or not block:
            continue
        last = block[-1]
        if getattr(node, "orelse", None) or last.col_offset <= node.col_offset:
            continue
        yield from _moved(site, last, node.col_offset, is_only=len(block) == 1)


def move_in(site: Site) -> Iterator[TextEdit]:
    """Move the statement behind a block into it."""
    for block in site.blocks:
        for before, node in pairwise(block):
            if isinstance(before, (ast.For, ast.While, ast.If, ast.With)):
                inner = (getattr(before, "orelse", None) or before.body)[-1]
                if inner.col_offset > node.col_offset:
                    yield from _moved(site, node, inner.col_offset, is_only=False)


def _moved(site: Site, node: ast.stmt, column: int, *, is_only: bool) -> Iterator[TextEdit]:
    """Give a statement another indentation."""
    start = site.line_start(node)
    text = site.between(start, site.end(node))
    lines = text.split("\n")
    shift = column - node.col_offset
    if "'''" in text or '"""' in text or "\t" in text:
        return  # lines of a text are not to be moved
    moved = [
        " " * shift + line if shift > 0 and line.strip() else line[-shift:] if shift < 0 else line
        for line in lines
    ]
    if any(shift < 0 and line[:-shift].strip() for line in lines):
        return
    head = f"{' ' * node.col_offset}pass\n" if is_only else ""
    words = f"`{brief(text.strip())}` {'into' if shift > 0 else 'out of'} the block"
    text = head + "\n".join(moved)
    yield site.cut(start, site.end(node), text, words, node.lineno)


def borrow_clause(site: Site) -> Iterator[TextEdit]:
    """Add a condition of the file to another one."""
    known = _conditions(site)
    for node in site.nodes:
        if isinstance(node, (ast.If, ast.While, ast.IfExp)):
            own = site.of(node.test)
            if "\n" in own:
                continue
            names = names_in(node.test)
            near = [text for text in known if _names(text) & names and text not in own]
            for text in near[:N_BORROWED]:
                for word in ("and", "or"):
                    for clause in (text, f"not ({text})"):
                        made = f"({own}) {word} ({clause})"
                        yield site.replace(node.test, made, f"`{word} {brief(clause)}` added")


def _conditions(site: Site) -> list[str]:
    """Conditions of the file whose names the function has, its own first; and truth of names."""
    usable = site.visible | BUILT_IN | {"self", "cls"}
    found = [*_tests_in(site.function), *_ending(site, _tests_in)]
    for other in site.others:  # calls that answer a question: of the object, or of one variable
        match parameters(other.args):
            case ["self"] if _ASKS.match(other.name) and other.name in site.class_methods:
                found.append(f"self.{other.name}()")
            case [_] if _ASKS.match(other.name) and other.name in site.visible:
                found += [f"{other.name}({name})" for name in site.own_names]
    found += site.own_names
    found += [f"{name} is None" for name in site.own_names]
    return [text for text in dict.fromkeys(found) if _names(text) <= usable and len(text) < 80]


_ASKS = re.compile(r"_*(?:is|has|can|should|may)_")


@lru_cache(maxsize=N_FUNCTIONS)
def _tests_in(function: ast.AST) -> list[str]:
    """The conditions in a function, and the clauses of those that have any."""
    found = []
    for node in walk(function):
        tests = [node.test] if isinstance(node, (ast.If, ast.While, ast.IfExp)) else []
        tests += node.values if isinstance(node, ast.BoolOp) else []
        found += [ast.unparse(test) for test in tests]
    return found


def borrow_statement(site: Site) -> Iterator[TextEdit]:
    """Insert an ``if`` that leaves, or a plain statement, from another function of the file."""
    usable = site.visible | BUILT_IN
    every = dict.fromkeys(_ending(site, _small_statements))
    borrowed = [text for text in every if _names(text) <= usable]
    own = {ast.unparse(node) for node in site.nodes if isinstance(node, ast.stmt)}
    near = [text for text in borrowed if text not in own]
    for block in site.blocks:
        for node in block:
            start, indent = site.line_start(node), site.lead(node)
            if is_docstring(node) or indent.strip() or getattr(node, "decorator_list", None):
                continue
            names = names_in(node)
            fitting = [text for text in near if _names(text) & names]
            for text in fitting[:N_BORROWED]:
                lines = "".join(f"{indent}{line}\n" for line in text.split("\n"))
                yield site.insert(start, lines, f"`{brief(text)}` before", node.lineno)


def _ending(site: Site, parts: Callable[[ast.AST], list[str]]) -> Iterator[str]:
    """Yield parts of the file's other functions, but for what calls the function itself.

    With that in it, it would hardly end.
    """
    own_name = re.compile(rf"\b{site.function.name}\b")
    texts = (text for other in site.others for text in parts(other))
    return (text for text in texts if not own_name.search(text))


@lru_cache(maxsize=N_FUNCTIONS)
def _small_statements(function: ast.AST) -> list[str]:
    """The statements of a function that another one may borrow."""
    found = []
    for node in walk(function):
        is_small = isinstance(node, ast.AugAssign)
        if isinstance(node, ast.If):
            leaves = isinstance(node.body[-1], _ENDS)
            is_small = not node.orelse and len(node.body) <= 2 and (leaves or len(node.body) == 1)
        elif isinstance(node, ast.Assign):
            is_small = all(isinstance(part, (ast.Name, ast.Attribute)) for part in node.targets)
        if is_small:
            found.append(ast.unparse(node))
    return [text for text in found if len(text) < 160]


@lru_cache(maxsize=10 * N_FUNCTIONS)
def _names(text: str) -> frozenset[str]:
    return frozenset(names_in(ast.parse(text)))
