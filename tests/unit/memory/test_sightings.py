from __future__ import annotations

from datetime import timedelta

from pytest_bayesloc.memory.statistics import arm_of
from tests.integration.memory.conftest import START


def test_arm_is_the_same_all_day_and_even_over_the_days() -> None:
    days = [START + timedelta(days=n) for n in range(1000)]

    assert all(arm_of("w", day) == arm_of("w", day + timedelta(hours=9)) for day in days)
    assert 450 < sum(arm_of("w", day) == "on" for day in days) < 550
