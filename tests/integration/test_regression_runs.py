"""What changed since the tests passed is remembered, and taken back to see what they say then."""

from __future__ import annotations

import os
import subprocess
from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from tests.integration.conftest import asserting

if TYPE_CHECKING:
    from pathlib import Path

    from tests.integration.conftest import Project, Projects, Run

pytestmark = pytest.mark.one_python

FILES = {
    "prices.py": """
        RATE = 2


        def net(price, rate=RATE):
            return price / rate


        def gross(price):
            return net(price) * 4
        """,
    "texts.py": """
        def line(name, price):
            return f"{name}: {price:g}"
        """,
    "test_shop.py": asserting(
        "import prices\nfrom texts import line",
        net='line("net", prices.net(4)) == "net: 2"',
        gross='line("gross", prices.gross(3)) == "gross: 6"',
        text='line("a", 1).startswith("a")',
    ),
}
INSPECT = ("--bayesloc", "--bayesloc-budget=20")


def passed(projects: Projects, files: dict[str, str]) -> Project:
    """A project of ``files`` whose tests have passed."""
    project = projects.make(files)
    assert project.run("-q").ret == 0
    return project


@pytest.fixture
def shop(projects: Projects) -> Project:
    """Three tests, which have passed."""
    return passed(projects, FILES)


def edit(project: Project, name: str, old: str, new: str) -> None:
    """Put ``new`` in the place of ``old``; a longer text outdates the byte code of this second."""
    text = project.read(name)
    assert text.count(old) == 1
    edited = f"{text.replace(old, new)}# edited\n"
    (project.root / name).write_text(edited, encoding="utf-8")


def outcomes(run: Run, qualname: str) -> set[str]:
    return {item["outcome"] for item in run.row(qualname)["evidence"]}


def test_change_that_broke_the_tests_is_named_and_proven(shop: Project) -> None:
    edit(shop, "prices.py", "return price / rate", "return price - rate - 1")
    edit(shop, "texts.py", 'return f"{name}: {price:g}"', 'return name + f": {price:g}"')

    run = shop.localize(*INSPECT)

    assert run.names()[0] == "prices.py net"
    assert "REVERT_REPAIRS" in outcomes(run, "net")
    assert run.row("net")["posterior"] > 0.9
    (inspection,) = (i for i in run.inspections if i["outcome"] == "REVERT_REPAIRS")
    assert "+    return price / rate" in inspection["patch"]
    shown = run.section.index("  undoing just this change makes 2 of 2 failing tests pass")
    assert "    +    return price / rate" in run.section[shown:]


def test_changes_are_known_without_inspections_too(shop: Project) -> None:
    edit(shop, "prices.py", "return net(price) * 4", "return net(price) * 5")

    run = shop.localize()

    assert run.names()[0] == "prices.py gross"
    assert "CHANGED_SINCE_GREEN" in outcomes(run, "gross")
    assert "UNCHANGED_SINCE_GREEN" in outcomes(run, "net")


@pytest.mark.thorough
def test_changes_that_only_break_together_are_both_named(shop: Project) -> None:
    edit(shop, "prices.py", "return price / rate", "return price / rate, 'EUR', 1")
    edit(shop, "prices.py", "return net(price) * 4", "return net(price)[0] * 5")

    run = shop.localize(*INSPECT)

    fault = next(
        n
        for n, fault in enumerate(run.faults)
        if "test_shop.py::test_gross" in fault["failing_tests"]
    )
    assert set(run.names(fault)[:2]) == {"prices.py net", "prices.py gross"}


@pytest.mark.thorough
def test_test_that_changed_while_the_code_did_not_is_the_suspect(shop: Project) -> None:
    edit(shop, "test_shop.py", '"gross: 6"', '"gross: 7"')

    run = shop.localize(*INSPECT)

    assert run.names()[0] == "test_shop.py test_gross"
    assert run.row("test_gross")["rank"] == 1
    assert "  likely cause: the test itself" in "\n".join(run.section)


