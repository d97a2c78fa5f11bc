"""Weighs verified guesses against each other: where several pass, the tests don't decide.

Reference:
    docs/fixes.md, section "Passes, but probably wrong"; Karampatsis, Sutton: How often do
    single-statement bugs occur? MSR 2020 (which mistakes are common).
"""

from __future__ import annotations

import ast
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from difflib import SequenceMatcher

from pytest_bayesloc.domain.fixing import Level
from pytest_bayesloc.domain.source import map_of, tree_of
from pytest_bayesloc.domain.texts import count
from pytest_bayesloc.fixes.candidate import (
    CHANGE,
    GENERATED,
    OTHER_CONSTANT,
    PATTERN,
    TOOL,
    Candidate,
)
from pytest_bayesloc.fixes.check import Checked
from pytest_bayesloc.fixes.mutations import FIRST, FURTHER, name_of
from pytest_bayesloc.fixes.mutations.regexes import KINDS
from pytest_bayesloc.fixes.mutations.unused import unused, uses_unused
from pytest_bayesloc.fixes.soundness import doubt, emptied, tuned
from pytest_bayesloc.syntax.nodes import walk
from pytest_bayesloc.syntax.text import brief

CLEAR = 2 / 3  # share of all weights from which on a change is taken to be meant
LEAST = 0.4  # of all weights: what is meant may be what no edit tries
UNUSUAL = 0.05
#: P(one of these edits of the faulty place repairs). A choice: of real bugs 5 % are repaired by the
#: first two dozen (EDIT_REPAIRS in docs/model.md), of small projects with such mistakes nearly all.
EDITABLE = 1 / 2
#: Share of the likeliest edit of a function, times its nodes: 2 in half of 125 functions of the
#: standard library, 4 in nine of ten.
TOP = 4.0
USUAL = 25  # edits of one kind at a place; where it allows more, each of the rest is less likely
USED = 4.0  # times as likely as others, so that it stands against several of them
NEARLY = 1 / 2  # of the weight of the first, from which on a rival is shown beside it
ALIKE = 0.8  # of two words' letters, from which on one may be a slip for the other
SMALL = 3  # up to which a number fits by chance
WIDTH = 60  # of a rival in a reason
#: How likely one such edit is to be meant, against others: how often such mistakes are met, spread
#: over the edits that a place allows. Tools know the error, and have 1; other edits are unusual.
WEIGHTS: Mapping[str, float] = {
    "use-unused": 1.2,
    "keep-result": 1.0,
    "call-method": 1.0,
    "change-boolean": 0.9,
    "swap-arguments": 0.25,  # planted often, and hardly ever met in small fixes
    "change-comparison": 0.6,
    "change-arithmetic": 0.35,
    "call-it": 0.5,
    "negate-condition": 0.25,
    "negate-clause": 0.3,
    "other-name": 0.3,
    "item-of-loop": 0.5,
    "other-attribute": 0.5,
    "change-constant": 0.45,
    "other-number": 0.4,
    "other-constant": 0.3,  # made to fit the test
    "one-more": 0.25,
    "similar-call": 0.3,
    "drop-conversion": 0.4,
    "exchange-targets": 0.15,
    "add-up": 0.15,
    "move-in": 0.2,
    "move-out": 0.2,
    "convert": 0.15,
    "convert-to-expected": 1.0,
    "other-kind": 1.0,
    "catch-error": 1.0,
    "add-clause": 0.7,
    "guard-case": 0.7,
    "skip-empty": 0.7,
    "first-item": 1.0,
    "split-once": 1.0,
    "copy-looped": 1.0,
    "whole-span": 1.0,
    "raise-again": 0.5,
    "other-key": 0.5,
    "chain-if": 0.45,
    "exchange-names": 0.2,
    "compare-with-none": 1.2,
    "compare-text": 0.3,
    "accept-more": 0.3,
    "same-case": 0.45,
    "keep-order": 0.5,
    "fill-in": 1.0,
    "one-tuple": 0.7,
    "other-flag": 0.45,
    "other-grouping": 0.45,
    "normalize-given": 0.5,
    "other-directive": 1.0,
    "go-on": 0.3,
    "branch-first": 0.7,
    "same-keyword": 1.2,
    "wrap-result": 0.05,
    "other-slice": 0.1,
    "other-text": 0.1,
    "exchange-statements": 0.1,
    "add-argument": 0.15,
    # Each such edit has a weight of its own besides.
    **{f"{PATTERN}{kind}": 0.7 for kind in KINDS},
}

#: Mutations that make code do less: tests that pass with them say least.
TAKES_AWAY = {
    "change-return": "it returns something else",
    "other-jump": "it leaves a block elsewhere",
}
#: Mutations that add code which was written for something else.
BORROWS = {
    "borrow-statement": "it borrows a statement of another function",
    "borrow-clause": "it borrows a condition from elsewhere",
}
_WORD = re.compile(r"\w+")
_EDITS = frozenset((*WEIGHTS, *map(name_of, (*FIRST, *FURTHER))))


