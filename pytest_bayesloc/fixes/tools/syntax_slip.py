"""A file that does not parse, without what was left over, mistyped, or is no Python any more."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import product

from pytest_bayesloc.domain.fixing import Level
from pytest_bayesloc.domain.source import lines_of, tree_of
from pytest_bayesloc.fixes.library import package_tool, parsing
from pytest_bayesloc.fixes.project import Project, Proposal, Task
from pytest_bayesloc.fixes.tools.indentation import STRING, with_lines
from pytest_bayesloc.syntax.nodes import syntax_error

MAX_TRIES = 60  # each is parsed, which takes some milliseconds
MAX_CONFLICTS = 3  # whose sides are chosen one by one
_FENCE = re.compile(r"\s*(```|~~~)[ \t]*[\w+-]*\s*$")
_OURS, _BASE, _BETWEEN, _THEIRS = "<<<<<<<", "|||||||", "=======", ">>>>>>>"
_EQUALS = re.compile(r"(?<![=!<>:+\-*/%&|^@~])=(?!=)")


@package_tool(
    "A file does not parse, since merge markers or code fences are left in it, = stands for ==, a"
    " string is open, a comma is missing, or it is written in Python 2 or C. Puts it right.",
    error_pattern=r"^(SyntaxError|IndentationError|TabError): ",
    level=Level.UNSAFE,
    needs_tree=False,
)
def syntax_slip(task: Task, project: Project) -> Iterator[Proposal]:
    """The file without the slip, in each way that parses."""
    del project
    if not task.filename.endswith(".py") or tree_of(task.code) is not None:
        return
    yield from parsing(task.code, _repairs(task.code), MAX_TRIES)


def _repairs(code: str) -> Iterator[Proposal]:
    for repair in (_without_fences, _without_markers, _from_elsewhere):
        yield from repair(code)
    error, lines = syntax_error(code), lines_of(code)
    line = 0 if error is None else min(error.lineno or 0, len(lines))
    if error is None or line <= 0:
        return
    text = lines[line - 1]
    for found in reversed(list(_EQUALS.finditer(_masked(text)))):
        made = f"{text[: found.start()]}=={text[found.end() :]}"
        yield with_lines(lines, line, line, made, f"`==` compares on line {line}")
    opened = re.search(r"does not match opening parenthesis '(.)'", error.msg)
    if opened is not None:
        at = (error.offset or 1) - 1
        closing = {"(": ")", "[": "]", "{": "}"}[opened[1]]
        words = f"`{closing}` closes the bracket on line {line}"
        yield with_lines(lines, line, line, f"{text[:at]}{closing}{text[at + 1 :]}", words)
    if "forgot a comma" in error.msg:  # behind one of the lines, before a comment
        for number in range(line, error.end_lineno or line):
            item = lines[number - 1]
            end = len(item.partition("#")[0].rstrip())
            words = f"a comma ends the item on line {number}"
            yield with_lines(lines, number, number, f"{item[:end]},{item[end:]}", words)
    if error.msg.startswith("unterminated "):
        yield from _with_closed_string(lines, line, error)


# -- what was pasted


def _without_fences(code: str) -> Iterator[Proposal]:
    lines = lines_of(code)
    fences = [n for n, line in enumerate(lines) if _FENCE.match(line)]
    if not fences:
        return
    code = "".join(line for n, line in enumerate(lines) if n not in fences)
    yield Proposal(code=code, message="code fences go")
    first, last = fences[0], fences[-1]
    inner = [lines[first + 1 : last]] if first != last else []
    for kept in (*inner, lines[:first], lines[first + 1 :]):
        yield Proposal(code="".join(kept), message="code fences go, and the text around them")


def _without_markers(code: str) -> Iterator[Proposal]:
    parts, n_conflicts = _conflicts(lines_of(code))
    if not n_conflicts:
        # Some are left over: one side was chosen already.
        signs = (_OURS, _BASE, _THEIRS)
        rest = [line for line in lines_of(code) if not _is_marker(line, signs)]
        if len(rest) < len(lines_of(code)):
            for kept in (rest, [line for line in rest if line.rstrip() != _BETWEEN]):
                yield Proposal(code="".join(kept), message="left-over merge markers go")
        return
    names = ("the first side", "the second side", "both sides")
    choices: list[tuple[int, ...]] = [(side,) * n_conflicts for side in range(3)]
    if n_conflicts <= MAX_CONFLICTS:
        choices += product(range(3), repeat=n_conflicts)
    for chosen in dict.fromkeys(choices):
        sides = iter(chosen)
        # Both sides are what follows the first and the second.
        text = "".join(p if isinstance(p, str) else (*p, "".join(p))[next(sides)] for p in parts)
        sides_taken = ", ".join(names[side] for side in dict.fromkeys(chosen))
        words = f"of the merge conflict {sides_taken}: only you know which is right"
        yield Proposal(code=text, message=words)


def _is_marker(line: str, signs: Sequence[str]) -> bool:
    return any(line.startswith(f"{sign} ") or line.rstrip() == sign for sign in signs)


def _conflicts(lines: Sequence[str]) -> tuple[list[str | tuple[str, str]], int]:
    """The text in parts: each conflict as its two sides, and their number."""
    parts: list[str | tuple[str, str]] = []
    sides: list[list[str]] = []
    for line in lines:
        if _is_marker(line, (_OURS,)) and not sides:
            sides = [[]]
        elif sides and _is_marker(line, (_BASE, _BETWEEN)):
            sides.append([])
        elif len(sides) > 1 and _is_marker(line, (_THEIRS,)):
            parts.append(("".join(sides[0]), "".join(sides[-1])))  # a base lies between them
            sides = []
        elif sides:
            sides[-1].append(line)
        else:
            parts.append(line)
    return parts, sum(not isinstance(part, str) for part in parts)


# -- what was mistyped


def _with_closed_string(lines: Sequence[str], line: int, error: SyntaxError) -> Iterator[Proposal]:
    text = lines[line - 1]
    words = f"the string on line {line} is closed"
    if "triple-quoted" in error.msg:
        yield from _with_closed_docstring(lines, line, words)
        return
    start = (error.offset or 1) - 1
    quote = next((c for c in text[start:] if c in "\"'"), "")
    other = "'" if quote == '"' else '"'
    body = text.rstrip("\n")
    for at in reversed([i for i, c in enumerate(body) if c == "'"]):
        if body[at - 1 : at].isalpha() and body[at + 1 : at + 2].isalpha():
            escaped = f"{text[:at]}\\{text[at:]}"
            yield with_lines(lines, line, line, escaped, "an apostrophe is escaped")
    for at in [i for i, c in enumerate(body) if c == other]:
        yield with_lines(lines, line, line, text[:at] + quote + text[at + 1 :], words)
    end = len(body.rstrip())
    while quote and end > start:
        yield with_lines(lines, line, line, f"{body[:end]}{quote}{body[end:]}\n", words)
        if body[end - 1] not in ")]},:":
            break
        end -= 1


def _with_closed_docstring(lines: Sequence[str], line: int, words: str) -> Iterator[Proposal]:
    text = lines[line - 1]
    quotes = '"""' if '"""' in text else "'''"
    yield with_lines(lines, line, line, f"{text.rstrip()}{quotes}\n", words)
    for number in range(line, len(lines)):
        if not lines[number].strip():
            indent = text[: len(text) - len(text.lstrip())]
            yield with_lines(lines, number + 1, number, f"{indent}{quotes}\n", words)


# -- what is no Python any more


def _printed(found: re.Match[str]) -> str:
    indent, said = found[1], found[2].strip()
    behind = found[2][len(found[2].rstrip()) :]
    options = ""
    to = re.match(r">>\s*([\w.]+)\s*(?:,\s*|$)", said)
    if to is not None:
        said, options = said[to.end() :], f", file={to[1]}"
    if said.endswith(","):
        said, options = said[:-1].rstrip(), f", end=' '{options}"
    return f"{indent}print({said}{options if said else options.lstrip(', ')}){behind}"


_Change = str | Callable[[re.Match[str]], str]
_ELSEWHERE: Sequence[tuple[str, _Change]] = (
    (r"(?m)^([ \t]*(?:[^\n:#'\"]*:[ \t]+)?)print\b(?![ \t]*[(=.\[])([^\n#;]*)", _printed),
    (r"\bexcept[ \t]+([\w.]+|\([\w., \t]+\))[ \t]*,[ \t]*(\w+)[ \t]*:", r"except \1 as \2:"),
    (r"\braise[ \t]+([\w.]+)[ \t]*,[ \t]*([^\n#]+)", r"raise \1(\2)"),
    (r"<>", "!="),
    (r"`([^`\n]+)`", r"repr(\1)"),
    (r"\bexec[ \t]+(?![ \t]*[(=.])([^\n#;]+)", r"exec(\1)"),
    (r"(?<![\w.])0([0-7]+)(?![\w.])", r"0o\1"),
    (r"(?<![\w.])(0[xX][0-9a-fA-F]+|\d+)[lL]\b", r"\1"),
    (r"(?i)(?<!\w)ur(?=[\"'])", "r"),
    (r"[ \t]*&&[ \t]*", " and "),
    (r"[ \t]*\|\|[ \t]*", " or "),
    (r"!(?=[\w(])", "not "),
    (r"(?m)\belse[ \t]+if\b(?=[^\n]*:[ \t]*$)", "elif"),
    (r"(?m)\b([\w.]+)(?:(\+)\+|(-)-)[ \t]*;?[ \t]*$", r"\1 \2\3= 1"),
)


def _from_elsewhere(code: str) -> Iterator[Proposal]:
    """The statements, operators and numbers of Python 2 and of C, as they are written now."""
    made = code
    for pattern, change in _ELSEWHERE:
        # A match that begins in a string or a comment stays as it is.
        masked, end = _masked(made), 0
        parts: list[str] = []
        for found in re.finditer(pattern, made):
            at = found.start() + len(found.group()) - len(found.group().lstrip())
            if found.start() < end or masked[at : at + 1] != made[at : at + 1]:
                continue
            said = change(found) if callable(change) else found.expand(change)
            parts += [made[end : found.start()], said]
            end = found.end()
        made = "".join((*parts, made[end:]))
    if made != code:
        yield Proposal(code=made, message="what Python 2 or C has is written as in Python 3")


def _masked(code: str) -> str:
    """Returns the text with strings and comments blanked out; lengths stay."""
    return STRING.sub(lambda found: "".join(c if c == "\n" else "\0" for c in found.group()), code)
