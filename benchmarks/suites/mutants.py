"""Mutants: one mistake in one function, of kinds that people make.

They share nothing with the changes that the plugin itself tries, and none of those takes one back,
so that neither is tuned to the other.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from benchmarks.suites.edits import Operator, drawn
from benchmarks.suites.operators_flow import (
    exchanged_statements,
    loop_control,
    missing_branch,
    missing_clause,
    missing_guard,
    other_indentation,
)
from benchmarks.suites.operators_names import (
    exchanged_targets,
    lost_argument,
    lost_keyword,
    similar_function,
    uncalled_method,
    wrong_attribute,
    wrong_name,
)
from benchmarks.suites.operators_values import (
    assigned_not_added,
    changed_text,
    lost_conversion,
    wider_slice,
    wrong_exception,
)
from benchmarks.suites.spans import own

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable, Iterator

    from benchmarks.suites.change import Change
    from benchmarks.suites.edits import Edit
    from benchmarks.suites.functions import Function

KIND = "mutant"


def _lasting(operator: Operator[Function]) -> Operator[Function]:
    """The operator without edits of a returned value that another ``return`` would restore."""

    def edits(function: Function) -> Iterator[Edit]:
        spans = _restorable(function)
        for edit in operator.edits(function):
            if not any(start <= edit.start and edit.end <= end for start, end in spans):
                yield edit

    return Operator(how=operator.how, edits=edits, examples=operator.examples)


def _restorable(function: Function) -> list[tuple[int, int]]:
    """Where a value is returned that also stands in another ``return``, or is plain."""
    values = [node.value for node in own(function, ast.Return) if node.value is not None]
    texts = [function.file.segment(value) for value in values]
    plain = {"None", "True", "False"}
    plain |= {node.arg for node in ast.walk(function.node.args) if isinstance(node, ast.arg)}
    return [
        function.file.span(value)
        for value, text in zip(values, texts, strict=True)
        if text in plain or texts.count(text) > 1
    ]


OPERATORS: tuple[Operator[Function], ...] = tuple(
    _lasting(operator)
    for operator in (
        wrong_name,
        wrong_attribute,
        similar_function,
        exchanged_targets,
        uncalled_method,
        lost_keyword,
        lost_argument,
        lost_conversion,
        changed_text,
        wider_slice,
        assigned_not_added,
        wrong_exception,
        missing_guard,
        missing_branch,
        missing_clause,
        exchanged_statements,
        other_indentation,
        loop_control,
    )
)


def mutants(functions: Iterable[Function], dice: random.Random) -> Iterator[Change]:
    """Mutants in the order that ``dice`` gives: first the operator, then function and place."""
    listed = [function for function in functions if function.stands_alone]
    return drawn(KIND, OPERATORS, listed, dice)
