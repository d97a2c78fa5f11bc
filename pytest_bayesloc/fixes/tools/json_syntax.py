"""JSON without what JSON does not have: comments, single quotes, a comma at the end."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from pytest_bayesloc.domain.fixing import Level
from pytest_bayesloc.fixes.library import package_tool
from pytest_bayesloc.fixes.project import Project, Proposal, Task, proposal
from pytest_bayesloc.fixes.syntax import Text, function_at, is_json, tree_of

MAX_LENGTH = 1_000_000
_TOKEN = re.compile(
    r'(?P<text>"(?:[^"\\\n]|\\.)*")'
    r"|(?P<single>'(?:[^'\"\\\n]|\\.)*')"
    r"|(?P<comment>//[^\n]*|\#[^\n]*|/\*.*?\*/)"
    r"|(?P<word>[A-Za-z_]\w*)"
    r"|(?P<comma>,)(?=(?:\s|//[^\n]*|\#[^\n]*|/\*.*?\*/)*[\]}])",
    re.DOTALL,
)
_WORDS = {"True": "true", "False": "false", "None": "null", "undefined": "null"}
_NO_COMMA = re.compile(r'(["\d\]}el])([ \t]*\n\s*)(?=["\[{\d-])')
MESSAGE = "the JSON has no more comments, single quotes or commas at an end"


@package_tool(
    "JSON does not parse, in a data file or a string. Removes trailing commas and comments, "
    "puts double quotes for single ones and a missing comma between lines.",
    error_pattern=r"JSONDecodeError: ",
    level=Level.SAFE,
    auto_apply=True,
    applies_to=("*.py", "*.json"),
)
def json_syntax(task: Task, project: Project) -> Iterator[Proposal]:
    """The file with JSON that can be read, if what is wrong is one of a few things."""
    del project
    if task.filename.endswith(".json"):
        repaired = _repaired(task.code)
        if repaired is not None:
            yield Proposal(code=repaired, message=MESSAGE)
        return
    tree = tree_of(task.code)
    text = Text(task.code)
    for node in _literals(tree, task.line) if tree is not None else ():
        start, end = text.start(node), text.end(node)
        prefix, quote, inner = _unquoted(text.between(start, end))
        repaired = _repaired(inner) if quote else None
        if repaired is not None and quote not in repaired and "\\" not in inner:
            edit = text.cut(start, end, f"{prefix}{quote}{repaired}{quote}", MESSAGE)
            yield proposal(text, edit)


def _repaired(text: str) -> str | None:
    """``text`` as JSON; None if it is JSON already, or no repair makes it so."""
    if len(text) > MAX_LENGTH or is_json(text):
        return None
    plain = _TOKEN.sub(_as_json, text)
    for made in (plain, _NO_COMMA.sub(r"\1,\2", plain)):
        if is_json(made):
            return made
    return None


def _as_json(match: re.Match[str]) -> str:
    kind, said = match.lastgroup, match.group()
    if kind == "single":
        return '"' + said[1:-1].replace("\\'", "'") + '"'
    if kind == "word":
        return _WORDS.get(said, said)
    return said if kind == "text" else ""


def _literals(tree: ast.Module, line: int) -> Iterator[ast.Constant]:
    """The strings that look like JSON, in the function at ``line`` and outside of functions."""
    function = function_at(tree, line)
    places: list[ast.AST] = [] if function is None else [function]
    places += [s for s in tree.body if isinstance(s, (ast.Assign, ast.AnnAssign, ast.Expr))]
    formatted = {
        id(part) for n in ast.walk(tree) if isinstance(n, ast.JoinedStr) for part in n.values
    }
    for place in places:
        for node in ast.walk(place):
            if not isinstance(node, ast.Constant) or id(node) in formatted:
                continue
            if isinstance(node.value, str) and node.value.strip()[:1] in {"{", "["}:
                yield node


def _unquoted(source: str) -> tuple[str, str, str]:
    """Prefix, quotes and inside of a literal; no quotes where it is of several parts."""
    found = re.fullmatch(r"([rRuU]?)('''|\"\"\"|'|\")(.*)\2", source, re.DOTALL)
    if found is None or found[2] in found[3]:
        return "", "", ""
    return found[1], found[2], found[3]
