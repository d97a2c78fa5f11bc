"""Names that only other versions of Python, or of pytest, have.

Reference:
    docs.python.org, "What's New in Python", the sections "New Modules", "Removed" and "Changes in
    the Python API" of 3.9 to 3.14; the changelog of pytest.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import PurePath
from typing import NamedTuple

from pytest_bayesloc.domain.failure import Cause, CauseKind, Failure
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.texts import listed

_NO_ATTRIBUTE = re.compile(
    r"(?:module '([\w.]+)'|(?:type object )?'([\w.]+)'(?: object)?) has no attribute '(\w+)'"
)
_NO_IMPORT = re.compile(r"^cannot import name '(\w+)' from '([\w.]+)'")
_NO_MODULE = re.compile(r"^No module named '(\w+)'")
_NO_KEYWORD = re.compile(
    r"(?:([\w.]+)\(\) got an unexpected keyword argument '(\w+)'"
    r"|[Uu]nexpected keyword arguments passed to ([\w.]+): (\w+))"
)


def _table(lines: str) -> dict[str, str]:
    """Map each name of a line ``version: name name`` to the version."""
    rows = (line.split(": ") for line in lines.strip().splitlines())
    return {name: version for version, names in rows for name in names.split()}


#: By module and name, or by class and method: the version of Python that no longer has it.
REMOVED = _table("""
3.3: time.clock
3.9: array.tostring array.fromstring Thread.isAlive threading._sleep base64.encodestring
3.9: base64.decodestring Element.getchildren Element.getiterator fractions.gcd plistlib.readPlist
3.9: HTMLParser.unescape sys.getcheckinterval sys.setcheckinterval asyncio.JoinableQueue
3.10: collections.Mapping collections.MutableMapping collections.Sequence collections.Iterable
3.10: collections.Callable collections.Set collections.Hashable collections.Iterator
3.10: collections.Container collections.Sized collections.MutableSequence collections.MutableSet
3.10: asyncio.async parser symbol formatter
3.11: inspect.getargspec inspect.formatargspec asyncio.coroutine binhex gettext.lgettext
3.11: random.jumpahead
3.12: ConfigParser.readfp configparser.SafeConfigParser locale.format imp asyncore asynchat smtpd
3.12: distutils pkgutil.ImpImporter unittest._TextTestResult ssl.wrap_socket ssl.match_hostname
3.12: sqlite3.enable_shared_cache TestCase.assertEquals TestCase.assertNotEquals
3.12: TestCase.assertRegexpMatches TestCase.assertItemsEqual TestCase.failUnless TestCase.assert_
3.13: cgi cgitb crypt imghdr sndhdr telnetlib nntplib pipes uu xdrlib audioop chunk mailcap msilib
3.13: nis ossaudiodev spwd sunau aifc lib2to3 locale.resetlocale unittest.makeSuite
3.13: unittest.findTestCases
3.14: ast.Num ast.Str ast.Bytes ast.NameConstant ast.Ellipsis pkgutil.find_loader
3.14: pkgutil.get_loader asyncio.get_child_watcher asyncio.set_child_watcher
""")
#: The version of Python that has it first.
ADDED = _table("""
3.9: functools.cache math.lcm random.randbytes ast.unparse zoneinfo graphlib asyncio.to_thread
3.9: str.removeprefix str.removesuffix
3.10: itertools.pairwise typing.ParamSpec typing.TypeAlias contextlib.aclosing bisect.key
3.11: datetime.UTC typing.Self enum.StrEnum tomllib asyncio.timeout asyncio.TaskGroup
3.11: contextlib.chdir typing.assert_never typing.Never typing.LiteralString hashlib.file_digest
3.12: itertools.batched typing.override Path.walk calendar.Month math.sumprod
3.13: copy.replace warnings.deprecated typing.ReadOnly typing.TypeIs
3.14: annotationlib compression string.templatelib concurrent.interpreters heapq.heappush_max
""")
#: Keyword arguments that were removed, with what takes them no more, and since when.
KEYWORDS = {
    "loop": ("asyncio", "Python 3.10"),
    "message": ("pytest.raises", "pytest 5"),
    "encoding": ("json", "Python 3.9"),
    "cmp": ("", "Python 3"),
    "msg": ("pytest", "pytest 8"),
}
#: By a part of a message: what older versions did, and the version of Python that refuses it.
REFUSED = {
    "Population must be a sequence": ("random.sample of a set", "3.11"),
    "Passing coroutines is forbidden": ("asyncio.wait of coroutines", "3.11"),
    "invalid mode: 'rU'": ("the mode U of open", "3.11"),
    "global flags not at the start of the expression": ("re with flags inside a pattern", "3.11"),
}


class Version(NamedTuple):
    """A name that the installed version does not have, and a sentence on which one does."""

    name: str
    said: str


def other_version(message: str, line: str) -> Version | None:
    """Return the name that only another version has.

    Args:
        message: Of the exception.
        line: The code that raised it.
    """
    if found := _NO_ATTRIBUTE.search(message):
        owner = (found[1] or found[2]).rpartition(".")[2] if found[2] else found[1]
        return _of_name(f"{owner}.{found[3]}")
    if found := _NO_IMPORT.search(message):
        return _of_name(f"{found[2]}.{found[1]}")
    if found := _NO_MODULE.search(message):
        return _of_name(found[1])
    if found := _NO_KEYWORD.search(message):
        keyword, called = found[2] or found[4], found[1] or found[3]
        owner, version = KEYWORDS.get(keyword, ("-", ""))
        if owner in f"{called} {line}":
            return Version(keyword, f"{called} takes no {keyword}= since {version}")
    for part, (name, version) in REFUSED.items():
        if part in message:
            return Version(name, f"Python {version} and later refuse {name}")
    return None


def _of_name(name: str) -> Version | None:
    running = ".".join(map(str, sys.version_info[:2]))
    if version := REMOVED.get(name):
        return Version(
            name, f"{name} was removed in Python {version}, and this is Python {running}"
        )
    if version := ADDED.get(name):
        return Version(name, f"{name} needs Python {version}, and this is Python {running}")
    return None


def packages_changed(
    changed: Mapping[str, tuple[str, str]],
    passed: datetime,
    failure: Failure,
    imported: Iterable[str],
    location: Location | None,
) -> Cause | None:
    """Return the cause if packages changed that a failure has to do with; None if none has.

    Args:
        changed: The versions of packages, before and now.
        passed: When the tests last passed.
        failure: A traceback through a package speaks for it, more than an import.
        imported: The packages that the modules import which the test executes.
        location: Where the project's code failed.
    """
    parts = [PurePath(frame.file).parts for frame in failure.frames if not frame.in_app]
    through = {name for file in parts for part in file for name in (part, PurePath(part).stem)}
    concerned = [n for n in changed if n in _lower(through)] or [
        n for n in changed if n in _lower(imported) or n == "Python"
    ]
    if not concerned:
        return None
    versions = [f"{n} changed from {changed[n][0]} to {changed[n][1]}" for n in concerned]
    first = concerned[0]
    return Cause(
        kind=CauseKind.VERSION,
        text=f"{listed(versions)} since the tests last passed "
        f"({passed.day} {passed:%B %Y}), and no code did",
        advice=f"run the tests with {first} {changed[first][0]} again; if they pass, pin it, "
        "or adapt the code",
        location=location,
        line=0 if location is None else location.start_line,
        state=first,
    )


def _lower(names: Iterable[str]) -> set[str]:
    return {name.lower() for name in names}
