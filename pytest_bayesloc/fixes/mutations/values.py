"""Mutations of names and values: variables, attributes, arguments, conversions, texts, bounds."""

from __future__ import annotations

import ast
import difflib
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, combinations, zip_longest
from string import Formatter
from typing import Any

from pytest_bayesloc.fixes.mutations.calls import (
    MISSING,
    N_OTHERS,
    TELL_APART,
    at_hand,
    attribute_of,
    nearest,
    public_names,
    renamed,
)
from pytest_bayesloc.fixes.site import Site
from pytest_bayesloc.syntax.expressions import RESIZING, extremes, kind_of
from pytest_bayesloc.syntax.nodes import BUILT_IN, called_name, every_node, nodes_of, walk
from pytest_bayesloc.syntax.text import TextEdit, brief

N_NEAR = 3  # of them, those that were bound last
ALIKE = 0.6  # of difflib


def other_name(site: Site) -> Iterator[TextEdit]:
    """Use another variable of the function, or a name of the file that looks alike.

    For what is unpacked as arguments, first the parameter that takes such arguments.
    """
    given = site.function.args
    unpacked: dict[int, list[str]] = {}
    for call in site.own(ast.Call):
        starred = [(a.value, given.vararg) for a in call.args if isinstance(a, ast.Starred)]
        named = [(k.value, given.kwarg) for k in call.keywords if k.arg is None]
        for value, parameter in (*starred, *named):
            if isinstance(value, ast.Name) and parameter and parameter.arg != value.id:
                unpacked[id(value)] = [parameter.arg]
    for node in site.own(ast.Name):
        if isinstance(node.ctx, ast.Load):
            for name in dict.fromkeys((*unpacked.get(id(node), ()), *_others(node, site))):
                yield site.replace(node, name, f"`{node.id}` to `{name}`")


def item_of_loop(site: Site) -> Iterator[TextEdit]:
    """Use the variable of a loop for an item of what it goes over, or for all of that."""
    own = set(site.nodes)
    for loop in site.own(ast.For):
        if isinstance(loop.target, ast.Name) and isinstance(loop.iter, (ast.Name, ast.Attribute)):
            name, whole = loop.target.id, ast.dump(loop.iter)
            inside = (n for part in loop.body for n in nodes_of(part, ast.expr))
            for node in (n for n in inside if n in own):
                inner = node.value if isinstance(node, ast.Subscript) else node
                if ast.dump(inner) == whole and isinstance(getattr(node, "ctx", None), ast.Load):
                    yield site.replace(node, name, f"`{brief(site.of(node))}` to `{name}`")


def copy_looped(site: Site) -> Iterator[TextEdit]:
    """Go over a copy of a collection that the loop changes."""
    for loop in site.own(ast.For):
        match loop.iter:
            case ast.Call(func=ast.Attribute(value=whole, attr="keys" | "values" | "items")):
                pass
            case whole:
                pass
        inside = (node for part in loop.body for node in walk(part))
        if any(ast.dump(whole) == ast.dump(node) for node in filter(None, map(_changed, inside))):
            said = site.of(loop.iter)
            yield site.replace(
                loop.iter, f"list({said})", f"a copy of `{brief(said)}` is gone over"
            )


def _changed(node: ast.AST) -> ast.expr | None:
    """The collection of which ``node`` takes items, or to which it adds some."""
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr=name)) if name in RESIZING:
            return owner
        case ast.Delete(targets=[ast.Subscript(value=owner)]):
            return owner
    return None


def _others(node: ast.Name, site: Site) -> list[str]:
    """The names that look alike, then the function's own: like it, or bound shortly before.

    A function stands for functions alone, and a variable for variables of the same type, where
    that was seen, and no error says that the type is wrong.
    """
    name, functions = node.id, site.function_names
    if name not in site.visible and name not in site.own_names:
        return _alike(name, site.visible)
    if name not in site.own_names:  # of the file: what looks alike is as good as it gets
        known = [n for n in site.visible if (n in functions) == (name in functions)]
        return _alike(name, [n for n in known if n not in site.own_names])
    alike = _alike(name, site.visible - functions)
    bound = {n.id: n.lineno for n in site.own(ast.Name) if isinstance(n.ctx, ast.Store)}
    own = [other for other in site.bound_before(node.lineno) if other != name]
    near = [other for other in own if bound.get(other, node.lineno) < node.lineno]
    near.sort(key=lambda other: -bound[other])
    both = chain.from_iterable(zip_longest(nearest(name, own), near[:N_NEAR]))
    found = [n for n in dict.fromkeys((*alike, *both)) if n is not None]
    return [other for other in found if site.is_alike(name, other, node.lineno)][:N_OTHERS]


