from __future__ import annotations

from dataclasses import replace
from operator import truediv
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.domain.evidence import (
    ChangeOutcome,
    Evidence,
    InspectionOutcome,
    Outcome,
    StaticOutcome,
)
from pytest_bayesloc.domain.failure import ErrorKind, Failure, Frame, Origin, Situation
from pytest_bayesloc.domain.inspection import Finding, TestRun, Verdict
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.result import Fault, Ranked
from pytest_bayesloc.domain.source import SourceMap
from pytest_bayesloc.domain.spectrum import Spectrum
from pytest_bayesloc.history.changes import Changes, FileChange
from pytest_bayesloc.ranking.belief import ModelChoice, blend_prior
from pytest_bayesloc.ranking.case import NOT_INSPECTED, Case
from pytest_bayesloc.ranking.evidence.judgements import passing_edit
from pytest_bayesloc.ranking.faults import combine, fault_of
from pytest_bayesloc.ranking.groups import divided, open_groups
from pytest_bayesloc.ranking.likelihoods import likelihood, of_ratio, repair_likelihood, weigh
from tests.fakes.case import case_of, frame_in
from tests.fakes.sources import TextSources, failure_at

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Since = Callable[[Sequence[Sequence[str]]], Sequence[Changes]]

SOURCES = TextSources(
    {
        "baskets.py": """\
            class Basket:
                price: int = 0

            def pack(basket):
                return basket

            def send(basket):
                return basket
            """,
        "shop.py": """\
            def pay(amount):
                if amount < 0:
                    raise ValueError("negative")
                return fee(amount)

            def fee(amount):
                return amount / 0
            """,
        "test_shop.py": """\
            def test_a():
                pay(-1)

            def test_b():
                pay(-2)

            def test_c():
                fee(3)
            """,
    }
)
FILES = frozenset({"baskets.py", "shop.py", "test_shop.py"})
MODEL = ModelChoice(formula="ochiai", belief="single-fault")
MODULE, PAY, FEE = (SOURCES.place("shop.py", name) for name in ("<module>", "pay", "fee"))
TESTS = ("test_a", "test_b", "test_c")
TEST_A, TEST_B, TEST_C = (SOURCES.place("test_shop.py", name) for name in TESTS)
CALLED_AT = {TEST_A: 2, TEST_B: 5, TEST_C: 8}


def failure(test: Location, *inner: tuple[Location, int], exc_type: str = "ValueError") -> Failure:
    frames = (frame_in(test, CALLED_AT[test]), *(frame_in(*place) for place in inner))
    failed = failure_at(*frames, kind=exc_type, message="", tests=(test,))
    return replace(failed, node_id=test.qualname)


def refused(test: Location) -> Failure:
    return failure(test, (PAY, 3))


CRASHED = failure(TEST_C, (FEE, 7), exc_type="ZeroDivisionError")


def opened(
    *failures: Failure,
    model: str = "single-fault",
    changes: Since | None = None,
    formula: str = "ochiai",
    newest: Callable[[], Changes] = Changes,
) -> list[Case]:
    tests = (*(f.node_id for f in failures), "passes")
    failing = (1 << len(failures)) - 1
    spectrum = Spectrum(
        tests=tests,
        failing=failing,
        passing=1 << len(failures),
        lines={PAY: {2: failing | 1 << len(failures)}, FEE: {7: failing}, MODULE: {1: failing}},
    )
    choice = ModelChoice(formula=formula, belief=model)
    return open_groups(spectrum, failures, SOURCES, choice, changes, newest)


def evidence_of(case: Case) -> dict[str, Outcome]:
    told = (item for item in case.evidence if item.source != "names")
    return {item.location.qualname: item.outcome for item in told}


def test_data_that_a_guard_refused_makes_its_test_the_suspect() -> None:
    (case,) = opened(refused(TEST_A))

    assert StaticOutcome.GUARD_NAMES_OWNER in {
        e.outcome for e in case.evidence if e.location == TEST_A
    }
    assert evidence_of(case)["pay"] is StaticOutcome.GUARD_REFUSED
    assert case.belief.top(1)[0][0] == TEST_A
    fault = fault_of(case)
    assert (fault.origin, fault.kind) == (Origin.DATA, ErrorKind.VALIDATION)
    assert (fault.stop_reason, fault.inspections) == (NOT_INSPECTED, ())


