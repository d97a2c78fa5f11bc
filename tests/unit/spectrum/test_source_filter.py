"""Files are classified while a test has replaced functions of the system."""

from __future__ import annotations

import io
import os
from pathlib import Path
from unittest import mock

import pytest

from pytest_bayesloc.spectrum import sources
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


ENVIRONMENT = "/project/build/env/pyvenv.cfg"


@pytest.mark.parametrize(
    ("filename", "directories", "expected"),
    [
        ("/project/pkg/code.py", (), FileKind.CODE),
        ("/project/tests/code.py", (), FileKind.TEST),
        ("/project/build/env/lib/code.py", (), FileKind.FOREIGN),
        ("/project/.cache/code.py", (), FileKind.FOREIGN),
        ("/elsewhere/code.py", (), FileKind.FOREIGN),
        ("/elsewhere/code.py", ("/elsewhere",), FileKind.CODE),
        ("/elsewhere/tests/code.py", ("/elsewhere",), FileKind.CODE),
        ("/project/pkg/code.py", ("/elsewhere",), FileKind.FOREIGN),
        ("/project/tests/code.py", ("/elsewhere",), FileKind.TEST),
        ("/project/build/env/lib/code.py", ("/project/build/env",), FileKind.CODE),
        ("/usr/site-packages/pkg/code.py", ("/usr/site-packages/pkg",), FileKind.CODE),
        ("/usr/site-packages/code.py", ("/usr/site-packages/pkg",), FileKind.FOREIGN),
        (os.path.__file__, (), FileKind.FOREIGN),
    ],
)
def test_kind_of_a_file_is_told_by_where_it_lies(
    filename: str, directories: tuple[str, ...], expected: FileKind
) -> None:
    files = SourceFilter(Path("/project"), [Path(directory) for directory in directories])

    with mock.patch.object(sources, "_exists", side_effect=ENVIRONMENT.__eq__):
        assert files.kind(filename) is expected


@pytest.mark.parametrize("name", ["os.py", "/usr/site-packages/code.py", os.path.__file__])
def test_code_of_others_is_known_by_its_path(name: str) -> None:
    files = SourceFilter(Path("/project"))

    assert files.is_installed(name)
    assert not files.is_installed("/project/code.py")


USUAL = (["test"], ["Test"])


def kind(name: str, text: bytes, *, names: tuple[list[str], list[str]] = USUAL) -> FileKind:
    """The kind of a file whose name matches ``python_files`` in any case."""
    files = SourceFilter(Path("/project"), test_patterns=["*.py"], test_names=names)
    with mock.patch.object(sources, "_open", return_value=io.BytesIO(text)):
        return files.kind(f"/project/{name}")


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("pkg/__init__.py", b"def double(x):\n    return test(x)\n", FileKind.CODE),
        ("pkg/__init__.py", b"async def test_it():\n    pass\n", FileKind.TEST),
        ("check/all.py", b"class TestIt:\n    pass\n", FileKind.TEST),
        ("check/all.py", b"class Checks(unittest.TestCase):\n    pass\n", FileKind.TEST),
        ("check/all.py", b"class Checks:\n    def test_it(self):\n        pass\n", FileKind.CODE),
        ("test_made.py", b"globals().update(make_tests())\n", FileKind.TEST),
        ("tests/data.py", b"", FileKind.TEST),
    ],
)
def test_file_of_an_unusual_name_is_a_test_file_if_it_holds_tests(
    name: str, text: bytes, expected: FileKind
) -> None:
    assert kind(name, text) is expected


def test_names_of_tests_are_those_that_pytest_is_told() -> None:
    names = (["check", "*_spec"], ["Suite"])

    assert kind("a.py", b"def it_works_spec():\n    pass\n", names=names) is FileKind.TEST
    assert kind("a.py", b"class SuiteOfAll:\n    pass\n", names=names) is FileKind.TEST
    assert kind("a.py", b"def test_connection():\n    pass\n", names=names) is FileKind.CODE


def test_only_foreign_code_is_left_out_where_coverage_omits_it() -> None:
    files = SourceFilter(Path("/project"), omit=["*/_vendor/*", "*/made.py"])

    assert files.kind("/project/pkg/_vendor/six.py") is FileKind.FOREIGN
    assert files.kind("/project/pkg/made.py") is FileKind.CODE