def _alike(name: str, known: Collection[str]) -> list[str]:
    return _closest(name, frozenset(known) - {name})


@lru_cache(maxsize=1024)
def _closest(name: str, known: frozenset[str]) -> list[str]:
    return difflib.get_close_matches(name, sorted(known), n=3, cutoff=ALIKE)


def other_attribute(site: Site) -> Iterator[TextEdit]:
    """Use another attribute of ``self``, or one that the file uses of the same object.

    For a method of ``self`` also one whose name is like the function's own.
    """
    used = _attributes_used(site.tree)
    called = {id(node.func) for node in site.own(ast.Call)}
    used_of_it = {id(node.value): node.attr for node in site.own(ast.Attribute)}
    for node in site.own(ast.Attribute):
        if not isinstance(node.ctx, ast.Load):
            continue
        base = ast.unparse(node.value)
        near = nearest(node.attr, used.get(base, []))
        if base == "self":  # its values for a value, methods for a method
            methods = site.class_methods
            own = (name for name in site.class_names if not name.startswith("__"))
            known = [name for name in own if (name in methods) == (node.attr in methods)]
            near = nearest(node.attr, known)
            if id(node) in called:  # as ``add_rows`` calls ``add_row``
                rest = set(known) - {node.attr, site.function.name}
                near = [*dict.fromkeys((*near, *_alike(site.function.name, rest)))]
        elif id(node) in called:  # other methods do other things
            others = public_names(at_hand(site, node.value))
            near = nearest(node.attr, _alike(node.attr, (*used.get(base, ()), *others)))
        said = f"{base}.{node.attr}"
        same = [name for name in near if site.is_alike(said, f"{base}.{name}", node.lineno)]
        yield from renamed(site, node, same, used_of_it.get(id(node), ""))


@lru_cache(maxsize=16)
def _attributes_used(tree: ast.AST) -> dict[str, list[str]]:
    """Per expression of the file, the attributes that are used of it."""
    used: dict[str, list[str]] = {}
    for node in every_node(tree):
        if isinstance(node, ast.Attribute):
            used.setdefault(ast.unparse(node.value), []).append(node.attr)
    return used


def whole_span(site: Site) -> Iterator[TextEdit]:
    """Take all of a span of time, not its part below a day; turn a moment to another time zone."""
    for node in site.own(ast.Attribute):
        if node.attr == "seconds" and isinstance(node.ctx, ast.Load):
            end = site.end(node)
            words = "`.seconds` to `.total_seconds()`"
            yield site.cut(end - len(node.attr), end, "total_seconds()", words, node.lineno)
    for call in site.own(ast.Call):
        match call:
            case ast.Call(
                func=ast.Attribute(attr="replace") as called,
                args=[],
                keywords=[ast.keyword(arg="tzinfo", value=zone)],
            ):
                start, made = site.end(called) - len(called.attr), f"astimezone({site.of(zone)})"
                yield site.cut(start, site.end(call), made, f"`.{made}`", call.lineno)


CONVERSIONS = ("str", "int", "list", "tuple", "sorted", "set", "float", "bool", "dict", "abs")
COLLECTIONS = ("list", "tuple", "sorted", "set", "dict")
METHODS = ("copy()", "strip()", "lower()", "encode()", "decode()", "items()")
_TEXTS = frozenset({"bytes", "str"})
_SIZED = frozenset({"dict", "frozenset", "list", "set", "tuple", *_TEXTS})
_PLAIN = frozenset({"bool", "number", *_SIZED})
#: What they can be asked of; of all plain values, where nothing is said.
TAKEN: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("list", "tuple", "sorted", "set"), _SIZED),
    **dict.fromkeys(("int", "float"), frozenset({"bool", "number", *_TEXTS})),
    **dict.fromkeys(("strip()", "lower()"), _TEXTS),
    "abs": frozenset({"bool", "number"}),
    "dict": _SIZED - _TEXTS,
    "copy()": frozenset({"dict", "list", "set"}),
    "encode()": frozenset({"str"}),
    "decode()": frozenset({"bytes"}),
    "items()": frozenset({"dict"}),
}
EXCEPTIONS = (
    "ValueError",
    "TypeError",
    "KeyError",
    "IndexError",
    "AttributeError",
    "LookupError",
    "RuntimeError",
    "NotImplementedError",
    "StopIteration",
    "OSError",
)
N_TEXTS = 4
MAX_TEXT = 80  # characters


