"""Bytes that are no text in the encoding that was used: another one, or what is done with them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from pytest_bayesloc.domain.fixing import Level
from pytest_bayesloc.fixes.library import package_tool
from pytest_bayesloc.fixes.project import Made, Project, Task
from pytest_bayesloc.syntax.nodes import called_name, nodes_of

#: Calls that turn bytes into text or back, with the number of arguments before the encoding.
_BEFORE = {"open": 3, "read_text": 0, "write_text": 1, "decode": 0, "encode": 0}
_HANDLERS = ("replace", "ignore", "surrogateescape")


@package_tool(
    "Bytes can't be decoded, or a text can't be encoded. Names UTF-8 where the encoding is another "
    "or none is named; else says what is done with what does not fit.",
    error_pattern=r"^Unicode(Decode|Encode)Error: ",
    level=Level.UNSAFE,
    priority="medium",
)
def text_encoding(task: Task, project: Project) -> Iterator[Made]:  # noqa: ARG001 - a tool's
    """The calls of the function that read or write text, the nearest first, in another encoding."""
    if task.function is None:
        return
    calls = [node for node in nodes_of(task.function, ast.Call) if _is_of_text(node)]
    calls.sort(key=lambda node: abs(node.lineno - task.line))
    is_other = not task.message.startswith("'utf-8'")
    for call in calls if is_other else ():
        own = _given(call, "encoding")
        if own is None:
            yield task.text.one_more(call, 'encoding="utf-8"', "the text is in UTF-8")
        elif isinstance(own, ast.Constant):
            words = f"the text is in UTF-8, not in {task.text.of(own)}"
            yield task.text.replace(own, '"utf-8"', words)
    for call in calls:
        if not _given(call, "errors", 1):
            encoding = "" if _given(call, "encoding") or is_other else 'encoding="utf-8", '
            for handler in _HANDLERS:
                words = f"what does not fit is dealt with by `{handler}`"
                yield task.text.one_more(call, f'{encoding}errors="{handler}"', words)


def _is_of_text(call: ast.Call) -> bool:
    """Whether a call reads or writes text; of ``open`` that is so without a ``b`` in the mode."""
    name = called_name(call)
    if name not in _BEFORE or any(keyword.arg is None for keyword in call.keywords):
        return False
    named = [keyword.value for keyword in call.keywords if keyword.arg == "mode"]
    at = 1 if isinstance(call.func, ast.Name) else 0  # a path's method has no file to be given
    modes = [*call.args[at : at + 1], *named] if name == "open" else []
    return not any(isinstance(m, ast.Constant) and "b" in str(m.value) for m in modes)


def _given(call: ast.Call, name: str, behind: int = 0) -> ast.expr | None:
    """The argument for the encoding, or ``behind`` it; None if there is none."""
    before = _BEFORE[called_name(call)]
    if called_name(call) == "open" and isinstance(call.func, ast.Attribute):
        before -= 1
    named = (keyword.value for keyword in call.keywords if keyword.arg == name)
    return next(iter(call.args[before + behind : before + behind + 1]), None) or next(named, None)
