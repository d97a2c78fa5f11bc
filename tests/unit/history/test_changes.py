"""What counts as a change since the tests passed, and texts with some of it taken back."""

from __future__ import annotations

import pytest

from pytest_bayesloc.domain.evidence import ChangeOutcome, Outcome
from pytest_bayesloc.domain.source import SourceMap
from pytest_bayesloc.history.changes import Changes, FileChange, changes_since, narrowed
from pytest_bayesloc.ranking.groups import change_evidence

GREEN = '''\
"""Prices."""
import math

RATE = 3


def net(price, rate=RATE):
    """Without tax."""
    return price / rate


class Cart:
    limit = 5

    def __init__(self, items):
        self.items = items

    @property
    def total(self):
        def each(item):
            return item * 2
        return sum(map(each, self.items))

    @total.setter
    def total(self, value):
        self.items = [value]


async def last(cart): return cart.items[-1]
'''


def change(now: str, green: str = GREEN) -> FileChange:
    return FileChange(before=SourceMap(green, "m.py"), now=SourceMap(now, "m.py"))


def edited(*pairs: tuple[str, str]) -> FileChange:
    """What becomes of the green text with the first of each pair replaced by the second."""
    now = GREEN
    for old, new in pairs:
        assert now.count(old) == 1
        now = now.replace(old, new)
    return change(now)


def changed(made: FileChange) -> list[str]:
    return [where.qualname for where in made.changed]


def fresh(made: FileChange) -> set[str]:
    return {where.qualname for where in made.fresh}


def reverted(made: FileChange, *names: str) -> str | None:
    return made.reverted([where for where in made.changed if where.qualname in names])


BODY = ("return price / rate", "return price - rate")
INNER = ("item * 2", "item * 3")
CONSTANT = ("RATE = 3", "RATE = 4")
ATTRIBUTE = ("limit = 5", "limit = 6")


@pytest.mark.parametrize(
    "edit",
    [
        ("import math\n", "# A comment.\n\n\nimport math  # another\n"),
        ("return price / rate", "return (price\n            / rate)"),
        ("price, rate=RATE):", "price: float, rate: int = RATE) -> float:"),
        ('    """Without tax."""\n', ""),
        ('"""Prices."""', "'''\n\nDearer.\n'''"),
        ("class Cart:\n", "class Cart:\n    '''Holds items.'''\n"),
        ("\n\nclass Cart", "\n\x0c\nclass Cart"),
        ("async def last(cart): return", "async def last(cart):\n    return"),
    ],
)
def test_comments_layout_docstrings_and_annotations_are_no_change(edit: tuple[str, str]) -> None:
    made = edited(edit)

    assert made.now.text != GREEN
    assert made.changed == ()


@pytest.mark.parametrize(
    ("edit", "where"),
    [
        (BODY, ["net"]),
        (INNER, ["Cart.total.<locals>.each"]),
        (("return sum(", "return max("), ["Cart.total"]),
        (("[value]", "value"), ["Cart.total"]),
        (("items[-1]", "items[0]"), ["last"]),
    ],
)
def test_change_of_a_body_is_one_of_its_function_alone_and_can_be_swapped(
    edit: tuple[str, str], where: list[str]
) -> None:
    made = edited(edit)

    assert changed(made) == where
    assert made.fresh == frozenset()


@pytest.mark.parametrize(
    ("edit", "where"),
    [
        (("rate=RATE", "rate=2"), {"<module>", "net"}),
        (("price, rate=RATE", "rate, price"), {"<module>", "net"}),
        (("    @property\n", "    @cached\n"), {"Cart", "Cart.total"}),
        (("async def last", "@tag\nasync def last"), {"<module>", "last"}),
        (CONSTANT, {"<module>"}),
        (ATTRIBUTE, {"Cart"}),
        (("class Cart:", "class Cart(dict):"), {"<module>", "Cart"}),
    ],
)
def test_change_of_what_an_import_executes_needs_one_to_be_taken_back(
    edit: tuple[str, str], where: set[str]
) -> None:
    made = edited(edit)

    assert set(changed(made)) == fresh(made) == where
    assert reverted(made, *where) == GREEN


def test_constants_of_equal_value_but_another_type_differ() -> None:
    made = change(
        "def f(): return 1\ndef g(): return 2\n", "def f(): return True\ndef g(): return 2\n"
    )

    assert changed(made) == ["f"]