def weight(candidate: Candidate) -> float:
    """Return how plausible a change is by its kind, against others.

    One that uses what the code has and nothing used is likelier to be meant.
    """
    made = math.prod(WEIGHTS.get(name, UNUSUAL) for name in candidate.tools if name in _EDITS)
    made *= candidate.weight
    if candidate.stage == TOOL or not candidate.file.endswith(".py"):
        return made
    return made * (USED if is_told(candidate) else 1.0)


def is_told(candidate: Candidate) -> bool:
    """Say whether the code itself tells of a change: it uses what was there and nothing used."""
    for part in (one for one in candidate.parts_by_file() if one.file.endswith(".py")):
        source = map_of(part.before, part.file, is_test=part.is_test)
        unit = None if part.target is None else source.unit(part.target)
        # Most functions have nothing unused, and most changes of the others don't name it.
        idle = None if unit is None else unused(unit.node, source.module.node)
        may_use = idle is None or any(_may_use(part, name) for name in idle)
        if may_use and uses_unused(*part.parts(), part.before):
            return True
    return False


def _may_use(part: Candidate, name: str) -> bool:
    """Say whether a change may use a name, or an expression that stands alone before it."""
    is_name = name.lstrip(".").isidentifier()
    return not is_name or part.after.count(name) > part.before.count(name)


def most_chance(function: ast.AST, belief: float) -> float:
    """Return what the chance of the likeliest edit of a place hardly exceeds, before it is made."""
    n_nodes = sum(1 for _ in walk(function))
    return EDITABLE * belief * min(1.0, TOP / n_nodes)


def by_chance(edits: Iterable[Candidate], belief: float) -> list[Candidate]:
    """Give each edit of one place its chance to be what repairs, and return the likeliest first.

    Args:
        edits: All that are made there, of each kind the likeliest first.
        belief: P(the place is faulty).
    """
    n_of_kind: Counter[str] = Counter()
    shares = []
    for edit in edits:
        n_of_kind[edit.name] += 1
        shares.append((weight(edit) * min(1.0, USUAL / n_of_kind[edit.name]), edit))
    whole = sum(share for share, _ in shares)
    made = [replace(e, chance=EDITABLE * belief * share / whole) for share, e in shares]
    return sorted(made, key=lambda edit: -edit.chance)


def doubt_of(candidate: Candidate) -> str:
    """Says why a verified change is probably wrong; of what takes a change back nothing."""
    if candidate.stage == CHANGE:
        return ""
    known = {**TAKES_AWAY, **BORROWS}
    taken = (known[tool] for tool in candidate.tools if tool in known)
    parts = [part for part in candidate.parts_by_file() if part.file.endswith(".py")]
    doubts = (doubt(*part.parts(), part.before) for part in parts)
    is_tuned = OTHER_CONSTANT in candidate.tools
    numbers = (tuned(*part.parts(), small=SMALL) for part in parts if is_tuned)
    return next(filter(None, (*doubts, *taken, *numbers)), "")


def is_emptied(candidate: Candidate) -> bool:
    """Say whether a change makes code do less, which tests can't outweigh that pass with it."""
    if candidate.stage == CHANGE:
        return False
    parts = (part for part in candidate.parts_by_file() if part.file.endswith(".py"))
    return any(emptied(*part.parts()) for part in parts)


def with_rivals(verified: Sequence[Checked]) -> list[Checked]:
    """Return the verified changes, with what else passes where none of them is clearly meant.

    Args:
        verified: The best first. Guesses alone are rivals: what is safe, and what was there
            before, is not asked.
    """
    guesses = [c for c in verified if _is_guess(c)]
    weights = _weights(guesses)
    total = sum(weights.values())
    return [
        replace(checked, rivals=_words(checked, guesses))
        # A change that is doubted has words for it already.
        if _is_guess(checked)
        and weights[_meaning(checked)] < CLEAR * (total if checked.doubt else max(LEAST, total))
        else checked
        for checked in verified
    ]


def worth_showing(verified: Sequence[Checked]) -> list[Checked]:
    """Return what a person may want of verified changes, the best first.

    That is none that makes code do less. Where nothing is clearly meant, it is none for which
    several others could stand, and one rival is shown beside the first, if nearly as likely.
    """
    sound = [checked for checked in verified if not (checked.doubt and checked.is_emptied)]
    if any(not checked.shown_doubt for checked in sound):
        return [checked for checked in sound if not checked.shown_doubt]
    times = Counter(map(_replaced, verified))
    sound = [checked for checked in sound if times[_replaced(checked)] == 1]
    first = max((weight(checked.candidate) for checked in sound), default=0.0)
    return [checked for checked in sound if weight(checked.candidate) >= NEARLY * first][:2]


def _replaced(checked: Checked) -> tuple[str, str, str]:
    """Return what is replaced, and how: tests that pass with several names for one tell of none."""
    candidate = checked.candidate
    what = candidate.message.partition(" to ")[0]
    return candidate.name, candidate.file, what if candidate.name in _OTHERS else candidate.key


_OTHERS = frozenset({OTHER_CONSTANT, "other-attribute", "other-name", "other-number", "other-text"})


