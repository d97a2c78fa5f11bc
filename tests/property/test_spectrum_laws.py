"""Laws of what is computed from a whole spectrum: scores, priors, groups, rankings."""

from __future__ import annotations

from functools import reduce
from operator import or_

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.spectrum import Spectrum
from pytest_bayesloc.ranking.belief import PRIORS, is_candidate, prior
from pytest_bayesloc.ranking.faults import rank
from pytest_bayesloc.ranking.formulas import (
    FORMULAS,
    function_scores,
    line_maximum,
    scorer,
    suspiciousness,
)
from pytest_bayesloc.ranking.groups import split_failures
from tests.fakes.case import case_of

pytestmark = pytest.mark.one_python

N_TESTS = 6
NAMES = ("a", "b", "C", "C.m", "<module>", "<lambda>", "f.<locals>.g", "test_a")
LOCATIONS = [
    Location(file="m.py", start_line=i + 1, end_line=20, qualname=name, is_test="test" in name)
    for i, name in enumerate(NAMES)
]
BITSETS = st.integers(0, 2**N_TESTS - 1)
TESTS = tuple(f"t{i}" for i in range(N_TESTS))


@st.composite
def spectra(draw: st.DrawFn) -> Spectrum:
    failing = draw(BITSETS)
    lines = st.dictionaries(st.integers(1, 20), BITSETS, max_size=3)
    return Spectrum(
        tests=TESTS,
        failing=failing,
        passing=draw(BITSETS) & ~failing,
        lines=draw(st.dictionaries(st.sampled_from(LOCATIONS), lines)),
    )


@pytest.mark.parametrize("name", FORMULAS)
@given(spectrum=spectra())
def test_scores_of_a_spectrum_are_those_of_its_counts(name: str, spectrum: Spectrum) -> None:
    functions = function_scores(spectrum, name)
    score_of = scorer(spectrum, name)

    assert functions.keys() == spectrum.lines.keys()
    for where, score in functions.items():
        assert score == suspiciousness(name, spectrum.counts(where))
        for executed in spectrum.lines[where].values():
            assert score_of(executed) == suspiciousness(name, spectrum.count(executed))


@pytest.mark.parametrize("name", FORMULAS)
@given(spectrum=spectra())
def test_line_maximum_is_the_maximum_of_the_line_scores(name: str, spectrum: Spectrum) -> None:
    highest = line_maximum(spectrum, name)

    score_of = scorer(spectrum, name)
    for where, rows in spectrum.lines.items():
        if rows:
            assert highest[where] == max(map(score_of, rows.values()))


@pytest.mark.parametrize("name", PRIORS)
@given(spectrum=spectra())
def test_prior_is_a_distribution_over_inspectable_code(name: str, spectrum: Spectrum) -> None:
    result = prior(spectrum, name)

    assert all(p > 0 and is_candidate(where) for where, p in result.items())
    assert bool(result) == any(map(is_candidate, spectrum.lines))
    if result:
        assert sum(result.values()) == pytest.approx(1.0)


@given(spectrum=spectra())
def test_blend_leaves_out_exactly_what_no_failing_test_executed(spectrum: Spectrum) -> None:
    code = {where for where in spectrum.lines if is_candidate(where)}
    executed = {where for where in code if spectrum.counts(where).ef}

    assert set(prior(spectrum, "blend")) == (executed or code)


KEYS = st.dictionaries(st.sampled_from(TESTS), st.sampled_from(["x", "y", None]))


@given(spectrum=spectra(), keys=KEYS)
def test_groups_partition_the_failing_tests(
    spectrum: Spectrum, keys: dict[str, str | None]
) -> None:
    found = split_failures(spectrum, keys)

    assert all(found)
    assert reduce(or_, found, 0) == spectrum.failing
    assert sum(group.bit_count() for group in found) == spectrum.failing.bit_count()


@given(spectrum=spectra(), keys=KEYS)
def test_tests_are_in_one_group_with_their_key_and_with_nothing_else(
    spectrum: Spectrum, keys: dict[str, str | None]
) -> None:
    failing = spectrum.node_ids(spectrum.failing)
    found = split_failures(spectrum, keys)

    assert bool(found) == bool(failing)
    for group in found:
        tests = spectrum.node_ids(group)
        (key,) = {keys.get(test) for test in tests}
        if key is not None:
            assert list(tests) == [test for test in failing if keys.get(test) == key]


@given(spectrum=spectra())
def test_order_of_locations_moves_nothing(spectrum: Spectrum) -> None:
    items = list(spectrum.lines.items())
    shuffled = Spectrum(
        tests=TESTS, failing=spectrum.failing, passing=spectrum.passing, lines=dict(reversed(items))
    )

    assert split_failures(shuffled, {}) == split_failures(spectrum, {})
    assert prior(shuffled, "blend") == pytest.approx(prior(spectrum, "blend"))


@given(
    spectrum=spectra(),
    posterior=st.dictionaries(st.sampled_from(LOCATIONS), st.sampled_from([0.0, 0.2, 0.5])),
)
def test_ranking_has_every_location_once_and_ranks_count_the_likelier_ones(
    spectrum: Spectrum, posterior: dict[Location, float]
) -> None:
    rows = rank(case_of(spectrum, {}), posterior)

    assert sorted(row.location for row in rows) == sorted(posterior)
    for row in rows:
        p = posterior[row.location]
        assert row.rank == 1 + sum(other > p for other in posterior.values())
        assert row.tied == sum(other == p for other in posterior.values())
        assert (row.counts is None) == (
            row.location.is_test or row.location not in spectrum.executed
        )
