"""How accuracy moves with the quality of the model: oracles that are right so often.

An oracle is shown the candidates of each planted fault, as a language model is. Of so many faults
it names what is at fault first; of the others it names candidates at random. What it says is
weighed by its record alone, which starts empty and grows fault by fault, as a user's memory does:
nobody tells the tool how good it is.
"""

from __future__ import annotations

import random
from collections import Counter
from statistics import mean
from typing import TYPE_CHECKING

from benchmarks.faults.replay import Setting
from benchmarks.faults.scoring import POSTERIOR, interval, judge, top
from benchmarks.faults.storage import packages, read_rows
from pytest_bayesloc.inspection.views import candidates
from pytest_bayesloc.ranking.evidence.judgements import (
    RANKING,
    judgement_evidence,
    records_of,
    verdicts_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmarks.faults.replay import Problem
    from benchmarks.faults.scoring import Judged
    from pytest_bayesloc.domain.evidence import Outcome
    from pytest_bayesloc.domain.location import Location
    from pytest_bayesloc.ranking.case import Case

N_NAMED = 5
KS = (1, 3, 5)
#: Share of faults of which the oracle names the right candidate first; None: names are drawn.
QUALITIES = (0.0, None, 0.5, 0.7, 0.9, 1.0)


class Oracle:
    """A guide that knows what is at fault, and says so that often.

    Args:
        quality: Share of groups of which it names a faulty candidate first; None: never knowingly.
        seed: Of its dice.
    """

    def __init__(self, quality: float | None, seed: int) -> None:
        self._quality = quality
        self._dice = random.Random(f"{quality} {seed}")
        self._counts: Counter[tuple[str, Outcome, bool]] = Counter()
        self._said: list[tuple[Outcome, bool]] = []

    def guide(self, problem: Problem, case: Case) -> None:
        """Say what is suspected, weighed by what was right before."""
        shown = candidates(case)
        if not shown:
            return
        named = self._named(shown, problem.truth)
        said = verdicts_of(named, shown)
        self._said += [(word, where in problem.truth) for where, word in said.items()]
        case.learn(judgement_evidence(said, {}, records_of(self._counts)[RANKING]))

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
    yield f"{len(rows)} faults of the {part} part; {n_orders} orders of them"
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
        gain = mean(_top_1(run) for run in runs) - _top_1(plain)
        said = "never but by chance" if quality is None else f"{quality:.0%}"
        yield f"| {said} | {' | '.join(_figures(runs))} | {gain:+.1f} |"


def _top_1(judged: Sequence[Judged]) -> float:
    return top(POSTERIOR, 1)(judged)


def _figures(runs: Sequence[Sequence[Judged]]) -> Iterator[str]:
    for k in KS:
        found = [interval(judged, top(POSTERIOR, k)) for judged in runs]
        low, high = mean(i.low for i in found), mean(i.high for i in found)
        yield f"{mean(i.value for i in found):.1f} ({low:.1f} to {high:.1f})"
