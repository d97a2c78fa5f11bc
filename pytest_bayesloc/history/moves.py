"""Files that were moved, made or removed since a run."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

LIKE = 0.5  # share of lines


@dataclass(frozen=True, slots=True, kw_only=True)
class Then:
    """The files as they were, so that they can be compared with what they are.

    Attributes:
        texts: Per file; one that was moved has its new path, one that was made since is empty.
        moved: Dotted names that the modules had which were moved.
    """

    texts: Mapping[str, str]
    moved: frozenset[str] = frozenset()


def followed(
    texts: Mapping[str, str],
    read: Callable[[str], str | None],
    in_use: Collection[str],
    is_new: Callable[[str], bool],
) -> Then:
    """``texts`` of files, followed to where they are.

    A file that is gone has become the one, of those in use that are not in ``texts``, with which it
    shares most lines, half of them at least.

    Args:
        texts: By path, as the files were.
        read: The text of a file as it is; None if there is none.
        in_use: The files of the project that are imported.
        is_new: Whether a file of those was made since; else it was not imported then.
    """
    gone = sorted(file for file in texts if read(file) is None)
    others = sorted(file for file in in_use if file not in texts)
    moved: dict[str, str] = {}

    @cache
    def lines_of_now(file: str) -> frozenset[str]:
        return _lines(read(file) or "")

    for old in gone if others else ():
        lines = _lines(texts[old])
        shares = [(_share(lines, lines_of_now(file)), file) for file in others]
        share, best = max(shares, default=(0.0, ""))
        if share >= LIKE:
            moved[old] = best
            others.remove(best)
    made = {file: "" for file in others if is_new(file)}
    return Then(
        texts={**{moved.get(file, file): text for file, text in texts.items()}, **made},
        moved=frozenset(name for old in moved for name in _module_names(old)),
    )


def _lines(text: str) -> frozenset[str]:
    return frozenset(line.strip() for line in text.splitlines()) - {""}


def _share(a: frozenset[str], b: frozenset[str]) -> float:
    return len(a & b) / max(len(a), len(b), 1)


def _module_names(file: str) -> list[str]:
    """``shop.cart`` and ``cart`` of ``shop/cart.py``: nobody knows where imports begin."""
    parts = file.removesuffix(".py").removesuffix("/__init__").split("/")
    return [".".join(parts[i:]) for i in range(len(parts))]
