from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_bayesloc.domain.inspection import TestRun, Verdict
from pytest_bayesloc.inspection.reflection import signals_of

pytestmark = pytest.mark.one_python

RUNS = st.dictionaries(
    st.sampled_from(["t0", "t1", "t2"]),
    st.builds(
        TestRun,
        verdict=st.sampled_from(Verdict),
        covered=st.booleans(),
        violations=st.lists(st.integers(0, 3), max_size=3).map(tuple),
    ),
)


@given(failing=RUNS, passing=RUNS)
def test_only_ended_re_runs_of_failing_tests_give_signals(
    failing: dict[str, TestRun], passing: dict[str, TestRun]
) -> None:
    ended = bool(failing) and all(
        run.verdict in (Verdict.PASS, Verdict.FAIL) for run in failing.values()
    )

    assert (signals_of(failing, passing) is not None) == ended
