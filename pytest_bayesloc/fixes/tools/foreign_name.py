"""A name that Python does not have, or has no more: what it is called in Python now."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from pytest_bayesloc.domain.fixing import Level
from pytest_bayesloc.domain.source import ScopeNode
from pytest_bayesloc.fixes.calls import is_placed
from pytest_bayesloc.fixes.library import package_tool
from pytest_bayesloc.fixes.project import Project, Proposal, Task
from pytest_bayesloc.fixes.side_effects import bound_by
from pytest_bayesloc.syntax.imports import with_import
from pytest_bayesloc.syntax.nodes import bound_in, children, dotted, nodes_of, walk
from pytest_bayesloc.syntax.text import Text, TextEdit

_NO_ATTRIBUTE = re.compile(
    r"(?:module '(?P<module>[\w.]+)'|(?:type object )?'(?P<type>[\w.]+)'(?: object)?)"
    r" has no attribute '(?P<name>\w+)'"
)


_COMPARED = re.compile(r"\b(argument|name) '?cmp\b")


def _table(lines: str) -> dict[str, str]:
    """Map each name of a line ``meant <- name name`` to what is meant."""
    rows = (line.split(" <- ") for line in lines.strip().splitlines())
    return {name: meant for meant, names in rows for name in names.split()}


#: Names of Python 2 and of other languages.
NAMES = _table("""
range <- xrange
str <- unicode basestring
int <- long
chr <- unichr
input <- raw_input
Exception <- StandardError
zip <- izip
map <- imap
filter <- ifilter
None <- null nil NULL undefined
True <- true TRUE
False <- false FALSE
self <- this
""")
#: Methods, as what an object ``{o}`` and its arguments ``{a}`` become; ``{0}`` is the first.
METHODS = _table("""
{o}.items() <- iteritems viewitems entrySet
{o}.values() <- itervalues viewvalues
{o}.keys() <- iterkeys viewkeys keySet
{0} in {o} <- has_key containsKey contains includes has
next({o}) <- next
{o}.append({a}) <- push push_back add
{o}.add({a}) <- append
{o}.extend({a}) <- addAll
{o}.insert(0, {a}) <- unshift
{o}.pop(0) <- shift
{o}[{0}] = {1} <- put
{o}.update({a}) <- putAll
{o}.get({a}) <- getOrDefault
len({o}) <- length size count
not {o} <- isEmpty
{o}.upper() <- toUpperCase upcase
{o}.lower() <- toLowerCase downcase
{o}.strip() <- trim
{o}.lstrip() <- trimStart
{o}.rstrip() <- trimEnd
{o}.startswith({a}) <- startsWith
{o}.endswith({a}) <- endsWith
{o}.replace({a}) <- replaceAll
{o}.index({a}) <- indexOf
{o}.rindex({a}) <- lastIndexOf
{o}[{0}] <- charAt
{o}[{0}:{1}] <- substring
{o} + {a} <- concat
{o} == {0} <- equals
str({o}) <- toString to_s
int({o}) <- to_i
{0}.join({o}) <- join
{o} = sorted({o}) <- sort
{o}.is_alive() <- isAlive
{o}.tobytes() <- tostring
{o}.frombytes({a}) <- fromstring
html.unescape({a}) <- unescape
list({o}) <- getchildren
{o}.assertEqual({a}) <- assertEquals failUnlessEqual
{o}.assertNotEqual({a}) <- assertNotEquals
{o}.assertAlmostEqual({a}) <- assertAlmostEquals
{o}.assertNotAlmostEqual({a}) <- assertNotAlmostEquals
{o}.assertRegex({a}) <- assertRegexpMatches
{o}.assertNotRegex({a}) <- assertNotRegexpMatches
{o}.assertRaisesRegex({a}) <- assertRaisesRegexp
{o}.assertCountEqual({a}) <- assertItemsEqual
{o}.assertTrue({a}) <- assert_ failUnless
{o}.assertFalse({a}) <- failIf
""")
#: Properties of other languages, likewise.
PROPERTIES = _table("len({o}) <- length size Length Count")
_OF_COLLECTIONS = (
    "Awaitable ByteString Callable Collection Container Coroutine Generator Hashable ItemsView "
    "Iterable Iterator KeysView Mapping MappingView MutableMapping MutableSequence MutableSet "
    "Reversible Sequence Set Sized ValuesView"
)
#: Members of modules that went elsewhere.
MEMBERS = {
    **_table("""
