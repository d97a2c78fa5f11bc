"""A value that differs from a stored one: the tool that stored it can store it anew."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from pytest_bayesloc.fixes.project import Project, Proposal, Task
from pytest_bayesloc.fixes.syntax import function_at, statement_at, tree_of

_STORES = r"(?:updat|regen|rewrit|overwrit|bless|accept)"
#: An option or a variable that a message names, as many snapshot tools do.
_NAMED = re.compile(rf"(?<![\w-])(--[\w-]*{_STORES}[\w-]*|[A-Z_]*{_STORES.upper()}[A-Z_]*=\w+)")
_DECLARED = re.compile(rf"""addoption\(\s*["'](--[\w-]*{_STORES}[\w-]*)["']""")
_STORED = re.compile(r"golden|snapshot|baseline|approved", re.IGNORECASE)
#: What the messages of tools begin with that don't name their option.
_KNOWN = {
    "assert [+ received] == [- snapshot]": "--snapshot-update",  # syrupy
    "FILES DIFFER:": "--force-regen",  # pytest-regressions
}
MAX_MESSAGE = 20_000


def propose(task: Task, project: Project) -> Iterator[Proposal]:
    """The file as it is, with the command to give if the new value is right."""
    tree = tree_of(task.code)
    if tree is None or task.filename != task.test_file:
        return
    test = function_at(tree, task.line)
    if test is None:
        return
    said = task.message[:MAX_MESSAGE]
    option = _by_message(said) or _by_code(task) or _by_conftest(task, project)
    if option:
        is_variable = not option.startswith("-")
        before, after = (f"{option} ", "") if is_variable else ("", f" {option}")
        command = f"{before}pytest {task.test_file} -k {test.name}{after}"
        words = f"a stored value differs: if the new one is right, `{command}` stores it"
        yield Proposal(code=task.code, message=words)


def _by_message(said: str) -> str:
    named = _NAMED.search(said)
    if named is not None:
        return named.group(1)
    return next((option for sign, option in _KNOWN.items() if sign in said), "")


def _by_code(task: Task) -> str:
    """inline-snapshot's values stand in the test itself."""
    tree = tree_of(task.code)
    if tree is None or "inline_snapshot" not in task.code:
        return ""
    statement = statement_at(tree, task.line)
    if statement is None:
        return ""
    lines = task.code.splitlines()[statement.lineno - 1 : statement.end_lineno]
    return "--inline-snapshot=fix" if "snapshot(" in "\n".join(lines) else ""


def _by_conftest(task: Task, project: Project) -> str:
    """An option of the project's own, for a test that speaks of what is stored."""
    if _STORED.search(task.test) is None:
        return ""
    for folder in PurePosixPath(task.filename).parents:
        text = project.text(str(folder / "conftest.py"))
        declared = _DECLARED.search(text) if text is not None else None
        if declared is not None:
            return declared.group(1)
    return ""
