"""Puts a server's fence, line and patches in place before pytest is imported."""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_bayesloc.rerun.conditions import CLOCK, apply
from pytest_bayesloc.rerun.fence import PLUGINS, Fence
from pytest_bayesloc.rerun.link import SERVER_VARIABLE, open_link
from pytest_bayesloc.rerun.swap import DataOverlay, Overlay

if TYPE_CHECKING:
    from pytest_bayesloc.rerun.link import CallingSocket, Message, Pipes
    from pytest_bayesloc.rerun.stem import Stem


class Boot:
    """The parts of this process that are older than pytest's.

    Attributes:
        spec: The address of the main run, ``tests`` in order, ``options`` to set, ``once`` with the
            only request, or None, ``fence`` while tests are collected, and ``scratch``, the folder
            of temporary files.
        stem: Where processes are forked that have seen no code of the project; None: nowhere.
        files: Absolute paths to collect in the place of those of the command line.
    """

    def __init__(self, spec: Message) -> None:
        self.spec = spec
        self.stem: Stem | None = None
        self.files: list[str] = []
        self.link: Pipes | CallingSocket = open_link(spec)
        self.fence = Fence(spec["scratch"])
        self.fence.send = self.link.send
        self.fence.install()

    def begin(self, once: Message) -> None:
        """Put the patches of the only request in place, and close the fence for it."""
        for patch in once.get("patches", ()):
            if patch["filename"].endswith(".py"):
                Overlay(patch["filename"], patch["original"], patch["patched"]).install()
            else:
                DataOverlay(patch["filename"], patch["patched"], self.spec["scratch"]).install()
        self.fence.close(once["fence"], by_kernel=True)


_booted: list[Boot] = []


def start() -> None:
    """Read what this process is to do; patch it, if that is for one request, and close its fence.

    pytest's own start may import code under test: for a filter of warnings that names a class of
    the project's, or because the project is a plugin.
    """
    boot = Boot(json.loads(Path(os.environ.pop(SERVER_VARIABLE)).read_text(encoding="ascii")))
    _booted.append(boot)
    if boot.spec.get("umask", -1) >= 0:  # a test may have changed that of the main run
        os.umask(boot.spec["umask"])
    if shifted_by := boot.spec["options"].get(CLOCK):
        apply("clock", shifted_by)
    boot.fence.test = PLUGINS
    once = boot.spec["once"]
    if not once:
        import_module("pytest_bayesloc.rerun.child")  # its byte code is kept
        sys.dont_write_bytecode = True
        boot.fence.close(boot.spec["fence"])  # it learns what plugins do as they are imported
        return
    sys.dont_write_bytecode = True  # that would be refused
    boot.begin(once)


def booted() -> Boot:
    """Return what ``start`` has made."""
    return _booted[0]
