"""Refuses fixes that silence a check or know the test's answer, and doubts those that empty code.

Reference:
    docs/fixes.md, sections "What is never proposed" and "Passes, but probably wrong".
"""

from __future__ import annotations

import ast
import builtins
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, zip_longest
from types import MappingProxyType

from pytest_bayesloc.domain.recording import RESULT
from pytest_bayesloc.domain.source import tree_of
from pytest_bayesloc.syntax.expressions import (
    KINDS,
    LEAST_ENTRIES,
    TABLES,
    entries_of,
    extremes,
    kind_of,
)
from pytest_bayesloc.syntax.nodes import (
    argument_names,
    children,
    functions_in,
    nodes_of,
    own_nodes,
    walk,
)
from pytest_bayesloc.syntax.text import brief

WIDTH = 60  # of code in a reason
NUMBER = re.compile(r"\d+(\.\d+)?")  # as a text
_ASSERT = re.compile(r"\bassert\b")
_LEAVES = (ast.Return, ast.Break, ast.Continue, ast.Raise)
BROAD = frozenset({"", "BaseException", "Exception"})
_EQUAL = (ast.Eq, ast.NotEq, ast.In, ast.NotIn, ast.Is, ast.IsNot)
#: Values that code compares with whatever the test is about.
_PLAIN = frozenset({"None", "True", "False", "Ellipsis", "0", "1", "2", "-1", "''", "b''", "0.0"})


def unsound(
    before: str,
    after: str,
    tests: Sequence[str] = (),
    code: str = "",
    types: Mapping[str, frozenset[str]] = MappingProxyType({}),
) -> str:
    """Says why ``after`` is no fix of ``before``; empty if nothing speaks against it.

    Args:
        before: Text of a Python file that is no test, or of a function of it.
        after: The same with a change.
        tests: Texts of failing tests and of what they are given, each by itself.
        code: Text of the whole file: values that it has anywhere are its own.
        types: Of a function the types that its parameters and results were seen to have.
    """
    old, new = tree_of(before), tree_of(after)
    if new is None:
        return "it does not parse"
    own = frozenset(_literals(code)) if code else frozenset()
    values = frozenset(text for test in tests for text in _literals(test))
    if old is None:  # all that is known of it are its words
        if len(_ASSERT.findall(before)) > len(_ASSERT.findall(after)):
            return "it takes away a check"
        fresh = (text for text in _telling(new) if text.strip("'\"") not in before)
        known = next((text for text in fresh if text in values), "")
        return f"it knows a value of the test: {brief(known, WIDTH)}" if known else ""
    return next(_reasons(old, new, values - own), "") or meaningless(old, new, types)


def _reasons(old: ast.AST, new: ast.AST, values: frozenset[str]) -> Iterator[str]:
    if lost := _asserts(old) - _asserts(new):
        yield f"it takes away the check `{brief(next(iter(lost))[0], WIDTH)}`"
    before, now = _swallowing(old), _swallowing(new)
    if now.total() > before.total():
        yield f"it swallows errors: {brief(next(iter(now - before)), WIDTH)}"
    if caught := _wider(old, new):
        yield f"it catches more: {caught}"
    # What the code compares with or returns now, and did not before.
    fresh = Counter(_telling(new)) - Counter(_telling(old)) - Counter(_entries_added(old, new))
    if known := next((text for text in fresh if text in values), ""):
        yield f"it knows a value of the test: {brief(known, WIDTH)}"
    if _spared(new) - _spared(old):
        yield "it gives `self` a default"


def meaningless(old: ast.AST, new: ast.AST, types: Mapping[str, frozenset[str]]) -> str:
    """Says why a change decides or computes nothing; empty if nothing says so.

    The trees are of functions before and after it; the types are those of `unsound`.
    """
    if empty := _decided(new) - _decided(old):
        return f"`{brief(min(empty), WIDTH)}` is the same whatever it is given"
    names = {name: min(kinds) for name, kinds in types.items() if len(kinds) == 1}
    before = {kind_of(value, names) for value in _returns(old)}
    is_truth = {"bool"} in (before, types.get(RESULT))
    is_content = _SIZED.issuperset(types.get(RESULT, {""}))
    known = set(map(ast.unparse, _returns(old)))
    for value in _returns(new):
        text, kind = ast.unparse(value), kind_of(value, names)
        said = f"it returns `{brief(text, WIDTH)}` where"
        if is_truth and text not in known and kind not in {"", "bool", "NoneType"}:
            return f"{said} a truth value is returned"  # nearly any text or list is true
        if is_content and text not in known and kind == "bool":
            return f"{said} no truth value was returned"
    return ""


