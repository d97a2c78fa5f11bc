"""How well a set of planted faults was found, by the plugin and by plain formulas."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from statistics import mean
from typing import TYPE_CHECKING

from benchmarks.faults.replay import Setting, outcome_of, problems, replay
from benchmarks.faults.shares import weights
from benchmarks.suites.scores import TOP, Standing, standing
from pytest_bayesloc.domain.evidence import InspectionOutcome
from pytest_bayesloc.ranking.faults import listed
from pytest_bayesloc.ranking.formulas import function_scores, line_maximum, scorer

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping, Sequence
    from typing import Any

    from benchmarks.faults.replay import Problem
    from pytest_bayesloc.domain.location import Location
    from pytest_bayesloc.ranking.case import Case

    Scores = Mapping[Location, float]
    Line = tuple[str, int]

FORMULAS = ("tarantula", "ochiai", "dstar2", "op2")
POSTERIOR, PRIOR = "posterior", "prior"
SHOWN, OF_CODE = "as it is listed", "posterior, tests left out"
#: The most that could be made of the repairs that inspections find.
BELIEVED = "posterior, a repair at the fault believed"
N_RESAMPLED = 500
TOP_LINES = (1, 5, 10)
BINS = 10
#: Of the power by which a function's lines share its belief: of 1, 4 and 8 best on validate.
SHARPNESS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One planted fault, with where each ordering puts it.

    Attributes:
        package: The subject's name.
        kind: Kind of fault.
        n_failing: Its failing tests.
        standings: Per ordering, where what is at fault stands; None if it is not ranked.
        lines: Per ordering, where the first changed line stands.
        claim: The highest posterior of any location.
        right: Whether that location is at fault; of several that share it, the share.
        on_test: Whether that location is a test.
        seconds: What inspections took.
        cpu_s: CPU seconds of the run above the plain one, with every inspection made.
        n_inspections: How many were made.
        weight: Of the fault in every figure: kinds weigh as often as they are met.
    """

    package: str
    kind: str
    n_failing: int
    standings: Mapping[str, Standing | None]
    lines: Mapping[str, Standing | None]
    claim: float
    right: float
    on_test: bool
    seconds: float
    cpu_s: float
    n_inspections: int
    weight: float = 1.0


def judge(
    package: str,
    row: Mapping[str, Any],
    setting: Setting,
    guided: Callable[[Problem, Case], None] = lambda _problem, _case: None,
) -> Judged:
    """Where the fault of ``row`` stands under ``setting`` and by the formulas.

    Args:
        package: The subject's name.
        row: Of the fault.
        setting: What a user could have set.
        guided: Called with each group before it is inspected.
    """
    found = problems(row)
    cases = [problem.case(setting) for problem in found]
    priors = [case.belief.probabilities for case in cases]
    for problem, case in zip(found, cases, strict=True):
        guided(problem, case)
        replay(problem, case, setting)
    truth = frozenset().union(*(problem.truth for problem in found))
    posteriors = [case.belief.probabilities for case in cases]
    shown = _joined([listed(case)[0] for case in cases])
    belief = _joined(posteriors)
    repaired = frozenset().union(*map(_repaired, found)) & truth
    orderings = {
        POSTERIOR: belief,
        SHOWN: shown,
        OF_CODE: _code(belief),
        BELIEVED: {where: p + (where in repaired) for where, p in belief.items()},
        PRIOR: _joined(priors),
    }
    lines = {POSTERIOR: _joined_lines(map(_lines_by_belief, found, cases))}
    for name in FORMULAS:
        orderings[name] = _joined([_code(function_scores(p.spectrum, name)) for p in found])
        orderings[f"{name} of lines"] = _joined(
            [_code(line_maximum(p.spectrum, name)) for p in found]
        )
        lines[name] = _joined_lines(_plain_lines(problem, name) for problem in found)
    claim = max(belief.values(), default=0.0)
    leading = [where for where, p in belief.items() if p >= claim - 1e-12]
    changed = _changed(row, truth)
    return Judged(
        package=package,
        kind=row["kind"],
        n_failing=len(row["failing"]),
        standings={name: _standing(scores, truth) for name, scores in orderings.items()},
        lines={name: _standing(scores, changed) for name, scores in lines.items()},
        claim=claim,
        right=mean(where in truth for where in leading) if leading else 0.0,
        on_test=any(where.is_test for where in leading),
        seconds=sum(made.seconds for case in cases for made in case.inspections),
        cpu_s=row["cpu_s"] - row["plain_cpu_s"],
        n_inspections=sum(len(case.inspections) for case in cases),
    )


def _repaired(problem: Problem) -> set[Location]:
    """Locations where any inspection of the row makes the failing tests pass."""
    made = problem.raw["inspections"]
    return {
        problem.locations[one[0]]
        for one in made
        if one[0] >= 0 and outcome_of(one) is InspectionOutcome.EDIT_REPAIRS
    }


def _code(scores: Scores) -> Scores:
    return {where: value for where, value in scores.items() if not where.is_test}


def _joined(groups: Iterable[Scores]) -> dict[Location, float]:
    """The rankings of all groups in one: each location with its highest score."""
    best: dict[Location, float] = {}
    for scores in groups:
        for where, value in scores.items():
            best[where] = max(value, best.get(where, value))
    return best


def _standing(scores: Mapping[Any, float], truth: Container[Any]) -> Standing | None:
    """The best place of anything that is at fault."""
    listed = list(scores)
    values = [scores[where] for where in listed]
    places = [standing(values, n) for n, where in enumerate(listed) if where in truth]
    return min(places, key=lambda place: place.rank, default=None)


