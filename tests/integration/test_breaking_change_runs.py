"""The change since the tests passed is told to the line, proven by putting just it back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.integration.conftest import asserting

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.integration.conftest import Project, Projects, Run

pytestmark = pytest.mark.one_python

INSPECT = ("--bayesloc", "--bayesloc-budget=40")


def broken(
    projects: Projects,
    files: Mapping[str, str],
    edits: Mapping[str, Mapping[str, str]],
    *more: str,
) -> Run:
    """The run after ``edits``, old to new per file, of a project whose tests have passed."""
    project = projects.make(files)
    assert project.run("-q").ret == 0
    return edited(project, edits).localize(*INSPECT, *more)


def edited(project: Project, edits: Mapping[str, Mapping[str, str]]) -> Project:
    for name, changes in edits.items():
        text = project.read(name)
        for old, new in changes.items():
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        # A longer text outdates the byte code of this second.
        text += "# edited\n" if name.endswith(".py") else ""
        (project.root / name).write_text(text, encoding="utf-8")
    return project


def breaking(run: Run) -> list[dict[str, Any]]:
    return [change for fault in run.faults for change in fault["breaking_changes"]]


def lines(diff: str) -> list[str]:
    """What a diff takes away and adds."""
    changed = (line for line in diff.splitlines() if line[:1] in {"+", "-"})
    return [line for line in changed if line[:3] not in {"+++", "---"}]


def names_of(change: Mapping[str, Any]) -> set[str]:
    return {node_id.rpartition("::")[2] for node_id in change["tests"]}


WORDS = {
    "words.py": """
        KINDS = {
            "and": "operator",
            "as": "keyword",
            "by": "keyword",
            "from": "keyword",
            "in": "operator",
            "or": "operator",
        }


        def kind(word):
            return KINDS.get(word, "name")
        """,
    "test_words.py": """
        from words import kind


        def test_and():
            assert kind("and") == "operator"


        def test_by():
            assert kind("by") == "keyword"


        def test_both():
            assert [kind(word) for word in ("by", "apple")] == ["keyword", "name"]
        """,
}


def test_guilty_entry_of_a_table_is_told_from_other_changed_entries(projects: Projects) -> None:
    """One block of lines has all three: they are told apart by their keys."""
    run = broken(
        projects,
        WORDS,
        {
            "words.py": {
                '    "as": "keyword",\n    "by": "keyword",\n    "from": "keyword",\n': (
                    '    "as": "renaming",\n    "by": "preposition",\n    "from": "source",\n'
                )
            }
        },
    )

    assert run.names()[0] == "words.py <module>"
    (change,) = breaking(run)
    assert lines(change["diff"]) == ['-    "by": "preposition",', '+    "by": "keyword",']
    assert (change["first_line"], change["last_line"]) == (4, 4)
    assert names_of(change) == {"test_by", "test_both"}
    said = run.section.index("  undoing just this change makes 2 of 2 failing tests pass")
    assert run.section[said - 1].startswith('  line 4: "by": "preposition",')
    assert run.section[said + 1 : said + 3] == [f"    {line}" for line in lines(change["diff"])]


def test_guilty_block_of_a_long_function_is_told_from_other_changed_ones(
    projects: Projects,
) -> None:
    steps = "".join(f"    step{n} = {n}\n    total += step{n}\n" for n in range(10))
    files = {
        "long.py": f"def total():\n    total = 0\n{steps}    return total\n",
        "test_long.py": "from long import total\n\n\ndef test_total():\n    assert total() == 45\n",
    }
    harmless = {f"step{n} = {n}": f"step{n} = {n} + 0" for n in (1, 3, 5, 7)}

    run = broken(projects, files, {"long.py": {**harmless, "step8 = 8": "step8 = 9"}})

    (change,) = breaking(run)
    assert lines(change["diff"]) == ["-    step8 = 9", "+    step8 = 8"]
    assert "  undoing just this change makes the failing test pass" in run.section


def test_fix_that_takes_back_a_change_is_no_larger_than_the_change(projects: Projects) -> None:
    """All of a function as it was would lose what else was done to it."""
    files = {
        "names.py": """
            def initials(name):
                parts = name.split()
                between = "."
                return between.join(part[:1] for part in parts)
            """,
        "test_names.py": asserting(
            "from names import initials", initials='initials("ada king") == "a.k"'
        ),
    }
    edits = {
        "parts = name.split()": "parts = tuple(name.split())",
        "part[:1] for part in parts": "repr(part).casefold() for part in enumerate(parts)",
    }

    run = broken(projects, files, {"names.py": edits}, "--bayesloc-fix=suggest")

    fix = run.document["fixes"][0]
    assert fix["words"] == "take back the change of line 4 since the tests last passed"
    assert fix["verified"]
    assert "-    parts" not in fix["diff"]


def test_tests_that_fail_for_different_changes_are_faults_of_their_own(
    projects: Projects,
) -> None:
    """They call one function and fail alike: nothing but the changes tells them apart."""
    wanted = {"a": 1, "b": 2, "c": 3}
    tests = "".join(
        f"def test_{name}{n}():\n    assert value({name!r}) + {n} == {wanted[name] + n}\n\n\n"
        for n in range(3)
        for name in wanted
    )
    files = {
        "table.py": "A = 1\nSPACE = 0\nB = 2\nMORE = 0\nC = 3\nVALUES = {'a': A, 'b': B, 'c': C}\n"
        "\n\ndef value(name):\n    return VALUES[name]\n",
        "test_table.py": f"from table import value\n\n\n{tests}",
    }

    run = broken(
        projects, files, {"table.py": {"A = 1": "A = 11", "B = 2": "B = 12", "C = 3": "C = 13"}}
    )

    assert len(run.faults) == 3
    assert {
        (change["first_line"], *sorted(names_of(change)))
        for fault in run.faults
        for change in fault["breaking_changes"]
        if set(change["tests"]) == set(fault["failing_tests"])
    } == {
        (1, "test_a0", "test_a1", "test_a2"),
        (3, "test_b0", "test_b1", "test_b2"),
        (5, "test_c0", "test_c1", "test_c2"),
    }
    said = "  undoing just this change makes 3 of 3 failing tests pass"
    assert run.section.count(said) == 3


def test_changes_that_break_only_together_are_told_together(projects: Projects) -> None:
    files = {
        "pair.py": """
            def difference():
                left = 2
                between = 0
                right = 1
                other = 5
                return other - between and left > right
            """,
        "test_pair.py": "from pair import difference\n\n\ndef test_a():\n    assert difference()\n",
    }
    edits = {"left = 2": "left = 1", "right = 1": "right = 2", "other = 5": "other = 6"}
    # Each of both alone is undone to no avail: 2 > 2, and 1 > 1.
    run = broken(projects, files, {"pair.py": edits})

    (change,) = breaking(run)
    assert change["n_changes"] == 2
    assert [line for line in lines(change["diff"]) if line[0] == "+"] == [
        "+    left = 2",
        "+    right = 1",
    ]
    said = "  undoing just these 2 changes together makes the failing test pass"
    assert said in run.section


RATES = {
    "shop/__init__.py": "",
    "shop/rates.json": '{\n  "apple": 2,\n  "pear": 4,\n  "plum": 1\n}\n',
    "shop/rates.py": """
        import json
        from pathlib import Path


        def rate(name):
            return json.loads(Path(__file__).with_name("rates.json").read_text())[name]
        """,
    "test_rates.py": asserting(
        "from shop.rates import rate", apple='rate("apple") == 2', pear='rate("pear") == 4'
    ),
}


def test_changed_line_of_a_data_file_is_the_first_suspect(projects: Projects) -> None:
    run = broken(
        projects,
        RATES,
        {"shop/rates.json": {'"pear": 4,\n  "plum": 1': '"pear": 5,\n  "plum": 3'}},
        "--bayesloc-fix=suggest",
    )

    assert run.names()[0] == "shop/rates.json <data>"
    assert run.faults[0]["ranking"][0]["posterior"] > 0.9
    assert all(note.endswith("(no-fix)") for note in run.document["partial"])
    (change,) = breaking(run)
    assert lines(change["diff"]) == ['-  "pear": 5,', '+  "pear": 4,']
    assert run.section[1] == "  likely cause: a data file, not the code"
    assert "  undoing just this change makes the failing test pass" in run.section


def test_data_that_can_not_be_put_back_is_only_said_to_have_changed(projects: Projects) -> None:
    """A process of its own reads it: nobody sees that, or serves it another text."""
    reading = """
        import subprocess
        import sys
        from pathlib import Path


        def rate(name):
            read = "import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])"
            file = Path(__file__).with_name("rates.json")
            argv = [sys.executable, "-S", "-c", read, str(file), name]
            return int(subprocess.run(argv, capture_output=True, check=True).stdout)
        """

    run = broken(
        projects,
        {**RATES, "shop/rates.py": reading},
        {"shop/rates.json": {'"pear": 4': '"pear": 5'}},
    )

    assert run.names()[0] == "shop/rates.json <data>"
    assert run.faults[0]["ranking"][0]["posterior"] < 0.9
    (change,) = breaking(run)
    assert (change["tests"], change["first_line"]) == ([], 3)
    assert '  line 3: "pear": 5,  (changed since the tests passed)' in run.section


def test_changed_line_is_told_without_any_inspection(projects: Projects) -> None:
    shop = {
        "shop.py": """
        def price(goods, name, default=None):
            try:
                found = goods[name]
            except KeyError:
                return default
            return found
        """,
        "test_shop.py": asserting(
            "from shop import price",
            known='price({"pear": 3}, "pear") == 3',
            unknown='price({}, "pear", 5) == 5',
        ),
    }
    project = projects.make(shop)
    assert project.run("-q").ret == 0

    run = edited(project, {"shop.py": {"goods[name]": "goods.get(name)"}}).localize()

    (change,) = breaking(run)
    assert (change["tests"], change["n_tried"], change["first_line"]) == ([], 0, 3)
    assert lines(change["diff"])[-1] == "+        found = goods[name]"
    assert "  line 3: found = goods.get(name)  (changed since the tests passed)" in run.section
