"""A change that may be a fix, and its patch in memory."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from pytest_bayesloc.domain.fixing import Level
from pytest_bayesloc.domain.inspection import InspectionPatch, OtherValue
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.source import FunctionNode, SourceMap, lines_of, map_of, tree_of
from pytest_bayesloc.domain.texts import common_ends, text_digest
from pytest_bayesloc.syntax.nodes import head_of
from pytest_bayesloc.syntax.text import LineSpan, by_themselves, differing_lines

KIND = "fix"
TOOL = "tool"  # the stage of what a tool proposes
OTHER_CONSTANT = "other-constant"  # the mutation that gives a constant another value
PATTERN = "pattern-"  # what names of mutations of regular expressions begin with
EDIT = "edit"  # the stage of mutations
CHANGE = "change"  # the stage of what takes a change back
GENERATED = "generated"  # the stage of what a language model writes
MODEL = "language-model"  # its name as a tool
OWN_PROCESS = 8.0  # times as long as a swap in memory takes a try by a process of its own


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A change that has not been tried.

    Attributes:
        tools: Names of the tools that made it, in their order.
        stage: ``tool``, ``steps``, ``edit``, ``change`` or ``generated``.
        level: The lowest of its tools'.
        file: What it changes, relative to rootdir.
        before: Text of the file.
        after: Text of the file with the change.
        message: What was done, in a sentence.
        is_test: Whether the file is a test file.
        line: The line it is about; 0 if none is known.
        target: The function whose body alone it changes, where that is known.
        chance: P(it repairs) as far as its kind and the belief in its place tell.
        held: For a constant, the module or class that holds it, and its value there: what is
            exchanged in memory; None where the file is run with the change.
        companions: Changes of other files that belong to it.
        weight: How likely it is to be meant, against others of its tools, up to 1.
    """

    tools: tuple[str, ...]
    stage: str
    level: Level = Level.UNSAFE
    file: str
    before: str
    after: str
    message: str
    is_test: bool = False
    line: int = 0
    target: Location | None = None
    chance: float = 1.0
    held: tuple[Location, OtherValue] | None = None
    companions: tuple[Candidate, ...] = ()
    weight: float = 1.0

    def parts_by_file(self) -> tuple[Candidate, ...]:
        """Returns its changes, one a file."""
        return (*self.companions, replace(self, companions=()))

    @property
    def is_swapped(self) -> bool:
        """Whether it is tried in memory, and not by a process that reads the file anew."""
        return self.target is not None or self.held is not None

    @property
    def is_pattern(self) -> bool:
        """Whether it edits a regular expression, with which failing tests passed already."""
        return len(self.tools) == 1 and self.name.startswith(PATTERN)

    @property
    def texts(self) -> Mapping[str, str]:
        """The files that it changes, with their texts after it."""
        return {part.file: part.after for part in self.parts_by_file()}

    @property
    def changed(self) -> Sequence[Location]:
        """The innermost functions whose bodies are all that differs; no items if more does."""
        if self.target is not None:
            return [self.target]
        source = map_of(self.before, self.file, is_test=self.is_test)
        return changed_functions(source, self.after, innermost=True)

    def parts(self) -> tuple[str, str]:
        """Returns the texts that hold all that differs: of functions, else of the whole file."""
        texts = texts_of(self.before, self.after, self.changed)
        return texts or (self.before, self.after)

    @property
    def key(self) -> str:
        """A digest of the change and of the code that it is a change of."""
        parts = [(part.file, part.before, part.after) for part in self.parts_by_file()]
        return text_digest(repr(parts if self.companions else parts[0]), 32)

    @property
    def name(self) -> str:
        """Returns the names of its tools, joined."""
        return " + ".join(self.tools)

    def size(self) -> int:
        """Characters that differ, roughly: what the texts don't have in common at both ends."""
        parts = [(part.before, part.after) for part in self.parts_by_file()]
        return sum(max(map(len, pair)) - sum(common_ends(*pair)) for pair in parts)


def unlikelihood(candidate: Candidate) -> float:
    """Return a key by which the candidate is first whose try gains most a second."""
    return -candidate.chance / (1 if candidate.is_swapped else OWN_PROCESS)


