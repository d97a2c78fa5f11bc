"""Asks a language model about a failing run, if the user wants that."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from pytest_bayesloc.domain.errors import PatchError
from pytest_bayesloc.domain.inspection import InspectionPatch
from pytest_bayesloc.domain.ports import Later
from pytest_bayesloc.domain.standard_library import monotonic
from pytest_bayesloc.fixes.side_effects import reaches_out
from pytest_bayesloc.fixes.soundness import unsound
from pytest_bayesloc.fixes.tasks import texts_of_tests
from pytest_bayesloc.inspection.edits import checked_edit, checked_fix
from pytest_bayesloc.inspection.strategies.llm import (
    FIXES,
    Generated,
    Navigation,
    ProposedFixes,
    take_ranking,
)
from pytest_bayesloc.inspection.views import Views
from pytest_bayesloc.llm.advisor import LlmAdvisor, LlmSummarizer
from pytest_bayesloc.llm.agent import LlmAgent
from pytest_bayesloc.llm.budget import FOLDER, CallBudget, Exchanges
from pytest_bayesloc.llm.endpoint import DryRunEndpoint, Endpoint, OpenAIEndpoint
from pytest_bayesloc.llm.privacy import local_privacy
from pytest_bayesloc.options.option import DRY_RUN
from pytest_bayesloc.pipeline.context import own_folder, replace_text
from pytest_bayesloc.pipeline.questions import CaseQuestions, function_schemas
from pytest_bayesloc.pipeline.report import document_of
from pytest_bayesloc.pipeline.run_files import run_of
from pytest_bayesloc.ranking.faults import fault_of
from pytest_bayesloc.report.document import UsageEntry
from pytest_bayesloc.syntax.text import edited

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from pytest_bayesloc.domain.advice import Advice
    from pytest_bayesloc.domain.bug import BugRecord, DebugTrial, Symptom
    from pytest_bayesloc.domain.inspection import Rerun
    from pytest_bayesloc.domain.location import Location
    from pytest_bayesloc.domain.ports import Converse, ProposedCode
    from pytest_bayesloc.domain.source import SourceMap, Unit
    from pytest_bayesloc.inspection.strategies.llm import Answer, Reflection, Suspicions
    from pytest_bayesloc.inspection.strategy import InspectionStrategy
    from pytest_bayesloc.memory.store import BugStore
    from pytest_bayesloc.pipeline.context import Context
    from pytest_bayesloc.ranking.case import Case
    from pytest_bayesloc.ranking.evidence.judgements import VerdictCounts

K = TypeVar("K")
T = TypeVar("T")

GRACE_S = 0.5  # beyond the budget: until it has said why there is no answer
N_RANKED = 10  # groups of failing tests
N_FIXED = 2  # functions of a group that it is asked to fix while others are inspected
N_ROUNDS = 3  # times that it is asked to fix a function
N_TESTS = 5  # whose values a fix must not know
TO_TRY = "to try, by the language model: "
_TOLD = "told.txt"


class LlmStage:
    """A language model's part in a session: it asks within limits, and says what is sent."""

    def __init__(self, context: Context) -> None:
        settings = context.settings
        self._context = context
        self._models, self._limits = settings.llm_models, settings.llm_limits
        is_dry = settings.llm_mode == DRY_RUN
        self._never = settings.never_edited
        self.prompts: list[str] = []
        self._privacy = local_privacy(context.rootdir, settings.llm_never_send)
        self._endpoint: Endpoint = (
            DryRunEndpoint(self.prompts)
            if is_dry
            else OpenAIEndpoint(environment=context.launch.environment, before_first=self._announce)
        )
        self._budget = CallBudget(
            monotonic,
            n_calls=self._limits.calls,
            n_tokens=self._limits.tokens,
            cost=self._limits.cost,
            prices=self._models.prices,
            seconds=settings.budget_s,
        )
        self._folder = context.rootdir / FOLDER
        mode = "record" if is_dry else settings.llm_mode
        exchanges = Exchanges(self._folder, mode, partial(_keep, context.rootdir))
        say = (lambda _: None) if is_dry else context.note
        self._agent = LlmAgent(
            self._endpoint, self._budget, exchanges, self._privacy, say, self._limits.parallel
        )
        self.advisor = LlmAdvisor(
            self._agent,
            self._models.main,
            self._models.fast,
            max_prompt=self._limits.prompt,
            max_answer=self._limits.answer,
        )
        self._views = Views(self._privacy.reader(context.sources.map))
        self._known: dict[str, tuple[str, ...]] = {}
        self.name = self.advisor.name
        self.counts: VerdictCounts = {}
        self.note, self.may_converse = context.note, self.advisor.may_converse

    def learn(self, counts: VerdictCounts, known: Mapping[str, tuple[str, ...]]) -> None:
        """Take in how often the model was right, and sentences on what is known, per node id."""
        self.counts = counts
        self._known = dict(known)

    # -- its uses

    def has_judged(self, cases: Sequence[Case]) -> bool:
        """Let it rank the candidates of the largest groups; False if the user did not wait for it.

        Where inspections follow, it looks around while they are made, and ranks then.
        """
        settings = self._context.settings
        if "llm" in settings.without or settings.inspect:
            return True
        asked = [(case, partial(self.suspect, case)) for case in cases[:N_RANKED]]
        try:
            for case, suspicions in self.answers(asked):
                take_ranking(case, suspicions or {}, self)
        except KeyboardInterrupt:
            self._context.note(
                "The language model was not waited for: the ranking is what was known then."
            )
            return False
        return True

    def suspect(self, case: Case) -> Suspicions | None:
        """Return whom it suspects, asked in one prompt."""
        return self.advisor.suspect(self._views.fault(case, self._remembered(case)))

    def strategies(self) -> tuple[InspectionStrategy, ...]:
        """Return what it does while others inspect: it looks around, proposes edits and checks."""
        generated = Generated(self, self._limits.functions)
        fixes = ProposedFixes(self, min(N_FIXED, self._limits.functions))
        if "llm" in self._context.settings.without:
            return fixes, generated
        return Navigation(self, fixes), generated

    def questions(self, case: Case) -> Answer:
        """Return what answers its questions on a case."""
        known = self._remembered(case)
        document = document_of(self._context, (fault_of(case),), (case,), self.usage())
        run = run_of(self._context, document, (case,))
        return CaseQuestions(self._context, case, run, known, self.may_send, self._edited).answer

    def conversation(self, case: Case, sample: int) -> Converse:
        """Begin a conversation on a case."""
        view = self._views.fault(case, self._remembered(case))
        return self.advisor.converse(view, function_schemas(), sample).next

    def ask_assertions(self, case: Case, target: Location) -> Callable[[], ProposedCode | None]:
        """Return a call for a function with assertions about what it should do."""
        view = self._views.target(case, target, self._remembered(case))
        return partial(self.advisor.propose, view)

    def ask_meaning(
        self, case: Case, patch: InspectionPatch, rerun: Rerun
    ) -> Callable[[], Reflection | None]:
        """Return a call that asks what an inspection means."""
        view = self._views.target(case, patch.target, self._remembered(case))
        return partial(self.advisor.reflect, self._views.inspected(view, case, patch, rerun))

    def fixes(self, case: Case, outcome: Callable[[], str]) -> Iterator[tuple[Location, str, str]]:
        """Yield the likeliest functions as it would fix them: where, the file's text, and why.

        The ``outcome`` is what tests made of the last one; empty if there is nothing to learn.
        """
        asked: list[tuple[Location, Callable[[], ProposedCode | None]]] = []
        for target in case.targets():
            if len(asked) == self._limits.functions:
                break
            if (ask := self.ask_fix(case, target)) is not None:
                asked.append((target, ask))
        for target, first in self.answers(asked):
            answer, tried = first, list[str]()
            while answer is not None and len(tried) < N_ROUNDS:
                text = self._gated(target, partial(self._fixed, target, answer.text))
                if text is None:
                    break
                yield target, text, answer.why
                if not (said := outcome()):
                    break
                tried.append(f"{answer.text}\nwith it: {said}")
                again = self.ask_fix(case, target, tried)
                answer = None if again is None else again()

    def ask_fix(
        self, case: Case, target: Location, tried: Sequence[str] = ()
    ) -> Callable[[], ProposedCode | None] | None:
        """Return a call that asks how it would fix a function; None where it must not be asked."""
        found = self.unit(target)
        if found is None or not found[1].is_function or reaches_out(*found, self._never):
            return None
        known = (*tried, *self._remembered(case))
        return partial(self.advisor.fix, self._views.target(case, target, known))

    def _gated(self, target: Location, make: Callable[[], T]) -> T | None:
        """Return what is made of an answer; None, and a note, if a gate refuses it."""
        try:
            return make()
        except PatchError as error:
            self._context.note(f"The language model's fix of {target.qualname} is not run: {error}")
        return None

    def _fixed(self, target: Location, answer: str) -> str:
        """Return the text of the file with its fix, or raise a ``PatchError``."""
        return checked_fix(*self._editable(target), answer, self._never)

    def _editable(self, target: Location) -> tuple[SourceMap, Unit]:
        """Return what it may edit, and its file.

        Raises:
            PatchError: If it may not.
        """
        found = self.unit(target)
        if found is None or (found[1].is_function and reaches_out(*found, self._never)):
            raise PatchError(f"{target.qualname} must not be edited", slug="llm-gate")
        return found

    def patch_of(
        self, case: Case, target: Location, answer: ProposedCode
    ) -> InspectionPatch | None:
        """Make a patch of a fix; None, and a note, if a gate refuses it."""
        return self._gated(
            target,
            lambda: self._patch(case, target, self._fixed(target, answer.text), answer.why),
        )

    def _edited(self, case: Case, target: Location, text: str, why: str) -> InspectionPatch:
        checked = checked_edit(*self._editable(target), text, self._never)
        return self._patch(case, target, checked, why)

    def _patch(self, case: Case, target: Location, text: str, why: str) -> InspectionPatch:
        """Return a file's text with an edit as a patch.

        Raises:
            PatchError: If it silences a check, or a function knows the test's answer.
        """
        source, unit = self._editable(target)
        before, after, tests = source.text, text, tuple[str, ...]()
        if unit.is_function:
            before, after = (edited(source.text, version, target) for version in (before, after))
            tests = tuple(texts_of_tests(case.failures[:N_TESTS], self._context.sources))
        if reason := unsound(before, after, tests, source.text):
            raise PatchError(reason, slug="llm-gate")
        return InspectionPatch(
            target=target,
            kind=FIXES,
            original=source.text,
            patched=text,
            line=unit.location.start_line,
            words=" ".join(why.split()),
        )

    def answers(self, asked: Iterable[tuple[K, Callable[[], T]]]) -> Iterator[tuple[K, T]]:
        """Ask all at once, and yield in turn, by the calls' keys, what is answered in time."""
        calls = [(key, Later(ask)) for key, ask in asked]
        for key, later in calls:
            with suppress(TimeoutError):
                yield key, later.result(self._budget.left_s() + GRACE_S)

    def _remembered(self, case: Case) -> tuple[str, ...]:
        return self._known.get(case.failing[0], ()) if case.failing else ()

    def may_send(self, file: str) -> bool:
        """Return whether anything of a file may leave the machine."""
        return self._privacy.may_send(file)

    def usage(self) -> UsageEntry:
        """Return the costs of asking it."""
        budget = self._budget
        return UsageEntry(
            model=self._models.main,
            endpoint=self._endpoint.address,
            calls=budget.calls,
            replayed=self._agent.n_replayed,
            tokens=budget.tokens_in + budget.tokens_out,
            cost=budget.cost,
            uses=dict(sorted(self.advisor.uses.items())),
        )

    # -- the memory in its words

    def reworded(
        self,
        store: BugStore,
        project: str,
        advice: Sequence[Advice],
        events: Sequence[Advice],
        symptoms: Sequence[Symptom],
    ) -> tuple[Advice, ...]:
        """Reword what the run added to the memory, and return the advice in the new words.

        It takes long, so nobody waits for it while the memory is held. Where it does not answer, or
        the run is killed, the words of the rules in ``events``, which were kept before, stand.

        Raises:
            StoreError: If the store can't be used.
        """
        from pytest_bayesloc.memory.ledger import Ledger

        answers = self.answers(self._requests(events, symptoms))
        changes = [(bug, text) for (bug, said), text in answers if text != said]
        found = list(advice)
        if changes:
            with store.transaction() as connection:
                ledger = Ledger(connection, project)
                for bug, text in changes:
                    if isinstance(text, str):
                        ledger.suppose(bug, text)
                    else:
                        ledger.reword(bug, text)
                now = ledger.bugs([item.bug for item in found])
            found = [replace(item, record=now[item.bug]) for item in found]
        return tuple(self._with_approaches(found))

    def _requests(
        self, events: Sequence[Advice], symptoms: Sequence[Symptom]
    ) -> Iterator[tuple[tuple[int, str | DebugTrial], Callable[[], str | DebugTrial]]]:
        """Yield the number of each bug with a hypothesis or a trial, and what asks for its words.

        Hypotheses come first; a bug that several groups show is asked about once.
        """
        model = LlmSummarizer(self.advisor, self.may_send)
        of_bug: dict[int, Advice] = {}
        for event in sorted(events, key=lambda event: event.kind != "begun"):
            of_bug.setdefault(event.bug, event)
        for bug, event in of_bug.items():
            record = event.record
            if event.kind == "begun":
                said = record.symptom.hypothesis
                yield (bug, said), partial(model.begun, record.symptom, said)
            elif event.kind in {"tried", "resolved"}:
                *earlier, trial = record.trials
                before = replace(record, trials=tuple(earlier))
                if event.kind == "resolved":
                    yield (bug, trial), partial(model.succeeded, before, trial)
                else:
                    now = symptoms[event.fault]
                    yield (bug, trial), partial(model.failed, before, now, trial)

    def _with_approaches(self, advice: list[Advice]) -> list[Advice]:
        """Add three different things to try to warnings of loops."""

        def approaches(record: BugRecord) -> Sequence[str]:
            return self.advisor.approaches(
                error=record.symptom.error[:4_000],
                tried=record.failed_strategies,
                known=record.learned_constraints,
            )

        asked = ((i, partial(approaches, a.record)) for i, a in enumerate(advice) if a.loop)
        for i, named in self.answers(asked):
            if (loop := advice[i].loop) is not None:
                more = (f"{TO_TRY}{approach}" for approach in named)
                advice[i] = replace(advice[i], loop=replace(loop, messages=(*loop.messages, *more)))
        return advice

    # -- what leaves the machine

    def unit(self, location: Location) -> tuple[SourceMap, Unit] | None:
        """Return the code of a location and its file; None of one that is not to be shown."""
        return self._context.sources.unit(location) if self.may_send(location.file) else None

    def _announce(self) -> None:
        """Say once in a project, before anything is sent, what goes where."""
        address, path, told = self._endpoint.address, self._folder / _TOLD, ""
        with suppress(OSError, UnicodeError):
            told = path.read_text(encoding="utf-8")
        if address in told.splitlines():
            return
        self._context.announce(
            f"To the language model {self._models.main} at {address} go: the code of "
            "suspects and of failing tests, error messages, values, diffs of attempts, what is "
            "remembered of the bug. Not: secrets, names of people and home folders, files that "
            "bayesloc_llm_never_send names. To see it first: --bayesloc-llm-mode=dry-run. "
            "(llm-sent)"
        )
        _keep(self._context.rootdir, path, f"{told}{address}\n")


def _keep(rootdir: Path, path: Path, text: str) -> None:
    with suppress(OSError):  # a request whose answer can't be kept is made again
        own_folder(rootdir)
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_text(path, text)
