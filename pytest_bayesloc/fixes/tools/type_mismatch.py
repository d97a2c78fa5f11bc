"""A value of one type where another is needed: converted where it is used."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from pytest_bayesloc.domain.fixing import Level
from pytest_bayesloc.fixes.calls import called, is_placed
from pytest_bayesloc.fixes.library import package_tool
from pytest_bayesloc.fixes.project import Project, Proposal, Task, proposal
from pytest_bayesloc.fixes.syntax import (
    Text,
    brief,
    function_at,
    functions_in,
    holds,
    is_literal,
    nodes_of,
    targets,
)

Pick = Callable[[ast.AST], Sequence[ast.expr]]

_WANTS = (("{}.encode", "text"), ("{}.decode", "bytes"), ("str(", "other"), ("int(", "text"),
          ("float(", "text"), ("tuple(", "other"), ("map(", "other"))  # fmt: skip


@package_tool(
    "A value has another type than is needed, such as str for int or bytes, a list as a key, "
    "a generator for a list. Converts it where it is used or returned.",
    error_pattern=r"^(TypeError: |AssertionError: (?:[^\n]*\n)*?assert )",
    level=Level.UNSAFE,
    priority="medium",
)
def type_mismatch(task: Task, _project: Project) -> Iterator[Proposal]:
    """The line with each conversion that the message calls for, at each place where it fits."""
    is_compared = task.error_type == "AssertionError"
    yield from (_returned if is_compared else _used)(task)


def _used(task: Task) -> Iterator[Proposal]:
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
    for pick, form in steps:
        nodes = [n for node in line for n in pick(node) if is_placed(text, n) and _fits(n, form)]
        doubts = [_doubt(node, form, task.values) for node in nodes]
        for _, i in sorted((doubt, i) for i, doubt in enumerate(doubts)):
            yield from _converted(text, nodes[i], form)
    if sides is not None and sides["left"] == sides["right"] == "str":
        yield from _both(text, line)


def _floored(task: Task, line: list[ast.AST]) -> Iterator[Proposal]:
    """A quotient that goes where a whole number is needed, without its rest."""
    text = task.text
    used = {n.id for n in line if isinstance(n, ast.Name)}
    calls = {called(n) for n in line if isinstance(n, ast.Call)}
    parts: list[ast.AST] = list(line)
    for function in functions_in(task.tree):
        if function.name in calls:
            parts += (n.value for n in nodes_of(function, ast.Return) if n.value)
    for node in ast.walk(task.function or task.tree):
        if isinstance(node, ast.Assign) and used.intersection(t.id for t in targets(node)):
            parts.append(node.value)
    for node in parts:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and is_placed(text, node):
            left, right = text.of(node.left), text.of(node.right)
            between = text.between(text.end(node.left), text.start(node.right))
            made = f"{left}{between.replace('/', '//')}{right}"
            start = text.start(node.left)
            words = f"`{brief(text.of(node))}` without its rest"
            yield proposal(text, text.cut(start, text.end(node.right), made, words, node.lineno))


def _of_sides(left: str, right: str, *, is_comparison: bool) -> tuple[tuple[Pick, str], ...]:
    """Returns the conversions for a value of type ``left`` that meets one of type ``right``."""
    first, second = (_less, _more) if is_comparison else (_left, _right)
    numbers = {"int", "float"}
    if left in numbers and right == "str":
        steps = (second, "int({})"), (second, "float({})")
        summed = (_summed, "int({})"), (_summed, "float({})"), (first, "str({})")
        return steps if is_comparison else (*steps, *summed)  # texts are ordered otherwise
    if left == "str" and right in numbers:
        steps = (first, "int({})"), (first, "float({})")
        return steps if is_comparison else (*steps, (second, "str({})"))
    sized = {"list", "tuple", "set", "frozenset"}
    if left in sized and right in sized and left != right:
        return (second, f"{left}({{}})"), (first, f"{right}({{}})")
    if left == right == "list" and not is_comparison:  # of a difference, an intersection
        return ((_left, "set({})"),)
    return ()


def _both(text: Text, line: list[ast.AST]) -> Iterator[Proposal]:
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
                yield proposal(text, *edits)


def _converted(text: Text, node: ast.expr, form: str) -> Iterator[Proposal]:
    said = text.of(node)
    shared = False  # the brackets of a call around a generator are its own as well
    if isinstance(node, ast.GeneratorExp):
        before = text.between(text.start(node) - 1, text.start(node))
        shared = before.isalnum() or before in "_)]"
        said = said if "," in form else said[1:-1]
    bare = isinstance(node, (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant))
    if ("{}." in form) and not bare:
        said = f"({said})"
    made = f"({form.format(said)})" if shared else form.format(said)
    words = f"`{brief(said)}` becomes `{brief(made)}`"
    yield proposal(text, text.replace(node, made, words))


def _fits(node: ast.expr, form: str) -> bool:
    """Whether the conversion changes anything, as far as the text tells."""
    if isinstance(node, ast.Call) and form.startswith(f"{called(node)}("):
        return False
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


def _returned(task: Task) -> Iterator[Proposal]:
    """Converts what a function returns to the type that the test compares it with."""
    found = re.search(r"^assert (.+) == (.+)", task.message, re.MULTILINE)
    if found is None or not all(map(is_literal, found.groups())):
        return
    left, right = map(ast.literal_eval, found.groups())
    forms = [*_forms(left, right), *_forms(right, left)]
    for value in _results(task) if forms else ():
        for form in forms:
            if is_placed(task.text, value) and _fits(value, form):
                yield from _converted(task.text, value, form)


def _results(task: Task) -> Iterator[ast.expr]:
    """Yields the values that are returned on executed lines."""
    for line in task.executed:
        function = function_at(task.tree, line)
        for node in ast.walk(function) if function is not None else ():
            if isinstance(node, ast.Return) and node.value is not None and holds(node, line):
                yield node.value


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


# -- which expressions


def _left(node: ast.AST) -> Sequence[ast.expr]:
    return [node.left] if isinstance(node, ast.BinOp) else []


def _right(node: ast.AST) -> Sequence[ast.expr]:
    if isinstance(node, ast.AugAssign):
        return [node.value]
    return [node.right] if isinstance(node, ast.BinOp) else []


def _less(node: ast.AST) -> Sequence[ast.expr]:
    return [node.left, *node.comparators[:-1]] if isinstance(node, ast.Compare) else []


def _more(node: ast.AST) -> Sequence[ast.expr]:
    return node.comparators if isinstance(node, ast.Compare) else []


def _indices(node: ast.AST) -> Sequence[ast.expr]:
    if not isinstance(node, ast.Subscript) or isinstance(node.slice, (ast.Slice, ast.Tuple)):
        return []
    return [node.slice]


def _bounds(node: ast.AST) -> Sequence[ast.expr]:
    bounds = (node.upper, node.lower, node.step) if isinstance(node, ast.Slice) else ()
    return [bound for bound in bounds if bound is not None]


def _indexed(node: ast.AST) -> Sequence[ast.expr]:
    return [node.value] if isinstance(node, ast.Subscript) else []


def _arguments(node: ast.AST) -> Sequence[ast.expr]:
    if not isinstance(node, ast.Call):
        return []
    given = [*node.args, *(keyword.value for keyword in node.keywords)]
    return [argument for argument in given if not isinstance(argument, ast.Starred)]


def _owner(node: ast.AST) -> Sequence[ast.expr]:
    func = node.func if isinstance(node, ast.Call) else None
    return [func.value] if isinstance(func, ast.Attribute) else []


def _summed(node: ast.AST) -> Sequence[ast.expr]:
    """Returns what is summed up, one by one."""
    given = node.args if isinstance(node, ast.Call) and called(node) == "sum" else []
    return [a.elt for a in given[:1] if isinstance(a, (ast.GeneratorExp, ast.ListComp))]


def _named(*names: str) -> Pick:
    """The arguments of calls of what is named so."""
    return lambda node: (
        _arguments(node) if isinstance(node, ast.Call) and called(node) in names else []
    )


def _looped(node: ast.AST) -> Sequence[ast.expr]:
    return [node.iter] if isinstance(node, (ast.For, ast.comprehension)) else []


def _shown(node: ast.AST) -> Sequence[ast.expr]:
    """Returns the values behind ``%``."""
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod)):
        return []
    return node.right.elts if isinstance(node.right, ast.Tuple) else [node.right]


def _keys(node: ast.AST) -> Sequence[ast.expr]:
    if isinstance(node, ast.Compare):
        return [node.left]
    if isinstance(node, ast.Dict):
        return [key for key in node.keys if key is not None]
    if isinstance(node, ast.DictComp):
        return [node.key]
    if isinstance(node, ast.SetComp):
        return [node.elt]
    return node.elts if isinstance(node, ast.Set) else _indices(node)


_MAKERS = _named("set", "frozenset", "dict", "Counter", "fromkeys")
_TEXTS = _named("add", "setdefault", "get", "pop", "append")
_SIDES = re.compile(
    r"unsupported operand type\(s\) for [^:]+: '(?P<left>\w+)' and '(?P<right>\w+)'"
    r"|(?P<less>not supported) between instances of '(?P<l>\w+)' and '(?P<r>\w+)'"
)
_LAZY = r"'?(generator|map|filter|zip|dict_\w+|reversed|enumerate|\w*iterator)'?"
_RULES: tuple[tuple[str, tuple[tuple[Pick, str], ...]], ...] = (
    (r'concatenate str \(not "bytes"\)', ((_right, "{}.decode()"), (_left, "{}.encode()"))),
    (
        r'concatenate str \(not "(int|float)"\)',
        ((_right, "str({})"), (_left, "int({})"), (_left, "float({})")),
    ),
    (r'concatenate str \(not "(?!NoneType)\w+"\)', ((_right, "str({})"),)),
    (r'concatenate list \(not "(?!NoneType)\w+"\)', ((_right, "list({})"), (_right, "[{}]"))),
    (
        r'concatenate tuple \(not "(?!NoneType)\w+"\)',
        ((_right, "tuple({})"), (_right, "({},)"), (_left, "list({})")),
    ),
    (
        r"string argument without an encoding|(?:Strings|Unicode-objects) must be encoded",
        ((_arguments, "{}.encode()"),),
    ),
    (r"can't concat str to bytes", ((_right, "{}.encode()"), (_left, "{}.decode()"))),
    (
        r"'(str|float)' object cannot be interpreted as an integer",
        ((_arguments, "int({})"),),
    ),
    (r"%\w format: .*number is required, not str", ((_shown, "int({})"), (_shown, "float({})"))),
    (r"slice indices must be integers", ((_bounds, "int({})"),)),
    (r"indices must be integers(?: or slices)?, not '?(str|float)", ((_indices, "int({})"),)),
    (
        r"bytes-like object is required, not 'str'",
        ((_arguments, "{}.encode()"), (_less, "{}.encode()"), (_owner, "{}.decode()"),
         (_more, "{}.decode()")),
    ),
    (
        r"must be str(?:, not bytes| or a tuple of str, not bytes)",
        ((_arguments, "{}.decode()"), (_owner, "{}.encode()")),
    ),
    (r"must be bytes .*not str", ((_arguments, "{}.encode()"), (_owner, "{}.decode()"))),
    (r"cannot use a string pattern on a bytes-like object", ((_arguments, "{}.decode()"),)),
    (r"cannot use a bytes pattern on a string-like object", ((_arguments, "{}.encode()"),)),
    (r"expected str instance, bytes found", ((_named("join"), "[item.decode() for item in {}]"),)),
    (r"expected str instance, (?!NoneType)\w+ found", ((_named("join"), "map(str, {})"),)),
    (
        r"unhashable type: 'list'",
        ((_keys, "tuple({})"), (_MAKERS, "map(tuple, {})"), (_TEXTS, "tuple({})"),
         (_arguments, "tuple({})")),
    ),
    (r"unhashable type: 'set'", ((_keys, "frozenset({})"), (_MAKERS, "map(frozenset, {})"),
                                 (_arguments, "frozenset({})"))),
    (rf"type {_LAZY} has no len\(\)", ((_named("len"), "list({})"),)),
    (r"type '(int|float)' has no len\(\)", ((_named("len"), "str({})"),)),
    (rf"{_LAZY} object is not subscriptable", ((_indexed, "list({})"),)),
    (r"'set' object is not subscriptable", ((_indexed, "sorted({})"), (_indexed, "list({})"))),
    (r"'int' object is not subscriptable", ((_indexed, "str({})"),)),
    (r"'int' object is not iterable", ((_looped, "range({})"), (_looped, "str({})"),
                                       (_arguments, "[{}]"))),
    (
        r"can't multiply sequence by non-int of type '(float|str)'",
        ((_right, "int({})"), (_right, "float({})"), (_left, "float({})"), (_left, "int({})")),
    ),
    (r"must be real number, not str", ((_arguments, "float({})"),)),
    (r"expected string or bytes-like object(?!.*NoneType)", ((_arguments, "str({})"),)),
    (r"must be str, not (int|float)", ((_arguments, "str({})"),)),
)  # fmt: skip
