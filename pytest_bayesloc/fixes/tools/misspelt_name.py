"""A name that is not defined, for one in scope that is nearly the same."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from pytest_bayesloc.fixes.edits import Text
from pytest_bayesloc.fixes.project import Project, Proposal, Task
from pytest_bayesloc.fixes.syntax import BUILT_IN, function_at, similar, tree_of, visible

_UNDEFINED = re.compile(r"name '(\w+)' is not defined|(?:local variable|free variable) '(\w+)'")


def propose(task: Task, project: Project) -> Iterator[Proposal]:
    """The function with each name in scope that is nearly the one that is not defined."""
    tree = tree_of(task.code)
    found = _UNDEFINED.search(task.message)
    if tree is None or found is None:
        return
    wrong = found.group(1) or found.group(2)
    if project.defined_in(wrong) or project.imports_of(wrong):
        return  # there is such a name: it is not imported
    scope = function_at(tree, task.line) or tree
    uses = [n for n in ast.walk(scope) if isinstance(n, ast.Name) and n.id == wrong]
    text = Text(task.code)
    for name in similar(wrong, [*visible(tree, task.line), *sorted(BUILT_IN)] if uses else ()):
        words = f"`{wrong}` is not defined; `{name}` is"
        yield Proposal(
            code=text.edited(*(text.replace(use, name, words) for use in uses)), message=words
        )
