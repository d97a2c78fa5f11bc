"""A keyword argument that what is called does not take."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from pytest_bayesloc.fixes.calls import (
    accepted,
    arguments,
    called,
    calls_at,
    heads,
    kept,
    with_parameter,
    without,
)
from pytest_bayesloc.fixes.edits import Text
from pytest_bayesloc.fixes.project import Project, Proposal, Task
from pytest_bayesloc.fixes.syntax import bound_in, nodes_at, similar, tree_of

_UNKNOWN = re.compile(
    r"(?:([\w.<>]+)\(\) )?(?:got an unexpected keyword argument '(\w+)'"
    r"|(?:'(\w+)' is an invalid keyword argument))(?:.*Did you mean '(\w+)')?"
)


def propose(task: Task, project: Project) -> Iterator[Proposal]:
    """The call with the keyword that was meant, or without it; the head with one more."""
    tree = tree_of(task.code)
    found = _UNKNOWN.search(task.message)
    if tree is not None and found is not None:
        yield from kept(task, _proposals(task, tree, found, project))


def _proposals(
    task: Task, tree: ast.Module, found: re.Match[str], project: Project
) -> Iterator[Proposal]:
    name, wrong = found.group(1) or "", found.group(2) or found.group(3)
    text = Text(task.code)
    every = [node for node in nodes_at(tree, task.line) if isinstance(node, ast.Call)]
    calls = [
        (call, keyword)
        for call in (calls_at(tree, task.line, name) if name else every) or every
        for keyword in call.keywords
        if keyword.arg == wrong
    ]
    for call, keyword in calls:
        known = [*accepted(tree, call, name, project), *_elsewhere(project, called(call))]
        given = {other.arg for other in call.keywords}
        meant = [found.group(4)] if found.group(4) else []
        for other in dict.fromkeys((*meant, *similar(wrong, known))):
            if other not in given:
                yield _renamed(text, keyword, wrong, other)
    for call, keyword in calls:
        words = f"`{wrong}` is not passed to `{called(call)}`"
        edit = without(text, call, arguments(call).index(keyword), words)
        yield Proposal(code=text.edited(edit), message=words)
    yield from _taken(tree, text, name, wrong)


def _elsewhere(project: Project, name: str) -> list[str]:
    """The keywords with which the project calls ``name``."""
    found: list[str] = []
    for said in project.calls_of(name):
        call = ast.parse(said, mode="eval").body
        found += [k.arg for k in call.keywords if k.arg] if isinstance(call, ast.Call) else []
    return found


def _renamed(text: Text, keyword: ast.keyword, wrong: str, other: str) -> Proposal:
    start = text.start(keyword)
    words = f"`{other}`, not `{wrong}`"
    end = start + len(wrong.encode())
    edit = text.cut(start, end, other, words)
    return Proposal(code=text.edited(edit), message=words)


def _taken(tree: ast.Module, text: Text, name: str, wrong: str) -> Iterator[Proposal]:
    """The function with the parameter that its body uses already."""
    for head in heads(tree, name) if name else ():
        used = {n.id for n in ast.walk(head) if isinstance(n, ast.Name)}
        if wrong not in used or wrong in set(bound_in(head)) or head.args.kwarg is not None:
            continue
        words = f"`{head.name}` takes `{wrong}`"
        edit = with_parameter(text, head, f"{wrong}=None", words)
        yield Proposal(code=text.edited(edit), message=words)
