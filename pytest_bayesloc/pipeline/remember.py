"""The memory's part in a session: records, trials, and advice on what fails now."""

from __future__ import annotations

import os
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from pytest_bayesloc.domain.advice import Remembered
from pytest_bayesloc.domain.errors import EndpointError, StoreError
from pytest_bayesloc.domain.failure import Origin
from pytest_bayesloc.pipeline.keeping import keep_judged, keep_rejected, keep_said
from pytest_bayesloc.pipeline.place import memory_of, project_of
from pytest_bayesloc.report.files import own_folder, replace_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pytest_bayesloc.domain.bug import Symptom
    from pytest_bayesloc.domain.evidence import Outcome as Word
    from pytest_bayesloc.domain.result import Fault
    from pytest_bayesloc.history.changes import Changes
    from pytest_bayesloc.memory.advice import Terms
    from pytest_bayesloc.memory.episodes import Event
    from pytest_bayesloc.memory.ledger import Ledger
    from pytest_bayesloc.memory.retrieval import Score
    from pytest_bayesloc.memory.sightings import Run
    from pytest_bayesloc.memory.store import BugStore
    from pytest_bayesloc.options import Settings
    from pytest_bayesloc.pipeline.delivering import Delivery
    from pytest_bayesloc.pipeline.fix_memory import Tries
    from pytest_bayesloc.pipeline.green import GreenRuns
    from pytest_bayesloc.pipeline.guide import Guiding
    from pytest_bayesloc.pipeline.observing import Prove
    from pytest_bayesloc.pipeline.rewording import Reword
    from pytest_bayesloc.ranking.case import Case
    from pytest_bayesloc.ranking.groups import Group
    from pytest_bayesloc.rerun.rejected import Rejected
    from pytest_bayesloc.spectrum.recorded import Recorded
    from pytest_bayesloc.spectrum.sources import Sources

INFRASTRUCTURE = 0.8  # where more of the tests fail, it is the machine
MIN_TESTS = 5  # of fewer, nothing is said about the machine
N_SIMILAR = 3  # past bugs that advice shows: more are not read
N_FAILED_STRATEGIES = 5  # the last ones that advice shows, and a language model is told
MAX_BUGS = 10_000  # that a project's memory keeps; the oldest closed ones go first
_LIES = {
    Origin.CODE: "in the code",
    Origin.TEST: "in the test itself",
    Origin.FIXTURE: "in a fixture",
    Origin.DATA: "in the test's own data",
    Origin.COLLECTION: "in what an import runs",
}


