"""The pytest that re-runs tests: a plugin for a process of its own.

Loaded by ``-p pytest_bayesloc.rerun.server`` with ``SERVER_VARIABLE`` set. It collects the
targeted tests once, then forks a child for each request; started for one request only
(``once``), it runs that in the process itself, behind the overlay.
"""

from __future__ import annotations

import gc
import os
import random
import select
import shutil
import sys
import tempfile
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from pytest_bayesloc.domain.standard_library import monotonic
from pytest_bayesloc.rerun.boot import booted
from pytest_bayesloc.rerun.child import WHOLE, Child, Frames, frames_of
from pytest_bayesloc.rerun.command import files_below
from pytest_bayesloc.rerun.conditions import SETS
from pytest_bayesloc.rerun.effects import COLLECTION
from pytest_bayesloc.rerun.fence import AWAY
from pytest_bayesloc.rerun.link import UNFIT
from pytest_bayesloc.rerun.sets import compile_ahead
from pytest_bayesloc.rerun.stem import Stem, may_grow
from pytest_bayesloc.rerun.swap import WhenImported, bring_to_front, functions_by_file
from pytest_bayesloc.rerun.transports.local import (
    adopt_orphans,
    children,
    cpu_of_children,
    end_orphans,
    forget_fork_server,
    kill_group,
    kill_tree,
    limit_resources,
    waited_for_cpu_s,
)

if TYPE_CHECKING:
    from collections.abc import Generator

    from pytest_bayesloc.rerun.boot import Boot
    from pytest_bayesloc.rerun.link import Message
    from pytest_bayesloc.rerun.swap import FunctionIndex

# Bound now: tests patch these (pyfakefs).
_close = os.close
_remove = shutil.rmtree

NEVER_RERUN = "bayesloc_never_rerun"
POLL_S = 0.05
END_POLL_S = 0.001
MAX_WAITED_S = 8.0  # for a CPU; the main run waits that much longer for any answer


def pytest_addoption() -> None:
    """Be ready before other plugins are loaded: the project may be one, or its conftest files."""
    bring_to_front()


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Set options before conftest files are loaded: ``-W`` is read from the early ones."""
    boot = booted()
    boot.fence.test = COLLECTION
    _set_options(early_config.known_args_namespace, boot.spec["options"])
    if boot.spec["once"] is None and may_grow():
        boot.stem = stem = Stem()
        if stem.request is not None:
            _become_forked(boot, stem.request, early_config)


def _become_forked(boot: Boot, request: Message, config: pytest.Config) -> None:
    """Go on as a process for ``request`` alone, which collects the files of its tests."""
    os.setpgid(0, 0)
    boot.link.leave()
    # Temporary folders of its own, as a process that is started has.
    free = tempfile.mkdtemp(dir=boot.spec["scratch"])
    os.environ.update(dict.fromkeys(("TMPDIR", "TEMP", "TMP"), free))
    tempfile.tempdir = None
    boot.spec["options"]["basetemp"] = f"{free}-basetemp"
    _set_options(config.known_args_namespace, boot.spec["options"])
    tests = request.get("collected") or request["tests"]
    boot.spec.update(once=request, tests=tests)
    boot.files = files_below(config.rootpath, tests)
    config.known_args_namespace.file_or_dir[:] = boot.files
    boot.begin(request)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Become a server, before a conftest asks for an option."""
    boot = booted()
    _set_options(config.option, boot.spec["options"])
    if boot.files:
        config.args = boot.files
    config.pluginmanager.register(RerunPlugin(config), "bayesloc-server")


def _set_options(namespace: object, options: Message) -> None:
    for name, value in options.items():
        setattr(namespace, name, value)


