"""The model's numbers, fitted to real and planted bugs and written where the plugin reads them."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.bugs.rows import rows as read_bugs
from benchmarks.bugs.shown import inspected
from benchmarks.faults.fitting import (
    DISTANCE,
    FEW,
    PENALTY,
    choices,
    fitted,
    held_out,
    in_situation,
    lowered,
    pairs,
    temperature,
    with_distances,
)
from benchmarks.faults.shares import REAL, SHARES, weights
from benchmarks.faults.split import FIT, VALIDATE
from benchmarks.faults.storage import packages, read_rows
from pytest_bayesloc.domain.evidence import OUTCOMES
from pytest_bayesloc.domain.failure import Role, Situation
from pytest_bayesloc.ranking.belief import ALONE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.faults.fitting import Choice

    Weights = Mapping[str, float]

#: No outcome is impossible.
LEAST = 1e-3
TO = Path(__file__).resolve().parents[2] / "pytest_bayesloc" / "ranking" / "fitted.py"
#: What is known of every location, per kind of evidence. What most of them show is neutral, or the
#: sum over a kind would speak for all code against all tests.
AT_HAND = {
    "traceback": ("RAISE_FRAME", "NOT_IN_TRACEBACK"),
    "tests": ("CODE_RAISED", "TWIN_PASSES", "TEST_IN_TRACEBACK"),
}
#: Of the spectrum and of the kind of code, for every candidate.
PRIOR_TERMS = (
    "ochiai",
    "rank by op2 and ochiai of lines",
    "failing tests",
    "fewest passing tests of a line",
    "module body",
    "constructor",
    "lines",
)
#: Of what the text says; all but the last two may only speak for a candidate.
TEXT_TERMS = (
    "name in test",
    "test in name",
    "file in test",
    "test file in place",
    "body says test",
    "literals",
    "class body",
    "raises",
)
#: What all planted faults together count beside the real bugs, which count one each: as a share.
PLANTED_SHARE = 1.5
#: The share of it that stands beside the real bugs, as if the tests were new.
AS_NEW = 1 / 3
#: What only inspected, or recorded, locations show: first the usual outcome of each kind, which is
#: neutral. The outcomes of a kind exclude each other.
INSPECTED = {
    "assertions": ("COLLATERAL_FAILURE", "TARGET_ASSERTION_FAILED"),
    "mutants": ("NO_EDIT_REPAIRS", "EDIT_REPAIRS", "EDIT_BREAKS_OTHERS"),
}
#: The unusual ones may only speak for the fault: a report that says "the tests pass with this edit,
#: so it is less likely" reads like a mistake.
FOR = (0.0, None)
#: The share of faults in the code that may be blamed on a test.
BLAMED = 0.04
#: Of what inspections show: it is rare, and must prove itself.
PENALTY_INSPECTED = 2.0


#: Terms that have a weight for each situation.
_OF_SITUATION = [*PRIOR_TERMS, *TEXT_TERMS, *(role.name for role in Role)]
_FIRST = [
    *(in_situation(name, situation) for situation in Situation for name in _OF_SITUATION),
    *(n for kind in AT_HAND.values() for n in kind),
]
_CHOSEN = {FEW: -ALONE}
_SIGNS = {
    in_situation(name, situation): within
    for situation in Situation
    for name, within in {
        "ochiai": FOR,
        "rank by op2 and ochiai of lines": (None, 0.0),
        **dict.fromkeys(TEXT_TERMS[:-2], FOR),
    }.items()
} | {"RAISE_FRAME": FOR}


def fit(parts: Sequence[str] = (FIT, VALIDATE)) -> str:
    """Fit everything and write it; what was done, in words."""
    names, bugs = planted(parts), real(parts)
    found = [*bugs, *names]
    complete = [choice for choice in found if choice.is_complete]
    told = held_out(found, learn, _FIRST)
    lower = lowered(told, BLAMED)
    # What is claimed has to be true of real bugs.
    heat = temperature([one for one in told if one.choice.is_real] or told, lower)
    learned = learn(found)
    roles = [in_situation(role.name, situation) for situation in Situation for role in Role]
    learned |= {name: learned[name] - lower for name in roles}
    # The distance itself is in nats of the belief that was divided.
    nearness = learned.pop(DISTANCE)
    learned = {name: weight / heat for name, weight in learned.items()}
    chances = {
        name: pair
        for outcomes in INSPECTED.values()
        for name, pair in pairs(learned, complete, outcomes).items()
    }
    said = (
        f"{_total(bugs):.0f} real bugs of {_packages(bugs)} repositories, and\n"
        f"{_total(names):.0f} planted faults of {_packages(names)} packages, which count "
        f"{PLANTED_SHARE:g} times as much together;\npenalties {PENALTY:g} and "
        f"{PENALTY_INSPECTED:g}, tests lowered by {lower:.2f}, temperature {heat:.2f}"
    )
    everywhere = sorted({choice.package for choice in found})
    TO.write_text(_text(learned, chances, nearness, everywhere, said), encoding="utf-8")
    return said


def planted(parts: Sequence[str]) -> list[Choice]:
    """The planted faults of some parts; their kinds weigh as often as they are met."""
    names = sorted(name for part in parts for name in packages(part))
    rows = {name: [r for r in read_rows(name) if r["kind"] in SHARES] for name in names}
    each = weights([row["kind"] for own in rows.values() for row in own])
    found = [choice for name in names for choice in choices(name, rows[name], each)]
    return [one for choice in found for one in _in_both(choice)]


def _in_both(choice: Choice) -> list[Choice]:
    """A planted fault as one of each situation.

    Among new tests, those in the code count for little: they keep the weights of the spectrum
    what they are in small projects. What inspections show is counted once.
    """
    own, other = Situation.REGRESSION.value, Situation.NEW_TEST.value
    if choice.of_test:
        own, other = other, own
    terms = tuple(
        {name.replace(f"{own}: ", f"{other}: "): value for name, value in each.items()}
        for each in choice.terms
    )
    share = 0.5 if choice.of_test else AS_NEW
    copy = replace(choice, weight=share * choice.weight, terms=terms, is_complete=False)
    return [replace(choice, weight=(1.0 - share) * choice.weight), copy]


def real(parts: Sequence[str]) -> list[Choice]:
    """The real bugs of some parts."""
    rows = [pair for part in parts for pair in read_bugs(part)]
    shown = {name: inspected(name) for name in {name for name, _ in rows}}
    return [c for name, row in rows for c in choices(name, [row], {REAL: 1.0}, shown[name])]


def _total(found: Sequence[Choice]) -> float:
    return sum(choice.weight for choice in found)


def _packages(found: Sequence[Choice]) -> int:
    return len({choice.package for choice in found})


def learn(found: Sequence[Choice]) -> dict[str, float]:
    """All weights: of what is at hand first, then of what inspections show beside it.

    Older rows say what is at hand alone: they know fewer ways to inspect. Of what is at hand real
    bugs decide; of inspections, which are rare, each bug and each fault says as much.
    """
    at_hand = fitted(_balanced(found), _FIRST, held=_CHOSEN, bounds=_SIGNS) | _CHOSEN
    complete = [with_distances(choice, at_hand) for choice in found if choice.is_complete]
    unusual = [DISTANCE, *(name for kind in INSPECTED.values() for name in kind[1:])]
    bounds = dict.fromkeys(unusual, FOR)
    shown = fitted(complete, unusual, held=at_hand, penalty=PENALTY_INSPECTED, bounds=bounds)
    return {**at_hand, **shown}


def _balanced(found: Sequence[Choice]) -> list[Choice]:
    """The same, weighed by ``PLANTED_SHARE``; faulty tests keep their share of all bugs.

    No real bug of the set is one of a test, by the way it was made. Without real bugs nothing
    changes.
    """
    kinds = {
        kind: [c for c in found if (c.is_real, c.of_test) == kind]
        for kind in ((True, False), (False, False), (False, True))
    }
    real, code, tests = map(_total, kinds.values())
    if not real:
        return list(found)
    of_code = PLANTED_SHARE * real / (code or 1.0)
    share = SHARES["test"] / (1.0 - SHARES["test"])
    of_tests = share * (1.0 + PLANTED_SHARE) * real / (tests or 1.0)
    scales = dict(zip(kinds, (1.0, of_code, of_tests), strict=True))
    return [replace(c, weight=c.weight * scales[c.is_real, c.of_test]) for c in found]


def _text(
    weights: Weights,
    chances: Mapping[str, tuple[float, float]],
    nearness: float,
    names: Sequence[str],
    said: str,
) -> str:
    """The module that the plugin imports."""
    today = datetime.now(tz=timezone.utc).date()
    ratios = {name: weights[name] for kind in AT_HAND.values() for name in kind}
    prior = {f'"{name}"': name for name in PRIOR_TERMS}
    text = {f'"{name}"': name for name in TEXT_TERMS}
    roles = {f"Role.{role.name}": role.name for role in Role}
    return _MODULE.format(
        date=today,
        said=said,
        names=_wrapped(names),
        prior=_of_situations(prior, weights),
        text=_of_situations(text, weights),
        roles=_of_situations(roles, weights),
        ratios=_entries({_member(name): w for name, w in ratios.items()}, ".2f"),
        chances="\n".join(
            f"        {_member(name)}: ({max(faulty, LEAST):.4f}, {max(clean, LEAST):.4f}),"
            for name, (faulty, clean) in chances.items()
        ),
        nearness=nearness,
    )


def _of_situations(names: Mapping[str, str], weights: Weights) -> str:
    """A dictionary for each situation; ``names`` are those of the terms, by their text there."""
    return "\n".join(
        f"        Situation.{situation.name}: {{\n"
        + "".join(
            f"            {text}: {weights[in_situation(name, situation)]:.2f},\n"
            for text, name in names.items()
        )
        + "        },"
        for situation in Situation
    )


def _member(name: str) -> str:
    """An outcome as Python names it."""
    return f"{type(OUTCOMES[name]).__name__}.{name}"


def _entries(values: Weights, form: str) -> str:
    return "\n".join(f"        {name}: {value:{form}}," for name, value in values.items())


def _wrapped(names: Sequence[str]) -> str:
    return textwrap.fill(", ".join(names), 96, break_on_hyphens=False)


_MODULE = '''"""The model's numbers. Written by ``python -m benchmarks.faults fit``, not by hand.