def convert(site: Site) -> Iterator[TextEdit]:
    """Convert or copy what is returned, assigned or passed on."""
    for node, conversions in _used(site):
        if kind_of(node) == "bool":  # of which any text, and any list of one, is true
            continue
        text, kinds = site.of(node), site.failing_types.get(ast.unparse(node), frozenset())
        for name in conversions:
            if _may_take(name, kinds) and not text.startswith(f"{name}("):
                words = f"`{name}()` around `{brief(text, 30)}`"
                yield site.replace(node, f"{name}({text})", words)
        real = at_hand(site, node)
        for method in METHODS if _is_plain(node) else ():
            is_there = attribute_of(real, method.removesuffix("()")) is not MISSING
            is_there = is_there and _may_take(method, kinds)
            if is_there and not text.endswith(f".{method}"):
                words = f"`.{method}` behind `{brief(text, 30)}`"
                yield site.replace(node, f"{text}.{method}", words)


def _may_take(conversion: str, kinds: frozenset[str]) -> bool:
    """Whether a conversion makes something else of values of the types that were seen."""
    if not kinds or not kinds <= _PLAIN:
        return True
    is_same = kinds == {conversion} and conversion in {"bool", "str", "tuple"}
    return not is_same and not kinds.isdisjoint(TAKEN.get(conversion, _PLAIN))


def _used(site: Site) -> Iterator[tuple[ast.expr, Sequence[str]]]:
    """Expressions that go somewhere, each with what it may be converted by.

    They are returned or assigned as a whole, passed, operands, or gone over.
    """
    for node in site.nodes:
        used: list[ast.expr] = []
        if isinstance(node, (ast.Return, ast.Assign, ast.AugAssign)) and node.value is not None:
            used = [] if isinstance(node.value, ast.Lambda) else [node.value]
        elif isinstance(node, ast.Call) and called_name(node) not in TELL_APART:
            used = [a for a in node.args if isinstance(a, (ast.Name, ast.Attribute))]
        elif isinstance(node, ast.BinOp):
            used = [side for side in (node.left, node.right) if _is_plain(side)]
        elif isinstance(node, ast.Compare):
            used = [side for side in (node.left, *node.comparators) if _is_plain(side)]
        elif isinstance(node, (ast.For, ast.comprehension)):
            yield node.iter, COLLECTIONS
        yield from ((value, CONVERSIONS) for value in used)


def _is_plain(node: ast.expr) -> bool:
    return isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call))


def other_key(site: Site) -> Iterator[TextEdit]:
    """Sort by a number that a text holds, by a text whatever its case, or the other way round."""
    for keyword in (word for call in site.own(ast.Call) for word in call.keywords):
        match keyword:
            case ast.keyword(arg="key", value=ast.Lambda(body=body)) if _is_plain(body):
                said = site.of(body)
                for made in (f"int({said})", f"float({said})", f"{said}.lower()", f"-{said}"):
                    yield site.replace(body, made, f"sorted by `{brief(made)}`")


def keep_order(site: Site) -> Iterator[TextEdit]:
    """Drop repeated items in the order in which they come, where a set has none."""
    for node in site.own(ast.Call):
        match node:
            case ast.Call(func=ast.Name(id="set"), args=[items], keywords=[]):
                made = f"dict.fromkeys({site.of(items)})"
                yield site.replace(node, made, f"`{brief(made)}`")


