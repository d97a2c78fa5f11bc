"""Mutations that use what a function has and nothing uses: it tells of the use that is missing.

That is a parameter or a variable that is never read, a result that is dropped, and a method that is
named where its call is meant.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain

from pytest_bayesloc.domain.source import FunctionNode, tree_of
from pytest_bayesloc.fixes.mutations.calls import parameters_of
from pytest_bayesloc.fixes.mutations.operators import clauses_of
from pytest_bayesloc.fixes.site import Site
from pytest_bayesloc.syntax.nodes import (
    argument_names,
    functions_in,
    nodes_of,
    parameters,
    targets,
    walk,
)
from pytest_bayesloc.syntax.text import TextEdit, brief

N_CALLS = 4  # that are given what is unused, where no parameter of theirs has its name
#: Methods that change nothing and give a value; ``update`` and its like are none.
PURE_METHODS = frozenset(
    {"strip", "lstrip", "rstrip", "lower", "upper", "title", "capitalize", "casefold", "swapcase",
     "replace", "removeprefix", "removesuffix", "format", "join", "encode", "decode", "zfill",
     "ljust", "rjust", "center", "expandtabs", "translate", "split", "splitlines", "union",
     "intersection", "difference", "symmetric_difference", "with_suffix", "with_name", "resolve",
     "expanduser", "absolute", "quantize", "astimezone", "conjugate", "limit_denominator"}
)  # fmt: skip
PURE_FUNCTIONS = frozenset({"sorted", "reversed", "list", "set", "tuple", "dict", "int", "float",
                            "str", "round", "abs"})  # fmt: skip
#: Words of parameters that say how many, or from where on.
_LIMITS = frozenset({"limit", "max", "maximum", "n", "num", "number", "count", "top", "size", "k"})
_STARTS = frozenset({"offset", "skip", "start", "since"})
_SEQUENCES = (ast.Name, ast.Attribute, ast.Call, ast.List, ast.ListComp)
_REFLECTS = frozenset({"locals", "vars", "eval", "exec"})


def unread(function: FunctionNode) -> list[str]:
    """The parameters, then the variables, that ``function`` binds and never reads.

    None of those whose names say so, nor of a function that does nothing, as an abstract one.
    """
    names = nodes_of(function, ast.Name)
    read = {node.id for node in names if not isinstance(node.ctx, ast.Store)}
    scopes = (n for n in walk(function) if isinstance(n, (ast.Global, ast.Nonlocal)))
    outer = {name for node in scopes for name in node.names}
    does_nothing = all(
        isinstance(statement, (ast.Pass, ast.Raise))
        or (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
        for statement in function.body
    )
    if read & _REFLECTS or does_nothing:
        return []
    assigned = [name.id for node in nodes_of(function, ast.Assign) for name in targets(node)]
    loops = [
        loop.target.id
        for loop in nodes_of(function, ast.For)
        if isinstance(loop.target, ast.Name)
        # None of a loop that only counts.
        if not isinstance(loop.iter, ast.Call) or ast.unparse(loop.iter.func) != "range"
    ]
    own = dict.fromkeys((*parameters(function.args), *assigned, *loops))
    free = (name for name in own if name not in read and name not in outer)
    return [name for name in free if name not in {"self", "cls"} and not name.startswith("_")]


def use_unused(site: Site) -> Iterator[TextEdit]:
    """Read a parameter or variable that nothing reads in the place of another name, or pass it."""
    for name in unread(site.function):
        first = site.first_stores.get(name, 0)  # the line from which on it has its value
        yield from _in_place_of_names(site, name, first)
        for node in site.own(ast.Return) if first else ():  # for a variable alone
            value = node.value
            if value is not None and node.lineno > first and not isinstance(value, ast.Name):
                yield site.replace(value, name, f"`{name}` is returned, which nothing used")
        yield from _sliced(site, name)
        yield from _passed(site, name, first)


def _in_place_of_names(site: Site, name: str, first: int) -> Iterator[TextEdit]:
    """The name for another of the function: for the last use of one that is read most often first.

    What was copied and not adapted stands there once too often.
    """
    own = set(site.own_names)
    read = [n for n in site.own(ast.Name) if isinstance(n.ctx, ast.Load) and n.id in own]
    often = Counter(node.id for node in read)
    read.sort(key=lambda n: (-often[n.id], -n.lineno, -n.col_offset))
    for node in read:
        if node.lineno > first:
            yield site.replace(node, name, f"`{node.id}` to `{name}`, which nothing used")


def _sliced(site: Site, name: str) -> Iterator[TextEdit]:
    """As many items of what is returned as a parameter says, or those from there on."""
    words = set(name.casefold().split("_"))
    bounds = [f":{name}"] if words & _LIMITS else []
    bounds += [f"{name}:"] if words & _STARTS else []
    for node in site.own(ast.Return):
        if isinstance(node.value, _SEQUENCES):
            for bound in bounds:
                made = f"{site.of(node.value)}[{bound}]"
                yield site.replace(node.value, made, f"`[{bound}]`, which nothing used")


def _passed(site: Site, name: str, first: int) -> Iterator[TextEdit]:
    """The name as one more argument: where a parameter is called like that first."""
    given = site.function.args
    stars = {getattr(given.vararg, "arg", ""): "*", getattr(given.kwarg, "arg", ""): "**"}
    star = stars.get(name, "")
    calls = [
        call
        for call in site.own(ast.Call)
        if call.lineno > first and all(keyword.arg for keyword in call.keywords)
        if not any(isinstance(argument, ast.GeneratorExp) for argument in call.args)
    ]
    named = [] if star else [call for call in calls if name in parameters_of(site, call)]
    unnamed = [c for c in calls if c not in named and (star == "**" or not c.keywords)]
    texts = chain(
        ((call, f"{name}={name}") for call in named),
        ((call, f"{star}{name}") for call in unnamed[:N_CALLS]),
    )
    for call, text in texts:
        words = f"`{text}`, which nothing used, is passed to `{brief(site.of(call.func))}`"
        yield site.one_more(call, text, words)


def keep_result(site: Site) -> Iterator[TextEdit]:
    """Keep the value of a call that gives one and changes nothing, where it is dropped."""
    for node in site.own(ast.Expr):
        owner = _kept_in(node.value)
        if owner is not None:
            call, name = site.of(node.value), site.of(owner)
            words = f"`{brief(call)}` changes nothing: its result is kept"
            yield site.replace(node, f"{name} = {call}", words)
            yield site.replace(node, f"return {call}", f"{words} and returned")


def _kept_in(value: ast.expr) -> ast.expr | None:
    """The variable or attribute into which the result of a call belongs; None: it has none."""
    match value:
        case ast.Call(func=ast.Attribute(attr="join"), args=[]):  # of a thread
            return None
        case ast.Call(func=ast.Attribute(value=(ast.Name() | ast.Attribute()) as owner, attr=name)):
            return owner if name in PURE_METHODS else None
        case ast.Call(func=ast.Name(id=name), args=[(ast.Name() | ast.Attribute()) as owner, *_]):
            return owner if name in PURE_FUNCTIONS else None
    return None


def call_method(site: Site) -> Iterator[TextEdit]:
    """Call a function or method that is named where its result is meant."""
    own = set(site.nodes)
    for node in named_functions(site.function, site.tree):
        if node in own:
            yield site.insert(
                site.end(node), "()", f"`{brief(site.of(node))}` is called", node.lineno
            )


def named_functions(tree: ast.AST, file: ast.AST) -> list[ast.expr]:
    """Functions that are named in ``tree``, where only a result makes sense.

    That is a statement by itself, a condition, and a side of a comparison or of an operator.

    Args:
        tree: A function, or more.
        file: Its file, whose functions and methods are known.
    """
    plain = _callable_names(file)
    alone: list[ast.expr] = []
    used: list[ast.expr] = []
    for node in walk(tree):
        match node:
            case ast.Expr(value=ast.Attribute() as value):
                alone.append(value)
            case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
                used += clauses_of(test)
            case ast.UnaryOp(op=ast.Not(), operand=test):
                used += clauses_of(test)
            case ast.comprehension(ifs=tests):
                used += [clause for test in tests for clause in clauses_of(test)]
            case ast.Compare(left=left, comparators=others):
                used += [left, *others]
            case ast.BinOp(left=left, right=right):
                used += [left, right]
    named = (
        node
        for node in used
        if (isinstance(node, ast.Name) and node.id in plain)
        or (isinstance(node, ast.Attribute) and f".{node.attr}" in plain)
    )
    return list({id(node): node for node in (*alone, *named)}.values())


@lru_cache(maxsize=16)
def _callable_names(file: ast.AST) -> frozenset[str]:
    """The names of functions, and those of methods behind a dot, that nothing else has there."""
    plain = {n for n in functions_in(file) if not n.decorator_list}
    owners = nodes_of(file, ast.ClassDef)
    methods = {n for owner in owners for n in owner.body if isinstance(n, FunctionNode)} & plain
    set_there = {n.attr for n in nodes_of(file, ast.Attribute) if isinstance(n.ctx, ast.Store)}
    bound = {n.id for n in nodes_of(file, ast.Name) if isinstance(n.ctx, ast.Store)}
    bound |= argument_names(file)
    members = {n.name for n in methods} - set_there
    return frozenset((*(f".{n}" for n in members), *({n.name for n in plain - methods} - bound)))


def uses_unused(before: str, after: str, file: str) -> bool:
    """Whether a change uses what the code before it had and nothing used.

    Args:
        before: Text of a function, or of a file.
        after: The same with the change.
        file: Text of the whole file before it.
    """
    old, new, whole = tree_of(before), tree_of(after), tree_of(file)
    if old is None or new is None or whole is None:
        return False
    used = unused(old, whole) - unused(new, whole)
    return bool(used) and bool(used & {ast.unparse(n) for n in nodes_of(new, ast.expr)})


@lru_cache(maxsize=64)
def unused(tree: ast.AST, whole: ast.AST) -> frozenset[str]:
    """All in ``tree`` that nothing uses, as expressions."""
    names = (name for function in functions_in(tree) for name in unread(function))
    dropped = (n.value for n in nodes_of(tree, ast.Expr) if _kept_in(n.value) is not None)
    return frozenset((*names, *map(ast.unparse, (*dropped, *named_functions(tree, whole)))))
