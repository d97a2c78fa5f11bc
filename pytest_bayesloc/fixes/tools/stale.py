"""Tools for a test whose expectation or stored value differs: only a person can decide."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from pytest_bayesloc.domain.fixing import Level
from pytest_bayesloc.fixes.library import on_syntax, package_tool
from pytest_bayesloc.fixes.project import Project, Proposal, Task, proposal
from pytest_bayesloc.fixes.syntax import Text, function_at, is_literal, statement_at, tree_of

_SIDES = re.compile(r"^assert (?P<left>.+) == (?P<right>.+)$", re.MULTILINE)
_CUT = "..."  # pytest shortens what is long


@package_tool(
    "A test expects a value that the code no longer computes. Shows the test with the "
    "computed value; never applied by itself.",
    error_pattern=r"^AssertionError: (?:[^\n]*\n)*?assert .+ == ",
    level=Level.DISPLAY,
    priority="low",
)
@on_syntax
def stale_expectation(
    task: Task, tree: ast.Module, text: Text, _project: Project
) -> Iterator[Proposal]:
    """The test with the value that was computed in the place of the one that was expected."""
    found = _SIDES.search(task.message)  # behind the words of the assertion, if it has some
    if found is None or task.filename != task.test_file:
        return
    statement = statement_at(tree, task.line)
    if not isinstance(statement, ast.Assert) or not isinstance(statement.test, ast.Compare):
        return
    sides = [statement.test.left, statement.test.comparators[0]]
    values = [found["left"], found["right"]]
    if len(statement.test.ops) != 1 or not all(map(is_literal, values)):
        return
    written = [is_literal(text.of(side)) for side in sides]
    for i, side in enumerate(sides):
        own, other = values[i], values[1 - i]
        if not written[i] or written[1 - i] or not _same(text.of(side), own) or _CUT in other:
            continue
        words = f"the test expects {own}, the code computes {other}: only you know which is right"
        yield proposal(text, text.replace(side, other, words))


def _same(written: str, shown: str) -> bool:
    a, b = ast.literal_eval(written), ast.literal_eval(shown)
    return type(a) is type(b) and bool(a == b)


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


@package_tool(
    "What is computed differs from a stored snapshot or golden file. Names the command of the"
    " snapshot tool that stores it anew; changes nothing.",
    error_pattern=r"^(?:[\w.]*AssertionError|Failed)\b",
    level=Level.DISPLAY,
    priority="low",
)
def stale_snapshot(task: Task, project: Project) -> Iterator[Proposal]:
    """The file as it is, with the command to give if the new value is right."""
    tree = tree_of(task.code)
    if tree is None or task.filename != task.test_file:
        return
    test = function_at(tree, task.line)
    if test is None:
        return
    said = task.message[:MAX_MESSAGE]
    option = _by_message(said) or _by_code(task, tree) or _by_conftest(task, project)
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


def _by_code(task: Task, tree: ast.Module) -> str:
    """inline-snapshot's values stand in the test itself."""
    statement = statement_at(tree, task.line)
    if statement is None or "inline_snapshot" not in task.code:
        return ""
    return "--inline-snapshot=fix" if "snapshot(" in Text(task.code).of(statement) else ""


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
