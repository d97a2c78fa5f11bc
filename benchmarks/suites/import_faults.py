"""Faults in what an import runs: no function is at fault, but a class body or a module body."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.suites.bodies import Body, bodies
from benchmarks.suites.edits import Operator, drawn
from benchmarks.suites.operators_imports import (
    altered_constant,
    altered_pattern,
    altered_text,
    copied_entry,
    exchanged_entries,
    lost_decorator,
    lost_entry,
    lost_option,
    lost_registration,
    other_alias,
    other_bases,
    other_decorator,
)

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Sequence

    from benchmarks.suites.change import Change
    from benchmarks.suites.functions import SourceFile

KIND = "import"

OPERATORS: tuple[Operator[Body], ...] = (
    lost_entry,
    copied_entry,
    exchanged_entries,
    altered_constant,
    altered_text,
    altered_pattern,
    lost_registration,
    lost_decorator,
    other_decorator,
    other_bases,
    other_alias,
    lost_option,
)


def import_faults(files: Sequence[SourceFile], dice: random.Random) -> Iterator[Change]:
    """Faults in the order that ``dice`` gives: first the operator, then the body and place."""
    return drawn(KIND, OPERATORS, (body for file in files for body in bodies(file)), dice)
