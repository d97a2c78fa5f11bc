"""Which questions tell the values of failing tests from those of passing ones."""

from __future__ import annotations

import pytest

from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.recording import Sample, Value
from pytest_bayesloc.domain.source import FunctionNode, SourceMap
from pytest_bayesloc.fixes.mutations.predicates import add_clause, guard_case, points_of
from pytest_bayesloc.fixes.site import Hints, Site
from pytest_bayesloc.rerun.calls import note
from pytest_bayesloc.rerun.contents import classes_of


class Shape:
    """A class of the file under test."""


class Square(Shape):
    """One that inherits."""


class Line:
    """A class of another file."""


HEAD = "class Shape:\n    pass\n\n\ndef f(x, y=None):\n"
LINE = 6  # the first of the body
WHERE = Location(file="m.py", qualname="f", start_line=5, end_line=30)


def sample(x: object, *, line: int = LINE, then: int = 0, **others: object) -> Sample:
    values = {"x": x, **others}
    return Sample(
        location=WHERE,
        point=(line, line),
        then=then,
        values={name.replace("_dot_", "."): Value(*note(v)) for name, v in values.items()},
        classes={name: classes_of(v) for name, v in values.items()},
    )


def site(body: str, failing: list[Sample], passing: list[Sample], **hints: object) -> Site:
    text = f"{HEAD}{body}"
    source = SourceMap(text, "m.py")
    node = next(u.node for u in source.units if u.location.qualname == "f")
    assert isinstance(node, FunctionNode)
    told = Hints(failing=failing, passing=passing, **hints)  # type: ignore[arg-type]
    return Site(text, source.module.node, node, told)


def guards(body: str, failing: list[Sample], passing: list[Sample], **hints: object) -> list[str]:
    """The guards, each in one line, the most natural first."""
    edits = list(guard_case(site(body, failing, passing, **hints)))
    edits.sort(key=lambda edit: -edit.weight)
    return [" ".join(edit.text.split()) for edit in edits]


@pytest.mark.parametrize(
    ("bad", "good", "asked"),
    [
        ([None], [1, 0], "x is None"),
        ([7], [None], "x is not None"),
        ([""], ["a"], "not x"),
        ([[1]], [[], []], "x"),
        ([4], [0], "x != 0"),
        ([0], [4, 1], "x == 0"),
        ([1, 5], [5, 6], "x == 1"),
        ([[1, 2]], [[1], [2]], "len(x) != 1"),
        ([[1]], [[1, 2], [1, 2, 3]], "len(x) == 1"),
        (["a"], [b"a", b"b"], "not isinstance(x, bytes)"),
        ([1], [Shape(), Square()], "not isinstance(x, Shape)"),
        ([Square()], [1, "a"], "isinstance(x, Shape)"),
        (["glass"], ["cats", "bus"], "x.endswith('ss')"),
        ([True], [False], "x"),
    ],
)
def test_what_only_failing_tests_have_is_asked_for(
    bad: list[object], good: list[object], asked: str
) -> None:
    body = "    print(x.endswith('s'))\n"

    made = guards(body, [sample(x) for x in bad], [sample(x) for x in good])

    assert f"if {asked}: return" in made[:2]


@pytest.mark.parametrize(
    ("bad", "good"), [([1], [1]), ([None], []), ([], [None]), ([None, 1], [None, 1])]
)
def test_nothing_is_asked_where_no_value_tells_them_apart(
    bad: list[object], good: list[object]
) -> None:
    assert guards("    print(x)\n", [sample(x) for x in bad], [sample(x) for x in good]) == []


def test_letters_at_the_start_of_a_value_are_asked_for_only_if_the_file_has_them() -> None:
    body = "    print(x.startswith({}))\n"
    asked = "if x.startswith('si'): return"

    made = [guards(body.format(text), [sample("site")], [sample("os")]) for text in ("'_'", "'si'")]

    assert [asked in own for own in made] == [False, True]


def test_variable_that_is_not_always_there_is_not_asked() -> None:
    made = guards("    print(x)\n", [sample(1, z=None)], [sample(1)])

    assert made == []


def test_what_the_statement_speaks_of_is_asked_before_what_it_does_not() -> None:
    made = guards("    print(y)\n", [sample(None, y=None)], [sample(1, y=1)])

    assert made[0] == "if y is None: return"


def test_attribute_of_an_object_is_asked() -> None:
    made = guards("    print(x)\n", [sample(Shape(), x_dot_n=4)], [sample(Shape(), x_dot_n=0)])

    assert "if x.n != 0: return" in made


def clauses(body: str, failing: list[Sample], passing: list[Sample]) -> list[str]:
    return [edit.text for edit in add_clause(site(body, failing, passing))]


