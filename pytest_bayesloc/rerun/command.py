"""The command of a server that collects the same tests as the main run."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_bayesloc.domain.texts import file_of_test

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pytest

PLUGIN = "pytest_bayesloc.rerun.server"
_BOOT = (
    "import sys, json; sys.path[{}] = json.loads(sys.argv.pop(1)); "
    "from pytest_bayesloc.rerun import boot; boot.start(); "
    "import pytest; sys.exit(pytest.main(sys.argv[1:]))"
)

# Else each server would compile again what servers alone import. As soon as conftest files are
# loaded, no more is written, since their byte code is the project's.
_COMPILES_ONCE = "import sys; sys.dont_write_bytecode = '-B' in sys.orig_argv; "
#: With the whole ``sys.path`` given, or only the entries before the interpreter's own.
BOOT, BOOT_BEFORE = _COMPILES_ONCE + _BOOT.format(":"), _BOOT.format("0:1")

# A server is no worker, and what it runs is not to be measured by the user's coverage.py.
NOT_INHERITED = ("PYTEST_XDIST_WORKER", "COVERAGE_PROCESS_CONFIG", "COVERAGE_PROCESS_START")


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """The parts of the command that are the same for every server of a run.

    Attributes:
        flags: Of the interpreter.
        path: ``sys.path``.
        arguments: pytest's, but for the files to collect.
        rootdir: The root that node ids are relative to.
        cwd: The folder that the main run was started in.
        environment: Of the process.
        options: Option values to set, whatever the command line and the ini file say.
        umask: Of the process; -1: that of this one.
    """

    flags: tuple[str, ...]
    path: tuple[str, ...]
    arguments: tuple[str, ...]
    rootdir: Path
    cwd: Path
    environment: Mapping[str, str]
    options: Mapping[str, Any]
    umask: int = -1

    @property
    def argv(self) -> tuple[str, ...]:
        """The process on this machine, its pytest arguments included, the files to collect not."""
        boot = (*self.flags, "-c", BOOT, json.dumps(self.path))
        return (sys.executable, *boot, *self.arguments)

    def files_of(self, tests: Sequence[str]) -> list[str]:
        """The files that ``tests`` are collected from, absolute, each once."""
        return files_below(self.rootdir, tests)


def files_below(rootdir: Path, tests: Sequence[str]) -> list[str]:
    """The files that ``tests`` are collected from, absolute, each once."""
    return [str(rootdir / name) for name in dict.fromkeys(map(file_of_test, tests))]


def command_for(
    config: pytest.Config,
    path: Sequence[str],
    environment: Mapping[str, str],
    *,
    ours: Sequence[str] = ("--no-bayesloc",),
) -> Command:
    """The command of a server that sees what ``config`` saw, with ``ours`` as our own options.

    The ``path`` is as it was before pytest changed it, the ``environment`` as before the tests.
    """
    flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]  # noqa: SLF001 - as multiprocessing does
    return Command(
        flags=tuple(flags),
        path=tuple(path),
        arguments=(*ours, *_arguments(config)),
        rootdir=config.rootpath,
        cwd=Path(config.invocation_params.dir),
        environment=server_environment(environment),
        options={**carried(vars(config.option)), **NEUTRAL},
    )


def server_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables of a server, of those that a run has."""
    kept = {name: value for name, value in environment.items() if name not in NOT_INHERITED}
    return {**kept, "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}


def _arguments(config: pytest.Config) -> list[str]:
    has = config.pluginmanager.hasplugin
    arguments = [f"--rootdir={config.rootpath}", "-p", PLUGIN]
    if config.inipath is not None:
        arguments += ["-c", str(config.inipath)]
    for flag, name in (("-p", "plugins"), ("-o", "override_ini")):
        for value in getattr(config.option, name, None) or ():
            arguments += [flag, value]
    if getattr(config.option, "confcutdir", None):
        arguments.append(f"--confcutdir={config.option.confcutdir}")
    if has("xdist"):
        arguments.append("-n0")
    if has("pytest_cov"):
        arguments.append("--no-cov")
    return arguments


def carried(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of ``options``, the plain values among them, that a server should run under."""
    return {
        name: value
        for name, value in options.items()
        if _is_plain(value) and not name.startswith(_OURS_TO_SET) and name not in _NOT_CARRIED
    }


def _is_plain(value: object) -> bool:
    if isinstance(value, list):
        return all(isinstance(item, (str, int, float)) for item in value)
    return value is None or isinstance(value, (str, int, float))


def strange_part(command: Command) -> str:
    """Return what a command holds that no run of its project has here; empty if it holds none.

    One that was read from a file may be anybody's: it runs the project's tests, imported from the
    project and from this Python, and does no more.
    """
    try:
        given = iter(command.flags)
        flags = (flag + next(given, "") if flag == "-X" else flag for flag in given)
        return (
            next((flag for flag in flags if not _FLAG.fullmatch(flag)), "")
            or _strange_argument(command.arguments, command.rootdir)
            or _strange_entry(command.path, command.rootdir)
        )
    except (OSError, ValueError) as error:  # no path
        return str(error)


def _strange_argument(arguments: Sequence[str], rootdir: Path) -> str:
    given = iter(arguments)
    for argument in given:
        name, _, value = argument.partition("=")
        if argument in {"-p", "-c", "-o"}:
            value = next(given, "")
        is_known = argument in {*_FIXED, f"--rootdir={rootdir}"}
        if name in {"-p", "-o"}:
            is_known = value[:1] != "-"
        elif name in {"-c", "--confcutdir"}:
            # A path in the project, or in a folder that the project lies in.
            real, root = Path(os.path.realpath(value)), Path(os.path.realpath(rootdir))
            folder = real if real.is_dir() else real.parent
            is_known = real.is_relative_to(root) or root.is_relative_to(folder)
        if not is_known:
            return f"{name} {value}".strip()
    return ""


def _strange_entry(path: Sequence[str], rootdir: Path) -> str:
    folders = [*map(os.path.realpath, sys.path), sys.prefix, sys.base_prefix, str(rootdir)]
    for entry in filter(None, path):
        real = Path(os.path.realpath(entry))
        if not any(real.is_relative_to(folder) for folder in folders):
            return entry
    return ""


_FIXED = frozenset({"--no-bayesloc", "-n0", "--no-cov"})
#: Of the interpreter, as they are given on: none that runs a program.
_FLAG = re.compile(r"-(?:[bBdEIOPqsSuv]+|W.+|X(?!presite)[a-z_]+(?:=\w*)?)")
# Options of pytest and of its usual plugins that select, distribute, stop, or write files.
_OURS_TO_SET = ("bayesloc", "bug_", "cov_", "stepwise", "sw_", "json_report", "html", "rsync")
_NOT_CARRIED = frozenset(
    """args basetemp cacheclear cacheshow collectonly confcutdir continue_on_collection_errors
    debug deselect dist failedfirst file_or_dir help ignore ignore_glob inifilename keyword
    last_failed_no_failures lf log_file looponfail markexpr maxfail maxprocesses
    maxworkerrestart newfirst no_bayesloc no_cov numprocesses override_ini pastebin plugins
    pyargs report_log rootdir setuponly setupplan setupshow show_fixtures_per_test showfixtures
    testrunuid trace tx usepdb usepdb_cls version xmlpath""".split()  # noqa: SIM905 - names to be read
)
# A server sets these, whatever its own command line and ini file say. Plugins that write while a
# test runs would keep what a patch did: as the outcome of a test, or as what is expected of one.
NEUTRAL: dict[str, Any] = {
    "allure_report_dir": None,
    "collectonly": False,
    "continue_on_collection_errors": True,
    "deselect": None,
    "failedfirst": False,
    "force_regen": False,
    "ignore": None,
    "ignore_glob": None,
    "keyword": "",
    "lf": False,
    "log_file": os.devnull,  # None would be that of the ini file
    "markexpr": "",
    "maxfail": 0,
    "newfirst": False,
    "no-testmon": True,
    "pastebin": None,
    "record_mode": None,
    "regen_all": False,
    "report_log": None,
    "setuponly": False,
    "setupplan": False,
    "snapshot_update": False,
    "stepwise": False,
    "tbstyle": "line",  # the cheapest that still says where
    "trace": False,
    "update_snapshots": False,
    "usepdb": False,
    "vcr_record": None,
    "xmlpath": None,
}
