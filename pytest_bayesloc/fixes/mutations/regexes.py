"""Edits of a regular expression: quantifiers, classes, alternatives, optional parts, anchors.

A pattern is read into parts with their places in its text, and edits replace pieces of that text:
all else stays as its author wrote it.

Reference:
    docs/fixes.md, section "Regular expressions"; Wang, Bai, Stolee: Exploring regular expression
    evolution. SANER 2019 (which edits people make).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, pairwise, product
from typing import TypeAlias

from pytest_bayesloc.fixes.mutations.regex_parts import (
    Branch,
    Part,
    all_branches,
    branches_of,
    compiled,
    items_of,
    parts_in,
)

N_ALL = 24  # characters of subjects that edits are made with
N_GUIDES = 16  # of them that stand anywhere
N_LETTERS = 4  # of them that are letters or digits which no passing test has
N_WORDS = 12  # likewise
N_TOGETHER = 6  # signs of which a class may lack two
N_OPTIONAL = 6  # of them that may become an optional part
FORGOTTEN = 1.5  # who forgets to escape one dot forgets them all
MAX_WORD = 3  # characters of a word with digits, which else is taken for a value of the test
MAX_RUN = 4  # parts that are made optional together
MAX_PATTERN = 2_000  # characters
_SPECIAL = frozenset(r"\.^$*+?{}[]|()")
_BRACKETS = (("(", ")"), ("[", "]"), ("{", "}"), ("<", ">"))
_NAMES = {"\n": r"\n", "\t": r"\t", "\r": r"\r", "\f": r"\f", "\v": r"\v"}


#: Of edits; several are one at different places.
KINDS = (
    *("quantifier", "class", "alternative", "optional-part", "anchor"),
    *("escape", "group", "flag", "omission", "several"),
)
#: Where a replaced piece starts and ends, and what stands there then.
Piece: TypeAlias = tuple[int, int, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class RegexEdit:
    """Texts to put in the place of pieces of a pattern.

    Attributes:
        weight: How usual the mistake is that it undoes, against others.
        pieces: By their places; none overlaps another.
        kind: One of ``KINDS``.
    """

    weight: float
    pieces: tuple[Piece, ...]
    kind: str

    def of(self, pattern: str) -> str:
        """Return ``pattern`` with the edit."""
        for start, end, text in reversed(self.pieces):
            pattern = f"{pattern[:start]}{text}{pattern[end:]}"
        return pattern

    def joined(self, other: RegexEdit) -> RegexEdit | None:
        """Return both edits as one; None if they touch the same piece.

        What both put in at one place stands there in turn.
        """
        pieces = sorted((*self.pieces, *other.pieces))
        if any(b[0] < a[1] or a[:2] == b[:2] != (a[1], a[1]) for a, b in pairwise(pieces)):
            return None
        kind = self.kind if self.kind == other.kind else "several"
        return RegexEdit(weight=self.weight * other.weight, pieces=tuple(pieces), kind=kind)


# -- what subjects show


@dataclass(frozen=True, slots=True, kw_only=True)
class Guides:
    """Characters and words that a pattern may lack, the likeliest first."""

    characters: tuple[str, ...] = ()
    words: tuple[str, ...] = ()


WORD = re.compile(r"[^\W_]\w*|[^\w\s]+|\d+")


def guides_of(failing: Sequence[str], passing: Sequence[str], near: Guides = Guides()) -> Guides:
    """Return what the subjects of a failing test hold, first what those of passing tests don't.

    Args:
        failing: Subjects in failing tests.
        passing: Subjects in passing tests.
        near: Of the former, what stands where the pattern, or a part of it, stops to match: that
            comes before all else.
    """
    known = Counter(chain.from_iterable(passing))
    own = Counter(chain.from_iterable(failing))
    ordered = sorted(own, key=lambda c: (c in known, c.isalnum(), known[c], c))
    known_words = Counter(word for text in passing for word in WORD.findall(text))
    words = Counter(word for text in failing for word in WORD.findall(text))
    fresh = sorted(words, key=lambda w: (w in known_words, len(w) > 20, -words[w], w))
    plain = [c for c in ordered if not c.isalnum()]
    letters = [c for c in ordered if c.isalnum()]
    likely = [c for c in letters if c not in known][:N_LETTERS]
    kinds = (str.isdigit, str.islower, str.isupper)  # of each kind one: it stands for its family
    likely += [c for is_kind in kinds for c in [*filter(is_kind, letters)][:1] if c not in likely]
    characters = dict.fromkeys((*near.characters, *plain[: N_GUIDES - N_LETTERS], *likely))
    chosen = dict.fromkeys((*near.words, *fresh[:N_WORDS]))
    return Guides(characters=tuple(characters)[:N_ALL], words=tuple(chosen)[:N_WORDS])


# -- edits


def regex_edits(pattern: str, flags: int, guides: Guides) -> list[RegexEdit]:
    """Return edits of a pattern, the likeliest first; no edits of one that can't be read."""
    if len(pattern) > MAX_PATTERN:
        return []
    try:
        branches = branches_of(pattern, flags)
    except (ValueError, IndexError, RecursionError):
        return []
    maker = _Maker(pattern, branches, guides, flags)
    found = sorted(maker.all(), key=lambda edit: -edit.weight)
    unique = {edit.of(pattern): edit for edit in reversed(found)}
    unique.pop(pattern, None)
    return sorted(unique.values(), key=lambda edit: (-edit.weight, edit.pieces))


