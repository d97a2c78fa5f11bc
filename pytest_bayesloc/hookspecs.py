"""Hooks by which other plugins take part."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_bayesloc.domain.inspection import InspectionPatch
    from pytest_bayesloc.domain.location import Location


@pytest.hookspec
def pytest_bayesloc_propose_patches(  # type: ignore[empty-body]
    config: pytest.Config, location: Location, source: str
) -> Sequence[InspectionPatch]:
    """Propose inspection patches for ``location``; ``source`` is the text of its file.

    Returns:
        Patches of that file, made in memory; they are run after the built-in ones.
    """
