"""The tools of the package itself."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from importlib import import_module
from pathlib import Path

from pytest_bayesloc.fixes import tools
from pytest_bayesloc.fixes.definition import parsed
from pytest_bayesloc.fixes.library import Source, Tool
from pytest_bayesloc.fixes.project import Project, Proposal, Propose, Task


def shelf() -> list[Tool]:
    """The package's tools, in the order of their names; none is imported before it is run."""
    found = []
    for path in sorted(Path(tools.__path__[0]).glob("*.yaml")):
        definition = parsed(path.read_bytes(), path.name)
        found.append(
            Tool(
                definition=definition,
                source=Source.PACKAGE,
                propose=partial(_run, path.stem),
            )
        )
    return found


def propose_of(module: str) -> Propose:
    """What a module of the shelf proposes."""
    found: Propose = import_module(f"{tools.__name__}.{module}").propose
    return found


def _run(module: str, task: Task, project: Project) -> Iterator[Proposal]:
    return propose_of(module)(task, project)