def is_slip(candidate: Candidate) -> bool:
    """Say whether a change is of one word, to another that is spelt nearly alike.

    A name that gets or loses an underscore at its ends is private or not, which is meant.
    """
    before, after = (Counter(_WORD.findall(text)) for text in candidate.parts()[:2])
    gone, new = before - after, after - before
    if len(gone) != 1 or len(new) != 1:
        return False
    (wrong,), (right,) = gone, new
    if wrong.strip("_") == right.strip("_"):
        return False
    n_other = sum(a != b for a, b in zip(wrong, right, strict=False))
    is_letter = len(wrong) == len(right) and n_other == 1
    return is_letter or SequenceMatcher(None, wrong, right, autojunk=False).ratio() >= ALIKE


def _is_guess(checked: Checked) -> bool:
    candidate = checked.candidate
    return candidate.level is not Level.SAFE and candidate.stage not in {CHANGE, GENERATED}


def _weights(guesses: Sequence[Checked]) -> dict[str, float]:
    """The weight of each meaning; what one tool proposes later is less likely."""
    n_before: Counter[str] = Counter()
    found: dict[str, float] = {}
    for checked in guesses:
        candidate = checked.candidate
        made = 0.0 if checked.doubt else weight(candidate)
        if candidate.stage == TOOL:
            n_before[candidate.name] += 1
            made /= n_before[candidate.name]
        meaning = _meaning(checked)
        found[meaning] = max(made, found.get(meaning, 0.0))
    return found


def _words(checked: Checked, guesses: Sequence[Checked]) -> str:
    own = _meaning(checked)
    others = [guess for guess in guesses if _meaning(guess) != own]
    if not others:
        return "few people make the mistake that it would fix"
    n = len(set(map(_meaning, others)))
    first = brief(others[0].candidate.message, WIDTH)
    return f"the tests pass with {count(n, 'other change')}, too: {first}"


def _meaning(checked: Checked) -> str:
    """The code after a change, the same for two ways to write one thing."""
    texts = [part.parts()[1] for part in checked.candidate.parts_by_file()]
    trees = map(tree_of, texts)
    return "\n".join(
        text if tree is None else ast.dump(_Plain().visit(deepcopy(tree)))
        for text, tree in zip(texts, trees, strict=True)
    )


_OPPOSITE: Mapping[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Lt: ast.Gt,  # but for equal ones, which is what is meant by turning it round
    ast.Gt: ast.Lt,
    ast.LtE: ast.GtE,
    ast.GtE: ast.LtE,
}


class _Plain(ast.NodeTransformer):
    """Writes code of one meaning in one way: comparisons, slices from 0, sums, copies."""

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        match node:
            case ast.Compare(left=left, ops=[ast.Is()], comparators=[other]):
                return ast.Compare(left, [ast.Eq()], [other])
            case ast.Compare(
                left=left, ops=[ast.In()], comparators=[ast.Tuple(elts=[_, *_] as parts)]
            ):
                return _any_of([ast.Compare(left, [ast.Eq()], [part]) for part in parts])
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        return _any_of(node.values) if isinstance(node.op, ast.Or) else node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        test = node.operand
        if isinstance(node.op, ast.Not) and isinstance(test, ast.Compare) and len(test.ops) == 1:
            test.ops = [_OPPOSITE[type(test.ops[0])]()]
            return test
        return node

    def visit_Slice(self, node: ast.Slice) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.lower, ast.Constant) and node.lower.value == 0:
            node.lower = None
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Mult):
            node.left, node.right = sorted((node.left, node.right), key=ast.dump)
        rest, last = _split(node)
        if rest is node:
            return node
        first, n = _split(rest)
        return ast.BinOp(first, ast.Add(), ast.Constant(n + last)) if n + last else first

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        match node:
            case ast.Call(
                func=ast.Name(id="isinstance") as func,
                args=[value, ast.Tuple(elts=[_, *_] as kinds)],
            ):
                return _any_of([ast.Call(func, [value, kind], []) for kind in kinds])
            case ast.Call(func=ast.Attribute(value=copied, attr="copy"), args=[], keywords=[]):
                return ast.Call(ast.Name("copy"), [copied], [])
            case ast.Call(func=ast.Name(id="dict" | "list" | "set"), args=[copied], keywords=[]):
                return ast.Call(ast.Name("copy"), [copied], [])
        return node


def _any_of(values: Sequence[ast.expr]) -> ast.expr:
    """Return one condition for all of ``values``, in one order."""
    parts: list[ast.expr] = []
    for value in values:
        is_nested = isinstance(value, ast.BoolOp) and isinstance(value.op, ast.Or)
        parts += value.values if is_nested else [value]  # type: ignore[attr-defined]
    return ast.BoolOp(ast.Or(), sorted(parts, key=ast.dump))


def _split(node: ast.expr) -> tuple[ast.expr, int]:
    """Returns a sum without the whole number at its end, and that number."""
    match node:
        case ast.BinOp(left=left, op=ast.Add(), right=ast.Constant(value=int(n))):
            return left, n
        case ast.BinOp(left=left, op=ast.Sub(), right=ast.Constant(value=int(n))):
            return left, -n
    return node, 0
