"""Which fixes must not be run: those that change what is done to files, processes or machines."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from pytest_bayesloc.domain.fixing import Level
from pytest_bayesloc.domain.source import SourceMap, lines_of
from pytest_bayesloc.fixes.candidate import Candidate, changed_functions
from pytest_bayesloc.fixes.reach import Reach
from pytest_bayesloc.fixes.syntax import tree_of
from pytest_bayesloc.rerun.world import aliases, calls_out, reaching_calls


def out_of_bounds(candidate: Candidate, never_edited: Collection[str], reach: Reach) -> str:
    """Why a candidate must not be run: it would change what is done to files or machines.

    Args:
        candidate: A change of a Python file.
        never_edited: Functions, methods and modules whose callers are left alone.
        reach: What else leads out, through functions of the project.
    """
    parts = (*candidate.parts(), candidate.before)
    if candidate.level is not Level.SAFE and (name := reach.new_in(*parts)):
        return f"it now uses `{name}`, which reaches out of the process"
    if candidate.target is not None:  # of a function that does not reach out
        return _reaches_out_now(candidate, never_edited)
    old = SourceMap(candidate.before, candidate.file)
    new = SourceMap(candidate.after, candidate.file)
    if old.is_broken and not new.is_broken:
        return _moves_a_way_out(old, new, never_edited)
    return _changes_a_way_out(candidate, old, new, never_edited)


def _changes_a_way_out(
    candidate: Candidate, old: SourceMap, new: SourceMap, never_edited: Collection[str]
) -> str:
    """Whether a file has other calls that reach out, or a function that has them is another."""
    before, after = (
        Counter(reaching_calls(source, source.module, never_edited)) for source in (old, new)
    )
    if before != after:
        changed = next(iter((before - after) + (after - before)))
        return f"it changes `{changed}`, which reaches out of the process"
    if candidate.level is Level.SAFE:
        return ""
    for where in changed_functions(old, candidate.after):
        unit = old.unit(where)
        calls = [] if unit is None else reaching_calls(old, unit, never_edited)
        if calls:
            return f"it changes a function that calls `{calls[0]}`"
    return ""


def _reaches_out_now(candidate: Candidate, never_edited: Collection[str]) -> str:
    tree, whole = tree_of(candidate.parts()[1]), tree_of(candidate.before)
    if tree is None or whole is None:
        return "it does not parse"
    calls = calls_out(tree, aliases(whole), never_edited)
    return f"it calls `{calls[0]}`, which reaches out of the process" if calls else ""


def _moves_a_way_out(old: SourceMap, new: SourceMap, never_edited: Collection[str]) -> str:
    """Whether a file that parses now has other calls that reach out, or has them elsewhere.

    What the file did before can't be told. So such calls must stand as they stood, and the lines
    that they stand below must not be indented otherwise.
    """
    before, after = lines_of(old.text), lines_of(new.text)
    imported = aliases(new.module.node)
    for call in ast.walk(new.module.node):
        if not isinstance(call, ast.Call) or not calls_out(call, imported, never_edited):
            continue
        own = range(call.lineno - 1, call.end_lineno or call.lineno)
        stands = len(before) == len(after) and all(before[n] == after[n] for n in own)
        if not stands or any(
            _indentation(before[n]) != _indentation(after[n])
            for n in _lines_around(after, call.lineno - 1)
        ):
            return f"it may change when `{ast.unparse(call)}` is called, which reaches out"
    return ""


def _lines_around(lines: Sequence[str], at: int) -> Iterator[int]:
    """The heads of the blocks that a line is in, the innermost first."""
    depth = len(_indentation(lines[at]).expandtabs())
    for n in reversed(range(at)):
        here = len(_indentation(lines[n]).expandtabs())
        if lines[n].strip() and here < depth:
            depth = here
            yield n


def _indentation(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]
