from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.faults.fauxpy_runs import (
    Measured,
    Scored,
    faulty_functions,
    function_scores,
    mutants_in,
    place_of,
)
from benchmarks.faults.side_by_side import Compared, drawn, n_patches, smallest
from benchmarks.faults.side_by_side_table import BEST, OURS, places_of, rates
from benchmarks.suites.change import Place
from benchmarks.suites.planting import PlantedFault
from benchmarks.suites.scores import Standing
from benchmarks.suites.workspace import split_args

TREE = Path("/w/tree")


SCORES = """\
Entity,Score
/w/tree/shop/cart.py::add::3::9,0.9
/w/tree/shop/cart.py::__init__::12::14,0.5
/w/tree/shop/rate.py::add::3::5,0.5
/elsewhere/other.py::add::3::5,-1e-3
"""

TEXT = """\
class A:
    def put(self):
        return 1


class B:
    @property
    def put(self):
        return 2
"""


def fault(*places: Place, text: str = TEXT, n_failing: int = 1, digest: str = "d") -> PlantedFault:
    return PlantedFault(
        subject="shop==1", kind="mutant", how="any", places=places, texts={"m.py": text}, diff="",
        digest=digest, failing=tuple(f"test_{n}" for n in range(n_failing)), n_passing=9,
    )  # fmt: skip


def place(qualname: str, line: int) -> Place:
    return Place(file="m.py", qualname=qualname, start_line=line)


def at(rank: int, n_rows: int = 9) -> Standing:
    return Standing(first=rank, last=rank, n_rows=n_rows)


def measured(
    n: int = 0, cpu_s: float = 1.0, alone: float = 0.0, **places: Standing | None
) -> Measured:
    return Measured(places=places, seconds=1.0, cpu_s=cpu_s, n_patches=n, patches_cpu_s=alone)


def compared(plain: Measured, ours: Measured, theirs: Measured) -> Compared:
    return Compared(
        family="mbfl", subject="shop==1", where="m.py:2 A.put", kind="mutant", how="any",
        n_failing=1, plain=plain, ours=ours, theirs=theirs,
    )  # fmt: skip


def test_scores_are_read_with_paths_below_the_tree() -> None:
    rows = function_scores(SCORES, TREE)

    assert rows[0] == Scored(file="shop/cart.py", name="add", start_line=3, score=0.9)
    assert [row.file for row in rows[2:]] == ["shop/rate.py", "/elsewhere/other.py"]
    assert rows[-1].score == -0.001


def test_a_list_without_rows_has_no_scores() -> None:
    assert function_scores("Entity,Score\n", TREE) == []


def test_rows_that_tie_share_their_places() -> None:
    rows = function_scores(SCORES, TREE)

    assert place_of(rows, [("shop/rate.py", "add", 3)]) == Standing(first=2, last=3, n_rows=4)


def test_the_best_placed_of_several_faulty_functions_counts() -> None:
    rows = function_scores(SCORES, TREE)
    where = place_of(rows, [("shop/cart.py", "__init__", 12), ("shop/cart.py", "add", 3)])

    assert where == Standing(first=1, last=1, n_rows=4)


def test_a_function_of_the_same_name_elsewhere_is_not_the_faulty_one() -> None:
    assert place_of(function_scores(SCORES, TREE), [("shop/cart.py", "add", 30)]) is None


def test_faulty_functions_are_found_by_their_line_in_the_faulty_text() -> None:
    assert faulty_functions(fault(place("B.put", 5))) == [("m.py", "put", 8)]


def test_of_definitions_of_one_name_the_nearest_is_at_fault() -> None:
    text = "def f():\n    return 1\n\n\ndef f():\n    return 2\n"

    assert faulty_functions(fault(place("f", 6), text=text)) == [("m.py", "f", 5)]


def test_a_fault_of_a_class_body_is_not_of_functions_alone() -> None:
    assert faulty_functions(fault(place("A.put", 2), place("A", 1))) is None


@pytest.mark.parametrize(
    ("args", "positional", "options"),
    [
        (("tests",), ["tests"], []),
        ((), [], []),
        (("tests", "-o", "addopts="), ["tests"], ["-o", "addopts="]),
        (("--ignore=a.py", "tests", "-p", "x"), ["tests"], ["--ignore=a.py", "-p", "x"]),
    ],
)
def test_options_keep_their_values(
    args: tuple[str, ...], positional: list[str], options: list[str]
) -> None:
    assert split_args(args) == (positional, options)


def test_a_mutant_that_was_stopped_is_not_counted() -> None:
    output = "Running Mutant M0 (1/7)\nRunning Mutant M1 (2/7)\n"

    assert mutants_in(output, timed_out=True) == (1, 7)
    assert mutants_in(output, timed_out=False) == (2, 7)
    assert mutants_in("", timed_out=True) == (0, 0)


def test_an_inspection_counts_as_its_trials_or_as_one() -> None:
    trials = [{"effect": "the same error"}, {"effect": "did not end, or was never in place"}]
    report = {"inspections": [{"kind": "assertions"}, {"trials": trials}, {"trials": []}]}

    assert n_patches(report) == (4, 1)
    assert n_patches({}) == (0, 0)


def test_no_package_gives_more_than_three_faults() -> None:
    found = drawn({"a": range(9), "b": range(1)}, 9)

    assert [name for name, _ in found].count("a") == 3
    assert ("b", 0) in found


def test_every_package_has_its_turn_before_a_second_fault_of_one() -> None:
    pools = {name: range(9) for name in "abcd"}

    assert {name for name, _ in drawn(pools, 4)} == set("abcd")
    assert drawn(pools, 4) == drawn(dict(reversed(pools.items())), 4)


def test_small_packages_and_few_failing_tests_come_first() -> None:
    many, few = fault(n_failing=5, digest="m"), fault(n_failing=1, digest="f")
    pools = {"big": [few], "small": [many, few], "middle": [many]}

    found = smallest(pools, {"big": 900, "small": 10, "middle": 90}, 3)

    assert found == [("small", few), ("small", many), ("middle", many)]


def test_best_is_the_best_of_the_techniques_that_ranked_the_function() -> None:
    theirs = measured(Muse=at(3), Metallaxis=None)
    row = compared(measured(), measured(posterior=at(2)), theirs)

    assert places_of(row)[BEST] == at(3)
    assert places_of(row)[OURS] == at(2)


def test_rates_show_what_is_divided_by_what() -> None:
    ours = measured(10, 3.0, 0.5, posterior=None)
    row = compared(measured(cpu_s=1.0), ours, measured(30, 61.0))

    alone, added, theirs = rates([row])

    assert "10 patches /      0.50 s =    20.00" in alone
    assert "10 patches /      2.00 s =     5.00" in added
    assert "30 patches /     60.00 s =     0.50" in theirs


def test_a_run_that_cost_nothing_has_no_rate() -> None:
    row = compared(measured(), measured(posterior=None), measured())

    assert [line.endswith("- a CPU second") for line in rates([row])] == [True] * 3
