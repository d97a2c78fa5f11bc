"""A language model that is asked while others inspect: for assertions, edits and suspects.

Its word is weighed by its record. An edit of its that makes the tests pass counts as any repair.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from itertools import count, islice
from typing import Any, Protocol, TypeAlias, TypeVar

from pytest_bayesloc.domain.errors import PatchError
from pytest_bayesloc.domain.evidence import Decision, InspectionOutcome, Judgement
from pytest_bayesloc.domain.inspection import Effect, Finding, InspectionPatch, Rerun, Verdict
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.ports import Converse, Later, ProposedCode
from pytest_bayesloc.domain.source import SourceMap, Unit
from pytest_bayesloc.inspection.reflection import (
    classify,
    finding_of,
    fired_checks,
    signals_of,
    watch,
)
from pytest_bayesloc.inspection.strategies import assertions
from pytest_bayesloc.inspection.strategy import AskingStrategy, Budget, Work
from pytest_bayesloc.inspection.trials import (
    Tried,
    finding_of_try,
    loses_check,
    try_patch,
    who_passes,
)
from pytest_bayesloc.inspection.views import candidates
from pytest_bayesloc.inspection.writing import GENERATED, with_assertions
from pytest_bayesloc.ranking.case import Case
from pytest_bayesloc.ranking.evidence.judgements import (
    INSPECTION,
    RANKING,
    SOURCE,
    VerdictCounts,
    combined,
    judgement_evidence,
    learned_likelihood,
    passing_edit,
    verdicts_of,
)
from pytest_bayesloc.ranking.likelihoods import weigh

FIXES = "proposed fixes"
MAX_SAMPLES = 5
MAX_TRIES = 12  # edits of a conversation
MAX_TESTS = 20  # that are told of

T = TypeVar("T")
#: The model's verdict on an inspected target, and the reason.
Reflection: TypeAlias = tuple[Decision, str]
#: Suspects, most suspect first, each with the reason.
Suspicions: TypeAlias = Mapping[Location, str]
#: Runs the tests under a patch, and says what came of it.
Attempt: TypeAlias = Callable[[InspectionPatch], Mapping[str, Any]]
#: Returns the answer to a call, by its function's name and arguments, or what is wrong with it.
Answer: TypeAlias = Callable[[str, Mapping[str, Any], Attempt], str]


class Guide(Protocol):
    """Asks a language model about inspections. Its calls may be made in other threads.

    Attributes:
        name: Of the model.
        counts: How often it was right.
    """

    name: str
    counts: VerdictCounts

    def unit(self, location: Location) -> tuple[SourceMap, Unit] | None:
        """Return the code of a location and its file; None of one that is not to be shown."""

    def note(self, text: str) -> None:
        """Tell the user."""

    def ask_assertions(self, case: Case, target: Location) -> Callable[[], ProposedCode | None]:
        """Return a call for the target with assertions about what it should do."""

    def ask_meaning(
        self, case: Case, patch: InspectionPatch, rerun: Rerun
    ) -> Callable[[], Reflection | None]:
        """Return a call that asks what an inspection means."""

    def ask_fix(self, case: Case, target: Location) -> Callable[[], ProposedCode | None] | None:
        """Return a call that asks for a fix; None where nobody may be asked."""

    def patch_of(
        self, case: Case, target: Location, answer: ProposedCode
    ) -> InspectionPatch | None:
        """Make a patch of a fix; None if it must not be run."""

    def suspect(self, case: Case) -> Suspicions | None:
        """Ask for suspects in one prompt."""

    def questions(self, case: Case) -> Answer:
        """Return what answers questions on a case as it is known by now; it never raises."""

    def conversation(self, case: Case, sample: int) -> Converse:
        """Begin a conversation, with the number of the sample."""

    def may_converse(self) -> bool:
        """Say whether the limits leave room for another sample."""


def _answer(asked: Future[T | None]) -> T | None:
    """Return the answer; None if there is none by now."""
    return asked.result() if asked.done() else None


class Generated(AskingStrategy):
    """Asks for assertions in ``n_targets`` functions, and what it means that they hold or not."""

    name = GENERATED

    def __init__(self, guide: Guide, n_targets: int = 3) -> None:
        super().__init__()
        self._guide = guide
        self._n_targets = n_targets

    def works(self, case: Case, budget: Budget) -> Iterator[Work]:
        """Yield the inspection of each of the likeliest functions."""
        found = map(self._guide.unit, filter(case.near.is_reached, case.targets()))
        functions = (pair for pair in found if pair is not None and pair[1].is_function)
        for source, unit in islice(functions, self._n_targets):
            yield self._inspected(case, budget, source, unit)

    def _inspected(self, case: Case, budget: Budget, source: SourceMap, unit: Unit) -> Work:
        asked = Later(self._guide.ask_assertions(case, unit.location))
        yield asked
        patch = self._patch(source, unit, _answer(asked)) if budget.left_s() else None
        if patch is None:
            return
        rerun = watch(case, patch, budget)
        judged = Later(self._guide.ask_meaning(case, patch, rerun))
        yield judged
        reflection = _answer(judged)
        if reflection is not None or patch.checks:
            failing, passing = case.divide(rerun.tests)
            signals = signals_of(failing, passing, n_swapped=rerun.n_swapped)
            decision = Decision.NEUTRAL if reflection is None else reflection[0]
            outcome, target = classify(signals, decision), patch.target
            learned = learned_likelihood(outcome, INSPECTION, self._guide.counts)
            if learned is not None:
                case.judge(self._guide.name, INSPECTION, {target: outcome})
            why = _why(patch, fired_checks(failing, passing), reflection)
            evidence = weigh(
                case.model, outcome, target, source=GENERATED, why=why, learned=learned
            )
            yield finding_of(evidence, patch, rerun, signals, decision)

    def _patch(
        self, source: SourceMap, unit: Unit, proposed: ProposedCode | None
    ) -> InspectionPatch | None:
        """Make the proposed patch, if it may be run; else the heartbeat alone."""
        try:
            if proposed is not None:
                return with_assertions(source, unit, proposed)
        except PatchError as error:
            self._guide.note(
                f"The language model's inspection of {unit.location.qualname} is not run: {error}"
            )
        try:
            return assertions.propose(source, unit, ())
        except PatchError:
            return None


def _why(patch: InspectionPatch, fired: Sequence[int], reflection: Reflection | None) -> str:
    shown = "it was executed"
    if texts := [check.text for check in patch.checks if check.number in fired]:
        shown = f"fails in failing tests only: {', '.join(texts[:3])}"
    elif patch.checks:
        shown = f"all {len(patch.checks)} assertions of the language model hold"
    if reflection is None:
        return shown
    decision, reason = reflection
    word = decision.value.lower().replace("_", " ")
    return f"{shown}; the language model: {word}, {reason}"


class ProposedFixes(AskingStrategy):
    """Asks a language model to fix its own first suspect and the likeliest functions.

    Its word moves nothing. If the failing tests pass with its edit and nothing else breaks, that is
    evidence, as for edits from the catalogue.
    """

    name = FIXES

    def __init__(self, guide: Guide, n_targets: int = 2) -> None:
        super().__init__()
        self._guide = guide
        self._n_targets = n_targets

    def works(self, case: Case, budget: Budget) -> Iterator[Work]:
        """Yield the fix of each function."""
        named = [w for (_, w), said in case.judged.items() if said is Judgement.LLM_FIRST]
        targets = filter(case.near.is_reached, dict.fromkeys((*named, *case.targets())))
        calls = ((target, self._guide.ask_fix(case, target)) for target in targets)
        asked = ((target, ask) for target, ask in calls if ask is not None)
        for target, ask in islice(asked, self._n_targets):
            yield self._tried(case, budget, target, ask)

    def _tried(
        self, case: Case, budget: Budget, target: Location, ask: Callable[[], ProposedCode | None]
    ) -> Work:
        asked = Later(ask)
        yield asked
        answer = _answer(asked) if budget.left_s() else None
        patch = None if answer is None else self._guide.patch_of(case, target, answer)
        if patch is not None and not loses_check(case, patch):
            _, finding = try_edit(case, patch, budget)
            if finding is not None:
                yield finding


def try_edit(case: Case, patch: InspectionPatch, budget: Budget) -> tuple[Tried, Finding | None]:
    """Try an edit: return what came of it, and what that shows.

    A wrong guess says nothing of the place; nor does one more repair, where one is known.
    """
    started = budget.clock()
    tried = try_patch(case, patch, budget)
    effect = tried.effect
    sure = (made for made in case.inspections if made.target == patch.target and not made.doubt)
    is_known = InspectionOutcome.EDIT_REPAIRS in (made.evidence.outcome for made in sure)
    if effect not in _SAID or is_known:
        return tried, None
    outcome, others = _SAID[effect]
    n_candidates = sum(not where.is_test for where in case.belief.probabilities)
    learned = passing_edit(n_candidates) if effect is Effect.REPAIRS else None
    who = who_passes(case, tried.tests)
    why = f"{who} with the language model's edit, {others} ({patch.words})"
    evidence = weigh(case.model, outcome, patch.target, source=FIXES, why=why, learned=learned)
    return tried, finding_of_try(evidence, tried, budget.clock() - started)


_SAID = {
    Effect.REPAIRS: (InspectionOutcome.EDIT_REPAIRS, "and nothing else breaks"),
    Effect.BREAKS_OTHERS: (InspectionOutcome.EDIT_BREAKS_OTHERS, "but others break"),
}


class Navigation(AskingStrategy):
    """Converses with a model on each group; where that can't call functions, asks it once."""

    name = SOURCE

    def __init__(self, guide: Guide, fallback: ProposedFixes) -> None:
        super().__init__()
        self._guide = guide
        self._fallback = fallback
        self._can_call = True
        self._has_called = False
        self._samples: list[list[Location]] = []
        self._reasons: dict[Location, str] = {}

    def works(self, case: Case, budget: Budget) -> Iterator[Work]:
        """Yield the conversation on ``case``: what is known of it by now is what is told."""
        self._samples, self._reasons = [], {}
        if candidates(case):
            yield self._talk(case, budget) if self._can_call else self._asked_once(case, budget)

    def harvest(self, case: Case, budget: Budget, *, wait_s: float) -> Iterator[Finding]:
        """Answer what the model asks, as long as there is time; weigh what it says at the end."""
        yield from super().harvest(case, budget, wait_s=wait_s)
        if wait_s:
            self._weigh_samples(case)

    def _talk(self, case: Case, budget: Budget) -> Work:
        """Answer its calls; after the last, begin another conversation or weigh all."""
        answer, effects = self._guide.questions(case), dict[Location, Effect]()
        converse, answers, tries = self._guide.conversation(case, 0), list[str](), count(1)
        while True:
            asked = Later(partial(converse, answers))
            if not (yield from self._is_answered(asked, budget)):
                return
            turn = asked.result()
            if turn is None and not self._has_called:
                self._can_call = False
                yield from self._asked_once(case, budget)
                return
            if turn is not None and turn.calls:
                self._has_called = True
                found: list[Finding] = []
                attempt = partial(_attempt, case, budget, effects, tries, found)
                answers = [answer(name, given, attempt) for name, given in turn.calls]
                yield from found
                continue
            if turn is not None and (named := _located(case, turn.suspects)):
                self._samples.append(named)
                self._reasons = {named[0]: turn.why, **self._reasons}
            is_repaired = Effect.REPAIRS in effects.values()
            is_enough = is_repaired or turn is None or len(self._samples) in {0, MAX_SAMPLES}
            if is_enough or not self._guide.may_converse():
                self._weigh_samples(case)
                return
            converse = self._guide.conversation(case, len(self._samples))
            answers, tries = [], count(1)

    def _asked_once(self, case: Case, budget: Budget) -> Work:
        """Ask for suspects in one prompt, then for fixes of them."""
        asked = Later(partial(self._guide.suspect, case))
        if (yield from self._is_answered(asked, budget)):
            take_ranking(case, asked.result() or {}, self._guide)
            self._begin(self._fallback.works(case, budget))

    def _is_answered(
        self, asked: Future[Any], budget: Budget
    ) -> Generator[Future[Any], None, bool]:
        """Wait for an answer, and say whether it came in time."""
        yield asked
        if not asked.done() and not self._samples:
            self._guide.note(
                "The language model gave no ranking in time: the answer is without it. Give more "
                "by --bayesloc-budget. (llm-failed)"
            )
        return asked.done() and budget.left_s() > 0

    def _weigh_samples(self, case: Case) -> None:
        named = combined(self._samples)
        self._samples = []
        take_ranking(case, {where: self._reasons.get(where, "") for where in named}, self._guide)