def test_clause_reads_values_where_the_condition_held() -> None:
    body = "    if x:\n        return y\n    return x\n"
    failing = [sample(5, then=LINE + 1), sample(0, then=LINE + 2)]
    passing = [sample(1, then=LINE + 1), sample(0, then=LINE + 2)]

    assert clauses(body, failing, passing) == ["x == 1"]


def test_clause_lets_a_condition_hold_where_it_did_not() -> None:
    body = "    if x == 3 and y:\n        return y\n    return x\n"
    failing = [sample(None, then=LINE + 2)]
    passing = [sample(2, then=LINE + 2), sample(3, then=LINE + 1)]

    assert clauses(body, failing, passing)[:2] == [
        "(x == 3 or x is None)",
        "x == 3 and y or x is None",
    ]


def test_clause_that_holds_wherever_the_condition_does_takes_its_place() -> None:
    body = "    if x:\n        return y\n    return x\n"
    failing, passing = [sample([], then=LINE + 2)], [sample(None, then=LINE + 2)]

    assert "x is not None" in clauses(body, failing, passing)


@pytest.mark.parametrize(
    ("test", "failing", "passing", "made"),
    [
        ("y and x == 'text'", "text_as_is", "code", "x in ('text', 'text_as_is')"),
        ("isinstance(x, Shape)", Line(), 1, "isinstance(x, (Shape, Line))"),
        ("isinstance(x, shapes.Round)", Line(), 1, "isinstance(x, (shapes.Round, shapes.Line))"),
        ("isinstance(x, (set, Shape))", Line(), 1, "isinstance(x, (set, Shape, Line))"),
    ],
    ids=["texts", "classes", "classes of a module that the file imports", "a tuple of classes"],
)
def test_two_questions_of_a_kind_are_one(
    test: str, failing: object, passing: object, made: str
) -> None:
    body = f"    if {test}:\n        return y\n    return x\n"
    bad, good = [sample(failing, then=LINE + 2)], [sample(passing, then=LINE + 2)]

    assert made in clauses(body, bad, good)


def test_class_that_a_function_makes_is_not_asked_for() -> None:
    class Local:
        pass

    body = "    if isinstance(x, Shape):\n        return y\n    return x\n"
    bad, good = [sample(Local(), then=LINE + 2)], [sample(1, then=LINE + 2)]

    assert not any("Local" in made for made in clauses(body, bad, good))


def test_condition_that_is_returned_gets_a_clause_and_asks_for_multiples_as_it_does() -> None:
    body = "    return x % 4 == 0 and x % 100 != 0\n"
    passing = [sample(1900), sample(2024), sample(2023)]

    assert clauses(body, [sample(2000)], passing) == [
        "x % 4 == 0 and x % 100 != 0 or x % 400 == 0",
        "x % 4 == 0 and x % 100 != 0 and x % 400 != 0",
    ]


def test_clause_that_says_more_stands_for_the_condition() -> None:
    body = "    if not x:\n        return y\n    return x\n"
    failing, passing = [sample(0, then=LINE + 1)], [sample(None, then=LINE + 1)]

    assert clauses(body, failing, passing)[0] == "x is None"


def test_guard_in_a_loop_goes_on_with_it() -> None:
    body = "    for y in x:\n        print(y)\n"
    made = guards(body, [sample(1, y=None, line=LINE + 1)], [sample(1, y=2, line=LINE + 1)])

    assert made[0] == "if y is None: continue"


def test_guard_raises_where_the_test_expects_an_error() -> None:
    body = "    if y:\n        raise ValueError(x)\n    return x\n"
    line = LINE + 2

    made = guards(body, [sample(-1, line=line)], [sample(0, line=line)], is_lenient=True)

    assert made[0] == "if x != 0: raise ValueError(x)"


def test_guard_gives_back_the_value_that_was_expected() -> None:
    made = guards(
        "    z = x[:-1]\n    return z\n", [sample("a-")], [sample("ax")], sides=[("a", "a-")]
    )

    assert made[0] == "if x.endswith('-'): return x"


def test_letters_at_an_end_are_asked_for_only_by_code_that_asks_for_ends() -> None:
    made = guards("    print(x)\n", [sample("glass")], [sample("cats"), sample("bus")])

    assert not [text for text in made if "'ss'" in text]


def test_points_are_those_of_conditions_and_of_what_follows_an_assignment() -> None:
    body = (
        '    """Docstring."""\n'
        "    z = x\n"
        "    print(z)\n"
        "    print(y)\n"
        "    if z:\n"
        "        print(z)\n"
        "    elif (\n"
        "        y\n"
        "    ):\n"
        "        return z\n"
        "    return y\n"
    )
    node = site(body, [], []).function

    assert points_of(node) == [(10, 10), (13, 13), (7, 7), (8, 8), (16, 16)]