_SIZED = frozenset({"bytes", "dict", "list", "set", "str", "tuple"})


def _decided(tree: ast.AST) -> Counter[str]:
    """The comparisons, differences, quotients and conditions that have one result."""
    found: Counter[str] = Counter()
    for node in walk(tree):
        match node:
            case ast.Compare(
                left=ast.Call(func=ast.Name(id="len")),
                ops=[ast.GtE() | ast.Lt()],
                comparators=[ast.Constant(value=0)],
            ):
                is_decided = True  # no length is below 0
            case ast.Compare(left=left, comparators=[right]):
                is_decided = _is_same(left, right)
            case ast.BinOp(left=left, op=operator, right=right):
                is_decided = isinstance(operator, _CANCELS) and _is_same(left, right)
            case ast.BoolOp(op=operator, values=values):
                said = set(map(ast.dump, values))
                filled = _filled(values) if isinstance(operator, ast.Or) else ()
                is_decided = len(said) < len(values) or not said.isdisjoint(filled)
                # As ``x and 0``; ``x or 1`` has a default.
                last = values[-1]
                is_false = isinstance(last, ast.Constant) and not last.value
                is_decided |= is_false and isinstance(operator, ast.And)
            case ast.Call(func=ast.Name(id="min" | "max"), args=[left, right]):
                is_decided = _is_same(left, right)
            case _:
                continue
        if is_decided:
            found[ast.unparse(node)] += 1
    return found


def _filled(values: Sequence[ast.expr]) -> Iterator[str]:
    """Yield, as trees, where ``values`` look for something: ``or`` makes the search idle."""
    for value in values:
        match value:
            case ast.Compare(ops=[ast.In()], comparators=[container]):
                yield ast.dump(container)


_CANCELS = (ast.Sub, ast.Div, ast.FloorDiv, ast.Mod, ast.BitAnd, ast.BitOr, ast.BitXor)


def _is_same(left: ast.expr, right: ast.expr) -> bool:
    """Whether two operands are written alike, and are no numbers: of those it is arithmetic."""
    return not isinstance(left, ast.Constant) and ast.dump(left) == ast.dump(right)


def _spared(tree: ast.AST) -> Counter[str]:
    """The functions whose first parameter is the object itself and has a default."""
    found = Counter[str]()
    for function in functions_in(tree):
        given = [*function.args.posonlyargs, *function.args.args]
        if given and given[0].arg == "self" and len(function.args.defaults) == len(given):
            found[function.name] += 1
    return found


def doubt(before: str, after: str, code: str = "") -> str:
    """Says why a change is probably wrong although tests pass with it; empty if nothing does.

    Args:
        before: Text of a Python file that is no test, or of a function of it.
        after: The same with a change.
        code: Text of the whole file.
    """
    old, new = tree_of(before), tree_of(after)
    if old is None or new is None:
        return ""
    reasons = (
        _emptied(old, new),
        _misled(old, new, tree_of(code or before) or old),
        _mistyped(old, new),
    )
    return next(chain.from_iterable(reasons), "")


def emptied(before: str, after: str) -> str:
    """Says what a change no longer decides, checks or computes; empty if that is nothing.

    No number of tests outweighs it: they pass because less is done. The arguments are those of
    `doubt`.
    """
    old, new = tree_of(before), tree_of(after)
    return "" if old is None or new is None else next(_emptied(old, new), "")


def _emptied(old: ast.AST, new: ast.AST) -> Iterator[str]:
    """Says what is constant now, and which check is gone."""
    pairs = list(zip_longest(_returns(old), _returns(new)))
    if None not in chain.from_iterable(pairs):  # a return that was added is a case of its own
        for before, now in pairs:
            if isinstance(now, ast.Constant) and not isinstance(before, ast.Constant):
                yield f"it returns `{brief(ast.unparse(now), WIDTH)}` whatever it is given"
    if "bool" in _calls(new) - _calls(old):
        yield "`bool()` only hides what was wrong"
    if always := _of_one_result(new) - _of_one_result(old):
        yield f"it returns `{brief(min(always), WIDTH)}` whatever it is given"
    if fixed := _constant_conditions(new) - _constant_conditions(old):
        yield f"a condition is always {next(iter(fixed)).lower()}"
    refused, still = _refusals(old), _refusals(new)
    if still.total() < refused.total():
        yield f"it no longer raises `{brief(min(refused - still), WIDTH)}`"


