"""A project that is a few texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_bayesloc.fixes.project import Project

if TYPE_CHECKING:
    from collections.abc import Mapping


class TextProject(Project):
    """Answers from texts.

    Args:
        files: Texts by their paths.
    """

    def __init__(self, files: Mapping[str, str]) -> None:
        super().__init__(tuple(files), files.get)
