"""Edits of patterns, and those that fit what a pattern was asked in tests."""

from __future__ import annotations

import json
import re
import time
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.fixes.matching import PatternCase, fitting, outcomes
from pytest_bayesloc.fixes.mutations.regex_parts import branches_of, compiled, literals_of, parts_in
from pytest_bayesloc.fixes.mutations.regexes import KINDS, guides_of, regex_edits

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Kind, pattern, a subject of a failing test, the pattern that is meant.
EXAMPLES = [
    ("quantifier", r"a+b", "b", r"a*b"),
    ("quantifier", r"a*b", "b", r"a+b"),
    ("quantifier", r"<.+>", "<a><b>", r"<.+?>"),
    ("quantifier", r"<.+?>", "<a><b>", r"<.+>"),
    ("quantifier", r"x{2,4}", "xxxxxxx", r"x{2,}"),
    ("quantifier", r"x{3}", "xx", r"x{2,3}"),
    ("quantifier", r"\d", "12", r"\d+"),
    ("quantifier", r"-?\d", "--1", r"-*\d"),
    ("class", r"[a-z]+", "a-b", r"[a-z\-]+"),
    ("class", r"[a-z]+", "a7", r"[a-z0-9]+"),
    ("class", r"[^)]*", "a\nb", r"[^)\n]*"),
    ("class", r"\[[^]]+\]", "[a [b]", r"\[[^]\[]+\]"),
    ("class", r"[+*/-]", "^", r"[+*/\^-]"),
    ("class", r"[ab,]+", "a,b", r"[ab]+"),
    ("class", r"a b", "a\tb", r"a\sb"),
    ("class", r"\d+", "1_000", r"[\d_]+"),
    ("class", r"{.*}", "{a} {b}", r"{[^}]*}"),
    ("class", r"\d+", "\u0665", r"[0-9]+"),
    ("class", r"[\w-]+", "\xe9-", r"[a-zA-Z0-9_-]+"),
    ("escape", r"a.b", "axb", r"a\.b"),
    ("escape", r"d+", "12", r"\d+"),
    ("escape", r"[+-/]", ",", r"[+\-/]"),
    ("group", r"(<=a)b", "ab", r"(?<=a)b"),
    ("optional-part", r"\d+%", "5 %", r"\d+\s*%"),
    ("optional-part", r"\d+", "1.5", r"\d+(?:\.\d+)?"),
    ("optional-part", r"\d+", "-5", r"-?\d+"),
    ("optional-part", r"a\d\.\d", "a1", r"a\d(?:\.\d)?"),
    ("optional-part", r"(\w+)=(\w+)", "a = b", r"(\w+)\s*=\s*(\w+)"),
    ("alternative", r"(?:if|for)\b", "while", r"(?:if|for|while)\b"),
    ("alternative", r"(a|ab)c?", "abc", r"(ab|a)c?"),
    ("anchor", r"\d+", "12a", r"\d+$"),
    ("anchor", r"if", "iffy", r"if\b"),
    ("anchor", r"a$", "a\n", r"a\Z"),
    ("anchor", r"^a$", "ba", r"a$"),
    ("anchor", r"\d+", "a 12", r"^\d+$"),
    ("anchor", r"\w+\.", "a.5", r"\w+\.(?!\d)"),
    ("flag", r"select", "SELECT", r"(?i)select"),
    ("flag", r"a.b", "a\nb", r"(?s)a.b"),
    ("omission", r"ab?c", "ac", r"ac"),
]
SPELT = [
    r"a|b(c|d)*[^\]x]{2,3}?(?P<n>\w+)(?P=n)(?=x)(?<!y)(?:z)\.\\",
    r"(?i)x(?#note)y(?x: z )",
    r"(a)(?(1)b|c)",
    "[]a]+[^]b][\\]]",
]


def test_every_kind_but_that_of_several_has_an_example() -> None:
    assert {kind for kind, *_ in EXAMPLES} == {*KINDS} - {"several"}


@pytest.mark.parametrize(("kind", "pattern", "subject", "meant"), EXAMPLES)
def test_edit_does_what_its_example_says(kind: str, pattern: str, subject: str, meant: str) -> None:
    edits = regex_edits(pattern, 0, guides_of([subject], []))

    assert (kind, meant) in {(edit.kind, edit.of(pattern)) for edit in edits}


def test_word_is_written_as_the_others_where_case_is_ignored() -> None:
    guides = guides_of(["as (x)"], [])

    made = {edit.of("(IN|FROM)") for edit in regex_edits("(IN|FROM)", re.IGNORECASE, guides)}

    assert "(IN|FROM|AS)" in made
    assert "(IN|FROM|as)" not in made


def test_words_of_a_pattern_are_its_literals_without_quantifier() -> None:
    pattern = r"(NOT\s+)?(LIKE|I\.K)ab?c"

    assert list(literals_of(pattern, branches_of(pattern))) == ["NOT", "LIKE", "I.K", "a", "c"]


