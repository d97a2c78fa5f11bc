"""A value of one type where another is needed: converted where it is used."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import product

from pytest_bayesloc.domain.fixing import Level
from pytest_bayesloc.fixes.calls import adding, is_placed, picked
from pytest_bayesloc.fixes.library import package_tool
from pytest_bayesloc.fixes.project import Made, Project, Task
from pytest_bayesloc.syntax.expressions import PARTS, is_json, is_literal
from pytest_bayesloc.syntax.nodes import (
    bound_in,
    called_name,
    function_at,
    functions_in,
    holds,
    nodes_of,
    targets,
    walk,
)
from pytest_bayesloc.syntax.text import Text, brief

_WANTS = (("{}.encode", "text"), ("{}.decode", "bytes"), ("str(", "other"), ("int(", "text"),
          ("float(", "text"), ("tuple(", "other"), ("map(", "other"))  # fmt: skip


@package_tool(
    "A value has another type than is needed, such as str for int or bytes, a list as a key, "
    "a generator for a list. Converts it where it is used or returned.",
    error_pattern=r"^(TypeError: |AssertionError: (?:[^\n]*\n)*?assert |KeyError: '?-?\d"
    r"|ValueError: (Unknown format code|invalid literal|could not convert))",
    level=Level.UNSAFE,
    priority="medium",
)
def type_mismatch(task: Task, _project: Project) -> Iterator[Made]:
    """The line with each conversion that the message calls for, at each place where it fits."""
    is_compared = task.error_type == "AssertionError"
    yield from (_returned if is_compared else _used)(task)


def _used(task: Task) -> Iterator[Made]:
    text = task.text
    rules = ((rule, re.search(rule[0], task.message)) for rule in _RULES)
    steps = next((rule[1] for rule, found in rules if found is not None), ())
    sides = _SIDES.search(task.message)
    if not steps and sides is not None:
        left, right = sides["left"] or sides["l"], sides["right"] or sides["r"]
        steps = _of_sides(left, right, is_comparison=sides["less"] is not None)
    line = task.nodes
    if "float" in task.message and any(form == "int({})" for _, form in steps):
        yield from _floored(task, line)
    for roles, form in steps:
        nodes = [
            n for node in line for n in picked(node, roles) if is_placed(text, n) and _fits(n, form)
        ]
        doubts = [_doubt(node, form, task.values) for node in nodes]
        for _, i in sorted((doubt, i) for i, doubt in enumerate(doubts)):
            yield from _converted(text, nodes[i], form)
    if sides is not None and sides["left"] == sides["right"] == "str":
        yield from _both(text, line)
    if unknown := re.search(r"Object of type (\w+) is not JSON serializable", task.message):
        makers = _MAKERS_OF_JSON.get(unknown.group(1), ("str", "vars"))
        calls = [n for n in line if isinstance(n, ast.Call) and called_name(n) in {"dump", "dumps"}]
        for call, maker in product(calls, makers):
            words = f"`{maker}` makes JSON of `{unknown.group(1)}`"
            yield adding(text, call, f"default={maker}", words)


def _floored(task: Task, line: list[ast.AST]) -> Iterator[Made]:
    """A quotient that goes where a whole number is needed, without its rest."""
    text = task.text
    used = {n.id for n in line if isinstance(n, ast.Name)}
    calls = {called_name(n) for n in line if isinstance(n, ast.Call)}
    parts: list[ast.AST] = list(line)
    for function in functions_in(task.tree):
        if function.name in calls:
            parts += (n.value for n in nodes_of(function, ast.Return) if n.value)
    for node in walk(task.function or task.tree):
        if isinstance(node, ast.Assign) and used.intersection(t.id for t in targets(node)):
            parts.append(node.value)
    for node in parts:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and is_placed(text, node):
            left, right = text.of(node.left), text.of(node.right)
            between = text.between(text.end(node.left), text.start(node.right))
            made = f"{left}{between.replace('/', '//')}{right}"
            start = text.start(node.left)
            words = f"`{brief(text.of(node))}` without its rest"
            yield text.cut(start, text.end(node.right), made, words, node.lineno)


def _of_sides(left: str, right: str, *, is_comparison: bool) -> tuple[tuple[str, str], ...]:
    """Returns the conversions for a value of type ``left`` that meets one of type ``right``."""
    first, second = ("less", "more") if is_comparison else ("left", "right")
    numbers = {"int", "float"}
    for pair, forms in _PAIRS.items():
        if {left, right} == {*pair}:
            return tuple((second if right == pair[1] else first, form) for form in forms)
    if left in numbers and right == "str":
        steps = (second, "int({})"), (second, "float({})")
        summed = ("summed", "int({})"), ("summed", "float({})"), (first, "str({})")
        return steps if is_comparison else (*steps, *summed)  # texts are ordered otherwise
    if left == "str" and right in numbers:
        steps = (first, "int({})"), (first, "float({})")
        return steps if is_comparison else (*steps, (second, "str({})"))
    sized = {"list", "tuple", "set", "frozenset"}
    if left in sized and right in sized and left != right:
        return (second, f"{left}({{}})"), (first, f"{right}({{}})")
    if left == right == "list" and not is_comparison:  # of a difference, an intersection
        return (("left", "set({})"),)
    return ()


def _both(text: Text, line: list[ast.AST]) -> Iterator[Made]:
    """Both sides as numbers."""
    for node in line:
        if isinstance(node, ast.BinOp) and is_placed(text, node):
            left, right = text.of(node.left), text.of(node.right)
            for name in ("int", "float"):
                words = f"`{brief(left)}` and `{brief(right)}` become `{name}`"
                edits = [
                    text.replace(side, f"{name}({text.of(side)})", words)
                    for side in (node.left, node.right)
                ]
                yield edits


def _converted(text: Text, node: ast.expr, form: str) -> Iterator[Made]:
    said = text.of(node)
    shared = False  # the brackets of a call around a generator are its own as well
    if isinstance(node, ast.GeneratorExp):
        before = text.between(text.start(node) - 1, text.start(node))
        shared = before.isalnum() or before in "_)]"
        said = said if "," in form else said[1:-1]
    bare = isinstance(node, PARTS)
    if ("{}." in form) and not bare:
        said = f"({said})"
    made = f"({form.format(said)})" if shared else form.format(said)
    if isinstance(node, ast.Constant) and said[:2] in {"b'", 'b"'} and form == "{}.decode()":
        made = said[1:]
    words = f"`{brief(said)}` becomes `{brief(made)}`"
    yield text.replace(node, made, words)


def _fits(node: ast.expr, form: str) -> bool:
    """Whether the conversion changes anything, as far as the text tells."""
    if isinstance(node, ast.Call) and form.startswith(f"{called_name(node)}("):
        return False
    if "{" not in form:  # another function
        return isinstance(node, ast.Name) and node.id == "int"
    if isinstance(node, ast.JoinedStr):
        return form.endswith(".encode()")
    if not isinstance(node, ast.Constant):
        return True
    kinds: Mapping[object, str] = {str: ".encode()", bytes: ".decode()"}
    return form.endswith(kinds.get(type(node.value), "str({})"))


def _doubt(node: ast.expr, form: str, values: Mapping[str, tuple[str, str]]) -> int:
    """Returns the doubt about converting ``node``: 0 if a known value needs it."""
    _, failing = values.get(ast.unparse(node), ("", ""))
    if not failing:
        return 2 if isinstance(node, (ast.Constant, ast.BinOp)) else 1
    kind = {"'": "text", '"': "text"}.get(failing[:1], "other")
    kind = "bytes" if failing[:2] in {"b'", 'b"'} else kind
    wanted = next((wants for lead, wants in _WANTS if form.startswith(lead)), kind)
    return 0 if kind == wanted else 3


def _returned(task: Task) -> Iterator[Made]:
    """Converts what a function returns to the type that the test compares it with."""
    found = re.search(r"^assert (.+) == (.+)", task.message, re.MULTILINE)
    if found is None or not all(map(is_literal, found.groups())):
        return
    left, right = map(ast.literal_eval, found.groups())
    yield from _as_numbers(task, left, right)
    forms = [*_forms(left, right), *_forms(right, left)]
    if "json" in bound_in(task.tree) and (_is_json_of(left, right) or _is_json_of(right, left)):
        forms.append("json.loads({})")
    if not forms:
        return
    around = ((line, function_at(task.tree, line)) for line in task.executed)
    values = (
        node.value
        for line, function in around
        if function is not None
        for node in nodes_of(function, ast.Return)
        if node.value is not None and holds(node, line)
    )
    for value in values:
        for form in forms:
            if is_placed(task.text, value) and _fits(value, form):
                yield from _converted(task.text, value, form)


def _is_json_of(said: object, value: object) -> bool:
    is_text = isinstance(said, str) and not isinstance(value, str)
    return is_text and is_json(str(said)) and bool(json.loads(str(said)) == value)


def _as_numbers(task: Task, left: object, right: object) -> Iterator[Made]:
    """Sorts texts as numbers where the order is another one, or takes the largest as a number."""
    text = task.text
    calls = [n for f in task.functions for n in nodes_of(f, ast.Call)]
    if (
        isinstance(left, list)
        and isinstance(right, list)
        and left != right
        and Counter(map(repr, left)) == Counter(map(repr, right))
    ):
        for call in (n for n in calls if called_name(n) in {"sorted", "sort"}):
            keys = [k.value for k in call.keywords if k.arg == "key"]
            for kind in ("int", "float"):
                if not keys:
                    yield adding(text, call, f"key={kind}", f"sorted as `{kind}`")
                elif isinstance(keys[0], ast.Lambda) and is_placed(text, keys[0].body):
                    yield from _converted(text, keys[0].body, f"{kind}({{}})")
    kinds = {type(left), type(right)} - {str}
    if len(kinds) == 1 and kinds <= {int, float} and str in {type(left), type(right)}:
        form = f"map({kinds.pop().__name__}, {{}})"
        for part in (part for call in calls for part in picked(call, "max()|min()")):
            yield from _converted(text, part, form)


def _forms(value: object, wanted: object) -> list[str]:
    """The conversions that make of ``value`` what is wanted."""
    if isinstance(value, list) and isinstance(wanted, list):
        is_each = list(map(str, value)) == list(map(str, wanted))
        inner = _forms(value[0], wanted[0]) if value and is_each else []
        return [f"[{form.format('item')} for item in {{}}]" for form in inner]
    if type(value) is type(wanted):
        return []
    if isinstance(value, bytes) and isinstance(wanted, str):
        return ["{}.decode()"] if value.decode("utf-8", "replace") == wanted else []
    if isinstance(value, str) and isinstance(wanted, bytes):
        return ["{}.encode()"] if value.encode() == wanted else []
    sized = (list, tuple, set, frozenset)
    if isinstance(value, sized) and isinstance(wanted, sized):
        is_ordered = list(value) == list(wanted)
        is_sorted = isinstance(wanted, list) and not is_ordered
        is_same = is_ordered or sorted(map(repr, value)) == sorted(map(repr, wanted))
        first = ["sorted({})"] if is_sorted else []
        return [*first, f"{type(wanted).__name__}({{}})"] if is_same else []
    plain = type(wanted) in {str, int, float} and type(value) in {str, int, float}
    return [f"{type(wanted).__name__}({{}})"] if plain and str(value) == str(wanted) else []


# -- which conversions: the role of an expression, with what is made of it


_MAKERS_OF_JSON = {
    **dict.fromkeys(("set", "frozenset"), ("sorted", "list")),
    **dict.fromkeys(("dict_keys", "dict_values", "generator", "map", "filter"), ("list",)),
}
#: Two types that do not go together, with what makes of the second one the first.
_PAIRS = {
    ("decimal.Decimal", "float"): ("Decimal(str({}))", "decimal.Decimal(str({}))"),
    ("datetime.date", "datetime.datetime"): ("{}.date()",),
}
_MAKERS = "set()|frozenset()|dict()|Counter()|fromkeys()"
_TEXTS = "add()|setdefault()|get()|pop()|append()"
_SIDES = re.compile(
    r"unsupported operand type\(s\) for [^:]+: '(?P<left>[\w.]+)' and '(?P<right>[\w.]+)'"
    r"|(?P<less>not supported) between instances of '(?P<l>\w+)' and '(?P<r>\w+)'"
)
_LAZY = r"'?(generator|map|filter|zip|dict_\w+|reversed|enumerate|\w*iterator)'?"
_RULES: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    (r'concatenate str \(not "bytes"\)', (("right", "{}.decode()"), ("left", "{}.encode()"))),
    (
        r'concatenate str \(not "(int|float)"\)',
        (("right", "str({})"), ("left", "int({})"), ("left", "float({})")),
    ),
    (r'concatenate str \(not "(?!NoneType)\w+"\)', (("right", "str({})"),)),
    (r'concatenate list \(not "(?!NoneType)\w+"\)', (("right", "list({})"), ("right", "[{}]"))),
    (
        r'concatenate tuple \(not "(?!NoneType)\w+"\)',
        (("right", "tuple({})"), ("right", "({},)"), ("left", "list({})")),
    ),
    (
        r"string argument without an encoding|(?:Strings|Unicode-objects) must be encoded",
        (("passed", "{}.encode()"),),
    ),
    (r"can't concat str to bytes", (("right", "{}.encode()"), ("left", "{}.decode()"))),
    (r"^-?\d+$", (("index", "str({})"),)),  # of a KeyError
    (r"^'-?\d+'$", (("index", "int({})"),)),
    (r"Unknown format code '[eEfFgGn%]' for object of type 'str'", (("formatted", "float({})"),)),
    (r"Unknown format code '\w' for object of type", (("formatted", "int({})"),)),
    (r"invalid literal for int\(\) with base 10: '\s*-?\d*\.\d+\s*'", (("function", "float"),)),
    (r"invalid literal for int\(\) with base 10: ''", (("int()", "{} or 0"),)),
    (r"could not convert string to float: ''", (("float()", "{} or 0"),)),
    (r"can't compare datetime.datetime to datetime.date", (("sides", "{}.date()"),)),
    (
        r"'(str|float)' object cannot be interpreted as an integer",
        (("passed", "int({})"),),
    ),
    (r"%\w format: .*number is required, not str", (("shown", "int({})"), ("shown", "float({})"))),
    (r"slice indices must be integers", (("bound", "int({})"),)),
    (r"indices must be integers(?: or slices)?, not '?(str|float)", (("index", "int({})"),)),
    (
        r"bytes-like object is required, not 'str'",
        (("passed", "{}.encode()"), ("less", "{}.encode()"), ("owner", "{}.decode()"),
         ("more", "{}.decode()")),
    ),
    (
        r"must be str(?:, not bytes| or (?:None|a tuple of str), not bytes)",
        (("passed", "{}.decode()"), ("owner", "{}.encode()")),
    ),
    (r"must be bytes .*not str", (("passed", "{}.encode()"), ("owner", "{}.decode()"))),
    (r"cannot use a string pattern on a bytes-like object", (("passed", "{}.decode()"),)),
    (r"cannot use a bytes pattern on a string-like object", (("passed", "{}.encode()"),)),
    (r"expected str instance, bytes found", (("join()", "[item.decode() for item in {}]"),)),
    (r"expected str instance, (?!NoneType)\w+ found", (("join()", "map(str, {})"),)),
    (
        r"unhashable type: 'list'",
        (("key", "tuple({})"), (_MAKERS, "map(tuple, {})"), (_TEXTS, "tuple({})"),
         ("passed", "tuple({})")),
    ),
    (r"unhashable type: 'set'", (("key", "frozenset({})"), (_MAKERS, "map(frozenset, {})"),
                                 ("passed", "frozenset({})"))),
    (rf"type {_LAZY} has no len\(\)", (("len()", "list({})"),)),
    (r"type '(int|float)' has no len\(\)", (("len()", "str({})"),)),
    (rf"{_LAZY} object is not subscriptable", (("indexed", "list({})"),)),
    (r"'set' object is not subscriptable", (("indexed", "sorted({})"), ("indexed", "list({})"))),
    (r"'int' object is not subscriptable", (("indexed", "str({})"),)),
    (r"'int' object is not iterable", (("looped", "range({})"), ("looped", "str({})"),
                                       ("passed", "[{}]"))),
    (
        r"can't multiply sequence by non-int of type '(float|str)'",
        (("right", "int({})"), ("right", "float({})"), ("left", "float({})"), ("left", "int({})")),
    ),
    (r"must be real number, not str", (("passed", "float({})"),)),
    (r"expected string or bytes-like object(?!.*NoneType)", (("passed", "str({})"),)),
    (r"must be str, not (int|float)", (("passed", "str({})"),)),
)  # fmt: skip
