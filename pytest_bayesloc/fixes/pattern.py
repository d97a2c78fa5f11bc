"""A fix as a pattern: the code before and after, with holes for what may differ.

Holes are names such as ``_1_``: ``_1_[_2_]`` became ``_1_.get(_2_)``. A learned tool is a
small file that calls ``run`` with its two patterns.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence

import yaml

from pytest_bayesloc.domain.fixing import FixPattern
from pytest_bayesloc.domain.source import ScopeNode, tree_of
from pytest_bayesloc.domain.texts import text_digest
from pytest_bayesloc.fixes.project import Proposal, Task
from pytest_bayesloc.fixes.run import task_of, write_answer
from pytest_bayesloc.syntax.nodes import BUILT_IN, nodes_of, walk
from pytest_bayesloc.syntax.text import Text, brief

MAX_NODES = 16  # of a pattern: what is larger hardly comes twice
_HOLE = re.compile(r"_\d+_")
_ATOMS = (
    ast.Name,
    ast.Constant,
    ast.Attribute,
    ast.Call,
    ast.Subscript,
    ast.List,
    ast.Dict,
    ast.Set,
)
#: Too little by themselves, or no code by themselves: what is around them belongs to the pattern.
_BARE = (
    *(ast.Name, ast.Constant, ast.Slice),
    *(ast.operator, ast.cmpop, ast.unaryop, ast.boolop, ast.expr_context),
)


def pattern_of(before: str, after: str) -> tuple[str, str] | None:
    """Returns the code that changed between two texts of a function, before and after, with holes.

    None if more than one small thing changed, or something came from nowhere.
    """
    old, new = tree_of(before), tree_of(after)
    found = None if old is None or new is None else _difference(old, new)
    if found is None:
        return None
    holes: dict[str, str] = {}
    copies = [ast.parse(ast.unparse(node)) for node in found]
    for copied in copies:
        called = {id(n.func) for n in nodes_of(copied, ast.Call)}  # what is called keeps its name
        _Holes(holes, called).visit(copied)
        ast.fix_missing_locations(copied)
    was, now = map(ast.unparse, copies)
    sizes = [sum(1 for _ in walk(node)) for node in found]
    is_new = set(_HOLE.findall(now)) - set(_HOLE.findall(was))
    if is_new or max(sizes) > MAX_NODES or was == now or _HOLE.fullmatch(was):
        return None
    return was, now


def propose(task: Task, before: str, after: str) -> Iterator[Proposal]:
    """The file with ``after`` for ``before`` at each place of the functions that were executed."""
    if tree_of(task.code) is None:
        return
    text = task.text
    statement = ast.parse(before).body[0]
    wanted = statement.value if isinstance(statement, ast.Expr) else statement
    for function in list[ast.AST](task.functions) or [task.tree]:
        for node in walk(function):
            holes: dict[str, ast.expr] = {}
            if not isinstance(node, (ast.expr, ast.stmt)) or not _fits(wanted, node, holes):
                continue
            said = _filled(after, holes, text)
            words = f"`{brief(text.of(node))}` becomes `{brief(said)}`"
            changed = text.edited(text.replace(node, said, words))
            if tree_of(changed) is not None:
                yield Proposal(code=changed, message=words)


def run(before: str, after: str) -> None:
    """Answer one request on standard input, as a fix tool does."""
    task = task_of(json.load(sys.stdin))
    write_answer(task, propose(task, before, after))


# -- finding what changed


_BLOCKS = (*ScopeNode.__args__, ast.If, ast.For, ast.While, ast.With, ast.Try)


def _difference(old: ast.AST, new: ast.AST) -> tuple[ast.AST, ast.AST] | None:
    """The smallest pair of expressions or statements that holds all that differs."""
    pairs = _parts(old, new)
    if pairs is not None and len(pairs) != 1:
        return None  # nothing, or several things
    found = _difference(*pairs[0]) if pairs else None
    if found is not None and not isinstance(found[0], _BARE):
        is_method = isinstance(old, ast.Call) and found[0] is old.func
        return (old, new) if is_method else found
    is_whole = isinstance(old, (ast.expr, ast.stmt)) and not isinstance(old, _BLOCKS)
    is_alike = pairs is None or isinstance(pairs[0][0], _BARE)
    is_one = is_alike and isinstance(new, (ast.expr, ast.stmt, ast.operator, ast.cmpop))
    return (old, new) if (is_whole or isinstance(old, _BARE)) and is_one else None


def _parts(old: ast.AST, new: ast.AST) -> list[tuple[ast.AST, ast.AST]] | None:
    """The parts that differ, in pairs; None if it is more than its parts that differs."""
    if type(old) is not type(new):
        return None
    pairs: list[tuple[ast.AST, ast.AST]] = []
    for name in old._fields:
        values = (getattr(node, name, None) for node in (old, new))
        a, b = (value if isinstance(value, list) else [value] for value in values)
        if len(a) != len(b):
            return None
        for x, y in zip(a, b, strict=True):
            if not isinstance(x, ast.AST) or not isinstance(y, ast.AST):
                if x != y:
                    return None
            elif ast.dump(x) != ast.dump(y):
                pairs.append((x, y))
    return pairs


class _Holes(ast.NodeTransformer):
    """Puts a hole for each name and text, the same for the same."""

    def __init__(self, holes: dict[str, str], called: set[int]) -> None:
        self._holes = holes
        self._called = called

    def _hole(self, key: str) -> str:
        return self._holes.setdefault(key, f"_{len(self._holes) + 1}_")

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """A name that is neither called nor built in."""
        is_kept = id(node) in self._called or node.id in BUILT_IN
        return node if is_kept else ast.Name(self._hole(node.id), node.ctx)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        """Stays as it is: its texts are no expressions."""
        return node

    visit_TemplateStr = visit_JoinedStr  # noqa: N815 - as ast has it

    def visit_Slice(self, node: ast.Slice) -> ast.AST:
        """Stays as it is: by itself it would be read as something else."""
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        """A text of some length."""
        is_text = isinstance(node.value, str) and len(node.value) > 1
        return ast.Name(self._hole(repr(node.value)), ast.Load()) if is_text else node


# -- finding it again


def _fits(wanted: object, node: object, holes: dict[str, ast.expr]) -> bool:
    """Whether ``node`` is what is wanted; fills ``holes``."""
    if isinstance(wanted, ast.Name) and _HOLE.fullmatch(wanted.id):
        if not isinstance(node, ast.expr):
            return False
        known = holes.setdefault(wanted.id, node)
        return ast.dump(known) == ast.dump(node)
    if isinstance(wanted, list):
        if not isinstance(node, list) or len(node) != len(wanted):
            return False
        return all(_fits(a, b, holes) for a, b in zip(wanted, node, strict=True))
    if isinstance(wanted, ast.AST):
        is_free = isinstance(wanted, ast.expr_context)  # whether it is read or written
        return is_free or (
            type(wanted) is type(node)
            and all(
                _fits(getattr(wanted, name, None), getattr(node, name, None), holes)
                for name in wanted._fields
                if name not in {"kind", "type_comment"}
            )
        )
    return bool(wanted == node)


def _filled(after: str, holes: Mapping[str, ast.expr], text: Text) -> str:
    def put(match: re.Match[str]) -> str:
        node = holes.get(match.group())
        if node is None:
            return match.group()
        said = text.of(node)
        return said if isinstance(node, _ATOMS) else f"({said})"

    return _HOLE.sub(put, after)


_PROGRAM = '''\
"""A fix tool that was learned: `{before}` became `{after}`.

