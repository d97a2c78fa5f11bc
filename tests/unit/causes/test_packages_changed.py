from __future__ import annotations

import ast
from datetime import datetime, timezone

import pytest

from pytest_bayesloc.causes.versions import packages_changed
from pytest_bayesloc.domain.failure import Frame
from pytest_bayesloc.history.runs import versions_in
from pytest_bayesloc.syntax.nodes import imported_packages
from tests.fakes.sources import failure_at

DAY = datetime(2026, 3, 4, tzinfo=timezone.utc)
CHANGED = {"attrs": ("1", "2"), "rounding": ("1.2", "2.0")}


def told(path: str, code: str) -> str:
    frame = Frame(file=path, line=1, name="f", first_line=1, in_app=False)
    failure = failure_at(frame, kind="ValueError", message="")
    cause = packages_changed(CHANGED, DAY, failure, imported_packages(ast.parse(code)), None)
    return cause.text if cause is not None else ""


@pytest.mark.parametrize(
    ("path", "code", "named"),
    [
        ("/v/site-packages/rounding/up.py", "import attrs", "rounding changed from 1.2 to 2.0"),
        ("/v/site-packages/rounding.py", "", "rounding changed from 1.2 to 2.0"),
        ("/v/site-packages/other.py", "from attrs import x", "attrs changed from 1 to 2"),
    ],
)
def test_package_of_the_traceback_comes_before_one_that_is_imported(
    path: str, code: str, named: str
) -> None:
    assert (
        told(path, code) == f"{named} since the tests last passed (4 March 2026), and no code did"
    )


def test_package_that_the_failure_has_nothing_to_do_with_is_no_cause() -> None:
    assert told("/v/site-packages/other.py", "from . import attrs\nimport os") == ""


def test_versions_are_read_off_what_is_installed() -> None:
    listed = "3.13.0 (main)\n0\nPyYAML-6.0.dist-info\nold_one-1.0.post1-py3.13.egg-info\nx.pth"

    assert versions_in(listed) == {"Python": "3.13.0", "pyyaml": "6.0", "old_one": "1.0.post1"}
