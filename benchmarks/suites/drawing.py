"""Changes of one subject in the order that a seed decides: the same on every machine."""

from __future__ import annotations

import random
from itertools import islice, zip_longest
from typing import TYPE_CHECKING

from benchmarks.suites.faulty_tests import faulty_tests, test_source_files
from benchmarks.suites.functions import source_files
from benchmarks.suites.import_faults import import_faults
from benchmarks.suites.single_edits import single_edits
from benchmarks.suites.transplants import joint, transplants
from benchmarks.suites.workspace import package_folder, unpacked

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator
    from pathlib import Path

    from benchmarks.suites.change import Change
    from benchmarks.suites.functions import SourceFile
    from benchmarks.suites.workspace import Workspace

#: One in so many regressions is of two or three functions at once.
ONE_JOINT_IN = 5


def draw(workspace: Workspace, kind: str, *, seed: int, work: Path) -> Iterator[Change]:
    """Changes of ``kind`` in an order that the seed alone decides.

    Raises:
        KeyError: If ``kind`` is none of ``KINDS``.
    """
    dice = random.Random(f"{seed} {kind} {workspace.subject}")
    return _DRAWN[kind](workspace, work, dice)


def draw_again(
    workspace: Workspace,
    kind: str,
    digests: Collection[str],
    *,
    n_drawn: int,
    seed: int,
    work: Path,
) -> dict[str, Change]:
    """Those of the first ``n_drawn`` changes of ``kind`` that have these digests."""
    drawn = islice(draw(workspace, kind, seed=seed, work=work), n_drawn)
    wanted = (change for change in drawn if change.digest in digests)
    return {change.digest: change for change in islice(wanted, len(digests))}


def is_executed(workspace: Workspace, change: Change) -> bool:
    """Whether some test executes a changed line; yes if that was not measured."""
    executed = workspace.known.executed
    if not executed or change.kind == "test":
        return True
    return any(
        not set(lines).isdisjoint(executed.get(file, ())) for file, lines in change.lines.items()
    )


def _regressions(workspace: Workspace, work: Path, dice: random.Random) -> Iterator[Change]:
    """Transplants from all older releases, shuffled; each body once."""
    found: dict[str, Change] = {}
    together: list[Iterator[Change]] = []
    for version in workspace.subject.older:
        listed = _transplants(workspace, version, work)
        together.append(joint(listed, random.Random(dice.random())))
        for change in listed:
            found.setdefault(change.digest, change)
    single = list(found.values())
    dice.shuffle(single)
    return _interleaved(single, _in_turn(together))


def _in_turn(streams: Iterable[Iterator[Change]]) -> Iterator[Change]:
    for turn in zip_longest(*streams):
        yield from (change for change in turn if change is not None)


def _interleaved(single: Iterable[Change], together: Iterable[Change]) -> Iterator[Change]:
    rest = iter(together)
    for n, change in enumerate(single, 1):
        yield change
        if n % (ONE_JOINT_IN - 1) == 0:
            yield from (both for both in (next(rest, None),) if both is not None)
    yield from rest


def _transplants(workspace: Workspace, version: str, work: Path) -> list[Change]:
    subject = workspace.subject
    top = unpacked(subject.name, version, work=work, python=workspace.python)
    older = package_folder(top, subject.import_name)
    newer = workspace.tree / workspace.source
    return list(transplants(newer, older, root=workspace.tree, release=version))


def _edits(workspace: Workspace, work: Path, dice: random.Random) -> Iterator[Change]:
    del work
    return single_edits([f for file in _sources(workspace) for f in file.functions], dice)


def _imports(workspace: Workspace, work: Path, dice: random.Random) -> Iterator[Change]:
    del work
    return import_faults(_sources(workspace), dice)


def _tests(workspace: Workspace, work: Path, dice: random.Random) -> Iterator[Change]:
    del work
    return faulty_tests(_test_sources(workspace), dice)


_DRAWN: dict[str, Callable[[Workspace, Path, random.Random], Iterator[Change]]] = {
    "regression": _regressions,
    "edit": _edits,
    "import": _imports,
    "test": _tests,
}
KINDS = tuple(_DRAWN)


def _sources(workspace: Workspace) -> list[SourceFile]:
    return list(source_files(workspace.tree / workspace.source, workspace.tree))


def _test_sources(workspace: Workspace) -> list[SourceFile]:
    return list(test_source_files(workspace.tree))
