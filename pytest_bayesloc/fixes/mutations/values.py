"""Mutations of values: conversions, copies, texts, exceptions, bounds."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator

from pytest_bayesloc.fixes.mutations.site import Site
from pytest_bayesloc.fixes.syntax import TextEdit, brief

CONVERSIONS = ("str", "int", "list", "tuple", "sorted", "set", "float", "bool", "dict", "abs")
METHODS = ("copy()", "strip()", "lower()", "encode()", "decode()", "items()")
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


def convert(site: Site) -> Iterator[TextEdit]:
    """Convert or copy what is returned, assigned or passed on."""
    for node in _used(site):
        text = site.text.of(node)
        whole = text if isinstance(node, (ast.Name, ast.Attribute, ast.Call, ast.Subscript)) else ""
        for name in CONVERSIONS:
            if not text.startswith(f"{name}("):
                words = f"`{name}()` around `{brief(text, 30)}`"
                yield site.text.replace(node, f"{name}({text})", words)
        for method in METHODS if whole else ():
            if not text.endswith(f".{method}"):
                words = f"`.{method}` behind `{brief(text, 30)}`"
                yield site.text.replace(node, f"{text}.{method}", words)


def _used(site: Site) -> Iterator[ast.expr]:
    """Expressions that go somewhere: returned or assigned as a whole, passed, or operands."""
    for node in site.nodes:
        if isinstance(node, (ast.Return, ast.Assign, ast.AugAssign)) and node.value is not None:
            yield node.value
        elif isinstance(node, ast.Call):
            yield from (a for a in node.args if isinstance(a, (ast.Name, ast.Attribute)))
        elif isinstance(node, ast.BinOp):
            yield from (side for side in (node.left, node.right) if _is_plain(side))
        elif isinstance(node, ast.Compare):
            yield from (side for side in (node.left, *node.comparators) if _is_plain(side))
        elif isinstance(node, (ast.For, ast.comprehension)):
            yield node.iter


def _is_plain(node: ast.expr) -> bool:
    return isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call))


def drop_conversion(site: Site) -> Iterator[TextEdit]:
    """Leave out a conversion."""
    for node in site.nodes:
        if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
            if isinstance(node.func, ast.Name) and node.func.id in CONVERSIONS:
                text = site.text.of(node.args[0])
                yield site.text.replace(node, f"({text})", f"no `{node.func.id}()`")
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            written = f"{node.func.attr}()"
            if not node.args and not node.keywords and written in METHODS:
                yield site.text.replace(node, site.text.of(node.func.value), f"no `.{written}`")


def other_text(site: Site) -> Iterator[TextEdit]:
    """Use a string of the file that looks alike, or the same with or without a blank."""
    known = [
        node.value
        for node in ast.walk(site.tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 80
    ]
    for node in site.own(ast.Constant):
        value = node.value
        if not isinstance(value, str) or len(value) >= 80:
            continue
        others = sorted(set(known) - {value})
        alike = difflib.get_close_matches(value, others, n=N_TEXTS, cutoff=0.5)
        made = [value.strip(), value + " ", value.lower(), value.upper(), ""]
        for other in dict.fromkeys((*alike, *made)):
            if other != value:
                yield site.text.replace(node, repr(other), f"{value!r:.30} to {other!r:.30}")


def other_exception(site: Site) -> Iterator[TextEdit]:
    """Raise or catch another exception."""
    for node in site.nodes:
        named = None
        if isinstance(node, ast.Raise) and node.exc is not None:
            named = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        elif isinstance(node, ast.ExceptHandler):
            named = node.type
        if isinstance(named, ast.Name):
            own = [n for n in sorted(site.visible) if n.endswith(("Error", "Exception"))]
            for name in dict.fromkeys((*own, *EXCEPTIONS)):
                if name != named.id:
                    yield site.text.replace(named, name, f"`{named.id}` to `{name}`")


def other_slice(site: Site) -> Iterator[TextEdit]:
    """Slice with another bound, or none."""
    for node in site.own(ast.Slice):
        lower = "" if node.lower is None else site.text.of(node.lower)
        upper = "" if node.upper is None else site.text.of(node.upper)
        tail = "" if node.step is None else f":{site.text.of(node.step)}"
        start, end = site.text.start(node), site.text.end(node)
        made = [(lower, ""), ("", upper), ("1", upper), (lower, "-1"), ("0", upper)]
        if lower:
            made += [(f"{lower} + 1", upper), (f"{lower} - 1", upper)]
        if upper:
            made += [(lower, f"{upper} + 1"), (lower, f"{upper} - 1")]
        for low, high in made:
            text = f"{low}:{high}{tail}"
            if text != site.text.between(start, end):
                yield site.text.replace(node, text, f"slice `{text}`")


def one_more(site: Site) -> Iterator[TextEdit]:
    """Make a bound that is no constant one more or one less."""
    for node in site.nodes:
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "range" and node.args:
            last = node.args[1] if len(node.args) > 1 else node.args[0]
            for change in (" + 1", " - 1"):
                text = f"{site.text.of(last)}{change}"
                yield site.text.replace(last, text, f"a range to `{text}`")
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, (ast.Name, ast.BinOp)):
            for change in (" + 1", " - 1"):
                text = f"{site.text.of(node.slice)}{change}"
                yield site.text.replace(node.slice, text, f"the item `{text}`")


def add_up(site: Site) -> Iterator[TextEdit]:
    """Put ``+=`` for ``=``, and the other way round."""
    for node in site.nodes:
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            at = site.text.end(node.targets[0])
            between = site.text.between(at, site.text.start(node.value))
            if between.strip() == "=":
                where = at + len(between) - len(between.lstrip())
                yield site.text.insert(where, "+", "added, not assigned", node.lineno)
        elif isinstance(node, ast.AugAssign):
            target, value = site.text.of(node.target), site.text.of(node.value)
            yield site.text.replace(node, f"{target} = {value}", "assigned, not added")