class RerunPlugin:
    """Answers requests until the main run hangs up."""

    def __init__(self, config: pytest.Config) -> None:
        boot = booted()
        spec = boot.spec
        self._config = config
        self._link = boot.link
        self._fence = boot.fence
        self._stem = boot.stem
        self._items: dict[str, pytest.Item] = {}
        self._functions: FunctionIndex | None = None  # those that a forked child can swap
        self._tests: list[str] = spec["tests"]
        self._once: Message | None = spec["once"]
        self._scratch: str = spec["scratch"]
        self._collected: dict[str, str] = {}
        self._places: dict[str, Frames] = {}
        self._overlays = bring_to_front()
        _fix_randomness(config, spec["options"].get("basetemp"))

    # -- pytest's side

    @pytest.hookimpl(tryfirst=True)
    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Keep the outcome of collecting: it is the answer where a whole file is re-run."""
        if report.failed:
            self._collected[report.nodeid] = str(report.longrepr)[-2000:]
        else:  # a module that skips itself could be imported
            self._collected.setdefault(report.nodeid, "")

    @pytest.hookimpl(tryfirst=True)
    def pytest_exception_interact(
        self, node: pytest.Item | pytest.Collector, call: pytest.CallInfo[Any]
    ) -> None:
        """Keep where a file could not be collected."""
        if isinstance(node, pytest.Collector) and call.excinfo is not None:
            self._places[node.nodeid] = frames_of(call.excinfo.value)

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_collection_modifyitems(
        self, items: list[pytest.Item]
    ) -> Generator[None, None, None]:
        """Keep the targeted tests, in the order of the main run; to serve, all of their files."""
        order = {node_id: i for i, node_id in enumerate(self._tests)}
        wholes = tuple(name[:-1] for name in self._tests if name.endswith(WHOLE))
        own = [i for i in items if i.nodeid in order or i.nodeid.startswith(wholes)]
        if self._once is None:  # they are told: none of them is run under patches
            for item in filter(_is_kept_back, own):
                self._link.send({"did": [AWAY, f"is marked {NEVER_RERUN}"], "by": item.nodeid})
        elif self._once["fence"]["holds"]:
            own = [item for item in own if not _is_kept_back(item)]
        chosen = sorted(own, key=lambda i: order.get(i.nodeid, len(order)))
        if self._once is None:
            known = {*order, *(item.nodeid for item in chosen)}
            chosen += [i for i in items if i.nodeid not in known and not _is_kept_back(i)]
        items[:] = chosen
        result = yield
        left = set(items)
        items[:] = [item for item in chosen if item in left]
        return result

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> NoReturn:
        """Serve, and end without the work that other plugins do at the end of a session."""
        self._items = {item.nodeid: item for item in session.items}
        status = 1
        try:
            if self._once is not None:
                if self._stem is None:
                    threading.Thread(target=self._end_with_main_run, daemon=True).start()
                else:  # the server watches the line
                    limit_resources(self._once["limit_s"])
                self._child().run(self._once, self._overlays)
            else:
                self._serve()
            status = 0
        finally:
            os._exit(status)

    def _child(self) -> Child:
        own = self._items, self._collected, self._places
        return Child(self._config, *own, booted(), self._functions)

    def _end_with_main_run(self) -> None:
        for _ in self._link.messages():
            pass
        self._clean_up()
        kill_tree(os.getpid())
        os._exit(1)

    # -- the warm loop

    def _serve(self) -> None:
        gc.collect()
        self._fence.open()
        self._fence.prepare()
        self._functions = functions_by_file()
        gc.freeze()
        # No public way leads to what a thread does. That of rerunfailures waits on a socket, so it
        # holds no lock that a forked child could wait for.
        targets = (getattr(thread, "_target", None) for thread in threading.enumerate())
        modules = (getattr(target, "__module__", None) for target in targets)
        n_threads = sum(module != "pytest_rerunfailures" for module in modules)
        has_stem = adopt_orphans() and self._stem is not None
        own = children()  # what fixtures and conftest files started
        ready = sorted(self._items)
        self._link.send({"ready": ready, "n_threads": n_threads, "has_stem": has_stem})
        for request in self._link.messages():
            done = self._answer(request)
            end_orphans(own)  # first: what they write later is not put back
            self._link.send(done)
        self._clean_up()

    def _clean_up(self) -> None:
        """The main run hung up, and may have been killed: leave no temporary files."""
        _remove(self._scratch, ignore_errors=True)

    def _answer(self, request: Message) -> Message:
        if request.get("condition", ("",))[0] == SETS:
            compile_ahead(request["files"], request["condition"][1][2])
        started, before = monotonic(), cpu_of_children()
        do = self._do_anew if request.get("is_new") else self._do_forked
        done, waited_s = do(request)
        if done != "ok":
            self._forget_captured()
        return {
            "done": done,
            "seconds": monotonic() - started - waited_s,
            "waited_s": waited_s,
            "cpu_s": cpu_of_children() - before,
        }

    def _do_anew(self, request: Message) -> tuple[str, float]:
        pid = self._stem.forked(request) if self._stem is not None else 0
        if not pid:
            return UNFIT, 0.0
        silent, held = os.pipe()  # that process holds no end of it
        try:
            return self._wait(pid, silent, request["limit_s"])
        finally:
            _close(held)
            _close(silent)

    def _do_forked(self, request: Message) -> tuple[str, float]:
        alive, held = os.pipe()  # ends with the child, which holds the other end
        pid = os.fork()
        if pid == 0:  # it never returns
            status = 1
            try:
                os.setpgid(0, 0)
                limit_resources(request["limit_s"])
                forget_fork_server()
                self._fence.close(request["fence"], by_kernel=True)
                self._link.leave()
                self._child().run(request)
                status = 0
            finally:
                os._exit(status)
        _close(held)
        try:
            return self._wait(pid, alive, request["limit_s"])
        finally:
            _close(alive)

    def _forget_captured(self) -> None:
        """Empty the files that pytest captures into: what was killed has left what it printed."""
        manager = self._config.pluginmanager.getplugin("capturemanager")
        both = getattr(manager, "_global_capturing", None)
        for stream in (getattr(both, "out", None), getattr(both, "err", None)):
            file = getattr(stream, "tmpfile", None)
            with suppress(OSError, AttributeError):  # nothing is captured into a file
                os.ftruncate(file.fileno(), 0)  # type: ignore[union-attr]
                os.lseek(file.fileno(), 0, os.SEEK_SET)  # type: ignore[union-attr]

    def _wait(self, pid: int, alive: int, limit_s: float) -> tuple[str, float]:
        """Wait for the child; end its whole group when time is up or the main run is gone.

        Seconds in which the machine had no CPU for the child don't count, up to a bound.

        Returns:
            ``ok``, ``crash`` or ``timeout``, and those seconds.
        """
        deadline = monotonic() + limit_s
        watched, pause = [self._link.fileno(), alive], POLL_S
        while True:
            readable, _, _ = select.select(watched, [], [], pause)
            if self._link.fileno() in readable:  # nothing is sent while a request is under way
                kill_group(pid)
                self._clean_up()
                os._exit(1)
            if alive in readable:  # it ends now, or a test of it has closed all that was open
                watched, pause = [self._link.fileno()], END_POLL_S
            waited_s = min(waited_for_cpu_s(pid), MAX_WAITED_S)  # before it is gone
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                kill_group(pid)
                return "crash" if status else "ok", waited_s
            if monotonic() > deadline + waited_s:
                kill_group(pid)
                os.waitpid(pid, 0)
                return "timeout", waited_s


def _is_kept_back(item: pytest.Item) -> bool:
    return item.get_closest_marker(NEVER_RERUN) is not None


def _fix_randomness(config: pytest.Config, storage: str | None) -> None:
    """Seed random numbers for every re-run, and leave the user's example database alone.

    Hypothesis takes a quarter of a second to import, which only tests that use it should spend.
    """
    random.seed(0)

    def derandomize() -> None:
        import hypothesis
        from hypothesis import configuration

        if storage:
            configuration.set_hypothesis_home_dir(f"{storage}-hypothesis")
        settings = hypothesis.settings
        settings.register_profile("bayesloc", derandomize=True, database=None, deadline=None)
        settings.load_profile("bayesloc")

    if not config.pluginmanager.hasplugin("hypothesispytest"):
        return
    if "hypothesis" in sys.modules:
        derandomize()
    else:
        sys.meta_path.insert(0, WhenImported("hypothesis", derandomize))