#: What a swap in a running process can't take back: more files, an edit, and its place.
IN_A_NEW_PROCESS = {
    "a default": ({}, "prices.py", "rate=RATE", "rate=3", "net"),
    "a constant": ({}, "prices.py", "RATE = 2", "RATE = 3", "<module>"),
    "a broken file": ({}, "prices.py", "def gross(price):", "def gross(price:", "<module>"),
    # By the time that they do, what was loaded has been counted.
    "a module that tests import themselves": (
        {
            "lazy.py": "STEP = 1\n",
            "test_lazy.py": "def test_lazy():\n    from lazy import STEP\n    assert STEP == 1\n",
        },
        *("lazy.py", "STEP = 1", "STEP = 2", "<module>"),
    ),
    "a function that an import runs": (
        {
            "table.py": """
                class Table:
                    def __init__(self):
                        self.step = 1


                TABLE = Table()


                def step():
                    return TABLE.step
                """,
            "test_table.py": asserting("from table import step", step="step() == 1"),
        },
        *("table.py", "self.step = 1", "self.step = 2", "Table.__init__"),
    ),
    # A swap can't change what a function closes over.
    "a method that has gained a call of super": (
        {
            "cart.py": "class Cart(dict):\n    def size(self):\n        return 1\n",
            "test_cart.py": asserting("from cart import Cart", size="Cart().size() == 1"),
        },
        *("cart.py", "return 1", "return super().__len__()", "Cart.size"),
    ),
    "what a conftest imported before any test": (
        {"conftest.py": "import prices\n\nassert prices.RATE\n"},
        *("prices.py", "RATE = 2", "RATE = 3", "<module>"),
    ),
    "what a filter of warnings imported": (
        {
            "prices.py": f"{dedent(FILES['prices.py'])}\n\nclass Odd(UserWarning):\n    pass\n",
            "pytest.ini": "[pytest]\nfilterwarnings = ignore::prices.Odd\n",
        },
        *("prices.py", "RATE = 2", "RATE = 3", "<module>"),
    ),
    # The tests as they are did that before anybody looked: it is learned in such a process.
    "where a plugin runs a command while it is imported": (
        {
            "early.py": "import subprocess\n\nsubprocess.run(['true'], check=True)\n",
            "pytest.ini": "[pytest]\naddopts = -p early\n",
        },
        *("prices.py", "RATE = 2", "RATE = 3", "<module>"),
    ),
}
THOROUGH = list(IN_A_NEW_PROCESS)[:3]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.thorough if name in THOROUGH else ())
        for name in IN_A_NEW_PROCESS
    ],
)
def test_change_of_what_an_import_executes_is_taken_back(projects: Projects, name: str) -> None:
    more, file, old, new, where = IN_A_NEW_PROCESS[name]
    project = passed(projects, {**FILES, **more})
    edit(project, file, old, new)

    run = project.localize(*INSPECT)

    assert run.names()[0] == f"{file} {where}"
    assert "REVERT_REPAIRS" in outcomes(run, where)


def test_helper_of_tests_that_nobody_saw_run_is_named_if_its_change_is_the_cause(
    projects: Projects,
) -> None:
    files = {
        "totals.py": "def total(prices):\n    return sum(prices)\n",
        "tests/helpers.py": "class Basket:\n    def prices(self):\n        return [1, 2]\n",
        "tests/test_totals.py": asserting(
            "from helpers import Basket\nfrom totals import total",
            total="total(Basket().prices()) == 3",
        ),
    }
    project = passed(projects, files)
    edit(project, "tests/helpers.py", "[1, 2]", "[1, 3]")

    run = project.localize(*INSPECT)

    assert run.names()[0] == "tests/helpers.py Basket.prices"
    assert run.faults[0]["error"]["origin"] == "test"


@pytest.mark.thorough
def test_workers_of_xdist_remember_together(projects: Projects) -> None:
    pytest.importorskip("xdist", reason="pip install pytest-xdist")
    project = projects.make(FILES)
    assert project.run("-q", "-n2", lean=False).ret == 0
    edit(project, "prices.py", "return price / rate", "return price - rate - 1")

    run = project.localize("-n2", *INSPECT, lean=False)

    assert run.names()[0] == "prices.py net"
    assert "REVERT_REPAIRS" in outcomes(run, "net")


