"""The memory's part in a session: records, trials, and advice on the present failures."""

from __future__ import annotations

import os
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from datetime import datetime, timezone
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from pytest_bayesloc.domain.advice import Advice, Remembered
from pytest_bayesloc.domain.bug import Run, Symptom
from pytest_bayesloc.domain.errors import EndpointError, StoreError
from pytest_bayesloc.domain.evidence import InspectionOutcome
from pytest_bayesloc.domain.failure import Origin
from pytest_bayesloc.domain.inspection import Rejected
from pytest_bayesloc.domain.texts import count, text_digest
from pytest_bayesloc.history.changes import name_of
from pytest_bayesloc.history.git import head
from pytest_bayesloc.memory.advice import Adviser, keep_feedback
from pytest_bayesloc.memory.episodes import Episodes, core_of
from pytest_bayesloc.memory.feedback import rejections, verdict_counts
from pytest_bayesloc.memory.ledger import Ledger
from pytest_bayesloc.memory.outcomes import (
    N_COUNTED,
    CodeStates,
    Endings,
    FailedTest,
    Outcomes,
)
from pytest_bayesloc.memory.retrieval import Embeddings, Score, by_words
from pytest_bayesloc.memory.sightings import Observer, Prove
from pytest_bayesloc.memory.statistics import arm_of, statistics_of
from pytest_bayesloc.memory.store import BugStore
from pytest_bayesloc.memory.transfer import deliver
from pytest_bayesloc.pipeline.context import (
    FOLDER,
    is_there,
    memory_of,
    own_folder,
    project_of,
    workspace_of,
)
from pytest_bayesloc.pipeline.fix_tools import learn, take_in
from pytest_bayesloc.spectrum.build import build_spectrum
from pytest_bayesloc.spectrum.validity import environment

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_bayesloc.domain.evidence import Outcome
    from pytest_bayesloc.domain.result import Fault
    from pytest_bayesloc.domain.spectrum import Spectrum
    from pytest_bayesloc.fixes.search import Search
    from pytest_bayesloc.history.runs import PastRuns
    from pytest_bayesloc.memory.sightings import PassingSighting
    from pytest_bayesloc.pipeline.context import Context
    from pytest_bayesloc.pipeline.guide import LlmStage
    from pytest_bayesloc.ranking.case import Case

INFRASTRUCTURE = 0.8  # where more of the tests fail, it is the machine
MIN_TESTS = 5  # of fewer, nothing is known about the machine
N_FAILED_STRATEGIES = 5  # the last ones that a language model is told, as advice shows them
MAX_BUGS = 10_000  # that a project's memory keeps; the oldest closed ones go first
_LIES = {
    Origin.CODE: "the code under test",
    Origin.TEST: "the test itself",
    Origin.FIXTURE: "a fixture of the test",
    Origin.DATA: "the test's data",
    Origin.FILE: "a data file that changed",
    Origin.COLLECTION: "what an import runs",
}


