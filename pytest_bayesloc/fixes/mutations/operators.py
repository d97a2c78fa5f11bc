"""Mutations of conditions, operators, constants, arguments and results."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from pytest_bayesloc.fixes.mutations.calls import TELL_APART
from pytest_bayesloc.fixes.site import Site
from pytest_bayesloc.syntax.expressions import KINDS, PARTS
from pytest_bayesloc.syntax.nodes import called_name, every_node
from pytest_bayesloc.syntax.text import TextEdit, brief

N_NUMBERS = 3  # that are tried in the place of one
N_KINDS = 8  # classes that a check is made to accept, one at a time
TAKE_DEFAULTS = frozenset({"get", "getattr", "pop", "setdefault"})  # behind the key
MAX_BITS = 64  # of a constant that is changed: longer ones are no counts, and slow to write

_COMPARISONS: dict[type[ast.AST], tuple[str, tuple[str, ...]]] = {
    ast.Lt: ("<", ("<=", ">")),
    ast.LtE: ("<=", ("<", ">=")),
    ast.Gt: (">", (">=", "<")),
    ast.GtE: (">=", (">", "<=")),
    ast.Eq: ("==", ("!=",)),
    ast.NotEq: ("!=", ("==",)),
    ast.Is: ("is", ("is not",)),
    ast.IsNot: ("is not", ("is",)),
    ast.In: ("in", ("not in",)),
    ast.NotIn: ("not in", ("in",)),
}
NEGATED = 0.4  # the weight of a comparison for its opposite: rarer in fixes than one for its like
#: Signs of arithmetic operators, each with those that are taken for it.
ARITHMETIC: dict[type[ast.AST], tuple[str, tuple[str, ...]]] = {
    ast.Add: ("+", ("-", "*")),
    ast.Sub: ("-", ("+",)),
    ast.Mult: ("*", ("/", "+", "**")),
    ast.Pow: ("**", ("*",)),
    ast.Div: ("/", ("*", "//")),
    ast.FloorDiv: ("//", ("/", "%")),
    ast.Mod: ("%", ("//",)),
    ast.BitAnd: ("&", ("|",)),
    ast.BitOr: ("|", ("&",)),
    ast.LShift: ("<<", (">>",)),
    ast.RShift: (">>", ("<<",)),
}


#: Names of calls that give truth values.
_TRUTH = re.compile(r"(^|[._])(is|has|may|can|any|all|startswith|endswith)(_\w+)?$|\.is[a-z]+$")


def _conditions(site: Site) -> Iterator[ast.expr]:
    """The conditions that decide branches."""
    for node in site.nodes:
        if isinstance(node, (ast.If, ast.While, ast.IfExp)):
            yield node.test
        elif isinstance(node, ast.comprehension):
            yield from node.ifs


def negate_condition(site: Site) -> Iterator[TextEdit]:
    """Negate a condition, or no longer negate it."""
    for test in _conditions(site):
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            yield site.replace(test, _whole(site.of(test.operand)), "condition no longer negated")
        else:
            yield site.replace(test, f"(not ({site.of(test)}))", "condition negated")


def negate_clause(site: Site) -> Iterator[TextEdit]:
    """Negate a clause of a condition, or a truth value that is returned or assigned."""
    wholes = [node.value for node in site.nodes if isinstance(node, (ast.Assign, ast.Return))]
    clauses = [clause for node in site.own(ast.BoolOp) for clause in node.values]
    for node in (*(value for value in wholes if value is not None and _is_truth(value)), *clauses):
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield site.replace(node, site.of(node.operand), "no longer negated")
        elif isinstance(node, (ast.Name, ast.Attribute, ast.Call, ast.Subscript)):
            yield site.replace(node, f"not {site.of(node)}", f"`{brief(site.of(node))}` negated")


def _is_truth(value: ast.expr) -> bool:
    """Whether a value is negated, or its name may be that of a truth value."""
    match value:
        case ast.UnaryOp(op=operator):
            return isinstance(operator, ast.Not)
        case ast.Call(func=function):
            return bool(_TRUTH.search(ast.unparse(function)))
    return isinstance(value, (ast.Name, ast.Attribute))


def change_comparison(site: Site) -> Iterator[TextEdit]:
    """Compare by another operator."""
    for node in site.own(ast.Compare):
        operands = [node.left, *node.comparators]
        for left, operator, right in zip(operands, node.ops, operands[1:], strict=False):
            is_order = isinstance(operator, (ast.Lt, ast.LtE, ast.Gt, ast.GtE))
            for edit in _operator(site, left, right, _COMPARISONS.get(type(operator))):
                yield edit if is_order else replace(edit, weight=NEGATED)


def compare_with_none(site: Site) -> Iterator[TextEdit]:
    """Ask whether a value is None, where it was asked whether it is true."""
    tests = list(_conditions(site))
    clauses = [clause for test in tests for clause in clauses_of(test)]
    for clause in clauses:
        match clause:
            case ast.UnaryOp(op=ast.Not(), operand=value):
                test = "is None"
            case value:
                test = "is not None"
        # A truth value is never None.
        is_truth = site.failing_types.get(ast.unparse(value)) == frozenset({"bool"})
        if isinstance(value, (ast.Name, ast.Attribute, ast.Subscript)) and not is_truth:
            made = f"{site.of(value)} {test}"
            yield site.replace(clause, made, f"`{made}`")
    for node in site.own(ast.BoolOp):
        match node:
            case ast.BoolOp(op=ast.Or(), values=[(ast.Name() | ast.Attribute()) as value, other]):
                if node not in tests and node not in clauses:
                    first, second = site.of(value), site.of(other)
                    made = f"({first} if {first} is not None else {second})"
                    yield site.replace(node, made, f"`{second}` only for None")


def clauses_of(test: ast.expr) -> list[ast.expr]:
    """A condition, or all that it joins."""
    if isinstance(test, ast.BoolOp):
        return [clause for value in test.values for clause in clauses_of(value)]
    return [test]


def compare_text(site: Site) -> Iterator[TextEdit]:
    """Compare with the whole of a text, its start or its end, or ask whether it is in there."""
    for node in site.own(ast.Compare):
        match node:
            case ast.Compare(left=left, ops=[ast.In()], comparators=[right]):
                parts = [(left, right), (right, left)]
            case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
                parts = [(left, right)]
            case _:
                continue
        is_whole = isinstance(node.ops[0], ast.Eq)
        for value, constant in parts:
            if isinstance(constant, ast.Constant) and isinstance(constant.value, (str, bytes)):
                text, known = site.of(value), site.of(constant)
                made = [f"{text}.startswith({known})", f"{text}.endswith({known})"]
                made.insert(0, f"{known} in {text}" if is_whole else f"{text} == {known}")
                yield from (site.replace(node, other, f"`{brief(other)}`") for other in made)


def accept_more(site: Site) -> Iterator[TextEdit]:
    """Let a check accept more: a class or a text of failing tests."""
    for node in site.nodes:
        match node:
            case ast.Compare(ops=[ast.Eq()], comparators=[ast.Constant(value=str()) as other]):
                for more in _seen_texts(site, ast.unparse(node.left)):
                    made = f"{site.of(node.left)} in ({site.of(other)}, {more})"
                    yield site.replace(node, made, f"`{brief(more)}` is accepted, too")
            case ast.Call(
                func=ast.Name(id="isinstance"),
                args=[value, (ast.Name() | ast.Attribute()) as kind],
            ):
                own = site.of(kind)
                seen = _seen_kinds(site, ast.unparse(value), own.rpartition(".")[0])
                for more in [k for k in dict.fromkeys(seen) if k != own][:N_KINDS]:
                    yield site.replace(kind, f"({own}, {more})", f"`{more}` is accepted, too")


def _seen_kinds(site: Site, name: str, module: str) -> Iterator[str]:
    """The classes that a variable's values have in failing tests, as the function may name them.

    Those of the project it has by their names, or as others of a ``module``.
    """
    for sample in site.hints.failing:
        if name in sample.values and sample.values[name].type_name in KINDS:
            yield sample.values[name].type_name
        for kind in sample.classes.get(name, ())[:1]:
            if kind.isidentifier() and (module or kind in site.visible):
                yield f"{module}.{kind}" if module else kind


def _seen_texts(site: Site, name: str) -> list[str]:
    """The texts that a variable is in failing tests and in no passing one, as literals."""
    failing, passing = (
        dict.fromkeys(s.values[name].text or "" for s in samples if name in s.values)
        for samples in (site.hints.failing, site.hints.passing)
    )
    return [text for text in failing if text[:1] in {"'", '"'} and text not in passing][:N_KINDS]


def change_arithmetic(site: Site) -> Iterator[TextEdit]:
    """Compute by another operator."""
    for node in site.own(ast.BinOp):
        value = getattr(node.left, "value", None)  # a template on the left of % is no number
        if not isinstance(node.left, ast.JoinedStr) and not isinstance(value, (str, bytes)):
            known = ARITHMETIC.get(type(node.op))
            if known is not None and getattr(node.right, "value", None) in {0, 1}:
                known = known[0], tuple(one for one in known[1] if one[0] != "*")  # times 1
            yield from _operator(site, node.left, node.right, known)
        sides = (node.left, node.right)
        if isinstance(node.op, ast.FloorDiv) and all(isinstance(side, PARTS) for side in sides):
            made = f"-(-{site.of(node.left)} // {site.of(node.right)})"
            yield site.replace(node, made, f"`{brief(made)}`, which rounds up")
    for change in site.own(ast.AugAssign):
        yield from _operator(site, change.target, change.value, ARITHMETIC.get(type(change.op)))


def change_boolean(site: Site) -> Iterator[TextEdit]:
    """Put ``or`` for ``and``, and the other way round."""
    for node in site.own(ast.BoolOp):
        word, other = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:], strict=False):
            yield from _operator(site, left, right, (word, (other,)))


def change_constant(site: Site) -> Iterator[TextEdit]:
    """Put the other truth value, or a number one more or one less."""
    compared = {part for node in site.own(ast.Compare) for part in node.comparators}
    for node in site.own(ast.Constant):
        value = node.value
        if isinstance(value, bool):
            edit = site.replace(node, str(not value), f"{value} to {not value}")
            yield replace(edit, weight=NEGATED) if node in compared else edit
        elif isinstance(value, int) and value.bit_length() <= MAX_BITS:
            for other in (value + 1, value - 1):
                written = str(other) if other >= 0 else f"({other})"
                yield site.replace(node, written, f"{value} to {other}")


def other_number(site: Site) -> Iterator[TextEdit]:
    """Put a number that stands elsewhere in the file, the nearest first; take the other end."""
    known = {n.value for n in every_node(site.tree) if isinstance(n, ast.Constant) and _counts(n)}
    numbers = sorted(n for n in known if isinstance(n, (int, float)))
    for node in site.own(ast.Constant):
        value = node.value
        if isinstance(value, (int, float)) and _counts(node):
            others = [n for n in numbers if abs(n - value) > 1]
            others.sort(key=lambda n, value=value: abs(n - value))  # type: ignore[misc]
            for other in others[:N_NUMBERS]:
                yield site.replace(node, repr(other), f"{value} to {other}")
    for part in site.own(ast.Subscript):
        text = ast.unparse(part.slice)
        if text in _ENDS:
            words = f"the item `[{_ENDS[text]}]`"
            yield site.replace(part.slice, _ENDS[text], words)


_ENDS = {"0": "-1", "-1": "0"}


def _counts(node: ast.Constant) -> bool:
    """Whether a constant is a number other than 0 and 1, which stand everywhere."""
    value = node.value
    return type(value) in {int, float} and abs(value) > 1  # type: ignore[arg-type]


def swap_arguments(site: Site) -> Iterator[TextEdit]:
    """Swap two arguments of a call that stand side by side."""
    for node in site.own(ast.Call):
        for left, right in zip(node.args, node.args[1:], strict=False):
            if isinstance(left, ast.Starred) or isinstance(right, ast.Starred):
                continue
            first, second = site.of(left), site.of(right)
            name = called_name(node)
            is_default = name in TAKE_DEFAULTS and isinstance(right, ast.Constant)
            if is_default or name in TELL_APART:
                continue
            if first != second and not isinstance(right, ast.GeneratorExp):
                start, end = site.start(left), site.end(right)
                between = site.between(site.end(left), site.start(right))
                swapped = f"{second}{between}{first}"
                yield site.cut(start, end, swapped, "arguments swapped", left.lineno)


def change_return(site: Site) -> Iterator[TextEdit]:
    """Return something else: what stands in another ``return``, a parameter, or a plain value."""
    values = [node.value for node in site.own(ast.Return) if node.value is not None]
    others = [_whole(site.of(value)) for value in values]
    given = (*site.function.args.posonlyargs, *site.function.args.args)
    names = [arg.arg for arg in given if arg.arg != "cls"][:3]
    for value in values:
        is_negated = isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.Not)
        plain = ["None"]
        if is_negated or isinstance(value, (ast.Compare, ast.BoolOp)):
            plain = ["True", "False"]
        elif isinstance(value, ast.Constant):
            plain = {"True": ["False"], "False": ["True"]}.get(repr(value.value), plain)
        for other in dict.fromkeys((*plain, *others, *names)):
            if other != _whole(site.of(value)):
                yield site.replace(value, other, f"returns `{brief(other, 50)}`")


def _operator(
    site: Site, left: ast.expr, right: ast.expr, change: tuple[str, tuple[str, ...]] | None
) -> Iterator[TextEdit]:
    """Put other operators between two operands, whatever brackets are there too."""
    if change is None:
        return
    old, others = change
    start, end = site.end(left), site.start(right)
    between = site.between(start, end)
    if "#" in between or start > end:
        return
    written = r"\s+".join(map(re.escape, old.split()))
    found = re.search(written if old[0].isalpha() else rf"(?<![<>=!*/]){written}", between)
    if found is None:
        return
    for other in others:
        changed = between[: found.start()] + other + between[found.end() :]
        yield site.cut(start, end, changed, f"`{old}` to `{other}`", right.lineno)


def _whole(text: str) -> str:
    """``text`` that may stand where no brackets are around it."""
    return f"({text})" if "\n" in text or "\r" in text else text