class Remembering:
    """One run, and what is known of its failures.

    Args:
        rootdir: Of the project.
        settings: What the user asked for.
        sources: The project's files.
        green: What changed since tests last ran.
        note: Tells the user, once.
        prove: Finds which of some changes tests need to pass; None: that is not to be tried.
    """

    def __init__(
        self,
        rootdir: Path,
        settings: Settings,
        sources: Sources,
        green: GreenRuns,
        note: Callable[[str], None],
        prove: Prove | None = None,
    ) -> None:
        self._rootdir = rootdir
        self._settings = settings
        self._sources = sources
        self._green = green
        self._note = note
        self._prove = prove
        self._lost: dict[Path | str, StoreError] = {}
        self._tries: Sequence[Tries] = ()

    def recall(self, groups: Sequence[Group]) -> list[Rejected]:
        """Per group, what was tried in vain on the code as it is.

        Raises:
            StoreError: If the memory can't be used.
        """
        from pytest_bayesloc.rerun.rejected import Rejected

        where = memory_of(self._rootdir, self._settings.memory)
        if where is None:
            return [Rejected() for _ in groups]
        state, known = self._green.state(), {}
        if not isinstance(where, Path) or where.is_file():
            from pytest_bayesloc.memory.ledger import Ledger
            from pytest_bayesloc.memory.rejections import rejections

            with self._store(where) as store, store.transaction(write=False) as connection:
                known = rejections(Ledger(connection, project_of(self._rootdir)), state)
        return [Rejected(state, known) for _ in groups]

    def told(
        self, guide: str
    ) -> tuple[dict[tuple[str, Word, bool], int], dict[str, tuple[str, ...]]]:
        """How often ``guide`` was right, and per test of an open bug what is known of it.

        Raises:
            StoreError: If the memory can't be used.
        """
        where = memory_of(self._rootdir, self._settings.memory)
        if where is None or (isinstance(where, Path) and not where.is_file()):
            return {}, {}
        from pytest_bayesloc.memory.judgements import counted
        from pytest_bayesloc.memory.ledger import Ledger

        with self._store(where) as store, store.transaction(write=False) as connection:
            counts = counted(connection, guide)
            records = Ledger(connection, project_of(self._rootdir)).open_bugs().values()
        n = N_FAILED_STRATEGIES
        return counts, {
            node_id: (
                *(f"tried in vain: {text}" for text in record.failed_strategies[-n:]),
                *(f"learned: {text}" for text in record.learned_constraints[-n:]),
            )
            for record in records
            for node_id in record.symptom.tests
        }

    def take_in(
        self,
        recorded: Recorded,
        groups: Sequence[Group],
        faults: Sequence[Fault],
        cases: Sequence[Case] = (),
        guiding: Guiding | None = None,
        tries: Sequence[Tries] = (),
    ) -> Remembered:
        """Add this run to the story of each bug, and look up what is known.

        Args:
            recorded: Of this run.
            groups: Of failing tests.
            faults: What was found out about each of them.
            cases: What was tried for each of them, and what was said of it.
            guiding: A language model's part; None: none is asked.
            tries: How fix tools fared with each of them; none where no fix was searched.

        Raises:
            StoreError: If the memory can't be used.
        """
        where = memory_of(self._rootdir, self._settings.memory)
        if where is None:
            return Remembered()
        self._tries = tries
        run = self._run(recorded)

        def tell(store: BugStore) -> Remembered:
            kept, reword = self._with(store, run, recorded, groups, faults, cases)
            if guiding is None:
                return kept
            try:
                return replace(kept, advice=tuple(reword(store, guiding, kept.advice)))
            except KeyboardInterrupt:
                self._note("The language model was not waited for: the words are those of rules.")
                return kept

        if isinstance(where, str):
            return self._delivery(where).of(tell, is_red=bool(groups))
        with suppress(OSError):  # what can't be made is said below
            own_folder(self._rootdir)
            where.parent.mkdir(parents=True, exist_ok=True)
        with self._store(where) as store:
            return tell(store)

    def _delivery(self, url: str) -> Delivery:
        from pytest_bayesloc.memory.retrieval import bm25
        from pytest_bayesloc.pipeline.delivering import Delivery

        return Delivery(
            rootdir=self._rootdir,
            project=project_of(self._rootdir),
            url=url,
            open=self._store,
            terms=self._terms(bm25),
            note=self._note,
        )

    @contextmanager
    def _store(self, where: Path | str) -> Iterator[BugStore]:
        """The store; one that was lost is not asked again."""
        from pytest_bayesloc.memory.store import BugStore

        if where in self._lost:
            raise self._lost[where]
        try:
            with closing(BugStore(where, self._note)) as store:
                yield store
        except StoreError as error:
            self._lost[where] = error
            raise

    def _with(
        self,
        store: BugStore,
        made: tuple[Run, str],
        recorded: Recorded,
        groups: Sequence[Group],
        faults: Sequence[Fault],
        cases: Sequence[Case],
    ) -> tuple[Remembered, Reword]:
        from pytest_bayesloc.memory.advice import Adviser
        from pytest_bayesloc.memory.episodes import Episodes
        from pytest_bayesloc.memory.ledger import Ledger
        from pytest_bayesloc.memory.summaries import RuleSummarizer
        from pytest_bayesloc.memory.worth import months_of
        from pytest_bayesloc.pipeline.observing import Observing
        from pytest_bayesloc.pipeline.rewording import Noting, Reword

        run, plan = made
        project = project_of(self._rootdir)
        rejected = [case.rejected for case in cases]
        summarizer = Noting(rules=RuleSummarizer())
        if run.kind == "infrastructure":
            with store.transaction() as connection:
                return _ill_day(Ledger(connection, project), run), Reword(noting=summarizer)
        with store.transaction(write=False) as connection:
            ledger = Ledger(connection, project)
            open_bugs, revisions = ledger.open_bugs(), ledger.revisions()
        observing = Observing(self._rootdir, self._sources, self._green, self._prove)
        greens = observing.greens(open_bugs, revisions, recorded)
        last_seen_at = {
            greens[bug].moved.get(test, test): revisions.get(bug, "")
            for bug, record in open_bugs.items()
            for test in record.symptom.tests
        }
        reds = observing.reds(groups, faults, last_seen_at, summarizer)
        symptoms = [red.symptom for red in reds]
        terms = self._terms(self._score(store, project, symptoms))
        with store.transaction() as connection:
            ledger = Ledger(connection, project)
            run = replace(run, number=ledger.add_run(run))
            events = Episodes(ledger, run, summarizer, plan).advance(reds, greens)
            adviser = Adviser(ledger, run.workspace, terms)
            advice = [
                adviser.advise(i, event.bug, symptoms[i], event.said, _lies(faults[i]))
                for event in events
                if (i := event.red) >= 0
            ]
            world = {} if "world-model" in self._settings.without else adviser.world(symptoms)
            keep_said(ledger, advice, events, run)
            keep_rejected(ledger, events, rejected)
            keep_judged(ledger, events, cases)
            ledger.trim(MAX_BUGS)
            if self._settings.lesson:
                self._note_lesson(ledger, events, recorded, run)
            said = [event.said for event in events if event.red < 0]
            said += self._keep_fixes(ledger, events, run, symptoms, observing.changes)
            months = months_of(ledger) if self._settings.inspect else ()
        kept = Remembered(
            said=(*said, *_spared(rejected)),
            advice=tuple(sorted(advice, key=lambda item: item.fault)),
            world=world,
            is_shown=run.arm == "on",
            months=months,
        )
        return kept, Reword(noting=summarizer, events=tuple(events), project=project)

    def _keep_fixes(
        self,
        ledger: Ledger,
        events: Sequence[Event],
        run: Run,
        symptoms: Sequence[Symptom],
        changes: Mapping[int, Changes],
    ) -> list[str]:
        """Keep how fix tools fared, and learn from what people did; sentences for the user."""
        from pytest_bayesloc.pipeline.fix_memory import learn, take_in

        shown = [(symptom.tests, symptom.suspects) for symptom in symptoms]
        said = take_in(ledger, events, run, self._tries, shown)
        return said + learn(ledger, events, run, changes, self._rootdir)

    def _note_lesson(
        self, ledger: Ledger, events: Sequence[Event], recorded: Recorded, run: Run
    ) -> None:
        """Add what the user noted to the open bugs of the tests that ran."""
        bugs = {event.bug for event in events if event.red >= 0}
        bugs |= {
            bug
            for bug, record in ledger.open_bugs().items()
            if not recorded.verdicts.keys().isdisjoint(record.symptom.tests)
        }
        for bug in sorted(bugs) or (None,):
            ledger.add_note(bug, self._settings.lesson, run.made_at)

    def _score(self, store: BugStore, project: str, symptoms: Sequence[Symptom]) -> Score:
        """How past failures are scored; where embeddings fail, by their words."""
        from pytest_bayesloc.memory.retrieval import bm25

        model = self._settings.llm_models.embedding
        if not model or not symptoms:
            return bm25
        from pytest_bayesloc.llm.endpoint import EndpointEmbedder
        from pytest_bayesloc.memory.advice import entry_of
        from pytest_bayesloc.memory.embeddings import Embeddings

        embeddings = Embeddings(EndpointEmbedder(model))
        try:
            if embeddings.prepare(store, project, [entry_of(symptom) for symptom in symptoms]):
                self._note(
                    "Error messages and names of functions, without secrets, were sent to the "
                    f"endpoint of OPENAI_BASE_URL for their embeddings by {model}. "
                    "(embeddings-sent)"
                )
        except EndpointError as error:
            self._note(str(error))
        return embeddings.score

    def _terms(self, score: Score) -> Terms:
        from pytest_bayesloc.memory.advice import Terms
        from pytest_bayesloc.memory.loops import Limits

        limits = None if "loops" in self._settings.without else Limits()
        return Terms(n_similar=N_SIMILAR, score=score, limits=limits)

    # -- the run

    def _run(self, recorded: Recorded) -> tuple[Run, str]:
        """This run as the memory keeps it, and what is being done, as the user or git says."""
        from pytest_bayesloc.history.git import head
        from pytest_bayesloc.memory.sightings import Run, arm_of

        n_passed = sum(recorded.verdicts.values())
        n_failed = len(recorded.verdicts) - n_passed
        is_ill = n_failed > INFRASTRUCTURE * len(recorded.verdicts) and n_failed >= MIN_TESTS
        revision, subject = head(self._rootdir)
        made = uuid4().hex[:12]
        workspace, now = self._workspace(), datetime.now(timezone.utc)
        # Advice on half of the days, to measure it: not an option, since nobody wants it for long.
        is_experiment = os.environ.get("BAYESLOC_EXPERIMENT") == "ab"
        run = Run(
            id=made,
            workspace=workspace,
            made_at=now,
            revision=revision,
            n_passed=n_passed,
            n_failed=n_failed,
            kind="infrastructure" if is_ill else "normal",
            arm=arm_of(workspace or made, now) if is_experiment else "on",
        )
        done = f"after {subject}" if subject and revision.endswith("+") else subject
        return run, self._settings.lesson or done

    def _workspace(self) -> str:
        """The name of this checkout, made at its first run."""
        try:
            path = own_folder(self._rootdir) / "workspace"
            if not path.is_file():
                replace_text(path, uuid4().hex[:12])
            return path.read_text(encoding="ascii").strip()[:12]
        except (OSError, UnicodeError):
            return ""


def _ill_day(ledger: Ledger, run: Run) -> Remembered:
    """A run in which nearly all failed is noted, and no more."""
    ledger.add_run(run)
    share = f"{run.n_failed} of {run.n_failed + run.n_passed} tests failed"
    ledger.observe("infrastructure", f"{run.made_at:%Y-%m-%d}: {share}", run.made_at)
    return Remembered(said=(f"{share}: nothing is learned from such a run",))


def _lies(fault: Fault) -> str:
    why = fault.ranking[0].evidence[0].why if fault.ranking and fault.ranking[0].evidence else ""
    return f"{_LIES[fault.origin]}{f': {why}' if why else ''}"


def _spared(rejected: Sequence[Rejected]) -> list[str]:
    n = sum(tried.n_spared for tried in rejected)
    return [f"{n} patches that failed on this very code were not tried again"] if n else []
