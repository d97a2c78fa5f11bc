"""Texts without what varies from run to run."""

from __future__ import annotations

import re
from functools import lru_cache
from http import HTTPStatus

#: Changes whenever a fingerprint may differ from that of the release before.
VERSION = 1

MAX_LENGTH = 20_000  # of what is masked: nobody reads on, and patterns take their time

_PHRASES = "|".join(sorted({re.escape(status.phrase) for status in HTTPStatus}))
_QUOTED_TEXT = r"""(?<![\w'"])(?:'(?:[^'\\\n]|\\.){0,200}'|"(?:[^"\\\n]|\\.){0,200}")(?!\w)"""
_UNIT = r"(?:ns|[uµm]s|s|secs?|seconds?|min|minutes?|h|hours?|days?)"
_DATE = r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?"
_DATETIME = r"datetime\.(?:datetime|date|time|timedelta)\([^()]*\)"
_EXPONENT = r"e[+-]?\d+"

# In the order in which they are applied: what a later pattern would take to pieces comes first.
_ALWAYS = tuple(
    (re.compile(pattern, flags), mask)
    for pattern, mask, flags in (
        (r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-_])", "", 0),
        (r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", "<uuid>", re.IGNORECASE),
        (r"\b0x[0-9a-f]+\b", "<address>", re.IGNORECASE),
        (r"<((?:[\w.]|<\w+>)+)(?: object)? at <address>>", r"<\1>", 0),
        (r"<(\w+ (?:[\w.]|<\w+>)+) at <address>>", r"<\1>", 0),
        (
            r"(?:[A-Za-z]:)?[\w.~/\\-]*[/\\]pytest-of-[^/\\\s'\"]+(?:[/\\][^/\\\s'\":]+){0,2}",
            "<tmp>",
            0,
        ),
        (r"(?<![\w/])(?:/private)?(?:/var)?/tmp/[^/\s'\":,)]+", "<tmp>", 0),
        (r"(?<![\w/])/var/folders/[^/\s]+/[^/\s]+/T/[^/\s'\":,)]+", "<tmp>", 0),
        (r"[A-Za-z]:\\[^\s'\"]*\\Temp\\[^\\\s'\":,)]+", "<tmp>", re.IGNORECASE),
        (r"\b(?:popen-)?gw\d+\b", "<worker>", 0),
        (r"\b[a-z][a-z0-9+.-]{1,15}://[^\s'\"<>)\]}]+", "<url>", re.IGNORECASE),
        (r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b", "<email>", 0),
        (r"\b(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?\b", "<ip>", 0),
        (r"(?<![\w:])(?:[0-9a-f]{1,4}:){3,7}[0-9a-f]{1,4}(?![\w:])", "<ip>", re.IGNORECASE),
        (_DATETIME, "<date>", 0),
        (rf"\b{_DATE}", "<date>", 0),
        (r"\b\d\d?:\d\d:\d\d(?:[.,]\d+)?\b", "<time>", 0),
        (rf"(?<![\w.])\d+(?:\.\d+)?\s?{_UNIT}\b", "<duration>", 0),
        (r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{12,}\b", "<hex>", re.IGNORECASE),
    )
)
_NUMBERS = re.compile(
    rf"(?P<quoted>{_QUOTED_TEXT})"
    r"|(?P<http>\b(?:HTTP(?:/\d(?:\.\d)?)?|status(?:[_ ]?code)?)\W{0,4}[1-5]\d\d\b)"
    rf"|(?P<phrase>\b[1-5]\d\d (?:{_PHRASES}))"
    r"|(?P<key>(?<=[{,])\s?-?\d+(?=:))"
    rf"|(?P<float>(?<![\w.])[+-]?(?:(?:\d[\d_]*\.\d*|\.\d+)(?:{_EXPONENT})?|\d+{_EXPONENT})(?!\w))"
    r"|(?P<int>(?<![\w.])[+-]?\d[\d_]*(?!\w))",
    re.IGNORECASE,
)
_MASKS = {"float": "<float>", "int": "<int>"}


def masked(text: str, rootdir: str = "") -> str:
    """Return ``text`` with masks such as ``<uuid>`` and ``<int>`` for what varies, blanks single.

    Names of exception types, quoted strings, keys of dictionaries and HTTP codes stay.

    Args:
        text: A message, or a line of source.
        rootdir: Absolute path of the project, which becomes ``<root>``.

    Reference:
        docs/memory.md, section "Fingerprint".
    """
    text = text[:MAX_LENGTH]
    if len(rootdir) > 1:
        text = text.replace(rootdir, "<root>")
    return _masked(text)


@lru_cache(maxsize=4096)  # tests that fail alike say the same
def _masked(text: str) -> str:
    for pattern, mask in _ALWAYS:
        text = pattern.sub(mask, text)
    text = _NUMBERS.sub(_mask, text)
    return " ".join(text.split())


def _mask(match: re.Match[str]) -> str:
    return _MASKS.get(match.lastgroup or "", match.group())
