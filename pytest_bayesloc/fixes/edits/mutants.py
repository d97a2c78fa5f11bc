"""The ``mutants`` kind: small edits of the target; one that turns the failing tests green tells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import zip_longest

from pytest_bayesloc.domain.edits import Edit, Text
from pytest_bayesloc.domain.inspection import InspectionPatch
from pytest_bayesloc.domain.source import SourceMap, Unit
from pytest_bayesloc.fixes.edits.operators import OPERATORS

KIND = "mutants"


def propose(
    source: SourceMap, unit: Unit, suspiciousness: Mapping[int, float]
) -> Iterator[InspectionPatch]:
    """Mutants of the function ``unit``, the most promising first.

    Only lines that a failing test executed are changed: of equally suspicious ones, each operator
    has its turn before one has a second.

    Args:
        source: The file.
        unit: A function of it.
        suspiciousness: Per executed line, its score; 0 where no failing test executed it.
    """
    if not unit.is_function:
        return
    text = Text(source.text)
    seen = {source.text}
    for name, edit in _ordered(unit, text, suspiciousness):
        patched = text.edited(edit)
        if patched not in seen:
            seen.add(patched)
            yield InspectionPatch(
                target=unit.location,
                kind=KIND,
                original=source.text,
                patched=patched,
                line=edit.line,
                words=f"{name}, line {edit.line}: {edit.words}",
            )


def _ordered(
    unit: Unit, text: Text, suspiciousness: Mapping[int, float]
) -> Iterator[tuple[str, Edit]]:
    """Edits by falling suspiciousness of their line, operators in turn."""
    by_score: dict[float, list[list[tuple[str, Edit]]]] = {}
    for operator in OPERATORS:
        own: dict[float, list[tuple[str, Edit]]] = {}
        for edit in operator.operate(unit.node, text):
            score = suspiciousness.get(edit.line, 0.0)
            if score > 0:
                own.setdefault(score, []).append((operator.name, edit))
        for score, edits in own.items():
            by_score.setdefault(score, []).append(edits)
    for score in sorted(by_score, reverse=True):
        for turn in zip_longest(*by_score[score]):
            yield from (chosen for chosen in turn if chosen is not None)
