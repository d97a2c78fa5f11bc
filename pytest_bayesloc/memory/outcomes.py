"""The memory of flakiness: how tests ended on which code, and the causes that were found once.

A test is counted from its first failure on, and only in runs of the suite: each of its outcomes
there, those that another plugin had rerun included. Our own re-runs are made because a test failed,
alone and in another process, so they show that it is flaky, and count for nothing.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias

from pytest_bayesloc.domain.advice import Estimate, FlakyTest, RememberedCause
from pytest_bayesloc.domain.failure import Cause, CauseKind
from pytest_bayesloc.domain.texts import file_of_test, text_digest
from pytest_bayesloc.history.changes import name_of, state_of
from pytest_bayesloc.memory.schema import row, written
from pytest_bayesloc.memory.statistics import share
from pytest_bayesloc.memory.store import chunks

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from datetime import datetime

    from pytest_bayesloc.domain.source import Unit
    from pytest_bayesloc.memory.ledger import Ledger
    from pytest_bayesloc.spectrum.sources import Sources

Row: TypeAlias = dict[str, Any]

N_COUNTED = 50  # failing tests of a run
N_STATES = 3  # of a test that are kept, beside the last one on which it was flaky
UNLIKELY = 0.05  # that a test which is still flaky passes so often: it is no longer known as that
DIGEST = 32
KEY = ("project", "node_id", "state", "environment")
_NO_CAUSE = dict.fromkeys(
    ("fingerprint", "kind", "cause", "remedy", "place", "variable", "command", "found_at"), ""
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedTest:
    """A failure of a run.

    Attributes:
        fault: Index of its group of failing tests.
        executed: By the test, as ``file qualname``.
        passed_again: Whether it passed when it was run again as it was.
        cause: Why it failed, where that is no mistake in a function.
    """

    fault: int
    fingerprint: str
    executed: frozenset[str]
    passed_again: bool = False
    cause: Cause | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Endings:
    """Endings of the tests of one run.

    Attributes:
        failed: Per node id.
        passed: Node ids.
        edited: Node ids of those that failed before, and pass since an edit of code or data.
        reruns: Per node id, the failures after which another plugin ran it again.
        executed: Returns what a test executed, as ``file qualname``.
    """

    failed: Mapping[str, FailedTest]
    passed: Collection[str]
    edited: Collection[str] = ()
    reruns: Mapping[str, int] = field(default_factory=dict)
    executed: Callable[[str], frozenset[str]] = lambda _: frozenset()


class CodeStates:
    """Digests of the code of tests, each part computed once."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._units: dict[str, dict[str, list[Unit]]] = {}
        self._digests: dict[str, str] = {}

    def texts(self, node_id: str, executed: Iterable[str]) -> str:
        """Return a digest of whole files; while it is the same, nothing has to be parsed."""
        files = [file_of_test(node_id), *(name.rpartition(" ")[0] for name in executed)]
        return self._sources.digest(files)

    def state(self, node_id: str, executed: Iterable[str]) -> str:
        """Return a digest of the test's own file, and of ``executed`` as the syntax is."""
        parts = [self._sources.digest([file_of_test(node_id)])]
        for name in sorted(executed):
            if name not in self._digests:
                locations = [unit.location for unit in self._named(name)]
                self._digests[name] = f"{name} {state_of(locations, self._sources.map)}"
            parts.append(self._digests[name])
        return text_digest("\n".join(parts), DIGEST)

    def place(self, name: str) -> Unit | None:
        """Return the code that is called ``file qualname``; None if it is gone."""
        return next(iter(self._named(name)), None)

    def _named(self, name: str) -> list[Unit]:
        file, _, qualname = name.rpartition(" ")
        if file not in self._units:
            source = self._sources.map(file) if file else None
            self._units[file] = defaultdict(list)
            for unit in source.units if source is not None else ():
                self._units[file][unit.location.qualname].append(unit)
        return self._units[file].get(qualname, [])