class _Maker:
    """Makes the edits of one pattern."""

    def __init__(
        self, pattern: str, branches: Sequence[Branch], guides: Guides, flags: int
    ) -> None:
        self._pattern = pattern
        self._branches = branches
        self._guides = guides
        self._is_verbose = bool(flags & re.VERBOSE)
        self._ignores_case = bool(flags & re.IGNORECASE)

    def all(self) -> Iterator[RegexEdit]:
        """Yield edits of all kinds."""
        of_parts = [(part, list(self._of_part(part))) for part in parts_in(self._branches)]
        yield from chain.from_iterable(edits for _, edits in of_parts)
        yield from self._repeated(of_parts)
        yield from self._blanks()
        for level in all_branches(self._branches):
            yield from self._alternatives(level)
            for branch in level:
                yield from self._optional(branch)
                yield from self._inserted(branch)
        match = re.match(r"\(\?([aiLmsux]+)\)", self._pattern)
        for letter, weight in (("i", 0.4), ("s", 0.4), ("m", 0.3), ("a", 0.1)):
            if match is None:
                yield self._edit(weight, 0, 0, f"(?{letter})", "flag")
            elif letter not in match[1]:
                yield self._edit(weight, 2, 2, letter, "flag")

    def _of_part(self, part: Part) -> Iterator[RegexEdit]:
        yield from self._quantifiers(part)
        if part.kind == "class":
            yield from self._classes(part)
        elif part.kind in {"literal", "set", "any"}:
            yield from self._characters(part)
        elif part.kind in {"anchor", "look"}:
            yield from self._anchors(part)
        elif part.kind == "group":
            opening = self._pattern[part.start : part.start + 3]
            if re.match(r"\((?:[:=!]|<[=!]|P<)", opening):
                yield self._edit(1.0, part.start + 1, part.start + 1, "?", "group")
            if opening[1:2] != "?":
                yield self._edit(0.2, part.start, part.start + 1, "(?:", "group")
            elif opening == "(?:":
                yield self._edit(0.1, part.start, part.start + 3, "(", "group")

    def _repeated(self, of_parts: Sequence[tuple[Part, list[RegexEdit]]]) -> Iterator[RegexEdit]:
        """Make one edit at all parts that are alike, or of all classes that lack a character."""
        alike: dict[tuple[str, ...], list[RegexEdit]] = {}
        for part, edits in of_parts:
            text = self._pattern[part.start : part.end]
            for edit in edits:
                ((start, end, new),) = edit.pieces
                is_added = edit.kind == "class" and start == end
                key = ("class", new) if is_added else (text, self._pattern[start:end], new)
                alike.setdefault(key, []).append(edit)
        for same in alike.values():
            pieces = tuple(sorted(piece for edit in same for piece in edit.pieces))
            if same[1:] and all(a[1] <= b[0] and a[:2] != b[:2] for a, b in pairwise(pieces)):
                kind = same[0].kind
                weight = FORGOTTEN if kind == "escape" else 0.5
                weight *= min(edit.weight for edit in same)
                yield RegexEdit(weight=weight, pieces=pieces, kind=kind)

    def _blanks(self) -> Iterator[RegexEdit]:
        """Allow blanks around each sign, then around all of them."""
        if not any(character.isspace() for character in self._guides.characters):
            return
        signs = [
            (part.start, part.stop)
            for part in parts_in(self._branches)
            if part.kind == "literal"
            and not _plain(self._pattern[part.start : part.end]).isalnum()
            and not self._pattern[part.start : part.end].isspace()
        ]
        blank = "[ ]" if self._is_verbose else " "
        for text in (r"\s*", f"{blank}*"):
            pairs = [((at, at, text), (end, end, text)) for at, end in signs]
            for pair in pairs:
                yield RegexEdit(weight=0.3, pieces=pair, kind="optional-part")
            every = tuple(dict.fromkeys(chain.from_iterable(pairs)))
            if pairs[1:]:
                yield RegexEdit(weight=0.2, pieces=every, kind="optional-part")

    def _edit(self, weight: float, start: int, end: int, text: str, kind: str) -> RegexEdit:
        return RegexEdit(weight=weight, pieces=((start, end, text),), kind=kind)

    # -- quantifiers

    def _quantifiers(self, part: Part) -> Iterator[RegexEdit]:
        if part.kind in {"anchor", "look", "other"}:
            return
        own = self._pattern[part.end : part.stop]
        for weight, text in _other_quantifiers(own, part.kind):
            yield self._edit(weight, part.end, part.stop, text, "quantifier")
        if not own and part.kind == "literal":
            yield self._edit(0.1, part.start, part.stop, "", "omission")
        elif part.kind != "group":
            yield self._edit(0.05, part.start, part.stop, "", "omission")

    # -- classes

    def _classes(self, part: Part) -> Iterator[RegexEdit]:
        text = self._pattern[part.start : part.end]
        is_negated = text.startswith("[^")
        at = part.end - (2 if text.endswith("-]") and not text.endswith(r"\-]") else 1)
        for weight, member in self._lacking(text, is_negated=is_negated):
            yield self._edit(weight, at, at, member, "class")
        items = list(items_of(text))
        for first, behind in items:
            start, end = part.start + first, part.start + behind
            if items[1:]:
                yield self._edit(0.4, start, end, "", "class")
            if member := self._of_ascii(text[first:behind]):
                yield self._edit(0.8, start, end, member, "class")
            if behind - first == 3 and text[first + 1] == "-" and not text[first].isalnum():
                # a range of signs becomes the signs themselves
                yield self._edit(0.8, start + 1, start + 1, "\\", "escape")
        if items[1:] and not is_negated:
            yield self._edit(0.1, part.start, part.end, r"\w", "class")

    def _lacking(self, text: str, *, is_negated: bool) -> Iterator[tuple[float, str]]:
        """Yield members that a class may lack, with their weights."""
        matches = compiled(text, 0)
        missing = [
            character
            for character in (self._guides.characters if matches is not None else ())
            if bool(matches and matches.match(character)) == is_negated
        ]
        for character in missing:
            is_one_of_many = character.isdigit() or not character.isascii()
            if not (is_negated and character.isalnum()):
                yield 0.4 if is_one_of_many else 1.0, _in_class(character)
            yield from (
                (weight, wider) for weight, wider in _families(character) if wider not in text
            )
        for one, other in combinations(list(filter(_is_sign, missing))[:N_TOGETHER], 2):
            yield 0.3, _in_class(one) + _in_class(other)
        if is_negated:
            yield 0.2, r"\n"
            yield 0.3, r"\s"
            # What stands in brackets holds no bracket of its kind.
            yield from ((1.3, _in_class(one)) for one, other in _BRACKETS if other in text)

    def _of_ascii(self, text: str) -> str:
        """Return the ASCII members of a set, where a subject has others; else nothing."""
        is_meant = {r"\d": str.isdigit, r"\w": str.isalnum}.get(text)
        others = (c for c in self._guides.characters if not c.isascii())
        if is_meant is None or not any(map(is_meant, others)):
            return ""
        return "0-9" if text == r"\d" else "a-zA-Z0-9_"

    # -- single characters and sets

    def _characters(self, part: Part) -> Iterator[RegexEdit]:
        text = self._pattern[part.start : part.end]
        if part.kind == "any":  # a dot was meant, or whatever is not what follows it
            others = [(0.6, r"\.", "escape"), (0.3, r"[\s\S]", "class"), (0.3, r"\S", "class")]
            following = self._pattern[part.stop : part.stop + 1]
            if following and following not in _SPECIAL | {" "}:
                others.append((0.5, f"[^{_in_class(following)}]", "class"))
            signs = (c for c in self._guides.characters if not c.isalnum())
            others += [(0.3, f"[^{_in_class(sign)}]", "class") for sign in signs]
        else:
            others = [*_MEANT.get(text, ())]
            if members := self._of_ascii(text):
                others.append((0.8, f"[{members}]", "class"))
            if text in {"d", "w", "s", "b", "S", "W", "D"}:
                others.append((0.3, f"\\{text}", "escape"))
            inner = text if part.kind == "set" else _in_class(_plain(text))
            both = [f"[{inner}{_in_class(c)}]" for c in self._guides.characters if c != text]
            others += [(0.4, more, "class") for more in both]
            if len(text) == 1 and text.isalpha():
                others.append((0.1, f"[{text.lower()}{text.upper()}]", "class"))
        for weight, other, kind in others:
            yield self._edit(weight, part.start, part.end, other, kind)

    # -- anchors and lookarounds

    def _anchors(self, part: Part) -> Iterator[RegexEdit]:
        text = self._pattern[part.start : part.end]
        yield self._edit(0.3, part.start, part.stop, "", "anchor")
        others = {"$": (r"(?:\n|$)",), "^": ("(?:^|\n)",), r"\b": (r"(?!\w)", r"(?<!\w)")}
        for other in others.get(text, ()):
            yield self._edit(0.3, part.start, part.end, other, "anchor")
        if text == "$":  # it matches before a line end, too: hardly anybody means that
            weight = 0.7 if "\n" in self._guides.characters else 0.2
            yield self._edit(weight, part.start, part.end, r"\Z", "anchor")

    def _inserted(self, branch: Branch) -> Iterator[RegexEdit]:
        """Anchors, lookarounds and optional characters between parts."""
        if not branch.parts:
            return
        first, last = branch.parts[0].start, branch.parts[-1].stop
        yield from self._at_ends(first, last, is_whole=branch in self._branches)
        for at in dict.fromkeys((*(part.start for part in branch.parts), last)):
            yield from self._words(at, is_first=at == first)
            if at not in {first, last}:
                yield self._edit(0.1, at, at, r"\b", "anchor")
            is_in_word = any(
                part.kind == "literal" and self._pattern[part.start : part.end].isalnum()
                for part in branch.parts
                if at in {part.start, part.stop}
            )
            for character in self._guides.characters:
                yield from self._around(at, character, is_in_word=is_in_word)
        # A part that repeats may come once more, behind a sign: the digits behind a point.
        repeat = [p for p in branch.parts if p.end < p.stop and p.kind in {"class", "set"}]
        for part, sign in product(repeat, filter(_is_sign, self._guides.characters)):
            more = f"(?:{self._quoted(sign)}{self._pattern[part.start : part.stop]})"
            yield self._edit(0.3, part.stop, part.stop, f"{more}?", "optional-part")
            yield self._edit(0.2, part.stop, part.stop, f"{more}*", "optional-part")

    def _at_ends(self, first: int, last: int, *, is_whole: bool) -> Iterator[RegexEdit]:
        for text, where in (("^", first), (r"\b", first), ("$", last), (r"\b", last)):
            if not self._pattern.startswith(text, where):
                yield self._edit(0.3 if is_whole else 0.2, where, where, text, "anchor")
        pieces = ((first, first, "^"), (last, last, "$"))
        yield RegexEdit(weight=0.2, pieces=pieces, kind="anchor")
        yield self._edit(0.15, first, first, r"(?<!\w)", "anchor")
        yield self._edit(0.15, first, first, r"(?<!\S)", "anchor")
        yield self._edit(0.15, last, last, r"(?!\w)", "anchor")
        yield self._edit(0.15, last, last, r"(?!\d)", "anchor")

    def _words(self, at: int, *, is_first: bool) -> Iterator[RegexEdit]:
        """Optional words, or what looks like them."""
        for word in [w for w in self._guides.words if w[1:] or not w.isalnum()][:N_OPTIONAL]:
            for weight, text in self._shapes(word):
                yield self._edit(weight / 4, at, at, f"(?:{text})?", "optional-part")
                if is_first:
                    yield self._edit(weight / 4, at, at, rf"(?:{text}\s+)?", "optional-part")

    def _shapes(self, word: str) -> Iterator[tuple[float, str]]:
        """Yield patterns that match a word: itself, then whatever looks like it."""
        if len(word) <= MAX_WORD or not any(map(str.isdigit, word)):
            yield 1.0, "".join(map(self._quoted, word))
        wider = re.sub(r"\d+", r"\\d+", "".join(map(self._quoted, word)))
        if wider != word and word.isascii():
            yield 0.8, wider
        shape = re.sub(r"[a-zA-Z]+", "[a-zA-Z]+", word)
        if word.isalnum() and shape != word:
            yield 0.4, re.sub(r"\d+", r"\\d+", shape)

    def _around(self, at: int, character: str, *, is_in_word: bool) -> Iterator[RegexEdit]:
        """Optional characters, and such that must not stand there.

        One letter or digit means something within a word alone: elsewhere it is the test's.
        """
        one = self._quoted(character)
        if character.isspace():
            yield self._edit(0.5, at, at, r"\s*", "optional-part")
            yield self._edit(0.3, at, at, f"{one}*", "optional-part")
            yield self._edit(0.3, at, at, r"[ \t]*", "optional-part")
        if is_in_word or not character.isalnum():
            yield self._edit(0.4, at, at, f"{one}?", "optional-part")
            yield self._edit(0.1, at, at, f"{one}*", "optional-part")
        if not character.isalnum():
            yield self._edit(0.2, at, at, f"(?!{one})", "anchor")
            yield self._edit(0.2, at, at, f"(?<!{one})", "anchor")
        for _, wider in _families(character):
            yield self._edit(0.15, at, at, f"(?!{_as_part(wider)})", "anchor")
            yield self._edit(0.1, at, at, f"{_as_part(wider)}*", "optional-part")

    # -- alternatives

    def _alternatives(self, level: Sequence[Branch]) -> Iterator[RegexEdit]:
        texts = [self._pattern[branch.start : branch.end] for branch in level]
        start, end = level[0].start, level[-1].end
        is_whole = level is self._branches
        is_plain = all(part.kind == "literal" for branch in level for part in branch.parts)
        weight = 1.0 if is_plain and level[1:] else 0.15 if level[1:] or not is_whole else 0.05
        for word in self._guides.words:
            is_upper = level[1:] and self._ignores_case and all(map(str.isupper, texts))
            for likely, text in self._shapes(word.upper() if is_upper else word):
                if text not in texts:
                    yield self._edit(weight * likely, end, end, f"|{text}", "alternative")
        fresh = [word for word in self._guides.words if word.isalpha() and word not in texts]
        if is_plain and level[1:] and fresh[1:]:
            yield self._edit(0.3, end, end, "".join(f"|{word}" for word in fresh), "alternative")
        for i, text in enumerate(texts) if level[1:] else ():
            rest = [*texts[:i], *texts[i + 1 :]]
            yield self._edit(0.1, start, end, "|".join(rest), "alternative")
            if i:
                yield self._edit(0.2, start, end, "|".join((text, *rest)), "alternative")
            if i < len(texts) - 1:
                yield self._edit(0.1, start, end, "|".join((*rest, text)), "alternative")

    def _optional(self, branch: Branch) -> Iterator[RegexEdit]:
        parts = branch.parts
        for i, first in enumerate(parts):
            for last in parts[i + 1 : i + MAX_RUN]:
                if first is not parts[0] or last is not parts[-1]:
                    text = self._pattern[first.start : last.stop]
                    yield self._edit(0.3, first.start, last.stop, f"(?:{text})?", "optional-part")
                    yield self._edit(0.1, first.start, last.stop, f"(?:{text})*", "optional-part")

    def _quoted(self, character: str) -> str:
        if self._is_verbose and character in {" ", "#"}:
            return f"[{character}]"
        return _NAMES.get(character) or (f"\\{character}" if character in _SPECIAL else character)


