"""Hooks by which other plugins take part, each stable or experimental (docs/extending.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from pytest_bayesloc.domain.inspection import InspectionPatch
    from pytest_bayesloc.domain.location import Location
    from pytest_bayesloc.domain.result import Fault


@pytest.hookspec
def pytest_bayesloc_propose_patches(  # type: ignore[empty-body]
    config: pytest.Config, location: Location, source: str
) -> Sequence[InspectionPatch]:
    """Propose inspection patches for ``location``; ``source`` is the text of its file.

    Experimental: a minor version may change it.

    Returns:
        Patches of that file, made in memory; they are run after the built-in ones.
    """


@pytest.hookspec
def pytest_bayesloc_localized(config: pytest.Config, faults: Sequence[Fault]) -> None:
    """Called once a failing run has been localized, before reports are written.

    Stable: so are its arguments, and of the faults what docs/extending.md names.

    Args:
        config: pytest's.
        faults: The failing tests in groups, each with its ranking and the inspections made.
    """


@pytest.hookspec
def pytest_bayesloc_fix_tools(config: pytest.Config) -> Sequence[Path]:  # type: ignore[empty-body]
    """Offer fix tools.

    Experimental: a minor version may change it, and the format of the definitions.

    Returns:
        Their definitions: YAML files (docs/fixes.md), each with what it runs beside it. Who
        installs a plugin trusts them.
    """


@pytest.hookspec
def pytest_bayesloc_report_formats(  # type: ignore[empty-body]
    config: pytest.Config,
) -> Mapping[str, Callable[[Mapping[str, Any]], str]]:
    """Offer formats of reports, which ``--bayesloc-report=KIND[:PATH]`` then takes.

    Stable: so are its argument, and the schema of the document.

    Returns:
        By its kind (letters, digits, ``_``, ``.`` and ``-``) a function that makes the text of a
        report of the JSON document (docs/bayesloc-1.schema.json). Kinds of ours stay ours.
    """
