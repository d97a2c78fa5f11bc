"""Questions to the memory, and corrections of it, that run no test."""

from __future__ import annotations

import json
import sys
from contextlib import closing
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import pytest

from pytest_bayesloc.domain.errors import BayeslocError, StoreError
from pytest_bayesloc.report.files import FOLDER, own_folder, replace_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from pytest_bayesloc.memory.ledger import Ledger
    from pytest_bayesloc.options import Settings

LAST = "last-advice.json"


def answer(config: pytest.Config, settings: Settings) -> int:
    """Answer what was asked; pytest's exit status."""
    try:
        for line in _answers(config, settings):
            sys.stdout.write(f"{line}\n")
    except BayeslocError as error:
        sys.stderr.write(f"{error}\n")
        return int(pytest.ExitCode.USAGE_ERROR)
    return int(pytest.ExitCode.OK)


def keep_last(rootdir: Path, memory: Mapping[str, Any]) -> None:
    """Keep the advice of this run for ``--bug-advice-last``.

    Raises:
        OSError: If it can't be written.
    """
    made_at = datetime.now(timezone.utc).isoformat(timespec="seconds")
    text = json.dumps({"made_at": made_at, "memory": memory}, ensure_ascii=True)
    replace_text(own_folder(rootdir) / LAST, text)


def _answers(config: pytest.Config, settings: Settings) -> Iterator[str]:
    if config.getoption("bug_advice_last"):
        yield from _last(config.rootpath / FOLDER / LAST, settings)
    forget, merge = config.getoption("bug_forget"), config.getoption("bug_merge")
    if forget or merge or config.getoption("bug_stats") or config.getoption("bug_stats_json"):
        yield from _of_store(config, settings, forget or "", merge or "")


def _last(path: Path, settings: Settings) -> Iterator[str]:
    """The advice of the last red run."""
    from pytest_bayesloc.report.advice import advice_lines

    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        lines = advice_lines(kept["memory"], in_full=True, n_last=settings.n_failed_strategies)
        made_at = str(kept["made_at"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StoreError(
            f"There is no advice of a last run in {path} ({type(error).__name__}): run the failing "
            "tests once, with the memory on.",
            slug="last-advice",
        ) from error
    yield f"advice of the run of {made_at}"
    yield from (line.text for line in lines)


def _of_store(config: pytest.Config, settings: Settings, forget: str, merge: str) -> Iterator[str]:
    from pytest_bayesloc.memory.ledger import Ledger
    from pytest_bayesloc.memory.store import BugStore
    from pytest_bayesloc.stages.remembering import memory_of, project_of

    where = memory_of(config.rootpath, settings.memory)
    if where is None:
        yield "The memory is off (--bayesloc-memory=off): there is nothing to ask."
        return
    notes: list[str] = []
    with closing(BugStore(where, notes.append)) as store, store.transaction() as connection:
        ledger = Ledger(connection, project_of(config.rootpath))
        if forget:
            yield _forget(ledger, forget)
        if merge:
            yield _merge(ledger, merge)
        if config.getoption("bug_stats") or config.getoption("bug_stats_json"):
            yield from _stats(ledger, as_json=config.getoption("bug_stats_json"))
    yield from notes


def _stats(ledger: Ledger, *, as_json: bool) -> list[str]:
    from pytest_bayesloc.memory.statistics import summed_up
    from pytest_bayesloc.memory.worth import Worth
    from pytest_bayesloc.report.stats import stats_json, stats_lines

    worth = Worth(ledger)
    rows = summed_up(worth.counted(), worth.gained())
    return [json.dumps(stats_json(rows), indent=2)] if as_json else stats_lines(rows)


def _forget(ledger: Ledger, bug_id: str) -> str:
    bug = _found(ledger, bug_id)
    record = ledger.bugs([bug])[bug]
    ledger.decide(record.symptom.fingerprints, "")
    ledger.delete(bug)
    return f"bug {record.id} is forgotten, and what fails as it did is not taken in again"


def _merge(ledger: Ledger, pair: str) -> str:
    kept_id, _, merged_id = (part.strip() for part in pair.partition(","))
    kept, merged = _found(ledger, kept_id), _found(ledger, merged_id)
    if kept == merged:
        return f"bug {kept_id} is already one with itself: nothing was changed"
    records = ledger.bugs([kept, merged])
    ledger.decide(records[merged].symptom.fingerprints, records[kept].id)
    ledger.add_failures(kept, records[merged].symptom)
    ledger.delete(merged)
    return f"bug {records[merged].id} is bug {records[kept].id} from now on"


def _found(ledger: Ledger, bug_id: str) -> int:
    bug = ledger.find(bug_id) if bug_id else None
    if bug is None:
        raise StoreError(
            f"No single bug has the id {bug_id!r}: nothing was changed. Give an id as the advice "
            "prints it (--bug-forget ID, --bug-merge A,B).",
            slug="memory-unknown-bug",
        )
    return bug