#: What may be meant by a character or set, whatever the subjects are: weight, text, kind.
_MEANT = {
    r"\d": ((0.2, r"\w", "class"),),
    r"\w": ((0.2, r"\S", "class"), (0.2, ".", "class")),
    r"\s": ((0.2, " ", "class"), (0.2, r"[ \t]", "class")),
    r"\S": ((0.2, ".", "class"),),
    r"\n": ((0.3, r"\s", "class"), (0.2, r"\r?\n", "optional-part")),
    " ": ((0.5, r"\s", "class"), (0.3, r"[ \t]", "class")),
}


def _other_quantifiers(own: str, kind: str) -> Iterator[tuple[float, str]]:
    """Yield quantifiers in the place of ``own``, with their weights."""
    if not own:
        usual = {"literal": (0.4, 0.2, 0.3), "group": (0.5, 0.2, 0.3)}
        yield from zip(usual.get(kind, (0.4, 0.3, 0.6)), "?*+", strict=True)
        return
    match = re.match(r"\{(\d*)(,?)(\d*)\}(.*)", own)
    if match is not None:
        yield from _other_bounds(int(match[1] or 0), match[2], match[3], match[4])
        return
    base, suffix = own[0], own[1:]
    for other in "*+?":
        if other != base:
            yield 0.5, other + suffix
    yield 0.2, ""
    if suffix == "?":
        yield 0.5, base
    elif not suffix:
        yield 0.4, f"{base}?"
    if base in "*?" and not suffix:
        yield 0.1, "+?"


