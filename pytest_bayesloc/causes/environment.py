"""Causes that a failure itself tells: something is missing where the tests run.

A package, a program, a variable, a service, a file, or a name that only another version has.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path

from pytest_bayesloc.causes.asked import (
    Optional,
    constants,
    names_deciding,
    optional_packages,
    programs,
    variables,
)
from pytest_bayesloc.causes.versions import other_version
from pytest_bayesloc.domain.failure import Cause, CauseKind, Failure, Frame
from pytest_bayesloc.domain.inspection import Reader
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.source import Unit, unit_of_frame
from pytest_bayesloc.spectrum.sources import Sources
from pytest_bayesloc.syntax.nodes import names_from, names_in

_NO_MODULE = re.compile(r"^No module named '([\w.]+)'")
_NO_FILE = re.compile(r"\[Errno 2\] No such file or directory: '([^']*)'")
_NO_ACCESS = re.compile(r"\[Errno (?:1|13|20|28|30)\] ([\w -]+?)(?:: '([^']*)'|$)")
_NO_FIXTURE = re.compile(r"^\('(\w+)', <FixtureRequest")
_NO_ASYNC = "async def functions are not natively supported"
#: The plugins of pytest that have fixtures of these names.
PLUGINS = {
    **dict.fromkeys(("mocker", "module_mocker", "session_mocker"), "pytest-mock"),
    **dict.fromkeys(("db", "django_user_model", "live_server", "rf"), "pytest-django"),
    **dict.fromkeys(("event_loop", "unused_tcp_port"), "pytest-asyncio"),
    **dict.fromkeys(("httpserver", "make_httpserver"), "pytest-httpserver"),
    **dict.fromkeys(("datadir", "shared_datadir", "original_datadir"), "pytest-datadir"),
    "aiohttp_client": "pytest-aiohttp",
    "benchmark": "pytest-benchmark",
    "faker": "Faker",
    "freezer": "pytest-freezer",
    "fs": "pyfakefs",
    "httpx_mock": "pytest-httpx",
    "qtbot": "pytest-qt",
    "requests_mock": "requests-mock",
    "respx_mock": "respx",
    "snapshot": "syrupy",
    "subtests": "pytest-subtests",
    "vcr": "pytest-recording",
}
_NO_LOCALE = "unsupported locale setting"
_NAMED_VARIABLE = re.compile(
    r"\benvironment variable:? [`'\"]?([A-Z][A-Z0-9_]+)\b"
    r"|[`'\"]?\b([A-Z][A-Z0-9_]+)[`'\"]? environment variable\b"
)
_UNREACHABLE = re.compile(
    r"Connection refused|Name or service not known|Temporary failure in name resolution"
    r"|nodename nor servname|No address associated|Network is unreachable|No route to host"
)
_SERVES = re.compile(r"\b(?:HTTPServer|TCPServer|UDPServer|start_server|create_server|listen)\(")
#: As shells say it: an error of the project may say of anything that it was not found.
_NOT_FOUND = re.compile(r"\b\w*sh: (?:(?:line )?\d+: )?([\w.+-]+): (?:command )?not found")
#: Packages whose names are like those of modules that everybody has.
KNOWN = frozenset(
    "aiohttp cython httpx orjson rjson simplejson toml tomli ujson urllib3".split()  # noqa: SIM905
)
_STARTS = ("subprocess.py", "base_events.py")  # of the standard library
MAX_HOMES = 3  # other folders that code may name for a file that it needs
_FILE_ERRORS = frozenset({"FileNotFoundError", "NotADirectoryError", "OSError", "PermissionError"})


def _is_looked_for(file: str, asked: Iterable[str]) -> bool:
    """Whether it is one of many folders, or of modules, that code searches for a missing file."""
    others = (name.removeprefix("file:") for name in asked if name.startswith("file:"))
    same = {other for other in others if Path(other).name == Path(file).name} - {file}
    most = 0 if file.endswith(".py") else MAX_HOMES
    return sum(not Path(other).exists() for other in same) > most


def _is_importable(name: str) -> bool:
    try:
        return name in sys.modules or find_spec(name) is not None
    except (ImportError, ValueError, AttributeError):
        return False


@dataclass(frozen=True, kw_only=True)
class Machine:
    """The machine that the tests run on, as far as it is asked.

    Attributes:
        rootdir: Absolute path of the project.
        folder: Absolute path of the folder that pytest was started in.
        variables: Of the environment.
        has_package: Whether a top-level package can be imported.
        find_program: The path of a command; None if there is none.
    """

    rootdir: str
    folder: str
    variables: Mapping[str, str] = field(default_factory=lambda: os.environ)
    has_package: Callable[[str], bool] = _is_importable
    find_program: Callable[[str], str | None] = shutil.which

    @cached_property
    def own_modules(self) -> frozenset[str]:
        """Names of the project's modules and packages, as far as one folder down."""
        root = Path(self.rootdir)
        inside = [*root.glob("*/*.py")]
        names = [path.stem for path in (*root.glob("*.py"), *inside)]
        return frozenset(filter(str.isidentifier, (*names, *(p.parent.name for p in inside))))

    @cached_property
    def declared(self) -> str:
        """The text of the files in which the project names what it needs, in lower case."""
        names = ("pyproject.toml", "setup.cfg", "setup.py", "Pipfile", "tox.ini")
        paths = [Path(self.rootdir, name) for name in names]
        paths += [*Path(self.rootdir).glob("*requirements*.txt")]
        texts = (p.read_text("utf-8", "replace") for p in paths if p.is_file())
        return "\n".join(texts).lower().replace("_", "-")

    def declares(self, package: str) -> bool:
        """Whether the project names ``package`` as one that it needs."""
        name = re.escape(package.lower().replace("_", "-"))
        return re.search(rf"(?<![\w-]){name}(?![\w-])", self.declared) is not None


