"""Laws of taking changes back, and of mutants of any function."""

from __future__ import annotations

import ast
import asyncio.queues
import inspect
import textwrap
from itertools import islice
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.source import SourceMap, lines_of, parse, tree_of
from pytest_bayesloc.fixes.mutations import FIRST, edits
from pytest_bayesloc.history.changes import FileChange
from pytest_bayesloc.inspection.delta import minimal

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

pytestmark = pytest.mark.one_python

ITEMS = [Location(file="m.py", start_line=n, end_line=n, qualname=f"f{n}") for n in range(1, 13)]


@given(n=st.integers(1, len(ITEMS)), data=st.data())
def test_smallest_set_suffices_and_nothing_of_it_can_be_left_out(
    n: int, data: st.DataObject
) -> None:
    """Of a monotone question: more than what suffices suffices as well."""
    items = ITEMS[:n]
    ways = data.draw(st.lists(st.sets(st.sampled_from(items), min_size=1), min_size=1, max_size=3))

    def suffices(chosen: Sequence[Location]) -> bool:
        return any(way <= set(chosen) for way in ways)

    found = minimal(items, suffices) if suffices(items) else items

    assert suffices(found)
    assert found == [item for item in items if item in found]
    assert not any(suffices([i for i in found if i != left_out]) for left_out in found if found[1:])


@given(answers=st.lists(st.booleans(), max_size=200))
def test_search_for_the_smallest_set_ends_whatever_it_is_told(answers: list[bool]) -> None:
    told = iter(answers)
    asked: list[Sequence[Location]] = []

    def suffices(chosen: Sequence[Location]) -> bool:
        asked.append(chosen)
        return next(told, False)

    found = minimal(ITEMS, suffices)

    assert set(found) <= set(ITEMS)
    assert found
    assert len(asked) <= len(ITEMS) ** 2 + 3 * len(ITEMS)
    assert all(asked)


NAMES = ("f", "g", "h")


@st.composite
def bodies(draw: st.DrawFn, depth: int = 0) -> list[str]:
    lines = [f"x = {draw(st.integers(0, 1))}"]
    for _ in range(draw(st.integers(0, 2 if depth < 2 else 0))):
        name = draw(st.sampled_from(NAMES))
        head = draw(st.sampled_from([f"def {name}(a=0):", f"def {name}(a=1):", f"class {name}:"]))
        inner = draw(bodies(depth=depth + 1))
        tags = ["@tag"] * draw(st.integers(0, 1))
        lines += ["# c"] * draw(st.integers(0, 1))
        lines += [*tags, head, *(f"    {line}" for line in inner)]
    return [*lines, "x = 'ü\x0c'"]


def plain(text: str) -> str:
    return ast.dump(ast.parse(text))


def holds_twice(source: SourceMap) -> bool:
    """Whether a name stands twice that others stand in."""
    names = [unit.location.qualname for unit in source.units]
    around = {name.rpartition(".")[0].removesuffix(".<locals>") for name in names}
    return any(names.count(name) > 1 for name in around)


@given(then=bodies(), now=bodies(), data=st.data())
def test_taking_back_changes_leaves_those_that_are_kept(
    then: list[str], now: list[str], data: st.DataObject
) -> None:
    green, present = ("\n".join(lines) for lines in (then, now))
    change = FileChange(before=SourceMap(green, "m.py"), now=SourceMap(present, "m.py"))
    places = list(change.changed)
    chosen = data.draw(st.sets(st.sampled_from(places))) if places else set()

    text = change.reverted(chosen)

    assert bool(places) == (plain(green) != plain(present))
    if chosen == set(places):
        assert text == green
    elif not chosen:
        assert text is not None
        assert plain(text) == plain(present)
    elif text is not None:
        left = FileChange(before=SourceMap(green, "m.py"), now=SourceMap(text, "m.py"))
        # Of two functions with one name, the older one may bring back those that stood in it.
        is_twice = holds_twice(change.before) or holds_twice(change.now)
        assert len(left.changed) <= len(places) or is_twice
        # Taking back what is left, too, gives what there was.
        assert left.reverted(left.changed) == green


# Of one function: some by each mutation, since these take turns, and more than any run inspects.
N_MUTANTS = 100


@pytest.mark.parametrize("module", [textwrap, asyncio.queues], ids=["textwrap", "queues"])
def test_mutant_of_any_function_parses_and_keeps_the_line_of_its_header(module: ModuleType) -> None:
    text = inspect.getsource(module)
    before, source = lines_of(text), SourceMap(text, "m.py")
    everywhere = dict.fromkeys(range(1, len(before) + 1), 1.0)
    n_made = 0
    for unit in [unit for unit in source.units if unit.is_function][:60]:
        first, end = unit.first_line - 1, unit.location.end_line
        made = (text for _, _, text in edits(FIRST, source, unit, everywhere))
        for changed in islice(filter(tree_of, made), N_MUTANTS):
            after = lines_of(changed)
            own = after[first : end + len(after) - len(before)]
            assert (after[:first], after[first]) == (before[:first], before[first])
            assert own != before[first:end]
            parse(textwrap.dedent("".join(own)))
            n_made += 1
    assert n_made > 200
