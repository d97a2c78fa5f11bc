"""A fix tool and its definition: a small YAML file, which may run once a person has trusted it.

Reference:
    docs/fixes.md, sections "A tool of your own" and "Trust".
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import yaml

from pytest_bayesloc.domain.errors import ToolError
from pytest_bayesloc.domain.fixing import Level
from pytest_bayesloc.domain.texts import TextEnum
from pytest_bayesloc.fixes.project import Propose

PRIORITIES = ("high", "medium", "low")
MAX_BYTES = 64 << 10
MAX_WORDS = 40  # of args, tags, globs
MAX_TEXT = 2_000
_NAME = re.compile(r"[a-z][a-z0-9]*([-_][a-z0-9]+)*")


class ToolOrigin(TextEnum):
    """The place that a tool comes from."""

    PACKAGE = "package"
    PLUGIN = "plugin"
    USER = "user"
    PROJECT = "project"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A fix tool: its definition, and what it runs.

    Attributes:
        name: Words in lower case, joined by hyphens or underscores.
        description: One or two sentences: what it is for, and what it does.
        command: What is run; ``python`` is the interpreter that runs pytest. Empty for tools of
            this package.
        args: Its arguments; a name of a file beside the definition stands for that file.
        tags: Such as ``fix``, ``error_handler``.
        error_pattern: Regular expression that is searched in ``Type: message``; None: any error.
        applies_to: Globs of the files that it may change.
        priority: One of ``PRIORITIES``: which of several tools goes first.
        level: How far it may go.
        auto_apply: Whether a good match needs no check before tests are run again.
        origin: Where it comes from.
        path: Of its definition, resolved; None for tools of this package.
        files: Bytes of the files beside the definition that its command names.
        digest: Of the path and of all these bytes; empty for tools of this package.
        propose: Runs it; None if it may not be run.
        why_not: Why it may not be run; empty if it may.
    """

    name: str
    description: str
    command: str = ""
    args: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    error_pattern: re.Pattern[str] | None = None
    applies_to: tuple[str, ...] = ("*.py",)
    priority: str = "medium"
    level: Level = Level.UNSAFE
    auto_apply: bool = False
    origin: ToolOrigin = ToolOrigin.PACKAGE
    path: Path | None = None
    files: Mapping[str, bytes] = field(default_factory=dict)
    digest: str = ""
    propose: Propose | None = field(default=None, compare=False)
    why_not: str = ""

    def may_change(self, file: str) -> bool:
        """Whether ``file``, relative to rootdir, is one of those that it is for."""
        return any(fnmatch(file, glob) for glob in self.applies_to)


def parse_definition(text: bytes, where: str) -> Tool:
    """The tool that the text of a definition describes; it can't be run yet.

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
    metadata.text("category", "")  # for people alone
    return Tool(
        name=fields.name(),
        description=fields.text("description"),
        command=fields.text("command"),
        args=fields.words("args", ()),
        tags=fields.words("tags", ()),
        error_pattern=metadata.pattern("error_pattern"),
        applies_to=metadata.words("applies_to", ("*.py",)),
        priority=metadata.choice("priority", PRIORITIES, "medium"),
        level=Level(metadata.choice("level", tuple(level.value for level in Level), "unsafe")),
        auto_apply=metadata.take("auto_apply", bool, default=False),
    )


_FIXED = {"type": ("fix", "executable"), "input_format": ("json",), "output_format": ("json",)}


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

    def name(self) -> str:
        value = self.text("name")
        if not _NAME.fullmatch(value):
            expected = "words in lower case, joined by hyphens or underscores"
            raise self._wrong("name", value, expected)
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


SUFFIXES = (".yaml", ".yml")
MAX_FILE = 1 << 20
MAX_TOOLS = 200


def definitions_in(folder: Path) -> list[Path]:
    """The definitions in a folder, in the order of their names."""
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if path.suffix in SUFFIXES)[:MAX_TOOLS]


def load_tool(path: Path, inside: Path | None = None) -> Tool:
    """The tool that a definition stands for, read once: what is hashed is what is run.

    Args:
        path: Of the definition.
        inside: The folder that neither it nor what it names may leave; None: that it lies in.

    Raises:
        ToolError: If it can't be read, or is not what a definition must be.
    """
    root = Path(os.path.realpath(inside or path.parent))
    text = _read(path, root)
    tool = parse_definition(text, path.name)
    named = (tool.command, *tool.args)
    files = {
        word: _read(path.parent / word, root) for word in named if _is_beside(path, word, root)
    }
    whole = hashlib.sha256()
    for part in (os.path.realpath(path).encode("utf-8", "surrogateescape"), text):
        whole.update(b"%d:" % len(part) + part)
    for word, data in sorted(files.items()):
        whole.update(b"%d:" % len(word) + word.encode() + b"%d:" % len(data) + data)
    return replace(tool, path=Path(os.path.realpath(path)), files=files, digest=whole.hexdigest())


def _is_beside(path: Path, word: str, root: Path) -> bool:
    """Whether a word of a command is the name of a file in the definition's folder.

    A file elsewhere in the project would be run as it is then, not as it was when it was trusted.
    """
    if os.sep in word or "/" in word:
        named = path.parent / word
        is_ours = not Path(word).is_absolute() or Path(os.path.realpath(named)).is_relative_to(root)
        if is_ours and named.exists():
            raise _refused(path, f"{word} is not beside it")
        return False
    beside = path.parent / word
    return bool(word) and not word.startswith("-") and beside.is_file()


def _read(path: Path, root: Path) -> bytes:
    """The bytes of a plain file that lies where it seems to."""
    if path.name.startswith("-"):
        raise _refused(path, "its name starts with `-`")
    real = Path(os.path.realpath(path))
    if not real.is_relative_to(root):
        raise _refused(path, f"it leads out of {root}")
    try:
        if not stat.S_ISREG(real.stat().st_mode):  # opening a pipe would wait for ever
            raise _refused(path, "it is no file")
        with real.open("rb") as stream:
            data = stream.read(MAX_FILE + 1)
    except OSError as error:
        raise _refused(path, str(error)) from error
    if len(data) > MAX_FILE:
        raise _refused(path, f"it has more than {MAX_FILE:,} bytes")
    return data


def _refused(path: Path, why: str) -> ToolError:
    return ToolError(
        f"The fix tool {path.name} is refused: {why}. Expected plain files beside its definition, "
        "in the project.",
        slug="refused-tool",
    )
