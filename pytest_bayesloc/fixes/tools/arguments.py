"""Tools for a call with arguments that do not fit, and for a method without ``self``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from pytest_bayesloc.domain.fixing import Level
from pytest_bayesloc.domain.source import FunctionNode
from pytest_bayesloc.fixes.calls import (
    accepted,
    adding,
    arguments,
    attributes,
    calls_among,
    family,
    heads,
    in_call,
    in_head,
    in_scope,
    is_placed,
    methods,
    takes_owner,
)
from pytest_bayesloc.fixes.library import package_tool
from pytest_bayesloc.fixes.project import Made, Project, Task
from pytest_bayesloc.syntax.nodes import (
    BUILT_IN,
    bound_in,
    called_name,
    functions_in,
    names_in,
    nodes_of,
    own_nodes,
    parameters,
    similar,
    walk,
)
from pytest_bayesloc.syntax.text import Text

_MISSING = re.compile(
    r"([\w.<>]+)\(\) missing \d+ required (positional|keyword-only) arguments?: (.+)"
)
_SURPLUS = re.compile(
    r"([\w.<>]+)\(\) takes (?:from \d+ to )?(\d+) positional arguments?"
    r" but (\d+) (?:positional|was|were)"
)
_TWICE = re.compile(r"([\w.<>]+)\(\) got multiple values for argument '(\w+)'")
N_OTHERS = 3  # names in scope that are called otherwise


@package_tool(
    "A call lacks a required argument, or has a positional argument too many. Passes what is "
    "called alike in scope, or leaves one out.",
    error_pattern=r"required (positional|keyword-only) argument"
    r"|positional arguments? but|multiple values for argument|object is not callable",
    level=Level.UNSAFE,
)
def wrong_arguments(task: Task, project: Project) -> Iterator[Made]:
    """The call with what it lacks from the scope, or without what is too much."""
    if found := _MISSING.search(task.message):
        names = re.findall(r"'(\w+)'", found.group(3))
        edits = [
            adding(task.text, call, said, f"`{said}` is passed to `{called_name(call)}`")
            for call in calls_among(task.nodes, found.group(1))
            for said in _lacking(task, call, found.group(1), names, project)
        ]
        yield from edits or _optional(task, found.group(1), names)
    elif found := _SURPLUS.search(task.message):
        n_surplus = int(found.group(3)) - int(found.group(2))
        for call in calls_among(task.nodes, found.group(1)):
            yield from _named(task, call, found.group(1), n_surplus)
            yield from _emptied(task, call, found.group(1), n_surplus)
    elif found := _TWICE.search(task.message):
        for call in calls_among(task.nodes, found.group(1)):
            for keyword in (k for k in call.keywords if k.arg == found.group(2)):
                words = f"`{keyword.arg}` is passed to `{called_name(call)}` once"
                yield in_call(task.text, call).without(arguments(call).index(keyword), words)
            yield from _emptied(task, call, found.group(1))
    elif "object is not callable" in task.message:
        yield from _uncalled(task)


def _uncalled(task: Task) -> Iterator[Made]:
    """The value of what is no function, or an item of it."""
    text = task.text
    for call in task.nodes:
        if isinstance(call, ast.Call) and not call.keywords and len(call.args) < 2:
            index = "".join(f"[{text.of(argument)}]" for argument in call.args)
            words = f"`{called_name(call)}` is not called"
            yield text.cut(text.end(call.func), text.end(call), index, words, call.lineno)


def _lacking(
    task: Task, call: ast.Call, function: str, names: list[str], project: Project
) -> Iterator[str]:
    """Arguments that a call may lack, as they are written."""
    scope = in_scope(task.tree, call)
    passed = {ast.unparse(argument) for argument in call.args}
    by_place = {a.arg for head in heads(task.tree, function) for a in head.args.posonlyargs}
    unused = [other for other in scope if other not in passed]
    exact = {name: {name, f"self.{name}", f"self._{name}"} for name in names}
    choices = [
        list(dict.fromkeys((*(n for n in scope if n in exact[name]), *similar(name, unused))))
        for name in names
    ]
    if all(choices):
        first = zip(names, (values[0] for values in choices), strict=True)
        said = (value if name in by_place else f"{name}={value}" for name, value in first)
        yield ", ".join(said)
    if len(names) != 1:
        return
    lead = "" if names[0] in by_place else f"{names[0]}="
    yield from (f"{lead}{v}" for v in choices[0] if v in exact[names[0]])
    for other in project.calls_of(called_name(call)):
        yield from _as_elsewhere(call, names[0], other, scope)
    yield from (f"{lead}{v}" for v in choices[0])
    # The parameters and variables of the functions around the call, the innermost first.
    around = [f for f in functions_in(task.tree) if f.lineno <= call.lineno <= (f.end_lineno or 0)]
    local = dict.fromkeys(name for f in reversed(around) for name in bound_in(f))
    plain = [name for name in local if name not in passed | {"self", "cls"}]
    yield from (f"{lead}{name}" for name in plain[:N_OTHERS])


def _as_elsewhere(call: ast.Call, name: str, other: ast.Call, scope: list[str]) -> Iterator[str]:
    """The argument as another call in the project gives it, by name or in the same place."""
    values = [(f"{name}=", k.value) for k in other.keywords if k.arg == name]
    n_given = len(call.args)
    if not values and not call.keywords and len(other.args) == n_given + 1:
        values = [("", other.args[n_given])]
    for lead, value in values:
        used = names_in(value)
        if used <= {*scope, *BUILT_IN} and not isinstance(value, ast.Starred):
            yield f"{lead}{ast.unparse(value)}"


def _optional(task: Task, function: str, names: list[str]) -> Iterator[Made]:
    """The function with None as the default of what is not passed."""
    text = task.text
    for head in heads(task.tree, function):
        every = [*head.args.posonlyargs, *head.args.args, *head.args.kwonlyargs]
        missing = [arg for arg in every if arg.arg in names]
        words = f"`{', '.join(names)}` of `{head.name}` may be left out"
        edits = [
            text.insert(text.end(arg), "=None" if arg.annotation is None else " = None", words)
            for arg in missing
        ]
        yield edits


def _named(task: Task, call: ast.Call, function: str, n_surplus: int) -> Iterator[Made]:
    """The last argument by name, where the function takes it only so."""
    text = task.text
    given = {keyword.arg for keyword in call.keywords}
    if n_surplus != 1 or not call.args or isinstance(call.args[-1], ast.Starred):
        return
    last = call.args[-1]
    for arg in (arg for head in heads(task.tree, function) for arg in head.args.kwonlyargs):
        if arg.arg not in given:
            words = f"`{arg.arg}` is passed to `{called_name(call)}` by name"
            yield text.replace(last, f"{arg.arg}={text.of(last)}", words)


def _emptied(task: Task, call: ast.Call, function: str, n_surplus: int = 1) -> Iterator[Made]:
    text = task.text
    bare = {m.name for m, owner in methods(task.tree) if not takes_owner(m, owner)}
    if function.rpartition(".")[2] in bare:
        return  # it lacks self, and the call is right
    given = arguments(call)
    by_place = [part for part in call.args if not isinstance(part, ast.Starred)]
    if n_surplus == 1 or len(by_place) < len(call.args):
        groups = [[part] for part in reversed(by_place)]
    else:
        # the first argument goes with the comma behind it, the others with the one before
        groups = [by_place[-n_surplus:]] if n_surplus < len(by_place) else []
    for parts in groups:
        said = ", ".join(text.of(part) for part in parts)
        words = f"`{said}` is not passed to `{called_name(call)}`"
        edits = [in_call(text, call).without(given.index(part), words) for part in parts]
        yield edits


N_FREE = 2  # parameters that a keyword with no like name may be for
_UNKNOWN = re.compile(
    r"(?:([\w.<>]+)\(\) )?(?:got an unexpected keyword argument '(\w+)'"
    r"|(?:'(\w+)' is an invalid keyword argument))(?:.*Did you mean '(\w+)')?"
)


@package_tool(
    "A call passes a keyword that what is called does not take, because it is misspelt, was "
    "renamed or is gone. Renames it, leaves it out, or adds the parameter.",
    error_pattern=r"keyword argument '\w+'|is an invalid keyword argument",
    level=Level.UNSAFE,
)
def wrong_keyword(task: Task, project: Project) -> Iterator[Made]:
    """The call with the keyword that was meant, or without it; the head with one more."""
    text = task.text
    found = _UNKNOWN.search(task.message)
    if found is None:
        return
    name, wrong = found.group(1) or "", found.group(2) or found.group(3)
    every = [node for node in task.nodes if isinstance(node, ast.Call)]
    calls = [
        (call, keyword)
        for call in (calls_among(task.nodes, name) if name else every) or every
        for keyword in call.keywords
        if keyword.arg == wrong
    ]
    for call, keyword in calls:
        own = accepted(task.tree, call, name, project)
        others = project.calls_of(called_name(call))
        elsewhere = (k.arg for other in others for k in other.keywords if k.arg)
        given = {other.arg for other in call.keywords}
        meant = [found.group(4)] if found.group(4) else []
        meant += [other for other in similar(wrong, (*own, *elsewhere)) if other not in given]
        for other in dict.fromkeys(meant):
            if other not in given:
                yield text.rename(keyword, wrong, other, f"`{other}`, not `{wrong}`")
        if name and not found.group(4):
            # It has another name altogether: the last parameters, left alone.
            free = [other for other in own if other not in given][len(call.args) :]
            for other in free[: -N_FREE - 1 : -1]:
                yield text.rename(keyword, wrong, other, f"`{other}`, not `{wrong}`")
        if not meant:  # it is gone
            words = f"`{wrong}` is not passed to `{called_name(call)}`"
            yield in_call(text, call).without(arguments(call).index(keyword), words)
    yield from _taken(task, name, wrong)


def _taken(task: Task, name: str, wrong: str) -> Iterator[Made]:
    """The function with the parameter that its body uses already."""
    for head in heads(task.tree, name) if name else ():
        used = names_in(head)
        if wrong not in used or wrong in set(bound_in(head)) or head.args.kwarg is not None:
            continue
        words = f"`{head.name}` takes `{wrong}`"
        yield in_head(task.text, head).with_last(f"{wrong}=None", words)


_TOO_MANY = re.compile(
    r"(?:(\w+)\.)?(\w+)\(\) takes (?:from \d+ to )?(\d+) (?:required )?positional arguments?"
    r" but (\d+) "
)
_TWICE_OF = re.compile(r"(?:(\w+)\.)?(\w+)\(\) got multiple values for argument")
_NO_ATTRIBUTE = re.compile(r"has no attribute '(\w+)'")
_OF_CLASS = frozenset({"__new__", "__init_subclass__", "__class_getitem__"})


@package_tool(
    "A method is defined without self or cls, or a name is used or set without it. Adds it to the "
    "head of the method, or before the name.",
    error_pattern=r"positional arguments? but|multiple values for argument"
    r"|name '\w+' is not defined|object has no attribute|^AssertionError",
    level=Level.SAFE,
)
def missing_self(task: Task, _project: Project) -> Iterator[Made]:
    """The method with ``self``, in its head or before the name that is not defined."""
    text = task.text
    if task.undefined:
        yield from _used(task, task.undefined)
    if task.error_type in {"AttributeError", "AssertionError"}:
        yield from _set(task)
        return
    found = _TOO_MANY.search(task.message)
    if found is not None and int(found.group(4)) != int(found.group(3)) + 1:
        return
    found = found or _TWICE_OF.search(task.message)
    if found is None:
        return
    for method, owner in methods(task.tree):
        is_meant = method.name == found.group(2) and found.group(1) in {None, owner.name}
        if is_meant and not takes_owner(method, owner):
            yield _with_first(text, method)


def _set(task: Task) -> Iterator[Made]:
    """The attribute where a method sets a name of its own that nothing uses."""
    for method, owner in methods(task.tree):
        own = parameters(method.args)[:1]
        for node, name in _set_names(task, method) if own in (["self"], ["cls"]) else ():
            within = {id(n) for n in walk(node)}
            if any(n.id == name and id(n) not in within for n in nodes_of(method, ast.Name)):
                continue  # another statement uses it
            owners = family(task.tree, owner.name)
            uses = (n for part in owners for n in nodes_of(part, ast.Attribute) if n.attr == name)
            if any(ast.unparse(use.value) == own[0] for use in uses):
                words = f"`{own[0]}.{name}` is set, not a name that nothing uses"
                yield task.text.replace(node.targets[0], f"{own[0]}.{name}", words)


def _set_names(task: Task, method: FunctionNode) -> Iterator[tuple[ast.Assign, str]]:
    """Assignments to a name in ``method``: to what is missing, or at the lines of the failure."""
    missing = _NO_ATTRIBUTE.search(task.message)
    lines = {task.line, *task.lines}
    span = range(method.lineno, (method.end_lineno or method.lineno) + 1)
    is_near = task.error_type != "AssertionError" or not lines.isdisjoint(span)
    if not is_near or (missing is not None and missing[1] not in task.code):
        return
    for node in own_nodes(method):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            is_there = task.error_type != "AssertionError" or node.lineno in lines
            if is_there and (missing is None or name == missing[1]):
                yield node, name


def _with_first(text: Text, method: FunctionNode) -> Made:
    is_of_class = method.name in _OF_CLASS or any(
        ast.unparse(decorator) == "classmethod" for decorator in method.decorator_list
    )
    name = "cls" if is_of_class else "self"
    words = f"`{method.name}` takes `{name}`"
    return in_head(text, method).with_first(name, words)


def _used(task: Task, name: str) -> Iterator[Made]:
    text = task.text
    around = [m for m in methods(task.tree) if m[0].lineno <= task.line <= (m[0].end_lineno or 0)]
    if not around:
        return
    method, owner = max(around, key=lambda pair: pair[0].lineno)
    if name in {"self", "cls"}:
        if not takes_owner(method, owner):
            yield _with_first(text, method)
        return
    first = parameters(method.args)[:1]
    if first not in (["self"], ["cls"]) or name not in attributes(
        family(task.tree, owner.name), {"self", "cls"}
    ):
        return
    words = f"`{name}` is an attribute of `{first[0]}`"
    uses = [n for n in nodes_of(method, ast.Name) if n.id == name]
    if all(isinstance(use.ctx, ast.Load) and is_placed(text, use) for use in uses):
        edits = [text.replace(use, f"{first[0]}.{name}", words) for use in uses]
        yield edits