def _of_one_result(tree: ast.AST) -> Counter[str]:
    """The constants that functions of several ``return`` statements return at each of them."""
    found: Counter[str] = Counter()
    for function in functions_in(tree):
        values = [n.value for n in own_nodes(function) if isinstance(n, ast.Return)]
        texts = {ast.unparse(value) for value in values if isinstance(value, ast.Constant)}
        if len(values) > 1 == len(texts) and all(isinstance(v, ast.Constant) for v in values):
            found.update(texts)
    return found


def _refusals(tree: ast.AST) -> Counter[str]:
    """The exceptions that are raised, but for what was caught there and is raised again."""
    raised = (node.exc for node in nodes_of(tree, ast.Raise))
    return Counter(ast.unparse(exc) for exc in raised if exc is not None)


def _misled(old: ast.AST, new: ast.AST, whole: ast.AST) -> Iterator[str]:
    """Says what of the data flow is cut off, and what makes any value fit."""
    if lost := (loaded(old) - loaded(new)) & bound(old) & bound(new):
        yield f"it no longer uses `{min(lost)}`"
    if "abs" in _calls(new) - _calls(old):
        yield "`abs()` only hides what was wrong"
    encoded = _encoded(new) - _encoded(old)
    sized = (n for n in nodes_of(new, ast.Call) if n.args and ast.unparse(n.func) == "len")
    if measured := encoded & {ast.unparse(n.args[0]) for n in sized}:
        yield f"it encodes `{min(measured)}`, whose letters are counted elsewhere"
    coroutines = {n.name for n in nodes_of(whole, ast.AsyncFunctionDef)}
    if (_negated(new) - _negated(old)) & coroutines:
        yield "it negates a coroutine that nobody awaits"
    if doubled := _doubled(new) - _doubled(old):
        yield f"it adds `{brief(min(doubled), WIDTH)}` to itself"
    if begun := _beginnings(new) - _beginnings(old):
        yield f"`{min(begun)}` is beyond all items of these tests, but not of others"


def _beginnings(tree: ast.AST) -> set[str]:
    """The numbers with which the search for a largest or smallest item begins."""
    searches = (start for function in functions_in(tree) for start, _ in extremes(function))
    return {ast.unparse(start) for start in searches}


def _doubled(tree: ast.AST) -> set[str]:
    """The expressions that are added to themselves."""
    sums = (node for node in nodes_of(tree, ast.BinOp) if isinstance(node.op, ast.Add))
    sides = ((ast.unparse(node.left), ast.unparse(node.right)) for node in sums)
    return {left for left, right in sides if left == right}


#: A type that may stand where another is declared.
_ACCEPTED = frozenset({("int", "float"), ("bool", "int"), ("bool", "float")})


def _mistyped(old: ast.AST, new: ast.AST) -> Iterator[str]:
    """Says what is returned against what is declared."""
    known = set(map(ast.unparse, _returns(old)))
    for function in functions_in(new):
        declared = "" if function.returns is None else ast.unparse(function.returns)
        if declared not in KINDS:
            continue
        kinds = ((value, kind_of(value)) for value in _returns(function))
        others = ((value, kind) for value, kind in kinds if kind not in {"", declared})
        wrong = (value for value, kind in others if (kind, declared) not in _ACCEPTED)
        text = next((t for t in map(ast.unparse, wrong) if t not in known), "")
        if text:
            yield f"it returns `{brief(text, WIDTH)}`, and `{declared}` is declared"


def tuned(before: str, after: str, *, small: int = 0) -> str:
    """Says which number is another one that nobody would have mistaken for it; empty if none is.

    Args:
        before: Text of a Python file, or of a function of it.
        after: The same with another constant.
        small: Up to which one more or less is no slip: such numbers fit by chance.
    """
    old, new = (tree_of(text) for text in (before, after))
    pairs = zip(_numbers(old), _numbers(new), strict=False) if old and new else ()
    others = (pair for pair in pairs if pair[0] != pair[1])
    pair = next((pair for pair in others if not _is_slip(*pair, small)), None)
    return "" if pair is None else f"some number fits one test: {pair[1]!r} instead of {pair[0]!r}"


