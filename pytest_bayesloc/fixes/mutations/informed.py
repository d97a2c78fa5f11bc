"""Mutations that read the failure: the exception that was raised, or both sides of a comparison."""

from __future__ import annotations

import ast
import re
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import product

from pytest_bayesloc.fixes.site import Site
from pytest_bayesloc.syntax.expressions import is_literal
from pytest_bayesloc.syntax.nodes import first_statement, holds, parameters
from pytest_bayesloc.syntax.text import TextEdit, brief

REVERSED = "_[::-1]"
DIRECTIVES = "YmdHMSpIfyBbAajzZ"  # of formats of dates and times
_DIRECTIVE = re.compile(r"%([A-Za-z])")

N_CHANGES = 4  # that make what was computed what was expected
ELSEWHERE = 0.5  # of the chance of a conversion beside others
PLACES = (1, 2, 3)  # to which a number is rounded


def catch_error(site: Site) -> Iterator[TextEdit]:
    """Catch the exception that was raised in a ``try`` statement whose handler is for another."""
    hints = site.hints
    for node in site.own(ast.Try) if hints.error else ():
        if not any(holds(inner, hints.line) for inner in node.body):
            continue
        for handler in node.handlers:
            kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
            named = [kind for kind in kinds if isinstance(kind, (ast.Name, ast.Attribute))]
            if handler.type is not None and len(named) == len(kinds):
                names = [site.of(kind) for kind in named]
                text = f"({', '.join((*names, hints.error))})"
                yield site.replace(handler.type, text, f"`{hints.error}` is caught, too")


def other_kind(site: Site) -> Iterator[TextEdit]:
    """Put the literal that was expected for one of another type that was computed."""
    for got, wanted in site.hints.sides:
        if type(got) is not type(wanted) and isinstance(wanted, (str, int, bool, type(None))):
            for node in site.own(ast.Constant):
                if type(node.value) is type(got) and node.value == got:
                    words = f"`{brief(repr(got))}` to `{brief(repr(wanted))}`"
                    yield site.replace(node, repr(wanted), words)


def normalize_given(site: Site) -> Iterator[TextEdit]:
    """Bring a text that is given to lower case, or strip it, if failing tests give such a one."""
    first = first_statement(site.function)
    for name in parameters(site.function.args):
        values = (s.values[name] for s in site.hints.failing if name in s.values)
        texts = {value.text for value in values if value.type_name == "str" and value.text}
        for method in ("lower", "strip"):
            if any(getattr(text, method)() != text for text in map(ast.literal_eval, texts)):
                made = f"{name} = {name}.{method}()"
                if edit := site.before(first, made, f"`{made}`"):
                    yield edit


def other_directive(site: Site) -> Iterator[TextEdit]:
    """Put another directive into a format that no time of failing tests has, and that one fits."""
    given = (value.text or "" for s in site.hints.failing for value in s.values.values())
    literals = (ast.literal_eval(text) for text in dict.fromkeys(given) if is_literal(text))
    texts = [text for text in literals if isinstance(text, str)]
    for node in site.own(ast.Constant) if texts else ():
        value, said = node.value, site.of(node)
        if not isinstance(value, str) or any(_is_time(text, value) for text in texts):
            continue
        for found in _DIRECTIVE.finditer(said):
            for other in DIRECTIVES:
                made = f"{said[: found.start(1)]}{other}{said[found.end(1) :]}"
                whole = f"({made})"  # it may have several lines, or be a part of an f-string
                form = ast.literal_eval(whole) if is_literal(whole) else ""
                if any(_is_time(text, form) for text in texts):
                    yield site.replace(node, made, f"`%{found[1]}` to `%{other}`")


def _is_time(text: str, form: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a day without a year is deprecated
        try:
            time.strptime(text, form)
        except (ValueError, re.error):
            return False
    return True


def convert_to_expected(site: Site) -> Iterator[TextEdit]:
    """Change what is returned, assigned or added in the way that makes it what was expected."""
    every = dict.fromkeys(text for side in site.hints.sides for text in _changes(*side))
    # What may make what the test sees: what is returned comes first.
    values = [node.value for node in site.own(ast.Return)]
    values += [node.value for node in site.own(ast.Assign)]
    for call in site.own(ast.Call):
        if isinstance(call.func, ast.Attribute) and call.func.attr in {"append", "add"}:
            values += call.args[:1]
    made_here = [v for v in values if v and not isinstance(v, (ast.Constant, ast.Lambda))]
    for node, change in product(made_here, list(every)[:N_CHANGES]):
        weight = ELSEWHERE
        match node:
            case ast.Call(func=ast.Name(id="sorted"), keywords=given) if change == REVERSED:
                if all(keyword.arg not in {"reverse", None} for keyword in given):
                    yield site.one_more(node, "reverse=True", "`reverse=True` is passed")
                    continue
            case ast.Call(func=ast.Attribute(attr=name)):
                # What was forgotten belongs to a text that is converted there already.
                weight = 1.0 if f"_.{name}()" in _CHANGES else ELSEWHERE
        text = site.of(node)
        is_whole = isinstance(node, (ast.Name, ast.Attribute, ast.Call, ast.Subscript))
        made = change.replace("_", text if is_whole or "(_" in change else f"({text})", 1)
        edit = site.replace(node, made, f"`{change.replace('_', brief(text, 30), 1)}`")
        yield replace(edit, weight=weight)


def _changes(got: object, wanted: object) -> Iterator[str]:
    """Yield expressions of ``_`` that make ``wanted`` of ``got``."""
    for text, change in _CHANGES.items():
        if _made(change, got, wanted):
            yield text
    if isinstance(got, float) and isinstance(wanted, (int, float)):
        yield from (f"round(_, {n})" for n in PLACES if round(got, n) == wanted)


def _made(change: Callable[..., object], got: object, wanted: object) -> bool:
    try:
        made = change(got)
    except (TypeError, ValueError, AttributeError, ArithmeticError, LookupError):
        return False
    return type(made) is type(wanted) and made == wanted and got != wanted


_CHANGES: Mapping[str, Callable[..., object]] = {
    "sorted(_)": sorted,
    "list(_)": list,
    "tuple(_)": tuple,
    "set(_)": set,
    "dict(_)": dict,
    "str(_)": str,
    "int(_)": int,
    "float(_)": float,
    "round(_)": round,
    "bool(_)": bool,
    REVERSED: lambda value: value[::-1],
    "list(dict.fromkeys(_))": lambda value: list(dict.fromkeys(value)),
    "_.strip()": lambda value: value.strip(),
    "_.lstrip()": lambda value: value.lstrip(),
    "_.rstrip()": lambda value: value.rstrip(),
    "_.lower()": lambda value: value.lower(),
    "_.upper()": lambda value: value.upper(),
    "_.title()": lambda value: value.title(),
    "_.capitalize()": lambda value: value.capitalize(),
    "_.encode()": lambda value: value.encode(),
    "_.decode()": lambda value: value.decode(),
    "_[0]": lambda value: value[0],
    "[_]": lambda value: [value],
    "-_": lambda value: -value,
}
