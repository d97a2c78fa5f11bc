"""A fix says once where the fault is."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.domain.evidence import ChangeOutcome, InspectionOutcome, Outcome
from pytest_bayesloc.domain.fixing import MUTANTS
from pytest_bayesloc.domain.inspection import Effect, Finding, InspectionPatch, Trial
from pytest_bayesloc.domain.source import SourceMap
from pytest_bayesloc.domain.spectrum import Spectrum
from pytest_bayesloc.fixes.candidate import EDIT, Candidate, patch_of
from pytest_bayesloc.fixes.check import Checked, Status
from pytest_bayesloc.fixes.edit_candidates import inspected, inspected_by
from pytest_bayesloc.inspection.strategies.likely_fixes import (
    MIN_CONCLUSIVE,
    findings_of,
    is_open,
    weigh_fixes,
)
from pytest_bayesloc.pipeline.fix import UNVERIFIED, changes_of_tests, unverified
from pytest_bayesloc.ranking.evidence.guards import Guard
from pytest_bayesloc.ranking.likelihoods import weigh
from tests.fakes.case import case_of
from tests.unit.fixes.candidates import candidate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_bayesloc.domain.location import Location
    from pytest_bayesloc.ranking.case import Case

TEXT = "def f():\n    return 1\n\n\ndef g():\n    return 2\n"
F, G = (unit.location for unit in SourceMap(TEXT, "m.py").units[1:])
REPAIRS, NO_REPAIR = InspectionOutcome.EDIT_REPAIRS, InspectionOutcome.NO_EDIT_REPAIRS


class Found:
    """What came of a search."""

    def __init__(
        self,
        *verified: Checked,
        broken: frozenset[str] = frozenset(),
        shown: Sequence[Candidate] = (),
        trials: Mapping[Location, Sequence[Trial]] = MappingProxyType({}),
    ) -> None:
        self.best = self.verified = verified
        self.broken, self.shown = broken, shown
        self.partial, self.trials = None, trials


def fix(old: str, new: str, doubt: str = "") -> Checked:
    candidate = Candidate(
        tools=("other-number",),
        stage=EDIT,
        file="m.py",
        before=TEXT,
        after=TEXT.replace(old, new),
        message="m",
        target=F if old == "1" else G,
    )
    return Checked(
        candidate=candidate, patch=patch_of(candidate), status=Status.VERIFIED, doubt=doubt
    )


def case(*outcomes: Outcome) -> Case:
    """A case with an inspection of f for each outcome."""
    spectrum = Spectrum(tests=("t::a",), failing=1, passing=0, lines={F: {2: 1}, G: {6: 1}})
    made = case_of(spectrum, {F: 0.4, G: 0.6})
    for outcome in outcomes:
        patch = InspectionPatch(
            target=F,
            kind=MUTANTS,
            original=TEXT,
            patched=TEXT.replace("1", "3"),
            words="change constant, line 2: 1 to 3",
        )
        evidence = weigh(made.model, outcome, F, source=MUTANTS)
        made.take(Finding(evidence=evidence, repair=patch if outcome is REPAIRS else None))
    return made


def weighed(on: Case, found: Found) -> Case:
    weigh_fixes(on, found)  # type: ignore[arg-type]  # all that is asked
    return on


@pytest.mark.parametrize("doubt", ["", "why"])
@pytest.mark.parametrize("seen", [(), (NO_REPAIR,), (REPAIRS,)], ids=["nothing", "none", "repair"])
def test_fix_counts_once_and_takes_the_place_of_what_an_inspection_saw(
    seen: tuple[Outcome, ...], doubt: str
) -> None:
    alone = weighed(case(), Found(fix("1", "3", doubt=doubt))).belief.p(F)

    assert weighed(case(*seen), Found(fix("1", "3", doubt=doubt))).belief.p(F) == pytest.approx(
        alone
    )


def test_doubted_fix_counts_as_the_edit_of_an_inspection_and_another_more() -> None:
    doubted, clear = (weighed(case(), Found(fix("1", "3", doubt=d))) for d in ("why", ""))

    assert doubted.belief.p(F) == pytest.approx(case(REPAIRS).belief.p(F))
    assert clear.evidence[-1].outcome is ChangeOutcome.FIX_VERIFIED
    assert clear.belief.p(F) > doubted.belief.p(F) > 0.5


def test_first_fix_that_is_shown_counts_alone() -> None:
    several = Found(fix("1", "3"), fix("2", "4"))

    assert weighed(case(), several).belief.p(F) == weighed(case(), Found(fix("1", "3"))).belief.p(F)
    assert weighed(case(), Found()).belief.p(F) == pytest.approx(0.4)


def taken(on: Case, found: Found) -> Case:
    for finding in findings_of(on, found):  # type: ignore[arg-type]  # all that is asked
        on.take(finding)
    return on


def test_first_fix_that_an_inspection_found_speaks_more_than_another_repair() -> None:
    found = Found(fix("1", "3"), fix("2", "4"))
    on = taken(case(), found)

    finding, other = on.inspections
    assert finding.repair == replace(found.best[0].patch, kind=MUTANTS, words="other number, m")
    assert finding.evidence.why == "0 of 1 failing tests pass with one small edit (other number, m)"
    assert finding.belief_after == pytest.approx(weighed(case(), found).belief.p(F))
    assert (other.target, other.evidence.outcome) == (G, REPAIRS)
    assert on.belief.p(F) > on.belief.p(G)


@pytest.mark.parametrize(
    ("effects", "outcome"),
    [
        ([Effect.SAME_ERROR] * (MIN_CONCLUSIVE - 1), None),
        ([Effect.SAME_ERROR] * MIN_CONCLUSIVE, NO_REPAIR),
        ([Effect.SAME_ERROR, Effect.BREAKS_OTHERS], InspectionOutcome.EDIT_BREAKS_OTHERS),
    ],
    ids=["few", "enough", "breaking"],
)
def test_edits_that_are_no_fix_tell_of_their_place(
    effects: list[Effect], outcome: Outcome | None
) -> None:
    trials = [Trial(line=2, words=f"m{n}", effect=effect) for n, effect in enumerate(effects)]
    on = taken(case(), Found(fix("2", "4"), trials={F: trials, G: trials}))

    assert [f.evidence.outcome for f in on.inspections if f.target == F] == [outcome][
        : outcome is not None
    ]
    assert [f.evidence.outcome for f in on.inspections if f.target == G] == [REPAIRS]


@pytest.mark.parametrize(
    ("changed", "expected"),
    [({}, True), ({"flaky": ("t::a",)}, False), ({"culprits": (F,)}, False)],
)
def test_likeliest_fixes_are_tried_where_nothing_explains_a_group_yet(
    changed: dict[str, object], *, expected: bool
) -> None:
    assert is_open(replace(case(), **changed), lambda _: None) is expected  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("p_of_test", "is_refused", "is_judged", "expected"),
    [
        (0.45, False, False, True),
        (0.55, False, False, False),
        (0.55, True, False, False),
        (0.55, True, True, True),
    ],
    ids=["code", "test", "check", "check that a passing test sees"],
)
def test_no_edit_is_tried_where_a_test_is_at_fault_unless_other_tests_judge_a_check(
    p_of_test: float, *, is_refused: bool, is_judged: bool, expected: bool
) -> None:
    text = "def f(x):\n    if x < 1:\n        raise ValueError\n    return x\n"
    where = SourceMap(text, "m.py").units[1].location
    test = replace(G, file="test_m.py", is_test=True)
    lines = {where: {3: 0b11 if is_judged else 0b01}, test: {6: 0b01}}
    spectrum = Spectrum(tests=("t::a", "t::b"), failing=0b01, passing=0b10, lines=lines)
    on = case_of(spectrum, {where: 1 - p_of_test, test: p_of_test})
    guard = Guard(function=where, condition="x < 1", owner=test, line=3, value="`x`")
    on.guard = guard if is_refused else None

    assert is_open(on, lambda _: text) is expected


def test_a_repair_of_an_inspection_that_breaks_more_tests_is_none() -> None:
    known = case(REPAIRS)
    (candidate,) = inspected_by(known.inspections[0])
    assert [*inspected(known)] == []  # a search finds it again

    weighed(known, Found(broken=frozenset({candidate.key})))

    assert candidate.tools == ("change-constant",)
    assert known.inspections[0].evidence.outcome is InspectionOutcome.EDIT_BREAKS_OTHERS
    assert known.belief.p(F) < case(REPAIRS).belief.p(F)


@pytest.mark.parametrize(("outcome", "doubt"), [(REPAIRS, UNVERIFIED), (NO_REPAIR, "")])
def test_edit_of_an_inspection_that_the_search_did_not_verify_is_doubted(
    outcome: Outcome, doubt: str
) -> None:
    assert unverified(case(outcome).inspections[0]).doubt == doubt


@pytest.mark.parametrize(
    ("tool", "after", "is_shown"),
    [
        ("misspelt-attribute", "box.items()", True),
        ("misspelt-attribute", "box.empty()", False),
        ("wrong-keyword", "box", False),
        ("missing-return", "return box.itmes()", True),
    ],
)
def test_use_in_a_test_of_what_the_code_lacks_is_mended_if_it_is_a_slip(
    tool: str, after: str, *, is_shown: bool
) -> None:
    change = candidate("box.itmes()", after, tools=(tool,), is_test=True)
    on = case()
    on.failures = tuple(replace(one, exc_type="AttributeError") for one in on.failures)

    shown = changes_of_tests(on, Found(shown=[change]))  # type: ignore[arg-type]

    assert shown == [change] * is_shown
