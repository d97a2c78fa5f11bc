"""The pytest plugin that follows the wrong value of a failing test, in the child of a server."""

from __future__ import annotations

import os
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import pytest

from pytest_bayesloc.rerun.flow import FlowTracer
from pytest_bayesloc.rerun.origins import ARGUMENT_LEVELS, Origins
from pytest_bayesloc.rerun.wrong_values import wrong_values

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence
    from types import CodeType

    from pytest_bayesloc.rerun.flow import Activation, Occurrence
    from pytest_bayesloc.rerun.link import Message
    from pytest_bayesloc.rerun.origins import Root
    from pytest_bayesloc.rerun.wrong_values import WrongValues

MAX_MAKERS = 300  # that a message speaks of
_FOREIGN = frozenset({"site-packages", "dist-packages", "node_modules"})

# Bound now: tests patch these (pyfakefs).
_isabs, _realpath, _relpath = os.path.isabs, os.path.realpath, os.path.relpath


class FileNames:
    """Names the project's files.

    Args:
        root: The project's root.
        files: Per path of a file of the project, its name relative to the root of the main run.
    """

    def __init__(self, root: str, files: Mapping[str, str]) -> None:
        self._root = _realpath(root)
        self._files = {_realpath(path): file for path, file in files.items()}
        self._names: dict[str, str] = {}

    def name(self, filename: str) -> str:
        """The name of a file of the project, relative to its root; empty if it is none."""
        known = self._names.get(filename)
        if known is None:
            known = self._names[filename] = self._named(filename)
        return known

    def _named(self, filename: str) -> str:
        if not _isabs(filename) or not filename.endswith(".py"):
            return ""
        path = _realpath(filename)
        if path in self._files:
            return self._files[path]
        parts = PurePath(_relpath(path, self._root)).parts
        if ".." in parts or any(p.startswith(".") or p in _FOREIGN for p in parts):
            return ""
        return "/".join(parts)


class FlowProbe:
    """Follows one test at a time, and says what came of it.

    Args:
        root: The project's root.
        files: Per path of a file of the project, its name relative to the root of the main run.
    """

    def __init__(self, root: str, files: Mapping[str, str]) -> None:
        self._name = FileNames(root, files).name
        self._tracer = FlowTracer(lambda filename: bool(self._name(filename)))
        self._found: Message = {}
        self._n_makers = 0

    def start(self) -> None:
        """Begin a test."""
        self._found, self._n_makers = {}, 0
        self._tracer.start()

    def stop(self) -> Message:
        """End the test; empty if it did not fail, or its wrong value can't be followed."""
        self._tracer.stop()
        return self._found

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, call: pytest.CallInfo[Any]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Look at the exception once other plugins have it from their own runners."""
        self._tracer.stop()
        report = yield
        if call.excinfo is not None and call.when != "teardown" and not self._found:
            self._follow(call.excinfo.value)
        elif call.when != "teardown":
            self._tracer.resume()
        return report

    def _follow(self, error: BaseException) -> None:
        if self._tracer.is_cut:
            return
        wrong = wrong_values(error, self._tracer, lambda name: bool(self._name(name)))
        if wrong is not None:
            self._found = self._message(wrong)

    def _message(self, wrong: WrongValues) -> Message:
        origins = Origins(self._tracer)
        return {
            "user": self._frame(wrong.user.code, wrong.line),
            "condition": wrong.condition,
            "values": [
                [
                    root.label,
                    self._makers(origins, origins.of_root(root), ARGUMENT_LEVELS),
                    self._giver(origins, root),
                    root.is_part,
                ]
                for root in wrong.roots
            ],
        }

    def _makers(
        self, origins: Origins, occurrences: Sequence[Occurrence], levels: int
    ) -> list[Message]:
        found: list[Message] = []
        for occurrence in occurrences:
            maker = occurrence.maker
            self._n_makers += 1
            if self._n_makers > MAX_MAKERS:
                continue
            found.append(
                {
                    "frame": self._frame(maker.code, occurrence.line),
                    "key": str(occurrence.key),
                    "held": occurrence.is_held,
                    "arguments": self._arguments(origins, maker, levels) if levels else {},
                }
            )
        return found

    def _giver(self, origins: Origins, root: Root) -> list[Any]:
        giver, line = origins.giver(root)
        return [] if giver is None else self._frame(giver.code, line)

    def _arguments(
        self, origins: Origins, maker: Activation, levels: int
    ) -> dict[str, list[Message]]:
        return {
            name: self._makers(origins, occurrences, levels - 1)
            for name, occurrences in origins.arguments(maker)
        }

    def _frame(self, code: CodeType, line: int) -> list[Any]:
        """The fields of ``domain.failure.Frame`` that are known here."""
        name = getattr(code, "co_qualname", code.co_name)
        return [
            self._name(code.co_filename),
            line or code.co_firstlineno,
            name,
            code.co_firstlineno,
        ]
