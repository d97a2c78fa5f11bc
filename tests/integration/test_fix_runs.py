"""Fixes that are found, checked and shown, with nothing of the project changed."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.integration.conftest import UNITS, asserting

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.integration.conftest import Projects, Run

pytestmark = pytest.mark.one_python

FORGETFUL = True
SUGGEST = "--bayesloc-fix=suggest"
# ``area`` has a name that does not exist; the other test executes ``area`` no more than ``edge``.
MISSPELT = {
    "shapes.py": """
        def area(width, height):
            if width < 0:
                return 0
            return widht * height  # the comment stays


        def edge(width):
            return 4 * width
        """,
    "test_shapes.py": asserting(
        "from shapes import area, edge",
        area="area(2, 3) == 6",
        area_of_less_than_nothing="area(-2, 3) == 0",
        edge="edge(2) == 8",
    ),
}


def fixed(run: Run) -> list[tuple[str, bool]]:
    """The fixes of a run: who made them, and whether they are verified."""
    return [(fix["tool"], fix["verified"]) for fix in run.document["fixes"]]


def test_a_verified_fix_is_shown_with_a_patch_for_git_and_nothing_is_changed(
    projects: Projects,
) -> None:
    project = projects.make(MISSPELT)

    run = project.localize(SUGGEST)

    (fix,) = run.document["fixes"]
    assert (fix["tool"], fix["stage"], fix["level"]) == ("misspelt-name", "tool", "safe")
    assert fix["verified"]
    # By the failing test and those that execute it.
    assert fix["checked"] == [
        "test_shapes.py::test_area",
        "test_shapes.py::test_area_of_less_than_nothing",
    ]
    assert (fix["n_failing"], fix["n_passing"]) == (1, 1)
    section = " ".join(" ".join(run.section).split())
    assert "+ return width * height # the comment stays" in section
    assert "1 failing test passes with it" in section
    assert "possible fix, not applied" in section
    assert "widht" in project.read("shapes.py")

    subprocess.run(["git", "apply", fix["patch_file"]], cwd=project.root, check=True)
    # Of a change within a second that keeps the size, byte code is taken for current.
    shutil.rmtree(project.root / "__pycache__", ignore_errors=True)
    assert "return width * height  # the comment stays\n" in project.read("shapes.py")
    assert project.run("-q").ret == 0


#: It passes as long as ``area`` has a name that does not exist.
WANTS_THE_ERROR = """
    from shapes import area


    def test_error():
        try:
            area(1, 1)
        except NameError:
            return
        raise AssertionError
    """


NO_OTHER_SERVER = """
    from pytest_bayesloc.pipeline import fix_search

    fix_search.open_pool = None
    """


def test_the_search_goes_on_with_the_server_of_the_inspections(projects: Projects) -> None:
    project = projects.make(MISSPELT | {"conftest.py": NO_OTHER_SERVER})

    run = project.localize("--bayesloc", SUGGEST)

    assert fixed(run) == [("misspelt-name", True)]
    assert "own-fault" not in run.output


def test_without_the_option_nothing_is_searched(projects: Projects) -> None:
    run = projects.make(MISSPELT).localize()

    assert run.document["fixes"] == []
    assert "fix" not in run.document["session"]["seconds"]


@pytest.mark.thorough
def test_a_fix_that_breaks_another_test_is_rejected(projects: Projects) -> None:
    project = projects.make({**MISSPELT, "test_other.py": WANTS_THE_ERROR})

    run = project.localize(SUGGEST)

    assert run.document["fixes"] == []
    assert re.search(r"No fix of fault 1 was found: \d+ changes? tried in \d+ s", run.output)
    assert run.document["session"]["n_rejected"] == 1


@pytest.mark.thorough
def test_a_fix_that_may_change_what_is_meant_is_shown_and_not_applied(projects: Projects) -> None:
    project = projects.buggy()

    run = project.localize("--bayesloc-fix=apply")

    assert ("change-arithmetic", True) in fixed(run)
    assert "a - b" in project.read("calc.py")


@pytest.mark.thorough
def test_tests_that_a_file_kept_from_running_are_not_forgotten(projects: Projects) -> None:
    shapes = """
        def area(width, height):
            return widht * height
        """
    importing = "from shapes import area\n\nONE = area(1, 1)\n\n\ndef test_one():\n    assert ONE\n"
    project = projects.make(
        {"shapes.py": shapes, "test_one.py": importing, "test_other.py": WANTS_THE_ERROR}
    )

    run = project.localize(SUGGEST, "--bayesloc-without=mutants")

    assert run.document["fixes"] == []
    assert run.document["session"]["n_rejected"] == 1


@pytest.mark.thorough
def test_a_data_file_that_does_not_parse_is_mended(projects: Projects) -> None:
    code = """
        import json
        from pathlib import Path


        def rates():
            return json.loads(Path(__file__).with_name("rates.json").read_text())


        def other():
            with open(Path(__file__).with_name("rates.json")) as file:
                return json.load(file)
        """
    test = "from tax import other, rates\n\n\ndef test_rates():\n    assert rates() == other()\n"
    data = '{\n  "NL": 21,\n  "DE": 19,\n}\n'
    project = projects.make({"tax.py": code, "test_tax.py": test, "rates.json": data})

    run = project.localize(SUGGEST)

    assert ("json-syntax", True) in fixed(run)
    assert project.read("rates.json") == data
    (fix,) = run.document["fixes"]
    subprocess.run(["git", "apply", fix["patch_file"]], cwd=project.root, check=True)
    assert project.run("-q").ret == 0


@pytest.mark.thorough
def test_what_no_edit_mends_is_taken_back(projects: Projects) -> None:
    project = projects.make(
        {
            "words.py": """
                def initials(name):
                    parts = name.replace("-", " ").split()
                    return "".join(part[0].upper() for part in parts)
                """,
            "test_words.py": asserting(
                "from words import initials",
                initials='initials("ada king-noel") == "AKN"',
                nobody='initials("") == ""',
            ),
        }
    )
    green = project.read("words.py")
    project.run("-q", lean=False)
    red = green.replace("parts = name", "table = dict(enumerate(name))\n    parts = name")
    red = red.replace("for part in parts", "for part in table.values() if part.isupper()")
    project.write({"words.py": red})

    run = project.localize("--bayesloc-fix=apply", "--bayesloc-allow-dirty", lean=False)

    fix = run.document["fixes"][0]
    assert (fix["tool"], fix["stage"], fix["verified"]) == ("take-back", "change", True)
    assert fix["words"] == "take back what changed in initials since the tests last passed"
    assert project.read("words.py") == red
    subprocess.run(["git", "init", "-q"], cwd=project.root, check=True)
    subprocess.run(["git", "apply", fix["patch_file"]], cwd=project.root, check=True)
    assert project.read("words.py") == green


@pytest.mark.thorough
def test_no_edit_brings_a_call_that_leads_out_in_the_end(projects: Projects) -> None:
    project = projects.make(
        {
            "store.py": """
                import shutil
                from pathlib import Path


                def wipe(folder):
                    shutil.rmtree(folder)


                def is_stale(folder):
                    return not (Path(folder) / "fresh").exists()


                def tidy(folder):
                    if is_stale(folder):
                        wipe(folder)


                def count(folder, pattern):
                    names = list(Path(folder).glob(pattern))
                    return len(names) + 1
                """,
            "test_store.py": """
                from pathlib import Path

                from store import count, is_stale, tidy

                DATA = Path(__file__).parent / "data"


                def test_count():
                    assert count(DATA, "*.txt") == 1


                def test_tidy(tmp_path):
                    (tmp_path / "fresh").touch()
                    tidy(tmp_path)
                    assert not is_stale(tmp_path)
                """,
            "data/precious.txt": "precious",
        }
    )

    project.localize(SUGGEST)

    assert project.read("data/precious.txt") == "precious"


def with_tool(projects: Projects, files: Mapping[str, str], error: str, old: str, new: str) -> Run:
    """A run that searches for fixes of ``files``, with a trusted tool ``own`` of the project."""
    project = projects.make(
        {
            **files,
            "bayesloc_fixes/own.yaml": f"""
                name: own
                description: Puts a text in the place of another.
                command: python
                args: [own.py]
                metadata:
                  error_pattern: {error}
                  level: safe
                  priority: high
                """,
            "bayesloc_fixes/own.py": f"""
                import json, sys

                asked = json.load(sys.stdin)
                code = asked["code"].replace({old!r}, {new!r})
                fixed = code != asked["code"]
                json.dump({{"fixed": fixed, "fixed_code": code, "message": "m"}}, sys.stdout)
                """,
        }
    )
    env = {"XDG_CONFIG_HOME": str(project.root.parent / "config")}
    project.run("--bayesloc-trust=bayesloc_fixes/own.yaml", lean=False, env=env)
    return project.localize(SUGGEST, env=env)


@pytest.mark.thorough
def test_a_file_whose_tests_vanish_is_not_mended(projects: Projects) -> None:
    files = {
        "shapes.py": "def area(width):\n    return width * width\n\n\nCASES = [qwertz(2)]\n",
        "test_shapes.py": """
            import pytest

            from shapes import CASES, area


            @pytest.mark.parametrize("case", CASES)
            def test_area(case):
                assert area(2) == case
            """,
    }

    run = with_tool(projects, files, "NameError", "[qwertz(2)]", "[]")

    assert ("own", True) not in fixed(run)


@pytest.mark.thorough
def test_a_test_stays_as_it_is_whatever_its_file_is_called(projects: Projects) -> None:
    project = projects.make(
        {
            "shapes.py": "def area(width, height):\n    return width * height\n",
            "checks.py": asserting("from shapes import area", area="area(2, 3) == 7"),
        }
    )

    run = project.localize("checks.py", SUGGEST)

    assert run.failing == {"checks.py::test_area"}
    assert not [name for name, verified in fixed(run) if verified]


@pytest.mark.thorough
def test_data_of_tests_may_be_wrong_on_purpose(projects: Projects) -> None:
    project = projects.make(
        {
            "reading.py": "import json\n\n\ndef load(path):\n    return json.load(open(path))\n",
            "tests/data/commented.json": '{"a": 1} // on purpose\n',
            "tests/test_reading.py": asserting(
                "from pathlib import Path\n\nfrom reading import load",
                comments='load(Path(__file__).parent / "data" / "commented.json") == {"a": 1}',
            ),
        }
    )

    run = project.localize(SUGGEST)

    shown = [(fix["tool"], fix["level"], fix["verified"]) for fix in run.document["fixes"]]
    assert shown in ([], [("json-syntax", "display-only", False)])


@pytest.mark.thorough
def test_a_test_that_reads_a_constant_alone_is_run_again(projects: Projects) -> None:
    files = {
        "limits.py": "LIMIT = 5\n\n\ndef is_enough(n):\n    return n > LIMIT\n",
        "test_limits.py": asserting("from limits import is_enough", enough="not is_enough(30)"),
        "test_z_constant.py": asserting("from limits import LIMIT", limit="LIMIT == 5"),
    }

    run = with_tool(projects, files, "AssertionError", "LIMIT = 5", "LIMIT = 30")

    assert ("own", True) not in fixed(run)


@pytest.mark.thorough
def test_several_faults_are_mended_step_by_step_across_files(projects: Projects) -> None:
    project = projects.make(
        {
            "names.py": "def clean(name):\n    return naem.strip().title()\n",
            "people.py": """
                from names import clean


                class Person:
                    def __init__(self, name, born):
                        self.name = claen(name)
                        self.born = born

                    def age(self, year):
                        return year - self.bron
                """,
            "test_people.py": asserting(
                "from people import Person",
                age='ada = Person(" ada", 9); assert ada.name == "Ada"; assert ada.age(10) == 1',
            ),
        }
    )

    # Byte code of the same second would be taken for that of the mended files.
    run = project.localize(SUGGEST, env={"PYTHONDONTWRITEBYTECODE": "1"})

    fix = run.document["fixes"][0]
    assert (fix["stage"], fix["level"], fix["verified"]) == ("steps", "safe", True)
    assert fix["tool"] == "misspelt-name + misspelt-name + misspelt-attribute"
    subprocess.run(["git", "apply", fix["patch_file"]], cwd=project.root, check=True)
    assert project.run("-q").ret == 0


@pytest.mark.thorough
def test_function_that_a_verified_fix_changes_leads(projects: Projects) -> None:
    project = projects.make(
        {
            "basket.py": """
                class Basket:
                    def __init__(self, items=[]):
                        self.items = items

                    def add(self, price):
                        self.items.append(price)
                        return self
                """,
            "test_basket.py": asserting(
                "from basket import Basket",
                add="Basket().add(1).items == [1]",
                add_two="Basket().add(1).add(2).items == [1, 2]",
            ),
        }
    )

    run = project.localize("--bayesloc-fix=suggest")

    assert run.names()[0] == "basket.py Basket.__init__"
    assert "FIX_VERIFIED" in {item["outcome"] for item in run.row("Basket.__init__")["evidence"]}


@pytest.mark.thorough
def test_constant_of_a_table_or_a_class_is_mended_and_its_place_leads(projects: Projects) -> None:
    slow = "--bayesloc-budget=300"  # processes are
    run = projects.make(UNITS).localize(SUGGEST, slow)

    verified = [fix for fix in run.document["fixes"] if fix["verified"]]
    first = {fix["fault"]: fix for fix in reversed(verified)}
    assert '+FACTORS = {"m": 1, "km": 1000}' in first[1]["diff"]
    assert "+    top = 10" in first[2]["diff"]
    leading = [fault["ranking"][0]["qualname"] for fault in run.document["faults"]]
    assert leading == ["<module>", "Scale"]


@pytest.mark.thorough
def test_repair_of_some_failing_tests_is_offered_as_that(projects: Projects) -> None:
    project = projects.make(
        {
            "shapes.py": """
                def whole(size):
                    return int(size)


                def area(width, height):
                    return whole(widht) * whole(height)


                def code(name):
                    return sum(map(ord, name * whole(2))) % 97
                """,
            "test_shapes.py": asserting(
                "from shapes import area, code, whole",
                area="assert whole(3) == 3; assert area(10, 2) == 20",
                code='code("a3f") == "f8"',
            ),
        }
    )

    run = project.localize(SUGGEST)

    (fix,) = run.document["fixes"]
    assert (fix["tool"], fix["verified"], fix["n_failing"]) == ("misspelt-name", True, 1)
    assert fix["words"].endswith("; 1 of 2 failing tests still fails")


FEW = "few people make the mistake that it would fix"
IMPORTS_ITSELF = "from main import add\n\n\ndef add(a, b):\n    return a + b\n"
#: Files, and of the first fix the tool, an added line, and the doubt.
FIRST = {
    "unused parameter": (
        {
            "clipping.py": "def clip(x, low, high):\n    return max(low, min(x, low))\n",
            "test_clipping.py": asserting(
                "from clipping import clip", low="clip(-1, 0, 5) == 0", inside="clip(3, 0, 5) == 3"
            ),
        },
        *("use-unused", "+    return max(low, min(x, high))", None),
    ),
    # The tests get to the line that raises by the fault alone: a fix keeps them from it.
    "unused parameter before an error": (
        {
            "body.py": """
                class Body:
                    def __init__(self, length):
                        self.length = length

                    def end(self, trailers, write):
                        if self.length:
                            raise ValueError("too little data")
                        if write:
                            raise ValueError("a body of known length has no trailers")
                        return self.length
                """,
            "test_body.py": asserting(
                "from body import Body",
                end="Body(0).end([], print) == 0",
                end_of_another="Body(0).end((), len) == 0",
            ),
        },
        *("use-unused", "+        if trailers:", "it no longer uses `write`"),
    ),
    "unlike forms of Unicode": (
        {
            "names.py": """
                def key(name):
                    return " ".join(name.casefold().split())


                def same(a, b):
                    return key(a) == key(b)


                def group(names):
                    found = {}
                    for name in names:
                        found.setdefault(key(name), []).append(name)
                    return found
                """,
            "test_names.py": asserting(
                "from names import group, same",
                case='same("ANNA", "anna")',
                spaces='same("Anna  Lee", "anna lee")',
                accents=r'same("Jos\u00e9", "Jose\u0301")',
                group=r'len(group(["Zo\u00eb", "Zoe\u0308", "Max"])) == 2',
            ),
        },
        *("normal-form", '(unicodedata.normalize("NFC", name).casefold().split())', None),
    ),
    "state that one test leaves to another": (
        {
            "basket.py": """
                class Basket:
                    items = []

                    def add(self, price):
                        self.items.append(price)
                        return sum(self.items)
                """,
            "test_basket.py": asserting(
                "from basket import Basket",
                one="Basket().add(3) == 3",
                other="Basket().add(4) == 4",
            ),
        },
        *("shared-value", "+        self.items = []", None),
    ),
    "module that can't be imported": (
        {
            **MISSPELT,
            "shapes.py": MISSPELT["shapes.py"].replace("widht", "width")
            + "\n        EDGE = edg(1)\n",
        },
        *("misspelt-name", "+EDGE = edge(1)", None),
    ),
    # The first example that the fix library was ever given.
    "module that imports itself": (
        {
            "main.py": IMPORTS_ITSELF,
            "test_main.py": asserting("from main import add", add="add(1, 2) == 3"),
        },
        *("circular-import", "-from main import add", None),
    ),
    "condition that lacks what the failing test alone has": (
        {
            "nodes.py": """
                class Node:
                    def __init__(self, kind, column=0):
                        self.kind = kind
                        self.column = column


                def is_removable(node, strict=False):
                    if (
                        node.kind == "import" and
                        strict is False
                    ):
                        return True
                    return False
                """,
            "test_nodes.py": asserting(
                "from nodes import Node, is_removable",
                import_is_removable='is_removable(Node("import"))',
                import_is_not_removable_if_strict='not is_removable(Node("import"), strict=True)',
                expression_is_not_removable='not is_removable(Node("expression", 4))',
                import_in_a_block_is_not_removable='not is_removable(Node("import", 4))',
            ),
        },
        *("add-clause", "strict is False and node.column == 0", FEW),
    ),
    "function that deletes files": (
        {
            "shapes.py": "import shutil\n\n\ndef clean(path, keep):\n    shutil.rmtree(pth)\n",
            "test_shapes.py": "from shapes import clean\n\n\ndef test_clean(tmp_path):\n"
            "    (tmp_path / 'x').mkdir()\n    clean(tmp_path / 'x', tmp_path)\n",
        },
        *("misspelt-name", "+    shutil.rmtree(path)", None),
    ),
    "warnings that the suite makes errors": (
        {
            "pytest.ini": "[pytest]\nfilterwarnings = error\n",
            "texts.py": "def text(x):\n    return json.dumps(x)\n",
            "test_texts.py": asserting("from texts import text", text="text(1) == '1'"),
        },
        *("missing-import", "+import json", None),
    ),
    "what a decorator made at an import": (
        {
            "shout.py": """
                def loud(function):
                    def wrapper(name):
                        return function(nme).upper()
                    return wrapper


                @loud
                def hello(name):
                    return f"hello {name}"
                """,
            "test_shout.py": asserting(
                "from shout import hello", hello='hello("ada") == "HELLO ADA"'
            ),
        },
        *("misspelt-name", "+        return function(name).upper()", None),
    ),
}
THOROUGH = [*FIRST][:6]


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.thorough if name in THOROUGH else ()) for name in FIRST],
)
def test_first_fix_is_the_one_that_the_code_tells(projects: Projects, name: str) -> None:
    files, tool, line, doubt = FIRST[name]

    first = projects.make(files).localize(SUGGEST).document["fixes"][0]

    assert (first["tool"], first["verified"], first["doubt"]) == (tool, True, doubt)
    assert line in first["diff"]
