"""The tables: how often the fault is found, beside plain formulas, and what claims are worth."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from hashlib import sha256
from statistics import mean, median
from typing import TYPE_CHECKING

from benchmarks.faults.green_runs import read_runs, variants
from benchmarks.faults.replay import Problem, Setting, problems, replay
from benchmarks.faults.scoring import (
    FORMULAS,
    POSTERIOR,
    calibration_error,
    calibration_error_of_chance,
    interval,
    judge,
    naturally,
    reliability,
    summary,
    top,
    top_lines,
    weighted,
)
from benchmarks.faults.shares import SHARES
from benchmarks.faults.split import PARTS, packages_of
from benchmarks.faults.storage import packages, read_rows
from benchmarks.suites.scores import Standing, score
from pytest_bayesloc.ranking.belief import BLEND, PRIORS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from benchmarks.faults.scoring import Interval, Judged
    from pytest_bayesloc.domain.location import Location

CODE = ("regression", "edit")
KINDS = (*CODE, "import", "test")
SURE = 0.9
_DEFAULT = Setting()
_OTHER = "another setting"
#: What is left out, one at a time, for the table of what each kind of evidence brings.
SOURCES = (
    "traceback",
    "guard",
    "origin",
    "swallowed",
    "tests",
    "names",
    "support",
    "assertions",
    "mutants",
)


@cache
def judged_part(part: str, setting: Setting) -> Sequence[Judged]:
    """Every fault of one part for which there are rows, judged under ``setting``.

    Kept: it takes most of a minute, and each table begins with the same setting.
    """
    rows = ((name, row) for name in packages(part) for row in read_rows(name))
    return naturally([judge(name, row, setting) for name, row in rows if row["kind"] in SHARES])


def digest() -> tuple[str, int]:
    """Return a digest of every belief to its last digit, and how many probabilities that are.

    Two versions of the plugin rank alike on all three parts if theirs are equal.
    """
    lines = [
        f"{part} {name} {number}.{n} {where} {p!r}"
        for part in PARTS
        for name in packages(part)
        for number, row in enumerate(read_rows(name))
        for n, problem in enumerate(problems(row))
        for where, p in sorted(_believed(problem).items(), key=lambda item: (-item[1], item[0]))
    ]
    return sha256("\n".join(lines).encode()).hexdigest(), len(lines)


def _believed(problem: Problem) -> Mapping[Location, float]:
    case = problem.case(Setting())
    replay(problem, case, Setting())
    return case.belief.probabilities


def report(part: str, *, ablation: bool = False) -> None:
    """Print everything about one part."""
    judged = judged_part(part, _DEFAULT)
    print(f"{part}: {len(judged)} faults of {len({item.package for item in judged})} packages")
    for title, kinds in (("regressions and edits", CODE), *((kind, (kind,)) for kind in KINDS)):
        chosen = [item for item in judged if item.kind in kinds]
        if chosen:
            print(f"\n### {title}: {len(chosen)} faults\n")
            print("\n".join(orderings(chosen)))
    code = [item for item in judged if item.kind in CODE]
    print("\n### Lines, regressions and edits\n")
    print("\n".join(_lines(code)))
    print("\n### Claims, all kinds\n")
    print("\n".join(claims(judged, {"all kinds": judged, "regressions and edits": code})))
    print("\n### Test or code\n")
    print("\n".join(_blame(judged)))
    print("\n".join(_cost(judged)))
    print("\n### Where the last green run is known, and up to six other functions changed too\n")
    print("\n".join(_after_green(part)))
    if ablation:
        print("\n### Without one kind of evidence, regressions and edits\n")
        print("\n".join(_ablation(part)))
        print("\n### With another setting, regressions and edits\n")
        print("\n".join(_alternatives(part)))


def orderings(judged: Sequence[Judged]) -> Iterator[str]:
    """Per ordering, how often a fault is among the first."""
    yield "| ordered by | Top-1 | Top-3 | Top-5 | Top-10 | mean first rank | MRR | EXAM |"
    yield "|---|---|---|---|---|---|---|---|"
    for name in judged[0].standings:
        *tops, rank, mrr, exam = summary(judged, name)
        shares = " | ".join(f"{share:.1f}" for share in tops)
        yield f"| {name} | {shares} | {rank:.2f} | {mrr:.3f} | {exam:.1f} |"
    for k in (1, 5):
        share = interval(judged, top(POSTERIOR, k))
        yield f"\nTop-{k} by posterior, with its 95 % interval over packages: {share}"
    best = max(
        (name for name in judged[0].standings if name.partition(" of ")[0] in FORMULAS),
        key=_first(judged),
    )
    yield (
        f"above tarantula: {_gain(judged, 'tarantula')}; above the best single formula ({best}): "
        f"{_gain(judged, best)}"
    )


def _first(judged: Sequence[Judged]) -> Callable[[str], float]:
    return lambda name: summary(judged, name)[0]


def _gain(judged: Sequence[Judged], other: str) -> str:
    return str(interval(judged, lambda items: top(POSTERIOR, 1)(items) - top(other, 1)(items)))


def _lines(judged: Sequence[Judged]) -> Iterator[str]:
    yield "| ordered by | Top-1 | Top-5 | Top-10 |"
    yield "|---|---|---|---|"
    for name in judged[0].lines:
        yield f"| {name} | {' | '.join(f'{share:.1f}' for share in top_lines(judged, name))} |"


def claims(judged: Sequence[Judged], titled: Mapping[str, Sequence[Judged]]) -> Iterator[str]:
    """What the claims of the first place are worth: a table, and a line for each of ``titled``."""
    yield "| claimed | right | faults |"
    yield "|---|---|---|"
    for claimed, right, n in reliability(judged):
        yield f"| {claimed:.2f} | {right:.2f} | {n:.0f} |"
    yield ""
    for title, chosen in titled.items():
        sure = [item for item in chosen if item.claim >= SURE]
        right = 100 * weighted(sure, lambda item: item.right)
        share = 100 * weighted(chosen, lambda item: float(item.claim >= SURE))
        yield (
            f"{title}: {SURE} or more is claimed in {share:.0f} % of "
            f"faults, {len(sure)} of them, and right in {right:.1f} %; "
            f"ECE {calibration_error(chosen):.3f} (true claims "
            f"would show {calibration_error_of_chance(chosen):.3f})"
        )


def _blame(judged: Sequence[Judged]) -> Iterator[str]:
    tests = [item for item in judged if item.kind == "test"]
    code = [item for item in judged if item.kind != "test"]
    named = 100 * mean(item.right for item in tests) if tests else 0.0
    blamed = 100 * mean(item.on_test for item in code) if code else 0.0
    yield f"the faulty test is named first in {named:.1f} % of {len(tests)} test faults"
    yield f"a test is named first in {blamed:.1f} % of {len(code)} code faults"


def _cost(judged: Sequence[Judged]) -> Iterator[str]:
    yield (
        f"\nmedians: {median(item.seconds for item in judged):.2f} s of inspections, "
        f"{median(item.n_inspections for item in judged):g} inspections; with every likely "
        f"location inspected in every way {median(item.cpu_s for item in judged):.1f} CPU s above "
        "the plain run"
    )


def _after_green(part: str) -> Iterator[str]:
    yield "| faults | runs | Top-1 | Top-3 | Top-5 | 0.9 claimed | right | CPU s above plain |"
    yield "|---|---|---|---|---|---|---|---|"
    for variant in variants():
        runs = [run for name in packages_of(part) for run in read_runs(name, variant)]
        for kind in sorted({run["kind"] for run in runs}):
            chosen = [run for run in runs if run["kind"] == kind]
            yield f"| {f'{kind} {variant}'.strip()} | {len(chosen)} | {_green_figures(chosen)} |"


def _green_figures(runs: Sequence[Mapping[str, Any]]) -> str:
    tops = " | ".join(
        f"{100 * share:.1f}"
        for share in score([_standing(run["standing"]) for run in runs]).top[:3]
    )
    sure = [run["right"] for run in runs if run["claim"] >= SURE]
    right = f"{100 * mean(sure):.1f} %" if sure else "-"
    above = median(run["cpu_s"] - run["plain_cpu_s"] for run in runs)
    return f"{tops} | {100 * len(sure) / len(runs):.0f} % | {right} | {above:.1f}"


def _standing(found: Sequence[int] | None) -> Standing | None:
    return None if found is None else Standing(first=found[0], last=found[1], n_rows=found[2])


def _ablation(part: str) -> Iterator[str]:
    left_out = {"nothing": (), **{name: (name,) for name in SOURCES}, "all of them": SOURCES}
    settings = {name: Setting(without=frozenset(without)) for name, without in left_out.items()}
    return _settings(part, "without", settings)


def _alternatives(part: str) -> Iterator[str]:
    settings = {"as it comes": _DEFAULT}
    settings |= {f"prior {name}": Setting(formula=name) for name in PRIORS if name != BLEND}
    settings["model independent"] = Setting(model="independent")
    return _settings(part, "setting", settings)


def _settings(part: str, title: str, settings: Mapping[str, Setting]) -> Iterator[str]:
    yield (
        f"| {title} | Top-1 | Top-3 | Top-5 | Top-10 | mean first rank | MRR | inspections | s | "
        "more first than in the first row |"
    )
    yield "|---|---|---|---|---|---|---|---|---|---|"
    base: list[Judged] = []
    for name, setting in settings.items():
        code = [item for item in judged_part(part, setting) if item.kind in CODE]
        base = base or code
        *tops, rank, mrr, _ = summary(code, POSTERIOR)
        shares = " | ".join(f"{share:.1f}" for share in tops)
        cost = f"{median(i.n_inspections for i in code):g} | {median(i.seconds for i in code):.1f}"
        yield f"| {name} | {shares} | {rank:.2f} | {mrr:.3f} | {cost} | {_moved(base, code)} |"


def _moved(base: Sequence[Judged], other: Sequence[Judged]) -> Interval:
    """Return how many more of a hundred faults are first in ``other``, fault by fault."""
    both = [
        replace(item, standings={**item.standings, _OTHER: again.standings[POSTERIOR]})
        for item, again in zip(base, other, strict=True)
    ]
    return interval(both, lambda items: top(_OTHER, 1)(items) - top(POSTERIOR, 1)(items))