def _numbers(tree: ast.AST) -> list[float]:
    """Return the numbers in ``tree``, those that are written as texts for ``Decimal`` as well."""
    constants = [node.value for node in nodes_of(tree, ast.Constant)]
    written = (float(c) if isinstance(c, str) and NUMBER.fullmatch(c) else c for c in constants)
    return [n for n in written if isinstance(n, (int, float)) and not isinstance(n, bool)]


def _is_slip(one: float, other: float, small: int) -> bool:
    """Whether one number is easily written for another.

    One more or less, where one is not ``small``; a digit lost, doubled or twice, digits exchanged,
    the point at another place.
    """
    if abs(one - other) == 1 and max(abs(one), abs(other)) > small:
        return True
    a, b = (str(n).removesuffix(".0").replace("-", "") for n in (one, other))
    if sorted(a) == sorted(b) or a.replace(".", "").strip("0") == b.replace(".", "").strip("0"):
        return True
    short, long = sorted((a, b), key=len)
    is_lost = len(long) == len(short) + 1
    return is_lost and any(long[:i] + long[i + 1 :] == short for i in range(len(long)))


def _returns(tree: ast.AST) -> list[ast.expr]:
    """Values of ``return`` statements, in the order of the text."""
    found = sorted(nodes_of(tree, ast.Return), key=lambda node: (node.lineno, node.col_offset))
    return [node.value for node in found if node.value is not None]


def _constant_conditions(tree: ast.AST) -> Counter[str]:
    found: list[ast.expr] = []
    for node in walk(tree):
        if isinstance(node, (ast.If, ast.IfExp)):
            found.append(node.test)
        elif isinstance(node, ast.BoolOp):  # of which one clause may decide all
            found += node.values[:-1]
        elif isinstance(node, ast.comprehension):
            found += node.ifs
    tests = (test for test in found if isinstance(test, ast.Constant))
    return Counter(repr(bool(test.value)) for test in tests)


def loaded(tree: ast.AST) -> set[str]:
    """The names that are read."""
    return {node.id for node in nodes_of(tree, ast.Name) if isinstance(node.ctx, ast.Load)}


def bound(tree: ast.AST) -> set[str]:
    """The parameters and variables of functions, but for the object itself."""
    found = argument_names(tree)
    found |= {node.id for node in nodes_of(tree, ast.Name) if isinstance(node.ctx, ast.Store)}
    return found - {"self", "cls", "_"}


def _calls(tree: ast.AST) -> set[str]:
    calls = nodes_of(tree, ast.Call)
    return {call.func.id for call in calls if isinstance(call.func, ast.Name)}


def _encoded(tree: ast.AST) -> set[str]:
    """Returns what ``encode`` is called on."""
    used = (node.func for node in nodes_of(tree, ast.Call))
    owners = (f.value for f in used if isinstance(f, ast.Attribute) and f.attr == "encode")
    return set(map(ast.unparse, owners))


def _negated(tree: ast.AST) -> set[str]:
    """The names of functions and methods whose result is negated as it is."""
    operands = (node.operand for node in nodes_of(tree, ast.UnaryOp))
    calls = (node for node in operands if isinstance(node, ast.Call))
    return {ast.unparse(call.func).rpartition(".")[2] for call in calls}


def _asserts(tree: ast.AST, around: tuple[str, ...] = ()) -> Counter[tuple[str, tuple[str, ...]]]:
    """Each assert with the kinds of statements around it: one that moved may not be reached."""
    found: Counter[tuple[str, tuple[str, ...]]] = Counter()
    for name, value in ast.iter_fields(tree):
        is_over = False
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST):
                continue
            here = (*around, "dead") if is_over else around
            if isinstance(child, ast.Assert):
                found[ast.unparse(child), here] += 1
            is_block = isinstance(child, ast.stmt) and hasattr(child, "body")
            inner = (*here, f"{type(child).__name__}.{name}") if is_block else here
            found += _asserts(child, inner)
            is_over |= isinstance(child, _LEAVES)
    return found


