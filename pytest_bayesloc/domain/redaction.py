"""Secrets taken out of text, by the names of keys and by the shapes of tokens."""

from __future__ import annotations

import re

MASK = "<redacted>"

_KEY = (
    r"[\w.-]*(?:passw(?:or)?d|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|"
    r"credential|authorization|cookie|session[_-]?id)[\w.-]*"
)
_QUOTED = r"""(?:[rbu]{0,2})(?P<quote>["'])(?:(?!(?P=quote))[^\\\n]|\\.)+(?P=quote)"""
# Without quotes it may as well be code: only what no name looks like is taken for a value.
_BARE = r"(?=[\w+/=.~-]*\d)[\w+/=.~-]{8,}(?![\w(])"

# A value right after a key: ``password="..."``, ``"token": "..."``, ``API_KEY=...``.
_KEYED = re.compile(
    rf"""(?P<key>(?<![\w.-]){_KEY}["']?\s*(?:=>|[:=])\s*)(?:{_QUOTED}|{_BARE})""", re.IGNORECASE
)
_HEADER = re.compile(r"\b(Bearer|Basic|Token)\s+[\w+/=.~-]{8,}", re.IGNORECASE)
_IN_URL = re.compile(r"(\b[a-z][\w+.-]*://)[^\s/@:'\"]*:[^\s/@'\"]+@", re.IGNORECASE)
_SHAPES = re.compile(
    "|".join(
        (
            r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
            r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
            r"\bgh[pousr]_\w{20,}",
            r"\bgithub_pat_\w{20,}",
            r"\bglpat-[\w-]{20,}",
            r"\b(?:sk|rk|pk)[-_](?=[\w-]*\d)[\w-]{16,}",
            r"\bxox[abeoprs]-[\w-]{10,}",
            r"\bAIza[\w-]{30,}",
            r"\bya29\.[\w-]{20,}",
            r"\bnpm_\w{30,}",
            r"\bpypi-[\w-]{30,}",
            r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*",
        )
    )
)


def redacted(text: str) -> str:
    """``text`` with ``<redacted>`` in the place of what looks like a secret."""
    text = _SHAPES.sub(MASK, text)
    text = _IN_URL.sub(rf"\1{MASK}@", text)
    text = _HEADER.sub(rf"\1 {MASK}", text)
    return _KEYED.sub(_without_value, text)


def _without_value(match: re.Match[str]) -> str:
    quote = match.group("quote") or ""
    return f"{match.group('key')}{quote}{MASK}{quote}"