def _other_bounds(low: int, comma: str, high: str, suffix: str) -> Iterator[tuple[float, str]]:
    top = int(high) if high else low if not comma else 0
    yield 0.6, f"{{{low},}}{suffix}"
    for a, b in ((low, top + 1), (max(low - 1, 0), top), (low + 1, top), (low, top - 1)):
        if 0 <= a < b:
            yield 0.5, f"{{{a},{b}}}{suffix}"
        elif a == b > 0:
            yield 0.4, f"{{{a}}}{suffix}"
    yield 0.3, f"+{suffix}"
    yield 0.2, f"*{suffix}"
    if top:
        yield 0.3, f"{{1,{top}}}{suffix}"
        yield 0.2, f"{{0,{top}}}{suffix}"
        yield 0.2, f"{{{low},{2 * top}}}{suffix}"


def _families(character: str) -> Iterator[tuple[float, str]]:
    """Yield wider sets that hold ``character``, as they stand in a class."""
    if character.isdigit():
        yield 0.9, "0-9"
        yield 0.7, r"\d"
    elif character.isspace():
        yield 0.6, r"\s"
    elif character.isalpha():
        yield 0.9, ("a-z" if character.islower() else "A-Z") if character.isascii() else r"\w"
        yield 0.4, r"\w"
        if character in "abcdefABCDEF":
            yield 0.3, "a-fA-F"
    elif character == "_":
        yield 0.3, r"\w"


def _as_part(members: str) -> str:
    return members if members.startswith("\\") else f"[{members}]"


def _in_class(character: str) -> str:
    if character in _NAMES:
        return _NAMES[character]
    return f"\\{character}" if character in "\\]^-[" else character


def _plain(text: str) -> str:
    """Return the character that a literal part stands for; of one told by number, its text."""
    if len(text) == 2 and text[0] == "\\" and not text[1].isalnum():
        return text[1]
    return {name: character for character, name in _NAMES.items()}.get(text, text)


def _is_sign(character: str) -> bool:
    return not character.isalnum() and not character.isspace()