def test_origin_of_refused_data_is_the_code_where_that_stands_first() -> None:
    (case,) = opened(refused(TEST_A))
    case.learn([weigh(case.model, ChangeOutcome.REVERT_REPAIRS, PAY, source="counterfactual")])

    fault = fault_of(case)

    assert (fault.ranking[0].location, fault.origin) == (PAY, Origin.CODE)


def test_guard_that_refuses_several_owners_is_suspect_itself() -> None:
    (case,) = opened(refused(TEST_A), refused(TEST_B))

    assert case.guard is None
    assert evidence_of(case)["pay"] is StaticOutcome.RAISE_FRAME
    assert fault_of(case).kind is ErrorKind.RUNTIME


def test_refused_data_is_a_fault_of_its_own() -> None:
    cases = opened(refused(TEST_A), CRASHED)

    assert [[f.node_id for f in case.failures] for case in cases] == [["test_a"], ["test_c"]]
    assert [case.spectrum.failing for case in cases] == [0b01, 0b10]


def test_all_groups_are_asked_at_once_what_changed_for_each() -> None:
    asked: list[Sequence[Sequence[str]]] = []

    def since(groups: Sequence[Sequence[str]]) -> list[Changes]:
        asked.append(groups)
        return [Changes(known=frozenset(group)) for group in groups]

    cases = opened(refused(TEST_A), CRASHED, changes=since)

    assert asked == [[["test_a"], ["test_c"]]]
    assert [case.changes.known for case in cases] == [{"test_a"}, {"test_c"}]


def edited_test() -> FileChange:
    now = SOURCES.map("test_shop.py")
    assert now is not None
    before = SourceMap(now.text.replace("fee(3)", "fee(2)"), now.file, is_test=True)
    return FileChange(before=before, now=now)


@pytest.mark.parametrize(
    ("changes", "situation"),
    [
        (Changes(), Situation.NEW_TEST),
        (Changes(known=frozenset({"shop.py"})), Situation.NEW_TEST),
        (Changes(known=frozenset({"test_shop.py"})), Situation.REGRESSION),
        (Changes(known=FILES, files={"test_shop.py": edited_test()}), Situation.NEW_TEST),
    ],
    ids=["nothing is known", "the test is new", "the test is older", "the test changed"],
)
def test_tests_that_are_older_than_the_changes_have_a_prior_of_their_own(
    changes: Changes, situation: Situation
) -> None:
    (case,) = opened(CRASHED, changes=lambda _: [changes], formula="blend")

    assert case.situation is situation
    assert case.prior == pytest.approx(blend_prior(case.spectrum, case.roles, situation))


def test_newest_changes_tell_the_age_of_tests_of_which_nothing_is_remembered() -> None:
    def newest() -> Changes:
        return Changes(known=FILES)

    (unknown,) = opened(CRASHED, newest=newest)
    remembered = Changes(known=frozenset({"shop.py"}))
    (new,) = opened(CRASHED, changes=lambda _: [remembered], newest=newest)

    assert unknown.situation is Situation.REGRESSION
    assert new.situation is Situation.NEW_TEST


def test_code_that_raised_is_the_suspect_of_a_crash() -> None:
    (case,) = opened(CRASHED)
    fault = fault_of(case)

    assert fault.ranking[0].location == FEE
    assert StaticOutcome.RAISE_FRAME in {e.outcome for e in fault.ranking[0].evidence}
    assert (fault.origin, fault.kind) == (Origin.CODE, ErrorKind.RUNTIME)


def test_evidence_of_probability_one_half_is_left_out() -> None:
    (case,) = opened(CRASHED, model="independent")

    assert case.evidence == ()  # the reference model knows none from tracebacks


def test_line_of_a_traceback_counts_as_executed_even_if_nothing_recorded_it() -> None:
    spectrum = Spectrum(tests=("test_c",), failing=1, passing=0, lines={})

    (case,) = open_groups(spectrum, [CRASHED], SOURCES, MODEL)

    assert case.spectrum.lines == {FEE: {7: 1}}
    assert FEE in case.prior


