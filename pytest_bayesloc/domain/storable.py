"""Texts as databases take them."""

from __future__ import annotations


def storable(text: str) -> str:
    """``text`` with its lone surrogates spelt out, which no database takes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
