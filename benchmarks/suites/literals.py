"""Other values for constants, as edits of their source text."""

from __future__ import annotations

import ast
import re
import warnings
from typing import TYPE_CHECKING

from benchmarks.suites.edits import Edit
from benchmarks.suites.spans import instead, without_item

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.suites.functions import SourceFile

LITERAL = re.compile(
    r"""(?P<prefix>[rRbBuU]{0,2})(?P<quote>'''|\"""|'|")(?P<inner>(?:\\.|(?!(?P=quote)).)*)(?P=quote)""",
    re.DOTALL,
)
UNIT = re.compile(
    r"\\(?:x..|u.{4}|U.{8}|N\{[^}]*\}|[0-7]{1,3}|\r?\n|.)|[^\\]",
    re.DOTALL,
)
SEPARATORS = frozenset(" ,.:;-_/=|") | {"\\n", "\\t"}

# What people get wrong in a regular expression: what is written, and what is meant to be there.
PATTERN_MISTAKES = tuple(
    (re.compile(written), other)
    for written, other in (
        (r"(?<=[\w\])}])\+", "*"),
        (r"(?<=[\w\])}])\*", "+"),
        (r"(?<=[\w\])}])\?", ""),
        (r"(?<=[+*])\?", ""),
        (r"\\d", r"\\w"),
        (r"\\w", r"\\S"),
        (r"\\s", " "),
        (r"\\b", ""),
        (r"(?<![\[\\])\^", ""),
        (r"(?<!\\)\$", ""),
        (r"(?<=\[)\^", ""),
        (r"\(\?:", "("),
        (r"(?<=\w)\|\w+", ""),
        (r"A-Z|0-9", ""),
        (r"\\\\(?=\.)", ""),
        (r"\\(?=\.)", ""),
        (r"(?<=\{)(\d+),(?=\d*\})", ""),
    )
)


def text_edits(file: SourceFile, node: ast.Constant) -> Iterator[Edit]:
    """Typing mistakes in a text: its end or a separator lost, a letter of the other case."""
    for found, at in _literals(file, node):
        for inner in dict.fromkeys(_mistyped(UNIT.findall(found["inner"]))):
            yield Edit(start=at, end=at + len(found["inner"].encode()), text=inner)


def pattern_edits(file: SourceFile, node: ast.Constant) -> Iterator[Edit]:
    """Mistakes in a regular expression that leave it one."""
    if not is_pattern(node.value):
        return
    for found, at in _literals(file, node):
        inner = found["inner"]
        for written, other in PATTERN_MISTAKES:
            for match in written.finditer(inner):
                start = at + len(inner[: match.start()].encode())
                end = at + len(inner[: match.end()].encode())
                edit = Edit(start=start, end=end, text=match.expand(other))
                if _stays_pattern(file, node, edit):
                    yield edit


def is_pattern(value: object) -> bool:
    """Whether a text looks like a regular expression and is one."""
    if not isinstance(value, (str, bytes)):
        return False
    text = value.decode("latin-1") if isinstance(value, bytes) else value
    marks = r"\\[dwsbDWSB]|\(\?|\[\^|\[[^\]]+\][+*?]|[\w)\]]\+|\.\*|^\^|\$$|\{\d+,?\d*\}"
    return re.search(marks, text) is not None and _compiles(text)


def number_edits(file: SourceFile, node: ast.Constant) -> Iterator[Edit]:
    """Typing mistakes in a number, none of which moves it by one."""
    value, written = node.value, file.segment(node)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return
    if not re.fullmatch(r"\d+(\.\d+)?", written):
        return
    whole, point, rest = written.partition(".")
    others = [f"{whole}0{point}{rest}"] if value else []
    if len(whole) > 1:
        others += [f"{whole[:-1]}{point}{rest}", whole[:-2] + whole[-1] + whole[-2] + point + rest]
    if not value:
        others.append("10" + point + rest)
    for other in dict.fromkeys(others):
        if not re.match(r"0\d", other) and abs(float(other) - value) != 1:
            yield instead(file, node, other)


def constant_edits(file: SourceFile, node: ast.Constant) -> Iterator[Edit]:
    """Another value of the same type, for numbers and truth values the next ones too."""
    value = node.value
    if isinstance(value, bool):
        yield instead(file, node, str(not value))
    elif isinstance(value, (str, bytes)):
        yield from text_edits(file, node)
    elif isinstance(value, int):
        for other in (value + 1, value - 1):
            if other >= 0:
                yield instead(file, node, str(other))
    yield from number_edits(file, node)


def entry_edits(file: SourceFile, node: ast.AST) -> Iterator[Edit]:
    """One entry lost from a display of several."""
    entries = entries_of(file, node)
    for start, end in entries if len(entries) > 1 else ():
        yield without_item(file, start, end)


def entries_of(file: SourceFile, node: ast.AST) -> list[tuple[int, int]]:
    """The spans of the entries of a list, tuple, set or dict that is written out."""
    if isinstance(node, ast.Dict):
        return [
            (file.span(key)[0], file.span(value)[1])
            for key, value in zip(node.keys, node.values, strict=True)
            if key is not None
        ]
    if isinstance(node, ast.Set):
        return [file.span(each) for each in node.elts]
    if isinstance(node, (ast.List, ast.Tuple)) and isinstance(node.ctx, ast.Load):
        return [file.span(each) for each in node.elts]
    return []


def _literals(file: SourceFile, node: ast.Constant) -> Iterator[tuple[re.Match[str], int]]:
    """The literals that a text is written as, with the byte where the inside of each starts."""
    if not isinstance(node.value, (str, bytes)):
        return
    start, segment = file.span(node)[0], file.segment(node)
    for found in LITERAL.finditer(segment):
        yield found, start + len(segment[: found.start("inner")].encode())


def _mistyped(units: list[str]) -> Iterator[str]:
    visible = [i for i, unit in enumerate(units) if not unit.isspace()]
    last = visible[-1] if visible else len(units) - 1
    separators = [i for i, unit in enumerate(units) if unit in SEPARATORS and i != last]
    letters = [i for i, unit in enumerate(units) if unit.isalpha() and unit.isascii()]
    for i in [last, *separators[:1]] if units else ():
        yield "".join(units[:i] + units[i + 1 :])
    for i in letters[:1]:
        yield "".join([*units[:i], units[i].swapcase(), *units[i + 1 :]])


def _stays_pattern(file: SourceFile, node: ast.Constant, edit: Edit) -> bool:
    start, end = file.span(node)
    head, tail = file.between(start, edit.start), file.between(edit.end, end)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            value = ast.literal_eval(f"({head}{edit.text}{tail})")
        except (SyntaxError, ValueError):
            return False
    return value != node.value and _compiles(value)


def _compiles(pattern: str | bytes) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            re.compile(pattern, re.VERBOSE)
        except (re.error, OverflowError, RecursionError):
            return False
    return True