def _attempt(
    case: Case,
    budget: Budget,
    effects: dict[Location, Effect],
    tries: Iterator[int],
    found: list[Finding],
    patch: InspectionPatch,
) -> Mapping[str, Any]:
    """Try an edit; the first repair of a function is evidence, not each variant of it."""
    if next(tries) > MAX_TRIES:
        return {"refused": f"{MAX_TRIES} edits were tried: name suspects"}
    if loses_check(case, patch):
        return {"refused": "it takes away the check that the tests fail at"}
    tried, finding = try_edit(case, patch, budget)
    effect = tried.effect
    best = effects.get(patch.target, Effect.REPAIRS_SOME)
    if effect.rank > best.rank:
        effects[patch.target] = effect
        found += [finding] if finding is not None else []
    ends = [
        f"{node_id}: {'passes' if run.verdict is Verdict.PASS else run.error or run.verdict.value}"
        for node_id, run in tried.tests.items()
    ]
    return {"effect": effect.value, "tests": ends[:MAX_TESTS]}


def take_ranking(case: Case, suspicions: Suspicions, guide: Guide) -> None:
    """Weigh the suspects of a model, and keep its verdicts; no-op when empty."""
    if suspicions:
        said = verdicts_of(suspicions, candidates(case))
        case.judge(guide.name, RANKING, said)
        case.learn(judgement_evidence(said, suspicions, guide.counts))


def _located(case: Case, places: Sequence[str]) -> list[Location]:
    """Return the candidates that are meant, each once; of namesakes the likeliest."""
    known = [where for where, _ in case.belief.top(len(case.belief.probabilities))]
    meant = (next((w for w in known if w.is_meant(place)), None) for place in places)
    return list(dict.fromkeys(where for where in meant if where is not None))
