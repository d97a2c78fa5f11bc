"""What a test executes is traced once; an edit has only those traced again that it concerns."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from tests.integration.conftest import asserting

if TYPE_CHECKING:
    from tests.integration.conftest import Project, Projects, Run

pytestmark = pytest.mark.traced

FILES = {
    "shop/__init__.py": "",
    "shop/prices.py": """
        RATE = 2


        # what is left of a price
        def net(price, rate=RATE):
            if rate > 1:
                return price / rate
            return price


        def gross(price):
            return net(price) * 4


        class Cart:
            def __init__(self):
                self.items = []

            def add(self, price):
                self.items.append(price)

            def total(self):
                return sum(self.items)
        """,
    "shop/texts.py": """
        def shout(text):
            return text.upper()


        def line(name, price):
            return f"{name}: {price:g}"
        """,
    "tests/conftest.py": """
        import pytest

        from shop.prices import Cart


        @pytest.fixture(scope="module")
        def cart():
            cart = Cart()
            cart.add(1)
            return cart
        """,
    "tests/test_prices.py": """
        import pytest

        from shop import prices


        @pytest.mark.parametrize("price", [2, 4])
        def test_net(price):
            assert prices.net(price) == price / 2


        def test_gross():
            assert prices.gross(3) == 6


        def test_total(cart):
            cart.add(2)
            assert cart.total() == 3
        """,
    "tests/test_texts.py": asserting(
        "from shop import texts",
        line='texts.line("net", 2) == "net: 2"',
        shout='texts.shout("a") == "A"',
    ),
}
FAILING = {
    "tests/test_more.py": asserting("from shop.texts import line", more='line("a", 1) == ""')
}
N_TESTS = 7
# What is edited, and how many tests that may concern.
EDITS = {
    "a function": ("shop/prices.py", "return net(price) * 4", "return net(price) * 3", 1),
    "a function that others call": ("shop/prices.py", "price / rate", "price / rate + 1", 3),
    "lines move": ("shop/prices.py", "* 4\n", "* 4 + 1\n\n\n# a comment\n", 1),
    "a comment above moves lines": ("shop/prices.py", "# what", "#\n#\n\n# what", 0),
    "a method": ("shop/prices.py", "return sum(self.items)", "return len(self.items)", 1),
    "the body of a module": ("shop/prices.py", "RATE = 2", "RATE = 3", N_TESTS),
    "the body of a class": ("shop/prices.py", "class Cart:", "class Cart:\n    x = 1", N_TESTS),
    "a default": ("shop/texts.py", "shout(text)", 'shout(text, more="")', N_TESTS),
    "a test": ("tests/test_texts.py", '== "A"', '== "B"', 2),
    "a renamed test": ("tests/test_texts.py", "def test_shout", "def test_loud", 2),
    "a parameter": ("tests/test_prices.py", "[2, 4]", "[2, 4, 6]", 5),
    "a conftest file": ("tests/conftest.py", "cart.add(1)", "cart.add(2)", N_TESTS),
}


def edit(project: Project, file: str, old: str, new: str) -> None:
    """Edit a file such that its size changes: bytecode of the same second is valid otherwise."""
    assert old in project.read(file)
    project.write({file: project.read(file).replace(old, new) + "\n"})


def n_traced(run: Run) -> int:
    n: int = run.document["session"]["n_traced"]
    return n


@pytest.fixture(scope="module")
def traced(projects: Projects) -> Project:
    """A project of which it is known what its tests execute, one of them failing."""
    project = projects.make({**FILES, **FAILING})
    assert n_traced(project.localize()) == N_TESTS
    return project


@pytest.fixture
def known(projects: Projects, traced: Project) -> Project:
    """The same for one test."""
    return projects.copy_of(traced)


@pytest.mark.thorough
@pytest.mark.parametrize("name", EDITS)
def test_edit_traces_what_it_concerns_and_the_ranking_is_that_of_a_full_trace(
    known: Project, name: str
) -> None:
    file, old, new, n_concerned = EDITS[name]
    edit(known, file, old, new)

    once = known.localize()
    always = known.localize("--bayesloc-collect=always")

    assert n_traced(once) == n_concerned
    assert n_traced(always) == sum(always.outcomes.values())
    assert once.outcomes == always.outcomes
    assert once.document["ranking"] == always.document["ranking"]


@pytest.mark.parametrize("name", ["lines move", "the body of a class"])
def test_what_an_edit_concerns_is_known_again_after_it(known: Project, name: str) -> None:
    file, old, new, _ = EDITS[name]
    edit(known, file, old, new)

    once = known.localize()
    again = known.localize()

    assert n_traced(again) == 0
    assert again.document["ranking"] == once.document["ranking"]


def test_what_did_not_change_is_not_traced_again(known: Project) -> None:
    again = known.localize()
    other_options = known.localize("-v", "-x", "--tb=short", "-p", "no:cacheprovider")

    assert (n_traced(again), n_traced(other_options)) == (0, 0)
    assert again.names()[0] == "shop/texts.py line"
    assert again.document["session"]["collector"]
    assert not again.document["partial"]


def test_selection_adds_to_what_is_known(projects: Projects) -> None:
    project = projects.make({**FILES, **FAILING})
    project.run("-q", "tests/test_prices.py")

    assert n_traced(project.localize()) == 3
    assert n_traced(project.localize("-k", "more or line")) == 0


def test_import_is_credited_to_who_imports_first_in_this_run(known: Project) -> None:
    known.write(
        {"tests/test_user.py": "import shop.texts\n\n\ndef test_user():\n    assert shop\n"}
    )
    known.run("-q")
    edit(known, "shop/texts.py", "text.upper()", "(text.upper())")
    known.run("-q", "tests/test_user.py")  # the first importer, for once

    once = known.localize()
    again = known.localize()
    always = known.localize("--bayesloc-collect=always")

    assert n_traced(again) == 0
    assert once.document["ranking"] == again.document["ranking"] == always.document["ranking"]


@pytest.mark.parametrize("mode", ["on-failure", "never"])
def test_run_that_watches_no_import_leaves_what_is_known_of_them(known: Project, mode: str) -> None:
    known.write(
        {
            "shop/words.py": "def word():\n    return 'a'\n",
            "tests/test_one.py": "import shop.words\n\n\ndef test_one():\n    assert shop\n",
            "tests/test_two.py": asserting("from shop.words import word", two='word() == "a"'),
        }
    )
    known.run("-q")
    edit(known, "shop/words.py", "return 'a'", "return 'b'")
    known.run("-q", f"--bayesloc-collect={mode}")

    once = known.localize()
    always = known.localize("--bayesloc-collect=always")

    assert once.document["ranking"] == always.document["ranking"]


def test_new_test_is_traced_alone(known: Project) -> None:
    known.write({"tests/test_new.py": "def test_new():\n    assert not 1\n"})

    assert n_traced(known.localize()) == 1


@pytest.mark.parametrize(
    "file", ["tests/sub/conftest.py", "shop/more.py", "conftest.py"], ids=lambda file: file
)
def test_new_file_that_may_matter_to_all_has_all_traced(known: Project, file: str) -> None:
    known.write({file: "", "tests/sub/test_sub.py": "import shop.more\n" * ("more" in file)})

    run = known.localize(".")

    assert n_traced(run) == sum(run.outcomes.values())


def test_helper_of_one_test_file_is_a_helper_of_those_that_name_it(projects: Projects) -> None:
    project = projects.make(
        {
            **FILES,
            **FAILING,
            "tests/__init__.py": "",
            "tests/test_base.py": "def check(text):\n    return text\n",
            "tests/test_user.py": asserting("from tests.test_base import check", user='check("a")'),
        }
    )
    project.run("-q")
    edit(project, "tests/test_base.py", "return text", "return not text")

    run = project.localize()

    assert "tests/test_user.py::test_user" in run.failing
    assert n_traced(run) == 1


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("args", "env"),
    [
        (("-W", "error"), {}),
        (("--bayesloc-source=shop",), {}),
        ((), {"PYTHONPATH": "packages"}),
        ((), {"PYTHONOPTIMIZE": "1"}),
    ],
    ids=["an option", "the source", "a package", "Python's own options"],
)
def test_other_circumstances_have_all_traced(
    known: Project, args: tuple[str, ...], env: dict[str, str]
) -> None:
    (known.root / "packages" / "peer-1.0.dist-info").mkdir(parents=True)

    assert n_traced(known.localize(*args, env=env)) == N_TESTS


def test_ini_file_that_changed_has_all_traced(known: Project) -> None:
    known.write({"pytest.ini": "[pytest]\nxfail_strict = true\n"})

    assert n_traced(known.localize()) == N_TESTS


def test_edit_of_a_file_whose_import_nobody_saw_has_all_traced(projects: Projects) -> None:
    project = projects.make(
        {**FILES, **FAILING, "pytest.ini": "[pytest]\naddopts = -p shop.texts\n"}
    )
    project.run("-q")
    edit(project, "shop/texts.py", "return text.upper()", "return text.upper() or 1")

    assert n_traced(project.localize()) == N_TESTS


def test_doctests_of_an_edited_file_are_traced_again(projects: Projects) -> None:
    text = '''
        def one():
            """
            >>> two()
            2
            """
            return 1


        def two():
            return 2
        '''
    project = projects.make({"counting.py": text, **FILES, **FAILING})
    project.run("-q", "--doctest-modules")
    edit(project, "counting.py", "    2\n", "    3\n")

    run = project.localize("--doctest-modules")

    assert "counting.py::counting.one" in run.failing
    assert n_traced(run) == 1


def test_caches_of_few_interpreters_are_kept(known: Project) -> None:
    folder = known.root / ".bayesloc"
    for i in range(20):
        (folder / f"spectra-{i}.sqlite").write_bytes(b"")
    edit(known, "shop/prices.py", "return sum(self.items)", "return len(self.items)")

    known.run("-q")

    assert len(list(folder.glob("spectra-*.sqlite"))) == 8
    assert n_traced(known.localize()) == 0


@pytest.mark.parametrize("mode", ["auto", "on-failure"])
def test_test_that_fails_though_its_code_is_the_same_is_traced_after_the_run(
    projects: Projects, mode: str
) -> None:
    project = projects.make(
        {
            "reader.py": """
                from pathlib import Path


                def first():
                    return 1


                def second():
                    return 0


                def read():
                    word = Path("data.txt").read_text()
                    return first() if word == "good" else second()
                """,
            "data.txt": "good",
            "test_reader.py": asserting(
                "import reader", read="reader.read() == 1", first="reader.first() == 1"
            ),
        }
    )
    assert project.run("-q", f"--bayesloc-collect={mode}").ret == 0
    (project.root / "data.txt").write_text("bad", encoding="utf-8")

    run = project.localize(f"--bayesloc-collect={mode}")

    assert run.names()[0] == "data.txt <data>"
    assert set(run.names()[1:3]) == {"reader.py second", "reader.py read"}
    assert "reader.py first" not in run.names()
    assert n_traced(run) == (1 if mode == "auto" else 2)


def test_on_failure_traces_nothing_while_tests_run_and_answers_all_the_same(
    projects: Projects,
) -> None:
    project = projects.make(FILES)
    project.run("-q", "--bayesloc-collect=on-failure")
    assert not list((project.root / ".bayesloc").glob("spectra-*"))
    edit(project, "shop/prices.py", "return sum(self.items)", "return len(self.items)")

    run = project.localize("--bayesloc-collect=on-failure")

    assert run.names()[0] == "shop/prices.py Cart.total"
    assert n_traced(run) == N_TESTS - 1

    again = project.localize("--bayesloc-collect=on-failure")

    assert n_traced(again) == 0
    assert again.document["ranking"] == run.document["ranking"]


def test_nothing_is_traced_after_an_interruption(projects: Projects) -> None:
    stop = {"tests/test_stop.py": "def test_stop():\n    raise KeyboardInterrupt\n"}
    project = projects.make({**FILES, **FAILING, **stop})

    run = project.localize("--bayesloc-collect=on-failure")

    assert run.ret == 2
    assert run.failing
    assert n_traced(run) == 0


def test_never_traces_nothing_and_judges_by_the_failure(known: Project) -> None:
    run = known.localize("--bayesloc-collect=never")

    assert n_traced(run) == 0
    assert run.failing == {"tests/test_more.py::test_more"}


def test_mode_that_is_not_known_is_refused(known: Project) -> None:
    run = known.run("--bayesloc-collect=sometimes")

    assert run.ret == pytest.ExitCode.USAGE_ERROR
    assert "--bayesloc-collect=sometimes is not known: expected auto, always" in run.stderr


@pytest.mark.traced
@pytest.mark.thorough
def test_workers_trace_once_too(projects: Projects) -> None:
    project = projects.make({**FILES, **FAILING})
    project.run("-q", lean=False)
    edit(project, "shop/prices.py", "return sum(self.items)", "return len(self.items)")

    run = project.localize("-n2", lean=False)

    assert n_traced(run) == 1
    assert run.names()[:2] == ["shop/prices.py Cart.total", "shop/texts.py line"]
    assert n_traced(project.localize("-n2", lean=False)) == 0
    assert n_traced(project.localize(lean=False)) == 0


@pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\0" + bytes(5000)])
def test_cache_that_can_not_be_read_is_made_anew(known: Project, content: bytes) -> None:
    (path,) = (known.root / ".bayesloc").glob("spectra-*.sqlite")
    path.write_bytes(content)

    run = known.localize()

    assert n_traced(run) == N_TESTS
    assert run.stderr == ""
    assert n_traced(known.localize()) == 0


def test_file_that_is_written_during_the_run_leaves_the_cache_as_it_was(known: Project) -> None:
    edit(known, "shop/prices.py", "return sum(self.items)", "return len(self.items)")
    known.write(
        {
            "tests/test_writer.py": """
                from pathlib import Path


                def test_writer():
                    path = Path("shop/prices.py")
                    path.write_text(path.read_text() + "# more\n")
                """
        }
    )
    known.run("-q")
    (known.root / "tests" / "test_writer.py").unlink()

    run = known.localize()

    assert n_traced(run) == 1
    assert "tests/test_prices.py::test_total" in run.failing


def test_tests_that_did_not_run_stand_beside_those_that_did(known: Project) -> None:
    edit(known, "shop/prices.py", "return sum(self.items)", "return len(self.items)")
    whole = known.localize()

    selected = known.localize("tests/test_prices.py::test_total", "tests/test_more.py")

    assert selected.outcomes == {"failed": 2}
    assert selected.document["session"]["n_remembered"] == N_TESTS - 2
    assert selected.document["ranking"] == whole.document["ranking"]


def test_test_that_is_gone_or_would_not_pass_for_sure_does_not_stand_there(known: Project) -> None:
    (known.root / "tests" / "test_texts.py").unlink()
    edit(known, "shop/prices.py", "return net(price) * 4", "return net(price) * 3")

    run = known.localize("tests/test_more.py")

    assert run.document["session"]["n_remembered"] == 3


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="lines are seen without a trace function")
def test_test_that_takes_the_trace_function_is_named_and_traced_again(projects: Projects) -> None:
    taker = asserting(
        "import sys\n\nfrom shop.texts import shout",
        taker='sys.settrace(None); assert shout("a") == "A"',
    )
    project = projects.make({**FILES, **FAILING, "tests/test_a_taker.py": taker})

    run = project.localize()

    assert n_traced(run) == N_TESTS + 1
    assert run.names()[0] == "shop/texts.py line"
    assert ["test_taker" in text for text in run.document["partial"]] == [True]
    assert n_traced(project.localize()) == 1


def test_test_with_another_id_in_each_run_is_known_until_it_fails(projects: Projects) -> None:
    test = """
        import time
        from pathlib import Path

        import pytest

        from shop.texts import line


        @pytest.mark.parametrize("now", [time.time(), time.time_ns()])
        def test_now(now):
            assert line("a", 1) == Path("data.txt").read_text()
        """
    project = projects.make({**FILES, "tests/test_now.py": test, "data.txt": "a: 1"})
    project.run("-q")
    project.write({**FAILING})

    green = project.localize()
    project.write({"data.txt": "b"})
    red = project.localize()

    assert n_traced(green) == 1
    assert green.document["session"]["n_remembered"] == 0
    assert len(red.failing) == 3
    assert red.names()[0] == "shop/texts.py line"
    # In the process that was to trace them they had yet other ids.
    assert n_traced(red) == 0
    assert ["test_now" in text for text in red.document["partial"]] == [True]


@pytest.mark.thorough
def test_coverage_of_others_is_whole_where_some_tests_are_known(projects: Projects) -> None:
    project = projects.make(FILES)
    report = ("--cov-report=term-missing", "--cov-context=test", "--cov-branch")
    options = ("-q", "--cov=shop", *report)
    project.run(*options, lean=False)
    edit(project, "shop/prices.py", "return net(price) * 4", "return net(price) * 2 * 2")

    alone = project.run("-pno:bayesloc", *options, lean=False)
    beside = project.run(*options, lean=False)

    assert report_of(beside) == report_of(alone)
    assert len(report_of(alone)) > 3


def report_of(run: Run) -> list[str]:
    """The lines of coverage.py's table."""
    return [line for line in run.stdout.splitlines() if line.startswith(("shop", "TOTAL", "Name"))]
