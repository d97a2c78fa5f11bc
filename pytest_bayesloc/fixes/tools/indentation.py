"""A file that does not parse, with a line indented as it must have been meant."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from pytest_bayesloc.domain.fixing import Level
from pytest_bayesloc.domain.source import lines_of, tree_of
from pytest_bayesloc.fixes.library import package_tool, parsing
from pytest_bayesloc.fixes.project import Project, Proposal, Task
from pytest_bayesloc.syntax.nodes import syntax_error
from pytest_bayesloc.syntax.text import indent_of

N_ABOVE = 2
MAX_TRIES = 24  # each is parsed, which takes some milliseconds
_ERRORS = ("IndentationError", "TabError", "SyntaxError")
_OUTSIDE = "outside function"  # which is found when the file is compiled, not when it is parsed
_OPENING, _CLOSING = "([{", ")]}"
_BLOCK = re.compile(
    r"\s*(async\s+)?(if|elif|else|for|while|def|class|with|try|except|finally|match|case)\b"
)
_OTHER_BLOCK = re.compile(r"\s*(async\s+def|def|class|@|elif|else|except|finally|case)\b|\s*@")
#: A comment, or a string.
STRING = re.compile(
    r"#[^\n]*|(?P<long>(\"\"\"|''')(?:\\.|(?!\2).)*\2)"
    r"|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'",
    re.DOTALL,
)


@package_tool(
    "A file does not parse, since a line is indented wrongly, tabs and spaces are mixed, or a"
    " colon or a bracket is missing or left over. Puts it right.",
    error_pattern=r"^(IndentationError|TabError): "
    r"|^SyntaxError: (expected ':'|invalid syntax|'[(\[{]' was never closed|unmatched '[)\]}]'"
    r"|'\w+' outside function)",
    level=Level.UNSAFE,
    needs_tree=False,
)
def indentation(task: Task, project: Project) -> Iterator[Proposal]:
    """The file with the line put right, in each way that parses."""
    del project
    # The task's own may be of an older text.
    error = syntax_error(task.code) if task.error_type in _ERRORS else None
    lines = lines_of(task.code)
    if error is None and _OUTSIDE in task.message and 0 < task.line <= len(lines):
        yield from (made for made in _at_levels(lines, task.line) if _compiles(made.code))
    if error is not None and error.lineno:
        made = _repairs(error, lines, min(error.lineno, len(lines)))
        yield from parsing(task.code, made, MAX_TRIES)


def with_lines(lines: Sequence[str], first: int, last: int, text: str, words: str) -> Proposal:
    """``text`` in the place of the lines from ``first`` to ``last``."""
    return Proposal(code="".join((*lines[: first - 1], text, *lines[last:])), message=words)


def _compiles(code: str) -> bool:
    try:
        compile(code, "", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError):
        return False
    return True


def _repairs(error: SyntaxError, lines: list[str], line: int) -> Iterator[Proposal]:
    said = error.msg
    if isinstance(error, TabError):
        yield from _without_tabs(lines, line)
    elif said == "unexpected indent" or said.startswith("unindent does not match"):
        yield from _at_levels(lines, line)
        yield from _above(lines, line)
    elif said.startswith("expected an indented block"):
        head = re.search(r"on line (\d+)", said)
        yield from _with_block(lines, line, int(head.group(1)) if head else line - 1)
    elif said == "expected ':'" or (said == "invalid syntax" and _BLOCK.match(lines[line - 1])):
        text = lines[line - 1]
        offset = max((error.offset or 0) - 1, 0)
        places = dict.fromkeys((_end_of_code(text), len(text[:offset].rstrip())))
        words = f"a colon ends the head on line {line}"
        yield from _sole(
            with_lines(lines, line, line, f"{text[:at]}:{text[at:]}", words) for at in places
        )
        if said == "invalid syntax":
            yield from _sole(_closed_head(lines, line))
    elif said.endswith("was never closed"):
        yield from _sole(_closed(lines, line, error.offset or 1))
    elif said.startswith("unmatched '"):
        text, closing = lines[line - 1], said[len("unmatched '")]
        found = [i for i, c in enumerate(text) if c == closing][:MAX_TRIES]
        words = f"a `{closing}` too many on line {line}"
        yield from _sole(
            with_lines(lines, line, line, text[:at] + text[at + 1 :], words) for at in found
        )


def _sole(made: Iterator[Proposal]) -> Iterator[Proposal]:
    """The repair, if just one of them parses: a bracket is not guessed."""
    found = {proposal.code: proposal for proposal in made}
    sound = [code for code in found if tree_of(code) is not None]
    if len(sound) == 1:
        yield found[sound[0]]


# -- indentation


def _at_levels(lines: list[str], line: int) -> Iterator[Proposal]:
    """The line at each level that is open there, the nearest first, with what belongs to it."""
    own, width = indent_of(lines[line - 1]), _depth(lines[line - 1])
    levels = _levels(lines, line)
    for level in sorted(levels, key=lambda level: (abs(_depth(level) - width), -_depth(level))):
        words = f"line {line} is indented by {_depth(level)}, as the lines around it"
        for end in dict.fromkeys((_same(lines, line), line)):
            moved = (
                level + text[len(own) :] if text.strip() else text for text in lines[line - 1 : end]
            )
            yield with_lines(lines, line, end, "".join(moved), words)


def _above(lines: list[str], line: int) -> Iterator[Proposal]:
    """The line before at a deeper level: where it ends a block too soon, the next one is odd."""
    before = [n for n, text in enumerate(_code_lines(lines)[: line - 1], 1) if text.strip()]
    for number in before[: -1 - N_ABOVE : -1]:
        text = lines[number - 1]
        if _depth(text) < _depth(lines[line - 1]):
            for level in _levels(lines, number):
                words = f"line {number} is indented by {_depth(level)}, as the lines around it"
                moved = level + text[len(indent_of(text)) :]
                yield with_lines(lines, number, number, moved, words)


def _levels(lines: list[str], line: int) -> list[str]:
    """The indentations of the blocks that are open at ``line``, and one that may begin there."""
    found: list[str] = []
    for text in reversed(_code_lines(lines)[: line - 1]):
        indent = indent_of(text)
        if not text.strip():
            continue
        if not found and text.split("#")[0].rstrip().endswith(":"):
            found.append(indent + _unit(lines))
        if not found or _depth(indent) < min(map(_depth, found)):
            found.append(indent)
        if not indent:
            break
    return found


def _same(lines: list[str], line: int) -> int:
    """The last line of those from ``line`` on that are indented as it is, or deeper."""
    own = indent_of(lines[line - 1])
    end = line
    for number, text in enumerate(lines[line:], line + 1):
        if text.strip() and not text.startswith(own):
            break
        end = number if text.strip() else end
    return end


def _with_block(lines: list[str], line: int, head: int) -> Iterator[Proposal]:
    """Yields what follows a head as its block, or a block that does nothing."""
    outer = indent_of(lines[head - 1])
    inner = outer + _unit(lines)
    text = lines[line - 1]
    is_beside = _depth(text) == _depth(outer)
    filled = list(_filled(lines, line, head, inner)) if is_beside else []
    at = line - 1 if text.strip() and line > head else len(lines)
    while at > head and not lines[at - 1].strip():
        at -= 1
    ended = "" if not at or lines[at - 1].endswith("\n") else "\n"
    words = f"the block of line {head} is empty: `pass`"
    bare = with_lines(lines, at + 1, at, f"{ended}{inner}pass\n", words)
    is_class = lines[head - 1].lstrip().startswith("class")
    is_method = is_class and re.match(r"\s*(async |def|@)", text) is not None
    is_other = _OTHER_BLOCK.match(text) is not None and not is_method
    yield from (bare, *filled) if is_other else (*filled, bare)


def _filled(lines: list[str], line: int, head: int, inner: str) -> Iterator[Proposal]:
    words = f"line {line} is indented, as the block of line {head}"
    outer = indent_of(lines[head - 1])
    last = _same(lines, line)
    blank = next((n for n in range(line, last + 1) if _is_apart(lines, n, outer)), last)
    first = line
    while first < last and _depth(lines[first]) > _depth(outer):
        first += 1
    strings = _in_strings(lines)
    is_class = re.match(r"\s*class\b", lines[head - 1]) is not None
    for end in dict.fromkeys((last, blank, first) if is_class else (blank, first, last)):
        moved = (
            inner + lines[n - 1][len(outer) :]
            if lines[n - 1].strip() and n not in strings
            else lines[n - 1]
            for n in range(line, end + 1)
        )
        yield with_lines(lines, line, end, "".join(moved), words)


def _is_apart(lines: list[str], number: int, outer: str) -> bool:
    """Whether a blank line follows, and then one at the level ``outer``."""
    behind = lines[number:]
    after = next((text for text in behind if text.strip()), "")
    return bool(behind) and not behind[0].strip() and indent_of(after) == outer


# -- tabs


def _without_tabs(lines: list[str], line: int) -> Iterator[Proposal]:
    """Tabs as spaces, or the other way round where most lines have tabs."""
    strings = _in_strings(lines)
    indented = [
        n for n, t in enumerate(lines, 1) if t.strip() and indent_of(t) and n not in strings
    ]
    with_tabs = [n for n in indented if "\t" in indent_of(lines[n - 1])]
    plain = [n for n in indented if n not in set(with_tabs)]
    known = {len(indent_of(lines[n - 1])) for n in plain if abs(n - line) < 10}
    near = next((n for n in reversed(with_tabs) if n <= line), line)
    own = indent_of(lines[near - 1])
    is_wide = len(own.expandtabs(8)) in known and len(own.expandtabs(4)) not in known
    sizes = (8, 4) if is_wide else (4, 8)
    ways: list[tuple[Sequence[int], Callable[[str, int], str], str]] = [
        (with_tabs, lambda indent, size: indent.expandtabs(size), "tabs are {} spaces"),
        (plain, _tabs, "{} spaces are a tab"),
    ]
    for numbers, change, words in ways if len(plain) >= len(with_tabs) else ways[::-1]:
        for size in sizes:
            changed = list(lines)
            for n in numbers:
                indent = indent_of(lines[n - 1])
                changed[n - 1] = change(indent, size) + lines[n - 1][len(indent) :]
            words_of_size = f"in the indentation, {words.format(size)}"
            yield Proposal(code="".join(changed), message=words_of_size)


def _tabs(indent: str, size: int) -> str:
    n_tabs, rest = divmod(len(indent.expandtabs(size)), size)
    return "\t" * n_tabs + " " * rest


# -- colons and brackets


def _closed(lines: list[str], line: int, offset: int) -> Iterator[Proposal]:
    """The bracket closed at the end of its line, before a colon or a comma or behind it."""
    text = lines[line - 1]
    opening = text[offset - 1 : offset]
    if not opening or opening not in _OPENING:
        return
    closing = _CLOSING[_OPENING.index(opening)]
    end = _end_of_code(text)
    inner = end - 1 if text[:end].endswith((":", ",")) else end
    for at in dict.fromkeys((inner, end)):
        words = f"`{opening}` is closed on line {line}"
        yield with_lines(lines, line, line, f"{text[:at]}{closing}{text[at:]}", words)


def _closed_head(lines: list[str], line: int) -> Iterator[Proposal]:
    """The head of a block with the one bracket closed that it leaves open."""
    text = lines[line - 1]
    for opening, closing in zip(_OPENING, _CLOSING, strict=True):
        if text.count(opening) == text.count(closing) + 1:
            yield from _closed(lines, line, text.index(opening) + 1)


def _end_of_code(text: str) -> int:
    """Returns the end of a line's code: before blanks and a comment."""
    comment = next((m for m in STRING.finditer(text) if m.group().startswith("#")), None)
    return len(text[: comment.start() if comment else len(text)].rstrip())


# -- lines


def _unit(lines: list[str]) -> str:
    """Returns the unit of indentation: the file's smallest indentation below a head."""
    code = _code_lines(lines)
    steps = [
        indent_of(second)[len(indent_of(first)) :]
        for first, second in pairwise(code)
        if first.rstrip().endswith(":") and indent_of(second).startswith(indent_of(first))
    ]
    return min((step for step in steps if step), key=len, default="    ")


def _code_lines(lines: list[str]) -> list[str]:
    """The lines, empty where they are inside a string or a comment alone."""
    strings = _in_strings(lines)
    return [
        "" if n in strings or text.lstrip().startswith("#") else text
        for n, text in enumerate(lines, 1)
    ]


def _in_strings(lines: list[str]) -> set[int]:
    """The lines that begin inside a string."""
    text = "".join(lines)
    found: set[int] = set()
    for match in STRING.finditer(text):
        if match["long"] and "\n" in match["long"]:
            first = text.count("\n", 0, match.start()) + 1
            found.update(range(first + 1, first + 1 + match["long"].count("\n")))
    return found


def _depth(line: str) -> int:
    return len(indent_of(line).expandtabs(8))
