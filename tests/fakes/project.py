"""A project that is a few texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_bayesloc.fixes.index import Index

if TYPE_CHECKING:
    from collections.abc import Mapping


class TextProject(Index):
    """Answers ``domain.fixing.Project`` from texts.

    Args:
        files: Texts by their paths.
    """

    def __init__(self, files: Mapping[str, str]) -> None:
        super().__init__(tuple(files), files.get)
