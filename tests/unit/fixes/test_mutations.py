"""Each mutation does what its examples say, and edits nothing but its function."""

from __future__ import annotations

import ast
import sys
from dataclasses import replace

import pytest

from pytest_bayesloc.domain.recording import Value
from pytest_bayesloc.domain.source import FunctionNode, SourceMap, parse
from pytest_bayesloc.fixes.mutations import FIRST, FURTHER, Mutation, edits, name_of
from pytest_bayesloc.fixes.mutations.operators import MAX_BITS, NEGATED
from pytest_bayesloc.fixes.site import Hints, Site
from tests.unit.fixes.examples.mutations import EXAMPLES, HINTS, sampled

METHOD = "def f(self):\n        "
HEAD = "def f(self, first, second):\n    "
ALL = (*FIRST, *FURTHER)
MUTATIONS = {name_of(mutation): mutation for mutation in ALL}
CASES = [
    pytest.param(name, before, after, id=f"{name}: {before}")
    for name, examples in EXAMPLES.items()
    for before, after in examples
]


def function(
    body: str,
    name: str = "f",
    above: str = "",
    head: str = "def f():\n    ",
    hints: Hints | None = None,
) -> Site:
    """The function ``name``: ``f`` with the given body, or a function within it."""
    text = f"{above}{head}{body}\n"
    source = SourceMap(text, "m.py")
    unit = next(u for u in source.units if u.location.qualname.endswith(name))
    assert isinstance(unit.node, FunctionNode)
    return Site(text, source.module.node, unit.node, hints)


def edited(
    body: str,
    *mutations: Mutation,
    above: str = "",
    head: str = "def f():\n    ",
    hints: Hints | None = None,
) -> list[str]:
    """The bodies that ``mutations`` (the first ones, by default) make of ``body``."""
    site = function(body, above=above, head=head, hints=hints)
    edits = [edit for mutation in mutations or FIRST for edit in mutation(site)]
    wholes = [site.edited(edit) for edit in edits]
    assert all(whole.startswith(f"{above}{head}") for whole in wholes)
    return [whole.removeprefix(f"{above}{head}").removesuffix("\n") for whole in wholes]


@pytest.mark.parametrize(("name", "before", "after"), CASES)
def test_a_mutation_does_what_its_example_says(name: str, before: str, after: str) -> None:
    assert after in edited(before, MUTATIONS[name], head=HEAD, hints=HINTS.get(name))
    parse(f"{HEAD}{after}\n")


def test_every_mutation_has_a_name_of_its_own_and_an_example() -> None:
    assert len(MUTATIONS) == len(ALL)
    assert MUTATIONS.keys() == EXAMPLES.keys()
    assert all(EXAMPLES.values())


@pytest.mark.parametrize(("name", "bound"), [("max_items", ":max_items"), ("offset", "offset:")])
def test_an_unused_parameter_that_says_how_many_items_ends_or_begins_what_is_returned(
    name: str, bound: str
) -> None:
    made = edited("return sorted(a)", MUTATIONS["use-unused"], head=f"def f(a, {name}):\n    ")
    assert f"return sorted(a)[{bound}]" in made


def test_truth_value_is_converted_to_nothing() -> None:
    made = edited("return first == second", MUTATIONS["convert"], head=HEAD)

    assert "return str(first) == second" in made
    assert not [body for body in made if "first == second)" in body]


@pytest.mark.parametrize(
    "body",
    [
        "return first + second",
        "return [second for second in first]",
        "for second in range(len(first)):\n        g(first)",
        "raise NotImplementedError",
        "return eval('second') + first",
        "global second\n    second = first",
    ],
)
def test_what_is_read_or_needs_no_reader_is_not_unused(body: str) -> None:
    assert edited(body, MUTATIONS["use-unused"], head="def f(self, first, _third):\n    ") == []


def test_last_use_of_the_name_that_is_read_most_often_is_the_first_to_be_another() -> None:
    made = edited("return max(first, min(3, first))", MUTATIONS["use-unused"], head=HEAD)

    assert made[0] == "return max(first, min(3, second))"


def test_opposite_of_a_comparison_weighs_less_than_another_comparison() -> None:
    site = function("return a < b, a is None, a is True")
    edits = [*MUTATIONS["change-comparison"](site), *MUTATIONS["change-constant"](site)]

    weights = {edit.words: edit.weight for edit in edits}

    assert weights["`<` to `<=`"] == 1.0
    assert {weights["`is` to `is not`"], weights["True to False"]} == {NEGATED}


