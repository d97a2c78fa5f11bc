"""Guesses that pass the same tests are weighed against each other."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_bayesloc.domain.fixing import Level
from pytest_bayesloc.domain.source import map_of
from pytest_bayesloc.fixes.candidate import CHANGE, TOOL
from pytest_bayesloc.fixes.check import Checked, Status
from pytest_bayesloc.fixes.plausibility import (
    EDITABLE,
    USUAL,
    by_chance,
    doubt_of,
    is_emptied,
    is_slip,
    is_told,
    weight,
    with_rivals,
    worth_showing,
)
from tests.unit.fixes.candidates import candidate, tried

BEFORE = "def f(a, b):\n    if a < b:\n        return a\n    return a + 1\n"


def checked(
    tool: str, after: str, *, stage: str = "edit", level: Level = Level.UNSAFE, doubt: str = ""
) -> Checked:
    names = tuple(tool.split(" + "))
    change = candidate(BEFORE, after, tools=names, stage=stage, level=level, message=f"by {tool}")
    return tried(change, Status.VERIFIED, failing=("t",), passing=("a", "b", "c", "d"), doubt=doubt)


def test_the_chances_of_a_place_are_shared_by_how_usual_mistakes_are() -> None:
    constants = [checked("change-constant", BEFORE.replace("1", str(n))) for n in range(2, 62)]

    made = by_chance([c.candidate for c in (*constants, LESS)], belief=0.8)

    assert sum(edit.chance for edit in made) == pytest.approx(EDITABLE * 0.8)
    assert made[0].name == "compare-with-none"
    assert len({edit.chance for edit in made[1 : 1 + USUAL]}) == 1
    assert made[-1].chance == pytest.approx(made[1].chance * USUAL / 60)


@pytest.mark.parametrize(
    ("tool", "is_doubted"), [("other-constant", True), ("change-constant", False)]
)
def test_a_number_that_was_made_to_fit_and_is_no_slip_is_doubted(
    tool: str, *, is_doubted: bool
) -> None:
    fitted = checked(tool, BEFORE.replace("a + 1", "a + 977"))

    assert bool(doubt_of(fitted.candidate)) is is_doubted


LESS = checked("compare-with-none", BEFORE.replace("<", ">"))
ONE = checked("change-constant", BEFORE.replace("1", "2"))
SWAPPED = checked("similar-call", BEFORE.replace("a + 1", "b + 1"))
BORROWED = checked("borrow-clause", BEFORE.replace("a < b", "(a < b) and (b)"))


def doubts(*verified: Checked) -> list[str]:
    return [c.shown_doubt for c in with_rivals(verified)]


def test_one_that_is_clearly_likelier_is_believed_and_the_others_are_not() -> None:
    assert doubts(LESS, ONE, BORROWED) == [
        "",
        "the tests pass with 2 other changes, too: by compare-with-none",
        "the tests pass with 2 other changes, too: by compare-with-none",
    ]


def test_rivals_are_shown_where_nothing_is_clear_and_they_are_nearly_as_likely() -> None:
    clear = with_rivals([LESS, ONE, BORROWED])
    unclear = with_rivals([ONE, SWAPPED, BORROWED])

    assert worth_showing(clear) == clear[:1]
    assert worth_showing(unclear) == unclear[:2]


def test_name_for_which_several_stand_is_not_shown() -> None:
    def other(name: str, what: str) -> Checked:
        one = checked("other-name", BEFORE.replace("a + 1", name))
        message = f"line 2: `{what}` to `{name}`"
        return replace(one, candidate=replace(one.candidate, message=message))

    same = with_rivals([other("b", "a"), other("c", "a"), BORROWED])
    apart = with_rivals([other("b", "a"), other("c", "d"), BORROWED])

    assert worth_showing(same) == same[2:]
    assert worth_showing(apart) == apart[:2]


def test_change_that_makes_code_do_less_is_not_shown() -> None:
    less = replace(LESS, doubt="no test gets to line 3 any more", is_emptied=True)
    borrowed = replace(BORROWED, doubt="it borrows a condition from elsewhere")

    assert worth_showing([less]) == []
    assert worth_showing([borrowed, less]) == [borrowed]


@pytest.mark.parametrize(
    ("before", "after", "is_one"),
    [
        ("box.itmes()", "box.items()", True),
        ("Color.GREY", "Color.GRAY", True),
        ("box.matchers()", "box._patcher()", False),
        ("box.items()", "box._items()", False),
        ("f(a, strict=True)", "f(a)", False),
        ("f(a, b)", "f(b, a)", False),
    ],
)
def test_slip_is_a_word_for_one_that_is_spelt_nearly_alike(
    before: str, after: str, *, is_one: bool
) -> None:
    assert is_slip(candidate(before, after)) is is_one


def test_of_two_edits_of_patterns_one_may_be_clearly_likelier() -> None:
    edits = [checked("pattern-class", BEFORE.replace("1", text)) for text in ("2", "3")]
    weighed = [
        replace(edit, candidate=replace(edit.candidate, weight=own))
        for edit, own in zip(edits, (1.0, 0.2), strict=True)
    ]

    assert [bool(doubt) for doubt in doubts(*weighed)] == [False, True]
    assert all(doubts(*edits))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("not a < b", "a > b"),
        ("a[0:b]", "a[:b]"),
        ("a - 0", "a - 1 + 1"),
        ("a - 1 - 1", "a - 2"),
        ("a * b", "b * a"),
        ("list(a)", "a.copy()"),
        ("a in (b, None)", "a is None or a is b"),
        ("isinstance(a, (int, str))", "isinstance(a, str) or isinstance(a, int)"),
    ],
)
def test_two_ways_to_write_one_thing_are_no_rivals(one: str, other: str) -> None:
    made = [checked("compare-with-none", BEFORE.replace("a < b", code)) for code in (one, other)]

    assert doubts(*made) == ["", ""]
    assert all(doubts(made[0], checked("compare-with-none", BEFORE.replace("a < b", "a + 7"))))


def test_rivals_are_told_however_many_tests_agree_and_other_doubts_where_few_do() -> None:
    emptied = replace(ONE, doubt="it returns 1 whatever it is given")

    assert [c.shown_doubt for c in (emptied, replace(emptied, passing=()))] == ["", emptied.doubt]
    assert replace(emptied, is_emptied=True).shown_doubt == emptied.doubt
    assert "by change-constant" in doubts(BORROWED, ONE)[0]


def test_tests_that_pass_anyway_say_nothing_for_a_constant_that_fits_another_one() -> None:
    fitted = checked("other-constant", BEFORE.replace("1", "40"), doubt="fits one test")

    assert doubts(fitted) == ["fits one test"]
    assert doubts(replace(fitted, failing=tuple("abcde"))) == [""]


def test_what_is_doubted_is_no_rival() -> None:
    assert doubts(LESS, replace(LESS, candidate=ONE.candidate, doubt="it knows"))[0] == ""


def test_what_is_safe_or_was_there_before_has_no_rivals() -> None:
    safe = checked("misspelt-name", BEFORE.replace("a + 1", "b + 1"), stage=TOOL, level=Level.SAFE)
    back = checked("change", BEFORE.replace("a + 1", "a"), stage=CHANGE)

    assert doubts(safe, ONE, back) == ["", "", ""]


def test_what_a_tool_proposes_later_is_less_likely() -> None:
    made = [
        checked("missing-guard", f"{BEFORE}    # {n}\n".replace("+ 1", f"+ {n}"), stage=TOOL)
        for n in range(2, 5)
    ]

    assert doubts(*made[:2])[0] == ""
    assert doubts(*made)[0]


def test_weight_is_of_the_edits_and_more_where_a_parameter_is_used_at_last() -> None:
    unused = replace(LESS.candidate, before="def f(a, b):\n    return a, a\n", file="m.py")
    used = replace(unused, tools=("other-name",), after="def f(a, b):\n    return a, b\n")
    steps = checked("misspelt-name + borrow-clause", BORROWED.candidate.after, stage="steps")

    assert weight(used) > weight(replace(used, before=BEFORE))
    assert weight(steps.candidate) == weight(BORROWED.candidate)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def f(a, b):\n    return g(a)\n", "def f(a, b):\n    return g(a, b)\n"),
        (
            "def f(a):\n    a.strip()\n    return a\n",
            "def f(a):\n    a = a.strip()\n    return a\n",
        ),
        ("def f(a):\n    a.close\n", "def f(a):\n    a.close()\n"),
    ],
)
def test_a_change_is_told_by_what_nothing_used(before: str, after: str) -> None:
    change = replace(LESS.candidate, before=before, after=after)
    where = map_of(before, change.file).units[1].location

    assert is_told(change)
    assert is_told(replace(change, target=where))
    assert not is_told(replace(change, before=after, after=before))
    assert not is_told(replace(change, after="def f(a, b):\n    return 0\n"))


def test_what_makes_code_do_less_is_doubted_whatever_made_it() -> None:
    less = replace(LESS.candidate, after=BEFORE.replace("return a + 1", "return 1"))

    assert is_emptied(less)
    assert not is_emptied(LESS.candidate)
    assert not is_emptied(replace(less, stage=CHANGE))