class Remembering:
    """Reads and writes the memory for one run.

    To ``prove`` is to find which of some changes tests need to pass; None: it is not to be tried.
    """

    def __init__(self, context: Context, past: PastRuns, prove: Prove | None = None) -> None:
        self._rootdir = context.rootdir
        self._settings = context.settings
        self._note = context.note
        self._context = context
        self._past = past
        self._command = text_digest("\0".join(map(str, context.config.invocation_params.args)))
        self._prove = prove
        self._where = memory_of(self._rootdir, self._settings.memory)
        self._project = project_of(self._rootdir)
        self._states = CodeStates(context.sources)
        self._lost: dict[Path | str, StoreError] = {}

    # -- before inspections

    def recall(self, cases: Sequence[Case]) -> None:
        """Tell each group which patches failed on the code as it is.

        Raises:
            StoreError: If the memory can't be used.
        """
        state, known = self._past.state(), {}
        if is_there(self._where):
            with self._ledger() as ledger:
                known = rejections(ledger, state)
        for case in cases:
            case.rejected = Rejected(state, known)

    def guide_record(
        self, guide: str
    ) -> tuple[dict[tuple[str, Outcome, bool], int], dict[str, tuple[str, ...]]]:
        """Count how often ``guide`` was right, and list per test of an open bug what is known.

        Raises:
            StoreError: If the memory can't be used.
        """
        if not is_there(self._where):
            return {}, {}
        with self._ledger() as ledger:
            counts = verdict_counts(ledger.db, guide)
            records = ledger.open_bugs().values()
        n = N_FAILED_STRATEGIES
        return counts, {
            node_id: (
                *(f"failed attempt: {text}" for text in record.failed_strategies[-n:]),
                *(f"learned: {text}" for text in record.learned_constraints[-n:]),
            )
            for record in records
            for node_id in record.symptom.tests
        }

    @contextmanager
    def _ledger(self) -> Iterator[Ledger]:
        """Open the project's records to read them."""
        assert self._where is not None  # noqa: S101 - else nobody asks
        with self._store(self._where) as store, store.transaction(write=False) as connection:
            yield Ledger(connection, self._project)

    # -- at the end of the run

    def take_in(
        self,
        cases: Sequence[Case],
        faults: Sequence[Fault],
        tries: Sequence[Search | None],
        llm: LlmStage | None,
    ) -> Remembered:
        """Add this run to the story of each bug, and look up what is known.

        Args:
            cases: The groups of failing tests, with their inspections and verdicts.
            faults: The result for each of them.
            tries: The search of a fix for each of them; empty where no fix was searched.
            llm: A language model's part; None: none is asked.

        Raises:
            StoreError: If the memory can't be used.
        """
        if self._where is None:
            return Remembered()
        run = self._run()

        def tell(store: BugStore) -> Remembered:
            if run.kind == "infrastructure":
                return self._ill_day(store, run)
            kept, events, symptoms = self._tell(store, run, cases, faults, tries)
            if llm is None:
                return kept
            try:
                advice = llm.reworded(store, self._project, kept.advice, events, symptoms)
            except KeyboardInterrupt:
                self._note("The language model was not waited for: the words are those of rules.")
                return kept
            return replace(kept, advice=advice)

        with suppress(OSError):  # what can't be made is said when it is opened
            own_folder(self._rootdir)
            if isinstance(self._where, Path):
                self._where.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(self._where, str):
            return deliver(
                self._where,
                self._rootdir / FOLDER,
                self._store,
                tell,
                self._note,
                is_red=bool(cases),
            )
        with self._store(self._where) as store:
            return tell(store)

    def _counted(self, ledger: Ledger, run: Run, endings: Endings) -> Outcomes:
        """Count how the tests of the run ended, with what is known of them."""
        outcomes = Outcomes(ledger, self._states, environment(), run.made_at)
        outcomes.load(endings)
        if not self._settings.merge:  # the runs that are merged have counted theirs
            outcomes.count(endings)
        return outcomes

    def _tell(
        self,
        store: BugStore,
        run: Run,
        cases: Sequence[Case],
        faults: Sequence[Fault],
        tries: Sequence[Search | None],
    ) -> tuple[Remembered, Sequence[Advice], Sequence[Symptom]]:
        """Add the run to a store, in one transaction; also what became of bugs, and the groups."""
        observer = Observer(self._rootdir, self._context.sources, self._past, self._prove)
        with store.transaction(write=False) as connection:
            ledger = Ledger(connection, self._project)
            open_bugs, revisions = ledger.open_bugs(), ledger.revisions()
        passing = observer.passing(open_bugs, revisions, self._context.recorder.recorded)
        last_seen_at = {
            passing[bug].moved.get(test, test): revisions.get(bug, "")
            for bug, record in open_bugs.items()
            for test in record.symptom.tests
        }
        since = max((record.seen_at for record in open_bugs.values()), default=None)
        elsewhere = self._past.written_since(since) if since is not None and cases else ()
        symptoms = observer.failing(cases, faults, last_seen_at, elsewhere)
        score = self._score(store, symptoms)
        with store.transaction() as connection:
            ledger = Ledger(connection, self._project)
            run = replace(run, number=ledger.add_run(run))
            events = Episodes(ledger, run).advance(symptoms, passing)
            noted = self._note_lesson(ledger, events, run) if self._settings.lesson else []
            kept = self._advised(ledger, run, events, symptoms, faults, score)
            endings = self._endings(cases, symptoms, events, passing)
            outcomes = self._counted(ledger, run, endings)
            keep_feedback(ledger, run, kept.advice, cases)
            ledger.trim(MAX_BUGS)
            messages = noted + [event.message for event in events if event.fault < 0]
            shown = [(symptom.tests, symptom.suspects) for symptom in symptoms]
            messages += take_in(ledger, events, run, tries, shown)
            messages += learn(ledger, events, run, observer.changes, self._rootdir)
            messages += _spared([case.rejected for case in cases])
            rows = statistics_of(ledger) if self._settings.inspect else ()
            months = tuple(row for row in rows if row.name[:1].isdigit())
            kept = replace(
                kept,
                messages=tuple(messages),
                months=months,
                flaky=tuple(outcomes.flaky(endings.failed)),
                causes=tuple(outcomes.causes(endings.failed)),
            )
        return kept, events, symptoms

    def _endings(
        self,
        cases: Sequence[Case],
        symptoms: Sequence[Symptom],
        events: Sequence[Advice],
        passing: Mapping[int, PassingSighting],
    ) -> Endings:
        """Return how the tests ended, but for those that a person wants to be forgotten."""
        told = sorted({event.fault for event in events if event.fault >= 0})
        failed = chain.from_iterable(_failed(i, cases[i], symptoms[i]) for i in told)
        resolved = {event.bug for event in events if event.kind == "resolved"}
        edited = {
            node_id
            for bug, seen in passing.items()
            if bug in resolved or seen.data or (seen.edit is not None and seen.edit.functions)
            for node_id in seen.passed
        }
        recorded = self._context.recorder.recorded
        return Endings(
            failed=dict(islice(failed, N_COUNTED)),
            passed=[node_id for node_id, passed in recorded.verdicts.items() if passed],
            edited=edited,
            reruns=recorded.reruns,
            executed=lambda node_id: _names(self._spectrum, node_id),
        )

    @cached_property
    def _spectrum(self) -> Spectrum:
        return build_spectrum(self._context.recorder.recorded, self._context.sources)

    def _advised(
        self,
        ledger: Ledger,
        run: Run,
        events: Sequence[Advice],
        symptoms: Sequence[Symptom],
        faults: Sequence[Fault],
        score: Score,
    ) -> Remembered:
        """Return the advice on each group."""
        adviser = Adviser(
            ledger,
            run.workspace,
            score,
            warns="loops" not in self._settings.without,
        )
        inspects = self._settings.inspect
        advice = [
            adviser.advise(
                event, symptoms[i], _origin(faults[i]), _helping(faults[i]) if inspects else None
            )
            for event in events
            if (i := event.fault) >= 0
        ]
        return Remembered(
            advice=tuple(sorted(advice, key=lambda item: item.fault)),
            world={} if "world-model" in self._settings.without else adviser.world(symptoms),
            is_shown=run.arm == "on",
        )

    def _note_lesson(self, ledger: Ledger, events: Sequence[Advice], run: Run) -> list[str]:
        """Add the user's note to the open bugs of the tests that ran, and say so."""
        verdicts = self._context.recorder.recorded.verdicts
        bugs = {event.bug for event in events if event.fault >= 0}
        records = ledger.open_bugs()
        bugs |= {
            bug
            for bug, record in records.items()
            if not verdicts.keys().isdisjoint(record.symptom.tests)
        }
        for bug in sorted(bugs) or (None,):
            ledger.add_note(bug, self._settings.lesson, run.made_at)
        ids = ", ".join(records[bug].id for bug in sorted(bugs) if bug in records)
        where = (
            f"with bug {ids}" if ids else "for every failure, since no open bug is of these tests"
        )
        return [f"note kept {where}: {self._settings.lesson}"]

    def _ill_day(self, store: BugStore, run: Run) -> Remembered:
        """Note a run in which nearly all tests failed, and no more."""
        share = f"{run.n_failed} of {run.n_failed + run.n_passed} tests failed"
        with store.transaction() as connection:
            ledger = Ledger(connection, self._project)
            ledger.add_run(run)
            ledger.observe("infrastructure", f"{run.made_at:%Y-%m-%d}: {share}", run.made_at)
        return Remembered(messages=(f"{share}: nothing is learned from such a run",))

    def _score(self, store: BugStore, symptoms: Sequence[Symptom]) -> Score:
        """Return the comparison of failures: by meaning where a model is set, else by words."""
        model = self._settings.llm_models.embedding
        if not model or not symptoms:
            return by_words
        from pytest_bayesloc.llm.endpoint import EndpointEmbedder

        embeddings = Embeddings(
            EndpointEmbedder(model, environment=self._context.launch.environment)
        )
        entries = [(symptom.signature, symptom.tags) for symptom in symptoms]
        try:
            if embeddings.prepare(store, self._project, entries):
                self._note(
                    "Error messages and names of functions, without secrets, were sent to the "
                    f"endpoint of OPENAI_BASE_URL for their embeddings by {model}. "
                    "(embeddings-sent)"
                )
        except EndpointError as error:
            self._note(str(error))
        return embeddings.score

    # -- the store

    @contextmanager
    def _store(self, where: Path | str) -> Iterator[BugStore]:
        """Open a store; one that was lost is not asked again."""
        if where in self._lost:
            raise self._lost[where]
        try:
            with closing(BugStore(where, self._note)) as store:
                yield store
        except StoreError as error:
            self._lost[where] = error
            raise

    # -- the run

    def _run(self) -> Run:
        """Return this run as the memory keeps it, with the plan by the user or git."""
        verdicts = self._context.recorder.recorded.verdicts
        n_passed = sum(verdicts.values())
        n_failed = len(verdicts) - n_passed
        is_ill = n_failed > INFRASTRUCTURE * len(verdicts) and n_failed >= MIN_TESTS
        revision, subject = head(self._rootdir)
        made = uuid4().hex[:12]
        workspace, now = workspace_of(self._rootdir), datetime.now(timezone.utc)
        # Advice on half of the days, to measure it: not an option, since nobody wants it for long.
        is_experiment = os.environ.get("BAYESLOC_EXPERIMENT") == "ab"
        done = f"after {subject}" if subject and revision.endswith("+") else subject
        return Run(
            id=made,
            workspace=workspace,
            made_at=now,
            revision=revision,
            n_passed=n_passed,
            n_failed=n_failed,
            kind="infrastructure" if is_ill else "normal",
            arm=arm_of(workspace or made, now) if is_experiment else "on",
            plan=self._settings.lesson or done,
            command=self._command[:16],
        )