def test_edit_behind_text_of_several_bytes_a_letter_lands_in_its_place() -> None:
    made = edited("x = 'ßé漢😀'; y = a < b", MUTATIONS["change-comparison"], above="# ÄÖ\n")

    assert made == ["x = 'ßé漢😀'; y = a <= b", "x = 'ßé漢😀'; y = a > b"]


def test_edit_below_a_form_feed_and_lines_ended_by_carriage_returns_lands_in_its_place() -> None:
    above = "A = 1\r\n\x0c\r\nB = '\u2028'\n"

    assert edited("x = a + b", MUTATIONS["change-arithmetic"], above=above) == [
        "x = a - b",
        "x = a * b",
    ]


@pytest.mark.parametrize(
    "body",
    [
        "def g():\n        return 1 < 2",
        "class K:\n        x = 1 < 2",
        "'''A docstring: 1 < 2.'''",
        "assert a < 1 and f(b, 2)",
    ],
)
def test_what_is_not_the_functions_own_computation_is_left_alone(body: str) -> None:
    assert edited(body) == []


def test_what_is_filled_into_text_is_edited_where_python_knows_its_place(prefix: str) -> None:
    made = edited(f"x = {prefix}'ß{{a < 1}} {{b:{{2}}}} 3'", MUTATIONS["change-comparison"])

    is_known = sys.version_info >= (3, 12)
    expected = [f"x = {prefix}'ß{{a {sign} 1}} {{b:{{2}}}} 3'" for sign in ("<=", ">")]
    assert made == (expected if is_known else [])
    assert edited(f"x = {prefix}'3 {{b:{{2}}}}'", MUTATIONS["change-constant"]) == []


def test_nested_function_is_edited_as_itself_only() -> None:
    body = "x = 1\n    def g():\n        return 2"
    constant = MUTATIONS["change-constant"]

    assert {edit.line for edit in constant(function(body, "g"))} == {4}
    assert {edit.line for edit in constant(function(body))} == {2}


def test_nodes_come_in_the_order_of_the_text() -> None:
    site = function("x = 1\n    if y:\n        z = 2\n    return 3")

    assert [node.value for node in site.own(ast.Constant)] == [1, 2, 3]


@pytest.mark.parametrize(
    ("body", "changed"),
    [
        ("if not (\n        a\n        or b\n    ): c()", "negate-condition"),
        ("if a: return (b or\n        c)\n    return d", "change-return"),
        ("if(a)and(b): c()", "change-boolean"),
        ('return"a"if b else"c"', "change-return"),
        ("x = 1if a else 2", "change-constant"),
        ('if"a"in b: c()', "change-comparison"),
        ("x = a[-1:-b]", "change-constant"),
        ("return (a)*(-b)", "change-arithmetic"),
        ("return a - -b", "change-arithmetic"),
        ("f((a), (b, c), *d)", "swap-arguments"),
        ("x = (a\n        is not b)", "change-comparison"),
    ],
)
def test_edit_keeps_words_and_brackets_apart(body: str, changed: str) -> None:
    before = set(_names(f"def f():\n    {body}\n"))

    made = edited(body, MUTATIONS[changed])

    assert made
    for each in made:
        assert set(_names(f"def f():\n    {each}\n")) <= before


def _names(text: str) -> list[str]:
    return [node.id for node in ast.walk(parse(text)) if isinstance(node, ast.Name)]


def test_constant_of_thousands_of_digits_is_left_alone() -> None:
    assert edited(f"x = 0x{'f' * 5000}", MUTATIONS["change-constant"]) == []
    assert len(edited(f"x = {2**MAX_BITS - 1}", MUTATIONS["change-constant"])) == 2


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("change-comparison", "x = (a  # < b\n        < b)"),
        ("change-arithmetic", "x = '%s' % a"),
        ("swap-arguments", "f(*a, b)\n    f(a, *b)"),
        ("swap-arguments", "a.get(b, 0)"),
    ],
    ids=[
        "operator next to a comment",
        "template left of a percent sign",
        "arguments that are spread",
        "a default behind its key",
    ],
)
def test_what_an_edit_would_spoil_is_left_alone(name: str, body: str) -> None:
    assert edited(body, MUTATIONS[name]) == []


# -- edits of a whole function


def test_lines_that_no_failing_test_executed_are_left_alone() -> None:
    source = SourceMap(f"{HEAD}a = first\n    b = second\n    return a\n", "m.py")

    found = {edit.line for _, edit, _ in edits(ALL, source, source.units[1], {2: 0.5, 3: 0.0})}

    assert found == {2}