Fitted on {date}: {said}.
Packages:
{names}.

Reference:
    docs/model.md, sections "Prior" and "Likelihoods".
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from pytest_bayesloc.domain.evidence import InspectionOutcome, Outcome, StaticOutcome
from pytest_bayesloc.domain.failure import Role, Situation

#: Weights of the blend's terms, in nats.
PRIOR: Mapping[Situation, Mapping[str, float]] = MappingProxyType(
    {{
{prior}
    }}
)

#: Weights of what a candidate's text says of what the failing tests say, in nats.
TEXT: Mapping[Situation, Mapping[str, float]] = MappingProxyType(
    {{
{text}
    }}
)

#: What a piece of test code starts from, in nats, in the same sum.
TESTS: Mapping[Situation, Mapping[Role, float]] = MappingProxyType(
    {{
{roles}
    }}
)

#: Of what is at hand before any inspection: the log likelihood ratio, in nats.
LOG_RATIOS: Mapping[Outcome, float] = MappingProxyType(
    {{
{ratios}
    }}
)

#: Of what inspections show: P(outcome | faulty) and P(outcome | clean), of each kind summing to 1.
CHANCES: Mapping[Outcome, tuple[float, float]] = MappingProxyType(
    {{
{chances}
    }}
)

#: How much less often an edit repairs by chance at a location of less belief: the power of its
#: share of the highest belief before any inspection.
REPAIR_NEARNESS = {nearness:.2f}
'''