It has fixed {bugs} by hand. It is not run before you trust it, and not after you edit it,
before you trust it again:

    pytest --bayesloc-trust={path}
"""

from pytest_bayesloc.fixes.pattern import run

# Names such as _1_ stand for any expression, the same for the same.
BEFORE = {before!r}
AFTER = {after!r}

# Where it was learned: the functions as they were, and as they are.
EXAMPLES = [
{examples}]

if __name__ == "__main__":
    run(BEFORE, AFTER)
'''


def tool_files(fixes: Sequence[FixPattern], folder: str) -> dict[str, str]:
    """The files of a tool, by their names: its program and its definition.

    Args:
        fixes: Those by hand that it is learned from, all of one pattern.
        folder: Where the files will lie, for the comment in them.
    """
    pattern = fixes[0].pattern
    before, after = json.loads(pattern)
    name = f"learned-{text_digest(pattern, 6)}"
    bugs = " and ".join(f"bug {fix.bug}" for fix in fixes)
    examples = "".join(
        f"    # bug {fix.bug}, {fix.error}\n    ({fix.before!r},\n     {fix.after!r}),\n"
        for fix in fixes
    )
    errors = "|".join(sorted({fix.error for fix in fixes if fix.error.isidentifier()}))
    definition = {
        "name": name,
        "type": "fix",
        "description": f"Puts `{after}` for `{before}`, which fixed {bugs} by hand.",
        "command": "python",
        "args": [f"{name}.py"],
        "input_format": "json",
        "output_format": "json",
        "tags": ["fix", "learned"],
        "metadata": {
            "error_pattern": rf"^({errors})\b" if errors else ".",
            "applies_to": ["*.py"],
            "category": "learned",
            "priority": "medium",
            "level": "unsafe",
            "auto_apply": False,
        },
    }
    return {
        f"{name}.py": _PROGRAM.format(
            before=before,
            after=after,
            bugs=bugs,
            path=f"{folder}/{name}.yaml",
            examples=examples,
        ),
        f"{name}.yaml": yaml.safe_dump(definition, sort_keys=False, allow_unicode=True),
    }