def test_body_of_a_class_without_methods_does_not_join_two_faults() -> None:
    basket, pack, send = (SOURCES.place("baskets.py", name) for name in ("Basket", "pack", "send"))
    lines = {basket: {2: 0b011}, pack: {5: 0b101}, send: {8: 0b110}}
    spectrum = Spectrum(tests=("test_a", "test_b", "ok"), failing=0b011, passing=0b100, lines=lines)

    cases = open_groups(spectrum, [failure(TEST_A), failure(TEST_B)], SOURCES, MODEL)

    assert [[f.node_id for f in case.failures] for case in cases] == [["test_a"], ["test_b"]]


def test_code_that_only_a_traceback_in_a_message_names_is_a_suspect_that_no_patch_reaches() -> None:
    shown = Frame(file="shop.py", line=7, name="fee", first_line=7, in_app=True)
    failed = replace(failure(TEST_A, exc_type="AssertionError"), cause_frames=((shown,),))
    spectrum = Spectrum(tests=("test_a",), failing=1, passing=0, lines={PAY: {2: 1}})

    (case,) = open_groups(spectrum, [failed], SOURCES, MODEL)

    assert fault_of(case).ranking[0].location == FEE
    assert case.spectrum.remote == {FEE}


def test_file_with_a_syntax_error_is_the_suspect_of_those_who_import_it() -> None:
    failures = [
        Failure(
            node_id=f"test_{n}.py",
            phase="collect",
            exc_type="SyntaxError",
            message="",
            syntax_error=("shop.py", 3),
        )
        for n in range(2)
    ]
    spectrum = Spectrum(tests=("test_0.py", "test_1.py"), failing=0b11, passing=0, lines={})

    (case,) = open_groups(spectrum, failures, SOURCES, MODEL)

    fault = fault_of(case)
    assert (fault.ranking[0].location, fault.origin) == (MODULE, Origin.COLLECTION)


def row(name: str, posterior: float, suspiciousness: float = 0.0) -> Ranked:
    where = Location(file="m.py", start_line=1, end_line=2, qualname=name)
    return Ranked(
        rank=1, tied=1, location=where, counts=None, suspiciousness=suspiciousness, prior=0.1,
        posterior=posterior,
    )  # fmt: skip


def fault_with(*rows: Ranked) -> Fault:
    return Fault(
        failures=(CRASHED,),
        origin=Origin.CODE,
        kind=ErrorKind.RUNTIME,
        ranking=rows,
        stop_reason="",
    )


@pytest.mark.parametrize("turn", [1, -1])
def test_rankings_of_all_faults_combine_to_one_with_each_location_at_its_best(turn: int) -> None:
    faults = [
        fault_with(row("a", 0.7), row("b", 0.2), row("c", 0.1)),
        fault_with(row("b", 0.7, 0.9), row("d", 0.2), row("a", 0.1)),
    ]

    rows = combine(faults[::turn])

    assert [(r.location.qualname, r.rank, r.tied) for r in rows] == [
        ("b", 1, 2),  # as likely as a, and more suspicious
        ("a", 1, 2),
        ("d", 3, 1),
        ("c", 4, 1),
    ]


def test_no_fault_combines_to_nothing() -> None:
    assert combine([]) == ()


REPAIRED = InspectionOutcome.EDIT_REPAIRS


def likely_and_not(model: str = "single-fault", *evidence: Evidence) -> Case:
    """A case in which the belief in ``fee`` is a tenth of that in ``pay``."""
    spectrum = Spectrum(tests=("test_c",), failing=1, passing=0, lines={PAY: {2: 1}, FEE: {7: 1}})
    return Case(
        failures=(CRASHED,),
        spectrum=spectrum,
        choice=replace(MODEL, belief=model),
        prior={PAY: 0.8, FEE: 0.08},
        evidence=evidence,
    )


def test_a_repair_tells_more_where_the_belief_was_low() -> None:
    case = likely_and_not()

    assert case.likelihood(REPAIRED, PAY) == likelihood("single-fault", REPAIRED)
    assert case.likelihood(REPAIRED, FEE) == repair_likelihood(case.shares[FEE])
    assert truediv(*case.likelihood(REPAIRED, FEE)) > 3 * truediv(*case.likelihood(REPAIRED, PAY))