def patch_of(candidate: Candidate) -> InspectionPatch:
    """The change as a patch: of the code of functions where that is all it changes."""
    value = None
    changed = candidate.changed
    if candidate.held is not None:
        (target, value), others = candidate.held, []
    elif changed:
        target, *others = changed
    else:  # the file; of a hint, which changes nothing, the function that it is about
        source = map_of(candidate.before, candidate.file, is_test=candidate.is_test)
        is_hint = candidate.before == candidate.after
        target = (source.owner(candidate.line) if is_hint else source.module).location
        others = []
    return InspectionPatch(
        target=target,
        kind=KIND,
        original=candidate.before,
        patched=candidate.after,
        line=candidate.line,
        words=candidate.message,
        others=tuple(others),
        companions=tuple(map(patch_of, candidate.companions)),
        value=value,
        fresh=not changed and value is None,
    )


@lru_cache(maxsize=64)  # asked for the patch, and for what it may do
def changed_functions(
    source: SourceMap, after: str, *, innermost: bool = False
) -> tuple[Location, ...]:
    """Find the outermost functions whose bodies are all that differs; no items if more does.

    Of each run of lines that differs only the functions around it are parsed.

    Args:
        source: The file as it is.
        after: Its text with a change.
        innermost: Whether of functions that differ in functions within them alone, those are meant:
            what a decorator or a factory made at an import is reached by nothing else.
    """
    found: set[Location] = set()
    spans = () if source.is_broken else differing_lines(source.text, after)
    for span in spans:
        around = _functions_around(source, span)
        nearest = reversed(around) if innermost else iter(around)
        same = (where for where in nearest if _is_other_body(source.text, after, where) is not None)
        where = next(same, None)
        if where is None:
            return ()
        found.add(where)
    outer = [
        where
        for where in found
        if not any(
            where != other and other.start_line <= where.start_line <= other.end_line
            for other in found
        )
    ]
    return tuple(sorted(w for w in outer if _is_other_body(source.text, after, w)))


def _functions_around(source: SourceMap, span: LineSpan) -> list[Location]:
    """The functions whose bodies hold lines that differ, or lines that are added, outermost first.

    What is added behind the last line of a function may belong to it.
    """
    first, last = span[0] + 1, span[1]
    is_added = last < first  # before the first line
    units = {id(unit): unit for n in (first, last) for unit in source.owner(n).enclosing}
    return sorted(
        (
            unit.location
            for unit in units.values()
            if unit.is_function
            and unit.body_line <= first <= unit.location.end_line + is_added
            and unit.location.start_line <= last <= unit.location.end_line
        ),
        key=lambda where: (where.start_line, -where.end_line),
    )


def _is_other_body(before: str, after: str, where: Location) -> bool | None:
    """Whether a function has another body; None if it has another head, or is none any more."""
    texts = texts_of(before, after, [where])
    old, new = (function_of(tree_of(text)) for text in texts or ("", ""))
    if old is None or new is None or head_of(old) != head_of(new):
        return None
    return ast.dump(old) != ast.dump(new)


def function_of(tree: ast.Module | None) -> FunctionNode | None:
    """Return the function that is all of a text; None if there is something else."""
    block = [] if tree is None else tree.body
    if len(block) == 1 and isinstance(block[0], ast.If):  # what it stands below
        block = block[0].body
    return block[0] if len(block) == 1 and isinstance(block[0], FunctionNode) else None


def texts_of(before: str, after: str, functions: Sequence[Location]) -> tuple[str, str] | None:
    """The texts of functions before and after a change of them; None where there are none."""
    if not functions:
        return None
    spans = differing_lines(before, after)
    old, new = lines_of(before), lines_of(after)
    was = [(where.start_line - 1, where.end_line) for where in functions]
    now = [
        # What is added right behind a function is tried as a part of it.
        (
            _moved(start, [span for span in spans if span[1] <= start]),
            _moved(end, [span for span in spans if span[0] < end or span[1] == end]),
        )
        for start, end in was
    ]
    return (
        "\n".join(by_themselves(old[slice(*lines)]) for lines in was),
        "\n".join(by_themselves(new[slice(*lines)]) for lines in now),
    )


def _moved(at: int, above: Sequence[LineSpan]) -> int:
    """Return the place of a line after the changes above it."""
    return at + sum(len(new) - (end - start) for start, end, new in above)
