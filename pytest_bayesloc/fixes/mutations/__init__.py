"""The catalogue of mutations: small changes of a function, each of which may undo a mistake.

A mutation is a generator of edits of a ``Site``, the likeliest first; its name is the function's.

Reference:
    Papadakis, Le Traon: Metallaxis-FL. STVR 2015; Zhang, Gupta, Gupta: Locating faults through
    automated predicate switching. ICSE 2006; Liu, Koyuncu, Kim, Bissyande: TBar: revisiting
    template-based automated program repair. ISSTA 2019; Le Goues, Nguyen, Forrest, Weimer: GenProg.
    TSE 2012 (what is missing often stands elsewhere in the same file); Qi, Long, Achour, Rinard: An
    analysis of patch plausibility and correctness. ISSTA 2015 (edits that delete pass by chance).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import TypeAlias

from pytest_bayesloc.domain.source import FunctionNode, SourceMap, Unit
from pytest_bayesloc.fixes.mutations import (
    calls,
    flow,
    grouping,
    informed,
    operators,
    predicates,
    siblings,
    unused,
    values,
)
from pytest_bayesloc.fixes.site import Hints, Site
from pytest_bayesloc.syntax.expressions import TABLES
from pytest_bayesloc.syntax.nodes import children
from pytest_bayesloc.syntax.text import TextEdit

Mutation: TypeAlias = Callable[[Site], Iterator[TextEdit]]

LATE = 0.1  # of the weight of an edit before which what was raised is still raised
#: First those for which the code itself speaks, then those that a place allows few edits by, then
#: by how often they repaired the location at fault.
FIRST: tuple[Mutation, ...] = (
    unused.use_unused,
    unused.keep_result,
    unused.call_method,
    operators.change_boolean,
    operators.change_arithmetic,
    operators.change_comparison,
    operators.change_constant,
    values.other_slice,
    values.other_exception,
    calls.similar_call,
    siblings.same_keyword,
    calls.add_argument,
    operators.negate_condition,
    values.add_up,
    values.other_name,
    values.other_text,
    flow.borrow_clause,
    flow.borrow_statement,
    operators.swap_arguments,
    values.convert,
    values.other_attribute,
    calls.call_it,
    flow.exchange_targets,
    values.one_more,
    flow.other_jump,
)
#: The first are what people do in small fixes. The rest leave something out: they repaired places
#: that are not at fault as often as others, as deletions are known to.
FURTHER: tuple[Mutation, ...] = (
    informed.convert_to_expected,
    informed.other_kind,
    informed.normalize_given,
    informed.other_directive,
    informed.catch_error,
    predicates.add_clause,
    predicates.guard_case,
    predicates.skip_empty,
    operators.compare_with_none,
    operators.compare_text,
    operators.accept_more,
    values.same_case,
    values.keep_order,
    values.fill_in,
    grouping.other_grouping,
    values.one_tuple,
    values.first_item,
    calls.split_once,
    values.other_key,
    values.copy_looped,
    values.whole_span,
    flow.raise_again,
    flow.chain_if,
    values.exchange_names,
    calls.other_flag,
    values.item_of_loop,
    siblings.wrap_result,
    flow.go_on,
    flow.branch_first,
    operators.negate_clause,
    operators.other_number,
    operators.change_return,
    values.drop_conversion,
    flow.exchange_statements,
    flow.move_out,
    flow.move_in,
)


def name_of(mutation: Mutation) -> str:
    """The name of a mutation: words joined by hyphens."""
    return mutation.__name__.replace("_", "-")


def words_of(name: str, edit: TextEdit) -> str:
    """Describe an edit to people: the mutation, the line and what is changed."""
    return f"{name.replace('-', ' ')}, line {edit.line}: {edit.words}"


def edits(
    mutations: Sequence[Mutation],
    source: SourceMap,
    unit: Unit,
    suspiciousness: Mapping[int, float],
    hints: Hints | None = None,
) -> Iterator[tuple[str, TextEdit, str]]:
    """Edits of the function ``unit``, those of the most suspicious lines first.

    A few may not parse: most are never tried, and to parse them all takes longer than to make them.

    Args:
        mutations: Which are tried; of equally suspicious lines, each has its turn before one has a
            second.
        source: The file.
        unit: A function of it.
        suspiciousness: Per executed line, its score; lines that have none, or 0, stay as they are.
        hints: What the failing tests say of it.

    Yields:
        The mutation's name, the edit and the file's new text.
    """
    if not isinstance(unit.node, FunctionNode) or source.is_broken:
        return
    site = Site(source.text, source.module.node, unit.node, hints)
    scores = {line: score for line, score in suspiciousness.items() if score > 0}
    # A table of constants is made at once: its other lines are never executed.
    for table in (node for node in site.nodes if isinstance(node, TABLES)):
        parts = children(table)
        if table.lineno in scores and all(isinstance(p, (ast.Constant, ast.Load)) for p in parts):
            own = (part.lineno for part in parts if isinstance(part, ast.Constant))
            scores |= {line: scores[table.lineno] for line in own if line not in scores}
    made = ((each, [e for e in each(site) if e.line in scores]) for each in mutations)
    seen = {source.text}
    for mutation, edit in _by_line(made, scores):
        changed = site.edited(edit)
        if changed not in seen:
            seen.add(changed)
            is_late = site.is_late(edit)
            weighed = replace(edit, weight=LATE * edit.weight) if is_late else edit
            yield name_of(mutation), weighed, changed


def _by_line(
    made: Iterable[tuple[Mutation, list[TextEdit]]], scores: Mapping[int, float]
) -> Iterator[tuple[Mutation, TextEdit]]:
    """Edits by falling score of their line, mutations in turn."""
    every = list(made)
    for score in sorted(set(scores.values()), reverse=True):
        turns = [
            [(mutation, edit) for edit in own if scores[edit.line] == score]
            for mutation, own in every
        ]
        for turn in zip_longest(*turns):
            yield from (chosen for chosen in turn if chosen is not None)
