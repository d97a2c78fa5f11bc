"""Stand-ins for patterns do what patterns do, note what they are asked, and can be exchanged."""

from __future__ import annotations

import copy
import pickle
import re
from typing import Any

import pytest

from pytest_bayesloc.rerun.watched import MAX_CALLS, MAX_SUBJECT, PatternWatch


@pytest.fixture
def watch() -> PatternWatch:
    return PatternWatch()


def asked(watch: PatternWatch) -> list[Any]:
    return [[text, calls] for text, _, calls in watch.stop()]


def test_stand_in_does_what_a_pattern_does(watch: PatternWatch) -> None:
    real, made = re.compile(r"(a)(\d)?", re.IGNORECASE), watch.compile(r"(a)(\d)?", re.IGNORECASE)

    assert made.match("A1").groups() == ("A", "1")
    assert (made.pattern, made.flags, made.groups) == (real.pattern, real.flags, real.groups)
    assert isinstance(made, re.Pattern)
    assert made == real
    assert hash(made) == hash(real)
    assert repr(made) == repr(real)
    assert copy.deepcopy(made) is made is copy.copy(made)
    assert pickle.loads(pickle.dumps(made)) == made
    assert watch.compile(made, 0) is made
    with pytest.raises(ValueError, match="flags"):
        watch.compile(made, re.IGNORECASE)
    with pytest.raises(re.error):
        watch.compile("(", 0)


def test_calls_of_a_test_are_noted_once_each(watch: PatternWatch) -> None:
    made = watch.compile("a", 0)
    made.match("before")
    watch.start()
    made.match("b", 1)
    made.match("b", 1)
    made.sub("x", "cab")
    made.sub(str, "dad")

    assert asked(watch) == [
        ["a", [["match", ("b", 1)], ["sub", ("x", "cab")], ["finditer", ("dad",)]]]
    ]
    made.match("behind")
    assert asked(watch) == []


def test_what_no_plain_values_tell_is_not_noted(watch: PatternWatch) -> None:
    made, of_bytes = watch.compile("a", 0), watch.compile(b"a", 0)
    watch.start()
    made.match(string="a")
    made.match("a" * (MAX_SUBJECT + 1))
    of_bytes.match(b"a")

    assert asked(watch) == []


def test_texts_of_a_class_of_the_project_are_noted_as_plain_ones(watch: PatternWatch) -> None:
    class Word(str):
        def __str__(self) -> str:
            raise AssertionError

    made = watch.compile("a", 0)
    watch.start()
    made.match(Word("ab"))

    ((_, ((_, (text,)),)),) = asked(watch)
    assert (text, type(text)) == ("ab", str)


def test_first_calls_stand_for_all(watch: PatternWatch) -> None:
    made = watch.compile("a", 0)
    watch.start()
    for number in range(MAX_CALLS + 5):
        made.match(str(number))

    ((_, calls),) = asked(watch)
    assert len(calls) == MAX_CALLS


def test_exchanged_pattern_is_asked_wherever_the_first_one_is_held(watch: PatternWatch) -> None:
    made, other = watch.compile("a+", re.IGNORECASE), watch.compile("b", 0)
    bound = made.match

    assert watch.exchange([["a+", r"(?a)\w"]]) == 1
    assert not bound("\xe9")
    assert watch.exchange([["a+", "b+"], ["later", "c"]]) == 2
    assert bound("BB").group() == "BB"
    assert watch.compile("a+", 0).match("bb")
    assert other.match("b")
    assert watch.compile("later", 0).match("c")
    with pytest.raises(re.error):
        watch.exchange([["b", "("]])


def test_functions_of_re_ask_stand_ins_once_it_is_installed(
    monkeypatch: pytest.MonkeyPatch, watch: PatternWatch
) -> None:
    monkeypatch.setattr(re, "_compile", re._compile)  # type: ignore[attr-defined]  # is put back
    watch.install()
    watch.start()
    re.sub("a", "b", "cac")
    re.split("x", "axb")

    assert asked(watch) == [["a", [["sub", ("b", "cac", 0)]]], ["x", [["split", ("axb", 0)]]]]
    re.purge()
