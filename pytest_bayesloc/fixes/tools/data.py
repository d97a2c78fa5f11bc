"""Tools for data: JSON that does not parse, and expectations and stored values that differ.

Of the latter only a person can decide.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from pytest_bayesloc.domain.fixing import Level
from pytest_bayesloc.domain.source import FORMATTED
from pytest_bayesloc.fixes.library import package_tool
from pytest_bayesloc.fixes.project import Made, Project, Proposal, Task, proposal
from pytest_bayesloc.fixes.site import COMPARED
from pytest_bayesloc.syntax.expressions import is_json, is_literal
from pytest_bayesloc.syntax.nodes import bound_in, called_name, nodes_of, statement_at
from pytest_bayesloc.syntax.text import TextEdit

_CUT = "..."  # pytest shortens what is long


@package_tool(
    "A test expects a value that the code no longer computes. Shows the test with the "
    "computed value; never applied by itself.",
    error_pattern=r"^AssertionError: (?:[^\n]*\n)*?assert .+ == ",
    level=Level.DISPLAY,
    priority="low",
)
def stale_expectation(task: Task, _project: Project) -> Iterator[Made]:
    """The test with the value that was computed in the place of the one that was expected."""
    text = task.text
    found = COMPARED.search(task.message)  # behind the words of the assertion, if it has some
    if found is None or task.filename != task.test_file:
        return
    statement = statement_at(task.tree, task.line)
    if not isinstance(statement, ast.Assert) or not isinstance(statement.test, ast.Compare):
        return
    sides = [statement.test.left, statement.test.comparators[0]]
    values = found.groups()
    if len(statement.test.ops) != 1 or not all(map(is_literal, values)):
        return
    written = [is_literal(text.of(side)) for side in sides]
    for i, side in enumerate(sides):
        own, other = values[i], values[1 - i]
        if not written[i] or written[1 - i] or _CUT in other:
            continue
        said, shown = ast.literal_eval(text.of(side)), ast.literal_eval(own)
        if type(said) is type(shown) and said == shown:
            words = (
                f"the test expects {own}, the code computes {other}: only you know which is right"
            )
            yield text.replace(side, other, words)


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
    needs_tree=False,
)
def stale_snapshot(task: Task, project: Project) -> Iterator[Made]:
    """The file as it is, with the command to give if the new value is right."""
    test = task.function if task.filename == task.test_file else None
    if test is None:
        return
    said = task.message[:MAX_MESSAGE]
    named = _NAMED.search(said)
    option = named.group(1) if named is not None else ""
    option = option or next((known for sign, known in _KNOWN.items() if sign in said), "")
    if not option and "inline_snapshot" in task.code:  # whose values stand in the test itself
        statement = statement_at(task.tree, task.line)
        is_inline = statement is not None and "snapshot(" in task.text.of(statement)
        option = "--inline-snapshot=fix" if is_inline else ""
    if not option and _STORED.search(task.test):  # an option of the project's own
        folders = PurePosixPath(task.filename).parents
        texts = (project.text(str(folder / "conftest.py")) for folder in folders)
        declared = (_DECLARED.search(text) for text in texts if text is not None)
        option = next((found.group(1) for found in declared if found is not None), "")
    if option:
        is_variable = not option.startswith("-")
        before, after = (f"{option} ", "") if is_variable else ("", f" {option}")
        command = f"{before}pytest {task.test_file} -k {test.name}{after}"
        words = f"a stored value differs: if the new one is right, `{command}` stores it"
        yield Proposal(code=task.code, message=words)


MAX_LENGTH = 1_000_000
_BETWEEN = r"(?:\s|//[^\n]*|\#[^\n]*|/\*.*?\*/)*"
_TOKEN = re.compile(
    r'(?P<text>"(?:[^"\\\n]|\\.)*")'
    r"|(?P<single>'(?:[^'\\\n]|\\.)*')"
    r"|(?P<curly>[“”„](?P<inner>[^“”„\"\n]*)[“”])"
    r"|(?P<comment>//[^\n]*|\#[^\n]*|/\*.*?\*/)"
    rf"|(?P<key>[A-Za-z_$][\w$-]*)(?={_BETWEEN}:)"
    r"|(?P<word>[A-Za-z_]\w*)"
    rf"|(?P<comma>,)(?={_BETWEEN}(?:[\]}}]|$))",
    re.DOTALL,
)
_WORDS = {"True": "true", "False": "false", "None": "null", "undefined": "null", "NaN": "null"}
_OPEN_KEY = re.compile(r'^(\s*"[\w$-]+)(\s*:)', re.MULTILINE)
_NO_COMMA = re.compile(r'(["\d\]}el])([ \t]*\n\s*)(?=["\[{\d-])')
_FENCES = re.compile(r"\A\s*(?:```|~~~)[\w+-]*[ \t]*\n(.*?)\n[ \t]*(?:```|~~~)\s*\Z", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_NO_ESCAPE = re.compile(r'\\(?!["\\/bfnrt]|u[0-9a-fA-F]{4})')
_CONTROL = re.compile(r"[\x00-\x1f]")
_PART = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}:,]|[^\s"\[\]{}:,]+', re.DOTALL)
MESSAGE = "the JSON is written as JSON is: quotes, commas, brackets, no comments or fences"
MARKED = "a byte order mark is left out: `utf-8-sig`"


@package_tool(
    "JSON does not parse, in a data file or a string. Removes trailing commas, comments, fences, "
    "and a byte order mark; puts double quotes, missing commas and brackets; calls what reads or "
    "writes a text, a file, or lines of it.",
    error_pattern=r"JSONDecodeError: |JSON object must be|has no attribute 'read'|dump\(\) missing",
    level=Level.SAFE,
    applies_to=("*.py", "*.json"),
    needs_tree=False,
)
def json_syntax(task: Task, project: Project) -> Iterator[Made]:
    """The file with JSON that can be read, if what is wrong is one of a few things."""
    del project
    if task.filename.endswith(".json"):
        repaired, is_guess = _repaired(task.code)
        if repaired is not None:
            yield Proposal(code=repaired, message=MESSAGE, is_guess=is_guess)
        return
    text = task.text
    if "utf-8-sig" in task.message:
        for node in nodes_of(task.function or task.tree, ast.Constant):
            if str(node.value).lower() in {"utf-8", "utf8"}:
                yield text.replace(node, '"utf-8-sig"', MARKED)
    yield from _rewritten(task)
    for edit in _called(task):
        yield proposal(text, edit, is_guess=True)


def _rewritten(task: Task) -> Iterator[Made]:
    """The file with a string whose JSON can be read."""
    text = task.text
    # What looks like JSON, in the function at the line and outside of functions.
    places: list[ast.AST] = [] if task.function is None else [task.function]
    places += [s for s in task.tree.body if isinstance(s, (ast.Assign, ast.AnnAssign, ast.Expr))]
    formatted = {id(part) for n in nodes_of(task.tree, FORMATTED) for part in n.values}
    constants = (n for place in places for n in nodes_of(place, ast.Constant))
    for node in (n for n in constants if id(n) not in formatted):
        if not isinstance(node.value, str) or node.value.strip()[:1] not in {"{", "[", "`", "~"}:
            continue
        start, end = text.start(node), text.end(node)
        found = re.fullmatch(
            r"([rRuU]?)('''|\"\"\"|'|\")(.*)\2", text.between(start, end), re.DOTALL
        )
        if found is None or found[2] in found[3]:  # a literal of several parts
            continue
        prefix, quote, inner = found.groups()
        repaired, is_guess = _repaired(inner)
        marks = (m for m in (quote, "'", "'" * 3) if m not in (repaired or m))
        mark = next((m for m in marks if len(m) == len("'" * 3) or "\n" not in str(repaired)), "")
        if mark and "\\" not in f"{inner}{repaired}":
            edit = text.cut(start, end, f"{prefix}{mark}{repaired}{mark}", MESSAGE)
            yield proposal(text, edit, is_guess=is_guess)


_TWINS = {"load": "loads", "loads": "load", "dump": "dumps", "dumps": "dump"}
_LINES = {"load": "{}", "loads": "{}.splitlines()"}


def _called(task: Task) -> Iterator[TextEdit]:
    """Calls of ``json`` as the file, the text or its lines need them."""
    text = task.text
    for node in task.nodes:
        name = called_name(node) if isinstance(node, ast.Call) else ""
        if not isinstance(node, ast.Call) or not node.args:
            continue
        if "JSONDecodeError" not in task.error and name in _TWINS:
            other = _TWINS[name]
            made = text.of(node.func).removesuffix(name) + other
            yield text.replace(node.func, made, f"`{other}`, not `{name}`")
        elif (
            "Extra data" in task.message
            and name in _LINES
            and ".json'" not in ast.unparse(task.tree)
        ):
            lines = _LINES[name].format(text.of(node.args[0]))
            made = f"[{text.of(node.func).removesuffix(name)}loads(line) for line in {lines}]"
            yield text.replace(node, made, "each line is a document")
    if "Expecting" in task.message and "json" in bound_in(task.tree):
        for node in nodes_of(task.tree, ast.Call):
            if isinstance(node.func, ast.Name) and node.func.id in {"str", "repr"}:
                words = f"`json.dumps` writes JSON, `{node.func.id}` does not"
                yield text.replace(node.func, "json.dumps", words)


def _repaired(text: str) -> tuple[str | None, bool]:
    """``text`` as JSON, and whether brackets of it were guessed.

    None if it is JSON already, or no repair makes it so.
    """
    if len(text) > MAX_LENGTH or is_json(text):
        return None, False
    fenced = _FENCES.match(text)
    inner = fenced.group(1) + "\n" * text.endswith("\n") if fenced else text
    plain = _TOKEN.sub(_as_json, inner)
    escaped = _STRING.sub(_escaped, inner)
    closed = _TOKEN.sub(_as_json, _OPEN_KEY.sub(r'\1"\2', inner))
    for made in (inner, plain, closed, _TOKEN.sub(_as_json, escaped), _STRING.sub(_escaped, plain)):
        for joined in (made, _NO_COMMA.sub(r"\1,\2", made)):
            for whole in (joined, _balanced(joined)):
                if is_json(whole):
                    return whole, whole != joined
    return _as_list(plain), True


def _as_json(match: re.Match[str]) -> str:
    kind, said = match.lastgroup, match.group()
    if kind == "single":
        return '"' + re.sub(r'(?<!\\)"', r"\"", said[1:-1].replace("\\'", "'")) + '"'
    if kind == "curly":
        return f'"{said[1:-1]}"'
    if kind == "key":
        return f'"{said}"'
    if kind == "word":
        return _WORDS.get(said, said)
    return said if kind == "text" else ""


def _escaped(match: re.Match[str]) -> str:
    """A string without what must be escaped in one."""
    said = match.group()
    if _NO_ESCAPE.search(said):  # a path, whose other backslashes are meant as well
        said = said.replace("\\", "\\\\")
    return _CONTROL.sub(lambda found: json.dumps(found.group())[1:-1], said)


def _balanced(text: str) -> str:
    """The text with the brackets that are missing, and without one too many.

    A list ends before a key, and all that is open ends where what is around it does.
    """
    closing = {"[": "]", "{": "}"}
    parts = list(_PART.finditer(text))
    made: list[str] = []
    is_open: list[str] = []
    end = 0
    for i, part in enumerate(parts):
        said = part.group()
        between = text[end : part.start()]
        end = part.end()
        is_key = parts[i + 1 : i + 2] and parts[i + 1].group() == ":" and said[:1] == '"'
        if is_key and is_open[-1:] == ["]"] and is_open[-2:-1] == ["}"]:
            is_open.pop()
            tail = "".join(made).rstrip()
            made = [f"{tail[:-1]}]," if tail.endswith(",") else f"{tail}],"]
        if said in closing:
            is_open.append(closing[said])
        elif said in closing.values():
            if said not in is_open:
                continue
            while (inner := is_open.pop()) != said:
                made.append(inner)
        made += [between, said]
    tail = text[end:]
    missing = "".join(reversed(is_open))
    return "".join(made) + (("\n" if "\n" in text else "") + missing if missing else "") + tail


def _as_list(text: str) -> str | None:
    """Several documents, one behind the other, as a list."""
    decoder = json.JSONDecoder()
    found, at = [], 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        try:
            _, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return None
        found.append(text[at:end])
        at = end
    is_plain = len(found) > 1 and all(part[:1] in "{[" for part in found)
    return "[\n" + ",\n".join(found) + "\n]\n" if is_plain else None
