"""What is learned from edits and runs: nothing that the evidence or the mend contradicts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from benchmarks.memory.stories.lessons import CART, GUARDED, HELPED
from tests.integration.test_memory_runs import edit, section

if TYPE_CHECKING:
    from pathlib import Path

    from tests.integration.conftest import Project, Projects

pytestmark = pytest.mark.one_python


@pytest.fixture
def cart(projects: Projects) -> Project:
    return projects.make(CART)


def test_wrong_edit_of_the_guilty_function_spares_it_from_nothing(cart: Project) -> None:
    section(cart)
    edit(cart, "cart.py", "net < 100", "net < 50")

    told = section(cart, "--bug-advice")

    assert "failed before: cart.py total (+1 -1): `if net < 100:` -> `if net < 50:`" in told
    assert "learned" not in told


def test_mend_is_told_by_its_net_change_and_its_kind_of_mistake(cart: Project) -> None:
    for old, new in (("net < 100", "net < 50"), ("net < 50", "net < 100 - 1")):
        section(cart)
        edit(cart, "cart.py", old, new)
    section(cart)
    edit(cart, "cart.py", "net < 100 - 1", "net >= 100")
    mended = section(cart)
    edit(cart, "cart.py", "net >= 100", "net <= 100")

    again = section(cart, "--bug-advice")

    lesson = "condition inverted: `net < 100` had to be `net >= 100`, in cart.py total"
    assert f"is fixed after 2 failed trials: cart.py total; {lesson}" in mended
    assert "fixed by cart.py total (+1 -1): `if net < 100:` -> `if net >= 100:`" in again
    assert f"lesson: {lesson}" in again
    assert "LOGIC_ERROR" not in again


def test_demand_that_the_mend_took_back_is_withdrawn_once(projects: Projects) -> None:
    project = projects.make(GUARDED)
    begun = section(project, "--bug-advice")
    edit(project, "knots.py", "< 4", "< 3")
    mended = section(project)
    edit(project, "knots.py", "< 3", "< 5")
    again = section(project, "--bug-advice")

    assert "learned: check needs len(knots) >= 4" in begun
    needs = "no longer learned, since the fix changed it: check needs len(knots) >= 4"
    assert needs in mended
    assert "needs len(knots) >= 4" not in again


def test_failures_in_a_shared_helper_of_the_tests_are_not_the_same(projects: Projects) -> None:
    project = projects.make(HELPED)
    section(project, "-k", "total")

    told = section(project, "--bug-advice", "-k", "label")

    assert re.search(r"bug [0-9a-f]+ begins", told)  # else it is taken for the open bug
    assert "the same failure" not in told


def test_bugs_of_other_projects_in_a_shared_memory_are_told_as_such(
    projects: Projects, tmp_path: Path
) -> None:
    memory = f"--bayesloc-memory={tmp_path / 'shared.sqlite'}"
    first, second = projects.make(CART), projects.make(CART)
    for project, name in ((first, "one"), (second, "two")):
        project.write({"pyproject.toml": f'[project]\nname = "{name}"\n'})
    section(first, memory)
    edit(first, "cart.py", "net < 100", "net >= 100")
    section(first, memory)

    told = section(second, memory, "--bug-advice")

    assert "in another project, one), fixed by cart.py total" in told
    assert "lesson: condition inverted: `net < 100` had to be `net >= 100`" in told