def test_constants_on_lines_of_their_own_are_edited_where_their_table_is_made() -> None:
    source = SourceMap(f"{HEAD}a = [\n        1,\n        2,\n    ]\n    return [\n b]\n", "m.py")

    found = {edit.line for _, edit, _ in edits(ALL, source, source.units[1], {2: 0.5, 6: 0.5})}

    assert found >= {3, 4}
    assert 7 not in found


def test_name_bound_shortly_before_stands_for_one_although_it_looks_otherwise() -> None:
    first = "".join(f"total_{n} = {n}\n    " for n in range(8))

    made = edited(f"{first}zip = 2\n    return total_1", MUTATIONS["other-name"])

    assert any(text.endswith("return zip") for text in made)


def test_what_is_unpacked_may_be_the_parameter_that_takes_such_arguments() -> None:
    head = "def f(field, *values, **kwargs):\n    "
    body = "kwargs.setdefault(1, values); return g(*field, **field)"

    made = edited(body, MUTATIONS["other-name"], head=head)

    assert body.replace("*field, *", "*values, *") in made
    assert body.replace("**field", "**kwargs") in made


def test_what_calls_the_function_itself_is_not_borrowed() -> None:
    above = (
        "def g(a):\n    b = f()\n    c = h()\n    if f() > a: return\n    if h() > a: return\n\n\n"
    )
    above += "def h(): return 1\n\n\n"

    made = edited(
        "a = 1\n    if a: return a",
        MUTATIONS["borrow-statement"],
        MUTATIONS["borrow-clause"],
        above=above,
    )

    assert any("h() > a" in body for body in made)
    assert not any("f()" in body for body in made)


def test_method_that_python_calls_is_no_other_attribute() -> None:
    above = "class K:\n    def __init__(self): pass\n\n    def load(self): pass\n\n    "

    made = edited("return self.load()", MUTATIONS["other-attribute"], above=above, head=METHOD)

    assert not any("__init__" in body for body in made)


def test_method_may_be_meant_that_is_called_like_the_function_itself() -> None:
    names = ["add_row", *(f"validate_{n}" for n in range(9))]
    above = "class K:\n" + "".join(f"    def {name}(self, a): pass\n\n" for name in names)
    site = function(
        "self.validate_1(a)", "add_rows", f"{above}    ", "def add_rows(self, a):\n        "
    )

    made = [site.edited(edit) for edit in MUTATIONS["other-attribute"](site)]

    assert any("self.add_row(a)\n" in text for text in made)


@pytest.mark.parametrize(("error", "is_other"), [("TypeError", True), ("ValueError", False)])
def test_name_of_a_variable_of_another_type_is_meant_only_if_the_type_is_wrong(
    error: str, is_other: bool
) -> None:
    sample = sampled("1")
    values = {**sample.values, "second": Value("str", text="'a'")}
    hints = Hints(error=error, line=2, failing=[replace(sample, values=values)])

    made = edited("return g(second)", MUTATIONS["other-name"], head=HEAD, hints=hints)

    assert ("return g(first)" in made) is is_other


def test_separator_is_no_flag_of_a_similar_call() -> None:
    made = edited("return t.rsplit(k)", MUTATIONS["similar-call"])

    assert "return t.split(k)" in made
    assert not any("splitlines" in body for body in made)


def test_method_of_another_object_stands_for_one_only_if_it_looks_alike() -> None:
    made = edited("return a.strip(a.starts(), a.stripe())", MUTATIONS["other-attribute"])

    assert "return a.stripe(a.starts(), a.stripe())" in made
    assert not any(text.startswith("return a.starts(") for text in made)


@pytest.mark.parametrize(
    ("name", "body", "expected"),
    [
        ("other-attribute", "x = os.environ.get(k)", []),
        ("other-attribute", "x = os.sep", ["x = os.linesep", "x = os.environ"]),
        ("other-attribute", "x = json.sep", ["x = json.other"]),
        ("similar-call", "os.remove(k)", []),
        ("similar-call", "json.remove(k)", ["json.discard(k)", "json.pop(k)"]),
        ("call-it", "x = os.sep", []),
        ("call-it", "x = os.getcwd", ["x = os.getcwd()"]),
    ],
)
def test_attribute_of_a_module_that_is_loaded_has_to_exist(
    name: str, body: str, expected: list[str]
) -> None:
    above = (
        "import os\nimport not_loaded as json\njson.other\nos.makedirs, os.linesep, os.environ\n"
    )

    assert edited(body, MUTATIONS[name], above=above) == expected


def test_method_is_no_value_of_the_object() -> None:
    above = "class K:\n    x: int\n    y: int\n\n    def move(self): pass\n\n    "

    made = edited("return hash(self.x)", MUTATIONS["other-attribute"], above=above, head=METHOD)

    assert made == ["return hash(self.y)"]