def _swallowing(tree: ast.AST) -> Counter[str]:
    """The handlers that don't raise again, and what leaves a ``finally`` otherwise."""
    found: Counter[str] = Counter()
    for node in walk(tree):
        if isinstance(node, ast.ExceptHandler):
            if not any(isinstance(n, ast.Raise) for n in walk(node)):
                found[f"except {', '.join(_names(node.type))}".strip()] += 1
        elif isinstance(node, ast.Try):
            left = (n for part in node.finalbody for n in walk(part))
            found.update("finally" for n in left if isinstance(n, _LEAVES[:3]))
    return found


def _caught(tree: ast.AST) -> Counter[str]:
    """The names of exceptions that are caught, by ``except`` and by ``suppress``."""
    found: Counter[str] = Counter()
    for node in walk(tree):
        if isinstance(node, ast.ExceptHandler):
            found.update(_names(node.type))
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("suppress"):
            found.update(name for argument in node.args for name in _names(argument))
    return found


def _names(caught: ast.expr | None) -> list[str]:
    """Returns the names in an ``except``; a bare one gives the empty string."""
    if caught is None:
        return [""]
    return list(map(ast.unparse, caught.elts if isinstance(caught, ast.Tuple) else [caught]))


def _wider(old: ast.AST, new: ast.AST) -> str:
    """Names what is newly caught; one exception in the place of another is not wider.

    One more for which something is done is what fixes of real bugs do.
    """
    before, after = _caught(old), _caught(new)
    added, removed = after - before, before - after
    idle = (n for n in nodes_of(new, ast.ExceptHandler) if isinstance(n.body[0], ast.Pass))
    ignored = {name for handler in idle for name in _names(handler.type)}
    for name in added:
        is_above = any(_is_above(name, other) for other in removed)
        is_beside = before and added.total() == 1 and name not in ignored
        if name in BROAD or is_above or (added.total() > removed.total() and not is_beside):
            return name or "everything"
    return ""


def _is_above(name: str, other: str) -> bool:
    """Whether catching ``name`` catches ``other`` as well."""
    above, below = (getattr(builtins, text, None) for text in (name, other))
    if not isinstance(above, type) or not isinstance(below, type):
        return False
    return above is not below and issubclass(below, above)


def _telling(tree: ast.AST) -> Iterator[str]:
    """The constants that are compared for being equal, are cases, in tables, or returned."""
    for node in walk(tree):
        told: list[ast.AST] = []
        if isinstance(node, ast.Compare) and any(isinstance(op, _EQUAL) for op in node.ops):
            told = [node.left, *node.comparators]
        elif isinstance(node, ast.MatchValue):
            told = [node.value]
        elif isinstance(node, ast.Dict):  # a table of answers
            told = [part for part in (*node.keys, *node.values) if part is not None]
        elif isinstance(node, (ast.Return, ast.IfExp)):
            told = [n for n in children(node) if not isinstance(n, ast.Compare)]
        for part in told:
            yield from _constants(part)


def _entries_added(old: ast.AST, new: ast.AST) -> Iterator[str]:
    """The constant that a table of several has one more of: as likely forgotten as made to fit."""
    tables = [nodes_of(tree, TABLES) for tree in (old, new)]
    for before, after in zip(*tables, strict=False):
        entries, more = entries_of(before), entries_of(after)
        is_one_more = len(more) == len(entries) + 1 and len(entries) >= LEAST_ENTRIES
        if is_one_more and list(map(ast.dump, more[:-1])) == list(map(ast.dump, entries)):
            text = repr(more[-1].value)
            yield from [text] * (2 if isinstance(after, ast.Dict) else 1)


def _constants(node: ast.AST) -> Iterator[str]:
    """The literals of an expression, where it is nothing but literals."""
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        for item in node.elts:
            yield from _constants(item)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant):
        yield ast.unparse(node)
    elif isinstance(node, ast.Constant):
        yield repr(node.value)


@lru_cache(maxsize=64)  # each candidate asks
def _literals(test: str) -> frozenset[str]:
    """The literals of a text that are worth knowing."""
    indent = "if True:\n" if test[:1].isspace() else ""  # a method by itself
    tree = tree_of(indent + test)
    if tree is None:
        return frozenset()
    found = {text for node in walk(tree) for text in _constants(node)}
    return frozenset(found - _PLAIN)