@pytest.mark.parametrize("pattern", SPELT)
def test_parts_of_a_pattern_follow_each_other_to_its_end(pattern: str) -> None:
    branches = branches_of(pattern)

    assert (branches[0].start, branches[-1].end) == (0, len(pattern))
    for part in parts_in(branches):
        assert part.start < part.end <= part.stop
        assert all(part.start < b.start <= b.end < part.end for b in part.branches)


def test_blanks_and_comments_of_a_verbose_pattern_are_left_alone() -> None:
    pattern = "\n  \\d +  # a number (or so\n  [ab]\n"

    made = [edit.of(pattern) for edit in regex_edits(pattern, re.VERBOSE, guides_of(["1 c"], []))]

    assert "\n  \\d +  # a number (or so\n  [abc]\n" in made
    assert all("# a number (or so\n" in text for text in made)


@pytest.mark.parametrize("pattern", ["(", "[a", "a" * 5000, "(?P<x>a)(?P<x>b)"])
def test_pattern_that_can_not_be_read_has_no_edit_or_none_that_fits(pattern: str) -> None:
    assert fitting(case(pattern, ["a"]), [], 1.0) == []


def case(
    text: str, failing: list[str], passing: Sequence[str] = (), method: str = "match"
) -> PatternCase:
    """A pattern with the texts that tests ask it by ``method``."""
    return PatternCase(
        text=text,
        flags=0,
        failing=tuple((method, (each,)) for each in failing),
        passing=tuple((method, (each,)) for each in passing),
    )


def test_edits_change_what_failing_tests_ask_and_nothing_else() -> None:
    asked = case(r"[a-z]+", ["a-b"], ["a b", "_a_b"])

    found = fitting(asked, ["a-b"], 5.0)

    assert found[0].text == r"[a-z\-]+"
    before = re.compile(asked.text)
    for edit in found:
        after = re.compile(edit.text)
        assert outcomes(before, asked.passing) == outcomes(after, asked.passing)
        assert outcomes(before, asked.failing) != outcomes(after, asked.failing)


def test_edit_that_changes_a_few_results_of_passing_tests_comes_later() -> None:
    found = fitting(case("(?:for|in)", ["as("], ["for x", "as", "in", "it", "is", "of"]), [], 5.0)

    (edit,) = [edit for edit in found if edit.text == "(?:for|in|as)"]
    assert edit.weight < 1.0
    assert not any(edit.text == "(?:for|in|\\w+)" for edit in found)


def test_edit_with_which_an_expected_text_is_matched_comes_first() -> None:
    found = fitting(case(r"(\w+)-(\w+)", ["a-b-c"]), ["a-b"], 5.0)

    assert re.match(found[0].text, "a-b-c")[1] == "a-b"  # type: ignore[index]


def test_two_edits_are_joined_where_none_alone_is_enough() -> None:
    asked = case(r"(\w+):(\d+)", ["a.b:1,5", "a.b:1", "a:1,5"], ["a:1", "a1"], "fullmatch")

    assert any(
        re.fullmatch(edit.text, "a.b:1,5") and edit.kind == "class"
        for edit in fitting(asked, [], 10.0)
    )


def test_two_members_are_added_to_one_class() -> None:
    found = fitting(case("[a-z]+", ["a/b:c"], ["a-b"], "fullmatch"), [], 10.0)

    assert {edit.text for edit in found} & {"[a-z/:]+", "[a-z:/]+"}


def test_pattern_that_repeats_what_repeats_itself_is_not_made() -> None:
    found = fitting(case(r"(a+)b", ["aab"]), [], 5.0)

    assert not any("+)+" in edit.text or "+)*" in edit.text for edit in found)


@pytest.mark.parametrize(
    ("method", "args"),
    [
        ("sub", ("", "a1b")),
        ("subn", ("", "a1b", 1)),
        ("split", ("a1b",)),
        ("findall", ("a1b",)),
        ("finditer", ("a1b",)),
        ("search", ("a1b", 1)),
    ],
)
def test_result_of_each_method_is_a_plain_value(method: str, args: tuple[str | int, ...]) -> None:
    (made,) = outcomes(re.compile(r"\d"), [(method, args)]) or [None]

    assert made is not None
    json.dumps(made)
    assert made != (outcomes(re.compile("x"), [(method, args)]) or [None])[0]


@pytest.mark.skipif(not hasattr(__import__("signal"), "setitimer"), reason="no such signal here")
def test_match_that_would_take_for_ever_is_ended() -> None:
    began = time.perf_counter()

    assert outcomes(re.compile(r"(a|a|a)*c"), [("match", ("a" * 40,))]) is None
    assert time.perf_counter() - began < 5.0


def test_pattern_with_a_warning_does_not_count_as_one() -> None:
    assert compiled("[[a]", 0) is None
    assert compiled("[a]", 0) is not None