def test_of_two_repairs_of_a_location_the_second_has_its_usual_weight() -> None:
    case, outcome = likely_and_not(), InspectionOutcome.EDIT_BREAKS_OTHERS
    found = weigh("single-fault", REPAIRED, FEE, source="mutants")
    at_once = weigh("single-fault", outcome, FEE, source="others")
    far = case.likelihood(REPAIRED, FEE)

    case.take(Finding(evidence=found))
    case.take(Finding(evidence=at_once))

    first, second = (inspection.evidence for inspection in case.inspections)
    assert (first.p_if_faulty, first.p_if_clean) == far
    assert second == at_once
    assert case.likelihood(outcome, FEE) == likelihood("single-fault", outcome)


def test_a_repair_that_has_a_weight_of_its_own_keeps_it() -> None:
    case, pair = likely_and_not(), passing_edit(11)
    edit = weigh("single-fault", REPAIRED, FEE, source="proposed fixes", learned=pair)

    case.take(Finding(evidence=edit))

    assert case.inspections[0].evidence == edit
    assert case.likelihood(REPAIRED, FEE) == likelihood("single-fault", REPAIRED)


def repaired(where: Location, tests: Sequence[str], *, doubt: str = "") -> Finding:
    """Return what was found where an edit makes ``tests`` pass."""
    passed = dict.fromkeys(tests, TestRun(verdict=Verdict.PASS))
    evidence = weigh("single-fault", REPAIRED, where, source="mutants")
    return Finding(evidence=evidence, tests=passed, doubt=doubt)


def failing_beside_others(fee: int) -> Case:
    """A case of tests that all execute ``pay``, and those with a bit in ``fee`` that, too."""
    spectrum = Spectrum(
        tests=("test_a", "test_b", "test_c", "test_d", "test_e"),
        failing=0b01111,
        passing=0b10000,
        lines={PAY: {1: 0b01111}, FEE: {7: fee}},
    )
    return case_of(spectrum, {PAY: 0.8, FEE: 0.2})


def test_edit_explains_the_failing_tests_that_execute_it_if_others_do_not() -> None:
    case = failing_beside_others(0b01100)

    case.take(repaired(FEE, ["test_c", "test_d"]))

    assert case.explained() == (frozenset({"test_c", "test_d"}),)


@pytest.mark.parametrize(
    ("fee", "passed", "doubt"),
    [
        (0b01111, ["test_a", "test_b", "test_c", "test_d"], ""),
        (0b01000, ["test_d"], ""),
        (0b01100, ["test_c"], ""),
        (0b01100, ["test_c", "test_d"], "it drops the check"),
    ],
    ids=["all execute it", "one executes it", "one was not run", "doubtful"],
)
def test_edit_explains_nothing_where_others_may_fail_for_the_same_reason(
    fee: int, passed: list[str], doubt: str
) -> None:
    case = failing_beside_others(fee)

    case.take(repaired(FEE, passed, doubt=doubt))

    assert case.explained() == ()


def test_part_of_a_case_keeps_what_its_own_tests_showed() -> None:
    case = failing_beside_others(0b01100)
    case.take(repaired(PAY, ["test_a"]))
    case.take(repaired(FEE, ["test_c", "test_d"]))

    parts = divided(case, SOURCES)

    assert [part.failing for part in parts] == [("test_a", "test_b"), ("test_c", "test_d")]
    made = [[finding.target for finding in part.inspections] for part in parts]
    assert made == [[PAY], [FEE]]
    assert parts[1].belief.top(1)[0][0] == FEE


def test_what_changed_does_not_make_a_repair_elsewhere_tell_more() -> None:
    told = weigh("single-fault", ChangeOutcome.CHANGED_SINCE_GREEN, PAY, source="changed")

    case = likely_and_not("single-fault", told)

    assert case.belief.p(FEE) < 0.01
    assert case.shares[FEE] == pytest.approx(0.1)


def test_words_count_in_how_low_the_belief_was() -> None:
    outcome, learned = StaticOutcome.TEXT_SHARED, of_ratio(5.0)
    told = weigh("single-fault", outcome, FEE, source="names", learned=learned)

    assert likely_and_not("single-fault", told).shares[FEE] == pytest.approx(0.5)


def test_reference_model_keeps_to_its_table() -> None:
    case = likely_and_not("independent")

    assert case.likelihood(REPAIRED, FEE) == likelihood("independent", REPAIRED)