def _line_scores(problem: Problem, name: str) -> dict[Location, dict[int, float]]:
    """Per location, per line, its suspiciousness."""
    score_of = scorer(problem.spectrum, name)
    return {
        where: {line: score_of(executed) for line, executed in rows.items()}
        for where, rows in problem.spectrum.lines.items()
    }


def _lines_by_belief(problem: Problem, case: Case) -> dict[Line, float]:
    """Each line with the belief in its function, shared out by a power of Ochiai."""
    scores = _line_scores(problem, "ochiai")
    found: dict[Line, float] = {}
    for where, p in case.belief.probabilities.items():
        rows = {line: value**SHARPNESS for line, value in scores.get(where, {}).items()}
        total = sum(rows.values()) or 1.0
        for line, value in rows.items():
            found[where.file, line] = p * value / total
    return found


def _plain_lines(problem: Problem, name: str) -> dict[Line, float]:
    rows = _line_scores(problem, name).items()
    return {(where.file, line): value for where, of in rows for line, value in of.items()}


def _joined_lines(groups: Iterable[Mapping[Line, float]]) -> dict[Line, float]:
    best: dict[Line, float] = {}
    for scores in groups:
        for line, value in scores.items():
            best[line] = max(value, best.get(line, value))
    return best


def _changed(row: Mapping[str, Any], truth: Iterable[Location]) -> set[Line]:
    """The changed lines that lie in what is at fault."""
    return {
        (where.file, line)
        for where in truth
        for line in row["changed"].get(where.file, ())
        if where.start_line <= line <= where.end_line
    }


# -- figures


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A figure with its 95 % interval, from resampled packages."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.1f} ({self.low:.1f} to {self.high:.1f})"


def interval(
    judged: Sequence[Judged], figure: Callable[[Sequence[Judged]], float], *, seed: int = 0
) -> Interval:
    """``figure`` of ``judged``, and how far it moves when packages are drawn anew."""
    by_package: dict[str, list[Judged]] = {}
    for item in judged:
        by_package.setdefault(item.package, []).append(item)
    dice, names = random.Random(seed), sorted(by_package)
    drawn = []
    for _ in range(N_RESAMPLED):
        sample = [item for name in dice.choices(names, k=len(names)) for item in by_package[name]]
        drawn.append(figure(sample))
    drawn.sort()
    low, high = drawn[int(0.025 * N_RESAMPLED)], drawn[int(0.975 * N_RESAMPLED) - 1]
    return Interval(value=figure(judged), low=low, high=high)


def weighted(judged: Sequence[Judged], value: Callable[[Judged], float]) -> float:
    """The mean of ``value``, each fault by its weight; 0 of none."""
    total = sum(item.weight for item in judged)
    return sum(item.weight * value(item) for item in judged) / total if total else 0.0


def naturally(judged: Sequence[Judged]) -> list[Judged]:
    """The same with weights by which the kinds among them are as frequent as ``SHARES`` says."""
    each = weights([item.kind for item in judged])
    return [replace(item, weight=each[item.kind]) for item in judged]


def top(ordering: str, k: int) -> Callable[[Sequence[Judged]], float]:
    """The share of faults among the first ``k`` of an ordering, in per cent."""
    return lambda judged: 100 * weighted(judged, lambda item: _within(item.standings[ordering], k))


def _within(place: Standing | None, k: int) -> float:
    return 0.0 if place is None else place.p_within(k)


def exam(judged: Sequence[Judged], ordering: str) -> float:
    """The mean share of the ranked locations that are looked at before the fault, in per cent."""
    return 100 * weighted(
        [item for item in judged if item.standings[ordering] is not None],
        lambda item: _value(item.standings[ordering], "share"),
    )


def summary(judged: Sequence[Judged], ordering: str) -> tuple[float, ...]:
    """Top-1/3/5/10 in per cent, mean first rank, MRR, EXAM in per cent."""
    ranked = [item for item in judged if item.standings[ordering] is not None]
    return (
        *(top(ordering, k)(judged) for k in TOP),
        weighted(ranked, lambda item: _value(item.standings[ordering], "rank")),
        weighted(judged, lambda item: _value(item.standings[ordering], "reciprocal")),
        exam(judged, ordering),
    )


def _value(place: Standing | None, name: str) -> float:
    return 0.0 if place is None else float(getattr(place, name))


def top_lines(judged: Sequence[Judged], ordering: str) -> tuple[float, ...]:
    """Top-1/5/10 of lines, in per cent."""
    return tuple(
        100 * weighted(judged, lambda item, k=k: _within(item.lines[ordering], k))  # type: ignore[misc]
        for k in TOP_LINES
    )


def reliability(judged: Sequence[Judged]) -> list[tuple[float, float, float]]:
    """Per tenth of the claimed probability: mean claim, share that was right, how many."""
    bins: dict[int, list[Judged]] = {}
    for item in judged:
        bins.setdefault(min(BINS - 1, int(item.claim * BINS)), []).append(item)
    return [
        (
            weighted(items, lambda i: i.claim),
            weighted(items, lambda i: i.right),
            sum(i.weight for i in items),
        )
        for _, items in sorted(bins.items())
    ]


def calibration_error(judged: Sequence[Judged]) -> float:
    """ECE: the mean distance between claimed and true, weighted by how often it is claimed."""
    rows = reliability(judged)
    return sum(n * abs(claimed - true) for claimed, true, n in rows) / max(1, len(judged))


def calibration_error_of_chance(judged: Sequence[Judged], *, seed: int = 0) -> float:
    """The ECE that true claims would show, with as many faults and claims: it is above 0."""
    dice = random.Random(seed)
    drawn = [
        calibration_error([replace(i, right=float(dice.random() < i.claim)) for i in judged])
        for _ in range(N_RESAMPLED)
    ]
    return mean(drawn)
