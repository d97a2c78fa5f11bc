"""Failures whose cause is no mistake of a function, in projects of the benchmark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.flaky.running import FlakyProject
from benchmarks.flaky.running import projects as flaky_projects

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.integration.conftest import Projects, Run

pytestmark = [pytest.mark.traced, pytest.mark.thorough]

PROJECTS = {project.name: project for project in flaky_projects()}


def run_of(
    projects: Projects,
    flaky: FlakyProject,
    *options: str,
    variables: Mapping[str, str] | None = None,
) -> Run:
    return projects.make(dict(flaky.files)).localize("--bayesloc", *options, env=variables)


def cause_of(run: Run) -> dict[str, Any]:
    (fault,) = run.faults
    cause: dict[str, Any] = fault["cause"]
    return cause


@pytest.mark.parametrize(
    ("name", "options", "variables"),
    [
        ("shrinking-catalogue", (), {}),
        ("dollars-at-the-till", (), {}),
        ("exported-elsewhere", (), {}),
        ("a-table-made-earlier", ("tests/test_ledger.py::test_balance",), {}),
        ("coupon-of-last-spring", (), {}),
        ("opening-hours", (), {"TZ": "Pacific/Auckland"}),
        ("tags-on-a-card", (), {}),
        ("money-of-the-house", (), {"TILL_CURRENCY": "SEK"}),
        ("a-picture-of-a-graph", (), {}),
        ("weather-at-the-door", (), {}),
        ("points-of-a-player", (), {}),
    ],
)
def test_cause_and_place_are_those_of_the_project(
    projects: Projects, name: str, options: tuple[str, ...], variables: dict[str, str]
) -> None:
    flaky = PROJECTS[name]

    cause = cause_of(run_of(projects, flaky, *options, variables=variables))

    where = cause["location"]
    assert cause["kind"] == flaky.truth["kind"]
    assert f"{where['file']}::{where['qualname']}" in flaky.places
    assert set(cause["after"]) >= set(flaky.truth.get("after", "").split())


def test_polluted_test_is_told_with_the_state_and_the_polluter_first(projects: Projects) -> None:
    run = run_of(projects, PROJECTS["dollars-at-the-till"])

    text = " ".join(" ".join(run.section).split())
    assert (
        "Likely cause: test_footer fails after test_total_in_dollars (tests/test_checkout.py:14), "
        "which leaves ['currency'] of shop.config.SETTINGS changed from 'EUR' to 'USD'"
    ) in text
    assert text.index("Likely cause") < text.index("If not that, most likely")
    assert run.inspections == []
