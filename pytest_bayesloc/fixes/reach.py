"""Refuses fixes that change what is sent to other machines, or done behind any fence."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache

from pytest_bayesloc.domain.fixing import Level
from pytest_bayesloc.domain.source import lines_of, map_of, tree_of
from pytest_bayesloc.fixes.candidate import Candidate, changed_functions, texts_of
from pytest_bayesloc.fixes.side_effects import aliases, calls_out, reaching_calls
from pytest_bayesloc.spectrum.sources import Sources
from pytest_bayesloc.syntax.nodes import (
    BUILT_IN,
    attributes_in,
    called_name,
    every_bound,
    names_in,
    nodes_of,
    walk,
)
from pytest_bayesloc.syntax.text import indent_of


def out_of_bounds(candidate: Candidate, reach: Reach) -> str:
    """Returns why a candidate must not be run: it would change what no fence holds.

    Args:
        candidate: A change of a Python file.
        reach: What leads out, directly or through functions of the project.
    """
    parts = (*candidate.parts(), candidate.before)
    if candidate.level is not Level.SAFE and (name := reach.new_in(*parts)):
        return f"it now uses `{name}`, which reaches out of the process"
    if candidate.target is not None:  # of a function that does not reach out
        tree, whole = tree_of(candidate.parts()[1]), tree_of(candidate.before)
        if tree is None or whole is None:
            return "it does not parse"
        calls = calls_out(tree, aliases(whole), reach.never_edited)
        return f"it calls `{calls[0]}`, which reaches out of the process" if calls else ""
    if tree_of(candidate.before) is None and (new := tree_of(candidate.after)) is not None:
        return _moves_a_way_out(candidate.before, candidate.after, new, reach.never_edited)
    return _changes_a_way_out(candidate, reach.never_edited)


def _changes_a_way_out(candidate: Candidate, never_edited: Collection[str]) -> str:
    """Whether a file has other calls that reach out, or a function that has them is another."""
    source = map_of(candidate.before, candidate.file, is_test=candidate.is_test)
    functions = changed_functions(source, candidate.after)
    texts = texts_of(candidate.before, candidate.after, functions)
    trees = map(tree_of, texts or (candidate.before, candidate.after))
    imported = aliases(source.module.node)
    before, after = (
        Counter([] if tree is None else calls_out(tree, imported | aliases(tree), never_edited))
        for tree in trees
    )
    if before != after:
        changed = next(iter((before - after) + (after - before)))
        return f"it changes `{changed}`, which reaches out of the process"
    if functions and before and candidate.level is not Level.SAFE:
        return f"it changes a function that calls `{next(iter(before))}`"
    return ""


def _moves_a_way_out(old: str, new: str, tree: ast.AST, never_edited: Collection[str]) -> str:
    """Whether a file that parses now has other calls that reach out, or has them elsewhere.

    What the file did before can't be told. So such calls must stand as they stood, and the lines
    that they stand below must not be indented otherwise.
    """
    before, after = lines_of(old), lines_of(new)
    imported = aliases(tree)
    for call in walk(tree):
        if not isinstance(call, ast.Call) or not calls_out(call, imported, never_edited):
            continue
        own = range(call.lineno - 1, call.end_lineno or call.lineno)
        stands = len(before) == len(after) and all(before[n] == after[n] for n in own)
        if not stands or any(
            indent_of(before[n]) != indent_of(after[n])
            for n in _lines_around(after, call.lineno - 1)
        ):
            return f"it may change when `{ast.unparse(call)}` is called, which reaches out"
    return ""


def _lines_around(lines: Sequence[str], at: int) -> Iterator[int]:
    """The heads of the blocks that a line is in, the innermost first."""
    depth = len(indent_of(lines[at]).expandtabs())
    for n in reversed(range(at)):
        here = len(indent_of(lines[n]).expandtabs())
        if lines[n].strip() and here < depth:
            depth = here
            yield n


MAX_NAMES = 400  # that are looked up for one question
_DEFINED = re.compile(r"\b(?:def|class)\s+(\w+)")


class Reach:
    """Follows calls by name, since nobody knows what a name stands for: rather too far than not.

    Args:
        files: The project's Python files, relative to rootdir.
        sources: Their texts.
        never_edited: Functions, methods and modules that reach out because the user says so.
    """

    def __init__(
        self, files: Sequence[str], sources: Sources, never_edited: Collection[str]
    ) -> None:
        self._files = files
        self._sources = sources
        self.never_edited = never_edited
        self._known: dict[str, bool] = {}
        self._leads: dict[str, tuple[bool, set[str]]] = {}

    def reaches(self, name: str) -> bool:
        """Whether any function, method or class of this name reaches out of the process.

        It does if it, or any function of the project that it calls by name, directly or through
        others, does.
        """
        if name not in self._known:
            seen = {name}
            pending = [name]
            found = False
            while pending and not found:
                is_direct, others = self._step(pending.pop())
                found = is_direct or len(seen) > MAX_NAMES
                pending += others - seen
                seen |= others
            self._known[name] = found
        return self._known[name]

    def new_in(self, before: str, after: str, module: str = "") -> str:
        """A name that ``after`` has and ``before`` has not, and that leads out; empty if none.

        Args:
            before: Text of a function, or of a file.
            after: The same with a change.
            module: Text of the file: where it does not bind the name of a built-in, that is one.
        """
        names, attributes = _names(after)
        old_names, old_attributes = _names(before)
        fresh = names - old_names - old_attributes
        if module and not fresh.isdisjoint(BUILT_IN):
            fresh -= BUILT_IN - _bound(module)
        fresh |= attributes - old_names - old_attributes
        return next((name for name in sorted(fresh) if self.reaches(name)), "")

    def _step(self, name: str) -> tuple[bool, set[str]]:
        """Return whether code of this name reaches out by itself, and the names it calls."""
        if name not in self._leads:
            is_direct, others = False, set[str]()
            read = (self._sources.map(file) for file in sorted(self._places.get(name, ())))

            for source in (source for source in read if source is not None):
                for unit in source.units if not source.is_broken else ():
                    if name in unit.location.qualname.split("."):
                        is_direct |= bool(reaching_calls(source, unit, self.never_edited))
                        others |= {called_name(call) for call in nodes_of(unit.node, ast.Call)}
            self._leads[name] = is_direct, {other for other in others if other in self._places}
        return self._leads[name]

    @cached_property
    def _places(self) -> Mapping[str, set[str]]:
        """Per name that is defined in the project, the files that do."""
        found: dict[str, set[str]] = {}
        for file in self._files:
            for name in _DEFINED.findall(self._sources.read(file) or ""):
                found.setdefault(name, set()).add(file)
        return found


def _names(text: str) -> tuple[set[str], set[str]]:
    """All names, and all attributes, of a text; none if it does not parse."""
    tree = tree_of(text)
    return (set(), set()) if tree is None else (names_in(tree), attributes_in(tree))


@lru_cache(maxsize=16)  # each candidate asks for the same file
def _bound(module: str) -> frozenset[str]:
    """The names that a file binds, in whatever scope; all built-ins if it can't be told."""
    tree = tree_of(module)
    found = {"*"} if tree is None else every_bound(tree)
    return BUILT_IN if "*" in found else frozenset(found)
