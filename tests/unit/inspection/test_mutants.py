"""Which mutants of a function are proposed, in which order, and what trying them tells."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias

import pytest

from pytest_bayesloc.domain.evidence import InspectionOutcome, Outcome
from pytest_bayesloc.domain.inspection import Effect, InspectionPatch, Verdict
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.recording import Sample
from pytest_bayesloc.domain.source import SourceMap
from pytest_bayesloc.domain.spectrum import Spectrum
from pytest_bayesloc.fixes.mutations import TURN, mutants
from pytest_bayesloc.inspection.strategies.mutants import (
    MAX_MUTANTS,
    MAX_OF_OTHERS,
    MIN_CONCLUSIVE,
    N_LIKELIEST,
    Mutants,
)
from pytest_bayesloc.inspection.strategy import Budget
from pytest_bayesloc.ranking.evidence.guards import Guard
from tests.fakes.case import case_of
from tests.fakes.runner import FAILED, PASSED, FakeRunner, as_port

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pytest_bayesloc.domain.inspection import Finding, TestRun
    from pytest_bayesloc.ranking.case import Case

TEXT = """\
def clamp(x, low, high):
    if x < low:
        return low
    return high if x > high else x

class Box:
    size = 1 < 2
"""
SOURCE = SourceMap(TEXT, "m.py")
MODULE, CLAMP, BOX = SOURCE.units


def proposed(scores: Mapping[int, float]) -> list[InspectionPatch]:
    return list(mutants(SOURCE, CLAMP, scores))


def test_only_lines_that_failing_tests_executed_are_edited() -> None:
    assert {patch.line for patch in proposed({2: 0.0, 4: 0.5})} == {4}
    assert proposed({}) == []


def test_mutations_take_turns_of_a_few_edits_on_the_most_suspicious_lines() -> None:
    made = proposed({2: 0.5, 3: 0.7, 4: 0.6})

    turns = [(name, len(list(own))) for name, own in groupby(made, mutation_of)]
    assert [name for name, _ in turns[:2]] == ["change comparison", "negate condition"]
    assert turns[0][1] == TURN
    assert [patch.line for patch in made[:TURN]] == [4, 4, 2, 2]
    assert mutation_of(made[-1]) == "convert"  # only it has edits left


def mutation_of(patch: InspectionPatch) -> str:
    return patch.words.partition(",")[0]


def test_no_text_is_proposed_twice_and_none_is_the_original() -> None:
    texts = [patch.patched for patch in proposed({2: 1.0, 3: 1.0, 4: 1.0})]

    assert len(set(texts)) == len(texts)
    assert TEXT not in texts


def test_mutant_changes_the_body_of_its_function_alone() -> None:
    patches = list(proposed({2: 1.0, 3: 1.0, 4: 1.0}))

    assert patches
    for patch in patches:
        after = SourceMap(patch.patched, "m.py").units
        assert patch.patched.startswith("def clamp(x, low, high):\n")
        assert patch.patched.endswith("class Box:\n    size = 1 < 2\n")
        assert [u.location.qualname for u in after] == ["<module>", "clamp", "Box"]
        assert after[1].first_line == CLAMP.first_line


@pytest.mark.parametrize("unit", [MODULE, BOX], ids=["module", "class"])
def test_only_functions_have_mutants(unit: object) -> None:
    assert list(mutants(SOURCE, unit, {7: 1.0})) == []  # type: ignore[arg-type]


# -- trying them

SLEEP_S = 7.0
TARGET = Location(file="m.py", start_line=1, end_line=9, qualname="f")
CALLER = Location(file="n.py", start_line=1, end_line=2, qualname="load")


def mutant(n: int, line: int = 1) -> InspectionPatch:
    return InspectionPatch(
        target=TARGET, kind="mutants", original="0\n", patched=f"{n}\n", line=line, words=f"m{n}"
    )


Going: TypeAlias = (
    "dict[str, dict[str, TestRun]]"  # per mutant, the tests that go otherwise than usual
)


def case() -> Case:
    spectrum = Spectrum(
        tests=("f0", "f1", "p0", "p1"),
        failing=0b0011,
        passing=0b1100,
        lines={TARGET: {1: 0b0111, 2: 0b1111}},
    )
    case = case_of(spectrum, {TARGET: 1.0})
    case.errors = {"f0": "E", "f1": "E"}
    return case


def inspect(
    runner: FakeRunner,
    offered: Iterable[InspectionPatch],
    of: Case | None = None,
    *,
    ends: float = 60.0,
    usual_s: float = 0.0,
) -> Sequence[Finding]:
    """What comes of trying the mutants ``offered``."""

    def offer(target: Location, scores: Mapping[int, float]) -> Iterator[InspectionPatch]:
        assert (target, set(scores)) == (TARGET, {1, 2})
        yield from offered

    of = of or case()
    budget = Budget(as_port(runner), lambda: 0.0, ends, of)
    budget.usual_s = usual_s
    return Mutants(offer).inspect(of, TARGET, budget)


def inspected(
    going: Going, *mutants: InspectionPatch, n_swapped: int = 1
) -> tuple[Finding, FakeRunner]:
    def answer(patch: InspectionPatch | None, node_id: str) -> TestRun:
        usual = replace(FAILED, error="E") if node_id.startswith("f") else PASSED
        return going.get(patch.words if patch is not None else "", {}).get(node_id, usual)

    runner = FakeRunner(answer=answer, n_swapped=n_swapped)
    (finding,) = inspect(runner, mutants)
    return finding, runner


FIXED = {"f0": PASSED, "f1": PASSED}
OTHERWISE: Going = {"m1": {"f0": replace(FAILED, error="F")}}
ALL = tuple(mutant(n) for n in range(1, 6))


def test_mutant_that_repairs_all_ends_the_search() -> None:
    going: Going = {"m2": FIXED, "m3": FIXED}

    finding, _ = inspected(going, *ALL)

    assert finding.evidence.outcome is InspectionOutcome.EDIT_REPAIRS
    assert "(m2)" in finding.evidence.why
    assert "+2" in finding.diff
    assert [trial.words for trial in finding.trials] == ["m1", "m2"]


def test_mutant_that_drops_the_check_the_tests_fail_at_is_not_tried() -> None:
    text = "def f(x):\n    if x < 2:\n        raise ValueError(x)\n"
    offered = [
        replace(mutant(n, line=2), original=text, patched=text.replace("x < 2", new))
        for n, new in enumerate(("False", "x < 1"), 1)
    ]
    refused = case()
    refused.guard = Guard(function=TARGET, condition="x < 2", owner=CALLER, line=3, value="`x`")

    (finding,) = inspect(FakeRunner(answer=lambda *_: PASSED), offered, refused)

    assert [trial.words for trial in finding.trials] == ["m2"]


EMPTIED = replace(mutant(7), original="if x:\n    y()\n", patched="if True:\n    y()\n")


def test_mutant_that_empties_code_gives_way_to_one_that_does_not() -> None:
    going: Going = {"m7": FIXED, "m2": FIXED}

    finding, _ = inspected(going, EMPTIED, *ALL)
    emptied, _ = inspected(going, EMPTIED)

    assert ("(m2)" in finding.evidence.why, finding.doubt) == (True, "")
    assert [trial.words for trial in finding.trials] == ["m7", "m1", "m2"]
    assert emptied.evidence.outcome is InspectionOutcome.EDIT_REPAIRS
    assert emptied.doubt == "a condition is always true"


def test_mutant_under_which_no_test_gets_to_a_line_is_doubted() -> None:
    more = "    x += 1\n" * 5
    text = f"def f(x):\n    if x is None:\n        return x\n{more}    return x\n"
    turned = replace(mutant(1, line=2), original=text, patched=text.replace("is", "is not"))
    passed = {"p0": [Sample(location=TARGET, point=(n, n), then=0, values={}) for n in (2, 4)]}
    runner = FakeRunner(answer=lambda *_: PASSED, sampled=passed | {"p1": []})
    runner.under_patch = lambda _: passed["p0"][:1]

    (finding,) = inspect(runner, [turned])

    assert finding.evidence.outcome is InspectionOutcome.EDIT_REPAIRS
    assert finding.doubt == "no test gets to line 4 any more"


def test_first_failing_test_is_tried_then_the_others_then_passing_ones_of_the_line() -> None:
    going: Going = {"m2": {"f0": PASSED}, "m3": FIXED}

    finding, runner = inspected(going, *ALL)

    assert [names for _, names in runner.asked] == [
        ("f0",),  # m1
        *[("f0",), ("f1",)],  # m2
        *[("f0",), ("f1",), ("p0",)],  # m3: p1 does not execute the line
    ]
    effects = [trial.effect for trial in finding.trials]
    assert effects == [Effect.SAME_ERROR, Effect.REPAIRS_SOME, Effect.REPAIRS]
    assert [trial.n_passed for trial in finding.trials] == [0, 1, 3]


def test_mutant_that_breaks_what_passed_does_not_repair() -> None:
    going: Going = {"m2": {**FIXED, "p0": FAILED}}

    finding, _ = inspected(going, *ALL)

    assert finding.evidence.outcome is InspectionOutcome.EDIT_BREAKS_OTHERS
    assert finding.tests.keys() == {"f0", "f1", "p0"}
    assert len(finding.trials) == len(ALL)


@pytest.mark.parametrize("verdict", [Verdict.NOT_RUN, Verdict.TIMEOUT])
def test_passing_test_that_did_not_end_is_not_broken(verdict: Verdict) -> None:
    going: Going = {"m2": {**FIXED, "p0": replace(PASSED, verdict=verdict)}}

    finding, _ = inspected(going, mutant(1, line=2), mutant(2, line=2), mutant(3, line=2))

    assert finding.evidence.outcome is InspectionOutcome.EDIT_REPAIRS
    assert finding.tests["p1"].verdict is Verdict.PASS


def test_tests_behind_one_that_does_not_end_are_run_as_well() -> None:
    def answer(patch: InspectionPatch | None, node_id: str) -> TestRun:
        del patch
        if node_id == "p1" and len(runner.asked[-1][1]) > 1:
            return replace(PASSED, verdict=Verdict.NOT_RUN)
        return replace(PASSED, verdict=Verdict.TIMEOUT) if node_id == "p0" else PASSED

    runner = FakeRunner(answer=answer)

    (finding,) = inspect(runner, [mutant(1, line=2)])

    assert [names for _, names in runner.asked] == [("f0",), ("f1",), ("p0", "p1"), ("p1",)]
    assert finding.evidence.outcome is InspectionOutcome.EDIT_REPAIRS


def test_slow_passing_tests_get_the_time_that_they_take_as_they_are() -> None:
    def answer(patch: InspectionPatch | None, node_id: str) -> TestRun:
        is_cut_off = patch is not None and runner.limits[-1] < SLEEP_S
        slow = node_id.startswith("p") and is_cut_off
        return replace(PASSED, verdict=Verdict.TIMEOUT) if slow else PASSED

    runner = FakeRunner(answer=answer, seconds=SLEEP_S)

    (finding,) = inspect(runner, [mutant(1)])

    assert finding.evidence.outcome is InspectionOutcome.EDIT_REPAIRS


def test_mutant_under_which_no_passing_test_ends_says_nothing() -> None:
    endless = replace(PASSED, verdict=Verdict.TIMEOUT)
    finding, _ = inspected({"m1": {**FIXED, "p0": endless}}, *ALL)

    assert [trial.effect for trial in finding.trials] == [Effect.INCONCLUSIVE]
    assert finding.evidence.outcome is InspectionOutcome.INCONCLUSIVE


def test_mutants_that_only_change_the_error_turn_nothing_green_and_are_told_apart() -> None:
    finding, _ = inspected(OTHERWISE, *ALL)

    assert finding.evidence.outcome is InspectionOutcome.NO_EDIT_REPAIRS
    assert finding.evidence.why == "none of 5 small edits makes the failing tests pass"
    effects = [trial.effect for trial in finding.trials[:2]]
    assert effects == [Effect.OTHER_ERROR, Effect.SAME_ERROR]


@pytest.mark.parametrize("verdict", [Verdict.TIMEOUT, Verdict.CRASH])
def test_line_where_a_mutant_does_not_end_has_no_second_one(verdict: Verdict) -> None:
    going: Going = {"m1": {"f0": replace(FAILED, verdict=verdict)}}

    finding, _ = inspected(going, mutant(1), mutant(2), mutant(3, line=2), mutant(4))

    assert [trial.words for trial in finding.trials] == ["m1", "m3"]


def test_mutant_that_does_not_compile_spares_its_line() -> None:
    going: Going = {"m1": {"f0": replace(FAILED, verdict=Verdict.NOT_RUN)}}

    finding, _ = inspected(going, *ALL)

    assert len(finding.trials) == len(ALL)
    assert finding.evidence.outcome is InspectionOutcome.NO_EDIT_REPAIRS


@pytest.mark.parametrize(
    ("n", "outcome"),
    [
        (MIN_CONCLUSIVE - 1, InspectionOutcome.INCONCLUSIVE),
        (MIN_CONCLUSIVE, InspectionOutcome.NO_EDIT_REPAIRS),
    ],
)
def test_too_few_mutants_say_nothing(n: int, outcome: Outcome) -> None:
    finding, _ = inspected({}, *ALL[:n])

    assert finding.evidence.outcome is outcome


def test_mutant_that_was_never_in_place_says_nothing() -> None:
    finding, _ = inspected({"m1": FIXED}, *ALL, n_swapped=0)

    assert finding.evidence.outcome is InspectionOutcome.INCONCLUSIVE
    assert {trial.effect for trial in finding.trials} == {Effect.INCONCLUSIVE}


def test_number_of_mutants_is_bounded_by_those_that_ran() -> None:
    endless = {"f0": replace(FAILED, verdict=Verdict.TIMEOUT)}
    many = [mutant(n) for n in range(100)] + [mutant(n, line=2) for n in range(100, 200)]

    finding, _ = inspected({"m0": endless}, *many)

    assert len(finding.trials) == MAX_MUTANTS
    assert [trial.words for trial in finding.trials[:2]] == ["m0", "m100"]


@pytest.mark.parametrize(
    ("n_likelier", "n_tried"), [(N_LIKELIEST - 1, MAX_MUTANTS), (N_LIKELIEST, MAX_OF_OTHERS)]
)
def test_likeliest_targets_get_most_mutants(n_likelier: int, n_tried: int) -> None:
    likelier = {replace(CALLER, file=f"n{n}.py"): 2.0 for n in range(n_likelier)}
    one = case_of(case().spectrum, {**likelier, TARGET: 1.0})

    (finding,) = inspect(FakeRunner(), map(mutant, range(100)), one)

    assert len(finding.trials) == n_tried


def test_nothing_is_found_without_mutants_or_time() -> None:
    runner = FakeRunner()

    assert inspect(runner, ()) == inspect(runner, ALL, ends=0.0) == ()
    assert runner.asked == []


def test_mutant_gets_a_little_more_time_than_the_tests_take() -> None:
    runner = FakeRunner()

    inspect(runner, ALL, ends=600.0, usual_s=0.2)

    assert max(runner.limits) == pytest.approx(2.5)
