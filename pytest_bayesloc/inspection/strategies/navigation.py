"""A language model that looks around and tries edits, or proposes them, while others inspect.

Its word is weighed by its record. An edit of its that makes the tests pass counts as any repair.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from pytest_bayesloc.domain.evidence import InspectionOutcome, Judgement
from pytest_bayesloc.domain.inspection import Effect, Finding, InspectionPatch, TestRun, Verdict
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.ports import Converse, ProposedCode, Turn
from pytest_bayesloc.inspection.strategies.generated import Pending, result_of
from pytest_bayesloc.inspection.strategies.mutants import (
    Trials,
    finding_of_trials,
    loses_check,
    try_patch,
    who_passes,
)
from pytest_bayesloc.inspection.strategy import Budget, InspectionStrategy
from pytest_bayesloc.inspection.views import candidates
from pytest_bayesloc.ranking.case import Case
from pytest_bayesloc.ranking.evidence.judgements import (
    RANKING,
    SOURCE,
    Judged,
    VerdictCounts,
    combined,
    judgement_evidence,
    passing_edit,
    verdicts_of,
)
from pytest_bayesloc.ranking.likelihoods import weigh

NAME = "proposed fixes"
Ask = Callable[[], ProposedCode | None]


@dataclass(kw_only=True)
class ProposedFixes(InspectionStrategy):
    """Asks a language model to fix its own first suspect and the likeliest function.

    Its word moves nothing. If the failing tests pass with its edit and nothing else breaks, that is
    evidence, as for edits from the catalogue.

    Attributes:
        ask: Returns a call that asks for a fix; None where nobody may be asked.
        start: Starts a call elsewhere.
        patch: Makes a patch of an answer; None if it must not be run.
        n_targets: Functions of a group that it is asked about.
    """

    ask: Callable[[Case, Location], Ask | None]
    start: Callable[[Callable[[], Any]], Pending[Any]]
    patch: Callable[[Case, Location, ProposedCode], InspectionPatch | None]
    n_targets: int = 2
    name: str = NAME
    _asked: dict[Location, Pending[ProposedCode | None]] = field(default_factory=dict)

    def prepare(self, case: Case) -> None:
        """Ask for fixes."""
        self._asked.clear()
        named = [j.location for j in case.judged if j.said is Judgement.LLM_FIRST]
        for target in dict.fromkeys((*named, *case.targets())):
            if len(self._asked) == self.n_targets:
                break
            ask = self.ask(case, target) if case.near.is_reached(target) else None
            if ask is not None:
                self._asked[target] = self.start(ask)

    def harvest(self, case: Case, budget: Budget, *, wait_s: float) -> Iterable[Finding]:
        """Try the edits that have come, and yield what those show that pass or break others."""
        until = budget.clock() + wait_s
        for target, asked in tuple(self._asked.items()):
            if not _is_due(asked, until, budget):
                continue
            del self._asked[target]
            answer = result_of(asked, until - budget.clock())
            patch = None if answer is None else self.patch(case, target, answer)
            if patch is not None and not loses_check(case, patch):
                _, finding = try_edit(case, patch, budget)
                if finding is not None:
                    yield finding


def try_edit(case: Case, patch: InspectionPatch, budget: Budget) -> tuple[Trials, Finding | None]:
    """Try an edit: return what came of it, and what that shows.

    A wrong guess says nothing of the place; nor does one more repair, where one is known.

    Raises:
        ExecutionError: If the place where re-runs happen is lost.
    """
    started, tried = budget.clock(), Trials()
    effect = try_patch(case, patch, budget, tried)
    same = (made.evidence.outcome for made in case.inspections if made.target == patch.target)
    is_known = InspectionOutcome.EDIT_REPAIRS in same
    if effect not in _SAID or is_known:
        return tried, None
    outcome, others = _SAID[effect]
    n_candidates = sum(not where.is_test for where in case.belief.probabilities)
    learned = passing_edit(n_candidates) if effect is Effect.REPAIRS else None
    who = who_passes(case, tried.tests)
    why = f"{who} with the language model's edit, {others} ({patch.words})"
    evidence = weigh(case.model, outcome, patch.target, source=NAME, why=why, learned=learned)
    return tried, finding_of_trials(evidence, tried, budget.clock() - started)


_SAID = {
    Effect.REPAIRS: (InspectionOutcome.EDIT_REPAIRS, "and nothing else breaks"),
    Effect.BREAKS_OTHERS: (InspectionOutcome.EDIT_BREAKS_OTHERS, "but others break"),
}


MAX_SAMPLES = 5
MAX_TRIES = 12  # edits of a conversation
MAX_TESTS = 20  # that are told of

#: Runs the tests under a patch, and says what came of it.
Attempt = Callable[[InspectionPatch], Mapping[str, Any]]
#: Returns the answer to a call, by its function's name and arguments, or what is wrong with it.
Answer = Callable[[str, Mapping[str, Any], Attempt], str]
Suspicions = Mapping[Location, str]


@dataclass(kw_only=True)
class Navigation(InspectionStrategy):
    """Converses with a model on each group; where that can't call functions, asks it once.

    Attributes:
        functions: Answers what is asked of a group as it is known by now; it never raises.
        begin: Begins a conversation, with the number of the sample.
        may_go_on: Whether the limits leave room for another sample.
        suspect: Asks for suspects in one prompt.
        fallback: Has fixes proposed, one prompt each.
        start: Starts a call elsewhere.
        note: Tells the user.
        guide: Name of the model.
        counts: How often it was right.
    """

    functions: Callable[[Case], Answer]
    begin: Callable[[Case, int], Converse]
    may_go_on: Callable[[], bool]
    suspect: Callable[[Case], Suspicions | None]
    fallback: ProposedFixes
    start: Callable[[Callable[[], Any]], Pending[Any]]
    note: Callable[[str], None]
    guide: str
    counts: VerdictCounts
    name: str = SOURCE
    _can_call: bool = True
    _has_called: bool = False
    _answer: Answer = field(init=False)
    _converse: Converse = field(init=False)
    _turn: Pending[Turn | None] | None = None
    _asked: Pending[Suspicions | None] | None = None
    _samples: list[list[Location]] = field(default_factory=list)
    _reasons: dict[Location, str] = field(default_factory=dict)
    _effects: dict[Location, Effect] = field(default_factory=dict)
    _n_tries: int = 0
    _has_proposals: bool = False

    def prepare(self, case: Case) -> None:
        """Begin to talk about ``case``: what is known of it by now is what is told."""
        self._turn = self._asked = None
        self._has_proposals = False
        self._samples, self._reasons, self._effects = [], {}, {}
        if not candidates(case):
            return
        if not self._can_call:
            self._ask_once(case)
            return
        self._answer = self.functions(case)
        self._begin(case)

    def harvest(self, case: Case, budget: Budget, *, wait_s: float) -> Iterable[Finding]:
        """Answer what the model asks, as long as there is time; weigh what it says at the end."""
        until = budget.clock() + wait_s
        try:
            while self._turn is not None and _is_due(self._turn, until, budget):
                turn, self._turn = self._turn.result(max(0.0, until - budget.clock())), None
                yield from self._take(case, turn, budget)
            if self._asked is not None and _is_due(self._asked, until, budget):
                said, self._asked = self._asked.result(max(0.0, until - budget.clock())), None
                take_ranking(case, said or {}, self.guide, self.counts)
                self.fallback.prepare(case)
                self._has_proposals = True
        except TimeoutError:
            self._give_up()
        if wait_s:
            self._weigh_samples(case)
        if self._has_proposals:
            wait_s = max(0.0, until - budget.clock())
            yield from self.fallback.harvest(case, budget, wait_s=wait_s)

    def _give_up(self) -> None:
        if not self._samples:
            self.note(
                "The language model gave no ranking in time: the answer is without it. Give more "
                "by --bayesloc-budget. (llm-failed)"
            )

    def _begin(self, case: Case) -> None:
        self._n_tries = 0
        self._converse = self.begin(case, len(self._samples))
        self._turn = self.start(partial(self._converse, ()))

    def _ask_once(self, case: Case) -> None:
        self._asked = self.start(partial(self.suspect, case))

    def _take(self, case: Case, turn: Turn | None, budget: Budget) -> Iterator[Finding]:
        """Answer the calls of a turn; after the last, begin another conversation or weigh all."""
        if turn is None and not self._has_called:
            self._can_call = False
            self._ask_once(case)
            return
        if turn is not None and turn.calls:
            self._has_called = True
            found: list[Finding] = []
            attempt = partial(self._attempt, case, budget, found)
            answers = [self._answer(name, given, attempt) for name, given in turn.calls]
            self._turn = self.start(partial(self._converse, answers))
            yield from found
            return
        if turn is not None and (named := _located(case, turn.suspects)):
            self._samples.append(named)
            self._reasons = {named[0]: turn.why, **self._reasons}
        is_repaired = Effect.REPAIRS in self._effects.values()
        is_enough = is_repaired or turn is None or len(self._samples) in {0, MAX_SAMPLES}
        if is_enough or not self.may_go_on():
            self._weigh_samples(case)
        else:
            self._begin(case)

    def _attempt(
        self, case: Case, budget: Budget, found: list[Finding], patch: InspectionPatch
    ) -> Mapping[str, Any]:
        """Try an edit; the first repair of a function is evidence, not each variant of it."""
        self._n_tries += 1
        if self._n_tries > MAX_TRIES:
            return {"refused": f"{MAX_TRIES} edits were tried: name suspects"}
        if loses_check(case, patch):
            return {"refused": "it takes away the check that the tests fail at"}
        tried, finding = try_edit(case, patch, budget)
        effect = tried.trials[-1].effect
        best = self._effects.get(patch.target, Effect.REPAIRS_SOME)
        if effect.rank > best.rank:
            self._effects[patch.target] = effect
            found += [finding] if finding is not None else []
        tests = [f"{node_id}: {_end_of(run)}" for node_id, run in tried.tests.items()]
        return {"effect": effect.value, "tests": tests[:MAX_TESTS]}

    def _weigh_samples(self, case: Case) -> None:
        if self._samples:
            named = combined(self._samples)
            self._samples = []
            suspicions = {where: self._reasons.get(where, "") for where in named}
            take_ranking(case, suspicions, self.guide, self.counts)


def take_ranking(case: Case, suspicions: Suspicions, guide: str, counts: VerdictCounts) -> None:
    """Weigh whom a model suspects, most suspect first, and keep its verdicts; none says nothing.

    Args:
        case: The group.
        suspicions: Candidates, each with the reason.
        guide: Name of the model.
        counts: How often it was right.
    """
    if suspicions:
        said = verdicts_of(suspicions, candidates(case))
        case.judged += [
            Judged(guide=guide, use=RANKING, location=where, said=word)
            for where, word in said.items()
        ]
        case.learn(judgement_evidence(said, suspicions, counts))


def _end_of(run: TestRun) -> str:
    return "passes" if run.verdict is Verdict.PASS else run.error or run.verdict.value


def _is_due(pending: Pending[Any], until: float, budget: Budget) -> bool:
    return bool(budget.left_s()) and (pending.is_done() or until > budget.clock())


def _located(case: Case, places: Sequence[str]) -> list[Location]:
    """Return the candidates that are meant, each once; of namesakes the likeliest."""
    known = list(case.belief.top(len(case.belief.probabilities)))
    meant = (next((w for w, _ in known if w.is_meant(place)), None) for place in places)
    return list(dict.fromkeys(where for where in meant if where is not None))
