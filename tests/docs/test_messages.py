"""Every message can be looked up, and every section is the section of a message."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.one_python

ROOT = Path(__file__).parents[2]
SLUG_IN_CODE = re.compile(r'slug="([a-z-]+)"|(?<=[ "])\(([a-z-]{4,})\)"')
NOT_SLUGS = {"pytest-bayesloc"}


def slugs_in_code() -> set[str]:
    paths = (ROOT / "pytest_bayesloc").rglob("*.py")
    # What stands in edits are examples of code.
    texts = (path.read_text("utf-8") for path in paths if "edits" not in path.parts)
    return {a or b for text in texts for a, b in SLUG_IN_CODE.findall(text)} - NOT_SLUGS


def sections() -> list[str]:
    page = (ROOT / "docs" / "messages.md").read_text("utf-8")
    return re.findall(r"^## (\S+)$", page, re.MULTILINE)


def test_every_slug_has_its_section() -> None:
    assert slugs_in_code() - set(sections()) == set()


def test_every_section_has_its_message() -> None:
    assert set(sections()) - slugs_in_code() == set()


def test_sections_are_in_alphabetical_order() -> None:
    assert sections() == sorted(sections())