def test_conversion_that_was_forgotten_belongs_to_the_others() -> None:
    hints = Hints(sides=[("A", "a")])
    site = function("x = first.strip()\n    return join(x)", head=HEAD, hints=hints)

    best = max(MUTATIONS["convert-to-expected"](site), key=lambda edit: edit.weight)

    assert "first.strip().lower()" in site.edited(best)


@pytest.mark.parametrize(
    ("name", "above", "before", "after"),
    [
        ("borrow-clause", "def is_old(x): ...\n", "if a: b()", "if (a) and (is_old(a)): b()"),
        ("other-attribute", "import json\n", "return json.dump(a)", "return json.dumps(a)"),
        ("add-argument", "import json\n", "return json.dumps(1)",
         "return json.dumps(1, indent=indent)"),
    ],
)  # fmt: skip
def test_functions_beside_and_of_modules_at_hand_are_known(
    name: str, above: str, before: str, after: str
) -> None:
    made = edited(before, MUTATIONS[name], above=above, head="def f(a, indent):\n    ")

    assert after in made


@pytest.mark.parametrize(
    ("name", "body", "made"),
    [
        ("other-name", "x = g(first)\n    return x", "x = g(x)\n    return x"),
        ("add-argument", "x = g(first)\n    return x", "x = g(first, x)\n    return x"),
        ("add-argument", "return isinstance(first, int)", "return isinstance(first, int, second)"),
        ("add-argument", "return ', '.join(first)", "return ', '.join(first, second)"),
        ("add-argument", "return set(first)", "return set(first, second)"),
        ("swap-arguments", "return isinstance(first, int)", "return isinstance(int, first)"),
        ("swap-arguments", "return first.get('a', '')", "return first.get('', 'a')"),
        ("keep-result", "first.join()", "return first.join()"),
        ("convert", "return isinstance(first, int)", "return isinstance(first, str(int))"),
    ],
)
def test_edit_that_fails_whatever_it_is_given_is_not_made(name: str, body: str, made: str) -> None:
    assert made not in edited(body, MUTATIONS[name], head=HEAD)


@pytest.mark.parametrize(
    ("made", "kinds", "is_made"),
    [
        ("first.strip()", ("str",), True),
        ("first.strip()", ("str", "list"), True),
        ("first.strip()", ("list",), False),
        ("first.strip()", ("Path",), True),
        ("abs(first)", ("list",), False),
        ("str(first)", ("str",), False),
    ],
)
def test_value_is_converted_as_its_type_allows(
    made: str, kinds: tuple[str, ...], *, is_made: bool
) -> None:
    samples = [replace(sampled("1"), values={"first": Value(kind)}) for kind in kinds]
    hints = Hints(failing=samples)

    found = edited("return first", MUTATIONS["convert"], head=HEAD, hints=hints)

    assert (f"return {made}" in found) is is_made


@pytest.mark.parametrize(("kind", "is_made"), [("bool", False), ("list", True)])
def test_truth_value_is_not_compared_with_none(kind: str, *, is_made: bool) -> None:
    hints = Hints(failing=[replace(sampled("1"), values={"first": Value(kind)})])

    found = edited("if not first: g()", MUTATIONS["compare-with-none"], head=HEAD, hints=hints)

    assert ("if first is None: g()" in found) is is_made


@pytest.mark.parametrize(
    ("name", "body", "raised", "made", "is_late"),
    [
        ("other-name", "return h(g(first)) + second", "g(first)", "h(g(second)) + second", False),
        ("other-name", "return h(g(first)) + second", "g(first)", "h(g(first)) + first", True),
        ("convert", "return h(g(first))", "g(first)", "str(h(g(first)))", True),
        ("convert", "return g(first) if first else 1", "g(first)",
         "str(g(first) if first else 1)", False),
        ("convert", "return first.a", "first.a", "first.a.strip()", True),
        ("convert", "return first.a", "first", "str(first.a)", True),
        ("other-name", "for x in g(first):\n        h(second)", "g(first)",
         "for x in g(second):", False),
    ],
)  # fmt: skip
def test_edit_is_late_where_the_error_is_raised_before_it_matters(
    name: str, body: str, raised: str, made: str, *, is_late: bool
) -> None:
    begin = len(f"    {body.partition(raised)[0]}")
    hints = Hints(error="TypeError", line=2, span=(begin, 2, begin + len(raised)))
    site = function(body, head=HEAD, hints=hints)

    found = {site.edited(edit): site.is_late(edit) for edit in MUTATIONS[name](site)}

    assert [late for text, late in found.items() if made in text] == [is_late]
