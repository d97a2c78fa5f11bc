from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from benchmarks.faults.split import TEST, part_of
from benchmarks.faults.tools import POLLUTED, RESULTS, innermost, packages, polluted, tables

ROOT = Path(__file__).parents[3]
SOURCE = """\
def outer(x):
    def inner(y):
        return y / 0
    return inner(x)
"""


def test_ten_packages_are_of_the_part_that_nothing_was_fitted_to() -> None:
    chosen = dict(packages())

    assert len(chosen) == 10
    assert {part_of(name) for name in chosen} == {TEST}
    assert {*chosen.values()} == {"regression", "edit"}


def test_polluted_projects_have_one_polluter_that_is_a_test() -> None:
    polluters = [project.truth["after"] for project in polluted()]

    assert len(polluters) == len(POLLUTED)
    assert all("::" in each and " " not in each for each in polluters)


def test_innermost_frame_is_of_the_package_and_of_the_inner_function(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "cart.py").write_text(SOURCE, encoding="utf-8")
    workspace = cast("Any", SimpleNamespace(tree=tmp_path, source="shop"))
    frames = (("tests/test_cart.py", 1), ("shop/cart.py", 4), ("shop/cart.py", 3), ("/lib/x.py", 9))
    traceback = "\n".join(f'  File "{file}", line {line}, in f' for file, line in frames)

    assert innermost(workspace, traceback) == ("shop/cart.py", "inner", 2)
    assert innermost(workspace, traceback.splitlines()[0]) is None


def test_page_has_the_tables_that_were_measured() -> None:
    page = (ROOT / "docs" / "compared.md").read_text("utf-8")

    assert "\n".join(tables(json.loads(RESULTS.read_text("utf-8")))) in page