def same_case(site: Site) -> Iterator[TextEdit]:
    """Write a text that is compared in the case of what it is compared with."""
    for node in site.own(ast.Compare):
        match node:
            case ast.Compare(left=left, ops=[_], comparators=[other]):
                known = [n.value for n in nodes_of(other, ast.Constant) if isinstance(n.value, str)]
                case = {"upper" if k.isupper() else "lower" if k.islower() else "" for k in known}
                if case in ({"upper"}, {"lower"}) and _is_plain(left):
                    method = f".{case.pop()}()"
                    text = site.of(left)
                    if not text.endswith(method):
                        words = f"`{method}` behind `{brief(text, 30)}`"
                        yield site.replace(left, f"{text}{method}", words)


def fill_in(site: Site) -> Iterator[TextEdit]:
    """Make a text that names variables in braces one that they are filled into."""
    usable = site.visible | BUILT_IN
    for node in site.own(ast.Constant):
        if isinstance(node.value, str) and (names := _in_braces(node.value)) and names <= usable:
            text = _STRING.sub(lambda m: f"f{m[0]}" if "{" in m[0] else m[0], site.of(node))
            yield site.replace(node, text, f"{', '.join(sorted(names))} filled in")


def _in_braces(text: str) -> set[str]:
    """The variables that a template names; none if it is none."""
    try:
        fields = [field for _, field, _, _ in Formatter().parse(text) if field]
    except ValueError:
        return set()
    return {re.split(r"[.\[]", field)[0] for field in fields}


_STRING = re.compile(r"""(?<![\w'"])(?:'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")""")


def one_tuple(site: Site) -> Iterator[TextEdit]:
    """Make a value a tuple of one, where it fills a template or stands beside another tuple."""
    for node in site.nodes:
        match node:
            case ast.BinOp(op=ast.Mod(), right=(ast.Name() | ast.Attribute()) as value):
                parts: list[ast.expr] = [value]
            case ast.Call(args=given) if any(isinstance(n, ast.Tuple) for n in given):
                parts = [n for n in given if isinstance(n, (ast.Name, ast.Constant))]
            case _:
                continue
        for part in parts:
            yield site.replace(part, f"({site.of(part)},)", f"`({brief(site.of(part), 30)},)`")


def drop_conversion(site: Site) -> Iterator[TextEdit]:
    """Leave out a conversion."""
    for node in site.own(ast.Call):
        match node:
            case ast.Call(func=ast.Name(id=name), args=[part], keywords=[]) if name in CONVERSIONS:
                said = site.of(part)
                yield site.replace(node, said if _is_plain(part) else f"({said})", f"no `{name}()`")
            case ast.Call(func=ast.Attribute(value=part, attr=name), args=[], keywords=[]):
                if f"{name}()" in METHODS:
                    yield site.replace(node, site.of(part), f"no `.{name}()`")


def other_text(site: Site) -> Iterator[TextEdit]:
    """Use a string of the file that looks alike, or the same with or without a blank.

    For an empty one, those of one character that the file has most often.
    """
    known: Counter[Any] = Counter(
        node.value
        for node in every_node(site.tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, (str, bytes))
        and len(node.value) < MAX_TEXT
    )
    alone = {id(node.value) for node in site.own(ast.Expr)}  # docstrings
    for node in site.own(ast.Constant):
        value: Any = node.value
        if value not in known or id(node) in alone:
            continue
        others = sorted(other for other in known if type(other) is type(value) and other != value)
        alike = difflib.get_close_matches(value, others, n=N_TEXTS, cutoff=0.5)
        if not value:
            short = [other for other in others if len(other) == 1]
            alike = sorted(short, key=lambda other: -known[other])[:N_TEXTS]
        blank, empty = (" ", "") if isinstance(value, str) else (b" ", b"")
        made = [value.strip(), value + blank, value.lower(), value.upper(), empty]
        for other in dict.fromkeys((*alike, *made)):
            if other != value:
                yield site.replace(node, repr(other), f"{value!r:.30} to {other!r:.30}")


def other_exception(site: Site) -> Iterator[TextEdit]:
    """Raise or catch another exception."""
    own = [n for n in sorted(site.visible) if n.endswith(("Error", "Exception"))]
    for node in site.nodes:
        match node:
            case (
                ast.Raise(exc=ast.Call(func=ast.Name() as named) | (ast.Name() as named))
                | ast.ExceptHandler(type=ast.Name() as named)
            ):
                for name in dict.fromkeys((*own, *EXCEPTIONS)):
                    if name != named.id:
                        yield site.replace(named, name, f"`{named.id}` to `{name}`")


