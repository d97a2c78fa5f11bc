"""Mutations that ask for what failing tests have at a place, and passing tests never.

They read the samples of ``site.hints``: values just before a condition or statement.

Reference:
    Xuan et al.: Nopol: automatic repair of conditional statement bugs. TSE 2017; Long, Rinard:
    Staged program repair with condition synthesis. FSE 2015.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, combinations, islice, product

from pytest_bayesloc.domain.recording import Sample, Value
from pytest_bayesloc.domain.source import FunctionNode, ScopeNode
from pytest_bayesloc.fixes.site import Site
from pytest_bayesloc.syntax.expressions import KINDS, PLAIN_VALUES, kind_of
from pytest_bayesloc.syntax.nodes import (
    BUILT_IN,
    LOOPS,
    dotted,
    every_node,
    is_docstring,
    nodes_of,
    own_nodes,
    parameters,
    walk,
)
from pytest_bayesloc.syntax.text import TextEdit, brief

MAX_POINTS = 40  # of a function
N_PREDICATES = 3  # of one point
N_ACTIONS = 5
UNCERTAIN = 3  # different passing samples with which a predicate is as likely as chance
MAX_NUMBER = 2  # that code compares with whatever it is about
MAX_END = 2  # characters at the start or end of a text
_BINDS = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.For, ast.While, ast.With, ast.Try, ast.If)
_OF_KIND = {
    "bool": ("False", "True"),
    "list": ("[]",),
    "str": ("''",),
    "dict": ("{}",),
    "int": ("0",),
}

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Predicate:
    """A question about one value: in code, and its opposite.

    Attributes:
        weight: How natural it is, from 0 to 1.
        name: The value.
    """

    text: str
    opposite: str
    weight: float = 1.0
    name: str = ""


def points_of(function: FunctionNode) -> list[Span]:
    """The first and last lines of the places whose samples these mutations read."""
    tests = (_span(test) for test, _ in _conditions(function))
    spans = dict.fromkeys((*tests, *(_head(s) for s, _ in _guarded(function))))
    taken: set[int] = set()
    found = []
    for first, last in spans:
        lines = set(range(first, last + 1))
        if taken.isdisjoint(lines):
            taken |= lines
            found.append((first, last))
    return found[:MAX_POINTS]


def add_clause(site: Site) -> Iterator[TextEdit]:
    """Ask for more in a condition, or for less, so that it differs in failing tests alone."""
    for (test, body), is_true in product(_conditions(site.function), (True, False)):
        failing, passing = (
            [s for s in _at(_span(test), samples) if (s.then in body) is is_true]
            for samples in (site.hints.failing, site.hints.passing)
        )
        kind = ast.Or if is_true else ast.And
        clauses = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, kind) else []
        for asked in islice(_predicates(site, test, failing, passing), N_PREDICATES):
            # A clause that speaks of the value may decide by it alone.
            same = [
                clause
                for clause in clauses
                if any(ast.unparse(n) == asked.name for n in nodes_of(clause, ast.expr))
            ]
            for part in (*same, test):
                yield _joined(site, part, asked, is_true=is_true, is_part=part is not test)
    for node in site.own(ast.Return):
        if isinstance(node.value, (ast.BoolOp, ast.Compare)):
            samples = (_at(_head(node), own) for own in (site.hints.failing, site.hints.passing))
            for asked in islice(_predicates(site, node, *samples), N_PREDICATES):
                yield _joined(site, node.value, asked, is_true=False, is_part=False)
                yield _joined(site, node.value, asked, is_true=True, is_part=False)


def guard_case(site: Site) -> Iterator[TextEdit]:
    """Leave a function, a round of a loop or a statement for what only failing tests have."""
    asked_before: set[str] = set()
    for statement, loop in _guarded(site.function):
        failing, passing = (
            _at(_head(statement), samples) for samples in (site.hints.failing, site.hints.passing)
        )
        if getattr(statement, "decorator_list", None):
            continue
        made = _predicates(site, statement, failing, passing)
        fresh = [asked for asked in islice(made, N_PREDICATES) if asked.text not in asked_before]
        asked_before.update(asked.text for asked in fresh)
        for asked in fresh:
            for n, action in enumerate(_actions(site, loop, failing)):
                words = f"`{brief(action)}` if `{brief(asked.text)}`"
                if edit := site.guard(statement, asked.text, action, words):
                    yield replace(edit, weight=asked.weight / (1 + n))
            if isinstance(statement, _EFFECTS):
                head = f"if {asked.opposite}:"
                if edit := site.below(statement, head, f"only `{brief(head[:-1])}`"):
                    yield replace(edit, weight=asked.weight / 2)


#: Statements without which all names are still bound.
_EFFECTS = (ast.Expr, ast.AugAssign, ast.Delete, ast.Raise)


def skip_empty(site: Site) -> Iterator[TextEdit]:
    """Leave out what is empty or None where an error passes through a comprehension."""
    kinds = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
    for node in (node for node in site.nodes if isinstance(node, kinds)):
        if node.lineno <= site.hints.line <= (node.end_lineno or 0):
            for part in node.generators:
                if isinstance(part.target, ast.Name):
                    text = f" if {part.target.id}"
                    end = site.end([part.iter, *part.ifs][-1])
                    yield site.insert(end, text, f"`{text.strip()}`", node.lineno)


def _joined(
    site: Site, test: ast.expr, asked: Predicate, *, is_true: bool, is_part: bool
) -> TextEdit:
    own = site.of(test)
    if is_true:  # a clause that holds only where a condition of one name does stands for both
        more, whole, name = f"and {asked.opposite}", asked.opposite, own.removeprefix("not ")
        enough = {f"{name} is None", f"{name} == 0"} if name != own else {f"{name} == 1"}
    else:  # or one that holds wherever that does
        more, whole, enough = f"or {asked.text}", asked.text, {f"{own} is not None"}
    if whole in enough:
        return replace(site.replace(test, whole, f"`{whole}`"), weight=asked.weight)
    loose = (ast.IfExp, ast.Lambda, ast.NamedExpr, *((ast.Or,) if is_true else ()))
    kind = test.op if isinstance(test, ast.BoolOp) else test
    text = f"({own}) {more}" if isinstance(kind, loose) else f"{own} {more}"
    either = "" if is_true else _either(test, asked.text)
    text = either or (f"({text})" if is_part else text)
    return replace(site.replace(test, text, f"`{more}`"), weight=asked.weight)


def _either(test: ast.expr, more: str) -> str:
    """Return two questions of one kind about one value as one; empty if they are others."""
    match test, ast.parse(more, mode="eval").body:
        case (
            ast.Compare(left=left, ops=[ast.Eq()], comparators=[one]),
            ast.Compare(left=other, ops=[ast.Eq()], comparators=[two]),
        ) if ast.dump(left) == ast.dump(other):
            return f"{ast.unparse(left)} in {_one_of(one, two)}"
        case (
            ast.Call(func=ast.Name(id="isinstance"), args=[left, one]),
            ast.Call(func=ast.Name(id="isinstance"), args=[other, two]),
        ) if ast.dump(left) == ast.dump(other):
            return f"isinstance({ast.unparse(left)}, {_one_of(one, two)})"
    return ""


def _one_of(*values: ast.expr) -> str:
    """Return a tuple of all values, where some may be tuples of them already."""
    parts = (value.elts if isinstance(value, ast.Tuple) else [value] for value in values)
    return f"({', '.join(map(ast.unparse, chain.from_iterable(parts)))})"


# -- places


def _conditions(function: FunctionNode) -> Iterator[tuple[ast.expr, range]]:
    """Yield the conditions of a function, each with the lines that follow if it holds."""
    for node in own_nodes(function):
        if isinstance(node, (ast.If, ast.While)):
            first, last = node.body[0], node.body[-1]
            body = range(first.lineno, (last.end_lineno or last.lineno) + 1)
            if first.lineno > (node.test.end_lineno or 0):
                yield node.test, body


def _guarded(function: FunctionNode) -> Iterator[tuple[ast.stmt, bool]]:
    """Yield the statements before which something can be asked anew; whether they are in a loop.

    These are the first ones of blocks, those behind what binds a name, and ``return``.
    """
    pending = [_Block(function.body)]
    while pending:
        block = pending.pop(0)
        binds = not block.is_asked
        for statement in block.body:
            if is_docstring(statement):
                continue
            is_first = statement is block.body[0]
            if binds or (isinstance(statement, ast.Return) and not is_first):
                yield statement, block.in_loop
            binds = isinstance(statement, _BINDS)
            if not isinstance(statement, ScopeNode):
                pending += _inside(statement, block.in_loop or isinstance(statement, LOOPS))


@dataclass(frozen=True, slots=True)
class _Block:
    """A list of statements; whether a condition stands before it that can ask instead."""

    body: list[ast.stmt]
    in_loop: bool = False
    is_asked: bool = False


def _inside(statement: ast.stmt, in_loop: bool) -> Iterator[_Block]:
    """Yield the blocks of a statement, but no ``elif``, before which no statement can stand."""
    is_if = isinstance(statement, ast.If)
    for name in ("body", "orelse", "finalbody"):
        body = getattr(statement, name, None)
        if not isinstance(body, list) or not body:
            continue
        is_inner_if = is_if and name == "orelse" and isinstance(body[0], ast.If)
        if not is_inner_if or body[0].col_offset != statement.col_offset:
            yield _Block(body, in_loop, is_asked=is_if and name == "body")
    for handler in getattr(statement, "handlers", ()):
        yield _Block(handler.body, in_loop)


def _span(test: ast.expr) -> Span:
    return test.lineno, test.end_lineno or test.lineno


def _head(statement: ast.stmt) -> Span:
    """The lines of a statement, of a block those of its condition or of what it begins with."""
    if isinstance(statement, (ast.If, ast.While)):
        return _span(statement.test)
    if isinstance(statement, (ast.For, ast.AsyncFor)):
        return _span(statement.iter)
    if isinstance(statement, (ast.With, ast.AsyncWith)):
        return _span(statement.items[0].context_expr)
    if isinstance(statement, ast.Try):
        return _head(statement.body[0])
    return statement.lineno, statement.end_lineno or statement.lineno


def _at(point: Span, samples: Sequence[Sample]) -> list[Sample]:
    first, last = point
    return [s for s in samples if s.point[0] <= first <= s.point[1] or s.point == (first, last)]


# -- predicates


def _predicates(
    site: Site, near: ast.AST, failing: Sequence[Sample], passing: Sequence[Sample]
) -> Iterator[Predicate]:
    """Yield what holds in a failing sample and in no passing one, the most natural first."""
    if not failing or not passing:
        return
    spoken = {dotted(n) for n in walk(near) if isinstance(n, (ast.Name, ast.Attribute))}
    given = parameters(site.function.args)

    def order(name: str) -> tuple[int, int, str]:
        """Return how far from the point a name is: first what it speaks of, then parameters."""
        root = name.partition(".")[0]
        place = 0 if name in spoken else 1 if root in spoken else 2 if root in given else 3
        return place + (root not in site.names), name.count("."), name

    known = set(failing[0].values).intersection(*(s.values for s in (*failing, *passing)))
    names = sorted((n for n in known if n not in {"self", "cls"}), key=order)
    made = (
        (order(name)[0] + rank, replace(asked, name=name))
        for name in names
        for rank, asked in _about(site, name, failing, passing)
    )
    certainty = len(passing) / (len(passing) + UNCERTAIN)
    seen = set()
    for rank, asked in sorted(made, key=lambda pair: pair[0]):
        if asked.text not in seen:
            seen.add(asked.text)
            yield replace(asked, weight=certainty / (1 + rank / 2))


def _about(
    site: Site, name: str, failing: Sequence[Sample], passing: Sequence[Sample]
) -> Iterator[tuple[int, Predicate]]:
    """Yield predicates of one value, each with its rank: the lower, the more natural."""
    bad, good = ([s.values[name] for s in own] for own in (failing, passing))
    is_number = all(value.number is not None for value in (*bad, *good))
    zero = Predicate(f"{name} == 0", f"{name} != 0") if is_number else None
    plain: tuple[tuple[Callable[[Value], bool], Predicate], ...] = (
        (lambda v: v.text == "None", Predicate(f"{name} is None", f"{name} is not None")),
        (
            lambda v: v.length == 0 or v.number == 0 or v.text in {"None", "False"},
            zero or Predicate(f"not {name}", name),
        ),
    )
    for rank, (holds_for, asked) in enumerate(plain):
        if any(map(holds_for, bad)) and not any(map(holds_for, good)):
            yield rank, asked
        elif not all(map(holds_for, bad)) and all(map(holds_for, good)):
            yield rank, Predicate(asked.opposite, asked.text)
    yield from enumerate(_of_classes(site, name, failing, passing), 1)
    yield from _numbers(name, bad, good)
    yield from _multiples(site, name, bad, good)
    yield from _texts(site, name, bad, good)


def _of_classes(
    site: Site, name: str, failing: Sequence[Sample], passing: Sequence[Sample]
) -> Iterator[Predicate]:
    """Yield questions for a class that all passing samples have, or a failing one alone."""
    texts = _class_texts(site.tree)
    ours, others = ([_classes(s, name) for s in own] for own in (failing, passing))
    bad = [*dict.fromkeys(kind for own in ours for kind in own)]
    for kinds, is_usual in ((others[0], True), (bad, False)):
        for kind in sorted(kinds, key=lambda kind: kind not in texts):
            asked = f"isinstance({name}, {texts.get(kind) or _beside(texts, kind)})"
            n_bad, n_good = (sum(kind in own for own in every) for every in (ours, others))
            if is_usual and n_good == len(others) and n_bad < len(ours):
                yield Predicate(f"not {asked}", asked)
                break
            if not is_usual and n_bad and not n_good:
                yield Predicate(asked, f"not {asked}")
                break


def _classes(sample: Sample, name: str) -> tuple[str, ...]:
    """The classes of a value that code may speak of: not those that a function makes."""
    known = tuple(sample.classes.get(name, ())) or (sample.values[name].type_name,)
    return tuple(kind for kind in known if all(map(str.isidentifier, kind.split("."))))


def _beside(texts: Mapping[str, str], kind: str) -> str:
    """A class that a file does not speak of, in the module that it takes most others from."""
    modules = Counter(text.rpartition(".")[0] for text in texts.values() if "." in text)
    return ".".join((*(module for module, _ in modules.most_common(1)), kind))


@lru_cache(maxsize=16)
def _class_texts(tree: ast.AST) -> dict[str, str]:
    """The classes that a file speaks of: by their names, as it writes them; built-in ones too."""
    found = dict(zip(sorted(KINDS), sorted(KINDS), strict=True))
    for node in every_node(tree):
        if isinstance(node, (ast.Name, ast.Attribute)):
            text = dotted(node)
            name = text.rpartition(".")[2]
            if name[:1].isupper() and not name.isupper() and not text.startswith("self."):
                known = found.setdefault(name, text)
                found[name] = min(known, text, key=len)
        elif isinstance(node, ast.ClassDef):
            found[node.name] = node.name
    return found


def _numbers(
    name: str, bad: Sequence[Value], good: Sequence[Value]
) -> Iterator[tuple[int, Predicate]]:
    for rank, text, values, others in (
        (2, name, [v.number for v in bad], [v.number for v in good]),
        (3, f"len({name})", [v.length for v in bad], [v.length for v in good]),
    ):
        if None in values or None in others:
            continue
        for number in range(1, MAX_NUMBER + 1):
            equal = Predicate(f"{text} == {number}", f"{text} != {number}")
            if number in values and number not in others and (number == 1 or text == name):
                yield rank, equal  # the length of this test's value says nothing
            elif set(others) == {number} and set(values) != {number}:
                yield rank, Predicate(equal.opposite, equal.text)


def _multiples(
    site: Site, name: str, bad: Sequence[Value], good: Sequence[Value]
) -> Iterator[tuple[int, Predicate]]:
    """Yield whether a number is a multiple of those by which the function divides it, or of two."""
    divisors = site.divisors.get(name, set())
    numbers, others = ([v.number for v in own if v.number is not None] for own in (bad, good))
    if len(numbers) < len(bad) or len(others) < len(good):
        return
    both = {a * b for a, b in combinations(sorted(divisors), 2)}
    for divisor in (*sorted(divisors), *sorted(both)):
        if divisor and not any(n % divisor for n in numbers) and all(n % divisor for n in others):
            yield 2, Predicate(f"{name} % {divisor} == 0", f"{name} % {divisor} != 0")


def _texts(
    site: Site, name: str, bad: Sequence[Value], good: Sequence[Value]
) -> Iterator[tuple[int, Predicate]]:
    """Yield comparisons with texts of the file, then with a few characters at the ends."""
    if any(v.type_name != "str" or v.text is None for v in (*bad, *good)):
        return
    values, others = ([ast.literal_eval(v.text or "") for v in own] for own in (bad, good))
    used = {node.attr for node in site.own(ast.Attribute)}
    known = [
        constant.value
        for node in site.compared.get(name, ())
        for constant in nodes_of(node, ast.Constant)
        if isinstance(constant.value, str) and len(constant.value) > MAX_END
    ]
    for value in dict.fromkeys(values):
        is_akin = any(value.startswith(text) or value.endswith(text) for text in known)
        if (value in _strings(site.tree) or is_akin) and value not in others:
            yield 2, Predicate(f"{name} == {value!r}", f"{name} != {value!r}")
        for n in range(1, min(MAX_END, len(value)) + 1):
            for method, end in (("endswith", value[-n:]), ("startswith", value[:n])):
                is_usual = method in used
                is_ending = is_usual and method == "endswith"  # as of a plural
                if end.isalnum() and not (is_ending or end in _strings(site.tree)):
                    continue  # letters of this test's value
                if not any(getattr(other, method)(end) for other in others):
                    asked = f"{name}.{method}({end!r})"
                    yield (3 if is_usual else 6) + n, Predicate(asked, f"not {asked}")


@lru_cache(maxsize=16)
def _strings(tree: ast.AST) -> frozenset[str]:
    constants = (node.value for node in every_node(tree) if isinstance(node, ast.Constant))
    return frozenset(value for value in constants if isinstance(value, str))


# -- what is done instead


def _actions(site: Site, in_loop: bool, failing: Sequence[Sample]) -> list[str]:
    """Return what may be done in the case that is asked for, the likeliest first."""
    raised = [site.of(n) for n in site.own(ast.Raise) if n.exc is not None]
    found = raised if site.hints.is_lenient else []
    found += ["continue"] if in_loop else []
    is_generator = any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in site.nodes)
    found += ["return"] if is_generator else _returned(site, failing)
    return list(dict.fromkeys(found if site.hints.is_lenient else (*found, *raised)))[:N_ACTIONS]


def _returned(site: Site, failing: Sequence[Sample]) -> Iterable[str]:
    values = [n.value for n in site.own(ast.Return)]
    if not any(values):
        return ["return"]
    wanted = [repr(value) for _, value in site.hints.sides]
    same = {
        name: None
        for sample in failing
        for name, value in sample.values.items()
        if value.text is not None and value.text in wanted and value.text not in PLAIN_VALUES
    }
    plain = (ast.Constant, ast.Name, ast.List, ast.Dict, ast.Tuple)
    written = [site.of(v) for v in values if isinstance(v, plain)]
    bound = {*parameters(site.function.args), *BUILT_IN}
    usable = [t for t in written if not t.isidentifier() or t in bound or t in failing[0].values]
    told = [text for text in wanted if text in PLAIN_VALUES]
    kinds = [text for v in values if v for text in _OF_KIND.get(kind_of(v), ())]
    texts = dict.fromkeys((*told, *same, *usable, *kinds, "None"))
    return [f"return {text}" for text in texts if "\n" not in text]
