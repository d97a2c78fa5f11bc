"""Small repairs of a function, beyond those that inspections try: each may be what was forgotten.

Reference:
    Liu, Koyuncu, Kim, Bissyande: TBar: revisiting template-based automated program repair. ISSTA
    2019; Le Goues, Nguyen, Forrest, Weimer: GenProg. TSE 2012 (what is missing often stands
    elsewhere in the same file).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import zip_longest
from textwrap import dedent

from pytest_bayesloc.domain.edits import Edit, Text
from pytest_bayesloc.domain.source import FunctionNode, SourceMap, Unit, lines_of
from pytest_bayesloc.fixes.edits import flow, names, values
from pytest_bayesloc.fixes.edits.site import Site, Template
from pytest_bayesloc.fixes.syntax import tree_of

TEMPLATES: tuple[Template, ...] = (*names.TEMPLATES, *values.TEMPLATES, *flow.TEMPLATES)
N_LINES = 12  # of a function, the hottest


def repairs(
    source: SourceMap, unit: Unit, suspiciousness: Mapping[int, float]
) -> Iterator[tuple[Template, Edit, str]]:
    """Repairs of the function ``unit``, the most promising first: the template, what, the text.

    Of equally suspicious lines each template has its turn before one has a second.

    Args:
        source: The file.
        unit: A function of it.
        suspiciousness: Per executed line, its score; 0 where no failing test executed it.
    """
    if not isinstance(unit.node, FunctionNode) or source.is_broken:
        return
    text = Text(source.text)
    site = Site(tree=source.module.node, function=unit.node, text=text)
    seen = {source.text}
    for template, edit in _ordered(site, suspiciousness):
        changed = text.edited(edit)
        if changed not in seen and _parses(source, unit, changed):
            seen.add(changed)
            yield template, edit, changed


def _parses(source: SourceMap, unit: Unit, changed: str) -> bool:
    """Whether the function does, which is much sooner known than of the file."""
    old, new = lines_of(source.text), lines_of(changed)
    start, end = unit.location.start_line - 1, unit.location.end_line + len(new) - len(old)
    return tree_of(dedent("".join(new[start:end]))) is not None


def _ordered(site: Site, suspiciousness: Mapping[int, float]) -> Iterator[tuple[Template, Edit]]:
    scores = sorted({score for score in suspiciousness.values() if score > 0}, reverse=True)
    made = [(template, list(template.operate(site))) for template in TEMPLATES]
    for score in scores:
        turns = [
            [(template, e) for e in edits if suspiciousness.get(e.line, 0.0) == score]
            for template, edits in made
        ]
        for turn in zip_longest(*turns):
            yield from (chosen for chosen in turn if chosen is not None)
