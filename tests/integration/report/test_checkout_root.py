"""The root of the repository is found on disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.report.ci import Checkout

if TYPE_CHECKING:
    from pathlib import Path


def test_nearest_git_is_the_root(tmp_path: Path) -> None:
    rootdir = tmp_path / "workspace" / "checkout" / "api"
    rootdir.mkdir(parents=True)
    (rootdir.parent / ".git").write_text("gitdir: elsewhere\n")
    (tmp_path / ".git").mkdir()

    found = Checkout.around(rootdir, {"GITHUB_WORKSPACE": str(tmp_path / "workspace")})

    assert found.path("calc.py") == "api/calc.py"


@pytest.mark.parametrize("variable", ["GITHUB_WORKSPACE", "CI_PROJECT_DIR"])
def test_without_git_the_root_is_what_the_service_says(tmp_path: Path, variable: str) -> None:
    rootdir = tmp_path / "api"
    rootdir.mkdir()

    assert Checkout.around(rootdir, {variable: str(tmp_path)}).path("calc.py") == "api/calc.py"


def test_folder_of_the_service_that_the_project_is_not_in_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "api").mkdir()
    (tmp_path / "other").mkdir()

    found = Checkout.around(tmp_path / "api", {"CI_PROJECT_DIR": str(tmp_path / "other")})

    assert found.path("calc.py") == "calc.py"
