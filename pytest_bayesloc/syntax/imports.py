"""Answers questions about imports, and adds one to a file."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from pytest_bayesloc.domain.source import FORMATTED, FunctionNode, lines_of, tree_of
from pytest_bayesloc.domain.texts import common_ends
from pytest_bayesloc.syntax.nodes import (
    bound_in,
    children,
    every_parameter,
    imported_from,
    is_docstring,
    nodes_of,
    parameters,
    walk,
)
from pytest_bayesloc.syntax.text import Text, TextEdit

_BY_MODULE = {
    "abc": "ABC ABCMeta abstractmethod",
    "collections": "defaultdict Counter OrderedDict deque namedtuple ChainMap UserDict UserList",
    "collections.abc": "Iterable Iterator Mapping MutableMapping Sequence Callable Generator "
    "Hashable Collection Awaitable AsyncIterator Container Sized MutableSequence",
    "concurrent.futures": "ThreadPoolExecutor ProcessPoolExecutor as_completed",
    "contextlib": "contextmanager suppress closing ExitStack nullcontext asynccontextmanager "
    "redirect_stdout",
    "copy": "deepcopy",
    "dataclasses": "dataclass field asdict astuple replace fields is_dataclass",
    "datetime": "timedelta date timezone tzinfo",
    "decimal": "Decimal ROUND_HALF_UP ROUND_HALF_EVEN ROUND_DOWN ROUND_UP InvalidOperation",
    "enum": "Enum IntEnum Flag IntFlag auto unique",
    "fractions": "Fraction",
    "functools": "partial wraps lru_cache reduce cached_property total_ordering singledispatch "
    "cmp_to_key",
    "http": "HTTPStatus",
    "io": "StringIO BytesIO",
    "itertools": "chain product islice groupby permutations combinations count cycle "
    "zip_longest accumulate starmap takewhile dropwhile repeat tee",
    "json": "JSONDecodeError",
    "math": "sqrt ceil floor pi inf nan isclose isnan gcd hypot log10 factorial prod",
    "operator": "itemgetter attrgetter methodcaller",
    "pathlib": "Path PurePath PurePosixPath",
    "random": "randint choice shuffle Random",
    "re": "IGNORECASE MULTILINE",
    "statistics": "mean median stdev",
    "tempfile": "TemporaryDirectory NamedTemporaryFile mkdtemp",
    "textwrap": "dedent",
    "threading": "Thread Lock RLock",
    "time": "sleep perf_counter monotonic",
    "types": "SimpleNamespace MappingProxyType TracebackType ModuleType",
    "typing": "Optional Any Union List Dict Tuple Set Type NamedTuple TypedDict Protocol TypeVar "
    "Generic Literal ClassVar Final TYPE_CHECKING cast overload NoReturn",
    "unittest": "TestCase",
    "unittest.mock": "Mock MagicMock AsyncMock patch",
    "urllib.parse": "urlparse urlencode quote unquote urljoin parse_qs urlsplit",
    "uuid": "uuid4 UUID",
    "zoneinfo": "ZoneInfo",
}
#: The module of the standard library that a well-known name is imported from.
WELL_KNOWN = {name: module for module, names in _BY_MODULE.items() for name in names.split()}


Import: TypeAlias = ast.Import | ast.ImportFrom
#: A use of a name of the module: where it is written (a text if in a quoted annotation), the
#: innermost function whose body holds it (None: the module's own code), whether it only annotates.
Use = tuple[ast.Name | ast.Constant, FunctionNode | None, bool]


def packages_of(module: str) -> list[str]:
    """The packages that ``module`` lies in, the innermost first."""
    parts = module.split(".")
    return [".".join(parts[:n]) for n in range(len(parts) - 1, 0, -1)]


def is_test(module: str) -> bool:
    """Whether ``module`` looks like tests, which other code does not import from."""
    parts = module.split(".")
    return any(re.match(r"tests?(_|$)|conftest$", p) or p.endswith("_test") for p in parts)


def sources(modules: Sequence[str], own: str) -> list[str]:
    """``modules`` that ``own`` may import from, the nearest first."""
    others = [m for m in modules if m != own and (is_test(own) or not is_test(m))]
    return sorted(others, key=lambda m: -common_ends(m.split("."), own.split("."))[0])


def with_import(code: str, said: str) -> str | None:
    """``code`` with the absolute import ``said`` among its first imports.

    None if ``code`` does not parse or has that import, or ``said`` is no import of one name.
    """
    tree, wanted = tree_of(code), tree_of(said)
    statement = wanted.body[0] if wanted is not None and wanted.body else None
    if tree is None or not isinstance(statement, (ast.Import, ast.ImportFrom)):
        return None
    if isinstance(statement, ast.ImportFrom) and statement.level:
        return None
    last, imports = 0, []  # the last line of the docstring (0: none), the imports behind it
    for number, first in enumerate(tree.body):
        if number == 0 and is_docstring(first):
            last = first.end_lineno or 0
        elif isinstance(first, (ast.Import, ast.ImportFrom)):
            imports.append(first)
        else:
            break
    alike = [other for other in imports if _module(other) == _module(statement)]
    bound = {(alias.name, alias.asname) for other in alike for alias in other.names}
    if bound & {(statement.names[0].name, statement.names[0].asname), ("*", None)}:
        return None
    text = Text(code)
    extended = next((other for other in alike if isinstance(other, ast.ImportFrom)), None)
    if extended is not None:
        added = f"{said.partition(' import ')[2]}, "
        edits = [text.insert(text.start(extended.names[0]), added)]
    else:
        edits = _on_a_line(code, text, said, last, imports)
    made = text.edited(*edits)
    return made if tree_of(made) is not None else None


def _module(statement: ast.Import | ast.ImportFrom) -> str | None:
    """The module that names are imported from; empty for an import of modules."""
    if isinstance(statement, ast.Import):
        return ""
    return None if statement.level else statement.module


def _on_a_line(
    code: str, text: Text, said: str, last: int, imports: Sequence[ast.stmt]
) -> list[TextEdit]:
    """``said`` on a line of its own below the first imports, and a blank line below those."""
    lines = lines_of(code)
    # Comments that begin the file stay above.
    begin = next(
        (n for n, line in enumerate(lines) if line[:1] != "#" and line.strip()), len(lines)
    )
    end = max([last, *(statement.end_lineno or 0 for statement in imports)]) or begin
    at = (last or begin) if said.startswith("from __future__ ") else end
    lead = "" if not at or lines[at - 1].endswith("\n") else "\n"
    blank = "\n" if end < len(lines) and lines[end].strip() else ""
    if at == end:
        return [text.insert(text.at(at + 1), f"{lead}{said}\n{blank}")]
    added = text.insert(text.at(at + 1), f"{lead}{said}\n")
    return [added, text.insert(text.at(end + 1), blank)]


def uses_of(tree: ast.Module, name: str) -> list[Use]:
    """Returns the uses of the module's ``name``; a scope that has its own is left out."""
    found: list[Use] = []
    pending: list[tuple[ast.AST, FunctionNode | None, bool]] = [(tree, None, False)]
    word = re.compile(rf"\b{re.escape(name)}\b")
    while pending:
        node, function, noted = pending.pop()
        if isinstance(node, ast.Name):
            is_use = node.id == name and isinstance(node.ctx, ast.Load)
        else:
            is_text = noted and isinstance(node, ast.Constant) and isinstance(node.value, str)
            is_use = is_text and word.search(str(getattr(node, "value", ""))) is not None
        if is_use and isinstance(node, (ast.Name, ast.Constant)):
            found.append((node, function, noted))
        inside: list[tuple[ast.AST, FunctionNode | None, bool]] = []
        if isinstance(node, FunctionNode):
            given = node.args
            head = [*node.decorator_list, *given.defaults, *(d for d in given.kw_defaults if d)]
            inside += [(child, function, noted) for child in head]
            notes = (*(arg.annotation for arg in every_parameter(given)), node.returns)
            inside += [(note, function, True) for note in notes if note is not None]
            if name not in set(bound_in(node)):
                inside += [(statement, node, False) for statement in node.body]
        elif isinstance(node, ast.AnnAssign):
            inside.append((node.annotation, function, True))
            inside += [(child, function, noted) for child in (node.target, node.value) if child]
        elif not (isinstance(node, ast.Lambda) and name in parameters(node.args)):
            inside += [(child, function, noted) for child in children(node)]
        pending += reversed(inside)
    return found