def _failed(fault: int, case: Case, symptom: Symptom) -> Iterator[tuple[str, FailedTest]]:
    """Yield the failing tests of a group; a file that can't be collected is none."""
    again = {*case.flaky} - {spoiled.test for spoiled in case.spoiled}
    for node_id, fingerprint in symptom.failing.items():
        if "::" in node_id:
            yield (
                node_id,
                FailedTest(
                    fault=fault,
                    fingerprint=fingerprint,
                    executed=_names(case.spectrum, node_id),
                    passed_again=node_id in again,
                    cause=case.cause,
                ),
            )


def _names(spectrum: Spectrum, node_id: str) -> frozenset[str]:
    test = spectrum.bitset([node_id])
    return frozenset(name_of(where) for where, tests in spectrum.executed.items() if tests & test)


def _origin(fault: Fault) -> str:
    """Say where the error lies, and why."""
    if fault.is_flaky:
        return "at no known place: it is flaky, since its tests pass when run again"
    why = fault.ranking[0].evidence[0].why if fault.ranking and fault.ranking[0].evidence else ""
    return f"{_LIES[fault.origin]}{f': {why}' if why else ''}"


def _helping(fault: Fault) -> list[str]:
    """Return the edits with which the failing tests passed when inspected, in words."""
    return [
        f"{name_of(finding.evidence.location)}: {core_of(finding.diff)}"
        for finding in fault.inspections
        if finding.evidence.outcome is InspectionOutcome.EDIT_REPAIRS and finding.diff
    ][:1]


def _spared(rejected: Sequence[Rejected]) -> list[str]:
    n = sum(tried.n_spared for tried in rejected)
    return [f"not tried again: {count(n, 'change')} that failed on this very code"] if n else []