class EnvironmentCauses:
    """Finds what is missing on a ``machine`` by what failures say, and by the code they name."""

    def __init__(self, sources: Sources, machine: Machine) -> None:
        self._sources = sources
        self._machine = machine
        # Asked for each frame of each failure.
        self._optional = cache(self._read_optional)
        self._known_to = cache(self._read_known)
        self._programs = cache(self._read_programs)

    def asked_in_vain(
        self,
        asked: Mapping[str, Sequence[Reader]],
        elsewhere: Collection[str],
        suspects: Collection[Location],
    ) -> Cause | None:
        """Return what a failing test asks for that is not there.

        Passing tests must not ask for it, unless the code that does is suspected.

        Args:
            asked: As ``Runner.readers`` has it, of the failing test.
            elsewhere: What passing tests ask.
            suspects: The likeliest locations.
        """
        for wanted in ("program", "package", "demand", "service", "file"):
            for name, places in asked.items():
                kind, _, what = name.partition(":")
                if kind != wanted or not self._is_missing(kind, what, places):
                    continue
                if kind == "file" and _is_looked_for(what, (*asked, *elsewhere)):
                    continue
                file, _, first_line, code = places[-1]
                where = self._sources.locate((file, first_line, code))
                if name not in elsewhere or where in suspects:
                    return self._in_vain(kind, what, places[-1])
        return None

    def _is_missing(self, kind: str, what: str, places: Sequence[Reader]) -> bool:
        if kind == "program":
            return bool(what) and not self._machine.find_program(what)
        if kind == "package":
            return not self._machine.has_package(what.partition(".")[0])
        if kind == "file":  # that the code itself names: libraries look in many places
            is_named = any(Path(what).name in (self._sources.read(p[0]) or "") for p in places)
            return is_named and not Path(what).exists() and self._is_of_machine(what)
        if kind == "demand":
            return what not in self._machine.variables
        return kind == "service"

    def _in_vain(self, kind: str, what: str, place: Reader) -> Cause:
        file, line, first_line, name = place
        frame = Frame(file=file, line=line, name=name, first_line=first_line, in_app=True)
        if kind == "program":
            return self._program(what, frame)
        if kind == "package":
            return self._package(what.partition(".")[0], frame, line)
        if kind == "demand":
            return self._variable(what, frame)
        if kind == "file":
            return self._file(what, "does not exist", frame)
        return self._service("nothing answers", frame)

    def cause_of(self, failure: Failure) -> Cause | None:
        """Return the cause of ``failure``; None where nothing speaks for one of these."""
        ways = (
            self._other_version,
            self._missing_module,
            self._guarded_package,
            self._missing_plugin,
            self._missing_program,
            self._missing_variable,
            self._missing_file,
            self._missing_service,
            self._missing_locale,
        )
        return next((cause for way in ways if (cause := way(failure)) is not None), None)

    def _other_version(self, failure: Failure) -> Cause | None:
        frame = failure.raise_frame
        if frame is None:
            return None
        lines = (self._sources.read(frame.file) or "").splitlines()[frame.line - 1 : frame.line]
        found = other_version(failure.message, "".join(lines))
        if found is None or self._sources.module(found.name.partition(".")[0]) is not None:
            return None
        return self._cause(
            CauseKind.VERSION,
            f"{found.said} ({frame.file}:{frame.line})",
            "use what this version has, or run the tests with the version that has it",
            frame,
            state=found.name,
        )

    # -- packages

    def _missing_module(self, failure: Failure) -> Cause | None:
        """A module that is no file of the project, and not misspelt, can't be imported."""
        found = _NO_MODULE.match(failure.message)
        frame = failure.raise_frame
        if found is None or frame is None:
            return None
        package = found[1].partition(".")[0]
        if self._machine.has_package(package) or self._sources.module(package):
            return None
        is_optional = any(package == other.package for other in self._optional(frame.file))
        if not is_optional and not self._machine.declares(package) and self._is_misspelt(package):
            return None
        return self._package(package, frame, frame.line)

    def _is_misspelt(self, package: str) -> bool:
        """Say whether a name may mean a module that is there, or one of other days."""
        from pytest_bayesloc.fixes.tools.misspelt_import import CLOSE, MOVED

        if package in KNOWN:
            return False
        known = {*sys.stdlib_module_names, *sys.modules, *self._machine.own_modules}
        is_swapped = any(sorted(name) == sorted(package) for name in known)
        return package in MOVED or is_swapped or bool(get_close_matches(package, known, 1, CLOSE))

    def _guarded_package(self, failure: Failure) -> Cause | None:
        """A package was not there when a file asked for it, and code that needs it ran."""
        for frame in self._own_frames(failure):
            unit = self._unit(frame)
            if unit is None:
                continue
            near, every = names_deciding(unit.node, frame.line), names_in(unit.node)
            for file, optional in self._known_to(frame.file):
                is_told = _mentions(failure.message, optional.package)
                if optional.names & (every if is_told else near):
                    return self._package(optional.package, frame, optional.line, file)
        return None

    def _package(self, package: str, frame: Frame, line: int, file: str = "") -> Cause:
        where = f"{file or frame.file}:{line}"
        return self._cause(
            CauseKind.PACKAGE,
            f"the package {package} is not installed ({where} asks for it)",
            f"install {package}, or skip such tests: pytest.importorskip({package!r})",
            frame,
            state=package,
        )

    def _read_known(self, file: str) -> list[tuple[str, Optional]]:
        """List what ``file`` can do without, then what files that it imports from can."""
        found = [(file, optional) for optional in self._optional(file)]
        source = self._sources.map(file)
        if source is not None:
            body = source.module
            for module, known in names_from(body.node, body.location.package):
                found += self._of_import(module, known)
        return found

    def _of_import(self, module: str, known: Mapping[str, str]) -> Iterator[tuple[str, Optional]]:
        body = self._sources.module(module)
        if body is None:
            return
        for optional in self._optional(body.file):
            if own := frozenset(known[name] for name in optional.names if name in known):
                yield body.file, optional._replace(names=own)

    def _read_optional(self, file: str) -> list[Optional]:
        """List the packages that ``file`` can do without, and that are not there."""
        source = self._sources.map(file)
        found = [] if source is None else optional_packages(source.module.node, source.text)
        return [o for o in found if not self._machine.has_package(o.package)]

    def _missing_plugin(self, failure: Failure) -> Cause | None:
        """A fixture of a known plugin of pytest, or support of async tests, is not there."""
        found = _NO_FIXTURE.search(failure.message)
        plugin = PLUGINS.get(found[1], "") if found else ""
        if _NO_ASYNC in failure.message:
            plugin = "pytest-asyncio"
        where = failure.test_locations[0] if failure.test_locations else None
        if not plugin or where is None:
            return None
        asks = f"uses its fixture {found[1]}" if found else "is an async test"
        return Cause(
            kind=CauseKind.PACKAGE,
            text=f"the package {plugin} is not installed ({where.file}:{where.start_line} {asks})",
            advice=f"install {plugin}",
            location=where,
            line=where.start_line,
            state=plugin,
        )

    def fallback(self, failure: Failure, executed: Iterable[Location]) -> Cause | None:
        """Return the needed package in whose place a test executes a fallback."""
        if failure.exc_type != "AssertionError":
            return None
        for where in executed:
            for optional in self._optional(where.file):
                names = optional.names & {where.qualname}
                if names and self._machine.declares(optional.package):
                    source = self._sources.map(where.file)
                    return Cause(
                        kind=CauseKind.PACKAGE,
                        text=f"the package {optional.package} is not installed "
                        f"({where.file}:{optional.line} asks for it), and {where.qualname} stands "
                        "in for it",
                        advice=f"install {optional.package}",
                        location=where if source is None else source.module.location,
                        line=optional.line,
                        state=optional.package,
                    )
        return None

    # -- programs

    def _missing_program(self, failure: Failure) -> Cause | None:
        frame = failure.raise_frame
        if frame is None:
            return None
        told = _NO_FILE.search(failure.message)
        innermost = failure.frames[-1] if failure.frames else None
        if told is not None and innermost is not None and innermost.file.endswith(_STARTS):
            name = "" if os.sep in told[1] else told[1]  # no process could be made of it
        else:
            command = _NOT_FOUND.search(failure.message)
            name = command[1] if command else ""
        is_missing = name and not self._machine.find_program(name)
        program = name if is_missing else self._not_found(failure)
        return self._program(program, frame) if program else None

    def _program(self, program: str, frame: Frame) -> Cause:
        return self._cause(
            CauseKind.PROGRAM,
            f"the program {program} is not on PATH ({frame.file}:{frame.line} asks for it)",
            f"install {program}, or skip such tests where shutil.which({program!r}) is None",
            frame,
            state=program,
        )

    def _not_found(self, failure: Failure) -> str:
        """Return the command that ``shutil.which`` looked for in vain, right around a failure."""
        for frame in self._own_frames(failure):
            unit = self._unit(frame)
            if unit is None:
                continue
            for program, names in self._programs(frame.file):
                is_told = _mentions(failure.message, program)
                if not self._machine.find_program(program) and (
                    is_told or names & names_deciding(unit.node, frame.line)
                ):
                    return program
        return ""

    def _read_programs(self, file: str) -> list[tuple[str, frozenset[str]]]:
        source = self._sources.map(file)
        if source is None or "which(" not in source.text:
            return []
        return list(programs(source.module.node, constants(source.module.node)))

    # -- variables

    def _missing_variable(self, failure: Failure) -> Cause | None:
        frame = failure.raise_frame
        if frame is None:
            return None
        frames = failure.frames
        is_asked = any(Path(f.file).name == "os.py" and "__getitem__" in f.name for f in frames)
        is_unset = is_asked and failure.exc_type == "KeyError"  # of ``os.environ[...]``
        name = failure.message.strip("'\"") if is_unset else ""
        name = name or self._unset_nearby(failure, frame)
        told = _NAMED_VARIABLE.search(failure.message)
        does = "reads" if name else "needs"
        is_of_library = bool(frames) and not frames[-1].in_app  # raised by what the project uses
        if not name and told and is_of_library:
            name = told[1] or told[2]
        if not name or name in self._machine.variables:
            return None
        return self._variable(name, frame, does)

    def _variable(self, name: str, frame: Frame, does: str = "reads") -> Cause:
        # Libraries mostly read theirs at import, before a test could set it.
        in_test = f", or in the test: monkeypatch.setenv({name!r}, ...)" if does == "reads" else ""
        return self._cause(
            CauseKind.VARIABLE,
            f"the environment variable {name} is not set ({frame.file}:{frame.line} {does} it)",
            f"set {name} where tests run{in_test}",
            frame,
            state=name,
        )

    def _unset_nearby(self, failure: Failure, frame: Frame) -> str:
        """Return a variable that the failing function asks for, and the message or line needs."""
        source, unit = self._sources.map(frame.file), self._unit(frame)
        if source is None or unit is None:
            return ""
        read = variables(unit.node, constants(source.module.node))
        near = names_deciding(unit.node, frame.line)
        return next((n for n, held in read if held & near or _mentions(failure.message, n)), "")

    # -- files and services

    def _missing_file(self, failure: Failure) -> Cause | None:
        frame = failure.raise_frame
        if frame is None or failure.exc_type not in _FILE_ERRORS:
            return None
        told = _NO_FILE.search(failure.message)
        if told is None:
            no = _NO_ACCESS.search(failure.message)
            return self._outside(no[2], no[1].strip().lower(), frame) if no and no[2] else None
        path, machine = told[1], self._machine
        if Path(path).is_absolute():
            return self._outside(path, "does not exist", frame)
        homes = (Path(machine.rootdir), Path(machine.rootdir, frame.file).parent)
        home = next((home for home in homes if (home / path).exists()), None)
        if home is None or Path(machine.folder).resolve() == home.resolve():
            return None
        start = os.path.relpath(home, machine.rootdir)
        start = "the project's folder" if start == "." else start
        return self._cause(
            CauseKind.WORKING_DIRECTORY,
            f"{frame.file}:{frame.line} opens {path} relative to the working directory, "
            f"and it lies in {start}",
            "make the path absolute by __file__, or run pytest from there",
            frame,
            state=path,
        )

    def _outside(self, path: str, what: str, frame: Frame) -> Cause | None:
        """Return the cause for an absolute path that belongs to the machine."""
        return self._file(path, what, frame) if self._is_of_machine(path) else None

    def _is_of_machine(self, path: str) -> bool:
        real = os.path.realpath(path)
        mine = map(os.path.realpath, (self._machine.rootdir, tempfile.gettempdir()))
        return not any(real == top or real.startswith(top.rstrip(os.sep) + os.sep) for top in mine)

    def _file(self, path: str, what: str, frame: Frame) -> Cause:
        return self._cause(
            CauseKind.FILE,
            f"{path} {what} on this machine ({frame.file}:{frame.line} opens it)"
            if what == "does not exist"
            else f"{what} for {path} ({frame.file}:{frame.line} opens it)",
            "let the test make its own file (tmp_path), and the code take its path",
            frame,
            state=path,
        )

    def _missing_service(self, failure: Failure) -> Cause | None:
        frame, said = failure.raise_frame, _UNREACHABLE.search(failure.message)
        if frame is None or said is None:
            return None
        texts = [self._sources.read(f.file) or "" for f in self._own_frames(failure)]
        if any(map(_SERVES.search, texts)):
            return None  # the tests have a server of their own
        if any(said[0] in text for text in texts) and not failure.cause_frames:
            return None  # the words of a mock, or what a test expects
        return self._service(said[0].lower(), frame)

    def _service(self, reason: str, frame: Frame) -> Cause:
        return self._cause(
            CauseKind.SERVICE,
            f"the service that {frame.file}:{frame.line} connects to does not answer: {reason}",
            "start that service, or have the test replace the connection",
            frame,
        )

    def _missing_locale(self, failure: Failure) -> Cause | None:
        frame = failure.raise_frame
        if frame is None or _NO_LOCALE not in failure.message:
            return None
        return self._cause(
            CauseKind.LOCALE,
            f"the locale that {frame.file}:{frame.line} asks for is not installed",
            "install it (locale-gen), or skip such tests where it is missing",
            frame,
        )

    # -- shared

    def _own_frames(self, failure: Failure) -> list[Frame]:
        """List the frames in the project, innermost first."""
        return [frame for frame in failure.every_frame if frame.in_app][::-1]

    def _unit(self, frame: Frame) -> Unit | None:
        return unit_of_frame(frame, self._sources.map)

    def _cause(
        self, kind: CauseKind, text: str, advice: str, frame: Frame, state: str = ""
    ) -> Cause:
        where = self._sources.locate_frame(frame)
        return Cause(
            kind=kind, text=text, advice=advice, location=where, line=frame.line, state=state
        )


def _mentions(text: str, word: str) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(word)}(?!\w)", text, re.IGNORECASE) is not None
