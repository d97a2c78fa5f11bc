"""The definition of a tool: a small YAML file beside it.

Reference:
    docs/fixes.md, section "A tool of your own".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from fnmatch import fnmatch
from typing import Any

import yaml

from pytest_bayesloc.domain.errors import ToolError
from pytest_bayesloc.domain.fixing import Level

MAX_BYTES = 64 << 10
MAX_WORDS = 40  # of args, tags, globs
MAX_TEXT = 2_000
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


class Priority(int, Enum):
    """Which of several tools goes first; a smaller number is sooner."""

    HIGH = 0
    MEDIUM = 1
    LOW = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """What a tool says of itself.

    Attributes:
        name: Words in lower case, joined by hyphens.
        description: One or two sentences: what it is for, and what it does.
        command: What is run; ``python`` is the interpreter that runs pytest.
        args: Its arguments; a name of a file beside the definition stands for that file.
        tags: Such as ``fix``, ``error_handler``.
        error_pattern: Regular expression that is searched in ``Type: message``; None: any error.
        applies_to: Globs of the files that it may change.
        category: What it is about.
        priority: Which of several tools goes first.
        level: How far it may go.
        auto_apply: Whether a good match needs no check before tests are run again.
    """

    name: str
    description: str
    command: str
    args: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    error_pattern: re.Pattern[str] | None = None
    applies_to: tuple[str, ...] = ("*.py",)
    category: str = ""
    priority: Priority = Priority.MEDIUM
    level: Level = Level.UNSAFE
    auto_apply: bool = False

    def may_change(self, file: str) -> bool:
        """Whether ``file``, relative to rootdir, is one of those that it is for."""
        return any(fnmatch(file, glob) for glob in self.applies_to)


def parsed(text: bytes, where: str) -> Definition:
    """The definition that a file holds.

    Args:
        text: Content of the file.
        where: Its name, for messages.

    Raises:
        ToolError: If it is none; the text says what is wrong with it.
    """
    if len(text) > MAX_BYTES:
        raise _broken(where, f"it has {len(text):,} bytes", f"{MAX_BYTES:,} at most")
    try:
        # Before anything is built: a few lines of anchors can stand for terabytes.
        events = yaml.parse(text, Loader=yaml.SafeLoader)
        if any(getattr(event, "anchor", None) for event in events):
            raise _broken(where, "it has anchors or aliases", "each value written out")
        read = yaml.safe_load(text)
    except (yaml.YAMLError, UnicodeError, RecursionError, ValueError) as error:
        said = " ".join(str(error).split())[:200]
        raise _broken(where, f"it is no YAML ({said})", "a mapping") from error
    fields = _Fields(read, where)
    metadata = _Fields(fields.take("metadata", dict, {}), where)
    for name in ("type", "input_format", "output_format"):
        fields.choice(name, _FIXED[name], _FIXED[name][0])
    return Definition(
        name=fields.matching("name", _NAME, "words in lower case, joined by hyphens"),
        description=fields.text("description"),
        command=fields.text("command"),
        args=fields.words("args", ()),
        tags=fields.words("tags", ()),
        error_pattern=metadata.pattern("error_pattern"),
        applies_to=metadata.words("applies_to", ("*.py",)),
        category=metadata.text("category", ""),
        priority=Priority[metadata.choice("priority", _PRIORITIES, "medium").upper()],
        level=Level(metadata.choice("level", tuple(level.value for level in Level), "unsafe")),
        auto_apply=metadata.take("auto_apply", bool, default=False),
    )


_FIXED = {"type": ("fix",), "input_format": ("json",), "output_format": ("json",)}
_PRIORITIES = tuple(priority.name.lower() for priority in Priority)


class _Fields:
    """A mapping that names what is wrong with its values."""

    def __init__(self, read: object, where: str) -> None:
        if not isinstance(read, dict):
            raise _broken(where, f"it holds {type(read).__name__}", "a mapping")
        self._read: Mapping[str, Any] = read
        self._where = where

    def take(self, name: str, kind: type, default: Any = None) -> Any:  # noqa: ANN401 - as ``kind``
        value = self._read.get(name, default)
        if not isinstance(value, kind):
            raise self._wrong(name, value, f"{kind.__name__}")
        return value

    def text(self, name: str, default: str | None = None) -> str:
        value: str = self.take(name, str, default)
        if len(value) > MAX_TEXT or not (value.strip() or default is not None) or "\0" in value:
            raise self._wrong(name, value[:40], f"a text of 1 to {MAX_TEXT:,} characters")
        return value

    def words(self, name: str, default: tuple[str, ...]) -> tuple[str, ...]:
        given: list[Any] = self.take(name, list, list(default))
        texts = [word for word in given if isinstance(word, str) and len(word) <= MAX_TEXT]
        if len(given) > MAX_WORDS or len(texts) < len(given) or any("\0" in t for t in texts):
            raise self._wrong(name, str(given)[:40], f"a list of at most {MAX_WORDS} texts")
        return tuple(texts)

    def choice(self, name: str, known: tuple[str, ...], default: str) -> str:
        value = self.take(name, str, default)
        if value not in known:
            raise self._wrong(name, value, f"one of {', '.join(known)}")
        return str(value)

    def matching(self, name: str, pattern: re.Pattern[str], expected: str) -> str:
        value = self.text(name)
        if not pattern.fullmatch(value):
            raise self._wrong(name, value, expected)
        return value

    def pattern(self, name: str) -> re.Pattern[str] | None:
        value = self.text(name, "")
        try:
            return re.compile(value) if value else None
        except (re.error, RecursionError, OverflowError) as error:
            raise self._wrong(name, value, f"a regular expression ({error})") from error

    def _wrong(self, name: str, value: object, expected: str) -> ToolError:
        return _broken(self._where, f"{name} is {value!r}", expected)


def _broken(where: str, what: str, expected: str) -> ToolError:
    return ToolError(
        f"The fix tool {where} is left out: {what}, expected {expected}. See docs/fixes.md.",
        slug="bad-tool",
    )
