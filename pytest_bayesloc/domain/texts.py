"""Texts as Python reads them, and as databases take them. A passing run imports this module."""

from __future__ import annotations

import hashlib
import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Any


def as_python_reads(data: bytes) -> str:
    """Return the text of a file in its declared encoding, its lines ended as Python sees them.

    Raises:
        SyntaxError: If it declares an unknown encoding.
        UnicodeError: If it is not in that encoding.
    """
    import tokenize

    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    with io.TextIOWrapper(io.BytesIO(data), encoding) as stream:
        return stream.read()


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file's bytes; empty if it can't be read."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def text_digest(text: str, length: int = 64) -> str:
    """Return the first ``length`` hexadecimal digits of the SHA-256 of any text."""
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:length]


def storable(text: str) -> str:
    """Return ``text`` with its lone surrogates spelt out, which no database takes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def with_texts(value: Any, change: Callable[[str], str]) -> Any:  # noqa: ANN401 - any JSON value
    """Return a JSON value with each text in it changed; keys stay."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [with_texts(item, change) for item in value]
    if isinstance(value, dict):
        return {key: with_texts(item, change) for key, item in value.items()}
    return value