def import_of(statement: ast.Import | ast.ImportFrom, names: Sequence[ast.alias]) -> str:
    """The text of an import with these names instead of its own."""
    said = ", ".join(a.name + (f" as {a.asname}" if a.asname else "") for a in names)
    if isinstance(statement, ast.Import):
        return f"import {said}"
    return f"from {'.' * statement.level}{statement.module or ''} import {said}"


def loaded_by(code: ast.Module | Import, package: str) -> Iterator[str]:
    """Yield the modules that ``code`` may load when it runs.

    Of ``from shop import cart`` these are ``shop.cart`` and ``shop``: nobody knows from the text
    which it is. Imports in functions run later, and those for type checkers never.

    Args:
        code: A module, or one of its imports.
        package: That relative imports start from.
    """
    pending: list[ast.AST] = [code]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = imported_from(node, package)
            yield from (f"{base}.{alias.name}" for alias in node.names)
            yield base
        elif not isinstance(node, FunctionNode) and not (
            isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")
        ):
            pending += (n for n in children(node) if isinstance(n, _BLOCKS))


_BLOCKS = (ast.stmt, ast.ExceptHandler)


def is_of(statement: ast.ImportFrom, module: str) -> bool:
    """Whether a statement imports from ``module``, as far as a relative one tells."""
    said = statement.module or ""
    if not statement.level:
        return said == module
    return not said or f".{module}".endswith(f".{said}")


def renamed(tree: ast.Module, places: Text, old: str, new: str) -> list[TextEdit]:
    """``new`` where the module's ``old`` is used; in f-strings and annotations as text."""
    texts = nodes_of(tree, FORMATTED)
    inner = {id(part) for text in texts for part in walk(text) if part is not text}
    edits = []
    pieces: dict[int, ast.expr] = {}
    for node, _, _ in uses_of(tree, old):
        if id(node) in inner:
            around = [t for t in texts if id(t) not in inner and node in walk(t)]
            pieces.update({places.start(text): text for text in around})
        elif isinstance(node, ast.Name):
            edits.append(places.replace(node, new, ""))
        else:
            pieces[places.start(node)] = node
    word = re.compile(rf"(?<![\w.]){re.escape(old)}\b")
    for piece in pieces.values():
        is_formatted = isinstance(piece, FORMATTED)
        pattern = re.compile(rf"(?<!{{){{(?!{{)[^{{}}]*{word.pattern}") if is_formatted else word
        said = pattern.sub(lambda m: word.sub(new, m.group()), places.of(piece))
        edits.append(places.replace(piece, said, ""))
    return edits
