"""Paths that CI services are given are relative to the root of the repository."""

from __future__ import annotations

import pytest

from pytest_bayesloc.report.ci import Checkout

API = Checkout(root="/srv/shop", rootdir="/srv/shop/services/api")


@pytest.mark.parametrize(
    ("file", "path", "uri"),
    [
        ("calc.py", "services/api/calc.py", "services/api/calc.py"),
        ("../web/a b.py", "services/web/a b.py", "services/web/a%20b.py"),
        ("50%,ü:x.py", "services/api/50%,ü:x.py", "services/api/50%25%2C%C3%BC%3Ax.py"),
        ("raw\udcff.py", "services/api/raw\udcff.py", "services/api/raw%FF.py"),
        ("lone\ud800.py", "services/api/lone\ud800.py", "services/api/lone%3F.py"),
        ("../../../shopping/x.py", None, "file:///srv/shopping/x.py"),
        ("/usr/lib/x.py", None, "file:///usr/lib/x.py"),
        ("D:/x.py", None, "file:///D%3A/x.py"),
    ],
)
def test_file_is_named_by_the_root_of_the_repository(file: str, path: str | None, uri: str) -> None:
    assert (API.path(file), API.uri(file)) == (path, uri)


def test_all_lies_within_a_repository_at_the_root_of_the_disk() -> None:
    assert Checkout(root="/", rootdir="/app").path("calc.py") == "app/calc.py"
