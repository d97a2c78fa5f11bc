"""Figures of what failing tests and candidates say; the texts themselves are not kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.faults.replay import Problem
from pytest_bayesloc.ranking.evidence.text import Said, text_terms

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pytest_bayesloc.domain.location import Location
    from pytest_bayesloc.domain.source import SourceMap

DIGITS = 3


def add_terms(
    row: Mapping[str, Any],
    group: Mapping[str, Any],
    told: Mapping[str, Any],
    read: Callable[[str], SourceMap],
) -> None:
    """Give each location of a group its figures; they are worked out over all of them.

    Args:
        row: The fault's row.
        group: One of its groups.
        told: Texts and messages of its failing tests, as the probe writes them.
        read: Gives a file of the faulty tree.
    """
    problem = Problem(row, group)
    tests = [
        Said(node_id=node_id, text="".join(told["tests"][node_id][:1]), message=" ".join(message))
        for node_id, message in told["messages"].items()
    ]

    def text(where: Location) -> str:
        return read(where.file).own_text(where)

    code = [where for where in problem.locations if not where.is_test]
    terms = text_terms(tests, code, text)
    for entry, where in zip(group["locations"], problem.locations, strict=True):
        known = terms.get(where, {})
        entry["text"] = {name: round(value, DIGITS) for name, value in known.items() if value}
