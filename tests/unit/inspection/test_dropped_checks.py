from __future__ import annotations

from textwrap import dedent

import pytest

from pytest_bayesloc.domain.inspection import InspectionPatch
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.inspection.trials import drops_check
from pytest_bayesloc.ranking.evidence.guards import Guard
from tests.fakes.sources import TextSources

TEXT = dedent(
    """\
    def check(knots, degree):
        needed = 2 * degree + 2
        if len(knots) < needed:
            raise ValueError("too few")


    def draw(knots):
        check(knots, 3)
        return int(knots[0])
    """
)
SOURCES = TextSources({"curve.py": TEXT})
TEST = Location(file="test_curve.py", start_line=1, end_line=2, qualname="test", is_test=True)


OWNER = Location(file="app.py", start_line=1, end_line=2, qualname="load")


def is_dropped(
    old: str,
    new: str,
    *,
    target: str = "check",
    condition: str = "len(knots) < needed",
    owner: Location = OWNER,
    is_tested: bool = False,
) -> bool:
    assert old in TEXT
    patch = InspectionPatch(
        target=SOURCES.place("curve.py", target),
        kind="mutants",
        original=TEXT,
        patched=TEXT.replace(old, new),
    )
    function = SOURCES.place("curve.py", "draw" if condition.startswith("int") else "check")
    guard = Guard(function=function, condition=condition, owner=owner, line=2, value="`knots`")
    return drops_check(patch, guard, is_tested=is_tested)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("len(knots) < needed", "False"),
        ("len(knots) < needed", "not len(knots) < needed"),
        ("len(knots) < needed", "len(knots) > needed"),
        ('raise ValueError("too few")', "pass"),
    ],
)
def test_edit_that_lets_all_pass_drops_the_check(old: str, new: str) -> None:
    assert is_dropped(old, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [("<", "<="), ("2 * degree", "1 * degree"), ("needed:", "degree:"), ("+ 2", "+ 1")],
)
def test_edit_of_what_the_check_demands_repairs_it(old: str, new: str) -> None:
    assert not is_dropped(old, new)


def test_another_limit_of_a_check_that_refused_data_of_a_test_lets_them_pass() -> None:
    assert is_dropped("<", "<=", owner=TEST)
    assert not is_dropped("<", "<=", owner=TEST, is_tested=True)
    assert is_dropped("<", ">", owner=TEST, is_tested=True)
    assert not is_dropped("<", "<=", owner=OWNER)
    assert not is_dropped("2 * degree", "1 * degree", owner=TEST)


def test_edit_that_no_longer_calls_the_check_drops_it() -> None:
    assert is_dropped("check(knots, 3)", "pass", target="draw")
    assert not is_dropped("check(knots, 3)", "check(knots, 2)", target="draw")


def test_edit_that_no_longer_calls_the_library_that_refused_drops_it() -> None:
    condition = "int(knots[0])"

    assert is_dropped("return int(knots[0])", "return 0", target="draw", condition=condition)
    assert not is_dropped("check(knots, 3)", "pass", target="check", condition=condition)
