from __future__ import annotations

from pytest_bayesloc.rerun.child import Probe


def test_first_heartbeat_of_a_test_is_told_at_once_and_no_other() -> None:
    told: list[int] = []
    probe = Probe(lambda: told.append(1))

    probe.heartbeat("m.f")
    probe.heartbeat("m.f")
    assert (probe.covered, len(told)) == (True, 1)

    probe.reset()
    assert not probe.covered
    probe.heartbeat("m.f")
    assert len(told) == 2


def test_violations_are_noted_once_in_order_and_speak_for_themselves() -> None:
    probe = Probe(lambda: None)

    assert [probe.violated(n, f"check {n}") for n in (3, 1, 3)] == ["check 3", "check 1", "check 3"]
    assert probe.violations == [3, 1]

    probe.reset()
    assert probe.violations == []
