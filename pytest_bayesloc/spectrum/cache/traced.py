"""What of a run is new to a cache: what was traced to its end."""

from __future__ import annotations

from collections import defaultdict
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterable, Mapping

    from pytest_bayesloc.spectrum.recorded import Recorded

START_UP = ""  # the import of conftest files


class Traced(NamedTuple):
    """What was traced to its end.

    Attributes:
        tests: Per node id, its rows: numbers of footprints.
        imports: Per node id of a test module, or ``START_UP``.
        used: All those numbers.
        filenames: Of those footprints.
    """

    tests: Mapping[str, list[array[int]]]
    imports: Mapping[str, list[array[int]]]
    used: frozenset[int]
    filenames: frozenset[str]


def traced_in(recorded: Recorded) -> Traced:
    """What was traced to its end in a run."""
    by_window: dict[int, list[array[int]]] = defaultdict(list)
    for window, row in recorded.rows:
        by_window[window].append(row)
    tests: dict[str, list[array[int]]] = {}
    imports: dict[str, list[array[int]]] = {}
    for node_id, windows in recorded.windows_of.items():
        has_ended = node_id in recorded.verdicts or node_id in recorded.excused
        is_whole = recorded.spoilt.isdisjoint(windows)
        if has_ended and is_whole and windows[0] not in recorded.cached:
            own = [by_window.get(w, ()) for w in windows if w not in recorded.imports]
            tests[node_id] = list(chain.from_iterable(own))
    for window, name in recorded.imports.items():
        if window in recorded.cached or window in recorded.unordered:
            continue
        if name == START_UP or name in recorded.imported:
            imports.setdefault(name, []).extend(by_window.get(window, ()))
    used = frozenset[int]().union(
        *chain.from_iterable(tests.values()), *chain.from_iterable(imports.values())
    )
    return Traced(tests, imports, used, frozenset(recorded.footprints[i].filename for i in used))


def order_of(recorded: Recorded, windows: Iterable[int]) -> list[str]:
    """The test modules that were imported in ``windows``, in their order."""
    names = map(recorded.imports.__getitem__, sorted(windows))
    return [name for name in dict.fromkeys(names) if name != START_UP]


def outcome_of(recorded: Recorded, node_id: str) -> str:
    """How a test ended: ``passed``, ``failed``, or neither."""
    passed = recorded.verdicts.get(node_id)
    return "" if passed is None else "passed" if passed else "failed"