class Outcomes:
    """Counts the outcomes of one run, and tells what is known of its failures.

    Args:
        ledger: In a transaction.
        states: Of the code as it is.
        environment: The Python and the platform that the tests ran on.
        at: When they ran.
    """

    def __init__(self, ledger: Ledger, states: CodeStates, environment: str, at: datetime) -> None:
        self._ledger = ledger
        self._states = states
        self._environment = environment
        self._at: str = written("outcome.last_at", at)
        self._rows: dict[str, list[Row]] = {}  # per test, those that were last counted first
        self._same: dict[tuple[object, ...], bool] = {}

    def load(self, run: Endings) -> None:
        """Read what is known of the tests of a run; some are no longer known to be flaky."""
        db, project = self._ledger.db, self._ledger.project
        known = set(db.column("SELECT DISTINCT node_id FROM outcome WHERE project = ?", project))
        failed = (written("outcome.node_id", node_id) for node_id in (*run.failed, *run.reruns))
        for chunk in chunks(sorted(known.intersection(chain(run.passed, failed)))):
            asked = """SELECT * FROM outcome WHERE project = ? AND node_id IN ?
                ORDER BY last_at DESC, first_at DESC"""
            for line in db.records(asked, project, chunk):
                line["executed"] = json.loads(line["executed"])
                self._rows.setdefault(line["node_id"], []).append(line)
        for node_id in self._rows:
            if _has_ended(own := self._own(node_id)):
                self._delete(own)

    def count(self, run: Endings) -> None:
        """Add the outcomes of tests that failed, and of those that once did; after ``load``."""
        for node_id, failed in run.failed.items():
            counts = {
                "n_failed": 1 + run.reruns.get(node_id, 0),
                "n_again": int(failed.passed_again),
            }
            known = self._add(node_id, failed.executed, **counts)
            if failed.cause is not None:
                self._keep_cause(known, failed.fingerprint, failed.cause)
        for node_id in sorted({*self._rows, *run.reruns}.intersection(run.passed)):
            here, n_failed = self._here(node_id), run.reruns.get(node_id, 0)
            own = self._own(node_id)
            if here is not None and node_id in run.edited and not n_failed and not is_flaky(here):
                self._delete([here])  # it was repaired by what is not seen in its code
            elif here is not None or n_failed:
                executed = frozenset() if here is not None else run.executed(node_id)
                self._add(node_id, executed, n_failed=n_failed, n_passed=1)
            elif any(map(is_flaky, own)):
                # On changed code from the first outcome on, so that the rate is not too high.
                self._add(node_id, own[0]["executed"], n_passed=1)
            elif node_id in run.edited:
                self._delete(own)

    def flaky(self, failed: Mapping[str, FailedTest]) -> list[FlakyTest]:
        """Return which failing tests were known to be flaky before, with their rates."""
        found = []
        for node_id, test in failed.items():
            known = [line for line in self._known(node_id) if is_flaky(line)]
            if not any(line["first_at"] < self._at for line in known):
                continue
            here = self._environment
            line = max(
                known,
                key=lambda line: (
                    self._is_same(node_id, line),
                    line["environment"] == here,
                    line["last_at"],
                ),
            )
            found.append(
                FlakyTest(
                    fault=test.fault,
                    test=node_id,
                    n_failed=line["n_failed"],
                    rate=_rate(line),
                    is_same_code=self._is_same(node_id, line),
                    passed_again=line["n_again"] > 0,
                    environment=line["environment"] if line["environment"] != here else "",
                    since=min(line["first_at"] for line in known),
                )
            )
        return found

    def causes(self, failed: Mapping[str, FailedTest]) -> list[RememberedCause]:
        """Return the causes that earlier runs found for the same failures on the same code."""
        found = []
        for node_id, test in failed.items():
            lines = (n for n in self._known(node_id) if n["fingerprint"] == test.fingerprint)
            earlier = (n for n in lines if n["kind"] and n["found_at"] < self._at)
            line = next((n for n in earlier if self._is_same(node_id, n)), None)
            if line is None:
                continue
            unit = self._states.place(line["place"])
            cause = Cause(
                kind=CauseKind(line["kind"]),
                text=line["cause"],
                advice=line["remedy"],
                location=None if unit is None else unit.location,
                line=line["line"],
                after=tuple(json.loads(line["after"])),
                state=line["variable"],
                command=line["command"],
            )
            found.append(
                RememberedCause(
                    fault=test.fault, test=node_id, found_at=line["found_at"], cause=cause
                )
            )
        return found

    # -- counting

    def _known(self, node_id: str) -> list[Row]:
        return self._rows.get(written("outcome.node_id", node_id), [])

    def _is_same(self, node_id: str, line: Row) -> bool:
        """Whether the code is as it was counted in ``line``; if so, that has its present texts."""
        key = _key(line)
        if key not in self._same:
            before, names = line["texts"], line["executed"]
            texts = self._states.texts(node_id, names)
            is_same = texts == before or self._states.state(node_id, names) == line["state"]
            self._same[key] = bool(line["state"]) and is_same
            line["texts"] = texts if self._same[key] else before
        return self._same[key]

    def _here(self, node_id: str) -> Row | None:
        """Return the counts on the code as it is, where this run is made."""
        own = self._own(node_id)
        return next((line for line in own if self._is_same(node_id, line)), None)

    def _own(self, node_id: str) -> list[Row]:
        known = self._known(node_id)
        return [line for line in known if line["environment"] == self._environment]

    def _add(self, node_id: str, executed: Collection[str], **counts: int) -> Row:
        """Count outcomes on the code as it is, and return what is counted there now."""
        here = self._here(node_id)
        if here is None:
            here = self._begin(node_id, executed)
        here |= {name: here[name] + n for name, n in counts.items()} | {"last_at": self._at}
        names = ("n_failed", "n_passed", "n_again", "last_at", "texts")
        self._update(here, {name: here[name] for name in names})
        return here

    def _begin(self, node_id: str, executed: Collection[str]) -> Row:
        own = file_of_test(node_id)
        others = sorted(name for name in executed if name.rpartition(" ")[0] != own)
        listed: str = written("outcome.executed", others)
        names = json.loads(listed)  # as they are read again
        key = row(
            "outcome",
            project=self._ledger.project,
            node_id=node_id,
            state=self._states.state(node_id, names),
            environment=self._environment,
        )
        new = {
            **key,
            "executed": names,
            "texts": self._states.texts(node_id, names),
            **dict.fromkeys(("n_failed", "n_passed", "n_again", "line"), 0),
            **dict.fromkeys(("first_at", "last_at"), self._at),
            **_NO_CAUSE,
            "after": "[]",
        }
        self._ledger.db.insert("outcome", new | {"executed": listed})
        self._same[_key(new)] = True
        known = self._rows.setdefault(key["node_id"], [])
        known.insert(0, new)
        last = next(filter(is_flaky, known), None)
        self._delete([line for line in known[N_STATES:] if line is not last])
        return new

    def _keep_cause(self, line: Row, fingerprint: str, cause: Cause) -> None:
        is_variable = cause.state.startswith("os.environ")  # of these, no value is kept
        text = cause.text.partition(" changed from ")[0] + " changed" if is_variable else cause.text
        found = row(
            "outcome",
            fingerprint=fingerprint,
            kind=cause.kind,
            cause=text,
            remedy=cause.advice,
            place=name_of(cause.location) if cause.location is not None else "",
            line=cause.line,
            after=cause.after,
            variable=cause.state,
            command=cause.command,
            found_at=self._at,
        )
        self._update(line, found)

    def _update(self, line: Row, values: Row) -> None:
        line |= values
        self._ledger.db.update("outcome", values, **{name: line[name] for name in KEY})

    def _delete(self, lines: Sequence[Row]) -> None:
        is_it = " AND ".join(f"{name} = ?" for name in KEY)
        self._ledger.db.change_each(f"DELETE FROM outcome WHERE {is_it}", map(_key, lines))
        for line in lines:
            self._rows[line["node_id"]].remove(line)


