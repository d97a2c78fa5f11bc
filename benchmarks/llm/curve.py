"""How accuracy moves with the quality of the model: oracles that are right so often.

An oracle is shown the candidates of each planted fault, as a language model is. Of so many faults
it names what is at fault first; of the others it names candidates at random. What it says is
weighed by its record, which starts empty and grows fault by fault, as a user's memory does: nobody
tells the tool how good it is. On the first bug, the record is always empty; there an oracle may
also try an edit, with which the tests pass.
"""

from __future__ import annotations

import random
from collections import Counter
from statistics import mean
from typing import TYPE_CHECKING

from benchmarks.faults.replay import Setting
from benchmarks.faults.scoring import POSTERIOR, interval, judge, naturally, top
from benchmarks.faults.storage import packages, read_rows
from pytest_bayesloc.domain.evidence import InspectionOutcome
from pytest_bayesloc.domain.inspection import Finding
from pytest_bayesloc.inspection.strategies.llm import FIXES
from pytest_bayesloc.inspection.views import candidates
from pytest_bayesloc.ranking.evidence.judgements import (
    RANKING,
    judgement_evidence,
    passing_edit,
    verdicts_of,
)
from pytest_bayesloc.ranking.likelihoods import MEASURED, weigh

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmarks.faults.replay import Problem
    from benchmarks.faults.scoring import Judged
    from pytest_bayesloc.domain.evidence import Outcome
    from pytest_bayesloc.domain.location import Location
    from pytest_bayesloc.ranking.case import Case

N_NAMED = 5
KS = (1, 3, 5)
N_DICE = 5  # runs of an oracle that draws, on the first bug
#: Share of faults of which the oracle names the right candidate first; None: names are drawn.
QUALITIES = (0.0, None, 0.5, 0.7, 0.9, 1.0)


#: On the first bug: in words, the share as above, and whether its edits make the tests pass.
FIRST_BUG = (
    ("is always right, and its edits pass", 1.0, True),
    ("is always right, and tries no edit", 1.0, False),
    ("names candidates by chance", None, False),
    ("is always wrong, and tries no edit", 0.0, False),
    ("is always wrong, and its edits pass", 0.0, True),
)


class Oracle:
    """A guide that knows what is at fault, and says so that often.

    Args:
        quality: Share of groups of which it names a faulty candidate first; None: never knowingly.
        seed: Of its dice.
        edits: Whether it edits what it names first, and all tests pass with that. Of one that knows
            what is at fault they pass with no other edit; nobody edits a test.
    """

    def __init__(self, quality: float | None, seed: int, *, edits: bool = False) -> None:
        self._quality = quality
        self._edits = edits
        self._dice = random.Random(f"{quality} {seed}")
        self._counts: Counter[tuple[str, Outcome, bool]] = Counter()
        self._said: list[tuple[Outcome, bool]] = []

    def guide(self, problem: Problem, case: Case) -> None:
        """Say what is suspected, weighed by what was right before."""
        shown = candidates(case)
        if not shown:
            return
        named = self._named(shown, problem.truth)
        if self._edits and self._quality == 1.0 and named[0] not in problem.truth:
            # Who looks around finds what is not shown at first, too.
            far = [w for w in sorted(case.belief.probabilities) if w in problem.truth]
            named = [*far[:1], *named]
        said = verdicts_of(named, shown)
        self._said += [(word, where in problem.truth) for where, word in said.items()]
        case.learn(judgement_evidence(said, {}, self._counts))
        passes = self._quality == 0.0 or named[0] in problem.truth
        if self._edits and passes and not named[0].is_test:
            n_candidates = sum(not where.is_test for where in case.belief.probabilities)
            outcome, pair = InspectionOutcome.EDIT_REPAIRS, passing_edit(n_candidates)
            case.take(
                Finding(evidence=weigh(case.model, outcome, named[0], source=FIXES, learned=pair))
            )

    def learn(self) -> None:
        """The fault is fixed: it is known now what was right."""
        self._counts.update((RANKING, word, was_faulty) for word, was_faulty in self._said)
        self._said.clear()

    def _named(self, shown: Sequence[Location], truth: frozenset[Location]) -> list[Location]:
        drawn = self._dice.sample(shown, len(shown))
        faulty = [where for where in drawn if where in truth]
        if self._quality is None or not faulty:
            return drawn[:N_NAMED]
        clean = [where for where in drawn if where not in truth]
        if self._dice.random() < self._quality:
            return [faulty[0], *clean][:N_NAMED]
        return clean[:N_NAMED] or faulty  # wrong in the first place, and in all others