def git(folder: Path, *args: str) -> str:
    done = subprocess.run(["git", *args], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


def test_green_run_says_nothing_and_leaves_no_trace_in_git(projects: Projects) -> None:
    project = projects.make({**FILES, ".gitignore": "__pycache__/\n.pytest_cache/\n"})
    git(project.root, "init", "-q")
    git(project.root, "add", ".")

    run = project.run("-q", *INSPECT)

    assert run.ret == 0
    assert "bayesloc" not in run.output
    assert (project.root / ".bayesloc" / "green.sqlite").is_file()
    assert ".bayesloc" not in git(project.root, "status", "--porcelain", "-uall")


@pytest.fixture
def sealed(projects: Projects) -> Project:
    """No folder can be made for the memory, not even by root."""
    return projects.make({**FILES, ".bayesloc": ""})


def test_green_run_that_can_not_remember_is_quiet(sealed: Project) -> None:
    run = sealed.run("-q")

    assert run.ret == 0
    assert "bayesloc" not in run.output


def test_red_run_that_can_not_remember_says_so_once(sealed: Project) -> None:
    edit(sealed, "prices.py", "return price / rate", "return price - rate - 1")

    run = sealed.localize()

    assert run.ret == 1
    assert run.names()[0] == "prices.py net"
    assert sum("(no-folder)" in line for line in run.section) == 1


def test_damaged_memory_costs_one_line_whatever_fails(shop: Project) -> None:
    store = shop.root / ".bayesloc" / "green.sqlite"
    store.write_text("no database " * 100, encoding="ascii")
    edit(shop, "prices.py", "return price / rate", "return price - rate - 1")
    edit(shop, "texts.py", "return f", "return 1 / 0 * f")

    run = shop.localize()

    assert run.ret == 1
    assert sum("(damaged-file)" in line for line in run.section) == 1
    assert "Traceback" not in run.output


def test_file_that_was_edited_while_the_tests_ran_is_not_taken_as_green(projects: Projects) -> None:
    during = """
        from pathlib import Path

        import prices


        def test_edits():
            path = Path(prices.__file__)
            path.write_text(path.read_text() + "# edited\\n")
        """
    project = projects.make({**FILES, "test_edits.py": during})

    assert project.run("-q").ret == 0

    edit(project, "prices.py", "return price / rate", "return price - rate - 1")
    run = project.localize()
    assert "CHANGED_SINCE_GREEN" not in outcomes(run, "net")


def test_tests_that_pass_beside_failing_ones_are_remembered(shop: Project) -> None:
    edit(shop, "prices.py", "return net(price) * 4", "return net(price) * 5")
    assert shop.run("-q").ret == 1
    edit(shop, "prices.py", "return price / rate", "return price - rate - 1")

    run = shop.localize("-k", "test_net")

    assert run.names()[0] == "prices.py net"
    assert outcomes(run, "net") >= {"CHANGED_SINCE_GREEN"}
    assert "prices.py gross" not in run.names()


@pytest.fixture
def committed(projects: Projects) -> Project:
    """Tests that would pass, in a git repository; no run of them is remembered."""
    project = projects.make({**FILES, ".gitignore": "__pycache__/\n"})
    git(project.root, "init", "-q")
    commit(project, "all green")
    return project


def commit(project: Project, said: str) -> None:
    git(project.root, "add", "-A")
    git(project.root, "commit", "-q", "-m", said)


def test_change_since_a_git_revision_is_named(committed: Project) -> None:
    edit(committed, "prices.py", "return price / rate", "return price - rate - 1")

    run = committed.localize("--bayesloc-green=HEAD")

    assert run.names()[0] == "prices.py net"
    assert "CHANGED_SINCE_GREEN" in outcomes(run, "net")


@pytest.mark.thorough
def test_change_that_is_not_committed_is_taken_back(committed: Project) -> None:
    edit(committed, "prices.py", "return price / rate", "return price - rate - 1")
    edit(committed, "texts.py", 'return f"{name}: {price:g}"', 'return name + f": {price:g}"')

    run = committed.localize(*INSPECT)

    assert run.names()[0] == "prices.py net"
    assert outcomes(run, "net") >= {"CHANGED_SINCE_GREEN", "REVERT_REPAIRS"}
    assert "UNCHANGED_SINCE_GREEN" in outcomes(run, "gross")


@pytest.mark.thorough
def test_search_for_a_fix_looks_at_git_without_any_inspection(committed: Project) -> None:
    edit(committed, "prices.py", "return price / rate", "return price - rate - 1")
    commit(committed, "simpler")

    run = committed.localize("--bayesloc-fix=suggest", "--bayesloc-budget=8")

    assert run.names()[0] == "prices.py net"
    assert "CHANGED_SINCE_GREEN" in outcomes(run, "net")


@pytest.mark.thorough
def test_commit_since_which_the_tests_fail_is_found(committed: Project) -> None:
    """Also below a merge, which git looks at by what it brought."""
    edit(committed, "prices.py", "return net(price) * 4", "return 4 * net(price)")
    commit(committed, "last good one")
    edit(committed, "prices.py", "return price / rate", "return price - rate - 1")
    commit(committed, "broken")
    git(committed.root, "checkout", "-q", "-b", "side")
    edit(committed, "texts.py", 'return f"{name}: {price:g}"', 'return name + f": {price:g}"')
    commit(committed, "harmless")
    git(committed.root, "checkout", "-q", "-")
    git(committed.root, "merge", "-q", "--no-ff", "-m", "merged", "side")

    run = committed.localize(*INSPECT)

    assert run.names()[0] == "prices.py net"
    assert "REVERT_REPAIRS" in outcomes(run, "net")
    assert "UNCHANGED_SINCE_GREEN" in outcomes(run, "gross")
    (why,) = (item["why"] for item in run.row("net")["evidence"] if item["source"] == "changed")
    assert why.endswith("(last good one)")


def test_code_of_a_file_that_is_new_since_is_not_called_unchanged(committed: Project) -> None:
    new = "def halved(price):\n    return price / 3\n"
    (committed.root / "rates.py").write_text(new, encoding="utf-8")
    edit(
        committed,
        "prices.py",
        "return price / rate",
        "import rates\n    return rates.halved(price)",
    )
    commit(committed, "halved elsewhere")

    run = committed.localize(*INSPECT)

    assert "CHANGED_SINCE_GREEN" in outcomes(run, "net")
    assert not outcomes(run, "halved") & {"CHANGED_SINCE_GREEN", "UNCHANGED_SINCE_GREEN"}


@pytest.mark.thorough
def test_test_that_changed_with_code_is_taken_back_alone(committed: Project) -> None:
    edit(committed, "prices.py", "return net(price) * 4", "return 4 * net(price)")
    edit(committed, "test_shop.py", '"gross: 6"', '"gross: 7"')
    commit(committed, "broken by its test")

    run = committed.localize(*INSPECT)

    assert run.names()[0] == "test_shop.py test_gross"
    assert "REVERT_REPAIRS" in outcomes(run, "test_gross")
    assert "REVERT_CHANGES_NOTHING" in outcomes(run, "gross")


def test_test_answers_for_what_stands_inside_it(projects: Projects) -> None:
    test = "def test_a():\n    def double(x):\n        return 2 * x\n\n    assert double(1) == 2\n"
    project = passed(projects, {"test_a.py": test})
    edit(project, "test_a.py", "2 * x", "3 * x")

    run = project.localize(*INSPECT)

    assert outcomes(run, "test_a") >= {"CHANGED_SINCE_GREEN", "REVERT_REPAIRS"}


@pytest.mark.thorough
def test_new_test_says_nothing_of_changes(committed: Project) -> None:
    edit(committed, "texts.py", 'return f"{name}: {price:g}"', 'return name + f": {price:g}"')
    added = "\n\ndef test_new():\n    assert prices.gross(3) == 7\n"
    edit(committed, "test_shop.py", '.startswith("a")', f'.startswith("a"){added}')

    run = committed.localize(*INSPECT)

    rows = [row for fault in run.faults for row in fault["ranking"]]
    sources = {item["source"] for row in rows for item in row["evidence"]}
    assert sources.isdisjoint({"changed", "counterfactual"})
    assert all(fault["test_share"] > 0 for fault in run.faults)


@pytest.mark.thorough
def test_look_at_git_leaves_its_files_alone(committed: Project) -> None:
    edit(committed, "prices.py", "return price / rate", "return price - rate - 1")
    os.utime(committed.root / "texts.py", (1, 1))  # a refreshed index would say so
    index = committed.root / ".git" / "index"
    before = index.read_bytes()

    committed.localize(*INSPECT)

    assert index.read_bytes() == before


@pytest.mark.thorough
def test_changed_parameter_of_a_test_is_the_change_since_it_passed(projects: Projects) -> None:
    cases = """
        import pytest

        from prices import gross


        @pytest.mark.parametrize(("price", "expected"), [(1, 2), (3, 6), (5, 10)])
        def test_gross(price, expected):
            assert gross(price) == expected
        """
    project = passed(projects, {"prices.py": FILES["prices.py"], "test_shop.py": cases})
    edit(project, "test_shop.py", "(5, 10)", "(5, 11)")

    for _ in range(2):  # the second run knows that the other cases passed once more
        run = project.localize("--bayesloc")

        assert run.names()[0] == "test_shop.py test_gross"
        assert "UNCHANGED_SINCE_GREEN" in outcomes(run, "gross")
