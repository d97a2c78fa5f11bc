"""The fit: it recovers what made the data, and its sum is the one that the plugin computes."""

from __future__ import annotations

import math
import random
from math import exp, log

import pytest

from benchmarks.faults.replay import Setting, problems
from benchmarks.faults.storage import read_rows
from pytest_bayesloc.domain.evidence import StaticOutcome
from pytest_bayesloc.domain.failure import Situation
from pytest_bayesloc.ranking import fitted as numbers
from pytest_bayesloc.ranking.belief import ALONE, softmax
from pytest_bayesloc.ranking.likelihoods import likelihood

np = pytest.importorskip("numpy", reason="fitting needs benchmarks/requirements.txt")
pytest.importorskip("scipy", reason="fitting needs benchmarks/requirements.txt")

from benchmarks.faults import fitting  # noqa: E402 - needs scipy
from benchmarks.faults.fitting import Choice, HeldOut  # noqa: E402

pytestmark = pytest.mark.one_python

N_LOCATIONS = 6


def drawn(weights: dict[str, float], n: int) -> list[Choice]:
    """``n`` choices whose guilty location is drawn from the softmax of ``weights``."""
    dice = random.Random(1)
    found = []
    for _ in range(n):
        terms = tuple({name: dice.gauss(0, 1) for name in weights} for _ in range(N_LOCATIONS))
        odds = [exp(sum(weights[name] * own[name] for name in weights)) for own in terms]
        guilty = dice.choices(range(N_LOCATIONS), odds)[0]
        found.append(choice(terms=terms, guilty=guilty))
    return found


def choice(
    *, terms: tuple[dict[str, float], ...] = (), guilty: int = 0, n_tests: int = 0
) -> Choice:
    n = len(terms) or N_LOCATIONS
    return Choice(
        package="p",
        terms=terms,
        guilty=tuple(i == guilty for i in range(n)),
        tests=tuple(i >= n - n_tests for i in range(n)),
        of_test=guilty >= n - n_tests,
        is_complete=True,
        weight=1.0,
    )


def told(logits: list[float], guilty: int = 0, n_tests: int = 0) -> HeldOut:
    return HeldOut(choice=choice(guilty=guilty, n_tests=n_tests), logits=np.array(logits))


def test_weights_that_made_the_data_are_found_again() -> None:
    found = fitting.fitted(drawn({"a": 2.0, "b": -1.0}, 800), ["a", "b"])

    assert found == pytest.approx({"a": 2.0, "b": -1.0}, abs=0.2)


def test_what_is_held_leaves_its_share_unexplained_to_nothing_else() -> None:
    data = drawn({"a": 2.0, "b": -1.0}, 800)

    beside = fitting.fitted(data, ["b"], held={"a": 2.0})
    nothing_left = fitting.fitted(data, ["a", "b"], held={"a": 2.0, "b": -1.0})

    assert beside == pytest.approx({"b": -1.0}, abs=0.2)
    assert nothing_left == pytest.approx({"a": 0.0, "b": 0.0}, abs=0.2)


def test_a_stronger_penalty_makes_smaller_weights() -> None:
    data = drawn({"a": 2.0}, 50)

    weak, strong = (fitting.fitted(data, ["a"], penalty=penalty)["a"] for penalty in (0.1, 100.0))

    assert 0 < strong < weak / 2


def test_weight_stays_within_its_bounds() -> None:
    data = drawn({"a": 2.0, "b": -1.0}, 800)

    found = fitting.fitted(data, ["a", "b"], bounds={"b": (0.0, None)})

    assert found["b"] == 0.0
    assert found["a"] > 1.0


def test_tests_are_lowered_until_the_allowed_share_is_left() -> None:
    # The last of six locations is a test, ahead of the code by 0.0, 0.1, ... 2.4.
    cases = [told([0.0] * 5 + [margin / 10], n_tests=1) for margin in range(25)]

    lower = fitting.lowered(cases, 0.04)

    blamed = [one for one in cases if one.logits[-1] - lower > 0]
    assert len(blamed) == 1


def test_faulty_tests_do_not_decide_how_far_tests_are_lowered() -> None:
    code = [told([1.0] * 5 + [0.0], n_tests=1)] * 10
    tests = [told([0.0] * 5 + [9.0], guilty=5, n_tests=1)] * 10

    assert fitting.lowered([*code, *tests], 0.04) == 0.0


def test_logits_that_claim_too_much_are_divided_by_their_excess() -> None:
    weights = {"a": 1.5}
    cases = [
        HeldOut(choice=one, logits=3 * np.array([weights["a"] * own["a"] for own in one.terms]))
        for one in drawn(weights, 2000)
    ]

    assert fitting.temperature(cases, 0.0) == pytest.approx(3.0, rel=0.15)


def test_pairs_sum_to_one_and_the_usual_outcome_takes_the_rest() -> None:
    terms: tuple[dict[str, float], ...] = ({"USUAL": 1.0}, {"USUAL": 1.0}, {"RARE": 1.0}, {})

    found = fitting.pairs({"RARE": 0.5}, [choice(terms=terms, guilty=3)], ("USUAL", "RARE"))

    faulty, clean = zip(*found.values(), strict=True)
    assert sum(faulty) == pytest.approx(1.0)
    assert clean == pytest.approx((3 / 5, 2 / 5))
    p1, p0 = found["RARE"]
    assert log(p1 / p0) == pytest.approx(0.5)


def test_the_sum_that_is_fitted_is_the_belief_that_a_run_starts_from() -> None:
    weights = {fitting.FEW: -ALONE}
    for situation in Situation:
        named = {**numbers.PRIOR[situation], **numbers.TEXT[situation]}
        named |= {role.name: start for role, start in numbers.TESTS[situation].items()}
        weights |= {fitting.in_situation(name, situation): own for name, own in named.items()}
    at_hand = {
        StaticOutcome.GUARD_NAMES_OWNER,
        StaticOutcome.GUARD_REFUSED,
        StaticOutcome.ORIGIN_IN_TEST,
    }
    for outcome in at_hand | set(numbers.LOG_RATIOS):
        faulty, clean = likelihood(fitting.MODEL, outcome)
        weights[outcome.name] = log(faulty / clean)
    n_compared = 0
    for row in (*read_rows("h11"), *read_rows("boltons")):
        for problem in problems(row):
            belief = problem.case(Setting()).belief.probabilities
            sums = {
                where: math.fsum(weights.get(name, 0.0) * value for name, value in own.items())
                for where, own in zip(problem.locations, fitting.terms_of(problem), strict=True)
                if where in belief
            }
            assert softmax(sums) == pytest.approx(belief)
            n_compared += 1

    assert n_compared > 10


def test_only_repairs_know_how_far_behind_the_likeliest_they_lie() -> None:
    terms: tuple[dict[str, float], ...] = (
        {"a": 2.0},
        {"a": 0.5, "EDIT_REPAIRS": 1.0},
        {"a": 0.5, "NO_EDIT_REPAIRS": 1.0},
    )

    found = fitting.with_distances(choice(terms=terms), {"a": 2.0})

    assert [own.get(fitting.DISTANCE) for own in found.terms] == [None, 3.0, None]