def curve(part: str, *, n_orders: int) -> Iterator[str]:
    """Rows of a table: quality, Top-1/3/5 in per cent, and what that is more than without.

    Args:
        part: Of the benchmark's packages.
        n_orders: Orders of the faults, drawn; figures are means over them.
    """
    rows = [(name, row) for name in packages(part) for row in read_rows(name)]
    setting = Setting()
    plain = [judge(name, row, setting) for name, row in rows]
    yield f"{len(rows)} faults of the {part} part; on the first bug:"
    yield "| the model | Top-1 | Top-3 | Top-5 | more than without | Top-1, kinds as met | more |"
    yield "|---|---|---|---|---|---|---|"
    yield _first_row("no model", [plain], plain)
    for said, quality, edits in FIRST_BUG:
        runs = []
        n_runs = N_DICE if quality is None or (edits and quality < 1.0) else 1
        for seed in range(n_runs):
            oracle = Oracle(quality, seed, edits=edits)
            runs.append([judge(name, row, setting, oracle.guide) for name, row in rows])
        yield _first_row(said, runs, plain)
    yield _price(runs, plain)
    if not n_orders:
        return
    yield f"{n_orders} orders of the faults, with a record that grows:"
    yield "| the model names the fault first | Top-1 | Top-3 | Top-5 | Top-1 more than without |"
    yield "|---|---|---|---|---|"
    yield f"| no model | {' | '.join(_figures([plain]))} | |"
    for quality in QUALITIES:
        runs = []
        for seed in range(n_orders):
            dice, oracle = random.Random(seed), Oracle(quality, seed)
            judged = []
            for name, row in dice.sample(rows, len(rows)):
                judged.append(judge(name, row, setting, oracle.guide))
                oracle.learn()
            runs.append(judged)
        said = "never but by chance" if quality is None else f"{quality:.0%}"
        yield _row(said, runs, plain)


def _price(passing: Sequence[Sequence[Judged]], plain: Sequence[Judged]) -> str:
    """Return in words what a model costs that is always wrong, and whose edits pass by chance."""
    chance = MEASURED[InspectionOutcome.EDIT_REPAIRS][1]
    lost = _top_1(plain) - mean(map(_top_1, passing))
    as_met = _top_1(naturally(plain)) - mean(_top_1(naturally(run)) for run in passing)
    return (
        f"{chance:.1%} of the locations that are not at fault have an edit that passes: so a model "
        f"that is always wrong costs {chance * lost:.2f} points, {chance * as_met:.2f} as met."
    )


def _first_row(said: str, runs: Sequence[Sequence[Judged]], plain: Sequence[Judged]) -> str:
    """Return a row that also weighs the kinds of faults as bug fixes have them."""
    as_met = [naturally(run) for run in runs]
    share = _figure(as_met, 1)
    more = mean(map(_top_1, as_met)) - _top_1(naturally(plain))
    return f"{_row(said, runs, plain)} {share} | {more:+.1f} |"


def _row(said: str, runs: Sequence[Sequence[Judged]], plain: Sequence[Judged]) -> str:
    gain = mean(_top_1(run) for run in runs) - _top_1(plain)
    return f"| {said} | {' | '.join(_figures(runs))} | {gain:+.1f} |"


def _top_1(judged: Sequence[Judged]) -> float:
    return top(POSTERIOR, 1)(judged)


def _figures(runs: Sequence[Sequence[Judged]]) -> Iterator[str]:
    return (_figure(runs, k) for k in KS)


def _figure(runs: Sequence[Sequence[Judged]], k: int) -> str:
    found = [interval(judged, top(POSTERIOR, k)) for judged in runs]
    low, high = mean(i.low for i in found), mean(i.high for i in found)
    return f"{mean(i.value for i in found):.1f} ({low:.1f} to {high:.1f})"
