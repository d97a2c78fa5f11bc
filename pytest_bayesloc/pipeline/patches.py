"""Fixes that are shown: patches beside the project, and files that are written on request."""

from __future__ import annotations

import re
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_bayesloc.domain.errors import FixError
from pytest_bayesloc.domain.fixing import Level
from pytest_bayesloc.fixes.apply import changed_bytes, is_ci, refused, unified, unsaved
from pytest_bayesloc.fixes.check import patch_of
from pytest_bayesloc.history.changes import name_of
from pytest_bayesloc.pipeline.context import FOLDER, own_folder
from pytest_bayesloc.pipeline.fix_tools import journal, note_fate
from pytest_bayesloc.spectrum.sources import FileKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pytest

    from pytest_bayesloc.fixes.check import Candidate
    from pytest_bayesloc.pipeline.context import Context
    from pytest_bayesloc.report.document import FixEntry

N_NAMED = 3  # files in a line
YES, QUIT = {"y", "yes"}, {"q", "quit"}


@dataclass(frozen=True, kw_only=True)
class Patches:
    """The fixes that are shown.

    Attributes:
        context: The session.
        found: The best of each fault first, each with its change.
    """

    context: Context
    found: list[tuple[FixEntry, Candidate]] = field(default_factory=list)

    @property
    def fixes(self) -> tuple[FixEntry, ...]:
        """The fixes as the result shows them."""
        return tuple(fix for fix, _ in self.found)

    def write(self) -> None:
        """Write each fix as a patch below ``.bayesloc/fixes/``."""
        folder = self.context.rootdir / FOLDER / "fixes"
        for i, (fix, candidate) in enumerate(self.found, 1):
            if not fix.diff:
                continue
            name = re.sub(r"\W+", "-", f"{fix.fault}-{i}-{fix.tool}").strip("-")
            with suppress(OSError, FixError):
                own_folder(self.context.rootdir)
                folder.mkdir(exist_ok=True)
                parts = [(*self._bytes(p), p.file) for p in candidate.parts_by_file()]
                patch = b"".join(unified(*part) for part in parts)
                (folder / f"{name}.patch").write_bytes(patch)
                fix.patch_file = f"{FOLDER}/fixes/{name}.patch"

    def apply_best(self) -> None:
        """Write the best verified fix that nothing speaks against to its file, and say so."""
        verified = (pair for pair in self.found if pair[0].verified and self.may_apply(pair[1]))
        best = next((pair for pair in verified if pair[0].doubt is None), None)
        if best is not None:
            self._apply(*best)

    def may_apply(self, candidate: Candidate) -> bool:
        """Say whether a fix may be shown as one to apply."""
        return self.context.settings.shows_unsafe or candidate.level is Level.SAFE

    def review(self, reporter: pytest.TerminalReporter) -> None:
        """Ask of each verified fix whether to write it."""
        capture = self.context.config.pluginmanager.getplugin("capturemanager")
        if capture is not None:
            capture.suspend_global_capture(in_=True)
        try:
            if not sys.stdin.isatty():
                self.context.note(
                    "--bayesloc-fix=review has nobody to ask: standard input is no terminal. The "
                    "patches are in .bayesloc/fixes/. (fix-review)"
                )
                return
            for fix, candidate in self.found:
                if not fix.verified:
                    continue
                reporter.write_line(fix.diff)
                files = " and ".join(part.file for part in candidate.parts_by_file())
                reporter.write(f"Apply this fix by {fix.tool} to {files}? [y/N/q] ")
                line = sys.stdin.readline()
                answer = line.strip().lower()
                if answer in QUIT or not line:  # nobody is there any more
                    return
                if answer in YES:
                    self._apply(fix, candidate)
        finally:
            if capture is not None:
                capture.resume_global_capture()

    def mark(self, document: Mapping[str, Any]) -> bool:
        """Say in the JSON result what was applied; whether anything was."""
        searched = (entry for entry in document["fixes"] if entry["stage"] != "inspection")
        for entry, fix in zip(searched, self.fixes, strict=False):
            entry["applied"] = fix.applied
        return any(fix.applied for fix in self.fixes)

    def _apply(self, fix: FixEntry, candidate: Candidate) -> None:
        """Write a fix to its file, unless something speaks against it; say what was done."""
        parts = candidate.parts_by_file()
        files = " and ".join(part.file for part in parts)
        try:
            for part in parts:
                if why := self._why_not_written(part.file):
                    then = "Commit it first, apply the patch yourself, or give"
                    raise refused(part.file, f"{why}. {then} --bayesloc-allow-dirty")
            changes = [(p.file, *self._bytes(p)) for p in parts]
            where = name_of(patch_of(candidate).target)
            journal(self.context.rootdir).apply_all(changes, fix.tool, where)
        except FixError as error:
            self.context.note(str(error))
            return
        told = self.context.settings.memory
        note_fate(self.context.rootdir, told, self.context.note, [(fix.tool, [where], "applied")])
        fix.applied = True
        self.context.note(
            f"The fix by {fix.tool} was written to {files}. To take it back: pytest "
            "--bayesloc-fix=undo. (fix-applied)"
        )

    def announce_refusals(self, likely: Iterable[str]) -> None:
        """Say before the search which likely files it may not write, rather than after it."""
        known = self.context.sources.files
        files: dict[str, list[str]] = {}
        for file in sorted(set(likely)):
            is_code = known.kind(known.absolute(file)) is FileKind.CODE
            if is_code and (why := self._why_not_written(file)):
                files.setdefault(why, []).append(file)
        for why, paths in files.items():
            more = f" and {len(paths) - N_NAMED} more" if len(paths) > N_NAMED else ""
            self.context.announce(
                f"A fix of {', '.join(paths[:N_NAMED])}{more} will be shown, not applied: {why}. "
                "Commit first, or give --bayesloc-allow-dirty. (fix-refused)"
            )

    def _why_not_written(self, file: str) -> str:
        """Says why a fix must not be written to ``file``; empty if it may."""
        if self.context.settings.allows_dirty:
            return ""
        options = self.context.config.option
        if is_ci(self.context.launch.environment):
            return "this is a CI run (its environment says CI)"
        if getattr(options, "numprocesses", None) or getattr(options, "tx", None):
            return "this is a run of pytest-xdist, whose other processes may read it"
        return unsaved(Path(self.context.sources.files.absolute(file)).resolve())

    def _bytes(self, candidate: Candidate) -> tuple[bytes, bytes]:
        """Bytes of the file as it is, and with the change."""
        path = Path(self.context.sources.files.absolute(candidate.file))
        try:
            before = path.read_bytes()
        except OSError as error:
            raise refused(candidate.file, f"it can't be read ({error})") from error
        return before, changed_bytes(before, candidate.before, candidate.after, candidate.file)
