"""How a run reaches a memory that is shared: at once, or later from beside the project."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.advice import Remembered
from pytest_bayesloc.domain.errors import StoreError
from pytest_bayesloc.report.files import FOLDER, own_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from pytest_bayesloc.domain.advice import Advice
    from pytest_bayesloc.memory.advice import Terms
    from pytest_bayesloc.memory.store import BugStore

    Open = Callable[[Path | str], AbstractContextManager[BugStore]]
    Tell = Callable[[BugStore], Remembered]


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """To one shared memory.

    Attributes:
        rootdir: Of the project.
        project: Its name.
        url: Of the memory.
        open: Opens a store; one that was lost is not asked again.
        terms: How much advice says.
        note: Tells the user, once.
    """

    rootdir: Path
    project: str
    url: str
    open: Open
    terms: Terms
    note: Callable[[str], None]

    def of(self, tell: Tell, *, is_red: bool = True) -> Remembered:
        """Have a run told to the memory, or to the outbox if it can't be reached.

        Args:
            tell: Adds the run to a store, in one transaction, and says what is known there.
            is_red: Whether a test failed; else there may be nothing to keep.

        Raises:
            StoreError: If the outbox can't be written either.
        """
        from pytest_bayesloc.memory.outbox import outbox_of

        with suppress(OSError):  # what can't be made is said when it is opened
            own_folder(self.rootdir)
        outbox = outbox_of(self.rootdir / FOLDER, self.url)
        try:
            return self._sent(outbox, tell)
        except StoreError as error:
            if error.slug not in {"memory-unusable", "memory-newer"}:
                raise
            self.note(str(error))
            if not is_red and not outbox.is_file():
                return Remembered()
            with self.open(outbox) as store:
                kept = tell(store)
            self.note(
                f"What this run showed is kept in {outbox.relative_to(self.rootdir)}, and sent by "
                "the next red run that reaches the memory. (memory-offline)"
            )
            return kept

    def _sent(self, outbox: Path, tell: Tell) -> Remembered:
        from pytest_bayesloc.memory.outbox import fold, send

        with self.open(self.url) as store:
            for line in fold(store):
                self.note(line)
            send(outbox, store, self.project, self.note)
            with store.transaction(write=False) as connection:
                may_change = store.may_change(connection)
            if may_change:
                return self._told_twice(store, tell)
            with self.open(outbox) as own:
                kept = tell(own)
            send(outbox, store, self.project, self.note)
            return self._with_what_others_met(store, kept)

    @staticmethod
    def _told_twice(store: BugStore, tell: Tell) -> Remembered:
        """Once more over a new connection, if the first one was cut: nothing was kept by it."""
        try:
            return tell(store)
        except StoreError:
            store.close()
            return tell(store)

    def _with_what_others_met(self, store: BugStore, kept: Remembered) -> Remembered:
        """Advice with the similar bugs of the shared memory, which can be read."""
        from pytest_bayesloc.memory.advice import Adviser
        from pytest_bayesloc.memory.ledger import Ledger

        with store.transaction(write=False) as connection:
            adviser = Adviser(Ledger(connection, self.project), "", self.terms)
            advice: list[Advice] = [
                replace(item, similar=tuple(adviser.similar(item.record.symptom)))
                for item in kept.advice
            ]
        return replace(kept, advice=tuple(advice))
