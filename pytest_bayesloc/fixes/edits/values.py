"""Another value: converted, copied, from elsewhere, or of another exception."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator

from pytest_bayesloc.domain.edits import Edit
from pytest_bayesloc.fixes.edits.site import Site, Template, inserting, replacing

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


def _convert(site: Site) -> Iterator[Edit]:
    """What is returned, assigned or passed on, as another type or a copy."""
    for node in _used(site):
        text = site.text.of(node)
        whole = text if isinstance(node, (ast.Name, ast.Attribute, ast.Call, ast.Subscript)) else ""
        for name in CONVERSIONS:
            if not text.startswith(f"{name}("):
                yield replacing(site, node, f"{name}({text})", f"`{name}()` around `{_head(text)}`")
        for method in METHODS if whole else ():
            if not text.endswith(f".{method}"):
                words = f"`.{method}` behind `{_head(text)}`"
                yield replacing(site, node, f"{text}.{method}", words)


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


def _drop_conversion(site: Site) -> Iterator[Edit]:
    """What is converted, as it is."""
    for node in site.nodes:
        if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
            if isinstance(node.func, ast.Name) and node.func.id in CONVERSIONS:
                text = site.text.of(node.args[0])
                yield replacing(site, node, f"({text})", f"no `{node.func.id}()`")
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            written = f"{node.func.attr}()"
            if not node.args and not node.keywords and written in METHODS:
                yield replacing(site, node, site.text.of(node.func.value), f"no `.{written}`")


def _other_text(site: Site) -> Iterator[Edit]:
    """A string of the file that looks alike, or the same with or without a blank."""
    known = [
        node.value
        for node in ast.walk(site.tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 80
    ]
    for node in site.nodes:
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
            continue
        value = node.value
        others = sorted(set(known) - {value})
        alike = difflib.get_close_matches(value, others, n=N_TEXTS, cutoff=0.5)
        made = [value.strip(), value + " ", value.lower(), value.upper(), ""]
        for other in dict.fromkeys((*alike, *made)):
            if other != value and len(value) < 80:
                yield replacing(site, node, repr(other), f"{value!r:.30} to {other!r:.30}")


def _other_exception(site: Site) -> Iterator[Edit]:
    """Another exception, raised or caught in the place of one."""
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
                    yield replacing(site, named, name, f"`{named.id}` to `{name}`")


def _other_slice(site: Site) -> Iterator[Edit]:
    """A slice with another bound, or none."""
    for node in site.nodes:
        if not isinstance(node, ast.Slice):
            continue
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
                yield replacing(site, node, text, f"slice `{text}`")


def _index_more(site: Site) -> Iterator[Edit]:
    """A bound one more or one less, where it is no constant."""
    for node in site.nodes:
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "range" and node.args:
            last = node.args[1] if len(node.args) > 1 else node.args[0]
            for change in (" + 1", " - 1"):
                text = f"{site.text.of(last)}{change}"
                yield replacing(site, last, text, f"a range to `{text}`")
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, (ast.Name, ast.BinOp)):
            for change in (" + 1", " - 1"):
                text = f"{site.text.of(node.slice)}{change}"
                yield replacing(site, node.slice, text, f"the item `{text}`")


def _add_up(site: Site) -> Iterator[Edit]:
    """``+=`` for ``=``, and the other way round."""
    for node in site.nodes:
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            at = site.text.end(node.targets[0])
            between = site.text.between(at, site.text.start(node.value))
            if between.strip() == "=":
                where = at + len(between) - len(between.lstrip())
                yield inserting(where, node.lineno, "+", "added, not assigned")
        elif isinstance(node, ast.AugAssign):
            target, value = site.text.of(node.target), site.text.of(node.value)
            yield replacing(site, node, f"{target} = {value}", "assigned, not added")


def _head(text: str) -> str:
    line = text.partition("\n")[0]
    return line if len(line) <= 30 else f"{line[:27]}..."


TEMPLATES = (
    Template(
        name="convert",
        operate=_convert,
        examples=(
            ("return first", "return str(first)"),
            ("return first.items", "return first.items.copy()"),
            ("return first + second", "return first + str(second)"),
        ),
    ),
    Template(
        name="drop-conversion",
        operate=_drop_conversion,
        examples=(
            ("return list(first)", "return (first)"),
            ("return first.lower()", "return first"),
        ),
    ),
    Template(
        name="other-text",
        operate=_other_text,
        examples=(
            ("first['name']\n    return first['names']", "first['name']\n    return first['name']"),
            ("return ' ,'", "return ','"),
        ),
    ),
    Template(
        name="other-exception",
        operate=_other_exception,
        examples=(
            ("raise KeyError(first)", "raise ValueError(first)"),
            (
                "try:\n        g()\n    except KeyError:\n        pass",
                "try:\n        g()\n    except IndexError:\n        pass",
            ),
        ),
    ),
    Template(
        name="other-slice",
        operate=_other_slice,
        examples=(
            ("return first[1:]", "return first[1:-1]"),
            ("return first[:n]", "return first[:n + 1]"),
        ),
    ),
    Template(
        name="one-more",
        operate=_index_more,
        examples=(
            ("return range(first)", "return range(first + 1)"),
            ("return first[second]", "return first[second - 1]"),
        ),
    ),
    Template(
        name="add-up",
        operate=_add_up,
        examples=(("x = 1", "x += 1"), ("x += 1", "x = 1")),
    ),
)