def test_new_function_is_changed_and_so_is_the_scope_that_it_is_new_in() -> None:
    made = edited(("\n\nclass Cart", "\n\ndef gross(x):\n    return x\n\n\nclass Cart"))

    assert set(changed(made)) == fresh(made) == {"<module>", "gross"}
    assert "gross" not in (reverted(made, "gross") or "gross")


def test_only_statement_of_a_suite_is_taken_back_to_none() -> None:
    made = change("if x:\n    @tag\n    def f(): return 1\nA = 1\n", "A = 2\n")

    assert reverted(made, "f") == "if x:\n    pass\nA = 1\n"


def test_removed_method_is_a_change_of_its_class() -> None:
    made = edited(("    def __init__(self, items):\n        self.items = items\n", ""))

    assert changed(made) == ["Cart"]
    assert reverted(made, "Cart") == GREEN


def test_getter_and_setter_of_one_name_are_told_apart() -> None:
    made = edited(("return sum(", "return max("), CONSTANT)
    (getter,) = (where for where in made.changed if where.qualname == "Cart.total")

    assert getter.start_line == 19
    assert made.reverted([getter]) == GREEN.replace(*CONSTANT)


@pytest.mark.parametrize("line_end", ["\n", ""])
def test_taking_one_of_two_changes_of_a_file_back_leaves_the_other(line_end: str) -> None:
    made = change(
        f"def f():\n  return 1\ndef g():\n  return 2{line_end}",
        "def g(): return 4\ndef f(): return 3",
    )

    assert (reverted(made, "f") or "").splitlines() == [
        "def f(): return 3",
        "def g():",
        "  return 2",
    ]
    assert (reverted(made, "g") or "").splitlines() == [
        "def f():",
        "  return 1",
        "def g(): return 4",
    ]


EDITS = {
    "net": BODY,
    "Cart.total": ("return sum(", "return max("),
    "Cart.total.<locals>.each": INNER,
    "<module>": CONSTANT,
    "Cart": ATTRIBUTE,
}


@pytest.mark.parametrize("kept", EDITS)
def test_taking_back_all_changes_but_one_leaves_that_one(kept: str) -> None:
    """Whether it stands around the others or within them."""
    made = edited(*EDITS.values())

    assert set(changed(made)) == set(EDITS)
    assert reverted(made, *(set(EDITS) - {kept})) == GREEN.replace(*EDITS[kept])


def test_form_feed_in_the_text_ends_no_line() -> None:
    green = "A = '\x0c'\n\x0c\ndef f():\n    return 1\ndef g():\n    return 2\n"
    now = green.replace("return 1", "return 3").replace("return 2", "return 4")

    assert reverted(change(now, green), "g") == green.replace("return 1", "return 3")


@pytest.mark.parametrize("broken", ["def net(:\n", "x = '\0'\n"])
def test_text_that_no_longer_parses_is_taken_back_as_a_whole(broken: str) -> None:
    made = change(GREEN + broken)

    assert changed(made) == ["<module>"]
    assert fresh(made) == {"<module>"}
    assert reverted(made, "<module>") == GREEN


def test_edit_of_a_text_that_does_not_parse_is_seen() -> None:
    assert changed(change("def f(:\n    return 1\n", "def f(:\n")) == ["<module>"]


def test_what_has_no_place_in_the_text_of_then_can_not_be_kept() -> None:
    made = edited(CONSTANT, ("\n\nclass Cart", "\n\ndef gross(x):\n    return x\n\n\nclass Cart"))

    assert reverted(made, "<module>") is None


def test_code_that_moved_to_another_depth_can_not_be_put_back_alone() -> None:
    made = change(
        "try:\n    def f():\n        return 1\nfinally: A = 1\n", "def f():\n    return 2\nA = 2\n"
    )

    assert reverted(made, "f") is None
    assert reverted(made, "f", "<module>") == made.before.text


def test_new_class_is_not_taken_back_without_its_methods() -> None:
    made = change("class C:\n    def m(self): return 1\n", "x = 1\n")

    assert reverted(made, "C") is None
    assert reverted(made, "C.m") == "class C:\n    pass\n"


def test_long_sum_is_compared() -> None:
    terms = " + ".join(f"x{n}" for n in range(800))
    text = f"def f():\n    return {terms}\n"

    assert changed(change(text.replace("x799", "y"), text)) == ["f"]


