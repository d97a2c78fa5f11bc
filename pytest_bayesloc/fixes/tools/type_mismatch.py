"""A value of one type where another is needed: converted where it is used."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.edits import Text
from pytest_bayesloc.domain.fixing import Proposal
from pytest_bayesloc.fixes.syntax import function_at, nodes_at, tree_of
from pytest_bayesloc.fixes.tool import Example

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pytest_bayesloc.domain.fixing import Project, Task

    Pick = Callable[[ast.AST], list[ast.expr]]

TYPES = frozenset({"str", "int", "float", "bytes", "list", "tuple", "set", "dict", "NoneType"})


@dataclass(frozen=True, slots=True)
class _Rule:
    """What a message calls for: which expressions of the line, converted how."""

    message: re.Pattern[str]
    pick: Pick
    forms: tuple[str, ...]


def propose(task: Task, project: Project) -> Iterator[Proposal]:
    """The line with each conversion that the message calls for, at each place where it fits."""
    del project
    tree = tree_of(task.code)
    if tree is None:
        return
    text = Text(task.code)
    if task.error_type == "AssertionError":
        yield from _returned(task, tree, text)
        return
    for rule in _RULES:
        found = rule.message.search(task.message)
        if found is None:
            continue
        nodes = [n for node in nodes_at(tree, task.line) for n in rule.pick(node)]
        for form in rule.forms:
            for node in sorted(nodes, key=lambda node: _doubt(node, form, task.values)):
                yield from _converted(text, node, form)


def _converted(text: Text, node: ast.expr, form: str) -> Iterator[Proposal]:
    said = text.of(node)
    shared = False  # the brackets of a call around a generator are its own as well
    if isinstance(node, ast.GeneratorExp):
        before = text.between(text.start(node) - 1, text.start(node))
        shared, said = before.isalnum() or before in "_)]", said[1:-1]
    bare = isinstance(node, (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant))
    if form.startswith("{}.") and not bare:
        said = f"({said})"
    made = f"({form.format(said)})" if shared else form.format(said)
    if not said.startswith(form.partition("{")[0] or "\n"):
        words = f"`{_head(said)}` becomes `{_head(made)}`"
        yield Proposal(code=text.edited(text.replace(node, made, words)), message=words)


def _doubt(node: ast.expr, form: str, values: Mapping[str, tuple[str, str]]) -> int:
    """How little speaks for converting ``node``: 0 where a value is known that needs it."""
    _, failing = values.get(ast.unparse(node), ("", ""))
    if isinstance(node, ast.Constant):
        is_text = isinstance(node.value, (str, bytes))
        return 3 if is_text == form.startswith("str(") else 1
    if not failing:
        return 1
    is_text = failing[:1] in {"'", '"'}
    return 2 if is_text == form.startswith("str(") else 0


def _returned(task: Task, tree: ast.Module, text: Text) -> Iterator[Proposal]:
    """What a function returns as the type that the test compares it with."""
    found = re.match(r"assert (.+) == (.+)", task.message.partition("\n")[0])
    if found is None:
        return
    try:
        left, right = (ast.literal_eval(side) for side in found.groups())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return
    if type(left) is type(right) or not _is_same_otherwise(left, right):
        return
    for line in (task.line, *task.lines):
        function = function_at(tree, line)
        for node in ast.walk(function) if function is not None else ():
            if isinstance(node, ast.Return) and node.value is not None and node.lineno == line:
                for value in (right, left):
                    yield from _converted(text, node.value, _form(value))


def _is_same_otherwise(left: object, right: object) -> bool:
    """Whether one is the other in another type: ``'3'`` and ``3``, a list and a tuple."""
    sized = (list, tuple, set, frozenset)
    if isinstance(left, sized) and isinstance(right, sized):
        return list(left) == list(right) or set(map(repr, left)) == set(map(repr, right))
    if isinstance(left, (bytes, str)) and isinstance(right, (bytes, str)):
        texts = [v.decode("utf-8", "replace") if isinstance(v, bytes) else v for v in (left, right)]
        return texts[0] == texts[1]
    return str(left) == str(right)


def _form(value: object) -> str:
    return "{}.encode()" if isinstance(value, bytes) else f"{type(value).__name__}({{}})"


def _head(text: str) -> str:
    line = text.partition("\n")[0]
    return line if len(line) <= 40 else f"{line[:37]}..."


# -- which expressions


def _sides(*kinds: type[ast.operator]) -> Pick:
    def pick(node: ast.AST) -> list[ast.expr]:
        if isinstance(node, ast.BinOp) and (not kinds or isinstance(node.op, kinds)):
            return [node.right, node.left]
        if isinstance(node, ast.AugAssign) and (not kinds or isinstance(node.op, kinds)):
            return [node.value]
        return []

    return pick


def _compared(node: ast.AST) -> list[ast.expr]:
    return [node.left, *node.comparators] if isinstance(node, ast.Compare) else []


def _indices(node: ast.AST) -> list[ast.expr]:
    is_index = isinstance(node, ast.Subscript) and not isinstance(
        node.slice, (ast.Slice, ast.Tuple)
    )
    return [node.slice] if is_index and isinstance(node, ast.Subscript) else []


def _indexed(node: ast.AST) -> list[ast.expr]:
    return [node.value] if isinstance(node, ast.Subscript) else []


def _arguments(node: ast.AST) -> list[ast.expr]:
    return list(node.args) if isinstance(node, ast.Call) else []


def _counted(node: ast.AST) -> list[ast.expr]:
    is_len = isinstance(node, ast.Call) and ast.unparse(node.func) == "len"
    return list(node.args) if is_len and isinstance(node, ast.Call) else []


def _joined(node: ast.AST) -> list[ast.expr]:
    is_join = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    named = is_join and isinstance(node, ast.Call) and ast.unparse(node.func).endswith(".join")
    return list(node.args) if named and isinstance(node, ast.Call) else []


def _keys(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.Compare):
        return [node.left]
    if isinstance(node, ast.Dict):
        return [key for key in node.keys if key is not None]
    return [*_indices(node), *_arguments(node)] + (node.elts if isinstance(node, ast.Set) else [])


def _any(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return [*node.args, node.func.value]
    return [*_sides()(node), *_compared(node), *_arguments(node)]


_NUMBERS = ("int({})", "float({})")
_LAZY = r"'(generator|map|filter|zip|dict_\w+|range|reversed)' object is not subscriptable"
_RULES = tuple(
    _Rule(re.compile(message), pick, forms)
    for message, pick, forms in (
        (r'can only concatenate str \(not "(int|float|\w+)"\)', _sides(ast.Add), ("str({})",)),
        (r'can only concatenate list \(not "\w+"\)', _sides(ast.Add), ("list({})", "[{}]")),
        (r'can only concatenate tuple \(not "\w+"\)', _sides(ast.Add), ("tuple({})", "({},)")),
        (
            r"unsupported operand type\(s\) for .+: '(int|float)' and 'str'",
            _sides(),
            ("int({})", "float({})", "str({})"),
        ),
        (
            r"unsupported operand type\(s\) for .+: 'str' and '(int|float)'",
            _sides(),
            ("int({})", "float({})", "str({})"),
        ),
        (
            r"unsupported operand type\(s\) for .+'(list|set|tuple)'",
            _sides(),
            ("set({})", "list({})"),
        ),
        (r"'str' object cannot be interpreted as an integer", _arguments, ("int({})",)),
        (r"'float' object cannot be interpreted as an integer", _arguments, ("int({})",)),
        (r"indices must be integers(?: or slices)?, not (str|float)", _indices, ("int({})",)),
        (r"slice indices must be integers", _indexed, ("list({})",)),
        (r"bytes-like object is required, not 'str'", _any, ("{}.encode()",)),
        (r"(?:string argument without an|(?:Strings|Unicode-objects) must be) encod", _arguments, ("{}.encode()",)),
        (r"can't concat str to bytes", _sides(ast.Add), ("{}.encode()",)),
        (r'can only concatenate str \(not "bytes"\)', _sides(ast.Add), ("{}.decode()",)),
        (r"must be str(?:, not bytes| or a tuple of str, not bytes)", _any, ("{}.decode()",)),
        (r"first arg must be bytes .*not str", _any, ("{}.encode()",)),
        (r"cannot use a string pattern on a bytes-like object", _arguments, ("{}.decode()",)),
        (r"cannot use a bytes pattern on a string-like object", _arguments, ("{}.encode()",)),
        (r"expected str instance, \w+ found", _joined, ("map(str, {})",)),
        (r"unhashable type: '(list|set|dict)'", _keys, ("tuple({})", "frozenset({})")),
        (r"not supported between instances of 'str' and '(int|float)'", _compared, _NUMBERS),
        (r"not supported between instances of '(int|float)' and 'str'", _compared, _NUMBERS),
        (r"has no len\(\)", _counted, ("list({})", "str({})")),
        (_LAZY, _indexed, ("list({})",)),
        (r"'set' object is not subscriptable", _indexed, ("sorted({})", "list({})")),
        (r"'int' object is not (iterable|subscriptable)", _any, ("[{}]", "str({})", "range({})")),
        (r"can't multiply sequence by non-int of type '(float|str)'", _sides(ast.Mult), _NUMBERS),
        (r"must be real number, not str", _arguments, ("float({})",)),
        (r"expected string or bytes-like object", _arguments, ("str({})",)),
        (r"must be str, not (int|float)", _arguments, ("str({})",)),
    )
)

EXAMPLES = (
    Example(
        error='TypeError: can only concatenate str (not "int") to str',
        before="def f(name, n):\n    return name + n  # both\n",
        after="def f(name, n):\n    return name + str(n)  # both\n",
        line=2,
    ),
    Example(
        error="TypeError: unsupported operand type(s) for +: 'int' and 'str'",
        before="def f(a, b):\n    return a + b\n",
        after="def f(a, b):\n    return a + int(b)\n",
        line=2,
        values={"b": ("3", "'4'")},
    ),
    Example(
        error="TypeError: list indices must be integers or slices, not str",
        before="class C:\n    def get(self, n):\n        return self.items[n]\n",
        after="class C:\n    def get(self, n):\n        return self.items[int(n)]\n",
        line=3,
    ),
    Example(
        error="TypeError: sequence item 0: expected str instance, int found",
        before="def f(x):\n    return ','.join(\n        x,\n    )\n",
        after="def f(x):\n    return ','.join(\n        map(str, x),\n    )\n",
        line=2,
    ),
    Example(
        error="TypeError: a bytes-like object is required, not 'str'",
        before="def f(file, x):\n    file.write(x)\n",
        after="def f(file, x):\n    file.write(x.encode())\n",
        line=2,
    ),
    Example(
        error="TypeError: unhashable type: 'list'",
        before="def f(seen, x):\n    seen[x] = 1\n",
        after="def f(seen, x):\n    seen[tuple(x)] = 1\n",
        line=2,
    ),
    Example(
        error="TypeError: object of type 'generator' has no len()",
        before="def f(x):\n    return len(a for a in x)\n",
        after="def f(x):\n    return len(list(a for a in x))\n",
        line=2,
    ),
    Example(
        error="AssertionError: assert '3' == 3",
        before="def f(x):\n    return x\n",
        after="def f(x):\n    return int(x)\n",
        line=2,
    ),
    Example(
        error="AssertionError: assert '3' == 4",
        before="def f(x):\n    return x\n",
        after=None,
        line=2,
    ),
    Example(
        error="TypeError: f() takes 1 positional argument but 2 were given",
        before="def f(x):\n    return x + 1\n",
        after=None,
        line=2,
    ),
)