def is_flaky(line: Row) -> bool:
    """Whether a test passed and failed on the code of ``line``, as ``IS_FLAKY`` has it."""
    return bool(line["n_again"] or (line["n_failed"] and line["n_passed"]))


def forget(ledger: Ledger, tests: Collection[str]) -> None:
    """Delete what is known of ``tests``."""
    for chunk in chunks([written("outcome.node_id", node_id) for node_id in tests]):
        change = "DELETE FROM outcome WHERE project = ? AND node_id IN ?"
        ledger.db.change(change, ledger.project, chunk)


def _has_ended(lines: Sequence[Row]) -> bool:
    """Whether a test that is flaky at its old rate would hardly have passed since so often."""
    last = next((i for i, line in enumerate(lines) if is_flaky(line)), 0)
    if not last:
        return False
    newer = lines[:last]
    if any(line["n_failed"] for line in newer):
        return False
    n_passed = sum(line["n_passed"] for line in newer)
    return bool((1 - _rate(lines[last]).low) ** n_passed < UNLIKELY)


def _rate(line: Row) -> Estimate:
    found = share(line["n_failed"], line["n_failed"] + line["n_passed"])
    return found or Estimate(value=0.0, low=0.0, high=1.0, n=0)


def _key(line: Row) -> tuple[object, ...]:
    return tuple(line[name] for name in KEY)