# -- a whole project

NOW = {"a.py": GREEN.replace(*BODY), "b.py": GREEN + "# c\n", "new.py": "def f(): pass\n"}
MAPS = {file: SourceMap(text, file) for file, text in NOW.items()}
THEN = {"a.py": GREEN, "b.py": GREEN, "gone.py": GREEN}


def test_only_files_whose_text_differs_are_read_in_full() -> None:
    asked: list[str] = []

    def map_of(file: str) -> SourceMap | None:
        asked.append(file)
        return MAPS.get(file)

    (found,) = changes_since([{**THEN, "new.py": NOW["new.py"]}], NOW.get, map_of)

    assert asked == ["a.py", "b.py"]
    assert list(found.files) == ["a.py"]
    assert changed(found.files["a.py"]) == ["net"]


def test_text_that_several_groups_passed_on_is_compared_once() -> None:
    first, same, older = changes_since([THEN, dict(THEN), {"a.py": ""}], NOW.get, MAPS.get)

    assert same.files["a.py"] is first.files["a.py"]
    assert older.files["a.py"].before.text == ""
    assert same.known == set(THEN)
    assert older.known == {"a.py"}


def evidence(*files: str) -> dict[str, Outcome]:
    (found,) = changes_since([THEN], NOW.get, MAPS.get)
    candidates = [unit.location for file in files for unit in MAPS[file].units]
    weighed = change_evidence(found, candidates, model="single-fault")
    return {f"{e.location.file} {e.location.qualname}": e.outcome for e in weighed}


def test_candidates_that_changed_are_told_from_those_that_did_not() -> None:
    found = evidence("a.py", "b.py")

    assert found.pop("a.py net") is ChangeOutcome.CHANGED_SINCE_GREEN
    assert set(found.values()) == {ChangeOutcome.UNCHANGED_SINCE_GREEN}
    assert len({name.partition(" ")[0] for name in found}) == 2


def test_nothing_is_said_of_files_that_were_not_known_then() -> None:
    assert {name.partition(" ")[0] for name in evidence("a.py", "new.py")} == {"a.py"}


def test_nothing_is_said_if_no_candidate_changed() -> None:
    assert evidence("b.py", "new.py") == {}


def test_test_code_stays_test_code() -> None:
    tests = SourceMap("def test_a():\n    assert 1\n", "test_a.py", is_test=True)

    (found,) = changes_since(
        [{"test_a.py": "def test_a(): pass\n"}], lambda _: tests.text, lambda _: tests
    )

    assert {where.is_test for where in found.files["test_a.py"].changed} == {True}


def test_test_answers_for_the_functions_inside_it() -> None:
    text = "def test_a():\n    def double(x):\n        return {} * x\n    assert double(1) == 2\n"
    now = SourceMap(text.format(3), "test_a.py", is_test=True)
    (test,) = (unit.location for unit in now.units if unit.location.qualname == "test_a")

    (found,) = changes_since([{"test_a.py": text.format(2)}], lambda _: now.text, lambda _: now)

    assert changed(found.files["test_a.py"]) == ["test_a.<locals>.double"]
    (weighed,) = change_evidence(found, [test], model="single-fault")
    assert weighed.outcome is ChangeOutcome.CHANGED_SINCE_GREEN


def test_what_later_commits_changed_is_left_out_of_the_changes_and_of_their_old_text() -> None:
    def since(old: str, now: str) -> Changes:
        (found,) = changes_since([{"m.py": old}], lambda _: now, lambda file: SourceMap(now, file))
        return found

    bad = GREEN.replace("price / rate", "price - rate")
    now = bad.replace("item * 2", "item + item")

    found = narrowed(since(GREEN, now), since(GREEN, bad))

    assert [where.qualname for where in found.every] == ["net"]
    assert found.files["m.py"].before.text == now.replace("price - rate", "price / rate")
    assert found.known == {"m.py"}


def test_changes_are_not_narrowed_to_what_was_renamed_since() -> None:
    (every,) = changes_since(
        [{"m.py": GREEN}], lambda _: "RATE = 4\n", lambda file: SourceMap("RATE = 4\n", file)
    )
    elsewhere = FileChange(before=SourceMap("", "n.py"), now=SourceMap("RATE = 4\n", "n.py"))

    assert narrowed(every, Changes(files={"n.py": elsewhere})) is every
    assert narrowed(every, Changes()).every == []
