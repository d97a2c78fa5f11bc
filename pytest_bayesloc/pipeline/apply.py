"""Fixes as patches, written to files on request, and never where git could not give them back."""

from __future__ import annotations

import re
import sys
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_bayesloc.domain.errors import FixError
from pytest_bayesloc.fixes.apply import changed_bytes, is_ci, unified, unsaved
from pytest_bayesloc.history.changes import name_of
from pytest_bayesloc.pipeline.fix_memory import note_fate
from pytest_bayesloc.pipeline.fix_tools import journal
from pytest_bayesloc.report.files import FOLDER, own_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pytest

    from pytest_bayesloc.domain.fixing import Fix
    from pytest_bayesloc.fixes.check import Candidate
    from pytest_bayesloc.options import Launch, Settings
    from pytest_bayesloc.pipeline.fix import Fixing
    from pytest_bayesloc.spectrum.sources import Sources

YES, QUIT = {"y", "yes"}, {"q", "quit"}


@dataclass(frozen=True, kw_only=True)
class Applying:
    """What the stage is given.

    Attributes:
        config: pytest's.
        settings: What the user asked for.
        launch: What the process was started with.
        sources: The project's files.
        note: Tells the user, once.
        found: The fixes, best first, each with the change that it is.
    """

    config: pytest.Config
    settings: Settings
    launch: Launch
    sources: Sources
    note: Callable[[str], None]
    found: list[tuple[Fix, Candidate]] = field(default_factory=list)

    @classmethod
    def of(cls, stage: Fixing) -> Applying:
        """What came of a search."""
        names = ("config", "settings", "sources", "note", "found")
        own = {name: getattr(stage, name) for name in names}
        return cls(launch=stage.executing.launch, **own)

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """What is shown, as far as it has come."""
        return tuple(fix for fix, _ in self.found)

    def write_patches(self) -> None:
        """Write each fix as a patch below ``.bayesloc/fixes/``."""
        folder = self.config.rootpath / FOLDER / "fixes"
        for i, (fix, candidate) in enumerate(self.found):
            if not fix.diff:
                continue
            name = re.sub(r"\W+", "-", f"{fix.fault}-{i + 1}-{fix.tool}").strip("-")
            with suppress(OSError, FixError):
                own_folder(self.config.rootpath)
                folder.mkdir(exist_ok=True)
                before, after = self._bytes(candidate)
                (folder / f"{name}.patch").write_bytes(unified(before, after, candidate.file))
                written = replace(fix, patch_file=f"{FOLDER}/fixes/{name}.patch")
                self.found[i] = (written, candidate)

    def apply_best(self) -> None:
        """Write the best verified fix to its file, and say so."""
        for i, (fix, _) in enumerate(self.found):
            if fix.is_verified:
                self.apply(i)
                break

    def review(self, reporter: pytest.TerminalReporter) -> None:
        """Ask of each verified fix whether to write it."""
        capture = self.config.pluginmanager.getplugin("capturemanager")
        if capture is not None:
            capture.suspend_global_capture(in_=True)
        try:
            if not sys.stdin.isatty():
                self.note(
                    "--bayesloc-fix=review has nobody to ask: standard input is no terminal. The "
                    "patches are in .bayesloc/fixes/. (fix-review)"
                )
                return
            for i, (fix, candidate) in enumerate(list(self.found)):
                if not fix.is_verified:
                    continue
                reporter.write_line(fix.diff)
                reporter.write(f"Apply this fix by {fix.tool} to {candidate.file}? [y/N/q] ")
                line = sys.stdin.readline()
                answer = line.strip().lower()
                if answer in QUIT or not line:  # nobody is there any more
                    return
                if answer in YES:
                    self.apply(i)
        finally:
            if capture is not None:
                capture.resume_global_capture()

    def mark(self, document: Mapping[str, Any]) -> bool:
        """Say in the JSON result what was applied; whether anything was."""
        for entry, fix in zip(document["fixes"], self.fixes, strict=False):
            entry["applied"] = fix.is_applied
        return any(fix.is_applied for fix in self.fixes)

    def apply(self, index: int) -> None:
        """Write a fix to its file, unless something speaks against it; say what was done."""
        fix, candidate = self.found[index]
        try:
            self._refuse(candidate.file)
            before, after = self._bytes(candidate)
            where = name_of(fix.target)
            journal(self.config.rootpath).apply(candidate.file, before, after, fix.tool, where)
        except FixError as error:
            self.note(str(error))
            return
        told = self.settings.memory
        note_fate(self.config.rootpath, told, self.note, [(fix.tool, [where], "applied")])
        self.found[index] = (replace(fix, is_applied=True), candidate)
        self.note(
            f"The fix by {fix.tool} was written to {candidate.file}. To take it back: pytest "
            "--bayesloc-fix=undo. (fix-applied)"
        )

    def _refuse(self, file: str) -> None:
        why = ""
        if not self.settings.allows_dirty:
            workers = getattr(self.config.option, "numprocesses", None) or getattr(
                self.config.option, "tx", None
            )
            if is_ci(self.launch.environment):
                why = "this is a CI run (its environment says CI)"
            elif workers:
                why = "this is a run of pytest-xdist, whose other processes may read it"
            else:
                why = unsaved(Path(self.sources.files.absolute(file)).resolve())
        if why:
            raise FixError(
                f"The fix of {file} is not applied: {why}. Commit it first, apply the patch "
                "yourself, or give --bayesloc-allow-dirty.",
                slug="fix-refused",
            )

    def _bytes(self, candidate: Candidate) -> tuple[bytes, bytes]:
        """Bytes of the file as it is, and with the change."""
        path = Path(self.sources.files.absolute(candidate.file))
        try:
            before = path.read_bytes()
        except OSError as error:
            raise FixError(
                f"The fix of {candidate.file} is not applied: it can't be read ({error}).",
                slug="fix-refused",
            ) from error
        return before, changed_bytes(before, candidate.before, candidate.after, candidate.file)
