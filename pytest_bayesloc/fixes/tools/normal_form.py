"""Texts that look the same and are not: brought to one normal form of Unicode."""

from __future__ import annotations

import ast
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import Literal, TypeAlias, get_args

from pytest_bayesloc.domain.fixing import Level
from pytest_bayesloc.domain.source import FunctionNode
from pytest_bayesloc.fixes.library import package_tool
from pytest_bayesloc.fixes.project import Project, Proposal, Task
from pytest_bayesloc.fixes.site import COMPARED
from pytest_bayesloc.syntax.expressions import is_literal
from pytest_bayesloc.syntax.imports import with_import
from pytest_bayesloc.syntax.nodes import nodes_of, own_nodes, parameters
from pytest_bayesloc.syntax.text import TextEdit, brief

Form: TypeAlias = Literal["NFC", "NFKC", "NFD", "NFKD"]
FORMS: tuple[Form, ...] = get_args(Form)
MAX_TEXTS = 40  # of a test, each of which is held against all others
_IMPORT = "import unicodedata"


@package_tool(
    "Two texts are the same but for the way in which Unicode writes their characters. Brings them"
    " to one normal form.",
    error_pattern=r"^(AssertionError|KeyError|Failed)\b",
    level=Level.UNSAFE,
    priority="medium",
)
def normal_form(task: Task, _project: Project) -> Iterator[Proposal]:
    """The functions that were executed, with texts in a form in which those of the test agree."""
    for form in _forms(task):
        for function in task.functions:
            for edits in _edits(task, function, form):
                code = task.text.edited(*edits)
                # It may be imported already.
                yield Proposal(code=with_import(code, _IMPORT) or code, message=edits[0].words)


def _forms(task: Task) -> list[Form]:
    """The forms in which two unlike texts of the failing test are one."""
    said = COMPARED.search(f"{task.error_type}: {task.message}")
    pairs = [pair for pair in [said.groups()] if all(map(is_literal, pair))] if said else []
    if pairs:  # what was computed has to become what is expected
        got, wanted = map(ast.literal_eval, pairs[0])
        if isinstance(got, str) and isinstance(wanted, str):
            forms = FORMS if got != wanted else ()
            return [form for form in forms if unicodedata.normalize(form, got) == wanted]
    test = task.test
    try:
        tree = ast.parse(f"if True:\n{test}" if test[:1].isspace() else test)
    except (SyntaxError, ValueError):
        return []
    values = dict.fromkeys(node.value for node in nodes_of(tree, ast.Constant))
    texts = [value for value in values if isinstance(value, str) and not value.isascii()]
    unlike = [(a, b) for a, b in permutations(texts[:MAX_TEXTS], 2) if a.casefold() != b.casefold()]
    found = [f for f in FORMS[:2] if any(_folded(f, a) == _folded(f, b) for a, b in unlike)]
    return found[:1]


def _folded(form: Form, text: str) -> str:
    return unicodedata.normalize(form, text).casefold()


def _edits(task: Task, function: FunctionNode, form: str) -> Iterator[Sequence[TextEdit]]:
    """Each parameter where it is read first, each result, and both sides of each comparison."""
    nodes = list(own_nodes(function))
    names = [n for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]
    for name in parameters(function.args):
        reads = [node for node in names if node.id == name]
        if len(reads) == 1 and name not in {"self", "cls"}:
            yield [_normalised(task, reads[0], form)]
    for node in nodes:
        match node:
            case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Compare):
                yield [_normalised(task, value, form)]
            case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq()], comparators=[right]):
                yield [_normalised(task, side, form) for side in (left, right)]


def _normalised(task: Task, node: ast.expr, form: str) -> TextEdit:
    said = task.text.of(node)
    words = f"`{brief(said)}` in the normal form {form}"
    return task.text.replace(node, f'unicodedata.normalize("{form}", {said})', words)