time.perf_counter <- time.clock
inspect.getfullargspec <- inspect.getargspec
math.gcd <- fractions.gcd
string.ascii_letters <- string.letters
string.ascii_lowercase <- string.lowercase
string.ascii_uppercase <- string.uppercase
str.maketrans <- string.maketrans
sys.maxsize <- sys.maxint
os.getcwd <- os.getcwdu
errno <- os.errno
zip <- itertools.izip
map <- itertools.imap
filter <- itertools.ifilter
itertools.zip_longest <- itertools.izip_longest
html.escape <- cgi.escape
base64.encodebytes <- base64.encodestring
base64.decodebytes <- base64.decodestring
locale.format_string <- locale.format
asyncio.ensure_future <- asyncio.async
types.coroutine <- asyncio.coroutine
urllib.parse.quote <- urllib.quote
urllib.parse.unquote <- urllib.unquote
urllib.parse.urlencode <- urllib.urlencode
urllib.parse.quote_plus <- urllib.quote_plus
urllib.request.urlopen <- urllib.urlopen
xml.etree.ElementTree <- xml.etree.cElementTree
str <- types.StringType numpy.str
list <- types.ListType
dict <- types.DictType
int <- types.IntType numpy.int
callable <- operator.isCallable
unittest.defaultTestLoader.loadTestsFromTestCase <- unittest.makeSuite
float <- numpy.float
bool <- numpy.bool
object <- numpy.object
"""),
    **{f"collections.{name}": f"collections.abc.{name}" for name in _OF_COLLECTIONS.split()},
}


_KNOWN = {key.rpartition(".")[2] for key in (*NAMES, *METHODS, *PROPERTIES, *MEMBERS)}


@package_tool(
    "A name, method or member of a module is of Python 2, of another language, or was removed."
    " Writes what Python has for it now.",
    error_pattern=r"^NameError: name|AttributeError: .*has no attribute|argument '?cmp\b",
    level=Level.SAFE,
)
def foreign_name(task: Task, _project: Project) -> Iterator[Proposal]:
    """The file with every such name replaced."""
    text = task.text
    if _COMPARED.search(task.message):
        yield from _without_cmp(task)
    missing = _NO_ATTRIBUTE.search(task.message)
    name = task.undefined or (missing["name"] if missing else "")
    if name not in _KNOWN:
        return
    edits = dict(_edits(task, name))
    heads = ((node, node.func if isinstance(node, ast.Call) else node) for node in edits)
    own = [n for n, head in heads if dotted(head, unknown="?").rpartition(".")[2] == name]
    if not own:
        return
    # The other ones would come to light when this one is replaced: all of them go at once, but
    # for those that lie in another one before them, or around one.
    nodes: list[ast.expr] = []
    for node in (*own, *edits):
        inner = {part for other in nodes for part in walk(other)}
        if node not in inner and not any(other in walk(node) for other in nodes):
            nodes.append(node)
    changes = [edits[node] for node in nodes]
    code: str | None = text.edited(*(edit for edit, _ in changes))
    for said in dict.fromkeys(said for _, said in changes if said):
        code = (code and with_import(code, said)) or code
    if code:
        yield Proposal(code=code, message=changes[0][0].words)


def _without_cmp(task: Task) -> Iterator[Proposal]:
    """Sort by a key in place of ``cmp=``, and compare without ``cmp()``."""
    text = task.text
    edits = []
    for node in nodes_of(task.tree, ast.Call):
        if isinstance(node.func, ast.Name) and node.func.id == "cmp" and len(node.args) == 2:
            a, b = (f"({text.of(part)})" for part in node.args)
            edits.append(text.replace(node, f"(({a} > {b}) - ({a} < {b}))", "`cmp` is gone"))
        for keyword in node.keywords:
            if keyword.arg == "cmp":
                start, end = text.start(keyword), text.start(keyword.value)
                words = "`cmp` is `key=functools.cmp_to_key()` now"
                edits.append(
                    text.cut(start, end, "key=functools.cmp_to_key(", words, keyword.lineno)
                )
                edits.append(text.insert(text.end(keyword.value), ")", words, keyword.lineno))
    if edits:
        code = text.edited(*edits)
        needed = with_import(code, "import functools") if "functools" in code else None
        yield Proposal(code=needed or code, message=edits[0].words)


def _edits(task: Task, name: str) -> Iterator[tuple[ast.expr, tuple[TextEdit, str]]]:
    """Each foreign name of the file, with what stands for it and the import that needs.

    A method that other objects may have is one only where it is the ``name`` that is missing.
    """
    text = task.text
    nodes = walk(task.tree)
    scopes = (n for n in nodes if isinstance(n, ScopeNode | ast.Module))
    own = {bound for scope in scopes for bound in bound_in(scope)}
    known = NAMES if "*" not in own else {n: meant for n, meant in NAMES.items() if n == name}
    defined = {n.name for n in nodes if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
    imports = (bound_by(node) for node in nodes if isinstance(node, ast.Import))
    modules = dict(pair for bound in imports for pair in bound.items())
    calls = {id(n.func): n for n in nodes_of(task.tree, ast.Call)}
    tight = {
        id(part)
        for n in nodes
        if isinstance(n, (ast.BinOp, ast.Compare, ast.Attribute, ast.Subscript, ast.Await))
        for part in children(n)
    }
    for node in nodes:
        if isinstance(node, ast.Name):
            made = known.get(node.id, "") if node.id not in own else ""
        elif isinstance(node, ast.Attribute):
            made = _member(node, modules)
            is_here = node.lineno <= task.line <= (node.end_lineno or node.lineno)
            is_meant = node.attr in _OF_PYTHON_2 or (
                node.attr == name and (is_here or node.attr not in _COMMON)
            )
            if not made and node.attr not in defined and is_meant:
                call = calls.get(id(node))
                table = METHODS if call is not None else PROPERTIES
                made = _filled(text, node, call, table.get(node.attr, ""))
                is_open = " " in re.sub(r"\(.*\)|\[.*\]", "", made, flags=re.DOTALL)
                made = f"({made})" if is_open and id(call or node) in tight else made
                if made and call is not None and is_placed(text, call):
                    yield call, (_replaced(text, call, made), _needed(made))
                    continue
        else:
            continue
        if made and is_placed(text, node):
            yield node, (_replaced(text, node, made), _needed(made))


_OF_PYTHON_2 = frozenset(
    {"iteritems", "itervalues", "iterkeys", "viewitems", "viewvalues", "viewkeys", "has_key"}
)
#: What other things of Python, or of the project, may well be called.
_COMMON = frozenset(
    {"add", "append", "count", "put", "size", "length", "next", "push", "contains", "has", "sort",
     "trim", "shift", "concat", "equals", "includes", "join", "unescape", "tostring", "fromstring"}
)  # fmt: skip


def _member(node: ast.Attribute, modules: Mapping[str, str]) -> str:
    owner = ast.unparse(node.value)
    top, dot, rest = owner.partition(".")
    return MEMBERS.get(f"{modules[top]}{dot}{rest}.{node.attr}", "") if top in modules else ""


def _filled(text: Text, node: ast.Attribute, call: ast.Call | None, template: str) -> str:
    given = [] if call is None else [text.of(part) for part in call.args]
    keywords = [] if call is None else [text.of(part) for part in call.keywords]
    n_needed = 2 if "{1}" in template else 1 if "{0}" in template else 0
    is_free = "{a}" in template or template.startswith("{o} = ")
    if not template or len(given) < n_needed or (given[n_needed:] and not is_free):
        return ""
    owner = text.of(node.value)
    if template.startswith("{o} = ") and keywords:
        template = template.replace("sorted({o})", "sorted({o}, {a})")
    return template.format(*given, o=owner, a=", ".join((*given, *keywords)))


def _replaced(text: Text, node: ast.expr, made: str) -> TextEdit:
    return text.replace(node, made, f"`{text.of(node).splitlines()[0]}` is `{made}` in Python now")


def _needed(made: str) -> str:
    """The import that a replacement needs; empty if it needs none."""
    owner, _, _name = made.partition("(")[0].rpartition(".")
    tops = {meant.rpartition(".")[0] for meant in MEMBERS.values()} | {"html"}
    is_bare = made == "errno"
    return f"import {owner}" if owner in tops - {"", "str"} else "import errno" if is_bare else ""
