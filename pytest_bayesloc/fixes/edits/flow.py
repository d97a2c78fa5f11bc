"""Other statements: in another order or block, or one that stands elsewhere in the file."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from itertools import pairwise

from pytest_bayesloc.domain.edits import Edit
from pytest_bayesloc.fixes.edits.site import Site, Template, inserting, replacing

N_BORROWED = 8  # statements or conditions from elsewhere in the file, for one place
_BUILT_IN = frozenset(dir(builtins))
_EMPTY = ("None", "[]", "''", "0", "False", "{}")


def _exchange_statements(site: Site) -> Iterator[Edit]:
    for block in site.blocks:
        for first, second in pairwise(block):
            if _is_docstring(first) or first.end_lineno == second.lineno:
                continue
            start, end = site.text.start(first), site.text.end(second)
            between = site.text.between(site.text.end(first), site.text.start(second))
            if "#" not in between:
                text = f"{site.text.of(second)}{between}{site.text.of(first)}"
                words = f"`{_head(site.text.of(first))}` after the next statement"
                yield Edit(start=start, end=end, text=text, line=first.lineno, words=words)


def _exchange_targets(site: Site) -> Iterator[Edit]:
    for node in site.nodes:
        pairs = [node] if isinstance(node, ast.Tuple) and len(node.elts) == 2 else []
        for pair in pairs:
            left, right = (site.text.of(part) for part in pair.elts)
            start, end = site.text.start(pair.elts[0]), site.text.end(pair.elts[1])
            text = f"{right}, {left}"
            yield Edit(start=start, end=end, text=text, line=pair.lineno, words=f"`{text}`")


def _other_jump(site: Site) -> Iterator[Edit]:
    """``break``, ``continue``, ``return`` and ``pass`` for one another."""
    for node in site.nodes:
        if isinstance(node, (ast.Break, ast.Continue, ast.Pass)):
            own = site.text.of(node)
            for other in ("break", "continue", "return", "pass"):
                if other != own:
                    yield replacing(site, node, other, f"`{own}` to `{other}`")


def _move_out(site: Site) -> Iterator[Edit]:
    """The last statement of a block, after the block."""
    for node in site.nodes:
        block = getattr(node, "body", None)
        if not isinstance(node, (ast.For, ast.While, ast.If, ast.With)) or not block:
            continue
        last = block[-1]
        if getattr(node, "orelse", None) or last.col_offset <= node.col_offset:
            continue
        yield from _moved(site, last, node.col_offset, is_only=len(block) == 1)


def _move_in(site: Site) -> Iterator[Edit]:
    """The statement after a block, into it."""
    for block in site.blocks:
        for before, node in pairwise(block):
            if isinstance(before, (ast.For, ast.While, ast.If, ast.With)):
                inner = (getattr(before, "orelse", None) or before.body)[-1]
                if inner.col_offset > node.col_offset:
                    yield from _moved(site, node, inner.col_offset, is_only=False)


def _moved(site: Site, node: ast.stmt, column: int, *, is_only: bool) -> Iterator[Edit]:
    """The statement with another indentation."""
    start = site.text.start(node) - node.col_offset
    text = site.text.between(start, site.text.end(node))
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
    words = f"`{_head(text.strip())}` {'into' if shift > 0 else 'out of'} the block"
    yield Edit(
        start=start,
        end=site.text.end(node),
        text=head + "\n".join(moved),
        line=node.lineno,
        words=words,
    )


def _borrow_clause(site: Site) -> Iterator[Edit]:
    """A condition of the file, added to another one."""
    known = _conditions(site)
    for node in site.nodes:
        if isinstance(node, (ast.If, ast.While, ast.IfExp)):
            own = site.text.of(node.test)
            if "\n" in own:
                continue
            names = {n.id for n in ast.walk(node.test) if isinstance(n, ast.Name)}
            near = [text for text in known if _names(text) & names and text not in own]
            for text in near[:N_BORROWED]:
                for word in ("and", "or"):
                    for clause in (text, f"not ({text})"):
                        made = f"({own}) {word} ({clause})"
                        yield replacing(site, node.test, made, f"`{word} {_head(clause)}` added")


def _conditions(site: Site) -> list[str]:
    """Conditions of the file whose names the function has, its own first; and truth of names."""
    usable = site.visible | _BUILT_IN | {"self", "cls"}
    found = []
    for function in (site.function, *site.others):
        for node in ast.walk(function):
            tests = [node.test] if isinstance(node, (ast.If, ast.While, ast.IfExp)) else []
            tests += node.values if isinstance(node, ast.BoolOp) else []
            found += [ast.unparse(test) for test in tests]
    found += site.own_names
    found += [f"{name} is None" for name in site.own_names]
    return [text for text in dict.fromkeys(found) if _names(text) <= usable and len(text) < 80]


def _borrow_statement(site: Site) -> Iterator[Edit]:
    """An ``if`` that leaves, or a plain statement, of another function of the file."""
    usable = site.visible | _BUILT_IN
    borrowed = []
    for function in site.others:
        for node in ast.walk(function):
            if isinstance(node, ast.stmt) and _is_small(node):
                text = ast.unparse(node)
                if _names(text) <= usable and len(text) < 160:
                    borrowed.append(text)
    own = {ast.unparse(node) for node in site.nodes if isinstance(node, ast.stmt)}
    near = [text for text in dict.fromkeys(borrowed) if text not in own]
    for block in site.blocks:
        for node in block:
            if not _is_docstring(node):
                names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
                fitting = [text for text in near if _names(text) & names]
                yield from _before(site, node, fitting[:N_BORROWED])


def _add_guard(site: Site) -> Iterator[Edit]:
    """Leave early where a parameter is empty or None."""
    for node in site.function.body:
        if _is_docstring(node):
            continue
        for name in site.own_names[:3]:
            values = dict.fromkeys((*_returned(site), name, *_EMPTY))
            for test in (f"not {name}", f"{name} is None"):
                texts = [f"if {test}:\n    return {value}" for value in list(values)[:6]]
                yield from _before(site, node, texts)
        break


def _returned(site: Site) -> list[str]:
    returns = [n.value for n in site.nodes if isinstance(n, ast.Return) and n.value is not None]
    return [ast.unparse(v) for v in returns if isinstance(v, (ast.Constant, ast.List, ast.Dict))]


def _before(site: Site, node: ast.stmt, texts: list[str]) -> Iterator[Edit]:
    start = site.text.start(node) - node.col_offset
    indent = site.text.between(start, site.text.start(node))
    if indent.strip() or getattr(node, "decorator_list", None):
        return
    for text in texts:
        lines = "".join(f"{indent}{line}\n" for line in text.split("\n"))
        yield inserting(start, node.lineno, lines, f"`{_head(text)}` before")


def _is_small(node: ast.stmt) -> bool:
    if isinstance(node, ast.If):
        leaves = isinstance(node.body[-1], (ast.Return, ast.Raise, ast.Continue, ast.Break))
        return not node.orelse and len(node.body) <= 2 and (leaves or len(node.body) == 1)
    if isinstance(node, ast.Assign):
        return all(isinstance(target, (ast.Name, ast.Attribute)) for target in node.targets)
    return isinstance(node, ast.AugAssign)


def _names(text: str) -> set[str]:
    tree = ast.parse(text)
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _head(text: str) -> str:
    line = text.partition("\n")[0].strip()
    return line if len(line) <= 40 else f"{line[:37]}..."


TEMPLATES = (
    Template(
        name="exchange-statements",
        operate=_exchange_statements,
        examples=(("a = 1\n    b = a", "b = a\n    a = 1"),),
    ),
    Template(
        name="exchange-targets",
        operate=_exchange_targets,
        examples=(("a, b = first", "b, a = first"), ("return a, b", "return b, a")),
    ),
    Template(
        name="other-jump",
        operate=_other_jump,
        examples=(
            ("for a in first:\n        break", "for a in first:\n        continue"),
            ("for a in first:\n        pass", "for a in first:\n        break"),
        ),
    ),
    Template(
        name="move-out",
        operate=_move_out,
        examples=(
            (
                "for a in first:\n        b = a\n        return b",
                "for a in first:\n        b = a\n    return b",
            ),
            ("if first:\n        second()", "if first:\n        pass\n    second()"),
        ),
    ),
    Template(
        name="move-in",
        operate=_move_in,
        examples=(
            (
                "for a in first:\n        b = a\n    second(b)",
                "for a in first:\n        b = a\n        second(b)",
            ),
        ),
    ),
    Template(
        name="borrow-clause",
        operate=_borrow_clause,
        examples=(
            (
                "if second:\n        a = first\n    if first > 2:\n        a = second",
                "if second:\n        a = first\n    if (first > 2) and (first is None):\n"
                "        a = second",
            ),
        ),
    ),
    Template(
        name="borrow-statement",
        operate=_borrow_statement,
        examples=(
            (
                "return len(first)\n\n\ndef g(first):\n    if not first:\n        return 0\n"
                "    return 1",
                "if not first:\n        return 0\n    return len(first)\n\n\ndef g(first):\n"
                "    if not first:\n        return 0\n    return 1",
            ),
        ),
    ),
    Template(
        name="add-guard",
        operate=_add_guard,
        examples=(("return first[0]", "if not first:\n        return None\n    return first[0]"),),
    ),
)
