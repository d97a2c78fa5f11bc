"""Small edits of a text, the operators that make them, and drawing from what they make."""

from __future__ import annotations

import ast
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from benchmarks.suites.bodies import Body
from benchmarks.suites.change import Change, Place
from benchmarks.suites.functions import Function, parsed

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterable, Iterator, Sequence

Site = Function | Body
SiteT_contra = TypeVar("SiteT_contra", bound=Site, contravariant=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """Text to put from byte ``start`` to before ``end``.

    Attributes:
        start: Where.
        end: Where.
        text: What.
        lines: The lines that it touches, where positions don't tell.
    """

    start: int
    end: int
    text: str = ""
    lines: range | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator(Generic[SiteT_contra]):
    """One kind of mistake.

    Attributes:
        how: What it is called.
        edits: Everywhere that it can be made in a function or body.
        examples: Texts before and after it.
    """

    how: str
    edits: Callable[[SiteT_contra], Iterator[Edit]]
    examples: tuple[tuple[str, str], ...]


def operator(
    how: str, *examples: tuple[str, str]
) -> Callable[[Callable[[SiteT_contra], Iterator[Edit]]], Operator[SiteT_contra]]:
    """Make an operator of a function that finds its edits."""

    def made(edits: Callable[[SiteT_contra], Iterator[Edit]]) -> Operator[SiteT_contra]:
        return Operator(how=how, edits=edits, examples=examples)

    return made


def changes_of(kind: str, operator: Operator[SiteT_contra], site: SiteT_contra) -> Iterator[Change]:
    """All that ``operator`` can do to ``site``."""
    for edit in operator.edits(site):
        change = change_of(kind, operator.how, site, edit)
        if change is not None:
            yield change


def drawn(
    kind: str,
    operators: Sequence[Operator[SiteT_contra]],
    sites: Iterable[SiteT_contra],
    dice: random.Random,
    *,
    weights: Sequence[float] = (),
) -> Iterator[Change]:
    """Every change once, in the order of ``dice``: it takes an operator, then a site, then a place.

    So a rare mistake comes as often as one that can be made everywhere, or as ``weights`` says.
    """
    listed = list(sites)
    left: list[dict[int, list[Edit]]] = []
    for each in operators:
        found = {i: list(each.edits(site)) for i, site in enumerate(listed)}
        left.append({i: edits for i, edits in found.items() if edits})
    seen = set[str]()
    while remaining := [n for n, edits in enumerate(left) if edits]:
        n = _chosen(remaining, weights, dice)
        i = dice.choice(list(left[n]))
        edits = left[n][i]
        edit = edits.pop(dice.randrange(len(edits)))
        if not edits:
            del left[n][i]
        change = change_of(kind, operators[n].how, listed[i], edit)
        if change is not None and change.digest not in seen:
            seen.add(change.digest)
            yield change


def _chosen(remaining: Sequence[int], weights: Sequence[float], dice: random.Random) -> int:
    if not weights:
        return dice.choice(remaining)
    return dice.choices(remaining, [weights[n] for n in remaining])[0]


def change_of(kind: str, how: str, site: Site, edit: Edit) -> Change | None:
    """The change that ``edit`` makes; None if the text does not compile or means the same."""
    file = site.file
    text = file.replaced(edit.start, edit.end, edit.text)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, file.name, "exec", dont_inherit=True)  # sees more than the parser
        if ast.dump(parsed(text)) == file.shape:
            return None
    except (SyntaxError, ValueError):
        return None
    lines = edit.lines or file.touched(edit.start, edit.end)
    return Change(
        kind=kind,
        how=how,
        places=(place_of(site),),
        texts={file.name: text},
        originals={file.name: file.text},
        lines={file.name: lines},
    )


def place_of(site: Site) -> Place:
    """What is at fault if ``site`` is changed."""
    return Place(file=site.file.name, qualname=site.qualname, start_line=site.start_line)