def other_slice(site: Site) -> Iterator[TextEdit]:
    """Slice with another bound, or none."""
    for node in site.own(ast.Slice):
        lower = "" if node.lower is None else site.of(node.lower)
        upper = "" if node.upper is None else site.of(node.upper)
        tail = "" if node.step is None else f":{site.of(node.step)}"
        start, end = site.start(node), site.end(node)
        made = [(lower, ""), ("", upper), ("1", upper), (lower, "-1"), ("0", upper)]
        if lower:
            made += [(f"{lower} + 1", upper), (f"{lower} - 1", upper)]
        if upper:
            made += [(lower, f"{upper} + 1"), (lower, f"{upper} - 1")]
        for low, high in made:
            text = f"{low}:{high}{tail}"
            if text != site.between(start, end):
                yield site.replace(node, text, f"slice `{text}`")


def _is_itself(target: ast.expr, value: ast.expr) -> bool:
    """Whether a value is that of the target before, so that nothing is assigned."""
    match target, value:
        case (
            ast.Subscript(value=held, slice=key),
            ast.Call(func=ast.Attribute(value=asked, attr="get"), args=[of, *_]),
        ):
            return ast.unparse(held) == ast.unparse(asked) and ast.unparse(key) == ast.unparse(of)
    return ast.unparse(target) == ast.unparse(value)


def one_more(site: Site) -> Iterator[TextEdit]:
    """Make a bound that is no constant one more or one less."""
    for node in site.nodes:
        match node:
            case ast.Call(func=ast.Name(id="range"), args=[bound] | [_, bound, *_]):
                words = "a range to"
            case ast.Subscript(slice=(ast.Name() | ast.BinOp()) as bound):
                words = "the item"
            case ast.BinOp(op=ast.Mult(), left=ast.Name() as bound):
                words = "times"
            case _:
                continue
        for change in (" + 1", " - 1"):
            text = f"{site.of(bound)}{change}"
            text = f"({text})" if words == "times" else text
            yield site.replace(bound, text, f"{words} `{text}`")


def exchange_names(site: Site) -> Iterator[TextEdit]:
    """Exchange two variables of a statement each of which stands there once."""
    own = set(site.own_names)
    simple = (ast.Return, ast.Assign, ast.AugAssign, ast.Expr)
    for statement in (node for node in site.nodes if isinstance(node, simple)):
        value = statement.value
        names = [n for n in nodes_of(value, ast.Name) if n.id in own] if value else []
        once = [n for n in names if sum(n.id == other.id for other in names) == 1]
        for one, other in combinations(once[:N_OTHERS], 2):
            first, second = sorted((one, other), key=site.start)
            between = site.between(site.end(first), site.start(second))
            made = f"{second.id}{between}{first.id}"
            words = f"`{first.id}` and `{second.id}` exchanged"
            yield site.cut(site.start(first), site.end(second), made, words, first.lineno)


def first_item(site: Site) -> Iterator[TextEdit]:
    """Begin the search for a largest or smallest item with the first one, not with a number."""
    for start, loop in extremes(site.function):
        if isinstance(loop, ast.For) and isinstance(loop.iter, ast.Name):
            text = f"{loop.iter.id}[0]"
            yield site.replace(start.value, text, f"`{site.of(start.targets[0])} = {text}`")


def add_up(site: Site) -> Iterator[TextEdit]:
    """Put ``+=`` for ``=``, and the other way round; count where nothing is counted."""
    for node in site.nodes:
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            if _is_itself(node.targets[0], node.value):
                yield site.insert(site.end(node.value), " + 1", "one more is counted", node.lineno)
            at = site.end(node.targets[0])
            between = site.between(at, site.start(node.value))
            if between.strip() == "=" and not isinstance(node.value, ast.Lambda):
                where = at + len(between) - len(between.lstrip())
                yield site.insert(where, "+", "added, not assigned", node.lineno)
        elif isinstance(node, ast.AugAssign):
            target, value = site.of(node.target), site.of(node.value)
            yield site.replace(node, f"{target} = {value}", "assigned, not added")
