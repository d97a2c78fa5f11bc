"""Paths that CI services are given are relative to the root of the repository."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.report.checkout import Checkout

if TYPE_CHECKING:
    from pathlib import Path

API = Checkout(root="/work/shop", rootdir="/work/shop/services/api")


@pytest.mark.parametrize(
    ("file", "path", "uri"),
    [
        ("calc.py", "services/api/calc.py", "services/api/calc.py"),
        ("../web/a b.py", "services/web/a b.py", "services/web/a%20b.py"),
        ("50%,ü:x.py", "services/api/50%,ü:x.py", "services/api/50%25%2C%C3%BC%3Ax.py"),
        ("raw\udcff.py", "services/api/raw\udcff.py", "services/api/raw%FF.py"),
        ("lone\ud800.py", "services/api/lone\ud800.py", "services/api/lone%3F.py"),
        ("../../../shopping/x.py", None, "file:///work/shopping/x.py"),
        ("/usr/lib/x.py", None, "file:///usr/lib/x.py"),
        ("D:/x.py", None, "file:///D%3A/x.py"),
    ],
)
def test_file_is_named_by_the_root_of_the_repository(file: str, path: str | None, uri: str) -> None:
    assert (API.path(file), API.uri(file)) == (path, uri)


def test_all_lies_within_a_repository_at_the_root_of_the_disk() -> None:
    assert Checkout(root="/", rootdir="/app").path("calc.py") == "app/calc.py"


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
