"""Files are classified while a test has replaced functions of the system."""

from __future__ import annotations

import os
from pathlib import Path
from unittest import mock

import pytest

from pytest_bayesloc.spectrum.sources import FileKind, SourceFilter

FILE = "/project/pkg/code.py"


@pytest.mark.parametrize("name", ["exists", "realpath", "relpath"])
def test_function_that_a_test_replaced_is_not_called(name: str) -> None:
    files = SourceFilter(Path("/project"))

    with mock.patch.object(os.path, name) as replaced:
        kind = files.kind(FILE)

    assert kind is FileKind.CODE
    replaced.assert_not_called()


@pytest.mark.parametrize("name", ["lstat", "stat"])
def test_disk_that_a_test_took_away_costs_nothing(name: str) -> None:
    files = SourceFilter(Path("/project"))

    with mock.patch.object(os, name, side_effect=RuntimeError):
        kind = files.kind(FILE)

    assert kind is FileKind.CODE


def test_code_compiled_under_a_relative_name_is_foreign() -> None:
    files = SourceFilter(Path("/project"))

    assert files.kind("template.py") is FileKind.FOREIGN
    assert files.relative("template.py") == "template.py"
