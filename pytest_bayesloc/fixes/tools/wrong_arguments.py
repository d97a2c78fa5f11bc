"""A call with an argument too few or too many."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.edits import Text
from pytest_bayesloc.domain.fixing import Proposal
from pytest_bayesloc.fixes.calls import adding, arguments, called, calls_at, in_scope, without
from pytest_bayesloc.fixes.syntax import similar, tree_of
from pytest_bayesloc.fixes.tool import Example

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_bayesloc.domain.fixing import Project, Task

_MISSING = re.compile(
    r"([\w.<>]+)\(\) missing \d+ required (positional|keyword-only) arguments?: (.+)"
)
_SURPLUS = re.compile(r"([\w.<>]+)\(\) takes .*positional arguments? but (\d+)")
_TWICE = re.compile(r"([\w.<>]+)\(\) got multiple values for argument '(\w+)'")


def propose(task: Task, project: Project) -> Iterator[Proposal]:
    """The call with what it lacks from the scope, or without what is too much."""
    tree = tree_of(task.code)
    if tree is None:
        return
    text = Text(task.code)
    if found := _MISSING.search(task.message):
        names = re.findall(r"'(\w+)'", found.group(3))
        for call in calls_at(tree, task.line, found.group(1)):
            yield from _filled(tree, text, call, names, project)
    elif found := _SURPLUS.search(task.message):
        for call in calls_at(tree, task.line, found.group(1)):
            yield from _emptied(text, call)
    elif found := _TWICE.search(task.message):
        for call in calls_at(tree, task.line, found.group(1)):
            yield from _once(text, call, found.group(2))


def _filled(
    tree: ast.Module, text: Text, call: ast.Call, names: list[str], project: Project
) -> Iterator[Proposal]:
    scope = in_scope(tree, call)
    passed = {ast.unparse(argument) for argument in call.args}
    choices = [_choices(name, scope, passed) for name in names]
    if all(choices):
        first = [values[0] for values in choices]
        by_name = ", ".join(f"{n}={v}" for n, v in zip(names, first, strict=True))
        yield _added(text, call, by_name)
        for name, values in zip(names, choices, strict=True):
            yield from (_added(text, call, f"{name}={v}") for v in values[1:] if len(names) == 1)
    for other in project.calls_of(called(call)):
        yield from _as_elsewhere(text, call, names, other, set(scope))
    if len(names) == 1:
        rest = [name for name in scope if name not in passed and "." not in name][:4]
        yield from (_added(text, call, f"{names[0]}={name}") for name in rest)


def _choices(name: str, scope: list[str], passed: set[str]) -> list[str]:
    """What could be passed for the parameter ``name``: what is called so, or nearly."""
    same = [other for other in scope if other in {name, f"self.{name}", f"self._{name}"}]
    alike = similar(name, (other for other in scope if other not in passed))
    return list(dict.fromkeys((*same, *alike)))


def _as_elsewhere(
    text: Text, call: ast.Call, names: list[str], other: str, scope: set[str]
) -> Iterator[Proposal]:
    """The keyword as another call in the project gives it."""
    tree = ast.parse(other, mode="eval").body
    for keyword in tree.keywords if isinstance(tree, ast.Call) else ():
        used = {n.id for n in ast.walk(keyword.value) if isinstance(n, ast.Name)}
        if names == [keyword.arg] and used <= scope:
            yield _added(text, call, f"{keyword.arg}={ast.unparse(keyword.value)}")


def _added(text: Text, call: ast.Call, written: str) -> Proposal:
    words = f"`{written}` is passed to `{called(call)}`"
    return Proposal(code=text.edited(adding(text, call, written, words)), message=words)


def _emptied(text: Text, call: ast.Call) -> Iterator[Proposal]:
    given = arguments(call)
    by_place = [part for part in call.args if not isinstance(part, ast.Starred)]
    for part in reversed(by_place):
        words = f"`{text.of(part)}` is not passed to `{called(call)}`"
        edit = without(text, given, given.index(part), words)
        yield Proposal(code=text.edited(edit), message=words)


def _once(text: Text, call: ast.Call, name: str) -> Iterator[Proposal]:
    given = arguments(call)
    for keyword in call.keywords:
        if keyword.arg == name:
            words = f"`{name}` is passed to `{called(call)}` once"
            edit = without(text, given, given.index(keyword), words)
            yield Proposal(code=text.edited(edit), message=words)
    yield from _emptied(text, call)


EXAMPLES = (
    Example(
        error="TypeError: price() missing 1 required positional argument: 'rate'",
        before="def price(net, rate):\n    return net * rate\n\n\ndef total(net, rate):\n"
        "    return price(net)  # with tax\n",
        after="def price(net, rate):\n    return net * rate\n\n\ndef total(net, rate):\n"
        "    return price(net, rate=rate)  # with tax\n",
        line=6,
    ),
    Example(
        error="TypeError: Cart.price() missing 1 required positional argument: 'rate'",
        before="class Cart:\n    def __init__(self):\n        self.rate = 1\n\n"
        "    def price(self, rate):\n        return rate\n\n    def total(self):\n"
        "        return self.price()\n",
        after="class Cart:\n    def __init__(self):\n        self.rate = 1\n\n"
        "    def price(self, rate):\n        return rate\n\n    def total(self):\n"
        "        return self.price(rate=self.rate)\n",
        line=9,
    ),
    Example(
        error="TypeError: price() missing 1 required keyword-only argument: 'strict'",
        before="def total(net):\n    return price(\n        net,\n    )\n",
        after="def total(net):\n    return price(\n        net, strict=True,\n    )\n",
        line=2,
        files={"shop.py": "def f(net):\n    return price(net, strict=True)\n"},
    ),
    Example(
        error="TypeError: price() takes 1 positional argument but 2 were given",
        before="def total(net, rate):\n    return price(net, rate)\n",
        after="def total(net, rate):\n    return price(net)\n",
        line=2,
    ),
    Example(
        error="TypeError: price() got multiple values for argument 'net'",
        before="def total(net):\n    return price(net, net=net)\n",
        after="def total(net):\n    return price(net)\n",
        line=2,
    ),
    Example(
        error="TypeError: price() missing 1 required positional argument: 'rate'",
        before="def total(net):\n    return net\n",
        after=None,
        line=2,
    ),
    Example(
        error="TypeError: price() takes 1 positional argument but 2 were given",
        before="def total(net, rate):\n    return price(*net)\n",
        after=None,
        line=2,
    ),
)
